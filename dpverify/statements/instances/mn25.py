"""Instances that refute statements of mn25."""

from __future__ import annotations

import math
from fractions import Fraction

import flint

from dpverify.proving.instances.instance import Evaluation, Premise
from dpverify.proving.instances.laws import FiniteLaw, Gaussian, ball
from dpverify.proving.instances.losses import PiecewiseQuadratic
from dpverify.statements.instances import refutes

# ------------------------------------------------------------------------------- Section 2


def _coin() -> FiniteLaw:
    return FiniteLaw({1: Fraction(1, 2), 2: Fraction(1, 2)})


@refutes(
    "mn25.prelim/entropy-of-a-coin",
    says="X is 1 or 2, each with probability 1/2: the printed sum, against the entropy",
)
def _entropy_of_a_coin() -> Evaluation:
    X = _coin()
    printed = sum((x * (1 / X.mass(x)).log() for x in X.masses), ball(0))
    return Evaluation(
        printed, X.entropy(), conditions=(Premise("the two values are as likely", X.mass(1) == X.mass(2)),)
    )


@refutes("mn25.prelim/equal-laws", says="a coin's law against itself, order 2, rho = 1/3: the printed sum")
def _equal_laws() -> Evaluation:
    X, order, rho = _coin(), 2, Fraction(1, 3)
    printed = sum((X.mass(x) ** order * X.mass(x) ** (1 - order) for x in X.masses), ball(0)) / (order - 1)
    return Evaluation(printed, rho * order, {"order": order, "rho": rho})


@refutes("mn25.prelim/packing-of-an-interval", says="the two ends of [-1, 1], which are 2 apart")
def _two_ends() -> Evaluation:
    r, a, d = Fraction(1), Fraction(2), 1
    points = (-r, r)
    return Evaluation(
        len(points),
        (3 * r / a) ** d,
        {"r": r, "a": a},
        (Premise("the points are in the ball and a apart", max(points) <= r and points[1] - points[0] >= a),),
    )


# ------------------------------------------------------------------------------- Lemmas 9 and 10


@refutes(
    "mn25.lem9/unit-vector-in-a-large-ball",
    says="d = 2, alpha = 1/2, r = 100, and the square grid of step 1/2, with further points near the ball's "
    "edge: only 16 points are nearest to a unit vector",
)
def _unit_vector() -> Evaluation:
    alpha, r, d = Fraction(1, 2), Fraction(100), 2
    reach = math.isqrt(
        8
    )  # in steps of alpha; points further out than 1 + alpha are nearest to no unit vector
    grid = [(i, j) for i in range(-reach - 1, reach + 2) for j in range(-reach - 1, reach + 2)]
    # a unit vector is within alpha/sqrt(2) of its nearest point: (|p| - 1)^2 <= alpha^2/2
    half = alpha**2 / 2
    near = [p for p in grid if _within(alpha**2 * (p[0] ** 2 + p[1] ** 2), half)]
    apart = min((p[0] - q[0]) ** 2 + (p[1] - q[1]) ** 2 for p in near for q in near if p != q)
    return Evaluation(
        (d - 1) * (ball(r / (2 * alpha))).log(),
        ball(len(near)).log(),  # at least the entropy of what has so many values
        {"r": r},
        (
            Premise("the points are alpha apart", apart >= 1),
            Premise("no further point fits where unit vectors are", half < alpha**2),
        ),
    )


def _within(square: Fraction, gap: Fraction) -> bool:
    """Whether (sqrt(square) - 1)^2 <= gap; exactly: square + 1 - gap <= 2 sqrt(square)."""
    left = square + 1 - gap
    return left <= 0 or left**2 <= 4 * square


@refutes("mn25.lem10/three-points", says="C = {0, 1, 10}, tau = 1, X uniform and Y = X")
def _three_points() -> Evaluation:
    C, tau = (0, 1, 10), 1
    X = FiniteLaw(dict.fromkeys(C, Fraction(1, 3)))
    most = max(sum(abs(c - other) <= tau for other in C) for c in C)
    information = X.entropy()  # Y = X
    ratio = ball(Fraction(len(C), most))
    bound = (X.entropy() - ball(most).log()) / ratio.log() - (information + 1) / (ratio - 1).log()
    far = X.probability(lambda x: abs(x - x) >= tau)
    return Evaluation(bound, far)


# ------------------------------------------------------------------------------- Lemma 12


@refutes(
    "mn25.lem12/first-message",
    says="one record with loss <w, e> against n records with -<w, e> on a segment of length 1.5 B/sqrt(10) "
    "along e, start at an end, alpha = B L/sqrt(10), delta = e^-40, d = 40,000,000, batches of m = "
    "40,000 and n = 3,288,769: but for events whose probability is added to the right, the second step "
    "ends at the other end, and the output tells the first message; the event that it is above a "
    "threshold",
)
def _first_message() -> Evaluation:
    """Lengths in units of B/sqrt(10), along e; L = 1."""
    level, k = 40, 1000
    d, m = level * k**2, level * k  # so that m = sqrt(d log(1/delta))
    n = 1 + math.isqrt(26**2 * 10 * m**2)
    epsilon = 3 * ball(Fraction(1, 26))  # at least 3 alpha*/alpha = 3 sqrt(10) m/n
    length, steps = Fraction(3, 2), 10
    shift = 2 / ball(level).sqrt()  # of a message, if the batch holds the record once, over the noise
    threshold = ball(Fraction(78, 10))
    missed = (-ball(Fraction(m, n))).exp()  # at least (1 - 1/n)^m
    usual, other = Gaussian(0, 1), Gaussian(shift, 1)
    # a noise beyond 1/5, or a batch with m/100 times the record, which moves a step by 1/50
    astray = 2 * (steps + 1) * Gaussian(0, 1).above(ball(d).sqrt() / 5)
    astray += 2 * steps * ball(Fraction(m, n)) ** (m // 100)
    likely = (1 - missed) * other.above(threshold) + missed * usual.above(threshold) - astray
    left = likely - epsilon.exp() * (usual.above(threshold) + astray)
    alpha = ball(1) / ball(10).sqrt()
    losses = [PiecewiseQuadratic.linear(0, length, slope) for slope in (1, -1)]
    return Evaluation(
        left,
        ball(-level).exp(),
        {"l": level, "c": threshold},
        (
            Premise("the losses are convex and L-Lipschitz",
                      all(f.convex and f.lipschitz_constant <= 1 for f in losses)),
            Premise("alpha is at least 26 alpha*", bool(alpha >= ball(Fraction(26 * m, n)))),
            Premise("alpha is below B L/3", bool(alpha < ball(Fraction(1, 3)))),
            Premise("the batch has sqrt(d/rho) records", m**2 == d * level),
            Premise("the set's width is at most B", bool(ball(length) / ball(10).sqrt() <= 1)),
        ),
        from_below=True,
    )  # fmt: skip


# ------------------------------------------------------------------------------- Lemmas 2 and 3


@refutes(
    "mn25.lem2/noise-in-a-free-direction",
    says="alpha = 1/96000, K = 40,000, d = 96000^3 and a true oracle: K queries find X_1, ..., X_K, and random ones a "
    "direction across V and X; W = (959/960) w* and Gaussian noise of length 1/25 across V and X_2, ..., X_K, "
    "projected to the ball: what W says of X_1 is at most what a Gaussian channel says",
)
def _noise_in_a_free_direction() -> Evaluation:
    """W = (1 - 1/960) w* + N, projected to the unit ball; N is Gaussian across V and X_2, ..., X_K.

    N is made of X_1 and of one direction across V and X: as that is uniform, N is the same in all directions, and says
    nothing of X_1.
    """
    side = 96_000
    alpha, s, d = Fraction(1, side), Fraction(1, 25), side**3
    height, shrunk = 480 * alpha, 1 - Fraction(1, 960)
    K = int(1 / height**2)
    across = d // 2 - K + 1  # dimension of the space of N
    capacity = ball(across) / 2 * (1 + ball((shrunk * height / s) ** 2)).log()  # of what W says of X_1
    bound = height**2 * d / (4 * s**2)
    # |W|^2 is 1 - gap on average; the mean of the part above 1 is at most its variance over 4 gap
    gap = 1 - shrunk**2 - s**2
    outside = (4 * (shrunk * height * s) ** 2 + 2 * s**4) / across / (4 * gap)
    along = ball(s) * (2 / (across * flint.arb.pi())).sqrt()  # mean size of the noise's part along X_1
    mean_loss = ball((1 - shrunk) * height) + along + 2 * ball(outside)  # losses are 2-Lipschitz
    return Evaluation(
        Fraction(d, 160),
        bound,
        {"d": d, "alpha": alpha, "s": s},
        (
            Premise("the mean loss of W is at most alpha", bool(mean_loss <= ball(alpha))),
            Premise("what a Gaussian channel of this noise says is at most the bound", bool(capacity <= ball(bound))),
            Premise("V has room for X beside it, and at least half of a random direction at least every other time",
                      d % 2 == 0 and 0 < K < d // 2),
            Premise("a direction across X, half of it in V, is answered from V", height**2 < 2),
            Premise("there are at most d/(160 log(1/alpha)) queries on average",
                      bool(ball(K + 2) <= d / (160 * (1 / ball(alpha)).log()))),
        ),
    )  # fmt: skip


@refutes(
    "mn25.lem3/a-free-direction",
    says="alpha = 1/4800, K = 100, d = 4800^3 and a true oracle: 100 queries find X_1, ..., X_100, one more "
    "a direction across V; W = (479/480) w* + y/16, y along its part across X. With probability 1 the "
    "norm is as large as the lemma says it is with probability 1/10 at most",
)
def _free_direction() -> Evaluation:
    """Coordinates: along X_1, ..., X_K, along the part of the last query across X and V, and along its part in V."""
    alpha = Fraction(1, 4800)
    K = int(1 / (480 * alpha) ** 2)
    size, height, d = K + 2, 480 * alpha, 4800**3
    s = Fraction(1, 16)
    W = [Fraction(479, 480) * height] * K + [s, Fraction(0)]

    def along(w: list[Fraction], k: int) -> Fraction:
        return abs(w[k] - height)

    def within_v(w: list[Fraction]) -> Fraction:
        return abs(w[-1])

    found = 0  # the queries: at what is found so far; each time the oracle answers by the next X_k
    for _ in range(K):
        query = [height] * found + [Fraction(0)] * (size - found)
        best = max(along(query, k) for k in range(K))
        found += next(k for k in range(K) if along(query, k) == best) == found and best > 2 * within_v(query)
    last = [Fraction(1, 1000)] * K + [Fraction(3, 5), Fraction(3, 5)]
    h_answers = 2 * within_v(last) > max(along(last, k) for k in range(K))
    across = [*last[:-1], Fraction(0)]  # O, up to its length: the last query less its part in V
    U = [Fraction(0)] * K + [W[-2], Fraction(0)]  # W without its parts along X and Z; S is 0
    norm = ball(sum(x * x for x in U)).sqrt()
    return Evaluation(
        norm,
        2 * ball(within_v(U)) + 2 * ball(alpha),
        {"d": d, "alpha": alpha, "s": s},
        (
            Premise("W lies in the unit ball", sum(x * x for x in W) <= 1),
            Premise("W has a loss of at most alpha", max(within_v(W) * 2, *(along(W, k) for k in range(K))) <= alpha),
            Premise("K queries find X_1, ..., X_K", found == K),
            Premise("the last query is answered from V", h_answers and sum(x * x for x in last) <= 1),
            Premise("S is 0: O has a part along X_K", across[K - 1] != 0),
            Premise("there are at most d/(160 log(1/alpha)) queries",
                      bool(ball(K + 1) <= d / (160 * (1 / ball(alpha)).log()))),
        ),
    )  # fmt: skip
