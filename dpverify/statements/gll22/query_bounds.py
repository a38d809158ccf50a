"""gll22, Corollaries 7.6 and 7.7: lower bounds on the number of values, for Lipschitz losses and for sampling."""

from __future__ import annotations

from dpverify.formulas.expressions import real
from dpverify.formulas.units import LENGTH, NATS, Unit
from dpverify.statements.gll22.symbols import d, n
from dpverify.statements.sheet import Sheet

_G, _D, _k = real("G", gt=0), real("D", gt=0), real("k", gt=0, meaning="number of values")
_epsilon = real("epsilon", gt=0, unit=NATS, latex=r"\varepsilon")
_level = real("l", gt=0, unit=NATS, latex=r"\log(1/\delta)")
_log_n, _log_d = real("ln_n", ge=0, latex=r"\log(n)"), real("ln_d", ge=0, latex=r"\log(d)")
_a = real("a", ge=0, meaning="ln(1/eta) / d")
_gap, _good, _bad = (
    real(name, ge=0, latex=latex)
    for name, latex in (
        ("gap", r"\operatorname*{\mathbb{E}}[\widehat{F}_{v}(\widehat{x}_{k})-\widehat{F}_{v}^{*}]"),
        ("good", "a_1"), ("bad", "a_2"),
    )
)  # fmt: skip
_p, _range = (
    real("p", ge=0, le=1, meaning="probability that no record is long"),
    real("R", ge=0, meaning="largest gap"),
)
_L, _c = real("L", ge=0, latex=r"\ln(1/\eta)"), real("c", gt=0)
_RATE = r"\frac{\sqrt{\log(1/\delta)d}}{\varepsilon n}+\frac{1}{\sqrt{n}}"

_w = real("w", ge=0, le=1, meaning="min(sqrt(d), sqrt(k)) / sqrt(k)")
_OF_DIMENSIONS = r"\frac{\min\{\sqrt{d},\sqrt{k}\}}{\sqrt{k}}"

_SPHERE = r"\Pr\Big{[}\|s-\delta v\|_{2}^{2}\leq\sigma^{2}d(1+2\sqrt{\ln(1/\eta)/d}+2\ln(1/\eta)/d)\Big{]}"
_sphere = real("sphere", ge=0, le=1, latex=_SPHERE)
_root, _log_z = real("u", ge=0), real("v", ge=0)
_eta, _missed = real("eta", gt=0, le=1, latex=r"\eta"), real("q", ge=0)
_WORST = (
    r"\inf_{\mathcal{A}\in\mathbb{A}_{k}}\sup_{v\in\mathcal{V}}\operatorname*{\mathbb{E}}_{s\sim\mathcal{N}_{v},"
    r"\mathcal{A}}[\widehat{F}_{v}(\widehat{x}_{k})-\widehat{F}_{v}^{*}]"
)
_worst = real("worst", latex=_WORST)

cor7_6 = (
    Sheet(
        "gll22.cor7.6",
        (n, d, _G, _D, _k, _epsilon, _level, _log_n, _log_d, _a, _gap, _good, _bad, _p, _range, _L, _c),
        title="Lower bound for Lipschitz losses", where="Corollary 7.6",
        latex=r"\Omega\left(\frac{GD}{\sqrt{1+\log(n)/d}}\cdot\min\left\{" + _RATE + r",1\right\}\right)",
        pairs=("gll22.thm7.1", "gll22.thm6.9"),
    )
    .instance(
        "concentration-in-two-dimensions", r"e^{-(1+2\sqrt{\ln(1/\eta)/2}+\ln(1/\eta))}\leq e^{-\ln(1/\eta)}",
        case="d = 2, where the squared length over sigma^2 is exponential with mean 2",
        where="Corollary 7.6, proof, 2nd display", catches=("both terms by half",
        r"e^{-(\frac{1}{2}+\sqrt{\ln(1/\eta)/2}+\frac{1}{2}\ln(1/\eta))}\leq e^{-\ln(1/\eta)}"),
    )
    .step(
        "root-in-the-exponent", r"\ln(1+2u+2u^2)\le 2u", added=(_root,),
        where="Corollary 7.6, proof, 2nd display, with u = sqrt(ln(1/eta) / d)",
    )
    .step(
        "concentration", rf"{_SPHERE}\geq 1-\eta",
        given=rf"{_SPHERE}\ge 1-q, q\le e^{{-\frac{{d}}{{2}}(2u+2u^2-v)}}, v\le 2u, e^{{-d u^2}}=\eta",
        added=(_sphere, _root, _log_z, _eta, _missed),
        uses=("chernoff-for-gamma", "gll22.cor7.6/root-in-the-exponent"),
        where="Corollary 7.6, proof, 2nd display: the squared length over 2 sigma^2 is a Gamma variable of shape d/2; "
              "v = ln(1 + 2u + 2u^2) and u = sqrt(ln(1/eta) / d)",
    )
    .reference(
        "theorem-7.1", rf"{_WORST}\geq\frac{{GD}}{{16}}\min\left\{{1,\sqrt{{\frac{{d}}{{4k}}}}\right\}}",
        given=rf"{_WORST}\ge q, q\ge\frac{{GD}}{{16}}\min\left\{{1,\sqrt{{\frac{{d}}{{4k}}}}\right\}}",
        added=(_worst, _missed), uses=("gll22.thm7.1/bound",),
        where="Corollary 7.6, proof: what Theorem 7.1 is said to prove, which is about these laws",
    )
    .step(
        "total-expectation", rf"{_gap.latex}-(1-p)R\le a_1",
        given=rf"{_gap.latex}=a_1p+a_2\cdot(1-p), a_2\le R",
        where="Corollary 7.6, proof, 1st display and what it implies",
    )
    .step(
        "squared-length", r"1+2\sqrt{a}+2a\le 3(1+a)", uses=("gaussian-norm-tail",),
        where="Corollary 7.6, proof, choice of c: the bound of the 2nd display, for eta = 1/poly(nd), is O(1 + "
              "log(nd)/d)",
    )
    .step(
        "logarithm-of-d", r"1+(\log(n)+\log(d))/d\le 2(1+\log(n)/d)", given=r"\log(d)\le d",
        where="Corollary 7.6: the statement has log(n) where the proof has log(nd)",
    )
    .step(
        "first-limit", r"\frac{\sqrt{\log(1/\delta)d}}{\varepsilon n}\le\sqrt{\frac{d}{k}}",
        given=r"k\le\frac{\varepsilon^{2}n^{2}}{\log(1/\delta)}",
        where="Corollary 7.6, proof, last display, second line",
    )
    .step(
        "second-limit", r"\frac{1}{\sqrt{n}}\le\sqrt{\frac{d}{k}}", given=r"k\le nd",
        where="Corollary 7.6, proof, last display, second line",
    )
    .step(
        "number-of-observations", r"\frac{1}{4}\min\{u+v,1\}\le\min\{1,\frac{w}{2}\}", given=r"u\le w, v\le w",
        added=tuple(real(name, ge=0) for name in "uvw"),
        uses=("gll22.thm7.1", "gll22.cor7.6/first-limit", "gll22.cor7.6/second-limit"),
        where="Corollary 7.6, proof, last display, second line: Omega(.) with the constant 1/4, for w = sqrt(d/k)",
    )
    .step(
        "rare-event", r"\frac{1}{nd}\le\frac{\min\{\sqrt{d},\sqrt{k}\}}{\sqrt{k}}", given=r"k\le nd",
        where="Corollary 7.6, proof, after the 2nd display: 1/poly(nd) is below what has to be shown",
    )
    .step(
        "of-dimensions", r"\min\{1,\sqrt{\frac{d}{4k}}\}\ge\frac{1}{2}\cdot"+_OF_DIMENSIONS,
        where="Corollary 7.6, proof, 3rd display: the minimum of Theorem 7.1, and the one that it is",
    )
    .step(
        "conditioned", r"a_1\ge\frac{GDw}{64\sqrt{2}}",
        given=rf"{_gap.latex}-(1-p)R\le a_1, {_gap.latex}\ge\frac{{GD}}{{16\sqrt{{2}}}}\cdot\frac{{w}}{{2}}, R\le GD, "
              r"1-p\le\frac{q}{64\sqrt{2}}, q\le w",
        added=(real("q", ge=0, meaning="1/(nd)"), _w),
        uses=("gll22.thm7.1", "gll22.cor7.6/total-expectation", "gll22.cor7.6/rare-event",
              "gll22.cor7.6/of-dimensions", "gaussian-norm-tail"),
        where="Corollary 7.6, proof, 3rd display: Omega(.) with the constant 1/(64 sqrt(2)), where the event is "
              "missed with probability 1/(64 sqrt(2) n d)",
    )
    .step(
        "scaling", r"GD=\frac{1}{c}\cdot\frac{cG\sqrt{a}D}{\sqrt{a}}", given="a>0",
        where="Corollary 7.6, proof, last display, third line: G' = c G sqrt(1 + log(nd)/d)",
    )
    .step(
        "mean-of-the-conditioned-law", r"b^{\prime}\ge\frac{b}{2}",
        given=r"b\le pb^{\prime}+Gt, t\le\frac{1}{2\sqrt{5n}}, b\ge\frac{G}{\sqrt{5n}}",
        added=(real("b", gt=0, meaning="length of the Gaussian's mean, delta sqrt(d)"),
               real("b2", ge=0, latex=r"b^{\prime}", meaning="length of the mean of the conditioned law"),
               real("t", ge=0, meaning="sqrt(1 - p)")),
        uses=("cauchy-schwarz", "gll22.thm7.1/with-delta"),
        where="Corollary 7.6, proof, after the 3rd display: the conditioned law has a mean of its own, in the same "
              "direction; a long record adds at most G sqrt(1 - p) to it; k <= n d, and 1 - p <= 1/(20 n)",
    )
    .whole(
        "bound", r"g\ge\frac{G^{\prime}D}{512cr}m",
        given=r"g\ge\frac{1}{2}a_1, a_1\ge\frac{GDw}{64\sqrt{2}}, w\ge\frac{1}{2}m, G^{\prime}\le cG\sqrt{2}r",
        added=(_w, real("g", ge=0, meaning="gap under the conditioned law: its mean over the Gaussian's, times a_1"),
                real("G_prime", gt=0, latex=r"G^{\prime}", meaning="largest Lipschitz constant"),
               real("m", ge=0, le=1, meaning="the minimum of the statement"),
               real("r", ge=1, meaning="sqrt(1 + log(n)/d)")),
        uses=("gll22.cor7.6/conditioned", "gll22.cor7.6/number-of-observations", "gll22.cor7.6/scaling",
              "gll22.cor7.6/squared-length", "gll22.cor7.6/logarithm-of-d",
              "gll22.cor7.6/mean-of-the-conditioned-law"),
        where="Corollary 7.6: Omega(.) with the constant 1/(512 c)",
    )
)  # fmt: skip

_mu = real("mu", gt=0, latex=r"\mu", unit=Unit() / LENGTH**2)
_G_exp, _D_len = real("G", gt=0, unit=Unit() / LENGTH), real("D", gt=0, unit=LENGTH)
_eta = real("eta", ge=0, latex=r"\eta", meaning="total variation")
_C = real("C", gt=0, meaning="constant of O(d)")
_log_k, _log_ratio = real("ln_k", gt=0, latex=r"\log(k)"), real("ln_X", gt=0, latex=r"\log(G^{2}/\mu)")
_F, _F_best = (
    real("F", latex=r"\operatorname*{\mathbb{E}}[\widehat{F}_{v}(x^{(sol)})]"),
    real("F_best", latex="F^*"),
)
_ratio = real("X", gt=0, latex="X", meaning="G^2 / mu")

_a_pos = real("a", gt=0, meaning="constant of Omega")
_G_0 = real("G_0", gt=0, unit=_G_exp.unit, meaning="mean length of a record")
_d_used = real("d_used", ge=1, latex=r"d^{\prime}", meaning="dimensions that are used")
_log_x = real("ln_X2", ge=0, latex=r"\log(X)")

cor7_7 = (
    Sheet(
        "gll22.cor7.7", (d, _k, _mu, _G_exp, _D_len, _eta, _C, _log_k, _log_ratio, _F, _F_best, _ratio),
        title="Lower bound for samplers", where="Corollary 7.7",
        latex=r"O\left(\frac{G^{2}}{\mu}/(1+\log(G^{2}/\mu)/d)\right)\text{ values are not enough}",
        pairs=("gll22.cor7.6", "gll22.thm5.6", "gll22.lem6.1"),
    )
    .step(
        "choice-of-D", r"\mu D^{2}=d", given=r"D=\sqrt{d/\mu}", where="Corollary 7.7, proof: setting D",
    )
    .step(
        "sampling-error",
        r"\eta\cdot(GD+\mu D^{2})\le\frac{3}{2}d", given=r"\eta\leq 1/2, \eta\leq\sqrt{d\mu/G^{2}}, D=\sqrt{d/\mu}",
        where="Corollary 7.7, proof, 3rd display: the terms with eta are O(d)",
    )
    .step(
        "risk-of-the-sample", rf"{_F.latex}\leq F^*+\frac{{\mu}}{{2}}D^{{2}}+d+\eta\cdot(GD+\mu D^{{2}})\leq F^*+3d",
        given=rf"{_F.latex}\leq F^*+\frac{{\mu}}{{2}}D^{{2}}+d+\eta\cdot(GD+\mu D^{{2}}), \mu D^2=d, "
              r"\eta\cdot(GD+\mu D^{2})\le\frac{3}{2}d",
        uses=("gll22.lem6.1", "range-times-total-variation", "gll22.cor7.7/choice-of-D", "gll22.cor7.7/sampling-error"),
        where="Corollary 7.7, proof, 2nd and 3rd display, O(d) with the constant 3",
    )
    .step(
        "eq19", rf"{_gap.latex}\ge\frac{{a}}{{\sqrt{{1+\log(k)/d}}}}GD\cdot\min\{{\sqrt{{\frac{{d}}{{k}}}},1\}}",
        given=rf"{_gap.latex}\ge aG_0D\min\{{\sqrt{{\frac{{d}}{{k}}}},1\}}, G=G_0\sqrt{{1+\log(k)/d}}",
        added=(_gap, _a_pos, _G_0),
        uses=("gll22.cor7.6/conditioned", "gll22.cor7.6/scaling", "gll22.cor7.6/mean-of-the-conditioned-law"),
        where="(19): as Corollary 7.6, with k in place of nd, Omega(.) with the constant a, which is 1/(128 sqrt(2) c)",
    )
    .step(
        "comparison",
        r"\frac{G\sqrt{d/\mu}}{\sqrt{1+\log(k)/d}}\min\left\{\sqrt{\frac{d}{k}},1\right\}\leq\frac{3}{a}d",
        given=rf"\frac{{a}}{{\sqrt{{1+\log(k)/d}}}}GD\cdot\min\{{\sqrt{{\frac{{d}}{{k}}}},1\}}\le{_F.latex}-F^*, "
              rf"{_F.latex}\le F^*+3d, D=\sqrt{{d/\mu}}",
        added=(_a_pos,), uses=("gll22.cor7.7/eq19", "gll22.cor7.7/risk-of-the-sample"),
        where="Corollary 7.7, proof, 4th display: O(d) with the constant 3/a",
    )
    .step(
        "without-the-minimum", r"G\sqrt{d/\mu}\sqrt{\frac{d}{k}}\leq O(d)", fixed="C",
        given=r"G\sqrt{d/\mu}\min\{\sqrt{\frac{d}{k}},1\}\leq Cd, d=G^2/\mu, k=1",
        true_if="for G^2/mu above C^2 d, C being the constant of the 4th display",
        uses=("gll22.cor7.7/comparison",),
        where="Corollary 7.7, proof, 5th display from the 4th, d <= G^2/mu <= exp(d); here G^2/mu = d, and k = 1, with "
              "logarithm 0",
    )
    .corrected(
        "without-the-minimum", r"G\sqrt{d/\mu}\sqrt{\frac{d}{k}}\leq Cd",
        given=r"G\sqrt{d/\mu}\min\{\sqrt{\frac{d}{k}},1\}\leq Cd, C^2d<G^2/\mu", uses=("gll22.cor7.7/comparison",),
        because="where G^2/mu is at most a constant times d, the 4th display allows every k below d, with 1 as the "
                "minimum; the argument of the last case, on fewer dimensions, gives the bound there",
        where="Corollary 7.7, proof, 5th display for G^2/mu above C^2 d",
    )
    .step(
        "middle-regime", r"\frac{G^2}{C^2\mu}\le k", given=r"G\sqrt{d/\mu}\sqrt{\frac{d}{k}}\leq Cd",
        uses=("gll22.cor7.7/without-the-minimum",),
        where="Corollary 7.7, proof, 5th display: k = Omega(G^2/mu)",
    )
    .step(
        "large-regime", r"\frac{G^2d/\mu}{2C^2\log(G^{2}/\mu)}\le k",
        given=r"\frac{G\sqrt{d/\mu}}{\sqrt{\log(k)/d}}\sqrt{\frac{d}{k}}\leq Cd, \log(k)\le 2\log(G^{2}/\mu)",
        where="Corollary 7.7, proof, 6th display, for k up to (G^2/mu)^2; a larger k is larger than the bound",
    )
    .step(
        "small-regime", r"\frac{X}{C^2}\le k",
        given=r"\sqrt{X}\sqrt{d^{\prime}}\min\{\sqrt{\frac{d^{\prime}}{k}},1\}\leq Cd^{\prime}, 4C^2d^{\prime}\le X",
        added=(_d_used,), uses=("gll22.cor7.7/comparison",),
        where="Corollary 7.7, proof, end: the 4th display with d' dimensions, of the order of G^2/mu, which is X, and "
              "at most X/(2 C)^2; the bound is below 1 where that is below 1",
    )
    .whole(
        "bound", r"k\ge\frac{1}{4C^2}\cdot\frac{X}{1+\log(X)/d}",
        given=r"(\frac{X}{C^2}\le k\text{ or }\frac{Xd}{2C^2\log(X)}\le k\text{ or }X\le 4C^2k), \log(X)>0",
        added=(_log_x,),
        uses=("gll22.cor7.7/small-regime", "gll22.cor7.7/middle-regime", "gll22.cor7.7/large-regime"),
        where="Corollary 7.7, all cases together, X being G^2/mu, above 1: O(.) with the constant 1/(4 C^2); "
              "G^2/mu is at most (2 C)^2, or one of the cases gives its bound",
    )
    .instance(
        "no-value", r"\frac{\sqrt{X}}{2}\ge\min\{\frac{1}{2},\sqrt{\frac{d}{X}}\}", given=r"\frac{X}{1+\log(X)/d}>0",
        case="no value at all, which is fewer than any positive number: the Gaussian law without the losses is within "
             "sqrt(X)/2 of every target, X = G^2/mu",
        uses=("pinsker", "gll22.cor4.3"), true_if="for G^2/mu at least 1",
        where="Corollary 7.7, the total variation that too few values leave",
    )
    .condition(
        "number-of-values-is-positive", r"\frac{X}{1+\log(X)/d}>0",
        true_if="for G^2/mu at least 1", where="Corollary 7.7: any G > 0 and mu > 0, with X = G^2/mu",
    )
    .corrected(
        "number-of-values-is-positive", r"\frac{X}{1+\log(X)/d}>0", given=r"X\ge 1, \log(X)\ge 0",
        because="for G^2/mu below exp(-d) the printed number is negative, and just above it is arbitrarily large",
        where="Corollary 7.7 for G^2/mu at least 1",
    )
    .correction(replaces=("no-value",))
)  # fmt: skip

STATEMENTS = tuple(sheet.statement for sheet in (cor7_6, cor7_7))
