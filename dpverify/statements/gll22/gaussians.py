"""gll22, Sections 3 and 6: privacy curves and trade-off functions of Gaussians."""

from __future__ import annotations

from dpverify.formulas.expressions import real
from dpverify.formulas.units import NATS
from dpverify.statements.sheet import EDGE, NOTATION, Sheet

epsilon = real("epsilon", ge=0, unit=NATS, latex=r"\varepsilon")
_s, _any_s, _s_from_0 = (
    real("s", gt=0, meaning="shift"),
    real("s", meaning="shift"),
    real("s", ge=0, meaning="shift"),
)
_c, _x = real("c", meaning="a half line's end"), real("x")
_DENSITY = r"\frac{e^{-x^2/2}}{\sqrt{2\pi}}"
_CURVE = r"\Phi(-\frac{\varepsilon}{s}+\frac{s}{2})-e^\varepsilon\Phi(-\frac{\varepsilon}{s}-\frac{s}{2})"
_MAGNITUDE = (
    r"\Phi(-\frac{\varepsilon}{|s|}+\frac{|s|}{2})-e^\varepsilon\Phi(-\frac{\varepsilon}{|s|}-\frac{|s|}{2})"
)
_DELTA = r"\delta(\mathcal{N}(0,1)\|\mathcal{N}(s,1))(\varepsilon)"

eq9 = (
    Sheet(
        "gll22.eq9", (_s, epsilon, _c, _x),
        title="Privacy curve of a Gaussian", where="(9)", latex=f"{_DELTA}={_CURVE}",
        pairs=("gll22.eq10", "gll22.lem6.3", "gll22.thm6.2"),
    )
    .define(r"\varphi(x)", _DENSITY, parameter=_x)
    .define(_DELTA, r"\left.(\Phi(s-c)-e^\varepsilon\Phi(-c))\right|_{c=\frac{\varepsilon}{s}+\frac{s}{2}}")
    .step("best-half-line", r"s\left.c\right|_{c=\frac{\varepsilon}{s}+\frac{s}{2}}-\frac{s^2}{2}=\varepsilon",
          where="(9), s > 0: where the likelihood ratio is exp(epsilon)")
    .step("slope-of-the-half-line's-value",
          r"\frac{\partial}{\partial c}(\Phi(s-c)-e^\varepsilon\Phi(-c))=e^\varepsilon\varphi(c)-\varphi(c-s)",
          where="(9), s > 0: moving the end by dc changes the value by the densities there")
    .whole("value-of-the-best-half-line", f"{_DELTA}={_CURVE}", where="(9), s > 0",
           uses=("gll22.eq9/best-half-line", "neyman-pearson", "reflection"))
    .instance("not-negative", rf"{_CURVE}\ge 0", letters=(_any_s,), given=r"s\ne 0",
              box={"s": (-3, 3), "epsilon": (0, 5)}, case="the empty event, for which the difference is 0",
              where="(9) and Definition 3.1: the empty event makes the curve at least 0; no sign of s is required",
              consequence=NOTATION, true_if="for s > 0, or with |s|, as Lemma 6.3 writes")
    .corrected("not-negative", rf"{_MAGNITUDE}\ge 0", letters=(_any_s,), given=r"|s|\ge\frac{1}{2}",
               box={"s": (-2, 2), "epsilon": (0, 2)}, case="|s| at least 1/2", where="(9) with |s|",
               because="for negative s the best half line is the other one: it should be |s|, as Lemma 6.3 writes",
               catches=("s stands for its absolute value", rf"{_CURVE}\ge 0"))
    .correction(latex=f"{_DELTA}={_MAGNITUDE}")
)  # fmt: skip

_T = r"T(\mathcal{N}(0,1)\|\mathcal{N}(s,1))(z)"
_half = real("c", meaning="a half line's end", latex=r"\Phi^{-1}(1-z)", stands_for="number")

eq10 = (
    Sheet(
        "gll22.eq10", (_half, _any_s, _x),
        title="Trade-off function of a Gaussian", where="(10)",
        latex=r"T(\mathcal{N}(0,1)\|\mathcal{N}(s,1))(z)=\Phi(\Phi^{-1}(1-z)-s)",
        pairs=("gll22.eq9", "gll22.prop3.3"), uses=("neyman-pearson",),
    )
    .instance("not-above-the-other-half-line", r"\Phi(\Phi^{-1}(1-z)-s)\le\Phi(\Phi^{-1}(1-z)+s)",
              box={"s": (-3, 3), "c": (-6, 6)}, case="against one other event of the same mass, the half line above -c",
              where="(10) with c = Phi^{-1}(1-z): the half line above -c has the same mass, so the infimum is no "
                    "larger",
              consequence=EDGE, true_if="for s >= 0, or with |s|, as Lemma 6.3 writes")
    .define(_T, r"\int_{-\infty}^{\Phi^{-1}(1-z)}\frac{e^{-(x-s)^2/2}}{\sqrt{2\pi}}\mathrm{d}x")
    .whole("mass-of-the-best-half-line", rf"{_T}=\Phi(\Phi^{{-1}}(1-z)-s)", letters=(_s_from_0,),
           uses=("gll22.eq10/likelihood-ratio-order", "neyman-pearson"),
           where="(10), s >= 0: what the other law gives the lower half line of mass 1 - z")
    .step("likelihood-ratio-order", r"\frac{\partial}{\partial x}(xs-\frac{s^2}{2})=s", letters=(_s_from_0,),
          where="(10), s >= 0: the ratio of the densities grows along the line, so a lower half line is best",
          uses=("neyman-pearson",))
    .corrected("not-above-the-other-half-line", r"\Phi(\Phi^{-1}(1-z)-s)\le\Phi(\Phi^{-1}(1-z)+s)",
               letters=(_s_from_0,), box={"s": (0, 3), "c": (-6, 6)}, where="(10) for s >= 0",
               case="the other half line is no better; events that are not half lines are left out",
               because="for negative s the infimum is at the other half line: it should be |s|",
               catches=("the two half lines are exchanged", r"\Phi(\Phi^{-1}(1-z)+s)\le\Phi(\Phi^{-1}(1-z)-s)"))
    .correction(latex=r"T(\mathcal{N}(0,1)\|\mathcal{N}(s,1))(z)=\Phi(\Phi^{-1}(1-z)-|s|)")
)  # fmt: skip

_level = real("l", gt=0, unit=NATS, meaning="ln(1/(2 delta))", latex=r"\log(1/(2\delta))")
_epsilon = real("epsilon", gt=0, unit=NATS, latex=r"\varepsilon")
_t = real("t", gt=0, meaning="Gaussian quantile of 1 - delta")
_t_from_0 = real("t", ge=0)

lem6_3 = (
    Sheet(
        "gll22.lem6.3", (_level, _epsilon, _t, _s, _x),
        title="The allowed shift s", where="Lemma 6.3",
        latex=(
            r"|s|\le\sqrt{2\log(1/(2\delta))+2\varepsilon}-\sqrt{2\log(1/(2\delta))}\implies"
            r"\delta(\mathcal{N}(0,1)\|\mathcal{N}(s,1))\le\delta"
        ),
        pairs=("gll22.eq9", "gll22.thm6.4"),
    )
    .define(r"\varphi(x)", _DENSITY, parameter=_x)
    .define(r"\delta\left(\mathcal{N}(0,1)\;\middle\|\;\mathcal{N}(s,1)\right)(\varepsilon)", _CURVE)
    .define(r"\delta", r"\frac{e^{-\log(1/(2\delta))}}{2}")
    .define(r"\bar s", r"\sqrt{2\log(1/(2\delta))+2\varepsilon}-\sqrt{2\log(1/(2\delta))}")
    .define("s_t", r"\sqrt{t^2+2\varepsilon}-t")
    .whole("largest-shift",
           r"\Phi(-\sqrt{2\log(1/(2\delta))})-e^\varepsilon\Phi(-\sqrt{2\log(1/(2\delta))+2\varepsilon})\le\delta",
           box={"l": ("1/100", 30), "epsilon": ("1/100", 10)},
           where="Lemma 6.3, (9) at the largest s, its arguments simplified by the two steps below",
           uses=("gll22.eq9/value-of-the-best-half-line", "gll22.lem6.3/growing-in-s", "gll22.lem6.3/first-argument",
                 "gll22.lem6.3/second-argument"))
    .step("growing-in-s",
          rf"\frac{{\partial}}{{\partial s}}({_CURVE})=\varphi(-\frac{{\varepsilon}}{{s}}+\frac{{s}}{{2}})",
          where="Lemma 6.3, smaller s: the derivative of (9) in s is a density")
    .step("first-argument", r"-\frac{\varepsilon}{\bar s}+\frac{\bar s}{2}=-\sqrt{2\log(1/(2\delta))}",
          where="Lemma 6.3, first argument of (9) at the largest s")
    .step("second-argument",
          r"-\frac{\varepsilon}{\bar s}-\frac{\bar s}{2}=-\sqrt{2\log(1/(2\delta))+2\varepsilon}",
          where="Lemma 6.3, second argument of (9) at the largest s")
    .step("without-the-second-term", r"\delta\left(\mathcal{N}(0,1)\;\middle\|\;\mathcal{N}(s,1)\right)(\varepsilon)"
          r"\leq\Phi\left(-\frac{\varepsilon}{s}+\frac{s}{2}\right)",
          uses=("gll22.eq9",), where="Lemma 6.3, proof, first display")
    .step("gaussian-tail", r"1-\Phi(t)\le\frac{1}{2}\exp(-t^2/2)", letters=(_t_from_0,), box={"t": (0, 10)},
          where="Lemma 6.3, proof, for t > 0 (and at 0)")
    .step("largest-t", r"t\leq\sqrt{2\log(1/(2\delta))}", given=r"\delta\le\frac{1}{2}\exp(-t^2/2)",
          uses=("gll22.lem6.3/gaussian-tail",), where="Lemma 6.3, proof: t has 1 - Phi(t) = delta")
    .step("enough", r"\Phi\left(-\frac{\varepsilon}{s}+\frac{s}{2}\right)\leq\delta",
          given=r"\frac{\varepsilon}{s}-\frac{s}{2}\ge t, \Phi(-t)\le\delta",
          where="Lemma 6.3, proof: what s has to satisfy")
    .step("same-condition", r"\frac{\varepsilon}{s}-\frac{s}{2}\geq t\iff 0\leq s\leq\sqrt{t^{2}+2\varepsilon}-t",
          where="Lemma 6.3, proof: solved for s, which is above 0")
    .step("choice-of-s", r"s\leq\bar s\implies s\le\sqrt{t^{2}+2\varepsilon}-t",
          given=r"t\leq\sqrt{2\log(1/(2\delta))}",
          uses=("gll22.lem6.3/largest-t", "gll22.lem6.3/decreasing-in-t"), where="Lemma 6.3, proof: what s may be")
    .step("equivalence", r"\frac{\varepsilon}{s_t}-\frac{s_t}{2}=t",
          where="Lemma 6.3, proof: epsilon/s - s/2 = t at s = sqrt(t^2 + 2 epsilon) - t")
    .step("decreasing-in-t", r"\frac{\partial}{\partial t}(\sqrt{t^2+2\varepsilon}-t)\le 0",
          box={"t": ("1/100", 10), "epsilon": ("1/100", 10)},
          where="Lemma 6.3, proof: sqrt(t^2 + 2 epsilon) - t decreases as t increases")
)  # fmt: skip
