"""bst14, Appendix B: objective perturbation of the huberized hinge loss, and what it costs."""

from __future__ import annotations

from dpverify.formulas.expressions import expression, integer, real
from dpverify.formulas.units import DIMENSIONLESS, LENGTH, NATS, RECORDS
from dpverify.ledger.verdicts import Coverage
from dpverify.proving.language import continuously_differentiable
from dpverify.statements.sheet import Sheet

_point = real("z", unit=LENGTH)
_u, _v = real("u", unit=LENGTH), real("v", unit=LENGTH)
_h = real("h", gt=0, unit=LENGTH, meaning="half width of the smoothed part")
_steepness = real("k", gt=0, unit=DIMENSIONLESS / LENGTH, meaning="1/(2h)")
_MIDDLE = _point**2 / (4 * _h) + _point / 2 + _h / 4
_PIECES = ((expression(0), -_h), (_MIDDLE, _h))

huber = (
    Sheet(
        "bst14.huber-smooth", (_point, _u, _v, _h, _steepness),
        title="Smoothness of the huberized hinge", where="Appendix B",
        latex=(
            r"\hat f(z)=f(z)\text{ for }|z|>h,\ \hat f(z)=\frac{z^2}{4h}+\frac{z}{2}+\frac{h}{4}\text{ on }[-h,h]:"
            r"\ \hat f\text{ is twice continuously differentiable everywhere}"
        ),
        pairs=("bst14.alg-huber", "bst14.thmB.1"),
    )
    .define(r"\hat f(z)", r"\frac{z^2}{4h}+\frac{z}{2}+\frac{h}{4}", parameter=_point)
    .define("g(z)", r"\max(0,1-\max(0,\frac{1}{2}-kz))", parameter=_point)
    .whole("twice-continuously-differentiable", continuously_differentiable(_PIECES, _point, _point, 2),
           where="Appendix B, sentence after the definition")
    .corrected("once-continuously-differentiable", continuously_differentiable(_PIECES, _point, _point, 1),
               coverage=Coverage.WHOLE)
    .corrected("slope-is-lipschitz", r"g(u)\le g(v),\ g(v)-g(u)\le k(v-u)", given=r"u\le v", coverage=Coverage.WHOLE,
               where="Appendix B: the slope g is 0, then z/(2h) + 1/2, then 1; k = 1/(2h)")
    .corrected("second-derivative", r"\hat f''(z)=\frac{1}{2h}", given=r"-h\le z\le h", coverage=Coverage.STEP,
               where="Appendix B, inside the smoothed part")
    .corrected("slope-stays-a-hinge's", r"0\le\hat f'(z)\le 1", given=r"-h\le z\le h", coverage=Coverage.STEP,
               where="Appendix B, inside the smoothed part")
    .corrected("gradient-is-lipschitz-across-the-end", r"1-(\frac{u}{2h}+\frac{1}{2})\le\frac{v-u}{2h}",
               given=r"-h\le u\le h\le v", coverage=Coverage.STEP,
               where="Appendix B, from inside to the linear part")
    .correction("the second derivative jumps by 1/(2h) at both ends; the first is continuous and 1/(2h)-Lipschitz",
                latex=r"\hat f\in C^1,\qquad|\hat f'(u)-\hat f'(v)|\le\frac{1}{2h}|u-v|",
                replaces=("twice-continuously-differentiable",))
)  # fmt: skip

_n = integer("n", ge=1, unit=RECORDS, meaning="number of records")
_width = real("h", gt=0, meaning="half width of the smoothed part")
_theta = real("theta", ge=-2, le=2, latex=r"\theta")
_shift = real("u", meaning="theta - 1", stands_for=r"\theta-1")
_b = real("b", meaning="noise", latex="b")
_abs_b = real("b_abs", ge=0, latex="|b|", stands_for="number")
_epsilon = real("epsilon", gt=0, lt=1, unit=NATS, latex=r"\varepsilon")
_out = real("x", latex=r"\theta^{priv}")
_away = real("r", ge=0, latex=r"|\theta^{priv}-\hat\theta|")
_gap = real("g", ge=0, meaning="distance of the output to the minimizer of the loss")
_excess = real(
    "R",
    ge=0,
    meaning="expected excess risk",
    latex=r"\mathbb{E}\left[\mathcal{L}(\theta^{priv};D)-\mathcal{L}(\theta^*;D)\right]",
)
_log_n = real("l_n", gt=0, unit=NATS, latex=r"\log n")
_SLOPE = r"\frac{n}{3}(\frac{u}{2h}-\frac{1}{2})+\frac{2n}{3}(\frac{u}{2h}+\frac{1}{2})"
_LEVEL = r"\frac{\sqrt{8\cdot 4\log n}}{\varepsilon}"

lem_b2 = (
    Sheet(
        "bst14.lemB.2", (_n, _width, _theta, _shift, _abs_b, _epsilon, _out, _away, _gap, _excess, _log_n),
        title="Huberized objective perturbation on D1", where="Lemma B.2",
        latex=r"\mathbb{E}\left[\mathcal{L}(\theta^{priv};D_1)-\mathcal{L}(\theta^*;D_1)\right]=\Omega(n\cdot"
              r"\min\{1,h\})",
        pairs=("bst14.alg-huber", "bst14.thmB.1"), uses=("bst14.huber-smooth/slope-is-lipschitz",),
    )
    .define("s", _SLOPE)
    .step("minimizer-of-the-loss",
          r"\frac{n}{3}\max(0,1+1)+\frac{2n}{3}\max(0,-1-1)\le\frac{n}{3}\max(0,1+\theta)+"
          r"\frac{2n}{3}\max(0,-1-\theta)",
          where="Lemma B.2, proof: theta* = 1 for the data set D1 as printed")
    .corrected("minimizer-of-the-loss",
               r"\frac{n}{3}\max(0,1-1)+\frac{2n}{3}\max(0,1-1)\le\frac{n}{3}\max(0,1-\theta)+"
               r"\frac{2n}{3}\max(0,\theta-1)",
               because="for D1 as printed, theta* is -1; for the records (1, 1) and (-1, -1), which change the sign of "
                       "theta and no risk, it is 1",
               true_if="with theta* = -1, or with the signs of x exchanged",
               where="Lemma B.2, proof, D1 with n/3 records (x, y) = (1, 1) and 2n/3 records (-1, -1)")
    .step("slope", r"\frac{\partial}{\partial u}s=\frac{n}{2h}",
          where="Lemma B.2, proof: the smoothed loss is quadratic for theta = 1 + u in [1 - h, 1 + h]")
    .step("strong-convexity", r"\frac{n}{2h}\ge\frac{n}{6h}", uses=("bst14.lemB.2/slope",),
          where="Lemma B.2, proof: strong convexity at least n/(6 h)")
    .step("minimizer-of-the-smoothed-loss", r"s=0", given="u=-h",
          where="Lemma B.2, proof: the minimizer of the smoothed loss is said to be 1 - h")
    .corrected("minimizer-of-the-smoothed-loss", r"s=0", given=r"u=-\frac{h}{3}",
               because="the slopes of the two kinds of records cancel at 1 - h/3, not at 1 - h",
               true_if="with 1 - h/3, which only changes the constant of Omega( )",
               where="Lemma B.2, proof: the minimizer of the smoothed loss, 1 - h/3")
    .step("markov", r"2\Phi(1)-1\ge\frac{2}{3}",
          where="Lemma B.2, proof: |b| is within one deviation of 0 with probability 2/3, which the name of Markov's "
                "inequality does not give, and the normal law does")
    .step("optimality", r"\frac{n|\theta^{priv}-\hat\theta|}{3h}\le|b|",
          given=r"\frac{n}{2h}|\theta^{priv}-\hat\theta|\le|b|", uses=("bst14.lemB.2/slope",),
          where="Lemma B.2, proof, from the true strong convexity n/(2 h)")
    .step("distance", r"|\theta^{priv}-\hat\theta|\le\frac{3h|b|}{n}",
          given=r"\frac{n|\theta^{priv}-\hat\theta|}{3h}\le|b|", uses=("bst14.lemB.2/optimality",),
          where="Lemma B.2, proof")
    .step("position", r"\theta^{priv}\le 1-h+\frac{3h|b|}{n}",
          given=r"\frac{n}{2h}(\theta^{priv}-1)+\frac{n}{6}+\frac{\theta^{priv}}{4h\varepsilon}\le|b|, "
                r"\theta^{priv}\ge 0",
          where="Lemma B.2, proof: theta* - theta is said to be at least h (1 - 3 |b| / n)")
    .corrected("position", r"\theta^{priv}\le 1-\frac{h}{3}+\frac{2h|b|}{n}",
               given=r"\frac{n}{2h}(\theta^{priv}-1)+\frac{n}{6}+\frac{\theta^{priv}}{4h\varepsilon}\le|b|, "
                     r"\theta^{priv}\ge 0",
               because="the minimizer of the smoothed loss is 1 - h/3; the regularizer moves the output further down",
               uses=("bst14.lemB.2/minimizer-of-the-smoothed-loss",),
               true_if="with 1 - h/3 and 2 h, which only changes the constant of Omega( )",
               where="Lemma B.2, proof: where the slope of (9) is 0")
    .step("noise-is-small", rf"{_LEVEL}\le\frac{{n}}{{12}}", given=r"n\ge 12^2\cdot 32\frac{\log n}{\varepsilon^2n}",
          where="Lemma B.2, proof: delta at least n^(-4), |b| at most one deviation, n large enough")
    .whole("bound", rf"{_excess.latex}\ge\frac{{n}}{{27}}m",
           given=rf"{_excess.latex}\ge\frac{{2}}{{3}}\cdot\frac{{n}}{{3}}g, (g\ge\frac{{h}}{{3}}-\frac{{2h|b|}}{{n}}"
                 r"\text{ or }g\ge 1), |b|\le\frac{n}{12}, m\le h, m\le 1",
           added=(real("m", gt=0, meaning="min(1, h)"),),
           uses=("bst14.lemB.2/minimizer-of-the-loss", "bst14.lemB.2/position", "bst14.lemB.2/markov",
                 "bst14.lemB.2/noise-is-small"),
           where="Lemma B.2 with the constant 1/27 in Omega( ), n large enough that |b| <= n/12; slope n/3 below "
                 "theta*")
)  # fmt: skip

lem_b3 = (
    Sheet(
        "bst14.lemB.3", (_n, _width, _b, _abs_b, _epsilon, _out, _excess, _log_n, _theta),
        title="Huberized objective perturbation on D2", where="Lemma B.3",
        latex=r"\mathbb{E}\left[\mathcal{L}(\theta^{priv};D_2)-\mathcal{L}(\theta^*;D_2)\right]"
              r"=\Omega\left(\min\left\{\frac{1}{h},n\right\}\right)",
        pairs=("bst14.alg-huber", "bst14.thmB.1"), uses=("bst14.huber-smooth/slope-is-lipschitz",),
    )
    .step("regularization", r"2\cdot\frac{1}{8h\varepsilon}=\frac{1}{2\varepsilon}\cdot\frac{1}{2h}",
          uses=("bst14.huber-smooth/slope-is-lipschitz",),
          where="Appendix B, (9): Delta is beta / (2 epsilon) for beta = 1/(2 h)")
    .step("slope-of-the-regularizer", r"\frac{\partial}{\partial\theta}(\frac{\theta^2}{8h\varepsilon})"
                                      r"=\frac{\theta}{4h\varepsilon}", where="Lemma B.3, proof, (10), first term")
    .step("number-of-records", r"(\frac{n}{2}-\frac{1}{32h\varepsilon})+(\frac{n}{2}+\frac{1}{32h\varepsilon})=n",
          where="Lemma B.3: the records of D2, where n/2 is at least 1/(32 h epsilon)")
    .step("slope", r"(\frac{n}{2}-\frac{1}{32h\varepsilon})-(\frac{n}{2}+\frac{1}{32h\varepsilon})"
                   r"=-\frac{1}{16h\varepsilon}",
          where="Lemma B.3, proof: slope of the smoothed loss, where n/2 is at least 1/(32 h epsilon), else it is -n")
    .step("solution", r"\theta^{priv}=\min(\frac{1}{4},4nh\varepsilon)+4bh\varepsilon",
          given=r"\frac{\theta^{priv}}{4h\varepsilon}+b-\min(\frac{1}{16h\varepsilon},n)=0",
          where="Lemma B.3, proof, after (10)")
    .corrected("solution", r"\theta^{priv}=\min(\frac{1}{4},4nh\varepsilon)-4bh\varepsilon",
               given=r"\frac{\theta^{priv}}{4h\varepsilon}+b-\min(\frac{1}{16h\varepsilon},n)=0",
               because="a sign is wrong, which does not matter, since the noise is symmetric",
               where="Lemma B.3, proof, after (10)")
    .step("output", r"\theta^{priv}\le\varepsilon", given=r"\theta^{priv}\le\frac{1}{4}+4|b|h\varepsilon",
          uses=("bst14.lemB.3/solution",),
          where="Lemma B.3, proof, where epsilon is read in the gap that the PDF leaves")
    .corrected("output", r"\theta^{priv}\le\frac{1}{2}",
               given=r"\theta^{priv}\le\frac{1}{4}+4|b|h\varepsilon, |b|h\varepsilon\le\frac{1}{16}",
               uses=("bst14.lemB.3/solution", "bst14.lemB.3/noise-is-small"),
               because="without noise the output is 1/4, which may be above epsilon; it is at most 1/2 for n large "
                       "enough",
               where="Lemma B.3, proof",
               true_if="for epsilon above 1/4 and n large enough; with 1/2, only the constant of Omega( ) changes")
    .step("noise-is-small", rf"{_LEVEL}h\varepsilon\le\frac{{1}}{{16}}",
          given=r"h\log n\le 1, \log n\ge 8192",
          where="Lemma B.3, proof: h < 1/log(n), delta at least n^(-4), |b| at most one deviation; n large enough")
    .whole("bound", rf"{_excess.latex}\ge\frac{{m}}{{48}}",
           given=rf"{_excess.latex}\ge\frac{{2}}{{3}}(1-\theta^{{priv}})k, \theta^{{priv}}\le\frac{{1}}{{2}}, "
                 rf"k\ge\frac{{m}}{{16}}",
           added=(real("m", gt=0, meaning="min(1/h, n)"), real("k", gt=0, meaning="min(1/(16 h epsilon), n)")),
           uses=("bst14.lemB.3/output", "bst14.lemB.3/slope", "bst14.lemB.2/markov"),
           where="Lemma B.3 with the constant 1/48 in Omega( ), epsilon < 1 and n large enough")
)  # fmt: skip

_large = real("l_n", gt=0, unit=NATS, latex=r"\log(n)")
_risk_1, _risk_2 = (real(f"R_{i}", ge=0, meaning=f"excess risk on D{i}", latex=f"R_{i}") for i in (1, 2))

thm_b1 = (
    Sheet(
        "bst14.thmB.1", (_n, _width, _large, _risk_1, _risk_2),
        title="Huberization costs sqrt(n)", where="Theorem B.1",
        latex=r"\mathbb{E}\left[\mathcal{L}(\theta^{priv};D)-\mathcal{L}(\theta^*;D)\right]"
              r"=\Omega\left(\min\left(n,\max\left\{nh,\frac{1}{h}\right\}\right)\right)=\Omega(\sqrt{n})",
        pairs=("bst14.alg-huber", "bst14.lemB.2", "bst14.lemB.3"), uses=("bst14.lemB.2", "bst14.lemB.3"),
    )
    .step("geometric-mean", r"nh\cdot\frac{1}{h}=(\sqrt{n})^2",
          where="Theorem B.1: why the larger one is at least sqrt(n)")
    .step("larger-of-two", r"(\sqrt{n}\le nh\text{ or }\sqrt{n}\le\frac{1}{h})", where="Theorem B.1, last equality")
    .step("not-above-n", r"\sqrt{n}\le n", where="Theorem B.1, last equality: the smaller one")
    .step("wide", r"\sqrt{n}\le n\cdot h", given=r"h\ge\frac{1}{\log(n)}, \log(n)\le\sqrt{n}",
          where="Theorem B.1, end of the proof: h of at least 1/log(n), where Lemma B.3 says nothing")
    .step("logarithm", r"\ln n\le\sqrt{n}", box={"n": (1, 10**6)},
          where="Theorem B.1, end of the proof: 1/log(n) is at least 1/sqrt(n)")
    .whole("narrow", r"R\ge\frac{\sqrt{n}}{48}", given=r"R\ge\frac{m}{48}, (m\ge\frac{1}{h}\text{ or }m\ge n), "
                                                      r"h\le\frac{1}{\sqrt{n}}",
           added=(real("R", ge=0), real("m", gt=0, meaning="min(1/h, n)")), uses=("bst14.lemB.3",),
           where="Theorem B.1, end of the proof: h at most 1/sqrt(n), by Lemma B.3")
    .whole("not-narrow", r"R\ge\frac{\sqrt{n}}{27}", given=r"R\ge\frac{n}{27}m, (m\ge h\text{ or }m\ge 1), "
                                                          r"h\ge\frac{1}{\sqrt{n}}",
           added=(real("R", ge=0), real("m", gt=0, meaning="min(1, h)")),
           uses=("bst14.lemB.2", "bst14.thmB.1/not-above-n"),
           where="Theorem B.1, end of the proof: h at least 1/sqrt(n), by Lemma B.2")
    .whole("rate-where-narrow", r"R\ge\frac{1}{48}\min\{n,\max\{nh,\frac{1}{h}\}\}",
           given=r"R\ge\frac{m}{48}, (m\ge\frac{1}{h}\text{ or }m\ge n), nh^2\le 1",
           added=(real("R", ge=0), real("m", gt=0, meaning="min(1/h, n)")), uses=("bst14.lemB.3",),
           where="Theorem B.1, the first Omega( ): h at most 1/sqrt(n), by Lemma B.3")
    .whole("rate-where-not-narrow", r"R\ge\frac{1}{27}\min\{n,\max\{nh,\frac{1}{h}\}\}",
           given=r"R\ge\frac{n}{27}m, (m\ge h\text{ or }m\ge 1), nh^2\ge 1",
           added=(real("R", ge=0), real("m", gt=0, meaning="min(1, h)")), uses=("bst14.lemB.2",),
           where="Theorem B.1, the first Omega( ): h at least 1/sqrt(n), by Lemma B.2")
)  # fmt: skip
