"""mn25, Appendix B.1.1: the variant of Fano's inequality, and how much entropy a rounded vector has."""

from __future__ import annotations

from dpverify.formulas.expressions import integer, real
from dpverify.statements.mn25.lower_bounds.information_obtained import information
from dpverify.statements.mn25.symbols import C_2, K, d, small_alpha
from dpverify.statements.sheet import EDGE, Sheet

_C_1 = real("C_1", gt=0, latex="C_{1}", meaning="a constant")
_dim = integer("dim", ge=1, latex=r"d_{\mathcal{C}}", meaning="dimension of the packing")
_cells = real("cells", gt=0, latex=r"|\mathcal{C}|", meaning="number of points of the packing")
_GIVEN = r"X_{\neq k}=x_{\neq k},V=v"
_P = real("P", ge=0, le=1, latex="P_{err}")
_H = information("H", rf"H(\hat{{X}}_{{k}}|{_GIVEN})")
_I = information("I", rf"I(\hat{{W}};\hat{{X}}_{{k}}|{_GIVEN})")
_log_near, _log_cells, _log_ratio, _log_less = (
    information(name, latex)
    for name, latex in (
        ("log_near", r"\log(N_{max})"), ("log_cells", r"\log(|\mathcal{C}|)"),
        ("log_ratio", r"\log(|\mathcal{C}|/N_{max})"), ("log_less", r"\log(|\mathcal{C}|/N_{max}-1)"),
    )
)  # fmt: skip
_P_mean = real("P_mean", ge=0, le=1, latex=r"\mathbb{P}\left[{\|\hat{W}-\hat{X}_{k}\|\geq 40\alpha}\right]")
_I_mean = information("I_mean", r"I(\hat{W};\hat{X}_{k}|X_{\neq k},V))")
_FIRST = r"\frac{(d_{\mathcal{C}}-1)\log(C_{1}/2)-d_{\mathcal{C}}\log(120)}{d_{\mathcal{C}}\log(1440)}"
_SECOND = rf"\frac{{{_I.latex}+1}}{{d_{{\mathcal{{C}}}}\log(C_{{1}}/120-1)}}"
_three, _four, _fourteen = (real(name, gt=0) for name in "abc")
_log_inverse = real("l", gt=0, latex=r"\ell", meaning="log(1/q)")

lem8 = (
    Sheet(
        "mn25.lem8",
        (
            small_alpha, _C_1, C_2, K, d, _dim, _cells, _P, _H, _I, _log_near, _log_cells, _log_ratio, _log_less,
            _P_mean, _I_mean,
        ),
        title="Fano variant with its constants",
        where="Lemma 8",
        latex=(
            r"\mathbb{P}[\|\hat{W}-\hat{X}_{k}\|\geq 40\alpha]\geq\frac{1}{2}"
            r"-8\cdot\frac{I(\hat{W};\hat{X}_{k}|X_{\neq k},V)+1}{d}"
        ),
        pairs=("mn25.lem2", "mn25.lem9", "mn25.lem10"),
    )
    .step(
        "dimension", r"d_{\mathcal{C}}=d-d/2-K+1\geq d/4",
        given=r"d_{\mathcal{C}}=d-d/2-K+1, K=\frac{1}{480^{2}\alpha^{2}}, d\geq C_{2}/\alpha^{2}, "
              r"C_{2}\ge\frac{4}{480^{2}}",
        where="Lemma 8, proof: what is orthogonal to V and to K - 1 vectors",
    )
    .step(
        "size-of-the-packing", r"C_{1}^{2}\le 3C_{1}", given="C_{1}=480",
        where="Lemma 8, proof: |C| lies in [C_1^d, (3 C_1)^{d_C}]; for d = 2 d_C, the roots of order d_C of both ends",
        true_if="with d_C in place of d in the exponent",
    )
    .corrected(
        "size-of-the-packing", r"C_{1}\le 3C_{1}", given="C_{1}=480",
        because="the packing has dimension d_C: it has at least C_1^{d_C} points",
        where="Lemma 8, proof, with d_C in both exponents, the roots of order d_C of both ends",
    )
    .step(
        "denominators", r"3a\le 4b-1", given=r"a\le b-1, b\ge 4", added=(_three, _four),
        where="Lemma 8, proof: 3^m is at most 4^m - 1, by induction from m = 1; |C|/N_max is at least 4^{d_C}",
    )
    .step(
        "first-fraction", r"\frac{h-y}{r}\ge\frac{a-b}{c}", given=r"h\ge a, y\le b, r\le c, a\ge b",
        added=(_three, _four, _fourteen, *(real(name, gt=0) for name in "hry")),
        where="Lemma 8, proof, 3rd display, line 1: h is the entropy, y is log(N_max), r the logarithm below; a, b and "
              "c are what is printed",
        uses=("mn25.lem9", "mn25.lem10", "packing-number"),
    )
    .step(
        "second-fraction", rf"\frac{{{_I.latex}+1}}{{r}}\le\frac{{{_I.latex}+1}}{{c}}", given=r"c\le r",
        added=(_fourteen, real("r", gt=0)),
        where="Lemma 8, proof, 3rd display, line 1: r is the logarithm below, c what is printed",
        uses=("mn25.lem8/denominators",),
    )
    .step(
        "one-half", rf"{_FIRST}\ge\frac{{1}}{{2}}", given=r"C_{1}=480, d_{\mathcal{C}}\ge 10^{6}",
        where="Lemma 8, proof, 3rd display, line 2, first part, for large d: it is below 1/10",
        true_if="with C_1 = 400000, and 3 C_1 for 1440",
    )
    .corrected(
        "one-half", r"\frac{(d_{\mathcal{C}}-1)a-d_{\mathcal{C}}b}{d_{\mathcal{C}}c}\ge\frac{1}{2}",
        given=r"d_{\mathcal{C}}\ge 1000, a\ge 12, b\le\frac{24}{5}, c\le 14", added=(_three, _four, _fourteen),
        because="with C_1 = 480 the first part is at most log(2)/log(1440), less than 1/10, however large d is",
        where="Lemma 8, proof, with C_1 = 400000: a = log(C_1/2), b = log(120), c = log(3 C_1)",
        uses=("mn25.lem8/entropy-per-dimension", "mn25.lem8/points-nearby", "mn25.lem8/all-points"),
    )
    .corrected(
        "entropy-per-dimension", r"12\le\log(\frac{400000}{2})", coverage="step",
        where="Lemma 8, proof, with C_1 = 400000",
    )
    .corrected(
        "points-nearby", r"\log(120)\le\frac{24}{5}", coverage="step", where="Lemma 8, proof",
    )
    .corrected(
        "all-points", r"\log(3\cdot 400000)\le 14", coverage="step", where="Lemma 8, proof, with C_1 = 400000",
    )
    .step(
        "eight", r"\frac{1}{d_{\mathcal{C}}\cdot c}\le\frac{8}{d}", given=r"d_{\mathcal{C}}\geq d/4, c\ge 1",
        added=(_fourteen,), where="Lemma 8, proof, 3rd display, line 2, second part: c = log(C_1/120 - 1)",
        uses=("mn25.lem8/logarithm-of-three",),
    )
    .step(
        "logarithm-of-three", r"1\le\log(480/120-1)", where="Lemma 8, proof, 3rd display, line 2",
    )
    .step(
        "in-the-mean",
        r"p\cdot(\frac{1}{2}-8\cdot\frac{a+1}{d})+(1-p)(\frac{1}{2}-8\cdot\frac{b+1}{d})"
        r"=\frac{1}{2}-8\cdot\frac{pa+(1-p)b+1}{d}",
        added=(_three, _four, real("p", ge=0, le=1)), where="Lemma 8, proof, 4th display, for a mean of two",
    )
    .whole(
        "bound", rf"{_P_mean.latex}\geq\frac{{1}}{{2}}-8\cdot\frac{{{_I_mean.latex}+1}}{{d}}",
        given=rf"{_P_mean.latex}\ge\frac{{1}}{{2}}-\frac{{{_I_mean.latex}+1}}{{t}}, t\ge\frac{{d}}{{8}}",
        added=(real("t", gt=0, meaning="d_C log(3)"),), where="Lemma 8, from one half and eight, in the mean",
        uses=(
            "mn25.lem8/first-fraction", "mn25.lem8/second-fraction", "mn25.lem8/one-half", "mn25.lem8/eight",
            "mn25.lem8/dimension", "mn25.lem8/in-the-mean",
        ),
    )
    .corrected(
        "bound", rf"{_P_mean.latex}\geq\frac{{1}}{{2}}-8\cdot\frac{{{_I_mean.latex}+1}}{{d}}",
        given=rf"{_I_mean.latex}\ge(1-{_P_mean.latex})\ell-1, \ell\ge 2(d_{{\mathcal{{C}}}}-1), "
              r"d_{\mathcal{C}}\geq d/4, d\ge 8",
        added=(_log_inverse,),
        where="Lemma 8 with C_1 = 480, from the continuum form of Fano's inequality: l = log(1/q), where q is at most "
              "(42/480)^{d_C - 1} by the bound of Lemma 9 for 42 alpha in place of 2 alpha",
        uses=("continuum-fano", "mn25.lem9", "mn25.lem8/two-per-dimension", "mn25.lem8/dimension"),
    )
    .corrected(
        "two-per-dimension", r"2\le\log(480/42)", coverage="step", where="Lemma 8: log(1/q) is at least 2 (d_C - 1)",
    )
)  # fmt: skip

_r = real("r", gt=0, meaning="radius of the ball")
_H9 = information("H", r"H(\hat{X})")
_probability = real("p", gt=0, le=1, latex=r"\mathbb{P}[\hat{X}=c]")
_volume = real("volume", gt=0, latex=r"\mathsf{Vol}(\mathcal{S}(1,0))")
_cap = real("cap", gt=0, latex=r"\mathsf{Vol}(\mathcal{S}(2\alpha,0))")
_sphere = real("sphere", gt=0, latex=r"\mathsf{Vol}(\mathcal{S}(r,0))")

lem9 = (
    Sheet(
        "mn25.lem9",
        (small_alpha, _r, _dim, _H9, _probability, _volume, _cap, _sphere),
        title="Entropy of a rounded vector",
        where="Lemma 9",
        latex=r"H(\hat{X})\geq(d_{\mathcal{C}}-1)\log(r/2\alpha)",
        pairs=("mn25.lem8",),
    )
    .instance(
        "unit-vector-in-a-large-ball", r"\log(16)\ge\log(r/(2\cdot\frac{1}{2}))", consequence=EDGE,
        where="Lemma 9 for d_C = 2 and alpha = 1/2",
        case="X is a unit vector, and the packing of a larger ball is a square grid, but near the ball's "
             "edge: 16 of its points can be nearest to a unit vector",
        true_if="for X of norm r, as in Lemma 8, where C_1 alpha X_k is rounded",
    )
    .step(
        "ratio-of-areas",
        r"\frac{\mathsf{Vol}(\mathcal{S}(2\alpha,0))}{\mathsf{Vol}(\mathcal{S}(r,0))}=\frac{a}{b}",
        given=r"\mathsf{Vol}(\mathcal{S}(2\alpha,0))=a\cdot\mathsf{Vol}(\mathcal{S}(1,0)), "
              r"\mathsf{Vol}(\mathcal{S}(r,0))=b\cdot\mathsf{Vol}(\mathcal{S}(1,0))",
        added=(_three, _four), where="Lemma 9, proof, for X of norm r: a and b are (2 alpha)^{d_C - 1} and r^{d_C - 1}",
    )
    .instance(
        "cap-in-three-dimensions", r"\frac{\pi(2\alpha)^{2}}{4\pi r^{2}}\le(2\alpha/r)^{2}",
        where="Lemma 9, proof, for X of norm r", case="d_C = 3: a cap whose points are within 2 alpha of its pole",
        catches=("a quarter of the radius", r"\frac{\pi(2\alpha)^{2}}{4\pi r^{2}}\le(\frac{\alpha}{2r})^{2}"),
    )
    .corrected(
        "unit-vector-in-a-large-ball", r"\log(\frac{4\pi r^{2}}{\pi(2\alpha)^{2}})\ge 2\log(r/(2\alpha))",
        where="Lemma 9 for d_C = 3 and X of norm r",
        case="the surprisal of a cap whose points are within 2 alpha of its pole",
        because="X has to be uniform on the sphere of radius r, as in Lemma 8, not a unit vector",
        catches=("the diameter of the cap in place of its radius",
                 r"\log(\frac{4\pi r^{2}}{\pi(2\alpha)^{2}})\ge 2\log(2r/\alpha)"),
    )
    .whole(
        "entropy", rf"{_H9.latex}\geq(d_{{\mathcal{{C}}}}-1)\log(r/(2\alpha))",
        given=rf"{_H9.latex}\ge\log(1/{_probability.latex}), "
              rf"\log(1/{_probability.latex})\ge\log(1/(2\alpha/r)^{{d_{{\mathcal{{C}}}}-1}})",
        where="Lemma 9 for X of norm r: the mean of the values' surprisals is at least that of the likeliest value c",
        uses=("area-of-convex-bodies", "mn25.lem9/ratio-of-areas"),
    )
    .correction(
        latex=r"X\text{ uniform on }\mathcal{S}(r,0)\implies H(\hat{X})\geq(d_{\mathcal{C}}-1)\log(r/2\alpha)",
    )
)  # fmt: skip

_far = real("P", ge=0, le=1, latex=r"\underset{}{\mathbb{P}}\left[\|X-Y\|\geq\tau\right]")
_size, _most, _least = (
    real("size", gt=0, latex=r"|\mathcal{C}|"),
    real("most", ge=1, latex="N_{max}"),
    real("least", ge=1, latex="N_{min}"),
)
_HX, _HXY, _IYX = information("H", "H(X)"), information("H_Y", "H(X|Y)"), information("I", "I(Y;X)")
_a, _b, _c, _g = (real(name, gt=0) for name in "abcg")
_l_most = real("l_most", ge=0, latex=r"\log(N_{max})")

lem10 = (
    Sheet(
        "mn25.lem10",
        (_far, _size, _most, _least, _HX, _HXY, _IYX, _a, _b, _c, _l_most),
        title="Fano restated",
        where="Lemma 10",
        latex=(
            r"\mathbb{P}[\|X-Y\|\geq\tau]\geq\frac{H(X)-\log(N_{max})}{\log(\frac{|\mathcal{C}|}{N_{max}})}"
            r"-\frac{I(Y;X)+1}{\log(\frac{|\mathcal{C}|}{N_{max}}-1)}"
        ),
        pairs=("mn25.lem8",),
    )
    .instance(
        "three-points", r"0\ge\frac{\log(3)-\log(2)}{\log(\frac{3}{2})}-\frac{\log(3)+1}{\log(\frac{3}{2}-1)}",
        consequence=EDGE, true_if="where |C| is more than 2 N_max, so the second logarithm is positive",
        where="Lemma 10 for |C| = 3 and N_max = 2",
        case="C = {0, 1, 10}, tau = 1, X uniform, Y = X",
    )
    .step(
        "first-line", r"\frac{H(X|Y)-\log(N_{max})-1}{a}=\frac{H(X)-\log(N_{max})}{a}-\frac{I(Y;X)+1}{a}",
        given=r"H(X|Y)=H(X)-I(Y;X)",
        where="Lemma 10, proof, lines 1 and 2: a is the logarithm of (|C| - N_min)/N_max",
    )
    .step(
        "arguments", r"\frac{|\mathcal{C}|}{N_{max}}-1\le\frac{|\mathcal{C}|-N_{min}}{N_{max}}"
                     r"\le\frac{|\mathcal{C}|}{N_{max}}",
        given=r"N_{min}\le N_{max}", where="Lemma 10, proof, from line 2 to line 3: arguments of the logarithms",
    )
    .step(
        "last-line",
        r"\frac{H(X)-\log(N_{max})}{a}-\frac{I(Y;X)+1}{a}\ge\frac{H(X)-\log(N_{max})}{b}-\frac{I(Y;X)+1}{c}",
        given=r"c\le a\le b", where="Lemma 10, proof, lines 2 and 3: c, a and b are the three logarithms",
        consequence=EDGE, true_if="where H(X) is at least log(N_max); elsewhere the bound is negative",
    )
    .corrected(
        "last-line",
        r"\frac{H(X)-\log(N_{max})}{a}-\frac{I(Y;X)+1}{a}\ge\frac{H(X)-\log(N_{max})}{b}-\frac{I(Y;X)+1}{c}",
        given=r"c\le a\le b, H(X)\ge\log(N_{max})",
        because="a larger denominator makes a negative fraction larger, and the last logarithm may be negative",
        where="Lemma 10, proof, lines 2 and 3, where H(X) is at least log(N_max) and all logarithms are positive",
    )
    .whole(
        "bound", rf"{_far.latex}\ge\frac{{H(X)-\log(N_{{max}})}}{{b}}-\frac{{I(Y;X)+1}}{{c}}",
        given=rf"{_far.latex}\ge\frac{{H(X)-\log(N_{{max}})}}{{a}}-\frac{{I(Y;X)+1}}{{a}}, c\le a\le b, "
              r"H(X)\ge\log(N_{max})",
        where="Lemma 10, where all logarithms are positive and H(X) is at least log(N_max): a is the logarithm of the "
              "cited proposition, b and c are the two that are printed",
        uses=("duchi-wainwright", "mn25.lem10/first-line", "mn25.lem10/arguments"),
    )
    .whole(
        "where-it-is-negative", r"0\ge\frac{H(X)-\log(N_{max})}{b}-\frac{I(Y;X)+1}{c}",
        given=r"H(X)\le\log(N_{max})", where="Lemma 10, where all logarithms are positive and H(X) is below log(N_max)",
    )
    .correction(
        "|C| has to be more than 2 N_max for the last logarithm to be positive", replaces=("three-points",),
        latex=r"|\mathcal{C}|>2N_{max}\implies\mathbb{P}[\|X-Y\|\geq\tau]\geq"
              r"\frac{H(X)-\log(N_{max})}{\log(\frac{|\mathcal{C}|}{N_{max}})}"
              r"-\frac{I(Y;X)+1}{\log(\frac{|\mathcal{C}|}{N_{max}}-1)}",
    )
)  # fmt: skip
