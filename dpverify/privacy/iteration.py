"""Privacy of a contractive noisy iteration that releases its last iterate only: fmtt18 Theorem 22.

Two runs X_t = psi_t(X_(t-1)) + Z_t and X'_t = psi'_t(X'_(t-1)) + Z'_t start at distance at most
`initial_distance`; psi_t and psi'_t are c_t-Lipschitz and differ by at most s_t anywhere; Z_t and Z'_t are
N(0, sigma_t^2 I). For any amounts a_t >= 0 such that z_0 = initial_distance, z_t = c_t z_(t-1) + s_t - a_t
stays at least 0 and z_T = 0,

- the Renyi divergence of X_T from X'_T of every order is at most order * sum of a_t^2 / (2 sigma_t^2)
  (fmtt18 Theorem 22 for c_t = 1; a c-Lipschitz map takes a shift z to c z, Altschuler and Talwar 2022),
- X_T against X'_T is no easier to test than N(0, 1) against N(mu, 1), mu^2 = sum of a_t^2 / sigma_t^2
  (shifted interpolation: Bok, Su and Altschuler 2024).

The amounts are free, and the best ones are found exactly: see `NoisyIteration.best_schedule`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dpverify import checks
from dpverify.checks import FloatArray
from dpverify.errors import InvalidArgumentError, NotGuaranteedError
from dpverify.privacy import rounding
from dpverify.privacy.guarantees import GDP, RDP

# How far an amount may miss what is there, relative to all that has arrived at that step, contracted: T <= 1e6
# additions in floats. What is within it counts as taken, and is charged in full.
_TOLERANCE = 1e-9
_FORGOTTEN = -400.0
"""Binary exponent, relative to the largest, of what a step's noise contributes; below it the step hides nothing."""
_LARGEST_POWER = 1023.0  # binary exponent of the largest power of two among floats
_UNIT = 2.0**-53  # relative error of one operation in floats
_MOST_STEPS = 10**9  # of a schedule, each of which takes 8 bytes


@dataclass(frozen=True, eq=False)
class Schedule:
    """An admissible choice of the amounts a_t.

    Attributes:
        amounts: a_t, shape (T,), length.
        mu: at least the square root of the sum of a_t^2 / sigma_t^2, dimensionless.
    """

    amounts: FloatArray
    mu: float

    @property
    def squared_mu(self) -> float:
        """mu^2, rounded up: infinite where it exceeds the floats."""
        return rounding.product(self.mu, self.mu)

    def rdp(self) -> RDP:
        """Renyi divergence at most order * squared_mu / 2 for every order: fmtt18 Theorem 22.

        Raises:
            NotGuaranteedError: if mu^2 exceeds the floats.
        """
        if self.squared_mu == math.inf:
            raise NotGuaranteedError(_TOO_LARGE)
        return RDP.linear(rounding.product(self.squared_mu, 0.5))

    def gdp(self) -> GDP:
        """mu-GDP: Bok, Su and Altschuler 2024.

        Raises:
            NotGuaranteedError: if mu exceeds the floats.
        """
        if self.mu == math.inf:
            raise NotGuaranteedError(_TOO_LARGE)
        return GDP(self.mu)


_TOO_LARGE = "The noise is so small beside the shifts that what the iteration proves exceeds the floats."


@dataclass(frozen=True, eq=False)
class NoisyIteration:
    """Two runs of a contractive noisy iteration, T steps, the last iterate released.

    Guarantee: between the two runs, in both directions. What the runs are (one record replaced, say) is the
    caller's to state.

    Attributes:
        shifts: s_t >= 0, shape (T,) with T >= 1, length.
        noise_stddevs: sigma_t >= 0 for each coordinate of the noise that step t adds (eta * sigma in
            fmtt18), length; one number or shape (T,).
        contractions: Lipschitz constants c_t in [0, 1] of the maps; one number or shape (T,).
        initial_distance: distance of the two starting points, length.

    Raises:
        InvalidArgumentError: for wrong shapes, values outside these ranges, NaN, infinities or bools.

    References:
        fmtt18 Theorem 22, and Theorem 1 (corrected) for `initial_distance` with all shifts zero.
    """

    shifts: ArrayLike
    noise_stddevs: ArrayLike
    contractions: ArrayLike = 1.0
    initial_distance: float = 0.0

    def __post_init__(self) -> None:
        allowed = "finite real numbers of at least 0, one for each of at least one step"
        shifts = checks.numbers("shifts", self.shifts, at_least=0, allowed=allowed)
        checks.require(shifts.ndim == 1 and shifts.size >= 1, "shifts", self.shifts, allowed)
        steps = shifts.size
        stddevs = checks.numbers(
            "noise_stddevs", self.noise_stddevs, at_least=0, allowed="finite real numbers of at least 0"
        )
        contractions = checks.numbers(
            "contractions", self.contractions, at_least=0, at_most=1, allowed="real numbers in [0, 1]"
        )
        for argument, array in (("noise_stddevs", stddevs), ("contractions", contractions)):
            if array.shape not in ((), (steps,)):
                raise InvalidArgumentError(argument, array, f"one number, or one for each of {steps} steps")
        distance = checks.number(
            "initial_distance",
            self.initial_distance,
            at_least=0,
            allowed="a finite real number of at least 0",
        )
        for name, value in (
            ("shifts", shifts),
            ("noise_stddevs", np.broadcast_to(stddevs, (steps,)).copy()),
            ("contractions", np.broadcast_to(contractions, (steps,)).copy()),
        ):
            value.setflags(write=False)
            object.__setattr__(self, name, value)
        object.__setattr__(self, "initial_distance", distance)

    @property
    def steps(self) -> int:
        """T."""
        return int(np.size(self.shifts))

    def _charged(self, amounts: FloatArray) -> tuple[FloatArray, bool]:
        """What an exactly admissible schedule takes at most, rounded up, the rest being taken last; and is any left?"""
        noisy = np.flatnonzero(self.noise_stddevs)
        last = int(noisy[-1]) if noisy.size else -1
        charged = np.zeros(self.steps)
        above, inf = math.nextafter, math.inf
        # z is an upper bound on what remains, `arrived` on what would without amounts
        z = arrived = self.initial_distance
        rows = zip(
            np.asarray(self.contractions).tolist(),
            np.asarray(self.shifts).tolist(),
            amounts.tolist(),
            strict=True,
        )
        for t, (c, s, a) in enumerate(rows):
            if c != 1:
                z = above(c * z, inf) if z > 0 < c else 0.0
                arrived = above(c * arrived, inf) if arrived > 0 < c else 0.0
            if s > 0:
                z = above(z + s, inf) if z > 0 else s
                arrived = above(arrived + s, inf) if arrived > 0 else s
            if t == last or (a > 0 and z - a <= _TOLERANCE * arrived):
                charged[t], z = z, 0.0
            elif a > 0:
                charged[t], z = a, above(z - a, inf)
        return charged, z > 0

    def _schedule(self, charged: FloatArray) -> Schedule:
        """The root of the sum of squares, rounded up."""
        used = charged > 0
        charged.setflags(write=False)
        if not used.any():
            return Schedule(charged, 0.0)
        if used.sum() == 1:
            single = int(np.argmax(used))
            return Schedule(
                charged,
                rounding.quotient(float(charged[single]), float(np.asarray(self.noise_stddevs)[single])),
            )
        with np.errstate(over="ignore", under="ignore"):
            ratios = charged[used] / np.asarray(self.noise_stddevs)[used]
        # a quotient below the floats still counts
        ratios = np.maximum(ratios, math.ulp(0.0))
        unit = float(ratios.max())
        if unit == math.inf:
            return Schedule(charged, math.inf)
        with np.errstate(under="ignore"):
            scaled = ratios / unit
            # a quotient, a square and at most as many additions as terms; the root halves what they add up to
            length = math.sqrt(float(scaled @ scaled)) * (1 + (scaled.size + 8) * _UNIT)
        return Schedule(charged, rounding.product(unit, length))

    def best_schedule(self) -> FloatArray:
        """The amounts a_t that minimize sum a_t^2 / sigma_t^2: exact up to rounding, in O(T).

        What comes after the last step with noise is post-processing, and what comes before a contraction by 0 is
        forgotten. In between, with e_t the product of the contractions after step t, the amounts r_t = e_t a_t
        measured at the end must satisfy: for all t, r_1 + .. + r_t <= e_0 initial_distance + e_1 s_1 + .. + e_t s_t,
        with equality at the last. Drawn over x_t = e_1^2 sigma_1^2 + .. + e_t^2 sigma_t^2, the sum of the r is a
        path under the staircase of the shifts, and the path of least energy is the staircase's greatest convex
        minorant. Its slopes are the isotonic regression of (e_t s_t) / (e_t sigma_t)^2 with the weights
        (e_t sigma_t)^2. Where the last steps' noise is nothing beside that of earlier ones (below 2^-400 of it),
        they are solved for by themselves, after the others have taken all that is there.

        Returns:
            Shape (T,), length.

        Raises:
            NotGuaranteedError: if some shift comes after the last noise, so that nothing can be proved.
        """
        charged, left = self._charged(self._best())
        if left:
            raise NotGuaranteedError("A shift comes after the last noise, so the iteration proves nothing.")
        return charged

    def _best(self) -> FloatArray:
        """The minimizing amounts in floats, feasible only up to rounding."""
        from scipy.optimize import isotonic_regression

        shifts, stddevs = np.asarray(self.shifts), np.asarray(self.noise_stddevs)
        contractions = np.asarray(self.contractions)
        amounts = np.zeros(self.steps)
        noisy = np.flatnonzero(stddevs)
        if noisy.size == 0:
            return amounts
        end = int(noisy[-1]) + 1
        forgetting = np.flatnonzero(contractions[:end] == 0)
        begin = int(forgetting[-1]) if forgetting.size else 0
        arriving = shifts[:end].copy()
        if begin == 0:
            arriving[0] += contractions[0] * self.initial_distance
        # binary logarithms: products of contractions leave the floats
        with np.errstate(divide="ignore"):
            following = np.zeros(end)
            following[begin : end - 1] = np.cumsum(np.log2(contractions[end - 1 : begin : -1]))[::-1]
            heights = following + np.log2(arriving)
            weights = 2 * (following + np.log2(stddevs[:end]))
        while begin < end:
            rest = weights[begin:]
            usable = begin + np.flatnonzero(rest >= rest.max() + _FORGOTTEN)
            stop = int(usable[-1]) + 1
            rises = heights[begin:stop]
            top = float(rises.max())
            if top > -math.inf:
                # a step that is not usable passes its shift on to the next one that is
                first = np.concatenate([[begin], usable[:-1] + 1]) - begin
                rise = np.add.reduceat(np.exp2(rises - top), first)
                weight = np.exp2(weights[usable] - rest.max())
                slope = isotonic_regression(rise / weight, weights=weight, increasing=True).x
                height = top - following[usable]
                with np.errstate(over="ignore", under="ignore", divide="ignore"):
                    # in logarithms where a factor leaves the floats and the product need not
                    small = slope * weight
                    found = np.where(
                        (small >= np.finfo(np.float64).tiny) & (height <= _LARGEST_POWER),
                        small * np.exp2(np.minimum(height, _LARGEST_POWER)),
                        np.exp2(np.log2(slope) + np.log2(weight) + height),
                    )
                # an amount beyond the floats would be cut down to what is there
                amounts[usable] = np.minimum(found, np.finfo(np.float64).max)
            begin = stop
        return amounts

    def best(self) -> Schedule:
        """The schedule that proves most.

        Raises:
            NotGuaranteedError: if some shift comes after the last noise.
        """
        return self._schedule(self.best_schedule())

    def rdp(self) -> RDP:
        """Renyi divergence bound of the best schedule, linear in the order (nats): fmtt18 Theorem 22."""
        return self.best().rdp()

    def gdp(self) -> GDP:
        """Gaussian DP of the best schedule: Bok, Su and Altschuler 2024."""
        return self.best().gdp()


def per_index(
    n: int,
    index: int,
    *,
    shift: float,
    noise_stddev: float,
    passes: int = 1,
    contraction: float = 1.0,
    initial_distance: float = 0.0,
) -> NoisyIteration:
    """Noisy SGD over n records in fixed order, for a pair of data sets that differ in the record at `index`.

    Guarantee: adjacency `INDEX`. One pass is fmtt18 Algorithm 1 (Theorem 23), n passes Algorithm 2 (Theorem 35).

    The m steps from one use of the record up to the next are one here: a c^m-contraction, a shift of c^(m-1) s and
    noise of variance sigma^2 (1 + c^2 + ... + c^(2m-2)). The best schedule proves as much, as its amounts in the m
    steps are in the ratio of what their noise contributes; there are passes + 1 steps, or one less at the first index.

    Args:
        n: number of records, at least 1.
        index: the paper's t or i, from 1 to n.
        shift: largest distance of the two gradient steps on that record, 2 eta L in fmtt18, length.
        noise_stddev: standard deviation of each coordinate of a step's noise, eta sigma in fmtt18, length.
        passes: times the records are gone through.
        contraction: Lipschitz constant of a gradient step, 1 for convex losses with eta <= 2/beta.
        initial_distance: distance of the two starting points, length.

    Raises:
        InvalidArgumentError: for anything outside these ranges.
    """
    n = checks.whole_number("n", n, at_most=_MOST_STEPS)
    index = checks.whole_number("index", index, at_most=n)
    passes = checks.whole_number("passes", passes, at_most=_MOST_STEPS)
    allowed = "a finite real number of at least 0"
    shift = checks.number("shift", shift, at_least=0, allowed=allowed)
    stddev = checks.number("noise_stddev", noise_stddev, at_least=0, allowed=allowed)
    factor = checks.number(
        "contraction", contraction, at_least=0, at_most=1, allowed="a real number in [0, 1]"
    )

    def block(steps: int, shift: float) -> tuple[float, float, float]:
        if steps == 1:
            return shift, stddev, factor
        if factor == 0 or factor == 1:
            return factor * shift, stddev * (math.sqrt(steps) if factor else 1.0) * (1 - 2 * _UNIT), factor
        before, whole = (min(1.0, math.nextafter(factor**power, math.inf)) for power in (steps - 1, steps))
        variance = math.expm1(2 * steps * math.log(factor)) / ((factor - 1) * (factor + 1))
        return rounding.product(before, shift), stddev * math.sqrt(variance) * (1 - 16 * _UNIT), whole

    rows = [
        *([block(index - 1, 0.0)] if index > 1 else []),
        *[block(n, shift)] * (passes - 1),
        block(n - index + 1, shift),
    ]
    columns = np.array(rows).T
    return NoisyIteration(columns[0], columns[1], columns[2], initial_distance)
