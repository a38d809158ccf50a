"""bst14, Appendix B: objective perturbation of the huberized hinge loss, and what it costs."""

from __future__ import annotations

from dpverify.evidence import Coverage
from dpverify.formulas.expressions import expression, real
from dpverify.formulas.units import DIMENSIONLESS, LENGTH
from dpverify.proving.language import continuously_differentiable
from dpverify.statements.sheet import CLAIM, Sheet

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
