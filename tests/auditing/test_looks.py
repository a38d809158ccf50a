"""Where an audit looks, by options, and what each verdict that supports a claim leaves open."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dpverify.auditing import (
    BatchAuditor,
    Direction,
    ErrorShare,
    GivenSamples,
    PrivacyQuestion,
    audit_constant,
    audit_mean,
    audit_privacy,
    audit_queries,
    fit_rate,
)
from dpverify.auditing.contract import Relation
from dpverify.auditing.looks import EventFilter
from dpverify.auditing.sequential import BettingAuditor
from dpverify.errors import InvalidArgumentError
from dpverify.ledger.evidence import PrivacyEvidence
from dpverify.ledger.records import Interval
from dpverify.ledger.verdicts import Verdict
from dpverify.privacy import Adjacency, PureDP, StatedGuarantee
from dpverify.views import number_text
from dpverify.views.audits import privacy_rows

RUNS = 20_000


def one_sided() -> tuple[Any, Any]:
    """Nineteen in a thousand outputs on the left occur only there: delta 0.019 from left to right, hardly any back."""
    rng = np.random.default_rng(8)
    return rng.random(RUNS) < 0.019, np.zeros(RUNS, dtype=bool)


def test_a_direction_alone_shows_only_itself() -> None:
    """Left over right is plain to see; right over left, epsilon is at most 0.0192. 1e-6 for a bound that is wrong."""
    left, right = one_sided()
    asked: dict[str, Any] = {"adjacency": Adjacency.UNCHECKED, "failure_probability": 1e-6, "seed": 1}
    claim = PureDP(0.5)
    both = audit_privacy(left, right, claim, **asked)
    seen = audit_privacy(left, right, claim, directions=(Direction.LEFT_OVER_RIGHT,), **asked)
    back = audit_privacy(left, right, claim, directions=(Direction.RIGHT_OVER_LEFT,), **asked)
    assert both.verdict is seen.verdict is Verdict.VIOLATED
    assert back.verdict is Verdict.SUPPORTED
    assert back.epsilon_lower < 0.0192 < 1 < seen.epsilon_lower
    assert back.delta_lower(0.5) == 0
    assert "only right over left was compared" in back.reason
    same = audit_privacy(left, right, claim, directions=tuple(Direction), **asked)
    assert same == both
    for wrong in ((), ("up",)):
        with pytest.raises(InvalidArgumentError, match="directions"):
            audit_privacy(left, right, claim, directions=wrong, **asked)  # type: ignore[arg-type]


def test_scores_are_chosen_by_name() -> None:
    """Spread tells these apart, and a line through the plane does so less well."""
    rng = np.random.default_rng(9)
    left, right = rng.normal(0, 1, (4000, 2)), rng.normal(0, 4, (4000, 2))
    question = PrivacyQuestion(StatedGuarantee(PureDP(1.0), Adjacency.UNCHECKED), "d", 4000)
    found = {}
    for scores in ((), ("quadratic logistic regression",), ("nearest centroid",)):
        auditor = BatchAuditor(EventFilter(scores))
        found[scores] = auditor.audit(question, GivenSamples(left, right), ErrorShare(1e-6)).epsilon_lower
    assert found[()] > 1
    assert found["quadratic logistic regression",] > found["nearest centroid",] + 0.5


@pytest.mark.parametrize(
    ("looks", "option"),
    [
        ({"scores": ("spread",)}, "score"),
        ({"directions": ("left over right",)}, "direction"),
        ({"scores": ("value",), "low_bits": True}, "score"),
    ],
)
def test_unknown_names_are_refused(looks: dict[str, Any], option: str) -> None:
    with pytest.raises(InvalidArgumentError, match=option):
        EventFilter(**looks)


def test_names_stand_for_scorers_and_directions() -> None:
    looks = EventFilter(("best coordinate", "value"), ("right-over-left",))
    assert looks.compared == (Direction.RIGHT_OVER_LEFT,)
    assert [scorer.name for scorer in looks.scorers] == ["value", "best coordinate"]


class Noise:
    """Laplace noise at sensitivity 1."""

    def __init__(self, exact: Any = None) -> None:
        self._rng = np.random.default_rng(10)
        if exact is not None:
            self.exact = exact

    def draw(self, count: int) -> tuple[Any, Any]:
        return self._rng.laplace(0, 1, count), self._rng.laplace(1, 1, count)


@pytest.mark.parametrize("auditor", [BatchAuditor(), BettingAuditor()])
def test_supported_privacy_says_each_number_once(auditor: Any) -> None:
    """What was seen, claimed, known and would have been found have lines of their own; 1e-6 for a false alarm."""

    def asks(epsilon: float, subject: Noise) -> PrivacyEvidence:
        question = PrivacyQuestion(StatedGuarantee(PureDP(epsilon), Adjacency.UNCHECKED), "d", RUNS)
        found: PrivacyEvidence = auditor.audit(question, subject, ErrorShare(1e-6))
        return found

    loose = asks(2.0, Noise())
    assert loose.verdict is Verdict.SUPPORTED
    rows = dict(privacy_rows(loose))
    for said in (loose.detectable, number_text.at_least(loose.epsilon_lower), "claimed: 2"):
        assert said not in loose.reason
        assert sum(said in text for text in rows.values()) == 1
    known = asks(2.0, Noise(lambda _: Interval(lower=1.0, upper=1.0, rigorous=True)))
    assert dict(privacy_rows(known))["epsilon at least"].endswith("claimed: 2; of this pair: 1 to 1")
    unlimited = asks(2.0, Noise()).but(epsilon_claimed=np.inf)
    assert dict(privacy_rows(unlimited))["epsilon at least"].endswith("; claimed: any")


def test_every_other_support_says_so_too() -> None:
    values = np.random.default_rng(3).random(2000)
    asked: dict[str, Any] = {"lower": 0, "upper": 1, "failure_probability": 1e-3}
    at_most = audit_mean(values, bound=0.9, **asked)
    at_least = audit_mean(values, bound=0.1, at_least=True, **asked)
    for audit, loose in ((at_most, 0.9 / at_most.measured.lower), (at_least, at_least.measured.upper / 0.1)):
        assert "would have been found" in audit.reason
        assert f"the bound is at most {loose:.3g} times too" in audit.reason
    constant = audit_constant(Interval(lower=1.5, upper=1.6), extreme="smallest", printed=2.0)
    largest = audit_constant(Interval(lower=2.0, upper=2.1), extreme="largest", printed=1.0)
    assert "1.25 times that; a constant beyond it would have been found" in constant.reason
    assert "2 times smaller; a constant beyond it would have been found" in largest.reason
    counted = audit_queries([3, 4], 8, relation=Relation.AT_MOST)
    assert "the claim is 2 times the most" in counted.reason
    assert "one query more or less in any of them would have been found" in audit_queries([4, 4], 4).reason
    boxes = [Interval(lower=0.99 / n, upper=1.01 / n) for n in (10.0, 100.0, 1000.0)]
    assert "would have been found, and the claim is at most" in fit_rate([10, 100, 1000], boxes, -0.9).reason
