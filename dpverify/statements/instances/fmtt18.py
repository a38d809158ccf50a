"""Instances that refute statements of fmtt18."""

from __future__ import annotations

from fractions import Fraction

import flint

from dpverify.proving.instances.instance import Evaluation, Premise
from dpverify.proving.instances.laws import Ball, Gaussian, GaussianOnBall, Number, ball, renyi_from_below
from dpverify.proving.instances.losses import PiecewiseQuadratic
from dpverify.statements.instances import refutes

_EPSILON, _DELTA = Fraction(10), Fraction(1, 100_000)
_DIMENSION = 1_000_001


def _opposite_losses(radius: int | Fraction, L: Fraction) -> tuple[Premise, ...]:
    """The two losses L w and -L w, on an interval."""
    losses = [PiecewiseQuadratic.linear(-radius, radius, slope) for slope in (L, -L)]
    return (
        Premise("both losses are convex", all(loss.convex for loss in losses)),
        Premise("both losses are L-Lipschitz", all(loss.lipschitz_constant <= L for loss in losses)),
        Premise("both losses are 0-smooth", all(loss.smoothness == 0 for loss in losses)),
    )


def _event(p: Ball, q: Ball, epsilon: Fraction) -> Ball:
    """By how much the mass of an event is above e^epsilon times its other mass: at most delta where it is private."""
    return p - ball(epsilon).exp() * q


# ------------------------------------------------------------------------------- Theorem 1


@refutes(
    "fmtt18.thm1/bound",
    "fmtt18.thm1/attained-by-identity-maps",
    says="1,000 steps on a line, all contractions the identity, from 0 and from 3, sigma = 1: the last iterates "
    "are N(0, 1000) and N(3, 1000); their divergence of order 2, by its integral",
)
def _identity_maps() -> Evaluation:
    T, order, sigma, distance = 1000, 2, 1, 3
    stddev = ball(T).sqrt() * sigma  # the sum of the T noises
    start, other = Gaussian(0, stddev), Gaussian(distance, stddev)
    divergence = renyi_from_below(start, other, order, -60 * 32, 60 * 32)
    return Evaluation(
        divergence,
        ball(order) * distance / (2 * T * sigma**2),
        {"T": T, "order": order, "sigma": sigma, "distance": distance, "D": divergence, "R": divergence / T},
        from_below=True,
    )


# ------------------------------------------------------------------------------- one noisy step


def _noise_of_lemma_27(L: Fraction) -> dict[str, Number]:
    """Its standard deviation sigma, with what it is made of."""
    log_ratio = ball(Fraction(5, 4) / _DELTA).log()
    sigma = 2 * ball(L) * (2 * log_ratio).sqrt() / ball(_EPSILON)
    logs = {"l": -ball(_DELTA).log(), "Lambda": log_ratio}
    return {"epsilon": _EPSILON, "delta": _DELTA, "L": L, "sigma": sigma, **logs}


@refutes(
    "fmtt18.lem27/noise-is-enough",
    says="one record, x = 1 against x = -1, with the losses L x w on the line, L = eta = 1 and start 0: the "
    "output is N(-x, sigma^2), and epsilon = 10, delta = 1e-5; the half line on which the densities' ratio "
    "is above e^10",
)
def _one_step_on_the_line() -> Evaluation:
    L, eta = Fraction(1), Fraction(1)
    epsilon, point = ball(_EPSILON), _noise_of_lemma_27(L)
    sigma = point["sigma"]
    plus, minus = (Gaussian(sign * eta * L, ball(eta) * sigma) for sign in (1, -1))
    threshold = epsilon * ball(eta) * sigma**2 / (2 * ball(L))  # where the densities' ratio is e^epsilon
    return Evaluation(
        _event(plus.above(threshold), minus.above(threshold), _EPSILON),
        _DELTA,
        point,
        _opposite_losses(1000, L),
    )


def _one_step_on_a_ball(rate: Ball) -> Evaluation:
    """Records -1 and 1 with losses L x w_1 on the ball of radius 1 around the start, in high dimension; rate * R."""
    L = Fraction(1)
    epsilon, point = ball(_EPSILON), _noise_of_lemma_27(L)
    sigma = point["sigma"]
    eta = rate / (ball(L) ** 2 + _DIMENSION * sigma**2).sqrt()  # n = 1 and R = 1
    plus, minus = (GaussianOnBall(sign * eta, eta * sigma, 1, _DIMENSION) for sign in (1, -1))
    slope = epsilon * eta * sigma**2 / 2 / (eta * sigma * ball(_DIMENSION - 1).sqrt())
    return Evaluation(
        _event(plus.above(slope), minus.above(slope), _EPSILON),
        _DELTA,
        point,
        _opposite_losses(1, L),
        from_below=True,
    )


_BALL = (
    "one record, x = 1 against x = -1, with the losses L x w_1 on the ball of radius R = 1 in 1,000,001 "
    "dimensions, L = 1 and start 0, epsilon = 10, delta = 1e-5: one step, projected to the ball; a half "
    "space, whose two masses are sums over the length of the noise"
)


@refutes("fmtt18.thm29/exact-profile", says=_BALL)
def _rate_of_theorem_29() -> Evaluation:
    return _one_step_on_a_ball(ball(2))


@refutes("fmtt18.thm30/exact-profile", says=_BALL)
def _rate_of_theorem_30() -> Evaluation:
    return _one_step_on_a_ball(ball(8).sqrt())


# ------------------------------------------------------------------------------- Theorem 26


@refutes(
    "fmtt18.thm26/one-record",
    says="one record, x = 1 against x = -1, with the losses L x w on the line, L = eta = 1, sigma = 2: the "
    "outputs are N(-1, 4) and N(1, 4); their divergence of order 2, by its integral",
)
def _one_record() -> Evaluation:
    L, sigma, order, eta = Fraction(1), Fraction(2), Fraction(2), Fraction(1)
    plus, minus = (Gaussian(sign * eta * L, eta * sigma) for sign in (1, -1))
    return Evaluation(
        renyi_from_below(plus, minus, order, -120, 120),
        ball(4 * order * L**2 / sigma**2) * ball(1).log(),
        {"n": 1, "L": L, "sigma": sigma, "order": order},
        (
            *_opposite_losses(1000, L),
            Premise(
                "sigma is at least L sqrt(2 (alpha - 1) alpha)", sigma**2 >= L**2 * 2 * (order - 1) * order
            ),
        ),
        from_below=True,
    )


# ------------------------------------------------------------------------------- Corollary 31


@refutes(
    "fmtt18.cor31/exact-profile",
    says="[-1, 1], n = 1,000,000 records of which the last m = 10,000 are public, L = 1, epsilon = 1, delta = "
    "1e-5. Public losses are 0; private ones pull to 0 with slope L, less within eta L; the last private "
    "record's loss is L w against -L w. But for events whose probability is added to the right, the output "
    "is normal with variance (eta sigma)^2 (m + 2); the half line on which the densities' ratio is above "
    "e^epsilon",
)
def _public_records() -> Evaluation:
    n, m, L, epsilon, delta = 10**6, 10**4, Fraction(1), Fraction(1), _DELTA
    log_ratio = (ball(Fraction(5, 4)) / ball(delta)).log()
    sigma = 2 * ball(L) * (log_ratio / m).sqrt() / ball(epsilon)
    eta = ball(8).sqrt() / (n * (ball(L) ** 2 + sigma**2)).sqrt()  # R = 1 and d = 1
    step, noise = eta * ball(L), eta * sigma
    # all other private losses pull by eta L, or to 0 from nearer: after one such step the iterate is pure noise
    width = ball(m + 2).sqrt() * noise
    astray = n * 2 * Gaussian(0, 1).above(ball(L) / sigma) + 2 * (m + 3) * Gaussian(step, width).above(1)
    threshold = ball(epsilon) * width**2 / (2 * step)
    plus, minus = (Gaussian(sign * step, width) for sign in (1, -1))
    left = _event(plus.above(threshold) - astray, minus.above(threshold) + astray, epsilon)
    pulled = PiecewiseQuadratic(  # in lengths of eta L, around 0
        tuple(map(Fraction, (-3, -1, 1, 3))),
        ((Fraction(0), Fraction(-1), Fraction(-1, 2)), (Fraction(1, 2), Fraction(0), Fraction(0)),
         (Fraction(0), Fraction(1), Fraction(-1, 2))),
    )  # fmt: skip
    return Evaluation(
        left,
        delta,
        {
            "epsilon": epsilon,
            "delta": delta,
            "l": -ball(delta).log(),
            "Lambda": log_ratio,
            "L": L,
            "m": m,
            "n": n,
        },
        (
            *_opposite_losses(1, L),
            Premise(
                "the other losses are convex and L-Lipschitz",
                pulled.convex and pulled.lipschitz_constant <= 1,
            ),
            Premise("their smoothness 1/eta is at most 2/eta", pulled.smoothness == 1),
            Premise("a step of eta L fits into the set", bool(3 * step < 1)),
        ),
        from_below=True,
    )


# ------------------------------------------------------------------------------- Corollary 34


@refutes(
    "fmtt18.cor34/last-record",
    says="[-1, 1], n = 1,000,000 records with the losses L |w|, the last of which has L w against -L w, L = 1, "
    "start 0, epsilon = 100, delta = 1/10: the smoothed losses pull to 0, so the iterate is at most as far "
    "from there as a normal law, and the half line from the end of the last step on has mass 1/2 against Phi(-15) "
    "at most",
)
def _pinned() -> Evaluation:
    """The Lipschitz extension of L |w| is L |w|, so the smoothed loss has the slope L (2 Phi(w/lambda) - 1)."""
    n, L, R, epsilon, delta = 10**6, Fraction(1), Fraction(1), 100, Fraction(1, 10)
    normal = Gaussian(0, 1)
    sigma = 2 * ball(L) * (2 * ball(Fraction(5, 4) / delta).log()).sqrt() / ball(epsilon)
    eta = ball(8).sqrt() * ball(R) / (n * (ball(L) ** 2 + sigma**2)).sqrt()  # d = 1
    width = ball(R * epsilon) / (2 * (n * -ball(delta).log()).sqrt())  # lambda
    step, noise = eta * ball(L), eta * sigma
    near = 2 * step
    # a step takes a point within `near` of 0 to at most this times its distance, as the slope is concave from 0 on,
    # and not across 0; so the distance is stochastically at most that of a normal law with the same contraction
    kept = 1 - step / near * normal.between(-near / width, near / width)
    spread = noise / (1 - kept**2).sqrt()
    astray = n * 2 * Gaussian(0, spread).above(near)
    # the extension of L w turns at -R; up to `near` of 0, that takes at most this part of the last step
    turned = 2 * normal.above((ball(R) - near) / width)
    deviations = 2 * step * (1 - turned) / (noise**2 + spread**2).sqrt()
    losses = [
        PiecewiseQuadratic(
            (-R, Fraction(0), R), ((Fraction(0), -L, Fraction(0)), (Fraction(0), L, Fraction(0)))
        ),
        *(PiecewiseQuadratic.linear(-R, R, slope) for slope in (L, -L)),
    ]
    return Evaluation(
        ball(Fraction(1, 2)) - astray - ball(epsilon).exp() * (normal.above(15) + astray),
        delta,
        conditions=(
            Premise("the losses are convex", all(loss.convex for loss in losses)),
            Premise("the losses are L-Lipschitz", all(loss.lipschitz_constant <= L for loss in losses)),
            Premise("eta is at most 2/beta for beta = L/lambda", bool(eta <= 2 * width / ball(L))),
            Premise("a step toward 0 does not cross it", bool(step / width < 1)),
            Premise("the last step is at least 15 deviations", bool(deviations >= 15)),
            Premise("the steps stay in the set", bool(near + step < ball(R))),
        ),
        from_below=True,
    )


# ------------------------------------------------------------------------------- Theorem 32


@refutes(
    "fmtt18.thm32/one-record",
    says="n = 1 record, k = 1,000 tasks with the losses L x w on [-1, 1], x = 1 against x = -1, start 0, "
    "epsilon = 1/2, delta = 1/100: the event that at least 505 of the outputs are positive, by binomial "
    "sums",
)
def _many_tasks() -> Evaluation:
    k, n, L, epsilon, delta = 1000, 1, Fraction(1), Fraction(1, 2), Fraction(1, 100)
    level = -ball(delta).log()
    q = (2 * ball(k) * ball(n).log() / n).max(2 * level)
    sigma = 4 * ball(L) * (q * level).sqrt() / ball(epsilon)
    likely = Gaussian(ball(L), sigma).above(0)  # the projection to [-R, R] keeps the sign
    most = k // 2 + 5

    def at_least(mass: Ball) -> Ball:
        terms = (ball(flint.arb.bin_uiui(k, j)) * mass**j * (1 - mass) ** (k - j) for j in range(most, k + 1))
        return sum(terms, ball(0))

    return Evaluation(
        _event(at_least(likely), at_least(1 - likely), epsilon),
        delta,
        {"k": k, "epsilon": epsilon, "delta": delta, "l": level, "L": L, "n": n},
        (
            *_opposite_losses(1, L),
            Premise("epsilon is in (0, 1)", 0 < epsilon < 1),
            Premise("delta is in (0, 1/2)", 0 < delta < Fraction(1, 2)),
        ),
        from_below=True,
    )


# ------------------------------------------------------------------------------- Section 5.1


@refutes(
    "fmtt18.sgd-update/toward-the-minimizer",
    says="F(w) = w on [-2, 2] with exact gradients, w = 1 and eta = 1: the printed update goes to 2, uphill",
)
def _uphill() -> Evaluation:
    F = PiecewiseQuadratic.linear(-2, 2, 1)
    w, R, eta, L_G, T = Fraction(1), Fraction(2), Fraction(1), Fraction(4), 1
    G = F.slope(w)
    following = min(max(w + eta * G, -R), R)
    return Evaluation(
        (following + R) ** 2,
        (w + R) ** 2 - 2 * eta * G * (w + R) + eta**2 * G**2,
        {"w": w, "w_next": following, "R": R, "eta": eta, "G": G},
        (
            Premise("F is convex and its minimizer is -R", F.convex and F(-2) == F.minimum),
            Premise("E ||G||^2 is at most L_G^2", G**2 <= L_G**2),
            Premise("eta = 2 R/(L_G sqrt(T))", eta == 2 * R / L_G / T),
        ),
    )
