"""bst14, Section 2: excess risk of noisy gradient descent."""

from __future__ import annotations

from dpverify.formulas.expressions import integer, real
from dpverify.formulas.units import LENGTH, LOSS
from dpverify.formulas.vectors import vector
from dpverify.statements.bst14.symbols import Delta, L, diameter, epsilon, level, n, p, risk, several
from dpverify.statements.sheet import Sheet

_sigma = real("sigma", ge=0, unit=LOSS / LENGTH, meaning="noise, a coordinate", latex=r"\sigma")
_SQUARE = (LOSS / LENGTH) ** 2
_gradient = real("g2", ge=0, unit=_SQUARE, latex=r"\mathbb{E}[\|\nabla\ell(\tilde\theta_t;d)\|_2^2]")
_cross = real("c", unit=_SQUARE, latex=r"\mathbb{E}[\langle\nabla\ell(\tilde\theta_t;d),b_t\rangle]")
_noise = real("b2", ge=0, unit=_SQUARE, latex=r"\mathbb{E}[\|b_t\|_2^2]")
_moment = real("G2", ge=0, unit=_SQUARE, latex=r"\mathbb{E}[\|G_t\|_2^2]")
_g, _b, _mean, _mean_noise = (
    vector(name, unit=LOSS / LENGTH, latex=latex)
    for name, latex in (
        ("g", r"\nabla\ell(\tilde\theta_t;d)"), ("b", "b_t"), ("g_bar", r"\mathbb{E}[\nabla\ell(\tilde\theta_t;d)]"),
        ("b_bar", r"\mathbb{E}[b_t]"),
    )
)  # fmt: skip
_EXPANDED = (
    r"n^2\mathbb{E}[\|\nabla\ell(\tilde\theta_t;d)\|_2^2]"
    r"+2n\mathbb{E}[\langle\nabla\ell(\tilde\theta_t;d),b_t\rangle]+\mathbb{E}[\|b_t\|_2^2]"
)
_NO_CORRELATION = r"\mathbb{E}[\langle\nabla\ell(\tilde\theta_t;d),b_t\rangle]=0"
_NOISE = r"\mathbb{E}[\|b_t\|_2^2]=p\sigma^2"

eq2 = (
    Sheet(
        "bst14.eq2", (n, p, L, _sigma, _gradient, _cross, _noise, _moment, _g, _b),
        title="Second moment of the noisy gradient", where="(2)",
        latex=rf"\mathbb{{E}}[\|G_t\|_2^2]={_EXPANDED}\le n^2L^2+p\sigma^2",
        pairs=("bst14.alg1", "bst14.lem2.5", "bst14.thm2.4.1"),
    )
    .define("G_t", r"n\nabla\ell(\tilde\theta_t;d)+b_t")
    .step("expansion",
          r"\|G_t\|_2^2=n^2\|\nabla\ell(\tilde\theta_t;d)\|_2^2+2n\langle\nabla\ell(\tilde\theta_t;d),b_t\rangle"
          r"+\|b_t\|_2^2",
          where="(2), first line, before expectations are taken")
    .whole("bound", rf"{_EXPANDED}\leq n^2L^2+p\sigma^2",
           given=rf"\mathbb{{E}}[\|\nabla\ell(\tilde\theta_t;d)\|_2^2]\le L^2, {_NO_CORRELATION}, {_NOISE}",
           where="(2), second line",
           uses=("bst14.eq2/expansion", "second-moment-of-a-sum", "gaussian-second-moment"))
)  # fmt: skip

_T = integer("T", ge=2, meaning="number of iterates")
_log_t = real("l_T", gt="69/100", meaning="log T, above log 2", latex=r"\log T")
_G = real("G", gt=0, unit=LOSS / LENGTH, meaning="root mean square of a stochastic gradient")
_c = real("c", gt=0, unit=LENGTH**2 / LOSS, meaning="step size at t = 1")
_lambda = real("lambda", gt=0, unit=LOSS / LENGTH**2, meaning="strong convexity of F", latex=r"\lambda")
_last = real("F_T", unit=LOSS, meaning="expected excess value", latex=r"\mathbb{E}[F(\theta_T)-F(\theta^*)]")
_LOG_2 = r"\log 2\ge\frac{69}{100}"

lem2_5 = (
    Sheet(
        "bst14.lem2.5", (_T, _log_t, diameter, _G, _c, _last),
        title="Last iterate, convex", where="Lemma 2.5",
        latex=r"\mathbb{E}[F(\theta_T)-F(\theta^*)]=O\left(\frac{\|\mathcal{C}\|_2G\log T}{\sqrt{T}}\right)",
        pairs=("bst14.alg1", "bst14.thm2.4.1"), uses=("shamir-zhang-convex",),
    )
    .step("log-2", _LOG_2, where="Lemma 2.5, T > 1: log T is above 69/100 from T = 2 on")
    .step("choice-of-the-rate", r"\frac{\|\mathcal{C}\|_2^2}{c}+cG^2=2\|\mathcal{C}\|_2G",
          given=r"c=\frac{\|\mathcal{C}\|_2}{G}", where="Lemma 2.5, the rate ||C|| / (G sqrt(t))")
    .step("constant", r"2(2+\log T)\le 8\log T", where="Lemma 2.5, T > 1: the hidden constant 8",
          uses=("bst14.lem2.5/log-2",))
    .whole("bound", rf"{_last.latex}=O\left(\frac{{\|\mathcal{{C}}\|_2G\log T}}{{\sqrt{{T}}}}\right)",
           given=rf"0\le {_last.latex}, {_last.latex}\le\frac{{2\|\mathcal{{C}}\|_2G\cdot(2+\log T)}}{{\sqrt{{T}}}}",
           uses=("shamir-zhang-convex", "bst14.lem2.5/choice-of-the-rate", "bst14.lem2.5/log-2"),
           where="Lemma 2.5")
)  # fmt: skip

lem2_6 = (
    Sheet(
        "bst14.lem2.6", (_T, _log_t, _G, _lambda, _last),
        title="Last iterate, strongly convex", where="Lemma 2.6",
        latex=r"\mathbb{E}[F(\theta_T)-F(\theta^*)]=O\left(\frac{G^2\log T}{\lambda T}\right)",
        pairs=("bst14.alg1", "bst14.thm2.4.2"), uses=("shamir-zhang-strongly-convex",),
    )
    .step("constant", r"17(1+\log T)\le 42\log T", where="Lemma 2.6, T > 1: the hidden constant 42",
          uses=("bst14.lem2.5/log-2",))
    .whole("bound", rf"{_last.latex}=O\left(\frac{{G^2\log T}}{{\lambda T}}\right)",
           given=rf"0\le {_last.latex}, {_last.latex}\le\frac{{17G^2\cdot(1+\log T)}}{{\lambda T}}",
           uses=("shamir-zhang-strongly-convex", "bst14.lem2.5/log-2"),
           where="Lemma 2.6")
)  # fmt: skip

_log_several = real("l_n", gt="69/100", meaning="log n, above log 2", latex=r"\log(n)")
_variance = real(
    "sigma2", gt=0, unit=_SQUARE, meaning="variance of the noise", latex=r"\sigma^2", stands_for="number"
)
_log_n_delta = real("Lambda", gt=0, meaning="log(n/delta)", latex=r"\log(n/\delta)", stands_for="number")
_SIGMA = r"\sigma^2=\frac{1156L^2n^2\log(n/\delta)\log(1/\delta)}{\varepsilon^2}"
_LOGS = r"\log(n/\delta)=\log(n)+\log(1/\delta)"
_IN_FORCE = r"\varepsilon\le 2\sqrt{\log(1/\delta)}, \log(1/\delta)\ge\frac{69}{100}"
_PRIVACY = rf"{_SIGMA}, {_LOGS}, {_IN_FORCE}"
_G2 = r"\frac{1159n^2L^2p\log(n/\delta)\log(1/\delta)}{\varepsilon^2}"
_letters = (several, p, L, diameter, Delta, epsilon, level, _log_several, _log_n_delta, _variance, _G, risk)

thm2_4_1 = (
    Sheet(
        "bst14.thm2.4.1", (*_letters, _mean, _mean_noise),
        title="Excess risk of Algorithm 1, Lipschitz", where="Theorem 2.4 (1)",
        latex=rf"{risk.latex}=O\left(\frac{{L\|\mathcal{{C}}\|_2\log^{{3/2}}(n/\delta)"
              r"\sqrt{p\log(1/\delta)}}{\varepsilon}\right)",
        pairs=("bst14.alg1", "bst14.eq2", "bst14.lem2.5", "bst14.thm2.1"), uses=("bst14.eq2", "bst14.lem2.5"),
    )
    .define(r"\mathbb{E}[G_t]", r"n\mathbb{E}[\nabla\ell(\tilde\theta_t;d)]+\mathbb{E}[b_t]")
    .define(r"\nabla\mathcal{L}(\tilde\theta_t;D)", r"n\mathbb{E}[\nabla\ell(\tilde\theta_t;d)]")
    .step("unbiased", r"\mathbb{E}[G_t]=\nabla\mathcal{L}(\tilde\theta_t;D)", given=r"\|\mathbb{E}[b_t]\|^2=0",
          where="Theorem 2.4, proof: the gradient of a random record, times n, is that of the sum on average")
    .condition("noise-dominates", r"n^2L^2\le p\sigma^2", given=f"{_SIGMA}, {_LOGS}", meant=_IN_FORCE,
               where="Theorem 2.4 (1): sigma^2 alone is in the bound, so n^2 L^2 may not be more than a constant times "
                     "p sigma^2; for epsilon up to 2 sqrt(log(1/delta)), as the proof of Theorem 2.1 has it")
    .step("second-moment", rf"n^2L^2+p\sigma^2\le{_G2}", given=_PRIVACY, uses=("bst14.eq2",),
          where="Theorem 2.4, end of the proof: G^2 = n^2 L^2 + p sigma^2 with the noise of Theorem 2.1")
    .step("number-of-steps", r"\frac{8\|\mathcal{C}\|_2G\cdot 2\log(n)}{\sqrt{n^2}}"
                             r"=\frac{16\|\mathcal{C}\|_2G\log(n)}{n}",
          where="Theorem 2.4, end of the proof: T = n^2 in Lemma 2.5", uses=("bst14.lem2.5",))
    .whole("bound", rf"{risk.latex}\le\frac{{545L\|\mathcal{{C}}\|_2\log(n/\delta)\sqrt{{\log(n/\delta)}}"
                        r"\sqrt{p\log(1/\delta)}}{\varepsilon}",
               given=rf"{risk.latex}\le\frac{{16\|\mathcal{{C}}\|_2G\log(n)}}{{n}}, G^2\le{_G2}, {_LOGS}",
               uses=("bst14.thm2.4.1/second-moment", "bst14.thm2.4.1/number-of-steps"),
               where="Theorem 2.4 (1) with the constant 545 for the constant 1156 in sigma^2, n at least 2, "
                     "epsilon at most 2 sqrt(log(1/delta)) and delta at most 1/2")
)  # fmt: skip

thm2_4_2 = (
    Sheet(
        "bst14.thm2.4.2", (*_letters, _lambda),
        title="Excess risk of Algorithm 1, strongly convex", where="Theorem 2.4 (2)",
        latex=rf"{risk.latex}=O\left(\frac{{L^2\log^2(n/\delta)p\log(1/\delta)}}{{n\Delta\varepsilon^2}}\right)",
        pairs=("bst14.alg1", "bst14.eq2", "bst14.lem2.6", "bst14.thm2.1"), uses=("bst14.eq2", "bst14.lem2.6"),
    )
    .step("number-of-steps", r"\frac{42G^2\cdot 2\log(n)}{\lambda n^2}=\frac{84G^2\log(n)}{n^3\Delta}",
          given=r"\lambda=n\Delta", where="Theorem 2.4, proof: T = n^2 and lambda = n Delta in Lemma 2.6",
          uses=("bst14.lem2.6",))
    .step("second-moment", rf"n^2L^2+p\sigma^2\le{_G2}", given=_PRIVACY, uses=("bst14.eq2",),
          where="Theorem 2.4, end of the proof: G^2 = n^2 L^2 + p sigma^2 with the noise of Theorem 2.1")
    .step("one-rate", r"\frac{1}{\Delta n}=\frac{1}{\lambda}", given=r"\lambda=n\Delta",
          where="Theorem 2.4 (2): its rate is that of Lemma 2.6")
    .corrected("bound",
               rf"{risk.latex}\le\frac{{97356L^2\cdot(\log(n/\delta))^2p\log(1/\delta)}}{{n\Delta\varepsilon^2}}",
               given=rf"{risk.latex}\le\frac{{84G^2\log(n)}}{{n^3\Delta}}, G^2\le{_G2}, {_LOGS}",
               meant=_IN_FORCE, coverage="whole",
               uses=("bst14.thm2.4.2/second-moment", "bst14.thm2.4.2/number-of-steps"),
               where="Theorem 2.4 (2) with the constant 97356 for the constant 1156 in sigma^2, n at least 2, epsilon "
                     "at most 2 sqrt(log(1/delta)) and delta at most 1/2",
               because="for large epsilon the printed bound goes to 0, the risk of gradient descent does not")
)  # fmt: skip
