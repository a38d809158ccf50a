"""bst14, Appendix C: localization under approximate differential privacy, with Gaussian noise."""

from __future__ import annotations

from dpverify.formulas.expressions import integer, real
from dpverify.formulas.units import LENGTH, LOSS, NATS
from dpverify.statements.bst14.symbols import Delta, L, diameter, epsilon, n, p, risk, several
from dpverify.statements.sheet import Sheet

_level = real("l", ge=1, unit=NATS, meaning="log(1/delta)", latex=r"\log(\frac{1}{\delta})")
_half_level = real("l_2", gt=0, unit=NATS, meaning="log(2/delta)", latex=r"\log(\frac{2}{\delta})")
_delta = real("delta", gt=0, lt=1, latex=r"\delta")
_up_to_1 = real("epsilon", gt=0, le=1, unit=NATS, latex=r"\varepsilon")
_sigma = real("sigma_0", gt=0, unit=LENGTH, meaning="noise, a coordinate", latex=r"\sigma_0")


def _profile(factor: str) -> str:
    """The Gaussian's profile at epsilon, for the shift epsilon over the root of a multiple of log(1/delta)."""
    root = rf"\sqrt{{{factor}\log(\frac{{1}}{{\delta}})}}"
    return (
        rf"\Phi(-{root}+\frac{{\varepsilon}}{{2{root}}})-e^{{\varepsilon}}\Phi(-{root}-\frac{{\varepsilon}}{{2{root}}})"
        r"\le e^{-\log(\frac{1}{\delta})}"
    )


_HALF_PROFILE = (
    rf"\Phi(-\sqrt{{{_half_level.latex}}}+\frac{{\varepsilon}}{{4\sqrt{{{_half_level.latex}}}}})-"
    rf"e^{{\varepsilon/2}}\Phi(-\sqrt{{{_half_level.latex}}}-\frac{{\varepsilon}}{{4\sqrt{{{_half_level.latex}}}}})"
)

thm_c1 = (
    Sheet(
        "bst14.thmC.1", (n, L, Delta, epsilon, _level, _delta, _sigma),
        title="Privacy of Gaussian localization", where="Theorem C.1",
        latex=r"\sigma_0^2=\frac{4L^2\log("
              r"\frac{1}{\delta})}{\Delta^2\varepsilon^2n^2}\implies(\varepsilon,\delta)\text{-DP}",
        pairs=("bst14.alg-local-approx", "bst14.lem4.1"), uses=("bst14.lem4.1", "pure-composition"),
    )
    .step("relative-shift", r"\frac{2L}{n\Delta\sigma_0}=\frac{\varepsilon}{\sqrt{\log(\frac{1}{\delta})}}",
          given=r"\sigma_0=\frac{2L\sqrt{\log(\frac{1}{\delta})}}{\Delta\varepsilon n}",
          uses=("bst14.lem4.1/sensitivity",),
          where="Appendix C: the minimizer's sensitivity over the noise")
    .instance("first-step-and-a-solver",
              rf"e^{{-{_half_level.latex}}}+(1-e^{{-{_half_level.latex}}})\cdot"
              rf"\frac{{e^{{\varepsilon/2}}}}{{1+e^{{\varepsilon/2}}}}"
              rf"\cdot({_HALF_PROFILE})\le 2e^{{-{_half_level.latex}}}",
              added=(_half_level,), box={"epsilon": (1, 2), "l_2": (12, 13)}, uses=("gll22.eq9",),
              case="output perturbation, then a solver that tells a record's sign by randomized response with "
                   "epsilon/2, or openly with probability delta/2",
              true_if="with the constant 8 in the variance", where="Theorem C.1 with a solver that uses up its share")
    .step("noise-of-the-first-step", _profile(""), box={"epsilon": ("1/100", 1), "l": (1, 30)}, letters=(_up_to_1,),
          uses=("gll22.eq9", "bst14.thmC.1/relative-shift"),
          where="Appendix C: output perturbation with this noise is (epsilon, delta)-private, epsilon at most 1")
    .corrected("noise-of-the-first-step", _profile("2"), box={"epsilon": ("1/100", 1), "l": (1, 30)},
               letters=(_up_to_1,),
               because="with the constant 4, output perturbation is not (epsilon, delta)-private: a Gaussian needs 8 "
                       "(or a constant a little smaller than 5 at epsilon = 1 and delta = 1e-5)",
               uses=("gll22.eq9",), true_if="with the constant 8 in the variance",
               where="Appendix C with the constant 8 in the variance, epsilon at most 1 and delta at most 1/e")
    .whole("budget", r"\frac{\varepsilon}{2}+\frac{\varepsilon}{2}=\varepsilon, "
                     r"\frac{\delta}{2}+\frac{\delta}{2}=\delta",
           uses=("pure-composition", "bst14.thmC.1/noise-of-the-first-step"), where="Theorem C.1, proof")
    .correction(latex=r"\sigma_0^2=\frac{8L^2\log(\frac{1}{\delta})}{\Delta^2\varepsilon^2n^2}",
                replaces=("first-step-and-a-solver",))
)  # fmt: skip

_zeta = real("zeta", gt=0, latex=r"\zeta")
_log = real("l_n", gt="69/100", unit=NATS, meaning="log n, above log 2", latex=r"\log(n)")
_spent = real("F", ge=0, unit=LOSS, meaning="risk of the solver on the ball", latex=r"F_0")
_ball = real("C_0", gt=0, unit=LENGTH, meaning="diameter of the ball", latex=r"\|\mathcal{C}_0\|_2")
_missed = real("q", ge=0, le=1, meaning="probability that the ball misses the minimizer")
_many = integer("n", ge=2, le=1000, meaning="number of records")
_x = real("x", ge="59/10", meaning="zeta^2")
_ln_x = real("ln_x", latex=r"\ln x")
_RISK = r"L\|\mathcal{C}\|_2"

thm_c2 = (
    Sheet(
        "bst14.thmC.2", (several, p, L, diameter, Delta, epsilon, _half_level, _zeta, _log, _sigma, _spent, _ball,
        _missed, risk),
        title="Risk of Gaussian localization", where="Theorem C.2",
        latex=rf"{risk.latex}\le "
              rf"O\left(F\left(p,n,\varepsilon,\delta,L,O\left(\frac{{L\sqrt{{p\log(\frac{{1}}{{\delta}})}}"
              r"\log(n)}{\Delta\varepsilon n}\right)\right)\right)",
        pairs=("bst14.alg-local-approx", "bst14.lem4.2"), uses=("bst14.lem4.2",),
    )
    .step("noise-of-half-the-budget",
          r"\sqrt{4\frac{L^2\log(\frac{2}{\delta})}{\Delta^2n^2\cdot(\frac{\varepsilon}{2})^2}}\sqrt{p}"
          r"=\frac{4L\sqrt{p\log(\frac{2}{\delta})}}{\Delta\varepsilon n}",
          where="Theorem C.2, proof, display: sigma_0 sqrt(p) for epsilon/2 and delta/2")
    .step("missed-on-a-line", r"2\Phi(-\sqrt{3\log n})\le\frac{1}{n^3}", letters=(_many,), box={"n": (2, 1000)},
          where="Theorem C.2, proof: zeta = sqrt(3 log(n)), and the rest as in Theorem 4.2, where the ball misses the "
                "minimizer with probability at most 1/n^3; p = 1")
    .corrected("missed-on-a-line", r"2\Phi(-t)\le e^{-\frac{t^2}{2}}", added=(real("t", ge=0, le=12),),
               box={"t": (0, 12)},
               because="exp(-Omega(zeta^2)) is about n^(-3/2) for this zeta on a line; zeta = sqrt(6 log(n)) makes it "
                       "n^(-3)",
               true_if="with zeta = sqrt(6 log(n)); the proof chooses it, and O( ) covers it",
               uses=("bst14.thmC.2/missed-in-higher-dimension",),
               where="Theorem C.2, proof, p = 1: exp(-t^2 / 2) is n^(-3) for t = sqrt(6 log(n)), t up to 12")
    .corrected("missed-in-higher-dimension", r"-\frac{p}{2}(x-1-\ln x)\le-\frac{x}{2}",
               letters=(integer("p", ge=2, meaning="dimension"),), added=(_x, _ln_x),
               given=r"\ln x\le\frac{18}{10}+\frac{x-6}{6}", coverage="step", uses=("chernoff-for-gamma",),
               where="Theorem C.2, proof, from p = 2 on: the logarithm of Chernoff's bound for a chi-squared variable "
                     "at x times its mean against that of n^(-3), x = 6 log(n) for n at least 3; a logarithm is below "
                     "its tangent, and log 6 below 1.8")
    .step("diameter-of-the-ball", r"\|\mathcal{C}_0\|_2\le\frac{8\sqrt{3}L\sqrt{p\log(\frac{2}{\delta})\log(n)}}"
                                  r"{\Delta\varepsilon n}",
          given=r"\|\mathcal{C}_0\|_2\le 2\zeta\cdot\frac{4L\sqrt{p\log(\frac{2}{\delta})}}{\Delta\varepsilon n}, "
                r"\zeta^2=3\log(n)", uses=("bst14.thmC.2/noise-of-half-the-budget",),
          where="Theorem C.2, proof: the ball's diameter with the printed zeta, constant 8 sqrt(3) in O( )")
    .corrected("diameter-of-the-ball", r"\|\mathcal{C}_0\|_2\le\frac{8\sqrt{6}L\sqrt{p\log(\frac{2}{\delta})\log(n)}}"
                                       r"{\Delta\varepsilon n}",
               given=r"\|\mathcal{C}_0\|_2\le 2\zeta\cdot\frac{4L\sqrt{p\log(\frac{2}{\delta})}}{\Delta\varepsilon n}, "
                     r"\zeta^2=6\log(n)", uses=("bst14.thmC.2/noise-of-half-the-budget",),
               where="Theorem C.2, proof: the ball's diameter with zeta = sqrt(6 log(n)), constant 8 sqrt(6) in O( )")
    .whole("bound", rf"{risk.latex}\le(1+\frac{{3}}{{2c}})F_0",
           given=rf"{risk.latex}\le F_0\cdot(1-q)+n{_RISK}q, q\le\frac{{1}}{{n^3}}, "
                 rf"\frac{{{_RISK}}}{{n^2}}\le\frac{{3}}{{2c}}F_0",
           added=(real("c", gt=0, meaning="constant of the lower bound"),),
           uses=("bst14.lem4.2/solver-is-not-too-good", "bst14.thmC.2/missed-on-a-line",
                 "bst14.thmC.2/diameter-of-the-ball"),
           where="Theorem C.2 with the constant 1 + 3/(2c) in O( ), as in Lemma 4.2, with zeta = sqrt(6 log(n))")
)  # fmt: skip
