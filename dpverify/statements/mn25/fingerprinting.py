"""mn25, Appendix C.1.1: private mean estimation with few records, by fingerprinting."""

from __future__ import annotations

from dpverify.formulas.expressions import Variable, integer, real
from dpverify.formulas.units import NATS
from dpverify.statements.mn25.symbols import d, n
from dpverify.statements.sheet import CONSTANT, EDGE, Sheet


def _letter(name: str, latex: str, meaning: str = "") -> Variable:
    return real(name, latex=latex, meaning=meaning)


def _positive(name: str, latex: str, meaning: str = "") -> Variable:
    return real(name, ge=0, latex=latex, meaning=meaning, stands_for="functional")


def _chance(name: str, event: str) -> Variable:
    return real(name, ge=0, le=1, latex=rf"\underset{{}}{{\mathbb{{P}}}}\left[{event}\right]")


_level = real("l", gt=0, unit=NATS, meaning="ln(1/delta)", latex=r"\log(1/\delta)", stands_for="number")
_delta = real("delta", gt=0, lt=1, latex=r"\delta")
_epsilon = real("epsilon", ge=0, unit=NATS, latex=r"\epsilon")
_s = real("s", ge=0, meaning="expected number of records that are looked at")
_tau = real("tau", ge=0, meaning="a threshold", latex=r"\tau")
_large_d = integer("d", ge=6, meaning="dimension")
_high_seen, _high, _high_unseen = (
    _chance("P_seen", r"Z_{i}\geq\tau|i\in I"), _chance("P_high", r"Z_{i}\geq\tau"),
    _chance("P_unseen", r"Z_{i}\geq\tau|i\notin I"),
)  # fmt: skip
_fresh, _seen, _unseen = (
    _chance("P_fresh", r"Z_{i}^{\prime}\geq\tau"), _chance("seen", r"i\in I"), _chance("unseen", r"i\notin I"),
)  # fmt: skip
_above = _chance("P_above", r"Z_{j}>\tau|i\in I")
_mean = _letter("Z", r"\underset{\mathcal{A},S}{\mathbb{E}}\left[Z_{i}\right]")
_mean_seen, _mean_unseen = (
    _letter(name, rf"\underset{{}}{{\mathbb{{E}}}}\left[Z_{{j}}|{where}\right]")
    for name, where in (("Z_seen", r"i\in I"), ("Z_unseen", r"i\notin I"))
)
_all = _letter("Z_all", r"\underset{\mathcal{A},S}{\mathbb{E}}\left[\sum_{i=1}^{n}Z_{i}\right]")
_sum_seen = _positive("sum_seen", r"\sum_{i=1}^{n}\underset{}{\mathbb{P}}\left[i\in I\right]")
_looked_at = _positive(
    "looked_at", r"\underset{}{\mathbb{E}}\left[|I|\right]", "mean number of records looked at"
)
_bias, _error = (
    _positive("bias", r"\|\underset{}{\mathbb{E}}\left[\mathcal{A}(S)\right]-\theta\|"),
    _positive(
        "error", r"\underset{}{\mathbb{E}}\left[\|\mathcal{A}(S)-\frac{1}{n}\sum_{i=1}^{n}X_{i}\|\right]"
    ),
)
_bias_by_mean = _positive(
    "bias_by_mean", r"\|\underset{}{\mathbb{E}}\left[\mathcal{A}(S)-\frac{1}{n}\sum_{i=1}^{n}X_{i}\right]\|"
)
_one, _other = (_positive(f"e{i}", f"e_{i}", "bias at one of two values of Theta") for i in "12")
_D = real("D", ge=0, meaning="delta")
_norm = _positive("A", "A", "norm of the estimate")
_entries = _positive("Y", "Y", "squared length of X_i - theta")
_ROOT = r"\sqrt{3d\log(1/\delta)}"
_sum = _letter("Z_sum", r"\mathbb{E}\Big[\sum_{i=1}^{n}Z_{i}\Big]")
_SUM = r"\mathbb{E}\Big[\Big\langle\mathcal{A}(S),\sum_{i=1}^{n}X_{i}-\Theta\Big\rangle\Big]"
_correlation = _letter("correlation", _SUM)
_accuracy = _positive(
    "accuracy", r"\underset{\Theta,\mathcal{A},S}{\mathbb{E}}\left[\Big\|\mathcal{A}(S)-\frac{1}{n}"
    r"\sum_{i=1}^{n}X_{i}\Big\|\right]",
)  # fmt: skip
_mean_bias = _positive(
    "mean_bias", r"\underset{\Theta}{\mathbb{E}}\left[\Big\|\underset{S\sim\mathcal{D}_{\Theta}}{\mathbb{E}}"
    r"\left[\mathcal{A}(S)\right]-\Theta\Big\|\right]",
)  # fmt: skip
_BOUND = r"\frac{\sqrt{d}}{18\sqrt{\log(1/\delta)}}"

lem14 = (
    Sheet(
        "mn25.lem14",
        (n, d, _level, _epsilon, _s, _tau, _high_seen, _high, _high_unseen, _fresh, _seen, _unseen, _above, _mean,
         _mean_seen, _mean_unseen, _all, _sum_seen, _looked_at, _bias, _error, _bias_by_mean, _one, _other, _norm,
         _entries),
        title="Private mean estimation with few records",
        where="Lemma 14",
        latex=(
            r"\delta\le\frac{1}{12nd},\ \epsilon\le\log(1/\delta)\implies\mathbb{E}\left\|\mathcal{A}(S)-\frac{1}{n}"
            r"\sum_{i=1}^{n}X_i\right\|\ge\frac{1}{6}\text{ or }s\ge\frac{\sqrt{d}}{18\sqrt{\log(1/\delta)}}"
        ),
        pairs=("mn25.lem15", "mn25.thm6", "mn25.fingerprint"),
    )
    .define(r"\delta", r"e^{-\log(1/\delta)}")
    .step(
        "two-cases", rf"{_high_seen.latex}{_seen.latex}={_high.latex}-{_high_unseen.latex}{_unseen.latex}",
        given=rf"{_high.latex}={_high_seen.latex}{_seen.latex}+{_high_unseen.latex}{_unseen.latex}",
        where="Lemma 14, proof, 2nd display, line 1",
    )
    .step(
        "privacy", rf"{_high.latex}-{_high_unseen.latex}{_unseen.latex}\leq E{_fresh.latex}+D",
        given=rf"{_high.latex}\le E{_fresh.latex}+D", added=(real("E", ge=1), _D),
        where="Lemma 14, proof, 2nd display, line 2, E = exp(epsilon) and D = delta",
    )
    .step(
        "hoeffding", r"\epsilon-\frac{\tau^2}{2A^2}\le\epsilon-\frac{\tau^{2}}{8d}",
        given=r"A^2\le d, A>0", uses=("hoeffding",),
        where="Lemma 14, proof, 2nd display, line 3, the exponents, for estimates of norm A; they may be cut "
              "to sqrt(d)",
    )
    .step(
        "threshold", r"\exp\big({\epsilon-\frac{\tau^{2}}{8d}}\big)+\delta\le 2\delta",
        given=rf"\tau={_ROOT}, \epsilon\leq\log(1/\delta), \delta\leq\frac{{1}}{{12nd}}",
        where="Lemma 14, proof, after the 2nd display",
    )
    .corrected(
        "threshold", r"\epsilon-\frac{\tau^2}{2d}\le-\log(1/\delta)",
        given=r"\tau=2\sqrt{d\log(1/\delta)}, \epsilon\leq\log(1/\delta)",
        because="exp(epsilon - 3/8 log(1/delta)) is above delta even for epsilon = 0; 2 sqrt(d log(1/delta)) does, "
                "with the 2 of Hoeffding's inequality in place of the 8",
        consequence=CONSTANT,
        where="Lemma 14, proof, after the 2nd display: the exponents, for tau = 2 sqrt(d log(1/delta))",
    )
    .step(
        "mean-in-two-cases", rf"{_mean.latex}={_mean_seen.latex}{_seen.latex}+{_mean_unseen.latex}{_unseen.latex}"
        rf"={_mean_seen.latex}{_seen.latex}",
        given=rf"{_mean.latex}={_mean_seen.latex}{_seen.latex}+{_mean_unseen.latex}{_unseen.latex}, "
              rf"{_mean_unseen.latex}=0",
        where="Lemma 14, proof, 3rd display, lines 1 and 2: a record that is not looked at is independent of the "
              "output",
    )
    .step(
        "largest-statistic", r"A\sqrt{Y}\le 2d", given=r"A^2\le d, Y\le 4d",
        where="Lemma 14, proof, 3rd display, line 3: Z is at most 2 d",
    )
    .step(
        "tail", rf"{_mean_seen.latex}{_seen.latex}\leq{_seen.latex}\left({{{_ROOT}+2d{_above.latex}}}\right)",
        given=rf"{_mean_seen.latex}\le(1-{_above.latex}){_ROOT}+2d{_above.latex}",
        where="Lemma 14, proof, 3rd display, line 3",
    )
    .step(
        "tail-by-delta",
        rf"{_seen.latex}\left({{{_ROOT}+2d{_above.latex}}}\right)\leq{_seen.latex}{_ROOT}+4dD",
        given=rf"{_above.latex}{_seen.latex}\le 2D", added=(_D,),
        where="Lemma 14, proof, 3rd display, line 4, D = delta",
    )
    .step(
        "sum", rf"4nd\delta+{_ROOT}{_sum_seen.latex}\le 4de^{{\epsilon}}\delta+{_ROOT}{_sum_seen.latex}",
        given=r"\delta\leq\frac{1}{12nd}, \epsilon\leq\log(1/\delta)",
        where="Lemma 14, proof, 4th display, line 1", true_if="with n in place of exp(epsilon)",
    )
    .corrected(
        "sum", rf"{_all.latex}\le 4ndD+{_ROOT}{_sum_seen.latex}", added=(_D,),
        given=rf"{_all.latex}\le n\cdot 4dD+{_ROOT}{_sum_seen.latex}",
        because="the sum has n terms 4 d delta, as in its next line", where="Lemma 14, proof, 4th display, line 1",
    )
    .step(
        "number-of-records", rf"4nd\delta+{_ROOT}{_looked_at.latex}=4nd\delta+s{_ROOT}",
        given=rf"{_looked_at.latex}\le s, \delta\leq\frac{{1}}{{12nd}}", true_if="with <=, or if s is the mean itself",
        where="Lemma 14, proof, 4th display, line 4",
    )
    .corrected(
        "number-of-records", rf"4nd\delta+{_ROOT}{_looked_at.latex}\le 4nd\delta+s{_ROOT}",
        given=rf"{_looked_at.latex}\le s", because="s is an upper bound",
        where="Lemma 14, proof, 4th display, line 4",
    )
    .step(
        "together", rf"4nd\delta+s{_ROOT}\leq 3s\sqrt{{d\log(1/\delta)}}", given=r"\delta\leq\frac{1}{12nd}",
        where="Lemma 14, proof, 4th display, line 5", consequence=EDGE,
        true_if="for s sqrt(d log(1/delta)) of at least 0.27",
    )
    .corrected(
        "together", r"4ndD+2s\sqrt{d\log(1/\delta)}\le\frac{1}{3}+2s\sqrt{d\log(1/\delta)}",
        given=r"D\le\frac{1}{12nd}",
        added=(_D,),
        because="for small s the term with delta is not below the other one; it is at most 1/3",
        where="Lemma 14, proof, 4th display, line 5, for tau = 2 sqrt(d log(1/delta))",
    )
    .condition(
        "bias-for-every-theta", r"e_1\le\frac{1}{6}", given=r"\frac{e_1+e_2}{2}\le\frac{1}{6}",
        where="Lemma 14, proof: an error below 1/6 in the mean over Theta, and Lemma 15 for "
        "every theta", true_if="if Lemma 15 is used for the mean over Theta, which is enough for its corrected proof",
    )
    .corrected(
        "bias-for-every-theta", rf"{_mean_bias.latex}\le\frac{{\sqrt{{d}}}}{{6}}",
        given=rf"{_mean_bias.latex}\le{_accuracy.latex}, {_accuracy.latex}\le\frac{{\sqrt{{d}}}}{{6}}",
        added=(_mean_bias, _accuracy), uses=("jensen", "mn25.lem15/claim-follows"),
        because="the error is small in the mean over Theta only, all that Lemma 15 needs without its endpoints",
        where="Lemma 14, proof: the mean bias over Theta, in place of that for every theta",
    )
    .step(
        "bias", rf"{_bias.latex}={_bias_by_mean.latex}\leq{_error.latex}\leq\frac{{\sqrt{{d}}}}{{6}}",
        given=rf"{_bias.latex}={_bias_by_mean.latex}, {_bias_by_mean.latex}\le{_error.latex}, "
              rf"{_error.latex}\le\frac{{\sqrt{{d}}}}{{6}}",
        uses=("jensen",), where="Lemma 14, proof, before the 5th display",
    )
    .step(
        "correlation",
        r"\mathbb{E}\Big[\sum_{i=1}^{n}Z_{i}\Big]=\mathbb{E}\Big[\Big\langle\mathcal{A}(S),"
        r"\sum_{i=1}^{n}X_{i}-\Theta\Big\rangle\Big]\geq\frac{d}{6}",
        given=rf"{_SUM}=\mathbb{{E}}\Big[\sum_{{i=1}}^{{n}}Z_{{i}}\Big], {_SUM}\ge\frac{{d}}{{3}}",
        added=(_sum, _correlation), uses=("mn25.lem15",), where="Lemma 14, proof, 5th display",
    )
    .step(
        "few-records",
        r"3s\sqrt{d\log(1/\delta)}\geq d/6\implies s\geq\frac{\sqrt{d}}{18\sqrt{\log(1/\delta)}}",
        where="Lemma 14, proof, 6th display",
    )
    .step(
        "alternatives", rf"{_accuracy.latex}\geq\frac{{1}}{{6}}~~~\text{{or}}~~~s\geq{_BOUND}",
        given=rf"{_accuracy.latex}\ge\frac{{1}}{{6}}\text{{ or }}3s\sqrt{{d\log(1/\delta)}}\ge d/6",
        added=(_accuracy,), where="Lemma 14", uses=("mn25.lem14/few-records",),
    )
    .corrected(
        "few-records", rf"s\ge{_BOUND}", given=r"\frac{1}{3}+2s\sqrt{d\log(1/\delta)}\ge\frac{d}{6}",
        letters=(_large_d,), coverage="whole",
        uses=("mn25.lem15", "mn25.lem14/two-cases", "mn25.lem14/privacy", "mn25.lem14/hoeffding",
              "mn25.lem14/threshold", "mn25.lem14/mean-in-two-cases", "mn25.lem14/largest-statistic",
              "mn25.lem14/tail", "mn25.lem14/tail-by-delta", "mn25.lem14/sum", "mn25.lem14/number-of-records",
              "mn25.lem14/together", "mn25.lem14/bias"),
        because="with the threshold that works the constant 18 remains, from d = 6 on",
        where="Lemma 14, proof, 6th display, for tau = 2 sqrt(d log(1/delta)) and d >= 6",
    )
    .correction(
        latex=r"\text{as printed, for }d\ge 6",
    )
)  # fmt: skip


def _norms(index: int) -> tuple[Variable, Variable, Variable]:
    """The estimator's distance from the truth, in one norm: where Theta is -1 or 1 everywhere, and in the mean."""
    at = (
        r"\Big\|\underset{S\sim\mathcal{D}_{%s\bar{1}}}{\mathbb{E}}\left[\mathcal{A}(S)\right]"
        r"%s\bar{1}\Big\|_{%d}"
    )
    mean = (
        r"\underset{\Theta}{\mathbb{E}}\left[\Big\|\underset{S\sim\mathcal{D}_{\Theta}}{\mathbb{E}}"
        r"\left[\mathcal{A}(S)\right]-\Theta\Big\|_{%d}\right]"
    )
    return (
        _positive(f"low{index}", at % ("-", "+", index)),
        _positive(f"high{index}", at % ("", "-", index)),
        _positive(f"mean{index}", mean % index),
    )


_tracing = _letter(
    "T", r"\underset{S,\Theta}{\mathbb{E}}\left[\mathcal{A}(S)\sum_{i=1}^{n}(X_{i}-\Theta)\right]"
)
_slope = _letter("G", r"\underset{\Theta}{\mathbb{E}}\left[g^{\prime}(\Theta)(1-\Theta^{2})\right]")
_variance = _positive("V", r"\underset{}{\mathbb{E}}\left[\Theta^{2}\right]")
_product = _letter("C", r"\underset{\Theta}{\mathbb{E}}\left[(g(\Theta)-\Theta)\Theta\right]")
_by_parts = _letter("H", "H", "the mean of g(Theta) Theta")
_low, _high_end = _letter("g_low", "g(-1)"), _letter("g_high", "g(1)")
_size = _positive("K", r"\underset{\Theta}{\mathbb{E}}\left[|g(\Theta)-\Theta|\cdot|\Theta|\right]")
_mean_size = _positive(
    "M", r"\underset{\Theta}{\mathbb{E}}\left[\Big|\underset{S\sim\mathcal{D}_{\Theta}}{\mathbb{E}}"
    r"\left[\mathcal{A}(S)\right]-\Theta\Big|\right]",
)  # fmt: skip
_total = _letter(
    "T_d",
    r"\mathbb{E}_{S,\Theta}\Big[{\Big\langle\mathcal{A}(S),\sum_{i=1}^{n}(X_{i}-\Theta)\Big\rangle}\Big]",
)
_low1, _high1, _mean1 = _norms(1)
_low2, _high2, _mean2 = _norms(2)
_theta, _yes, _no = (_letter(name, latex) for name, latex in (("theta", r"\theta"), ("a", "a"), ("b", "b")))
_ENDS = r"\frac{|g(-1)+1|+|g(1)-1|}{2}"
_EXACT = rf"{_tracing.latex}=2/3+2{_product.latex}"
_FIRST_NORMS = rf"\frac{{2d}}{{3}}-\frac{{1}}{{2}}{_low1.latex}-\frac{{1}}{{2}}{_high1.latex}-2{_mean1.latex}"
_SECOND_NORMS = (
    rf"\frac{{2d}}{{3}}-\frac{{\sqrt{{d}}}}{{2}}{_low2.latex}-\frac{{\sqrt{{d}}}}{{2}}{_high2.latex}"
    rf"-2\sqrt{{d}}{_mean2.latex}"
)
_ACCURATE = ", ".join(rf"{v.latex}\le\sqrt{{d}}/6" for v in (_low2, _high2, _mean2))

lem15 = (
    Sheet(
        "mn25.lem15",
        (d, _tracing, _slope, _variance, _product, _by_parts, _low, _high_end, _size, _mean_size, _total, _low1, _high1,
         _mean1, _low2, _high2, _mean2, _theta, _yes, _no),
        title="Fingerprinting",
        where="Lemma 15",
        latex=(
            r"\|\mathbb{E}[\mathcal{A}(S)]-\theta\|\le\sqrt{d}/6\text{ for all }\theta\implies"
            r"\mathbb{E}\sum_{i=1}^{n}\langle\mathcal{A}(S),X_i-\Theta\rangle\ge\frac{d}{3}"
        ),
        pairs=("mn25.lem14", "mn25.fingerprint"),
    )
    .instance(
        "one-record",
        r"\frac{1+\theta}{2}a(1-\theta)+\frac{1-\theta}{2}b(-1-\theta)"
        r"=(\frac{\partial}{\partial\theta}(\frac{1+\theta}{2}a"
        r"+\frac{1-\theta}{2}b))(1-\theta^2)",
        where="Lemma 15, proof, (i)", case="one record, d = 1: a and b are the estimates for 1 and -1",
        catches=("half of it is lost", r"\frac{1+\theta}{2}a(1-\theta)+\frac{1-\theta}{2}b(-1-\theta)"
                 r"=\frac{1}{2}(\frac{\partial}{\partial\theta}(\frac{1+\theta}{2}a+\frac{1-\theta}{2}b))(1-\theta^2)"),
    )
    .step("second-moment", r"\frac{1}{2}(\frac{1^3}{3}-\frac{(-1)^3}{3})=\frac{1}{3}",
          where="Lemma 15, proof, 1st display: the mean of Theta^2, by the antiderivative Theta^3/3")
    .step(
        "endpoints",
        rf"{_slope.latex}\ge 1-{_variance.latex}+2{_product.latex}-{_ENDS}",
        given=rf"{_slope.latex}=2H, H={_variance.latex}+{_product.latex}, {_variance.latex}=\frac{{1}}{{3}}",
        uses=("integration-by-parts",), where="Lemma 15, proof, 1st display, (ii)",
    )
    .step(
        "two-thirds", rf"1-{_variance.latex}+2{_product.latex}-{_ENDS}\geq 2/3+2{_product.latex}-{_ENDS}",
        given=rf"{_variance.latex}=\frac{{1}}{{3}}", where="Lemma 15, proof, 1st display, line 3",
    )
    .corrected(
        "without-endpoints", _EXACT, coverage="step",
        given=rf"{_tracing.latex}={_slope.latex}, {_slope.latex}=2H, H={_variance.latex}+{_product.latex}, "
              rf"{_variance.latex}=\frac{{1}}{{3}}",
        uses=("integration-by-parts", "fingerprinting-identity"),
        where="Lemma 15, proof, 1st display: by parts there are no endpoints, where 1 - Theta^2 is 0",
    )
    .step(
        "sign-of-the-endpoints", rf"{_tracing.latex}\geq 2/3+{_ENDS}+2{_product.latex}", given=_EXACT,
        true_if="with a minus, as in the 1st display",
        where="Lemma 15, proof, 2nd display, line 1", uses=("mn25.lem15/two-thirds",),
    )
    .step(
        "endpoint-at-minus-one",
        rf"2/3+{_ENDS}+2{_product.latex}\geq 2/3+\frac{{|g(-1)-1|+|g(1)-1|}}{{2}}-2{_size.latex}",
        given=rf"{_product.latex}\ge-{_size.latex}",
        true_if="with g(-1) + 1 and minus signs, as before and after",
        where="Lemma 15, proof, 2nd display, line 2",
    )
    .step(
        "absolute-values",
        rf"{_tracing.latex}\ge 2/3-{_ENDS}-2{_mean_size.latex}",
        given=rf"{_EXACT}, {_product.latex}\ge-{_size.latex}, {_size.latex}\le{_mean_size.latex}",
        where="Lemma 15, proof, 2nd display, line 3, with |Theta| <= 1", uses=("mn25.lem15/two-thirds",),
    )
    .step(
        "sum-over-coordinates",
        rf"{_total.latex}\ge\frac{{2d}}{{3}}-\frac{{1}}{{2}}({_low1.latex}+{_high1.latex})-2{_mean1.latex}",
        given=rf"{_total.latex}\ge d\cdot\frac{{2}}{{3}}-\frac{{{_low1.latex}+{_high1.latex}}}{{2}}-2{_mean1.latex}",
        where="Lemma 15, proof, 3rd display, lines 1 and 2, which are the same: the coordinates' absolute values add "
              "up to the norms",
        uses=("mn25.lem15/absolute-values",),
    )
    .step(
        "norms", rf"{_FIRST_NORMS}\geq{_SECOND_NORMS}",
        given=", ".join(rf"{one.latex}\le\sqrt{{d}}{two.latex}" for one, two in
                        ((_low1, _low2), (_high1, _high2), (_mean1, _mean2))),
        uses=("jensen",), where="Lemma 15, proof, 3rd display, line 3",
    )
    .step(
        "last-line", rf"{_SECOND_NORMS}\geq\frac{{d}}{{6}}", given=_ACCURATE,
        where="Lemma 15, proof, 3rd display, line 4",
    )
    .step(
        "claim-follows", r"\frac{d}{6}\ge\frac{d}{3}", where="Lemma 15, proof, end: this proves the claim",
    )
    .corrected(
        "claim-follows", rf"{_total.latex}\geq\frac{{d}}{{3}}", coverage="whole",
        given=rf"{_total.latex}\ge\frac{{2d}}{{3}}-2{_mean1.latex}, {_mean1.latex}\le\sqrt{{d}}{_mean2.latex}, "
              rf"{_mean2.latex}\le\sqrt{{d}}/6",
        uses=("mn25.lem15/without-endpoints", "mn25.lem15/second-moment", "mn25.lem15/norms"),
        because="the proof ends with d/6, half of the claim; without the endpoints, which integration by parts does "
                "not need, the same steps give d/3, and the mean bias over Theta is enough",
        where="Lemma 15, without the endpoints",
    )
)  # fmt: skip

STATEMENTS = (lem14.statement, lem15.statement)
