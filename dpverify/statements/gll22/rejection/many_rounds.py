"""gll22, Lemma 5.5 with (13): what rounds after the first L add to rho."""

from __future__ import annotations

from dpverify.formulas.expressions import real
from dpverify.formulas.units import LENGTH
from dpverify.formulas.vectors import vector
from dpverify.statements.gll22.rejection.letters import (
    AT_8,
    AT_16,
    AVERAGE,
    DELTA,
    DOUBLED,
    EH,
    FAR,
    H_LARGE,
    H_LARGER,
    INNER,
    LARGE,
    LAYERS,
    MORE,
    OUT_MORE,
    PAIR,
    SERIES,
    E,
    H,
    one_letter,
    probability,
    two,
)
from dpverify.statements.gll22.rejection.total_variation import total_variation

_u = real("k", gt=0, latex="k")
_FAR_HERE = rf"\Pr_{{x,z}}[{AVERAGE}\geq t+e^{{-t^{{2}}/(16\eta G^{{2}})}}G\|x-z\|_{{2}}]"
_HALF = r"\frac{t^{2}}{4\eta}"
_POINTS = (vector("x"), vector("z"), vector("m"))
_EITHER_FAR = rf"\Pr_{{x,z}}[\|x-{E}x\|_{{2}}\geq t/2\text{{ or }}\|z-{E}z\|\geq t/2]"
_either = probability("either_far", _EITHER_FAR)
_mean_length = real("M", ge=0, unit=LENGTH, meaning="mean length of x - m")

many_rounds = (
    total_variation
    .step(
        "tail-of-rho", rf"{OUT_MORE} \leq{MORE}\leq{SERIES}",
        given=rf"{OUT_MORE}\leq{MORE}, {MORE}\leq{SERIES}",
        uses=("gll22.lem5.3/mean-of-rho",), where="Lemma 5.5, proof, 7th display",
    )
    .step(
        "logarithms", r"\ln(2)>\frac{693}{1000}\text{ and }\ln(60)<\frac{41}{10}\text{ and }\ln(1000)<7",
        where="Lemma 5.5, large enough C: what the choice of C uses",
    )
    .step(
        "rounds", rf"\ln(60)+\log(1/{INNER})\le L\ln(2)",
        given=rf"L\ge 10\log(1/{INNER}), \log(1/{INNER})>\ln(2), \ln(2)>\frac{{693}}{{1000}}, "
              rf"\ln(60)<\frac{{41}}{{10}}",
        uses=("gll22.lem5.5/logarithms",),
        where="Lemma 5.5, proof, L > C log(1/delta_inner): with C = 10, 2^L is at least 60/delta_inner",
    )
    .step(
        "factorials-grow", r"2\cdot 2^{L}\le 2(L+1)L!", given=r"2^{L}\leq 2L!", **DOUBLED,
        where="Lemma 5.5, proof, before (16), from L to L + 1; for L = 1, both are 2",
    )
    .step(
        "phase-probability", r"\frac{1}{L!}\leq\frac{2}{2^{L}}", given=r"2^{L}\leq 2L!", **DOUBLED,
        uses=("gll22.lem5.5/factorials-grow",), where="Lemma 5.5, proof, before (16)",
    )
    .step(
        "tail-of-the-series",
        rf"\frac{{2}}{{2^{{L}}}}\leq\frac{{{INNER}}}{{16}}", given=rf"2^{{L}}\ge 60/{INNER}", added=(two,),
        uses=("gll22.lem5.5/rounds", "gll22.lem5.5/phase-probability"),
        where="Lemma 5.5, proof, Phi(t) for |t| <= 1: the sum of 1/alpha! <= 2/2^alpha over alpha > L is at most this",
    )
    .step(
        "layers", rf"{OUT_MORE}\leq\frac{{{INNER}}}{{16}}+{LARGE}\leq\frac{{{INNER}}}{{16}}+{LAYERS}",
        given=rf"{OUT_MORE}\leq\frac{{{INNER}}}{{16}}+{LARGE}, {LARGE}\leq{LAYERS}",
        uses=("gll22.lem5.5/tail-of-rho", "gll22.lem5.5/tail-of-the-series"),
        where="Lemma 5.5, proof, 8th display: e^Delta <= e^(k + 1) for Delta from k to k + 1",
    )
    .step(
        "half-of-t", r"\frac{(t/2)^2}{2\eta G^2}=\frac{t^2}{8\eta G^2}",
        where="Lemma 5.5, proof, 9th display: Lemma 5.4 at t/2",
    )
    .step(
        "a-pair", rf"{PAIR}\leq 4e^{{-t^{{2}}/(8\eta G^{{2}})}}",
        given=rf"{PAIR}\le 2\cdot 2e^{{-t^{{2}}/(8\eta G^{{2}})}}", **AT_8,
        uses=("gaussian-concentration", "gll22.lem5.5/half-of-t"),
        where="Lemma 5.5, proof, 9th and 10th display: f_i(x) or f_i(z) is t/2 from its mean, on one of two sides",
    )
    .step(
        "markov", rf"{H_LARGE}\leq 4e^{{k-t^{{2}}/(8\eta G^{{2}})}}", letters=(_u,),
        given=rf"e^{{-k}}\cdot{H_LARGE}\le{EH}, {EH}\le 4e^{{-t^{{2}}/(8\eta G^{{2}})}}",
        uses=("markov", "gll22.lem5.5/a-pair"), where="Lemma 5.5, proof, 11th display",
    )
    .step(
        "average", rf"{AVERAGE}\leq t+e^{{-t^{{2}}/(16\eta G^{{2}})}}\cdot G\|x-z\|_{{2}}",
        given=rf"{AVERAGE}\le t+{H}\cdot G\|x-z\|_{{2}}, {H}\le e^{{-t^{{2}}/(16\eta G^{{2}})}}",
        where="Lemma 5.5, proof, 12th display", **AT_16,
    )
    .step(
        "choice-of-k", r"k-\frac{t^2}{8\eta G^2}=-\frac{t^2}{16\eta G^2}", given=r"k=\frac{t^2}{16\eta G^2}",
        letters=(_u,), where="Lemma 5.5, proof, 13th display: the 11th at k = t^2 / (16 eta G^2)",
    )
    .step(
        "far-from-average", rf"{FAR}\leq ~{{}}{H_LARGER}\leq ~{{}}4e^{{-t^{{2}}/(16\eta G^{{2}})}}",
        given=rf"{FAR}\leq{H_LARGER}, {H_LARGER}\le 4e^{{-t^{{2}}/(16\eta G^{{2}})}}", **AT_16,
        uses=("gll22.lem5.5/average", "gll22.lem5.5/markov",
        "gll22.lem5.5/choice-of-k"), where="Lemma 5.5, proof, 13th display",
    )
    .step(
        "one-of-the-two-is-far", r"\|x-z\|\le\|x-m\|+\|z-m\|", added=_POINTS, units=False,
        where="Lemma 5.5, proof, 14th display, first step: m is the mean of x and of z, and if the left side is at "
              "least "
              "t, one of the two on the right is at least t/2",
    )
    .step(
        "both-lengths", rf"{_EITHER_FAR}\leq ~{{}}2e^{{-t^{{2}}/(8\eta)}}",
        given=rf"{_EITHER_FAR}\le 2p, p\le e^{{-(t/2-M)^2/(2\eta)}}, M\le t/2", added=(_either, _mean_length),
        letters=(real("t", ge=0, unit=LENGTH),), uses=("gaussian-concentration",),
        where="Lemma 5.5, proof, 14th display, second step: Lemma 5.4 for the length of x - m, whose mean is M",
    )
    .corrected(
        "both-lengths", rf"{_EITHER_FAR}\leq ~{{}}2e^{{-(t/2-M)^{{2}}/(2\eta)}}",
        given=rf"{_EITHER_FAR}\le 2p, p\le e^{{-(t/2-M)^2/(2\eta)}}, M\le t/2", added=(_either, _mean_length),
        letters=(real("t", ge=0, unit=LENGTH),), uses=("gaussian-concentration",),
        where="Lemma 5.5, proof, 14th display, with the mean length M of x - m",
    )
    .instance(
        "distance-of-two-samples",
        rf"e^{{-t^2/(4\eta)}}(1+{_HALF}+\frac{{1}}{{2}}({_HALF})^2+\frac{{1}}{{6}}({_HALF})^3)"
        rf"\leq 2e^{{-t^{{2}}/(8\eta)}}",
        letters=(real("t", ge=0, unit=LENGTH),),
        case="eight dimensions and psi arbitrarily flat: ||x - z||^2 is 2 eta times a chi-square of 8 degrees",
        where="Lemma 5.5, proof, 14th display: Pr[||x - z|| >= t]; concentration is about the mean length, which grows "
              "with the dimension, so each t fails in some dimension",
    )
    .step(
        "exponential-below-one", r"e^{-w}\le 1", where="Lemma 5.5, proof, 15th display, with w = t^2 / (16 eta G^2)",
    )
    .step(
        "twice-t",
        r"t+e^{-t^{2}/(16\eta G^{2})}G\|x-z\|_{2}\le 2t", given=r"\|x-z\|_{2}<t/G, e^{-t^{2}/(16\eta G^{2})}\le 1",
        **AT_16,
        uses=("gll22.lem5.5/exponential-below-one",),
        where="Lemma 5.5, proof, 15th display, line 4",
    )
    .step(
        "halved-exponent", r"e^{-w}\le e^{-w/2}", where="Lemma 5.5, proof, 15th display, with w = t^2 / (8 eta G^2)",
    )
    .step(
        "two-events", rf"2e^{{-t^{{2}}/(8G^{{2}}\eta)}}+{_FAR_HERE}\leq ~{{}}6e^{{-t^{{2}}/(16\eta G^{{2}})}}",
        given=rf"{_FAR_HERE}\le 4e^{{-t^{{2}}/(16\eta G^{{2}})}}, "
              r"e^{-t^{2}/(8G^{2}\eta)}\le e^{-t^{2}/(16\eta G^{2})}",
        uses=("gll22.lem5.5/far-from-average", "gll22.lem5.5/halved-exponent"),
        added=(real("tail8", gt=0, latex=r"e^{-t^{2}/(8G^{2}\eta)}"), *AT_16["added"]),
        where="Lemma 5.5, proof, 15th display, last line",
    )
    .step(
        "tail-of-Delta", rf"{DELTA}\leq 6\exp(-k^{{2}}/(64G^{{2}}\eta))",
        given=rf"{DELTA}\le 6e^{{-(k/2)^2/(16\eta G^2)}}",
        uses=("gll22.lem5.5/two-events", "gll22.lem5.5/twice-t", "gll22.lem5.5/distance-of-two-samples"),
        where="Lemma 5.5, proof, before (13)",
    )
    .corrected(
        "distance-of-two-samples", r"\lambda^2\eta G^2-\lambda k=-\frac{k^2}{4\eta G^2}",
        given=r"\lambda=\frac{k}{2\eta G^2}", coverage="step", uses=("jensen", "herbst", "markov"),
        because="the 14th display fails from 8 dimensions on; the tail of Delta holds all the same, and with a better "
                "constant, since exp(lambda Delta) is at most the mean of exp(lambda |f_i(z) - f_i(x)|), which is "
                "at most 2 exp(lambda^2 eta G^2) in every dimension",
        where="Lemma 5.5, proof, in place of displays 11 to 15: the best lambda in 2 exp(lambda^2 eta G^2 - lambda k)",
    )
    .corrected(
        "sixteenth-of-the-exponent", r"2e^{-w/4}\le 2e^{-w/64}", coverage="step",
        where="Lemma 5.5, proof, before (13), with w = k^2 / (eta G^2)",
    )
    .corrected(
        "tail-of-Delta", rf"{DELTA}\leq 6\exp(-k^{{2}}/(64G^{{2}}\eta))",
        given=rf"{DELTA}\le 2\exp(-k^{{2}}/(64G^{{2}}\eta))", **one_letter("tail64", r"\exp(-k^{2}/(64G^{2}\eta))"),
        uses=("gll22.lem5.5/distance-of-two-samples", "gll22.lem5.5/sixteenth-of-the-exponent"),
        where="Lemma 5.5, proof, before (13), from 2 exp(-k^2 / (4 eta G^2))",
    )
)  # fmt: skip
