"""gll22, Lemma 5.5 with (11) to (16): how far the rejection step is from the law that it should sample."""

from __future__ import annotations

from typing import Any

from dpverify.formulas.expressions import Variable, integer, real
from dpverify.formulas.units import LENGTH
from dpverify.formulas.vectors import vector
from dpverify.statements.gll22.symbols import G_exponent as G
from dpverify.statements.sheet import EDGE, PROOF_STEP, Sheet

_E = r"\operatorname*{\mathbb{E}}"
_INNER = r"\delta_{\mathrm{inner}}"
_eta = real("eta", gt=0, unit=LENGTH**2, latex=r"\eta", meaning="step size")
_delta = real("delta", gt=0, lt="1/2", latex=_INNER, meaning="accuracy")
_level = real("l", gt=0, latex=rf"\log(1/{_INNER})")
_level_1000 = real("l_1000", gt=0, latex=rf"\log(1000/{_INNER})")
_L = integer("L", ge=1, meaning="rounds that are looked at")
_k = integer("k", ge=1)
_u = real("k", gt=0, latex="k")
_j = integer("j", ge=1, latex=r"\alpha", meaning="round of the inner loop")
_t, _w = real("t", ge=0), real("w", ge=0, meaning="k^2 / (eta G^2)")
_lambda = real("lambda", ge=0, latex=r"\lambda")


def _number(name: str, latex: str, meaning: str = "") -> Variable:
    return real(name, ge=0, latex=latex, meaning=meaning)


def _probability(name: str, latex: str) -> Variable:
    return real(name, ge=0, le=1, latex=latex)


_TV = r"d_{\mathrm{TV}}(\pi,\widetilde{\pi})"
_EX, _EXt = rf"{_E}X", rf"{_E}\widetilde{{X}}"
_L1 = rf"{_E}\left|\frac{{X}}{{{_EX}}}-\frac{{\widetilde{{X}}}}{{{_EXt}}}\right|"
_PART1 = rf"{_E}\left|\frac{{X}}{{{_EX}}}-\frac{{\widetilde{{X}}}}{{{_EX}}}\right|"
_PART2 = rf"{_E}\left|\frac{{\widetilde{{X}}}}{{{_EX}}}-\frac{{\widetilde{{X}}}}{{{_EXt}}}\right|"
_OFF = rf"{_E}|X-\widetilde{{X}}|"
_DOWN = rf"{_E}_{{x\sim\mathcal{{G}}}}\exp(-{_E}_{{i\in I}}f_{{i}}(x))"
_UP = rf"{_E}_{{z\sim\mathcal{{G}}}}\exp({_E}_{{i\in I}}f_{{i}}(z))"
_MEAN = rf"{_E}_{{x\sim\mathcal{{G}}}}{_E}_{{i\in I}}f_{{i}}(x)"
_CENTERED = rf"{_E}_{{z\sim\mathcal{{G}}}}\exp({_E}_{{i\in I}}f_{{i}}(z)-{_MEAN})"
_OUT, _OUT_MORE, _OUT_FEW = (
    rf"{_E}(|\rho{index}|\cdot 1_{{\rho\notin[0,2]}})" for index in ("", r"_{>L}", r"_{\leq L}")
)
_MORE = rf"{_E}|\rho_{{>L}}|"
_SERIES = rf"{_E}_{{x,z}}\Phi({_E}_{{i\in I}}|f_{{i}}(z)-f_{{i}}(x)|)"
_LARGE = rf"{_E}e^{{\Delta}}1_{{\Delta\geq 1}}"
_LAYERS = r"\sum_{k=1}^{\infty}e^{k+1}\Pr_{x,z}(\Delta\geq k)"
_PAIR = r"\Pr_{x,z}[|f_{i}(z)-f_{i}(x)|\geq t]"
_H, _EH = r"h_{x,z}(t)", rf"{_E}_{{x,z}}[h_{{x,z}}(t)]"
_H_LARGE = r"\Pr_{x,z}[h_{x,z}(t)\geq e^{-k}]"
_H_LARGER = r"\Pr_{x,z}[h_{x,z}(t)\geq e^{-t^{2}/(16\eta G^{2})}]"
_AVERAGE = rf"{_E}_{{i\in I}}|f_{{i}}(z)-f_{{i}}(x)|"
_FAR = rf"\Pr_{{x,z}}\Big{{[}}{_AVERAGE}\geq t+e^{{-t^{{2}}/(16\eta G^{{2}})}}G\|x-z\|_{{2}}\Big{{]}}"
_FAR_HERE = rf"\Pr_{{x,z}}[{_AVERAGE}\geq t+e^{{-t^{{2}}/(16\eta G^{{2}})}}G\|x-z\|_{{2}}]"
_CLOSE = rf"\Pr_{{x,z}}[{_AVERAGE}\geq 2t,\|x-z\|_{{2}}<t/G]"
_DELTA = r"\Pr(\Delta\geq k)"
_OUTSIDE = r"\Pr[\rho\notin[0,2]]"
_FEW_OUTSIDE = r"\Pr[\rho_{\leq L}\notin[0,2]]"
_SUM14 = r"\sum_{k=1}^{\infty}2^{(k+1)L}\Pr(|\rho_{\leq L}|\geq 2^{kL})"
_SUM15 = r"\sum_{k=1}^{\infty}2^{(k+1)L}\Pr(|\rho_{\leq L}|>2^{kL})"
_GEOMETRIC = r"\sum_{k=1}^{\infty}2^{-kL}"
_ONE = r"\Pr_{x\sim\mathcal{G}}(|f_{i}(x)-\operatorname*{\mathbb{E}}_{x\sim\mathcal{G}}f_{i}(x)|\geq t)"
_X, _Xt = real("X", gt=0), real("Xt", ge=0, latex=r"\widetilde{X}")
_rho, _rho_more, _rho_few = (
    real("rho", latex=r"\rho"),
    real("rho_more", latex=r"\rho_{>L}"),
    real("rho_few", latex=r"\rho_{\leq L}"),
)
_distance = real("distance", ge=0, unit=LENGTH, latex=r"\|x-z\|_{2}")
_S, _r, _a, _c = real("S", ge=0), real("r", ge="2/3", meaning="2^k / 3"), real("a", gt=0), real("c", ge=1)
_two = real("A", gt=0, latex="2^{L}")
_four = real("Q", gt=0, latex="4^{L}")
_four_k = real("Q_k", gt=0, latex="4^{k}")
_factorial = real("F", gt=0, latex="L!")
_next_factorial = real("F_next", gt=0, latex="(L+1)!")
_q = real("q", gt=0, meaning="exp(-1/(64 G^2 eta))")
_DOUBLED: dict[str, Any] = {"added": (_two, _factorial)}


def _one_letter(name: str, latex: str) -> dict[str, Any]:
    """What a row needs to know of an exponential is said in its conditions."""
    return {"added": (real(name, gt=0, latex=latex),)}


_AT_2, _AT_8, _AT_16 = (
    _one_letter(f"tail{part}", rf"e^{{-t^{{2}}/({part}\eta G^{{2}})}}") for part in (2, 8, 16)
)
_TWO_G = r"(1-e^{-2})\exp(-2G\sqrt{\eta})"
_LINEAR = "one function, linear, and psi arbitrarily flat: f(x) - f(z) is Gaussian with variance 2 eta G^2"
_HALF = r"\frac{t^{2}}{4\eta}"
_PROPOSAL = (
    *(vector(name) for name in "xyzg"), real("psi_x", latex=r"\psi(x)"), real("psi_z", latex=r"\psi(z)"),
)  # fmt: skip
_POINTS = (vector("x"), vector("z"), vector("m"))
_EITHER_FAR = rf"\Pr_{{x,z}}[\|x-{_E}x\|_{{2}}\geq t/2\text{{ or }}\|z-{_E}z\|\geq t/2]"
_either = _probability("either_far", _EITHER_FAR)
_mean_length = real("M", ge=0, unit=LENGTH, meaning="mean length of x - m")
_ANY_QUARTER, _ANY_HALF = (
    rf"\Pr_{{x,z\sim\mathcal{{G}}}}(|f_{{i}}(x)-f_{{i}}(z)|\geq {size}\text{{ for any such }}i)"
    for size in (r"\frac{1}{4}2^{k}", "1/2")
)
_quarter, _half = _probability("quarter", _ANY_QUARTER), _probability("half", _ANY_HALF)
_LARGE_FEW = r"\Pr(|\rho_{\leq L}|>2^{kL})"
_large_few = _probability("large_few", _LARGE_FEW)
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

_letters = (
    G, _eta, _delta, _level, _level_1000, _L, _k, _j, _t, _w, _lambda, _X, _Xt, _rho, _rho_more, _rho_few, _distance,
    _S, _r, _a, _c, _q,
    _probability("TV", _TV), real("EX", gt=0, latex=_EX), real("EXt", gt=0, latex=_EXt),
    _number("L1", _L1), _number("part1", _PART1), _number("part2", _PART2), _number("off", _OFF),
    real("down", gt=0, latex=_DOWN), real("up", gt=0, latex=_UP), real("mean", latex=_MEAN),
    real("centered", gt=0, latex=_CENTERED),
    _probability("p", "p"),
    _number("out", _OUT), _number("out_more", _OUT_MORE), _number("out_few", _OUT_FEW), _number("more", _MORE),
    _number("series", _SERIES), _number("large", _LARGE), _number("layers", _LAYERS),
    _probability("pair", _PAIR), _probability("h", _H), _probability("Eh", _EH),
    _probability("h_large", _H_LARGE), _probability("h_larger", _H_LARGER), _number("average", _AVERAGE),
    _probability("far", _FAR), _probability("close", _CLOSE),
    _probability("P_Delta", _DELTA), _probability("outside", _OUTSIDE),
    _probability("few_outside", _FEW_OUTSIDE), _number("sum14", _SUM14), _number("sum15", _SUM15),
    _number("geometric", _GEOMETRIC), _probability("one", _ONE),
)  # fmt: skip

_first = (
    Sheet(
        "gll22.lem5.5", _letters,
        title="Error of the rejection step", where="Lemma 5.5",
        latex=(
            rf"\eta\leq C\log^{{-1}}(1/{_INNER})G^{{-2}}\implies {_TV}\leq{_INNER}"
            r"\text{, with }O(1)\text{ values and samples in expectation}"
        ),
        pairs=("gll22.alg2", "gll22.lem5.3", "gll22.thm5.6"), uses=("gll22.lem5.3",),
    )
    .step(
        "total-variation", rf"{_TV} ={_L1}", given=rf"{_TV}=\frac{{1}}{{2}}{_L1}", uses=("scheffe", "gll22.lem5.3"),
        where="Lemma 5.5, proof, first display and (11), with the total variation of Definition 3.10",
    )
    .corrected(
        "total-variation", rf"{_TV}\leq{_L1}", given=rf"{_TV}=\frac{{1}}{{2}}{_L1}", uses=("scheffe", "gll22.lem5.3"),
        because="the integral of the densities' distance is twice the total variation of Definition 3.10, so the "
                "equality is an inequality",
        consequence=EDGE, true_if="if d_TV is twice the total variation of Definition 3.10",
        where="Lemma 5.5, proof, first display and (11), as an inequality",
    )
    .step(
        "triangle",
        rf"\left|\frac{{X}}{{{_EX}}}-\frac{{\widetilde{{X}}}}{{{_EXt}}}\right|"
        rf"\leq\left|\frac{{X}}{{{_EX}}}-\frac{{\widetilde{{X}}}}{{{_EX}}}\right|"
        rf"+\left|\frac{{\widetilde{{X}}}}{{{_EX}}}-\frac{{\widetilde{{X}}}}{{{_EXt}}}\right|",
        where="Lemma 5.5, proof, (11), at each x",
    )
    .step(
        "eq11", rf"{_PART1}+{_PART2}\leq 2\frac{{{_OFF}}}{{|{_EX}|}}",
        given=rf"{_PART1}=\frac{{{_OFF}}}{{{_EX}}}, "
              rf"{_PART2}={_EXt}\cdot|\frac{{1}}{{{_EX}}}-\frac{{1}}{{{_EXt}}}|, |{_EX}-({_EXt})|\le{_OFF}",
        uses=("jensen", "gll22.lem5.5/triangle"), where="Lemma 5.5, proof, (11), last step",
    )
    .condition(
        "strong-convexity-of-the-proposal",
        r"\psi(z)+\frac{1}{2\eta}\|z-y\|^2\ge\psi(x)+\frac{1}{2\eta}\|x-y\|^2+\langle g+\frac{1}{\eta}(x-y),z-x\rangle"
        r"+\frac{1}{2\eta}\|z-x\|^2",
        given=r"\psi(z)\ge\psi(x)+\langle g,z-x\rangle", added=_PROPOSAL, units=False,
        where="Lemma 5.4, what it requires: the proposal's negative logarithm is 1/eta-strongly convex; g is a "
              "subgradient of psi at x",
    )
    .step(
        "deviation", r"\frac{(2G\sqrt{\eta})^2}{2\eta G^2}=2", uses=("gaussian-concentration",),
        where="Lemma 5.5, proof, before the 4th display: Lemma 5.4 at t = 2 G sqrt(eta)",
    )
    .step(
        "mean-of-X", rf"{_EX} ={_DOWN}\cdot{_UP}\geq\exp(-{_MEAN})\cdot{_UP}={_CENTERED}",
        given=rf"{_EX}={_DOWN}\cdot{_UP}, {_DOWN}\ge\exp(-{_MEAN}), {_CENTERED}=\exp(-{_MEAN})\cdot{_UP}",
        uses=("jensen", "gll22.lem5.3"), where="Lemma 5.5, proof, 4th display, lines 1 to 3",
        **_one_letter("exp_mean", rf"\exp(-{_MEAN})"),
    )
    .step(
        "mean-of-X-from-below", rf"{_CENTERED}\geq{_TWO_G}",
        given=rf"{_CENTERED}\ge p\exp(-2G\sqrt{{\eta}}), p\ge 1-e^{{-2}}",
        uses=("markov", "gll22.lem5.5/deviation"), **_one_letter("exp_G", r"\exp(-2G\sqrt{\eta})"),
        where="Lemma 5.5, proof, 4th display, line 4",
    )
    .define(rf"{_E}[X]", _EX)
    .step(
        "two-thirds", rf"{_E}[X]\geq\frac{{2}}{{3}}", given=rf"{_EX}\ge{_TWO_G}, \eta\leq G^{{-2}}/8",
        uses=("gll22.lem5.5/mean-of-X", "gll22.lem5.5/mean-of-X-from-below"),
        where="Lemma 5.5, proof, after the 4th display: using eta <= G^-2 / 8",
    )
    .corrected(
        "two-thirds", rf"{_E}[X]\geq\frac{{2}}{{3}}",
        given=rf"{_EX}\ge{_CENTERED}, {_CENTERED}\ge\exp({_MEAN}-{_MEAN})",
        uses=("jensen", "gll22.lem5.5/mean-of-X"),
        because="at eta = G^-2 / 8 the 4th display gives E X >= 0.426 only; Jensen's inequality gives E X >= 1, "
                "whatever eta is",
        consequence=PROOF_STEP, where="Lemma 5.5, proof, after the 4th display, by Jensen's inequality twice",
    )
    .step(
        "truncation", r"|\rho-\min(\max(\rho,0),2)|\le|\rho|",
        where="Lemma 5.5, proof, 5th display, where rho is outside [0, 2]; inside, the difference is 0",
    )
    .step(
        "three-times", rf"{_TV}\leq 3\cdot{_OFF}\leq 3\cdot{_OUT}",
        given=rf"{_TV}\le 2\frac{{{_OFF}}}{{|{_EX}|}}, {_EX}\ge\frac{{2}}{{3}}, {_OFF}\le{_OUT}",
        uses=("jensen", "gll22.lem5.5/total-variation", "gll22.lem5.5/eq11", "gll22.lem5.5/two-thirds",
              "gll22.lem5.5/truncation"),
        where="Lemma 5.5, proof, 5th display",
    )
    .step(
        "parts-of-rho", r"|\rho|\le|\rho_{>L}|+|\rho_{\leq L}|", given=r"\rho=\rho_{>L}+\rho_{\leq L}",
        where="Lemma 5.5, proof, before (12)",
    )
    .step(
        "eq12", rf"{_TV}\leq 3\cdot{_OUT_MORE}+3\cdot{_OUT_FEW}",
        given=rf"{_TV}\leq 3\cdot{_OUT}, {_OUT}\le{_OUT_MORE}+{_OUT_FEW}",
        uses=("gll22.lem5.5/three-times", "gll22.lem5.5/parts-of-rho"), where="Lemma 5.5, proof, (12)",
    )
)  # fmt: skip

_many_rounds = (
    _first
    .step(
        "tail-of-rho", rf"{_OUT_MORE} \leq{_MORE}\leq{_SERIES}",
        given=rf"{_OUT_MORE}\leq{_MORE}, {_MORE}\leq{_SERIES}",
        uses=("gll22.lem5.3/mean-of-rho",), where="Lemma 5.5, proof, 7th display",
    )
    .step(
        "logarithms", r"\ln(2)>\frac{693}{1000}\text{ and }\ln(60)<\frac{41}{10}\text{ and }\ln(1000)<7",
        where="Lemma 5.5, large enough C: what the choice of C uses",
    )
    .step(
        "rounds", rf"\ln(60)+\log(1/{_INNER})\le L\ln(2)",
        given=rf"L\ge 10\log(1/{_INNER}), \log(1/{_INNER})>\ln(2), \ln(2)>\frac{{693}}{{1000}}, "
              rf"\ln(60)<\frac{{41}}{{10}}",
        uses=("gll22.lem5.5/logarithms",),
        where="Lemma 5.5, proof, L > C log(1/delta_inner): with C = 10, 2^L is at least 60/delta_inner",
    )
    .step(
        "factorials-grow", r"2\cdot 2^{L}\le 2(L+1)L!", given=r"2^{L}\leq 2L!", **_DOUBLED,
        where="Lemma 5.5, proof, before (16), from L to L + 1; for L = 1, both are 2",
    )
    .step(
        "phase-probability", r"\frac{1}{L!}\leq\frac{2}{2^{L}}", given=r"2^{L}\leq 2L!", **_DOUBLED,
        uses=("gll22.lem5.5/factorials-grow",), where="Lemma 5.5, proof, before (16)",
    )
    .step(
        "tail-of-the-series",
        rf"\frac{{2}}{{2^{{L}}}}\leq\frac{{{_INNER}}}{{16}}", given=rf"2^{{L}}\ge 60/{_INNER}", added=(_two,),
        uses=("gll22.lem5.5/rounds", "gll22.lem5.5/phase-probability"),
        where="Lemma 5.5, proof, Phi(t) for |t| <= 1: the sum of 1/alpha! <= 2/2^alpha over alpha > L is at most this",
    )
    .step(
        "layers", rf"{_OUT_MORE}\leq\frac{{{_INNER}}}{{16}}+{_LARGE}\leq\frac{{{_INNER}}}{{16}}+{_LAYERS}",
        given=rf"{_OUT_MORE}\leq\frac{{{_INNER}}}{{16}}+{_LARGE}, {_LARGE}\leq{_LAYERS}",
        uses=("gll22.lem5.5/tail-of-rho", "gll22.lem5.5/tail-of-the-series"),
        where="Lemma 5.5, proof, 8th display: e^Delta <= e^(k + 1) for Delta from k to k + 1",
    )
    .step(
        "half-of-t", r"\frac{(t/2)^2}{2\eta G^2}=\frac{t^2}{8\eta G^2}",
        where="Lemma 5.5, proof, 9th display: Lemma 5.4 at t/2",
    )
    .step(
        "a-pair", rf"{_PAIR}\leq 4e^{{-t^{{2}}/(8\eta G^{{2}})}}",
        given=rf"{_PAIR}\le 2\cdot 2e^{{-t^{{2}}/(8\eta G^{{2}})}}", **_AT_8,
        uses=("gaussian-concentration", "gll22.lem5.5/half-of-t"),
        where="Lemma 5.5, proof, 9th and 10th display: f_i(x) or f_i(z) is t/2 from its mean, on one of two sides",
    )
    .step(
        "markov", rf"{_H_LARGE}\leq 4e^{{k-t^{{2}}/(8\eta G^{{2}})}}", letters=(_u,),
        given=rf"e^{{-k}}\cdot{_H_LARGE}\le{_EH}, {_EH}\le 4e^{{-t^{{2}}/(8\eta G^{{2}})}}",
        uses=("markov", "gll22.lem5.5/a-pair"), where="Lemma 5.5, proof, 11th display",
    )
    .step(
        "average", rf"{_AVERAGE}\leq t+e^{{-t^{{2}}/(16\eta G^{{2}})}}\cdot G\|x-z\|_{{2}}",
        given=rf"{_AVERAGE}\le t+{_H}\cdot G\|x-z\|_{{2}}, {_H}\le e^{{-t^{{2}}/(16\eta G^{{2}})}}",
        where="Lemma 5.5, proof, 12th display", **_AT_16,
    )
    .step(
        "choice-of-k", r"k-\frac{t^2}{8\eta G^2}=-\frac{t^2}{16\eta G^2}", given=r"k=\frac{t^2}{16\eta G^2}",
        letters=(_u,), where="Lemma 5.5, proof, 13th display: the 11th at k = t^2 / (16 eta G^2)",
    )
    .step(
        "far-from-average", rf"{_FAR}\leq ~{{}}{_H_LARGER}\leq ~{{}}4e^{{-t^{{2}}/(16\eta G^{{2}})}}",
        given=rf"{_FAR}\leq{_H_LARGER}, {_H_LARGER}\le 4e^{{-t^{{2}}/(16\eta G^{{2}})}}", **_AT_16,
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
        letters=(real("t", ge=0, unit=LENGTH),), uses=("gaussian-concentration",), consequence=PROOF_STEP,
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
        consequence=PROOF_STEP,
    )
    .step(
        "exponential-below-one", r"e^{-w}\le 1", where="Lemma 5.5, proof, 15th display, with w = t^2 / (16 eta G^2)",
    )
    .step(
        "twice-t",
        r"t+e^{-t^{2}/(16\eta G^{2})}G\|x-z\|_{2}\le 2t", given=r"\|x-z\|_{2}<t/G, e^{-t^{2}/(16\eta G^{2})}\le 1",
        **_AT_16,
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
        added=(real("tail8", gt=0, latex=r"e^{-t^{2}/(8G^{2}\eta)}"), *_AT_16["added"]),
        where="Lemma 5.5, proof, 15th display, last line",
    )
    .step(
        "tail-of-Delta", rf"{_DELTA}\leq 6\exp(-k^{{2}}/(64G^{{2}}\eta))",
        given=rf"{_DELTA}\le 6e^{{-(k/2)^2/(16\eta G^2)}}",
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
        "tail-of-Delta", rf"{_DELTA}\leq 6\exp(-k^{{2}}/(64G^{{2}}\eta))",
        given=rf"{_DELTA}\le 2\exp(-k^{{2}}/(64G^{{2}}\eta))", **_one_letter("tail64", r"\exp(-k^{2}/(64G^{2}\eta))"),
        uses=("gll22.lem5.5/distance-of-two-samples", "gll22.lem5.5/sixteenth-of-the-exponent"),
        where="Lemma 5.5, proof, before (13), from 2 exp(-k^2 / (4 eta G^2))",
    )
)  # fmt: skip

_few_rounds = (
    _many_rounds
    .step(
        "seventeen", r"6e\le 17", where="Lemma 5.5, proof, (13), first step: 6 e^(k + 1) <= 17 e^k",
    )
    .step(
        "eq13",
        rf"\frac{{{_INNER}}}{{16}}+17\sum_{{k=1}}^{{L}}e^{{k-\frac{{k^{{2}}}}{{64G^{{2}}\eta}}}}"
        rf"\leq\frac{{{_INNER}}}{{9}}",
        given=rf"\eta\leq 2^{{-6}}G^{{-2}}/\log(400/{_INNER})",
        uses=("gll22.lem5.5/layers", "gll22.lem5.5/tail-of-Delta", "gll22.lem5.5/seventeen"),
        where="Lemma 5.5, proof, (13), with the printed bound on eta: every part of the infinite sum",
    )
    .corrected("size-of-e", r"e<\frac{2719}{1000}", coverage="step", where="Lemma 5.5, proof, (13)")
    .corrected(
        "eq13", rf"\frac{{{_INNER}}}{{16}}+17\cdot\frac{{eq}}{{1-eq}}\leq\frac{{{_INNER}}}{{9}}",
        given=rf"q\le{_INNER}/1000, e<\frac{{2719}}{{1000}}",
        because="the first term of the sum alone is too large for eta = 2^-6 G^-2 / log(400/delta_inner); 1000 in "
                "place of 400 is enough",
        consequence=PROOF_STEP, true_if="with 1000 in place of 400, which only changes the constant C",
        uses=("gll22.lem5.5/size-of-e", "gll22.lem5.5/layers", "gll22.lem5.5/tail-of-Delta", "gll22.lem5.5/seventeen"),
        where="Lemma 5.5, proof, (13), with 1000: the terms are at most (e q)^k, q = exp(-1/(64 G^2 eta))",
    )
    .step(
        "eq14", rf"{_OUT_FEW}\leq {_OUTSIDE}\cdot 2^{{L}}+{_SUM14}",
        given=rf"{_OUT_FEW}\le p+S, p\leq{_OUTSIDE}\cdot 2^{{L}}, S\leq{_SUM14}",
        where="Lemma 5.5, proof, (14): |rho_<=L| is at most 2^L, or from 2^(kL) to 2^((k + 1) L) for some k",
    )
    .step(
        "number-of-values", r"\sum_{\alpha=1}^{L}\alpha<\frac{L^{2}}{2}",
        where="Lemma 5.5, proof, after (14): only less than L^2 / 2 values f_i(x) and f_i(z)", consequence=PROOF_STEP,
    )
    .corrected(
        "number-of-values", r"\sum_{\alpha=1}^{L}\alpha=\frac{L(L+1)}{2}",
        because="round alpha looks at alpha values, which are L (L + 1) / 2 and more than L^2 / 2",
        where="Lemma 5.5, proof, after (14)",
    )
    .step(
        "one-value", rf"{_ONE}\leq 2e^{{-t^{{2}}/(2\eta G^{{2}})}}", given=rf"{_ONE}\le S+p, "
        r"S\le e^{-t^{2}/(2\eta G^{2})}, p\le e^{-t^{2}/(2\eta G^{2})}", **_AT_2,
        uses=("gaussian-concentration",), where="Lemma 5.5, proof, 18th display: either side",
    )
    .instance(
        "union-bound-for-quarters", r"2\Phi(-\frac{2^{k}/4}{\sqrt{2\eta}G})\leq L^{2}\exp(-\frac{4^{k}}{32\eta G^{2}})",
        given=r"L=1, \eta\leq 2^{-8}G^{-2}L^{-1}", case=_LINEAR, where="Lemma 5.5, proof, 19th display: union bound",
        consequence=PROOF_STEP,
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
        given=r"\eta\leq 2^{-8}G^{-2}L^{-1}", uses=("gaussian-concentration", "gll22.lem5.5/number-of-values"),
        consequence=PROOF_STEP,
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
        "eq15", rf"{_GEOMETRIC}\leq\frac{{{_INNER}}}{{9}}",
        given=rf"{_GEOMETRIC}=\frac{{1}}{{2^{{L}}-1}}, 2^{{L}}\ge 60/{_INNER}", added=(_two,),
        uses=("gll22.lem5.5/rounds", "gll22.lem5.5/sum-of-powers-begins", "gll22.lem5.5/sum-of-powers-goes-on",
              "gll22.lem5.5/exponents-of-eq15", "gll22.lem5.5/choice-of-eta", "gll22.lem5.5/powers-of-four",
              "gll22.lem5.5/large-rho"),
        where="Lemma 5.5, proof, (15), last step",
    )
    .step(
        "leaving-the-interval", rf"{_OUTSIDE}\leq\frac{{2}}{{2^{{L}}}}+{_FEW_OUTSIDE}",
        given=rf"{_OUTSIDE}\le\frac{{1}}{{L!}}+{_FEW_OUTSIDE}, \frac{{1}}{{L!}}\le\frac{{2}}{{2^{{L}}}}", **_DOUBLED,
        uses=("gll22.lem5.5/phase-probability",), where="Lemma 5.5, proof, before (16)",
    )
    .instance(
        "union-bound-for-halves", r"2\Phi(-\frac{1/2}{\sqrt{2\eta}G})\leq L^{2}\exp(-\frac{1}{8\eta G^{2}})",
        given=r"L=1, \eta\leq 2^{-8}G^{-2}L^{-1}", case=_LINEAR, where="Lemma 5.5, proof, 23rd display: union bound",
        consequence=PROOF_STEP,
    )
    .step(
        "half-powers", r"\sum_{\alpha=1}^{L}(\frac{1}{2})^{\alpha}\le 1",
        where="Lemma 5.5, proof, 24th display: the products are at most 2^-alpha, so 0 <= rho_<=L <= 2",
    )
    .step(
        "halves", rf"\frac{{L(L+1)}}{{2}}\cdot 2e^{{-(1/2)^2/(4\eta G^2)}}\leq {_HALVES}",
        given=r"\eta\leq 2^{-8}G^{-2}L^{-1}", uses=("gaussian-concentration", "gll22.lem5.5/number-of-values"),
        consequence=PROOF_STEP, where="Lemma 5.5, proof, 23rd display: the bound of the union and what is printed",
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
        "few-outside", rf"{_FEW_OUTSIDE}\leq {_HALVES}",
        given=rf"{_FEW_OUTSIDE}\le{_ANY_HALF}, {_ANY_HALF}\leq {_HALVES}",
        added=(_half, *_TAILS), uses=("gll22.lem5.5/halves", "gll22.lem5.5/half-powers"),
        where="Lemma 5.5, proof, after the 24th display",
    )
    .corrected(
        "few-outside", rf"{_FEW_OUTSIDE}\leq L(L+1)\exp(-\frac{{1}}{{16\eta G^{{2}}}})",
        given=rf"{_FEW_OUTSIDE}\le{_ANY_HALF}, {_ANY_HALF}\leq L(L+1)\exp(-\frac{{1}}{{16\eta G^{{2}}}})",
        added=(_half, *_TAILS), uses=("gll22.lem5.5/halves", "gll22.lem5.5/half-powers"),
        where="Lemma 5.5, proof, after the 24th display, with the corrected bound",
    )
    .step(
        "eq16-before",
        rf"{_OUTSIDE}\cdot 2^{{L}}\leq 2^{{L}}(L^{{2}}\exp(-\frac{{1}}{{8\eta G^{{2}}}})+\frac{{2}}{{2^{{L}}}})",
        given=rf"{_OUTSIDE}\leq\frac{{2}}{{2^{{L}}}}+{_FEW_OUTSIDE}, "
              rf"{_FEW_OUTSIDE}\leq L^{{2}}\exp(-\frac{{1}}{{8\eta G^{{2}}}})",
        added=(_two, real("tail", gt=0, latex=r"\exp(-\frac{1}{8\eta G^{2}})")),
        uses=("gll22.lem5.5/leaving-the-interval", "gll22.lem5.5/few-outside", "gll22.lem5.5/half-powers"),
        where="Lemma 5.5, proof, (16), first step",
    )
    .step(
        "eq16", rf"2^{{L}}(L^{{2}}\exp(-\frac{{1}}{{8\eta G^{{2}}}})+\frac{{2}}{{2^{{L}}}})\leq\frac{{{_INNER}}}{{9}}",
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
        "eq16", rf"2^{{L}}(\frac{{2\cdot 4^{{L}}}}{{(4^{{L}})^{{4}}}}+\frac{{1}}{{(L+1)!}})\leq\frac{{{_INNER}}}{{9}}",
        given=rf"4^{{L}}=(2^{{L}})^2, 3\cdot 4^{{L}}\le 8(L+1)!, 2^{{L}}\ge 60/{_INNER}",
        added=(_two, _four, _next_factorial),
        because="the loop enters round L + 1 with probability 1/(L + 1)!; the paper bounds it by 2/2^L, which "
                "times 2^L is 2 and not small",
        consequence=PROOF_STEP, true_if="with 1/(L + 1)!, which times 2^L is at most 3/2^L",
        uses=("gll22.lem5.5/rounds", "gll22.lem5.5/factorials-outgrow-fours",
              "gll22.lem5.5/exponential-and-fours", "gll22.lem5.5/few-outside",
              "gll22.lem5.5/more-values", "gll22.lem5.5/half-powers"),
        where="Lemma 5.5, proof, (16), with 1/(L + 1)! and exp(-1/(16 eta G^2)) <= exp(-16 L) <= 4^(-4 L)",
    )
)  # fmt: skip

lem5_5 = (
    _few_rounds
    .condition(
        "eta-for-eq13", rf"\eta\le 2^{{-6}}G^{{-2}}/\log(1000/{_INNER})",
        given=rf"\eta\leq\frac{{1}}{{3072}}\cdot\frac{{1}}{{\log(1/{_INNER})G^2}}, "
              rf"\log(1000/{_INNER})\le\ln(1000)+\log(1/{_INNER}), "
              rf"\log(1/{_INNER})>\frac{{693}}{{1000}}, \ln(1000)<7",
        uses=("gll22.lem5.5/logarithms",),
        where="Lemma 5.5, small enough C: with C = 1/3072 the bounds on eta of the proof hold, here that of (13)",
    )
    .condition(
        "eta-for-eq15", r"\eta\le 2^{-8}G^{-2}L^{-1}\text{ and }\eta\le G^{-2}/8",
        given=rf"\eta\leq\frac{{1}}{{3072}}\cdot\frac{{1}}{{\log(1/{_INNER})G^2}}, "
              rf"L\le 10\log(1/{_INNER})+1, \log(1/{_INNER})>\frac{{693}}{{1000}}",
        where="Lemma 5.5, small enough C: the bounds on eta of (15) and before (12), for L the first integer from "
              "10 log(1/delta_inner) on",
    )
    .whole(
        "accuracy", rf"{_TV}\leq{_INNER}",
        given=rf"{_TV}\leq 3\cdot{_OUT_MORE}+3\cdot{_OUT_FEW}, {_OUT_MORE}\le\frac{{{_INNER}}}{{9}}, "
              rf"{_OUT_FEW}\leq {_OUTSIDE}\cdot 2^{{L}}+{_SUM14}, {_OUTSIDE}\cdot 2^{{L}}\le\frac{{{_INNER}}}{{9}}, "
              rf"{_SUM14}\le\frac{{{_INNER}}}{{9}}",
        uses=("gll22.lem5.5/eq12", "gll22.lem5.5/eq13", "gll22.lem5.5/eq14", "gll22.lem5.5/eq15", "gll22.lem5.5/eq16"),
        where="Lemma 5.5, proof, combining (12) to (16)",
    )
    .whole(
        "acceptance",
        rf"{_EXt}\geq{_EX}-{_OFF}\geq\frac{{2}}{{3}}-\frac{{{_INNER}}}{{3}}\geq\frac{{1}}{{3}}",
        given=rf"|{_EX}-({_EXt})|\le{_OFF}, {_EX}\ge\frac{{2}}{{3}}, 3\cdot{_OFF}\le{_INNER}",
        uses=("gll22.lem5.5/two-thirds", "gll22.lem5.5/three-times", "gll22.lem5.5/accuracy"),
        where="Lemma 5.5, proof, acceptance probability: E X~ / 2, so 6 rounds are enough on average",
    )
    .step(
        "values-in-a-round", r"\sum_{\alpha=1}^{L}\frac{2\cdot 2}{2^{\alpha-1}}\le 8",
        uses=("gll22.lem5.3/next-round", "gll22.lem5.5/phase-probability"),
        where="Lemma 5.5, number of values: 2 alpha of them with probability 1/alpha!, and 1/(alpha - 1)! <= "
              "2/2^(alpha - 1)",
    )
    .whole(
        "number-of-values-on-average", r"N\le 48", added=(real("N", ge=0), real("V", ge=0)),
        given=rf"N=\frac{{V}}{{p}}, V\le 8, p=\frac{{1}}{{2}}{_EXt}, {_EXt}\ge\frac{{1}}{{3}}",
        uses=("wald", "gll22.lem5.5/values-in-a-round", "gll22.lem5.5/acceptance"),
        where="Lemma 5.5, O(1) values on average: at most 48",
    )
    .whole(
        "number-of-samples-on-average", r"N\le 12", added=(real("N", ge=0),),
        given=rf"N=\frac{{2}}{{p}}, p=\frac{{1}}{{2}}{_EXt}, {_EXt}\ge\frac{{1}}{{3}}",
        uses=("wald", "gll22.lem5.5/acceptance"), where="Lemma 5.5, O(1) samples on average: at most 12",
    )
)  # fmt: skip

STATEMENTS = (lem5_5.statement,)
