"""bst14: Bassily, Smith, Thakurta, Private Empirical Risk Minimization. What is printed there.

Losses are summed over the records.
"""

from __future__ import annotations

from fractions import Fraction
from math import comb

from dpverify.evidence import Coverage
from dpverify.formulas.expressions import expression, integer, real
from dpverify.formulas.units import DIMENSIONLESS, LENGTH, LOSS, NATS, RECORDS
from dpverify.proving.language import continuously_differentiable
from dpverify.statements.sheet import CLAIM, EDGE, Sheet

_epsilon_to_1 = real("epsilon", ge=0, le=1, unit=NATS, latex=r"\varepsilon")
_epsilon = real("epsilon", ge=0, unit=NATS, latex=r"\varepsilon")
_gamma = real("gamma", ge=0, le=1, meaning="fraction of the records used", latex=r"\gamma")
_ratio = real("E", ge=1, meaning="exp(epsilon)", latex=r"e^\varepsilon")
_x, _y, _z = (real(name, gt=0, meaning="probability of an event") for name in ("x", "y", "z"))

lem2_2 = (
    Sheet(
        "bst14.lem2.2", (_gamma, _epsilon_to_1, _z, _x, _y),
        title="Privacy amplification by sampling", where="Lemma 2.2",
        latex=(
            r"\varepsilon\le 1\implies\text{running on a random fraction }\gamma\text{ of the records is }"
            r"2\gamma\varepsilon\text{-DP}"
        ),
        pairs=("bst14.alg1", "bst14.thm2.1"),
    )
    .step("mixture", r"(1-\gamma)z+\gamma x\le(1+\gamma(e^\varepsilon-1))((1-\gamma)z+\gamma y)",
          given=r"x\le e^\varepsilon y, x\le e^\varepsilon z", added=(_ratio,), uses=("exchange-of-a-record",),
          where="Lemma 2.2: the sample holds the record with probability gamma, else it is the same")
    .whole("two-gamma-epsilon", r"\ln(1+\gamma(e^\varepsilon-1))\le 2\gamma\varepsilon",
           uses=("bst14.lem2.2/mixture", "exchange-of-a-record"))
)  # fmt: skip


FOLDS = {1: "8", 2: "4", 3: "3", 5: "2", 8: "2"}
"""Numbers of compositions at which strong composition is tried on the mechanism that dominates all others, each with
the factor of the root whose loss it would see."""
MANY_FOLDS, SMALL_EPSILON = 32, Fraction(1, 20)
"""So many compositions, at one epsilon, see that the root of 2 is lost."""

_level = real("l", ge=0, unit=NATS, meaning="ln(1/delta')", latex=r"\ln(1/\delta')")
# at delta' = 0 the bound is infinite and says nothing
_delta = real("delta", gt=0, meaning="delta'", latex=r"\delta'")


def _times(k: int, epsilon: Fraction | None) -> str:
    """A multiple of epsilon, where epsilon is a number or the letter."""
    if epsilon is not None:
        value = k * epsilon
        return rf"\frac{{{value.numerator}}}{{{value.denominator}}}"
    return rf"{'' if k == 1 else k}\varepsilon"


def _randomized_response(folds: int, bound: str, epsilon: Fraction | None) -> str:
    """The profile of randomized response, composed, at a bound of the loss."""
    terms = []
    for k in range(folds + 1):
        many = "" if k in (0, folds) else str(comb(folds, k))
        left = rf"e^{{{_times(folds - k, epsilon)}}}" if k < folds else "1"
        right = rf"e^{{{bound}}}e^{{{_times(k, epsilon)}}}" if k else rf"e^{{{bound}}}"
        terms.append(rf"{many}\max(0,{left}-{right})")
    return (
        rf"\frac{{{'+'.join(terms)}}}{{(1+e^{{{_times(1, epsilon)}}})^{{{folds}}}}}\le e^{{-\ln(1/\delta')}}"
    )


def _strong_composition() -> Sheet:
    sheet = Sheet(
        "bst14.lem2.3", (_epsilon, _level, _delta),
        title="Strong composition", where="Lemma 2.3",
        latex=(
            r"\varepsilon'=\sqrt{2T\ln(1/\delta')}\,\varepsilon+T\varepsilon(e^\varepsilon-1),"
            r"\quad\varepsilon,\delta'\ge 0"
        ),
        pairs=("bst14.thm2.1",),
    )  # fmt: skip
    tried: list[tuple[int, Fraction | None, str]] = [(folds, None, lost) for folds, lost in FOLDS.items()]
    for folds, epsilon, lost in [*tried, (MANY_FOLDS, SMALL_EPSILON, r"\sqrt{2}")]:
        each, root = _times(1, epsilon), rf"\sqrt{{{2 * folds}\ln(1/\delta')}}"
        more = rf"+{_times(folds, epsilon)}(e^{{{each}}}-1)"
        bound, too_small = rf"\varepsilon'_{{{folds}}}", rf"\varepsilon''_{{{folds}}}"
        sheet = (
            sheet.define(bound, rf"{root}\cdot {each}{more}")
            .define(too_small, rf"\frac{{{root}}}{{{lost}}}\cdot {each}{more}")
            .instance(
                f"randomized-response-{folds}-fold", _randomized_response(folds, bound, epsilon),
                box={"l": ("1/10", 20)} | ({"epsilon": ("1/100", 2)} if epsilon is None else {}),
                case=f"T = {folds}{'' if epsilon is None else f' at epsilon = {epsilon}'}: randomized response, whose "
                f"{folds}-fold composition has the largest profile of all epsilon-DP mechanisms",
                uses=("randomized-response",),
                catches=(f"the root lacks a factor {'sqrt(2)' if epsilon else lost}",
                         _randomized_response(folds, too_small, epsilon)),
            )
        )  # fmt: skip
    return sheet


lem2_3 = (
    _strong_composition()
    .condition("logarithm-of-the-inverse-is-not-negative", r"\ln\frac{1}{\delta'}\ge 0",
               where="Lemma 2.3: for every delta' >= 0 (above 0 here), the root is to be real")
    .corrected("logarithm-of-the-inverse-is-not-negative", r"\ln\frac{1}{\delta'}\ge 0", given=r"\delta'\le 1",
               where="Lemma 2.3 with 0 < delta' <= 1", consequence=EDGE,
               because="the square root is real only for delta' at most 1; beyond it every mechanism is private",
               true_if="for delta' at most 1: beyond it every mechanism is private")
)  # fmt: skip


_n = integer("n", ge=1, unit=RECORDS, meaning="number of records")
_p = integer("p", ge=1, meaning="dimension")
_L = real("L", gt=0, unit=LOSS / LENGTH, meaning="Lipschitz constant of a record's loss")
_sigma = real("sigma", ge=0, unit=LOSS / LENGTH, meaning="noise, a coordinate", latex=r"\sigma")
_SQUARE = (LOSS / LENGTH) ** 2
_gradient = real("g2", ge=0, unit=_SQUARE, latex=r"\mathbb{E}\|\nabla\ell(\tilde\theta_t;d)\|_2^2")
_cross = real("c", unit=_SQUARE, latex=r"\mathbb{E}\langle\nabla\ell(\tilde\theta_t;d),b_t\rangle")
_noise = real("b2", ge=0, unit=_SQUARE, latex=r"\mathbb{E}\|b_t\|_2^2")
_g1, _g2, _b1, _b2 = (real(name, unit=LOSS / LENGTH) for name in ("g_1", "g_2", "b_1", "b_2"))
_SUM_OF_SQUARES = r"(ng_1+b_1)^2+(ng_2+b_2)^2=n^2(g_1^2+g_2^2)"

eq2 = (
    Sheet(
        "bst14.eq2", (_n, _p, _L, _sigma, _gradient, _cross, _noise, _g1, _g2, _b1, _b2),
        title="Second moment of the noisy gradient", where="(2)",
        latex=(
            r"\mathbb{E}\|G_t\|_2^2=n^2\,\mathbb{E}\|\nabla\ell(\tilde\theta_t;d)\|_2^2"
            r"+2n\,\mathbb{E}\langle\nabla\ell(\tilde\theta_t;d),b_t\rangle+\mathbb{E}\|b_t\|_2^2\le n^2L^2+p\sigma^2"
        ),
        pairs=("bst14.alg1", "bst14.lem2.5", "bst14.thm2.4.1"),
    )
    .instance("expansion", _SUM_OF_SQUARES + "+2n(g_1b_1+g_2b_2)+(b_1^2+b_2^2)", where="(2), first line",
              case="two dimensions; every coordinate alike",
              catches=("the cross term stands once instead of twice",
                       _SUM_OF_SQUARES + "+n(g_1b_1+g_2b_2)+(b_1^2+b_2^2)"))
    .whole("bound",
           r"n^2\,\mathbb{E}\|\nabla\ell(\tilde\theta_t;d)\|_2^2+2n\,\mathbb{E}\langle\nabla\ell(\tilde\theta_t;d),b_t\rangle"
           r"+\mathbb{E}\|b_t\|_2^2\le n^2L^2+p\sigma^2",
           given=r"\mathbb{E}\|\nabla\ell(\tilde\theta_t;d)\|_2^2\le L^2, "
                 r"\mathbb{E}\langle\nabla\ell(\tilde\theta_t;d),b_t\rangle=0, \mathbb{E}\|b_t\|_2^2=p\sigma^2",
           where="(2), second line", uses=("second-moment-of-a-sum",))
)  # fmt: skip


_point = real("z", unit=LENGTH)
_u, _v = real("u", unit=LENGTH), real("v", unit=LENGTH)
_h = real("h", gt=0, unit=LENGTH, meaning="half width of the smoothed part")
_steepness = real("k", gt=0, unit=DIMENSIONLESS / LENGTH, meaning="1/(2h)")
_MIDDLE = _point**2 / (4 * _h) + _point / 2 + _h / 4
_PIECES = ((expression(0), -_h), (_MIDDLE, _h))

huber = (
    Sheet(
        "bst14.huber-smooth", (_point, _u, _v, _h, _steepness),
        title="Smoothness of the huberized hinge", where="Appendix B",
        latex=(
            r"\hat f(z)=f(z)\text{ for }|z|>h,\ \hat f(z)=\frac{z^2}{4h}+\frac{z}{2}+\frac{h}{4}\text{ on }[-h,h]:"
            r"\ \hat f\text{ is twice continuously differentiable everywhere}"
        ),
        pairs=("bst14.alg-huber", "bst14.thmB.1"),
    )
    .define(r"\hat f(z)", r"\frac{z^2}{4h}+\frac{z}{2}+\frac{h}{4}", parameter=_point)
    .define("g(z)", r"\max(0,1-\max(0,\frac{1}{2}-kz))", parameter=_point)
    .whole("twice-continuously-differentiable", continuously_differentiable(_PIECES, _point, _point, 2),
           where="Appendix B, sentence after the definition", consequence=CLAIM)
    .corrected("once-continuously-differentiable", continuously_differentiable(_PIECES, _point, _point, 1),
               coverage=Coverage.WHOLE)
    .corrected("slope-is-lipschitz", r"g(u)\le g(v),\ g(v)-g(u)\le k(v-u)", given=r"u\le v", coverage=Coverage.WHOLE,
               where="Appendix B: the slope g is 0, then z/(2h) + 1/2, then 1; k = 1/(2h)")
    .corrected("second-derivative", r"\hat f''(z)=\frac{1}{2h}", given=r"-h\le z\le h", coverage=Coverage.STEP,
               where="Appendix B, inside the smoothed part")
    .corrected("slope-stays-a-hinge's", r"0\le\hat f'(z)\le 1", given=r"-h\le z\le h", coverage=Coverage.STEP,
               where="Appendix B, inside the smoothed part")
    .corrected("gradient-is-lipschitz-across-the-end", r"1-(\frac{u}{2h}+\frac{1}{2})\le\frac{v-u}{2h}",
               given=r"-h\le u\le h\le v", coverage=Coverage.STEP,
               where="Appendix B, from inside to the linear part")
    .correction("the second derivative jumps by 1/(2h) at both ends; the first is continuous and 1/(2h)-Lipschitz",
                latex=r"\hat f\in C^1,\qquad|\hat f'(u)-\hat f'(v)|\le\frac{1}{2h}|u-v|",
                replaces=("twice-continuously-differentiable",))
)  # fmt: skip

STATEMENTS = tuple(sheet.statement for sheet in (lem2_2, lem2_3, eq2, huber))
