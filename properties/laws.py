"""Laws of what is computed, not drawn: gradients, accountants, and the two curves of a guarantee.

Each check searches a fixed or seeded set of points for one that breaks a law, and raises AssertionError with it. There
is no chance of a false alarm but rounding, for which allowances are stated.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpverify.auditing.accountants import NoisyReleases, audit_epsilon
from dpverify.checks import (
    checked_seed,
    function,
    items,
    number,
    numbers,
    of_kind,
    positive,
    returned,
    returned_number,
    whole_number,
    with_attribute,
)
from dpverify.ledger.verdicts import Verdict
from dpverify.privacy import Guarantee, for_group

Array = NDArray[np.float64]

_ROUNDING = 1e-9  # relative excess that rounding explains
_DIFFERENCES = 1e-4  # relative error allowed to central differences
_DELTAS = (1e-8, 1e-5, 1e-3)
_EPSILONS = np.linspace(0.0, 12.0, 97)
_FINE, _AROUND = 4000, 51
"""Epsilons over which a dual is maximized, with ever finer grids about the best of them."""


def check_gradient(
    value: Callable[[Array], Any],
    gradient: Callable[[Array], Any],
    *,
    dimension: int,
    radius: float = 5.0,
    convex: bool = True,
    points: int = 500,
    seed: int = 0,
) -> None:
    """Check that a gradient is that of a function.

    Of a convex function it has to support the function from below, f(v) >= f(u) + <g(u), v - u> for all u and v, close
    together and far apart: that is the definition of a subgradient, so that kinks do no harm. Of any other function it
    is compared with central differences, up to one part in ten thousand of the gradient's size.

    Args:
        value: from a point (d,) to a number.
        gradient: from a point (d,) to the gradient (d,), or any subgradient.
        dimension: of the points.
        radius: points are drawn up to this distance from the origin.
        convex: whether the function is said to be.
        points: how many.
        seed: of the search.

    Raises:
        AssertionError: naming the points.
        InvalidArgumentError: for arguments that cannot be used.

    Examples:
        >>> import numpy as np
        >>> from dpverify.properties import check_gradient
        >>> check_gradient(lambda w: np.abs(w).sum(), np.sign, dimension=3)
        >>> check_gradient(lambda w: np.abs(w).sum(), lambda w: 2 * np.sign(w), dimension=3)
        Traceback (most recent call last):
        AssertionError: ...
    """
    d, count = whole_number("dimension", dimension), whole_number("points", points)
    function("value", value)
    function("gradient", gradient)
    of_kind("convex", convex, bool)
    radius = positive("radius", radius)
    rng = np.random.default_rng(checked_seed(seed))
    for _ in range(count):
        u = rng.normal(size=d)
        u *= radius * rng.uniform() / np.linalg.norm(u)
        step = rng.normal(size=d)
        step *= radius * 10.0 ** rng.uniform(-5, 0) / np.linalg.norm(step)
        slope = returned("gradient", gradient(u.copy()))
        if slope.shape != (d,) or not np.isfinite(slope).all():
            raise AssertionError(f"The gradient at {u.tolist()} is not {d} finite numbers: {slope.tolist()}.")
        if convex:
            for v in (u + step, u - step):
                here, there = (returned_number("value", value(w.copy())) for w in (u, v))
                promised = float(slope @ (v - u))
                rounding = 1e-13 * (abs(here) + abs(there) + abs(promised)) + _ROUNDING * abs(promised)
                if not there >= here + promised - rounding:
                    raise AssertionError(
                        f"The gradient is not that of the function: from {u.tolist()} to {v.tolist()} it promises a "
                        f"rise of at least {promised:.6g}, and the function rises by {there - here:.6g}."
                    )
            continue
        close = step / np.linalg.norm(step) * 1e-5 * radius
        up, down = (returned_number("value", value(u + way * close)) for way in (1, -1))
        rise = (up - down) / (2 * float(np.linalg.norm(close)))
        promised = float(slope @ close) / float(np.linalg.norm(close))
        allowed = _DIFFERENCES * (1 + float(np.linalg.norm(slope)) + abs(rise))
        if not abs(rise - promised) <= allowed:
            raise AssertionError(
                f"The gradient is not that of the function: at {u.tolist()} it says that the function rises at rate "
                f"{promised:.6g} towards {step.tolist()}, where central differences say {rise:.6g}."
            )


def check_accountant(
    epsilon: Callable[[NoisyReleases, float], float],
    releases: Sequence[NoisyReleases] = (),
    *,
    deltas: Sequence[float] = _DELTAS,
    name: str = "The accountant",
) -> None:
    """Check the laws of an accountant, and that it never reports less than releases cost.

    Its epsilon falls as delta or the noise grows, and rises with releases and with the sampling probability; twice the
    releases at twice the delta cost at most twice as much (basic composition); and it is never below a two-sided
    enclosure of the smallest epsilon.

    Args:
        epsilon: from releases and a delta to the accountant's epsilon, nats.
        releases: on which it is tried; by default Gaussian noise, one and several releases of all records.
        deltas: likewise, in (0, 1/2).
        name: of the accountant, for messages.

    Raises:
        AssertionError: naming the law, the releases and both numbers.
        InvalidArgumentError: for arguments that cannot be used.

    Examples:
        >>> from dpverify.auditing.accountants import NoisyReleases
        >>> from dpverify.privacy import GDP
        >>> from dpverify.properties import check_accountant
        >>> def accountant(releases: NoisyReleases, delta: float) -> float:
        ...     return GDP(releases.steps**0.5 / releases.noise_multiplier).epsilon_at(delta) + 1e-9
        >>> check_accountant(accountant, deltas=(1e-5,))
        >>> check_accountant(lambda releases, delta: 0.9 * accountant(releases, delta), deltas=(1e-5,))
        Traceback (most recent call last):
        AssertionError: ...
    """
    function("epsilon", epsilon)
    of_kind("name", name, str)
    items("releases", releases, NoisyReleases, "a list of NoisyReleases", least=0)
    tried = list(releases) or [NoisyReleases("gaussian", sigma, k) for sigma in (0.7, 2.0) for k in (1, 8)]
    rising = sorted(_listed("deltas", deltas, 0.5))

    def of(one: NoisyReleases, delta: float) -> float:
        found = returned_number("epsilon", epsilon(one, delta))
        if not found >= 0:
            raise AssertionError(f"{name} reports epsilon {found!r} for {one} at delta {delta:g}.")
        return found

    def hold(small: float, large: float, law: str, one: NoisyReleases, delta: float) -> None:
        if not small <= large * (1 + _ROUNDING) + 1e-12:
            raise AssertionError(
                f"{name} breaks a law: its epsilon must {law}. For {one} at delta {delta:g}: {small!r} > {large!r}."
            )

    for one in tried:
        found = [of(one, delta) for delta in rising]
        for here, before, delta in zip(found[1:], found, rising[1:], strict=False):
            hold(here, before, "fall as delta grows", one, delta)
        for here, delta in zip(found, rising, strict=True):
            quieter = replace(one, noise_multiplier=2 * one.noise_multiplier)
            hold(of(quieter, delta), here, "fall as the noise grows", one, delta)
            longer = replace(one, steps=one.steps + 1)
            hold(here, of(longer, delta), "rise with the number of releases", one, delta)
            if one.sampling_probability < 1:
                oftener = replace(one, sampling_probability=min(1.0, 2 * one.sampling_probability))
                hold(here, of(oftener, delta), "rise with the sampling probability", one, delta)
            law = "be subadditive: at most twice for twice the releases"
            hold(of(replace(one, steps=2 * one.steps), 2 * delta), 2 * here, law, one, delta)
            audit = audit_epsilon(here, one, delta=delta)
            if audit.verdict is Verdict.VIOLATED:
                raise AssertionError(f"{name} reports less than the releases cost: {audit.reason}.")


def check_duality(guarantee: Guarantee, *, within: float = 1e-6, points: int = 33) -> None:
    """Check that a guarantee's privacy profile and its trade-off function are dual.

    The trade-off function is the supremum over epsilon of 1 - delta(epsilon) - e^epsilon alpha and of
    e^-epsilon (1 - delta(epsilon) - alpha), for a profile that bounds both directions (Dong, Roth and Su 2022,
    Proposition 2.12). It is convex, does not rise, and is at most 1 - alpha.

    Args:
        guarantee: with `privacy_profile` and `tradeoff_function`.
        within: largest difference of type II errors that is put down to numerics.
        points: type I errors that are tried.

    Raises:
        AssertionError: naming the law and the type I error.

    Examples:
        >>> from dpverify.privacy import GDP
        >>> from dpverify.properties import check_duality
        >>> check_duality(GDP(1.0))
    """
    for method in ("privacy_profile", "tradeoff_function"):
        with_attribute("guarantee", guarantee, method)
    within = number("within", within, above=0.0, below=1.0)
    inner = np.linspace(0.0, 1.0, whole_number("points", points, at_least=5))[1:-1]
    alpha = np.concatenate([[1e-6, 1e-4, 1e-3], inner])
    alpha.sort()
    curve = np.asarray(guarantee.tradeoff_function(alpha), dtype=np.float64)
    _hold("lie between 0 and 1 - alpha", alpha, (curve >= 0) & (curve <= 1 - alpha + within), curve)
    _hold("not rise", alpha[1:], np.diff(curve) <= within, curve[1:])
    slopes = np.diff(curve) / np.diff(alpha)
    bends = np.diff(slopes) * np.minimum(np.diff(alpha)[1:], np.diff(alpha)[:-1])
    _hold("be convex", alpha[1:-1], bends >= -2 * within, curve[1:-1])
    dual = _dual(guarantee, alpha)
    for differs, holds in (
        ("claims more than the privacy profile gives", curve <= dual + within),
        ("is weaker than the privacy profile", curve >= dual - within),
    ):
        if not holds.all():
            at = int(np.argmin(holds))
            raise AssertionError(
                f"The trade-off function {differs}: at type I error {alpha[at]:g} it is {curve[at]:.9g}, and the "
                f"profile's dual is {dual[at]:.9g}."
            )


def _listed(argument: str, values: Sequence[float], below: float = math.inf) -> list[float]:
    """Finite numbers above 0, at least one."""
    allowed = "a list of at least one number"
    listed = numbers(argument, values, allowed=allowed).ravel().tolist()
    items(argument, listed, float, allowed)
    return [number(argument, value, above=0.0, below=below) for value in listed]


def _hold(law: str, alpha: Array, holds: NDArray[np.bool_], curve: Array) -> None:
    if not holds.all():
        at = int(np.argmin(holds))
        raise AssertionError(
            f"The trade-off function breaks a law: it must {law}. At type I error {alpha[at]:g} it is {curve[at]:.9g}."
        )


def _dual(guarantee: Guarantee, alpha: Array) -> Array:
    """The supremum over epsilon, from below, up to the square of a fine grid's step."""
    top = 1.0
    while top < 64 and float(guarantee.privacy_profile(top)) > 1e-12:
        top *= 2
    step = top / _FINE

    def lines(epsilon: Array, at: Any) -> Array:
        kept = 1 - np.asarray(guarantee.privacy_profile(epsilon))
        found: Array = np.maximum(kept - np.exp(epsilon) * at, np.exp(-epsilon) * (kept - at))
        return found

    coarse = np.linspace(0.0, top, _FINE + 1)
    values = lines(coarse, alpha[:, None])
    # a level at a time: profiles that are searched for are sharper on few epsilons that are close together
    best: Array = np.maximum(values.max(axis=1), 0.0)
    for k, start in enumerate(coarse[values.argmax(axis=1)]):
        for width in (16.0, 1.0, 0.04, 0.002):
            near = np.clip(start + width * step * np.linspace(-1, 1, _AROUND), 0.0, None)
            found = lines(near, alpha[k])
            start, best[k] = near[found.argmax()], max(best[k], float(found.max()))
    return best


def check_group_privacy(
    guarantee: Guarantee,
    *,
    group: Callable[[Guarantee, int], Guarantee] = for_group,
    exact: Callable[[int], Callable[[Array], Any]] | None = None,
    largest: int = 4,
) -> None:
    """Check the laws of a guarantee for groups of records.

    For one record it is the guarantee itself; it does not fall with the size; a group of groups is a group; and it is
    never below what some mechanism that keeps the guarantee loses, where one is known.

    Args:
        guarantee: for one record.
        group: from a guarantee and a size to that for the group.
        exact: from a size to the exact privacy profile, vectorized in epsilon, of a mechanism that keeps `guarantee` on
            data sets that differ in that many records.
        largest: size that is tried.

    Raises:
        AssertionError: naming the law, the size and epsilon.
        InvalidArgumentError: for arguments that cannot be used, and as `group`.

    Examples:
        >>> from dpverify.privacy import GDP, zCDP
        >>> from dpverify.properties import check_group_privacy
        >>> def exact(size: int):
        ...     return GDP(size).privacy_profile  # one normal noise on a sum that each record moves by 1
        >>> check_group_privacy(zCDP(0.5), exact=exact)
        >>> check_group_privacy(zCDP(0.5), group=lambda guarantee, size: zCDP(size * guarantee.rho), exact=exact)
        Traceback (most recent call last):
        AssertionError: ...
    """
    with_attribute("guarantee", guarantee, "privacy_profile")
    function("group", group)
    if exact is not None:
        function("exact", exact)
    largest = whole_number("largest", largest, at_least=2)
    profiles = {0: np.zeros_like(_EPSILONS)}
    for size in range(1, largest + 1):
        profiles[size] = _profile("group", group(guarantee, size))
    alone = _profile("guarantee", guarantee)
    _compare("be the guarantee itself", 1, np.abs(profiles[1] - alone) <= _ROUNDING)
    for size in range(1, largest + 1):
        here = profiles[size]
        _compare("not fall with the size", size, here >= profiles[size - 1] - _ROUNDING)
        if exact is not None:
            lost = returned("exact", exact(size)(_EPSILONS))
            _compare("cover a mechanism that keeps the guarantee", size, here >= lost - _ROUNDING)
        for part in range(2, size):
            if size % part == 0:
                steps = _profile("group", group(group(guarantee, part), size // part))
                law = f"be that of groups of {part} in groups of {size // part}"
                _compare(law, size, np.abs(steps - here) <= 1e-6)


def _profile(name: str, guarantee: Any) -> Array:
    """The privacy profile of what a function returned."""
    with_attribute(f"what `{name}` returned", guarantee, "privacy_profile")
    return returned(name, guarantee.privacy_profile(_EPSILONS))


def _compare(law: str, size: int, holds: NDArray[np.bool_]) -> None:
    if not holds.all():
        raise AssertionError(
            f"The guarantee for groups breaks a law: for a group of {size} it must {law}, and it does not at epsilon "
            f"{_EPSILONS[int(np.argmin(holds))]:g}."
        )


def check_scaling(
    guarantee: Callable[[float, float], Guarantee],
    *,
    sensitivities: Sequence[float] = (0.5, 1.0, 3.0),
    noises: Sequence[float] = (1.0, 2.0, 7.0),
    factors: Sequence[float] = (0.01, 8.0),
) -> None:
    """Check that a guarantee of added noise depends on noise over sensitivity alone, and falls as that grows.

    Args:
        guarantee: from a sensitivity and a size of the noise, in one unit, to the guarantee.
        sensitivities: that are tried, rising.
        noises: likewise.
        factors: by which both are multiplied, as by a change of the unit.

    Raises:
        AssertionError: naming the law, sensitivity, noise and epsilon.
        InvalidArgumentError: for arguments that cannot be used.

    Examples:
        >>> from dpverify.privacy import GDP
        >>> from dpverify.properties import check_scaling
        >>> check_scaling(lambda sensitivity, noise_stddev: GDP(sensitivity / noise_stddev))
        >>> check_scaling(lambda sensitivity, noise_stddev: GDP(sensitivity / noise_stddev**2))
        Traceback (most recent call last):
        AssertionError: ...
    """
    function("guarantee", guarantee)
    sensitivities, noises = _listed("sensitivities", sensitivities), _listed("noises", noises)
    factors = _listed("factors", factors)

    def profile(sensitivity: float, noise: float) -> Array:
        return _profile("guarantee", guarantee(sensitivity, noise))

    def hold(law: str, holds: NDArray[np.bool_], sensitivity: float, noise: float) -> None:
        if not holds.all():
            raise AssertionError(
                f"The guarantee breaks a law: it must {law}, and it does not at sensitivity {sensitivity:g}, noise "
                f"{noise:g}, epsilon {_EPSILONS[int(np.argmin(holds))]:g}."
            )

    for s in sensitivities:
        for noise in noises:
            here = profile(s, noise)
            hold("fall as the noise grows", profile(s, 2 * noise) <= here + _ROUNDING, s, noise)
            hold("rise with the sensitivity", profile(2 * s, noise) >= here - _ROUNDING, s, noise)
            for c in factors:
                same = np.abs(profile(c * s, c * noise) - here) <= 1e-7
                hold(f"stay the same in a unit {c:g} times as small", same, s, noise)
