"""Audits that know the law of a number of the outputs: bounds that hold, laws that lie, faults that are found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import laplace, norm

from dpverify.auditing import ErrorShare, Label, PrivacyQuestion
from dpverify.auditing.pairs import PlantedFaults
from dpverify.auditing.white_box import StatedLaw, WhiteBoxAuditor
from dpverify.auditing.white_box.stated_laws import known_bound
from dpverify.errors import InvalidArgumentError
from dpverify.ledger.evidence import PrivacyEvidence
from dpverify.ledger.verdicts import Gap, Verdict
from dpverify.privacy import GDP, Adjacency, ApproxDP, Guarantee, PureDP, StatedGuarantee

Array = NDArray[np.float64]
CUTS = np.linspace(-12.0, 13.0, 2501)


def first(points: Any) -> Any:
    return points[:, 0]


def of(law: Any, mean: float = 0.0, **more: float) -> StatedLaw:
    return StatedLaw(first, law(mean).cdf, CUTS, **more)


@dataclass
class Normal:
    """N(0, 1) and N(1, 1), or with their noise divided by a factor; `real` is what the outputs have."""

    factor: float = 1.0
    real: float = 1.0
    faults: PlantedFaults = field(init=False)

    def __post_init__(self) -> None:
        self.faults = PlantedFaults(lambda k: Normal(k, k), "noise divided by", (4.0, 2.0))

    @property
    def laws(self) -> tuple[StatedLaw, StatedLaw]:
        left, right = (StatedLaw(first, norm(mean, 1 / self.factor).cdf, CUTS) for mean in (0.0, 1.0))
        return left, right

    def draw(self, count: int) -> tuple[Array, Array]:
        rng = np.random.default_rng(3)
        left, right = rng.normal(size=(2, count, 1)) / self.real
        return left, 1 + right


def audited(subject: Any, claim: Guarantee, runs: int = 2000, delta: float | None = None) -> PrivacyEvidence:
    stated = StatedGuarantee(claim, Adjacency.REPLACE_ONE)
    question = PrivacyQuestion(stated, "two numbers", runs, delta=delta, label=Label("noise", seed=1))
    return WhiteBoxAuditor().audit(question, subject, ErrorShare(1e-6))


@pytest.mark.parametrize("delta", [1e-2, 1e-5, 1e-10])
def test_normal_laws_show_nearly_all(delta: float) -> None:
    true = GDP(1.0)
    bound = known_bound(of(norm), of(norm, 1.0))
    assert 0.999 * true.epsilon_at(delta) < bound.epsilon(delta) <= true.epsilon_at(delta)
    epsilons = np.array([0.0, 1.0, 3.0])
    assert np.all(bound.delta(epsilons) <= true.privacy_profile(epsilons))
    assert bound.delta(epsilons) == pytest.approx(true.privacy_profile(epsilons), rel=1e-3)


def test_laplace_laws_show_all_without_delta() -> None:
    bound = known_bound(of(laplace), of(laplace, 1.0))
    assert 0.9999 < bound.epsilon(0.0) <= 1.0
    # either order
    assert known_bound(of(laplace, 1.0), of(laplace)).epsilon(0.0) == pytest.approx(bound.epsilon(0.0))


def test_errors_are_paid_for() -> None:
    """A law that is off by as much as its error says gives no bound above the true one's."""
    true = GDP(1.0).epsilon_at(1e-2)
    # another mean moves probabilities by at most 0.4 times that
    for moved in (-0.005, 0.005):
        off = known_bound(of(norm, error=0.002), of(norm, 1.0 + moved, error=0.002))
        assert 0.8 * true < off.epsilon(1e-2) <= true
    assert known_bound(of(norm), of(norm, 1.1)).epsilon(1e-2) > true
    part = known_bound(of(laplace, relative=0.1), of(laplace, 1.0, relative=0.1))
    assert part.epsilon(0.0) == pytest.approx(1 - np.log(1.1 / 0.9), rel=1e-3)


def test_rare_outputs_are_known_at_the_left_end() -> None:
    """Ratios of probabilities of 1e-30, where none at the right end could be told from rounding."""
    steps = np.linspace(-80.0, -60.0, 101)
    far = [StatedLaw(first, laplace(mean).cdf, steps) for mean in (0.0, 1.0)]
    assert known_bound(*far).epsilon(0.0) == pytest.approx(1.0, rel=1e-6)
    turned = [StatedLaw(first, laplace(mean).cdf, -steps) for mean in (0.0, 1.0)]
    assert known_bound(*turned).epsilon(0.0) < 1e-6


def test_equal_laws_show_nothing() -> None:
    bound = known_bound(of(norm), of(norm))
    assert bound.epsilon(0.0) == bound.epsilon(1e-3) == 0.0
    assert not np.any(bound.delta(np.array([0.0, 1.0])) > 1e-12)


def test_a_true_claim_is_supported_and_faults_are_found() -> None:
    found = audited(Normal(), GDP(1.0))
    assert (found.verdict, found.smallest_fault, found.white_box) == (Verdict.SUPPORTED, 2.0, True)
    assert found.epsilon_lower == pytest.approx(GDP(1.0).epsilon_at(1e-5), rel=1e-3)
    assert "given the stated law, with which 2000 outputs" in found.reason
    assert sum(share.failure_probability for share in found.shares) <= 1e-6


def test_false_claims_are_violated() -> None:
    for claim in (GDP(0.99), ApproxDP(4.3, 1e-5), PureDP(8.0)):
        assert audited(Normal(), claim).verdict is Verdict.VIOLATED


def test_outputs_that_have_another_law_void_it() -> None:
    """Noise 1.3 times as large as stated; chance explains this with probability at most 1e-6."""
    found = audited(Normal(real=1 / 1.3), GDP(1.0), 5000)
    assert (found.verdict, found.gap, found.epsilon_lower) == (
        Verdict.UNDECIDED,
        Gap.CONTRADICTORY_ASSUMPTIONS,
        0.0,
    )
    assert "contradict the stated law" in found.reason


def test_an_audit_that_notices_no_fault_supports_nothing() -> None:
    found = audited(Normal(), GDP(10.0))
    assert (found.verdict, found.gap) == (Verdict.UNDECIDED, Gap.BLIND_AUDIT)
    assert found.epsilon_lower > 4


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("cuts", []),
        ("cuts", [[0.0]]),
        ("cuts", [np.nan]),
        ("statistic", 1),
        ("distribution", None),
        ("error", -0.1),
        ("error", 1.0),
        ("relative", np.inf),
    ],
)
def test_bad_arguments(name: str, value: Any) -> None:
    good: dict[str, Any] = {"statistic": first, "distribution": norm.cdf, "cuts": [0.0]}
    with pytest.raises(InvalidArgumentError, match=name):
        StatedLaw(**(good | {name: value}))


def test_what_falls_is_no_distribution_function() -> None:
    law = StatedLaw(first, lambda x: 1 - norm.cdf(x), CUTS)
    with pytest.raises(InvalidArgumentError, match="distribution"):
        known_bound(law, of(norm))
