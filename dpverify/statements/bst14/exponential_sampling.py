"""bst14, Section 3.1: exponential sampling, its privacy and its risk by peeling."""

from __future__ import annotations

from math import factorial

from dpverify.formulas.expressions import integer, real
from dpverify.formulas.units import LOSS
from dpverify.statements.bst14.symbols import L, diameter, epsilon, p, risk
from dpverify.statements.sheet import CONSTANT, Sheet

_DATA = (
    ("l", r"\ell(\theta;d)"), ("l2", r"\ell(\theta;d')"),
    ("l_0", r"\ell(\theta_0;d)"), ("l2_0", r"\ell(\theta_0;d')"),
)  # fmt: skip
_losses = tuple(real(name, unit=LOSS, latex=latex) for name, latex in _DATA)
_f, _f2, _f0 = (
    real(name, unit=LOSS, latex=rf"\mathcal{{L}}(\theta{at};D{data})")
    for name, at, data in (("f", "", ""), ("f2", "", "'"), ("f_0", "_0", ""))
)
_Z, _Z2 = (real(name, latex=rf"\ln {at}") for name, at in (("ln_Z", "Z"), ("ln_Z2", "Z'")))
_far, _far2 = (
    real(name, unit=LOSS, latex=rf"\mathcal{{L}}(u;D{mark})") for name, mark in (("F", ""), ("F2", "'"))
)
_RANGE = r"2L\|\mathcal{C}\|_2"
_SENSITIVITY = r"|\ell(\theta;d)-\ell(\theta;d')-(\ell(\theta_0;d)-\ell(\theta_0;d'))|"
_LIPSCHITZ = (
    r"|\ell(\theta;d)-\ell(\theta_0;d)|\le L\|\mathcal{C}\|_2, "
    r"|\ell(\theta;d')-\ell(\theta_0;d')|\le L\|\mathcal{C}\|_2"
)
_MOVED = rf"-\frac{{\varepsilon}}{{{_RANGE}}}(\mathcal{{L}}(\theta;D)-\mathcal{{L}}(\theta;D')+{_RANGE})"

thm3_1 = (
    Sheet(
        "bst14.thm3.1", (L, diameter, epsilon, *_losses, _f, _f2, _f0, _far, _far2, _Z, _Z2),
        title="Privacy of Algorithm 2", where="Theorem 3.1",
        latex=r"\theta^{priv}\propto\exp\left(-\frac{\varepsilon}{2L\|\mathcal{C}\|_2}\mathcal{L}(\theta;D)\right)"
              r"\text{ is }\varepsilon\text{-DP}",
        pairs=("bst14.alg2",),
    )
    .step("shifted-weights",
          r"\exp\left(-\frac{\varepsilon}{L\|\mathcal{C}\|_2}(\mathcal{L}(\theta;D)-\mathcal{L}(\theta_0;D))\right)"
          rf"=\exp\left(-\frac{{\varepsilon}}{{{_RANGE}}}\mathcal{{L}}(\theta;D)\right)"
          rf"\exp\left(\frac{{\varepsilon}}{{{_RANGE}}}\mathcal{{L}}(\theta_0;D)\right)",
          where="Theorem 3.1, proof: the weights that are said to induce the same distribution")
    .corrected("shifted-weights",
               rf"\exp\left(-\frac{{\varepsilon}}{{{_RANGE}}}(\mathcal{{L}}(\theta;D)-\mathcal{{L}}(\theta_0;D))\right)"
               rf"=\exp\left(-\frac{{\varepsilon}}{{{_RANGE}}}\mathcal{{L}}(\theta;D)\right)"
               rf"\exp\left(\frac{{\varepsilon}}{{{_RANGE}}}\mathcal{{L}}(\theta_0;D)\right)",
               because="the 2 of Algorithm 2 is lost in the proof",
               where="Theorem 3.1, proof, with the exponent of Algorithm 2")
    .step("sensitivity", rf"{_SENSITIVITY}\le L\|\mathcal{{C}}\|_2", given=_LIPSCHITZ,
          where="Theorem 3.1, proof: how far the exchange of a record moves L(theta; D) - L(theta_0; D)")
    .corrected("sensitivity", rf"{_SENSITIVITY}\le {_RANGE}", given=_LIPSCHITZ,
               because="an exchanged record moves the difference by up to 2 L ||C||, as a record that is added or "
                       "removed does by L ||C||; half of the range of a shift is enough for the weights, which are "
                       "normalized",
               true_if="if records are added or removed, or the shift is measured from the middle of its range")
    .step("range-of-the-change", rf"{_SENSITIVITY}\le {_RANGE}", given=_LIPSCHITZ, uses=("triangle-inequality",),
          where="Theorem 3.1, the analysis of the exponential mechanism: what its normalized weights need")
    .step("weights-elsewhere",
          rf"-\frac{{\varepsilon}}{{{_RANGE}}}\mathcal{{L}}(u;D)\ge "
          rf"-\frac{{\varepsilon}}{{{_RANGE}}}\mathcal{{L}}(u;D'){_MOVED}",
          given=r"\mathcal{L}(u;D)-\mathcal{L}(u;D')\le\mathcal{L}(\theta;D)-\mathcal{L}(\theta;D')"
                rf"+{_RANGE}",
          uses=("bst14.thm3.1/range-of-the-change",),
          where="Theorem 3.1, the analysis of the exponential mechanism: exponents at every other point u")
    .whole("privacy", rf"-\frac{{\varepsilon}}{{{_RANGE}}}\mathcal{{L}}(\theta;D)-\ln Z\le\varepsilon"
                      rf"-\frac{{\varepsilon}}{{{_RANGE}}}\mathcal{{L}}(\theta;D')-\ln Z'",
           given=rf"\ln Z\ge\ln Z'{_MOVED}",
           uses=("bst14.thm3.1/weights-elsewhere", "integral-is-monotone"),
           where="Theorem 3.1: logarithms of the output's densities, Z and Z' the integrals of the weights")
)  # fmt: skip

_i = integer("i", ge=3, meaning="number of a set")
_from_4 = integer("i", ge=4, meaning="number of a set")
_Gamma = real("Gamma", gt=0, unit=LOSS, meaning="threshold", latex=r"\Gamma")
_r1, _r2, _r_before, _ri = (
    real(f"r_{name}", gt=0, meaning="distance from the minimizer, in some unit", latex=rf"r_{{{at}}}")
    for name, at in (("1", "1"), ("2", "2"), ("before", "i-1"), ("i", "i"))
)
_r = real("r", gt=0, meaning="distance, in some unit")
_powers = tuple(
    real(name, gt=0, latex=latex)
    for name, latex in (
        ("P_i", "r_i^p"), ("P_before", "r_{i-1}^p"), ("P_2", "r_2^p"), ("P_1", "r_1^p"), ("Q_i", "(r_i/r_{i-1})^p"),
        ("Q_2", "(r_2/r_1)^p"),
    )
)  # fmt: skip
_count = real("K", gt=0, latex="(i-1)^p")
_half_powers = real("W", gt=0, latex=r"2^{\frac{i-4}{2}}")
_log_2 = real("ln2", gt="69/100", latex=r"\ln 2")
_R = real("R_theta", ge=0, unit=LOSS, meaning="excess risk at a point", latex=r"R(\theta)")
_t = real("t", gt=0)
_V2, _Vi = (real(f"V_{at}", gt=0, latex=rf"\mathrm{{Vol}}(A_{at})") for at in ("2", "i"))
_x = real("x", gt=0, meaning="epsilon Gamma / (2 L ||C||)")
_q = real("q", ge=0, lt=1, meaning="ratio of the series", latex="q")
_ratio = real("q", gt=0, lt=1, meaning="ratio of the series", latex=r"2^{\frac{p}{2}}e^{-x}")
_first = real("c", gt=0, latex=r"3^pe^{-x}")
_S = real("S", gt=0, meaning="sum of the series", latex="S")
_u = real("u", gt=0, le="7409/10000", meaning="exp(-t)")
_X = r"\frac{\varepsilon\Gamma}{2L\|\mathcal{C}\|_2}"
_TAIL = r"\frac{\Pr[\theta^{priv}\in A_4\cup A_5\cup\cdots]}{\Pr[\theta^{priv}\in A_2]}"
_ORDERED = r"r_1<r_2\le r_{i-1}<r_i"
_CHOICE = r"\frac{3^pe^{-(p\ln 3+2t)}}{1-2^{\frac{p}{2}}e^{-(p\ln 3+2t)}}\leq e^{-t}"


def _gamma_tail(times: str) -> str:
    """Beyond a multiple of 20 ln 3 + 2 t, the tail of the Gamma law with shape 20, against exp(-t)."""
    y = rf"{times}(20\ln 3+2t)"
    terms = "+".join(rf"\frac{{({y})^{{{j}}}}}{{{factorial(j)}}}" for j in range(1, 20))
    return rf"e^{{-{y}}}(1+{terms})\le e^{{-t}}"


_along = (
    real("s", ge=0, meaning="where theta_1 lies"),
    *(
        real(name, latex=latex, stands_for="number")
        for name, latex in (("R_0", r"R(\theta^*)"), ("R_1", r"R(\theta_1)"), ("R_2", r"R(\theta_2)"))
    ),
)

claim3_3 = (
    Sheet(
        "bst14.claim3.3",
        (p, _i, L, diameter, epsilon, _Gamma, _r1, _r2, _r_before, _ri, _r, _R, _t, _V2, _Vi, _x, _q, _S, risk),
        title="Peeling: sets of a cone by their excess risk", where="Claim 3.3",
        latex=r"r_i-r_{i-1}\leq r_2-r_1\ (i\ge 3)",
        pairs=("bst14.thm3.2",),
    )
    .whole("gaps-shrink", r"r_i-r_{i-1}\leq r_2-r_1",
           given=rf"\frac{{2\Gamma-\Gamma}}{{r_2-r_1}}\le\frac{{i\Gamma-(i-1)\Gamma}}{{r_i-r_{{i-1}}}}, {_ORDERED}",
           uses=("convex-slopes",), where="Claim 3.3: slopes of R between r_1 and r_2 and between r_{i-1} and r_i")
    .step("growth", r"R(\theta_2)\geq R(\theta_1)", added=_along,
          given=r"R(\theta_1)\le(1-s)R(\theta^*)+sR(\theta_2), R(\theta^*)\le R(\theta_2), s\le 1",
          where="Claim 3.3, proof: R is convex and least at the minimizer, and theta_1 lies between it and theta_2, as "
                "all that matters of a point is its distance")
    .step("primitive", r"\frac{\partial}{\partial r}(\frac{r^p}{p})=r^{p-1}",
          where="Claim 3.3, (4): the integrals of r^(p-1)")
    .step("volumes", r"\frac{r_i^p-r_{i-1}^p}{r_2^p-r_1^p}=\frac{(r_i/r_{i-1})^p-1}{(r_2/r_1)^p-1}\cdot"
                     r"\frac{r_{i-1}^p}{r_1^p}", added=_powers,
          given=r"(r_i/r_{i-1})^p=\frac{r_i^p}{r_{i-1}^p}, (r_2/r_1)^p=\frac{r_2^p}{r_1^p}, r_1^p<r_2^p",
          where="Claim 3.3, (4), last equality",
          uses=("bst14.claim3.3/primitive",))
    .step("relative-radii", r"\frac{r_i}{r_{i-1}}\le\frac{r_2}{r_1}",
          given=r"(r_i-r_{i-1})\leq(r_2-r_1), r_1<r_2, r_2\le r_{i-1}",
          uses=("bst14.claim3.3/gaps-shrink",), where="Claim 3.3, after (4): why the first factor is at most 1")
    .step("first-factor", r"\frac{(r_i/r_{i-1})^p-1}{(r_2/r_1)^p-1}\leq 1",
          given=r"(r_i/r_{i-1})^p\le(r_2/r_1)^p, 1<(r_2/r_1)^p", added=_powers,
          uses=("bst14.claim3.3/relative-radii", "bst14.claim3.3/next-power"),
          where="Claim 3.3, after (4)")
    .step("next-power", r"vV\le wW", given=r"v\le w, V\le W",
          added=tuple(real(name, gt=0) for name in "vwVW"),
          where="Claim 3.3, after (4): from powers V <= W of v <= w to the next")
    .step("inner-radius", r"r_{i-1}\le(i-1)r_1", given=r"\frac{\Gamma}{r_1}\le\frac{(i-1)\Gamma}{r_{i-1}}",
          uses=("convex-slopes",), where="Claim 3.3, after (4): slopes of R from the minimizer to r_1 and to r_{i-1}")
    .step("second-factor", r"\frac{r_{i-1}^p}{r_1^p}\leq(i-1)^{p-1}", given=r"r_{i-1}\le(i-1)r_1",
          uses=("bst14.claim3.3/inner-radius",), where="Claim 3.3, after (4)")
    .corrected("second-factor", r"\frac{r_{i-1}^p}{r_1^p}\leq(i-1)^p", given=r"r_{i-1}\le(i-1)r_1",
               because="the exponent is p, as in (5): R may be linear",
               uses=("bst14.claim3.3/inner-radius",), where="Claim 3.3, after (4)")
    .step("relative-volume", r"\frac{\mathrm{Vol}(A_i)}{\mathrm{Vol}(A_2)}\leq(i-1)^p",
          given=r"\frac{\mathrm{Vol}(A_i)}{\mathrm{Vol}(A_2)}=a\cdot b, a\le 1, b\le(i-1)^p",
          added=(real("a", ge=0, meaning="first factor of (4)"), real("b", ge=0,
          meaning="second factor of (4)"), _count),
          uses=("bst14.claim3.3/volumes", "bst14.claim3.3/first-factor", "bst14.claim3.3/second-factor"),
          where="Claim 3.3, (5)")
    .step("density-on-A-2", r"-\frac{\varepsilon}{L\|\mathcal{C}\|_2}\cdot R(\theta)\ge "
                            r"-2\varepsilon\Gamma/(2L\|\mathcal{C}\|_2)", given=r"R(\theta)\le 2\Gamma",
          where="Claim 3.3, after (5): exponents of the density and of the bound of the mass of A_2")
    .corrected("density-on-A-2", r"-\frac{\varepsilon}{2L\|\mathcal{C}\|_2}\cdot R(\theta)\ge "
                                 r"-2\varepsilon\Gamma/(2L\|\mathcal{C}\|_2)", given=r"R(\theta)\le 2\Gamma",
               because="the 2 of Algorithm 2 is lost in the density, and there in the bounds",
               where="Claim 3.3, after (5), with the density of Algorithm 2")
    .step("density-on-A-i", r"-\frac{\varepsilon}{2L\|\mathcal{C}\|_2}\cdot R(\theta)\le "
                            r"-(i-1)\varepsilon\Gamma/(2L\|\mathcal{C}\|_2)", given=r"R(\theta)\ge(i-1)\Gamma",
          where="Claim 3.3, after (5): exponents of the density of Algorithm 2 and of the bound of the mass of A_i")
    .step("relative-mass",
          r"\frac{\mathrm{Vol}(A_i)\cdot e^{-(i-1)\varepsilon\Gamma/(2L\|\mathcal{C}\|_2)}}"
          r"{\mathrm{Vol}(A_2)\cdot e^{-2\varepsilon\Gamma/(2L\|\mathcal{C}\|_2)}}=\frac{\mathrm{Vol}(A_i)}"
          r"{\mathrm{Vol}(A_2)}\cdot\exp\left(-(i-3)\varepsilon\Gamma/(2L\|\mathcal{C}\|_2)\right)",
          uses=("bst14.claim3.3/density-on-A-2", "bst14.claim3.3/density-on-A-i", "integral-is-monotone"),
          where="Claim 3.3, before (6), a summand")
    .step("mass-with-the-volume",
          r"\frac{\mathrm{Vol}(A_i)}{\mathrm{Vol}(A_2)}\cdot\exp\left(-(i-3)x\right)\leq(i-1)^p\cdot"
          r"\exp\left(-(i-3)x\right)", given=r"\frac{\mathrm{Vol}(A_i)}{\mathrm{Vol}(A_2)}\leq(i-1)^p", added=(_count,),
          uses=("bst14.claim3.3/relative-volume",), where="Claim 3.3, (6), a summand")
    .step("radii-in-a-series", r"i-1\le 3\cdot 2^{\frac{i-4}{2}}", letters=(_from_4,),
          added=(_half_powers, _log_2), given=r"2^{\frac{i-4}{2}}\ge 1+\frac{i-4}{2}\ln 2",
          uses=("bst14.lem2.5/log-2",),
          where="Claim 3.3, after (6), for p = 1: an exponential is above its tangent")
    .step("powers-in-a-series", r"(i-1)^p\leq 3^p\cdot 2^{\frac{p(i-4)}{2}}", letters=(_from_4,),
          given=r"i-1\le 3\cdot 2^{\frac{i-4}{2}}", uses=("bst14.claim3.3/radii-in-a-series",),
          where="Claim 3.3, after (6)")
    .step("geometric-term",
          r"3^p\cdot 2^{\frac{p(i-4)}{2}}\exp(-(i-3)x)=3^pe^{-x}(2^{\frac{p}{2}}e^{-x})^{i-4}", letters=(_from_4,),
          uses=("bst14.claim3.3/powers-in-a-series", "bst14.claim3.3/mass-with-the-volume"),
          where="Claim 3.3, (7), a summand of the first line")
    .step("geometric-series", r"3^pe^{-x}\cdot S=\frac{3^pe^{-x}}{1-2^{\frac{p}{2}}e^{-x}}",
          added=(_ratio, _first), given=r"S=1+2^{\frac{p}{2}}e^{-x}\cdot S",
          uses=("bst14.claim3.3/geometric-term",), where="Claim 3.3, (7), second line")
    .step("choice-of-the-threshold", _CHOICE, uses=("bst14.claim3.3/geometric-series",),
          where="Claim 3.3, after (7): Gamma with p ln 3 + 2 t, for every t > 0")
    .corrected("choice-of-the-threshold", r"\frac{u^2}{1-qu^2}\leq u",
               given=r"q\le\frac{4715}{10000}", letters=(_q,), added=(_u,),
               uses=("bst14.claim3.3/geometric-series", "bst14.claim3.3/ratio-at-the-threshold"),
               because="for t near 0 the sum of the series is above exp(-t); from t = 3/10 on it is not",
               consequence=CONSTANT,
               where="Claim 3.3, after (7), for t at least 3/10, u = exp(-t), q the p-th power of sqrt(2)/3")
    .step("ratio-at-the-threshold", r"\frac{\sqrt{2}}{3}\le\frac{4715}{10000}",
          where="Claim 3.3, after (7): the ratio is exp(-2 t) times the p-th power of this")
    .step("end-of-small-t", r"e^{-\frac{3}{10}}\le\frac{7409}{10000}",
          where="Claim 3.3, after (7), for t at least 3/10: exp(-t)")
    .instance("tail-of-a-linear-cone", _gamma_tail(""), box={"t": (5, 8)},
              case="p = 20 and a risk that is linear in the cone, so the excess risk has a Gamma law",
              true_if="with 3 Gamma in place of Gamma: the sets from A_4 on are those of an excess risk above 3 Gamma",
              where="Claim 3.3, after (7): Pr[R > (2 L ||C|| / epsilon)(p ln 3 + 2 t)] <= exp(-t)")
    .corrected("tail-of-a-linear-cone",
               _gamma_tail("3"), box={"t": (5, 8)},
               case="p = 20, t in [5, 8] and a risk that is linear in the cone, with 3 Gamma",
               because="A_4 begins at an excess risk of 3 Gamma, not of Gamma: the tail bound holds beyond 3 Gamma",
               catches=("Gamma for 3 Gamma", _gamma_tail("")),
               where="Claim 3.3, after (7): Pr[R > 3 (2 L ||C|| / epsilon)(p ln 3 + 2 t)] <= exp(-t)")
    .step("tail-of-the-tail", r"\frac{\partial}{\partial t}(-e^{-t})=e^{-t}",
          where="Theorem 3.2, end of the proof: the mean from the tail, whose integral from t = 3/10 is exp(-3/10)")
    .step("bound-by-peeling", rf"{risk.latex}\le\frac{{20pL\|\mathcal{{C}}\|_2}}{{\varepsilon}}",
           given=rf"{risk.latex}\le\frac{{6L\|\mathcal{{C}}\|_2}}{{\varepsilon}}"
                 r"(\frac{10987}{10000}p+2\cdot\frac{3}{10}+2\cdot\frac{7409}{10000})",
           uses=("bst14.claim3.3/choice-of-the-threshold", "bst14.claim3.3/ratio-at-the-threshold",
                 "bst14.claim3.3/end-of-small-t", "bst14.claim3.3/log-3", "bst14.claim3.3/tail-of-the-tail"),
           where="Theorem 3.2, from the tail beyond 3 Gamma for t at least 3/10")
    .step("log-3", r"\ln 3\le\frac{10987}{10000}", where="Theorem 3.2, end of the proof, in numbers")
)  # fmt: skip

thm3_2 = (
    Sheet(
        "bst14.thm3.2", (p, L, diameter, epsilon, risk, _r),
        title="Excess risk of Algorithm 2", where="Theorem 3.2",
        latex=rf"{risk.latex}=O\left(\frac{{pL\|\mathcal{{C}}\|_2}}{{\varepsilon}}\right)",
        pairs=("bst14.alg2", "bst14.claim3.3"),
    )
    .whole("bound", rf"{risk.latex}\le\frac{{2pL\|\mathcal{{C}}\|_2}}{{\varepsilon}}",
           given=rf"{risk.latex}\le pT, T=\frac{{2L\|\mathcal{{C}}\|_2}}{{\varepsilon}}",
           added=(real("T", gt=0, unit=LOSS, meaning="temperature"),), uses=("gibbs-risk",),
           where="Theorem 3.2 by another proof, with the constant 2 in O( )")
    .step("attained-on-a-line", r"\frac{\partial}{\partial r}(-(1+r)e^{-r})=re^{-r}",
               where="Theorem 3.2, p = 1: a linear risk on a long interval has a mean of 1 in units of 2 L ||C|| / "
                     "epsilon, so no constant below 2 is enough")
)  # fmt: skip
