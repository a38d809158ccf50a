"""mn25, Appendix C.2: Phased SGD and Phased ERM."""

from __future__ import annotations

from dpverify.formulas.expressions import Variable, integer, real
from dpverify.formulas.units import LENGTH, LOSS, NATS, RECORDS
from dpverify.formulas.vectors import vector
from dpverify.statements.interpolation import Sample, strongly_convex
from dpverify.statements.mn25.symbols import B, L, alpha, d, epsilon, n
from dpverify.statements.sheet import CONSTANT, EDGE, Sheet

_level = real("l", gt=0, unit=NATS, meaning="ln(1/delta)", latex=r"\log(1/\delta)", stands_for="number")
_high_level = real("l", ge=1, unit=NATS, meaning="ln(1/delta)", latex=r"\log(1/\delta)", stands_for="number")
_some_epsilon = real("epsilon", gt=0, le=1, unit=NATS, latex=r"\epsilon")
_delta = real("delta", ge=0, le=1, latex=r"\delta")
_phase = integer("r", ge=1, meaning="number of a phase")
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
_P = _value("P", "P", "mean progress of a phase")
_D = real("D", ge=0, unit=LENGTH**2, meaning="mean squared distance at the end of a phase")
_phase, _last_phase = integer("r", latex="r"), integer("k", ge=1, meaning="number of phases")
_calls = real("C", ge=0, meaning="oracle calls so far")
_x = real("x", ge=0, unit=LOSS)
_share = real("S", ge=0, lt=1, meaning="sum of 2^-r over the phases")
_ALPHA_STAR = r"\alpha\ge\frac{6\alpha_{1,\delta}^{*}}{\epsilon}"
_BOTH = r"\sqrt{d\cdot(\log(n)+\log(1/\delta))}"
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
        "mn25.lem16", (n, d, B, L, alpha, _level, epsilon, _delta, _phase, _r, _R, _F, _F_before, _after, _before,
                       _noisy, _progress, _moved, _p, _p2, _good, _bad),
        title="Accuracy and privacy of Phased ERM",
        where="Lemma 16",
        latex=(
            r"\delta\in[0,B\alpha^2],\ \alpha\ge\log(n)\alpha_{\epsilon,\delta}^*\implies "
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
        true_if="with the risk itself, whose sum the 2nd display bounds",
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
        "failing-solver", r"(1-p)s+pf\le(1-p)2^{-r}\alpha+pLB\le 2^{-r}\alpha+\delta LB",
        given=r"p\le\delta, s\le 2^{-r}\alpha, f\le LB, s\ge 0",
        because="a failing solver costs up to L B, not L", true_if="for B = 1",
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
        because="the noise of phase r - 1 has the variance 4 sigma_r^2, so 16 B^2 becomes 64 B^2",
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
        because="both minimizers are inexact, so three distances add up, not two", consequence=CONSTANT,
        true_if="if the solver is exact on one of the two data sets", where="Lemma 16, proof: Delta",
    )
    .step(
        "sensitivity", r"\frac{2L}{\lambda_{r}n}=\frac{2B^{2}}{2^{r}\alpha n}", where="Lemma 16, proof: Delta",
    )
    .corrected(
        "sensitivity", r"\frac{3L}{\lambda_{r}n}=\frac{3LB^{2}}{2^{r}\alpha n}", because="a factor L is left out",
        true_if="for L = 1", where="Lemma 16, proof: Delta",
    )
    .step(
        "sensitivity-at-this-accuracy",
        r"\frac{2B^{2}}{2^{r}\alpha n}\leq\frac{2B\epsilon}{2^{r}\sqrt{\log(n)d\log(1/\delta)}}",
        given=r"\alpha\geq\log(n)\alpha_{\epsilon,\delta}^{*}", where="Lemma 16, proof: Delta",
        true_if="for L = 1 and n of at least 3",
    )
    .corrected(
        "sensitivity-at-this-accuracy",
        r"\frac{3LB^{2}}{2^{r}\alpha n}\le\frac{5B\epsilon}{2\cdot 2^{r}\log_{2}(n)\sqrt{d\log(1/\delta)}}",
        given=r"\alpha\ge\frac{6}{5}\log_{2}(n)\alpha_{\epsilon,\delta}^{*}", added=(_log2_n,),
        because="alpha >= log(n) alpha* gives log(n), not its root, in the denominator, and log(n) is needed there",
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
        given=r"\log_{2}(n)\ge 1", meant=r"\alpha\ge\frac{6}{5}\log_{2}(n)\alpha_{\epsilon,\delta}^{*}",
        added=(_log2_n,),
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


_T = real("T", gt=0, meaning="number of steps, all phases together")
_eta = real("eta", gt=0, unit=LENGTH**2 / LOSS, meaning="the rate before it shrinks", latex=r"\eta")
_level_n = real("l_n", ge="1/4", unit=NATS, meaning="ln(n/delta)", latex=r"\log(n/\delta)")
_noise_norm = real("Z", ge=0, unit=LENGTH, latex=r"\underset{}{\mathbb{E}}\left[\|\xi_{R}\|\right]")
_noise_square = real(
    "Z2", ge=0, unit=LENGTH**2, latex=r"\underset{}{\mathbb{E}}\left[\|\xi_{r-1}\|^{2}\right]"
)
_w, _w2 = (vector(name, unit=LENGTH, latex=latex) for name, latex in (("w_t", "w_t"), ("v_t", "v_t")))
_g, _g2 = (vector(name, unit=LOSS / LENGTH, latex=latex) for name, latex in (("g_t", "g_t"), ("h_t", "h_t")))
_FEW = r"T=\frac{BL\sqrt{d\log(n/\delta)}}{\alpha}, \eta=\frac{B}{L\sqrt{d\log(n/\delta)}}"
_MANY = r"T=\frac{B^{2}L^{2}}{\alpha^{2}}, \eta=\frac{\alpha}{L^{2}}"
_LARGE_ALPHA = r"\alpha\geq\frac{BL}{\sqrt{d\log(n/\delta)}}"
_SMALL_ALPHA = r"\alpha\le\frac{BL}{\sqrt{d\log(n/\delta)}}"
_ENOUGH = r"\alpha\ge\frac{6BL\sqrt{d\log(n/\delta)}}{n\epsilon}"

thm7 = (
    Sheet(
        "mn25.thm7", (n, d, B, L, alpha, _level, _level_n, epsilon, _delta, _phase, _r, _R, _T, _eta, _F, _F_before,
                      _noise_norm, _noise_square),
        title="Accuracy, calls and privacy of Phased SGD",
        where="Theorem 7",
        latex=(
            r"O(\alpha)\text{-accurate with }\max\left\{\frac{BL\sqrt{d\log(n/\delta)}}{\alpha},"
            r"\frac{B^2L^2}{\alpha^2}\right\}\text{ calls};\quad\alpha\ge 6\alpha_{\epsilon,\delta}^*\implies"
            r"(\epsilon,\delta)\text{-DP}"
        ),
        pairs=("mn25.alg4", "mn25.thm4", "mn25.lem16"),
    )
    .define("2^{-r}", r"\frac{1}{2^r}")
    .define("2^{-R}", r"\frac{1}{2^R}")
    .define("2^{2R}", r"(2^R)^2")
    .define("2^{-2R}", r"\frac{1}{(2^R)^2}")
    .define("4^{r}", r"(2^r)^2")
    .define(r"\alpha_{1,\delta}^{*}", r"\frac{BL\sqrt{d\log(1/\delta)}}{n}")
    .define(r"\alpha^{*}_{\delta}", r"\frac{BL\sqrt{d\log(n/\delta)}}{n}")
    .define("T_{r}", "2^{-r}T")
    .define(r"\eta_{r}", r"\frac{\eta}{4^r}")
    .define(r"\sigma_{r}", r"\frac{4B}{4^r\sqrt{d}}")
    .define(r"\sigma_{r-1}", r"\frac{16B}{4^r\sqrt{d}}")
    .define(r"\sigma_{R}", r"\frac{4B}{2^{2R}\sqrt{d}}")
    .define(r"\epsilon_{r}", r"\frac{4L\eta_{r}\sqrt{\log(n/\delta)}}{\sigma_{r}}")
    .step(
        "steps-for-a-large-alpha", r"\frac{B^{2}L^{2}}{\alpha^{2}}\le\frac{BL\sqrt{d\log(n/\delta)}}{\alpha}",
        given=_LARGE_ALPHA, where="Theorem 7, proof: T for this alpha; for others it is the other one of the two",
    )
    .step(
        "rate-for-a-large-alpha", r"\frac{1}{\sqrt{d\log(n/\delta)}}\le\frac{\alpha}{BL}", given=_LARGE_ALPHA,
        where="Theorem 7, proof: eta for this alpha; for others it is the other one of the two",
    )
    .step("rate-times-steps", r"\eta T=\frac{B^2}{\alpha}", given=_FEW, where="Algorithm 4, line 3, for a large alpha")
    .step("rate-times-more-steps", r"\eta T=\frac{B^2}{\alpha}", given=_MANY,
          where="Algorithm 4, line 3, for a small alpha")
    .step("rate-is-small", r"\eta L^2\le\alpha", given=rf"{_FEW}, {_LARGE_ALPHA}",
          where="Theorem 7, proof, 1st display, last line; for a small alpha both sides are equal")
    .step(
        "telescoping", r"S+\mathcal{L}(\bar{w}_{r})-\mathcal{L}(\bar{w}_{r-1})=\mathcal{L}(\bar{w}_{r})-F_0",
        given=r"S=\mathcal{L}(\bar{w}_{r-1})-F_0", added=(_S, _F0),
        where="Theorem 7, proof, 1st display, 1st line: the sum over the phases, from r - 1 to r; its summand is "
              "printed with r, its index is i",
    )
    .step(
        "a-phase", rf"P\le\frac{{{_noise_square.latex}}}{{2\eta_{{r}}T_{{r}}}}+\frac{{\eta_{{r}}L^2}}{{2}}",
        given=rf"T_{{r}}P\le\frac{{{_noise_square.latex}-D}}{{2\eta_{{r}}}}+\frac{{T_{{r}}\eta_{{r}}L^2}}{{2}}",
        added=(_P, _D), uses=("fmtt18.thm28/sum-of-the-steps", "jensen"),
        where="Theorem 7, proof, 1st display, 2nd line: the steps of a phase, against the last phase's average",
    )
    .step(
        "first-phase", r"\frac{B^2}{2\eta_{r}T_{r}}=2^{-r}\cdot\frac{8B^{2}}{\eta T}", given="2^r=2",
        where="Theorem 7, proof, 1st display, 3rd line, for r = 1, where no two points are more than B apart",
    )
    .step(
        "later-phases",
        rf"\frac{{{_noise_square.latex}}}{{2\eta_{{r}}T_{{r}}}}+\frac{{\eta_{{r}}L^2}}{{2}}"
        r"\le 2^{-r}\left({\frac{8B^{2}}{\eta T}+\frac{\eta L^{2}}{2}}\right)",
        given=rf"{_noise_square.latex}=d\sigma_{{r-1}}^2, 2^r\ge 4", uses=("gaussian-second-moment",),
        where="Theorem 7, proof, 1st display, 3rd line: the start of phase r has the noise of phase r - 1",
    )
    .corrected(
        "later-phases",
        rf"\frac{{{_noise_square.latex}}}{{2\eta_{{r}}T_{{r}}}}+\frac{{\eta_{{r}}L^2}}{{2}}"
        r"\le 2^{-r}\left({\frac{128B^{2}}{\eta T}+\frac{\eta L^{2}}{2}}\right)",
        given=rf"{_noise_square.latex}=d\sigma_{{r-1}}^2", uses=("gaussian-second-moment",),
        because="the noise of phase r - 1 has the variance 16 sigma_r^2, so 8 B^2 becomes 128 B^2",
        consequence=CONSTANT, true_if="with sigma_r in place of sigma_{r-1}",
        where="Theorem 7, proof, 1st display, 3rd line",
    )
    .step(
        "last-noise", rf"L{_noise_norm.latex}\le\frac{{BL}}{{2^{{-2R}}}}",
        given=rf"{_noise_norm.latex}\le\sqrt{{d}}\sigma_{{R}}", uses=("jensen", "gaussian-second-moment"),
        where="Theorem 7, proof, 1st display, 3rd line",
    )
    .step(
        "risk-of-the-last-noise", r"\frac{BL}{2^{-2R}}\le\alpha", given=r"2^{2R}=\frac{1}{\alpha}",
        where="Theorem 7, proof, 1st display, 4th line",
    )
    .corrected(
        "risk-of-the-last-noise", r"L\sqrt{d}\sigma_{R}=4\alpha", given=r"2^{2R}=\frac{BL}{\alpha}",
        because="the exponent has the wrong sign, a factor 4 is lost, and the number of phases is the logarithm of a "
                "quantity with a unit; log_2(B L/alpha)/2 phases leave 4 alpha",
        consequence=CONSTANT, true_if="with 2^(2R) for 2^(-2R), for B L of at most 1",
        where="Theorem 7, proof, 1st display, 4th line, for R = log_2(B L/alpha)/2",
    )
    .corrected(
        "sum-over-the-phases", r"S+2^{-r}\cdot 129\alpha\le 129(1-2^{-r})\alpha",
        given=r"S\le 129(1-2\cdot 2^{-r})\alpha", added=(_S,), coverage="step",
        where="Theorem 7, proof, 1st display, 4th line, from r - 1 phases to r; a phase costs 2^-r (128 + 1/2) alpha",
    )
    .corrected(
        "accuracy", r"E<133\alpha",
        given=r"E\le L\sqrt{d}\sigma_{R}+S, S\le 129(1-2^{-R})\alpha, 2^{2R}=\frac{BL}{\alpha}",
        added=(_S, _E), coverage="whole", where="Theorem 7, accuracy, with the constant",
        uses=("mn25.thm7/telescoping", "mn25.thm7/a-phase", "mn25.thm7/first-phase", "mn25.thm7/later-phases",
              "mn25.thm7/rate-times-steps", "mn25.thm7/rate-times-more-steps", "mn25.thm7/rate-is-small",
              "mn25.thm7/risk-of-the-last-noise", "mn25.thm7/sum-over-the-phases"),
    )
    .step(
        "order", r"\alpha+8\alpha+\frac{x}{2}=O(\alpha)", given=r"x\le\alpha", added=(_x,),
        where="Theorem 7, proof, 1st display, last line, x = eta L^2",
        uses=("mn25.thm7/rate-times-steps", "mn25.thm7/rate-times-more-steps", "mn25.thm7/rate-is-small"),
    )
    .step(
        "calls-so-far", r"C+T_{r}=(1-2^{-r})T", given=r"C=(1-2\cdot 2^{-r})T", added=(_calls,),
        where="Theorem 7, oracle evaluations, from r - 1 phases to r",
    )
    .whole(
        "calls", r"\sum_{r=1}^{k}(\frac{1}{2})^{r}T<T", added=(_phase, _last_phase),
        where="Theorem 7, oracle evaluations",
    )
    .condition(
        "smoothness", r"\frac{L^2}{\alpha}\le\frac{1}{2\eta}", given=_MANY,
        where="Theorem 7, proof: losses are L^2/alpha-smooth; assuming 1/(2 eta)",
        true_if="with 2/eta_r in place of 1/(2 eta), which is enough",
    )
    .corrected(
        "smoothness", r"\frac{L^2}{\alpha}\le\frac{2}{\eta_{r}}", given=r"\eta L^2\le\alpha",
        because="a step of eta_r is a contraction for (2/eta_r)-smooth losses, and L^2/alpha is below that",
        where="Theorem 7, proof: gradient steps are contractions",
        uses=("fmtt18.prop17", "fmtt18.prop18", "mn25.thm7/rate-is-small"),
    )
    .step(
        "sensitivity", r"\|w_t-\eta g_t-(w_t-\eta h_t)\|\le 2L\eta", given=r"\|g_t\|\le L, \|h_t\|\le L",
        added=(_w, _g, _g2), uses=("fmtt18.prop17", "fmtt18.prop18"),
        where="Theorem 7, proof: 2 L eta_r, from the one step whose loss changes; later steps are contractions",
    )
    .step(
        "noise-is-enough",
        r"\frac{2L\eta_{r}\sqrt{2(\log(n/\delta)+0.2232)}}{\sigma_{r}}\le\epsilon_{r}",
        where="Theorem 7, proof: epsilon_r; log(1.25 n/delta) is at most log(n/delta) + 0.2232",
        uses=("classical-gaussian-mechanism", "mn25.lem16/logarithm"),
    )
    .step(
        "epsilon-of-a-phase", r"\epsilon_{r}\leq\frac{1}{2^{r}}", given=_FEW,
        where="Theorem 7, proof, for a large alpha",
    )
    .corrected(
        "epsilon-of-a-phase", r"\epsilon_{r}=1", given=_FEW,
        because="rate and noise shrink alike, so epsilon_r does not depend on r; the factor 2^-r comes from the "
                "number of steps",
        true_if="with 1 in place of 2^-r", where="Theorem 7, proof, for a large alpha",
    )
    .step(
        "epsilon-with-a-small-alpha", r"\epsilon_{r}\leq\frac{1}{2^{r}}\frac{\alpha\sqrt{d}}{BL}", given=_MANY,
        where="Theorem 7, proof, for a small alpha",
    )
    .corrected(
        "epsilon-with-a-small-alpha", r"\epsilon_{r}=\frac{\alpha\sqrt{d\log(n/\delta)}}{BL}", given=_MANY,
        because="a root of log(n/delta) is left out",
        where="Theorem 7, proof, for a small alpha",
    )
    .condition(
        "epsilon-of-the-gaussian-mechanism", r"\frac{\alpha\sqrt{d\log(n/\delta)}}{BL}\le 1", given=_SMALL_ALPHA,
        where="Theorem 7, proof: epsilon_r is at most 1",
    )
    .step(
        "few-steps", rf"2^{{-r}}\frac{{BL{_BOTH}}}{{\alpha}}\leq n/2", letters=(_some_epsilon,),
        given=rf"\alpha\geq\frac{{BL}}{{{_BOTH}}}, {_ALPHA_STAR}",
        where="Theorem 7, proof, for a large alpha, with alpha >= 6 alpha*_{epsilon, delta}",
    )
    .corrected(
        "few-steps", r"T_{r}\leq n/2", given=rf"{_FEW}, {_ENOUGH}", letters=(_some_epsilon,),
        because="T_r has log(n/delta) where alpha* has log(1/delta)", consequence=EDGE,
        true_if="for delta of at most 1/n, where log(n/delta) is at most twice log(1/delta)",
        where="Theorem 7, proof, for a large alpha, with log(n/delta) in alpha*",
    )
    .step(
        "observation", r"\frac{1}{2^{r}}\frac{\alpha\sqrt{d}}{BL}\leq\frac{n}{2T_{r}}",
        given=rf"{_MANY}, \alpha\geq\alpha_{{1,\delta}}^{{*}}", consequence=EDGE,
        where="Theorem 7, proof, for a small alpha", true_if="for delta of at most exp(-1/4)",
    )
    .condition(
        "condition-of-lemma-6", rf"\frac{{\alpha{_BOTH}}}{{BL}}\leq\frac{{n}}{{2}}\cdot\frac{{2^r\alpha^2}}{{B^2L^2}}",
        given=rf"\alpha\le\frac{{BL}}{{{_BOTH}}}, {_ALPHA_STAR}", letters=(_some_epsilon,), uses=("mn25.lem6",),
        where="Theorem 7, proof: in either case; here for a small alpha, with alpha >= 6 alpha*_{epsilon, delta}",
    )
    .corrected(
        "condition-of-lemma-6", r"\epsilon_{r}\leq\frac{n}{2T_{r}}", given=rf"{_MANY}, {_ENOUGH}",
        letters=(_some_epsilon,), uses=("mn25.lem6",),
        because="epsilon_r has log(n/delta) where alpha* has log(1/delta)", consequence=EDGE,
        true_if="for delta of at most 1/n", where="Theorem 7, proof, for a small alpha, with log(n/delta) in alpha*",
    )
    .step(
        "both-are-one", r"\frac{BL\sqrt{d\log(n/\delta)}}{n\alpha}="
        r"\frac{B^{2}L^{2}}{\alpha^{2}n}\cdot\frac{\alpha\sqrt{d\log(n/\delta)}}{BL}",
        where="Theorem 7, proof, 2nd display, 1st line: the two parts of the maximum",
    )
    .step(
        "epsilon-of-a-sampled-phase",
        r"\frac{6T_{r}}{n}\epsilon_{r}\le\frac{6}{R}\frac{BL\sqrt{d\log(n/\delta)}}{n\alpha}",
        given=_FEW, added=(_phases,), uses=("mn25.lem6", "mn25.thm7/both-are-one"),
        where="Theorem 7, proof, 2nd display, 1st line, for a large alpha",
    )
    .corrected(
        "epsilon-of-a-sampled-phase", r"\frac{6T_{r}}{n}\epsilon_{r}=6\frac{\alpha^{*}_{\delta}}{2^{r}\alpha}",
        given=_FEW, because="1/R stands for 2^-r", true_if="with 2^-r in place of 1/R",
        uses=("mn25.lem6",), where="Theorem 7, proof, 2nd display, 1st line, for a large alpha",
    )
    .corrected(
        "epsilon-of-another-sampled-phase", r"\frac{6T_{r}}{n}\epsilon_{r}=6\frac{\alpha^{*}_{\delta}}{2^{r}\alpha}",
        given=_MANY, coverage="step", uses=("mn25.lem6",),
        where="Theorem 7, proof, 2nd display, 1st line, for a small alpha",
    )
    .step(
        "one-logarithm",
        rf"6\frac{{BL{_BOTH}}}{{n2^{{r}}\alpha}}\le 6\cdot 2^{{-r}}\frac{{\alpha_{{1,\delta}}^{{*}}}}{{\alpha}}",
        consequence=CONSTANT,
        where="Theorem 7, proof, last display: alpha*_{1, delta} in place of alpha*_delta, which has log(n/delta)",
        true_if="with log(n/delta) in alpha*",
    )
    .step(
        "factor-of-delta", r"6\epsilon_{r}T_{r}/n\le 6", given=r"\epsilon_{r}\leq\frac{n}{2T_{r}}",
        uses=("mn25.lem6",), where="Theorem 7, proof, 2nd display, 2nd line: the exponents",
    )
    .step(
        "share-of-delta", r"\frac{4T_{r}}{n}\frac{\delta}{n}\le 2^{-r}\delta", given=r"T\le\frac{n^2}{4}",
        uses=("mn25.lem6",), where="Theorem 7, proof, 2nd display, 2nd line",
    )
    .step(
        "deltas-add-up", r"e^{6}(1-2^{-R})\delta\le\delta", uses=("basic-composition",),
        where="Theorem 7, proof, end: by composition the algorithm is (epsilon, delta)-DP; the sum of e^6 2^-r delta",
    )
    .corrected(
        "deltas-add-up", r"1.65\cdot\frac{4T}{n^2}\le 1", given=rf"{_FEW}, {_ENOUGH}, n\ge 2",
        letters=(_some_epsilon,), uses=("basic-composition", "mn25.lem6", "mn25.thm7/exponent"),
        because="e^6 delta is 403 times what is claimed; the exponent is at most 1/2 and 4 T/n^2 small, "
                "which is enough",
        consequence=CONSTANT, true_if="with e^6 delta in place of delta",
        where="Theorem 7, proof, end: the sum of exp(1/2) 4 T_r/n delta/n, for a large alpha and two records or more",
    )
    .corrected(
        "more-deltas-add-up", r"1.65\cdot\frac{4T}{n^2}\le 1", given=rf"{_MANY}, {_ENOUGH}", coverage="step",
        letters=(_some_epsilon,), uses=("basic-composition", "mn25.lem6", "mn25.thm7/exponent"),
        where="Theorem 7, proof, end: the sum of exp(1/2) 4 T_r/n delta/n, for a small alpha",
    )
    .corrected(
        "exponent", r"6\frac{\alpha^{*}_{\delta}}{2^{r}\alpha}\le\frac{1}{2}", given=_ENOUGH, letters=(_some_epsilon,),
        coverage="step", where="Theorem 7, proof, 2nd display, 2nd line: 6 epsilon_r T_r/n",
    )
    .corrected("root-of-e", r"e^{1/2}\le 1.65", coverage="step", where="Theorem 7, proof, end")
    .step(
        "share-of-epsilon", r"S+2^{-r}=1-2^{-r}", given=r"S=1-2\cdot 2^{-r}", added=(_share,),
        where="Theorem 7, proof, last display: the sum of 2^-r, from r - 1 phases to r",
    )
    .corrected(
        "privacy", r"6\frac{\alpha^{*}_{\delta}}{\alpha}(1-2^{-R})<\epsilon", meant=_ENOUGH, coverage="whole",
        uses=("mn25.thm7/few-steps", "mn25.thm7/condition-of-lemma-6", "mn25.thm7/epsilon-of-a-sampled-phase",
              "mn25.thm7/epsilon-of-another-sampled-phase", "mn25.thm7/noise-is-enough", "mn25.thm7/sensitivity",
              "mn25.thm7/smoothness", "mn25.thm7/epsilon-of-the-gaussian-mechanism", "mn25.thm7/share-of-epsilon",
              "mn25.thm7/deltas-add-up", "mn25.thm7/more-deltas-add-up", "mn25.thm7/root-of-e", "basic-composition"),
        where="Theorem 7, privacy, with log(n/delta) in alpha* and two records or more",
    )
    .correction(
        latex=(
            r"\alpha\ge\frac{6BL\sqrt{d\log(n/\delta)}}{n\epsilon}\implies(\epsilon,\delta)\text{-DP, }"
            r"133\alpha\text{-accurate with }\tfrac12\log_2(BL/\alpha)\text{ phases}"
        ),
    )
)  # fmt: skip

STATEMENTS = (thm7.statement, lem16.statement)
