"""Empirical risk from population risk (Menart, Nikolov, 2025, Appendix D.2): an ERM solver that calls an SCO solver.

SCO is stochastic convex optimization, ERM empirical risk minimization. Risks are means over the records.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dpverify.algorithms.conditions import admitted, passed_on, promised_to_all, stated_by
from dpverify.algorithms.contract import promised
from dpverify.algorithms.examples import Examples, Setting
from dpverify.algorithms.mn25.wrapped_solvers import ALL_RUNS, FIRST_RUNS, Reduction, check_solver
from dpverify.algorithms.parameters import Count
from dpverify.algorithms.promises import StatedQueries, StatedRisk, reasons, words, words_of
from dpverify.algorithms.steps.projected_steps import records
from dpverify.algorithms.weakening import NOISE
from dpverify.checks import whole_number
from dpverify.errors import InvalidArgumentError
from dpverify.privacy import ApproxDP, ConditionKind, Guarantee, ProfileDP, PureDP, StatedGuarantee, for_group
from dpverify.problems import Dataset, Problem
from dpverify.problems.per_run.local_problems import ResampledLoss
from dpverify.running import Output, Randomness
from dpverify.running.foresight import USUAL_CALL

_LARGEST_EXPONENT = 700.0
"""Of exponentials in floats."""


@dataclass(frozen=True)
class ResampledProfile:
    """Profile of a mechanism on m records that were drawn from n with replacement.

    A given record is drawn at all with the probability q = 1 - (1 - 1/n)^m, k times with the probability p_k. So
    the two outputs are (1 - q) A + q B and (1 - q) A + q B', and by advanced joint convexity (Balle, Barthe and
    Gaboardi 2018, Theorem 10) delta'(ln(1 + q (e^epsilon - 1))) <= sum_{k >= 1} p_k delta_k(epsilon), delta_k being
    the mechanism's profile for data sets that differ in k records.
    """

    guarantee: Guarantee
    n: int
    m: int

    def __call__(self, epsilon: NDArray[np.float64]) -> NDArray[np.float64]:
        """Upper bound on the hockey-stick divergence, both directions, same shape."""
        drawn = -math.expm1(self.m * math.log1p(-1 / self.n)) if self.n > 1 else 1.0
        # for large values ln(1 + (e^x - 1) / q) is x - ln q up to rounding
        capped = np.minimum(epsilon, 500.0)
        inner = np.log1p(np.expm1(capped) / drawn) + (epsilon - capped)
        total = np.zeros(np.shape(epsilon))
        left = drawn
        for k, probability in enumerate(self._multiplicities, start=1):
            total += probability * self._group(k, inner)
            left -= probability
        return np.minimum(total + max(left, 0.0), 1.0)

    @cached_property
    def _multiplicities(self) -> tuple[float, ...]:
        """p_1, p_2, ... until what is left is below 1e-18."""
        from scipy import stats

        law = stats.binom(self.m, 1 / self.n)
        found = []
        for k in range(1, self.m + 1):
            found.append(float(law.pmf(k)))
            if law.sf(k) < 1e-18:
                break
        return tuple(found)

    def _group(self, size: int, epsilon: NDArray[np.float64]) -> NDArray[np.float64]:
        """Profile for `size` replaced records."""
        try:
            return np.asarray(for_group(self.guarantee, size).privacy_profile(epsilon))
        except InvalidArgumentError:
            pass
        # delta_k(k e) <= delta(e) (1 + exp(e) + ... + exp((k - 1) e)), and it does not increase
        each, deltas = self._grid
        safe = np.maximum(each, 1e-300)
        row = np.where(each > 0, np.expm1(-size * safe) / np.expm1(-safe), float(size))
        bounds = np.minimum(deltas * np.exp(np.minimum((size - 1) * each, 700.0)) * row, 1.0)
        falling = np.minimum.accumulate(bounds)
        last = np.searchsorted(size * each, epsilon, side="right") - 1
        return np.asarray(falling[last])

    @cached_property
    def _grid(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Epsilons from 0, two percent apart, and the profile there: where no closed form is known."""
        each = np.concatenate([[0.0], np.geomspace(1e-3, 600.0, 700)])
        return each, np.asarray(self.guarantee.privacy_profile(each))


def resampled(guarantee: ApproxDP | PureDP, n: int, m: int) -> ApproxDP:
    """mn25, Lemma 6 before its last estimates: m of n records drawn with replacement, (epsilon, delta)-DP inside.

    epsilon' = m ln((1 + (e^eps - 1)/n) / (1 + (e^-eps - 1)/n)), and delta' = delta times
    e^epsilon' e^-eps (1 - (1 + (e^-eps - 1)/n)^m) / (1 - e^-eps) + ((1 + (e^eps - 1)/n)^m - 1) / (e^eps - 1).
    (The factor e^-eps of the first term is not printed; the proof allows it.) Refused if delta' would reach 1, or if
    epsilon is above 700.
    """
    epsilon, delta = guarantee.epsilon, getattr(guarantee, "delta", 0.0)
    if epsilon > _LARGEST_EXPONENT:
        raise InvalidArgumentError("epsilon", epsilon, f"at most {_LARGEST_EXPONENT:g}")
    up, down = math.log1p(math.expm1(epsilon) / n), math.log1p(math.expm1(-epsilon) / n)
    total = m * (up - down)
    if delta == 0:
        return ApproxDP(total, 0.0)
    if total > _LARGEST_EXPONENT:
        allowed = "one that stays below 1 when it is multiplied by e^epsilon'"
        raise InvalidArgumentError("delta", delta, allowed)
    if epsilon > 0:
        first = math.exp(total - epsilon) * math.expm1(m * down) / math.expm1(-epsilon)
        factor = first + math.expm1(m * up) / math.expm1(epsilon)
    else:
        factor = 2 * m / n
    return ApproxDP(total, factor * delta)


def _after_resampling(inner: Guarantee, n: int, m: int) -> list[Guarantee]:
    """All that follows from a guarantee on m records when these are drawn from n with replacement."""
    found: list[Guarantee] = []
    if isinstance(inner, ApproxDP) and m == n and inner.epsilon <= 1 / 6 and math.e * inner.delta < 1:
        found.append(ApproxDP(6 * inner.epsilon, math.e * inner.delta))
    if isinstance(inner, ApproxDP | PureDP):
        # delta' has reached 1: nothing follows that way
        with contextlib.suppress(InvalidArgumentError):
            found.append(resampled(inner, n, m))
    found.append(ProfileDP(ResampledProfile(inner, n, m), f"{inner}, resampled"))
    return found


def _promised(asked: ApproxDP | None, found: Guarantee, inner: StatedGuarantee) -> StatedGuarantee:
    """What follows from a guarantee of the solver, beside what was asked of it: the printed claim, or the mixture."""
    name, epsilon, delta = "privacy otherwise", 0.0, 0.0
    if asked is not None:
        epsilon, delta = 6 * asked.epsilon, math.e * asked.delta
        if isinstance(found, ProfileDP):
            delta = 4 * math.exp(min(epsilon, _LARGEST_EXPONENT)) * asked.delta
            name = "privacy of the mixture"
        elif found == ApproxDP(epsilon, delta):
            name = "privacy"
    row, conditions = f"mn25.erm-to-sco/{name}", passed_on(inner)
    return promised(row, found, conditions=conditions, epsilon=epsilon, delta=delta)


@dataclass(frozen=True)
class EmpiricalToPopulation(Reduction):
    """mn25, Appendix D.2: an ERM solver that runs an SCO solver on n records drawn from the n with replacement.

    The empirical distribution is the population, so the excess empirical risk is the SCO solver's excess population
    risk.

    Guarantee (replace-one, both directions): for an (epsilon, delta)-DP solver with epsilon <= 1/6, (6 epsilon, e
    delta)-DP as printed. It does not follow from Lemma 6 as printed, whose delta' is 4 e^(6 epsilon) delta, but from
    the lemma's proof before its last estimates, which is stated beside it (`resampled`) and reaches 2.2 delta at
    epsilon = 1/6. The third is the mixture over how often a record was drawn (`ResampledProfile`).

    Assumptions: those of the solver, which must step all runs of a batch together, or the first ones, and says so (see
    `wrapped_solvers.check_solver`): every run has drawn its own records.

    Attributes:
        solver: SCO algorithm with its problem.
        resamples: m, how many records are drawn; n if None, as the paper has it.
        withdraw_guarantee: run although the solver guarantees nothing.
    """

    solver: Any
    resamples: Count | None = None
    withdraw_guarantee: bool = False

    id = "mn25.erm-to-sco"
    statements = ("mn25.d2", "mn25.lem6")
    # A record that was drawn twice is replaced twice, over a data set that holds the old and the new one. Nobody runs
    # on that, so that it may be refused where no run is, and "no run is refused" does not pass on.
    accepts: ClassVar[Collection[ConditionKind]] = frozenset({ConditionKind.AS_DECLARED})
    obstacle = "the solver guarantees nothing to all records under replace-one adjacency"
    unstated = reasons("mn25.erm-to-sco")

    @classmethod
    def examples(cls, at: Setting) -> Examples:
        from dpverify.algorithms.fmtt18.projected_noisy_sgd import PNSGD

        return {
            "": lambda: cls(PNSGD(at.mean, 0.5, 1.0)),
            "asked": lambda: cls(PNSGD.for_privacy(at.curved, n=at.n, epsilon=at.epsilon, delta=at.delta)),
        }

    def __post_init__(self) -> None:
        super().__post_init__()
        check_solver(self.solver, hands_over=(ALL_RUNS, FIRST_RUNS))

    def resample_count(self, n: int) -> int:
        """The number m of records that are drawn."""
        return whole_number("n", n) if self.resamples is None else self.resamples

    _solver_records = resample_count

    def _solvers(self, n: int) -> Iterable[StatedGuarantee]:
        found: Iterable[StatedGuarantee] = stated_by(self.solver, self.resample_count(n))
        return found

    def _following(self, n: int) -> Sequence[StatedGuarantee]:
        inners = promised_to_all(self._solvers(n), accepts=self.accepts)
        asked = next((one.guarantee for one in inners if isinstance(one.guarantee, ApproxDP)), None)
        return [
            _promised(asked, guarantee, inner)
            for inner in inners
            for guarantee in _after_resampling(inner.guarantee, n, self.resample_count(n))
        ]

    @property
    def seconds_a_call(self) -> float:
        """The solver's."""
        return float(getattr(self.solver, "seconds_a_call", USUAL_CALL))

    def queries(self, n: int) -> tuple[StatedQueries, ...]:
        """The solver's, for m records."""
        if not hasattr(self.solver, "queries"):
            count = int(self.solver.gradient_query_count(self.resample_count(n)))
            return (StatedQueries("gradient", count, exact=False, sources=("mn25.d2",)),)
        return tuple(
            dataclasses.replace(one, **words("mn25.erm-to-sco/queries", **words_of(one)))
            for one in self.solver.queries(self.resample_count(n))
        )

    def risk_bound(self, n: int) -> StatedRisk | None:
        """The solver's excess population risk for m records, as an excess empirical risk; None if it states none."""
        m = self.resample_count(n)
        kinds = ("population_risk_bound", "risk_bound")
        stated: StatedRisk | None = next(
            (getattr(self.solver, kind)(m) for kind in kinds if hasattr(self.solver, kind)), None
        )
        if stated is None or not stated.population:
            return None
        row = words("mn25.erm-to-sco/risk", **words_of(stated))
        return dataclasses.replace(stated, population=False, **row)

    @property
    def fault(self) -> str:
        """The solver's."""
        return str(getattr(self.solver, "fault", NOISE))

    def __call__(self, data: Dataset, *, rng: Randomness, runs: int) -> Output:
        """Draw each run's records, then run the solver on them; points have shape (runs, d)."""
        data = admitted(self, data)
        n, m, xp = data.n, self.resample_count(data.n), rng.xp
        features, labels = records(data, self.problem, xp)
        drawn = rng.integers(0, n, (runs, m), "resampled records")
        prefixes = self.solver.hands_over == FIRST_RUNS
        loss = ResampledLoss(self.problem.loss, features, labels, drawn, prefixes=prefixes)
        name = f"places in a resample of {data.name}"
        places = Dataset(np.zeros((m, data.d)), np.arange(m, dtype=np.float64), name)
        solver = dataclasses.replace(self.solver, problem=Problem(loss, self.problem.constraint))
        output: Output = solver(places, rng=rng, runs=runs)
        return output
