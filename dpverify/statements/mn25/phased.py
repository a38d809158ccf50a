"""mn25, Appendix C.2: Phased SGD and Phased ERM."""

from __future__ import annotations

from dpverify.formulas.expressions import Variable, integer, real
from dpverify.formulas.units import LENGTH, LOSS, NATS, RECORDS
from dpverify.formulas.vectors import vector
from dpverify.statements.interpolation import Sample, strongly_convex
from dpverify.statements.mn25.symbols import B, L, alpha, d, epsilon, n
from dpverify.statements.sheet import CONSTANT, EDGE, PROOF_STEP, Sheet

_level = real("l", gt=0, unit=NATS, meaning="ln(1/delta)", latex=r"\log(1/\delta)")
_high_level = real("l", ge=1, unit=NATS, meaning="ln(1/delta)", latex=r"\log(1/\delta)")
_some_epsilon = real("epsilon", gt=0, le=1, unit=NATS, latex=r"\epsilon")
_delta = real("delta", ge=0, le=1, latex=r"\delta")
_r = real("power", ge=2, meaning="2^r, r a phase", latex="2^{r}")
_many = integer("n", ge=10_000, unit=RECORDS, meaning="number of records")
_R = real("last_power", ge=2, meaning="2^R, R the number of phases", latex="2^{R}")


def _value(name: str, latex: str, meaning: str = "") -> Variable:
    return real(name, unit=LOSS, latex=latex, meaning=meaning)


_F, _F_before = (
    _value(name, rf"\mathcal{{L}}({at})")
    for name, at in (("F_r", r"\bar{w}_{r}"), ("F_before", r"\bar{w}_{r-1}"))
)
_after, _before = (vector(name, unit=LENGTH, latex=latex) for name, latex in (
    ("wbar_r", r"\bar{w}_{r}"), ("wbar_before", r"\bar{w}_{r-1}")))  # fmt: skip
_noisy = vector("w_before", unit=LENGTH, meaning="where a phase starts", latex="w_{r-1}")
_progress = _value(
    "P_r", r"\underset{}{\mathbb{E}}\left[\mathcal{L}(\bar{w}_{r})-\mathcal{L}(\bar{w}_{r-1})\right]"
)
_moved = real(
    "Q_r", ge=0, unit=LENGTH**2, meaning="mean squared length of the noise before a phase",
    latex=r"\underset{}{\mathbb{E}}\left[\|\bar{w}_{r-1}-w_{r-1}\|^{2}\right]",
)  # fmt: skip
_p, _p2 = (
    real(name, ge=0, le=1, meaning=f"probability that the solver fails on {on}", latex=latex)
    for name, on, latex in (("p", "S", "p"), ("q", "S'", "p'"))
)
_good, _bad = (
    _value(name, latex, f"mean of the progress where the solver {how}")
    for name, latex, how in (("good", "s", "succeeds"), ("bad", "f", "fails"))
)
_S = _value("S", "S", "sum of the progress of the phases")
_E = _value("E", "E", "mean excess risk of the output")
_F0 = _value("F_0", "F_0", "smallest risk")
_lam = real("lambda", gt=0, unit=LOSS / LENGTH**2, latex=r"\lambda")
_u, _v = (vector(name, unit=LENGTH) for name in "uv")
_a, _b, _hu, _hv = (
    vector(name, unit=LOSS / LENGTH, latex=latex)
    for name, latex in (("a", "a"), ("b", "b"), ("h_u", "h_u"), ("h_v", "h_v"))
)
_Hu, _Hv = (_value(name, name, "value of what both regularized risks share") for name in ("H_u", "H_v"))
_STABLE = (_u, _v, _a, _b, _hu, _hv, _Hu, _Hv)
_COMMON = [Sample("u", "H_u", "h_u"), Sample("v", "H_v", "h_v")]
_OPTIMAL = r"\langle h_u+\frac{1}{n}a,v-u\rangle\ge 0, \langle h_v+\frac{1}{n}b,u-v\rangle\ge 0"
_GAP = (
    vector("wbar", unit=LENGTH, latex=r"\bar{w}"),
    vector("w_best", unit=LENGTH, latex="w^{*}_{r}"),
    _value("L_w", r"\mathcal{L}_{r}(w)"),
    _value("L_best", r"\mathcal{L}_{r}(w^{*}_{r})"),
    vector("g", unit=LOSS / LENGTH),
)
_distance = real("D", ge=0, unit=LENGTH, latex=r"\|\bar{w}-w^{*}_{r}\|")
_PARTS = tuple(vector(name, unit=LENGTH) for name in "xyz")
_THREE = ", ".join(rf"\|{v.name}\|\le\frac{{L}}{{\lambda n}}" for v in _PARTS)
_log2_n = real("log2_n", gt=0, meaning="log_2 n", latex=r"\log_{2}(n)")
_phases = real("R", ge=1, meaning="number of phases")
_EVENT = (
    real("P", ge=0, le=1, meaning="mass of an event"),
    real("Q", ge=0, le=1, meaning="its mass under the neighbor"),
    real("x", ge=0, le=1),
    real("E", ge=1),
)
_LAST = r"2^{-r}\alpha+\delta L+2^{r}\frac{\alpha}{B^{2}}\big({\frac{16B^{2}}{2^{2r}}}\big)"

lem16 = (
    Sheet(
        "mn25.lem16", (n, d, B, L, alpha, _level, epsilon, _delta, _r, _R, _F, _F_before, _after, _before,
                       _noisy, _progress, _moved, _p, _p2, _good, _bad),
        title="Accuracy and privacy of Phased ERM",
        where="Lemma 16",
        latex=(
            r"\delta\in[0,B\alpha^2],\ \alpha\ge\log(n)\alpha_{\epsilon,\delta}^*\implies"
            r"O(\alpha)\text{-accurate and }(\epsilon,2\log(n)\delta)\text{-DP}"
        ),
        pairs=("mn25.alg5", "mn25.thm7"),
    )
    .define("2^{-r}", r"\frac{1}{2^r}")
    .define("2^{-R}", r"\frac{1}{2^R}")
    .define("2^{2r}", r"(2^r)^2")
    .define(r"\alpha_{\epsilon,\delta}^{*}", r"\frac{BL\sqrt{d\log(1/\delta)}}{n\epsilon}")
    .define(r"\lambda_{r}", r"2^r\frac{\alpha}{B^2}")
    .define(r"\sigma_{r}", r"\frac{4B}{2^r\sqrt{d}}")
    .define(r"\sigma_{r-1}", r"\frac{4B}{(2^r/2)\sqrt{d}}")
    .define(r"\sigma_{R}", r"\frac{4B}{2^R\sqrt{d}}")
    .define(r"\mathcal{L}_{r}(\bar{w}_{r})", r"\mathcal{L}(\bar{w}_{r})+\lambda_r\|\bar{w}_{r}-w_{r-1}\|^2")
    .define(r"\mathcal{L}_{r}(\bar{w}_{r-1})", r"\mathcal{L}(\bar{w}_{r-1})+\lambda_r\|\bar{w}_{r-1}-w_{r-1}\|^2")
    .step(
        "last-noise", r"\sigma_{R}=\frac{4\alpha}{L\sqrt{d}}", given=r"2^R=\frac{LB}{\alpha}",
        where="Lemma 16, proof, for R = log_2(L B/alpha)",
    )
    .step(
        "telescoping", r"S+\mathcal{L}(\bar{w}_{r})-\mathcal{L}(\bar{w}_{r-1})=\mathcal{L}(\bar{w}_{r})-F_0",
        given=r"S=\mathcal{L}(\bar{w}_{r-1})-F_0", added=(_S, _F0),
        where="Lemma 16, proof, 1st display: the sum over the phases, from r - 1 to r; its summand is printed with r, "
              "its index is i",
    )
    .step(
        "risk-of-the-last-noise", r"L\sqrt{d}\sigma_{R}=4\alpha", given=r"2^R=\frac{LB}{\alpha}",
        uses=("jensen", "gaussian-second-moment"), where="Lemma 16, proof, 1st display, 2nd line",
    )
    .step(
        "progress",
        r"\mathcal{L}(\bar{w}_{r})-\mathcal{L}(\bar{w}_{r-1})"
        r"\le\mathcal{L}_{r}(\bar{w}_{r})-\mathcal{L}_{r}(\bar{w}_{r-1})",
        consequence=PROOF_STEP, true_if="with the risk itself, whose sum the 2nd display bounds",
        where="Lemma 16, proof, 1st display, 2nd line: the regularized risks in place of the risks",
    )
    .step(
        "decomposition",
        r"\mathcal{L}(\bar{w}_{r})-\mathcal{L}(\bar{w}_{r-1})"
        r"=\mathcal{L}_{r}(\bar{w}_{r})-\mathcal{L}_{r}(\bar{w}_{r-1})+\mathcal{L}(\bar{w}_{r})"
        r"-\mathcal{L}_{r}(\bar{w}_{r})+\mathcal{L}_{r}(\bar{w}_{r-1})-\mathcal{L}(\bar{w}_{r-1})",
        where="Lemma 16, proof, 2nd display, 1st line",
    )
    .corrected(
        "progress",
        r"\mathcal{L}(\bar{w}_{r})-\mathcal{L}(\bar{w}_{r-1})\le\mathcal{L}_{r}(\bar{w}_{r})"
        r"-\mathcal{L}_{r}(\bar{w}_{r-1})+\lambda_r\|\bar{w}_{r-1}-w_{r-1}\|^2",
        because="the squared distances in the regularized risks do not cancel",
        where="Lemma 16, proof, 2nd display, from its 1st to its 2nd line",
    )
    .step(
        "failing-solver", r"(1-p)s+pf\le 2^{-r}\alpha+\delta L",
        given=r"p\le\delta, s\le 2^{-r}\alpha, f\le LB, s\ge 0",
        where="Lemma 16, proof, 2nd display, 2nd line: with probability delta the solver fails, and the risk "
              "grows by up to L B",
    )
    .corrected(
        "failing-solver", r"(1-p)s+pf\le 2^{-r}\alpha+\delta LB",
        given=r"p\le\delta, s\le 2^{-r}\alpha, f\le LB, s\ge 0",
        because="a failing solver costs up to L B, not L", consequence=EDGE, true_if="for B = 1",
        where="Lemma 16, proof, 2nd display, 2nd line",
    )
    .step(
        "noise-of-the-phase-before", rf"(2^{{-r}}\alpha+\delta L)+\lambda_{{r}}{_moved.latex}\leq {_LAST}",
        given=rf"{_moved.latex}=d\sigma_{{r-1}}^2, 2^r\ge 4", uses=("gaussian-second-moment",),
        where="Lemma 16, proof, 2nd display, 3rd line: the start of phase r has the noise of phase r - 1",
    )
    .corrected(
        "noise-of-the-phase-before",
        rf"\lambda_{{r}}{_moved.latex}=2^r\frac{{\alpha}}{{B^2}}\cdot\frac{{64B^2}}{{2^{{2r}}}}",
        given=rf"{_moved.latex}=d\sigma_{{r-1}}^2", uses=("gaussian-second-moment",),
        because="the noise of phase r - 1 has the variance 4 sigma_r^2, so that 16 B^2 becomes 64 B^2",
        consequence=CONSTANT, true_if="with sigma_r in place of sigma_{r-1}",
        where="Lemma 16, proof, 2nd display, 3rd line",
    )
    .corrected(
        "first-phase", r"\lambda_{r}B^2\le 32\alpha", given="2^r=2", coverage="step",
        where="Lemma 16, proof, 2nd display: before the first phase no two points are more than B apart",
    )
    .step(
        "eighteen", rf"{_LAST}\leq 2^{{-r}}18\alpha", reading=r"2^{-r}\cdot 18",
        given=r"\delta\leq B\alpha^{2}, 2^r\le\frac{LB}{\alpha}",
        where="Lemma 16, proof, after the 2nd display: provided delta <= B alpha^2",
    )
    .corrected(
        "eighteen", r"2^{-r}\alpha+\delta LB+2^r\frac{\alpha}{B^2}\cdot\frac{64B^2}{2^{2r}}\le 2^{-r}\cdot 66\alpha",
        given=r"\delta\le(\frac{\alpha}{LB})^2, 2^r\le\frac{LB}{\alpha}",
        because="delta has no unit and B alpha^2 has one; delta <= (alpha/(L B))^2 is enough, and 66 takes the place "
                "of 18",
        consequence=CONSTANT, true_if="for B = L = 1 and the noise of phase r",
        where="Lemma 16, proof, after the 2nd display",
    )
    .corrected(
        "sum-over-the-phases", r"S+2^{-r}\cdot 66\alpha\le 66(1-2^{-r})\alpha",
        given=r"S\le 66(1-2\cdot 2^{-r})\alpha", added=(_S,), coverage="step",
        where="Lemma 16, proof: both displays together, from r - 1 phases to r",
    )
    .corrected(
        "accuracy", r"E<70\alpha", given=r"E\le L\sqrt{d}\sigma_{R}+S, S\le 66(1-2^{-R})\alpha, 2^R=\frac{LB}{\alpha}",
        added=(_S, _E), coverage="whole", where="Lemma 16, accuracy, for delta <= (alpha/(L B))^2",
        uses=("mn25.lem16/telescoping", "mn25.lem16/progress", "mn25.lem16/failing-solver",
              "mn25.lem16/noise-of-the-phase-before", "mn25.lem16/first-phase", "mn25.lem16/eighteen",
              "mn25.lem16/sum-over-the-phases", "mn25.lem16/risk-of-the-last-noise"),
    )
    .step(
        "stability-in-the-direction", r"2\lambda\|u-v\|^2\le\frac{1}{n}\langle a-b,v-u\rangle",
        given=f"{_OPTIMAL}, {strongly_convex(_COMMON, '2{}'.format(chr(92) + 'lambda'))}",
        added=(_lam, *_STABLE),
        where="Lemma 16, proof, stability: u and v minimize the regularized risks, which differ in one loss",
    )
    .step(
        "stability", r"\|u-v\|\le\frac{L}{\lambda n}",
        given=r"2\lambda\|u-v\|^2\le\frac{1}{n}\langle a-b,v-u\rangle, \|a\|\le L, \|b\|\le L", added=(_lam, *_STABLE),
        uses=("mn25.lem16/stability-in-the-direction",), where="Lemma 16, proof: L/(lambda n)-stable",
    )
    .step(
        "gap", r"\lambda\|\bar{w}-w^{*}_{r}\|^2\le\mathcal{L}_{r}(w)-\mathcal{L}_{r}(w^{*}_{r})",
        given=r"\mathcal{L}_{r}(w)\ge\mathcal{L}_{r}(w^{*}_{r})+\langle g,\bar{w}-w^{*}_{r}\rangle"
              r"+\lambda\|\bar{w}-w^{*}_{r}\|^2, \langle g,\bar{w}-w^{*}_{r}\rangle\ge 0",
        added=(_lam, *_GAP), where="Lemma 16, proof: the regularized risk is 2 lambda-strongly convex",
    )
    .step(
        "distance",
        r"\|\bar{w}-w^{*}_{r}\|\leq\sqrt{\frac{\mathcal{L}_{r}(w)-\mathcal{L}_{r}(w^{*}_{r})}{\lambda_{r}}}"
        r"\leq\frac{L}{\lambda_{r}n}",
        given=r"\lambda_{r}\|\bar{w}-w^{*}_{r}\|^2\le\mathcal{L}_{r}(w)-\mathcal{L}_{r}(w^{*}_{r}), "
              r"\mathcal{L}_{r}(w)-\mathcal{L}_{r}(w^{*}_{r})\le\frac{L^2}{\lambda_{r}n^2}",
        added=(_distance, *_GAP[2:4]), where="Lemma 16, proof: with the accuracy condition",
        uses=("mn25.lem16/gap",),
    )
    .step(
        "stability-of-the-solver", r"\|x+y+z\|\le\frac{2L}{\lambda n}", given=_THREE, added=(_lam, *_PARTS),
        uses=("mn25.lem16/stability", "mn25.lem16/distance"),
        where="Lemma 16, proof: Delta = 2 L/(lambda_r n); x and z are the errors of the two minimizers, y leads "
              "from one to the other",
    )
    .corrected(
        "stability-of-the-solver", r"\|x+y+z\|\le\frac{3L}{\lambda n}", given=_THREE, added=(_lam, *_PARTS),
        uses=("mn25.lem16/stability", "mn25.lem16/distance"),
        because="both minimizers are inexact, so that three distances add up, not two", consequence=CONSTANT,
        true_if="if the solver is exact on one of the two data sets", where="Lemma 16, proof: Delta",
    )
    .step(
        "sensitivity", r"\frac{2L}{\lambda_{r}n}=\frac{2B^{2}}{2^{r}\alpha n}", where="Lemma 16, proof: Delta",
        consequence=EDGE,
    )
    .corrected(
        "sensitivity", r"\frac{3L}{\lambda_{r}n}=\frac{3LB^{2}}{2^{r}\alpha n}", because="a factor L is left out",
        true_if="for L = 1", where="Lemma 16, proof: Delta",
    )
    .step(
        "sensitivity-at-this-accuracy",
        r"\frac{2B^{2}}{2^{r}\alpha n}\leq\frac{2B\epsilon}{2^{r}\sqrt{\log(n)d\log(1/\delta)}}",
        given=r"\alpha\geq\log(n)\alpha_{\epsilon,\delta}^{*}", where="Lemma 16, proof: Delta", consequence=EDGE,
        true_if="for L = 1 and n of at least 3",
    )
    .corrected(
        "sensitivity-at-this-accuracy",
        r"\frac{3LB^{2}}{2^{r}\alpha n}\le\frac{5B\epsilon}{2\cdot 2^{r}\log_{2}(n)\sqrt{d\log(1/\delta)}}",
        given=r"\alpha\ge\frac{6}{5}\log_{2}(n)\alpha_{\epsilon,\delta}^{*}", added=(_log2_n,),
        because="alpha >= log(n) alpha* has all of log(n) below, not its root, and needs it below",
        where="Lemma 16, proof: Delta, with 6/5 log_2(n) in place of log(n)",
    )
    .step(
        "noise-is-enough", r"\frac{\log(n)}{\epsilon}\cdot\frac{2B\epsilon}{2^{r}\sqrt{\log(n)d\log(1/\delta)}}"
        r"\cdot\sqrt{2(\log(1/\delta)+\log(1.25))}\le\sigma_{r}",
        letters=(_high_level,), uses=("classical-gaussian-mechanism",),
        where="Lemma 16, proof: the Gaussian mechanism with the printed bound on Delta and epsilon/log(n)",
    )
    .corrected(
        "noise-is-enough",
        r"\frac{5}{2}\sqrt{2(\log(1/\delta)+0.2232)}\le 4\sqrt{\log(1/\delta)}", letters=(_high_level,),
        uses=("classical-gaussian-mechanism", "mn25.lem16/logarithm", "mn25.lem16/sensitivity",
              "mn25.lem16/sensitivity-at-this-accuracy"),
        because="with the root of log(n) the noise is too small from log(n) = 2 on; with 3 L/(lambda_r n) the constant "
                "1 in alpha >= log(n) alpha* has to become 6/5",
        consequence=CONSTANT, true_if="with log(n) in place of its root, and Delta = 2 L/(lambda_r n)",
        where="Lemma 16, proof: the Gaussian mechanism, Delta from above, for delta <= 1/e",
    )
    .corrected(
        "logarithm", r"\log(1.25)\le 0.2232", coverage="step", where="Lemma 16, proof: the Gaussian mechanism",
    )
    .step(
        "failing-solvers", r"P\le EQ+2\delta",
        given=r"P\le p+(1-p)(Ex+\delta), Q\ge(1-p')x, Ex\le 1, p\le\delta, p'\le\delta", added=_EVENT,
        where="Lemma 16, proof: (epsilon/log(n), 2 delta)-DP, delta once for the noise and once for failing solvers; "
              "an event's masses, E = exp(epsilon/log(n)), x its mass under S' where the solver succeeds",
    )
    .condition(
        "phases", r"\log_{2}(LB/\alpha)\le\log(n)", letters=(_high_level, _some_epsilon, _many),
        given=r"\alpha\geq\log(n)\alpha_{\epsilon,\delta}^{*}",
        where="Lemma 16, proof, end: R phases with epsilon/log(n) each, for n >= 10,000",
    )
    .corrected(
        "phases", r"LB/\alpha\le n", letters=(_high_level, _some_epsilon),
        given=r"\alpha\ge\frac{6}{5}\log_{2}(n)\alpha_{\epsilon,\delta}^{*}, \log_{2}(n)\ge 1", added=(_log2_n,),
        because="the phases are log_2(L B/alpha), more than the natural logarithm of n for large n",
        consequence=CONSTANT, true_if="if log(n) has base 2", where="Lemma 16, proof, end: R <= log_2(n)",
    )
    .corrected(
        "privacy",
        r"R\frac{\epsilon}{\log_{2}(n)}\le\epsilon, R\cdot 2\delta\le 2\log_{2}(n)\delta", given=r"R\le\log_{2}(n)",
        added=(_log2_n, _phases), coverage="whole",
        uses=("mn25.lem16/stability-of-the-solver", "mn25.lem16/noise-is-enough", "mn25.lem16/failing-solvers",
              "mn25.lem16/phases", "basic-composition"),
        where="Lemma 16, privacy, for alpha >= 6/5 log_2(n) alpha*",
    )
    .correction(
        latex=(
            r"\delta\le\left(\frac{\alpha}{LB}\right)^2,\ \alpha\ge\frac{6}{5}\log_2(n)\alpha_{\epsilon,\delta}^*"
            r"\implies 70\alpha\text{-accurate and }(\epsilon,2\log_2(n)\delta)\text{-DP}"
        ),
    )
)  # fmt: skip

STATEMENTS = (lem16.statement,)
