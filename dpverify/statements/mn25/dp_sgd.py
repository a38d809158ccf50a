"""mn25, Appendices B.2 and B.3: the privacy of DP-SGD, its accuracy, and truncated concentrated privacy."""

from __future__ import annotations

from dpverify.formulas.expressions import integer, real
from dpverify.formulas.units import LENGTH, LOSS, NATS, RECORDS
from dpverify.statements.mn25.symbols import B, L, alpha, d, epsilon, n
from dpverify.statements.sheet import CONSTANT, EDGE, Sheet

_level = real("l", gt=0, unit=NATS, meaning="ln(1/delta)", latex=r"\log(1/\delta)", stands_for="number")
_rho = real("rho", gt=0, unit=NATS, meaning="privacy of a message, in zCDP", latex=r"\rho")
_small_rho = real("rho", gt=0, le="1/10", unit=NATS, meaning="privacy of a message, in zCDP", latex=r"\rho")
_m = real("m", gt=0, unit=RECORDS, meaning="batch size")
_q = real("q", gt=0, meaning="probability with which a record is sampled")
_spread = real("Lambda", gt=0, meaning="ln(n/m)", latex=r"\log(n/m)")
_order = real("a", gt=1, meaning="an order")
_c = real("c", gt=0, meaning="threshold of an event")
_high_level = real("l", ge=1, unit=NATS, meaning="ln(1/delta)", latex=r"\log(1/\delta)", stands_for="number")

_SETTING = r"\rho=\frac{1}{\log(1/\delta)}"
_SAMPLING = r"\log(n\sqrt{\rho/d})\geq 3\rho(2+\log_{2}(1/\rho))"
_CONDITION = r"\log(1/\delta)\leq(\omega^{\prime\prime}-1)^{2}\rho^{\prime\prime}"
_FIRST = r"\rho^{\prime\prime}+2\sqrt{\rho^{\prime\prime}\log(1/\delta)}"
_SECOND = r"\rho^{\prime\prime}\omega^{\prime\prime}+\frac{\log(1/\delta)}{\omega^{\prime\prime}-1}"
_CLAIMED = r"3\frac{\alpha_{1,\delta}^{*}}{\alpha}"
_MESSAGE = (
    r"(1-e^{-\frac{1}{26\sqrt{10}}})\Phi(%s-c)-(e^{\frac{3}{26}}-e^{-\frac{1}{26\sqrt{10}}})\Phi(-c)"
    r"\le e^{-\log(1/\delta)}"
)
_CASE = (
    "gradients L e of one record and -L e of all others, W a segment of length 1.5 B/sqrt(10) along e, start at an "
    "end, alpha = B L/sqrt(10), so T = 10: the second step ends at the other end, and the output tells the first "
    "message; d large, so clipping changes arbitrarily little, and a batch holds the record with probability "
    "1 - exp(-m/n), m/n = 1/(26 sqrt(10)); the event that the message is above c"
)

_arguments = (
    real("x", gt=0, latex=r"n\sqrt{\rho/d}", stands_for="number"),
    real("y", gt=0, latex=r"\frac{n}{\sqrt{d\log(1/\delta)}}", stands_for="number"),
)

lem12 = (
    Sheet(
        "mn25.lem12", (n, d, B, L, alpha, _level, _rho, _m, _q, epsilon, _order, _c),
        title="Privacy of DP-SGD",
        where="Lemma 12",
        latex=(
            r"\alpha\ge 26\alpha_{1,\delta}^*,\ \rho=\frac{1}{\log(1/\delta)}\implies(\epsilon,\delta)\text{-DP},"
            r"\quad\epsilon=3\frac{\alpha_{1,\delta}^*}{\alpha}"
        ),
        pairs=("mn25.alg3", "mn25.thm2", "mn25.tcdp"),
    )
    .define(r"\alpha_{1,\delta}^{*}", r"\frac{BL\sqrt{d\log(1/\delta)}}{n}")
    .define(r"\sigma", r"\frac{L}{m\sqrt{\rho}}")
    .define("T", r"\frac{B^2L^2}{\alpha^2}\cdot\frac{d}{m^2\rho}")
    .define(r"\rho'", r"13q^{2}\rho")
    .define(r"\rho''", r"\frac{13B^{2}L^{2}d}{\alpha^{2}n^{2}}")
    .define(r"\omega'", r"\frac{1}{4\rho}")
    .define(r"\omega''", r"\frac{1}{4\rho}")
    .condition(
        "rho-of-the-algorithm", r"\rho\leq 1", given=_SETTING,
        where="Lemma 12: Algorithm 3 has rho <= 1, and the lemma rho = 1/log(1/delta) for every delta in [0, 1]",
        true_if="for delta of at most 1/e",
    )
    .corrected(
        "rho-of-the-algorithm", r"\rho\leq 1", given=_SETTING, letters=(_high_level,),
        because="delta has to be at most 1/e",
        where="Lemma 12 for delta <= 1/e",
    )
    .step(
        "noise-of-full-batches", r"\sigma=\frac{L}{\sqrt{d}}", given=r"m=\sqrt{d/\rho}",
        where="Algorithm 3, line 3: sigma is L/(m sqrt(rho)), here where m = sqrt(d/rho), and for m = m-bar as printed",
    )
    .step(
        "message", r"\frac{(2L/m)^2}{2\sigma^2}\le\rho",
        where="Lemma 12, proof: the messages are rho-zCDP; replacing a gradient moves the mean of m by up to 2 L/m",
    )
    .corrected(
        "message", r"\frac{(2L/m)^2}{2(\sqrt{2}\sigma)^2}=\rho",
        because="a replaced gradient moves the mean by 2 L/m, not by L/m: the noise is too small by a factor sqrt(2)",
        consequence=CONSTANT, where="Lemma 12, proof: the messages with sqrt(2) sigma",
        true_if="if a gradient is left out, not replaced",
    )
    .step(
        "sampling-rate", r"\log(n/m)=\log(n\sqrt{\rho/d})", given=r"m\le\sqrt{d/\rho}",
        where="Lemma 12, proof, the condition on the sampling",
    )
    .corrected(
        "sampling-rate", r"n/m\ge n\sqrt{\rho/d}", given=r"m\le\sqrt{d/\rho}",
        because="the batch is smaller where m-bar is below sqrt(d/rho), and sampled at a lower rate",
        true_if=r"for m-bar of at least sqrt(d/rho), where m = sqrt(d/rho)",
        where="Lemma 12, proof, the condition on the sampling",
    )
    .step(
        "records-enough", r"\frac{\sqrt{d\log(1/\delta)}}{n}\leq 1/3",
        given=r"\alpha\geq 26\alpha_{1,\delta}^{*}, \alpha<\frac{BL}{3}",
        where="Lemma 12, proof: otherwise the algorithm releases w_0",
    )
    .step(
        "arguments-at-the-setting", r"n\sqrt{\rho/d}=\frac{n}{\sqrt{d\log(1/\delta)}}", given=_SETTING,
        where="Lemma 12, proof, under both logarithms, for rho = 1/log(1/delta), as in the lemma",
    )
    .step(
        "rate-at-the-setting", r"\log(n\sqrt{\rho/d})=\log(\frac{n}{\sqrt{d\log(1/\delta)}})", added=_arguments,
        given=r"n\sqrt{\rho/d}=\frac{n}{\sqrt{d\log(1/\delta)}}", uses=("mn25.lem12/arguments-at-the-setting",),
        where="Lemma 12, proof, for rho = 1/log(1/delta), as in the lemma",
    )
    .step(
        "rate-above-one", r"\log(\frac{n}{\sqrt{d\log(1/\delta)}})\geq 1",
        given=r"\frac{\sqrt{d\log(1/\delta)}}{n}\leq 1/3", uses=("mn25.lem12/records-enough",),
        where="Lemma 12, proof",
    )
    .condition(
        "sampling", _SAMPLING, given=rf"{_SETTING}, \log(n\sqrt{{\rho/d}})\geq 1",
        where="Lemma 12, proof: so our setting of rho satisfies the condition",
        uses=("tcdp-by-subsampling",),
    )
    .corrected(
        "largest-rate", r"3\rho(2+\log_{2}(1/\rho))\le\frac{8}{5}", letters=(_small_rho,), coverage="step",
        where="Lemma 12, proof, for rho <= 1/10: rho = 1/10 is the worst",
    )
    .corrected(
        "sampling", r"\log(n/m)\geq 3\rho(2+\log_{2}(1/\rho))", letters=(_small_rho,),
        given=r"\log(n/m)\ge\frac{8}{5}\text{ and }3\rho(2+\log_{2}(1/\rho))\le\frac{8}{5}", added=(_spread,),
        uses=("mn25.lem12/largest-rate",),
        because="log(n/m) >= 1 is not enough, and 3 rho (2 + log_2(1/rho)) is 6 at rho = 1; alpha >= 26 alpha* gives "
                "n/m >= 78, whose logarithm is above 8/5, and the theorem on sampling requires rho <= 1/10",
        true_if="for delta of at most exp(-10) and alpha >= 26 alpha*, where n/m >= 78",
        where="Lemma 12, proof, for rho <= 1/10",
    )
    .step(
        "amplified", r"\rho^{\prime}=13(m/n)^{2}\rho=13d/n^{2}", given=r"q=\frac{m}{n}, m\le\sqrt{d/\rho}",
        where="Lemma 12, proof: rho' of a record that is sampled with probability q, by the cited theorem",
        uses=("tcdp-by-subsampling",),
    )
    .corrected(
        "amplified", r"\rho^{\prime}\le 13d/n^{2}", given=r"q=\frac{m}{n}, m\le\sqrt{d/\rho}", where="Lemma 12, proof",
        because="the batch is smaller where m-bar is below sqrt(d/rho), and sampled at a lower rate",
        true_if="for m-bar of at least sqrt(d/rho), where m = sqrt(d/rho)",
    )
    .step(
        "orders", r"\frac{\log(n/m)}{4\rho}\ge\omega'", given=r"\log(n/m)\ge 1", added=(_spread,),
        where="Lemma 12, proof: omega' = 1/(4 rho) in place of log(n/m)/(4 rho)", uses=("tcdp-by-subsampling",),
    )
    .step(
        "composed", r"\rho^{\prime\prime}=T\rho^{\prime}=\frac{13B^{2}L^{2}d}{\alpha^{2}n^{2}}",
        given=r"q=\frac{m}{n}", where="Lemma 12, proof: rho'' = T rho'",
    )
    .condition(
        "orders-above-one", r"\omega''\geq 1", given=_SETTING, consequence=EDGE,
        where="Definition 4: omega is at least 1; Lemma 12 for every delta in [0, 1]",
        true_if="for delta of at most exp(-4)",
    )
    .corrected(
        "orders-above-one", r"\frac{\log(n/m)}{4\rho}\ge 10", letters=(_small_rho,), given=r"\log(n/m)\ge 4",
        added=(_spread,), where="Lemma 12, proof, with log(n/m)/(4 rho) as in the theorem on sampling",
        because="the orders up to 1/(4 rho) are fewer than the theorem gives, log(n/m)/(4 rho)",
    )
    .step(
        "first-case",
        r"\rho''\cdot(1+\sqrt{\log(1/\delta)/\rho''})+\frac{\log(1/\delta)}{\sqrt{\log(1/\delta)/\rho''}}="
        rf"{_FIRST}",
        where="Lemma 12, proof, the display: the conversion at the order 1 + sqrt(log(1/delta)/rho'')",
        uses=("fmtt18.lem14",),
    )
    .step(
        "cases-meet", rf"{_FIRST}={_SECOND}", given=r"\log(1/\delta)=(\omega''-1)^2\rho'', \omega''>1",
        where="Lemma 12, proof, the display: where both cases apply they agree",
    )
    .condition(
        "case-of-the-conversion", _CONDITION,
        given=rf"{_SETTING}, \alpha\geq 26\alpha_{{1,\delta}}^{{*}}", where="Lemma 12, proof, after the display",
    )
    .corrected(
        "case-of-the-conversion", r"\log(1/\delta)\le(\frac{\log(n/m)}{4\rho}-1)^2\rho''", added=(_spread,),
        given=_SETTING, meant=r"\log(n/m)\ge\frac{4\alpha}{\sqrt{13}\alpha_{1,\delta}^{*}}+4\rho",
        because="the condition requires a small alpha, and fails for every alpha >= 26 alpha*, where the other case "
                "gives an epsilon above 4; with log(n/m)/(4 rho) for omega'' it holds once n/m is large enough",
        true_if="for alpha of at most sqrt(13) (1/4 - 1/log(1/delta)) alpha*, where the lemma requires 26 alpha*",
        where="Lemma 12, proof, after the display, for log(n/m) >= 4 alpha/(sqrt(13) alpha*) + 4 rho",
    )
    .corrected(
        "condition-never-holds", r"(\omega''-1)^{2}\rho''<\log(1/\delta)", letters=(_high_level,),
        given=rf"{_SETTING}, \alpha\geq 26\alpha_{{1,\delta}}^{{*}}", coverage="step",
        where="Lemma 12, proof, after the display, for delta <= 1/e",
    )
    .corrected(
        "second-case", rf"{_SECOND}\ge 4", letters=(_high_level,),
        given=rf"{_SETTING}, \log(1/\delta)>4", coverage="step",
        where="Lemma 12, proof, the display, second case, which is the one that applies",
    )
    .step(
        "final-epsilon", rf"{_FIRST}\le{_CLAIMED}", given=rf"{_SETTING}, \alpha\geq 26\alpha_{{1,\delta}}^{{*}}",
        where="Lemma 12, proof, end",
    )
    .corrected(
        "final-epsilon", rf"{_FIRST}\le 8\frac{{\alpha_{{1,\delta}}^{{*}}}}{{\alpha}}", letters=(_high_level,),
        given=rf"{_SETTING}, \alpha\geq 26\alpha_{{1,\delta}}^{{*}}", coverage="whole",
        because="2 sqrt(rho'' log(1/delta)) is 2 sqrt(13) alpha*/alpha, more than 7 alpha*/alpha",
        consequence=CONSTANT, where="Lemma 12, for log(n/m) >= 4 alpha/(sqrt(13) alpha*) + 4 rho and sqrt(2) sigma",
        uses=("mn25.lem12/message", "mn25.lem12/sampling", "mn25.lem12/amplified", "mn25.lem12/composed",
              "mn25.lem12/case-of-the-conversion", "mn25.lem12/first-case", "tcdp-by-subsampling"),
    )
    .reference(
        "theorem-2", rf"{_CLAIMED}\le\frac{{3}}{{26}}\epsilon",
        given=r"\alpha\ge 26\frac{BL\sqrt{d\log(1/\delta)}}{n\epsilon}",
        where="Theorem 2: alpha >= 26 alpha*_{epsilon, delta} gives (epsilon, delta)-DP",
    )
    .instance(
        "first-message", _MESSAGE % r"\frac{2}{\sqrt{\log(1/\delta)}}", case=_CASE, letters=(_high_level,),
        box={"l": (1, 60), "c": (1, 20)}, where="Lemma 12 at alpha = B L/sqrt(10)",
        uses=("gaussian-rotation",),
    )
    .corrected(
        "first-message", _MESSAGE % r"\frac{\sqrt{2}}{\sqrt{\log(1/\delta)}}", case=_CASE, letters=(_high_level,),
        box={"l": (1, 60), "c": (1, 20)}, where="Lemma 12 at alpha = B L/sqrt(10), with sqrt(2) sigma",
        uses=("gaussian-rotation",), catches=("the printed noise", _MESSAGE % r"\frac{2}{\sqrt{\log(1/\delta)}}"),
    )
    .correction(
        latex=(
            r"\sigma=\sqrt{2}L/\sqrt{d},\ \delta\le e^{-10},\ "
            r"\log(n/m)\ge\frac{4\alpha}{\sqrt{13}\alpha_{1,\delta}^*}+4\rho\implies\epsilon=8\frac{\alpha_{1,\delta}^*}{\alpha}"
        ),
    )
)  # fmt: skip


_size = integer("m", ge=2, meaning="size of a group")
_group = real("m", ge=1, unit=RECORDS, meaning="size of a group")
_end = real("omega", ge=1, meaning="end of the orders", latex=r"\omega")
_count = real(
    "Cnt2",
    ge=0,
    unit=RECORDS,
    meaning="square of the number of queries in a batch that see the vector",
    latex=r"\mathsf{Cnt}_{k}^{2}(q_{t})",
)
_information = real(
    "I",
    ge=0,
    unit=NATS,
    meaning="information of a message",
    latex=r"I(Y_{t};\hat{X}_{k}|Q_{t}=q_{t},P_{t}=p_{t})",
)
_divergence = real(
    "KL", ge=0, unit=NATS, meaning="mean divergence of the messages",
    latex=r"\underset{x_{k},x_{k}^{\prime}\leftarrow X_{k}}{\mathbb{E}}\left[\mathsf{KL}\Big(\tilde{\mathcal{O}}_{\bot}"
          r"(G_{t,-k}(x_{k}))||\mathcal{M}(G_{t,-k}(x_{k}^{\prime})))\Big)\right]",
)  # fmt: skip
_few = real("mbar", ge=1, unit=RECORDS, meaning="bound on the batch size", latex=r"\bar{m}")
_I, _COUNT = _information.latex, _count.latex

tcdp = (
    Sheet(
        "mn25.tcdp", (n, d, B, L, alpha, _rho, _end, _group, _count, _information, _divergence, _few),
        title="The bounds under truncated concentrated privacy",
        where="Appendix B.3",
        latex=(
            r"\text{Theorems 1 and 2 hold for }(\rho,\omega)\text{-tCDP},"
            r"\ \omega\ge\min\{\sqrt{d/\rho},\bar{m}\}"
        ),
        pairs=("mn25.lem12", "mn25.lem1", "mn25.thm1.1", "mn25.thm2"),
    )
    .step(
        "divergence-of-a-group",
        r"\frac{ma}{ma-1}\cdot(m-1)^2\rho\cdot\frac{ma-1}{m-1}+\rho\cdot ma=\rho m^{2}a",
        letters=(_size,), added=(_order,), uses=("renyi-triangle",),
        where="Appendix B.3, (rho m^2, omega/m)-group tCDP: from groups of m - 1 to groups of m",
    )
    .step(
        "orders-of-a-group", r"\frac{ma-1}{m-1}<\frac{\omega}{m-1}", given=r"a<\omega/m",
        letters=(_size,), added=(_order,), uses=("renyi-triangle",),
        where="Appendix B.3, (rho m^2, omega/m)-group tCDP: the order for groups of m - 1",
    )
    .condition(
        "an-order-is-left", r"\omega/m>1", given=r"m\leq\omega",
        where="Appendix B.3: for m <= omega, orders in (1, omega/m)", true_if="for m below omega",
    )
    .corrected(
        "an-order-is-left", r"\omega/m>1", given=r"m<\omega", where="Appendix B.3, for m < omega",
        because="at m = omega no order lies in (1, omega/m), and nothing is said about the divergence",
    )
    .step(
        "information-and-divergence", rf"{_I}\leq {_COUNT}\rho",
        given=rf"{_I}\le{_divergence.latex}, {_divergence.latex}\le {_COUNT}\rho",
        where="Appendix B.3, the display", uses=("mn25.lem1", "mn25.tcdp/divergence-of-a-group"),
    )
    .condition(
        "groups-are-small-enough", r"m\leq\omega",
        given=r"m\le\bar{m}, \bar{m}\leq\sqrt{d/\rho}, (\omega\ge\sqrt{d/\rho}\text{ or }\omega\ge\bar{m})",
        where="Appendix B.3, the case m-bar <= sqrt(d/rho): omega is at least the smaller of both",
    )
    .step(
        "other-regime", rf"d\leq {_COUNT}\rho", given=rf"{_COUNT}>\sqrt{{d/\rho}}, \rho\le 1",
        where="Appendix B.3: the bound is said to be needed for Cnt^2 <= sqrt(d/rho); elsewhere the entropy, of order "
              "d, is no more",
    )
    .corrected(
        "other-regime", rf"d\leq {_COUNT}\rho", given=rf"{_COUNT}>d/\rho",
        because="the threshold is for Cnt, not for its square", consequence=EDGE,
        true_if="with Cnt in place of its square", where="Appendix B.3, for Cnt > sqrt(d/rho)",
    )
    .step(
        "upper-bound",
        r"13(m/n)^{2}\rho\cdot\frac{B^2L^2}{\alpha^2}\frac{d}{m^2\rho}=13B^2L^2\cdot\frac{1}{\alpha^{2}}\frac{d}{n^{2}}",
        where="Appendix B.3, upper bound: rho' = O(d/(alpha^2 n^2)), with B L and the constant",
        uses=("mn25.lem12/composed",),
    )
    .step(
        "orders-of-the-upper-bound", r"\frac{\log(n/m)}{4\rho}\ge\frac{1}{\rho}", added=(_spread,),
        given=r"\log(n/m)>3\rho(2+\log_{2}(1/\rho)), \rho\leq 1",
        where="Appendix B.3, upper bound: omega = 1/rho for every rho with this condition",
        uses=("tcdp-by-subsampling",),
    )
    .corrected(
        "orders-of-the-upper-bound", r"\frac{\log(n/m)}{4\rho}\ge\frac{1}{\rho}", added=(_spread,),
        given=r"\log(n/m)\ge 4", because="omega is log(n/m)/(4 rho), which need not be 1/rho; Lemma 12 has 1/(4 rho)",
        consequence=CONSTANT, true_if="for n/m of at least e^4", where="Appendix B.3, upper bound, for n/m >= e^4",
    )
)  # fmt: skip


_M = real("M", ge=1, meaning="max{1, d/(mbar^2 rho)}")
_excess = real(
    "E", ge=0, unit=LOSS, meaning="mean excess risk of the output",
    latex=r"\mathbb{E}[\mathcal{L}(\bar{w})-\mathcal{L}(w^{*})]",
)  # fmt: skip
_first_excess = real("E_0", ge=0, unit=LOSS, meaning="excess risk of the start", latex="E_0")
_sum = real("S", unit=LOSS, meaning="sum of the mean excess risks of the T points")
_start, _final = (
    real(f"D_{i}", ge=0, unit=LENGTH**2, meaning=f"mean squared distance to w* {at}", latex=f"D_{i}")
    for i, at in (("0", "at the start"), ("T", "after T steps"))
)
_square = real("G", ge=0, unit=(LOSS / LENGTH) ** 2, meaning="mean square of a noisy mean gradient")
_clean = real("g", ge=0, unit=(LOSS / LENGTH) ** 2, meaning="mean square of a batch's mean gradient")
_E = _excess.latex

lem11 = (
    Sheet(
        "mn25.lem11", (n, d, B, L, alpha, _rho, _m, _M, _few, _excess, _first_excess, _sum, _start, _final, _square,
                       _clean),
        title="Accuracy and oracle calls of DP-SGD",
        where="Lemma 11",
        latex=(
            r"\mathbb{E}[\mathcal{L}(\bar{w})-\mathcal{L}(w^{*})]=O(\min\{BL,\alpha\}),\quad "
            r"Tm=O\left(\frac{B^2L^2}{\alpha^2}\left(\frac{\sqrt{d}}{\sqrt{\rho}}+\frac{d}{\bar{m}\rho}\right)\right)"
        ),
        pairs=("mn25.alg3", "mn25.thm2", "mn25.cor1"),
    )
    .define("T", r"\frac{B^2L^2}{\alpha^2}\cdot M")
    .define(r"\eta", r"\frac{B}{L\sqrt{T}}\cdot\frac{1}{\sqrt{M}}")
    .define(r"\sigma", r"L\sqrt{\frac{M}{d}}")
    .step(
        "square-of-a-noisy-gradient", r"G\le L^2+\sigma^2d", given=r"G=g+d\sigma^2, g\le L^2",
        uses=("second-moment-of-a-sum", "gaussian-second-moment"),
        where="Lemma 11, proof, (15): the noise on the mean of a batch's gradients",
    )
    .step(
        "regret", r"\frac{1}{T}S\le\frac{B^2}{2\eta T}+\frac{\eta L^2+\eta\sigma^2d}{2}",
        given=r"S\le\frac{D_0-D_T}{2\eta}+\frac{T\eta G}{2}, D_0\le B^2, G\le L^2+\sigma^2d",
        uses=("fmtt18.thm28/sum-of-the-steps", "mn25.lem11/square-of-a-noisy-gradient"),
        where="Lemma 11, proof, (15), with its constants: the points w_1, ..., w_T are those of the sum",
    )
    .step("first-term", r"\frac{B^2}{\eta T}=\alpha", where="Lemma 11, proof: plugging in the parameters")
    .step("second-term", r"\eta L^2\le\alpha", where="Lemma 11, proof: plugging in the parameters")
    .step("third-term", r"\eta\sigma^2d=\alpha", where="Lemma 11, proof: plugging in the parameters")
    .whole(
        "risk", rf"{_E}\le\frac{{3}}{{2}}\alpha",
        given=rf"{_E}\le\frac{{1}}{{T}}S, \frac{{1}}{{T}}S\le\frac{{B^2}}{{2\eta T}}"
              r"+\frac{\eta L^2+\eta\sigma^2d}{2}",
        uses=("mn25.lem11/regret", "mn25.lem11/first-term", "mn25.lem11/second-term", "mn25.lem11/third-term",
              "jensen"),
        where="Lemma 11, accuracy for alpha < B L/3, with the constant 3/2; alpha is then below B L",
    )
    .whole(
        "risk-of-the-start", r"E_0\le 3\alpha", given=r"E_0\le BL, \alpha\ge\frac{BL}{3}",
        uses=("subgradient-inequality",),
        where="Lemma 11, accuracy for alpha >= B L/3, where w_0 is released: at most B L and 3 alpha",
    )
    .whole(
        "calls-of-full-batches", r"Tm=\frac{B^{2}L^{2}}{\alpha^{2}}\cdot\frac{\sqrt{d}}{\sqrt{\rho}}",
        given=r"m=\sqrt{d/\rho}, M=1", where="Lemma 11, oracle calls for m-bar >= sqrt(d/rho)",
    )
    .whole(
        "calls-of-bounded-batches", r"Tm=\frac{B^{2}L^{2}}{\alpha^{2}}\cdot\frac{d}{\bar{m}\rho}",
        given=r"m=\bar{m}, M=\frac{d}{\bar{m}^2\rho}", where="Lemma 11, oracle calls for m-bar < sqrt(d/rho)",
    )
)  # fmt: skip

STATEMENTS = (lem11.statement, lem12.statement, tcdp.statement)
