"""fmtt18, preliminaries and Lemma 25: what is printed there about Renyi divergence itself."""

from __future__ import annotations

import sympy as sp

from dpverify.evidence import Consequence, Coverage
from dpverify.proving.language import (
    LENGTH,
    NATS,
    Eq,
    Fault,
    Ge,
    Le,
    Obligation,
    Repair,
    Statement,
    any_of,
    derivative,
    integral,
    real,
)
from dpverify.statements.gaussian import hockey_stick, renyi_divergence

order = real("order", gt=1, meaning="Renyi order", latex=r"\alpha")
log_inverse_delta = real("l", gt=0, unit=NATS, meaning="ln(1/delta)", latex=r"\ln(1/\delta)")


def _proposition_5() -> Statement:
    p1, p2, q1, q2, r1, r2, s1, s2 = (
        real(name, gt=0) for name in ("p1", "p2", "q1", "q2", "r1", "r2", "s1", "s2")
    )
    ratio = real("u", gt=0, meaning="likelihood ratio")

    def moment(p: object, q: object, power: object) -> sp.Expr:
        return sp.sympify(p) ** sp.sympify(power) * sp.sympify(q) ** (1 - sp.sympify(power))

    pairs = [(p, q, r, s) for p, q in ((p1, q1), (p2, q2)) for r, s in ((r1, s1), (r2, s2))]
    merging = [
        Obligation(
            f"merging-two-atoms-order-{k}",
            "Proposition 5, post-processing",
            Le(moment(p1 + p2, q1 + q2, k), moment(p1, q1, k) + moment(p2, q2, k)),
            (p1, p2, q1, q2),
            scope=f"order {k}; a map between finite spaces merges atoms, two at a time",
            coverage=Coverage.INSTANCE,
            catches=Fault(
                "a hundredth of the right side is lost",
                Le(
                    moment(p1 + p2, q1 + q2, k),
                    sp.Rational(99, 100) * (moment(p1, q1, k) + moment(p2, q2, k)),
                ),
            ),
        )
        for k in (2, 3)
    ]
    return Statement(
        id="fmtt18.prop5",
        title="Additivity and post-processing of Renyi divergence",
        where="Proposition 5",
        latex=(
            r"\mathrm{D}_\alpha(\mu\times\mu'\|\nu\times\nu')=\mathrm{D}_\alpha(\mu\|\nu)+\mathrm{D}_\alpha(\mu'\|\nu'),"
            r"\qquad\mathrm{D}_\alpha(f(\mu)\|f(\nu))\le\mathrm{D}_\alpha(\mu\|\nu)"
        ),
        pairs=("fmtt18.lem15", "fmtt18.thm22"),
        printed=(
            Obligation(
                "moments-multiply",
                "Proposition 5, additivity",
                Eq(
                    (moment(p1, q1, order) + moment(p2, q2, order))
                    * (moment(r1, s1, order) + moment(r2, s2, order)),
                    sum(moment(p * r, q * s, order) for p, q, r, s in pairs),
                ),
                (p1, p2, q1, q2, r1, r2, s1, s2, order),
                scope="laws on two atoms, any order",
                coverage=Coverage.INSTANCE,
                catches=Fault(
                    "one of the four pairs of atoms is left out",
                    Eq(
                        (moment(p1, q1, order) + moment(p2, q2, order))
                        * (moment(r1, s1, order) + moment(r2, s2, order)),
                        sum(moment(p * r, q * s, order) for p, q, r, s in pairs[:3]),
                    ),
                ),
            ),
            *merging,
            Obligation(
                "power-is-convex",
                "Proposition 5, post-processing, by Jensen's inequality",
                Ge(derivative(ratio.symbol**order.symbol, ratio, 2), 0),
                (ratio, order),
                coverage=Coverage.STEP,
                uses=("jensen",),
            ),
        ),
    )


def _definition_10() -> Statement:
    z = real("z", unit=LENGTH)
    x = real("x", ge=0, unit=LENGTH, meaning="length of the shift")
    largest = real("a", gt=0, unit=LENGTH, meaning="largest shift")
    sigma = real("sigma", gt=0, unit=LENGTH, latex=r"\sigma")
    exponent = -(order * z**2 + (1 - order) * (z - x) ** 2) / (2 * sigma**2)
    closed = renyi_divergence(order, x, sigma**2)
    density = sp.exp(exponent) / (sp.sqrt(2 * sp.pi) * sigma)
    return Statement(
        id="fmtt18.def10",
        title="Renyi divergence of a Gaussian from its shift",
        where="Definition 10 and the display after it",
        latex=(
            r"\mathrm{D}_\alpha(\mathcal{N}(0,\sigma^2\mathbb{I}_d)\|\mathcal{N}(x,\sigma^2\mathbb{I}_d))"
            r"=\alpha\|x\|_2^2/2\sigma^2,"
            r"\qquad R_\alpha(\mathcal{N}(0,\sigma^2\mathbb{I}_d),a)=\frac{\alpha a^2}{2\sigma^2}"
        ),
        pairs=("fmtt18.thm22", "gll22.def3.7"),
        printed=(
            Obligation(
                "completing-the-square",
                "Definition 10, well-known properties of Gaussians",
                Eq(
                    exponent,
                    -((z - (1 - order) * x) ** 2) / (2 * sigma**2)
                    + order * (order - 1) * x**2 / (2 * sigma**2),
                ),
                (z, x, sigma, order),
                coverage=Coverage.STEP,
            ),
            Obligation(
                "divergence-of-the-shift",
                "Definition 10, first display after it",
                Eq(sp.log(integral(density, z, -sp.oo, sp.oo)) / (order - 1), closed),
                (z, x, sigma, order),
                coverage=Coverage.WHOLE,
                uses=(
                    "fmtt18.prop5",
                    "gaussian-rotation",
                ),
            ),
            Obligation(
                "largest-at-the-longest-shift",
                "Definition 10, second display after it",
                Le(closed, renyi_divergence(order, largest, sigma**2)),
                (x, largest, sigma, order),
                assuming=(Le(x, largest),),
                coverage=Coverage.WHOLE,
                uses=("fmtt18.def10/divergence-of-the-shift",),
            ),
        ),
    )


def _lemma_14() -> Statement:
    divergence = real("epsilon", ge=0, unit=NATS, latex=r"\varepsilon")
    log_mass = real("X", unit=NATS, meaning="ln of exp(epsilon) times the event's mass under the neighbor")
    log_p = real("P", le=0, unit=NATS, meaning="ln of the event's mass")
    log_q = real("Q", le=0, unit=NATS, meaning="ln of the event's mass under the neighbor")
    shift = real("s", gt=0, meaning="distance of the means over the noise")
    threshold = -log_inverse_delta * order / (order - 1)
    e1, p1, p2, q1, q2 = (real(name, gt=0) for name in ("E", "p1", "p2", "q1", "q2"))
    return Statement(
        id="fmtt18.lem14",
        title="From Renyi to approximate differential privacy",
        where="Lemma 14",
        latex=(
            r"(\alpha,\varepsilon)\text{-RDP}\implies"
            r"\left(\varepsilon+\frac{\ln(1/\delta)}{\alpha-1},\delta\right)\text{-DP for all }\delta\in(0,1)"
        ),
        pairs=("fmtt18.appB", "fmtt18.lem15"),
        printed=(
            Obligation(
                "mass-of-an-event",
                "Lemma 14, data processing to one event",
                Le(log_p, (order - 1) * (divergence + log_q) / order),
                (log_p, log_q, divergence, order),
                assuming=(Le(order * log_p + (1 - order) * log_q, (order - 1) * divergence),),
                coverage=Coverage.STEP,
                uses=("fmtt18.prop5",),
            ),
            Obligation(
                "every-event",
                "Lemma 14: an event's mass is at most delta, or its mass under the neighbor bounds it",
                any_of(
                    Le(log_p, -log_inverse_delta),
                    Le(log_p, divergence + log_inverse_delta / (order - 1) + log_q),
                ),
                (log_p, log_q, divergence, order, log_inverse_delta),
                assuming=(Le(order * log_p + (1 - order) * log_q, (order - 1) * divergence),),
                coverage=Coverage.WHOLE,
                uses=("fmtt18.prop5", "renyi-at-infinity"),
                latex=(
                    r"P\le\delta\ \text{ or }\ P\le e^{\varepsilon+\ln(1/\delta)/(\alpha-1)}Q"
                    r"\quad\text{where }P^\alpha Q^{1-\alpha}\le e^{(\alpha-1)\varepsilon}"
                ),
            ),
            Obligation(
                "unlikely-events",
                "Lemma 14, events whose mass the delta pays for",
                Le(log_mass * (order - 1) / order, -log_inverse_delta),
                (log_mass, order, log_inverse_delta),
                assuming=(Le(log_mass, threshold),),
                coverage=Coverage.STEP,
            ),
            Obligation(
                "likely-events",
                "Lemma 14, all other events",
                Le(log_mass * (order - 1) / order, log_mass + log_inverse_delta / (order - 1)),
                (log_mass, order, log_inverse_delta),
                assuming=(Ge(log_mass, threshold),),
                coverage=Coverage.STEP,
            ),
            Obligation(
                "gaussian-mechanism",
                "Lemma 14, tried on Gaussians",
                Le(
                    hockey_stick(renyi_divergence(order, shift, 1) + log_inverse_delta / (order - 1), shift),
                    sp.exp(-log_inverse_delta),
                ),
                (order, shift, log_inverse_delta),
                box={"order": (2, 10), "s": ("1/4", 2), "l": (1, 12)},
                scope="Gaussian laws, whose hockey-stick divergence is exact",
                coverage=Coverage.INSTANCE,
                uses=(
                    "gll22.eq9",
                    "fmtt18.def10",
                ),
                catches=Fault(
                    "a hundredth of delta is claimed",
                    Le(
                        hockey_stick(
                            renyi_divergence(order, shift, 1) + log_inverse_delta / (order - 1), shift
                        ),
                        sp.exp(-log_inverse_delta) / 100,
                    ),
                ),
            ),
            Obligation(
                "pure-is-infinite-order",
                "Lemma 14, last sentence",
                Le(p1 + p2, e1 * (q1 + q2)),
                (p1, p2, q1, q2, e1),
                assuming=(Le(p1, e1 * q1), Le(p2, e1 * q2)),
                scope="two atoms: a bound on every atom's ratio bounds every event's",
                coverage=Coverage.INSTANCE,
                catches=Fault("half of the factor is lost", Le(p1 + p2, e1 * (q1 + q2) / 2)),
            ),
        ),
    )


def _lemma_15() -> Statement:
    w1, w2, m1, m2, largest = (real(name, gt=0) for name in ("w1", "w2", "A1", "A2", "M"))
    first, second = (real(name, ge=0, unit=NATS) for name in ("epsilon1", "epsilon2"))
    return Statement(
        id="fmtt18.lem15",
        title="Composition of Renyi differential privacy",
        where="Lemma 15",
        latex=(
            r"\mathcal{A}_i\ (\alpha,\varepsilon_i)\text{-RDP}\implies"
            r"(\mathcal{A}_1(S),\dots,\mathcal{A}_k(S))\ (\alpha,\varepsilon_1+\dots+\varepsilon_k)\text{-RDP}"
        ),
        pairs=("fmtt18.prop5",),
        uses=("fmtt18.prop5",),
        printed=(
            Obligation(
                "adaptive-step",
                "Lemma 15, the second mechanism chosen after the first one's output",
                Le(w1 * m1 + w2 * m2, (w1 + w2) * largest),
                (w1, w2, m1, m2, largest),
                assuming=(Le(m1, largest), Le(m2, largest)),
                scope="a first mechanism with two outputs; w are its moments p^a q^(1-a), A the second one's",
                coverage=Coverage.INSTANCE,
                catches=Fault(
                    "a hundredth of the largest moment is lost",
                    Le(w1 * m1 + w2 * m2, (w1 + w2) * largest * sp.Rational(99, 100)),
                ),
            ),
            Obligation(
                "divergences-add",
                "Lemma 15, logarithm of the product of two moments; more by induction",
                Eq(
                    sp.log(sp.exp((order - 1) * first) * sp.exp((order - 1) * second)) / (order - 1),
                    first + second,
                ),
                (order, first, second),
                coverage=Coverage.STEP,
            ),
        ),
    )


def _lemma_25() -> Statement:
    a = real("a", latex="a")
    nonnegative = real("a", ge=0)
    unit_interval = real("a", ge=0, le=1)
    c = real("c", gt=0, le=1)
    x = real("x", ge=0, meaning="(1 + c)(order - 1) times the mean divergence")
    weight = real("rho", ge=0, le=1, latex=r"\rho")
    u1, u2 = (real(name, ge=0, le=1, meaning="(order - 1) times a divergence") for name in ("u1", "u2"))
    mixture = weight * sp.exp(u1) + (1 - weight) * sp.exp(u2)
    return Statement(
        id="fmtt18.lem25",
        title="Weak convexity of Renyi divergence",
        where="Lemma 25",
        latex=(
            r"\mathrm{D}_\alpha(\mu_i\|\nu_i)\le\frac{c}{\alpha-1},\ c\in(0,1]\implies"
            r"\mathrm{D}_\alpha(\mu_\rho\|\nu_\rho)\le(1+c)\,\mathbb{E}_{i\sim\rho}[\mathrm{D}_\alpha(\mu_i\|\nu_i)]"
        ),
        pairs=("fmtt18.thm26", "fmtt18.stop"),
        uses=("fmtt18.prop5",),
        printed=(
            Obligation(
                "tried-on-two-laws",
                "Lemma 25 with c = 1",
                Le(sp.log(mixture), 2 * (weight * u1 + (1 - weight) * u2)),
                (weight, u1, u2),
                box={"u1": ("1/10", 1), "u2": ("1/10", 1)},
                scope="c = 1, two components, and the component revealed: the left side is exact",
                coverage=Coverage.INSTANCE,
                catches=Fault(
                    "the factor 1 + c is lost", Le(sp.log(mixture), weight * u1 + (1 - weight) * u2)
                ),
            ),
            Obligation(
                "logarithm",
                "Lemma 25, proof, fifth line",
                Le(sp.log(1 + x), x),
                (x,),
                box={"x": (0, 4)},
                coverage=Coverage.STEP,
            ),
            Obligation(
                "exponential",
                "Lemma 25, proof, last line: e^a <= 1 + a + a^2",
                Le(sp.exp(a), 1 + a + a**2),
                (a,),
                assuming=(Le(a, 1),),
                box={"a": (0, 1)},
                coverage=Coverage.STEP,
            ),
            Obligation(
                "quadratic",
                "Lemma 25, proof, last line: for every a <= c <= 1",
                Le(1 + a + a**2, 1 + (1 + c) * a),
                (a, c),
                assuming=(Le(a, c),),
                latex=r"1+a+a^2\le 1+(1+c)a\quad\text{for every }a\le c\le 1",
                coverage=Coverage.STEP,
                consequence=Consequence.STEP,
                reading="for a from 0 on: it is used for divergences, which are not negative",
            ),
        ),
        repaired=Repair(
            because="the quadratic bound is false for negative a; divergences are not negative, so 0 <= a is enough",
            obligations=(
                Obligation(
                    "quadratic",
                    "Lemma 25, proof, last line, for 0 <= a <= c <= 1",
                    Le(1 + nonnegative + nonnegative**2, 1 + (1 + c) * nonnegative),
                    (nonnegative, c),
                    assuming=(Le(nonnegative, c),),
                    latex=r"1+a+a^2\le 1+(1+c)a\quad\text{for every }0\le a\le c\le 1",
                    coverage=Coverage.STEP,
                ),
                Obligation(
                    "exponential",
                    "Lemma 25, proof, last line: e^a <= 1 + a + a^2 for 0 <= a <= 1",
                    Le(sp.exp(unit_interval), 1 + unit_interval + unit_interval**2),
                    (unit_interval,),
                    coverage=Coverage.STEP,
                ),
            ),
        ),
    )


STATEMENTS = (_proposition_5(), _definition_10(), _lemma_14(), _lemma_15(), _lemma_25())
