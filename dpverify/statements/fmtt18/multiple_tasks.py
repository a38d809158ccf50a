"""fmtt18, Section 5.4: several tasks on the same records."""

from __future__ import annotations

from dpverify.formulas.expressions import integer, real
from dpverify.formulas.units import LOSS, NATS
from dpverify.statements.fmtt18.stochastic_optimization import L_G, R, d
from dpverify.statements.fmtt18.symbols import PROFILE, L, alpha, n
from dpverify.statements.sheet import EDGE, Sheet

_k = integer("k", ge=1, meaning="number of tasks")
_q = real("q", gt=0, meaning="max(2 k ln(n) / n, 2 ln(1/delta))")
_epsilon = real("epsilon", gt=0, lt=1, unit=NATS, latex=r"\varepsilon")
_level = real(
    "l",
    gt="69/100",
    unit=NATS,
    meaning="ln(1/delta), above ln 2",
    latex=r"\ln(1/\delta)",
    stands_for="number",
)
_high_level = real("l", ge=1, unit=NATS, meaning="ln(1/delta)", latex=r"\ln(1/\delta)", stands_for="number")
_H = real("H", ge=1, meaning="1 + ln n")
_best = real("F_best", unit=LOSS, meaning="smallest population risk of the task", latex="F_{i}^{*}")
_released = real(
    "F_W", unit=LOSS, meaning="expected population risk of the task's output",
    latex=r"{\mathbb{E}}_{S\sim\mathcal{P}^{n}}[F_{i}(W_{i})]",
)  # fmt: skip
_ROOT = r"\sqrt{1+\frac{16dq\ln(1/\delta)}{\varepsilon^{2}}}"
_NOISE = r"\frac{4L\sqrt{q\ln(1/\delta)}}{\varepsilon}"
_ONE = (
    "n = 1, where q = 2 ln(1/delta) for every k, and ln(1/delta) >= 1: k Gaussian releases of gradients 2 L apart; "
    "in high dimension the projection to the ball loses arbitrarily little"
)
_RISK = rf"{_released.latex}\leq F_{{i}}^{{*}}+\frac{{4RL}}{{\sqrt{{n}}}}\cdot{_ROOT}"

_rdp = real("r", ge=0, unit=NATS, meaning="Renyi budget of k tasks")

thm32 = (
    Sheet(
        "fmtt18.thm32", (n, _k, d, R, L, alpha, _q, _epsilon, _level, _best, _released),
        title="k tasks: privacy and risk",
        where="Theorem 32",
        latex=(
            r"q=\max\left\{\frac{2k\ln n}{n},2\ln(1/\delta)\right\},\ "
            r"\sigma=\frac{4L\sqrt{q\ln(1/\delta)}}{\varepsilon},\ "
            r"\eta=\frac{4R}{\sqrt{n(L^2+d\sigma^2)}}\le\frac{2}{\beta}"
            r"\implies(\varepsilon,\delta)\text{-DP, }"
            r"\mathbb{E}[F_i(W_i)]\le F_i^*+\frac{4RL}{\sqrt{n}}\sqrt{1+\frac{16dq\ln(1/\delta)}{\varepsilon^2}}"
        ),
        pairs=("fmtt18.multitask", "fmtt18.thm26"),
    )
    .step(
        "rate-of-theorem-28", r"4R/(L_{G}\sqrt{n})=2R/(L_{G}\sqrt{n})", added=(L_G,),
        where="Theorem 32, proof: the risk in the same way as for Theorem 29, which has half of this rate",
    )
    .corrected(
        "rate-of-theorem-28", r"\frac{(2R)^2}{2n}\cdot\frac{L_{G}\sqrt{n}}{4R}=\frac{RL_{G}}{2\sqrt{n}}", added=(L_G,),
        because="the printed rate is twice that of Theorem 28; its regret with this rate is 5 R L_G / (2 sqrt(n)), so "
                "the risk bound holds",
        where="Theorem 32 with the printed rate, first part of the regret",
        uses=("fmtt18.thm28/sum-of-the-steps",),
    )
    .corrected(
        "second-part-of-the-regret", r"\frac{4R}{L_{G}\sqrt{n}}\cdot\frac{L_{G}^2}{2}=\frac{2RL_{G}}{\sqrt{n}}",
        added=(L_G,), coverage="step", where="Theorem 32 with the printed rate, second part of the regret",
    )
    .step(
        "one-index-further", r"\frac{2RL}{n}\le\frac{3RL_{G}}{2\sqrt{n}}", given=r"n\ge 2, L\le L_{G}", added=(L_G,),
        uses=("subgradient-inequality",), where="Theorem 32, risk from n = 2 on: w_1, ..., w_n in place of w_0, ...",
    )
    .step(
        "composition", r"k\cdot\frac{4\alpha L^2\cdot\ln n}{n\cdot x^2}=\frac{4k\alpha L^{2}\cdot\ln n}{nx^{2}}",
        added=(real("x", gt=0, unit=L.unit, meaning="sigma"),), uses=("fmtt18.lem15", "fmtt18.thm26"),
        where="Theorem 32, proof: k executions, where x stands for sigma",
    )
    .corrected(
        "composition", r"k\cdot\frac{4\alpha L^2H}{n\cdot x^2}=\frac{4k\alpha L^{2}H}{nx^{2}}",
        added=(real("x", gt=0, unit=L.unit, meaning="sigma"), _H), uses=("fmtt18.lem15", "fmtt18.thm26"),
        where="Theorem 32 with H = 1 + ln n for ln n: k executions, where x stands for sigma",
    )
    .define(r"\sigma", r"\frac{\alpha L\sqrt{q}}{\sqrt{\ln(1/\delta)}}")
    .define("s", r"\frac{\sqrt{k}\varepsilon}{2\sqrt{2}\ln(1/\delta)}")
    .define("L_{G}", rf"L{_ROOT}")
    .step(
        "choice-of-the-order", r"\alpha=\frac{\sigma\sqrt{\ln(1/\delta)}}{L\sqrt{q}}",
        where="Theorem 32, proof: the order, and sigma by the order in the first display",
    )
    .condition(
        "noise-of-theorem-26", r"\sqrt{2}\alpha L>L\sqrt{2(\alpha-1)\alpha}",
        uses=("fmtt18.thm32/noise-by-q", "fmtt18.thm32/noise-without-logarithms"),
        where="Theorem 32, proof, end of the first display",
    )
    .step(
        "noise-by-q",
        r"\frac{\alpha L\sqrt{q}}{\sqrt{\ln(1/\delta)}}\geq\frac{\alpha L\sqrt{2\ln(1/\delta)}}{\sqrt{\ln(1/\delta)}}",
        given=r"q\ge 2\ln(1/\delta)", where="Theorem 32, proof, first display",
    )
    .step(
        "noise-without-logarithms",
        r"\frac{\alpha L\sqrt{2\ln(1/\delta)}}{\sqrt{\ln(1/\delta)}}=\sqrt{2}\alpha L",
        where="Theorem 32, proof, first display",
    )
    .step(
        "order-of-the-printed-noise",
        rf"\frac{{L\sqrt{{q}}}}{{\sqrt{{\ln(1/\delta)}}}}\cdot\frac{{4\ln(1/\delta)}}{{\varepsilon}}={_NOISE}",
        where="Theorem 32, proof: the order is 4 ln(1/delta) / epsilon for the noise of the theorem",
    )
    .step("order-above-two", r"\frac{4\ln(1/\delta)}{\varepsilon}>2", where="Theorem 32, proof")
    .step(
        "first-term",
        r"\frac{4k\alpha L^{2}\cdot\ln n}{n\sigma^{2}}=\frac{4k\cdot\ln(1/\delta)\ln n}{\alpha qn}",
        uses=("fmtt18.thm32/composition",), where="Theorem 32, proof, last display, first term",
    )
    .corrected(
        "first-term", r"\frac{4k\alpha L^{2}H}{n\sigma^{2}}=\frac{4k\cdot\ln(1/\delta)H}{\alpha qn}", added=(_H,),
        uses=("fmtt18.thm32/composition",), where="Theorem 32 with H = 1 + ln n for ln n, last display, first term",
    )
    .step(
        "second-term", r"\frac{\ln(1/\delta)}{\alpha-1}<\frac{2\ln(1/\delta)}{\alpha}", given=r"\alpha>2",
        uses=("fmtt18.thm32/order-above-two",), where="Theorem 32, proof, last display, second term",
    )
    .step(
        "choice-of-q", r"\frac{2k\ln n}{qn}\le 1", given=r"q\ge\frac{2k\ln n}{n}",
        where="Theorem 32, proof, last display: 2 ln(1/delta) / alpha times this is the first term",
    )
    .corrected(
        "choice-of-q", r"\frac{2kH}{qn}\le 1", given=r"q\ge\frac{2kH}{n}", added=(_H,),
        because="ln n stands for a sum of 1/t, as in Theorem 26, and is 0 for one record, where the noise does not "
                "grow with the number of tasks; 1 + ln n is enough",
        where="Theorem 32 with H = 1 + ln n for ln n, last display of the proof",
    )
    .whole(
        "privacy", r"\frac{2\ln(1/\delta)}{\alpha}+\frac{2\ln(1/\delta)}{\alpha}=\varepsilon",
        given=r"\alpha=\frac{4\ln(1/\delta)}{\varepsilon}",
        uses=("fmtt18.thm32/first-term", "fmtt18.thm32/second-term", "fmtt18.thm32/choice-of-q",
              "fmtt18.thm32/noise-of-theorem-26", "fmtt18.thm32/order-of-the-printed-noise", "fmtt18.lem14"),
        where="Theorem 32, proof, end of the last display",
    )
    .whole(
        "guarantee", r"r+\frac{\ln(1/\delta)}{\alpha-1}\le\varepsilon", added=(_rdp,),
        given=r"r\le\frac{2\ln(1/\delta)}{\alpha}, \alpha=\frac{4\ln(1/\delta)}{\varepsilon}, \alpha>2",
        uses=("fmtt18.thm32/first-term", "fmtt18.thm32/choice-of-q", "fmtt18.thm32/noise-of-theorem-26",
              "fmtt18.thm32/order-above-two",
              "fmtt18.lem14"),
        where="Theorem 32, privacy: the Renyi budget r of k tasks, and what Lemma 14 gives",
    )
    .instance(
        "one-record", rf"{PROFILE}\le e^{{-\ln(1/\delta)}}", letters=(_high_level,), case=_ONE,
        box={"epsilon": ("1/2", "9/10"), "l": (1, 10), "k": (100, 10000)},
        uses=("gll22.eq9/value-of-the-best-half-line",), consequence=EDGE,
        where="Theorem 32 for n = 1, privacy; from two records on, nothing here shows it false",
    )
    .step(
        "oracle", rf"d\cdot({_NOISE})^2=\frac{{16dL^2q\ln(1/\delta)}}{{\varepsilon^2}}",
        uses=("gaussian-second-moment", "second-moment-of-a-sum"),
        where="Theorem 32, risk: a noisy gradient's mean square",
    )
    .whole(
        "risk", _RISK,
        given=rf"{_released.latex}\le F_{{i}}^{{*}}+\frac{{5RL_{{G}}}}{{2\sqrt{{n}}}}+\frac{{2RL}}{{n}}, "
              r"\frac{2RL}{n}\le\frac{3RL_{G}}{2\sqrt{n}}, n\ge 2",
        uses=("fmtt18.thm32/rate-of-theorem-28", "fmtt18.thm32/second-part-of-the-regret", "fmtt18.thm32/oracle",
              "fmtt18.thm32/one-index-further"),
        where="Theorem 32, risk, from two records on: the regret with the printed rate",
    )
    .whole(
        "risk-of-one-record", _RISK, given=rf"{_released.latex}\le F_{{i}}^{{*}}+2RL, n=1",
        uses=("subgradient-inequality",), where="Theorem 32, risk for n = 1: no point of the set has more than 2 R L",
    )
    .correction(
        latex=r"q=\max\left\{\frac{2k(1+\ln n)}{n},2\ln(1/\delta)\right\}",
        replaces=("one-record",),
    )
)  # fmt: skip

STATEMENTS = (thm32.statement,)
