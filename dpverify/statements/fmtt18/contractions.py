"""fmtt18, Section 2.4 and Appendix A: projections and gradient steps are contractions."""

from __future__ import annotations

from dpverify.formulas.expressions import real
from dpverify.formulas.units import LENGTH, LOSS
from dpverify.statements.fmtt18.symbols import eta
from dpverify.statements.sheet import EDGE, PROOF_STEP, Sheet

_x, _y, _edge = (real(name, unit=LENGTH, latex=name) for name in "xya")
_before = real("before", ge=0, unit=LENGTH, latex=r"\|x-y\|")
_after = real("after", ge=0, unit=LENGTH, latex=r"\|\Pi_{\mathcal{K}}(x)-\Pi_{\mathcal{K}}(y)\|")
_product = real(
    "product", unit=LENGTH**2, latex=r"\langle\Pi_{\mathcal{K}}(x)-\Pi_{\mathcal{K}}(y),x-y\rangle"
)

prop17 = (
    Sheet(
        "fmtt18.prop17", (_x, _y, _edge, _before, _after, _product),
        title="Projection is a contraction",
        where="Proposition 17",
        latex=r"\|\Pi_{\mathcal{K}}(x)-\Pi_{\mathcal{K}}(y)\|\le\|x-y\|",
        pairs=("fmtt18.thm23", "fmtt18.alg1"),
    )
    .whole(
        "contraction", rf"{_after.latex}\le\|x-y\|",
        given=rf"{_after.latex}^2\le{_product.latex}, {_product.latex}\le{_after.latex}\cdot\|x-y\|",
        uses=("projection-angle", "cauchy-schwarz"),
        where="Proposition 17, for a closed set; a set that is not closed has no nearest points",
    )
    .instance(
        "half-line", r"|\max\{a,x\}-\max\{a,y\}|\le|x-y|", case="the projection of the line to [a, oo)",
        catches=("a hundredth of the distance is lost", r"|\max\{a,x\}-\max\{a,y\}|\le 0.99|x-y|"),
    )
)  # fmt: skip


_beta = real("beta", gt=0, unit=LOSS / LENGTH**2, latex=r"\beta", meaning="smoothness")
_h = real(
    "h",
    unit=LOSS / LENGTH**2,
    meaning="an eigenvalue of the Hessian; in one dimension, the second derivative",
)
_h2 = real("h2", unit=LOSS / LENGTH**2, latex="h'", meaning="the same at another point")
_rho = real("rho", ge=0, le=1, latex=r"\rho", meaning="weight of one of the two")
_w, _w2 = real("w", unit=LENGTH), real("w2", unit=LENGTH, latex="w'")
_g, _g2 = (
    real(name, unit=LOSS / LENGTH, latex=latex)
    for name, latex in (("g", r"\nabla f(w)"), ("g2", r"\nabla f(w')"))
)  # fmt: skip
_psi = real("psi", ge=0, unit=LENGTH, latex=r"\|\psi(w)-\psi(w^{\prime})\|")
_distance = real("distance", ge=0, unit=LENGTH, latex=r"\|w-w^{\prime}\|")
_inner = real("inner", unit=LOSS, latex=r"\langle\nabla f(w)-\nabla f(w'),w-w'\rangle")
_change = real("change", ge=0, unit=(LOSS / LENGTH) ** 2, latex=r"\|\nabla f(w)-\nabla f(w')\|^2")
_time = real("t", ge=0, le=1, meaning="a place between the two points")
_LINE = "Appendix A, second line of the display, in one dimension, where the Hessian at z is a number h"
_SQUARE = (
    "Appendix A, some z on the line: for u^3/6 + v^4/12 from (0, 0) to (1, 1), the gradients differ by (1/2, 1/3), and "
    "the Hessian at (t, t) times (1, 1) is (t, t^2), convex on the unit square"
)

prop18 = (
    Sheet(
        "fmtt18.prop18", (_w, _w2, eta, _beta, _h, _g, _g2, _time, _psi, _distance, _inner, _change),
        title="A gradient step is a contraction",
        where="Proposition 18 and Appendix A",
        latex=r"\eta\le 2/\beta\implies\|\psi(w)-\psi(w')\|\le\|w-w'\|,\quad\psi(w)=w-\eta\nabla f(w)",
        pairs=("fmtt18.thm23", "fmtt18.alg1"),
    )
    .step(
        "angle-of-the-gradients", rf"\eta{_change.latex}\le 2{_inner.latex}",
        given=rf"{_change.latex}\le\beta{_inner.latex}, \eta\beta\le 2, {_inner.latex}\ge 0",
        uses=("baillon-haddad",), where="Proposition 18, for all convex beta-smooth functions",
    )
    .whole(
        "contraction", rf"{_psi.latex}\leq{_distance.latex}",
        given=rf"{_psi.latex}^2={_distance.latex}^2-\eta(2{_inner.latex}-\eta{_change.latex}), "
              rf"\eta{_change.latex}\le 2{_inner.latex}",
        uses=("square-of-a-sum", "fmtt18.prop18/angle-of-the-gradients"),
        where="Proposition 18, for all convex beta-smooth functions",
    )
    .step(
        "eigenvalues", r"|1-\eta h|\le 1", given=r"0\le h\le\beta, \eta\le 2/\beta",
        where="Proposition 18, proof in Appendix A, last line; Appendix A asks for eta < 2/beta, which is not needed",
    )
    .step(
        "first-order", r"w-w'-\eta(\nabla f(w)-\nabla f(w'))=w-w'+\eta(w-w')h",
        given=r"\nabla f(w)-\nabla f(w')=h(w-w')", where=_LINE,
    )
    .corrected(
        "first-order", r"w-w'-\eta(\nabla f(w)-\nabla f(w'))=w-w'-\eta(w-w')h",
        given=r"\nabla f(w)-\nabla f(w')=h(w-w')", where=_LINE,
        because="the second line has a plus where the next line has the minus that is right",
        consequence=EDGE, true_if="with a minus, as the next line has it",
    )
    .step("one-point-for-all-coordinates", r"t^2=\frac{1}{3}", given=r"t=\frac{1}{2}", where=_SQUARE)
    .corrected(
        "one-point-for-all-coordinates", r"0\le\rho h+(1-\rho)h'\le\beta",
        given=r"0\le h\le\beta, 0\le h'\le\beta", added=(_rho, _h2),
        because="the mean value theorem gives a point z for each coordinate, not one for all; the mean Hessian "
                "between the two points does what the Hessian at z is asked to do",
        consequence=PROOF_STEP, true_if="in one dimension, or with the mean of the Hessian over the line",
        where="Appendix A with the mean Hessian in place of the Hessian at z: two eigenvalues' means",
    )
)  # fmt: skip

STATEMENTS = tuple(sheet.statement for sheet in (prop17, prop18))
