"""gll22, Sections 3.4 and 4: isoperimetry, concentration, and the trade-off function that they give."""

from __future__ import annotations

from dpverify.formulas.expressions import Variable, real
from dpverify.formulas.units import LENGTH
from dpverify.formulas.vectors import vector
from dpverify.statements.gll22.symbols import G_exponent as G
from dpverify.statements.gll22.symbols import mu_exponent as mu
from dpverify.statements.sheet import EDGE, Sheet

_E = r"\operatorname*{\mathbb{E}}"


def _mass(name: str, latex: str, meaning: str = "") -> Variable:
    return real(name, ge=0, le=1, latex=latex, meaning=meaning)


_r = real("r", ge=0, unit=LENGTH)
_quantile = real("q", latex=r"\Phi^{-1}(z)", meaning="Gaussian quantile of z")
_z = real("z", gt=0, lt=1, meaning="a mass")
_A_r = _mass("A_r", r"\pi(A_{r})")

prop3_11 = (
    Sheet(
        "gll22.prop3.11", (_r, mu, _quantile, _A_r),
        title="Isoperimetry", where="Proposition 3.11", latex=r"\pi(A_{r})\geq\Phi(\Phi^{-1}(z)+r\sqrt{\mu})",
        pairs=("gll22.cor3.12",),
    )
    .whole(
        "expansion", r"\pi(A_{r})\geq\Phi(\Phi^{-1}(z)+r\sqrt{\mu})",
        given=r"\pi(A_{r})\ge\Phi(\frac{\Phi^{-1}(z)/\sqrt{\mu}+r}{1/\sqrt{\mu}})", uses=("gaussian-isoperimetry",),
        where="Proposition 3.11: no set of mass z expands less than a half line of mass z of the Gaussian law with "
              "variance 1/mu",
    )
)  # fmt: skip

_above = _mass("above", r"\Pr_{x\sim\pi}[\alpha(x)\geq m(z)+r]")
_below = _mass("below", r"\Pr_{x\sim\pi}[\alpha(x)\leq m(z)-r]")
_far, _near = _mass("far", r"\pi(\overline{A_{r/G}})"), _mass("near", r"\pi(A_{r/G})")
_value = real("alpha", latex=r"\alpha(x)", meaning="value of a G-Lipschitz function")
_level = real("m", latex=r"m(z)")
_distance = real("distance", ge=0, unit=LENGTH, latex=r"d(x,A)")
_y_value = real("alpha_y", latex=r"\alpha(y)", meaning="its value at a nearest point of A")
_number_r = real("r", ge=0, meaning="how much larger the value is")
_NEAREST = r"\alpha(y)\le m(z), \alpha(x)-\alpha(y)\le G d(x,A)"
_FLAT = "N(0, 1), alpha(x) = max(x, 0) and z = 1/2, so m(z) = 0 and Phi^-1(1 - z) = 0"
_BEYOND = r"\Phi\left(\Phi^{-1}(1-z)-\frac{r\sqrt{\mu}}{G}\right)"

cor3_12 = (
    Sheet(
        "gll22.cor3.12",
        (_number_r, mu, G, _quantile, _above, _below, _far, _near, _value, _level, _distance, _y_value),
        title="Concentration of Lipschitz functions", where="Corollary 3.12",
        latex=rf"{_above.latex}\leq{_BEYOND}",
        pairs=("gll22.prop3.11", "gll22.thm2.1"),
    )
    .define(r"\Phi^{-1}(1-z)", r"-(\Phi^{-1}(z))")
    .step(
        "distance",
        r"d(x,A)\geq r/G", given=r"\alpha(x)\geq m(z)+r, \alpha(y)\le m(z), \alpha(x)-\alpha(y)\le G d(x,A)",
        where="Corollary 3.12, proof: y is a point of A nearest to x",
    )
    .step(
        "other-points",
        r"(\alpha(x)\geq m(z)+r\implies d(x,A)\geq r/G)\text{ and }(d(x,A)\geq r/G\iff\neg(d(x,A)\le r/G))",
        given=_NEAREST, uses=("gll22.cor3.12/distance",),
        true_if="if no mass lies at the distance r/G",
        where="Corollary 3.12, proof, before the display: the set on the "
        "left is called the complement of A_{r/G}",
    )
    .corrected(
        "other-points",
        r"(\alpha(x)\geq m(z)+r\implies d(x,A)\geq r/G)\text{ and }(d(x,A)\geq r/G\iff\neg(d(x,A)<r/G))",
        given=_NEAREST, uses=("gll22.cor3.12/distance",),
        because="points at distance r/G are in A_{r/G} and in what is called its complement; they may have mass if r "
                "is "
                "0, and then the first bound fails where alpha takes the value m(z) with a positive probability",
        where="Corollary 3.12, proof, before the display, with A_{r/G} without the points at distance r/G",
    )
    .step(
        "complement", rf"{_above.latex} \leq\pi(\overline{{A_{{r/G}}}})=1-\pi(A_{{r/G}})",
        given=rf"{_above.latex} \leq\pi(\overline{{A_{{r/G}}}}), \pi(\overline{{A_{{r/G}}}})=1-\pi(A_{{r/G}})",
        uses=("gll22.cor3.12/distance",),
        where="Corollary 3.12, proof, display, lines 1 and 2: up to where d(x, A) is r/G, which has no mass for r > 0",
    )
    .step(
        "isoperimetry", r"1-\pi(A_{r/G})\leq 1-\Phi\left(\Phi^{-1}(z)+\frac{r\sqrt{\mu}}{G}\right)",
        given=r"\pi(A_{r/G})\ge\Phi(\Phi^{-1}(z)+\frac{r}{G}\sqrt{\mu})", uses=("gll22.prop3.11",),
        where="Corollary 3.12, proof, display, line 3",
    )
    .step(
        "reflection",
        r"1-\Phi\left(\Phi^{-1}(z)+\frac{r\sqrt{\mu}}{G}\right)=\Phi\left(-\Phi^{-1}(z)-\frac{r\sqrt{\mu}}{G}\right)",
        where="Corollary 3.12, proof, display, line 4",
    )
    .whole(
        "above", rf"{_above.latex}\leq{_BEYOND}",
        given=rf"{_above.latex}\le {_far.latex}, {_far.latex}=1-{_near.latex}, "
              r"\pi(A_{r/G})\ge\Phi(\Phi^{-1}(z)+\frac{r}{G}\sqrt{\mu})",
        uses=("gll22.prop3.11", "gll22.cor3.12/complement", "gll22.cor3.12/isoperimetry", "gll22.cor3.12/reflection"),
        where="Corollary 3.12, first line, for r > 0: the mass that expands is that of A, which is z",
    )
    .whole(
        "below", r"\Pr_{x\sim\pi}[\alpha(x)\leq m(z)-r]\leq\Phi\left(\Phi^{-1}(z)-\frac{r\sqrt{\mu}}{G}\right)",
        given=rf"{_below.latex}\le 1-b, b\ge\Phi(-\Phi^{{-1}}(z)+\frac{{r}}{{G}}\sqrt{{\mu}})",
        added=(_mass("b", "b", "mass of what is near the points where alpha is at least m(z)"),),
        uses=("gll22.prop3.11", "gll22.cor3.12/complement", "gll22.cor3.12/isoperimetry", "gll22.cor3.12/reflection"),
        where="Corollary 3.12, second line: the first for -alpha, whose 1 - z quantile is -m(z)",
    )
    .instance(
        "at-the-level", rf"{_above.latex}\leq\Phi(-\frac{{r\sqrt{{\mu}}}}{{G}})",
        given=rf"r=0, {_above.latex}=1", case=_FLAT,
        where="Corollary 3.12, first line, for every r >= 0", consequence=EDGE,
        true_if="for r > 0, or if alpha takes no value with a positive probability",
    )
    .corrected(
        "at-the-level", r"\Phi(-r)\leq\Phi(-\frac{r\sqrt{\mu}}{G})", given=r"r>0, \mu=G^2",
        case="N(0, 1/mu), alpha(x) = G max(x, 0) with G^2 = mu, and z = 1/2",
        where="Corollary 3.12, first line, for r > 0",
        catches=("twice the distance", r"\Phi(-r)\leq\Phi(-\frac{2r\sqrt{\mu}}{G})"),
    )
)  # fmt: skip

_T, _T_GAUSS = r"T(P\|Q)(z)", r"T(\mathcal{N}(0,1)\|\mathcal{N}(\frac{G}{\sqrt{\mu}},1))(z)"
_S = rf"{_E}_{{P}}[e^{{-\alpha}}\mathbf{{1}}_{{S}}]"
_NOT_S = rf"{_E}_{{P}}[e^{{-\alpha}}\mathbf{{1}}_{{\overline{{S}}}}]"
_S_X = rf"{_E}_{{P}}[e^{{-\alpha(x)}}\mathbf{{1}}_{{S}}]"
_NOT_S_X = rf"{_E}_{{P}}[e^{{-\alpha(x)}}\mathbf{{1}}_{{\overline{{S}}}}]"
_other_quantile = real("q2", latex="q_{1-z}", meaning="Gaussian quantile of 1 - z")
_gamma = real("gamma", gt=0, latex=r"\gamma", meaning="G / sqrt(mu)")
_t = real("t", ge=0)
_F = real(
    "F_up", ge=0, latex=r"\int_{t=0}^{\infty}e^{-t}\Pr_{x\sim P}\left[\alpha(x)\geq t+m(z)\right]\mathrm{d}t"
)
_H = real(
    "F_down", ge=0, latex=r"\int_{t=0}^{\infty}e^{t}\Pr_{x\sim P}\left[\alpha(x)\leq m(z)-t\right]\mathrm{d}t"
)
_F_GAUSS = r"\int_{t=0}^{\infty}e^{-t}\Phi(\Phi^{-1}(1-z)-t/\gamma)\mathrm{d}t"
_H_GAUSS = r"\int_{t=0}^{\infty}e^{t}\Phi(\Phi^{-1}(z)-t/\gamma)\mathrm{d}t"
_f_gauss, _h_gauss = real("I_up", ge=0, latex=_F_GAUSS), real("I_down", ge=0, latex=_H_GAUSS)
_w = real("w", gt=0, latex=r"e^{-m(z)}")
_UP_VALUE = r"(1-z)-\exp\left(\frac{\gamma^{2}}{2}-\Phi^{-1}(1-z)\gamma\right)\Phi(\Phi^{-1}(1-z)-\gamma)"
_DOWN_VALUE = r"-z+\exp\left(\frac{\gamma^{2}}{2}+\Phi^{-1}(z)\gamma\right)\Phi(\Phi^{-1}(z)+\gamma)"
_up_product, _down_product = (
    real(name, gt=0, latex=value.partition(first)[2])
    for name, value, first in (("v_up", _UP_VALUE, "(1-z)-"), ("v_down", _DOWN_VALUE, "-z+"))
)
_UP_BOUND = r"\exp\left(\frac{\gamma^{2}}{2}+\Phi^{-1}(z)\gamma-m(z)\right)\Phi(-\Phi^{-1}(z)-\gamma)"
_DOWN_BOUND = r"\exp\left(\frac{\gamma^{2}}{2}+\Phi^{-1}(z)\gamma-m(z)\right)\Phi(\Phi^{-1}(z)+\gamma)"
_x, _a = vector("x"), vector("a")
_K = real("K", gt=0, meaning="exp(gamma^2/2 + gamma Phi^-1(z) - m(z))")
_phi, _phi2 = (
    real("p", gt=0, lt=1, latex=r"\Phi(-\Phi^{-1}(z)-\gamma)"),
    real("p2", gt=0, lt=1, latex=r"\Phi(\Phi^{-1}(z)+\gamma)"),
)

_Z_P, _Z_Q = real("Z_P", gt=0), real("Z_Q", gt=0)
_F_x, _F_tilde = real("F_x", latex="F(x)"), real("F_tilde", latex=r"\tilde{F}(x)")
_density = (
    Sheet("gll22.thm2.1", (_Z_P, _Z_Q, _F_x, _F_tilde))
    .define(r"\alpha(x)", r"\tilde{F}(x)-F(x)")
    .define("P(x)", r"\frac{e^{-F(x)}}{Z_P}").define("Q(x)", r"\frac{e^{-\tilde{F}(x)}}{Z_Q}")
    .step(
        "density", r"Q(x)=\frac{Z_P}{Z_Q}e^{-\alpha(x)}P(x)",
        where="Theorem 4.1, proof, first sentence: Q(x) is in proportion to exp(-alpha(x)) P(x)",
    )
)  # fmt: skip
_epsilon, _shift, _point = real("epsilon", gt=0, latex=r"\varepsilon"), real("s", gt=0, latex="s"), real("y")
_OF_SHIFTED = (
    r"\delta\left(P\;\middle\|\;Q\right)",
    r"\delta\left(\mathcal{N}(0,I_{d})\;\middle\|\;\mathcal{N}(a,I_{d})\right)",
    r"\delta\left(\mathcal{N}(0,1)\;\middle\|\;\mathcal{N}\left(\left\lVert a\right\rVert_{2},1\right)\right)",
)
_shifted = (
    Sheet("gll22.thm2.1", (_epsilon, _shift, _point))
    .define(
        _OF_SHIFTED[0],
        r"\int_{\varepsilon/s+s/2}^{\infty}\frac{e^{-(y-s)^2/2}}{\sqrt{2\pi}}\mathrm{d}y"
        r"-e^{\varepsilon}\int_{\varepsilon/s+s/2}^{\infty}\frac{e^{-y^2/2}}{\sqrt{2\pi}}\mathrm{d}y",
    )
    .define(
        _OF_SHIFTED[1],
        r"\Phi(\frac{s^2-(\varepsilon+s^2/2)}{s})-e^{\varepsilon}\Phi(-\frac{\varepsilon+s^2/2}{s})",
    )
    .define(
        _OF_SHIFTED[2],
        r"\Phi(-\frac{\varepsilon}{s}+\frac{s}{2})-e^{\varepsilon}\Phi(-\frac{\varepsilon}{s}-\frac{s}{2})",
    )
    .step(
        "curve-of-shifted-gaussians", "=".join(_OF_SHIFTED),
        uses=("neyman-pearson", "gaussian-rotation", "gll22.eq9/value-of-the-best-half-line"),
        where="Section 2.1, tightness, at epsilon, with s = ||a||: the best event is <x, a> >= epsilon + s^2 / 2, and "
              "<x, a> has the variance s^2 and the mean 0 under P, s^2 under Q; in the integrals it is divided by s",
    )
)  # fmt: skip
_end = real("e", ge=0, le=1, meaning="0 or 1")
_at_an_end = tuple(
    _mass(name, latex) for name, latex in (("T_e", "T_{e}"), ("T_g", "T_{g}"), ("w_e", "w"), ("v_g", "v"))
)
_bit, _other_bit = (
    real("u", ge=0, le=1, meaning="indicator of S"),
    real("v", ge=0, le=1, meaning="of another event"),
)
_Q_S = real("Q_S", ge=0, le=1, latex=r"\int_{x\in S}Q(x)\mathrm{d}x")
_P_S = real("P_S", gt=0, latex=r"\int_{x\in S}e^{-\alpha(x)}P(x)\mathrm{d}x")
_P_K = real("P_K", gt=0, latex=r"\int_{x\in\mathcal{K}}e^{-\alpha(x)}P(x)\mathrm{d}x")
_weight, _level_weight = real("w", gt=0, latex=r"e^{-\alpha(x)}"), real("w_m", gt=0, latex=r"e^{-m(z)}")

_thm2_1 = (
    Sheet(
        "gll22.thm2.1",
        (mu, G, _z, _gamma, _quantile, _other_quantile, _level, _t, _F, _H, _f_gauss, _h_gauss, _x, _a,
         real("T", ge=0, le=1, latex=_T), real("S", gt=0, latex=_S), real("S_not", ge=0, latex=_NOT_S)),
        title="Gaussian differential privacy of strongly log-concave perturbations", where="Theorems 2.1 and 4.1",
        latex=rf"{_T}\geq {_T_GAUSS},\quad \delta(P\|Q)(\varepsilon)\leq"
              r"\delta(\mathcal{N}(0,1)\|\mathcal{N}(\frac{G}{\sqrt{\mu}},1))(\varepsilon)",
        pairs=("gll22.eq9", "gll22.eq10", "gll22.cor4.3", "gll22.thm6.2"),
    )
    .define(r"\Phi^{-1}(1-z)", r"-(\Phi^{-1}(z))")
    .define(_S_X, _S).define(_NOT_S_X, _NOT_S)
    .define(_T_GAUSS, r"\Phi(\Phi^{-1}(1-z)-\frac{G}{\sqrt{\mu}})")
    .define(r"T\left(N(0,1)\;\middle\|\;N(\gamma,1)\right)", r"\Phi(q_{1-z}-\gamma)")
    .step(
        "event-at-a-point", r"(u-v)(e^{-\alpha(x)}-e^{-m(z)})\le 0",
        given=r"(e^{-\alpha(x)}\le e^{-m(z)}\implies u=1), (e^{-\alpha(x)}>e^{-m(z)}\implies u=0)",
        added=(_bit, _other_bit, _weight, _level_weight),
        where="Theorem 4.1, proof, before the first display: u says whether x is in S = {alpha(x) >= m(z)}, v whether "
              "it "
              "is in another event of the same P-mass; the mean of the left side is what S has less of Q, times "
              "Z_Q/Z_P",
    )
    .step(
        "infimum", rf"{_T} ={_Q_S.latex}", given=rf"{_T}\le {_Q_S.latex}, (\forall u: {_Q_S.latex}\le {_T}+u)",
        added=(_Q_S, real("margin", gt=0, latex="u")), uses=("gll22.thm2.1/density", "gll22.thm2.1/event-at-a-point"),
        where="Theorem 4.1, proof, first display, line 1: S is among the events, and some event has at most u more "
              "than "
              "the infimum, for each u > 0, and no less than S",
    )
    .step(
        "normalized", rf"{_Q_S.latex}=\frac{{{_P_S.latex}}}{{{_P_K.latex}}}",
        given=rf"{_Q_S.latex}=\frac{{Z_P}}{{Z_Q}}{_P_S.latex}, 1=\frac{{Z_P}}{{Z_Q}}{_P_K.latex}",
        added=(_Q_S, _P_S, _P_K, _Z_P, _Z_Q), uses=("gll22.thm2.1/density",),
        where="Theorem 4.1, proof, first display, line 2: Q is a probability",
    )
    .step(
        "trade-off-as-a-ratio", rf"{_T} =\left(1+\frac{{{_NOT_S}}}{{{_S}}}\right)^{{-1}}",
        given=rf"{_T}=\frac{{{_S}}}{{{_S}+{_NOT_S}}}", uses=("neyman-pearson",),
        where="Theorem 4.1, proof, first display: the best event is {alpha >= m(z)}, and its P-mass is 1 - z",
    )
    .step(
        "by-parts-above", rf"{_S_X}\geq(1-z)e^{{-m(z)}}-e^{{-m(z)}}{_F_GAUSS}",
        given=rf"{_S}=(1-z)e^{{-m(z)}}-e^{{-m(z)}}{_F.latex}, {_F.latex}\le {_F_GAUSS}", added=(_w,),
        uses=("integration-by-parts", "gll22.cor3.12/above"),
        where="Theorem 4.1, proof, 2nd display, lines 1 to 5, with Corollary 3.12 for almost every t",
    )
    .step(
        "value-above", rf"(1-z)e^{{-m(z)}}-e^{{-m(z)}}{_F_GAUSS}=(1-z)e^{{-m(z)}}-e^{{-m(z)}}\left({_UP_VALUE}\right)",
        given=rf"{_F_GAUSS}={_UP_VALUE}",
        added=(_up_product,), uses=("gll22.claim4.2",), where="Theorem 4.1, proof, 2nd display, line 6",
    )
    .step(
        "simplified-above", rf"(1-z)e^{{-m(z)}}-e^{{-m(z)}}\left({_UP_VALUE}\right)={_UP_BOUND}",
        where="Theorem 4.1, proof, 2nd display, line 7",
    )
    .step(
        "by-parts-below", rf"{_NOT_S_X}\leq ze^{{-m(z)}}+e^{{-m(z)}}{_H_GAUSS}",
        given=rf"{_NOT_S}=ze^{{-m(z)}}+e^{{-m(z)}}{_H.latex}, {_H.latex}\le {_H_GAUSS}", added=(_w,),
        uses=("integration-by-parts", "gll22.cor3.12/below"),
        where="Theorem 4.1, proof, 3rd display, lines 1 to 5, with Corollary 3.12 for almost every t",
    )
    .step(
        "value-below", rf"ze^{{-m(z)}}+e^{{-m(z)}}{_H_GAUSS}=ze^{{-m(z)}}+e^{{-m(z)}}\left({_DOWN_VALUE}\right)",
        given=rf"{_H_GAUSS}={_DOWN_VALUE}",
        added=(_down_product,), uses=("gll22.claim4.2",), where="Theorem 4.1, proof, 3rd display, line 6",
    )
    .step(
        "simplified-below", rf"ze^{{-m(z)}}+e^{{-m(z)}}\left({_DOWN_VALUE}\right)={_DOWN_BOUND}",
        where="Theorem 4.1, proof, 3rd display, line 7",
    )
    .step(
        "ratio",
        r"\Phi(-\Phi^{-1}(z)-\gamma)=\left(1+\frac{\Phi(\Phi^{-1}(z)+\gamma)}{\Phi(-\Phi^{-1}(z)-\gamma)}\right)^{-1}",
        given=r"\Phi(\Phi^{-1}(z)+\gamma)+\Phi(-\Phi^{-1}(z)-\gamma)=1", added=(_phi, _phi2),
        where="Theorem 4.1, proof, 4th display, line 3: using Phi(x) + Phi(-x) = 1",
    )
    .step(
        "both-bounds",
        rf"\left(1+\frac{{{_NOT_S}}}{{{_S}}}\right)^{{-1}}"
        r"\geq\left(1+\frac{\Phi(\Phi^{-1}(z)+\gamma)}{\Phi(-\Phi^{-1}(z)-\gamma)}\right)^{-1}",
        given=rf"{_S}\ge K\cdot\Phi(-\Phi^{{-1}}(z)-\gamma), {_NOT_S}\le K\cdot\Phi(\Phi^{{-1}}(z)+\gamma)",
        added=(_phi, _phi2, _K),
        uses=("gll22.thm2.1/by-parts-above", "gll22.thm2.1/value-above", "gll22.thm2.1/simplified-above",
              "gll22.thm2.1/by-parts-below", "gll22.thm2.1/value-below", "gll22.thm2.1/simplified-below"),
        where="Theorem 4.1, proof, 4th display, line 2: K stands for the exponential that both bounds share",
    )
    .step(
        "gaussian-trade-off", r"T\left(N(0,1)\;\middle\|\;N(\gamma,1)\right)=\Phi(-\Phi^{-1}(z)-\gamma)",
        given=r"\Phi(q_{1-z})=1-z, \Phi(\Phi^{-1}(z))=z", uses=("gll22.eq10",),
        where="Theorem 4.1, proof, 4th display, line 4, with (10), where the quantile is that of 1 - z",
    )
    .whole(
        "trade-off", rf"{_T}\geq {_T_GAUSS}",
        given=rf"{_T}\ge(1+\frac{{\Phi(\Phi^{{-1}}(z)+\gamma)}}{{\Phi(-\Phi^{{-1}}(z)-\gamma)}})^{{-1}}, "
              rf"\Phi(\Phi^{{-1}}(z)+\gamma)=1-\Phi(-\Phi^{{-1}}(z)-\gamma), "
              rf"\Phi(-\Phi^{{-1}}(z)-\gamma)\ge {_T_GAUSS}",
        added=(_phi, _phi2),
        uses=("gll22.thm2.1/trade-off-as-a-ratio", "gll22.thm2.1/both-bounds", "gll22.thm2.1/ratio",
        "gll22.thm2.1/gaussian-trade-off"),
        where="Theorem 4.1 for 0 < z < 1, where gamma is G / sqrt(mu)",
    )
    .whole(
        "trade-off-at-the-ends", r"T_{e}\ge T_{g}", given=r"(e=0\text{ or }e=1), T_{e}=1-w, T_{g}=1-v, w=e, v=e",
        added=(_end, *_at_an_end), uses=("gll22.thm2.1/density",),
        where="Theorem 4.1 at z = e, where it is 0 or 1: a set of P-mass 1 - e has the Q-mass 1 - e, since P and Q "
              "have the same null sets, and so it is for the Gaussians; w and v are the masses of what is left out",
    )
    .whole(
        "profile", r"\delta_P\le\delta_N", added=(_mass("delta_P", r"\delta_P"), _mass("delta_N", r"\delta_N")),
        given=rf"({_T}\ge\Phi(\Phi^{{-1}}(1-z)-\frac{{G}}{{\sqrt{{\mu}}}})\implies\delta_P\le\delta_N), "
              rf"{_T}\ge\Phi(\Phi^{{-1}}(1-z)-\frac{{G}}{{\sqrt{{\mu}}}})",
        uses=("gll22.prop3.3/larger-trade-off", "gll22.thm2.1/trade-off"),
        where="Theorem 2.1: the privacy curves at epsilon",
    )
    .define(r"\tilde{F}(x)", r"\left\lVert x-a\right\rVert_{2}^{2}/2")
    .define("F(x)", r"\left\lVert x\right\rVert_{2}^{2}/2")
    .step(
        "shifted-gaussians",
        r"\tilde{F}(x)-F(x)=-\left\langle x,a\right\rangle+\left\lVert a\right\rVert_{2}^{2}/2",
        where="Section 2.1, tightness: the difference is ||a||-Lipschitz, and the laws are N(0, I) and N(a, I)",
    )
)  # fmt: skip

thm2_1 = _thm2_1.including(_density).including(_shifted)

STATEMENTS = tuple(sheet.statement for sheet in (prop3_11, cor3_12, thm2_1))
