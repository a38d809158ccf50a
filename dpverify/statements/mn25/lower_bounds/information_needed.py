"""mn25, Lemmas 2 and 7: the information that is needed about each problem vector."""

from __future__ import annotations

from dpverify.formulas.expressions import Variable, real
from dpverify.formulas.vectors import vector
from dpverify.statements.mn25.lower_bounds.information_obtained import information
from dpverify.statements.mn25.symbols import K, d, small_alpha, unique
from dpverify.statements.sheet import CONSTANT, Sheet


def _probability(name: str, latex: str) -> Variable:
    return real(name, ge=0, le=1, latex=latex)


def _length(name: str, latex: str, meaning: str = "") -> Variable:
    return real(name, ge=0, latex=latex, meaning=meaning)


_C_1 = real("C_1", gt=0, latex="C_{1}", meaning="a constant")
_log = real("l", gt=0, latex=r"\log(1/\alpha)")
_s = real("s", gt=0)
_OFF = r"|\langle W,X_{k}\rangle-C_{1}\alpha|"
_E_f = _length("E_f", rf"\underset{{}}{{\mathbb{{E}}}}\left[{_OFF}\right]")
_E_F = _length("E_F", r"\underset{}{\mathbb{E}}\left[F(W)-F(w^{*})\right]")
_rest = _length("r", "r", "how much larger than f_k the loss is in the mean")
_P_10 = _probability("P_10", rf"\underset{{}}{{\mathbb{{P}}}}\left[{_OFF}\geq 10\alpha\right]")
_OFF_HAT = r"|\langle\hat{W},X_{k}\rangle-C_{1}\alpha|"
_P_12 = _probability("P_12", rf"\underset{{}}{{\mathbb{{P}}}}\left[{_OFF_HAT}\geq 12\alpha\right]")
_a, _b = real("a", latex=r"\hat{a}", meaning="<W^, X_k>"), real("b", latex="a", meaning="<W, X_k>")
_PVU = r"\|\Pi_{V}\Pi_{X,\mathcal{S}}^{\perp}\Pi_{Z}^{\perp}W\|"
_U = r"\|\Pi_{X,\mathcal{S}}^{\perp}\Pi_{Z}^{\perp}W\|"
_E_VU = _length("E_VU", rf"\underset{{}}{{\mathbb{{E}}}}\left[{_PVU}\right]")
_E_Z = _length("E_Z", r"\underset{}{\mathbb{E}}\left[\|\Pi_{Z}W\|\right]")
_E_V = _length("E_V", r"\underset{}{\mathbb{E}}\left[\|\Pi_{V}W\|\right]")
_E_parts = _length(
    "E_parts",
    r"\underset{}{\mathbb{E}}\left[\|\Pi_{Z}^{\perp}W-W\|+\|\Pi_{V}\Pi_{X,\mathcal{S}}^{\perp}W\|\right]",
)
_loss, _best = real("L_w", latex=r"\mathcal{L}(w)"), real("L_best", latex=r"\mathcal{L}(w^{*})")
_pv = _length("p", r"\|\Pi_{V}w\|")
_P_5 = _probability("P_5", rf"\underset{{}}{{\mathbb{{P}}}}\left[{_PVU}\geq 5\alpha\right]")
_P_U = _probability("P_U", rf"\underset{{}}{{\mathbb{{P}}}}\left[{_U}\geq 12\alpha\right]")
_P_3 = _probability("P_3", rf"\underset{{}}{{\mathbb{{P}}}}\left[{_U}\geq 2{_PVU}+2\alpha\right]")
_norm, _part = _length("U", r"\|U\|"), _length("VU", r"\|\Pi_{V}U\|")
_NORM = r"\|\Pi_{X_{k}}^{\perp}\hat{W}\|"
_P_a13 = _probability("P_a13", rf"\underset{{}}{{\mathbb{{P}}}}\left[{_NORM}\geq 13\alpha\right]")
_P_a12 = _probability("P_a12", rf"\underset{{}}{{\mathbb{{P}}}}\left[{_NORM}\geq 12\alpha\right]")
_P_e13 = _probability("P_e13", rf"\underset{{}}{{\mathbb{{P}}}}\left[{_OFF_HAT}\geq 13\alpha\right]")
_MAX = r"\max\left\{{\|\Pi^{\perp}_{X_{k}}\hat{W}\|,|\langle\hat{W},\hat{X}_{k}\rangle-C_{1}\alpha|}\right\}"
_P_m12, _P_m13 = (
    _probability(f"P_m{c}", rf"\underset{{}}{{\mathbb{{P}}}}\left[{_MAX}\geq {c}\alpha\right]")
    for c in (12, 13)
)
_P_40 = _probability(
    "P_40",
    r"\mathbb{P}\left[{2\max\left\{{\|\Pi^{\perp}_{X}\hat{W}\|,|\langle\hat{W},X_{k}\rangle-C_{1}\alpha|}\right\}"
    r"+2\alpha\geq 40\alpha}\right]",
)
_P_err = _probability("P_err", r"\mathbb{P}\left[{\|\hat{W}-\hat{X}_{k}\|\geq 40\alpha}\right]")
_largest = _length(
    "M", r"\max\left\{{\|\Pi^{\perp}_{X_{k}}\hat{W}\|,|\langle\hat{W},X_{k}\rangle-C_{1}\alpha|}\right\}"
)
_across, _along = _length("across", _NORM), real("along", latex="e", meaning="<W^, X_k> - C_1 alpha")
_to_vector, _to_cell, _cell = (
    _length("D_X", r"\|\hat{W}-C_{1}\alpha X_{k}\|"), _length("D_C", r"\|\hat{W}-\hat{X}_{k}\|"),
    _length("D", r"\|C_{1}\alpha X_{k}-\hat{X}_{k}\|"),
)  # fmt: skip
_GIVEN = r"|X_{\neq k},V)"
_I_hat = information("I_hat", rf"I(\hat{{W}};\hat{{X}}_{{k}}{_GIVEN}")
_I_all = information("I_all", rf"I(W,O,Z,\tilde{{X}};\hat{{X}}_{{k}}{_GIVEN}")
_I_sent = information("I_sent", rf"I(Y,\hat{{R}},O,Z,\tilde{{X}};\hat{{X}}_{{k}}{_GIVEN}")
_I_YR = information("I_YR", rf"I(Y,\hat{{R}};\hat{{X}}_{{k}}{_GIVEN}")
_I_OZ = information("I_OZ", r"I(O,Z;\hat{X}_{k}|X_{\neq k},V,Y,\hat{R})")
_I_cell = information("I_cell", r"I(\tilde{X}_{k};\hat{X}_{k}|X_{\neq k},V,Y,\hat{R},O,Z)")
_H = information("H", r"H(\tilde{X}_{k}|O)")
_E_log = information("E_log", r"\underset{}{\mathbb{E}}\left[\log(|\mathcal{C}_{O}|)\right]")
_E_d = _length("E_d", r"\underset{}{\mathbb{E}}\left[d_{O}\right]")
_min = information("I_W", rf"\min_{{k}}\left\{{{{I(W;\hat{{X}}_{{k}}{_GIVEN}}}\right\}}")
_W, _X, _O, _tilde, _q, _v, _z, _V = (
    vector(name, latex=latex)
    for name, latex in (
        ("W", "W"), ("X", "X_{k}"), ("O", r"\Pi_{O}X_{k}"), ("X_c", r"\tilde{X}_{k}"), ("q", r"\Pi_{\mathcal{S}}X_{k}"),
        ("v", "v"), ("z", r"\Pi_{Z}W"), ("V", r"\Pi_{V}W"),
    )
)  # fmt: skip
_estimate = vector("W_hat", latex=r"\hat{W}")
_cosine = real("c", ge=-1, le=1, meaning="<x, t>")
_off = _length("off", r"|\langle\hat{W}-W,X_{k}\rangle|")
_norm_of, _part_in = _length("norm_W", r"\|W\|"), _length("part_S", r"\|\Pi_{\mathcal{S}}X_{k}\|")
_log_3 = information("log_3", r"\log(3/\alpha)")
_HALVES = rf"\frac{{2}}{{5}}\geq {_P_40.latex}"
_FANO = rf"\frac{{1}}{{2}}-8\cdot\frac{{{_I_hat.latex}+1}}{{d}}"

_scale = real("t", gt=0, meaning="d_C log(3)")
_queries = real("queries", ge=0, latex=r"\bar{T}", meaning="number of unique queries")
_entropy, _log_of = information("H_cell", "H"), information("ell", r"\ell")
_missed = _probability("p", "p")

lem2 = (
    Sheet(
        "mn25.lem2",
        (
            small_alpha, _C_1, K, d, unique, _log, _log_3, _E_f, _E_F, _rest, _P_10, _P_12, _a, _b, _E_VU,
            _E_Z, _E_V, _E_parts, _P_5, _P_U, _P_3, _P_a13, _P_a12, _P_e13, _P_m12, _P_m13, _P_40, _P_err,
            _largest, _across, _along,
            _to_vector, _to_cell, _cell, _I_hat, _I_all, _I_sent, _I_YR, _I_OZ, _I_cell, _H, _E_log, _E_d, _min, _s,
        ),
        title="Information needed",
        where="Lemmas 2 and 7",
        latex=(
            r"\mathbb{E}[\bar{T}]\leq\frac{d}{160\log(1/\alpha)}\implies"
            r"\min_{k}\{I(W;\hat{X}_{k}|X_{\neq k},V)\}\geq\frac{d}{160}"
        ),
        pairs=("mn25.thm1.1", "mn25.thm1.2", "mn25.thm5", "mn25.lem3", "mn25.lem8"),
    )
    .instance(
        "noise-in-a-free-direction", r"\frac{(480\alpha)^2d}{4s^2}\ge\frac{d}{160}",
        given=r"(1-\frac{1}{960})^2+s^2\le 1, d\ge\frac{1}{\alpha^{3}}",
        where="Lemma 2 for what is released, with C_1 = 480",
        case="a true oracle: K queries find X, one more a direction y that is uniform among those orthogonal to V and "
             "X; W = (1 - 1/960) w* + g X_k + r y, projected to the ball, g and r being such that g X_k + r y is "
             "Gaussian noise with mean square s^2, the same in all directions orthogonal to V and the others of X; g "
             "is small, so W has loss at most alpha; on the left is what a Gaussian channel says of X_k at most",
    )
    .instance(
        "sum-of-all-vectors", r"\frac{d}{2\cdot\frac{3}{1000}K}\ge\frac{d}{160}",
        given=r"K\le\frac{1}{(480\alpha)^2}, d\ge\frac{1}{\alpha^{3}}",
        where="Lemma 2 for all that is sent: the lemma holds for every proxy oracle",
        case="a proxy oracle that sends gradients of h as they are, and of those of f_1, ..., f_K in a batch their sum "
             "plus noise of mean square 3K/1000: queries at random give directions orthogonal to V, 3 K log K of these "
             "meet every f_k, and the sum without its part in V, scaled, has loss at most alpha where alpha "
             "is small; on the left is what the noisy sum says of X_k, given the others, at most",
    )
    .reference(
        "fano", rf"{_P_err.latex} \geq\frac{{1}}{{2}}-8\cdot\frac{{{_I_hat.latex}+1}}{{d}}",
        given=rf"{_P_err.latex}\ge\frac{{1}}{{2}}-\frac{{{_I_hat.latex}+1}}{{t}}, t\ge\frac{{d}}{{8}}",
        added=(_scale,), uses=("mn25.lem8",), where="(4) and (9): Lemma 8 for the estimator; t is d_C log(3)",
    )
    .reference(
        "queries-to-learn-V", r"\bar{T}\ge\Omega(d)", given=r"d/2-\bar{T}<d/4", added=(_queries,),
        uses=("mn25.lem3/leftover-dimension",),
        where="Section 3.1, sketch: with fewer queries, at least d/4 dimensions of V are left, as Lemma 3 needs",
    )
    .reference(
        "size-of-the-rounded-vector", r"H\le\bar{T}\cdot O(\ell)", given=r"H\le\bar{T}\cdot(\ell+2), \ell\ge 6",
        added=(_queries, _entropy, _log_of), uses=("mn25.lem2/entropy-of-a-cell",),
        where="Section 3.1, sketch, the range of X~, read as the logarithm of (1/alpha)^T: l is log(1/alpha), above 6 "
              "for "
              "alpha of at most 1/480, and log 3 is below 2",
    )
    .reference(
        "unpenalized-part", r"\|U\|\le O(\alpha)", given=r"\|U\|<2\|\Pi_{V}U\|+2\alpha, \|\Pi_{V}U\|<5\alpha",
        added=(_norm, _part), uses=("mn25.lem3", "mn25.lem2/markov-in-V"),
        where="Section 3.1, sketch: the component in the unpenalized subspace, where the events of Lemma 3 and of "
              "Markov's "
              "inequality do not happen",
    )
    .reference(
        "mean-error", r"40\alpha+2\cdot\frac{2}{5}=O(\alpha)",
        uses=("mn25.lem2/union-of-events",),
        true_if="with probability 3/5 in place of the mean, which is what Appendix B.1 shows and Fano's inequality "
                "needs",
        where="Section 3.1, sketch, and Lemma 3, key proof ideas: what the proof shows of the mean of the estimator's "
              "error, which is below 40 alpha but for an event of probability 2/5, and never more than 2",
    )
    .corrected(
        "mean-error", r"1-p\ge\frac{3}{5}", given=r"p\le\frac{2}{5}", added=(_missed,),
        uses=("mn25.lem2/union-of-events",),
        because="the proof bounds the error with probability 3/5, not in the mean: where the bound does not hold, "
                "nothing is said about it",
        where="Section 3.1, sketch: with this probability the error is below 40 alpha",
    )
    .step(
        "loss-is-at-least-f", rf"{_E_f.latex}\leq {_E_F.latex}\leq\alpha",
        given=rf"{_E_F.latex}={_E_f.latex}+r, {_E_F.latex}\le\alpha", uses=("mn25.instance-facts",),
        where="Lemma 7, proof: the loss is a maximum, and 0 at w*",
    )
    .step(
        "markov-for-f", rf"{_P_10.latex}\leq\frac{{1}}{{10}}",
        given=rf"10\alpha\cdot {_P_10.latex}\le {_E_f.latex}, {_E_f.latex}\le\alpha", uses=("markov",),
        where="Lemma 7, proof, by Markov's inequality",
    )
    .step(
        "distances", rf"{_to_cell.latex}\leq {_to_vector.latex}+2\alpha\leq 2{_largest.latex}+2\alpha",
        given=rf"{_to_cell.latex}\le {_to_vector.latex}+{_cell.latex}, {_cell.latex}\le 2\alpha, "
              rf"({_to_vector.latex})^2=({_across.latex})^2+(e)^2, {_across.latex}\le {_largest.latex}, "
              rf"-{_largest.latex}\le e\le {_largest.latex}",
        where="(10): the parts along X_k and across it", uses=("triangle-inequality", "mn25.lem2/pythagoras"),
    )
    .step(
        "pythagoras", r"\|v+eX_{k}\|^2=\|v\|^2+(e)^2", given=r"\langle v,X_{k}\rangle=0, \|X_{k}\|^2=1",
        added=(_v, _X), where="(10): the parts along X_k and across it",
    )
    .step(
        "tilde-is-orthogonal", r"\langle v,\tilde{X}_{k}\rangle=0",
        given=r"\|X_{k}\|^2=1, \langle v,X_{k}\rangle=0, \langle v,X_{k}-\Pi_{O}X_{k}\rangle=0, "
              r"\|\Pi_{O}X_{k}-\tilde{X}_{k}\|\leq\alpha",
        added=(_v, _X, _O, _tilde),
        where="Lemma 7, proof, (ii): for every v of S, which is what is orthogonal to X_k in Span(O)",
        true_if="with the complement of X~_k in place of S, as W^ is defined",
    )
    .corrected(
        "tilde-is-orthogonal", r"\langle v,X_{k}\rangle\le\alpha",
        given=r"\langle v,\tilde{X}_{k}\rangle=0, \langle v,X_{k}-\Pi_{O}X_{k}\rangle=0, "
              r"\|\Pi_{O}X_{k}-\tilde{X}_{k}\|\leq\alpha, \|v\|\le 1",
        added=(_v, _X, _O, _tilde),
        because="S is defined by X_k and used as if by X~_k; for the complement of X~_k the bound holds",
        where="Lemma 7, proof, 4th display, for every unit vector v of the complement of X~_k in Span(O)",
    )
    .step(
        "projections-commute", r"c-c\cdot 1-(1-c\cdot c)c=0", added=(_cosine,),
        where="Lemma 7, proof: W^ is made by one projection after the other; for W = x, a vector of X other than X_k, "
              "and a unit vector t of S~ with <x, t> = c, the inner product of t with what is left",
        true_if="if S~ is orthogonal to the other vectors of X: these may be taken out of O, since they are given",
    )
    .corrected(
        "projections-commute", r"c-c\cdot 1-(1-c\cdot c)c=0", given="c=0", added=(_cosine,),
        because="queries, and so O and S~, may have parts along the other X_j; Lemma 5 is for orthogonal spaces",
        where="Lemma 7, proof, with the other vectors of X taken out of O",
    )
    .step(
        "parts-of-X", r"\langle W,X_{k}\rangle-\langle W,X_{k}-\Pi_{\mathcal{S}}X_{k}\rangle"
                      r"=\langle W,\Pi_{\mathcal{S}}X_{k}\rangle",
        added=(_W, _X, _q), where="Lemma 7, proof, 3rd display, second equality",
    )
    .step(
        "cauchy-schwarz", rf"{_off.latex}\leq 2\alpha",
        given=rf"{_off.latex}\le {_norm_of.latex}\cdot {_part_in.latex}, "
              rf"{_norm_of.latex}\le 1, {_part_in.latex}\le\alpha",
        added=(_off, _norm_of, _part_in), where="Lemma 7, proof: at most 2 alpha; alpha itself is enough",
        uses=("mn25.lem2/parts-of-X", "mn25.lem2/tilde-is-orthogonal", "mn25.lem2/projections-commute"),
    )
    .step(
        "length-of-what-is-removed", r"\|\hat{W}-W\|\leq 1",
        given=r"\langle\hat{W},\hat{W}-W\rangle=0, \|W\|^2\le 1", added=(_W, _estimate),
        where="Lemma 7, proof, after the 4th display, if the projections commute",
        uses=("mn25.lem2/projections-commute",),
    )
    .step(
        "inclusion-of-events", r"|\hat{a}-C_{1}\alpha|<12\alpha",
        given=r"|a-C_{1}\alpha|<10\alpha, |\hat{a}-a|\le 2\alpha",
        where="(11): where the first inner product is 12 alpha off, the second is 10 alpha off",
    )
    .step(
        "inner-product-of-the-estimator", rf"{_P_12.latex}\leq\frac{{1}}{{10}}",
        given=rf"{_P_12.latex}\le {_P_10.latex}, {_P_10.latex}\leq\frac{{1}}{{10}}",
        where="(11)", uses=("mn25.lem2/inclusion-of-events", "mn25.lem2/markov-for-f"),
    )
    .step(
        "loss-is-at-least-h", rf"\mathcal{{L}}(w)-\mathcal{{L}}(w^{{*}})\geq 2{_pv.latex}",
        given=rf"\mathcal{{L}}(w)\ge 2{_pv.latex}, \mathcal{{L}}(w^{{*}})=0", added=(_loss, _best, _pv),
        uses=("mn25.instance-facts",), where="Lemma 7, proof, last inequality of the 6th display",
    )
    .step(
        "loss-is-at-least-h-in-the-mean", rf"2{_E_V.latex}\leq\alpha",
        given=rf"2{_E_V.latex}\le {_E_F.latex}, {_E_F.latex}\leq\alpha",
        uses=("mn25.lem2/loss-is-at-least-h",), where="Section 3.1, sketch, where it says alpha without the 2",
    )
    .step(
        "known-part-of-V", r"\|\Pi_{Z}W\|\le\|\Pi_{V}W\|",
        given=r"\langle\Pi_{Z}W,W-\Pi_{Z}W\rangle=0, \langle\Pi_{Z}W,W-\Pi_{V}W\rangle=0", added=(_W, _z, _V),
        where="Lemma 7, proof, 6th display: Z lies in V",
    )
    .step(
        "norm-in-V",
        rf"{_E_VU.latex}\leq {_E_parts.latex}\leq {_E_Z.latex}+{_E_V.latex}\leq\alpha",
        given=rf"{_E_VU.latex}\leq {_E_parts.latex}, {_E_parts.latex}\leq {_E_Z.latex}+{_E_V.latex}, "
              rf"{_E_Z.latex}\le {_E_V.latex}, 2{_E_V.latex}\le {_E_F.latex}, {_E_F.latex}\leq\alpha",
        where="Lemma 7, proof, 6th display", uses=(
            "triangle-inequality", "mn25.lem5", "mn25.lem2/known-part-of-V", "mn25.lem2/loss-is-at-least-h",
        ),
    )
    .step(
        "markov-in-V", rf"{_P_5.latex}\leq 1/5",
        given=rf"5\alpha\cdot {_P_5.latex}\le {_E_VU.latex}, {_E_VU.latex}\leq\alpha",
        where="Lemma 7, proof, 7th display, (i)", uses=("markov", "mn25.lem2/norm-in-V"),
    )
    .step(
        "larger-where-V-is-not", r"\|U\|\ge 2\|\Pi_{V}U\|+2\alpha", given=r"\|U\|\ge 12\alpha, \|\Pi_{V}U\|<5\alpha",
        added=(_norm, _part), where="Lemma 7, proof, 7th display, (ii): one of two events",
    )
    .step(
        "norm-outside-of-V", rf"{_P_U.latex}\leq 3/10",
        given=rf"{_P_U.latex}\le {_P_5.latex}+{_P_3.latex}, {_P_5.latex}\leq 1/5, {_P_3.latex}\le\frac{{1}}{{10}}",
        where="Lemma 7, proof, 7th display, (ii)",
        uses=("mn25.lem3", "mn25.lem2/markov-in-V", "mn25.lem2/larger-where-V-is-not"),
    )
    .step(
        "spans-are-close", r"\langle v,\tilde{X}_{k}\rangle\le\alpha\|\tilde{X}_{k}\|",
        given=r"\langle v,\Pi_{O}X_{k}\rangle=0, \|v\|\le 1, \|\Pi_{O}X_{k}-\tilde{X}_{k}\|\leq\alpha",
        added=(_v, _O, _tilde),
        where="Lemma 7, proof, before (12): the shortest path from v of S to the complement of X~_k",
        true_if="if X~_k is a unit vector near the direction of the projection of X_k",
    )
    .corrected(
        "spans-are-close", r"\langle v,\tilde{X}_{k}\rangle\le\alpha\|\tilde{X}_{k}\|",
        given=r"\langle v,\Pi_{O}X_{k}\rangle=0, \|v\|\le 1, \|\Pi_{O}X_{k}-\tilde{X}_{k}\|\leq\alpha, "
              r"\|\tilde{X}_{k}\|=1",
        added=(_v, _O, _tilde),
        because="the projection of X_k may be shorter than alpha, and X~_k may have any direction then; it is the "
                "direction that should be rounded",
        where="Lemma 7, proof, before (12), for directions that are alpha apart",
    )
    .step(
        "union-of-events", rf"{_P_m12.latex}\leq\frac{{1}}{{10}}+\frac{{3}}{{10}}\leq\frac{{2}}{{5}}",
        given=rf"{_P_m12.latex}\le {_P_a12.latex}+{_P_12.latex}, {_P_a13.latex}\le {_P_a12.latex}, "
              rf"{_P_a13.latex}\leq 3/10, {_P_12.latex}\leq\frac{{1}}{{10}}",
        where="Lemma 7, proof, 9th display, with (12), which is about 13 alpha",
        true_if="with 13 alpha, which is enough for 40 alpha",
    )
    .corrected(
        "union-of-events", rf"{_P_m13.latex}\leq\frac{{1}}{{10}}+\frac{{3}}{{10}}\leq\frac{{2}}{{5}}",
        given=rf"{_P_m13.latex}\le {_P_a13.latex}+{_P_e13.latex}, {_P_e13.latex}\le {_P_12.latex}, "
              rf"{_P_a13.latex}\leq 3/10, {_P_12.latex}\leq\frac{{1}}{{10}}",
        because="12 alpha should be 13 alpha", where="Lemma 7, proof, 9th display with 13 alpha",
    )
    .step(
        "thirteen-is-enough", rf"2{_largest.latex}+2\alpha<40\alpha", given=rf"{_largest.latex}<13\alpha",
        where="Lemma 7, proof, 10th display",
    )
    .step(
        "between-two-bounds", rf"{_HALVES}\geq {_FANO}",
        given=rf"{_P_40.latex}\le {_P_m13.latex}, {_P_m13.latex}\leq\frac{{2}}{{5}}, {_P_err.latex}\le {_P_40.latex}, "
              rf"{_P_err.latex}\geq {_FANO}",
        where="Lemma 7, proof, 10th display",
        uses=(
            "mn25.lem8", "mn25.lem2/union-of-events", "mn25.lem2/distances", "mn25.lem2/thirteen-is-enough",
            "mn25.lem2/inner-product-of-the-estimator", "mn25.lem2/norm-outside-of-V",
        ),
    )
    .step(
        "consequently", rf"\frac{{d}}{{80}}\leq {_I_hat.latex}", given=rf"\frac{{2}}{{5}}\geq {_FANO}",
        where="(13)", consequence=CONSTANT, true_if="with d/80 - 1, or d/81 for d of at least 6480",
    )
    .corrected(
        "consequently", rf"\frac{{d}}{{80}}-1\leq {_I_hat.latex}", given=rf"\frac{{2}}{{5}}\geq {_FANO}",
        because="the 1 of Fano's inequality is lost", where="(13) with the 1",
    )
    .step(
        "chain-rule",
        rf"{_I_hat.latex}\le {_I_YR.latex}+{_I_OZ.latex}+{_I_cell.latex}",
        given=rf"{_I_hat.latex}\leq {_I_all.latex}, {_I_all.latex}\leq {_I_sent.latex}, "
              rf"{_I_sent.latex}={_I_YR.latex}+{_I_OZ.latex}+{_I_cell.latex}",
        where="Lemma 7, proof, 12th display, lines 1 to 3", uses=("data-processing", "chain-rule-of-information"),
    )
    .step(
        "without-O-and-Z", rf"{_I_hat.latex}\le {_I_YR.latex}+{_H.latex}",
        given=rf"{_I_hat.latex}\le {_I_YR.latex}+{_I_OZ.latex}+{_I_cell.latex}, "
              rf"{_I_OZ.latex}=0, {_I_cell.latex}\le {_H.latex}",
        where="Lemma 7, proof, 12th display, (i)", uses=("largest-entropy", "mn25.lem2/chain-rule"),
    )
    .step(
        "entropy-of-a-cell", rf"{_H.latex}\leq {_E_log.latex}\leq {_E_d.latex}\log(3/\alpha)",
        given=rf"{_H.latex}\leq {_E_log.latex}, {_E_log.latex}\leq {_E_d.latex}\cdot\log(3/\alpha)",
        uses=("largest-entropy", "packing-number"), where="Lemma 7, proof, for step (ii)",
    )
    .step(
        "with-unique-queries", rf"{_I_YR.latex}+{_H.latex}\le {_I_YR.latex}+{unique.latex}\log(3/\alpha)",
        given=rf"{_H.latex}\leq {_E_d.latex}\cdot\log(3/\alpha), {_E_d.latex}\le {unique.latex}",
        where="Lemma 7, proof, 12th display, (ii)", uses=("mn25.lem2/entropy-of-a-cell",),
    )
    .step(
        "budget-of-queries",
        rf"{_I_YR.latex}+{unique.latex}\cdot(\log 3+\log(1/\alpha))\leq {_I_YR.latex}+\frac{{d}}{{160}}",
        given=rf"{unique.latex}\leq\frac{{d}}{{160\log(1/\alpha)}}",
        where="Lemma 7, proof, 12th display, last line", consequence=CONSTANT,
        true_if="under the condition of Theorem 1, with 640 in place of 160, for alpha of at most 1/3",
    )
    .corrected(
        "budget-of-queries",
        rf"{_I_YR.latex}+{unique.latex}\cdot\log(3/\alpha)\leq {_I_YR.latex}+\frac{{d}}{{320}}",
        given=rf"{unique.latex}\leq\frac{{d}}{{640\log(1/\alpha)}}, \log(3/\alpha)\le 2\log(1/\alpha)",
        because="log(3/alpha) is more than log(1/alpha)",
        where="Lemma 7, proof, 12th display, last line, under the condition of Theorem 1 and for alpha of at most 1/3",
    )
    .corrected(
        "logarithms-for-small-accuracies",
        r"\frac{3}{\alpha}\le(\frac{1}{\alpha})^{2}",
        given=r"\alpha\le\frac{1}{3}",
        coverage="step", where="Lemma 7, proof: log(3/alpha) is at most 2 log(1/alpha) for alpha of at most 1/3",
    )
    .whole(
        "bound", rf"{_min.latex}\geq\frac{{d}}{{160}}",
        given=rf"\frac{{d}}{{80}}\leq {_I_hat.latex}, {_I_hat.latex}\le {_I_YR.latex}+\frac{{d}}{{160}}, "
              rf"{_min.latex}\le {_I_YR.latex}",
        where="Lemma 7, from (13) and (14), as printed: these are about what is sent",
        uses=("data-processing",),
    )
    .reference(
        "in-the-text", rf"{_min.latex}\ \geq d/160",
        given=rf"\frac{{d}}{{80}}\leq {_I_hat.latex}, "
              rf"{_I_hat.latex}\le {_I_YR.latex}+\frac{{d}}{{160}}, {_min.latex}\le {_I_YR.latex}",
        uses=("data-processing",),
        where="Lemma 2, which Lemma 7 restates, from (13) and (14), as printed; a brace is missing",
    )
    .step(
        "last-display", rf"\frac{{d}}{{160}}={_min.latex}",
        given=rf"\frac{{d}}{{80}}\leq {_I_hat.latex}, "
              rf"{_I_hat.latex}\le {_I_YR.latex}+\frac{{d}}{{160}}, {_min.latex}\le {_I_YR.latex}",
        where="Lemma 7, proof, 13th display",
        true_if="as a lower bound for what is sent, not for what is released",
    )
    .corrected(
        "last-display", rf"\frac{{d}}{{160}}\le {_I_YR.latex}",
        given=rf"\frac{{d}}{{80}}-1\leq {_I_hat.latex}, {_I_hat.latex}\le {_I_YR.latex}+\frac{{d}}{{320}}, d\ge 320",
        because="what is released may say less than what is sent; the chain ends at the latter, with an inequality",
        where="Lemma 7, proof, 13th display for all that is sent, with the corrected constants",
    )
)  # fmt: skip
