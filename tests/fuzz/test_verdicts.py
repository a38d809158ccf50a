"""Random obligations: no verdict is contradicted by what the formula is at points, and nothing raises or runs away.

`DPVERIFY_FUZZ_EXAMPLES` says how many are tried (`make fuzz` sets it); the same ones each time.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, note, seed, settings
from hypothesis import strategies as st

from dpverify.formulas.printing import formula_text
from dpverify.formulas.rendering.latex import formula_latex
from dpverify.ledger.verdicts import Verdict
from dpverify.proving import Budget, prove
from dpverify.proving.checker import check
from dpverify.proving.language import Obligation
from dpverify.proving.provers import search as searching

from .holding import broken, faults
from .random_obligations import CHOICES, built, obligations

EXAMPLES = int(os.environ.get("DPVERIFY_FUZZ_EXAMPLES", "180"))
A_PART = 250
PARTS = max(1, -(-EXAMPLES // A_PART))
BUDGET = Budget(boxes=200, operations=30_000, units=10_000, steps=300_000)
"""Small, so that many are tried: a limit makes a prover give up, and never makes it right."""

FAR = 60.0
"""Seconds of processor time: hundreds of times what the budget takes. What is over it does not keep to its counts."""


@pytest.fixture(autouse=True)
def _short_searches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "POINTS", 128)
    monkeypatch.setattr(searching, "SIMPLE_POINTS", 1000)


def tried(examples: int, number: int) -> Callable[[Any], Any]:
    """The same examples each time, others for each number."""

    def decorate(test: Any) -> Any:
        chosen = settings(
            max_examples=examples,
            deadline=None,
            database=None,
            phases=[Phase.generate, Phase.shrink],
            suppress_health_check=list(HealthCheck),
        )
        return seed(number)(chosen(test))

    return decorate


def described(obligation: Obligation) -> str:
    """An obligation for reading."""
    assuming = "; ".join(map(formula_text, obligation.assuming))
    domains = "; ".join(f"{v.name}: {v.domain_text()}" for v in obligation.over)
    return f"{formula_text(obligation.claim)} | assuming {assuming or 'nothing'} | {domains} | {dict(obligation.box)}"


def held(obligation: Obligation) -> list[str]:
    """What is wrong with what the provers and the checker say of an obligation."""
    formula_latex(obligation.claim)
    before = time.process_time()
    proof = prove(obligation, budget=BUDGET)
    spent = time.process_time() - before
    found = [] if spent < FAR else [f"took {spent:.0f} s"]
    if proof.boxes is not None and proof.verdict is Verdict.UNDECIDED and proof.boxes > 2 * BUDGET.boxes:
        found.append(f"took {proof.boxes} boxes")
    if proof.certificate is not None:
        if proof.certificate["problem"] != obligation.problem.json:
            found.append("the certificate is about another problem")
        found += faults(proof.certificate)
    return found


@pytest.mark.parametrize("part", range(PARTS))
def test_no_verdict_is_contradicted_at_a_point(part: int) -> None:
    @tried(min(A_PART, EXAMPLES), part)
    @given(obligations())
    def every(obligation: Obligation) -> None:
        note(described(obligation))
        assert held(obligation) == []

    every()


HINTS = ({"method": "smt"}, {"method": "identity"}, {"method": "signs", "shift": {}})


@pytest.mark.parametrize("part", range(max(1, PARTS // 10)))
def test_the_checker_confirms_nothing_that_a_point_contradicts(part: int) -> None:
    """Whatever proof it is given, of claims true and false."""

    @tried(min(A_PART, max(20, EXAMPLES // 10)), part)
    @given(st.binary(min_size=CHOICES, max_size=CHOICES).map(built), st.sampled_from(HINTS))
    def every(obligation: Obligation | None, hint: dict[str, Any]) -> None:
        if obligation is None:
            return
        problem = obligation.problem.json
        if (point := broken(problem)) is not None:
            said = check({"version": 1, "problem": problem, "verdict": "proved", "proof": hint})
            assert not said.confirmed, (said, problem, point)

    every()


def test_random_obligations_are_of_all_kinds() -> None:
    """Every operator, kind of end and connective occurs within a few thousand, assumptions and boxes too."""
    import random

    rng, seen, total = random.Random(0), "", 0
    for _ in range(1500):
        obligation = built(rng.randbytes(CHOICES))
        if obligation is not None:
            seen += str(obligation.problem.json)
            total += 1
    assert total > 500
    heads = ["add", "mul", "pow", "exp", "log", "erfc", "phi", "max", "min", "abs", "floor", "sum", "integral",
             "diff", "at", "pi", "product", "ceiling", "gamma", "factorial", "binomial",
             "and", "or", "not", "implies", "forall", "<=", "<", "==", "!="]  # fmt: skip
    assert [head for head in heads if f"['{head}'" not in seen] == []
    kinds = [
        "'kind': 'integer'",
        "'lower': None",
        "'upper': None",
        "'lower_open': True",
        "'upper_open': True",
    ]
    assert [kind for kind in kinds if kind not in seen] == []
