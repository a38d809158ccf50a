"""Every accountant against computations that share nothing with it, on ordinary and extreme inputs.

The other side is exact rationals, or mpmath with at least 50 digits, or enumeration. `DPVERIFY_FUZZ_EXAMPLES` says how
many inputs are tried for each law; the inputs are the same every time.
"""

from __future__ import annotations

import math
import os
from fractions import Fraction
from itertools import product
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from dpverify.checks import LARGEST_COUNT
from dpverify.errors import InvalidArgumentError, NotGuaranteedError
from dpverify.privacy import (
    GDP,
    RDP,
    ApproxDP,
    Guarantee,
    NoisyIteration,
    PureDP,
    compose,
    compose_profiles,
    for_group,
    gaussian_hockey_stick,
    hockey_stick_divergence,
    joint_range,
    tCDP,
    zCDP,
)
from dpverify.privacy.batch_sampling import SampledBatch
from dpverify.privacy.subsampling import SampledGaussian

EXAMPLES = int(os.environ.get("DPVERIFY_FUZZ_EXAMPLES", "60"))
DIGITS = 60


def fuzz(share: float = 1.0) -> settings:
    """As many examples as asked for, times `share` where one takes long."""
    return settings(
        max_examples=max(4, round(share * EXAMPLES)),
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )


def magnitudes(low: int, high: int) -> st.SearchStrategy[float]:
    """Positive numbers whose decimal exponents are spread evenly, and 0."""
    spread = st.builds(lambda mantissa, k: mantissa * 10.0**k, st.floats(1, 9.99), st.integers(low, high))
    return st.one_of(st.just(0.0), spread, st.floats(0.01, 10))


def up_to(found: float, exact: Any, *, relative: float, absolute: float = 0.0) -> None:
    """The found number is an upper bound, and not a loose one."""
    with mpmath.workdps(DIGITS):
        assert mpmath.mpf(found) >= exact
        assert mpmath.mpf(found) <= exact * (1 + mpmath.mpf(relative)) + mpmath.mpf(absolute)


# ------------------------------------------------------------------------------------------ closed forms


def pair_profile(claimed: float, delta: float, epsilon: float) -> Any:
    if epsilon >= claimed:
        return mpmath.mpf(delta)
    factor = mpmath.exp(mpmath.mpf(claimed))
    return delta + (1 - mpmath.mpf(delta)) * (factor - mpmath.exp(mpmath.mpf(epsilon))) / (factor + 1)


@fuzz()
@given(claimed=magnitudes(-300, 3), delta=st.floats(0, 0.999), part=st.floats(0, 1.2))
def test_pure_and_approximate(claimed: float, delta: float, part: float) -> None:
    with mpmath.workdps(DIGITS + 2 * 310):
        for guarantee in (PureDP(claimed), ApproxDP(claimed, delta)):
            exact = pair_profile(claimed, getattr(guarantee, "delta", 0.0), part * claimed)
            found = float(guarantee.privacy_profile(part * claimed))
            assert exact <= mpmath.mpf(found) <= exact * (1 + mpmath.mpf(1e-14)) + mpmath.mpf(2) ** -1073


def digits_of(mu: float) -> int:
    """Enough digits for the two terms of a Gaussian profile, which agree in about as many as mu is small."""
    # 40 more than the 60 wanted: terms change by (epsilon + mu)^2 times the change of what they are computed from
    return 100 + max(0, math.ceil(-math.log10(mu))) if mu > 0 else DIGITS


def gaussian_profile(epsilon: Any, mu: Any) -> Any:
    """The difference of two terms, of `digits_of` digits."""
    epsilon, mu = mpmath.mpf(epsilon), mpmath.mpf(mu)
    if mu == 0:
        return mpmath.mpf(0)
    near, far = epsilon / mu - mu / 2, epsilon / mu + mu / 2
    return (
        mpmath.erfc(near / mpmath.sqrt(2)) / 2 - mpmath.exp(epsilon) * mpmath.erfc(far / mpmath.sqrt(2)) / 2
    )


@fuzz()
@given(mu=magnitudes(-160, 2), quantile=st.floats(-8, 37))
@example(mu=1e-160, quantile=0.0)
@example(mu=70.0, quantile=36.0)
def test_gaussian(mu: float, quantile: float) -> None:
    epsilon = max(0.0, mu * (quantile + mu / 2))
    with mpmath.workdps(digits_of(mu)):
        exact = gaussian_profile(epsilon, mu)
        found = mpmath.mpf(gaussian_hockey_stick(epsilon, mu))
        assert abs(found - exact) <= exact * mpmath.mpf(2) ** -52 + mpmath.mpf(2) ** -1074


@pytest.mark.one_in(2)
@pytest.mark.parametrize("mu", [1e-160, 1e-40, 1e-3, 1.0, 40.0, 700.0])
@pytest.mark.parametrize("quantile", [-8.0, 0.0, 12.0, 37.0])
def test_the_digits_are_enough(mu: float, quantile: float) -> None:
    epsilon = max(0.0, mu * (quantile + mu / 2))
    with mpmath.workdps(digits_of(mu)):
        short = gaussian_profile(epsilon, mu)
    with mpmath.workdps(1000):
        assert (
            abs(short - gaussian_profile(epsilon, mu))
            <= gaussian_profile(epsilon, mu) * mpmath.mpf(10) ** -30
        )


@fuzz()
@given(mu=magnitudes(2, 140).filter(bool), quantile=st.floats(-9, 38))
@example(mu=1e8, quantile=0.0)
def test_gaussian_with_a_mean_far_off(mu: float, quantile: float) -> None:
    # the far term is less than density(quantile) / mu, whatever its digits
    epsilon = max(0.0, mu * (quantile + mu / 2))
    with mpmath.workdps(400):
        near = mpmath.mpf(epsilon) / mpmath.mpf(mu) - mpmath.mpf(mu) / 2
        first = mpmath.erfc(near / mpmath.sqrt(2)) / 2
        far = mpmath.npdf(near) / (near + mpmath.mpf(mu)) if mu > 0 else mpmath.mpf(0)
        found = mpmath.mpf(gaussian_hockey_stick(epsilon, mu))
        slack = mpmath.mpf(2) ** -52 * first + mpmath.mpf(2) ** -1074
        assert first - far - slack <= found <= first + slack


# ------------------------------------------------------------------------------------------ composition


parameters = st.lists(magnitudes(-300, 307), min_size=1, max_size=6)


def refused_or(kind: str, value: Any) -> Any:
    """The parameter of a composition, or infinity where it is refused because it leaves the floats."""
    try:
        return Fraction(getattr(value(), kind))
    except InvalidArgumentError:
        return math.inf


@fuzz()
@given(values=parameters)
@example(values=[1e308, 1e308])
def test_sums_are_exact_or_one_unit_above(values: list[float]) -> None:
    exact = sum(map(Fraction, values))
    largest = Fraction(math.nextafter(math.inf, 0))
    for kind, of in (("epsilon", PureDP), ("rho", zCDP), ("rho", lambda rho: tCDP(rho, 2.0))):
        found = refused_or(kind, lambda of=of: compose([of(value) for value in values]))
        assert found >= exact
        if found < math.inf:
            assert found == exact or Fraction(math.nextafter(float(found), 0.0)) < exact
        else:
            assert exact > largest
    length = refused_or("mu", lambda: compose([GDP(value) for value in values]))
    square = sum(Fraction(value) ** 2 for value in values)
    assert length == math.inf or length**2 >= square >= Fraction(math.nextafter(float(length), 0.0)) ** 2 * (
        1 - Fraction(1, 2**50)
    )


@fuzz()
@given(mu=magnitudes(-300, 307), rho=magnitudes(-300, 300), order=st.floats(1.01, 1e6))
def test_mixed_curves_are_never_below_their_sum(mu: float, rho: float, order: float) -> None:
    exact = Fraction(order) * (Fraction(mu) ** 2 / 2 + Fraction(rho))
    try:
        curve = compose([GDP(mu), zCDP(rho)])
    except InvalidArgumentError:
        assert mu > 1e153
        return
    assert isinstance(curve, RDP)
    assert Fraction(min(curve.curve(order), math.nextafter(math.inf, 0))) >= min(
        exact, Fraction(math.nextafter(math.inf, 0))
    )


@fuzz()
@given(epsilon=magnitudes(-300, 3), delta=magnitudes(-320, -1), size=st.integers(1, 40))
@example(epsilon=400.0, delta=1e-310, size=3)
@example(epsilon=0.0, delta=5e-324, size=3)
def test_groups(epsilon: float, delta: float, size: int) -> None:
    with mpmath.workdps(DIGITS + 310):
        exact = mpmath.fsum(mpmath.mpf(delta) * mpmath.exp(k * mpmath.mpf(epsilon)) for k in range(size))
        try:
            found = for_group(ApproxDP(epsilon, delta), size)
        except InvalidArgumentError:
            assert exact > 1 - mpmath.mpf(1e-15)
            return
        assert isinstance(found, ApproxDP)
        assert Fraction(found.epsilon) >= size * Fraction(epsilon)
        assert exact <= mpmath.mpf(found.delta) <= exact * (1 + mpmath.mpf(1e-15)) + mpmath.mpf(2) ** -1074
    for mu_or_rho in (epsilon,):
        assert Fraction(for_group(GDP(mu_or_rho), size).mu) >= size * Fraction(mu_or_rho)  # type: ignore[attr-defined]
        assert Fraction(for_group(zCDP(mu_or_rho), size).rho) >= size**2 * Fraction(mu_or_rho)  # type: ignore[attr-defined]


# ------------------------------------------------------------------------------------------ finite laws


weights = st.lists(st.one_of(st.just(0), st.integers(1, 20)), min_size=2, max_size=6).filter(any)


@fuzz()
@given(left=weights, right=weights, epsilon=magnitudes(-10, 3), tiny=st.integers(0, 320))
def test_divergences_of_finite_laws(left: list[int], right: list[int], epsilon: float, tiny: int) -> None:
    outcomes = min(len(left), len(right))
    p = np.array(left[:outcomes], dtype=float)
    q = np.array(right[:outcomes], dtype=float)
    if not (p.any() and q.any()):
        return
    p, q = p / p.sum(), q / q.sum()
    q[0] = 10.0**-tiny if tiny > 16 else q[0]
    q = q / q.sum()
    with mpmath.workdps(DIGITS + 330):
        factor = mpmath.exp(mpmath.mpf(epsilon))
        exact = sum(
            max(mpmath.mpf(0), mpmath.mpf(a) - factor * mpmath.mpf(b)) for a, b in zip(p, q, strict=True)
        )
        assert abs(mpmath.mpf(hockey_stick_divergence(p, q, epsilon=epsilon)) - exact) <= mpmath.mpf(1e-14)


pairs = st.builds(
    ApproxDP, st.one_of(st.floats(0, 5), st.floats(0, 200)), st.sampled_from([0.0, 0.0, 1e-5, 0.3])
)


@fuzz(0.1)
@given(parts=st.lists(pairs, min_size=1, max_size=3), part=st.floats(0, 1))
@example(parts=[ApproxDP(200.0, 0.0), ApproxDP(150.3, 0.0)], part=0.9999)
def test_compositions_by_enumeration(parts: list[ApproxDP], part: float) -> None:
    total = math.fsum(one.epsilon for one in parts)
    epsilon = part * total
    with mpmath.workdps(DIGITS + 310):
        laws = []
        for one in parts:
            inside = (1 - mpmath.mpf(one.delta)) / (mpmath.exp(mpmath.mpf(one.epsilon)) + 1)
            more = inside * mpmath.exp(mpmath.mpf(one.epsilon))
            # the last two outcomes happen on one side only
            laws.append(
                [(more, inside), (inside, more), (mpmath.mpf(one.delta), 0), (0, mpmath.mpf(one.delta))]
            )
        factor = mpmath.exp(mpmath.mpf(epsilon))
        exact = mpmath.mpf(0)
        for outcome in product(*laws):
            left, right = mpmath.mpf(1), mpmath.mpf(1)
            for p, q in outcome:
                left, right = left * p, right * q
            exact += max(mpmath.mpf(0), left - factor * right)
        found = mpmath.mpf(
            float(compose_profiles(parts, discretization=max(0.01, total / 20_000)).privacy_profile(epsilon))
        )
        assert exact <= found <= 1


# ------------------------------------------------------------------------------------------ sampling


@fuzz(0.5)
@given(
    n=st.one_of(st.integers(1, 1000), st.sampled_from([10**12, 10**50, LARGEST_COUNT])),
    part=st.floats(0, 1),
    mu=st.one_of(st.floats(0.01, 5), st.floats(5, 39.9)),
    quantile=st.floats(-8, 30),
)
@example(n=10**50, part=0.0, mu=39.0, quantile=12.0)
def test_one_batch_without_replacement(n: int, part: float, mu: float, quantile: float) -> None:
    batch = max(1, min(n, round(part * min(n, 1000))))
    guarantee = SampledBatch(n, batch, mu)
    with mpmath.workdps(digits_of(mu)):
        p = mpmath.mpf(batch) / mpmath.mpf(n)
        inner = max(mpmath.mpf(0), mpmath.mpf(mu) * (quantile + mpmath.mpf(mu) / 2))
        epsilon = float(mpmath.log1p(p * mpmath.expm1(inner)))
        exact = p * gaussian_profile(mpmath.log1p(mpmath.expm1(mpmath.mpf(epsilon)) / p), mu)
        found = mpmath.mpf(float(guarantee.privacy_profile(epsilon)))
        assert exact - mpmath.mpf(2) ** -1000 <= found <= 1
        assert found <= exact * (1 + mpmath.mpf(1e-6)) + p * mpmath.mpf(1e-9)
    nearby = np.asarray(guarantee.privacy_profile(np.array([epsilon * 0.9, epsilon, epsilon * 1.1, 1e6])))
    assert np.all(np.diff(nearby) <= 1e-12 * nearby[:-1])


@fuzz(0.01)
@given(
    n=st.sampled_from([2, 10, 1000]),
    noise=st.one_of(st.floats(0.05, 0.5), st.floats(0.5, 20)),
    part=st.floats(0, 1),
)
@example(n=2, noise=0.05, part=0.9)
def test_one_step_on_one_sampled_record(n: int, noise: float, part: float) -> None:
    guarantee = SampledGaussian(n, 1, noise)
    epsilon = part * guarantee.epsilon_at(1e-10)
    with mpmath.workdps(digits_of(1 / noise)):
        inner = mpmath.log1p(n * mpmath.expm1(mpmath.mpf(epsilon)))
        exact = gaussian_profile(inner, 1 / mpmath.mpf(noise)) / n
        assert exact <= mpmath.mpf(float(guarantee.privacy_profile(epsilon)))


# ------------------------------------------------------------------------------------------ Renyi curves


@fuzz(0.06)
@given(mu=st.one_of(st.floats(0.01, 10), magnitudes(-8, 2)), quantile=st.floats(-5, 20))
def test_renyi_bounds_stay_above_the_gaussian_they_come_from(mu: float, quantile: float) -> None:
    epsilon = max(0.0, mu * (quantile + mu / 2))
    exact = gaussian_hockey_stick(epsilon, mu)
    curves: list[Guarantee] = [
        zCDP(mu * mu / 2 * (1 + 1e-15)),
        RDP(lambda order: mu * mu * order / 2 * (1 + 1e-15)),
    ]
    for curve in curves:
        assert float(curve.privacy_profile(epsilon)) >= exact * (1 - 1e-12)
        if 0 < exact < 1 and epsilon > 0:
            assert curve.epsilon_at(exact) >= epsilon * (1 - 1e-12)


@fuzz(0.3)
@given(epsilon=magnitudes(-3, 1), part=st.floats(0, 1))
def test_the_textbook_curve_of_randomized_response(epsilon: float, part: float) -> None:
    def curve(order: float) -> float:
        # Mironov 2017, Proposition 5; it divides by zero at order 1
        heads, tails = 1 / (1 + math.exp(-epsilon)), 1 / (1 + math.exp(epsilon))
        terms = [
            order * math.log(heads) + (1 - order) * math.log(tails),
            order * math.log(tails) + (1 - order) * math.log(heads),
        ]
        return max(0.0, float(np.logaddexp(*terms)) / (order - 1))

    found = float(RDP(curve).privacy_profile(part * epsilon))
    assert found >= float(PureDP(epsilon).privacy_profile(part * epsilon)) * (1 - 1e-6)


def two_point_excess(p: Any, q: Any, order: Any, bound: Any) -> Any:
    """Sum of p^order q^(1 - order) over two outcomes, less e^((order - 1) bound): the divergence's constraint."""
    total = p**order * q ** (1 - order) + (1 - p) ** order * (1 - q) ** (1 - order)
    return total - mpmath.exp((order - 1) * bound)


_LEAST_LOG = -150
"""Logarithm of the smallest error of the second kind that is looked for; the digits tell it from 0."""
_DIGITS_OF_LEAST = 90


def least_type_two_error(level: Any, order: Any, bound: Any) -> Any:
    """By halving on both directions of two-point laws; what is below the smallest that is looked for counts as it."""
    with mpmath.workdps(max(_DIGITS_OF_LEAST, mpmath.mp.dps)):
        return _halved(level, order, bound)


def _halved(level: Any, order: Any, bound: Any) -> Any:
    best = mpmath.exp(_LEAST_LOG)
    for swap in (False, True):

        def excess(log_error: Any, swap: bool = swap) -> Any:
            laws = (level, 1 - mpmath.exp(log_error))
            return two_point_excess(*(laws[::-1] if swap else laws), order, bound)

        low, high = mpmath.mpf(_LEAST_LOG), mpmath.log(1 - level)
        if excess(low) <= 0:
            continue
        for _ in range(120):
            middle = (low + high) / 2
            low, high = (middle, high) if excess(middle) > 0 else (low, middle)
        best = max(best, mpmath.exp(high))
    return best


orders_strategy = st.one_of(st.floats(1.01, 3), st.floats(3, 100))
divergences = st.one_of(st.floats(0.01, 5), magnitudes(-8, 0).filter(bool))


def never_above_two_point_laws(level: float, order: float, bound: float) -> None:
    found = float(RDP.point(order, bound).tradeoff_function(level))
    with mpmath.workdps(70):
        exact = least_type_two_error(*map(mpmath.mpf, (level, order, bound)))
        # near order 1 the rounding of the constraint is divided by the order less 1
        loose = mpmath.mpf(1e-7) * max(1.0, 0.1 / (order - 1))
        assert exact * (1 - loose) - mpmath.mpf(10) ** -33 <= mpmath.mpf(found) <= exact


levels_strategy = st.one_of(st.floats(0.001, 0.999), magnitudes(-9, -1).filter(lambda a: 0 < a < 1))


@fuzz(0.25)
@given(level=levels_strategy, order=orders_strategy, bound=divergences)
@example(level=0.25, order=2.0, bound=1.0)
@example(level=0.9999999999999999, order=1.5, bound=1.0)
def test_the_tradeoff_function_of_a_renyi_point(level: float, order: float, bound: float) -> None:
    never_above_two_point_laws(level, order, bound)


@fuzz(0.005)
@given(epsilon=st.one_of(st.just(0.0), st.floats(0, 3)), order=orders_strategy, bound=divergences)
@example(epsilon=0.0, order=2.0, bound=0.3)
@example(epsilon=3.0, order=8.0, bound=4.0)
def test_the_profile_of_a_renyi_point(epsilon: float, order: float, bound: float) -> None:
    found = float(RDP.point(order, bound).privacy_profile(epsilon))
    with mpmath.workdps(50):
        largest, factor = mpmath.mpf(0), mpmath.exp(mpmath.mpf(epsilon))
        exact_order, exact_bound = mpmath.mpf(order), mpmath.mpf(bound)

        def attained(log_level: Any) -> Any:
            level = mpmath.exp(log_level)
            return 1 - least_type_two_error(level, exact_order, exact_bound) - factor * level

        # concave in the level, so it rises and falls
        low, high = mpmath.mpf(-40), mpmath.mpf(10) ** -9 * -1
        golden = (mpmath.sqrt(5) - 1) / 2
        first, second = high - golden * (high - low), low + golden * (high - low)
        left, right = attained(first), attained(second)
        for _ in range(36):
            if left < right:
                low, first, left = first, second, right
                second = low + golden * (high - low)
                right = attained(second)
            else:
                high, second, right = second, first, left
                first = high - golden * (high - low)
                left = attained(first)
        largest = max(largest, attained((low + high) / 2))
        assert largest <= mpmath.mpf(found)
        assert mpmath.mpf(found) <= largest * (1 + mpmath.mpf(1e-4)) + mpmath.mpf(1e-9)


@fuzz(0.15)
@given(
    p=st.floats(0.001, 0.999),
    q=st.floats(0.001, 0.999),
    epsilon=st.floats(0, 4),
    highest=st.one_of(st.none(), st.floats(1.01, 40)),
)
def test_renyi_bounds_of_two_point_laws(p: float, q: float, epsilon: float, highest: float | None) -> None:
    """A whole curve, or the point at its end, is never better than the law that it belongs to."""

    def curve(order: float) -> float:
        with np.errstate(over="ignore"):
            values = []
            for x, y in ((p, q), (q, p)):
                terms = (
                    order * math.log(x) + (1 - order) * math.log(y),
                    order * math.log1p(-x) + (1 - order) * math.log1p(-y),
                )
                values.append(float(np.logaddexp(*terms)) / (order - 1))
            # rounding, which is divided by what the order is above 1
            return max(0.0, *values) * (1 + 1e-12) + 1e-15 / (order - 1) + 1e-15

    guarantee = RDP(curve) if highest is None else RDP.point(highest, curve(highest))
    delta = max(0.0, p - math.exp(epsilon) * q, q - math.exp(epsilon) * p)
    assert float(guarantee.privacy_profile(epsilon)) >= delta - 1e-15
    if delta > 1e-12:
        assert guarantee.epsilon_at(delta) >= epsilon - 1e-9
    assert float(guarantee.tradeoff_function(p)) <= 1 - q + 1e-15
    assert float(guarantee.tradeoff_function(1 - q)) <= p + 1e-15
    nearby = np.asarray(guarantee.privacy_profile(np.linspace(0, 4, 9)))
    assert np.all(np.diff(nearby) <= 0)
    errors = np.asarray(guarantee.tradeoff_function(np.linspace(0, 1, 9)))
    assert np.all(np.diff(errors) <= 0)
    assert np.all(np.diff(errors, 2) >= -1e-9)


@pytest.mark.parametrize("fault", [0.99, 1 - 1e-6])
def test_too_small_a_divergence_is_caught(fault: float, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = joint_range.type_two_error
    monkeypatch.setattr(joint_range, "type_two_error", lambda a, o, r: kept(a, o, fault * np.asarray(r)))
    with pytest.raises(AssertionError):
        never_above_two_point_laws(0.25, 2.0, 1.0)


# ------------------------------------------------------------------------------------------ noisy iterations


steps_strategy = st.lists(
    st.tuples(
        st.one_of(st.sampled_from([0.0, 0.0, 1.0]), magnitudes(-300, 300)),  # shift
        st.one_of(st.sampled_from([0.0, 1.0, 1.0]), magnitudes(-300, 300)),  # noise
        st.one_of(
            st.sampled_from([0.0, 1.0, 1.0, 0.5]),
            st.floats(0, 1),
            magnitudes(-300, -1).filter(lambda c: c <= 1),
        ),
    ),
    min_size=1,
    max_size=12,
)


def never_below_affine_maps(rows: list[tuple[float, float, float]], distance: float) -> None:
    """A shift in one direction and a scaling are allowed maps, and what they lose is known exactly."""
    shifts, stddevs, contractions = (np.array(column) for column in zip(*rows, strict=True))
    iteration = NoisyIteration(shifts, stddevs, contractions, distance)
    with mpmath.workdps(DIGITS):
        mean, variance = mpmath.mpf(distance), mpmath.mpf(0)
        for s, stddev, c in rows:
            mean = mpmath.mpf(c) * mean + mpmath.mpf(s)
            variance = mpmath.mpf(c) ** 2 * variance + mpmath.mpf(stddev) ** 2
        attained = mpmath.mpf(0) if mean == 0 else mean / mpmath.sqrt(variance) if variance else mpmath.inf
        try:
            found = iteration.gdp().mu
        except NotGuaranteedError:
            found = math.inf
        assert found >= attained
        if found < 1e150:
            assert iteration.rdp().curve(2.0) >= attained**2


@fuzz()
@given(
    rows=steps_strategy,
    distance=st.one_of(st.just(0.0), magnitudes(-300, 300)),
    idle=st.sampled_from([0, 0, 40, 1500]),
)
@example(
    rows=[
        (0.0, 0.0, 0.0),
        (0.0, 1.0, 0.0),
        (0.0, 0.0, 1.2070234389157444e-109),
        (0.0, 0.0, 1.2070234389157444e-109),
        (1e91, 1e-158, 1.0),
    ],
    distance=0.0,
    idle=0,
)
def test_noisy_iterations_against_affine_maps(
    rows: list[tuple[float, float, float]], distance: float, idle: int
) -> None:
    never_below_affine_maps(rows + [(0.0, 0.0, 0.5)] * idle, distance)


def convex_minorant_energy(rows: list[tuple[float, float, float]]) -> Fraction:
    """The least sum of a_t^2 / sigma_t^2 in exact rationals, by merging neighbors while slopes fall."""
    following, path = Fraction(1), []
    for s, stddev, c in reversed(rows):
        path.append((following * Fraction(s), (following * Fraction(stddev)) ** 2))
        following *= Fraction(c)
    pools: list[tuple[Fraction, Fraction]] = []
    for rise, width in reversed(path):
        pools.append((rise, width))
        while len(pools) > 1 and pools[-2][0] * pools[-1][1] >= pools[-1][0] * pools[-2][1]:
            last = pools.pop()
            pools[-1] = (pools[-1][0] + last[0], pools[-1][1] + last[1])
    return sum((rise**2 / width for rise, width in pools), Fraction(0))


@fuzz(0.5)
@given(
    rows=st.lists(
        st.tuples(
            st.one_of(st.just(0.0), st.floats(0.01, 10)),
            st.floats(0.1, 10),
            st.one_of(st.just(1.0), st.floats(0.1, 1)),
        ),
        min_size=1,
        max_size=12,
    )
)
def test_noisy_iterations_against_the_exact_optimum(rows: list[tuple[float, float, float]]) -> None:
    shifts, stddevs, contractions = (np.array(column) for column in zip(*rows, strict=True))
    best = Fraction(NoisyIteration(shifts, stddevs, contractions).gdp().mu) ** 2
    exact = convex_minorant_energy(rows)
    assert exact <= best <= exact * (1 + Fraction(1, 10**8))


# ------------------------------------------------------------------------------------------ planted faults


@pytest.mark.parametrize("fault", [0.5, 2**-0.5, 1 - 1e-9])
def test_a_planted_fault_is_caught(fault: float, monkeypatch: pytest.MonkeyPatch) -> None:
    # what is charged is made smaller by a factor, as if some of it had been forgotten
    charged = NoisyIteration._charged

    def forgetful(self: NoisyIteration, *args: Any, **how: Any) -> Any:
        amounts, *rest = charged(self, *args, **how)
        return (fault * amounts, *rest)

    monkeypatch.setattr(NoisyIteration, "_charged", forgetful)
    with pytest.raises(AssertionError):
        never_below_affine_maps([(1.0, 1.0, 1.0), (0.0, 1.0, 0.5)], 0.0)
