"""The campaign on other libraries: its files agree, its page says what the ledger says, known defects are found."""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from dpverify import Request, audit
from dpverify.auditing.neighbors import load_pair
from dpverify.commands.claims.stated_claims import audit_project, read_project
from dpverify.ledger.document import Ledger

CAMPAIGN = Path(__file__).parents[2] / "docs" / "examples" / "campaign"


@pytest.fixture(autouse=True)
def in_campaign(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Its modules import one another from their folder."""
    monkeypatch.syspath_prepend(str(CAMPAIGN))
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "") or "").startswith(str(CAMPAIGN)):
            del sys.modules[name]


def module(name: str) -> ModuleType:
    return importlib.import_module(name)


def test_pairs_are_those_of_the_rules() -> None:
    made = module("pairs").pairs()
    files = {path.stem: load_pair(path) for path in (CAMPAIGN / "pairs").glob("*.json")}
    assert set(files) == set(made)
    for name, pair in made.items():
        assert (files[name].data.tolist(), files[name].neighbor.tolist(), files[name].adjacency) == (
            pair.data.tolist(), pair.neighbor.tolist(), pair.adjacency,
        )  # fmt: skip


def test_every_claim_has_its_function_pair_and_note() -> None:
    project, notes = read_project(CAMPAIGN / "dpverify.toml"), module("notes")
    said = notes.notes()
    assert set(project.names()) == set(said)
    used = set()
    for name, claim in zip(project.names(), project.claims, strict=True):
        file, _, function = str(claim.request.function).partition(":")
        assert callable(getattr(module(file), function)), name
        used.add(Path(str(claim.request.pair)).stem)
        assert name.split()[0] in notes.LIBRARIES
        assert said[name]["documented"]
        assert said[name].get("word", "") in ("", "planted", "doubtful", "refused")
        assert (said[name].get("word") == "doubtful") == ("doubt" in said[name])
    for name, note in {**said, **notes.accountant_notes()}.items():
        assert ("why" in note) == ("looked" in note), "a finding's tracker was looked at on a day"
        assert ("tracker" in note) == ("thread" in note), f"{name}: what its tracker says"
    assert used == {path.stem for path in (CAMPAIGN / "pairs").glob("*.json")}


def test_reproducers_need_nothing_of_ours() -> None:
    notes = module("notes")
    known = (*notes.notes().values(), *notes.accountant_notes().values())
    named = {note["reproducer"] for note in known if "reproducer" in note}
    files = {path.stem: path.read_text(encoding="utf-8") for path in (CAMPAIGN / "reproducers").glob("*.py")}
    assert set(files) == named
    for name, text in files.items():
        assert len(text.splitlines()) < 25, name
        imported = {
            alias.name if isinstance(node, ast.Import) else str(node.module)
            for node in ast.walk(ast.parse(text))
            if isinstance(node, ast.Import | ast.ImportFrom)
            for alias in node.names
        }
        assert not [one for one in imported if one.startswith("dpverify")], name


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    """Of a false and a true claim under names of the campaign."""
    (tmp_path / "dpverify.toml").write_text(
        "".join(
            f'[[claims]]\nname = "{name}"\nclaim = "eps=1"\nfunction = "subjects:{function}"\n'
            f'pair = "{CAMPAIGN / "pairs" / "value.json"}"\nruns = 100\n'
            for name, function in (("diffprivlib tools.nanmean", "shown"), ("OpenDP Laplace sum", "hidden"))
        )
    )
    (tmp_path / "subjects.py").write_text(
        "def shown(data, rng):\n    return float(data[0, 0])\n\n\n"
        "def hidden(data, rng):\n    return float(rng.integers(2))\n"
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        patch.syspath_prepend(str(tmp_path))
        return audit_project(read_project(tmp_path / "dpverify.toml"))[0]


def test_page_says_what_the_ledger_says(ledger: Ledger) -> None:
    """A verdict moves from one part of the page to another with the ledger, and with nothing else."""
    why = "no <module> object at 0x7f2a (/home/me/lib/old.py, line 2)"
    lines = "\n".join(module("page").page(ledger, [("Opacus DPOptimizer", why)]))
    found, passed = lines.index("## Findings"), lines.index("## Looked at and passed")
    assert found < lines.index("### diffprivlib tools.nanmean") < lines.index("## Doubtful")
    assert lines.index("| OpenDP Laplace sum |") > passed
    left = "| Opacus DPOptimizer | no \\<module\\> (old.py, line 2) |"
    assert lines.index(left) > lines.index("## Undecided or refused")
    assert "Tracker (a person's note of 2026-11-27): none found." in lines
    (first, second) = ledger.entries
    turned = ledger.model_copy(
        update={"entries": (first.model_copy(update={"verdict": "supported"}), second)}
    )
    assert "### diffprivlib" not in "\n".join(module("page").page(turned))


@pytest.mark.parametrize(
    ("name", "code"), [("PyDP ml.naive_bayes.GaussianNB, bounds far from 0", 0), ("OpenDP Laplace sum", 2)]
)
def test_a_subject_that_cannot_run_fails_the_campaign_unless_that_is_known(
    name: str, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The ledger and the list of what was refused are written in both cases."""
    (tmp_path / "dpverify.toml").write_text(
        f'[[claims]]\nname = "{name}"\nclaim = "eps=1"\nfunction = "broken:subject"\n'
        f'pair = "{CAMPAIGN / "pairs" / "value.json"}"\nruns = 100\n'
    )
    (tmp_path / "broken.py").write_text("def subject(data, rng):\n    raise TypeError('no scale')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    run = module("run")
    monkeypatch.setattr(run, "HERE", tmp_path)
    monkeypatch.setattr(run, "asked_accountants", lambda: iter(()))
    assert run.main(tmp_path / "out", quick=False) == code
    assert (
        (tmp_path / "out" / "refused.txt").read_text().startswith(f"{name}\tThe mechanism raised TypeError")
    )
    assert (tmp_path / "out" / "ledger.json").is_file()


# a known defect or a planted fault, and a control, of each library: what is imported, subject, claim, pair, runs,
# verdict
CASES = [
    ("diffprivlib.tools", "of_diffprivlib:nanmean", "eps=1", "mostly-missing", 300, "violated"),
    ("diffprivlib.tools", "of_diffprivlib:mean", "eps=1", "one-of-two", 200, "supported"),
    ("opendp", "of_others:opendp_half", "eps=1", "one-fewer", 1500, "violated"),
    ("opendp", "of_others:opendp_sum", "eps=1", "one-fewer", 200, "supported"),
    ("pydp", "of_others:pydp_half", "eps=1", "one-fewer", 1500, "violated"),
    ("pydp", "of_others:pydp_sum", "eps=1", "one-fewer", 200, "supported"),
    ("snsql", "of_others:snsql_half", "eps=1", "value", 1000, "violated"),
    ("snsql", "of_others:snsql_laplace", "eps=1", "value", 64, "supported"),
    ("opacus", "of_training:opacus_adaptive", "mu=1", "unclipped-fewer", 1000, "violated"),
    ("opacus", "of_training:opacus_step", "mu=1", "gradient-fewer", 100, "supported"),
    ("jax_privacy", "of_training:jax_half", "mu=1", "gradient-fewer", 1000, "violated"),
    ("jax_privacy", "of_training:jax_step", "mu=1", "gradient-fewer", 100, "supported"),
]


@pytest.mark.parametrize(
    ("library", "subject", "claim", "pair", "runs", "verdict"), CASES, ids=[c[1] for c in CASES]
)
@pytest.mark.filterwarnings("default")  # other libraries' warnings are theirs
def test_library(library: str, subject: str, claim: str, pair: str, runs: int, verdict: str) -> None:
    """Correct ones raise a false alarm with probability 1e-3 at most; some libraries' randomness has no seed.

    Half of the noise takes some 200 runs, of those that are allowed.
    """
    pytest.importorskip(library, exc_type=ImportError)
    file, _, name = subject.partition(":")
    function = getattr(module(file), name)
    path = CAMPAIGN / "pairs" / f"{pair}.json"
    request = Request(function, claim=claim, pair=path, runs=runs, failure_probability=1e-3)
    assert audit(request).verdict == verdict


ACCOUNTANTS = {
    "opacus RDPAccountant: noise 4, probability 0.5, 20 steps": "supported",
    "prv-accountant PRVAccountant, upper bound: noise 4, probability 0.5, 20 steps": "supported",
    "autodp SubsampleGaussianMechanism: noise 4, probability 0.5, 20 steps": "supported",
    "autodp GaussianMechanism(phi_off=False): noise 1": "violated",
    "dp-accounting RdpAccountant: noise 4, probability 0.5, 20 steps": "supported",
}


@pytest.mark.filterwarnings("default")
def test_accountants() -> None:
    """A known defect, and a control of each library of accountants; one that is halved is found."""
    for library in ("autodp", "opacus", "prv_accountant"):
        pytest.importorskip(library, exc_type=ImportError)
    from dpverify.auditing.accountants import audit_epsilon

    accountants = module("accountants")
    rows = {row.name: row for row in accountants.accounted()}
    for name, verdict in ACCOUNTANTS.items():
        claimed = accountants.quietly(rows[name].asked)
        found = audit_epsilon(claimed, rows[name].releases, delta=accountants.DELTA)
        assert found.verdict == verdict, name
        if verdict == "supported":
            halved = audit_epsilon(claimed / 2, rows[name].releases, delta=accountants.DELTA)
            assert halved.verdict == "violated", name
