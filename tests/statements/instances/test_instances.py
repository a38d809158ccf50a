"""Every instance refutes its statement; one that is changed, or of a wrong formula, does not."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import flint
import numpy as np
import numpy.typing as npt
import pytest
from scipy.special import ndtr

from dpverify.errors import DpverifyError
from dpverify.formulas.expressions import real
from dpverify.ledger.entries import InstanceEntry, StatementEntry
from dpverify.ledger.headlines.rows import FormulaRow
from dpverify.ledger.verdicts import Consequence, Coverage, Verdict
from dpverify.proving.instances.instance import (
    PRECISION,
    Evaluation,
    Instance,
    Judgment,
    Premise,
    judge,
)
from dpverify.proving.instances.laws import FiniteLaw
from dpverify.proving.language import Obligation
from dpverify.statements.instances import instances_of
from dpverify.statements.paper import papers
from dpverify.statements.sheet import Sheet
from dpverify.verification.refutations import held_to_instances, instance_entries

Floats = npt.NDArray[np.float64]

ALL = [i for key in papers() for found in instances_of(key).values() for i in found]


def _row(instance: Instance) -> Obligation:
    paper = papers()[instance.statement.partition(".")[0]]
    statement = next(s for s in paper.statements if s.id == instance.statement)
    return next(o for o in statement.printed if o.name == instance.obligation)


@pytest.mark.parametrize("instance", ALL, ids=lambda i: i.claim)
def test_each_refutes_its_claim(instance: Instance) -> None:
    judgment = judge(instance, _row(instance))
    assert (judgment.verdict, judgment.reason) == (Verdict.REFUTED, "")


@pytest.mark.parametrize("instance", ALL, ids=lambda i: i.claim)
def test_none_refutes_once_a_hypothesis_fails_or_a_side_moves(instance: Instance) -> None:
    row = _row(instance)
    with flint.ctx.workprec(PRECISION):
        found = instance.evaluation()

    def judged(**changes: object) -> Judgment:
        return judge(replace(instance, evaluation=lambda: replace(found, **changes)), row)  # type: ignore[arg-type]

    violated = judged(conditions=(Premise("the losses are L-Lipschitz", False),))
    assert violated.verdict is Verdict.UNDECIDED
    assert "Lipschitz" in violated.reason
    assert judged(left=found.right, right=found.left).verdict is Verdict.UNDECIDED or judgment_is_equality(
        row
    )
    assert judged(left=found.right).verdict is Verdict.UNDECIDED  # the two sides are not apart
    assert (
        judged(left=found.left + 1 if not found.from_below else found.left + 10**9).verdict
        is Verdict.UNDECIDED
    )


def _smoothed_slope(loss: Callable[[Floats], Floats], at: Floats, width: float) -> Floats:
    """The slope of a 1-Lipschitz loss on [-1, 1], extended and convolved as in Appendix C of fmtt18."""
    inside, wide = np.linspace(-1, 1, 2001), np.linspace(-12, 12, 4001)
    extended = np.min(loss(inside) + np.abs(wide[:, None] - inside), axis=1)
    middles, slopes = (wide[1:] + wide[:-1]) / 2, np.diff(extended) / np.diff(wide)
    weights = np.exp(-(((at[:, None] - middles) / width) ** 2) / 2)
    return np.asarray(weights @ slopes / weights.sum(axis=1))


def test_smoothing_takes_half_of_a_linear_loss_at_one_record_and_nothing_of_the_pinning_one() -> None:
    """Once, Corollary 34 was refuted by linear losses, n = 1 and epsilon = 10, as if smoothing did not change them."""
    width = 10 / (2 * math.sqrt(math.log(1e5)))  # lambda for n = R = 1 and delta = 1e-5
    assert _smoothed_slope(lambda w: w, np.zeros(1), width)[0] == pytest.approx(0.5026, abs=2e-3)
    near = np.linspace(-0.2, 0.2, 9)
    assert _smoothed_slope(np.abs, near, 0.1) == pytest.approx(2 * ndtr(near / 0.1) - 1, abs=2e-3)


def test_the_pinned_iterate_is_no_wider_than_its_instance_says() -> None:
    """600 steps of 20,000 runs, from 0."""
    n, epsilon, delta, rng = 10**6, 100.0, 0.1, np.random.default_rng(1)
    sigma = 2 * math.sqrt(2 * math.log(1.25 / delta)) / epsilon
    eta, width = math.sqrt(8 / (n * (1 + sigma**2))), epsilon / (2 * math.sqrt(n * math.log(1 / delta)))
    w = np.zeros(20_000)
    for _ in range(600):
        w = w - eta * (2 * ndtr(w / width) - 1) + eta * sigma * rng.standard_normal(w.size)
    rest = math.hypot(w.std(), eta * sigma)
    assert 15 < 2 * eta / rest < 16


def judgment_is_equality(row: Obligation) -> bool:
    return getattr(row.claim, "relation", "==") == "=="


def _sheet(display: str, **options: object) -> Obligation:
    sheet = Sheet("x.1", (real("E", ge=1, latex="E"),)).instance(
        "two-points", display, case="a net", **options
    )
    return sheet.statement.printed[0]


def _net(exponent: int) -> Instance:
    """Two losses x and -x on the net {0, 1}; weights E^(-exponent * sum of losses / 2) at E = 4."""
    E, net = Fraction(4), (0, 1)

    def law(slopes: tuple[int, int]) -> FiniteLaw:
        weights = {x: Fraction(2) ** (-exponent * x * sum(slopes)) for x in net}
        return FiniteLaw({x: w / sum(weights.values()) for x, w in weights.items()})

    def evaluation() -> Evaluation:
        left, right = law((1, -1)), law((1, 1))
        return Evaluation(left.masses[1], E * right.masses[1], {"E": E})

    return Instance("x.1/two-points", "two losses on two points", evaluation)


def test_half_of_the_exponent_refutes_nothing() -> None:
    printed, right = r"\frac{1}{2}\le\frac{E}{1+E^2}", r"\frac{1}{2}\le\frac{E}{1+E}"
    assert judge(_net(2), _sheet(printed)).verdict is Verdict.REFUTED
    assert "the claim holds at it" in judge(_net(1), _sheet(right)).reason


@pytest.mark.parametrize(
    ("display", "given", "reason"),
    [
        (r"\frac{1}{2}\le\frac{E}{2+E^2}", "", "the formula's right side"),
        (r"\frac{1}{2}\le\frac{E}{1+E^2}", "E\\ge 5", "an assumption of the formula"),
        (r"\frac{1}{2}\le\frac{1}{17}\cdot 4", "", ""),
    ],
)
def test_a_formula_that_says_something_else_is_seen(display: str, given: str, reason: str) -> None:
    judgment = judge(_net(2), _sheet(display, **({"given": given} if given else {})))
    assert reason in judgment.reason
    assert (judgment.verdict is Verdict.REFUTED) == (not reason)


def test_a_letter_that_the_instance_does_not_know_is_said() -> None:
    instance = replace(_net(2), evaluation=lambda: replace(_net(2).evaluation(), point={}))
    assert "letter E" in judge(instance, _sheet(r"\frac{1}{2}\le\frac{E}{1+E^2}")).reason


def _entry(name: str, verdict: Verdict = Verdict.REFUTED) -> InstanceEntry:
    sides = {"lower": 0.0, "upper": 0.0}
    return InstanceEntry.model_validate(
        {"obligation": name, "says": "", "point": {}, "relation": "<=", "left": sides, "right": sides,
         "verdict": verdict, "reproduce": ""}
    )  # fmt: skip


def test_a_statement_is_refuted_by_an_instance_only() -> None:
    def row(coverage: Coverage, verdict: Verdict = Verdict.REFUTED) -> FormulaRow:
        return FormulaRow("a", coverage, verdict, (), (), Consequence.CLAIM)

    def held(row: FormulaRow, *entries: InstanceEntry) -> FormulaRow:
        (found,) = held_to_instances(Sheet("x.1", ()).statement, [row], entries)
        return found

    for coverage in (Coverage.CONCLUSION, Coverage.INSTANCE):
        assert row(coverage).refutes
        assert not held(row(coverage)).refutes
        assert not held(row(coverage), _entry("a", Verdict.UNDECIDED)).refutes
        for verdict in (Verdict.REFUTED, Verdict.DOES_NOT_FOLLOW, Verdict.UNDECIDED):
            assert held(row(coverage, verdict), _entry("a")).refutes
    corrected = replace(row(Coverage.CONCLUSION), corrected=True)
    assert held(corrected) == corrected  # a correction is refuted by its own counterexample
    with pytest.raises(DpverifyError, match="one of the two is wrong"):
        held(row(Coverage.CONCLUSION, Verdict.PROVED), _entry("a"))


def test_entries_say_what_was_found() -> None:
    (entry,) = instance_entries("bst14", "bst14.alg8-privacy")
    assert entry.left.lower <= 0.5 <= entry.left.upper
    assert entry.left.lower > entry.right.upper
    assert entry.text() == "0.5 <= 0.324027 is false"
    assert entry.reproduce == "dpverify explain bst14.alg8-privacy"


def test_check_evaluates_instances_again() -> None:
    """A ledger in which one side of an instance was turned is refused."""
    from dpverify.ledger.document import ErrorBudget, Ledger
    from dpverify.verification.catalog.entries import catalog_entries
    from dpverify.verification.catalog.proofs import prove_statement
    from dpverify.verification.checking.ledger_check import Status, _catalog

    records = prove_statement("bst14.huber-smooth")
    entries = catalog_entries(records)
    turned = []
    for entry in entries:
        sides = [
            i.model_copy(update={"right": i.right.model_copy(update={"lower": 0.25})})
            for i in entry.instances
        ]
        turned.append(entry.model_copy(update={"instances": tuple(sides)}))

    def refused(statements: tuple[StatementEntry, ...]) -> list[str]:
        ledger = Ledger(
            program_version="", created="", command="dpverify verify", seed=0, profile="quick", versions={},
            statements=statements, entries=(), budget=ErrorBudget(failure_probability=0.1, spent={}), seconds=0,
        )  # fmt: skip
        found = _catalog(ledger, [r.evidence for r in records], ("bst14.huber-smooth",))
        return [row.says for row in found if row.status is Status.REFUSED]

    assert refused(entries) == []
    (says,) = refused(tuple(turned))
    assert says.startswith("its instances is")
