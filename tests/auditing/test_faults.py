"""What a privacy audit sees: weakened mechanisms on the same pair. Chance of a false alarm 1e-6 an audit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from dpverify.auditing import PrivacyAudit, audit_privacy, search_faults
from dpverify.auditing.faults import Weakened, room_left
from dpverify.errors import InvalidArgumentError
from dpverify.ledger.records import Interval
from dpverify.ledger.verdicts import Gap, Verdict
from dpverify.privacy import GDP

RUNS = 20_000
CLAIM = GDP(1.0)


def _gaussian_pair(shift: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(0, 1, RUNS), rng.normal(shift, 1, RUNS)


def _audited(shift: float) -> PrivacyAudit:
    left, right = _gaussian_pair(shift, 1)
    return audit_privacy(left, right, CLAIM, adjacency="replace-one", failure_probability=1e-6, seed=3)


def _weakened(shift: float) -> Weakened:
    return lambda factor: _gaussian_pair(shift * factor, round(100 * factor))


@pytest.mark.parametrize(("shift", "smallest"), [(0.9, 2.0), (0.45, 4.0)])
def test_the_smallest_fault_that_is_flagged(shift: float, smallest: float) -> None:
    audit = search_faults(_audited(shift), CLAIM, _weakened(shift), fault="noise divided by")
    assert audit.verdict is Verdict.SUPPORTED
    assert (audit.smallest_fault, audit.fault, audit.detects_nothing) == (smallest, "noise divided by", False)
    assert f"noise divided by {smallest:g}, the mechanism was flagged" in audit.reason


@pytest.mark.parametrize("noise", [1.0, 8.0])
def test_a_blind_pair_supports_nothing(noise: float) -> None:
    """A pair so close that even an eighth of the noise breaks no claim there."""
    shift = 0.01 * noise
    audit = search_faults(_audited(shift), CLAIM, _weakened(shift), fault="noise divided by")
    assert audit.verdict is Verdict.UNDECIDED
    assert (audit.smallest_fault, audit.detects_nothing) == (None, True)
    assert audit.reason.startswith("sees nothing here")
    assert "noise divided by 4" in audit.reason


def test_without_a_weakened_version_nothing_is_supported() -> None:
    audit = search_faults(_audited(0.9), CLAIM, None, fault="")
    assert (audit.verdict, audit.detects_nothing) == (Verdict.UNDECIDED, True)
    assert audit.reason.startswith("sees nothing here")


def test_a_violated_claim_is_not_searched() -> None:
    def refused(factor: float) -> tuple[np.ndarray, np.ndarray]:
        raise AssertionError("nothing should be run")

    audit = _audited(3.0)
    assert audit.verdict is Verdict.VIOLATED
    assert search_faults(audit, CLAIM, refused, fault="noise divided by") is audit


def test_the_search_stops_where_nothing_is_seen() -> None:
    tried = []

    def weakened(factor: float) -> tuple[np.ndarray, np.ndarray]:
        tried.append(factor)
        return _gaussian_pair(0.45 * factor, round(100 * factor))

    search_faults(_audited(0.45), CLAIM, weakened, fault="noise divided by", factors=(4.0, 2.0, 2**0.5))
    assert tried == [4.0, 2.0]


@dataclass(frozen=True)
class _Known:
    """A pair of which the smallest epsilon is known."""

    epsilon: float

    def exact(self, delta: float) -> Interval:
        return Interval(lower=0.0, upper=self.epsilon)


@pytest.mark.parametrize(("weakest", "gap"), [(0.99, Gap.LOOSE_CLAIM), (1.01, Gap.BLIND_AUDIT)])
def test_a_claim_that_weakened_versions_keep_is_called_loose(weakest: float, gap: Gap) -> None:
    """No more than that: where the weakened mechanism breaks the claim, more runs could have shown it."""
    asked = []

    def room(factor: float) -> str:
        asked.append(factor)
        return room_left((1.0, 0.1), _Known(0.25), _Known(weakest))

    audit = search_faults(
        _audited(0.01), CLAIM, _weakened(0.01), fault="noise divided by", factors=(4.0, 2.0), room=room
    )
    assert asked == [4.0]
    assert (audit.verdict, audit.gap, audit.detects_nothing) == (Verdict.UNDECIDED, gap, True)
    said = "the claim allows epsilon 1, 4 times as much as this pair needs (0.25)"
    assert (said in audit.reason) == (gap is Gap.LOOSE_CLAIM)
    assert audit.reason.endswith("neighbors: replace-one")


@pytest.mark.parametrize("unknown", [(object(), _Known(0.5)), (_Known(0.5), object())])
def test_nothing_is_called_loose_that_is_not_known(unknown: tuple[object, object]) -> None:
    assert room_left((1.0, 0.0), *unknown) == ""


@pytest.mark.parametrize("factors", [(), (1.0,), (2.0, 4.0), (4.0, 4.0), (float("nan"),)])
def test_bad_factors(factors: tuple[float, ...]) -> None:
    with pytest.raises(InvalidArgumentError, match="factors"):
        search_faults(_audited(0.1), CLAIM, None, fault="", factors=factors)


def test_another_number_of_runs_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="as many as were audited"):
        search_faults(_audited(0.1), CLAIM, lambda _: (np.zeros(500), np.ones(500)), fault="noise divided by")
