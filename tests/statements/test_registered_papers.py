"""Papers that somebody else registers: one in a package of its own is as those of this repository are; what cannot be
loaded is named, and ends nothing.
"""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dpverify.cli import main
from dpverify.commands.claims.first_claims import write_first_paper
from dpverify.errors import InvalidArgumentError
from dpverify.ledger.document import Ledger
from dpverify.ledger.proofs import ProofEvidence
from dpverify.ledger.verdicts import Verdict
from dpverify.reports import load_ledger
from dpverify.statements import paper

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "bun-steinke"


def _install(folder: Path, name: str, site: Path) -> None:
    """What installing leaves of a package that stays where it is: its entry point."""
    info = site / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(f"[dpverify.papers]\n{name} = {name}:PAPER\n", encoding="utf-8")


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Path, str], None]]:
    """Registers a package or a module as a paper, until the test ends."""
    names: list[str] = []

    def registers(folder: Path, name: str) -> None:
        site = tmp_path / "site"
        site.mkdir()
        _install(folder, name, site)
        names.append(name)
        monkeypatch.syspath_prepend(str(folder))
        monkeypatch.syspath_prepend(str(site))
        paper.broken.clear()
        paper.registered.cache_clear()

    yield registers
    for module in [module for module in sys.modules if module.partition(".")[0] in names]:
        del sys.modules[module]
    paper.broken.clear()
    paper.registered.cache_clear()


@pytest.fixture
def plugin(install: Callable[[Path, str], None], tmp_path: Path) -> Callable[[str], None]:
    """Registers a module with this text as a paper."""

    def register(module: str) -> None:
        (tmp_path / "brokenplugin.py").write_text(module, encoding="utf-8")
        install(tmp_path, "brokenplugin")

    return register


@pytest.mark.parametrize(
    ("module", "why"),
    [
        ("1 / 0\n", "ZeroDivisionError: division by zero"),
        ("PAPER = 3\n", "allowed: a Paper object"),
        ("", "has no attribute 'PAPER'"),
    ],
)
def test_the_others_are_there(plugin: Callable[[str], None], module: str, why: str) -> None:
    known = set(paper.registered())
    plugin(module)
    assert set(paper.registered()) == known
    assert why in paper.broken["brokenplugin"]


def test_it_is_named_behind_what_was_asked(
    plugin: Callable[[str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    plugin("1 / 0\n")
    with pytest.raises(SystemExit) as ended:
        main(["list", "no.such-id"])
    said = capsys.readouterr()
    assert ended.value.code == 2
    assert "no.such-id" in said.err
    begins = "dpverify: the paper brokenplugin is left out (brokenplugin:PAPER of brokenplugin 1.0: "
    assert said.err.splitlines()[-1].startswith(begins)


def _commands(page: Path) -> list[list[str]]:
    """The lines of the first block of commands, taken apart, without that which installs."""
    (block,) = re.findall(r"^```sh\n(.*?)^```$", page.read_text(encoding="utf-8"), re.S | re.M)
    first, *others = block.splitlines()
    assert first == "pip install -e ."
    return [shlex.split(line)[1:] for line in others]


def _run(page: Path) -> tuple[list[int], Ledger]:
    """The exit codes of a README's commands, and the ledger that they leave."""
    codes = []
    for line in _commands(page):
        with pytest.raises(SystemExit) as ended:
            main([*line, "--jobs", "1"] if line[0] == "verify" else line)
        codes.append(int(ended.value.code or 0))
    return codes, load_ledger(Path("build/verify/ledger.json"))


# 1e-3 for a false alarm of the audit, once, when the seed was chosen
def test_the_example_passes_as_written(
    install: Callable[[Path, str], None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    install(EXAMPLE, "bs16")
    monkeypatch.chdir(tmp_path)
    codes, ledger = _run(EXAMPLE / "README.md")
    letter = capsys.readouterr().out
    page = (EXAMPLE.parent / "a-paper.md").read_text(encoding="utf-8")
    (block,) = re.findall(
        r"^```sh\n.*?^```$", (EXAMPLE / "README.md").read_text(encoding="utf-8"), re.S | re.M
    )
    assert block in page
    assert codes == [0, 0]
    proofs = [entry for entry in ledger.entries if isinstance(entry, ProofEvidence)]
    assert all(proof.confirmed_by_checker for proof in proofs)
    assert [p.obligation for p in proofs if p.verdict is not Verdict.PROVED] == ["short-form"]
    (audit,) = (entry for entry in ledger.entries if not isinstance(entry, ProofEvidence))
    assert (audit.verdict, audit.subject) == (Verdict.SUPPORTED, "bs16.gaussian")
    headlines, told = (
        text.splitlines() for text in re.findall(r"^```text\n(.*?)^```$", page, re.S | re.M)[-2:]
    )
    said = {row.id: row.printed.headline or "" for row in ledger.statements}
    for id_, headline in (line.split(maxsplit=1) for line in headlines[1:]):
        assert said[id_].startswith(headline)
    assert all(line in letter for line in told)
    (quoted,) = re.findall(r"^```markdown\n(.*?)^```$", page, re.S | re.M)
    assert (EXAMPLE / "bs16" / "mechanisms.md").read_text(encoding="utf-8").endswith(quoted)


# 1e-3 for a false alarm of each audit, once, when the seed was chosen; half of the noise is sure to be seen
def test_what_init_writes_passes_and_planted_faults_are_found(
    install: Callable[[Path, str], None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert _called("init", "--paper", "lemmas") == 0
    assert _called("init", "--paper", "lemmas") == 2
    assert _called("init", "--paper", "numpy") == 2
    install(tmp_path, "lemmas")
    codes, ledger = _run(Path("README.md"))
    assert codes == [0, 0]
    assert [row.printed.headline for row in ledger.statements] == ["", "proved"]
    assert {entry.verdict for entry in ledger.entries} == {Verdict.PROVED, Verdict.SUPPORTED}
    _replace("lemmas/noise.md", r"\le\rho\alpha", r"\le\frac{1}{2}\rho\alpha")
    _replace("lemmas/noisy_mean.py", "(data.n *", "(2 * data.n *")
    for module in [module for module in sys.modules if module.partition(".")[0] == "lemmas"]:
        del sys.modules[module]
    paper.registered.cache_clear()
    capsys.readouterr()
    codes, ledger = _run(Path("README.md"))
    assert codes == [1, 0]
    letter = capsys.readouterr().out
    assert "Lemma 1: the claim fails" in letter
    assert r"\le\frac{1}{2}\rho\alpha" in letter
    assert "dpverify prove lemmas.lem1" in letter
    found = {getattr(entry, "obligation", "audit"): entry.verdict for entry in ledger.entries}
    assert (found["divergence"], found["audit"]) == (Verdict.REFUTED, Verdict.VIOLATED)
    assert "lost proof: lemmas.lem1/divergence (printed): proved, now refuted" in letter


def _called(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    return int(ended.value.code or 0)


def _replace(path: str, old: str, new: str) -> None:
    text = Path(path).read_text(encoding="utf-8")
    assert old in text
    Path(path).write_text(text.replace(old, new), encoding="utf-8")


def test_keys_of_others_are_refused_and_pages_of_a_package_are_read(
    install: Callable[[Path, str], None], tmp_path: Path
) -> None:
    from dpverify.statements.own_pages import opened

    install(EXAMPLE, "bs16")
    found = paper.registered()["bs16"]
    page = opened(str(EXAMPLE / "bs16" / "mechanisms.md"))
    assert page is not None
    assert page.statements == found.statements[3:]
    copy = shutil.copytree(EXAMPLE / "bs16", tmp_path / "copy")
    with pytest.raises(InvalidArgumentError, match="do not begin as those of the paper bs16"):
        opened(str(copy))


@pytest.mark.parametrize(
    ("file", "old", "new", "what", "why"),
    [
        ("audits.csv", ",zeros,", ",ones,", "audits.csv", "AttributeError: module 'lemmas.audits' has no"),
        ("audits.py", "import numpy", "import none_such", "audits.csv", "ModuleNotFoundError"),
        ("noisy_mean.py", "class NoisyMean", "class Other", "algorithm lemmas.noisy-mean", "AttributeError"),
    ],
)
def test_what_cannot_be_loaded_of_a_package_ends_only_its_own_verification(
    file: str,
    old: str,
    new: str,
    what: str,
    why: str,
    install: Callable[[Path, str], None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    write_first_paper(tmp_path, "lemmas")
    _replace(f"lemmas/{file}", old, new)
    install(tmp_path, "lemmas")
    found = paper.registered()["lemmas"]
    assert len(found.statements) == 1
    assert () in (tuple(found.algorithms), found.plans)
    assert why in paper.broken[f"lemmas's {what}"]
    assert _called("verify", "--paper", "lemmas") == 2
    said = capsys.readouterr().err
    assert f"The paper lemmas's {what} cannot be loaded" in said
