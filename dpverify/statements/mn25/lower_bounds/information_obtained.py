"""mn25, Lemma 1: the information that is obtained, in terms of how often a problem vector is seen."""

from __future__ import annotations

from dpverify.formulas.expressions import Variable, integer, real
from dpverify.formulas.units import NATS
from dpverify.statements.mn25.symbols import d, rho, unique
from dpverify.statements.sheet import Sheet


def information(name: str, latex: str, meaning: str = "") -> Variable:
    """A mutual information or an entropy, which is not negative."""
    return real(name, ge=0, unit=NATS, latex=latex, meaning=meaning)


_PAST = r"Y_{<t},\hat{R}_{<t},Q_{<t}"
_I_W, _I_YR, _I_YRQ = (
    information(name, rf"I({of};\hat{{X}}_{{k}})")
    for name, of in (("I_W", "W"), ("I_YR", r"Y,\hat{R}"), ("I_YRQ", r"Y,\hat{R},Q"))
)
_all = information("S", rf"\sum_{{t=1}}^{{\infty}}I(Y_{{t}},\hat{{R}}_{{t}},Q_{{t}};\hat{{X}}_{{k}}|{_PAST})")
_one = information("I_t", rf"I(Y_{{t}},\hat{{R}}_{{t}},Q_{{t}};\hat{{X}}_{{k}}|{_PAST})")
_sent = information("I_R", rf"I(\hat{{R}}_{{t}};\hat{{X}}_{{k}}|{_PAST})")
_answered = information("I_Q", r"I(Q_{t};\hat{X}_{k}|Y_{<t},\hat{R}_{\leq t},Q_{<t})")
_received = information("I_Y", r"I(Y_{t};\hat{X}_{k}|Y_{<t},\hat{R}_{\leq t},Q_{\leq t})")
_sum = information("S_Y", rf"\sum_{{t=1}}^{{\infty}}{_received.latex}")
_h = tuple(
    information(f"h{i}", rf"H(\hat{{X}}_{{k}}|{given})")
    for i, given in enumerate(
        (_PAST, r"Y_{<t},\hat{R}_{\leq t},Q_{<t}", r"Y_{<t},\hat{R}_{\leq t},Q_{\leq t}",
         r"Y_{\leq t},\hat{R}_{\leq t},Q_{\leq t}")
    )
)  # fmt: skip
_BEFORE_L = r"Y_{<t},\hat{R}_{\leq t},Q_{<t},Q_{t,<l}"
_of_one_query = information("I_l", rf"I(Q_{{t,l}};\hat{{X}}_{{k}}|{_BEFORE_L})")
_entropy, _left = (
    information("H_l", rf"H(Q_{{t,l}}|{_BEFORE_L})"),
    information("H_X", rf"H(Q_{{t,l}}|{_BEFORE_L},\hat{{X}}_{{k}})"),
)
_new = integer("new", ge=0, le=1, latex=r"\mathbbm{1}_{[R_{t,l}\notin R_{\leq t,<l}]}")
_found = real(
    "N", ge=0,
    latex=rf"\underset{{}}{{\mathbb{{E}}}}\left[\sum_{{t=1}}^{{\infty}}\sum_{{l=1}}^{{M_{{t}}}}{_new.latex}\right]",
)  # fmt: skip
_M = integer("M", ge=1, latex="M_{t}", meaning="size of a batch that f_k answers")
_place = integer("place", latex="l", meaning="place of a query in its batch")
_square = real("Cnt2", ge=0, latex=r"\mathsf{Cnt}_{k}^{2}(q_{t})")
_capped = real("capped", ge=0, latex=r"\overline{\mathsf{Cnt}}_{k}^{2}(q_{t})")
_I_q = information("I_q", r"I(Y_{t};\hat{X}_{k}|Q_{t}=q_{t},P_{t}=p_{t})")
_I_x = information("I_x", r"I(Y_{t};X_{k}|Q_{t}=q_{t},P_{t}=p_{t})")
_KL, _KL_pair = (
    information("KL", r"\mathsf{KL}", "mean divergence of the answer given x_k from the answer"),
    information("KL2", r"\mathsf{KL}'", "mean divergence of the answers for x_k and x_k'"),
)
_C_1 = real("C_1", ge=1, latex="C_{1}", meaning="a constant")
_H_X = information("H", r"H(\hat{X}_{k}|Q_{t}=q_{t},P_{t})")
_squares = real(
    "E", ge=0, latex=r"\mathbb{E}\Big[\sum_{t=1}^{\infty}\overline{\mathsf{Cnt}}_{k}^{2}(Q_{t})\Big]"
)
_log_answers = information("log_K", r"\log(K+1)")
_log_scale = information("log_C_1", r"\log(3C_{1})")
_log_size = information("log_C", r"\log(|\mathcal{C}|)")
_conditional = information("I", r"I(W;\hat{X}_{k}|X_{\neq k},V)")
_all_sent = information("I_sent", r"I(Y,\hat{R};\hat{X}_{k}|X_{\neq k},V)")
_of_answers, _of_messages = information("J_Q", "J_{Q}"), information("J_Y", "J_{Y}")
_rests = tuple(information(f"r{i}", f"r_{{{i}}}") for i in (1, 2))
_two_means = tuple(real(f"{a}{i}", ge=0, latex=f"{a}_{{{i}}}") for a in "ab" for i in (1, 2))
_p = real("p", ge=0, le=1, meaning="probability of the first of two answers")
_BOUND = rf"{_squares.latex}\rho+{unique.latex}\log(K+1)"

lem1 = (
    Sheet(
        "mn25.lem1",
        (
            d, rho, unique, _I_W, _I_YR, _I_YRQ, _all, _one, _sent, _answered, _received, _sum, *_h, _of_one_query,
            _entropy, _left, _new, _found, _M, _square, _capped, _I_q, _I_x, _KL, _KL_pair, _C_1,
            _H_X, _squares, _conditional, _log_answers, _log_size,
        ),
        title="Information obtained",
        where="Lemma 1",
        latex=(
            r"I(W;\hat{X}_{k}|X_{\neq k},V)\leq\mathbb{E}\Big[\sum_{t=1}^{\infty}\overline{\mathsf{Cnt}}_{k}^{2}(Q_{t})"
            r"\Big]\rho+\mathbb{E}[\bar{T}]\log(K+1)"
        ),
        pairs=("mn25.thm1.1", "mn25.thm1.2", "mn25.lem2", "mn25.tcdp"),
    )
    .step(
        "first-line", rf"{_I_W.latex}={_all.latex}",
        given=rf"{_I_W.latex}\leq {_I_YR.latex}\leq {_I_YRQ.latex}, {_I_YRQ.latex}={_all.latex}",
        where="Lemma 1, proof, 1st display, line 1", uses=("data-processing", "chain-rule-of-information"),
    )
    .corrected(
        "first-line", rf"{_I_W.latex}\le {_all.latex}",
        given=rf"{_I_W.latex}\leq {_I_YR.latex}\leq {_I_YRQ.latex}, {_I_YRQ.latex}={_all.latex}",
        because="what is released says at most as much as all that was sent: an optimizer that releases 0 whatever "
                "it hears has I = 0, and the sum need not be",
        where="Lemma 1, proof, 1st display, line 1, with the inequality before it",
    )
    .step(
        "by-post-processing", rf"{_I_W.latex}\leq {_I_YR.latex}\leq {_I_YRQ.latex}",
        given=rf"{_I_YR.latex}={_I_W.latex}+r_{{1}}, {_I_YRQ.latex}={_I_YR.latex}+r_{{2}}",
        added=_rests, where="Lemma 1, proof: by the chain rule, what is left is not negative",
        uses=("data-processing", "chain-rule-of-information"),
    )
    .step(
        "second-line", rf"{_one.latex}={_sent.latex}+{_answered.latex}+{_received.latex}",
        given=rf"{_one.latex}={_h[0].latex}-{_h[3].latex}, {_sent.latex}={_h[0].latex}-{_h[1].latex}, "
              rf"{_answered.latex}={_h[1].latex}-{_h[2].latex}, {_received.latex}={_h[2].latex}-{_h[3].latex}",
        where="Lemma 1, proof, 1st display, line 2: the chain rule for one t",
    )
    .step(
        "third-line", rf"{_sent.latex}+{_answered.latex}+{_received.latex}={_answered.latex}+{_received.latex}",
        given=rf"{_sent.latex}=0", uses=("data-processing",),
        where="Lemma 1, proof, 1st display, step (i): given the answers, the next queries are made without X_k",
    )
    .step(
        "fourth-line", rf"{_of_one_query.latex}\le {_entropy.latex}",
        given=rf"{_of_one_query.latex}={_entropy.latex}-{_left.latex}",
        where="Lemma 1, proof, 1st display, line 4, for one query",
    )
    .step(
        "fifth-line", rf"{_entropy.latex}\le\log(K+1)\cdot {_new.latex}",
        given=rf"{_new.latex}\cdot {_entropy.latex}\le {_new.latex}\cdot\log(K+1), (1-{_new.latex}){_entropy.latex}=0",
        where="Lemma 1, proof, 1st display, step (ii), for one query: a repeated one has no entropy",
        uses=("largest-entropy",),
    )
    .step(
        "sixth-line", rf"\log(K+1)\cdot {_found.latex}\le {unique.latex}\log(K+1)",
        given=rf"{_found.latex}\le {unique.latex}",
        where="Lemma 1, proof, 1st display, step (iii)",
    )
    .step(
        "counts-every-answer", r"\sum_{l=1}^{M_{t}-1}1=M_{t}", added=(_place,),
        where="Section 3.1, definition of Q: it is 0 for l >= M_t; on the left is what Cnt_k counts of a batch that "
              "f_k answers entirely",
        true_if="if Q is 0 only for l > M_t, which is what the proofs use",
    )
    .corrected(
        "counts-every-answer", r"\sum_{l=1}^{M_{t}}1=M_{t}", added=(_place,),
        because="Q is 0 for l >= M_t; it should be l > M_t",
        where="Section 3.1, definition of Q with l > M_t",
    )
    .step(
        "by-privacy", rf"{_I_q.latex}\le {_square.latex}\rho",
        given=rf"{_I_q.latex}\leq {_I_x.latex}, {_I_x.latex}={_KL.latex}, {_KL.latex}\le {_KL_pair.latex}, "
              rf"{_KL_pair.latex}\le {_square.latex}\rho",
        where="Lemma 1, proof, 2nd display, (i) to (iv)",
        uses=("data-processing", "divergence-is-convex", "group-privacy-of-zcdp"),
    )
    .step(
        "size-of-the-packing", r"\log(|\mathcal{C}|)\leq 3C_{1}d",
        given=r"\log(|\mathcal{C}|)\le d\cdot\log(3C_{1}), \log(3C_{1})\le 3C_{1}", added=(_log_scale,),
        uses=("packing-number", "mn25.lem1/logarithm-of-the-constant"),
        where="Lemma 1, proof, 3rd display, last inequality",
    )
    .step(
        "logarithm-of-the-constant", r"\log(3\cdot 480)\le 3\cdot 480",
        where="Lemma 1, proof, 3rd display, last inequality, with C_1 = 480",
    )
    .step(
        "by-entropy", rf"{_I_q.latex}\leq {_H_X.latex}\leq\log(|\mathcal{{C}}|)",
        given=rf"{_I_q.latex}={_H_X.latex}-{_left.latex}, {_H_X.latex}\leq\log(|\mathcal{{C}}|)",
        uses=("largest-entropy",), where="Lemma 1, proof, 3rd display",
    )
    .step(
        "consolidated", rf"{_I_q.latex}\leq {_capped.latex}\rho",
        given=rf"{_I_q.latex}\leq {_square.latex}\rho, {_I_q.latex}\leq 3C_{{1}}d, "
              rf"({_capped.latex}={_square.latex}\text{{ or }}{_capped.latex}=\frac{{3C_{{1}}d}}{{\rho}})",
        where="Lemma 1, proof, 4th display",
        uses=("mn25.lem1/by-privacy", "mn25.lem1/by-entropy", "mn25.lem1/size-of-the-packing"),
    )
    .step(
        "mean-over-answers", r"a_{1}p+a_{2}(1-p)\le(b_{1}p+b_{2}(1-p))\rho",
        given=r"a_{1}\le b_{1}\rho, a_{2}\le b_{2}\rho",
        added=(*_two_means, _p), where="Lemma 1, proof: a bound for each q_t is one of the means, here of two",
    )
    .step(
        "before-conditioning-is-undone", rf"{_I_YR.latex}\leq {_BOUND}",
        given=rf"{_I_YR.latex}\le {unique.latex}\log(K+1)+{_sum.latex}, {_sum.latex}\leq {_squares.latex}\rho",
        where="Lemma 1, proof, last display",
        uses=(
            "mn25.lem1/first-line", "mn25.lem1/second-line", "mn25.lem1/third-line", "mn25.lem1/fourth-line",
            "mn25.lem1/fifth-line", "mn25.lem1/sixth-line", "mn25.lem1/consolidated", "mn25.lem1/mean-over-answers",
        ),
    )
    .whole(
        "bound", rf"{_conditional.latex}\leq {_BOUND}",
        given=rf"{_conditional.latex}\le {_all_sent.latex}, {_all_sent.latex}\le J_{{Q}}+J_{{Y}}, "
              rf"J_{{Q}}\le\log(K+1)\cdot {_found.latex}, {_found.latex}\le {unique.latex}, "
              rf"J_{{Y}}\le {_squares.latex}\rho",
        added=(_all_sent, _of_answers, _of_messages),
        where="Lemma 1, from what its proof shows for each V = v and all other vectors, in the mean over them: J_Q and "
              "J_Y are what the sources of the answers and the messages say",
        uses=(
            "data-processing", "chain-rule-of-information", "integral-is-monotone", "mn25.lem1/second-line",
            "mn25.lem1/third-line", "mn25.lem1/fourth-line", "mn25.lem1/fifth-line", "mn25.lem1/sixth-line",
            "mn25.lem1/consolidated", "mn25.lem1/mean-over-answers",
        ),
    )
)  # fmt: skip
