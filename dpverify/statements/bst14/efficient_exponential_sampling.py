"""bst14, Sections 3.2 and 6.1: the efficient exponential mechanism, from sampling to privacy, risk and time."""

from __future__ import annotations

from dpverify.formulas.expressions import real
from dpverify.formulas.units import LOSS
from dpverify.statements.bst14.efficient_sampling import error, eta, tau
from dpverify.statements.bst14.symbols import L, diameter, epsilon, n, p, risk
from dpverify.statements.sheet import Sheet

_repeats = real("M", gt=0, lt=1, meaning="2^(-m)", latex="2^{-m}")
_quarter = real("h", gt=1, meaning="exp(e/4)", latex=r"e^{\frac{\tilde\varepsilon}{4}}")
_volume, _ball = (
    real(name, gt=0, latex=rf"\mathrm{{Vol}}({at})") for name, at in (("V", r"\mathcal{C}"), ("V_B", "B"))
)
_least = real("mu", gt=0, meaning="smallest density", latex=r"\mu^*")
_wide = real(
    "C",
    ge=2,
    meaning="diameter of the set, in units of the ball",
    latex=r"\|\mathcal{C}\|_2",
    stands_for="number",
)
_wide_eta = real("eta", gt=0, latex=r"\eta")
_power = real("K", gt=0, meaning="||C||^p", latex=r"\|\mathcal{C}\|_2^p")
_two = real("A", gt=0, meaning="2^(-4 eta ||C||)")
_exp = real("X", gt=0, meaning="exp(2 eta ||C||)")
_RATIO = r"\frac{2^{-m}}{\mu^*\mathrm{Vol}(B)}"
_E4 = r"e^{\frac{\tilde\varepsilon}{4}}"
_BOUND = rf"({_E4})^2(({_E4})^2-1)"

lem6_5 = (
    Sheet(
        "bst14.lem6.5", (p, eta, diameter, tau, error, _repeats, _quarter, _volume, _ball, _least, _power),
        title="Boosted sampling on a convex set", where="Lemma 6.5",
        latex=r"m=4\eta\|\mathcal{C}\|_2+p\log(\|\mathcal{C}\|_2)+\log\left(\frac{1}{1-e^{-\tilde\varepsilon/4}}\right)"
              r"\implies\mathrm{Dist}_\infty(\hat\mu_{\mathcal{C}},\mu_{\mathcal{C}})\le\tilde\varepsilon",
        pairs=("bst14.alg6", "bst14.lem6.4"), uses=("bst14.lem6.4",),
    )
    .condition("number-of-walks", rf"2^{{-m}}\le 1-\frac{{1}}{{{_E4}}}",
               given=rf"2^{{-m}}=\frac{{A}}{{\|\mathcal{{C}}\|_2^p}}(1-\frac{{1}}{{{_E4}}}), A\le 1, "
                     r"\|\mathcal{C}\|_2^p\ge 1",
               added=(_two,),
               where="Lemma 6.5, proof: the choice of m guarantees 1 - 2^(-m) >= exp(-e/4); the base of its logarithms "
                     "is not printed, here 2; A = 2^(-4 eta ||C||)")
    .step("range-of-the-loss", r"\eta\|\mathcal{C}\|_2\le 2\eta\tau", given=r"\|\mathcal{C}\|_2\le\tau\sqrt{p}",
          where="Lemma 6.5, proof, 2nd display, first inequality: f changes by at most eta ||C||, and by 2 eta tau?")
    .corrected("range-of-the-loss", r"\eta\|\mathcal{C}\|_2\le 2\eta\|\mathcal{C}\|_2",
               because="tau, the diameter in the maximum norm, may be smaller than half of ||C||; the rest of the "
                       "display has ||C||", true_if="in up to four dimensions",
               where="Lemma 6.5, proof, 2nd display, first inequality")
    .step("volumes", r"\frac{\mathrm{Vol}(B)}{\mathrm{Vol}(\mathcal{C})}=\frac{1}{\|\mathcal{C}\|_2^p}",
          given=r"\mathrm{Vol}(\mathcal{C})\le\mathrm{Vol}(B)\cdot\|\mathcal{C}\|_2^p",
          where="Lemma 6.5, proof, 2nd display, last equality: the set is in a ball of radius ||C||")
    .corrected("volumes", r"\frac{\mathrm{Vol}(B)}{\mathrm{Vol}(\mathcal{C})}\ge\frac{1}{\|\mathcal{C}\|_2^p}",
               given=r"\mathrm{Vol}(\mathcal{C})\le\mathrm{Vol}(B)\cdot\|\mathcal{C}\|_2^p",
               because="the set may be smaller than the ball around it",
               where="Lemma 6.5, proof, 2nd display, last equality")
    .step("smallest-density", r"\mu^*\ge\frac{1}{\mathrm{Vol}(B)}\cdot\frac{1}{X\|\mathcal{C}\|_2^p}", added=(_exp,),
          given=r"\mu^*\ge\frac{1}{X\mathrm{Vol}(\mathcal{C})}, "
                r"\mathrm{Vol}(\mathcal{C})\le\mathrm{Vol}(B)\cdot\|\mathcal{C}\|_2^p",
          uses=("bst14.lem6.5/range-of-the-loss", "bst14.lem6.5/volumes"),
          where="Lemma 6.5, proof, 2nd display, with X = exp(2 eta ||C||)")
    .step("exponents", r"2\eta\|\mathcal{C}\|_2\le 4\eta\|\mathcal{C}\|_2\ln 2", added=(real("ln_2", gt="69/100",
          latex=r"\ln 2"),),
          where="Lemma 6.5, proof, 3rd display: 4 eta ||C|| in m accounts for the smallest density")
    .step("choice-of-the-walks", rf"{_RATIO}\leq {_BOUND}",
          given=rf"2^{{-m}}=\frac{{A}}{{\|\mathcal{{C}}\|_2^p}}(1-\frac{{1}}{{{_E4}}}), AX\le 1, "
                r"\mu^*\ge\frac{1}{\mathrm{Vol}(B)}\cdot\frac{1}{X\|\mathcal{C}\|_2^p}",
          added=(_two, _exp),
          uses=("bst14.lem6.5/smallest-density", "bst14.lem6.5/exponents", "bst14.lem6.5/number-of-walks"),
          where="Lemma 6.5, proof, 3rd display, with logarithms to base 2 in m")
    .whole("upper-side", rf"{_E4}\cdot D+{_RATIO}\le({_E4})^4", given=rf"D\le {_E4}, {_RATIO}\le {_BOUND}",
           added=(real("D", gt=0, meaning="exp of the distance of the law given that a walk ends in the set"),),
           uses=("bst14.lem6.4", "bst14.lem6.5/choice-of-the-walks"),
           where="Lemma 6.5, proof, last display: ratio of the densities")
    .whole("lower-side", rf"\frac{{1-2^{{-m}}}}{{{_E4}}}\ge\frac{{1}}{{({_E4})^4}}",
           given=rf"2^{{-m}}\le 1-\frac{{1}}{{{_E4}}}", uses=("bst14.lem6.4", "bst14.lem6.5/number-of-walks"),
           where="Lemma 6.5, the other side of the distance")
)  # fmt: skip

_masses = tuple(
    real(name, gt=0, latex=latex, meaning="mass of an event")
    for name, latex in (
        ("x", r"\mu^D"),
        ("y", r"\mu^{D'}"),
        ("x_hat", r"\hat\mu^D"),
        ("y_hat", r"\hat\mu^{D'}"),
    )
)
_E, _H = (
    real(name, ge=1, latex=latex)
    for name, latex in (("E", r"e^{\varepsilon}"), ("H", r"e^{\tilde\varepsilon}"))
)

lem6_6 = (
    Sheet(
        "bst14.lem6.6", (*_masses, _E, _H, epsilon, error),
        title="From multiplicative distance to privacy", where="Lemma 6.6",
        latex=r"\mathrm{Dist}_\infty(\hat\mu^D,\mu^D)\le\tilde\varepsilon\text{ for all }D\implies"
              r"(2\tilde\varepsilon+\varepsilon)\text{-DP}",
        pairs=("bst14.alg7", "bst14.alg7-budget"),
    )
    .whole("privacy", r"\hat\mu^D\le(e^{\tilde\varepsilon})^2e^{\varepsilon}\hat\mu^{D'}",
           given=r"\hat\mu^D\le e^{\tilde\varepsilon}\mu^D, \mu^D\le e^{\varepsilon}\mu^{D'}, "
                 r"\mu^{D'}\le e^{\tilde\varepsilon}\hat\mu^{D'}", where="Lemma 6.6, for every event")
)  # fmt: skip

_SCALE = r"\frac{\varepsilon}{6L\|\mathcal{C}\|_2}"

alg7_budget = (
    Sheet(
        "bst14.alg7-budget", (n, L, diameter, epsilon),
        title="Scale and distance add up to epsilon", where="Section 6.1",
        latex=rf"{_SCALE}\text{{ and }}\frac{{\varepsilon}}{{3}}\text{{ give }}\varepsilon\text{{-DP}}",
        pairs=("bst14.alg7", "bst14.lem6.6", "bst14.thm3.4.1"),
    )
    .step("scale", rf"{_SCALE}=\frac{{\varepsilon/3}}{{2L\|\mathcal{{C}}\|_2}}", uses=("bst14.thm3.1",),
          where="Section 6.1: Algorithm 2 with epsilon/3")
    .step("lipschitz-constant", rf"{_SCALE}\cdot nL=\frac{{\varepsilon n}}{{6\|\mathcal{{C}}\|_2}}",
          where="Section 6.1: eta of the scaled loss")
    .whole("budget", r"2\cdot\frac{\varepsilon}{3}+\frac{\varepsilon}{3}=\varepsilon",
           uses=("bst14.alg7-budget/scale", "bst14.lem6.6"), where="Section 6.1: the distance epsilon/3 in Lemma 6.6")
)  # fmt: skip

thm3_4_1 = (
    Sheet(
        "bst14.thm3.4.1", (epsilon,),
        title="Privacy of Algorithm 7", where="Theorem 3.4 (1)",
        latex=r"\mathcal{A}^{eff-exp-samp}\text{ is }\varepsilon\text{-DP}",
        pairs=("bst14.alg7",), uses=("bst14.lem6.5", "bst14.lem6.6", "bst14.thm3.1", "bst14.alg7-budget"),
    )
    .whole("privacy", r"a+b+c\le\varepsilon",
           given=r"a\le\frac{\varepsilon}{3}, b\le\frac{\varepsilon}{3}, c\le\frac{\varepsilon}{3}",
           added=tuple(real(name) for name in "abc"),
           uses=("bst14.lem6.5", "bst14.thm3.1", "bst14.alg7-budget/scale"),
           where="Section 6.1, proof of Theorem 3.4: logarithms of the ratios of the output's density to the density "
                 "aimed at, of that for neighbors, and of the latter to the output's")
)  # fmt: skip

_third = real("T", ge=1, meaning="exp(epsilon/3)", latex=r"e^{\frac{\varepsilon}{3}}")
_exact_risk = real("R_0", ge=0, unit=LOSS, meaning="risk under the density aimed at", latex=r"R_{\mu}")

thm3_4_2 = (
    Sheet(
        "bst14.thm3.4.2", (p, L, diameter, epsilon, risk, _exact_risk),
        title="Excess risk of Algorithm 7", where="Theorem 3.4 (2)",
        latex=rf"{risk.latex}=O\left(\frac{{pL\|\mathcal{{C}}\|_2}}{{\varepsilon}}\right)",
        pairs=("bst14.alg7", "bst14.thm3.2"), uses=("bst14.lem6.5", "bst14.thm3.2"),
    )
    .condition("constant-factor", r"e^{\frac{\varepsilon}{3}}=O(1)", added=(_third,),
               meant=r"\varepsilon\le 1",
               where="Section 6.1, proof of Theorem 3.4: the output's density is within a constant factor, for epsilon "
                     "below 1, of which the introduction speaks")
    .whole("bound", rf"{risk.latex}=O\left(\frac{{pL\|\mathcal{{C}}\|_2}}{{\varepsilon}}\right)",
           given=rf"0\le {risk.latex}\le\frac{{7}}{{5}}R_{{\mu}}, "
                 rf"R_{{\mu}}\le\frac{{2pL\|\mathcal{{C}}\|_2}}{{\varepsilon/3}}",
           uses=("bst14.thm3.2", "bst14.thm3.4.2/constant-factor", "bst14.alg7-budget/scale", "integral-is-monotone"),
           where="Theorem 3.4 (2) for epsilon at most 1")
)  # fmt: skip

_cube = real("tau", gt=0, meaning="edge of the cube, in units of the ball", latex=r"\tau")
_log = real("l", gt=0, meaning="log(||C|| p n)", latex=r"\log(\|\mathcal{C}\|_2pn)")
_log_c = real("l_C", gt=0, meaning="log ||C||", latex=r"\log(\|\mathcal{C}\|_2)")
_log_e = real("l_e", meaning="log(3/epsilon)", latex=r"\log(3/\varepsilon)")
_walk, _times, _goal = (
    real(name, gt=0, latex=latex, meaning=meaning)
    for name, latex, meaning in (
        ("W", "W", "max of Lemma 6.5 for a walk"), ("m", "m", "max of Lemma 6.5 for the number of walks"),
        ("G", "G", r"max(p log(||C|| p n), epsilon ||C|| n)"),
    )
)  # fmt: skip
_ONE_OF = (
    r"(m\le p\log(\|\mathcal{C}\|_2)\text{ or }m\le\frac{\varepsilon n}{6}\text{ or }m\le\log(3/\varepsilon))"
)
_size = real("S", gt=0, meaning="steps, up to constants", latex="S")

thm3_4_3 = (
    Sheet(
        "bst14.thm3.4.3", (n, p, _wide, _cube, epsilon, _log, _log_c, _log_e, _walk, _times, _goal, _size),
        title="Running time of Algorithm 7", where="Theorem 3.4 (3)",
        latex=r"O\left(\|\mathcal{C}\|_2^2p^3n^3\max"
              r"\left\{p\log(\|\mathcal{C}\|_2pn),\varepsilon\|\mathcal{C}\|_2n\right\}"
              r"\right)",
        pairs=("bst14.alg7", "bst14.lem6.5"), uses=("bst14.lem6.5",),
    )
    .step("factor-of-lemma-6.5", r"\frac{(\frac{\varepsilon "
                                 r"n}{6})^2\tau^2}{(\frac{\varepsilon}{3})^2}=\frac{n^2\tau^2}{4}",
          where="Section 6.1, end: eta ||C|| = epsilon n / 6 and e = epsilon/3 in Lemma 6.5")
    .condition("first-of-the-maximum", r"\max(\frac{\varepsilon n}{6},p)=\frac{\varepsilon n}{6}",
               meant=r"\frac{6p}{\varepsilon}\le n",
               where="Section 6.1, end: max(eta ||C||, p) is replaced by eta ||C||; as a standard assumption "
                     "n = omega(p), so n is above every multiple of p, here 6/epsilon times")
    .condition("number-of-walks", r"m\le n",
               given=_ONE_OF, meant=r"p\log(\|\mathcal{C}\|_2)\le n, \varepsilon\le 6, \log(3/\varepsilon)\le n",
               where="Section 6.1, end: the number of walks of Lemma 6.5 is at most of order n; n = omega(p) is above "
                     "every multiple of p, here log ||C|| and log(3/epsilon) times; epsilon at most 6")
    .step("longest-walk", r"W\le G",
          given=r"p\cdot\log(\|\mathcal{C}\|_2pn)\le G, \varepsilon\|\mathcal{C}\|_2n\le G, \tau\le\|\mathcal{C}\|_2, "
                r"(W\le p\cdot\log(\|\mathcal{C}\|_2pn)\text{ or }W\le\frac{\varepsilon n\tau}{6})",
          where="Section 6.1, end: eta tau p / e = n tau p / 2 is at most ||C|| p n, eta tau at most epsilon ||C|| n")
    .step("logarithm", r"\frac{n\tau p}{2}\le\|\mathcal{C}\|_2pn", given=r"\tau\le\|\mathcal{C}\|_2",
          where="Section 6.1, end: the argument of the logarithm")
    .whole("time", r"S\le\frac{\|\mathcal{C}\|_2^2p^3n^3}{4}G",
           given=r"S\le\frac{n^2\tau^2}{4}p^3Wm, W\le G, m\le n, \tau\le\|\mathcal{C}\|_2",
           uses=("bst14.lem6.5", "bst14.thm3.4.3/factor-of-lemma-6.5", "bst14.thm3.4.3/first-of-the-maximum",
                 "bst14.thm3.4.3/number-of-walks", "bst14.thm3.4.3/longest-walk"),
           where="Theorem 3.4 (3), up to the constant of Lemma 6.5, G being the maximum, for n at least 6 p / epsilon, "
                 "p log ||C|| and log(3/epsilon)")
)  # fmt: skip
