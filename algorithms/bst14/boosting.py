"""From a small expected risk to a small risk with high probability (Bassily, Smith, Thakurta, 2014, Appendix D).

A private algorithm is run k times, each time with a k-th of half of the budget; the exponential mechanism, with the
other half, picks one of the k points by its empirical risk.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np

from dpverify.algorithms.conditions import a_dataset, admitted, claim_or_obstacle, passed_on, stated_by
from dpverify.algorithms.contract import Guarantees, promised
from dpverify.algorithms.examples import Examples, Setting
from dpverify.algorithms.parameters import Count, Proper
from dpverify.algorithms.promises import StatedQueries, StatedRisk, missed, reasons, words, words_of
from dpverify.algorithms.weakening import BOTH, Weakenable, sharpened
from dpverify.checks import number, positive, whole_number
from dpverify.errors import InvalidArgumentError
from dpverify.privacy import ApproxDP, PureDP, StatedGuarantee
from dpverify.problems import Dataset, Problem
from dpverify.problems.arrays import at_least
from dpverify.running import Output, Randomness
from dpverify.running.foresight import USUAL_CALL
from dpverify.running.outputs import COUNTERS
from dpverify.running.randomness import BLOCK

_SMALLEST = float(np.finfo(np.float64).tiny)


@runtime_checkable
class PrivateAlgorithm(Protocol):
    """What can be boosted: a dataclass with these members and a field `delta` too, unless it is purely private."""

    @property
    def problem(self) -> Problem:
        """Whose empirical risk says which point is best."""

    @property
    def epsilon(self) -> float:
        """Of the whole budget, in nats; `dataclasses.replace` must be able to change it."""

    def guarantees(self, n: int) -> Guarantees:
        """Among them (epsilon, delta)-DP for replace-one neighbors, or something stronger."""

    def __call__(self, data: Dataset, *, rng: Randomness, runs: int) -> Output:
        """Run; points have shape (runs, d)."""


@dataclass(frozen=True)
class ForPrivacy(Weakenable):
    """An algorithm that sets its parameters by (epsilon, delta) and n when it meets the data, through `for_privacy`.

    Algorithms without a field `epsilon` get one, and so can be boosted.

    Attributes:
        kind: a class with `for_privacy(problem, n=, epsilon=, delta=)`.
        problem: loss and constraint set.
        epsilon: in nats.
        delta: in (0, 1).
        options: more keyword arguments, as pairs of name and value.
    """

    kind: type[Any]
    problem: Problem
    epsilon: float
    delta: float
    options: Sequence[tuple[str, Any]] = ()

    @property
    def hands_over(self) -> Any:
        """What the algorithm hands over to the loss, see `wrapped_solvers.check_solver`; None if it does not say."""
        return getattr(self.kind, "hands_over", None)

    def at(self, n: int) -> Any:
        """The algorithm for n records."""
        return self.kind.for_privacy(
            self.problem, n=n, epsilon=self.epsilon, delta=self.delta, **dict(self.options)
        )

    def guarantees(self, n: int) -> Any:
        """The guarantees of the algorithm for n records."""
        return stated_by(self.at(n), n)

    def withdrawn(self, n: int) -> Any:
        """The reasons of the algorithm for n records."""
        return self.at(n).withdrawn(n)

    def queries(self, n: int) -> Any:
        """The queries of the algorithm for n records."""
        return self.at(n).queries(n)

    def sharpened(self, n: int, factor: float) -> Any:
        """The algorithm for n records, with its exponents times the factor."""
        made = self.at(n)
        inside = sharpened(made, n, factor)
        return self if inside is made else inside

    def __call__(self, data: Dataset, *, rng: Randomness, runs: int) -> Any:
        """Set the parameters, then run."""
        return self.at(a_dataset(data).n)(data, rng=rng, runs=runs)


@dataclass(frozen=True)
class Boosting(Weakenable):
    """bst14, Appendix D: k runs of a private algorithm; one point is released, with a probability
    proportional to exp(-epsilon' L(theta; D) / (2 L ||C||)), which is Algorithm 2 on the k points.

    Guarantee (replace-one, both directions): (epsilon, delta)-DP, as was asked of the boosted algorithm,
    or epsilon-DP if its delta is 0. By basic composition of k runs with epsilon (1 - s) / k and delta / k each, and
    of a selection with epsilon' = s epsilon, s being its share. The difference of two records' losses is 2
    L-Lipschitz, so over C it varies by at most 2 L ||C||, and no probability changes by more than exp(epsilon').

    Risk: with probability at least 1 - rho, the excess empirical risk is at most a F + (2 L ||C|| / epsilon')
    ln(2 k / rho), where F is the expected one of a single run and a = (2 / rho)^(1/k), at most 2 for the k below.

    What is printed differs in four ways. The k runs are given all of epsilon, and the selection a share that is not
    named: with Algorithm 2's own weights the total is 2 epsilon, so half is kept back here. k = log(2/rho) is not
    enough with the natural logarithm, as the best of k runs is bad with probability up to 2^-k; with the binary one
    it is. The risk of the selected point is the least of the k, not the largest, plus a term, not less it. And the
    selection's term is not below F where F falls with n, as for strongly convex losses: there the last sentence
    (a factor poly log(1/rho) over the expected risk) fails, since L ||C|| / epsilon does not fall.

    Assumptions: L-Lipschitz losses on a bounded set, for records in the unit ball; those of the algorithm.

    Attributes:
        algorithm: what is boosted, with its problem, and the epsilon (nats) and delta of all k runs and the
            selection together.
        failure_probability: rho, in (0, 1).
        repeats: k; the smallest integer that is at least log2(2/rho) if None.
        selection_share: s, in (0, 1), the part of epsilon that the selection gets.
        withdraw_guarantee: run even if the guarantee does not hold.
    """

    algorithm: PrivateAlgorithm
    failure_probability: Proper = 0.05
    repeats: Count | None = None
    selection_share: Proper = 0.5
    withdraw_guarantee: bool = False

    id = "bst14.alg-boost"
    fault = BOTH
    statements = ("bst14.appD", "bst14.thm3.1", "bst14.thm3.2")
    unstated = reasons("bst14.alg-boost")

    @classmethod
    def examples(cls, at: Setting) -> Examples:
        from dpverify.algorithms.bst14.net_mechanism import NetMechanism

        return {
            "": lambda: cls(NetMechanism(at.line, 1.0), repeats=2),
            "asked": lambda: cls(NetMechanism(at.line, at.epsilon), repeats=2),
        }

    def __post_init__(self) -> None:
        """Refuse an algorithm whose epsilon cannot be split, or whose problem is unbounded or not Lipschitz."""
        super().__post_init__()
        fields = getattr(type(self.algorithm), "__dataclass_fields__", ())
        if "epsilon" not in fields or not isinstance(self.algorithm, PrivateAlgorithm):
            raise InvalidArgumentError(
                "algorithm",
                self.algorithm,
                "a dataclass with a field epsilon and the methods of a private algorithm; "
                "ForPrivacy makes one of an algorithm with for_privacy",
            )
        positive("algorithm.epsilon", self.epsilon)
        number("algorithm.delta", self.delta, at_least=0, below=1, allowed="a number in [0, 1)")
        sizes = self.problem.constraint.diameter, self.problem.constants.lipschitz_constant
        if not all(map(math.isfinite, sizes)):
            raise InvalidArgumentError(
                "algorithm.problem",
                self.problem,
                "a bounded constraint set and a loss with a finite Lipschitz constant on it",
            )
        _ = self.single

    @property
    def problem(self) -> Problem:
        """The algorithm's."""
        return self.algorithm.problem

    @property
    def epsilon(self) -> float:
        """Of everything together, in nats."""
        return self.algorithm.epsilon

    @property
    def delta(self) -> float:
        """Of everything together; 0 if the algorithm knows none."""
        known = getattr(self.algorithm, "delta", None)
        return 0.0 if known is None else float(known)

    @property
    def repeat_count(self) -> int:
        """k, how often the algorithm is run: log2(2/rho), rounded up, unless `repeats` is set."""
        if self.repeats is not None:
            return self.repeats
        return math.ceil(math.log2(2 / self.failure_probability))

    @property
    def selection_epsilon(self) -> float:
        """epsilon', in nats."""
        return self.selection_share * self.epsilon

    @cached_property
    def single(self) -> PrivateAlgorithm:
        """The algorithm as each of the k runs has it, with its part of the budget."""
        parts: dict[str, float] = {"epsilon": (1 - self.selection_share) * self.epsilon / self.repeat_count}
        if self.delta > 0:
            parts["delta"] = self.delta / self.repeat_count
        return dataclasses.replace(self.algorithm, **parts)  # type: ignore[type-var]

    @property
    def selection_rate(self) -> float:
        """The factor epsilon' / (2 L ||C||) of the total risk in the exponent, in nats over loss."""
        problem = self.problem
        oscillation = 2 * problem.constants.lipschitz_constant * problem.constraint.diameter
        return self.selection_epsilon / oscillation

    def _claim(self, n: int) -> StatedGuarantee | str:
        """What a single run states that is enough; why, if nothing is."""
        stated, delta = stated_by(self.single, n), self.delta / self.repeat_count
        return claim_or_obstacle("a single run", stated, n, self.single.epsilon, delta)

    def _voids(self, n: int) -> tuple[str, ...]:
        claim = self._claim(n)
        return (claim,) if isinstance(claim, str) else ()

    def guarantees(self, n: int) -> Guarantees:
        """(epsilon, delta)-DP for n records, pure if delta is 0; none if a single run's guarantee fails.

        It has the conditions of a single run's.
        """
        claim = self._claim(n)
        if isinstance(claim, str) or self.withdraw_guarantee:
            return Guarantees()
        guarantee = ApproxDP(self.epsilon, self.delta) if self.delta > 0 else PureDP(self.epsilon)
        conditions = tuple(dict.fromkeys((*passed_on(claim), *self.problem.conditions)))
        stated = promised("bst14.alg-boost/privacy", guarantee, conditions=conditions)
        return Guarantees(stated, as_printed=stated)

    def selection_loss(self, rho: float) -> float:
        """(2 L ||C|| / epsilon') ln(2 k / rho): what the pick is worse than the best, at most.

        It holds with probability at least 1 - rho / 2, in units of total loss.
        """
        return math.log(2 * self.repeat_count / rho) / self.selection_rate

    def risk_bound(self, n: int) -> StatedRisk | None:
        """With probability at least 1 - rho; None if a single run's expected excess empirical risk has no bound.

        Of k runs all have a times the expected excess risk with probability at most a^-k, by Markov's inequality;
        a = (2 / rho)^(1/k) makes that rho / 2. The pick loses more than `selection_loss` with the other half.
        """
        return self._risk_missed_by(n, self.failure_probability)

    def risk_quantile(self, n: int, probability: float) -> StatedRisk | None:
        """The same with 1 - probability for rho in the bound; k and the weights of the pick stay as they are.

        Assumes a single run's bound on its expectation, k runs that are independent given the data, and an L-Lipschitz
        loss on C for each record.
        """
        return self._risk_missed_by(n, missed(probability))

    def _risk_missed_by(self, n: int, rho: float) -> StatedRisk | None:
        single: StatedRisk | None = getattr(self.single, "risk_bound", lambda n: None)(n)
        if single is None or single.population or single.probability is not None:
            return None
        factor = (2 / rho) ** (1 / self.repeat_count)
        records, known = n if single.total else 1, self.problem.constants
        selection = self.selection_loss(rho) * records / n
        return StatedRisk(
            min(
                factor * single.bound + selection,
                records * known.lipschitz_constant * self.problem.constraint.diameter,
            ),
            total=single.total,
            probability=1 - rho,
            theorem=None if single.theorem is None else factor * single.theorem + selection,
            **words("bst14.alg-boost/risk", **words_of(single)),
        )

    def queries(self, n: int) -> tuple[StatedQueries, ...]:
        """The stated queries of k runs, plus k n values and k projections for the selection."""
        whole_number("n", n)
        k = self.repeat_count
        selection = {"value": k * n, "projection": k}
        single: Any = self.single
        if hasattr(single, "queries"):
            stated = single.queries(n)
        else:
            count = getattr(single, "gradient_query_count", None)
            stated = () if count is None else (StatedQueries("gradient", count(n)),)
        found = []
        for one in stated:
            row = words("bst14.alg-boost/queries", **words_of(one))
            found.append(dataclasses.replace(one, count=k * one.count + selection.pop(one.oracle, 0), **row))
        if "value" in selection:
            found.append(StatedQueries("value", k * n, **words("bst14.alg-boost/values")))
        return tuple(found)

    @property
    def seconds_a_call(self) -> float:
        """Those of the algorithm that is boosted."""
        return float(getattr(self.single, "seconds_a_call", USUAL_CALL))

    def sharpened(self, n: int, factor: float) -> Self:
        """The same with what is boosted sharpened; the pick is weakened where its exponential numbers are drawn."""
        inside = sharpened(self.single, n, factor)
        if inside is self.single:
            return self
        made = dataclasses.replace(self, withdraw_guarantee=True)
        made.__dict__["single"] = inside
        return made

    def __call__(self, data: Dataset, *, rng: Randomness, runs: int) -> Output:
        """Run on a data set; points have shape (runs, d).

        As many of the k runs as fit into a block are made at once; of each outer run only the best so far is kept.
        """
        data = admitted(self, data)
        k, xp = self.repeat_count, rng.xp
        best, first_time = None, None
        counts = {name: np.zeros(runs, dtype=np.int64) for name in COUNTERS}
        at_once = max(1, min(k, BLOCK // runs))
        for first in range(0, k, at_once):
            repeats = min(at_once, k - first)
            output = self.single(data, rng=rng, runs=repeats * runs)
            # a point outside of C would void the bound on how much a record moves its score
            points = self.problem.constraint.project(output.points)
            costs = self.selection_rate * self.problem.total_risk(points, data)
            # standard exponential numbers race, each times exp(cost): the first one wins with probability proportional
            # to exp(-cost); run r's points are r, r + runs, ...
            drawn = rng.gamma(1.0, (repeats, runs), "selection")
            times = xp.log(at_least(drawn, _SMALLEST)) + xp.reshape(costs, (repeats, runs))
            time = xp.min(times, axis=0)
            candidate = xp.take(points, xp.argmin(times, axis=0) * runs + xp.arange(runs), axis=0)
            if best is None:
                best, first_time = candidate, time
            ahead = time < first_time
            first_time = xp.where(ahead, time, first_time)
            best = xp.where(ahead[:, None], candidate, best)
            for name, total in counts.items():
                made = np.broadcast_to(np.asarray(getattr(output, name)), (repeats * runs,))
                total += made.reshape(repeats, runs).sum(axis=0)
        counts["value_queries"] += k * data.n
        counts["projections"] += k
        return Output(best, **counts)
