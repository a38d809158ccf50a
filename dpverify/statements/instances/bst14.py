"""Instances that refute statements of bst14. Losses are summed over the records."""

from __future__ import annotations

from fractions import Fraction

from dpverify.proving.instances.instance import Evaluation, Premise
from dpverify.proving.instances.laws import Ball, FiniteLaw, Gaussian, Laplace, ball
from dpverify.proving.instances.losses import PiecewiseQuadratic
from dpverify.statements.instances import refutes


def _lipschitz(losses: list[PiecewiseQuadratic], L: Fraction) -> tuple[Premise, ...]:
    return (
        Premise("the losses are convex", all(loss.convex for loss in losses)),
        Premise("the losses are L-Lipschitz", all(loss.lipschitz_constant <= L for loss in losses)),
    )


# ------------------------------------------------------------------------------- Appendix A


@refutes(
    "bst14.alg8-privacy/two-points",
    says="n = 2, p = 1, losses theta and -theta on [0, 1], the net {0, 1}, epsilon = 1; records (+, -) "
    "against (+, +): the probability of 1, against e times the other one",
)
def _two_points() -> Evaluation:
    epsilon, L, net = Fraction(1), Fraction(1), (0, 1)
    losses = {sign: PiecewiseQuadratic.linear(0, 1, sign * L) for sign in (1, -1)}

    def law(data: tuple[int, int]) -> FiniteLaw:
        return FiniteLaw.from_weights(
            {x: ball(-epsilon / L * sum(losses[s](x) for s in data)).exp() for x in net}  # ||C|| is 1
        )

    left, right = (law(data).mass(1) for data in ((1, -1), (1, 1)))
    n, p = 2, 1
    return Evaluation(
        left,
        ball(epsilon).exp() * right,
        {"E": ball(epsilon).exp(), "epsilon": epsilon},
        (
            *_lipschitz(list(losses.values()), L),
            Premise(
                "the net covers C with balls of radius p/(epsilon n)", Fraction(1, 2) <= p / (epsilon * n)
            ),
        ),
    )


# ------------------------------------------------------------------------------- Appendix B


@refutes(
    "bst14.huber-smooth/twice-continuously-differentiable",
    says="h = 1: the second derivatives left and right of -1",
)
def _huberized() -> Evaluation:
    h = Fraction(1)
    f = PiecewiseQuadratic(
        (-3 * h, -h, h, 3 * h),
        ((Fraction(0),) * 3, (1 / (4 * h), Fraction(1, 2), h / 4), (Fraction(0), Fraction(1), Fraction(0))),
    )
    left, right = f.jumps(2)[0]
    return Evaluation(
        left, right, {"h": h}, (Premise("the three pieces and their slopes fit together", f.continuous(1)),)
    )


# ------------------------------------------------------------------------------- Appendix C


@refutes(
    "bst14.thmC.1/first-step-and-a-solver",
    says="100,000 losses theta^2/2 on [-1/1000, 1/1000], one of which pulls by 0.999 to either side, L = "
    "Delta = 1, epsilon = 2, delta = 1e-5; a solver that tells that record's side: openly with "
    "probability delta/2, else with odds e. The event that it is told openly, or told to be on the "
    "right and the center is beyond a threshold",
)
def _localization() -> Evaluation:
    n, L, Delta, epsilon, delta = 100_000, Fraction(1), Fraction(1), Fraction(2), Fraction(1, 100_000)
    own = -ball(delta / 2).log()
    half = ball(epsilon) / 2
    sigma = 2 * ball(L) * own.sqrt() / (ball(Delta) * half * n)
    c = Fraction(1, 1000)  # C = [-c, c]
    pull = L - Delta * c

    def loss(slope: Fraction) -> PiecewiseQuadratic:
        return PiecewiseQuadratic((-c, c), ((Delta / 2, slope, Fraction(0)),))

    losses = [loss(slope) for slope in (Fraction(0), pull, -pull)]
    minimizer = pull / (n * Delta)  # of n - 1 losses around 0 and one that pulls
    threshold = half * sigma**2 / (2 * ball(minimizer))
    plus, minus = (Gaussian(sign * minimizer, sigma).above(threshold) for sign in (1, -1))
    # the solver: openly with probability delta/2, else the record's sign with odds e^(epsilon/2)
    openly, odds = ball(delta) / 2, half.exp()
    truly = (1 - openly) * odds / (1 + odds)
    left = openly + truly * plus - ball(epsilon).exp() * (1 - openly) / (1 + odds) * minus
    return Evaluation(
        left,
        delta,
        {"epsilon": epsilon, "delta": delta, "l_2": own, "n": n},
        (
            *_lipschitz(losses, L),
            Premise("the losses are Delta-strongly convex", all(f.strong_convexity >= Delta for f in losses)),
            Premise("the minimizers lie in C", minimizer <= c),
            Premise("the threshold lies in C, so the projection keeps the event", bool(threshold < ball(c))),
        ),
        from_below=True,
    )


# ------------------------------------------------------------------------------- Appendix E


def _objective_perturbation() -> tuple[Ball, Ball, tuple[Premise, ...], Fraction]:
    """The largest |b| for which the output of (11) is where the loss rises, for that loss and for the loss 0.

    Losses of |theta| in the plane; at epsilon = 1, so that it does not matter where the text lost an epsilon.
    """
    epsilon, L, beta, p, diameter = Fraction(1), Fraction(1), Fraction(1), 2, 4
    width = L / beta
    rising = PiecewiseQuadratic(
        (Fraction(0), width, Fraction(2)),
        ((beta / 2, Fraction(0), Fraction(0)), (Fraction(0), L, -L * width / 2)),
    )
    flat = PiecewiseQuadratic.linear(0, 2, 0)
    Delta = beta / (2 * epsilon)
    square = PiecewiseQuadratic((Fraction(0), Fraction(2)), ((Fraction(1, 2), Fraction(0), Fraction(0)),))
    ends = [ball(f.plus(square, Delta).slope(width)) for f in (rising, flat)]
    conditions = (
        *_lipschitz([rising, flat], L),
        Premise("they do not fall, so they are convex in the plane", all(f.slope(0) >= 0 for f in (rising, flat))),
        Premise("both are beta-smooth, along |theta| and across, where the slope is at most beta |theta|",
                  all(f.smoothness is not None and f.smoothness <= beta and f.slope(0) == 0 for f in (rising, flat))),
        Premise("Delta is at least beta/(2 epsilon)", Delta >= beta / (2 * epsilon)),
        Premise("Delta is of the order of L p/(epsilon ||C||)", Delta <= 2 * L * p / (epsilon * diameter)),
    )  # fmt: skip
    return ends[0], ends[1], conditions, epsilon


_RISING = (
    "n = 1 on the disc of radius 2: |theta|^2/2 up to |theta| = 1, and |theta| - 1/2 from there on, against the loss "
    "0; L = beta = 1, epsilon = 1, Delta = 1/2; the event that |theta| is at most 1"
)


@refutes("bst14.objpert-privacy/gamma-noise", says=_RISING)
def _gamma_noise() -> Evaluation:
    wide, narrow, conditions, epsilon = _objective_perturbation()
    # |b| has the density x exp(-x) at x = epsilon |b|/(2 L)
    left, right = (1 - (1 + x) * (-x).exp() for x in (ball(epsilon) / 2 * end for end in (wide, narrow)))
    return Evaluation(left, ball(epsilon).exp() * right, {"epsilon": epsilon}, conditions)


@refutes("bst14.objpert-privacy/gaussian-noise", says=_RISING + "; delta = 1e-5")
def _gaussian_noise() -> Evaluation:
    wide, narrow, conditions, epsilon = _objective_perturbation()
    delta = Fraction(1, 100_000)
    level = -ball(delta).log()
    variance = 8 * level / ball(epsilon) ** 2
    left, right = (1 - (-(end**2) / (2 * variance)).exp() for end in (wide, narrow))
    point = {"epsilon": epsilon, "l": level, "delta": delta}
    return Evaluation(left - ball(epsilon).exp() * right, delta, point, conditions)


def _far_away(scale: Ball) -> Evaluation:
    """N losses -L theta on [R, R + 1] with Delta R = 2 n L, epsilon = 1; the O( ) constant is 10^6."""
    constant, L, epsilon = 10**6, Fraction(1), Fraction(1)
    n = 16 * constant
    Delta = 1 / epsilon  # L p/(epsilon ||C||)
    R = 2 * n * L / Delta
    loss = PiecewiseQuadratic.linear(R, R + 1, -L)
    excess = n * (
        loss(R) - loss.minimum
    )  # at R, where the regularized objective is least, if b is at least 0
    at_least_half = Laplace(0, 1).above(0)  # either noise is symmetric
    return Evaluation(
        at_least_half * ball(excess),
        constant * ball(L / epsilon) * scale,
        {"C_2": constant, "C": 1, "L": L, "epsilon": epsilon, "n": n, "l": scale**2},
        (
            *_lipschitz([loss], L),
            Premise("the objective grows from R on where b is at least 0", Delta * R - n * L >= 0),
            Premise("the losses are 0-smooth, so Delta is at least beta/(2 epsilon)", loss.smoothness == 0),
        ),
    )


_FAR = (
    "p = 1, C = [R, R + 1] with R = 2 n, losses -theta, epsilon = 1, n = 16 * 10^6 against a constant of "
    "10^6 in O( ), as with 16 times any other: the output is R with probability at least 1/2"
)

refutes("bst14.thmE.1.1/set-far-away", says=_FAR)(lambda: _far_away(ball(1)))
refutes("bst14.thmE.1.2/set-far-away", says=_FAR + "; delta = 1e-5")(
    lambda: _far_away(ball(10**5).log().sqrt())
)
