"""A report's folder."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.reports import (
    folder as folder_module,
)
from dpverify.reports import (
    load_ledger,
    read_certificates,
    render_html,
    write_ledger,
    write_report,
    write_report_again,
)

from .ledger_example import CERTIFICATES, certificate_name, example_ledger


def _files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_writes_everything(tmp_path: Path) -> None:
    paths = write_report(example_ledger(), tmp_path / "out", CERTIFICATES)
    (name,) = CERTIFICATES
    stored = f"{name.removeprefix('sha256:')}.json"
    assert _files(tmp_path / "out") == sorted([f"certificates/{stored}", "ledger.json", "report.html"])
    assert load_ledger(paths.ledger) == example_ledger()
    assert paths.page.read_text(encoding="utf-8") == render_html(example_ledger(), CERTIFICATES)
    assert certificate_name(json.loads((paths.certificates / stored).read_text())) == name


def test_again_from_the_folder_gives_the_same_bytes(tmp_path: Path) -> None:
    paths = write_report(example_ledger(), tmp_path, CERTIFICATES)
    before = {name: (tmp_path / name).read_bytes() for name in _files(tmp_path)}
    ledger = load_ledger(paths.ledger)
    assert read_certificates(ledger, tmp_path) == CERTIFICATES
    write_report(ledger, tmp_path)
    assert {name: (tmp_path / name).read_bytes() for name in _files(tmp_path)} == before


def test_a_certificate_under_a_wrong_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidDataError, match="does not have the hash in its name"):
        write_report(example_ledger(), tmp_path / "out", {"sha256:" + "0" * 64: {"version": 1}})
    assert not (tmp_path / "out").exists()


def test_a_changed_certificate_on_disk_is_refused(tmp_path: Path) -> None:
    paths = write_report(example_ledger(), tmp_path, CERTIFICATES)
    (stored,) = paths.certificates.iterdir()
    stored.write_text(stored.read_text().replace("proved", "fooled"))
    with pytest.raises(InvalidDataError, match="does not have the hash in its name"):
        write_report(example_ledger(), tmp_path)


def test_nothing_is_written_where_rendering_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> str:
        raise RuntimeError("broken")

    monkeypatch.setattr(folder_module, "render_html", broken)
    with pytest.raises(RuntimeError):
        write_report(example_ledger(), tmp_path / "out", CERTIFICATES)
    assert not (tmp_path / "out").exists()


def test_a_ledger_that_cannot_be_read_back_is_refused(tmp_path: Path) -> None:
    ledger = example_ledger().model_copy(update={"seed": "many"})
    with (
        pytest.warns(UserWarning, match="serialized value"),
        pytest.raises(InvalidDataError, match="to be written does not fit"),
    ):
        write_report(ledger, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_certificate_name_that_leaves_the_folder_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "certificates").mkdir()
    (tmp_path / "secret.json").write_text("{}")
    proof = example_ledger().entries[0].model_copy(update={"certificate": "sha256:../secret"})
    assert read_certificates(example_ledger(entries=(proof,)), tmp_path) == {}


# ------------------------------------------------------------------------------------------- the page again


def _content(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in _files(folder)}


def test_the_page_again_touches_no_evidence(tmp_path: Path) -> None:
    """Of another ledger in the folder least of all."""
    write_report(example_ledger(), tmp_path, CERTIFICATES)
    other = tmp_path / "other.json"
    tree = json.loads((tmp_path / "ledger.json").read_text())
    tree["seed"] = 77
    other.write_text(json.dumps(tree))
    before = _content(tmp_path)
    paths = write_report_again(other)
    assert paths.page == tmp_path / "other.html"
    after = _content(tmp_path)
    assert after.pop("other.html") == render_html(load_ledger(other), CERTIFICATES).encode()
    assert after == before
    assert write_report_again(other, short=True).page == tmp_path / "other-short.html"
    assert "A short report" in (tmp_path / "other-short.html").read_text(encoding="utf-8")
    (tmp_path / "other-short.html").unlink()
    # and the page of the first one, which is the same again
    (tmp_path / "report.html").unlink()
    assert write_report_again(tmp_path / "ledger.json").page == tmp_path / "report.html"
    (tmp_path / "other.html").unlink()
    assert _content(tmp_path) == before


def test_the_page_in_another_folder_brings_its_evidence(tmp_path: Path) -> None:
    write_report(example_ledger(), tmp_path / "a", CERTIFICATES)
    ledger = tmp_path / "a" / "ledger.json"
    ledger.write_bytes(ledger.read_bytes().replace(b"\n", b"\r\n"))
    for _ in range(2):
        write_report_again(ledger, tmp_path / "b" / "c")
        assert _content(tmp_path / "b" / "c") == _content(tmp_path / "a")


def test_another_ledger_is_not_replaced(tmp_path: Path) -> None:
    write_report(example_ledger(), tmp_path / "a", CERTIFICATES)
    write_report(example_ledger().model_copy(update={"seed": 99}), tmp_path / "b")
    before = _content(tmp_path / "b")
    with pytest.raises(InvalidArgumentError, match=r"a folder without another ledger\.json"):
        write_report_again(tmp_path / "a" / "ledger.json", tmp_path / "b")
    assert _content(tmp_path / "b") == before


def test_a_ledger_alone_and_one_with_the_page_s_name(tmp_path: Path) -> None:
    write_ledger(example_ledger(), tmp_path / "ledger.json")
    page = write_report_again(tmp_path / "ledger.json").page.read_text(encoding="utf-8")
    assert "no file beside this page" in page
    assert "certificates/" not in page
    assert _files(tmp_path) == ["ledger.json", "report.html"]
    write_ledger(example_ledger(), tmp_path / "x.html")
    with pytest.raises(InvalidArgumentError, match=r"does not end in \.html"):
        write_report_again(tmp_path / "x.html")


def test_what_stands_in_the_ledger_s_place_is_not_replaced(tmp_path: Path) -> None:
    """A folder, or a link to evidence somewhere else."""
    write_report(example_ledger(), tmp_path / "a", CERTIFICATES)
    (tmp_path / "b" / "ledger.json").mkdir(parents=True)
    (tmp_path / "c").mkdir()
    other = write_ledger(example_ledger(seed=99), tmp_path / "other.json")
    (tmp_path / "c" / "ledger.json").symlink_to(other)
    before = _content(tmp_path)
    for place in ("b", "c"):
        with pytest.raises(InvalidArgumentError, match=r"a folder without another ledger\.json"):
            write_report_again(tmp_path / "a" / "ledger.json", tmp_path / place)
    assert _content(tmp_path) == before


def test_a_page_that_is_a_link_to_its_ledger_is_refused(tmp_path: Path) -> None:
    path = write_ledger(example_ledger(), tmp_path / "ledger.json")
    (tmp_path / "report.html").symlink_to(path)
    with pytest.raises(InvalidArgumentError, match="the page's"):
        write_report_again(path)
    assert load_ledger(path) == example_ledger()


def test_verify_replaces_what_an_earlier_run_left(tmp_path: Path) -> None:
    write_report(example_ledger(), tmp_path)
    later = example_ledger().model_copy(update={"seed": 99})
    write_report(later, tmp_path)
    assert load_ledger(tmp_path / "ledger.json") == later
