"""bst14, Appendix A: the exponential mechanism on a net."""

from __future__ import annotations

from dpverify.formulas.expressions import real
from dpverify.formulas.units import LOSS
from dpverify.statements.bst14.symbols import L, diameter, epsilon, n, p, risk
from dpverify.statements.sheet import Sheet

_gap = real("h", ge=0, unit=LOSS, meaning="range of the change of the objective", latex=r"\Delta\mathcal{L}")
_E = real("E", ge=1, latex=r"e^{\varepsilon}")
_TWO = "n = 2, p = 1, L = 1, losses theta and -theta on [0, 1], the net {0, 1}: records (+, -) against (+, +)"
_EXPONENT = r"\frac{\varepsilon}{L\|\mathcal{C}\|_2}"
_HALF = r"\frac{\varepsilon}{2L\|\mathcal{C}\|_2}"

alg8_privacy = (
    Sheet(
        "bst14.alg8-privacy", (L, diameter, epsilon, _gap, _E),
        title="Privacy of Algorithm 8", where="Appendix A",
        latex=r"\theta^{priv}\propto\exp\left(-\frac{\varepsilon}{L\|\mathcal{C}\|_2}\mathcal{L}(\theta;D)\right)"
              r"\text{ on a net is }\varepsilon\text{-DP}",
        pairs=("bst14.alg8", "bst14.thm3.1"),
    )
    .instance("two-points", r"\frac{1}{2}\le\frac{e^{\varepsilon}}{1+(e^{\varepsilon})^2}", case=_TWO,
              where="Algorithm 8, step 3, with its exponent epsilon / (L ||C||)",
              true_if="with the exponent of Algorithm 2, epsilon / (2 L ||C||)")
    .corrected("two-points", r"\frac{1}{2}\le\frac{e^{\varepsilon}}{1+e^{\varepsilon}}", case=_TWO,
               catches=("the exponent of Algorithm 8",
                        r"\frac{1}{2}\le\frac{e^{\varepsilon}}{1+(e^{\varepsilon})^2}"),
               because="an exchanged record changes the objective within a range of 2 L ||C||, so the exponent "
                       "must be half of the printed one, as in Algorithm 2",
                       where="Algorithm 8 with the exponent of Algorithm 2")
    .step("loss-of-the-exponent", rf"{_EXPONENT}\cdot\Delta\mathcal{{L}}\le\varepsilon",
          given=r"\Delta\mathcal{L}\le 2L\|\mathcal{C}\|_2", uses=("bst14.thm3.1/range-of-the-change",),
          where="Appendix A: privacy follows directly from the analysis of Theorem 3.1")
    .corrected("loss-of-the-exponent", rf"{_HALF}\cdot\Delta\mathcal{{L}}\le\varepsilon",
               given=r"\Delta\mathcal{L}\le 2L\|\mathcal{C}\|_2", uses=("bst14.thm3.1/range-of-the-change",),
               where="Appendix A with the exponent of Algorithm 2")
    .corrected("privacy", rf"-{_HALF}\cdot f-z\le\varepsilon-{_HALF}\cdot f'-z'",
               added=(*(real(a, unit=LOSS, latex=b) for a, b in (("f", "f"), ("f2", "f'"))),
                      *(real(a, latex=b,
                      meaning="logarithm of the sum of the weights") for a, b in (("z", "z"), ("z2", "z'")))),
               given=rf"z\ge z'-{_HALF}(f-f'+2L\|\mathcal{{C}}\|_2)", coverage="whole",
               uses=("bst14.thm3.1/weights-elsewhere",),
               where="Algorithm 8 with the exponent of Algorithm 2: logarithms of the masses")
    .correction(latex=r"\exp\left(-\frac{\varepsilon}{2L\|\mathcal{C}\|_2}\mathcal{L}(\theta;D)\right)",
                replaces=("loss-of-the-exponent",))
)  # fmt: skip

_log = real("l", ge=0, meaning="log(epsilon n/p)", latex=r"\log(\frac{\varepsilon n}{p})")
_points = real("N", ge=0, meaning="logarithm of the number of points of the net", latex=r"\log|\mathcal{M}|")
_NET = rf"\frac{{L\|\mathcal{{C}}\|_2p}}{{\varepsilon}}+\frac{{L\|\mathcal{{C}}\|_2p}}{{\varepsilon}}{_log.latex}"
_BOUND = rf"\frac{{2pL\|\mathcal{{C}}\|_2}}{{\varepsilon}}{_log.latex}"

thm_a1 = (
    Sheet(
        "bst14.thmA.1", (n, p, L, diameter, epsilon, _log, _points, risk),
        title="Excess risk of Algorithm 8", where="Theorem A.1",
        latex=rf"{risk.latex}=O\left(\frac{{pL\|\mathcal{{C}}\|_2}}{{\varepsilon}}{_log.latex}\right)",
        pairs=("bst14.alg8",),
    )
    .step("net-point", r"nL\cdot\frac{\|\mathcal{C}\|_2p}{\varepsilon n}=\frac{L\|\mathcal{C}\|_2p}{\varepsilon}",
          where="Theorem A.1, proof: a net point near the minimizer")
    .step("points-of-the-net", r"1+2\cdot\frac{\varepsilon n}{p}\le\frac{3\varepsilon n}{p}",
          given=r"p\le\varepsilon n", uses=("volume-of-a-net",),
          where="Algorithm 8, step 1: the number of points is Theta((epsilon n/p)^p); at most the p-th power of this")
    .step("sum-of-the-two-parts", rf"{_NET}\le {_BOUND}", meant=rf"{_log.latex}\ge 1",
          where="Theorem A.1, proof, end, with the constant 2 in O( ), the logarithm being at least 1")
    .whole("bound", rf"{risk.latex}=O\left(\frac{{pL\|\mathcal{{C}}\|_2}}{{\varepsilon}}{_log.latex}\right)",
           given=rf"0\le {risk.latex}\le "
                 rf"\frac{{L\|\mathcal{{C}}\|_2p}}{{\varepsilon}}"
                 rf"+\frac{{2L\|\mathcal{{C}}\|_2}}{{\varepsilon}}\log|\mathcal{{M}}|, "
                 rf"\log|\mathcal{{M}}|\le p({_log.latex}+\frac{{11}}{{10}})",
           meant=rf"{_log.latex}\ge 1",
           uses=("gibbs-on-a-net", "bst14.thmA.1/net-point", "bst14.thmA.1/points-of-the-net"),
           where="Theorem A.1 with the exponent of Algorithm 2, the logarithm being at least 1")
)  # fmt: skip
