"""Noisy SGD that goes through private records first and public ones last (fmtt18, Section 5.3).

The noise of the steps on public records hides the private ones before them, so that each step needs less of it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal, Self

import numpy as np

from dpverify.algorithms.contract import Guarantees, promised
from dpverify.algorithms.examples import Examples, Setting
from dpverify.algorithms.fmtt18.iterate_risk import check_bounded, skip_queries, skip_rate, skip_risk
from dpverify.algorithms.fmtt18.projected_noisy_sgd import SkipPNSGD
from dpverify.algorithms.parameters import Count
from dpverify.algorithms.promises import StatedQueries, StatedRisk, reasons
from dpverify.checks import budget, number, require, whole_number
from dpverify.errors import InvalidArgumentError, NotGuaranteedError
from dpverify.privacy import ProfileDP, ProtectedRecords
from dpverify.privacy.iteration import per_index
from dpverify.privacy.mixtures import GaussianMixtureProfile
from dpverify.problems import Problem

_LOST = 2.0**-53
"""Noise in a step that is smaller, relative to the largest point, is lost in rounding."""
_STEP_DOWN = 2.0**0.25
"""Factor by which the search goes down to the first noise that is not enough."""


@dataclass(frozen=True)
class PublicRecordsLast(SkipPNSGD):
    """fmtt18, Corollary 31: Skip-PNSGD on n - m private records followed by m public ones.

    Guarantee (replace-one among the private records, both directions): that of `SkipPNSGD` at the last private
    index n - m, the worst one: delta(eps) = p delta_Gauss(eps, mu) with mu = 2 L / (sigma sqrt(m + 1)), where p is
    the probability that the record is not skipped. Public records are protected only as `guarantee_at` says of
    their indices, the last one by no later noise.

    The noise. Corollary 31 prints sigma = 2 L sqrt(ln(1.25/delta) / m) / epsilon. Theorem 30 at index n - m, on
    which it rests, needs a 2 under the logarithm's root, 2 L sqrt(2 ln(1.25/delta) / m) / epsilon, and the
    corollary's risk bound has that 2. The printed noise is too small where m is not small: with m = 16 public
    records, epsilon = 1 and delta = 1e-5, the contract-then-reveal pair loses more than epsilon. See
    statement fmtt18.cor31. `for_privacy` takes the printed noise where the accountant proves it to be enough, and
    else the smallest noise that it can prove; both are also there for themselves.

    Assumptions: those of PNSGD (convex, L-Lipschitz, beta-smooth losses for records in the unit ball; eta <= 2 /
    beta); which records are public is fixed beforehand.

    Attributes:
        public: m, how many records at the end of the data set are public.
    """

    public: Count = field(kw_only=True)

    id = "fmtt18.public"
    statements = ("fmtt18.cor31", "fmtt18.thm30", "fmtt18.thm24", "fmtt18.thm28")
    unstated = reasons("fmtt18.public")

    @classmethod
    def examples(cls, at: Setting) -> Examples:
        return {
            "": lambda: cls(at.mean, 1.0, 0.05, public=1),
            "two": lambda: cls(at.mean, 0.5, 0.3, public=2),
            "asked": lambda: cls.for_privacy(at.curved, n=at.n, public=1, epsilon=at.epsilon, delta=at.delta),
        }

    @classmethod
    def for_privacy(  # type: ignore[override]  # how many records are public must be said
        cls,
        problem: Problem,
        *,
        n: int,
        public: int,
        epsilon: float,
        delta: float,
        noise: Literal["printed", "corrected", "smallest"] | None = None,
    ) -> Self:
        """Noise for (epsilon, delta)-DP of the private records, and the rate of Corollary 31 for that noise.

        eta = sqrt(8) R / sqrt(n (L^2 + d sigma^2)), R being the set's largest norm.

        Args:
            problem: a convex smooth loss on a bounded set.
            n: records in all.
            public: m of them, the last ones.
            epsilon: nats.
            delta: in (0, 1).
            noise: `printed` as Corollary 31 has it, `corrected` with Theorem 30's 2 under the root, or `smallest`
                by the accountant; if None, the printed one where it is enough, else the smallest.

        Raises:
            InvalidArgumentError: if an argument is out of range or the set is unbounded.
            NotGuaranteedError: if eta is above 2 / beta, or the noise asked for is not enough.
        """
        n = whole_number("n", n, at_least=2)
        public = whole_number("public", public, at_most=n - 1)
        budget("epsilon", epsilon)
        number("delta", delta, above=0, below=1, allowed="a number in (0, 1)")
        if noise not in (None, "printed", "corrected", "smallest"):
            raise InvalidArgumentError("noise", noise, 'None, "printed", "corrected" or "smallest"')
        check_bounded(problem)
        printed = printed_noise(problem, public=public, epsilon=epsilon, delta=delta)
        stddev = math.sqrt(2) * printed if noise == "corrected" else printed
        enough = _enough(problem, n, public, epsilon, delta, stddev)
        if noise == "smallest" or (noise is None and not enough):
            stddev = smallest_noise(problem, n=n, public=public, epsilon=epsilon, delta=delta)
        elif not enough:
            raise NotGuaranteedError(
                f"{cls.id} has no guarantee here: the {noise} noise {stddev:.6g} is not enough for "
                f"({epsilon:g}, {delta:g})-DP. Take the smallest noise that is, with noise=None."
            )
        return cls(problem, skip_rate(problem, n, stddev), stddev, public=public)

    def private_count(self, n: int) -> int:
        """How many records are private: n - m, at least 1."""
        return whole_number("n", n, at_least=self.public + 1) - self.public

    def guarantees(self, n: int) -> Guarantees:
        """Of private records, the profile at the last index and Theorem 24's RDP there; the local guarantee."""
        last = self.private_count(n)
        profile, curve = self.guarantee_at(n, last), self.rdp_at(n, last)
        if profile is None:
            return Guarantees()
        stated = promised(
            "fmtt18.public/privacy",
            profile.guarantee,
            source="fmtt18.lem27" if self.claim == "local" else "fmtt18.cor31",
            protected=ProtectedRecords(public_last=self.public),
            conditions=self.problem.conditions,
        )
        printed = None if curve is None else replace(stated, guarantee=curve.guarantee, origin=None)
        return Guarantees(stated, as_printed=printed, local=self._local())

    def risk_bound(self, n: int) -> StatedRisk | None:
        """What is proved of the excess population risk at its rate (see `iterate_risk`).

        Beside it, at Corollary 31's rate, its 4 sqrt(2) R sqrt(L^2 + d sigma^2) / sqrt(n). None on an unbounded set.
        """
        self.private_count(n)
        return skip_risk(
            self.problem, n, self.rate, self.noise_stddev, source="fmtt18.cor31", start=self.start
        )

    def queries(self, n: int) -> tuple[StatedQueries, ...]:
        """At most n gradients, n - floor(n/2) / 2 in expectation, and as many projections."""
        self.private_count(n)
        return skip_queries(n, self.id)


def printed_noise(problem: Problem, *, public: int, epsilon: float, delta: float) -> float:
    """Corollary 31 as printed: 2 L sqrt(ln(1.25/delta) / m) / epsilon; not always enough. Loss over length."""
    return 2 * problem.constants.lipschitz_constant * math.sqrt(math.log(1.25 / delta) / public) / epsilon


def smallest_noise(problem: Problem, *, n: int, public: int, epsilon: float, delta: float) -> float:
    """The smallest noise from which on the accountant proves the private records (epsilon, delta)-DP, to 1e-9.

    It uses the best schedule after the last private record, the losses' strong convexity at the corollary's rate,
    and the chance that the record is skipped. In units of loss over length.

    There is none where contraction alone hides the private records. With c(sigma) the contraction of a step at the
    corollary's rate and m public records, the last private record has mu = 2 L c^m / (sigma sqrt(1 + c^2 + ... +
    c^(2 m))) at most. If c(0) > 0 that grows without bound as sigma falls, so that some noise is needed. If c(0) = 0,
    the public steps map everything to one point at noise 0; c falls as sigma^2, mu at least as fast as sigma, and
    small noises are enough, too, however small: the infimum is 0, where nothing private is left in the output. Where
    noises in between are not enough, what is returned is above them, as everywhere else. Where there are none, there
    is no smallest noise.
    """
    used = _used(n, public)
    allowed = f"a number below {used:.6g}, the probability that the last private record is used"
    require(delta < used, "delta", delta, allowed)
    enough = partial(_enough, problem, n, public, epsilon, delta)
    high = printed_noise(problem, public=public, epsilon=epsilon, delta=delta)
    while not enough(high):
        high *= 2
    low = high / _STEP_DOWN
    while enough(low):
        if not skip_rate(problem, n, low) * low > _LOST * problem.constraint.largest_norm:
            allowed = (
                "one for which there is a smallest noise: here the steps on public records contract the private ones "
                "away, and no noise is too small. Say how much with PublicRecordsLast(problem, rate, noise_stddev, "
                "public=)"
            )
            raise InvalidArgumentError("problem", problem, allowed)
        high, low = low, low / _STEP_DOWN
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _used(n: int, public: int) -> float:
    """Probability that the last private record is not skipped."""
    return min(n - public, n // 2 + 1) / (n // 2 + 1)


def _enough(problem: Problem, n: int, public: int, epsilon: float, delta: float, noise_stddev: float) -> bool:
    """Whether the last private record has delta at epsilon, at the corollary's rate for this noise.

    A rate above 2 / beta is refused later, wherever it is used.
    """
    rate, constants = skip_rate(problem, n, noise_stddev), problem.constants
    contraction = max(abs(1 - rate * constants.strong_convexity), abs(1 - rate * constants.smoothness))
    iteration = per_index(
        public + 1,
        1,
        shift=rate * constants.gradient_sensitivity,
        noise_stddev=rate * noise_stddev,
        contraction=min(1.0, contraction),
    )
    profile = ProfileDP(GaussianMixtureProfile((_used(n, public),), (iteration.gdp().mu,)))
    return bool(np.asarray(profile.privacy_profile(epsilon)) <= delta)
