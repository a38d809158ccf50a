"""fmtt18, Sections 5.1 to 5.3: what noisy stochastic gradient descent costs in risk, and for which privacy."""

from __future__ import annotations

from dpverify.formulas.expressions import Variable, integer, real
from dpverify.formulas.units import LENGTH, LOSS, RECORDS
from dpverify.formulas.vectors import vector
from dpverify.statements.fmtt18.symbols import PROFILE, L, epsilon, eta, n, sigma, small_epsilon, t
from dpverify.statements.sheet import NOTATION, Sheet

R = real("R", gt=0, unit=LENGTH, meaning="radius of a ball that holds the set")
d = integer("d", ge=1, meaning="dimension")
log_ratio = real("Lambda", gt=0, meaning="ln(1.25/delta)", latex=r"\ln(1.25/\delta)", stands_for="number")
best = real("F_best", unit=LOSS, meaning="smallest population risk on the set", latex="F^{*}")
released = real(
    "F_W", unit=LOSS, meaning="expected population risk of the output",
    latex=r"{\mathbb{E}}_{S\sim\mathcal{P}^{n}}[F(W)]",
)  # fmt: skip
L_G = real(
    "L_G",
    gt=0,
    unit=LOSS / LENGTH,
    meaning="root mean square of a stochastic gradient",
    latex="L_{G}",
    stands_for="number",
)


def _squared_length(name: str, latex: str) -> Variable:
    return real(name, ge=0, unit=LENGTH**2, latex=latex)


def _value(name: str, latex: str, meaning: str = "") -> Variable:
    return real(name, unit=LOSS, latex=latex, meaning=meaning)


_w = real("w", unit=LENGTH, meaning="a point of the set", latex="w_{t}")
_slope = real("G", gt=0, unit=LOSS / LENGTH, meaning="the gradient of F(w) = G w")
_D0, _Dt, _Dnext = (
    _squared_length(name, rf"{{\mathbb{{E}}}}[\|w_{{{index}}}-w^{{*}}\|_{{2}}^{{2}}]")
    for name, index in (("D_0", "0"), ("D_t", "t"), ("D_next", "t+1"))
)
_Ft = _value("F_t", r"{\mathbb{E}}[F(w_{t})]")
_inner = _value("inner", r"{\mathbb{E}}[\langle G(w_t),w_t-w^{*}\rangle]")
_norm = real(
    "G_squared", ge=0, unit=(LOSS / LENGTH) ** 2, latex=r"{\mathbb{E}}[\|G(w)\|_{2}^{2}]",
    meaning="mean square of a stochastic gradient",
)  # fmt: skip
_ONE_STEP = rf"{_Dnext.latex}\le{_Dt.latex}-2\eta({_Ft.latex}-F^{{*}})+\eta^2L_{{G}}^2"
_next = real("w_next", unit=LENGTH, meaning="the next point", latex="w_{t+1}")
_point, _minimizer = vector("w'", unit=LENGTH, latex="w"), vector("w*", unit=LENGTH, latex="w^{*}")
_oracle = vector("G'", unit=LOSS / LENGTH, meaning="a stochastic gradient", latex="G(w)")
_TOWARD = r"(w_{t+1}+R)^2\le(w_{t}+R)^2-2\eta G\cdot(w_{t}+R)+\eta^2G^2"
_LINE = (
    "F(w) = G w on [-R, R] with exact gradients G; the projection changes nothing, and the minimizer is -R"
)

sgd_update = (
    Sheet(
        "fmtt18.sgd-update",
        (_w, _next, R, eta, _slope, L_G, best, _Dt, _Dnext, _Ft, _inner, _norm, _point, _minimizer, _oracle),
        title="The update of projected stochastic gradient descent",
        where="Section 5.1, before Theorem 28",
        latex=r"w_{t+1}=\Pi_{\mathcal{K}}(w_t+\eta G(w_t)),\quad\mathbb{E}[G(w)]\in\partial F(w)",
        pairs=("fmtt18.thm28", "fmtt18.alg1"),
    )
    .instance(
        "toward-the-minimizer", _TOWARD, given=r"w_{t+1}=w_{t}+\eta G, -R\le w_{t}\text{ and }w_{t+1}\le R", case=_LINE
    )
    .corrected(
        "toward-the-minimizer", _TOWARD, given=r"w_{t+1}=w_{t}-\eta G, -R\le w_{t+1}\text{ and }w_{t}\le R", case=_LINE,
        catches=("the step counts twice", r"(w_{t+1}+R)^2\le(w_{t}+R)^2-4\eta G\cdot(w_{t}+R)+\eta^2G^2"),
        because="with a plus the update climbs: on F(w) = G w it goes to the maximizer and stays there",
        consequence=NOTATION,
        true_if="with the minus of Algorithm 1, or where G is an oracle for the negative gradient",
    )
    .corrected(
        "expansion",
        r"\|w-\eta G(w)-w^{*}\|^2=\|w-w^{*}\|^2-2\eta\langle G(w),w-w^{*}\rangle+\eta^2\|G(w)\|^2",
        coverage="step", where="Section 5.1 with a minus: the distance after a step, before the projection",
    )
    .corrected(
        "one-step", _ONE_STEP,
        given=rf"{_Dnext.latex}\le{_Dt.latex}-2\eta{_inner.latex}+\eta^2{_norm.latex}, "
              rf"{_Ft.latex}-F^{{*}}\le{_inner.latex}, {_norm.latex}\le L_{{G}}^2",
        coverage="whole", uses=("fmtt18.prop17", "fmtt18.sgd-update/expansion", "subgradient-inequality"),
        where="Section 5.1 with a minus: what Theorem 28 needs of a step",
    )
    .correction(latex=r"w_{t+1}=\Pi_{\mathcal{K}}(w_t-\eta G(w_t))")
)  # fmt: skip


_T, _made = integer("T", ge=1, meaning="number of steps"), integer("t", ge=0, meaning="number of steps made")
_sum = _value("S", r"\sum_{t=0}^{T-1}({\mathbb{E}}[F(w_{t})]-F^{*})")
_sum_t = _value("S_t", r"\sum_{i<t}({\mathbb{E}}[F(w_{i})]-F^{*})")
_average = _value("A", r"\frac{1}{T}\sum_{t\in[T]}{\mathbb{E}}[F(w_{t})]", "mean risk of w_1, ..., w_T")
_first, _last = _value("F_0", "F(w_{0})"), _value("F_T", r"{\mathbb{E}}[F(w_{T})]")
_DT = _squared_length("D_T", r"{\mathbb{E}}[\|w_{T}-w^{*}\|_{2}^{2}]")
_u, _v, _center = (vector(name, unit=LENGTH) for name in "uvc")
_g = vector("g", unit=LOSS / LENGTH, meaning="a subgradient of F in u")
_Fu, _Fv = _value("F_u", "F(u)"), _value("F_v", "F(v)")

thm28 = (
    Sheet(
        "fmtt18.thm28",
        (_T, _made, R, eta, L_G, best, _D0, _Dt, _Dnext, _DT, _Ft, _sum, _sum_t, _average, _first, _last,
         _u, _v, _center, _g, _Fu, _Fv),
        title="Average risk of the iterates",
        where="Theorem 28",
        latex=(
            r"\eta=\frac{2R}{L_G\sqrt{T}}\implies"
            r"\frac{1}{T}\sum_{t\in[T]}\mathbb{E}[F(w_t)]\le F^*+\frac{4RL_G}{\sqrt{T}}"
        ),
        pairs=("fmtt18.thm29", "fmtt18.thm30", "fmtt18.thm32"), uses=("fmtt18.sgd-update",),
    )
    .step(
        "points-of-the-set", r"\|u-v\|\le 2R", given=r"\|u-c\|\le R, \|v-c\|\le R",
        where="Theorem 28: two points of a ball of radius R",
    )
    .step(
        "change-on-the-set", r"F(u)-F(v)\le 2RL_{G}",
        given=r"F(u)-F(v)\le\langle g,u-v\rangle, \|g\|\le L_{G}, \|u-v\|\le 2R",
        uses=("subgradient-inequality", "jensen", "fmtt18.thm28/points-of-the-set"),
        where="Theorem 28: a mean of stochastic gradients is no longer than L_G",
    )
    .step(
        "no-steps", rf"{_sum_t.latex}\le\frac{{{_D0.latex}-{_Dt.latex}}}{{2\eta}}+\frac{{t\eta L_{{G}}^2}}{{2}}",
        given=rf"t=0, {_sum_t.latex}=0, {_Dt.latex}={_D0.latex}",
        where="Theorem 28, which is cited; before the first step",
    )
    .step(
        "sum-of-the-steps",
        rf"{_sum_t.latex}+({_Ft.latex}-F^{{*}})"
        rf"\le\frac{{{_D0.latex}-{_Dnext.latex}}}{{2\eta}}+\frac{{(t+1)\eta L_{{G}}^2}}{{2}}",
        given=rf"{_sum_t.latex}\le\frac{{{_D0.latex}-{_Dt.latex}}}{{2\eta}}+\frac{{t\eta L_{{G}}^2}}{{2}}, {_ONE_STEP}",
        uses=("fmtt18.sgd-update/one-step", "fmtt18.thm28/no-steps"),
        where="Theorem 28, which is cited; from t steps to t + 1",
    )
    .step(
        "choice-of-the-rate", rf"\frac{{1}}{{T}}\cdot{_sum.latex}\le\frac{{2RL_{{G}}}}{{\sqrt{{T}}}}",
        given=rf"{_sum.latex}\le\frac{{{_D0.latex}-{_DT.latex}}}{{2\eta}}+\frac{{T\eta L_{{G}}^2}}{{2}}, "
              rf"{_D0.latex}\le(2R)^2, \eta=2R/(L_{{G}}\sqrt{{T}})",
        uses=("fmtt18.thm28/sum-of-the-steps", "fmtt18.thm28/points-of-the-set"), where="Theorem 28, eta",
    )
    .step(
        "one-index-further", rf"\frac{{{_last.latex}-F(w_{{0}})}}{{T}}\le\frac{{2RL_{{G}}}}{{T}}",
        given=rf"{_last.latex}-F(w_{{0}})\le 2RL_{{G}}", uses=("fmtt18.thm28/change-on-the-set",),
        where="Theorem 28: w_1 to w_T in place of w_0 to w_{T-1}; F changes by at most 2 R L_G on the set",
    )
    .whole(
        "bound", rf"{_average.latex}\leq F^{{*}}+\frac{{4RL_{{G}}}}{{\sqrt{{T}}}}",
        given=rf"{_average.latex}=F^{{*}}+\frac{{1}}{{T}}\cdot{_sum.latex}+\frac{{{_last.latex}-F(w_{{0}})}}{{T}}, "
              rf"\frac{{1}}{{T}}\cdot{_sum.latex}\le\frac{{2RL_{{G}}}}{{\sqrt{{T}}}}, "
              rf"\frac{{{_last.latex}-F(w_{{0}})}}{{T}}\le\frac{{2RL_{{G}}}}{{T}}",
        uses=("fmtt18.thm28/choice-of-the-rate", "fmtt18.thm28/one-index-further"),
    )
)  # fmt: skip


_LARGE_EPSILON = "for large epsilon the noise of Lemma 27 is too small; the lemma holds for epsilon at most 1"
_UP_TO_1 = "for epsilon at most 1, as Lemma 27"
_CURVE = ("gll22.eq9/value-of-the-best-half-line",)
_BOX = {"epsilon": ("1/20", 12), "Lambda": (4, 14)}
_APART = r"\frac{2L}{\sigma}=\frac{\varepsilon}{\sqrt{2\ln(1.25/\delta)}}"
_NOISE = r"2L\sqrt{2\ln(1.25/\delta)}/\varepsilon"
_ROOT = r"\sqrt{1+\frac{8d\ln(1.25/\delta)}{\varepsilon^{2}}}"
_noisy_norm = real(
    "G_squared", ge=0, unit=(LOSS / LENGTH) ** 2, latex=r"{\mathbb{E}}[\|G(w)\|^{2}]",
    meaning="mean square of a stochastic gradient",
)  # fmt: skip
_clean_norm = real(
    "g_squared", ge=0, unit=(LOSS / LENGTH) ** 2, latex=r"{\mathbb{E}}_{x\sim\mathcal{P}}[\|\nabla f(w,x)\|^{2}]",
    meaning="mean square of a gradient",
)  # fmt: skip
_noise_norm = real("Z_squared", ge=0, unit=(LOSS / LENGTH) ** 2, latex=r"{\mathbb{E}}[\|Z\|^{2}]")

thm29 = (
    Sheet(
        "fmtt18.thm29",
        (n, d, R, L, epsilon, log_ratio, best, released, _noisy_norm, _clean_norm, _noise_norm),
        title="Stop-PNSGD: local privacy and risk",
        where="Theorem 29",
        latex=(
            r"\sigma=\frac{2L\sqrt{2\ln(1.25/\delta)}}{\varepsilon},\ \eta=\frac{2R}{\sqrt{n(L^2+d\sigma^2)}}\implies"
            r"\text{local }(\varepsilon,\delta)\text{-DP and }"
            r"\mathbb{E}[F(W)]\le F^*+\frac{4RL}{\sqrt{n}}\sqrt{1+\frac{8d\ln(1.25/\delta)}{\varepsilon^2}}"
        ),
        pairs=("fmtt18.stop", "fmtt18.thm28", "fmtt18.lem27"), uses=("fmtt18.lem27",),
    )
    .step(
        "one-rate", r"2R/\sqrt{n(L^{2}+d\sigma^{2})}=2R/(L_{G}\sqrt{n})", given=r"L_{G}=\sqrt{L^2+d\sigma^2}",
        added=(sigma, L_G), where="Theorem 29: the rate of the statement is that of its proof",
    )
    .define(r"\sigma", _NOISE)
    .whole(
        "risk", rf"{released.latex}\leq F^{{*}}+\frac{{4RL}}{{\sqrt{{n}}}}\cdot{_ROOT}",
        given=rf"{released.latex}\le F^{{*}}+\frac{{4RL_{{G}}}}{{\sqrt{{n}}}}, L_{{G}}^2=L^2+d\sigma^2", added=(L_G,),
        uses=("fmtt18.thm28", "fmtt18.thm29/square-of-a-noisy-gradient", "fmtt18.thm29/one-rate"),
        where="Theorem 29, risk: Theorem 28 for T = n, W one of w_1, ..., w_n at random",
    )
    .define("L_{G}", rf"L{_ROOT}")
    .whole(
        "local-privacy", _APART, uses=("fmtt18.lem27",),
        where="Theorem 29, privacy: gradients 2 L apart over the noise, as in Lemma 27",
    )
    .define("s", r"\frac{2L}{\sigma}")
    .define(r"\delta", r"1.25e^{-\ln(1.25/\delta)}")
    .instance(
        "exact-profile", rf"{PROFILE}\le\delta", case="one step, gradients 2 L apart", box=_BOX, uses=_CURVE,
        true_if=_UP_TO_1, where="Theorem 29, local privacy",
    )
    .corrected(
        "local-privacy", _APART, letters=(small_epsilon,), uses=("fmtt18.lem27",), because=_LARGE_EPSILON,
        where="Theorem 29, privacy for epsilon at most 1: gradients 2 L apart over the noise, as in Lemma 27",
    )
    .correction(
        latex=(
            r"\sigma=\frac{2L\sqrt{2\ln(1.25/\delta)}}{\varepsilon}\implies"
            r"\text{local }(\varepsilon,\delta)\text{-DP for }\varepsilon\le 1"
        ),
        replaces=("exact-profile",),
    )
    .step(
        "square-of-a-noisy-gradient",
        rf"{_noisy_norm.latex}={_clean_norm.latex}+d\sigma^{{2}}"
        r"\leq L^{2}+\frac{8dL^{2}\ln(1.25/\delta)}{\varepsilon^{2}}",
        given=rf"{_noisy_norm.latex}={_clean_norm.latex}+{_noise_norm.latex}, "
              rf"{_noise_norm.latex}=d\sigma^2, {_clean_norm.latex}\le L^2",
        uses=("second-moment-of-a-sum", "gaussian-second-moment"), where="Theorem 29, proof, first display",
    )
    .condition(
        "oracle-of-theorem-28", r"L^2+d\sigma^2=L_{G}^2", uses=("fmtt18.thm29/square-of-a-noisy-gradient",),
        where="Theorem 29, proof: Theorem 28 with this L_G",
    )
)  # fmt: skip


_APART_LATER = r"\frac{2L}{\sigma\sqrt{n-t+1}}=\frac{\varepsilon/\sqrt{n-t+1}}{\sqrt{2\ln(1.25/\delta)}}"
_iterates = integer("N", ge=1, unit=RECORDS, meaning="number of iterates of which one is released")
_parts = tuple(_value(f"B{i}", f"B_{{{i}}}", f"part {i} of the regret's bound") for i in (1, 2))
_half = integer("m", ge=1, unit=RECORDS, meaning="ceil(n/2)")

thm30 = (
    Sheet(
        "fmtt18.thm30",
        (n, t, d, R, L, epsilon, log_ratio, best, released, _iterates),
        title="Skip-PNSGD: local and per-index privacy, and risk",
        where="Theorem 30",
        latex=(
            r"\sigma=\frac{2L\sqrt{2\ln(1.25/\delta)}}{\varepsilon},\ "
            r"\eta=\frac{\sqrt{8}R}{\sqrt{n(L^2+d\sigma^2)}}\le\frac{2}{\beta}\implies"
            r"\text{local }(\varepsilon,\delta)\text{-DP, }\left(\frac{\varepsilon}{\sqrt{n-t+1}},\delta\right)"
            r"\text{-DP at index }t,\ "
            r"\mathbb{E}[F(W)]\le F^*+\frac{4\sqrt{2}RL}{\sqrt{n}}\sqrt{1+\frac{8d\ln(1.25/\delta)}{\varepsilon^2}}"
        ),
        pairs=("fmtt18.skip", "fmtt18.thm24", "fmtt18.lem27", "fmtt18.thm29"), uses=("fmtt18.lem27",),
    )
    .step(
        "rate-of-half-of-the-points", r"\sqrt{8}R/(L_{G}\sqrt{n})=2R/(L_{G}\sqrt{n/2})", added=(L_G,),
        where="Theorem 30, proof: the rate of Theorem 29 for n/2 points",
    )
    .step(
        "number-of-stopping-times", r"n-\lceil n/2\rceil+1=n/2",
        where="Theorem 30, proof: T in {ceil(n/2), ..., n} is said to be Stop-PNSGD on n/2 points, from a random start",
    )
    .corrected(
        "number-of-stopping-times", r"n-m+1>n/2", given="m<n/2+1", added=(_half,),
        because="T has one value more than Stop-PNSGD on n/2 points, whose output makes at least one step; the risk "
                "bound holds all the same, since the points w_T with T >= ceil(n/2) are more than n/2",
        true_if="without T = ceil(n/2), for even n",
    )
    .step(
        "first-part-of-the-regret", r"\frac{(2R)^2}{2\eta N}\le\frac{4R^2}{\eta n}", given="N>n/2", added=(eta,),
        uses=("fmtt18.thm28/sum-of-the-steps",), where="Theorem 30, risk: the steps from T = ceil(n/2) on, N iterates",
    )
    .step(
        "first-part-with-the-rate",
        r"\frac{4R^2}{n}\cdot\frac{L_{G}\sqrt{n}}{\sqrt{8}R}=\frac{\sqrt{2}RL_{G}}{\sqrt{n}}",
        added=(L_G,), where="Theorem 30, risk, with the rate",
    )
    .step(
        "second-part-with-the-rate",
        r"\frac{\sqrt{8}R}{L_{G}\sqrt{n}}\cdot\frac{L_{G}^2}{2}=\frac{\sqrt{2}RL_{G}}{\sqrt{n}}",
        added=(L_G,), where="Theorem 30, risk, with the rate",
    )
    .step(
        "bound-of-half-of-the-points",
        rf"\frac{{4RL}}{{\sqrt{{n/2}}}}\cdot{_ROOT}=\frac{{4\sqrt{{2}}RL}}{{\sqrt{{n}}}}\cdot{_ROOT}",
        uses=("fmtt18.thm29/risk",), where="Theorem 30, proof, last sentence: Theorem 29 for n/2 points",
    )
    .define(r"\sigma", _NOISE)
    .whole(
        "risk", rf"{released.latex}\leq F^{{*}}+\frac{{4\sqrt{{2}}RL}}{{\sqrt{{n}}}}\cdot{_ROOT}",
        given=rf"{released.latex}\le F^{{*}}+B_{{1}}+B_{{2}}, B_{{1}}\le\frac{{\sqrt{{2}}RL_{{G}}}}{{\sqrt{{n}}}}, "
              r"B_{2}\le\frac{\sqrt{2}RL_{G}}{\sqrt{n}}, L_{G}^2=L^2+d\sigma^2", added=(L_G, *_parts),
        uses=("fmtt18.thm29/square-of-a-noisy-gradient", "fmtt18.thm30/number-of-stopping-times",
              "fmtt18.thm30/first-part-of-the-regret", "fmtt18.thm30/first-part-with-the-rate",
              "fmtt18.thm30/second-part-with-the-rate"),
        where="Theorem 30, risk: half of the printed bound, which has room for the index that T skips",
    )
    .define("L_{G}", rf"L{_ROOT}")
    .whole(
        "local-privacy", _APART, uses=("fmtt18.lem27",),
        where="Theorem 30, local privacy: gradients 2 L apart over the noise, as in Lemma 27",
    )
    .whole(
        "privacy-at-an-index", _APART_LATER, given=r"t\le n",
        uses=("fmtt18.lem27", "fmtt18.thm24", "shifts-in-gdp-form"),
        where="Theorem 30, index t: n - t + 1 steps' noise, as in Lemma 27 for epsilon/sqrt(n - t + 1)",
    )
    .define("s", r"\frac{2L}{\sigma}")
    .define(r"\delta", r"1.25e^{-\ln(1.25/\delta)}")
    .instance(
        "exact-profile", rf"{PROFILE}\le\delta", case="one step, gradients 2 L apart", box=_BOX, uses=_CURVE,
        true_if=_UP_TO_1, where="Theorem 30, local privacy",
    )
    .corrected(
        "local-privacy", _APART, letters=(small_epsilon,), uses=("fmtt18.lem27",), because=_LARGE_EPSILON,
        where="Theorem 30, local privacy for epsilon at most 1: gradients 2 L apart over the noise, as in Lemma 27",
    )
    .corrected(
        "privacy-at-an-index", _APART_LATER, given=r"t\le n", letters=(small_epsilon,),
        uses=("fmtt18.lem27", "fmtt18.thm24", "shifts-in-gdp-form"),
        where="Theorem 30, index t, for epsilon at most 1: as in Lemma 27 for epsilon/sqrt(n - t + 1)",
    )
    .correction(
        latex=(
            r"\sigma=\frac{2L\sqrt{2\ln(1.25/\delta)}}{\varepsilon}\implies"
            r"\text{local }(\varepsilon,\delta)\text{-DP, }\left(\frac{\varepsilon}{\sqrt{n-t+1}},\delta\right)"
            r"\text{-DP at index }t\text{, for }\varepsilon\le 1"
        ),
        replaces=("exact-profile",),
    )
)  # fmt: skip

STATEMENTS = tuple(sheet.statement for sheet in (sgd_update, thm28, thm29, thm30))
