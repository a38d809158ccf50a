"""gll22, Section 5, Theorems 5.2 and 5.6: how many steps the alternating sampler needs."""

from __future__ import annotations

from dpverify.formulas.expressions import integer, real
from dpverify.formulas.units import LENGTH
from dpverify.formulas.vectors import vector
from dpverify.statements.gll22.symbols import G_exponent as G
from dpverify.statements.gll22.symbols import d
from dpverify.statements.gll22.symbols import mu_exponent as mu
from dpverify.statements.sheet import Sheet

_eta = real("eta", gt=0, unit=LENGTH**2, latex=r"\eta", meaning="step size")
_D = real("D", ge=0, unit=LENGTH, meaning="distance of the start from the minimizer")
_delta = real("delta", gt=0, lt="1/2", latex=r"\delta", meaning="accuracy")
_any_delta = real("delta", gt=0, le=1, latex=r"\delta", meaning="accuracy")
_v = real("v", gt=0, unit=LENGTH**2, meaning="variance of a coordinate")
_m = real("m", unit=LENGTH, meaning="mean of a coordinate")
_T, _steps = integer("T", ge=1, meaning="number of steps"), real("T", ge=0, meaning="number of steps")
_x = real("x", ge=0, le=1, meaning="eta mu")
_C = real("C", gt=0)
_NEXT_VARIANCE = r"\frac{v+\eta}{(1+\eta\mu)^2}+\frac{\eta}{1+\eta\mu}"
_TARGET = "the target N(0, 1/mu) in each coordinate, which the sampler's steps keep Gaussian"

_POINTS = (*(vector(name) for name in "wyug"), real("F_w", latex="F_w"), real("F_y", latex="F_y"))
_apart = real("r", ge=0, unit=LENGTH)
_t, _kl = real("t", ge=0, le=1), real("K", ge=0)
_number = real("T", ge=1, meaning="number of steps")
_log_step, _log_ratio = real("l", gt=0, latex=r"\ell"), real("lambda", ge=0, latex=r"\lambda")
_tv, _shrunk = real("TV", ge=0, le=1, latex=r"\mathrm{TV}"), real("q", ge=0)
_s = real("s", gt=0, meaning="bound of the start's distance over twice the noise")
_at_start = real("W", ge=0, unit=LENGTH)

thm5_2 = (
    Sheet(
        "gll22.thm5.2", (mu, d, _eta, _D, _any_delta, _v, _m, _x),
        title="Steps of the alternating sampler", where="Theorem 5.2",
        latex=r"\eta\leq\frac{1}{\mu},\ T\geq\Theta(\frac{1}{\eta\mu}\log(\frac{d/\mu+D^{2}}{\eta\delta}))\implies"
              r"\mathrm{TV}\le\delta",
        pairs=("gll22.alg1", "gll22.thm5.6"),
    )
    .condition(
        "logarithm-is-not-negative", r"\frac{d/\mu+D^{2}}{\eta\delta}\ge 1", given=r"\eta\leq\frac{1}{\mu}",
        where="Theorem 5.2, number of steps, for delta up to 1",
    )
    .step(
        "strong-monotonicity", r"\langle g,w-y\rangle\ge\mu\|w-y\|^2",
        given=r"F_y\ge F_w+\langle g,y-w\rangle+\frac{\mu}{2}\|y-w\|^2, F_w\ge F_y+\frac{\mu}{2}\|w-y\|^2",
        added=_POINTS, units=False, uses=("growth-at-a-minimizer",),
        where="Theorem 5.2, a proof: y is the minimizer x*, and g a subgradient at w; in the mean over the target the "
              "left "
              "side is at most d, so the mean square M of ||w - x*|| is at most d/mu",
    )
    .step(
        "start", r"\|w-u\|^2\le 2\|w-y\|^2+2\|u-y\|^2", added=_POINTS, units=False,
        where="Theorem 5.2, a proof: u is the start, whose distance from the target in W_2 is at most the root of "
              "2 M + 2 D^2",
    )
    .step(
        "contraction-of-a-step", r"\frac{r/\eta}{\mu+1/\eta}=\frac{r}{1+\eta\mu}", added=(_apart,),
        uses=("talagrand", "gll22.cor4.3"),
        where="Theorem 5.2, a proof: for y_t that are r apart the laws of x_t are mu + 1/eta-strongly log-concave, "
              "their "
              "logarithms differ by an r/eta-Lipschitz function, and so they are no farther apart in W_2",
    )
    .step(
        "last-noise", r"t\le\frac{r}{2\sqrt{\eta}}", given=r"t^2\le\frac{K}{2}, K\le\frac{r^2}{2\eta}",
        added=(_apart, _t, _kl), uses=("pinsker", "post-processing-of-divergences", "fmtt18.def10"),
        where="Theorem 5.2, a proof: the total variation t of what is made of y_T, for x_(T-1) that are r apart",
    )
    .step(
        "rate-of-a-step", r"\ln(1+x)\ge\frac{x}{2}", where="Theorem 5.2, a proof: x = eta mu, which is at most 1",
    )
    .step(
        "steps-are-enough", r"(1+x)e^{-T\ell}\le 2e^{-2\lambda}",
        given=r"\ell\ge\frac{x}{2}, T\ge\frac{4}{x}\lambda, x>0",
        added=(_number, _log_step, _log_ratio), uses=("gll22.thm5.2/rate-of-a-step",),
        where="Theorem 5.2, a proof: T - 1 contractions, with l = ln(1 + x), and T of at least 4 lambda/(eta mu) for "
              "lambda = log((d/mu + D^2)/(eta delta))",
    )
    .step(
        "start-over-the-noise", r"\frac{W}{2\sqrt{\eta}}\le s",
        given=r"W^2\le 2D^2+2\frac{d}{\mu}, s^2=\frac{d/\mu+D^2}{2\eta}", added=(_at_start, _s),
        uses=("gll22.thm5.2/strong-monotonicity", "gll22.thm5.2/start", "integration-by-parts"),
        where="Theorem 5.2, a proof: W is the distance of the start from the target in W_2",
    )
    .whole(
        "accuracy", r"\mathrm{TV}\le\delta",
        given=r"\mathrm{TV}\le qs, q\le 1, q\le 2(\frac{\delta}{2s^2})^2, 2s^2\ge 1", added=(_tv, _shrunk, _s),
        uses=("gll22.thm5.2/contraction-of-a-step", "gll22.thm5.2/last-noise", "gll22.thm5.2/steps-are-enough",
              "gll22.thm5.2/start-over-the-noise", "gll22.thm5.2/logarithm-is-not-negative"),
        where="Theorem 5.2, Theta(.) with the constant 4, for delta up to 1: q is what T - 1 steps leave of the "
              "distance "
              "of the start, and 2 s^2 is (d/mu + D^2)/eta",
    )
    .instance(
        "stationary", rf"{_NEXT_VARIANCE}=v", given=r"v=\frac{1}{\mu}", case=_TARGET,
        where="Theorem 5.2: the target is what a step leaves unchanged",
        catches=("the noise of the first half is lost", r"\frac{v}{(1+\eta\mu)^2}+\frac{\eta}{1+\eta\mu}=v"),
    )
    .instance(
        "contraction",
        rf"{_NEXT_VARIANCE}-\frac{{1}}{{\mu}}=\frac{{1}}{{(1+\eta\mu)^2}}(v-\frac{{1}}{{\mu}})", case=_TARGET,
        where="Theorem 5.2: a step makes the error of the variance smaller",
        catches=("the factor without its square",
        rf"{_NEXT_VARIANCE}-\frac{{1}}{{\mu}}=\frac{{1}}{{1+\eta\mu}}(v-\frac{{1}}{{\mu}})"),
    )
    .instance(
        "rate", r"\frac{1}{1+x}\le e^{-x/2}", case=_TARGET + "; x = eta mu, which is at most 1",
        where="Theorem 5.2: the factor of a step, so 1/(eta mu) steps shrink the error by a constant",
        catches=("the factor of two such steps", r"\frac{1}{1+x}\le e^{-x}"),
    )
)  # fmt: skip

_TV, _EXACT = r"\mathrm{TV}(x_T,\pi)", r"\mathrm{TV}(x_T^{*},\pi)"
_inner = real("delta_inner", gt=0, lt="1/2", latex=r"\delta_{\mathrm{inner}}")
_Lambda = real("Lambda", gt=0, latex=r"\log(T/\delta)")
_X, _K = real("X", gt=0, meaning="G^2/mu"), real("K", gt=0, meaning="constant of Theta(.)")
_log_b = real("l_B", gt=0, latex=r"\ell", meaning="log(G^2 (d/mu + D^2) / delta)")
_COUNT = r"C\frac{G^{2}}{\mu}\log^{2}(\frac{G^{2}\cdot(d/\mu+D^{2})}{\delta})"

thm5_6 = (
    Sheet(
        "gll22.thm5.6",
        (mu, G, d, _eta, _D, _delta, _inner, _T, _Lambda, _C,
         real("TV", ge=0, le=1, latex=_TV), real("TV_exact", ge=0, le=1, latex=_EXACT)),
        title="Steps and queries of the sampler", where="Theorem 5.6",
        latex=r"T=\Theta(\frac{G^{2}}{\mu}\log^{2}(\frac{G^{2}(d/\mu+D^{2})}{\delta}))\text{ steps, }O(1)"
              r"\text{ values each}",
        pairs=("gll22.alg1", "gll22.alg2", "gll22.thm5.2", "gll22.lem5.5", "gll22.thm6.4"),
    )
    .whole(
        "accuracy", rf"{_TV}\le\delta",
        given=rf"{_TV}\le {_EXACT}+T\delta_{{\mathrm{{inner}}}}, \delta_{{\mathrm{{inner}}}}=\delta/(2T), {_EXACT}"
              rf"\le\frac{{\delta}}{{2}}",
        uses=("triangle-inequality", "gll22.thm5.2", "gll22.lem5.5/accuracy"),
        where="Theorem 5.6, proof: inner errors of delta/(2T) add up to delta/2",
    )
    .step(
        "number-of-steps",
        r"\frac{1}{\eta\mu}=\frac{G^{2}\log(T/\delta)}{C\mu}", given=r"\eta=\frac{C}{G^{2}\log(T/\delta)}",
        uses=("gll22.thm5.2",),
        where="Theorem 5.6, proof: eta = Theta(G^-2 / log(T/delta)) gives G^2/mu times two logarithms",
    )
    .step(
        "logarithm-of-the-steps", r"3KX\ell^2\cdot\frac{1}{\delta}\le 3Ke^{3\ell}",
        given=r"\frac{X}{\delta}\le e^{\ell}", added=(_X, _K, _log_b),
        where="Theorem 5.6, proof: 2T/delta is at most this for T = K X l^2 steps, rounded up, X = G^2/mu and l = "
              "log(G^2 (d/mu + D^2)/delta); its logarithm is at most log(3K) + 3l",
    )
    .step(
        "logarithm-of-theorem-5.2", r"ae^{\ell}\le e^{a}e^{\ell}", added=(_log_b, real("a", ge=0)),
        uses=("gll22.thm5.2",),
        where="Theorem 5.6, proof: (d/mu + D^2)/(eta delta/2) is 2/C times the left side for eta = C/(G^2 a), a = "
              "log(2T/delta); its logarithm is at most log(2/C) + l + a",
    )
    .step(
        "logarithms-of-the-constants", r"\ln(3\cdot 10^{8})<20\text{ and }\ln(6144)<9\text{ and }\ln(2)>\frac{69}{100}",
        where="Theorem 5.6, proof: of C = 1/3072 of Lemma 5.5, and of K = 10^8",
    )
    .whole(
        "steps-are-enough", r"4\cdot 3072Xab\le 10^{8}X\ell^2",
        given=r"a\le 20+3\ell, b\le 9+\ell+a, \ell\ge\frac{69}{100}",
        added=(_X, _log_b, real("a", ge=0, meaning="log(2T/delta)"), real("b", ge=0, meaning="log of Theorem 5.2")),
        uses=("gll22.thm5.2/accuracy", "gll22.thm5.6/logarithm-of-the-steps", "gll22.thm5.6/logarithm-of-theorem-5.2",
              "gll22.thm5.6/logarithms-of-the-constants", "gll22.thm5.6/number-of-steps",
              "gll22.lem5.5/eta-for-eq13", "gll22.lem5.5/eta-for-eq15"),
        where="Theorem 5.6, Theta(.) with the constant 10^8, for G^2/mu = X of at least 1, so that l is at least ln 2: "
              "the 4 b/(eta mu) steps of Theorem 5.2, with accuracy delta/2 and eta = 1/(3072 G^2 log(2T/delta)), "
              "which Lemma 5.5 allows",
    )
    .whole(
        "values-a-step", r"N\le O(1)", given=r"N\le 48", added=(real("N", ge=0),),
        uses=("gll22.lem5.5/number-of-values-on-average",), where="Theorem 5.6, values of f_i per step, on average",
    )
    .whole(
        "samples-a-step", r"M\le O(1)", given=r"M\le 12", added=(real("M", ge=0),),
        uses=("gll22.lem5.5/number-of-samples-on-average",), where="Theorem 5.6, samples per step, on average",
    )
    .instance(
        "a-step-is-made", r"1\le\delta", given=rf"{_COUNT}=0",
        case="no step is made where G^2 (d/mu + D^2) = delta: the output is the initial point, and a point mass is 1 "
             "in total variation from a law that has a density",
        where="Theorem 5.6, number of steps, whatever the constant of Theta(.)",
        true_if="for G^2/mu of at least 1",
    )
    .condition(
        "step-size-of-theorem-5.2", r"\eta\le\frac{1}{\mu}", given=r"\eta=\frac{C}{G^{2}\log(T/\delta)}",
        true_if="for G^2/mu of at least 1",
        where="Theorem 5.6, proof: Theorem 5.2 requires eta <= 1/mu, whatever the constant",
    )
    .corrected(
        "step-size-of-theorem-5.2", r"\eta\le\frac{1}{\mu}",
        given=r"\eta=\frac{C}{G^{2}\log(T/\delta)}, G^2\ge\mu, C\le\frac{1}{3072}, \log(T/\delta)\ge\frac{69}{100}",
        because="Theorem 5.2 requires eta <= 1/mu, and for G^2/mu below 1 the printed step size may be larger",
        where="Theorem 5.6, proof, for G^2/mu of at least 1; T/delta is above 2",
    )
    .corrected(
        "logarithm-is-large", r"\frac{G^{2}\cdot(d/\mu+D^{2})}{\delta}>2", given=r"G^2\ge\mu", coverage="condition",
        because="the number of steps is 0 where G^2 (d/mu + D^2) = delta, for every constant, and far too small near "
                "it; for G^2/mu of at least 1 its logarithm is above ln 2",
        where="Theorem 5.6 for G^2/mu of at least 1: what the number of steps has in its logarithm",
    )
    .correction(replaces=("a-step-is-made",))
)  # fmt: skip

STATEMENTS = tuple(sheet.statement for sheet in (thm5_2, thm5_6))
