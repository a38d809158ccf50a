"""mn25, Lemma 3: what an optimizer does not know of the subspace V."""

from __future__ import annotations

from dpverify.formulas.expressions import Variable, integer, real
from dpverify.formulas.vectors import vector
from dpverify.statements.mn25.symbols import C_2, d, small_alpha, unique
from dpverify.statements.sheet import Sheet


def _density(name: str, latex: str) -> Variable:
    return real(name, gt=0, latex=latex)


_joint = _density("joint", r"\rho(v,r,z|x)")
_prior, _likelihood = _density("prior", r"\rho(v|x)"), _density("likelihood", r"\rho(r,z|v,x)")
_evidence, _posterior = _density("evidence", r"\rho(r,z|x)"), _density("posterior", r"\rho(v|x,r,z)")
_before, _with_all = (
    _density("before", r"\rho(r_{<T},z_{<T}|v,x)"),
    _density("all", r"\rho(r_{\leq T},z_{\leq T}|v,x)"),
)
_of_z, _of_r = (
    _density("of_z", r"\rho(z_{T}|r_{\leq T},z_{<T},v,x)"), _density("of_r", r"\rho(r_{T}|r_{<T}z_{<T},v,x)")
)  # fmt: skip
_product_z, _product_r = _density("A", "A_{T-1}"), _density("B", "B_{T-1}")
_z_given, _z_and, _r_of_v = (
    _density("z_given", r"\rho(z_{t}|r_{t},v)"), _density("z_and", r"\rho(z_{t},r_{t}|v)"),
    _density("r_of_v", r"\rho(r_{t}|v)"),
)  # fmt: skip
_r, _z, _o, _u = (vector(name, latex=latex) for name, latex in
                  (("r", r"\tilde{r}"), ("z", r"\tilde{z}"), ("o", r"\tilde{o}"), ("u", "u")))  # fmt: skip
_a, _a_positive = real("a", ge=0), real("a", gt=0)
_slope = real("slope", gt=0, latex=r"\left\langle\tilde{o},u\right\rangle")
_left = integer("d_left", ge=0, latex=r"d^{\prime}", meaning="dimension of what is left of V")
_half, _used = (
    real("half", ge=0, latex="d/2"),
    real("used", ge=0, latex=r"\bar{T}", meaning="number of unique queries"),
)
_many = real("many", ge=0, le=1, latex=r"\mathbb{P}[\bar{T}>d/4]")
_P_E, _few, _if_many, _largest = (
    real(name, ge=0, le=1, latex=latex)
    for name, latex in (
        ("P_E", r"\underset{}{\mathbb{P}}\left[E\right]"), ("few", "p_{1}"), ("if_many", "p_{2}"),
        ("largest", r"\max\limits_{\begin{subarray}{c}r:\bar{t}(r)\leq d/4\\ w,x,z\end{subarray}}"
                    r"\left\{{\mathbb{P}[E|r,w,x,z]}\right\}"),
    )
)  # fmt: skip
_C, _s, _l = real("C", gt=0), real("s", ge=0), real("l", gt=0, latex=r"\log(1/\alpha)")
_U, _VU = real("U", ge=0, latex=r"\|U\|"), real("VU", ge=0, latex=r"\|\Pi_{V}U\|")
_kept = real("q", gt=0, meaning="sqrt(d'/N)")
_room = integer("N", ge=1, meaning="dimension of the space in which V is uniform")
_log_20 = real("log_20", ge=0, latex=r"\log(20)")
_exponential = real("E_x", gt=0, latex="E_{x}")
_P_3 = real(
    "P_3", ge=0, le=1,
    latex=r"\underset{}{\mathbb{P}}[\|\Pi^{\perp}_{X,\mathcal{S}}\Pi^{\perp}_{Z}W\|"
          r"\geq 2\|\Pi_{V}\Pi^{\perp}_{X,\mathcal{S}}\Pi^{\perp}_{Z}W\|+2\alpha]",
)  # fmt: skip
_tail = real("p_x", ge=0, latex="p_{x}")
_ORTHOGONAL = r"\langle\tilde{z},\tilde{o}\rangle=0"

_answers = integer("d_Z", ge=0, latex="d_{Z}", meaning="dimension of the span of the answers")

lem3 = (
    Sheet(
        "mn25.lem3",
        (
            d, small_alpha, C_2, unique, _joint, _prior, _likelihood, _evidence, _posterior, _before, _with_all, _of_z,
            _of_r, _product_z, _product_r, _z_given, _z_and, _r_of_v, _r, _z, _o, _u, _a, _left, _used, _many, _P_E,
            _few, _if_many, _largest, _C, _s, _l, _U, _VU,
        ),
        title="Leftover subspace",
        where="Lemma 3",
        latex=(
            r"\mathbb{P}[\|\Pi^{\perp}_{X,\mathcal{S}}\Pi^{\perp}_{Z}W\|\geq 2\|\Pi_{V}\Pi^{\perp}_{X,\mathcal{S}}"
            r"\Pi^{\perp}_{Z}W\|+2\alpha]\leq\frac{1}{10}"
        ),
        pairs=("mn25.lem2", "mn25.hard-instance"),
    )
    .instance(
        "a-free-direction", r"s<2\cdot 0+2\alpha",
        given=r"(\frac{479}{480})^2+s^2\le 1, d\ge\frac{1}{\alpha^{3}}, \alpha\le\frac{1}{480}",
        where="Lemma 3: if the bound held, this would not always happen",
        case="k = K and a true oracle: K queries in the span of the vectors found so far, at 0 first, find X_1, ..., "
             "X_K; one more at random finds a direction o that is orthogonal to V. It alone has a part along X_K, so "
             "S, which is orthogonal to X_K, has no part along o. Let y be the unit vector of the part of o that is "
             "orthogonal to X. W = (479/480) w* + s y has loss alpha; without its parts in Z, "
             "X and S it is s y, and V is orthogonal to y",
    )
    .step(
        "bayes", rf"{_posterior.latex}=\frac{{\rho(r,z|v,x)\rho(v|x)}}{{\rho(r,z|x)}}",
        given=r"\rho(r,z|v,x)=\frac{\rho(v,r,z|x)}{\rho(v|x)}, \rho(v|x,r,z)=\frac{\rho(v,r,z|x)}{\rho(r,z|x)}",
        where="(5), second equality",
    )
    .step(
        "one-factor-more",
        r"\rho(r_{\leq T},z_{\leq T}|v,x)=(A_{T-1}\cdot\rho(z_{T}|r_{\leq T},z_{<T},v,x))"
        r"(B_{T-1}\cdot\rho(r_{T}|r_{<T}z_{<T},v,x))",
        given=r"\rho(r_{\leq T},z_{\leq T}|v,x)=\rho(z_{T}|r_{\leq T},z_{<T},v,x)\cdot\rho(r_{T}|r_{<T}z_{<T},v,x)"
              r"\cdot\rho(r_{<T},z_{<T}|v,x), \rho(r_{<T},z_{<T}|v,x)=A_{T-1}B_{T-1}",
        where="Lemma 3, proof, 2nd and 3rd displays: by induction, the products A of the answers and B of the queries",
    )
    .step(
        "conditional-density",
        r"\rho(v|x)\cdot\rho(z_{t}|r_{t},v)=\rho(v|x)\cdot\frac{\rho(z_{t},r_{t}|v)}{\rho(r_{t}|v)}",
        given=r"\rho(z_{t},r_{t}|v)=\rho(z_{t}|r_{t},v)\cdot\rho(r_{t}|v)",
        where="Lemma 3, proof, 4th display",
    )
    .step(
        "markov-factors",
        r"(A_{T-1}\cdot\rho(z_{T}|r_{\leq T},z_{<T},v,x))(B_{T-1}\cdot\rho(r_{T}|r_{<T}z_{<T},v,x))"
        r"=(A'\cdot\rho(z_{t}|r_{t},v))(B'\cdot q)",
        given=r"A_{T-1}=A', \rho(z_{T}|r_{\leq T},z_{<T},v,x)=\rho(z_{t}|r_{t},v), B_{T-1}=B', "
              r"\rho(r_{T}|r_{<T}z_{<T},v,x)=q",
        added=tuple(_density(name, latex) for name, latex in (("A'", "A'"), ("B'", "B'"), ("q", "q"))),
        where="Lemma 3, proof, 3rd display, second line, by induction: an answer depends on its query and V alone, "
              "and a "
              "query, of density q, not on V",
    )
    .step(
        "a-factor-is-zero", r"\rho(v|x)\cdot(P\cdot\frac{q}{t})=0", given="q=0",
        added=(_density("P", "P"), real("q", ge=0), _density("t", "t")),
        uses=("mn25.lem3/conditional-density",),
        where="Lemma 3, proof, after the 4th display: a subspace is bad if for some answer the joint density q of "
              "answer and "
              "query is 0 under it; t is that of the query, P the product of the other factors",
    )
    .step(
        "span-is-orthogonal", r"\langle bu+cw,\tilde{o}\rangle=0",
        given=r"\langle u,\tilde{o}\rangle=0, \langle w,\tilde{o}\rangle=0",
        added=(vector("w"), real("b"), real("c")),
        where="Lemma 3, proof, after the 5th display: what is orthogonal to o~ is closed under sums, and so holds the "
              "span of any such vectors",
    )
    .step(
        "projection-is-orthogonal", r"\langle\tilde{r}-p,u-p\rangle\leq 0",
        given=r"\langle\tilde{r}-p,u\rangle=0, \langle\tilde{r}-p,p\rangle=0", added=(vector("p"),),
        where="Lemma 3, proof, converse: p is the projection of r~, and u and p are in the subspace; equality holds",
    )
    .step(
        "leftover-dimension", r"d^{\prime}\geq d/2-\bar{T}", given=r"d^{\prime}=d/2-d_{Z}, d_{Z}\le\bar{T}",
        added=(_answers,),
        where="Lemma 3, proof: V has d/2 dimensions, of which the answers, one for each unique query, span d_Z",
    )
    .step(
        "quarter-of-the-dimension", r"e^{-Cd^{\prime}\alpha^2}\le e^{-C\frac{d}{4}\alpha^2}",
        given=r"d^{\prime}\ge d/4",
        uses=("mn25.lem3/dimension-that-is-left", "johnson-lindenstrauss"),
        where="Lemma 3, proof: the bound for a random subspace of d' dimensions is no larger than that for d/4",
    )
    .reference(
        "idea", r"d^{\prime}\ge\Omega(d)", given=r"d^{\prime}\geq d/2-\bar{T}, \bar{T}\le d/4",
        uses=("mn25.lem3/leftover-dimension",),
        where="Lemma 3, key proof ideas: the dimension of the leftover subspace",
    )
    .step(
        "projection-is-nearest", r"\|\tilde{z}-\tilde{r}\|\le\|u-\tilde{r}\|",
        given=rf"\tilde{{r}}=\tilde{{z}}+a\tilde{{o}}, {_ORTHOGONAL}, \langle u,\tilde{{o}}\rangle=0",
        where="Lemma 3, proof, 5th display",
    )
    .step(
        "nearest-point-is-unique", r"\|u-\tilde{r}\|^2=\|u-\tilde{z}\|^2+\|\tilde{z}-\tilde{r}\|^2",
        given=r"\langle u-\tilde{z},\tilde{r}-\tilde{z}\rangle=0",
        where="Lemma 3, proof, after the 5th display: r~ - z~ is a multiple of o~",
    )
    .step(
        "inner-product-with-u", r"\langle\tilde{z}+a\tilde{o}-\tilde{z},u-\tilde{z}\rangle=a\langle\tilde{o},u\rangle",
        given=_ORTHOGONAL, where="Lemma 3, proof, converse",
    )
    .step(
        "contradiction", r"a\cdot\left\langle\tilde{o},u\right\rangle>0", letters=(_a_positive,), added=(_slope,),
        where="Lemma 3, proof, converse: since a >= 0, and not 0, as r~ is not z~, on which the proof focuses",
    )
    .step(
        "dimension-that-is-left", r"d^{\prime}\geq d/4", given=r"d^{\prime}\geq d/2-\bar{T}, \bar{T}\le d/4",
        where="Lemma 3, proof: under conditioning",
    )
    .step(
        "few-queries", rf"{unique.latex}\leq\frac{{d}}{{80}}",
        given=rf"{unique.latex}\leq\frac{{d}}{{160\log(1/\alpha)}}, \log(1/\alpha)\ge\frac{{1}}{{2}}",
        where="Lemma 3, proof, after (6), for alpha of at most 480^{-1} < e^{-1/2}",
    )
    .step(
        "markov", rf"{_many.latex}\le\frac{{1}}{{20}}",
        given=rf"\frac{{d}}{{4}}\cdot {_many.latex}\le {unique.latex}, {unique.latex}\leq\frac{{d}}{{80}}",
        where="(6)", uses=("markov", "mn25.lem3/few-queries"),
    )
    .step(
        "total-probability", rf"{_P_E.latex}\leq {_largest.latex}+\frac{{1}}{{20}}",
        given=rf"{_P_E.latex}=p_{{1}}\cdot(1-{_many.latex})+p_{{2}}\cdot {_many.latex}, p_{{1}}\le {_largest.latex}, "
              rf"{_many.latex}\le\frac{{1}}{{20}}",
        where="(6)", uses=("mn25.lem3/markov",),
    )
    .step(
        "same-event", r"\frac{1}{2}\|U\|-\|\Pi_{V}U\|\geq\alpha\iff\|U\|\ge 2\|\Pi_{V}U\|+2\alpha",
        where="Lemma 3, proof: the event E",
    )
    .step(
        "random-projection", r"\frac{1}{2}\|U\|-\|\Pi_{V}U\|<\alpha", given=r"\|\Pi_{V}U\|=0, \|U\|=\frac{1}{20}",
        where="Lemma 3, proof, Johnson-Lindenstrauss for u: with s = 1/20 in the special case above, the event whose "
              "probability is to be at most exp(-C d alpha^2) always happens",
        true_if="for vectors that are orthogonal to all of O, in the space in which V is uniform",
    )
    .corrected(
        "random-projection", r"\frac{1}{2}\|U\|-\|\Pi_{V}U\|<\alpha",
        given=r"\|\Pi_{V}U\|\ge(1-\alpha)q\|U\|, q^{2}N=d^{\prime}, N\le d, d^{\prime}\ge\frac{d}{4}, \|U\|\le 1",
        added=(_kept, _room), uses=("johnson-lindenstrauss", "mn25.lem3/dimension-that-is-left"),
        because="u may have a part that is orthogonal to X and S and lies in Span(X, O), to which V is orthogonal; "
                "Johnson-Lindenstrauss gives half of the norm only of what is orthogonal to X, O and Z",
        where="Lemma 3, proof, Johnson-Lindenstrauss for u in the space of N dimensions in which V is uniform, outside "
              "of an event of probability exp(-C d' alpha^2): q = sqrt(d'/N) is at least 1/2",
    )
    .step(
        "last-display", r"\frac{1}{E_{x}}+\frac{1}{20}\leq\frac{1}{10}", given=r"E_{x}\ge 20", added=(_exponential,),
        where="Lemma 3, proof, 7th display: E_x stands for exp(C d alpha^2), which is at least 20",
    )
    .step(
        "same-answer", r"\frac{\rho(z_{t},r_{t}|v)}{\rho(r_{t}|v)}=1", given=r"\rho(z_{t},r_{t}|v)=\rho(r_{t}|v)",
        where="Lemma 3, proof: for a good subspace, the answer is what the query makes it",
    )
    .whole(
        "bound", rf"{_P_3.latex}\leq\frac{{1}}{{10}}",
        given=rf"{_P_3.latex}={_P_E.latex}, {_P_E.latex}=p_{{1}}\cdot(1-{_many.latex})+p_{{2}}\cdot {_many.latex}, "
              rf"p_{{1}}\le p_{{x}}, p_{{x}}\le\frac{{1}}{{20}}, "
              rf"\frac{{d}}{{4}}\cdot {_many.latex}\le {unique.latex}, {unique.latex}\leq\frac{{d}}{{80}}",
        added=(_P_3, _tail),
        where="Lemma 3, from Markov's inequality for the number of queries and Johnson-Lindenstrauss where it is "
              "small; "
              "p_x stands for exp(-C d alpha^2)",
        uses=(
            "johnson-lindenstrauss", "markov", "mn25.lem3/same-event", "mn25.lem3/few-queries",
            "mn25.lem3/random-projection", "mn25.lem3/last-display", "mn25.lem3/dimension-that-is-left",
            "mn25.lem3/quarter-of-the-dimension", "mn25.lem3/dimension-is-large",
        ),
    )
    .condition(
        "dimension-is-large", r"d\geq\frac{\log(20)}{C\alpha^{2}}",
        given=r"d\ge\frac{C_{2}}{\alpha^{2}}, C_{2}\ge\frac{\log(20)}{C}", added=(_log_20,),
        where="Lemma 3, proof: for C_2 large enough",
    )
)  # fmt: skip
