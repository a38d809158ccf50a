"""bst14: Bassily, Smith, Thakurta, Private Empirical Risk Minimization. What is printed there.

Losses are summed over the records.
"""

from __future__ import annotations

import math

import sympy as sp

from dpverify.evidence import Consequence, Coverage
from dpverify.proving.language import (
    DIMENSIONLESS,
    LENGTH,
    LOSS,
    NATS,
    RECORDS,
    Eq,
    Fault,
    Ge,
    Le,
    Obligation,
    Repair,
    Statement,
    Variable,
    all_of,
    continuously_differentiable,
    derivative,
    integer,
    real,
)

FOLDS = {1: 8, 2: 4, 3: 3, 5: 2, 8: 2}
"""Numbers of compositions at which strong composition is tried on the mechanism that dominates all others, each with
the factor of the root whose loss it would see."""

MANY_FOLDS, SMALL_EPSILON = 32, sp.Rational(1, 20)
"""So many compositions, at one epsilon, see that the root of 2 is lost."""


def _lemma_2_2() -> Statement:
    epsilon = real("epsilon", ge=0, le=1, unit=NATS, latex=r"\varepsilon")
    fraction = real("gamma", ge=0, le=1, meaning="fraction of the records used", latex=r"\gamma")
    ratio = real("E", ge=1, meaning="exp(epsilon)")
    without, with_it, with_other = (
        real(name, gt=0, meaning="probability of an event") for name in ("z", "x", "y")
    )
    return Statement(
        id="bst14.lem2.2",
        title="Privacy amplification by sampling",
        where="Lemma 2.2",
        latex=(
            r"\varepsilon\le 1\implies\text{running on a random fraction }\gamma\text{ of the records is }"
            r"2\gamma\varepsilon\text{-DP}"
        ),
        pairs=("bst14.alg1", "bst14.thm2.1"),
        printed=(
            Obligation(
                "mixture",
                "Lemma 2.2: the sample holds the record with probability gamma, else it is the same",
                Le(
                    (1 - fraction) * without + fraction * with_it,
                    (1 + fraction * (ratio - 1)) * ((1 - fraction) * without + fraction * with_other),
                ),
                (fraction, ratio, without, with_it, with_other),
                assuming=(Le(with_it, ratio * with_other), Le(with_it, ratio * without)),
                latex=r"(1-\gamma)z+\gamma x\le(1+\gamma(e^\varepsilon-1))\,((1-\gamma)z+\gamma y)",
                coverage=Coverage.STEP,
                uses=("exchange-of-a-record",),
            ),
            Obligation(
                "two-gamma-epsilon",
                "Lemma 2.2",
                Le(sp.log(1 + fraction * (sp.exp(epsilon) - 1)), 2 * fraction * epsilon),
                (fraction, epsilon),
                latex=r"\ln(1+\gamma(e^\varepsilon-1))\le 2\gamma\varepsilon",
                coverage=Coverage.WHOLE,
                uses=(
                    "bst14.lem2.2/mixture",
                    "exchange-of-a-record",
                ),
            ),
        ),
    )


def _lemma_2_3() -> Statement:
    epsilon = real("epsilon", ge=0, unit=NATS, latex=r"\varepsilon")
    log_inverse = real("l", ge=0, unit=NATS, meaning="ln(1/delta')", latex=r"\ln(1/\delta')")
    # at delta' = 0 the bound is infinite and says nothing
    delta = real("delta", gt=0, meaning="delta'", latex=r"\delta'")

    def excess(folds: int, per_fold: sp.Expr, root: sp.Expr) -> sp.Expr:
        """The profile of randomized response, composed, at the epsilon of the lemma with this root in it."""
        growth = sp.exp(per_fold)
        composed = root * per_fold + folds * per_fold * (growth - 1)
        total = sum(
            math.comb(folds, k) * sp.Max(0, sp.exp((folds - k) * per_fold) - sp.exp(composed + k * per_fold))
            for k in range(folds + 1)
        )
        return total / (1 + growth) ** folds

    def randomized_response(folds: int, lost: sp.Expr, per_fold: sp.Expr | None = None) -> Obligation:
        each = epsilon.symbol if per_fold is None else per_fold
        root = sp.sqrt(2 * folds * log_inverse)
        at_one = "" if per_fold is None else f" at epsilon = {per_fold}"
        return Obligation(
            f"randomized-response-{folds}-fold",
            "Lemma 2.3",
            Le(excess(folds, each, root), sp.exp(-log_inverse)),
            (epsilon, log_inverse) if per_fold is None else (log_inverse,),
            box={"l": ("1/10", 20)} | ({"epsilon": ("1/100", 2)} if per_fold is None else {}),
            coverage=Coverage.INSTANCE,
            scope=(
                f"T = {folds}{at_one}: randomized response, whose {folds}-fold composition has the largest profile of "
                "all epsilon-DP mechanisms"
            ),
            uses=("randomized-response",),
            catches=Fault(
                f"the root lacks a factor {lost}", Le(excess(folds, each, root / lost), sp.exp(-log_inverse))
            ),
            latex=(
                r"\sum_{k=0}^{T}\binom{T}{k}\frac{\max(0,e^{(T-k)\varepsilon}-e^{\varepsilon'}e^{k\varepsilon})}"
                r"{(1+e^\varepsilon)^T}\le\delta'"
            ),
        )

    return Statement(
        id="bst14.lem2.3",
        title="Strong composition",
        where="Lemma 2.3",
        latex=(
            r"\varepsilon'=\sqrt{2T\ln(1/\delta')}\,\varepsilon+T\varepsilon(e^\varepsilon-1),"
            r"\quad\varepsilon,\delta'\ge 0"
        ),
        pairs=("bst14.thm2.1",),
        printed=(
            *(randomized_response(folds, sp.Integer(lost)) for folds, lost in FOLDS.items()),
            randomized_response(MANY_FOLDS, sp.sqrt(2), SMALL_EPSILON),
            Obligation(
                "logarithm-of-the-inverse-is-not-negative",
                "Lemma 2.3: for every delta' >= 0 (above 0 here), the root is to be real",
                Ge(sp.log(1 / delta), 0),
                (delta,),
                latex=r"\ln(1/\delta')\ge 0\text{ for every }\delta'\ge 0",
                coverage=Coverage.CONDITION,
                consequence=Consequence.EDGE,
                reading="for delta' up to 1: beyond it every mechanism is private",
            ),
        ),
        repaired=Repair(
            because="the square root is real only for delta' at most 1; beyond it every mechanism is private",
            obligations=(
                Obligation(
                    "logarithm-of-the-inverse-is-not-negative",
                    "Lemma 2.3 with 0 < delta' <= 1",
                    Ge(sp.log(1 / delta), 0),
                    (delta,),
                    assuming=(Le(delta, 1),),
                    coverage=Coverage.CONDITION,
                ),
            ),
        ),
    )


def _equation_2() -> Statement:
    n = integer("n", ge=1, unit=RECORDS, meaning="number of records")
    dimension = integer("p", ge=1, meaning="dimension")
    lipschitz = real("L", gt=0, unit=LOSS / LENGTH, meaning="Lipschitz constant of a record's loss")
    sigma = real("sigma", ge=0, unit=LOSS / LENGTH, meaning="noise, a coordinate", latex=r"\sigma")
    second = real("g2", ge=0, unit=(LOSS / LENGTH) ** 2, meaning="E ||gradient||^2")
    cross = real("c", unit=(LOSS / LENGTH) ** 2, meaning="E <gradient, noise>")
    g1, g2, b1, b2 = (real(name, unit=LOSS / LENGTH) for name in ("g_1", "g_2", "b_1", "b_2"))
    return Statement(
        id="bst14.eq2",
        title="Second moment of the noisy gradient",
        where="(2)",
        latex=(
            r"\mathbb{E}\|G_t\|_2^2=n^2\,\mathbb{E}\|\nabla\ell(\tilde\theta_t;d)\|_2^2"
            r"+2n\,\mathbb{E}\langle\nabla\ell(\tilde\theta_t;d),b_t\rangle+\mathbb{E}\|b_t\|_2^2\le n^2L^2+p\sigma^2"
        ),
        pairs=("bst14.alg1", "bst14.lem2.5", "bst14.thm2.4.1"),
        printed=(
            Obligation(
                "expansion",
                "(2), first line",
                Eq(
                    (n * g1 + b1) ** 2 + (n * g2 + b2) ** 2,
                    n**2 * (g1**2 + g2**2) + 2 * n * (g1 * b1 + g2 * b2) + (b1**2 + b2**2),
                ),
                (n, g1, g2, b1, b2),
                scope="two dimensions; every coordinate alike",
                coverage=Coverage.INSTANCE,
                catches=Fault(
                    "the cross term stands once instead of twice",
                    Eq(
                        (n * g1 + b1) ** 2 + (n * g2 + b2) ** 2,
                        n**2 * (g1**2 + g2**2) + n * (g1 * b1 + g2 * b2) + (b1**2 + b2**2),
                    ),
                ),
            ),
            Obligation(
                "bound",
                "(2), second line",
                Le(
                    n**2 * second + 2 * n * cross + dimension * sigma**2,
                    n**2 * lipschitz**2 + dimension * sigma**2,
                ),
                (n, dimension, lipschitz, sigma, second, cross),
                assuming=(Le(second, lipschitz**2), Eq(cross, 0)),
                coverage=Coverage.WHOLE,
                uses=("second-moment-of-a-sum",),
            ),
        ),
    )


def _huber() -> Statement:
    z = real("z", unit=LENGTH)
    u, v = real("u", unit=LENGTH), real("v", unit=LENGTH)
    h = real("h", gt=0, unit=LENGTH, meaning="half width of the smoothed part")
    middle = z**2 / (4 * h) + z / 2 + h / 4
    slope = derivative(middle, z)
    pieces = ((sp.Integer(0), -h), (middle, h.symbol))
    bend = derivative(middle, z, 2)

    steepness = real("k", gt=0, unit=DIMENSIONLESS / LENGTH, meaning="1/(2h)")

    def clamped(x: Variable) -> sp.Expr:
        """The slope everywhere: 0, then k x + 1/2, then 1; written with max alone."""
        return sp.Max(0, 1 - sp.Max(0, sp.Rational(1, 2) - steepness * x))

    inside = (Le(-h, z), Le(z, h))
    return Statement(
        id="bst14.huber-smooth",
        title="Smoothness of the huberized hinge",
        where="Appendix B",
        latex=(
            r"\hat f(z)=f(z)\text{ for }|z|>h,\ \hat f(z)=\frac{z^2}{4h}+\frac{z}{2}+\frac{h}{4}\text{ on }[-h,h]:"
            r"\ \hat f\text{ is twice continuously differentiable everywhere}"
        ),
        pairs=("bst14.alg-huber", "bst14.thmB.1"),
        printed=(
            Obligation(
                "twice-continuously-differentiable",
                "Appendix B, sentence after the definition",
                continuously_differentiable(pieces, z.symbol, z, 2),
                (z, h),
                latex=r"\hat f\in C^2:\ \hat f^{(k)}(\pm h^-)=\hat f^{(k)}(\pm h^+)\text{ for }k=0,1,2",
                coverage=Coverage.WHOLE,
                consequence=Consequence.CLAIM,
            ),
        ),
        repaired=Repair(
            because="the second derivative jumps by 1/(2h) at both ends; the first is continuous and 1/(2h)-Lipschitz",
            replaces=("twice-continuously-differentiable",),
            latex=r"\hat f\in C^1,\qquad|\hat f'(u)-\hat f'(v)|\le\frac{1}{2h}|u-v|",
            obligations=(
                Obligation(
                    "once-continuously-differentiable",
                    "Appendix B",
                    continuously_differentiable(pieces, z.symbol, z, 1),
                    (z, h),
                    latex=r"\hat f\in C^1",
                    coverage=Coverage.WHOLE,
                ),
                Obligation(
                    "slope-is-lipschitz",
                    "Appendix B: the slope is 0, then z/(2h) + 1/2, then 1",
                    all_of(Le(clamped(u), clamped(v)), Le(clamped(v) - clamped(u), steepness * (v - u))),
                    (u, v, steepness),
                    assuming=(Le(u, v),),
                    coverage=Coverage.WHOLE,
                    latex=r"|\hat f'(u)-\hat f'(v)|\le\frac{1}{2h}|u-v|,\quad"
                    r"\hat f'(z)=\max\left(0,\min\left(1,\frac{z}{2h}+\frac12\right)\right)",
                ),
                Obligation(
                    "second-derivative",
                    "Appendix B, inside the smoothed part",
                    all_of(Ge(bend, 0), Le(bend, 1 / (2 * h))),
                    (z, h),
                    assuming=inside,
                    latex=r"0\le\hat f''\le\frac{1}{2h}\text{ on }(-h,h)",
                    coverage=Coverage.STEP,
                ),
                Obligation(
                    "slope-stays-a-hinge's",
                    "Appendix B, inside the smoothed part",
                    all_of(Ge(slope, 0), Le(slope, 1)),
                    (z, h),
                    assuming=inside,
                    latex=r"0\le\hat f'\le 1",
                    coverage=Coverage.STEP,
                ),
                Obligation(
                    "gradient-is-lipschitz-across-the-end",
                    "Appendix B, from inside to the linear part",
                    Le(1 - (u / (2 * h) + sp.Rational(1, 2)), (v - u) / (2 * h)),
                    (u, v, h),
                    assuming=(Le(-h, u), Le(u, h), Le(h, v)),
                    latex=r"\hat f'(v)-\hat f'(u)\le\frac{v-u}{2h}\text{ for }u\le h\le v",
                    coverage=Coverage.STEP,
                ),
            ),
        ),
    )


STATEMENTS = (_lemma_2_2(), _lemma_2_3(), _equation_2(), _huber())
