"""gll22, Section 7.1: a lower bound on the number of values that stochastic convex optimization needs."""

from __future__ import annotations

from dpverify.formulas.expressions import integer, real
from dpverify.formulas.units import NATS
from dpverify.formulas.vectors import vector
from dpverify.statements.gll22.symbols import d
from dpverify.statements.sheet import Sheet

# the set is the unit ball, so that lengths are numbers
_E = r"\operatorname*{\mathbb{E}}"
_delta = real("delta", gt=0, latex=r"\delta", meaning="size of a mean's coordinate", stands_for="number")
_sigma = real("sigma", gt=0, latex=r"\sigma", meaning="standard deviation of a record, per coordinate")
_G, _D = (
    real("G", gt=0, meaning="root mean square of a gradient", stands_for="number"),
    real("D", gt=0, meaning="diameter"),
)
_k = integer("k", ge=1, meaning="number of values")
_x, _v, _u = (vector(name) for name in "xvu")
_r = real("r", gt=0)
_h = real("h", ge=0, latex=r"\sum_{j=1}^{d}\mathbbm{1}\{\mathrm{sign}(\widehat{x}_{j})\neq\mathrm{sign}(x^{v}_{j})\}",
          meaning="number of wrong signs")  # fmt: skip
_F = real("F", latex=r"\widehat{F}_{v}(\widehat{x})")
_F_best = real("F_best", latex=r"\widehat{F}_{v}(x^{v})")
_R = real("R", gt=0)
_CLAIM = rf"\widehat{{F}}_{{v}}(\widehat{{x}})-\widehat{{F}}_{{v}}(x^{{v}})\geq\frac{{\delta}}{{2\sqrt{{d}}}}{_h.latex}"
_OUTSIDE = r"-\delta Rd+\delta\sqrt{d}\geq\frac{\delta}{2\sqrt{d}}\cdot 0"

claim7_2 = (
    Sheet(
        "gll22.claim7.2", (d, _delta, _x, _v, _u, _r, _h, _F, _F_best, _R),
        title="Wrong signs cost risk", where="Claim 7.2", latex=_CLAIM, pairs=("gll22.lower-instance", "gll22.thm7.1"),
    )
    .step("smallest-value", r"\langle x,v\rangle\ge -r", given=r"\|v\|\le r, \|x\|\le 1",
          where="Claim 7.2: F_v(x) = delta <x, v> is at least -delta sqrt(d) on the ball, as ||v|| = sqrt(d)")
    .step("value-of-the-minimizer", r"\langle -v/r,v\rangle=-r", given=r"\|v\|^2=r^2",
          where="Claim 7.2, obviously: x^v = -v / sqrt(d), with r = sqrt(d)")
    .step("right-signs", r"\langle x,v\rangle\ge -r",
    given=r"\langle x,v\rangle\ge\langle x,u\rangle, \|u\|\le r, \|x\|\le 1",
          where="Claim 7.2, a proof: u is v where the sign is right; elsewhere x_j v_j >= 0; r^2 = d - h")
    .step("root", r"\frac{r}{2\sqrt{d}}\le\sqrt{d}-\sqrt{d-r}", given=r"r\le d",
    where="Claim 7.2, a proof, with r wrong signs")
    .whole(
        "on-the-ball", _CLAIM,
        given=rf"\widehat{{F}}_{{v}}(\widehat{{x}})\ge -\delta\sqrt{{d-r}}, \widehat{{F}}_{{v}}(x^{{v}})"
              rf"=-\delta\sqrt{{d}}, {_h.latex}=r, \frac{{r}}{{2\sqrt{{d}}}}\le\sqrt{{d}}-\sqrt{{d-r}}, r\le d",
        uses=("gll22.claim7.2/value-of-the-minimizer", "gll22.claim7.2/right-signs", "gll22.claim7.2/root"),
        where="Claim 7.2, for points of the ball and one wrong sign or more; without one, x^v is best",
    )
    .instance(
        "anywhere", _OUTSIDE, case="the point -R v, all of whose signs are right",
        where="Claim 7.2: any solution in R^d", true_if="for points of the unit ball, where it is used",
    )
    .corrected(
        "anywhere", _OUTSIDE, given=r"R\le\frac{1}{\sqrt{d}}", case="the point -R v, in the unit ball",
        because="outside of the unit ball F_v is not bounded from below; the claim is used on the ball only",
        catches=("the minimizer's value is lost", r"-\delta Rd\geq\frac{\delta}{2\sqrt{d}}\cdot 0"),
        where="Claim 7.2, on the ball",
    )
)  # fmt: skip

_P = r"\|\mathbb{P}_{1,j}-\mathbb{P}_{-1,j}\|"
_HAMMING = rf"{_E}[d_{{H}}(\widehat{{v}},v)]"
_RISKS = r"\sum_{j=1}^{d}B_{j}"
_OVERLAPS = rf"\sum_{{j=1}}^{{d}}(1-{_P}_{{\mathrm{{TV}}}})"
_SQUARES = rf"\sum_{{j=1}}^{{d}}{_P}_{{\mathrm{{TV}}}}^{{2}}"
_SQUARES_HERE = rf"\sum_{{j=1}}^{{d}}{_P}^{{2}}_{{\mathrm{{TV}}}}"
_KL = r"\mathrm{D}_{KL}(\mathbb{P}_{-1,j}\|\mathbb{P}_{1,j})"
_hamming = real("H", ge=0, latex=_HAMMING)
_risks, _overlaps = real("risks", ge=0, latex=_RISKS), real("overlaps", ge=0, latex=_OVERLAPS)
_squares = real("squares", ge=0, latex=_SQUARES)
_kl = real("KL", ge=0, unit=NATS, latex=_KL)
_S = real("S", ge=0, meaning="sum of the total variations")
_K = real("K", ge=0, unit=NATS, meaning="sum of the divergences", stands_for="functional")
_pi1, _pi2 = (real(f"pi{i}", ge=0, le=1, latex=rf"\pi_{{{sign}1}}") for i, sign in ((1, ""), (2, "-")))
_p1, _p2 = (real(f"p{i}", ge=0, latex=f"p_{i}", meaning="a density at one point") for i in (1, 2))
_B = real("B", ge=0, meaning="Bayes risk")
_TV = real("TV", ge=0, le=1, latex=r"\|\mathbb{P}_{1}-\mathbb{P}_{-1}\|_{\mathrm{TV}}")
_q, _m = (
    real("q", latex="Q_{i}^{t}(j)", meaning="coordinate of a query"),
    real("m", meaning="the other coordinates' part"),
)
_w = real("w", ge=0, le=1, latex=r"\sum_{i=1}^{n}\|Q_{i}^{t}\|_{2}^{2}")
_BOUND = r"\frac{d}{2}\left(1-\frac{\delta\sqrt{k}}{\sigma\sqrt{d}}\right)"
_OF_SQUARES = rf"\frac{{d}}{{2}}\left(1-\frac{{1}}{{\sqrt{{d}}}}\sqrt{{{_SQUARES_HERE}}}\right)"

_MIXED = r"\sum_{v^{\prime}}\Pr[v^{\prime}]\mathrm{D}_{KL}(\mathbb{P}_{-1,j,v^{\prime}}\|\mathbb{P}_{1,j,v^{\prime}})"
_mixed = real("mixed", ge=0, unit=NATS, latex=_MIXED)
_totals = tuple(real(f"m{i}", ge=0, unit=NATS, latex=f"m_{i}") for i in (1, 2))
_a, _c_mass, _ratio = real("a", gt=0), real("c", gt=0), real("r", gt=0)
_query, _earlier, _record = vector("x"), vector("z"), vector("w")
_coefficient, _length = real("c"), real("l", gt=0, latex=r"\ell")

lem7_4 = (
    Sheet(
        "gll22.lem7.4",
        (d, _k, _delta, _sigma, _hamming, _risks, _overlaps, _squares, _kl, _S, _K, _pi1, _pi2, _p1, _p2, _B, _TV,
         _q, _m, _w),
        title="Hamming error of a sign estimate", where="Lemma 7.4", latex=rf"{_HAMMING}\geq{_BOUND}",
        pairs=("gll22.claim7.2", "gll22.thm7.1"),
    )
    .step("overlap", r"\min(\pi_{-1},\pi_{1})\min(p_1,p_2)\le\min(\pi_{-1}p_1,\pi_{1}p_2)",
          where="Lemma 7.3, at each point: the Bayes risk is the integral of the right side")
    .step(
        "bayes-risk", rf"B\geq\min(\pi_{{-1}},\pi_{{1}})(1-{_TV.latex})",
        given=rf"B\ge\min(\pi_{{-1}},\pi_{{1}})S, S=1-{_TV.latex}", uses=("neyman-pearson", "scheffe",
        "gll22.lem7.4/overlap"),
        where="Lemma 7.3",
    )
    .step(
        "sum-of-risks", rf"{_HAMMING}\geq {_RISKS}\geq \pi_{{1}}{_OVERLAPS}",
        given=rf"{_HAMMING}\geq {_RISKS}, {_RISKS}\geq\pi_{{1}}{_OVERLAPS}", uses=("gll22.lem7.4/bayes-risk",),
        where="Lemma 7.4, proof, first display, lines 1 and 2",
    )
    .step(
        "cauchy-schwarz", rf"\pi_{{1}}{_OVERLAPS}\geq {_OF_SQUARES}",
        given=rf"\pi_{{1}}=1/2, {_OVERLAPS}=d-S, S^2\le d{_SQUARES}", uses=("cauchy-schwarz",),
        where="Lemma 7.4, proof, first display, line 3",
    )
    .step(
        "one-coordinate-s-divergence",
        r"\frac{(\delta\cdot(Q_{i}^{t}(j)+m)-\delta\cdot(-Q_{i}^{t}(j)+m))^2}{2\sigma^2}"
        r"=\frac{1}{2}(2\delta Q_{i}^{t}(j))^{2}/\sigma^{2}",
        uses=("fmtt18.def10",),
        where="Claim 7.5, proof, 4th display: Gaussians of variance sigma^2, for a query of length 1, whose means are "
              "2 delta Q(j) apart",
    )
    .step(
        "tangent-of-the-logarithm", r"a\ln(\frac{a}{c})\ge a\ln(r)+a-cr", added=(_a, _c_mass, _ratio),
        where="Claim 7.5, proof, 2nd display, at one v' and one Y: a and c are the masses under P_-1 and P_1, and r is "
              "the ratio of their sums over v'",
    )
    .step(
        "convexity", rf"{_KL}\leq {_MIXED}", given=rf"{_MIXED}\ge {_KL}+m_1-m_2, m_1=1, m_2=1",
        added=(_mixed, *_totals), uses=("gll22.lem7.4/tangent-of-the-logarithm", "integral-is-monotone"),
        where="Claim 7.5, proof, 2nd display: the sum over v' and Y of the row before, where a ln r sums to the "
              "divergence of the mixtures, and a and c r to m_1 and m_2, the mass of P_-1",
    )
    .step(
        "orthogonal-queries", r"\langle x-cz,z\rangle=0", given=r"c=\langle x,z\rangle, \|z\|^2=1",
        added=(_query, _earlier, _coefficient),
        where="Claim 7.5, proof, without loss of generality: x is the query that the algorithm wants, z an earlier one "
              "about the same record; x - c z is asked instead, over its length",
    )
    .step(
        "value-of-the-wanted-query", r"\langle x,w\rangle=c\langle z,w\rangle+\ell\langle\frac{1}{\ell}(x-cz),w\rangle",
        added=(_query, _earlier, _record, _coefficient, _length),
        uses=("gll22.lem7.4/orthogonal-queries",),
        where="Claim 7.5, proof, without loss of generality: the value of the wanted query follows from those of z and "
              "of the query that is asked, for every record w",
    )
    .step(
        "chain-rule-at-a-point", r"\ln(\frac{a_1b_1}{a_2b_2})=\ln(\frac{a_1}{a_2})+\ln(\frac{b_1}{b_2})",
        added=tuple(real(name, gt=0, latex=latex) for name, latex in
                    (("a1", "a_1"), ("a2", "a_2"), ("b1", "b_1"), ("b2", "b_2"))),
        uses=("divergence-chain-rule",),
        where="Claim 7.5, proof, 3rd display, from t - 1 to t values: a are the densities of the first t - 1 values "
              "and b "
              "those of the next given them; the mean under P_-1 of the left side is the divergence of t values",
    )
    .step(
        "pinsker", rf"{_P}_{{\mathrm{{TV}}}}^{{2}}\leq\frac{{1}}{{2}}{_KL}",
        given=rf"{_P}_{{\mathrm{{TV}}}}\le\sqrt{{\frac{{1}}{{2}}{_KL}}}", uses=("pinsker",),
        added=(real("TV_j", ge=0, le=1, latex=rf"{_P}_{{\mathrm{{TV}}}}"),), where="Claim 7.5, proof, first sentence",
    )
    .step(
        "pinsker-and-sum", rf"{_SQUARES}\leq \frac{{1}}{{2}}{_KL}", given=rf"{_SQUARES}\le\frac{{1}}{{2}}K, {_KL}\le K",
        uses=("gll22.lem7.4/pinsker",), true_if="with the sum over j on both sides",
        where="Claim 7.5, proof, 5th display, line 1: the sum over j is missing on the right",
    )
    .corrected(
        "pinsker-and-sum", rf"{_SQUARES}\leq \frac{{1}}{{2}}K", given=rf"{_SQUARES}\le S, S\le\frac{{1}}{{2}}K",
        uses=("gll22.lem7.4/pinsker",),
        because="the sum over the coordinates is missing on the right of the 5th display, line 1",
        where="Claim 7.5, proof, 5th display, line 1, with the sum over j",
    )
    .step(
        "all-queries",
        rf"\frac{{1}}{{2}}k\cdot\frac{{1}}{{2}}(2\delta)^{{2}}{_w.latex}/\sigma^{{2}}"
        rf"\leq \frac{{\delta^{{2}}}}{{\sigma^{{2}}}}k",
        where="Claim 7.5, proof, 5th display, lines 2 and 3: one query of length at most 1 per step",
    )
    .step(
        "eq18", rf"{_SQUARES}\leq\frac{{\delta^{{2}}}}{{\sigma^{{2}}}}k",
        given=rf"{_SQUARES}\le\frac{{1}}{{2}}K, \frac{{1}}{{2}}K\le\frac{{\delta^2}}{{\sigma^2}}k",
        uses=("gll22.lem7.4/chain-rule-at-a-point", "gll22.lem7.4/convexity",
              "gll22.lem7.4/value-of-the-wanted-query", "gll22.lem7.4/one-coordinate-s-divergence",
              "gll22.lem7.4/pinsker-and-sum", "gll22.lem7.4/all-queries"),
        where="(18) and Claim 7.5",
    )
    .whole(
        "bound", rf"{_HAMMING}\geq{_BOUND}",
        given=rf"{_HAMMING}\ge {_OF_SQUARES}, {_SQUARES}\leq\frac{{\delta^{{2}}}}{{\sigma^{{2}}}}k",
        uses=("gll22.lem7.4/sum-of-risks", "gll22.lem7.4/cauchy-schwarz", "gll22.lem7.4/eq18"), where="Lemma 7.4",
    )
)  # fmt: skip

_GAP = r"\varepsilon_{k}^{*}(\mathcal{P}_{G},\mathcal{K})"
_BEST = rf"\inf_{{\widehat{{v}}}}{_E}[d_{{H}}(\widehat{{v}},v)]"
_gap, _best = real("gap", latex=_GAP), real("H_best", ge=0, latex=_BEST)
_MIN = r"\min\left\{1,\sqrt{\frac{d}{4k}}\right\}"
_q1 = real("q", ge=0)
_s, _c = real("s", ge=0, meaning="delta sqrt(d) / G"), real("c", gt=0, meaning="sigma sqrt(d) / G")
_ROOTED = r"\frac{GD}{16\sqrt{1+\frac{4k}{d}}}"

_OF_ONE = (
    rf"{_E}_{{s\sim\mathcal{{P}}}}\Big{{[}}{_E}_{{\mathcal{{D}}\sim\mathcal{{P}}^{{n}},\mathcal{{A}}}}f(\widehat{{x}};s)]"
    rf"\Big{{]}}-\min_{{x\in\mathcal{{K}}}}{_E}_{{s\sim\mathcal{{P}}}}[f(x;s)]"
)
_of_one = real("of_one", latex=_OF_ONE)

_chosen = (
    Sheet("gll22.thm7.1", (d, _k, _G, _D))
    .define(r"\sigma", r"\frac{G}{\sqrt{d+d^{2}/4k}}", reading="/(4k)")
    .define(r"\delta", r"\frac{\sigma\sqrt{d}}{2\sqrt{k}}")
    .condition("second-moment-is-allowed", r"d(\sigma^{2}+\delta^{2})=G^{2}",
               where="Theorem 7.1, proof: delta and sigma as they are set")
    .step("with-delta", rf"\frac{{D\delta\sqrt{{d}}}}{{16}}={_ROOTED}", where="Theorem 7.1, proof, 3rd display")
)  # fmt: skip

_thm7_1 = (
    Sheet(
        "gll22.thm7.1", (d, _k, _delta, _sigma, _G, _D, _gap, _best, _s, _c, _h, _F, _F_best),
        title="Lower bound on value queries", where="Theorem 7.1", latex=rf"{_GAP}\geq\frac{{GD}}{{16}}{_MIN}",
        pairs=("gll22.lower-instance", "gll22.claim7.2", "gll22.lem7.4", "gll22.cor7.6"),
    )
    .step("second-moment", r"d\delta^2+d\sigma^2=(\delta^{2}+\sigma^{2})d", uses=("gaussian-second-moment",),
          where="Theorem 7.1, reduction, display: E ||s||^2 for s from N(delta v, sigma^2 I), ||v||^2 = d")
    .step(
        "eq17", rf"{_GAP}\geq\frac{{\delta}}{{2\sqrt{{d}}}}\{{{_BEST}\}}",
        given=rf"{_GAP}\ge\frac{{\delta}}{{2\sqrt{{d}}}}c, c\ge {_BEST}", uses=("yao", "gll22.claim7.2"),
        where="(17): c is the smallest mean number of wrong signs, of a deterministic algorithm",
    )
    .reference(
        "claim-7.2", _CLAIM,
        given=rf"\widehat{{F}}_{{v}}(\widehat{{x}})-\widehat{{F}}_{{v}}(x^{{v}})\ge\frac{{\delta}}{{2\sqrt{{d}}}}s, "
              rf"{_h.latex}=s",
        uses=("gll22.claim7.2",), where="Theorem 7.1, proof, 1st display: Claim 7.2 again",
    )
    .step(
        "hamming",
        rf"{_GAP}\geq \frac{{\delta}}{{2\sqrt{{d}}}}{_BEST}"
        rf"\geq \frac{{\delta\sqrt{{d}}}}{{4}}\left(1-\frac{{\delta\sqrt{{k}}}}{{\sigma\sqrt{{d}}}}\right)",
        given=rf"{_GAP}\geq \frac{{\delta}}{{2\sqrt{{d}}}}{_BEST}, {_BEST}\ge{_BOUND}",
        uses=("gll22.thm7.1/eq17", "gll22.lem7.4"), where="(17) and Theorem 7.1, proof, 2nd display",
    )
    .step("half-is-left", rf"{_GAP}\geq\frac{{\delta\sqrt{{d}}}}{{8}}",
          given=rf"{_GAP}\ge\frac{{\delta\sqrt{{d}}}}{{4}}(1-\frac{{\delta\sqrt{{k}}}}{{\sigma\sqrt{{d}}}}), "
                r"\delta=\frac{\sigma\sqrt{d}}{2\sqrt{k}}",
          uses=("gll22.thm7.1/hamming",), where="Theorem 7.1, proof, 3rd display, first step")
    .step("diameter", r"\frac{\delta\sqrt{d}}{8}=\frac{D\delta\sqrt{d}}{16}", given="D=2",
    where="Theorem 7.1, proof, 3rd display")
)  # fmt: skip

_mean, _answer = vector("m"), vector("x")
_M = real("M", ge=0, meaning="mean of ||m||^2, m being the mean of v given the values")
_left = real("w", meaning="sqrt(d) less the mean of ||m||")
_LEMMA = "gll22.lem7.4/"

thm7_1 = (
    _thm7_1.including(_chosen)
    .step(
        "last-step", rf"{_ROOTED}\geq\frac{{GD}}{{16}}{_MIN}",
        where="Theorem 7.1, proof, 3rd display, last step: the root of a sum is larger than that of either part",
    )
    .corrected(
        "last-step", rf"{_ROOTED}\geq\frac{{GD}}{{16\sqrt{{2}}}}{_MIN}",
        because="1/sqrt(1 + 4k/d) is smaller than 1 and than sqrt(d/(4k)); the proof gives the bound with 16 "
                "sqrt(2) in place of 16, and 16 itself follows if the risk is bounded by the mean of v given the "
                "values, and not by the number of wrong signs",
        true_if="with 16 sqrt(2) in place of 16",
        where="Theorem 7.1, proof, 3rd display, with 16 sqrt(2)",
    )
    .corrected(
        "no-choice-gives-16", r"2s(1-\frac{s}{2c})<1", given="s^2+c^2=1", coverage="step",
        where="Theorem 7.1, proof, 2nd display for 4k = d, over G/8: no delta and sigma give the printed constant",
    )
    .corrected(
        "bound-by-wrong-signs", rf"{_GAP}\geq\frac{{GD}}{{16\sqrt{{2}}}}{_MIN}", coverage="step",
        given=rf"{_GAP}\ge\frac{{\delta\sqrt{{d}}}}{{8}}, D=2, q=\frac{{D\delta\sqrt{{d}}}}{{16}}, "
              rf"q\ge\frac{{GD}}{{16\sqrt{{2}}}}{_MIN}", added=(_q1,),
        uses=("gll22.thm7.1/hamming", "gll22.thm7.1/second-moment", "gll22.thm7.1/second-moment-is-allowed",
              "gll22.thm7.1/half-is-left", "gll22.thm7.1/diameter", "gll22.thm7.1/with-delta",
              "gll22.thm7.1/last-step"),
        where="Theorem 7.1, with 16 sqrt(2), from the 3rd display; q is its last but one part",
    )
    .step(
        "answer-against-the-mean", r"\langle x,m\rangle\ge-\|m\|", given=r"\|x\|\le 1", added=(_mean, _answer),
        uses=("cauchy-schwarz",),
        where="Theorem 7.1, another proof: given the values, an answer x has the mean risk delta <x, m> + delta "
              "sqrt(d), m being the mean of v",
    )
    .step(
        "square-of-a-mean-sign", r"\frac{p_1+p_2}{2}(\frac{p_1-p_2}{p_1+p_2})^2\le\frac{|p_1-p_2|}{2}",
        given="p_1+p_2>0", added=(_p1, _p2), uses=("scheffe",),
        where="Theorem 7.1, another proof, at each Y: m_j = (p_1 - p_2)/(p_1 + p_2) for the densities under P_1,j and "
              "P_-1,j; the integral of the right side is their total variation",
    )
    .step(
        "squares-of-all-mean-signs", r"M\le\frac{d}{2}",
        given=rf"M\le S, S^2\le d{_SQUARES}, {_SQUARES}\leq\frac{{\delta^{{2}}}}{{\sigma^{{2}}}}k, "
              r"\delta=\frac{\sigma\sqrt{d}}{2\sqrt{k}}",
        added=(_M, _S, _squares), uses=("cauchy-schwarz", _LEMMA + "eq18", "gll22.thm7.1/square-of-a-mean-sign"),
        where="Theorem 7.1, another proof, with the printed delta; S is the sum of the total variations",
    )
    .step(
        "share-that-is-left", r"w\ge\frac{29}{100}\sqrt{d}", given=r"w\ge\sqrt{d}-\sqrt{M}, M\le\frac{d}{2}",
        added=(_M, _left), uses=("jensen", "gll22.thm7.1/squares-of-all-mean-signs"),
        where="Theorem 7.1, another proof: the mean of ||m|| is at most the root of the mean of its square",
    )
    .step(
        "share-of-the-minimum", rf"\frac{{1}}{{\sqrt{{1+\frac{{4k}}{{d}}}}}}\ge\frac{{7}}{{10}}{_MIN}",
        where="Theorem 7.1, another proof: delta sqrt(d) over G, for the printed delta and sigma",
    )
    .whole(
        "bound", rf"{_GAP}\geq\frac{{GD}}{{16}}{_MIN}",
        given=rf"{_GAP}\ge\delta w, w\ge\frac{{29}}{{100}}\sqrt{{d}}, \delta\sqrt{{d}}=Gq, "
              rf"q\ge\frac{{7}}{{10}}{_MIN}, D=2",
        added=(_left, _q1),
        uses=("yao", "gll22.thm7.1/answer-against-the-mean", "gll22.thm7.1/share-that-is-left",
              "gll22.thm7.1/share-of-the-minimum", "gll22.thm7.1/second-moment",
              "gll22.thm7.1/second-moment-is-allowed", "gll22.thm7.1/with-delta", "gll22.thm7.1/diameter"),
        where="Theorem 7.1, another proof, with the printed delta and sigma; q is 1/sqrt(1 + 4k/d)",
    )
    .whole(
        "for-one-algorithm", rf"{_OF_ONE}\geq\frac{{GD}}{{16}}{_MIN}",
        given=rf"{_OF_ONE}\ge{_GAP}, {_GAP}\ge q, q\ge\frac{{GD}}{{16}}{_MIN}", added=(_of_one, _q1),
        uses=("gll22.thm7.1/bound",),
        where="Theorem 7.1, in particular: the worst of the finitely many v is at least as bad as what the proof shows",
    )
)  # fmt: skip

STATEMENTS = tuple(sheet.statement for sheet in (claim7_2, lem7_4, thm7_1))
