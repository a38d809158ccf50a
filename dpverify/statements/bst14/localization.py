"""bst14, Section 4: output perturbation finds a small ball, and any private solver does the rest."""

from __future__ import annotations

from dpverify.formulas.expressions import integer, real
from dpverify.formulas.units import LENGTH, LOSS, NATS
from dpverify.formulas.vectors import vector
from dpverify.statements.bst14.symbols import Delta, L, diameter, epsilon, n, p, risk, several
from dpverify.statements.sheet import Sheet

_moved = real(
    "r",
    ge=0,
    unit=LENGTH,
    meaning="distance of the minimizers for neighbors",
    latex=r"\|\theta^*-\theta'^*\|_2",
)
_values = tuple(
    real(name, unit=LOSS, latex=latex)
    for name, latex in (
        ("F", r"\mathcal{L}(\theta^*;D)"), ("F2", r"\mathcal{L}(\theta^*;D')"), ("F_at_2", r"\mathcal{L}(\theta'^*;D)"),
        ("F2_at_2", r"\mathcal{L}(\theta'^*;D')"), ("l", r"\ell(\theta^*;d)"), ("l2", r"\ell(\theta^*;d')"),
        ("l_at_2", r"\ell(\theta'^*;d)"), ("l2_at_2", r"\ell(\theta'^*;d')"),
    )
)  # fmt: skip
_norm, _norm2 = (
    real(name, ge=0, unit=LENGTH, meaning="norm of the noise that leads to one output", latex=latex)
    for name, latex in (("b", r"\|b\|_2"), ("b2", r"\|b'\|_2"))
)
_GROWTH = (
    r"\mathcal{L}(\theta'^*;D)\ge\mathcal{L}(\theta^*;D)+\frac{n\Delta}{2}\|\theta^*-\theta'^*\|_2^2, "
    r"\mathcal{L}(\theta^*;D')\ge\mathcal{L}(\theta'^*;D')+\frac{n\Delta}{2}\|\theta^*-\theta'^*\|_2^2"
)
_EXCHANGE = (
    r"\mathcal{L}(\theta^*;D)-\mathcal{L}(\theta^*;D')=\ell(\theta^*;d)-\ell(\theta^*;d'), "
    r"\mathcal{L}(\theta'^*;D)-\mathcal{L}(\theta'^*;D')=\ell(\theta'^*;d)-\ell(\theta'^*;d')"
)
_LIPSCHITZ = (
    r"\ell(\theta'^*;d)-\ell(\theta^*;d)\le L\|\theta^*-\theta'^*\|_2, "
    r"\ell(\theta^*;d')-\ell(\theta'^*;d')\le L\|\theta^*-\theta'^*\|_2"
)

lem4_1 = (
    Sheet(
        "bst14.lem4.1", (n, L, Delta, epsilon, _moved, *_values, _norm, _norm2),
        title="Privacy of Algorithms 3 and 4", where="Lemma 4.1",
        latex=r"b\propto e^{-\frac{n\Delta\varepsilon}{2L}\|b\|_2}\implies\text{Algorithm 3 is }\varepsilon\text{-DP},"
              r"\ \frac{\varepsilon}{2}+\frac{\varepsilon}{2}=\varepsilon",
        pairs=("bst14.alg3", "bst14.alg4"), uses=("pure-composition",),
    )
    .step("sensitivity", r"\|\theta^*-\theta'^*\|_2\le\frac{2L}{n\Delta}",
          given=f"{_GROWTH}, {_EXCHANGE}, {_LIPSCHITZ}",
          uses=("growth-at-a-minimizer",),
          where="Lemma 4.1: Algorithm 3 adds noise according to the sensitivity of the minimizer")
    .whole("privacy-of-algorithm-3", r"-\frac{n\Delta\varepsilon}{2L}\|b\|_2\le\varepsilon"
                                     r"-\frac{n\Delta\varepsilon}{2L}\|b'\|_2",
           given=r"\|b'\|_2\le\|b\|_2+\|\theta^*-\theta'^*\|_2, \|\theta^*-\theta'^*\|_2\le\frac{2L}{n\Delta}",
           uses=("bst14.lem4.1/sensitivity", "triangle-inequality"),
           where="Lemma 4.1: logarithms of the densities of the noise in Algorithm 3; what follows is post-processing")
    .whole("privacy-of-algorithm-4", r"\frac{\varepsilon}{2}+\frac{\varepsilon}{2}=\varepsilon",
           uses=("pure-composition", "bst14.lem4.1/privacy-of-algorithm-3"),
           where="Lemma 4.1, proof: Algorithm 3 and the solver, each with epsilon/2")
)  # fmt: skip

_zeta = real("zeta", gt=1, latex=r"\zeta")
_zeta_from_2 = real("zeta", ge=2, latex=r"\zeta")
_log = real("l_n", gt="69/100", unit=NATS, meaning="log n, above log 2", latex=r"\log(n)")
_spent = real("F", ge=0, unit=LOSS, meaning="risk of the solver on the ball", latex=r"F_0")
_ball = real("C_0", gt=0, unit=LENGTH, meaning="diameter of the ball", latex=r"\|\mathcal{C}_0\|_2")
_missed = real("q", ge=0, le=1, meaning="probability that the ball misses the minimizer")
_in_ball = real("R_in", ge=0, unit=LOSS, meaning="expected excess risk, if the ball holds the minimizer",
                latex=r"\mathbb{E}\left[\mathcal{L}(\theta^{priv};D)-\mathcal{L}(\theta^*;D)"
                      r"|\theta^*\in\mathcal{C}_0\right]")  # fmt: skip
_x, _y, _px = (
    vector(name, unit=LENGTH, latex=latex)
    for name, latex in (("x", r"\theta^*"), ("y", r"\theta^*+b"), ("p_y", r"\theta_0"))
)
_large_p = integer("p", ge=7, meaning="dimension")


def _tail(dimension: int) -> str:
    """The tail of the Gamma law with an integer shape at zeta times its mean."""
    terms = "+".join(
        rf"\frac{{({dimension}\zeta)^{{{j}}}}}{{{f}}}"
        for j, f in ((1, 1), (2, 2), (3, 6), (4, 24), (5, 120))
        if j < dimension
    )
    return rf"e^{{-{dimension}\zeta}}(1+{terms})\le e^{{-\zeta}}"


_OTHER_DIMENSIONS = tuple(
    f"bst14.lem4.2/tail-in-{those}"
    for those in (
        "three-dimensions",
        "four-dimensions",
        "five-dimensions",
        "six-dimensions",
        "high-dimension",
    )
)
_RISK = r"L\|\mathcal{C}\|_2"
_RADIUS = r"\frac{4Lp}{\Delta\varepsilon n}"

lem4_2 = (
    Sheet(
        "bst14.lem4.2",
        (several, p, L, diameter, Delta, epsilon, _zeta, _log, _spent, _ball, _missed, _in_ball, risk, _x, _y, _px),
        title="Risk of localization with any solver", where="Lemma 4.2",
        latex=rf"{risk.latex}=O\left(F\left(p,n,\varepsilon,L,O\left(\frac{{Lp\log(n)}}{{\Delta\varepsilon n}}\right)"
              r"\right)\right)",
        pairs=("bst14.alg3", "bst14.alg4", "bst14.thm4.3"),
    )
    .step("scale-of-the-norm", r"\frac{2L}{n\Delta\cdot\frac{\varepsilon}{2}}=\frac{4L}{\Delta\varepsilon n}",
          where="Lemma 4.2, proof: the norm has a Gamma law with shape p and this scale")
    .step("mean-of-the-norm", r"p\cdot\frac{4L}{\Delta\varepsilon n}=\frac{4Lp}{\Delta\varepsilon n}",
          uses=("bst14.lem4.2/scale-of-the-norm",), where="Lemma 4.2, proof, 1st display: the mean of the norm")
    .step("tail-in-two-dimensions", _tail(2), letters=(_zeta_from_2,), box={"zeta": (2, 60)},
          uses=_OTHER_DIMENSIONS,
          where="Lemma 4.2, proof, 1st display for p = 2; zeta = 3 log n is above 2 from n = 2 on")
    .step("tail-in-three-dimensions", _tail(3), letters=(_zeta_from_2,), box={"zeta": (2, 60)},
          where="Lemma 4.2, proof, 1st display for p = 3")
    .step("tail-in-four-dimensions", _tail(4), letters=(_zeta_from_2,), box={"zeta": (2, 60)},
          where="Lemma 4.2, proof, 1st display for p = 4")
    .step("tail-in-five-dimensions", _tail(5), letters=(_zeta_from_2,), box={"zeta": (2, 60)},
          where="Lemma 4.2, proof, 1st display for p = 5")
    .step("tail-in-six-dimensions", _tail(6), letters=(_zeta_from_2,), box={"zeta": (2, 60)},
          where="Lemma 4.2, proof, 1st display for p = 6")
    .step("tail-in-high-dimension", r"-p(\zeta-1-\ln\zeta)\le-\zeta", letters=(_zeta_from_2, _large_p),
               given=r"\ln\zeta\le\ln 2+\frac{\zeta-2}{2}, \ln 2\le\frac{6932}{10000}",
               added=(real("ln_zeta", latex=r"\ln\zeta"), real("ln_2", latex=r"\ln 2")),
               uses=("chernoff-for-gamma",),
               where="Lemma 4.2, proof, 1st display for p >= 7, in logarithms; a logarithm is below its tangent at 2")
    .step("choice-of-zeta", r"\exp(-3\log n)=\frac{1}{n^3}", where="Lemma 4.2, proof: zeta = 3 log(n)")
    .step("distance-to-the-center", r"\|\theta_0-\theta^*\|\le\|\theta^*+b-\theta^*\|",
          given=r"\langle\theta^*+b-\theta_0,\theta^*-\theta_0\rangle\le 0", uses=("projection-inequality",),
          where="Lemma 4.2, proof: the ball holds the minimizer if the noise is shorter than its radius")
    .step("diameter-of-the-ball", r"\|\mathcal{C}_0\|_2\le\frac{24Lp\log(n)}{\Delta\varepsilon n}",
          given=rf"\|\mathcal{{C}}_0\|_2\le 2\zeta\cdot{_RADIUS}, \zeta=3\log(n)",
          uses=("bst14.lem4.2/mean-of-the-norm",), where="Lemma 4.2, proof, with the constant 24 in O( )")
    .step("both-cases", rf"{risk.latex}\leq F_0(1-\frac{{1}}{{n^3}})+n{_RISK}\frac{{1}}{{n^3}}",
          reading=r"F_0\cdot(1-\frac{1}{n^3})",
          given=rf"{risk.latex}\le{_in_ball.latex}(1-q)+n{_RISK}q, {_in_ball.latex}\le F_0, q\le\frac{{1}}{{n^3}}, "
                rf"F_0\le n{_RISK}",
          uses=("bst14.lem4.2/tail-in-two-dimensions", "bst14.lem4.2/choice-of-zeta",
                "bst14.lem4.2/distance-to-the-center"),
          where="Lemma 4.2, proof, 3rd display, F_0 the bound of the solver on the ball")
    .step("second-term", rf"n{_RISK}\frac{{1}}{{n^3}}=\frac{{{_RISK}}}{{n^2}}",
          where="Lemma 4.2, proof, after the 3rd display")
    .step("strong-convexity-is-bounded", r"\Delta\|\mathcal{C}\|_2\le 2L",
          given=r"\Delta\|\mathcal{C}\|_2^2\le g, g\le 2L\|\mathcal{C}\|_2",
          added=(real("g", unit=LOSS,
          meaning="difference of the gradients at two far points, along their difference"),),
          where="Introduction: the gradient changes at a rate of Delta over the diameter, and is at most L long")
    .step("order-of-the-lower-bound", r"n\ge\frac{1}{n}, \frac{p^2}{\varepsilon^2n}\ge\frac{1}{n}",
          given=r"\varepsilon\le 1",
          uses=("bst14.thm5.4",), where="Lemma 4.2, proof: the bound of Section 5.2 is at least 1/n, epsilon = O(1)")
    .condition("solver-is-not-too-good", rf"\frac{{{_RISK}}}{{n^2}}\le\frac{{3}}{{2c}}F_0",
               given=r"F_0\ge cL\|\mathcal{C}_0\|_2m, m\ge 1, "
                     r"\|\mathcal{C}_0\|_2=\frac{Lp\log(n)}{\Delta\varepsilon n}, "
                     r"\Delta\|\mathcal{C}\|_2\le 2L", meant=r"\varepsilon\le 1",
               added=(real("c", gt=0, meaning="constant of the lower bound"),
                      real("m", gt=0, meaning="the smaller of n and p / epsilon")),
               uses=("bst14.thm5.2", "bst14.lem4.2/strong-convexity-is-bounded"),
               where="Lemma 4.2, proof: F is large enough to absorb the second term, by Theorem 5.2 on the ball")
    .whole("bound", rf"{risk.latex}\le(1+\frac{{3}}{{2c}})F_0",
           given=rf"{risk.latex}\le F_0\cdot(1-\frac{{1}}{{n^3}})+n{_RISK}\frac{{1}}{{n^3}}, "
                 rf"\frac{{{_RISK}}}{{n^2}}\le\frac{{3}}{{2c}}F_0",
           added=(real("c", gt=0, meaning="constant of the lower bound"),),
           uses=("bst14.lem4.2/both-cases", "bst14.lem4.2/diameter-of-the-ball",
                 "bst14.lem4.2/solver-is-not-too-good"),
           where="Lemma 4.2 with the constant 1 + 3/(2c) in O( ), n at least 2, c that of the lower bound")
)  # fmt: skip

thm4_3 = (
    Sheet(
        "bst14.thm4.3", (several, p, L, diameter, Delta, epsilon, _log, _spent, _ball, risk),
        title="Risk of localization with exponential sampling", where="Theorem 4.3",
        latex=rf"{risk.latex}=O\left(\frac{{p^2L^2}}{{n\Delta\varepsilon^2}}\log(n)\right)",
        pairs=("bst14.alg4", "bst14.lem4.2", "bst14.thm3.2"), uses=("bst14.lem4.2", "bst14.thm3.2"),
    )
    .step("solver-on-the-ball", r"F_0\le\frac{96p^2L^2}{n\Delta\varepsilon^2}\log(n)",
          given=r"F_0\le\frac{2pL\|\mathcal{C}_0\|_2}{\varepsilon/2}, "
                r"\|\mathcal{C}_0\|_2\le\frac{24Lp\log(n)}{\Delta\varepsilon n}",
          uses=("bst14.thm3.2", "bst14.lem4.2/diameter-of-the-ball"),
          where="Theorem 4.3: Theorem 3.2 with epsilon/2 and the constant 2, on the ball")
    .condition("missed-ball", rf"\frac{{{_RISK}}}{{n^2}}\le\frac{{2p^2L^2}}{{n\Delta\varepsilon^2}}\log(n)",
               given=r"\Delta\|\mathcal{C}\|_2\le 2L", meant=r"\varepsilon\le 1",
               uses=("bst14.lem4.2/strong-convexity-is-bounded",),
               where="Theorem 4.3: the second term in the proof of Lemma 4.2 is at most of the order of the bound, "
                     "here twice, for epsilon below 1, of which the introduction speaks")
    .whole("bound", rf"{risk.latex}=O\left(\frac{{p^2L^2}}{{n\Delta\varepsilon^2}}\log(n)\right)",
           given=rf"0\le {risk.latex}\le F_0+\frac{{{_RISK}}}{{n^2}}, "
                 rf"F_0\le\frac{{96p^2L^2}}{{n\Delta\varepsilon^2}}\log(n), "
                 r"\Delta\|\mathcal{C}\|_2\le 2L", meant=r"\varepsilon\le 1",
           uses=("bst14.lem4.2/both-cases", "bst14.lem4.2/second-term", "bst14.thm4.3/solver-on-the-ball",
                 "bst14.thm4.3/missed-ball"),
           where="Theorem 4.3 for n at least 2 and epsilon at most 1")
)  # fmt: skip
