"""gll22, Lemma 5.5 with (14) to (16): what the first L rounds add to rho."""

from __future__ import annotations

from dpverify.formulas.expressions import real
from dpverify.statements.gll22.rejection.letters import (
    AT_2,
    DOUBLED,
    FEW_OUTSIDE,
    GEOMETRIC,
    INNER,
    ONE,
    OUT_FEW,
    OUTSIDE,
    SUM14,
    probability,
    two,
)
from dpverify.statements.gll22.rejection.many_rounds import many_rounds

_four = real("Q", gt=0, latex="4^{L}")
_four_k = real("Q_k", gt=0, latex="4^{k}")
_next_factorial = real("F_next", gt=0, latex="(L+1)!")
_LINEAR = "one function, linear, and psi arbitrarily flat: f(x) - f(z) is Gaussian with variance 2 eta G^2"
_ANY_QUARTER, _ANY_HALF = (
    rf"\Pr_{{x,z\sim\mathcal{{G}}}}(|f_{{i}}(x)-f_{{i}}(z)|\geq {size}\text{{ for any such }}i)"
    for size in (r"\frac{1}{4}2^{k}", "1/2")
)
_quarter, _half = probability("quarter", _ANY_QUARTER), probability("half", _ANY_HALF)
_LARGE_FEW = r"\Pr(|\rho_{\leq L}|>2^{kL})"
_large_few = probability("large_few", _LARGE_FEW)
_QUARTERS, _HALVES = (
    rf"L^{{2}}\exp(-\frac{{{over}}}{{{under}\eta G^{{2}}}})" for over, under in (("4^{k}", 32), (1, 8))
)
_QUARTERS_UNION, _HALVES_UNION = (
    rf"N\le\frac{{L(L+1)}}{{2}}, p\le 2e^{{-({size})^2/(4\eta G^2)}}" for size in (r"\frac{1}{4}2^{k}", "1/2")
)
_TAILS = tuple(
    real(name, gt=0, latex=rf"\exp(-\frac{{{over}}}{{{under}\eta G^{{2}}}})")
    for name, over, under in (("t32", "4^{k}", 32), ("t64", "4^{k}", 64), ("t8", "1", 8), ("t16", "1", 16))
)
_differences = real("N", ge=0, meaning="number of differences")

few_rounds = (
    many_rounds
    .step(
        "seventeen", r"6e\le 17", where="Lemma 5.5, proof, (13), first step: 6 e^(k + 1) <= 17 e^k",
    )
    .step(
        "eq13",
        rf"\frac{{{INNER}}}{{16}}+17\sum_{{k=1}}^{{L}}e^{{k-\frac{{k^{{2}}}}{{64G^{{2}}\eta}}}}"
        rf"\leq\frac{{{INNER}}}{{9}}",
        given=rf"\eta\leq 2^{{-6}}G^{{-2}}/\log(400/{INNER})",
        uses=("gll22.lem5.5/layers", "gll22.lem5.5/tail-of-Delta", "gll22.lem5.5/seventeen"),
        where="Lemma 5.5, proof, (13), with the printed bound on eta: every part of the infinite sum",
    )
    .corrected("size-of-e", r"e<\frac{2719}{1000}", coverage="step", where="Lemma 5.5, proof, (13)")
    .corrected(
        "eq13", rf"\frac{{{INNER}}}{{16}}+17\cdot\frac{{eq}}{{1-eq}}\leq\frac{{{INNER}}}{{9}}",
        given=rf"q\le{INNER}/1000, e<\frac{{2719}}{{1000}}",
        because="the first term of the sum alone is too large for eta = 2^-6 G^-2 / log(400/delta_inner); 1000 in "
                "place of 400 is enough",
        true_if="with 1000 in place of 400, which only changes the constant C",
        uses=("gll22.lem5.5/size-of-e", "gll22.lem5.5/layers", "gll22.lem5.5/tail-of-Delta", "gll22.lem5.5/seventeen"),
        where="Lemma 5.5, proof, (13), with 1000: the terms are at most (e q)^k, q = exp(-1/(64 G^2 eta))",
    )
    .step(
        "eq14", rf"{OUT_FEW}\leq {OUTSIDE}\cdot 2^{{L}}+{SUM14}",
        given=rf"{OUT_FEW}\le p+S, p\leq{OUTSIDE}\cdot 2^{{L}}, S\leq{SUM14}",
        where="Lemma 5.5, proof, (14): |rho_<=L| is at most 2^L, or from 2^(kL) to 2^((k + 1) L) for some k",
    )
    .step(
        "number-of-values", r"\sum_{\alpha=1}^{L}\alpha<\frac{L^{2}}{2}",
        where="Lemma 5.5, proof, after (14): only less than L^2 / 2 values f_i(x) and f_i(z)",
    )
    .corrected(
        "number-of-values", r"\sum_{\alpha=1}^{L}\alpha=\frac{L(L+1)}{2}",
        because="round alpha looks at alpha values, which are L (L + 1) / 2 and more than L^2 / 2",
        where="Lemma 5.5, proof, after (14)",
    )
    .step(
        "one-value", rf"{ONE}\leq 2e^{{-t^{{2}}/(2\eta G^{{2}})}}", given=rf"{ONE}\le S+p, "
        r"S\le e^{-t^{2}/(2\eta G^{2})}, p\le e^{-t^{2}/(2\eta G^{2})}", **AT_2,
        uses=("gaussian-concentration",), where="Lemma 5.5, proof, 18th display: either side",
    )
    .instance(
        "union-bound-for-quarters", r"2\Phi(-\frac{2^{k}/4}{\sqrt{2\eta}G})\leq L^{2}\exp(-\frac{4^{k}}{32\eta G^{2}})",
        given=r"L=10, \eta\leq 2^{-8}G^{-2}L^{-1}", case=_LINEAR, where="Lemma 5.5, proof, 19th display: union bound",
    )
    .step(
        "sum-of-powers-begins", r"1+r\le 3r", where="Lemma 5.5, proof, 20th display for L = 1, r = 2^k / 3",
    )
    .step(
        "sum-of-powers-goes-on", r"S+ra\le 3c\cdot ra", given=r"S\le ca",
        where="Lemma 5.5, proof, 20th display from L to L + 1: a = r^L, c = 3^L",
    )
    .step(
        "quarters", rf"\frac{{L(L+1)}}{{2}}\cdot 2e^{{-(\frac{{1}}{{4}}2^{{k}})^2/(4\eta G^2)}}\leq {_QUARTERS}",
        given=r"\eta\leq 2^{-8}G^{-2}L^{-1}, L\ge 10", uses=("gaussian-concentration", "gll22.lem5.5/number-of-values"),
        where="Lemma 5.5, proof, 19th display: the bound of the union, of L (L + 1) / 2 differences that are sqrt(2) "
              "G-Lipschitz in (x, z), and what is printed",
    )
    .corrected(
        "quarters", rf"{_ANY_QUARTER}\leq L(L+1)\exp(-\frac{{4^{{k}}}}{{64\eta G^{{2}}}})",
        given=rf"{_ANY_QUARTER}\le N\cdot p, {_QUARTERS_UNION}",
        added=(_quarter, _differences), uses=("gaussian-concentration", "gll22.lem5.5/number-of-values"),
        because="the union bound has 4^k / (64 eta G^2) in the exponent where 4^k / (32 eta G^2) is printed: f_i(x) - "
                "f_i(z) is sqrt(2) G-Lipschitz in (x, z), and a quarter squared is a sixteenth",
        where="Lemma 5.5, proof, 19th display: union bound, with L (L + 1) / 2 differences, each sqrt(2) G-Lipschitz "
              "in (x, z)",
    )
    .step(
        "large-rho", rf"{_LARGE_FEW}\leq {_QUARTERS}",
        given=rf"{_LARGE_FEW}\le{_ANY_QUARTER}, {_ANY_QUARTER}\leq {_QUARTERS}",
        added=(_quarter, _large_few, *_TAILS), uses=("gll22.lem5.5/quarters", "gll22.lem5.5/sum-of-powers-goes-on"),
        where="Lemma 5.5, proof, after the 20th display",
    )
    .corrected(
        "large-rho", rf"{_LARGE_FEW}\leq L(L+1)\exp(-\frac{{4^{{k}}}}{{64\eta G^{{2}}}})",
        given=rf"{_LARGE_FEW}\le{_ANY_QUARTER}, {_ANY_QUARTER}\leq L(L+1)\exp(-\frac{{4^{{k}}}}{{64\eta G^{{2}}}})",
        added=(_quarter, _large_few, *_TAILS), uses=("gll22.lem5.5/quarters", "gll22.lem5.5/sum-of-powers-goes-on"),
        where="Lemma 5.5, proof, after the 20th display, with the corrected bound",
    )
    .step(
        "squares-and-powers", r"(L+1)^2\le 4\cdot 4^{L}", given=r"L^2\le 4^{L}", added=(_four,),
        where="Lemma 5.5, proof, 21st display: L^2 <= 4^L from L to L + 1; for L = 1 it is 1 <= 4",
    )
    .step(
        "exponents-of-eq15", r"(k+1)L+2L\le 4kL", uses=("gll22.lem5.5/squares-and-powers",),
        where="Lemma 5.5, proof, 21st display, last step",
    )
    .step(
        "choice-of-eta",
        r"2\cdot 4^{k}L\le\frac{4^{k}}{32\eta G^{2}}", given=r"\eta\leq 2^{-8}G^{-2}L^{-1}", added=(_four_k,),
        where="Lemma 5.5, proof, (15), first step",
    )
    .corrected(
        "choice-of-eta",
        r"2\cdot 4^{k}L\le\frac{4^{k}}{64\eta G^{2}}", given=r"\eta\leq 2^{-8}G^{-2}L^{-1}", added=(_four_k,),
        where="Lemma 5.5, proof, (15), first step, with the corrected exponent",
    )
    .corrected(
        "more-values", r"(L+1)(L+2)\le 2\cdot 4\cdot 4^{L}", given=r"L(L+1)\le 2\cdot 4^{L}", coverage="step",
        added=(_four,),
        where="Lemma 5.5, proof, 21st display, with L (L + 1) <= 2 4^L: from L to L + 1; for L = 1 it is 2 <= 8",
    )
    .step(
        "powers-of-four", r"5(k+1)\le 2\cdot 4\cdot 4^{k}", given=r"5k\le 2\cdot 4^{k}", added=(_four_k,),
        where="Lemma 5.5, proof, (15), second step: 5 k ln 2 <= 5 k <= 2 4^k, from k to k + 1; for k = 1 it is 5 <= 8",
    )
    .step(
        "eq15", rf"{GEOMETRIC}\leq\frac{{{INNER}}}{{9}}",
        given=rf"{GEOMETRIC}=\frac{{1}}{{2^{{L}}-1}}, 2^{{L}}\ge 60/{INNER}", added=(two,),
        uses=("gll22.lem5.5/rounds", "gll22.lem5.5/sum-of-powers-begins", "gll22.lem5.5/sum-of-powers-goes-on",
              "gll22.lem5.5/exponents-of-eq15", "gll22.lem5.5/choice-of-eta", "gll22.lem5.5/powers-of-four",
              "gll22.lem5.5/large-rho"),
        where="Lemma 5.5, proof, (15), last step",
    )
    .step(
        "leaving-the-interval", rf"{OUTSIDE}\leq\frac{{2}}{{2^{{L}}}}+{FEW_OUTSIDE}",
        given=rf"{OUTSIDE}\le\frac{{1}}{{L!}}+{FEW_OUTSIDE}, \frac{{1}}{{L!}}\le\frac{{2}}{{2^{{L}}}}", **DOUBLED,
        uses=("gll22.lem5.5/phase-probability",), where="Lemma 5.5, proof, before (16)",
    )
    .instance(
        "union-bound-for-halves", r"2\Phi(-\frac{1/2}{\sqrt{2\eta}G})\leq L^{2}\exp(-\frac{1}{8\eta G^{2}})",
        given=r"L=10, \eta\leq 2^{-8}G^{-2}L^{-1}", case=_LINEAR, where="Lemma 5.5, proof, 23rd display: union bound",
    )
    .step(
        "half-powers", r"\sum_{\alpha=1}^{L}(\frac{1}{2})^{\alpha}\le 1",
        where="Lemma 5.5, proof, 24th display: the products are at most 2^-alpha, so 0 <= rho_<=L <= 2",
    )
    .step(
        "halves", rf"\frac{{L(L+1)}}{{2}}\cdot 2e^{{-(1/2)^2/(4\eta G^2)}}\leq {_HALVES}",
        given=r"\eta\leq 2^{-8}G^{-2}L^{-1}, L\ge 10", uses=("gaussian-concentration", "gll22.lem5.5/number-of-values"),
        where="Lemma 5.5, proof, 23rd display: the bound of the union and what is printed",
    )
    .corrected(
        "halves", rf"{_ANY_HALF}\leq L(L+1)\exp(-\frac{{1}}{{16\eta G^{{2}}}})",
        given=rf"{_ANY_HALF}\le N\cdot p, {_HALVES_UNION}",
        added=(_half, _differences), uses=("gaussian-concentration", "gll22.lem5.5/number-of-values"),
        because="likewise the 23rd display, with 16 in place of 8",
        where="Lemma 5.5, proof, 23rd display: union bound, with L (L + 1) / 2 differences, each sqrt(2) G-Lipschitz "
              "in (x, z)",
    )
    .step(
        "few-outside", rf"{FEW_OUTSIDE}\leq {_HALVES}",
        given=rf"{FEW_OUTSIDE}\le{_ANY_HALF}, {_ANY_HALF}\leq {_HALVES}",
        added=(_half, *_TAILS), uses=("gll22.lem5.5/halves", "gll22.lem5.5/half-powers"),
        where="Lemma 5.5, proof, after the 24th display",
    )
    .corrected(
        "few-outside", rf"{FEW_OUTSIDE}\leq L(L+1)\exp(-\frac{{1}}{{16\eta G^{{2}}}})",
        given=rf"{FEW_OUTSIDE}\le{_ANY_HALF}, {_ANY_HALF}\leq L(L+1)\exp(-\frac{{1}}{{16\eta G^{{2}}}})",
        added=(_half, *_TAILS), uses=("gll22.lem5.5/halves", "gll22.lem5.5/half-powers"),
        where="Lemma 5.5, proof, after the 24th display, with the corrected bound",
    )
    .step(
        "eq16-before",
        rf"{OUTSIDE}\cdot 2^{{L}}\leq 2^{{L}}(L^{{2}}\exp(-\frac{{1}}{{8\eta G^{{2}}}})+\frac{{2}}{{2^{{L}}}})",
        given=rf"{OUTSIDE}\leq\frac{{2}}{{2^{{L}}}}+{FEW_OUTSIDE}, "
              rf"{FEW_OUTSIDE}\leq L^{{2}}\exp(-\frac{{1}}{{8\eta G^{{2}}}})",
        added=(two, real("tail", gt=0, latex=r"\exp(-\frac{1}{8\eta G^{2}})")),
        uses=("gll22.lem5.5/leaving-the-interval", "gll22.lem5.5/few-outside", "gll22.lem5.5/half-powers"),
        where="Lemma 5.5, proof, (16), first step",
    )
    .step(
        "eq16", rf"2^{{L}}(L^{{2}}\exp(-\frac{{1}}{{8\eta G^{{2}}}})+\frac{{2}}{{2^{{L}}}})\leq\frac{{{INNER}}}{{9}}",
        given=r"\eta\leq 2^{-8}G^{-2}L^{-1}", where="Lemma 5.5, proof, (16): 2^L times 2/2^L is 2, for every L",
        uses=("gll22.lem5.5/leaving-the-interval", "gll22.lem5.5/few-outside", "gll22.lem5.5/half-powers"),
    )
    .corrected(
        "factorials-outgrow-fours", r"3\cdot 4\cdot 4^{L}\le 8(L+2)(L+1)!", given=r"3\cdot 4^{L}\le 8(L+1)!, L\ge 2",
        coverage="step", added=(_four, _next_factorial),
        where="Lemma 5.5, proof, (16): 4^L <= 8 (L + 1)!/3 from L to L + 1; it is 4 <= 16/3 and 16 <= 16 for L = 1, 2",
    )
    .corrected(
        "logarithm-of-four", r"\ln(4)<2", coverage="step", where="Lemma 5.5, proof, (16)",
    )
    .corrected(
        "exponential-and-fours",
        r"4L\ln(4)\le 16L", given=r"\ln(4)<2", coverage="step", uses=("gll22.lem5.5/logarithm-of-four",),
        where="Lemma 5.5, proof, (16): exp(-1/(16 eta G^2)) <= exp(-16 L) <= 4^(-4 L)",
    )
    .corrected(
        "eq16", rf"2^{{L}}(\frac{{2\cdot 4^{{L}}}}{{(4^{{L}})^{{4}}}}+\frac{{1}}{{(L+1)!}})\leq\frac{{{INNER}}}{{9}}",
        given=rf"4^{{L}}=(2^{{L}})^2, 3\cdot 4^{{L}}\le 8(L+1)!, 2^{{L}}\ge 60/{INNER}",
        added=(two, _four, _next_factorial),
        because="the loop enters round L + 1 with probability 1/(L + 1)!; the paper bounds it by 2/2^L, which "
                "times 2^L is 2 and not small",
        true_if="with 1/(L + 1)!, which times 2^L is at most 3/2^L",
        uses=("gll22.lem5.5/rounds", "gll22.lem5.5/factorials-outgrow-fours",
              "gll22.lem5.5/exponential-and-fours", "gll22.lem5.5/few-outside",
              "gll22.lem5.5/more-values", "gll22.lem5.5/half-powers"),
        where="Lemma 5.5, proof, (16), with 1/(L + 1)! and exp(-1/(16 eta G^2)) <= exp(-16 L) <= 4^(-4 L)",
    )
)  # fmt: skip
