"""Privacy of a contractive noisy iteration whose last iterate alone is released: fmtt18 Theorem 22.

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
from itertools import accumulate

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import isotonic_regression

from dpverify.errors import InvalidArgumentError, NotGuaranteedError
from dpverify.privacy import checks
from dpverify.privacy.checks import FloatArray
from dpverify.privacy.guarantees import GDP, RDP

# Rounding of T <= 1e6 additions, relative to the sum of all shifts.
_TOLERANCE = 1e-9
# A step this far contracted before the end neither carries a shift nor helps to hide one.
_FORGOTTEN = 1e-140


@dataclass(frozen=True, eq=False)
class Schedule:
    """An admissible choice of the amounts a_t.

    Attributes:
        amounts: a_t, shape (T,), length.
        squared_mu: sum of a_t^2 / sigma_t^2, dimensionless.
    """

    amounts: FloatArray
    squared_mu: float

    def rdp(self) -> RDP:
        """Renyi divergence at most order * squared_mu / 2 for every order: fmtt18 Theorem 22."""
        return RDP.linear(self.squared_mu / 2)

    def gdp(self) -> GDP:
        """sqrt(squared_mu)-GDP: Bok, Su and Altschuler 2024."""
        return GDP(math.sqrt(self.squared_mu))


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
        fmtt18 Theorem 22, and Theorem 1 (repaired) for `initial_distance` with all shifts zero.
    """

    shifts: ArrayLike
    noise_stddevs: ArrayLike
    contractions: ArrayLike = 1.0
    initial_distance: float = 0.0

    def __post_init__(self) -> None:
        allowed = "finite real numbers of at least 0, one for each of at least one step"
        shifts = checks.numbers("shifts", self.shifts, at_least=0, allowed=allowed)
        if not (shifts.ndim == 1 and shifts.size >= 1):
            raise InvalidArgumentError("shifts", self.shifts, allowed)
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

    def with_schedule(self, amounts: ArrayLike) -> Schedule:
        """Check a schedule and say what it proves.

        Args:
            amounts: a_t >= 0, shape (T,), length.

        Raises:
            InvalidArgumentError: unless z_t >= 0 for all t and z_T = 0, to 1e-9 of all shifts together, or if
                an amount is positive where there is no noise.
        """
        shifts, stddevs = np.asarray(self.shifts), np.asarray(self.noise_stddevs)
        a = checks.numbers("amounts", amounts, at_least=0, allowed="finite real numbers of at least 0")
        if a.shape != shifts.shape:
            raise InvalidArgumentError("amounts", amounts, f"one number for each of {self.steps} steps")
        distances = self.remaining(a)
        slack = _TOLERANCE * (self.initial_distance + float(shifts.sum()))
        if not np.all(distances >= -slack):
            raise InvalidArgumentError("amounts", amounts, "amounts that leave z_t >= 0 at every step")
        if not abs(distances[-1]) <= slack:
            raise InvalidArgumentError("amounts", amounts, "amounts that end with z_T = 0")
        if np.any((stddevs == 0) & (a > 0)):
            raise InvalidArgumentError("amounts", amounts, "amounts that are 0 at steps without noise")
        ratios = np.divide(a, stddevs, out=np.zeros_like(a), where=a > 0)
        a.setflags(write=False)
        return Schedule(a, float(ratios @ ratios))

    def remaining(self, amounts: FloatArray) -> FloatArray:
        """The z_t that amounts a_t leave, t = 1..T, shape (T,), length; unchecked."""
        shifts, contractions = np.asarray(self.shifts), np.asarray(self.contractions)
        change = shifts - amounts
        if np.all(contractions == 1):
            total: FloatArray = self.initial_distance + np.cumsum(change)
            return total
        pairs = zip(contractions.tolist(), change.tolist(), strict=True)
        states = accumulate(pairs, lambda z, step: step[0] * z + step[1], initial=self.initial_distance)
        return np.fromiter(states, dtype=np.float64, count=self.steps + 1)[1:]

    def best_schedule(self) -> FloatArray:
        """The amounts a_t that minimize sum a_t^2 / sigma_t^2: exact up to rounding, in O(T).

        With e_t the product of the contractions after step t, the amounts r_t = e_t a_t measured at the end
        must satisfy: for all t, r_1 + .. + r_t <= e_0 initial_distance + e_1 s_1 + .. + e_t s_t, with
        equality at T. Drawn over x_t = e_1^2 sigma_1^2 + .. + e_t^2 sigma_t^2, the sum of the r is a path
        under the staircase of the shifts, and the path of least energy is the staircase's greatest convex
        minorant. Its slopes are the isotonic regression of (e_t s_t) / (e_t sigma_t)^2 with the weights
        (e_t sigma_t)^2.

        Returns:
            Shape (T,), length.

        Raises:
            NotGuaranteedError: if some shift comes after the last noise, so that nothing can be proved.
        """
        shifts, stddevs = np.asarray(self.shifts), np.asarray(self.noise_stddevs)
        contractions = np.asarray(self.contractions)
        following = np.ones(self.steps)
        following[:-1] = np.cumprod(contractions[:0:-1])[::-1]
        amounts = np.zeros(self.steps)
        # Steps that are forgotten by the end get no amount; what they leave over is passed on, contracted.
        remembered = following >= _FORGOTTEN
        start = int(np.argmax(remembered))
        carried = self.initial_distance
        if start > 0:
            carried = float(self.remaining(amounts)[start - 1])
        arriving = following * shifts
        arriving[start] = following[start] * (contractions[start] * carried + shifts[start])
        arriving[:start] = 0
        noisy = np.flatnonzero(remembered & (stddevs > 0))
        if not arriving.any():
            return amounts
        if noisy.size == 0 or arriving[noisy[-1] + 1 :].any():
            raise NotGuaranteedError("A shift comes after the last noise, so the iteration proves nothing.")
        # a step without noise moves its shift to the next step that has some
        first = np.concatenate([[0], noisy[:-1] + 1])
        rise = np.add.reduceat(arriving, first)
        unit = float(stddevs[noisy].max())
        weight = (following[noisy] * (stddevs[noisy] / unit)) ** 2
        usable = weight > 0  # a weight may underflow where the noise is 1e-160 of the largest
        if not usable.all():
            first = np.concatenate([[0], np.flatnonzero(usable)[:-1] + 1])
            if not usable[-1]:
                raise NotGuaranteedError("The noise of the last steps is too small for floats to count.")
            rise, noisy, weight = np.add.reduceat(rise, first), noisy[usable], weight[usable]
        slope = isotonic_regression(rise / weight, weights=weight, increasing=True).x
        amounts[noisy] = slope * weight / following[noisy]
        return amounts

    def best(self) -> Schedule:
        """What the best schedule proves.

        Raises:
            NotGuaranteedError: if some shift comes after the last noise.
        """
        return self.with_schedule(self.best_schedule())

    def rdp(self) -> RDP:
        """Renyi divergence bound of the best schedule, linear in the order (nats): fmtt18 Theorem 22."""
        return self.best().rdp()

    def gdp(self) -> GDP:
        """Gaussian DP of the best schedule: Bok, Su and Altschuler 2024."""
        return self.best().gdp()


def per_index(
    n: int, index: int, *, shift: float, noise_stddev: float, passes: int = 1, contraction: float = 1.0
) -> NoisyIteration:
    """Noisy SGD over n records in fixed order, for a pair of data sets that differ in the record at `index`.

    Guarantee: adjacency `INDEX`. One pass is fmtt18 Algorithm 1 (Theorem 23), n passes Algorithm 2
    (Theorem 35).

    Args:
        n: number of records, at least 1; there are n * passes steps.
        index: the paper's t or i, from 1 to n.
        shift: largest distance of the two gradient steps on that record, 2 eta L in fmtt18, length.
        noise_stddev: standard deviation of each coordinate of a step's noise, eta sigma in fmtt18, length.
        passes: times the records are gone through.
        contraction: Lipschitz constant of a gradient step, 1 for convex losses with eta <= 2/beta.

    Raises:
        InvalidArgumentError: for anything outside these ranges.
    """
    n = checks.whole_number("n", n, at_least=1)
    index = checks.whole_number("index", index, at_least=1, at_most=n)
    passes = checks.whole_number("passes", passes, at_least=1)
    allowed = "a finite real number of at least 0"
    shifts = np.zeros(n * passes)
    shifts[index - 1 :: n] = checks.number("shift", shift, at_least=0, allowed=allowed)
    stddev = checks.number("noise_stddev", noise_stddev, at_least=0, allowed=allowed)
    factor = checks.number(
        "contraction", contraction, at_least=0, at_most=1, allowed="a real number in [0, 1]"
    )
    return NoisyIteration(shifts, stddev, factor)


def from_initial_distance(
    steps: int, distance: float, noise_stddev: float, *, contraction: float = 1.0
) -> NoisyIteration:
    """The same maps from two starting points at `distance`: fmtt18 Theorem 1, repaired.

    Without contraction the best schedule is distance / steps at every step, so that the Renyi divergence is
    at most order * distance^2 / (2 steps noise_stddev^2), which identity maps attain.

    Raises:
        InvalidArgumentError: for fewer than one step, negative or non-finite lengths, or a contraction
            outside [0, 1].
    """
    steps = checks.whole_number("steps", steps, at_least=1)
    return NoisyIteration(np.zeros(steps), noise_stddev, contraction, distance)


def printed_schedule(n: int, index: int, *, shift: float, passes: int = 1) -> FloatArray:
    """The amounts that fmtt18 prints for fixed order, shape (n * passes,): Theorem 23, and 35 for n passes.

    Nothing before the record's first use, shift / n until its last, shift / (n - index + 1) from there on.

    Raises:
        InvalidArgumentError: unless 1 <= index <= n, passes >= 1 and `shift` is finite and at least 0.
    """
    n = checks.whole_number("n", n, at_least=1)
    index = checks.whole_number("index", index, at_least=1, at_most=n)
    passes = checks.whole_number("passes", passes, at_least=1)
    shift = checks.number("shift", shift, at_least=0, allowed="a finite real number of at least 0")
    amounts = np.zeros(n * passes)
    last_use = n * (passes - 1) + index - 1
    amounts[index - 1 : last_use] = shift / n
    amounts[last_use:] = shift / (n - index + 1)
    return amounts
