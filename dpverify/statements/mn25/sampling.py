"""mn25, Lemma 6: privacy of sampling with replacement."""

from __future__ import annotations

from dpverify.formulas.expressions import integer, real
from dpverify.formulas.units import NATS
from dpverify.statements.mn25.symbols import n
from dpverify.statements.sheet import EDGE, Sheet

_m = integer("m", ge=1, meaning="size of the sample")
_epsilon = real("epsilon", ge=0, le=1, unit=NATS, latex=r"\epsilon")
_delta = real("delta", ge=0, le=1, latex=r"\delta")
_E, _F = real("E", gt=1, meaning="e^epsilon"), real("F", gt=0, lt=1, meaning="e^{-epsilon}")
_E_k, _F_k = real("E_k", ge=1, latex="E_{k}"), real("F_k", gt=0, le=1, latex="F_{k}")
_q_0, _q_k, _q2_k = (
    real(name, ge=0, le=1, latex=latex)
    for name, latex in (("q0", "q_{0}"), ("qk", "q_{k}"), ("q2k", r"q_{k}^{\prime}"))
)
_U = real("U", ge=1, meaning="(1 - 1/n + E/n)^m")
_D = real("D", gt=0, le=1, meaning="(1 - 1/n + F/n)^m")
_P, _P2 = (
    real("P", ge=0, le=1, latex=r"\mathbb{P}[\tilde{\mathcal{M}}(D)\in S]"),
    real("P2", ge=0, le=1, latex=r"\mathbb{P}[\tilde{\mathcal{M}}(D^{\prime})\in S]"),
)
_A, _g = real("A", ge=1, meaning="U/D"), real("g", ge=1, meaning="e^{6 epsilon m/n}")
_c = real("c", ge=1, meaning="2 m / n")
_few = real("c", ge=1, le=4, meaning="2 m / n")
_x = real("x", ge=0, le=1, meaning="1/n")
_y = real("y", ge=0, le="16/25", meaning="(1 - F)/n")

lem6 = (
    Sheet(
        "mn25.lem6",
        (n, _m, _epsilon, _delta, _E, _F, _E_k, _F_k, _q_0, _q_k, _q2_k, _U, _D, _P, _P2, _A, _g, _c, _x, _y),
        title="Sampling with replacement",
        where="Lemma 6",
        latex=(
            r"\epsilon\leq\min\{1,\frac{n}{2m}\}\implies\epsilon^{\prime}=6\epsilon\frac{m}{n},\quad"
            r"\delta^{\prime}=4e^{6\epsilon m/n}\frac{m}{n}\delta"
        ),
        pairs=("mn25.thm7", "mn25.d2", "mn25.alg4"),
    )
    .step(
        "weights", r"\frac{1}{n}\cdot\frac{1}{1-1/n}=\frac{1}{n-1}", given=r"n\ge 2",
        where="Lemma 6, proof, 1st display, last equality: one of k factors, for n of at least 2",
    )
    .step(
        "more-than-one-record", r"n-1>0", where="Lemma 6, proof, 1st display, which divides by n - 1",
        true_if="for two records or more; for one, the sample holds nothing else",
    )
    .corrected(
        "more-than-one-record", r"n-1>0", given=r"n\ge 2", because="for one record (n - 1)^{-k} has no value",
        where="Lemma 6, proof, 1st display, for two records or more",
    )
    .step(
        "epsilon-is-positive", r"e^{\epsilon}-1>0", consequence=EDGE,
        where="Lemma 6, proof, 3rd display, which divides by e^epsilon - 1", true_if="for positive epsilon",
    )
    .corrected(
        "epsilon-is-positive", r"\epsilon\le e^{\epsilon}-1", box={"epsilon": (0, 1)},
        because="for epsilon = 0 the quotient has no value; its limit is k",
        where="Lemma 6, proof, 3rd display, where the divisor is at least epsilon",
    )
    .step(
        "group-privacy", r"Eq_{k}+\delta\le EE_{k}q_{0}+\frac{EE_{k}-1}{E-1}\delta",
        given=r"q_{k}\leq E_{k}q_{0}+\frac{E_{k}-1}{E-1}\delta",
        where="Lemma 6, proof, 3rd display, by induction: q_{k+1} is at most the left side; E_k is e^{k epsilon}",
    )
    .step(
        "group-privacy-downwards", r"F\cdot(q_{k}^{\prime}-\delta)\ge FF_{k}q_{0}-\frac{1-FF_{k}}{1-F}\delta",
        given=r"q_{k}^{\prime}\ge F_{k}q_{0}-\frac{1-F_{k}}{1-F}\delta",
        where="Lemma 6, proof, 5th display, by induction: q'_{k+1} is at least the left side; F_k is e^{-k epsilon}",
    )
    .step(
        "one-factor", r"(1-\frac{1}{n})(1+\frac{E}{n-1})=1-\frac{1}{n}+\frac{E}{n}", given=r"n\ge 2",
        where="Lemma 6, proof, 4th display, last line: one of m factors",
    )
    .instance(
        "binomial-theorem", r"(1-x)^{2}+2x(1-x)E+x^{2}E^{2}=(1-x+xE)^{2}",
        where="Lemma 6, proof, 4th display, line 4", case="m = 2, with x = 1/n",
        catches=("the middle weight stands once", r"(1-x)^{2}+x(1-x)E+x^{2}E^{2}=(1-x+xE)^{2}"),
    )
    .step(
        "both-parts", r"q_{0}U+\frac{\delta}{E-1}U-\frac{\delta}{E-1}=q_{0}U+\frac{U-1}{E-1}\delta",
        where="Lemma 6, proof, 4th display, lines 4 and 5",
    )
    .step(
        "combined",
        rf"{_P.latex}\le A\cdot({_P2.latex}+\frac{{1-D}}{{1-F}}\delta)+\frac{{U-1}}{{E-1}}\delta",
        given=rf"{_P.latex}\le q_{{0}}U+\frac{{U-1}}{{E-1}}\delta, "
              rf"{_P2.latex}\ge q_{{0}}D-\frac{{1-D}}{{1-F}}\delta, U=AD",
        where="Lemma 6, proof, 6th display; A is U/D",
        uses=("mn25.lem6/group-privacy", "mn25.lem6/group-privacy-downwards", "mn25.lem6/one-factor"),
    )
    .step(
        "exponential-above", r"e^{\epsilon}-1\le 2\epsilon", box={"epsilon": (0, 1)},
        where="Lemma 6, proof, 8th display, line 2",
    )
    .step(
        "exponential-below", r"1-e^{-\epsilon}\le\epsilon", box={"epsilon": (0, 1)},
        where="Lemma 6, proof, 8th display, line 2",
    )
    .step(
        "power-below", r"e^{-2y}\le 1-y", box={"y": (0, "16/25")},
        where="Lemma 6, proof, 8th display, line 1: y = (1 - e^{-epsilon})/n is at most 1 - 1/e",
    )
    .step(
        "loss-of-one-draw", r"\log(1+x(e^{\epsilon}-1))-\log(1+x(e^{-\epsilon}-1))\le 6\epsilon x",
        box={"epsilon": (0, 1), "x": (0, 1)}, where="Lemma 6, proof, 7th display, for one of m, with x = 1/n",
    )
    .step(
        "sample-is-large", r"m\ge\frac{n}{2}", given=r"\epsilon\cdot 2m\le n",
        where="Lemma 6, proof, before the 8th display: using m >= n/2",
        true_if="for m of at least n/2; for smaller samples the bound needs another proof",
    )
    .step(
        "second-quotient", r"\exp(c\epsilon)-1\le c\cdot(e^{\epsilon}-1)", given=r"c\epsilon\le 1", letters=(_few,),
        where="Lemma 6, proof, 8th display, line 3, second part, times e^epsilon - 1, with c = 2 m / n",
        true_if="for c of at most 1; the convexity of exp reverses it for larger c",
    )
    .step(
        "last-line", r"gc+c\le 2gc",
        where="Lemma 6, proof, 8th display, line 4, with g = e^{6 epsilon m/n} and c = 2 m/n",
    )
    .corrected(
        "second-quotient", r"\frac{U-1}{E-1}\le\frac{m}{n}U", given=r"U-1\le m\cdot\frac{E-1}{n}\cdot U",
        because="exp is convex: e^{c epsilon} - 1 is at least c times e^epsilon - 1 for c of at least 1; Bernoulli's "
                "inequality bounds both quotients of the 6th display, for samples of every size",
        where="Lemma 6, proof, second quotient of the 6th display", uses=("bernoulli",),
    )
    .corrected(
        "sample-is-large", r"\frac{1-D}{1-F}\le\frac{m}{n}", given=r"1-D\le m\cdot\frac{1-F}{n}",
        where="Lemma 6, proof, first quotient of the 6th display, for samples of every size", uses=("bernoulli",),
    )
    .whole(
        "delta", r"A\cdot\frac{1-D}{1-F}+\frac{U-1}{E-1}\le 4g\cdot\frac{m}{n}",
        given=r"1-D\le m\cdot\frac{1-F}{n}, U-1\le m\cdot\frac{E-1}{n}\cdot U, U\le A, A\le g",
        where="Lemma 6, delta, from the 6th display for samples of every size; half of it is enough",
        uses=("bernoulli", "mn25.lem6/combined"),
    )
    .whole(
        "epsilon",
        r"m\log\left({\frac{a}{b}}\right)\leq\frac{6\epsilon m}{n}", given=r"\log(a)-\log(b)\le\frac{6\epsilon}{n}",
        added=(real("a", gt=0, meaning="1 + (e^epsilon - 1)/n"), real("b", gt=0, meaning="1 + (e^{-epsilon} - 1)/n")),
        where="Lemma 6, epsilon, 7th display", uses=("mn25.lem6/loss-of-one-draw", "mn25.lem6/combined"),
    )
)  # fmt: skip
