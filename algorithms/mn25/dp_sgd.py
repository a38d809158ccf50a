"""DP-SGD as a private oracle method, with the tuning of Menart and Nikolov (Algorithm 3, Theorem 2).

Risks are means over the records. B is the constraint set's diameter, L the loss's Lipschitz constant, d the
dimension; alpha*(epsilon, delta) = B L sqrt(d ln(1/delta)) / (n epsilon).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np
import scipy

from dpverify.algorithms.conditions import admitted, reach
from dpverify.algorithms.examples import Examples, Setting
from dpverify.algorithms.mn25.interaction import Interaction
from dpverify.algorithms.mn25.phases import LARGEST_MU, Accounted
from dpverify.algorithms.mn25.private_oracles import GaussianOracle, begin, mean_of_descent
from dpverify.algorithms.parameters import Count, Epsilon, NotNegative, Positive, Proper, Share
from dpverify.algorithms.promises import StatedQueries, StatedRisk, missed, words
from dpverify.algorithms.steps.single_run import FEW
from dpverify.checks import whole_number
from dpverify.privacy import GDP, Guarantee, PureDP, zCDP
from dpverify.privacy.batch_sampling import SampledBatch, sampled_batches
from dpverify.problems import Dataset, Problem
from dpverify.running import Output, Randomness
from dpverify.running.randomness import Array

_MOST_STEPS = 10_000_000
_SEARCH_TOLERANCE = 1e-3  # relative, of the number of steps


class DPSGDParameters(NamedTuple):
    """What Algorithm 3 sets in its lines 3 and 4."""

    accuracy: float
    """alpha, in units of the loss."""
    batch_size: int
    noise_stddev: float
    """sigma, of each coordinate of the noise on a mean gradient, in loss over length."""
    steps: int
    """T; 0 where the starting point is released at once."""
    rate: float
    """eta, in length^2 over loss."""


@dataclass(frozen=True)
class DPSGD(Accounted):
    """mn25, Algorithm 3: T times w <- Proj(w - eta (mean gradient of m records + N(0, sigma^2 I))); the mean of w.

    With a bound m-bar on the batch size and M = max{1, d / (m-bar^2 rho)}:
    m = min{sqrt(d / rho), m-bar}, T = M (B L / alpha)^2, eta = alpha / (L^2 M), sigma = sqrt(2) L sqrt(M / d);
    m and T are rounded up. For alpha >= B L / 3 the starting point is released at once.

    Two things differ from what is printed. The printed sigma has no sqrt(2); with it, the oracle is 2 rho-zCDP,
    since replacing one gradient moves the mean by 2 L / m (mn25.thm2). And the proof of privacy breaks down: the
    case of the conversion that Lemma 12 takes needs ln(1/delta) <= (omega - 1)^2 rho'', which holds for small
    alpha and not for alpha >= 26 alpha*, and the other case gives no epsilon below 4 (mn25.lem12). Its conclusion
    may still be true. Here T steps on m of n records, drawn without replacement as in the theorem that the
    paper cites, are accounted for numerically, and the default accuracy is the smallest that is proved so: about
    2 alpha* in place of 26 alpha*.

    Guarantee (replace-one, both directions, all messages included): (epsilon, delta)-DP.

    Assumptions: L-Lipschitz losses for records in the unit ball, a bounded set; for the risk, convexity.

    Attributes:
        problem: loss and constraint set.
        epsilon: in nats, above 0.
        delta: in (0, 1).
        accuracy: alpha, in units of the loss; None: the smallest for which privacy is proved.
        oracle_privacy: rho, of a message with respect to one of its gradients, in (0, 1], in nats;
            1 / ln(1/delta) if None, but at most 1.
        batch_bound: m-bar; None: n.
        batch_size: m, instead of the above.
        noise_stddev: sigma, instead of the above.
        steps: T, instead of the above.
        rate: eta, instead of the above.
        start: w_1 in the constraint set, d numbers; the set's center if None.
        withdraw_guarantee: run even if the guarantee does not hold; `withdrawn` then says why.
    """

    problem: Problem
    epsilon: Epsilon
    delta: Proper
    accuracy: Positive | None = None
    oracle_privacy: Share | None = None
    batch_bound: Count | None = None
    batch_size: Count | None = None
    noise_stddev: NotNegative | None = None
    steps: Count | None = None
    rate: Positive | None = None
    start: Sequence[float] | None = None
    withdraw_guarantee: bool = False

    id = "mn25.alg3"
    hands_over = "all runs"
    statements = ("mn25.thm2", "mn25.lem11", "mn25.lem12", "mn25.cor1", "mn25.tcdp")

    @classmethod
    def examples(cls, at: Setting) -> Examples:
        return {
            "": lambda: cls(at.mean, 2.0, 1e-2, batch_size=2, steps=3, noise_stddev=3.0),
            "asked": lambda: cls(at.curved, at.epsilon, at.delta),
        }

    @property
    def rho(self) -> float:
        """Oracle privacy in use."""
        return min(1.0, 1 / math.log(1 / self.delta)) if self.oracle_privacy is None else self.oracle_privacy

    def _largest_batch(self, n: int) -> int:
        """The bound m-bar for n records."""
        return n if self.batch_bound is None else min(n, self.batch_bound)

    def parameters(self, n: int) -> DPSGDParameters:
        """In use for n records."""
        n = whole_number("n", n)
        constants, d = self.problem.constants, self.problem.constraint.dimension
        bound = self._largest_batch(n)
        size, factor = self.batch_size, max(1.0, d / (bound**2 * self.rho))
        if size is None:
            size = min(math.ceil(math.sqrt(d / self.rho) * (1 - 1e-12)), bound)
        whole_number("batch_size", size, at_most=n)
        stddev = self.noise_stddev
        if stddev is None:
            # sqrt(2) L sqrt(M / d) where gradients are at most 2 L apart
            stddev = constants.gradient_sensitivity * math.sqrt(factor / (2 * d))
        trivial, accuracy = self.trivial_accuracy, self.accuracy
        if accuracy is None:
            fewest = math.ceil(9 * factor) + 1
            found = _most_steps(n, size, self._mu(size, stddev), self.epsilon, self.delta, fewest)
            accuracy = trivial * math.sqrt(factor / found) if found else trivial
        steps = self.steps
        if steps is None:
            needed = math.ceil(factor * (trivial / accuracy) ** 2 * (1 - 1e-12))
            steps = 0 if 3 * accuracy >= trivial else needed
        rate = accuracy / (constants.lipschitz_constant**2 * factor) if self.rate is None else self.rate
        return DPSGDParameters(accuracy, size, stddev, steps, rate)

    def _mu(self, size: int, stddev: float) -> float:
        """Distance over noise of one step when a drawn record is replaced; dimensionless."""
        return math.inf if stddev == 0 else self.problem.constants.gradient_sensitivity / (size * stddev)

    def oracle_guarantee(self, n: int) -> zCDP | None:
        """Of one message with respect to one gradient of its batch: rho-zCDP; None without noise, or if withdrawn."""
        used = self.parameters(n)
        if self.withdraw_guarantee or used.noise_stddev == 0:
            return None
        return zCDP(self._mu(used.batch_size, used.noise_stddev) ** 2 / 2)

    def _at_once(self, n: int) -> bool:
        return self.parameters(n).steps == 0

    def _quiet(self, n: int) -> bool:
        return self.parameters(n).noise_stddev == 0

    def _releases(self, n: int) -> str:
        used = self.parameters(n)
        return f"{used.steps} steps on {used.batch_size} of {n} records"

    def _proved(self, n: int) -> Guarantee:
        used = self.parameters(n)
        if used.steps == 0:
            return PureDP(0.0)
        return _accounted(n, used.batch_size, self._mu(used.batch_size, used.noise_stddev), used.steps)

    def queries(self, n: int) -> tuple[StatedQueries, ...]:
        """Gradients and projections of a run."""
        used, row = self.parameters(n), words("mn25.alg3/queries")
        projections = StatedQueries("projection", used.steps, sources=row["sources"])
        return (StatedQueries("gradient", used.steps * used.batch_size, **row), projections)

    def risk_bound(self, n: int) -> StatedRisk:
        """Lemma 11 with its constants: r^2 / (2 eta T) + eta (L^2 + d sigma^2) / 2, r the largest distance from w_1.

        Never more than r L where the starting point is released, else than B L. `theorem` has B in the place of r: with
        the tuning above at most 2 alpha, and 3 alpha where the starting point is released.
        """
        used, constraint = self.parameters(n), self.problem.constraint
        lipschitz, distance = self.problem.constants.lipschitz_constant, reach(self.start, constraint)
        if not used.steps:
            return self._stated_risk(distance * lipschitz, math.inf)
        noise = used.rate * (lipschitz**2 + constraint.dimension * used.noise_stddev**2) / 2
        found = distance**2 / (2 * used.rate * used.steps) + noise
        return self._stated_risk(found, constraint.diameter**2 / (2 * used.rate * used.steps) + noise)

    def risk_quantile(self, n: int, probability: float) -> StatedRisk | None:
        """Of the same sum: half of beta is spent on the noise's chi-square, half on a martingale, of x* - w_t.

        Noise and the choice of m records move the sum over t of <g_t, x* - w_t + eta (the records' mean gradient)> by
        differences whose exponential moments are those of a Gaussian with variance sigma^2 (B + eta L)^2 + (L B)^2 / m
        at most (Hoeffding 1963, Theorem 4, for draws without replacement). Never more than B L.
        """
        beta, used, constraint = missed(probability), self.parameters(n), self.problem.constraint
        lipschitz, distance = self.problem.constants.lipschitz_constant, reach(self.start, constraint)
        found = distance * lipschitz
        if used.steps:
            tail = float(scipy.special.chdtri(constraint.dimension * used.steps, beta / 2))
            squares = lipschitz**2 + used.noise_stddev**2 * tail / used.steps
            moved = used.noise_stddev * (constraint.diameter + used.rate * lipschitz)
            moved = math.hypot(moved, lipschitz * constraint.diameter / math.sqrt(used.batch_size))
            found = distance**2 / (2 * used.rate * used.steps) + used.rate * squares / 2
            found += moved * math.sqrt(2 * math.log(2 / beta) / used.steps)
        row = words("mn25.alg3/quantile")
        return StatedRisk(min(found, self.trivial_accuracy), total=False, probability=probability, **row)

    def stability(self, n: int) -> float | None:
        """The gradient sensitivity times eta (T - 1) / (2 n); None if a step is longer than 2 / beta.

        The replaced record is one of m of n with probability m / n, and such a step has an m-th part of its gradient;
        steps on smooth convex losses are no expansions. The output is the mean of w_1, ..., w_T.
        """
        used, constants = self.parameters(n), self.problem.constants
        if not used.rate * constants.smoothness <= 2:
            return None
        return used.rate * constants.gradient_sensitivity * max(used.steps - 1, 0) / (2 * n)

    def __call__(self, data: Dataset, *, rng: Randomness, runs: int) -> Output:
        """Run on a data set of n records; points have shape (runs, d)."""
        data = admitted(self, data)
        used = self.parameters(data.n)
        oracle = GaussianOracle(used.noise_stddev)
        interaction = Interaction(self.problem, data, oracle, rng=rng, runs=runs)
        if used.steps == 0:
            return interaction.output(begin(self.start, runs, rng))
        draw = partial(distinct_records, rng, data.n, used.batch_size, runs)
        return mean_of_descent(interaction, self.start, used.steps, used.rate, draw)


def distinct_records(rng: Randomness, n: int, size: int, runs: int) -> Array:
    """A uniformly random set of `size` of n records for each run, shape (runs, size), in no uniform order.

    Floyd's algorithm: the k-th draw is uniform on the first n - size + k records, and where it hits a record that
    the set holds already, the last of those is taken instead.
    """
    xp = rng.xp
    if runs <= FEW:
        # the numbers of the loop below, in one call
        drawn = np.asarray(rng.integers(0, np.arange(n - size, n)[:, None] + 1, (size, runs), "records"))
        sets = []
        for column in drawn.T.tolist():
            held: dict[int, None] = {}
            for last, record in enumerate(column, n - size):
                held[last if record in held else record] = None
            sets.append(list(held))
        return xp.asarray(sets, dtype=xp.int64)
    chosen = xp.empty((size, runs), dtype=xp.int64)
    for k, last in enumerate(range(n - size, n)):
        drawn = rng.integers(0, last + 1, (runs,), "records")
        taken = xp.any(chosen[:k, :] == drawn, axis=0)
        chosen[k, :] = xp.where(taken, xp.full_like(drawn, last), drawn)
    return chosen.T


def _accounted(n: int, size: int, mu: float, steps: int) -> Guarantee:
    # beyond the accountant, sampling is not counted on
    if size == n or mu >= LARGEST_MU:
        return GDP(math.sqrt(steps) * mu)
    return sampled_batches((SampledBatch(n, size, mu), steps))


@lru_cache(maxsize=128)
def _most_steps(n: int, size: int, mu: float, epsilon: float, delta: float, fewest: int) -> int:
    """The largest number of steps proved to be (epsilon, delta)-DP, to 1e-3; 0 if `fewest` are not."""

    def proved(steps: int) -> bool:
        return float(_accounted(n, size, mu, steps).privacy_profile(epsilon)) <= delta

    if mu == math.inf or not proved(fewest):
        return 0
    low, high = fewest, 2 * fewest
    while high < _MOST_STEPS and proved(high):
        low, high = high, 2 * high
    while high - low > max(1, _SEARCH_TOLERANCE * low):
        middle = (low + high) // 2
        low, high = (middle, high) if proved(middle) else (low, middle)
    return low
