"""fmtt18, Section 4: noisy stochastic gradient descent."""

from __future__ import annotations

from dpverify.formulas.expressions import integer, real
from dpverify.formulas.units import LENGTH, LOSS, NATS, RECORDS
from dpverify.formulas.vectors import vector
from dpverify.statements.fmtt18.symbols import (
    PROFILE,
    L,
    alpha,
    epsilon,
    eta,
    level,
    n,
    sigma,
    small_epsilon,
    t,
)
from dpverify.statements.sheet import EDGE, Sheet

_i = integer("i", ge=1, unit=RECORDS, meaning="a step")
_point = vector("p", unit=LENGTH, latex=r"\Pi_{\mathcal{K}}(w)")
_gradient, _gradient2 = (
    vector(name, unit=LOSS / LENGTH, latex=rf"\nabla f(\Pi_{{\mathcal{{K}}}}(w),{record})")
    for name, record in (("g", "x_{t}"), ("g'", r"x^{\prime}_{t}"))
)
_STEPS_APART = (
    r"\|\eta\nabla f(\Pi_{\mathcal{K}}(w),x_{t})-\eta\nabla f(\Pi_{\mathcal{K}}(w),x^{\prime}_{t})\|_{2}"
)
_of_a_step = real("R", ge=0, unit=NATS, meaning="divergence of shifted noise")
_D_n = real("D", ge=0, unit=NATS, meaning="divergence of the outputs", latex=r"\mathrm{D}_\alpha(X_n\|X'_n)")

thm23 = (
    Sheet(
        "fmtt18.thm23", (n, t, eta, L, sigma, alpha, _i, _point, _gradient, _gradient2),
        title="PNSGD: Renyi differential privacy at an index",
        where="Theorem 23",
        latex=(
            r"\text{PNSGD is }\left(\alpha,\frac{\alpha\varepsilon}{n+1-t}\right)\text{-RDP for its }t\text{'th input},"
            r"\quad\varepsilon=\frac{2L^2}{\sigma^2}"
        ),
        pairs=("fmtt18.alg1", "fmtt18.thm22", "fmtt18.thm24"),
    )
    .define("a_t", r"\frac{2\eta L}{n-t+1}")
    .define("a_i", r"\frac{2\eta L}{n-t+1}")
    .define("z_i", r"2\eta L-(i-t+1)a_i")
    .define("z_n", r"2\eta L-\sum_{i=t}^{n}a_i")
    .define(r"\varepsilon", r"\frac{2L^2}{\sigma^2}")
    .define("g_{t}(w)", r"\Pi_{\mathcal{K}}(w)-\eta\nabla f(\Pi_{\mathcal{K}}(w),x_{t})")
    .define(r"g^{\prime}_{t}(w)", r"\Pi_{\mathcal{K}}(w)-\eta\nabla f(\Pi_{\mathcal{K}}(w),x^{\prime}_{t})")
    .step("distance-of-the-maps", rf"\|g_{{t}}(w)-g^{{\prime}}_{{t}}(w)\|_{{2}}={_STEPS_APART}\leq 2\eta L",
          given=r"\|\nabla f(\Pi_{\mathcal{K}}(w),x_{t})\|\le L, "
                r"\|\nabla f(\Pi_{\mathcal{K}}(w),x^{\prime}_{t})\|\le L",
          where="Theorem 23, proof, first display, for every w")
    .condition("schedule-is-admissible", r"z_i\ge 0", given=r"t\le i\le n",
               where="Theorem 23, proof: a_t = ... = a_n = 2 eta L/(n-t+1)")
    .condition("schedule-ends-at-zero", r"z_n=0", given=r"t\le n", where="Theorem 23, proof")
    .step("by-theorem-22",
          r"\mathrm{D}_{\alpha}(X_{n}\|X^{\prime}_{n})\leq\frac{\alpha}{2\eta^{2}\sigma^{2}}\sum_{i=1}^{n}a_{t}^{2}",
          given=r"t\le n, \mathrm{D}_{\alpha}(X_{n}\|X^{\prime}_{n})\le(n-t+1)R, "
                r"R\le\frac{\alpha a_i^2}{2(\eta\sigma)^2}",
          added=(_D_n, _of_a_step), uses=("fmtt18.thm22", "fmtt18.def10"),
          where="Theorem 23, proof, last display, first inequality: Theorem 22 with a_i for i from t on, and 0 before")
    .step("last-display",
          r"\frac{\alpha}{2\eta^2\sigma^2}\sum_{i=1}^{n}a_t^2\le\frac{2\alpha L^2}{\sigma^2\cdot(n-t+1)}",
          given=r"t\le n", where="Theorem 23, proof, last display: the summand does not depend on the index of the sum")
    .corrected("last-display",
               r"\frac{\alpha}{2\eta^2\sigma^2}\sum_{i=t}^{n}a_i^2\le\frac{2\alpha L^2}{\sigma^2\cdot(n-t+1)}",
               given=r"t\le n", where="Theorem 23, proof, last display with a_i, which is zero before step t",
               because="the last display sums a_t^2 over i = 1..n; it should be a_i^2, which is zero before step t",
               true_if="with a_i in place of a_t, which is zero before step t")
    .whole("schedule-gives-the-bound",
           r"\frac{\alpha}{2\eta^2\sigma^2}\sum_{i=t}^{n}a_i^2=\frac{\alpha\cdot\varepsilon}{n+1-t}", given=r"t\le n",
           uses=("fmtt18.thm22", "fmtt18.def10", "fmtt18.prop5", "fmtt18.prop17", "fmtt18.prop18",
                 "fmtt18.thm23/distance-of-the-maps"))
)  # fmt: skip


_t0 = integer("t0", ge=0, unit=RECORDS, meaning="number of records that are skipped", latex="t_0")
_D_skip = real("D", ge=0, unit=NATS, meaning="divergence of the outputs", latex=r"\mathrm{D}_\alpha(W\|W')")
_D_fixed = real(
    "D0",
    ge=0,
    unit=NATS,
    meaning="the largest divergence for a fixed t_0",
    latex=r"\max_{t_0}\mathrm{D}_\alpha(X\|X')",
)
_per_step = real("epsilon", gt=0, unit=NATS, meaning="2 L^2 / sigma^2", latex=r"\varepsilon")

thm24 = (
    Sheet(
        "fmtt18.thm24", (n, t, _t0, alpha, _per_step, _D_skip, _D_fixed),
        title="Skip-PNSGD: Renyi differential privacy at an index",
        where="Theorem 24",
        latex=(
            r"\text{Skip-PNSGD is }\left(\alpha,\frac{\alpha\varepsilon}{n+1-t}\right)\text{-RDP for index }t"
            r",\quad\varepsilon=\frac{2L^2}{\sigma^2}"
        ),
        pairs=("fmtt18.skip", "fmtt18.thm23", "fmtt18.thm30"),
    )
    .condition("a-record-is-left", r"n-t_0>0", given=r"t_0\le\frac{n}{2}",
               where="Section 4, before Theorem 24: t_0 in {0, 1, ..., floor(n/2)}")
    .step("for-a-fixed-start", r"\frac{\alpha\cdot\varepsilon}{(n-t_0)+1-(t-t_0)}=\frac{\alpha\cdot\varepsilon}{n+1-t}",
          given=r"t_0<t\le n", uses=("fmtt18.thm23",),
          where="Theorem 24, easy to see: index t is number t - t_0 of n - t_0; it is not used where t <= t_0")
    .whole("bound", r"\mathrm{D}_\alpha(W\|W')\le\frac{\alpha\cdot\varepsilon}{n+1-t}",
           given=r"t\le n, \mathrm{D}_\alpha(W\|W')\le\max_{t_0}\mathrm{D}_\alpha(X\|X'), "
                 r"\max_{t_0}\mathrm{D}_\alpha(X\|X')\le\frac{\alpha\cdot\varepsilon}{n+1-t}",
           uses=("renyi-quasi-convex", "fmtt18.thm24/for-a-fixed-start"),
           where="Theorem 24, easy to see: t_0 has the same law for both data sets")
)  # fmt: skip


_a = real("a")
_positive_a, _small_a = real("a", ge=0), real("a", ge=0, le=1)
_c = real("c", gt=0, le=1)
_x = real("x", ge=0, le=2, meaning="(1 + c)(order - 1) times the mean divergence, which is at most c(1 + c)")
_rho = real("rho", ge=0, le=1, latex=r"\rho")
_u1, _u2 = (
    real(f"u{i}", ge=0, le=1, meaning="(order - 1) times a divergence", latex=f"u_{i}") for i in (1, 2)
)

_component = real("D_i", ge=0, unit=NATS, latex=r"\mathrm{D}_{\alpha}(\mu_{i}\|\nu_{i})")
_mixed = real("D_rho", ge=0, unit=NATS, latex=r"\mathrm{D}_{\alpha}(\mu_{\rho}\|\nu_{\rho})")
_marked = real(
    "D_marked", ge=0, unit=NATS, latex=r"\mathrm{D}_{\alpha}(\mu^{\prime}_{\rho}\|\nu^{\prime}_{\rho})"
)
_mean = real("E", ge=0, unit=NATS, latex=r"{\mathbb{E}}_{i\sim\rho}[\mathrm{D}_{\alpha}(\mu_{i}\|\nu_{i})]")
_moment = real(
    "M", ge=1, latex=r"{\mathbb{E}}_{i\sim\rho}[e^{(\alpha-1)\cdot\mathrm{D}_{\alpha}(\mu_{i}\|\nu_{i})}]"
)
_power = real("e_D", gt=0, latex=r"e^{(\alpha-1)\cdot\mathrm{D}_{\alpha}(\mu_{i}\|\nu_{i})}")
_log_moment = real("ln_M", ge=0, latex=rf"\ln{_moment.latex}")
_tangent = real(
    "N", ge=1, latex=r"{\mathbb{E}}_{i\sim\rho}[1+(1+c)(\alpha-1)\cdot\mathrm{D}_{\alpha}(\mu_{i}\|\nu_{i})]"
)
_weight, _p, _q = (
    real(name, gt=0, latex=latex)
    for name, latex in (("rho_i", r"\rho(i)"), ("mu_i", r"\mu_{i}(x)"), ("nu_i", r"\nu_{i}(x)"))
)

lem25 = (
    Sheet(
        "fmtt18.lem25",
        (_a, _c, _x, _rho, _u1, _u2, alpha, _component, _mixed, _marked, _mean, _moment, _log_moment, _tangent,
         _weight, _p, _q),
        title="Weak convexity of Renyi divergence",
        where="Lemma 25",
        latex=(
            r"\mathrm{D}_\alpha(\mu_i\|\nu_i)\le\frac{c}{\alpha-1},\ c\in(0,1]\implies"
            r"\mathrm{D}_\alpha(\mu_\rho\|\nu_\rho)\le(1+c)\,\mathbb{E}_{i\sim\rho}[\mathrm{D}_\alpha(\mu_i\|\nu_i)]"
        ),
        pairs=("fmtt18.thm26", "fmtt18.stop"),
    )
    .instance("tried-on-two-laws", r"\ln(\rho e^{u_1}+(1-\rho)e^{u_2})\le 2(\rho u_1+(1-\rho)u_2)",
              box={"u1": ("1/10", 1), "u2": ("1/10", 1)}, where="Lemma 25 with c = 1",
              case="c = 1, two components, and the component revealed: the left side is exact",
              catches=("the factor 1 + c is lost", r"\ln(\rho e^{u_1}+(1-\rho)e^{u_2})\le\rho u_1+(1-\rho)u_2"))
    .define(r"\mu^{\prime}_{\rho}(i,x)", r"\rho(i)\cdot\mu_{i}(x)")
    .define(r"\nu^{\prime}_{\rho}(i,x)", r"\rho(i)\cdot\nu_{i}(x)")
    .step("marking-the-component", rf"{_mixed.latex}\leq{_marked.latex}",
          given=rf"{_mixed.latex}=\frac{{1}}{{\alpha-1}}l, {_marked.latex}=\frac{{1}}{{\alpha-1}}l', l\le l'",
          added=(real("l", ge=0), real("l2", ge=0, latex="l'")), uses=("fmtt18.prop5/post-processing",),
          where="Lemma 25, proof, first sentence: without the mark, the moment has no larger logarithm")
    .step("ratio-of-the-marked-laws",
          r"\frac{\mu^{\prime}_{\rho}(i,x)}{\nu^{\prime}_{\rho}(i,x)}=\frac{\mu_{i}(x)}{\nu_{i}(x)}",
          where="Lemma 25, proof, first and second line: the weights are the same for both")
    .step("moment-of-a-component", r"(\alpha-1)\cdot\frac{1}{\alpha-1}\ln m=\ln m",
          where="Lemma 25, proof, third line, in the exponent: m is the moment of a component",
          added=(real("m", gt=0),))
    .step("mean-of-the-tangents",
          r"\rho\cdot(1+(1+c)u_1)+(1-\rho)(1+(1+c)u_2)=1+(1+c)(\rho u_1+(1-\rho)u_2)",
          where="Lemma 25, proof, fifth line, for two components, whose number does not matter")
    .step("without-the-order",
          rf"\frac{{1}}{{\alpha-1}}((1+c)(\alpha-1)\cdot{_mean.latex})=(1+c)\cdot{_mean.latex}",
          where="Lemma 25, proof, last line")
    .step("fourth-line", added=(_power,), display=r"e^{(\alpha-1)\cdot\mathrm{D}_{\alpha}(\mu_{i}\|\nu_{i})}"
                         r"\leq 1+(1+c)(\alpha-1)\cdot\mathrm{D}_{\alpha}(\mu_{i}\|\nu_{i})",
          given=r"e^{(\alpha-1)\cdot\mathrm{D}_{\alpha}(\mu_{i}\|\nu_{i})}\le 1+a+a^2, "
                r"a=(\alpha-1)\cdot\mathrm{D}_{\alpha}(\mu_{i}\|\nu_{i}), a\le c",
          uses=("fmtt18.lem25/exponential",),
          where="Lemma 25, proof, fourth line; a is not negative, so the quadratic bound of the last line holds")
    .whole("bound", rf"{_mixed.latex}\leq(1+c)\cdot{_mean.latex}",
           given=rf"{_mixed.latex}\leq {_marked.latex}, {_marked.latex}=\frac{{1}}{{\alpha-1}}{_log_moment.latex}, "
                 rf"{_log_moment.latex}\le{_moment.latex}-1, {_moment.latex}\le{_tangent.latex}, "
                 rf"{_tangent.latex}=1+(1+c)(\alpha-1)\cdot{_mean.latex}",
           uses=("fmtt18.lem25/marking-the-component", "fmtt18.lem25/ratio-of-the-marked-laws",
                 "fmtt18.lem25/moment-of-a-component",
                 "fmtt18.lem25/fourth-line", "fmtt18.lem25/mean-of-the-tangents", "fmtt18.lem25/logarithm"),
           where="Lemma 25, proof, from the first line to the last")
    .step("logarithm", r"\ln(1+x)\le x", box={"x": (0, 2)},
          where="Lemma 25, proof, from the fifth line to the sixth")
    .step("exponential", r"e^{a}\le 1+a+a^2", letters=(_small_a,),
          where="Lemma 25, proof, last line; a is not negative, as a divergence is not")
    .step("quadratic", r"1+a+a^2\le 1+(1+c)a", letters=(_positive_a,), given=r"a\le c\le 1",
          where="Lemma 25, proof, last line; a is alpha - 1 times a divergence, so not negative")
)  # fmt: skip


_T = integer("T", ge=1, unit=RECORDS, meaning="stopping time")
_few = integer("n", ge=1, le=60, unit=RECORDS, meaning="number of records")
_r = real("r", gt=0, meaning="sigma / L")
_reciprocal = real("x", ge=0, le=1, meaning="1/n")
_D = real("D", ge=0, unit=NATS, meaning="divergence of the output", latex=r"\mathrm{D}_\alpha(Y_n\|Y'_n)")
_stopped = real("D_T", ge=0, unit=NATS, latex=r"\mathrm{D}_{\alpha}(X_{T}\|X^{\prime}_{T})")
_output = real("D_Y", ge=0, unit=NATS, latex=r"\mathrm{D}_{\alpha}(Y_{T}\|Y^{\prime}_{T})")
_sum_of_stops = real("S", ge=0, unit=NATS, latex=r"\sum_{T\in[n]}\mathrm{D}_{\alpha}(X_{T}\|X^{\prime}_{T})")
_early_stops, _late_stops = (real(f"S_{i}", ge=0, unit=NATS, latex=f"S_{{{i}}}") for i in (1, 2))
_H = real("H", gt=0, meaning="1 + 1/2 + ... + 1/(n - t + 1)", latex="H_{n-t+1}")
_log_n = real("l", ge=0, meaning="ln n", latex=r"\ln n")

_same_mass = real("m", gt=0)
_thm26 = Sheet(
    "fmtt18.thm26", (n, t, _T, L, sigma, alpha, _r, _reciprocal, _D, _H),
    title="Stop-PNSGD: Renyi differential privacy",
    where="Theorem 26",
    latex=(
        r"\sigma\ge L\sqrt{2(\alpha-1)\alpha}\implies\text{Stop-PNSGD is }"
        r"\left(\alpha,\frac{4\alpha L^2\cdot\ln n}{n\sigma^2}\right)\text{-RDP}"
    ),
    pairs=("fmtt18.stop", "fmtt18.lem25", "fmtt18.thm23"),
)  # fmt: skip
thm26 = (
    _thm26
    .instance("one-record", r"\frac{2\alpha L^2}{\sigma^2}\le\frac{4\alpha L^2\cdot\ln n}{n\sigma^2}",
              given=r"n=1, \sigma^2\ge 2(\alpha-1)\alpha L^2",
              where="Theorem 26 for n = 1; from n = 2 on, nothing here shows it false, and its proof does not show it "
                    "true",
              case="n = 1, gradients 2 L apart: one step, whose divergence is exact", uses=("fmtt18.def10",),
              consequence=EDGE)
    .step("last-logarithm", r"\frac{4\alpha L^2\cdot\ln(n-t+1)}{n\sigma^2}\le\frac{4\alpha L^2\cdot\ln n}{n\sigma^2}",
          given=r"t\le n", where="Theorem 26, proof, last display, last inequality")
    .step("for-a-fixed-stop",
          r"\mathrm{D}_{\alpha}(X_{T}\|X^{\prime}_{T})\leq\frac{2\alpha L^{2}}{\sigma^{2}\cdot(T-t+1)}",
          given=r"t\le T, \mathrm{D}_{\alpha}(X_{T}\|X^{\prime}_{T})\le\frac{\alpha\varepsilon}{T+1-t}, "
                r"\varepsilon=\frac{2L^2}{\sigma^2}", added=(_stopped, _per_step),
          uses=("fmtt18.thm23",), where="Theorem 26, proof: Theorem 23 with n = T")
    .condition("condition-of-lemma-25",
               r"\frac{2\alpha L^2}{\sigma^2\cdot(T-t+1)}\le\frac{2\alpha L^2}{\sigma^2}\le\frac{1}{\alpha-1}",
               given=r"\sigma^2\ge 2(\alpha-1)\alpha L^2, t\le T",
               where="Theorem 26, proof: every divergence is at most 1/(order - 1); printed for every t >= T, where T "
                     ">= t is meant, as in the sentence before")
    .step("before-the-record", r"\mathrm{D}_{\alpha}(X_{T}\|X^{\prime}_{T})=0", added=(_stopped, _same_mass),
          given=r"\mathrm{D}_{\alpha}(X_{T}\|X^{\prime}_{T})=\frac{1}{\alpha-1}\ln(m), m=1",
          where="Theorem 26, proof: for t > T both laws agree, and m, the integral of p^alpha p^(1 - alpha), is 1")
    .step("mixture", rf"{_output.latex}\leq 2\cdot\frac{{1}}{{n}}{_sum_of_stops.latex}",
          added=(_output, _sum_of_stops, _c),
          given=rf"{_output.latex}\le(1+c)\cdot\frac{{1}}{{n}}{_sum_of_stops.latex}, c=1",
          uses=("fmtt18.lem25", "fmtt18.thm26/condition-of-lemma-25"),
          where="Theorem 26, proof, last display, first inequality: Lemma 25 with c = 1")
    .step("sum-over-the-stops", r"2\cdot\frac{1}{n}\sum_{T\in[n]}\mathrm{D}_{\alpha}(X_{T}\|X^{\prime}_{T})"
                                r"\leq 2\cdot\frac{1}{n}\sum_{T=t}^{n}\frac{2\alpha L^{2}}{\sigma^{2}\cdot(T-t+1)}",
          added=(_sum_of_stops, _early_stops, _late_stops),
          given=rf"t\le n, {_sum_of_stops.latex}=S_{{1}}+S_{{2}}, S_{{1}}=0, "
                r"S_{2}\le\sum_{T=t}^{n}\frac{2\alpha L^{2}}{\sigma^{2}\cdot(T-t+1)}",
          uses=("fmtt18.thm26/for-a-fixed-stop", "fmtt18.thm26/before-the-record", "integral-is-monotone"),
          where="Theorem 26, proof, last display, second inequality: S_1 and S_2 are the sums over T < t, where "
                "outputs have the same law, and over the other T, each of whose terms is bounded")
    .step("from-the-last-display", rf"{_output.latex}\le\frac{{4\alpha L^2\cdot\ln n}}{{n\sigma^2}}", added=(_output,),
          given=rf"t\le n, {_output.latex}\le\frac{{4\alpha L^2\cdot\ln(n-t+1)}}{{n\sigma^2}}",
          uses=("fmtt18.thm26/mixture", "fmtt18.thm26/sum-over-the-stops", "fmtt18.thm26/last-display",
                "fmtt18.thm26/last-logarithm"),
          where="Theorem 26 from the last display of its proof, whose third inequality is false")
    .step("last-display",
          r"2\cdot\frac{1}{n}\sum_{T=t}^{n}\frac{2\alpha L^2}{\sigma^2\cdot(T-t+1)}"
          r"\le\frac{4\alpha L^2\cdot\ln(n-t+1)}{n\sigma^2}",
          given=r"t\le n",
          where="Theorem 26, proof, last display: the sum of 1/k is bounded by the logarithm")
    .corrected("bound",
               r"\mathrm{D}_\alpha(Y_n\|Y'_n)\le\frac{4\alpha L^2\cdot(1+\ln n)}{n\sigma^2}",
               given=r"\mathrm{D}_\alpha(Y_n\|Y'_n)\le\frac{2}{n}\cdot\frac{2\alpha L^2}{\sigma^2}H_{n-t+1}, "
                     r"H_{n-t+1}\le 1+\ln n",
               coverage="whole", uses=("fmtt18.lem25", "fmtt18.thm26/for-a-fixed-stop", "harmonic-sum"),
               added=(_log_n,),
               where="Theorem 26 with 1 + ln n: Lemma 25, Theorem 23 for every T, and the sum of 1/k up to n - t + 1")
    .corrected("last-display", r"\sum_{T=1}^{n}\frac{1}{T}\le 1+\ln n", letters=(_few,), coverage="instance",
               case="n from 2 to 60; at n = 1 the sides are equal, beyond 60 the induction step",
               box={"n": (2, 60)}, where="Theorem 26 with 1 + ln n, at t = 1, the worst index",
               catches=("1 + ln n without the 1", r"\sum_{T=1}^{n}\frac{1}{T}\le\ln n"))
    .corrected("induction-step", r"\frac{x}{1+x}\le\ln(1+x)", coverage="step",
               where="Theorem 26 with 1 + ln n: from n to n + 1, x = 1/n")
    .correction("1 + 1/2 + ... + 1/n is above ln n (for one record the printed bound is 0); 1 + ln n is enough",
                latex=r"\left(\alpha,\frac{4\alpha L^2(1+\ln n)}{n\sigma^2}\right)\text{-RDP}",
                replaces=("one-record",))
)  # fmt: skip


_g, _g2 = (
    vector(name, unit=LOSS / LENGTH, meaning=f"gradient of {of}", latex=rf"\nabla {of}")
    for name, of in (("g", "f"), ("g'", "f'"))
)
_CURVE = ("gll22.eq9/value-of-the-best-half-line", "gll22.lem6.3/growing-in-s")
_below_zero = real("x", le=0, latex="x", stands_for="number")
_threshold, _small_threshold, _large_threshold = (
    real("a", ge=low, le=high, latex="a", stands_for="number", meaning="1/s for epsilon = 1")
    for low, high in (("2/3", None), ("2/3", "3/4"), ("18/25", None))
)
_ROOT = r"\sqrt{2\ln(1.25/\delta)}"
_FIRST_TERM = r"\Phi(-\frac{\varepsilon}{s}+\frac{s}{2})"
_AT_EPSILON = r"\Phi(\frac{\varepsilon}{2a}-a)"
_AT_1, _AT_A = r"\Phi(\frac{1}{2a}-a)", r"\frac{5}{4}e^{-\frac{a^2}{2}}"
_TAIL = r"\frac{1}{2}e^{-\frac{1}{2}(\frac{1}{2a}-a)^2}"

lem27 = (
    Sheet(
        "fmtt18.lem27", (epsilon, level, alpha, _g, _g2, L, sigma),
        title="Local privacy of a noisy gradient",
        where="Lemma 27",
        latex=(
            r"\text{for every }\varepsilon,\delta>0\text{ and }\sigma=2L\sqrt{2\ln(1.25/\delta)}/\varepsilon:"
            r"\text{ local }(\varepsilon,\delta)\text{-DP}"
        ),
        pairs=("fmtt18.alg1", "fmtt18.thm29", "fmtt18.thm30"),
    )
    .define(r"\delta", r"e^{-\ln(1/\delta)}")
    .define(r"\ln(1.25/\delta)", r"\ln(1/\delta)+\ln(1.25)")
    .define("s", r"\frac{\varepsilon}{\sqrt{2\ln(1.25/\delta)}}")
    .whole("renyi-of-one-step", r"\frac{\alpha\|\nabla f-\nabla f'\|_2^2}{2\sigma^2}\le\frac{2\alpha L^2}{\sigma^2}",
           given=r"\|\nabla f\|_2\le L, \|\nabla f'\|_2\le L", uses=("fmtt18.def10",),
           where="Lemma 27, local Renyi differential privacy")
    .whole("noise-is-enough", rf"{PROFILE}\le\delta", box={"epsilon": ("1/20", 12), "l": (3, 14)}, uses=_CURVE,
           where="Lemma 27, for every epsilon and every delta below 1 (from 1 on all is private), gradients 2 L apart")
    .corrected("tail", r"\Phi(x)\le\frac{1}{2}e^{-\frac{x^2}{2}}", added=(_below_zero,), coverage="step",
               where="Lemma 27 for epsilon at most 1: the Gaussian tail")
    .corrected("below-zero", r"\frac{1}{2a}-a\le 0", added=(_large_threshold,), coverage="step",
               where="Lemma 27 for epsilon = 1: where the tail is taken")
    .corrected("exponent", rf"{_TAIL}\le {_AT_A}", added=(_threshold,), coverage="step",
               where="Lemma 27 for epsilon = 1: half of exp(1/2) is at most 5/4")
    .corrected("large-threshold", rf"{_AT_1}\le {_AT_A}", added=(_large_threshold,), coverage="step",
               given=rf"{_AT_1}\le {_TAIL}\text{{ and }}{_TAIL}\le {_AT_A}",
               uses=("fmtt18.lem27/tail", "fmtt18.lem27/below-zero", "fmtt18.lem27/exponent"),
               where="Lemma 27 for epsilon = 1, where 1/(2a) is below a: the tail at 1/(2a) - a")
    .corrected("small-threshold", rf"{_AT_1}\le {_AT_A}", added=(_small_threshold,), coverage="step",
               box={"a": ("2/3", "3/4")}, where="Lemma 27 for epsilon = 1 and delta near 1")
    .corrected("largest-epsilon", rf"{_AT_EPSILON}\le {_AT_1}", added=(_threshold,), coverage="step",
               letters=(small_epsilon,), where="Lemma 27 for epsilon at most 1: epsilon = 1 is the worst")
    .corrected("every-epsilon", rf"{_AT_EPSILON}\le {_AT_A}", added=(_threshold,), coverage="step",
               letters=(small_epsilon,),
               given=rf"{_AT_EPSILON}\le {_AT_1}\text{{ and }}{_AT_1}\le {_AT_A}",
               uses=("fmtt18.lem27/largest-epsilon", "fmtt18.lem27/large-threshold", "fmtt18.lem27/small-threshold"),
               where="Lemma 27 for epsilon at most 1, a at least 2/3")
    .corrected("threshold", rf"\frac{{2}}{{3}}\le {_ROOT}", coverage="step",
               where="Lemma 27: a = sqrt(2 ln(1.25/delta)) is at least 2/3")
    .corrected("first-term", rf"{_FIRST_TERM}\le\delta", letters=(small_epsilon,), coverage="step",
               given=rf"\Phi(\frac{{\varepsilon}}{{2{_ROOT}}}-{_ROOT})\le\frac{{5}}{{4}}e^{{-\frac{{({_ROOT})^2}}{{2}}}}",
               uses=("fmtt18.lem27/every-epsilon", "fmtt18.lem27/threshold"),
               where="Lemma 27 for epsilon at most 1, with a = sqrt(2 ln(1.25/delta))")
    .corrected("noise-is-enough", rf"{PROFILE}\le\delta", letters=(small_epsilon,), given=rf"{_FIRST_TERM}\le\delta",
               uses=("fmtt18.lem27/first-term", *_CURVE),
               where="Lemma 27 for epsilon at most 1 and every delta below 1: what the first term is at most, as the "
                     "second is not negative",
               because="for large epsilon this noise is too small; the classical proof requires epsilon <= 1",
               true_if="for epsilon at most 1, as the classical proof of the Gaussian mechanism requires")
)  # fmt: skip

STATEMENTS = tuple(sheet.statement for sheet in (thm23, thm24, lem25, thm26, lem27))
