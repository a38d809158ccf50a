"""What is proved of the points of projected stochastic gradient descent, with every constant.

Let w_1, ..., w_T be visited with rates eta_t > 0 and unbiased gradients g_t of convex risks F, E ||g_t||^2 <= G^2, and
f_t = E F(w_t) - F(w*). For weights 0 < v_0 <= v_1 <= ... <= v_T let z_0 = w* and z_t be v_(t-1) / v_t times z_(t-1)
plus 1 - v_(t-1) / v_t times w_t, a point of the set. Then w_(t+1) - z_(t+1) is v_t / v_(t+1) times w_(t+1) - z_t, so
that the steps' inequalities, each times v_t^2, telescope (Zamani and Glineur 2023; Liu and Zhou 2024):

    sum over t of 2 c_t f_t <= v_0^2 ||w_1 - w*||^2 + G^2 sum over t of eta_t^2 v_t^2,
    c_t = eta_t v_t^2 - (v_t - v_(t-1)) S_t,      S_t = eta_t v_t + ... + eta_T v_T.

With v = 1 on the last points, a *window* with the sum of rates W, and v_(t-1) = W / S_t before it, c_t is eta_t in the
window and 0 before. There S_(t-1) = S_t + eta_(t-1) W / S_t, hence S_t^2 >= W^2 + 2 W (A_t - W), A_t = eta_t + ... +
eta_T, and the mean of the window's f_t, weighted by the rates, is at most

    ||w_1 - w*||^2 / (2 (2 A_1 - W)) + G^2 / (2 W) (sum in the window of eta_t^2
        + sum before it of eta_t^2 W / (2 A_(t+1) - W)).

A window of all points gives the usual bound on an average, one of the last point a bound on that. For the last point a
longer window may be better: from w_t to w_T the point moves by at most L (eta_t + ... + eta_(T-1)) plus sqrt(G^2 - L^2)
times the root of the sum of their squares, in root mean square, L being F's Lipschitz constant. For the same reason,
from w* instead of w_t, f_t <= L sqrt(||w_1 - w*||^2 + G^2 (eta_1^2 + ... + eta_(t-1)^2)).

Where the set and the noise are symmetric about w_1, let u_t go from there by the noise of the same run alone. No
projection brings points apart, so that w_t and u_t are at most L (eta_1 + ... + eta_(t-1)) apart if no gradient is
longer than L, and u_t can stand for w* in the inequalities, with L for G: the noise has dropped out. As the mean of u_t
is w_1, E ||u_t - w*||^2 is ||w_1 - w*||^2 plus E ||u_t - w_1||^2, which is at most the square of the set's radius: L
times the root bounds the excess at u_t. This is the better bound where the noise would cross the set several times.

Where each record's loss varies in one direction only, as that of a generalized linear model does, the mean excess at
u_t is at most L times the radius: of a loss h(<w - w_1, x>) with slopes up to L / ||x||, the mean over u_t and its
mirror image, which has the same law, is at most L / ||x|| times max(|<u_t - w_1, x>|, |<w* - w_1, x>|) above what w*
has.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import ArrayLike

from dpverify.algorithms.steps.power_sums import power_sums, terms
from dpverify.checks import FloatArray


@dataclass(frozen=True)
class StepRates:
    """Rates up to a common factor, and the sums of them that the bounds need, from few of their terms each.

    Attributes:
        points: T.
        power: eta_t = t^-power, in length^2 over loss once it is multiplied by the factor.
        noise: of the noise that a step adds, the square is t^-noise, 2 power where nothing else is said.
        near: of ||w_1 - w*||^2, 1 where nothing else is said; if 0, points are moved by rates t^-noise.
    """

    points: int
    power: float
    noise: float
    near: float = 1.0

    def _left(self, t: ArrayLike, steps: ArrayLike) -> FloatArray:
        """Rates of so many steps from t on, summed."""
        return power_sums(t, steps, self.power)

    def _squares(self, t: ArrayLike, steps: ArrayLike) -> FloatArray:
        """Squares of the rates that the points are moved by, likewise."""
        return power_sums(t, steps, 2 * self._moving)

    @property
    def _moving(self) -> float:
        return self.power if self.near else self.noise

    def window(self, points: int) -> tuple[float, float]:
        """Factors of ||w_1 - w*||^2 / factor and of factor G^2 in the bound on the mean of the last so many points."""
        first = self.points - points
        whole = float(self._left(first + 1, points))
        noise = float(power_sums(first + 1, points, self.noise))
        before, left, counts = terms(first)
        later = self._left(before + 2, points - 1 + left)
        noise += float(counts @ ((before + 1) ** -self.noise * whole / (2 * later - whole)))
        return self.near / (2 * (2 * float(self._left(1, self.points)) - whole)), noise / (2 * whole)

    @cached_property
    def _windows(self) -> FloatArray:
        """Those of 1, 4, 16, ... points and of all: `window`, then the two factors of what the point moves by."""
        sizes = {min(4**k, self.points) for k in range(self.points.bit_length())}
        return np.array([(*self.window(size), *self._moved(size)) for size in sorted(sizes)])

    def _moved(self, points: int) -> tuple[float, float]:
        """Weighted means over the window of sum of rates, and of root of the sum of squares, from there to the end."""
        before, left, counts = terms(points)
        t = before + (self.points - points + 1)
        weights = counts * t**-self.power / float(self._left(self.points - points + 1, points))
        drift, squares = power_sums(t, left - 1, self._moving), self._squares(t, left - 1)
        return float(weights @ drift), float(weights @ np.sqrt(squares))

    def _of_noise(self, norm: float, lipschitz: float) -> FloatArray:
        """Factor of the factor in the bound on the last point, for each window."""
        _, noise, drift, walk = self._windows.T
        moved = lipschitz * (lipschitz * drift + math.sqrt(max(norm**2 - lipschitz**2, 0.0)) * walk)
        return np.asarray(norm**2 * noise + moved)

    def last(
        self, factor: float, *, distance: float, diameter: float, norm: float, lipschitz: float
    ) -> float:
        """Bound on the excess risk of the last point, in units of the loss.

        Args:
            factor: of all rates; 0 only for a set of one point.
            distance: no point of the set is farther from the first one, a length.
            diameter: no two points of the set are farther apart, a length.
            norm: G, loss over length.
            lipschitz: L of the risk, loss over length, at most G.
        """
        if factor == 0:
            return 0.0
        near = self._windows[:, 0]
        found = near * distance**2 / factor + factor * self._of_noise(norm, lipschitz)
        from_best = math.hypot(distance, factor * norm * math.sqrt(self._squares(1, self.points - 1)))
        return min(float(np.min(found)), lipschitz * min(from_best, diameter))

    def best_factor(self, *, distance: float, norm: float, lipschitz: float) -> float:
        """The factor for which the smallest of the windows' bounds on the last point is smallest."""
        near, noise = distance**2 * self._windows[:, 0], self._of_noise(norm, lipschitz)
        best = int(np.argmin(near * noise))
        return math.sqrt(near[best] / noise[best])

    def mean(
        self,
        points: int,
        factor: float,
        *,
        distance: float,
        diameter: float,
        norm: float,
        lipschitz: float,
        symmetric: bool = False,
        one_direction: bool = False,
    ) -> float:
        """Bound on the mean excess risk of the last so many points, weighted by the rates, in units of the loss.

        No two points of the set are farther apart than its diameter, a length. The window alone counts where that is
        better, and where the distance to w* is small. `symmetric`: about the first point the set is, all points being
        within `distance` of it, and the noise, which adds to gradients that are no longer than L. `one_direction`: that
        is the one in which each record's loss varies.
        """
        t = np.arange(self.points - points + 1.0, self.points + 1)
        whole, squares = float(self._left(t[0], points)), float(power_sums(t[0], points, self.noise))
        near, noise = self.window(points)
        alone = diameter**2 / (2 * whole * factor) + factor * norm**2 * squares / (2 * whole)
        weights, spread = t**-self.power / whole, factor**2 * self._squares(1, t - 1)
        away = lipschitz * float(weights @ np.minimum(np.sqrt(distance**2 + norm**2 * spread), diameter))
        found = min(near * distance**2 / factor + factor * norm**2 * noise, alone, away)
        if not symmetric:
            return found
        spread = np.zeros_like(spread) if one_direction else (norm**2 - lipschitz**2) * spread
        walked = np.sqrt(distance**2 + np.minimum(spread, distance**2))
        apart = factor * lipschitz * (float(self._left(1, self.points)) - whole)
        without_noise = (apart**2 / factor + factor * lipschitz**2 * squares) / (2 * whole)
        return min(found, without_noise + lipschitz * float(weights @ walked))


@lru_cache(maxsize=8)
def constant_rates(points: int) -> StepRates:
    """All rates the same."""
    return StepRates(points, 0.0, 0.0)


@lru_cache(maxsize=8)
def falling_rates(points: int) -> StepRates:
    """Rates 1 / sqrt(t)."""
    return StepRates(points, 0.5, 1.0)


@lru_cache(maxsize=8)
def strongly_convex_rates(points: int) -> StepRates:
    """Rates 1 / (Delta t) for Delta-strongly convex risks, the factor being 1 / Delta.

    The squared distance shrinks by 1 - 1 / t in step t. Counted t times, the inequalities telescope as those of
    constant rates, with noise 1 / t and nothing left of the first distance.
    """
    return StepRates(points, 0.0, 1.0, near=0.0)
