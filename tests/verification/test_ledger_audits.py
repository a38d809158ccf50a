"""`dpverify check` and a ledger's audits: each is as its plan says, and whatever is done to one by hand is refused."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from dpverify.cli import main
from dpverify.errors import InvalidArgumentError
from dpverify.ledger.document import Ledger
from dpverify.verification.checking import audit_check
from dpverify.verification.checking.audit_check import (
    BUDGET,
    HEAD,
    NO_RERUN,
    Rerun,
    RowCheck,
    Status,
    audit_names,
    audit_rows,
    differences,
    settings_of,
)
from dpverify.verification.job import VerificationSettings, verify

PRIVACY = "bst14.alg8/diabetes"
CURVE = "bst14.alg8/diabetes/risk"
WHITE_BOX = "fmtt18.public/worst-case/white-box"
LAW = "bst14.alg3/law"
MEAN = "bst14.alg5/diabetes"
RATE = "bst14.alg1/strongly-convex/risk"
CONSTANT = "bst14.alg3/zeta"
COUNT = "fmtt18.alg1/queries"
ACCOUNTANT = "fmtt18.cni/accountant"
MORE = "bst14.alg8/worst-case"
PLANS = (PRIVACY, CURVE, WHITE_BOX, LAW, MEAN, RATE, CONSTANT, COUNT, ACCOUNTANT)
"""One of each kind, and quick ones."""
DRAWN = {PRIVACY, CURVE, WHITE_BOX, LAW, MEAN, RATE}

Tree = dict[str, Any]


@pytest.fixture(scope="module")
def original() -> Tree:
    """A real ledger of these audits."""
    ledger, _ = verify(VerificationSettings(only=PLANS, seed=3))
    tree: Tree = json.loads(ledger.model_dump_json())
    return tree


def entry(tree: Tree, plan: str, number: int = 0) -> Tree:
    """One of a plan's entries."""
    found: list[Tree] = [e for e in tree["entries"] if e["reproduce"].split()[3] == plan]
    return found[number]


def without(tree: Tree, plan: str) -> None:
    """Leave a plan's entries out."""
    tree["entries"] = [e for e in tree["entries"] if e["reproduce"].split()[3] != plan]


def checked(tree: Tree, rerun: Rerun = NO_RERUN) -> list[RowCheck]:
    """What is said of it."""
    return list(audit_rows(Ledger.model_validate(tree), rerun=rerun))


def refused(rows: list[RowCheck]) -> list[RowCheck]:
    """The rows that are contradicted or missing."""
    return [row for row in rows if row.status in (Status.REFUSED, Status.MISSING)]


def test_a_real_ledger_is_as_planned(original: Tree) -> None:
    rows = {row.statement: row.status for row in checked(original)}
    assert rows == {name: Status.PLANNED if name in DRAWN else Status.CONFIRMED for name in PLANS}
    assert differences(Ledger.model_validate(original)) == ()


def less(field: str, by: float = 0.5) -> Callable[[Tree], object]:
    """A field's number made smaller."""
    return lambda e: e.update({field: type(e[field])(e[field] * by)})


def spent_on_nothing(tree: Tree) -> None:
    tree["budget"].update(spent={}, shares=[])


def moved_share(tree: Tree) -> None:
    """An audit says that it spent ten times what it did, and the budget says so too."""
    for part in entry(tree, LAW)["shares"]:
        part["failure_probability"] *= 10
    for part in tree["budget"]["shares"]:
        if part["path"][0] == LAW:
            part["failure_probability"] *= 10


def one_more(tree: Tree) -> None:
    new = copy.deepcopy(entry(tree, PRIVACY))
    new["reproduce"] = new["reproduce"].replace(PRIVACY, "bst14.alg8/another")
    tree["entries"].append(new)


def another_share(tree: Tree) -> None:
    tree["budget"]["shares"].append({"path": ["nobody"], "failure_probability": 1e-9, "why": "nothing"})


def another_curve(tree: Tree) -> None:
    entry(tree, CURVE)["curve"][0][3] *= 2


def in_command(old: str, new: str) -> Callable[[Tree], object]:
    return lambda tree: tree.update(command=tree["command"].replace(old, new))


def far_away(e: Tree) -> None:
    """What was measured lies beyond any bound; the verdict stays."""
    end = -1e6 if e["at_least"] else 1e6
    e["measured"] |= {"lower": end, "upper": end}


def of(plan: str, change: Callable[[Tree], object], number: int = 0) -> tuple[str, Callable[[Tree], object]]:
    """A change of one entry, which is refused at its plan."""
    return plan, lambda tree: change(entry(tree, plan, number))


TAMPERED: dict[str, tuple[str, Callable[[Tree], object]]] = {
    "all audits deleted": (PRIVACY, lambda t: t.update(entries=[])),
    "an audit deleted": (MEAN, lambda t: without(t, MEAN)),
    "a constant deleted": (CONSTANT, lambda t: without(t, CONSTANT)),
    "a rate deleted": (RATE, lambda t: t["entries"].remove(entry(t, RATE, 1))),
    "an audit twice": (LAW, lambda t: t["entries"].append(entry(t, LAW))),
    "an audit of no plan": ("bst14.alg8", one_more),
    "a constant turned": of(CONSTANT, lambda e: e.update(smallest=(e["smallest"] or 1.0) * 2)),
    "what is printed turned": of(CONSTANT, lambda e: e.update(printed=(e["printed"] or 1.0) * 3)),
    "a constant's verdict turned": of(CONSTANT, lambda e: e.update(verdict="certified", gap=None)),
    "a constant's parameters turned": of(CONSTANT, lambda e: e.update(parameters={"n": "1"})),
    "a count turned": of(COUNT, lambda e: e.update(counted=e["counted"] - 1)),
    "the count claimed turned": of(COUNT, lambda e: e.update(claimed=e["claimed"] + 1)),
    "an accountant's number turned": of(ACCOUNTANT, less("claimed")),
    "an accountant's truth turned": of(
        ACCOUNTANT, lambda e: e["smallest"].update(lower=e["smallest"]["lower"] / 2)
    ),
    "an exponent turned": of(RATE, lambda e: e["exponent"].update(upper=e["exponent"]["upper"] + 1), 1),
    "an exponent claimed turned": of(RATE, lambda e: e.update(exponent_claimed=0.25), 1),
    "fewer runs": of(PRIVACY, less("runs")),
    "more runs": of(MEAN, less("runs", 1000)),
    "another seed of an audit": of(PRIVACY, lambda e: e.update(seed=e["seed"] + 1)),
    "another share of an audit": of(LAW, less("failure_probability", 2)),
    "other records": of(PRIVACY, lambda e: e.update(size=[10**6, 100])),
    "another claim of privacy": of(PRIVACY, lambda e: e.update(epsilon_claimed=(e["epsilon_claimed"] or 1) * 2)),
    "another bound proved": of(PRIVACY, lambda e: e.update(epsilon_proved=1e-3)),
    "another neighboring relation": of(WHITE_BOX, lambda e: e.update(adjacency=f"not {e['adjacency']}")),
    "conditions of a claim left out": of(WHITE_BOX, lambda e: e.update(conditions=["none at all"])),
    "another claim of an expectation": of(MEAN, lambda e: e.update(claim="at most 1000")),
    "another bound": of(MEAN, less("bound", 4)),
    "another point of a curve": (CURVE, another_curve),
    "another bound of a law": of(LAW, lambda e: e.update(bound=e["bound"] + 0.5)),
    "another statistic": of(LAW, lambda e: e.update(statistic="the weather")),
    "a claim called verbatim": of(PRIVACY, lambda e: e.update(origin={"form": "as printed", "source": "nothing"})),
    "another title": of(WHITE_BOX, lambda e: e.update(title="Something else")),
    "another subject": of(WHITE_BOX, lambda e: e.update(subject="bst14.alg1")),
    "a command that repeats another": of(PRIVACY, lambda e: e.update(reproduce=e["reproduce"].replace(PRIVACY, LAW))),
    "a violation called supported": of(MEAN, far_away),
    "a measured end that is no number": of(MEAN, lambda e: e["measured"].update(lower=math.nan, upper=math.nan)),
    "measured ends exchanged": of(MEAN, lambda e: e.update(measured=e["measured"] | {
        "lower": e["measured"]["upper"], "upper": e["measured"]["lower"]})),
    "an epsilon that is no number": of(PRIVACY, lambda e: e.update(epsilon_lower=math.nan)),
    "draws called a proof": of(MEAN, lambda e: e.update(verdict="proved")),
    "undecided for no reason": of(LAW, lambda e: e.update(verdict="undecided")),
    "supported with a gap": of(PRIVACY, lambda e: e.update(gap="blind audit")),
    "the budget emptied": (PRIVACY, spent_on_nothing),
    "a share of the budget turned": (LAW, lambda t: t["budget"]["spent"].update({LAW: 0.5})),
    "more spent than the share": (LAW, moved_share),
    "the budget says another reason": (LAW, lambda t: t["budget"]["shares"].clear()),
    "a share of nobody": (BUDGET, another_share),
    "the whole budget turned": (BUDGET, lambda t: t["budget"].update(failure_probability=0.1)),
    "another seed in front": (HEAD, lambda t: t.update(seed=4)),
    "another profile in front": (HEAD, lambda t: t.update(profile="full")),
    "another seed in the command line": (PRIVACY, in_command("--seed 3", "--seed 4")),
    "another share in the command line": (PRIVACY, in_command("probability 0.001", "probability 0.5")),
    "a plan more in the command line": (MORE, in_command("--profile", f"--only {MORE} --profile")),
    "no command line": (HEAD, lambda t: t.update(command="dpverify prove")),
}  # fmt: skip


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", TAMPERED)
def test_what_is_done_by_hand_is_refused_by_the_name_of_its_row(original: Tree, name: str) -> None:
    row, change = TAMPERED[name]
    tree = copy.deepcopy(original)
    change(tree)
    found = refused(checked(tree))
    assert row in {r.statement for r in found}
    assert all(len(r.line()) > len(f"{r.status}: {r.statement}: ") for r in found)


@pytest.fixture(scope="module")
def drawn_once() -> Iterator[None]:
    """What audits find is drawn once for all ledgers that are changed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(audit_check, "carry_out", cache(audit_check.carry_out))
        yield


@pytest.mark.one_in(2)
@pytest.mark.usefixtures("drawn_once")
@pytest.mark.parametrize(
    ("plan", "field", "value"),
    [
        (PRIVACY, "epsilon_lower", 0.0),
        (PRIVACY, "reason", "nothing was seen"),
        (WHITE_BOX, "detectable", "everything"),
        (LAW, "points", []),
        (MEAN, "detectable", 1e-9),
        (CURVE, "quantity", "dollars"),
    ],
)
def test_what_was_drawn_is_drawn_again_where_that_is_asked(
    original: Tree, plan: str, field: str, value: object
) -> None:
    tree = copy.deepcopy(original)
    entry(tree, plan)[field] = value
    assert not refused(checked(tree))  # nothing says otherwise, and the row says so
    rows = checked(tree, Rerun(len(DRAWN), 0))
    assert [r.statement for r in refused(rows)] == [plan]
    assert field.replace("_", " ") in refused(rows)[0].says
    assert not any(row.status is Status.PLANNED for row in rows)


def test_which_audits_are_repeated_is_up_to_the_seed_alone() -> None:
    names = sorted(DRAWN)
    picked = [Rerun(2, seed).among(names) for seed in range(200)]
    assert picked[5] == Rerun(2, 5).among(names[::-1])
    assert all(len(found) == 2 for found in picked)
    # none is preferred: of 200 pairs among six, each is in a third
    assert all(40 < sum(name in found for found in picked) < 95 for name in names)
    assert Rerun(100, 0).among(names) == DRAWN
    assert NO_RERUN.among(names) == frozenset()


def test_a_ledger_of_another_version_is_said_to_be_one(original: Tree) -> None:
    tree = copy.deepcopy(original)
    tree["program_version"] = "0.0.7"
    tree["versions"] |= {"numpy": "1.0.0"}
    del tree["versions"]["sympy"]
    first, second, third = differences(Ledger.model_validate(tree))
    assert "dpverify 0.0.7" in first
    assert "numpy 1.0.0 (here " in second
    assert "sympy" in third
    assert not refused(checked(tree))  # what can be compared is compared


@pytest.mark.parametrize(
    "command",
    ["", "dpverify", "dpverify verify --seed x", "dpverify verify --seed", "dpverify verify '", "rm -rf /",
     "dpverify verify --seed 1 --seed 2", "dpverify verify --store here"],
)  # fmt: skip
def test_command_lines_that_are_none(original: Tree, command: str) -> None:
    ledger = Ledger.model_validate(original | {"command": command})
    with pytest.raises(InvalidArgumentError, match="command"):
        settings_of(ledger)
    assert audit_names(ledger) == frozenset()
    assert [row.statement for row in refused(checked(original | {"command": command}))] == [HEAD]


def status(*words: str) -> int:
    """The command's exit code."""
    with pytest.raises(SystemExit) as ended:
        main(list(words))
    return int(ended.value.code or 0)


def test_the_command(original: Tree, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = tmp_path / "ledger.json"
    place.write_text(json.dumps(original))
    out = tmp_path / "check.json"
    assert status("check", str(place), "--rerun", "1", "--rerun-seed", "7", "--json", str(out)) == 0
    said = capsys.readouterr().out
    assert "5 audits are as planned" in said
    assert "seed 7" in said
    assert json.loads(out.read_text())["rerun"] == {"audits": 1, "seed": 7}
    tree = copy.deepcopy(original)
    entry(tree, PRIVACY)["runs"] = 1
    place.write_text(json.dumps(tree))
    assert status("check", str(place), "--only", PRIVACY) == 1
    assert f"refused: {PRIVACY}: its runs is 1, by its plan it is " in capsys.readouterr().out
    assert status("check", str(place), "--only", CONSTANT) == 0
