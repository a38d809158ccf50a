"""gll22: Gopi, Lee, Liu, Private Convex Optimization via Exponential Mechanism. What is printed there."""

from __future__ import annotations

from collections.abc import Sequence

import sympy as sp

from dpverify.evidence import Consequence, Coverage
from dpverify.proving.language import (
    NATS,
    Compare,
    Eq,
    Expression,
    Fault,
    ForAll,
    Formula,
    Ge,
    Implies,
    Le,
    Ne,
    Obligation,
    Repair,
    Statement,
    Variable,
    all_of,
    at,
    derivative,
    normal_cdf,
    real,
)
from dpverify.statements.gaussian import density, hockey_stick

epsilon = real("epsilon", ge=0, unit=NATS, latex=r"\varepsilon")
cut = real("c", meaning="a half line's end")


def _equation_9() -> Statement:
    positive = real("s", gt=0, meaning="shift")
    any_sign = real("s", meaning="shift")
    tail = normal_cdf(positive - cut) - sp.exp(epsilon) * normal_cdf(-cut)
    best = epsilon / positive + positive / 2
    magnitude = sp.Abs(any_sign.symbol)
    return Statement(
        id="gll22.eq9",
        title="Privacy curve of a Gaussian",
        where="(9)",
        latex=(
            r"\delta(\mathcal{N}(0,1)\|\mathcal{N}(s,1))(\varepsilon)="
            r"\Phi\left(-\frac{\varepsilon}{s}+\frac{s}{2}\right)-e^\varepsilon\Phi\left(-\frac{\varepsilon}{s}-\frac{s}{2}\right)"
        ),
        pairs=("gll22.eq10", "gll22.lem6.3", "gll22.thm6.2"),
        printed=(
            Obligation(
                "best-half-line",
                "(9), s > 0: where the likelihood ratio is exp(epsilon)",
                Eq(positive * at(cut.symbol, cut, best) - positive**2 / 2, epsilon),
                (positive, epsilon, cut),
                coverage=Coverage.STEP,
            ),
            Obligation(
                "slope-of-the-half-line's-value",
                "(9), s > 0: moving the end by dc changes the value by the densities there",
                Eq(derivative(tail, cut), sp.exp(epsilon) * density(cut) - density(cut - positive)),
                (positive, epsilon, cut),
                coverage=Coverage.STEP,
            ),
            Obligation(
                "value-of-the-best-half-line",
                "(9), s > 0",
                Eq(at(tail, cut, best), hockey_stick(epsilon, positive)),
                (positive, epsilon, cut),
                coverage=Coverage.WHOLE,
                uses=(
                    "gll22.eq9/best-half-line",
                    "neyman-pearson",
                    "reflection",
                ),
            ),
            Obligation(
                "not-negative",
                "(9) and Definition 3.1: the empty event makes the curve at least 0; no sign of s is required",
                Ge(hockey_stick(epsilon, any_sign), 0),
                (any_sign, epsilon),
                assuming=(Ne(any_sign, 0),),
                box={"s": (-3, 3), "epsilon": (0, 5)},
                latex=(
                    r"0\le\Phi\left(-\frac{\varepsilon}{s}+\frac{s}{2}\right)"
                    r"-e^\varepsilon\Phi\left(-\frac{\varepsilon}{s}-\frac{s}{2}\right)\text{ for }s\ne 0"
                ),
                coverage=Coverage.INSTANCE,
                scope="the empty event, for which the difference is 0",
                consequence=Consequence.EDGE,
                reading="for s > 0, or with |s|, which Lemma 6.3 writes",
            ),
        ),
        repaired=Repair(
            because="for negative s the best half line is the other one: |s| is meant (Lemma 6.3 does speak of |s|)",
            latex=(
                r"\delta(\mathcal{N}(0,1)\|\mathcal{N}(s,1))(\varepsilon)="
                r"\Phi\left(-\frac{\varepsilon}{|s|}+\frac{|s|}{2}\right)-e^\varepsilon\Phi\left(-\frac{\varepsilon}{|s|}-\frac{|s|}{2}\right)"
            ),
            obligations=(
                Obligation(
                    "not-negative",
                    "(9) with |s|",
                    Ge(hockey_stick(epsilon, magnitude), 0),
                    (any_sign, epsilon),
                    assuming=(Le(sp.Rational(1, 2), magnitude),),
                    box={"s": (-2, 2), "epsilon": (0, 2)},
                    scope="|s| at least 1/2",
                    coverage=Coverage.INSTANCE,
                    catches=Fault("s stands for its absolute value", Ge(hockey_stick(epsilon, any_sign), 0)),
                ),
            ),
        ),
    )


def _equation_10() -> Statement:
    any_sign = real("s", meaning="shift")
    positive = real("s", ge=0, meaning="shift")
    box = {"s": (-3, 3), "c": (-6, 6)}
    return Statement(
        id="gll22.eq10",
        title="Trade-off function of a Gaussian",
        where="(10)",
        latex=r"T(\mathcal{N}(0,1)\|\mathcal{N}(s,1))(z)=\Phi(\Phi^{-1}(1-z)-s)",
        pairs=("gll22.eq9", "gll22.prop3.3"),
        uses=("neyman-pearson",),
        printed=(
            Obligation(
                "not-above-the-other-half-line",
                "(10) with c = Phi^{-1}(1-z): the half line above -c has the same mass, so the infimum is no larger",
                Le(normal_cdf(cut - any_sign), normal_cdf(cut + any_sign)),
                (cut, any_sign),
                box=box,
                latex=r"\Phi(c-s)\le\Phi(c+s),\quad c=\Phi^{-1}(1-z)",
                coverage=Coverage.INSTANCE,
                scope="against one other event of the same mass, the half line above -c",
                consequence=Consequence.EDGE,
                reading="for s >= 0, or with |s|, which Lemma 6.3 writes",
            ),
            Obligation(
                "likelihood-ratio-order",
                "(10), s >= 0: the ratio of the densities grows along the line, so a lower half line is best",
                Ge(derivative(cut * positive - positive**2 / 2, cut), 0),
                (cut, positive),
                coverage=Coverage.STEP,
                uses=("neyman-pearson",),
            ),
        ),
        repaired=Repair(
            because="for negative s the infimum is at the other half line: |s| is meant",
            latex=r"T(\mathcal{N}(0,1)\|\mathcal{N}(s,1))(z)=\Phi(\Phi^{-1}(1-z)-|s|)",
            obligations=(
                Obligation(
                    "not-above-the-other-half-line",
                    "(10) for s >= 0",
                    Le(normal_cdf(cut - positive), normal_cdf(cut + positive)),
                    (cut, positive),
                    box={"s": (0, 3), "c": (-6, 6)},
                    scope="that the other half line is no better; events that are no half lines are left out",
                    coverage=Coverage.INSTANCE,
                    catches=Fault(
                        "the two half lines are exchanged",
                        Le(normal_cdf(cut + positive), normal_cdf(cut - positive)),
                    ),
                ),
            ),
        ),
    )


def _proposition_3_3() -> Statement:
    # P uniform on [0, 1]; Q has constant density on each of three steps, largest first, so the mass that Q gives to
    # [0, x] is the most that an event of P-mass x can have
    ends = (sp.Rational(1, 4), sp.Rational(1, 2))
    masses = tuple(real(f"G{i}", ge=0, le=1, meaning=f"Q-mass of [0, {e}]") for i, e in enumerate(ends, 1))
    others = tuple(real(f"H{i}", ge=0, le=1, meaning=f"Q'-mass of [0, {e}]") for i, e in enumerate(ends, 1))
    growth = real("E", ge=1, meaning="exp(epsilon), epsilon >= 0")
    any_growth = real("E", gt=0, meaning="exp(epsilon), any real epsilon")

    def curve(heights: Sequence[Variable], factor: Variable) -> Expression:
        points = zip((sp.Integer(0), *ends, sp.Integer(1)), (0, *heights, 1), strict=True)
        return sp.Max(*(sp.sympify(height) - factor * end for end, height in points))

    def descending(heights: Sequence[Variable]) -> tuple[Compare, ...]:
        first, second = heights
        return (
            Ge(first / ends[0], (second - first) / (ends[1] - ends[0])),
            Ge((second - first) / (ends[1] - ends[0]), (1 - second) / (1 - ends[1])),
        )

    def smaller_curve(factor: Variable) -> Formula:
        return ForAll(factor, Le(curve(masses, factor), curve(others, factor)))

    larger_tradeoff = all_of(*(Le(g, h) for g, h in zip(masses, others, strict=True)))
    symbols = (*masses, *others)
    shape = (*descending(masses), *descending(others))
    scope = "P = P' uniform on [0, 1], Q and Q' with densities constant on [0, 1/4], [1/4, 1/2], [1/2, 1]"
    if_part = Obligation(
        "if",
        "Proposition 3.3, if",
        Implies(larger_tradeoff, smaller_curve(growth)),
        symbols,
        assuming=shape,
        scope=scope,
        units=False,
        coverage=Coverage.INSTANCE,
        catches=Fault(
            "the curves are exchanged",
            Implies(larger_tradeoff, ForAll(growth, Le(curve(others, growth), curve(masses, growth)))),
        ),
    )
    return Statement(
        id="gll22.prop3.3",
        title="Duality of privacy curve and trade-off function",
        where="Proposition 3.3",
        latex=r"\delta(P\|Q)\le\delta(P'\|Q')\text{ iff }T(P\|Q)\ge T(P'\|Q')",
        pairs=("gll22.eq9", "gll22.eq10", "gll22.thm2.1"),
        printed=(
            if_part,
            Obligation(
                "only-if",
                "Proposition 3.3, only if, with the curve of Definition 3.1: a function of epsilon >= 0",
                Implies(smaller_curve(growth), larger_tradeoff),
                symbols,
                assuming=shape,
                scope=scope,
                latex=r"\delta(P\|Q)\le\delta(P'\|Q')\text{ on }[0,\infty)\implies T(P\|Q)\ge T(P'\|Q')",
                units=False,
                coverage=Coverage.INSTANCE,
                consequence=Consequence.EDGE,
                reading="with the curve for every real epsilon",
            ),
        ),
        repaired=Repair(
            because=(
                "Definition 3.1 gives the curve for epsilon >= 0 only, which says nothing of events that Q makes less "
                "likely; with every real epsilon the two orders agree"
            ),
            latex=r"\delta(P\|Q)\le\delta(P'\|Q')\text{ on }\mathbb{R}\text{ iff }T(P\|Q)\ge T(P'\|Q')",
            obligations=(
                Obligation(
                    "only-if",
                    "Proposition 3.3, only if, with every real epsilon",
                    Implies(smaller_curve(any_growth), larger_tradeoff),
                    symbols,
                    assuming=shape,
                    scope=scope,
                    units=False,
                    coverage=Coverage.INSTANCE,
                    catches=Fault(
                        "the curve is known for epsilon >= 0 only",
                        Implies(smaller_curve(growth), larger_tradeoff),
                    ),
                ),
                Obligation(
                    "if",
                    "Proposition 3.3, if, with every real epsilon",
                    Implies(larger_tradeoff, smaller_curve(any_growth)),
                    symbols,
                    assuming=shape,
                    scope=scope,
                    units=False,
                    coverage=Coverage.INSTANCE,
                    catches=Fault(
                        "the curves are exchanged",
                        Implies(
                            larger_tradeoff,
                            ForAll(any_growth, Le(curve(others, any_growth), curve(masses, any_growth))),
                        ),
                    ),
                ),
            ),
        ),
    )


def _lemma_6_3() -> Statement:
    level = real("l", gt=0, unit=NATS, meaning="ln(1/(2 delta))", latex=r"\log(1/(2\delta))")
    positive = real("epsilon", gt=0, unit=NATS, latex=r"\varepsilon")
    t = real("t", gt=0, meaning="Gaussian quantile of 1 - delta")
    closed_t = real("t", ge=0)
    shift = real("s", gt=0, meaning="shift")
    largest = sp.sqrt(2 * level + 2 * positive) - sp.sqrt(2 * level)
    shift_at = sp.sqrt(t**2 + 2 * positive) - t
    box = {"l": ("1/100", 30), "epsilon": ("1/100", 10)}
    return Statement(
        id="gll22.lem6.3",
        title="The allowed shift s",
        where="Lemma 6.3",
        latex=(
            r"|s|\le\sqrt{2\log(1/(2\delta))+2\varepsilon}-\sqrt{2\log(1/(2\delta))}\implies"
            r"\delta(\mathcal{N}(0,1)\|\mathcal{N}(s,1))\le\delta"
        ),
        pairs=("gll22.eq9", "gll22.thm6.4"),
        printed=(
            Obligation(
                "largest-shift",
                "Lemma 6.3, (9) at the largest s, its arguments simplified by the two steps below",
                Le(
                    normal_cdf(-sp.sqrt(2 * level))
                    - sp.exp(positive) * normal_cdf(-sp.sqrt(2 * level + 2 * positive)),
                    sp.exp(-level) / 2,
                ),
                (level, positive),
                box=box,
                latex=r"\Phi(-\sqrt{2l})-e^\varepsilon\Phi(-\sqrt{2l+2\varepsilon})\le\delta,\quad l=\log(1/(2\delta))",
                coverage=Coverage.WHOLE,
                uses=(
                    "gll22.eq9",
                    "gll22.lem6.3/growing-in-s",
                    "gll22.lem6.3/first-argument",
                    "gll22.lem6.3/second-argument",
                ),
            ),
            Obligation(
                "growing-in-s",
                "Lemma 6.3, smaller s: the derivative of (9) in s is a density",
                Eq(
                    derivative(hockey_stick(positive, shift), shift),
                    density(-positive / shift + shift / 2),
                ),
                (positive, shift),
                coverage=Coverage.STEP,
            ),
            Obligation(
                "first-argument",
                "Lemma 6.3, first argument of (9) at the largest s",
                Eq(-positive / largest + largest / 2, -sp.sqrt(2 * level)),
                (level, positive),
                coverage=Coverage.STEP,
            ),
            Obligation(
                "second-argument",
                "Lemma 6.3, second argument of (9) at the largest s",
                Eq(-positive / largest - largest / 2, -sp.sqrt(2 * level + 2 * positive)),
                (level, positive),
                coverage=Coverage.STEP,
            ),
            Obligation(
                "gaussian-tail",
                "Lemma 6.3, proof: 1 - Phi(t) <= exp(-t^2/2)/2 for t > 0",
                Le(normal_cdf(-closed_t), sp.exp(-(closed_t**2) / 2) / 2),
                (closed_t,),
                box={"t": (0, 10)},
                coverage=Coverage.STEP,
            ),
            Obligation(
                "equivalence",
                "Lemma 6.3, proof: epsilon/s - s/2 = t at s = sqrt(t^2 + 2 epsilon) - t",
                Eq(positive / shift_at - shift_at / 2, t),
                (t, positive),
                coverage=Coverage.STEP,
            ),
            Obligation(
                "decreasing-in-t",
                "Lemma 6.3, proof: sqrt(t^2 + 2 epsilon) - t decreases as t increases",
                Le(derivative(shift_at, t), 0),
                (t, positive),
                box={"t": ("1/100", 10), "epsilon": ("1/100", 10)},
                coverage=Coverage.STEP,
            ),
        ),
    )


STATEMENTS = (_equation_9(), _equation_10(), _proposition_3_3(), _lemma_6_3())
