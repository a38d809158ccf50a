"""mn25, Theorem 5 and Lemma 4: optimization with oracles of limited information."""

from __future__ import annotations

from dpverify.formulas.expressions import integer, real
from dpverify.formulas.units import NATS
from dpverify.statements.mn25.lower_bounds.information_obtained import information
from dpverify.statements.mn25.symbols import C_2, B, K, L, alpha, d, small_alpha, unique
from dpverify.statements.sheet import Sheet

_Gamma = real(
    "Gamma",
    gt=0,
    unit=NATS,
    latex=r"\Gamma",
    meaning="information capacity of the oracle",
    stands_for="number",
)
_C_1 = real("C_1", gt=0, latex="C_{1}", meaning="a constant")
_SEEN = r"\mathbbm{1}_{[\mathsf{Cnt}_{j}(Q_{t})\geq 1]}"
_seen = integer("seen", ge=0, le=1, latex=_SEEN)
_I_q = information("I_q", r"I(Y_{t};X_{k}|Q_{t}=q_{t},P_{t})")
_log_answers = information("log_answers", r"\log(K+1)")
_sum = information("S_Y", r"\sum_{t=1}^{T}I(Y_{t};X_{k}|Q_{\leq t},P_{t})")
_I_YR = information("I_YR", r"I(Y,R;X_{k})")
_I = information("I", r"I(W;X_{k}|X_{\neq k},V)")
_times = real("times", ge=0, latex=rf"\mathbb{{E}}\Big[\sum_{{t=1}}^{{\infty}}{_SEEN}\Big]")
_all_times = real(
    "all_times", ge=0,
    latex=rf"\underset{{}}{{\mathbb{{E}}}}\left[\sum_{{t=1}}^{{\infty}}\sum_{{j=1}}^{{K}}{_SEEN}\right]",
)  # fmt: skip
_too_many = real(
    "too_many", ge=0, latex=r"\underset{}{\mathbb{E}}\left[\sum_{t=1}^{\infty}\sum_{j=1}^{K}M_{t}\right]"
)  # fmt: skip
_calls = real(
    "M", ge=0, latex=r"\underset{}{\mathbb{E}}\left[\|M\|_{1}\right]", meaning="expected number of calls"
)
_total = information("total", r"\sum_{j=1}^{K}I(Y,R;X_{j}|X_{\neq j}V)")
_log = real("l", gt=0, latex=r"\log(1/\alpha)")
_time = real(
    "Time", ge=0, latex=r"\overline{\mathsf{Time}}(\mathcal{A},\tilde{\mathcal{O}},\alpha,B,L,\infty)"
)
_batch = integer("batch", ge=0, latex="M_{t}")
_hits = integer("hits", ge=0, latex=r"\sum_{j=1}^{K}\mathsf{Cnt}_{j}(Q_{t})")
_vectors = integer("vectors", ge=0, latex=rf"\sum_{{j=1}}^{{K}}{_SEEN}")
_sigma = real("sigma", gt=0, latex=r"\sigma", meaning="noise of the stochastic oracle")
_a = real("a", gt=0, meaning="accuracy for L = 2 and B = 1")
_two_means = tuple(real(f"{a}{i}", ge=0, latex=f"{a}_{{{i}}}") for a in "ab" for i in (1, 2))
_unique_information = real("x", ge=0, meaning="E T log(K + 1)", stands_for="functional")
_p = real("p", ge=0, le=1, meaning="probability of the first of two answers")

thm5 = (
    Sheet(
        "mn25.thm5",
        (
            alpha, B, L, K, C_2, d, unique, _Gamma, _C_1, _seen, _I_q, _log_answers, _sum, _I_YR, _I, _times,
            _all_times, _too_many, _calls, _total, _log, _time, _batch, _hits, _vectors, _sigma, _a,
        ),
        title="Oracle calls with oracles of limited information",
        where="Theorem 5 and Lemma 4",
        latex=(
            r"\overline{\mathsf{Time}}(\mathcal{A},\tilde{\mathcal{O}},\alpha,B,L,\infty)"
            r"=\Omega\big(\frac{B^{2}L^{2}d}{\alpha^{2}\Gamma}\big)"
        ),
        pairs=("mn25.limited-oracle", "mn25.hard-instance", "mn25.thm1.1"),
    )
    .step(
        "one-answer", rf"{_I_q.latex}\leq\Gamma\cdot {_SEEN}",
        given=rf"{_I_q.latex}\le\Gamma, (1-{_SEEN}){_I_q.latex}=0",
        where="Lemma 4, proof, 2nd display: an answer without gradients of f_k says nothing about X_k",
        uses=("data-processing",),
    )
    .step(
        "mean-over-answers", r"a_{1}p+a_{2}(1-p)\le\Gamma\cdot(b_{1}p+b_{2}(1-p))",
        given=r"a_{1}\le\Gamma b_{1}, a_{2}\le\Gamma b_{2}", added=(*_two_means, _p),
        where="Lemma 4, proof, 2nd display: a bound for each q_t is one of the means, here of two",
    )
    .step(
        "information-obtained", rf"{_I_YR.latex}\leq {unique.latex}\log(K+1)+\Gamma\cdot {_times.latex}",
        given=rf"{_I_YR.latex}\leq {unique.latex}\log(K+1)+{_sum.latex}, {_sum.latex}\le\Gamma\cdot {_times.latex}",
        where="Lemma 4, proof, (8)", uses=("mn25.lem1", "mn25.thm5/one-answer", "mn25.thm5/mean-over-answers"),
    )
    .step(
        "lemma-4", rf"{_I.latex}\leq {_times.latex}\Gamma+{unique.latex}\log(K+1)",
        given=rf"{_I.latex}\le {_I_YR.latex}, {_I_YR.latex}\leq {unique.latex}\log(K+1)+\Gamma\cdot {_times.latex}",
        where="Lemma 4, (7)", uses=("data-processing", "mn25.thm5/information-obtained"),
    )
    .step(
        "vectors-in-a-batch", rf"{_vectors.latex}\le M_{{t}}",
        given=rf"{_vectors.latex}\le {_hits.latex}, {_hits.latex}\le M_{{t}}",
        where="Theorem 5, end of the proof: no batch shows more vectors than it has gradients",
    )
    .step(
        "sum-over-vectors", rf"{_total.latex}\leq {_all_times.latex}\Gamma+K\cdot {unique.latex}\cdot\log(K+1)",
        given=rf"{_total.latex}\le K\cdot {_I.latex}, {_I.latex}\leq {_times.latex}\Gamma+{unique.latex}\log(K+1), "
              rf"K\cdot {_times.latex}\le {_all_times.latex}",
        where="Theorem 5, end of the proof, 1st display, line 1, where all vectors are seen alike",
        uses=("mn25.thm5/lemma-4",),
    )
    .step(
        "too-many-calls", rf"{_too_many.latex}\Gamma+Kx={_calls.latex}\Gamma+Kx",
        given=rf"{_too_many.latex}=K\cdot {_calls.latex}", added=(_unique_information,),
        where="Theorem 5, end of the proof, 1st display, lines 2 and 3: the summand does not depend on j",
        true_if="without the sum over j: the first line is at most the sum of all M_t",
    )
    .corrected(
        "too-many-calls", rf"{_all_times.latex}\le {_calls.latex}",
        given=rf"{_all_times.latex}={_calls.latex}-r, r\ge 0", added=(real("r", meaning="calls not counted"),),
        because="M_t is summed over j as well, K times too often; the indicators alone sum to at most M_t",
        where="Theorem 5, end of the proof, without line 2", uses=("mn25.thm5/vectors-in-a-batch",),
    )
    .step(
        "calls", rf"{_calls.latex}\ge\frac{{d}}{{320C_{{1}}^{{2}}\alpha^{{2}}\Gamma}}",
        given=rf"K\cdot\frac{{d}}{{160}}\le {_calls.latex}\Gamma+K\cdot x, x\le\frac{{d}}{{320}}, "
              r"K=\frac{1}{C_{1}^{2}\alpha^{2}}",
        letters=(small_alpha,), added=(_unique_information,),
        where="Theorem 5, end of the proof, as for Theorem 1, with its constant",
        uses=(
            "mn25.lem2", "mn25.thm1.1/number-of-answers", "mn25.thm5/sum-over-vectors", "mn25.thm5/too-many-calls",
            "mn25.thm5/unique-queries",
        ),
    )
    .step(
        "unique-queries", rf"{unique.latex}\cdot\log(K+1)\le\frac{{d}}{{320}}",
        given=rf"{unique.latex}\leq\frac{{d}}{{640\log(1/\alpha)}}, \log(K+1)\le 2\log(1/\alpha)",
        letters=(small_alpha,), where="Theorem 5, end of the proof: 320 log(1/alpha^2) = 640 log(1/alpha)",
    )
    .whole(
        "bound", rf"{_time.latex}\ge\frac{{B^{{2}}L^{{2}}d}}{{1280C_{{1}}^{{2}}\alpha^{{2}}\Gamma}}",
        given=rf"{_time.latex}\ge {_calls.latex}, K\cdot\frac{{d}}{{160}}\le {_calls.latex}\Gamma+K\cdot x, "
              r"x\le\frac{d}{320}, K=\frac{1}{C_{1}^{2}a^{2}}, a=\frac{2\alpha}{BL}",
        added=(_unique_information,),
        where="Theorem 5, Omega with its constant, by scaling",
        uses=(
            "mn25.fact1", "mn25.lem2", "mn25.thm5/sum-over-vectors", "mn25.thm5/too-many-calls",
            "mn25.thm5/unique-queries", "mn25.instance-facts", "mn25.thm1.1/worst-is-above-mean",
        ),
    )
    .reference(
        "stochastic-oracle", r"\frac{B^{2}L^{2}d}{\alpha^{2}\Gamma}\ge\frac{B^{2}L^{2}\sigma^{2}}{\alpha^{2}}",
        given=r"\Gamma\leq d/\sigma^{2}", where="Section 5: the lower bound for stochastic oracles is recovered",
    )
    .step(
        "gaussian-channel", r"\frac{d}{2}\cdot\frac{1}{\sigma^{2}}\leq d/\sigma^{2}",
        where="Section 5: the capacity (d/2) log(1 + 1/sigma^2) is at most half of what is printed, by log(1 + x) <= x",
        uses=("mn25.thm5/logarithm",),
    )
    .step(
        "logarithm", r"\log(1+x)\le x", added=(real("x", ge=0, le=1),), box={"x": (0, 1)},
        where="Section 5: x = 1/sigma^2, and sigma is at least 1",
    )
)  # fmt: skip
