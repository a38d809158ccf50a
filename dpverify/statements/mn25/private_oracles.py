"""mn25, Theorems 1 and 2 and Corollary 1: optimization with private oracles, lower and upper bounds."""

from __future__ import annotations

from dpverify.formulas.expressions import Variable, integer, real
from dpverify.formulas.units import LOSS, NATS
from dpverify.statements.mn25.lower_bounds.information_obtained import information
from dpverify.statements.mn25.symbols import C_2, B, K, L, alpha, d, epsilon, n, rho, small_alpha, unique
from dpverify.statements.sheet import Sheet


def _calls(name: str, latex: str, meaning: str = "") -> Variable:
    return real(name, ge=0, latex=latex, meaning=meaning, stands_for="functional")


_C_1 = real("C_1", gt=0, latex="C_{1}", meaning="a constant")
_I = information("I", r"\min_{k}\left\{{I(W;X_{k}|X_{\neq k},V)}\right\}")
_squares = _calls(
    "S2", r"\underset{Q}{\mathbb{E}}\left[\sum_{t=1}^{\infty}\overline{\mathsf{Cnt}}_{k}^{2}(Q_{t})\rho\right]",
    "rho times the expected sum of squared counts",
)  # fmt: skip
_counts = _calls(
    "S1", r"\underset{}{\mathbb{E}}\left[\sum_{t=1}^{\infty}\overline{\mathsf{Cnt}}_{k}(Q_{t})\right]",
    "the expected sum of capped counts of one vector",
)  # fmt: skip
_log_answers, _log = information("log_answers", r"\log(K+1)"), real("l", gt=0, latex=r"\log(1/\alpha)")
_log_scaled = real("l_BL", gt=0, latex=r"\log(BL/\alpha)")
_all = _calls(
    "M", r"\underset{}{\mathbb{E}}\left[\|M\|_{1}\right]", "expected number of calls of the true oracle"
)
_by_f, _by_h = (
    _calls("by_f", r"\Big[\sum_{t=1}^{\infty}\sum_{k=1}^{K}\mathsf{Cnt}_{k}(Q_{t})\Big]", "calls that an f_k answers"),
    _calls("by_h", "H", "calls that h answers"),
)  # fmt: skip
_capped = _calls(
    "capped", r"\mathbb{E}\Big[\sum_{k=1}^{K}\sum_{t=1}^{\infty}\overline{\mathsf{Cnt}}_{k}(Q_{t})\Big]"
)
_worst = _calls(
    "worst", r"\max\limits_{v,x}\{\underset{\mathcal{A},\tilde{\mathcal{O}}}{\mathbb{E}}"
             r"\left[\|M\|_{1}|X=x,V=v\right]\}",
    "calls for the worst vectors and subspace",
)  # fmt: skip
_time = _calls(
    "Time", r"\overline{\mathsf{Time}}(\mathcal{A},\tilde{\mathcal{O}},\alpha,B,L,\infty)", "expected calls, worst case"
)  # fmt: skip
_m_bar = real("m_bar", gt=0, latex=r"\bar{m}", meaning="largest batch")
_root = real("cap", gt=0, latex=r"\sqrt{3C_{1}d/\rho}")
_cnt2 = _calls("Cnt2", r"\overline{\mathsf{Cnt}}_{k}^{2}(Q_{t})")
_cnt = _calls("Cnt", r"\overline{\mathsf{Cnt}}_{k}(Q_{t})")
_sqrt_d, _sqrt_rho = real("sqrt_d", gt=0, latex=r"\sqrt{d}"), real("sqrt_rho", gt=0, latex=r"\sqrt{\rho}")
_cap_constant = real("c", gt=0, latex=r"\sqrt{3C_{1}}")
_KEPT = r"\frac{d}{320}"
_FIRST = r"\frac{\sqrt{d}}{320\sqrt{3C_{1}}C_{1}^{2}\alpha^{2}\sqrt{\rho}}"
_SECOND = r"\frac{d}{320C_{1}^{2}\alpha^{2}\bar{m}\rho}"
_p = real("p", ge=0, le=1)
_e1, _e2 = (_calls(f"e{i}", f"e_{{{i}}}", "calls for one of two instances") for i in (1, 2))

_level = real("level", gt=0, unit=NATS, latex=r"\log(1/\delta)", stands_for="number")
_best_of_1, _accuracy_of_1 = (
    real("A", gt=0, meaning="alpha* for B = L = 1"), real("a", gt=0, lt=1, meaning="accuracy for B = L = 1")
)  # fmt: skip
_log_of_1 = real("l", gt=0, latex=r"\ell", meaning="log(1/alpha)", stands_for=r"\log(1/a)")
_root_level = real("lambda", gt=0, latex=r"\lambda", meaning="sqrt(log(1/delta))")

thm1_1 = (
    Sheet(
        "mn25.thm1.1",
        (
            alpha, B, L, K, C_2, d, rho, unique, _C_1, _I, _squares, _counts, _log_answers, _log, _log_scaled, _all,
            _by_f, _by_h, _capped, _worst, _time, _root, _cnt2, _cnt, _sqrt_d, _sqrt_rho, _cap_constant, _p, _e1, _e2,
        ),
        title="Oracle calls with any private oracle",
        where="Theorem 1, first part",
        latex=(
            r"\overline{\mathsf{Time}}(\mathcal{A},\tilde{\mathcal{O}},\alpha,B,L,\infty)"
            r"=\Omega\left(\frac{L^{2}B^{2}\sqrt{d}}{\alpha^{2}\sqrt{\rho}}\right)"
        ),
        pairs=("mn25.alg1", "mn25.hard-instance", "mn25.thm1.2", "mn25.thm2", "mn25.cor1"),
    )
    .step(
        "number-of-answers", r"\frac{1}{480^{2}\alpha^{2}}+1\le\frac{1}{\alpha^{2}}", letters=(small_alpha,),
        given=r"\alpha\le\frac{1}{480}", where="Theorem 1, proof: log(K + 1) is at most log(1/alpha^2)",
    )
    .step(
        "lemmas-together", rf"\frac{{d}}{{160}}={_I.latex}\leq {_squares.latex}+{unique.latex}\log(K+1)",
        given=rf"\frac{{d}}{{160}}\le {_I.latex}, {_I.latex}\leq {_squares.latex}+{unique.latex}\cdot\log(K+1)",
        where="Theorem 1, proof, 1st display",
        true_if="with an inequality, which is what Lemma 2 says and the proof needs",
    )
    .corrected(
        "lemmas-together", rf"\frac{{d}}{{160}}\le {_squares.latex}+{unique.latex}\cdot\log(K+1)",
        given=rf"\frac{{d}}{{160}}\le {_I.latex}, {_I.latex}\leq {_squares.latex}+{unique.latex}\cdot\log(K+1)",
        because="Lemma 2 gives a lower bound, not a value", where="Theorem 1, proof, 1st display with <=",
        uses=("mn25.lem1", "mn25.lem2"),
    )
    .step(
        "condition-after-scaling", rf"{unique.latex}\leq\frac{{d}}{{640\log(1/\alpha)}}",
        given=rf"{unique.latex}\leq\frac{{d}}{{640\log(BL/\alpha)}}, \log(1/\alpha)\le\log(BL/\alpha)",
        letters=(small_alpha,), where="Theorem 1, for L = 2 and B = 1, and 320 log(1/alpha^2) = 640 log(1/alpha)",
        units=False,
    )
    .step(
        "squares-are-of-order-d", rf"{_squares.latex}\ge {_KEPT}",
        given=rf"\frac{{d}}{{160}}\le {_squares.latex}+{unique.latex}\cdot\log(K+1), "
              rf"{unique.latex}\leq\frac{{d}}{{640\log(1/\alpha)}}, \log(K+1)\le 2\log(1/\alpha)",
        where="Theorem 1, proof: = Omega(d)",
        uses=(
            "mn25.lem1", "mn25.lem2", "mn25.thm1.1/number-of-answers", "mn25.thm1.1/condition-after-scaling",
        ),
    )
    .step(
        "capped", rf"{_cnt2.latex}\le {_root.latex}\cdot {_cnt.latex}",
        given=rf"{_cnt2.latex}=({_cnt.latex})^2, {_cnt.latex}\leq {_root.latex}",
        where="Theorem 1, proof, part 1: for each t",
    )
    .step(
        "counts", rf"{_counts.latex}\ge\frac{{\sqrt{{d}}}}{{320\sqrt{{3C_{{1}}}}\sqrt{{\rho}}}}",
        given=rf"{_squares.latex}\ge {_KEPT}, {_squares.latex}\le\rho {_root.latex}\cdot {_counts.latex}, "
              rf"{_root.latex}=\frac{{\sqrt{{3C_{{1}}}}\sqrt{{d}}}}{{\sqrt{{\rho}}}}, "
              r"(\sqrt{d})^{2}=d, (\sqrt{\rho})^{2}=\rho",
        where="Theorem 1, proof, part 1: = Omega(sqrt(d/rho))",
        uses=("mn25.thm1.1/squares-are-of-order-d", "mn25.thm1.1/capped"),
    )
    .step(
        "all-calls", rf"{_all.latex}={_by_f.latex}", given=rf"{_all.latex}={_by_f.latex}+H",
        where="Theorem 1, proof, 2nd display: H is what h answers",
        true_if="with >=: what h answers is counted for no k",
    )
    .corrected(
        "all-calls", rf"{_all.latex}\ge {_by_f.latex}", given=rf"{_all.latex}={_by_f.latex}+H",
        because="queries that h answers are calls as well, and an expectation is missing",
        where="Theorem 1, proof, 2nd display with >=",
    )
    .step(
        "sum-over-vectors", rf"{_all.latex}\ge {_FIRST}",
        given=rf"{_all.latex}={_by_f.latex}+H, {_by_f.latex}\geq {_capped.latex}, "
              rf"{_capped.latex}\ge K\cdot\frac{{\sqrt{{d}}}}{{320\sqrt{{3C_{{1}}}}\sqrt{{\rho}}}}, "
              r"K=\frac{1}{C_{1}^{2}\alpha^{2}}",
        letters=(small_alpha,), where="Theorem 1, proof, 2nd display, with its constant",
        uses=("mn25.thm1.1/counts",),
    )
    .step(
        "worst-is-above-mean", r"\max(e_{1},e_{2})\ge pe_{1}+(1-p)e_{2}",
        where="Theorem 1, proof: the largest of two is at least their mean",
    )
    .whole(
        "bound",
        rf"{_time.latex}\ge\frac{{L^{{2}}B^{{2}}\sqrt{{d}}}}{{1280\sqrt{{3C_{{1}}}}C_{{1}}^{{2}}\alpha^{{2}}\sqrt{{\rho}}}}",
        given=rf"{_time.latex}\ge {_worst.latex}, {_worst.latex}\ge {_by_f.latex}+H, "
              rf"{_by_f.latex}\geq {_capped.latex}, "
              rf"{_capped.latex}\ge K\cdot {_counts.latex}, "
              rf"{_counts.latex}\ge\frac{{\sqrt{{d}}}}{{320\sqrt{{3C_{{1}}}}\sqrt{{\rho}}}}, "
              r"K=\frac{1}{C_{1}^{2}a^{2}}, a=\frac{2\alpha}{BL}",
        added=(real("a", gt=0, meaning="accuracy for L = 2 and B = 1"),),
        where="Theorem 1, first part, Omega with its constant, by scaling",
        uses=(
            "mn25.fact1", "mn25.thm1.1/counts", "mn25.thm1.1/worst-is-above-mean",
            "mn25.instance-facts",
        ),
    )
    .reference(
        "at-the-smallest-accuracy",
        r"\frac{\sqrt{d}}{A^{2}}=\frac{n^{2}\epsilon^{2}}{\sqrt{d}\cdot\log(1/\delta)}",
        given=r"A^{2}=\frac{d\log(1/\delta)}{n^{2}\epsilon^{2}}, (\sqrt{d})^{2}=d",
        added=(n, epsilon, _best_of_1, _level),
        where="Section 1.1: for rho = 1 and the smallest accuracy",
    )
    .reference(
        "regime", r"d^{3}\leq(n\epsilon)^{4}\iff d\leq A^{-4}", given=r"A^{4}=\frac{d^{2}}{(n\epsilon)^{4}}",
        added=(n, epsilon, _best_of_1), where="Section 1: d is at most (n epsilon)^{4/3}, and at most alpha*^{-4}",
    )
)  # fmt: skip

thm1_2 = (
    Sheet(
        "mn25.thm1.2",
        (
            alpha, B, L, K, d, rho, _C_1, _squares, _counts, _all, _by_f, _by_h, _capped, _worst, _time, _cnt2, _cnt,
            _m_bar,
        ),
        title="Oracle calls with bounded batches",
        where="Theorem 1, second part",
        latex=(
            r"\overline{\mathsf{Time}}(\mathcal{A},\tilde{\mathcal{O}},\alpha,B,L,\infty)"
            r"=\Omega\left(\frac{L^{2}B^{2}d}{\alpha^{2}\bar{m}\rho}\right)"
        ),
        pairs=("mn25.alg1", "mn25.hard-instance", "mn25.thm1.1", "mn25.thm2", "mn25.cor1"),
    )
    .step(
        "capped", rf"{_cnt2.latex}\le\bar{{m}}\cdot {_cnt.latex}",
        given=rf"{_cnt2.latex}=({_cnt.latex})^2, {_cnt.latex}\leq\bar{{m}}",
        where="Theorem 1, proof, second case: for each t",
    )
    .step(
        "counts", rf"{_counts.latex}\ge\frac{{d}}{{320\bar{{m}}\rho}}",
        given=rf"{_squares.latex}\ge {_KEPT}, {_squares.latex}\le\rho\bar{{m}}\cdot {_counts.latex}",
        where="Theorem 1, proof, second case, with its constant",
        uses=("mn25.thm1.1/squares-are-of-order-d", "mn25.thm1.2/capped"),
    )
    .step(
        "sum-over-vectors", rf"{_worst.latex}\ge {_SECOND}",
        given=rf"{_worst.latex}\ge {_all.latex}, {_all.latex}={_by_f.latex}+H, {_by_f.latex}\geq {_capped.latex}, "
              r"K=\frac{1}{C_{1}^{2}\alpha^{2}}, "
              rf"{_capped.latex}\ge K\cdot\frac{{d}}{{320\bar{{m}}\rho}}",
        letters=(small_alpha,), where="Theorem 1, proof, second case, with its constant",
        uses=("mn25.thm1.2/counts", "mn25.thm1.1/worst-is-above-mean"),
    )
    .step(
        "without-a-constant", rf"{_worst.latex}\geq\frac{{d}}{{\alpha^{{2}}\bar{{m}}\rho}}",
        given=rf"{_worst.latex}\ge {_SECOND}, C_{{1}}=480",
        letters=(small_alpha,), where="Theorem 1, proof, last display",
        true_if="with Omega, as the theorem says",
    )
    .whole(
        "bound", rf"{_time.latex}\ge\frac{{L^{{2}}B^{{2}}d}}{{1280C_{{1}}^{{2}}\alpha^{{2}}\bar{{m}}\rho}}",
        given=rf"{_time.latex}\ge {_worst.latex}, {_worst.latex}\ge {_by_f.latex}+H, "
              rf"{_by_f.latex}\geq {_capped.latex}, "
              rf"{_capped.latex}\ge K\cdot {_counts.latex}, {_counts.latex}\ge\frac{{d}}{{320\bar{{m}}\rho}}, "
              r"K=\frac{1}{C_{1}^{2}a^{2}}, a=\frac{2\alpha}{BL}",
        added=(real("a", gt=0, meaning="accuracy for L = 2 and B = 1"),),
        where="Theorem 1, second part, Omega with its constant, by scaling",
        uses=(
            "mn25.fact1", "mn25.thm1.2/counts", "mn25.thm1.1/worst-is-above-mean",
            "mn25.instance-facts",
        ),
    )
)  # fmt: skip

_any_level = real("level", ge=0, unit=NATS, latex=r"\log(1/\delta)", stands_for="number")
_best, _best_at_1 = (
    real("best", gt=0, unit=LOSS, latex=r"\alpha^{*}_{\epsilon,\delta}"),
    real("best_1", gt=0, unit=LOSS, latex=r"\alpha^{*}_{1,\delta}"),
)
_final = real("eps", gt=0, unit=NATS, latex=r"\epsilon^{\prime}", meaning="epsilon of the algorithm")
_delta = real("delta", ge=0, le=1, latex=r"\delta")
_T, _m = real("steps", gt=0, latex="T", meaning="number of steps"), integer("m", ge=1, meaning="batch size")
_t, _batch = real("t", gt=0, meaning="steps over B^2 L^2 / alpha^2"), real("m", gt=0, meaning="batch size")
_total = _calls("N", "N", "calls of DP-SGD")
_accuracy = real("a", gt=0, unit=LOSS, latex=r"\alpha^{\prime}", meaning="accuracy of the algorithm")

thm2 = (
    Sheet(
        "mn25.thm2",
        (
            alpha, B, L, d, n, rho, epsilon, _m_bar, _any_level, _best, _best_at_1, _final, _delta, _sqrt_d,
            _sqrt_rho, _total, _accuracy,
        ),
        title="DP-SGD: calls, accuracy and privacy",
        where="Theorem 2",
        latex=(
            r"O\big(\frac{B^{2}L^{2}}{\alpha^{2}}\big(\frac{\sqrt{d}}{\sqrt{\rho}}+\frac{d}{\bar{m}\rho}\big)\big)"
            r"\text{ calls},\quad\alpha\geq 26\alpha^{*}_{\epsilon,\delta},\ \rho=\frac{1}{\log(1/\delta)}"
            r"\implies(\epsilon,\delta)\text{-DP}"
        ),
        pairs=("mn25.alg3", "mn25.thm1.1", "mn25.thm1.2", "mn25.lem11", "mn25.lem12"),
    )
    .step(
        "accuracies-of-lemma-12", r"\alpha\geq 26\alpha^{*}_{1,\delta}",
        given=r"\alpha\geq 26\alpha^{*}_{\epsilon,\delta}, \epsilon\le 1, "
              r"\alpha^{*}_{\epsilon,\delta}=\frac{\alpha^{*}_{1,\delta}}{\epsilon}",
        where="Theorem 2, from Lemma 12",
    )
    .whole(
        "privacy", r"\epsilon^{\prime}\le\epsilon",
        given=r"\epsilon^{\prime}=3\frac{\alpha^{*}_{1,\delta}}{\alpha}, \alpha\geq 26\alpha^{*}_{\epsilon,\delta}, "
              r"\alpha^{*}_{\epsilon,\delta}=\frac{\alpha^{*}_{1,\delta}}{\epsilon}",
        where="Theorem 2, privacy", uses=("mn25.lem12", "mn25.thm2/accuracies-of-lemma-12"),
    )
    .whole(
        "calls", r"N\le\frac{B^{2}L^{2}}{\alpha^{2}}(\frac{\sqrt{d}}{\sqrt{\rho}}+\frac{d}{\bar{m}\rho})",
        given=r"N=\frac{B^{2}L^{2}}{\alpha^{2}}tm, (\sqrt{d})^{2}=d, (\sqrt{\rho})^{2}=\rho, "
              r"((t=1, m=\frac{\sqrt{d}}{\sqrt{\rho}})\text{ or }(t=\frac{d}{\bar{m}^{2}\rho}, m=\bar{m}))",
        added=(_t, _batch), where="Theorem 2, calls: N is the number of steps times the batch size of Algorithm 3",
        uses=("mn25.lem11",),
    )
    .whole(
        "accuracy", r"\alpha^{\prime}\le 3\alpha",
        given=r"(\alpha<\frac{BL}{3}\implies\alpha^{\prime}\le\frac{3}{2}\alpha), "
              r"(\alpha\ge\frac{BL}{3}\implies\alpha^{\prime}\le BL)",
        where="Theorem 2, accuracy, O(alpha) with the constant 3: DP-SGD where alpha is below B L/3, and the start "
              "elsewhere",
        uses=("mn25.lem11/risk", "mn25.lem11/risk-of-the-start", "subgradient-inequality"),
    )
    .instance(
        "calls-for-a-large-rho",
        r"\frac{1}{2}=O\big({\frac{B^{2}L^{2}}{\alpha^{2}}\big(\frac{1}{\sqrt{\rho}}+\frac{1}{\bar{m}\cdot(\sqrt{\rho})^{2}}\big)}\big)",
        given=r"\alpha\le\frac{BL}{6}",
        where="Theorem 2 for every rho",
        case="d = 1, and an accuracy of 3 alpha is at most B L/2 (other constants are alike): without a call, one of "
             "the linear losses with slopes L and -L has an excess risk of B L on the ball of radius B, so half a call "
             "is needed in the mean",
        true_if="for rho of at most 1, as Algorithm 3 has it: for larger rho there may be less than one call",
    )
    .corrected(
        "calls-for-a-large-rho",
        r"\frac{1}{2}\le\frac{B^{2}L^{2}}{\alpha^{2}}(\frac{\sqrt{d}}{\sqrt{\rho}}+\frac{d}{\bar{m}\rho})",
        given=r"\rho\le 1, \alpha\le\frac{BL}{6}, (\sqrt{d})^{2}=d, (\sqrt{\rho})^{2}=\rho",
        where="Theorem 2 for rho of at most 1",
        case="the calls that are needed, in the mean",
        because="the bound on the calls falls below one call where rho is large",
        catches=("rho in the numerator", r"\frac{1}{2}\le\frac{B^{2}L^{2}}{\alpha^{2}}\rho"),
    )
    .condition(
        "oracle-privacy-is-finite", r"\log(1/\delta)>0", where="Theorem 2: rho = 1/log(1/delta) for delta in [0, 1]",
        true_if="for delta in (0, 1), where rho is a number",
    )
    .corrected(
        "oracle-privacy-is-finite", r"\log(1/\delta)>0", given=r"\delta<1, (\log(1/\delta)=0\implies\delta=1)",
        because="for delta = 1 there is no 1/log(1/delta); everything is private there",
        where="Theorem 2 for delta below 1",
    )
    .reference(
        "calls-at-the-smallest-accuracy",
        r"\frac{\sqrt{d}}{\sqrt{\rho}}\cdot\frac{1}{A^{2}}=\frac{n^{2}\epsilon^{2}}{\sqrt{d}\cdot\lambda}",
        given=r"A^{2}=\frac{d\lambda^{2}}{n^{2}\epsilon^{2}}, \sqrt{\rho}=\frac{1}{\lambda}, (\sqrt{d})^{2}=d",
        added=(_best_of_1, _root_level),
        where="Section 3, after Theorem 2: O(n^2 epsilon^2 / sqrt(d log(1/delta)))",
    )
    .reference(
        "tight-in-the-dimension", r"\frac{\sqrt{d}}{a^{2}\sqrt{\rho}}\le\frac{d}{\ell}",
        given=r"d\geq\frac{\ell^{2}}{a^{4}\rho}, (\sqrt{d})^{2}=d, (\sqrt{\rho})^{2}=\rho",
        added=(_accuracy_of_1, _log_of_1),
        where="Section 3, before Theorem 2",
    )
    .reference(
        "tight-in-the-batch", r"\frac{d}{a^{2}\bar{m}\rho}\le\frac{d}{\ell}", given=r"\bar{m}\geq 1/(a^{2}\rho)",
        added=(_accuracy_of_1, _log_of_1),
        where="Section 3, before Theorem 2: tight when also m is at least 1/(alpha^2 rho)",
        true_if="up to a factor log(1/alpha) in the batch size",
    )
    .corrected(
        "tight-in-the-batch", r"\frac{d}{a^{2}\bar{m}\rho}\le\frac{d}{\ell}", given=r"\bar{m}\geq\ell/(a^{2}\rho)",
        added=(_accuracy_of_1, _log_of_1),
        because="the second lower bound is smaller than d/log(1/alpha) from log(1/alpha)/(alpha^2 rho) on",
        where="Section 3, before Theorem 2, with the logarithm",
    )
)  # fmt: skip

cor1 = (
    Sheet(
        "mn25.cor1",
        (small_alpha, d, _m, _T, unique, _total, _log, _sqrt_d, real("c", gt=0)),
        title="DP-SGD with batches of size m",
        where="Corollary 1",
        latex=r"\Omega\big(\min\big\{\frac{\sqrt{d}+d/m}{\alpha^{2}},\frac{dm}{\log(1/\alpha)}\big\}\big)",
        pairs=("mn25.alg3", "mn25.thm1.1", "mn25.thm1.2"),
    )
    .step(
        "many-steps", r"N\ge\frac{1}{640}\cdot\frac{dm}{\log(1/\alpha)}", given=r"N=mT, T>\frac{d}{640\log(1/\alpha)}",
        where="Corollary 1, where Theorem 1 does not apply: each step has one unique query and m calls",
    )
    .whole(
        "few-steps", r"N\ge\frac{c}{2}\cdot\frac{\sqrt{d}+d/m}{\alpha^{2}}",
        given=r"N\ge c\cdot\frac{\sqrt{d}}{\alpha^{2}}, N\ge c\cdot\frac{d}{m\alpha^{2}}",
        where="Corollary 1 for rho = 1, where Theorem 1 applies; c is the smaller of its constants",
        uses=("mn25.thm1.1", "mn25.thm1.2", "mn25.cor1/many-steps"),
    )
)  # fmt: skip
