"""mn25, Section 3.1: the hard problem instance, with L = 2 and B = 1, so that all is in pure numbers."""

from __future__ import annotations

from dpverify.formulas.expressions import integer, real
from dpverify.formulas.vectors import vector
from dpverify.statements.mn25.symbols import C_2, K, d, small_alpha
from dpverify.statements.sheet import Sheet

_C_1 = real("C_1", gt=0, latex="C_{1}", meaning="a constant")
_w, _u = vector("w"), vector("u")
_x, _y = vector("x", latex="X_{k}"), vector("y", latex=r"\sum_{j\neq k}X_{j}")
_sum = vector("sum", latex=r"\sum_{k=1}^{K}X_{k}")
_v = vector("v", meaning="a direction of V")
_pw, _pu = (vector(f"p{u}", latex=rf"\Pi_{{V}}{u}") for u in "wu")
_a, _b, _t, _s = (real(name) for name in ("a", "b", "t", "s"))
_f, _f2, _h, _h2, _D = (
    real(name, ge=0, latex=latex)
    for name, latex in (
        ("f_w", r"\max_{k\in[K]}f_{k}(w)"), ("f_u", r"\max_{k\in[K]}f_{k}(u)"), ("h_w", "h(w)"), ("h_u", "h(u)"),
        ("D", "D"),
    )
)  # fmt: skip
_norm = real("norm", ge=0, latex=r"\|C_{1}\alpha\sum_{k=1}^{K}X_{k}\|")
_rest = integer("r", ge=0, meaning="the dimension of what is orthogonal to V", latex="r")
_ORTHONORMAL = r"\|X_{k}\|^2=1, \langle X_{k},\sum_{j\neq k}X_{j}\rangle=0"

instance_facts = (
    Sheet(
        "mn25.instance-facts",
        (
            small_alpha, _C_1, C_2, K, d, _w, _u, _x, _y, _sum, _v, _pw, _pu, _a, _b, _t, _s, _f, _f2, _h, _h2, _D,
            _rest,
        ),
        title="The hard instance: minimizer, zero loss, Lipschitz constant, unit ball",
        where="Section 3.1, Hard problem instance",
        latex=(
            r"w^{*}=C_{1}\alpha\sum_{k=1}^{K}X_{k}\in\mathcal{B}(1),\quad\ell(w^{*})=0,\quad"
            r"\ell\text{ is }2\text{-Lipschitz}"
        ),
        pairs=("mn25.hard-instance", "mn25.lem2"),
    )
    .define("w^{*}", r"C_{1}\alpha\cdot(X_{k}+\sum_{j\neq k}X_{j})")
    .step(
        "one-vector-more", r"\|X_{k}+\sum_{j\neq k}X_{j}\|^2=K",
        given=rf"{_ORTHONORMAL}, \|\sum_{{j\neq k}}X_{{j}}\|^2=K-1",
        where="Section 3.1: the squared norm of a sum of K orthonormal vectors is K, by induction",
    )
    .step(
        "scaled", r"\|w^{*}\|^2=C_{1}^{2}\alpha^{2}K", given=r"\|X_{k}+\sum_{j\neq k}X_{j}\|^2=K",
        where="Appendix B.1: indeed w* lies in B(1)",
    )
    .whole(
        "in-the-unit-ball", rf"{_norm.latex}\le 1",
        given=rf"{_norm.latex}^{{2}}=C_{{1}}^{{2}}\alpha^{{2}}K, K=\frac{{1}}{{C_{{1}}^{{2}}\alpha^{{2}}}}",
        added=(_norm,),
        uses=("mn25.instance-facts/one-vector-more", "mn25.instance-facts/scaled"),
        where="Appendix B.1: indeed w* lies in B(1)",
    )
    .whole(
        "every-f-is-zero", r"\langle w^{*},X_{k}\rangle-C_{1}\alpha=0", given=_ORTHONORMAL,
        where="Appendix B.1: a minimizer with 0 loss: of this, f_k is the absolute value",
    )
    .whole(
        "h-is-zero", r"\langle w^{*},v\rangle=0",
        given=r"\langle X_{k},v\rangle=0, \langle\sum_{j\neq k}X_{j},v\rangle=0",
        where="Appendix B.1: a minimizer with 0 loss, h: V is orthogonal to X",
    )
    .step(
        "slope-of-an-inner-product", r"\langle w,X_{k}\rangle-\langle u,X_{k}\rangle\le\|w-u\|",
        given=r"\|X_{k}\|=1", where="Section 3.1: f_k is 1-Lipschitz; the same with w and u exchanged",
    )
    .step(
        "slope-of-an-absolute-value", r"||a-t|-|b-t||\le|a-b|", where="Section 3.1: f_k is 1-Lipschitz",
    )
    .step(
        "projection-is-a-contraction", r"\|\Pi_{V}w-\Pi_{V}u\|\le\|w-u\|",
        given=r"\langle w-u-(\Pi_{V}w-\Pi_{V}u),\Pi_{V}w-\Pi_{V}u\rangle=0",
        where="Section 3.1: h is 2-Lipschitz; w - u less its projection is orthogonal to V",
    )
    .step(
        "h-is-2-lipschitz", r"2\|\Pi_{V}w\|-2\|\Pi_{V}u\|\le 2\|\Pi_{V}w-\Pi_{V}u\|",
        where="Section 3.1: h is 2-Lipschitz", uses=("triangle-inequality",),
    )
    .condition(
        "room-for-the-vectors", r"\frac{1}{480^{2}\alpha^{2}}\le d-\frac{d}{2}",
        given=r"d\geq C_{2}/\alpha^{2}, C_{2}\ge\frac{2}{480^{2}}",
        where="Section 3.1: possible since d is large; K vectors in what is orthogonal to V, of dimension d - d/2",
    )
    .step(
        "number-of-vectors", r"\frac{1}{C_{1}^{2}\alpha^{2}}\ge 1", given="C_{1}=480",
        where="Section 3.1: K has to be at least 1", true_if="for accuracies of at most 1/480",
    )
    .corrected(
        "number-of-vectors", r"\frac{1}{C_{1}^{2}\alpha^{2}}\ge 1", given=r"C_{1}=480, \alpha\le\frac{1}{480}",
        because="K = 1/(480 alpha)^2 is a number of vectors only for accuracies of at most BL/960, rounded down",
        where="Section 3.1 with alpha at most 1/480",
    )
    .whole(
        "lipschitz",
        r"|\max\{\max_{k\in[K]}f_{k}(w),h(w)\}-\max\{\max_{k\in[K]}f_{k}(u),h(u)\}|\le 2D",
        given=r"|\max_{k\in[K]}f_{k}(w)-\max_{k\in[K]}f_{k}(u)|\le D, |h(w)-h(u)|\le 2D",
        where="Section 3.1 with L = 2: a maximum of Lipschitz functions; D is the distance of w and u",
        uses=(
            "mn25.instance-facts/slope-of-an-inner-product", "mn25.instance-facts/slope-of-an-absolute-value",
            "mn25.instance-facts/projection-is-a-contraction", "mn25.instance-facts/h-is-2-lipschitz",
        ),
    )
)  # fmt: skip
