"""mn25, Appendix A: rescaling, and projections to orthogonal spaces."""

from __future__ import annotations

from dpverify.formulas.expressions import real
from dpverify.formulas.units import LENGTH, LOSS
from dpverify.formulas.vectors import vector
from dpverify.statements.mn25.symbols import B, L, alpha
from dpverify.statements.sheet import Sheet

_accuracy = real("a", ge=0, latex="a", meaning="accuracy on the unit problem")
_value, _best = (
    real("F_w", unit=LOSS, latex=r"\mathcal{L}(B\hat{w})"),
    real("F_best", unit=LOSS, latex=r"\mathcal{L}(w^{*})"),
)
_unit_value = real("f_w", latex=r"\hat{\mathcal{L}}(\hat{w})")
_unit_best = real("f_best", latex=r"\hat{\mathcal{L}}(\hat{w}^{*})")
_difference, _distance, _unit_difference = (
    real("D_F", ge=0, unit=LOSS, latex=r"|\mathcal{L}(Bu)-\mathcal{L}(Bv)|"),
    real("D", ge=0, latex=r"\|u-v\|"),
    real("D_f", ge=0, latex=r"|\hat{\mathcal{L}}(u)-\hat{\mathcal{L}}(v)|"),
)  # fmt: skip
_norm = real("norm", ge=0, unit=LENGTH, latex=r"\|w\|")
_L, _B, _w = real("L", gt=0), real("B", gt=0), real("w", latex=r"\hat{w}")

fact1 = (
    Sheet(
        "mn25.fact1",
        (
            alpha, B, L, _accuracy, _value, _best, _unit_value, _unit_best, _difference, _distance, _unit_difference,
            _norm,
        ),
        title="Rescaling",
        where="Fact 1",
        latex=(
            r"\hat{\mathcal{W}}=\{\frac{w}{B}:w\in\mathcal{W}\},\ \hat{\mathcal{L}}(w)=\mathcal{L}(w/L):"
            r"\ \alpha\text{-accurate}\implies\alpha BL\text{-accurate}"
        ),
        pairs=("mn25.thm1.1", "mn25.thm1.2", "mn25.thm5"),
    )
    .step(
        "scaled-set", r"\frac{\|w\|}{B}\le 1", given=r"\|w\|\le B",
        where="Fact 1: the scaled set lies in the unit ball",
    )
    .step(
        "scaled-loss", r"L|B\hat{w}-B|\le aBL", given=r"L|\frac{\hat{w}}{L}-B|\le a, -1\le\hat{w}\le 1, BL\le 1",
        letters=(_L, _B), added=(_w,),
        where="Fact 1, with the loss L |w - B| on [-B, B]: w^ is a accurate for the scaled loss, and B w^ is released",
        true_if="with the loss L(B w)/(B L)",
    )
    .corrected(
        "scaled-loss", r"L|B\hat{w}-B|\le aBL", given=r"\frac{L|B\hat{w}-B|}{BL}\le a, -1\le\hat{w}\le 1",
        letters=(_L, _B), added=(_w,),
        because="L(w/L) is not the loss at B w; it should be L(B w)/(B L)",
        where="Fact 1 with the loss L(B w)/(B L)",
    )
    .step(
        "scaled-lipschitz", rf"{_unit_difference.latex}\le {_distance.latex}",
        given=rf"{_difference.latex}\le LB {_distance.latex}, "
              rf"{_unit_difference.latex}=\frac{{{_difference.latex}}}{{BL}}",
        where="Fact 1 with the loss L(B w)/(B L): it is 1-Lipschitz",
    )
    .whole(
        "accuracy", rf"{_value.latex}-{_best.latex}\le aBL",
        given=rf"{_unit_value.latex}-{_unit_best.latex}\le a, {_unit_value.latex}=\frac{{{_value.latex}}}{{BL}}, "
              rf"{_unit_best.latex}=\frac{{{_best.latex}}}{{BL}}",
        uses=("mn25.fact1/scaled-set", "mn25.fact1/scaled-lipschitz"),
        where="Fact 1 with the loss L(B w)/(B L), whose least value is that of L over B L",
    )
    .reference(
        "from-a-larger-problem", rf"{_unit_value.latex}-{_unit_best.latex}\le\frac{{\alpha}}{{BL}}",
        given=rf"{_value.latex}-{_best.latex}\le\alpha, {_unit_value.latex}=\frac{{{_value.latex}}}{{BL}}, "
              rf"{_unit_best.latex}=\frac{{{_best.latex}}}{{BL}}",
        where="Section 3.1, which states Fact 1 in reverse, for a lower bound",
    )
)  # fmt: skip

_v, _e, _f, _p = (
    vector(name, latex=latex)
    for name, latex in (("v", "v"), ("e", r"\Pi_{E}v"), ("f", r"\Pi_{F}v"), ("p", r"\Pi_{E}(v-\Pi_{F}v)"))
)
_u = tuple(vector(f"u{i}", latex=f"u_{{{i}}}") for i in (1, 2, 3))
_g = tuple(real(f"g{i}", latex=rf"\gamma_{{{i}}}") for i in (1, 2, 3))
# p - e lies in E, to which v - e, v - f - p and f are orthogonal
_IN_E = r"\Pi_{E}(v-\Pi_{F}v)-\Pi_{E}v"
_PROJECTED = (
    rf"\langle v-\Pi_{{E}}v,{_IN_E}\rangle=0, \langle v-\Pi_{{F}}v-\Pi_{{E}}(v-\Pi_{{F}}v),{_IN_E}\rangle=0, "
    rf"\langle\Pi_{{F}}v,{_IN_E}\rangle=0"
)

lem5 = (
    Sheet(
        "mn25.lem5",
        (_v, _e, _f, _p, *_u, *_g),
        title="Projections away from orthogonal subspaces",
        where="Lemma 5",
        latex=r"\Pi_{E}^{\perp}\Pi_{F}^{\perp}=\Pi_{F}^{\perp}\Pi_{E}^{\perp}=\Pi_{F,E}^{\perp}",
        pairs=("mn25.lem2", "mn25.lem3"),
    )
    .step(
        "away-from-E", r"v-\gamma_{1}u_{1}=\gamma_{2}u_{2}+\gamma_{3}u_{3}",
        given=r"v=\gamma_{1}u_{1}+\gamma_{2}u_{2}+\gamma_{3}u_{3}",
        where="Lemma 5, proof, display, for three dimensions and a line E",
    )
    .whole(
        "product", r"\Pi_{E}(v-\Pi_{F}v)=\Pi_{E}v", given=_PROJECTED,
        where="Lemma 5, in any dimension: the parts of v in E and F are taken away in either order",
    )
    .whole(
        "projection-to-both", r"\langle v-\Pi_{E}v-\Pi_{F}v,e+f\rangle=0",
        given=r"\langle v-\Pi_{E}v,e\rangle=0, \langle\Pi_{F}v,e\rangle=0, "
              r"\langle v-\Pi_{F}v,f\rangle=0, \langle\Pi_{E}v,f\rangle=0",
        added=(vector("e'", latex="e"), vector("f'", latex="f")), uses=("mn25.lem5/product",),
        where="Lemma 5: what is left is orthogonal to every sum of an e of E and an f of F; what is taken away is one",
    )
)  # fmt: skip
