"""fmtt18, Section 2: Renyi divergence, and what follows from it for privacy."""

from __future__ import annotations

from dpverify.formulas.expressions import real
from dpverify.formulas.units import LENGTH, NATS
from dpverify.statements.fmtt18.symbols import alpha, epsilon, length_sigma, level
from dpverify.statements.sheet import Sheet

_p1, _p2, _q1, _q2, _r1, _r2, _s1, _s2 = (
    real(f"{letter}{i}", gt=0, latex=f"{letter}_{i}") for letter in "pqrs" for i in (1, 2)
)
_ratio = real("u", gt=0, meaning="likelihood ratio")
_MOMENTS = (
    r"(p_1^\alpha q_1^{1-\alpha}+p_2^\alpha q_2^{1-\alpha})"
    r"(r_1^\alpha s_1^{1-\alpha}+r_2^\alpha s_2^{1-\alpha})"
)
_PAIRS = r"(p_1r_1)^\alpha(q_1s_1)^{1-\alpha}+(p_1r_2)^\alpha(q_1s_2)^{1-\alpha}+(p_2r_1)^\alpha(q_2s_1)^{1-\alpha}"
_MERGING = r"(p_1+p_2)^{k}(q_1+q_2)^{1-k}\le p_1^{k}q_1^{1-k}+p_2^{k}q_2^{1-k}"
_MERGING_LESS = r"(p_1+p_2)^{k}(q_1+q_2)^{1-k}\le 0.99(p_1^{k}q_1^{1-k}+p_2^{k}q_2^{1-k})"


def _at_order(display: str, k: int) -> str:
    return display.replace("1-k", str(1 - k)).replace("k", str(k))


_M1, _M2 = (
    real(name, gt=0, latex=latex, meaning="moment of a ratio") for name, latex in (("M1", "M"), ("M2", "M'"))
)
_LOGARITHMS = tuple(
    real(name, ge=0, unit=NATS, latex=latex)
    for name, latex in (
        ("D", r"\mathrm{D}_{\alpha}(\mu\|\nu)"), ("D_f", r"\mathrm{D}_{\alpha}(f(\mu)\|f(\nu))"),
        ("l", "l"), ("l_f", "l_{f}"),
    )
)  # fmt: skip

prop5 = Sheet(
    "fmtt18.prop5",
    (_p1, _p2, _q1, _q2, _r1, _r2, _s1, _s2, alpha, _ratio, _M1, _M2),
    title="Additivity and post-processing of Renyi divergence",
    where="Proposition 5",
    latex=(
        r"\mathrm{D}_\alpha(\mu\times\mu'\|\nu\times\nu')=\mathrm{D}_\alpha(\mu\|\nu)+\mathrm{D}_\alpha(\mu'\|\nu'),"
        r"\qquad\mathrm{D}_\alpha(f(\mu)\|f(\nu))\le\mathrm{D}_\alpha(\mu\|\nu)"
    ),
    pairs=("fmtt18.lem15", "fmtt18.thm22"),
).instance(
    "moments-multiply", f"{_MOMENTS}={_PAIRS}" r"+(p_2r_2)^\alpha(q_2s_2)^{1-\alpha}",
    where="Proposition 5, additivity", case="laws on two atoms, any order",
    catches=("one of the four pairs of atoms is left out", f"{_MOMENTS}={_PAIRS}"),
)  # fmt: skip
for _k in (2, 3):
    prop5 = prop5.instance(
        f"merging-two-atoms-order-{_k}", _at_order(_MERGING, _k), where="Proposition 5, post-processing",
        case=f"order {_k}; a map between finite spaces merges atoms, two at a time",
        catches=("a hundredth of the right side is lost", _at_order(_MERGING_LESS, _k)),
    )  # fmt: skip
prop5 = prop5.whole(
    "post-processing", r"\mathrm{D}_{\alpha}(f(\mu)\|f(\nu))\leq\mathrm{D}_{\alpha}(\mu\|\nu)",
    given=r"(\alpha-1)\mathrm{D}_{\alpha}(f(\mu)\|f(\nu))=l_{f}, "
          r"(\alpha-1)\mathrm{D}_{\alpha}(\mu\|\nu)=l, l_{f}\le l",
    added=_LOGARITHMS, uses=("jensen", "fmtt18.prop5/power-is-convex"),
    where="Proposition 5, post-processing: the ratio of the images is a conditional mean of the ratio, so its "
          "moment has no larger logarithm",
)  # fmt: skip
prop5 = (
    prop5.define(
        r"\mathrm{D}_{\alpha}(\mu\times\mu^{\prime}\|\nu\times\nu^{\prime})", r"\frac{\ln(MM')}{\alpha-1}"
    )
    .define(r"\mathrm{D}_{\alpha}(\mu^{\prime}\|\nu^{\prime})", r"\frac{\ln M'}{\alpha-1}")
    .define(r"\mathrm{D}_{\alpha}(\mu\|\nu)", r"\frac{\ln M}{\alpha-1}")
    .whole(
        "additivity",
        r"\mathrm{D}_{\alpha}(\mu\times\mu^{\prime}\|\nu\times\nu^{\prime})"
        r"=\mathrm{D}_{\alpha}(\mu\|\nu)+\mathrm{D}_{\alpha}(\mu^{\prime}\|\nu^{\prime})",
        uses=("fubini",),
        where="Proposition 5, additivity: the moment of the products is the product of the moments",
    )
)
prop5 = prop5.step(
    "power-is-convex", r"\frac{d^2}{du^2}(u^\alpha)=\alpha(\alpha-1)\frac{u^\alpha}{u^2}", uses=("jensen",),
    where="Proposition 5, post-processing, by Jensen's inequality: this is positive",
)  # fmt: skip


_z = real("z", unit=LENGTH)
_shift = real("x", ge=0, unit=LENGTH, meaning="length of the shift", latex=r"\|x\|_2")
_largest = real("a", gt=0, unit=LENGTH, meaning="largest shift")
_EXPONENT = r"-\frac{\alpha z^2+(1-\alpha)(z-\|x\|_2)^2}{2\sigma^2}"
_DIVERGENCE = r"\mathrm{D}_\alpha(\mathcal{N}(0,\sigma^2\mathbb{I}_d)\|\mathcal{N}(x,\sigma^2\mathbb{I}_d))"

def10 = (
    Sheet(
        "fmtt18.def10", (_z, _shift, _largest, length_sigma, alpha),
        title="Renyi divergence of a Gaussian from its shift",
        where="Definition 10 and the display after it",
        latex=(
            rf"{_DIVERGENCE}=\alpha\|x\|_2^2/2\sigma^2,"
            r"\qquad R_\alpha(\mathcal{N}(0,\sigma^2\mathbb{I}_d),a)=\frac{\alpha a^2}{2\sigma^2}"
        ),
        pairs=("fmtt18.thm22", "gll22.def3.7"),
    )
    .define(
        _DIVERGENCE,
        rf"\frac{{\ln(\int_{{-\infty}}^\infty\frac{{e^{{{_EXPONENT}}}}}{{\sqrt{{2\pi}}\,\sigma}}\,dz)}}{{\alpha-1}}",
    )
    .step(
        "completing-the-square", _EXPONENT + r"=-\frac{(z-(1-\alpha)\|x\|_2)^2}{2\sigma^2}"
        r"+\frac{\alpha(\alpha-1)\|x\|_2^2}{2\sigma^2}",
        where="Definition 10, well-known properties of Gaussians",
    )
    .whole(
        "divergence-of-the-shift", _DIVERGENCE + r"=\alpha\|x\|_2^2/2\sigma^2", reading=r"/(2\sigma^2)",
        where="Definition 10, first display after it, in the direction of the shift",
        uses=("fmtt18.prop5", "gaussian-rotation"),
    )
    .whole(
        "largest-at-the-longest-shift", r"\frac{\alpha\|x\|_2^2}{2\sigma^2}\le\frac{\alpha a^2}{2\sigma^2}",
        given=r"\|x\|_2\le a", where="Definition 10, second display after it",
        uses=("fmtt18.def10/divergence-of-the-shift",),
    )
)  # fmt: skip


_closed_epsilon = real("epsilon", ge=0, unit=epsilon.unit, latex=r"\varepsilon")
_X = real("X", unit=NATS, meaning="ln of exp(epsilon) times the event's mass under the neighbor")
_P = real("P", le=0, unit=NATS, meaning="ln of the event's mass")
_Q = real("Q", le=0, unit=NATS, meaning="ln of the event's mass under the neighbor")
_s = real("s", gt=0, meaning="distance of the means over the noise")
_E = real("E", gt=0)
_at_a_point = (real("p", gt=0), real("q", gt=0))
_of_an_event = (real("P", ge=0), real("Q", ge=0))
_MASS = r"\alpha P+(1-\alpha)Q\le(\alpha-1)\varepsilon"
_PROFILE = (
    r"\Phi(-\frac{\varepsilon'}{s}+\frac{s}{2})-e^{\varepsilon'}\Phi(-\frac{\varepsilon'}{s}-\frac{s}{2})"
)

lem14 = (
    Sheet(
        "fmtt18.lem14", (_P, _Q, _X, _closed_epsilon, alpha, _s, level, _p1, _p2, _q1, _q2, _E),
        title="From Renyi to approximate differential privacy",
        where="Lemma 14",
        latex=(
            r"(\alpha,\varepsilon)\text{-RDP}\implies"
            r"\left(\varepsilon+\frac{\ln(1/\delta)}{\alpha-1},\delta\right)\text{-DP for all }\delta\in(0,1)"
        ),
        pairs=("fmtt18.appB", "fmtt18.lem15"),
    )
    .define(r"\varepsilon'", r"\frac{\alpha s^2}{2}+\frac{\ln(1/\delta)}{\alpha-1}")
    .step(
        "mass-of-an-event", r"P\le\frac{(\alpha-1)(\varepsilon+Q)}{\alpha}", given=_MASS,
        where="Lemma 14, data processing to one event", uses=("fmtt18.prop5",),
    )
    .whole(
        "every-event", r"P\le-\ln(1/\delta)\text{ or }P\le\varepsilon+\frac{\ln(1/\delta)}{\alpha-1}+Q", given=_MASS,
        where="Lemma 14: an event's mass is at most delta, or its mass under the neighbor bounds it",
        uses=("fmtt18.prop5", "renyi-at-infinity"),
    )
    .step(
        "unlikely-events", r"\frac{X(\alpha-1)}{\alpha}\le-\ln(1/\delta)",
        given=r"X\le-\frac{\ln(1/\delta)\alpha}{\alpha-1}", where="Lemma 14, events whose mass is covered by delta",
    )
    .step(
        "likely-events", r"\frac{X(\alpha-1)}{\alpha}\le X+\frac{\ln(1/\delta)}{\alpha-1}",
        given=r"X\ge-\frac{\ln(1/\delta)\alpha}{\alpha-1}", where="Lemma 14, all other events",
    )
    .instance(
        "gaussian-mechanism", rf"{_PROFILE}\le e^{{-\ln(1/\delta)}}", where="Lemma 14, tried on Gaussians",
        case="Gaussian laws, whose hockey-stick divergence is exact",
        box={"order": (2, 10), "s": ("1/4", 2), "l": (1, 12)},
        uses=("gll22.eq9/value-of-the-best-half-line", "fmtt18.def10"),
        catches=("a hundredth of delta is claimed", rf"{_PROFILE}\le\frac{{e^{{-\ln(1/\delta)}}}}{{100}}"),
    )
    .step(
        "ratio-at-a-point", r"\ln(\frac{p}{q})\le\varepsilon", given=r"p\le e^{\varepsilon}q", added=_at_a_point,
        where="Lemma 14, last sentence: the divergence of infinite order is the largest logarithm of the ratio",
    )
    .step(
        "one-more-point", r"P+p\le e^{\varepsilon}(Q+q)", given=r"P\le e^{\varepsilon}Q, p\le e^{\varepsilon}q",
        added=_at_a_point, letters=_of_an_event,
        uses=("fmtt18.lem14/ratio-at-a-point", "integral-is-monotone"),
        where="Lemma 14, last sentence: events, point by point, whose masses are P and Q; and a point is an event",
    )
    .instance(
        "pure-is-infinite-order", r"p_1+p_2\le E\cdot(q_1+q_2)", given=r"p_1\le Eq_1, p_2\le Eq_2",
        where="Lemma 14, last sentence", case="two atoms: a bound on every atom's ratio bounds every event's",
        catches=("half of the factor is lost", r"p_1+p_2\le\frac{E\cdot(q_1+q_2)}{2}"),
    )
)  # fmt: skip


_w1, _w2 = (real(f"w{i}", gt=0, latex=f"w_{i}") for i in (1, 2))
_A1, _A2 = (real(f"A{i}", gt=0, latex=f"A_{i}") for i in (1, 2))
_M = real("M", gt=0)
_epsilon1, _epsilon2 = (
    real(f"epsilon{i}", ge=0, unit=epsilon.unit, latex=rf"\varepsilon_{i}") for i in (1, 2)
)

lem15 = (
    Sheet(
        "fmtt18.lem15", (alpha, _epsilon1, _epsilon2, _w1, _w2, _A1, _A2, _M),
        title="Composition of Renyi differential privacy",
        where="Lemma 15",
        latex=(
            r"\mathcal{A}_i\ (\alpha,\varepsilon_i)\text{-RDP}\implies"
            r"(\mathcal{A}_1(S),\dots,\mathcal{A}_k(S))\ (\alpha,\varepsilon_1+\dots+\varepsilon_k)\text{-RDP}"
        ),
        pairs=("fmtt18.prop5",), uses=("fmtt18.prop5",),
    )
    .instance(
        "adaptive-step", r"w_1A_1+w_2A_2\le(w_1+w_2)M", given=r"A_1\le M, A_2\le M",
        where="Lemma 15, the second mechanism chosen after the first one's output",
        case="a first mechanism with two outputs; w are its moments p^a q^(1-a), A the second one's",
        catches=("a hundredth of the largest moment is lost", r"w_1A_1+w_2A_2\le 0.99(w_1+w_2)M"),
    )
    .step(
        "divergences-add",
        r"\frac{\ln(e^{(\alpha-1)\varepsilon_1}e^{(\alpha-1)\varepsilon_2})}{\alpha-1}=\varepsilon_1+\varepsilon_2",
        where="Lemma 15, logarithm of the product of two moments",
    )
    .step(
        "one-more", r"\frac{\ln(Me^{(\alpha-1)\varepsilon_2})}{\alpha-1}\le S+\varepsilon_2",
        given=r"\ln(M)\le(\alpha-1)S", added=(real("S", ge=0, unit=NATS, meaning="sum of the budgets so far"),),
        uses=("fmtt18.lem15/divergences-add",),
        where="Lemma 15, from k mechanisms to k + 1: M is the moment of the first k",
    )
)  # fmt: skip

STATEMENTS = tuple(sheet.statement for sheet in (prop5, def10, lem14, lem15))
