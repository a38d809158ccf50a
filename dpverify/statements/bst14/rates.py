"""bst14, Table 1 and the introduction: rates of the upper and the lower bounds, and how they are rescaled."""

from __future__ import annotations

from dpverify.formulas.expressions import real
from dpverify.formulas.units import NATS
from dpverify.statements.bst14.symbols import Delta, L, diameter, epsilon, n, p
from dpverify.statements.sheet import Sheet

_log_n = real("l_n", gt="69/100", unit=NATS, meaning="log n, above log 2", latex=r"\log(n)")
_level = real(
    "l", gt="69/100", unit=NATS, meaning="log(1/delta)", latex=r"\log(1/\delta)", stands_for="number"
)
_scaled = real("D", gt=0, le=2, meaning="Delta where L = ||C|| = 1", latex=r"\Delta'")
_SCALE = r"L\|\mathcal{C}\|_2\cdot"
_CHANGED = r"\Delta'=\frac{\Delta\|\mathcal{C}\|_2}{L}"
_SHORT = r"\log(n/\delta)\le 2\log(1/\delta)"

table1 = (
    Sheet(
        "bst14.table1", (n, p, L, diameter, Delta, epsilon, _log_n, _level, _scaled),
        title="Upper and lower bounds", where="Table 1",
        latex=r"\frac{p}{\varepsilon},\ \frac{\log(n)}{\Delta}\frac{p^2}{n\varepsilon^2},\ "
              r"\frac{\sqrt{p}\log^2(1/\delta)}{\varepsilon},\ \frac{\log^3(1/\delta)}{\Delta}\frac{p}{n\varepsilon^2}"
              r"\text{ against }\frac{p}{\varepsilon},\ \frac{p^2}{n\varepsilon^2},\ \frac{\sqrt{p}}{\varepsilon},\ "
              r"\frac{p}{n\varepsilon^2}",
        pairs=("bst14.thm2.4.1", "bst14.thm2.4.2", "bst14.thm3.2", "bst14.thm4.3", "bst14.thm5.2", "bst14.thm5.3",
               "bst14.thm5.4", "bst14.thm5.5"),
    )
    .define(r"\log(n/\delta)", r"\log(n)+\log(1/\delta)")
    .step("rescaling", rf"{_SCALE}\frac{{\log(n)}}{{\Delta'}}\cdot\frac{{p^2}}{{n\varepsilon^2}}"
                       r"=\frac{p^2L^2\log(n)}{n\Delta\varepsilon^2}", given=_CHANGED,
          where="Table 1, caption: multiply by L ||C|| and replace Delta by Delta ||C|| / L; Theorem 4.3")
    .step("small-delta", _SHORT, given=r"\log(n)\le\log(1/\delta)", where="Table 1, caption: delta < 1/n")
    .whole("pure-lipschitz", rf"{_SCALE}\frac{{p}}{{\varepsilon}}=\frac{{pL\|\mathcal{{C}}\|_2}}{{\varepsilon}}",
           uses=("bst14.thm3.2",), where="Table 1, row 1, this work, epsilon: Theorem 3.2, O of this")
    .whole("pure-strongly-convex", r"R\le 98\cdot\frac{\log(n)}{\Delta'}\cdot\frac{p^2}{n\varepsilon^2}",
           given=r"R\cdot L\|\mathcal{C}\|_2\le\frac{98p^2L^2}{n\Delta\varepsilon^2}\log(n), "rf"{_CHANGED}",
           added=(real("R", ge=0, meaning="excess risk over L ||C||"),),
           uses=("bst14.thm4.3", "bst14.table1/rescaling"),
           where="Table 1, row 2, this work, epsilon: Theorem 4.3")
    .whole("approximate-lipschitz",
           r"\frac{\log(n/\delta)\sqrt{\log(n/\delta)}\sqrt{p\log(1/\delta)}}{\varepsilon}"
           r"\le\sqrt{8}\frac{\sqrt{p}(\log(1/\delta))^2}{\varepsilon}",
           given=r"\log(n)\le\log(1/\delta)", uses=("bst14.thm2.4.1", "bst14.table1/small-delta"),
           where="Table 1, row 1, this work, (epsilon, delta): Theorem 2.4 (1) for delta < 1/n")
    .whole("approximate-strongly-convex",
           r"\frac{(\log(n/\delta))^2p\log(1/\delta)}{n\Delta'\varepsilon^2}"
           r"\le 4\cdot\frac{(\log(1/\delta))^3}{\Delta'}\cdot\frac{p}{n\varepsilon^2}",
           given=r"\log(n)\le\log(1/\delta)", uses=("bst14.thm2.4.2", "bst14.table1/small-delta"),
           where="Table 1, row 2, this work, (epsilon, delta): Theorem 2.4 (2) for delta < 1/n")
    .whole("lower-bounds",
           r"n\cdot\frac{p^2}{n^2\varepsilon^2}=\frac{p^2}{n\varepsilon^2}, n\cdot\frac{p}{n^2\varepsilon^2}"
           r"=\frac{p}{n\varepsilon^2}", uses=("bst14.thm5.2", "bst14.thm5.3", "bst14.thm5.4", "bst14.thm5.5"),
           where="Table 1, lower bounds: those of Section 5, where they are below n")
    .reference("pure-gap", r"\frac{1}{3}\cdot\frac{p^2}{n\varepsilon^2}\le\frac{\log(n)}{\Delta'}\cdot"
                           r"\frac{p^2}{n\varepsilon^2}",
               where="Table 1, row 2: the upper bound is not below the lower one, since Delta is at most 2")
    .reference("approximate-gap", r"\frac{2}{5}\cdot\frac{\sqrt{p}}{\varepsilon}\le"
                                  r"\frac{\sqrt{p}(\log(1/\delta))^2}{\varepsilon}",
               where="Table 1, row 1, (epsilon, delta): the upper bound is not below the lower one")
    .reference("gap-of-the-lower-bounds",
               r"\frac{p^2L^2}{n\Delta\varepsilon^2}=\frac{L}{\Delta\|\mathcal{C}\|_2}\cdot "
               r"L\|\mathcal{C}\|_2\frac{p^2}{n\varepsilon^2}",
               where="Section 5: how much smaller the lower bounds are for other L, ||C|| and Delta, logarithms aside")
    .reference("factor-over-earlier-work", r"\frac{p\sqrt{n}}{\varepsilon}=\sqrt{n}\cdot\frac{p}{\varepsilon}",
               where="Section 1.1: better by a factor of sqrt(n)")
    .reference("factor-over-earlier-work-strongly-convex",
               r"\frac{p^2}{\sqrt{n}\Delta'\varepsilon^2}=\frac{\sqrt{n}}{\log(n)}\cdot\frac{\log(n)}{\Delta'}\cdot"
               r"\frac{p^2}{n\varepsilon^2}",
               where="Section 1.1: better by a factor of sqrt(n) up to a logarithm")
    .reference("radius-of-the-localization", r"\frac{p}{\Delta'n\varepsilon}\cdot\frac{p}{\varepsilon}"
                                             r"=\frac{p^2}{\Delta'n\varepsilon^2}",
               where="Section 1.1, localization: risk p/epsilon on a set of radius p / (Delta n epsilon)")
)  # fmt: skip
