"""gll22, Section 6.2: stability, and the excess population loss of the regularized exponential mechanism."""

from __future__ import annotations

from dpverify.formulas.expressions import Variable, real
from dpverify.formulas.units import LENGTH, LOSS, NATS
from dpverify.statements.gll22.guarantees import DELTA_OF, delta_at_epsilon, shift, with_privacy
from dpverify.statements.gll22.symbols import D, G, d, epsilon, k, mu, mu_exponent, n
from dpverify.statements.sheet import Sheet

_E = r"\operatorname*{\mathbb{E}}"
_OVER = rf"{_E}_{{\mathcal{{D}},x\sim\pi_{{\mathcal{{D}}}}}}"


def _loss(name: str, latex: str) -> Variable:
    return real(name, unit=LOSS, latex=latex)


_A, _A_NEW = r"\mathcal{A}(\mathcal{D})", r"\mathcal{A}(\mathcal{D}^{\prime})"
_LEFT = rf"{_E}_{{\mathcal{{D}}}}[\widehat{{F}}({_A})-F({_A};\mathcal{{D}})]"
_RIGHT = (
    rf"{_E}_{{\mathcal{{D}},s^{{\prime}}\sim\mathcal{{P}},\mathcal{{A}}}}\Big{{[}}f({_A};s^{{\prime}})"
    rf"-f({_A_NEW};s^{{\prime}})\Big{{]}}"
)
_population, _empirical, _fresh, _exchanged = (
    _loss("F_hat", rf"{_E}[\widehat{{F}}({_A})]"), _loss("F_D", rf"{_E}[F({_A};\mathcal{{D}})]"),
    _loss("f_fresh", rf"{_E}[f({_A};s^{{\prime}})]"), _loss("f_own", rf"{_E}[f({_A_NEW};s^{{\prime}})]"),
)  # fmt: skip
_p = real("p", ge=0, le=1, meaning="probability of the second record")
_f00, _f01, _f10, _f11 = (
    real(f"f{i}{j}", unit=LOSS, latex=f"f_{{{i}{j}}}", meaning=f"loss of record {j} at the output for record {i}")
    for i in (0, 1) for j in (0, 1)
)  # fmt: skip
_EXCHANGED_INSTANCE = r"(1-p)p\cdot(f_{01}-f_{11})+p(1-p)(f_{10}-f_{00})"

_own_mean, _new_mean, _named = (
    _loss(name, latex) for name, latex in (("a_n", "a_n"), ("b_n", "b_n"), ("c", "c"))
)
_own_sum, _new_sum = _loss("A", "A"), _loss("B", "B")
_of_two = tuple(
    real(f"g{a}{b}{c}", unit=LOSS, latex=f"g_{{{a}{b}{c}}}", meaning=f"loss of record {c} at the output for ({a}, {b})")
    for a in (0, 1) for b in (0, 1) for c in (0, 1)
)  # fmt: skip
_MASS = ("(1-p)", "p")
_TWO_RECORDS_LEFT = "+".join(
    rf"{_MASS[a]}{_MASS[b]}((1-p)g_{{{a}{b}0}}+pg_{{{a}{b}1}}-\frac{{g_{{{a}{b}{a}}}+g_{{{a}{b}{b}}}}}{{2}})"
    for a in (0, 1) for b in (0, 1)
)  # fmt: skip
_TWO_RECORDS_RIGHT, _FIRST_REPLACED = (
    "+".join(
        rf"{_MASS[a]}{_MASS[b]}{_MASS[c]}\cdot(g_{{{a}{b}{c}}}-{exchanged})"
        for a in (0, 1) for b in (0, 1) for c in (0, 1)
        for exchanged in (
            (rf"\frac{{g_{{{c}{b}{c}}}+g_{{{a}{c}{c}}}}}{{2}}",) if either else (rf"g_{{{c}{b}{c}}}",)
        )
    )
    for either in (True, False)
)  # fmt: skip

lem6_6 = (
    Sheet(
        "gll22.lem6.6",
        (_loss("left", _LEFT), _loss("right", _RIGHT), _population, _empirical, _fresh, _exchanged,
         _p, _f00, _f01, _f10, _f11),
        title="Generalization error by an exchanged record", where="Lemma 6.6", latex=f"{_LEFT}={_RIGHT}",
        pairs=("gll22.thm6.7",),
    )
    .step(
        "one-more-place", r"A+a_n=B+b_n", given="A=B, a_n=c, b_n=c",
        added=(_own_mean, _new_mean, _named, _own_sum, _new_sum), uses=("independent-records-are-exchangeable",),
        where="Lemma 6.6: a_n is the mean of f(A(D); s_n), b_n that of f(A(D'); s') where s' has the place of s_n; "
              "the two pairs of data and record have the same law, and the mean c; the sums go from n - 1 to n places",
    )
    .whole(
        "identity", f"{_LEFT}={_RIGHT}",
        given=rf"{_LEFT}={_population.latex}-({_empirical.latex}), {_RIGHT}={_fresh.latex}-({_exchanged.latex}), "
              rf"{_population.latex}={_fresh.latex}, {_empirical.latex}=\frac{{A}}{{n}}, "
              rf"{_exchanged.latex}=\frac{{B}}{{n}}, A=B",
        added=(_own_sum, _new_sum, n),
        uses=("independent-of-a-fresh-record", "gll22.lem6.6/one-more-place"),
        where="Lemma 6.6: F(x; D) is the mean of f(x; s_i) over the records, and the replaced record is any of them "
              "with "
              "probability 1/n",
    )
    .instance(
        "two-records-of-two-kinds", _TWO_RECORDS_LEFT + "=" + _TWO_RECORDS_RIGHT, added=_of_two,
        case="two records, each of one of two kinds, and an algorithm that is not random and may tell their order",
        where="Lemma 6.6", catches=("the first record alone is replaced", _TWO_RECORDS_LEFT + "=" + _FIRST_REPLACED),
    )
    .instance(
        "one-record-of-two-kinds",
        r"(1-p)((1-p)f_{00}+pf_{01}-f_{00})+p((1-p)f_{10}+pf_{11}-f_{11})=" + _EXCHANGED_INSTANCE,
        case="one record, of one of two kinds, and an algorithm that is not random", where="Lemma 6.6",
        catches=("the wrong sign", r"(1-p)((1-p)f_{00}+pf_{01}-f_{00})+p((1-p)f_{10}+pf_{11}-f_{11})=-("
                 + _EXCHANGED_INSTANCE + ")"),
    )
)  # fmt: skip

_PI, _PI_NEW = r"\pi_{\mathcal{D}}", r"\pi_{\mathcal{D}^{\prime}}"
_W = rf"\mathrm{{W}}_{{2}}({_PI},{_PI_NEW})"
_KL = rf"\mathrm{{D}}_{{KL}}({_PI},{_PI_NEW})"
_w = real("W", ge=0, unit=LENGTH, latex=_W)
_kl = real("KL", ge=0, unit=NATS, latex=_KL)
_POPULATION, _MIN = rf"{_OVER}[\widehat{{F}}(x)]", r"\min_{x\in\mathcal{K}}\widehat{F}(x)"
_GAP = rf"{_OVER}[\widehat{{F}}(x)-F(x;\mathcal{{D}})]"
_MEAN_MIN = rf"{_E}_{{\mathcal{{D}}}}[\min_{{x\in\mathcal{{K}}}}F(x;\mathcal{{D}})]"
_EXCESS = rf"{_OVER}[F(x;\mathcal{{D}})-\min_{{x\in\mathcal{{K}}}}F(x;\mathcal{{D}})]"
_SAMPLED = rf"{_E}_{{\mathcal{{D}},s^{{\prime}}\sim\mathcal{{P}}}}"
_STABLE = (
    rf"{_SAMPLED}\left[{_E}_{{x\sim{_PI}}}f(x;s^{{\prime}})"
    rf"-{_E}_{{x^{{\prime}}\sim{_PI_NEW}}}f(x^{{\prime}};s^{{\prime}})\right]"
)
_DIFFERENCES = (
    rf"{_SAMPLED}\left[{_E}_{{x\sim{_PI}}}\left[f(x;s^{{\prime}})-f(x;s^{{\prime\prime}})\right]"
    rf"-{_E}_{{x^{{\prime}}\sim{_PI_NEW}}}\left[f(x^{{\prime}};s^{{\prime}})"
    rf"-f(x^{{\prime}};s^{{\prime\prime}})\right]\right]"
)
_INFORMAL = rf"{_E}[\widehat{{F}}(x^{{(sol)}})]"
_empirical_mean = _loss("mean_F", rf"{_OVER}[F(x;\mathcal{{D}})]")
_a1, _a2, _b1, _b2 = (
    real(name, unit=LOSS, latex=latex)
    for name, latex in (("a1", "a_1"), ("a2", "a_2"), ("b1", "b_1"), ("b2", "b_2"))
)
_CHAIN = (
    rf"{_MEAN_MIN}\le {_MIN}, {_GAP}={_POPULATION}-({_empirical_mean.latex}), "
    rf"{_EXCESS}={_empirical_mean.latex}-({_MEAN_MIN}), {_GAP}\le G\cdot{_W}, ({_W})^2\le\frac{{2}}{{k\mu}}{_KL}, "
    rf"{_KL}\le\frac{{k\cdot(G/n)^2}}{{2\mu}}, {_EXCESS}\le\frac{{d}}{{k}}"
)

_sd, _shift_of_means = real("v", gt=0, unit=LENGTH), real("m", unit=LENGTH)

thm6_7 = (
    Sheet(
        "gll22.thm6.7",
        (n, d, k, mu, G, _w, _kl, _loss("population", _POPULATION), _loss("min_F", _MIN), _loss("gap", _GAP),
         _loss("mean_min", _MEAN_MIN), _loss("excess", _EXCESS), _loss("stable", _STABLE),
         _loss("differences", _DIFFERENCES), _loss("informal", _INFORMAL), _empirical_mean, _a1, _a2, _b1, _b2),
        title="Stability and excess population loss", where="Theorem 6.7",
        latex=rf"{_W}\leq\frac{{G}}{{n\mu}},\quad {_POPULATION}-{_MIN}\leq\frac{{G^{{2}}}}{{\mu n}}+\frac{{d}}{{k}}",
        pairs=("gll22.cor4.3", "gll22.lem6.6", "gll22.thm6.8"),
    )
    .step(
        "divergence", rf"{_KL}\leq\frac{{G^{{2}}k}}{{2n^{{2}}\mu}}", given=rf"{_KL}\le\frac{{k\cdot(G/n)^2}}{{2\mu}}",
        uses=("gll22.cor4.3",),
        where="Theorem 6.7, proof, 2nd display: one record changes F(x; D) by a G/n-Lipschitz function",
    )
    .step(
        "transport", rf"{_W}\leq\sqrt{{\frac{{2}}{{k\mu}}{_KL}}}\leq\frac{{G}}{{n\mu}}",
        given=rf"{_W}\leq\sqrt{{\frac{{2}}{{k\mu}}{_KL}}}, {_KL}\leq\frac{{G^{{2}}k}}{{2n^{{2}}\mu}}",
        uses=("talagrand", "gll22.thm6.7/divergence"), where="Theorem 6.7, proof, 3rd display",
    )
    .whole(
        "stability", rf"{_W}\leq\frac{{G}}{{n\mu}}",
        given=rf"({_W})^2\le\frac{{2}}{{k\mu}}{_KL}, {_KL}\le\frac{{k\cdot(G/n)^2}}{{2\mu}}",
        uses=("talagrand", "gll22.cor4.3"), where="Theorem 6.7, first display: Corollary 4.3 with G/n for G",
    )
    .instance(
        "talagrand-for-gaussians",
        r"v^2-2\frac{v}{\sqrt{\mu}}+\frac{1}{\mu}+m^2\le\frac{2}{\mu}\cdot\frac{1}{2}(v^2\mu-1-\ln(v^2\mu)+\mu m^2)",
        added=(_sd, _shift_of_means), letters=(mu_exponent,),
        case="pi = N(0, 1/mu) and nu = N(m, v^2) on the line",
        where="Theorem 6.5, squared: both sides as they are for these laws",
        catches=("half of it", r"v^2-2\frac{v}{\sqrt{\mu}}+\frac{1}{\mu}+m^2\le\frac{1}{\mu}\cdot"
                 r"\frac{1}{2}(v^2\mu-1-\ln(v^2\mu)+\mu m^2)"),
    )
    .instance(
        "attained", rf"\frac{{G}}{{n\mu}}\le {_W}", given=rf"{_W}=\frac{{G/n}}{{\mu}}",
        case="losses mu ||x||^2 / 2 + <g, x> on all of R^d, of which one's g is replaced by one G away: Gaussian "
             "laws that differ by a shift",
        where="Theorem 6.7, first display: no smaller bound holds",
        catches=("a hundredth more", rf"1.01\cdot\frac{{G}}{{n\mu}}\le {_W}"),
    )
    .step(
        "arbitrary-record", r"a_1-a_2=(a_1-b_1)-(a_2-b_2)", given="b_1=b_2",
        where="Theorem 6.7, proof, 4th display, line 2: s'' is fixed, so D and D' give the same mean of f(x; s'')",
    )
    .step(
        "generalization", rf"{_GAP}\le\frac{{G^2}}{{n\mu}}",
        given=rf"{_GAP}={_STABLE}, {_STABLE}={_DIFFERENCES}, {_DIFFERENCES}\le G\cdot{_W}, {_W}\le\frac{{G}}{{n\mu}}",
        uses=("gll22.lem6.6", "gll22.thm6.7/arbitrary-record", "gll22.thm6.7/stability", "wasserstein-of-lipschitz"),
        where="Theorem 6.7, proof, 4th display",
    )
    .step(
        "minimum-of-the-mean",
        rf"{_POPULATION}-{_MIN}\leq ~{{}}{_POPULATION}-{_MEAN_MIN}", given=rf"{_MEAN_MIN}\le {_MIN}",
        uses=("minimum-of-a-mean",), where="Theorem 6.7, proof, 5th display, line 1",
    )
    .step(
        "two-parts", rf"{_POPULATION}-{_MEAN_MIN}\leq ~{{}}{_GAP}+{_EXCESS}",
        given=rf"{_GAP}={_POPULATION}-({_empirical_mean.latex}), {_EXCESS}={_empirical_mean.latex}-({_MEAN_MIN})",
        where="Theorem 6.7, proof, 5th display, line 2",
    )
    .step(
        "first-part",
        rf"{_GAP}+{_EXCESS}\leq ~{{}}\frac{{G^{{2}}}}{{n\mu}}+{_EXCESS}\leq ~{{}}\frac{{G^{{2}}}}{{n\mu}}"
        rf"+\frac{{d}}{{k}}",
        given=rf"{_GAP}\le\frac{{G^2}}{{n\mu}}, {_EXCESS}\le\frac{{d}}{{k}}", uses=("gll22.thm6.7/generalization",
        "gll22.lem6.1"),
        where="Theorem 6.7, proof, 5th display, lines 3 and 4",
    )
    .whole(
        "population-loss", rf"{_POPULATION}-{_MIN}\leq\frac{{G^{{2}}}}{{\mu n}}+\frac{{d}}{{k}}", given=_CHAIN,
        uses=("minimum-of-a-mean", "gll22.lem6.6", "gll22.thm6.7/arbitrary-record", "wasserstein-of-lipschitz",
              "talagrand", "gll22.cor4.3", "gll22.lem6.1"),
        where="Theorem 6.7, second display, from what the proof cites and Corollary 4.3 with G/n for G",
    )
    .reference(
        "theorem-2.2", rf"{_INFORMAL}-{_MIN}\leq\frac{{G^{{2}}}}{{\mu n}}+\frac{{d}}{{k}}",
        given=rf"{_INFORMAL}={_POPULATION}, {_POPULATION}-{_MIN}\leq\frac{{G^{{2}}}}{{n\mu}}+\frac{{d}}{{k}}",
        uses=("gll22.thm6.7/population-loss",), where="Theorem 2.2, which says the same",
    )
)  # fmt: skip

_released, _best = (
    _loss("F_x", r"\mathbb{E}[\widehat{F}(x^{(priv)})]"),
    _loss("F_best", r"\widehat{F}(x^{*})"),
)
_LOSS = rf"{_released.latex}-{_best.latex}"
_least = _loss("F_min", r"\min_{x\in\mathcal{K}}\widehat{F}(x)")
_PROVED = rf"{_released.latex}-{_least.latex}\le\frac{{G^{{2}}}}{{\mu n}}+\frac{{d}}{{k}}, {_least.latex}={_best.latex}"
_norm2 = real("norm2", ge=0, unit=LENGTH**2, latex=r"\mathbb{E}\|x^{(priv)}\|_{2}^{2}")
_star = real("x_star", ge=0, unit=LENGTH, latex=r"\|x^{*}\|_{2}")
_REGULARIZED = (
    rf"{_released.latex}+\frac{{\mu}}{{2}}{_norm2.latex}\le {_best.latex}+\frac{{\mu}}{{2}}\|x^{{*}}\|_{{2}}^2"
    r"+\frac{G^{2}}{\mu n}+\frac{d}{k}, \|x^{*}\|_{2}\le D"
)
_thm6_8 = (
    Sheet(
        "gll22.thm6.8", (epsilon, n, d, k, mu, G, D, shift, delta_at_epsilon, _released, _best, _norm2, _star),
        title="Private stochastic convex optimization", where="Theorem 6.8",
        latex=rf"\delta(\varepsilon)\leq{DELTA_OF},\quad {_LOSS}\le\frac{{G}}{{n\mu}}+\frac{{d}}{{k}}"
              rf"+\frac{{\mu D^{{2}}}}{{2}}",
        pairs=("gll22.rem", "gll22.thm6.2", "gll22.thm6.7", "gll22.thm6.9"),
    )
    .whole(
        "risk", rf"{_LOSS}\le\frac{{G}}{{n\mu}}+\frac{{d}}{{k}}+\frac{{\mu D^{{2}}}}{{2}}",
        given=_REGULARIZED, uses=("gll22.thm6.7", "gll22.thm6.2/center-in-the-set"),
        where="Theorem 6.8, excess population loss: what Theorem 6.7 gives for the regularized losses",
    )
    .corrected(
        "risk", rf"{_LOSS}\le\frac{{G^{{2}}}}{{n\mu}}+\frac{{d}}{{k}}+\frac{{\mu D^{{2}}}}{{2}}",
        given=_REGULARIZED, uses=("gll22.thm6.7", "gll22.thm6.2/center-in-the-set"),
        because="the first term has the unit of a length, not of a loss: it is G^2 / (n mu), as Theorem 6.7 has it",
        true_if="with G^2 in place of G", where="Theorem 6.8, excess population loss, with G^2",
    )
    .whole(
        "risk-of-strongly-convex-losses", rf"{_LOSS}\le\frac{{G}}{{n\mu}}+\frac{{d}}{{k}}", given=_PROVED,
        added=(_least,), uses=("gll22.thm6.7",),
        where="Theorem 6.8, losses that are mu-strongly convex themselves",
    )
    .corrected(
        "risk-of-strongly-convex-losses", rf"{_LOSS}\le\frac{{G^{{2}}}}{{n\mu}}+\frac{{d}}{{k}}", given=_PROVED,
        added=(_least,), uses=("gll22.thm6.7",), true_if="with G^2 in place of G",
        where="Theorem 6.8, losses that are mu-strongly convex themselves, with G^2",
    )
)  # fmt: skip

thm6_8 = with_privacy(_thm6_8, "Theorem 6.8", "; the proof cites Theorem 6.4 for Theorem 6.2")

_L = r"\log(3/(4\delta))"
_inner = real("l_34", gt=2, unit=NATS, latex=_L, meaning="above ln 7.5")
_level = real("l", gt="23/10", unit=NATS, latex=r"\log(1/\delta)", meaning="above ln 10")
_small = real("epsilon", gt=0, lt="1/10", unit=NATS, latex=r"\varepsilon")
_tau = real("tau", ge=0, latex=r"\tau", meaning="sampling error in total variation", stands_for="number")
_delta = real("delta", gt=0, lt="1/10", latex=r"\delta")
_t, _y, _q = real("t", ge=2), real("y", gt=0), real("q", gt=0)
_a, _M = real("a", gt=0), real("M", gt=0)
_u, _v = real("u", ge=0), real("v", ge=0)
_K = rf"\frac{{\mu}}{{G^{{2}}}}\min\{{\frac{{\varepsilon^{{2}}n^{{2}}}}{{2{_L}}},2nd\}}"
_MAX = rf"\max\left\{{\frac{{2{_L}d}}{{\varepsilon^{{2}}n^{{2}}}},\frac{{1}}{{2n}}\right\}}"
_MU = rf"\frac{{G}}{{D}}\sqrt{{2(\frac{{2{_L}d}}{{\varepsilon^{{2}}n^{{2}}}}+\frac{{1}}{{2n}})}}"
_RISK = r"\frac{d}{k}+\frac{\mu D^{2}}{2}+\frac{G^{2}}{\mu n}"
_SUM = rf"GD\sqrt{{\frac{{4{_L}d}}{{\varepsilon^{{2}}n^{{2}}}}+\frac{{1}}{{n}}}}+GD\sqrt{{\frac{{1}}{{n}}}}"
_FINAL = rf"GD\left(\frac{{2\sqrt{{{_L}d}}}}{{\varepsilon n}}+\frac{{2}}{{\sqrt{{n}}}}\right)"
_STATED = r"GD\left(\frac{2\sqrt{\log(1/\delta)d}}{\varepsilon n}+\frac{2}{\sqrt{n}}\right)"

thm6_9 = (
    Sheet(
        "gll22.thm6.9", (_small, n, d, k, mu, G, D, _inner, _level, _tau, _delta, _released, _best),
        title="Private stochastic convex optimization, with the sampler", where="Theorem 6.9",
        latex=rf"(\varepsilon,\delta)\text{{-DP, }}{_LOSS}\le {_STATED}",
        pairs=("gll22.rem", "gll22.thm6.8", "gll22.thm5.6", "gll22.cor7.6"),
    )
    .define("s", rf"\frac{{\varepsilon}}{{\sqrt{{2{_L}}}}}")
    .define(r"2\delta/3", rf"\frac{{1}}{{2}}e^{{-{_L}}}")
    .step(
        "shift",
        r"\frac{G^2}{n^2\mu}k\le s^2", given=rf"k\leq\frac{{\varepsilon^{{2}}n^{{2}}\mu}}{{2G^{{2}}{_L}}}",
        uses=("gll22.thm6.8",), where="Theorem 6.9, proof: k up to epsilon^2 n^2 mu / (2 G^2 log(3/(4 delta)))",
    )
    .step(
        "smaller-k-is-allowed", rf"{_K}\leq\frac{{\varepsilon^{{2}}n^{{2}}\mu}}{{2G^{{2}}{_L}}}",
        where="Theorem 6.9, proof: the k that is set is one of these; its c is no longer in the formula",
    )
    .step(
        "exponent", r"\frac{t^2}{2}-\frac{1}{20}\le\frac{y^2}{2}", given=r"y=t-\frac{\varepsilon}{2t}",
        added=(_t, _y),
        where="Theorem 6.9, proof: the first argument of (9) at this shift is -y, t = sqrt(2 log(3/(4 delta)))",
    )
    .step(
        "end-of-the-tail", r"y\ge\frac{19}{10}", given=r"y=t-\frac{\varepsilon}{2t}", added=(_t, _y),
        where="Theorem 6.9, proof: the same y, and t above 2, for delta below 1/10",
    )
    .step("constant", r"\frac{e^{1/20}}{\frac{19}{10}\sqrt{2\pi}}\le\frac{1}{2}",
    where="Theorem 6.9, proof: privacy of k")
    .whole(
        "privacy-of-k", r"\delta(\varepsilon)\le 2\delta/3", added=(_t, _y, _q, delta_at_epsilon),
        given=rf"\delta(\varepsilon)\le\frac{{q}}{{y\sqrt{{2\pi}}}}, q\le e^{{1/20}}e^{{-{_L}}}, "
              rf"y\ge\frac{{19}}{{10}}, "
              r"\frac{e^{1/20}}{\frac{19}{10}\sqrt{2\pi}}\le\frac{1}{2}",
        uses=("gll22.eq9", "gll22.lem6.3/growing-in-s", "mills-ratio", "gll22.thm6.9/shift", "gll22.thm6.9/exponent",
              "gll22.thm6.9/end-of-the-tail", "gll22.thm6.9/constant", "gll22.thm6.9/smaller-k-is-allowed",
              "gll22.thm6.9/privacy-with-sampling"),
        where="Theorem 6.9, proof: (epsilon, 2 delta/3)-DP, for a shift slightly above the one that Lemma 6.3 allows; "
              "q = exp(-y^2/2)",
    )
    .step(
        "privacy-with-sampling", r"\frac{2\delta}{3}+(1+e^{\varepsilon})\tau\le\delta", given=r"\tau<\frac{\delta}{3}",
        uses=("post-sampling",), where="Theorem 6.9, proof: accuracy delta/3 leads to (epsilon, delta)-DP",
    )
    .corrected(
        "privacy-with-sampling", r"\frac{2\delta}{3}+(1+e^{\varepsilon})\tau\le\delta",
        given=r"\tau\le\frac{\delta}{3(1+e^{\varepsilon})}", uses=("post-sampling",),
        because="a sampling error of tau in total variation adds (1 + e^epsilon) tau to delta, not tau",
        true_if="with accuracy delta / (3 (1 + e^epsilon)), which only changes a constant in the logarithm",
        where="Theorem 6.9, proof, with accuracy delta / (3 (1 + e^epsilon))",
    )
    .step(
        "inverse-of-the-minimum",
        r"\frac{d}{\frac{\mu}{G^2}\min\{a,2nd\}}=\frac{G^2}{\mu}\max\{\frac{d}{a},\frac{1}{2n}\}",
        added=(_a,), where="Theorem 6.9, proof, first display, with a = epsilon^2 n^2 / (2 log(3/(4 delta)))",
    )
    .step(
        "choice-of-k", rf"{_RISK}= \frac{{G^{{2}}}}{{\mu}}{_MAX}+\frac{{\mu D^{{2}}}}{{2}}+\frac{{G^{{2}}}}{{\mu n}}",
        given=rf"k=\frac{{d\mu}}{{G^{{2}}{_MAX}}}",
        uses=("gll22.thm6.8", "gll22.thm6.9/inverse-of-the-minimum"), where="Theorem 6.9, proof, first display",
    )
    .step(
        "first-two-terms",
        r"\frac{G^2}{\mu}M+\frac{\mu D^2}{2}\le GD\sqrt{2a}", given=r"M\le a, \mu=\frac{G}{D}\sqrt{2a}",
        added=(_a, _M),
        where="Theorem 6.9, proof, after the first display: the maximum is at most the sum, which is a",
    )
    .step(
        "third-term", r"\frac{G^2}{\mu n}\le GD\sqrt{\frac{1}{n}}", given=r"\mu\ge\frac{G}{D}\sqrt{\frac{1}{n}}",
        where="Theorem 6.9, proof, second display",
    )
    .step("sum-of-roots", rf"{_SUM}\leq {_FINAL}", where="Theorem 6.9, proof, second display")
    .whole(
        "risk", rf"{_LOSS}\le {_STATED}",
        given=rf"{_LOSS}\le GD\cdot(\frac{{2\sqrt{{d}}r}}{{n\varepsilon}}+\frac{{2}}{{\sqrt{{n}}}}+\tau), "
              r"n\varepsilon\tau\le 2\sqrt{d}(\sqrt{\log(1/\delta)}-r)",
        added=(real("r", gt=0, latex="r", meaning="sqrt(log(3/(4 delta)))"),),
        uses=("gll22.thm6.8", "range-times-total-variation", "gll22.thm6.9/choice-of-k", "gll22.thm6.9/first-two-terms",
              "gll22.thm6.9/third-term", "gll22.thm6.9/sum-of-roots", "gll22.thm6.4/accuracy-for-many-records",
              "gll22.thm6.4/accuracy-for-small-delta"),
        where="Theorem 6.9, expected population loss, r = sqrt(log(3/(4 delta)))",
    )
    .step(
        "queries",
        rf"\frac{{G^2}}{{\mu}}\cdot{_K}=\min\{{\frac{{\varepsilon^2n^2}}{{2{_L}}},2nd\}}", uses=("gll22.thm5.6",),
        where="Theorem 6.9, number of queries: G^2/mu of Theorem 5.6 for the losses k f",
    )
    .step(
        "bound-below-the-range", r"\varepsilon n\ge 2\sqrt{\log(1/\delta)d}\text{ and }\varepsilon n\ge 3",
        given=r"\frac{2\sqrt{\log(1/\delta)d}}{\varepsilon n}\le 1",
        where="Theorem 6.9: where the stated bound is above G D, any fixed point of the set is as good, private and "
              "costs no query",
    )
    .step(
        "theorem-5.6-applies", r"\frac{\varepsilon^2n^2}{2w}\ge 1\text{ and }2nd\ge 1",
        given=r"\varepsilon n\ge 2\sqrt{\log(1/\delta)d}, w\le\log(1/\delta)",
        added=(real("w", gt=0, meaning="log(3/(4 delta))"),),
        uses=("gll22.thm6.9/queries", "gll22.thm6.9/bound-below-the-range"),
        where="Theorem 6.9, number of queries: G^2/mu of Theorem 5.6 is at least 1",
    )
    .instance(
        "polynomial-accuracy", r"5\ln(n)\le O(1)", case="epsilon = 4/n, d = 1 and delta = 1/20",
        true_if="for a constant epsilon, or with the accuracy 1/(4 epsilon n "
        "sqrt(log(1/delta)))",
        where="Theorem 6.9, proof: the runtime follows from Theorem 5.6 with the accuracy 1/(c n^c), here c = 5, whose "
              "logarithm grows with n even where epsilon n, d and delta, and the printed order with them, do not",
    )
    .step(
        "coarser-accuracy", r"\frac{1}{4v}\le 2\sqrt{d}(v-r)",
        given=r"r^2=v^2-c, c>\frac{1}{4}, r\le v, v>0",
        added=(_v, real("r", gt=0, meaning="sqrt(log(3/(4 delta)))"), real("c", gt=0, meaning="ln(4/3)")),
        where="Theorem 6.9, proof: 1/(4 epsilon n v) is accurate enough for the risk, v = sqrt(log(1/delta))",
    )
    .step(
        "argument-over-the-accuracy",
        r"\frac{3\varepsilon^2n^2d}{2w}\cdot q\le(\frac{\varepsilon nd}{\delta})^4",
        given=r"(q\le\frac{7}{\delta}\text{ or }q\le 4\varepsilon n\sqrt{\log(1/\delta)}), "
              r"\sqrt{\log(1/\delta)}\le\frac{1}{\delta}, \varepsilon n\ge 3, w\ge 2",
        added=(real("w", gt=0, meaning="log(3/(4 delta))"), real("q", gt=0, meaning="1 / accuracy")),
        uses=("gll22.thm6.4/argument-of-the-logarithm", "gll22.thm6.9/coarser-accuracy",
              "gll22.thm6.9/privacy-with-sampling", "gll22.thm6.9/bound-below-the-range"),
        where="Theorem 6.9, number of queries: what the logarithm of Theorem 5.6 is taken of, so that it is at most 4 "
              "log(epsilon n d/delta)",
    )
    .step(
        "squared-logarithm", r"N\le 16Vaq^2", given=r"N\le Va\ell^2, \ell\le 4q",
        added=(real("N", ge=0), real("q", ge=0, meaning="log(epsilon n d / delta)"), _a,
               real("V", gt=0, meaning="48 times the constant of Theorem 5.6"),
               real("l_B", ge=0, latex=r"\ell", meaning="the logarithm of Theorem 5.6")),
        uses=("gll22.thm5.6", "gll22.thm6.9/argument-over-the-accuracy", "gll22.thm6.9/theorem-5.6-applies"),
        where="Theorem 6.9, number of queries, a = G^2/mu of Theorem 5.6",
    )
    .whole(
        "order-of-the-queries", r"N\le 2\min\{\frac{\varepsilon^2n^2}{\log(1/\delta)},nd\}q^2",
        given=r"N\le aq^2, a\le\frac{\varepsilon^2n^2}{2w}, a\le 2nd, w\ge\log(1/\delta)-\ln(\frac{4}{3}), "
              r"\ln(\frac{4}{3})<\frac{3}{10}",
        added=(real("N", ge=0, meaning="number of queries over 16 V"), real("w", gt=0), _a,
               real("q", ge=0, meaning="log(epsilon n d / delta)")),
        uses=("gll22.thm6.9/queries", "gll22.thm6.9/squared-logarithm", "gll22.thm6.4/argument-of-the-logarithm"),
        where="Theorem 6.9, number of queries: O(.) with the constant 32 V; the number of samples is of the same order",
    )
)  # fmt: skip

_gap = real("Delta", gt=0, latex=r"\sqrt{\log(1/\delta)+\varepsilon}-\sqrt{\log(1/\delta)}")
_ROOT_GAP = rf"\frac{{d}}{{n^2\cdot({_gap.latex})^2}}+\frac{{2}}{{n}}"

rem6_10 = (
    Sheet(
        "gll22.rem6.10", (n, d, k, mu, G, D, _gap, _released, _best),
        title="Population loss for large epsilon", where="Remark 6.10",
        latex=rf"{_LOSS}\le O\left(GD\left(\frac{{\sqrt{{d}}/n}}{{{_gap.latex}}}"
              rf"+\frac{{1}}{{\sqrt{{n}}}}\right)\right)",
        pairs=("gll22.thm6.4", "gll22.thm6.7"),
    )
    .step(
        "choice-of-mu", rf"{_RISK}=GD\sqrt{{{_ROOT_GAP}}}",
        given=rf"k=\frac{{2\mu n^2\cdot({_gap.latex})^2}}{{G^2}}, \mu=\frac{{G}}{{D}}\sqrt{{{_ROOT_GAP}}}",
        uses=("gll22.thm6.8", "gll22.thm6.4/choice-of-k"),
        where="Remark 6.10: k as in Theorem 6.4, and the best mu for the bound of Theorem 6.8",
    )
    .step("root-of-a-sum", r"\sqrt{u^2+2v^2}\le\sqrt{2}(u+v)", added=(_u, _v), where="Remark 6.10")
    .whole(
        "risk", rf"{_LOSS}\le\sqrt{{2}}GD\left(\frac{{\sqrt{{d}}/n}}{{{_gap.latex}}}+\frac{{1}}{{\sqrt{{n}}}}\right)",
        given=rf"{_LOSS}\le GDu, u\le\sqrt{{2}}(\frac{{\sqrt{{d}}}}{{n\cdot({_gap.latex})}}+v), v"
              rf"=\frac{{1}}{{\sqrt{{n}}}}",
        added=(_u, _v), uses=("gll22.rem6.10/choice-of-mu", "gll22.rem6.10/root-of-a-sum"),
        where="Remark 6.10: O(.) with the constant sqrt(2), before the sampling error",
    )
)  # fmt: skip

STATEMENTS = tuple(sheet.statement for sheet in (lem6_6, thm6_7, thm6_8, thm6_9, rem6_10))
