"""bst14, Section 2: privacy of noisy gradient descent, by sampling and strong composition."""

from __future__ import annotations

from fractions import Fraction
from math import comb

from dpverify.formulas.expressions import integer, real
from dpverify.formulas.units import LENGTH, LOSS, NATS
from dpverify.statements.bst14.symbols import L, epsilon, level, log_n, n
from dpverify.statements.sheet import Sheet

_epsilon_to_1 = real("epsilon", ge=0, le=1, unit=NATS, latex=r"\varepsilon")
_epsilon = real("epsilon", ge=0, unit=NATS, latex=r"\varepsilon")
_gamma = real("gamma", ge=0, le=1, meaning="fraction of the records used", latex=r"\gamma")
_ratio = real("E", ge=1, meaning="exp(epsilon)", latex=r"e^\varepsilon")
_x, _y, _z = (real(name, gt=0, meaning="probability of an event") for name in ("x", "y", "z"))

lem2_2 = (
    Sheet(
        "bst14.lem2.2", (_gamma, _epsilon_to_1, _z, _x, _y),
        title="Privacy amplification by sampling", where="Lemma 2.2",
        latex=(
            r"\varepsilon\le 1\implies\text{running on a random fraction }\gamma\text{ of the records is }"
            r"2\gamma\varepsilon\text{-DP}"
        ),
        pairs=("bst14.alg1", "bst14.thm2.1"),
    )
    .step("mixture", r"(1-\gamma)z+\gamma x\le(1+\gamma(e^\varepsilon-1))((1-\gamma)z+\gamma y)",
          given=r"x\le e^\varepsilon y, x\le e^\varepsilon z", added=(_ratio,), uses=("exchange-of-a-record",),
          where="Lemma 2.2: the sample holds the record with probability gamma, else it is the same")
    .whole("two-gamma-epsilon", r"\ln(1+\gamma(e^\varepsilon-1))\le 2\gamma\varepsilon",
           uses=("bst14.lem2.2/mixture", "exchange-of-a-record"))
)  # fmt: skip


FOLDS = {1: "8", 2: "4", 3: "3", 5: "2", 8: "2"}
"""Numbers of compositions at which strong composition is tried on the mechanism that dominates all others, each with
the factor of the root whose loss it would see."""
MANY_FOLDS, SMALL_EPSILON = 32, Fraction(1, 20)
"""So many compositions, at one epsilon, see that the root of 2 is lost."""

_level = real("l", ge=0, unit=NATS, meaning="ln(1/delta')", latex=r"\ln(1/\delta')", stands_for="number")
# at delta' = 0 the bound is infinite and says nothing
_delta = real("delta", gt=0, meaning="delta'", latex=r"\delta'")


def _times(k: int, epsilon: Fraction | None) -> str:
    """A multiple of epsilon, where epsilon is a number or the letter."""
    if epsilon is not None:
        value = k * epsilon
        return rf"\frac{{{value.numerator}}}{{{value.denominator}}}"
    return rf"{'' if k == 1 else k}\varepsilon"


def _randomized_response(folds: int, bound: str, epsilon: Fraction | None) -> str:
    """The profile of randomized response, composed, at a bound of the loss."""
    terms = []
    for k in range(folds + 1):
        many = "" if k in (0, folds) else str(comb(folds, k))
        left = rf"e^{{{_times(folds - k, epsilon)}}}" if k < folds else "1"
        right = rf"e^{{{bound}}}e^{{{_times(k, epsilon)}}}" if k else rf"e^{{{bound}}}"
        terms.append(rf"{many}\max(0,{left}-{right})")
    return (
        rf"\frac{{{'+'.join(terms)}}}{{(1+e^{{{_times(1, epsilon)}}})^{{{folds}}}}}\le e^{{-\ln(1/\delta')}}"
    )


def _strong_composition() -> Sheet:
    sheet = Sheet(
        "bst14.lem2.3", (_epsilon, _level),
        title="Strong composition", where="Lemma 2.3",
        latex=(
            r"\varepsilon'=\sqrt{2T\ln(1/\delta')}\,\varepsilon+T\varepsilon(e^\varepsilon-1),"
            r"\quad\varepsilon,\delta'\ge 0"
        ),
        pairs=("bst14.thm2.1",),
    )  # fmt: skip
    tried: list[tuple[int, Fraction | None, str]] = [(folds, None, lost) for folds, lost in FOLDS.items()]
    for folds, one, lost in [*tried, (MANY_FOLDS, SMALL_EPSILON, r"\sqrt{2}")]:
        each, root = _times(1, one), rf"\sqrt{{{2 * folds}\ln(1/\delta')}}"
        more = rf"+{_times(folds, one)}(e^{{{each}}}-1)"
        bound, too_small = rf"\varepsilon'_{{{folds}}}", rf"\varepsilon''_{{{folds}}}"
        sheet = (
            sheet.define(bound, rf"{root}\cdot {each}{more}")
            .define(too_small, rf"\frac{{{root}}}{{{lost}}}\cdot {each}{more}")
            .instance(
                f"randomized-response-{folds}-fold", _randomized_response(folds, bound, one),
                box={"l": ("1/10", 20)} | ({"epsilon": ("1/100", 2)} if one is None else {}),
                case=f"T = {folds}{'' if one is None else f' at epsilon = {one}'}: randomized response, whose "
                f"{folds}-fold composition has the largest profile of all epsilon-DP mechanisms",
                uses=("randomized-response",),
                catches=(f"the root lacks a factor {'sqrt(2)' if one else lost}",
                         _randomized_response(folds, too_small, one)),
            )
        )  # fmt: skip
    return sheet


lem2_3 = (
    _strong_composition()
    .condition("logarithm-of-the-inverse-is-not-negative", r"\ln\frac{1}{\delta'}\ge 0", meant=r"\delta'\le 1",
               added=(_delta,), where="Lemma 2.3: the root is real, for delta' a probability")
)  # fmt: skip


_T = integer("T", ge=1, meaning="number of steps")
_tail = real("l_2", gt=0, unit=NATS, latex=r"\log(2/\delta)")
_growth = real("g", ge=0, meaning="exp(epsilon_1) - 1", latex=r"(e^{\varepsilon_1}-1)")
_drift = real("w", ge=0, unit=NATS, meaning="mean privacy loss of a step", latex=r"\bar W_t")
_spread = real("v", ge=0, unit=NATS, meaning="the rest of it, rarely exceeded", latex="V_t")
_apart = real("a", ge=0, unit=LOSS / LENGTH, latex=r"\|n\nabla\ell(\theta;d)-n\nabla\ell(\theta;d')\|")
_IN_FORCE = r"\varepsilon\le 2\sqrt{\log(1/\delta)}, \log(1/\delta)\ge\frac{69}{100}"

thm2_1 = (
    Sheet(
        "bst14.thm2.1", (n, L, epsilon, level, log_n, _tail, _growth, _drift, _spread),
        title="Privacy of Algorithm 1", where="Theorem 2.1",
        latex=(
            r"\sigma^2=O\left(\frac{L^2n^2\log(n/\delta)\log(1/\delta)}{\varepsilon^2}\right)\implies"
            r"(\varepsilon,\delta)\text{-DP}"
        ),
        pairs=("bst14.alg1", "bst14.lem2.2", "bst14.lem2.3"), uses=("bst14.lem2.2",),
    )
    .define(r"\log(n/\delta)", r"\log(n)+\log(1/\delta)")
    .define(r"\log(n^2/\delta)", r"2\log(n)+\log(1/\delta)")
    .define(r"\sigma", r"\frac{34Ln\sqrt{\log(n/\delta)\log(1/\delta)}}{\varepsilon}")
    .define(r"\varepsilon_0", r"\frac{\varepsilon}{n\sqrt{\log(1/\delta)}}")
    .define(r"\varepsilon_1", r"\frac{\varepsilon}{4n\sqrt{\log(1/\delta)}}")
    .step("gaussian-tail", r"\frac{1}{2}\exp(-\log(n^2/\delta))=\frac{e^{-\log(1/\delta)}}{2}\exp(-2\log(n))",
          where="Theorem 2.1, proof: a standard Gaussian is above sqrt(2 log(n^2/delta)) with probability at most "
                "delta/(2 n^2), and n^2 steps with delta/2")
    .condition("small-loss-of-a-step", r"\frac{\varepsilon}{2\sqrt{\log(1/\delta)}}\leq 1",
               meant=r"\varepsilon\le 1, \log(1/\delta)\ge\frac{69}{100}", uses=("bst14.lem2.2",),
               where="Theorem 2.1, proof: the condition of Lemma 2.2, said to be ensured; the introduction speaks of "
                     "epsilon < 1 and delta far below 1/n, here at most 1/2")
    .step("sampled-step", r"2\cdot\frac{1}{n}\cdot\frac{\varepsilon}{2\sqrt{\log(1/\delta)}}"
                          r"=\frac{\varepsilon}{n\sqrt{\log(1/\delta)}}", uses=("bst14.lem2.2",),
          where="Theorem 2.1, proof: Lemma 2.2 with gamma = 1/n")
    .step("composed-loss", r"\sqrt{2n^2\log(1/\delta)}\cdot\varepsilon_0+n^2\varepsilon_0(e^{\varepsilon_0}-1)"
                           r"\le\varepsilon",
          given=r"\frac{\varepsilon}{2\sqrt{\log(1/\delta)}}\leq 1", uses=("bst14.lem2.3", "bst14.thm2.1/sampled-step"),
          where="Theorem 2.1, end of the proof: Lemma 2.3 for n^2 steps of epsilon/(n sqrt(log(1/delta))), with "
                "delta' = delta, more than there is")
    .corrected("composed-loss", r"\sqrt{2n^2\log(2/\delta)}\cdot\varepsilon_1+n^2\varepsilon_1(e^{\varepsilon_1}-1)"
                                r"\le\varepsilon",
               given=_IN_FORCE + r", \log(2/\delta)\le 2\log(1/\delta), (e^{\varepsilon_1}-1)\le 2\varepsilon_1",
               uses=("strong-composition-with-delta", "bst14.thm2.1/growth-of-a-step", "bst14.thm2.1/half-of-delta"),
               where="Theorem 2.1, end of the proof, with a quarter of the loss in each step and delta' = delta/2",
               because="Lemma 2.3 gives more than sqrt(2) epsilon for the printed loss of a step; a quarter of that "
                       "loss is small enough, which the constant in sigma^2 can absorb")
    .step("half-of-delta", r"\frac{2}{\delta}\le\frac{1}{\delta^2}",
          added=(real("delta", gt=0, le="1/2", latex=r"\delta"),),
          where="Theorem 2.1, end of the proof: log(2/delta) is at most 2 log(1/delta) for delta at most 1/2")
    .step("growth-of-a-step", r"e^x-1\le 2x", added=(real("x", ge=0, le=1, unit=NATS),),
          where="Theorem 2.1, end of the proof: losses of a step are at most 1")
    .step("apart", rf"{_apart.latex}\le 2nL",
          given=r"\|g-g'\|\le 2L, "rf"{_apart.latex}=n\|g-g'\|",
          added=(real("d_g", ge=0, unit=LOSS / LENGTH, latex=r"\|g-g'\|"), _apart),
          uses=("triangle-inequality",),
          where="Theorem 2.1, proof, the standard argument: one record moves n times a gradient by at most 2 n L")
    .step("mean-loss", r"\frac{(2nL)^2}{2\sigma^2}\le\frac{\varepsilon}{199\sqrt{\log(1/\delta)}}", given=_IN_FORCE,
          uses=("bst14.thm2.1/apart",),
          where="Theorem 2.1, proof, the standard argument: mean privacy loss of a Gaussian step")
    .step("spread-of-the-loss",
          r"\frac{2nL}{\sigma}\sqrt{2\log(n^2/\delta)}\le\frac{4\varepsilon}{34\sqrt{\log(1/\delta)}}",
          uses=("bst14.thm2.1/apart", "bst14.thm2.1/gaussian-tail"),
          where="Theorem 2.1, proof, the standard argument: its standard deviation, times sqrt(2 log(n^2/delta))")
    .step("loss-of-a-step", r"\bar W_t+V_t\le\frac{\varepsilon}{8\sqrt{\log(1/\delta)}}",
          given=r"\bar W_t\le\frac{\varepsilon}{199\sqrt{\log(1/\delta)}}, "
                r"V_t\le\frac{4\varepsilon}{34\sqrt{\log(1/\delta)}}",
          uses=("bst14.thm2.1/mean-loss", "bst14.thm2.1/spread-of-the-loss"),
          where="Theorem 2.1, proof, with a quarter of the printed loss of a step")
    .corrected("privacy", r"2\cdot\frac{1}{n}(\bar W_t+V_t)\le\varepsilon_1",
               given=r"\bar W_t\le\frac{\varepsilon}{199\sqrt{\log(1/\delta)}}, "
                     r"V_t\le\frac{4\varepsilon}{34\sqrt{\log(1/\delta)}}", coverage="whole",
               uses=("bst14.thm2.1/mean-loss", "bst14.thm2.1/spread-of-the-loss", "bst14.thm2.1/composed-loss",
                     "sampling-with-delta"),
               where="Theorem 2.1 with sigma^2 = 1156 L^2 n^2 log(n/delta) log(1/delta) / epsilon^2, for delta at most "
                     "1/2 and epsilon at most 2 sqrt(log(1/delta)): the loss of a sampled step that is composed")
    .correction(latex=r"\sigma^2=\frac{1156L^2n^2\log(n/\delta)\log(1/\delta)}{\varepsilon^2},\ "
                      r"\delta\le\frac{1}{2},\ \varepsilon\le 2\sqrt{\log(1/\delta)}\implies"
                      r"(\varepsilon,\delta)\text{-DP}")
)  # fmt: skip
