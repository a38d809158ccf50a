"""fmtt18: Feldman, Mironov, Talwar, Thakurta, Privacy Amplification by Iteration. What is printed there."""

from __future__ import annotations

import sympy as sp

from dpverify.evidence import Consequence, Coverage
from dpverify.proving.language import (
    LENGTH,
    LOSS,
    NATS,
    RECORDS,
    Eq,
    Fault,
    Ge,
    Le,
    Lt,
    Obligation,
    Repair,
    Statement,
    integer,
    real,
    total,
)
from dpverify.statements.fmtt18.renyi import STATEMENTS as RENYI
from dpverify.statements.fmtt18.renyi import log_inverse_delta, order
from dpverify.statements.gaussian import hockey_stick, renyi_divergence

# symbols shared by several statements
lipschitz = real("L", gt=0, unit=LOSS / LENGTH, meaning="Lipschitz constant of each loss")
eta = real("eta", gt=0, unit=LENGTH**2 / LOSS, meaning="step size", latex=r"\eta")
gradient_noise = real(
    "sigma", gt=0, unit=LOSS / LENGTH, meaning="noise added to a gradient, a coordinate", latex=r"\sigma"
)
n = integer("n", ge=1, unit=RECORDS, meaning="number of records")
index = integer("t", ge=1, unit=RECORDS, meaning="position of the record that differs")
privacy_epsilon = real("epsilon", gt=0, unit=NATS, latex=r"\varepsilon")


def _theorem_1() -> Statement:
    steps = integer("T", ge=1, meaning="number of steps")
    any_order = real("order", ge=1, meaning="Renyi order", latex=r"\alpha")
    sigma = real("sigma", gt=0, unit=LENGTH, meaning="noise of a step, a coordinate", latex=r"\sigma")
    distance = real("distance", ge=0, unit=LENGTH, meaning="||x_0 - x_0'||", latex=r"\|x_0-x_0'\|")
    t = integer("t", ge=1, meaning="a step")
    everything = (steps, any_order, sigma, distance)
    # identity maps: X_T is N(x_0, T sigma^2), so the divergence is known exactly
    attained = renyi_divergence(any_order, distance, steps * sigma**2)
    amount = distance / steps
    return Statement(
        id="fmtt18.thm1",
        title="Divergence after T contractive noisy steps",
        where="Theorem 1 (informal)",
        latex=r"\mathrm{D}_\alpha(X_T\|X'_T)\le\frac{\alpha\|x_0-x'_0\|}{2T\sigma^2}\quad\text{for every }\alpha\ge 1",
        pairs=("fmtt18.cni", "fmtt18.thm22"),
        printed=(
            Obligation(
                "attained-by-identity-maps",
                "Theorem 1 (informal)",
                Le(attained, any_order * distance / (2 * steps * sigma**2)),
                everything,
                scope="all contractions the identity: the two laws are Gaussian, the left side is exact",
                latex=r"\frac{\alpha\|x_0-x'_0\|^2}{2T\sigma^2}\le\frac{\alpha\|x_0-x'_0\|}{2T\sigma^2}",
                coverage=Coverage.INSTANCE,
                uses=("fmtt18.def10",),
                consequence=Consequence.CLAIM,
                reading="with the square of the distance, which Theorem 22 gives and Theorem 23 uses",
            ),
        ),
        repaired=Repair(
            because=(
                "the two sides have different units, and identity maps attain the bound with the distance squared"
            ),
            latex=r"\mathrm{D}_\alpha(X_T\|X'_T)\le\frac{\alpha\|x_0-x'_0\|^2}{2T\sigma^2}",
            obligations=(
                Obligation(
                    "attained-by-identity-maps",
                    "Theorem 1 (informal)",
                    Le(attained, any_order * distance**2 / (2 * steps * sigma**2)),
                    everything,
                    scope="all contractions the identity: the left side is exact",
                    coverage=Coverage.INSTANCE,
                    uses=("fmtt18.def10",),
                    catches=Fault(
                        "a factor 2 is lost", Le(attained, any_order * distance**2 / (4 * steps * sigma**2))
                    ),
                ),
                Obligation(
                    "schedule-is-admissible",
                    "Theorem 1, by Theorem 22 with a_t = distance/T",
                    Ge(distance - t * amount, 0),
                    (*everything, t),
                    assuming=(Le(t, steps),),
                    latex=r"z_t=\|x_0-x'_0\|-t\,a_t\ge 0,\quad a_t=\|x_0-x'_0\|/T",
                    coverage=Coverage.CONDITION,
                ),
                Obligation(
                    "schedule-ends-at-zero",
                    "Theorem 1, by Theorem 22 with a_t = distance/T",
                    Eq(total(amount, t, 1, steps), distance),
                    everything,
                    latex=r"\sum_{t=1}^{T}a_t=\|x_0-x'_0\|",
                    coverage=Coverage.CONDITION,
                ),
                Obligation(
                    "schedule-gives-the-bound",
                    "Theorem 1, by Theorem 22 with a_t = distance/T",
                    Eq(
                        total(renyi_divergence(any_order, amount, sigma**2), t, 1, steps),
                        any_order * distance**2 / (2 * steps * sigma**2),
                    ),
                    everything,
                    latex=r"\sum_{t=1}^{T}\frac{\alpha a_t^2}{2\sigma^2}=\frac{\alpha\|x_0-x'_0\|^2}{2T\sigma^2}",
                    coverage=Coverage.WHOLE,
                    uses=(
                        "fmtt18.thm22",
                        "fmtt18.def10",
                    ),
                ),
            ),
        ),
    )


def _theorem_22() -> Statement:
    a1, a2 = (real(name, unit=LENGTH) for name in ("a1", "a2"))
    s1, s2 = (real(name, ge=0, unit=LENGTH) for name in ("s1", "s2"))
    shifts, amounts, s, a = (real(name, unit=LENGTH) for name in ("S", "A", "s", "a"))
    sigma = real("sigma", gt=0, unit=LENGTH, latex=r"\sigma")
    return Statement(
        id="fmtt18.thm22",
        title="The accountant: any schedule with z_t >= 0",
        where="Theorem 22",
        latex=(
            r"z_t=\sum_{i\le t}s_i-\sum_{i\le t}a_i\ge 0,\ z_T=0\implies"
            r"\mathrm{D}_\alpha(X_T\|X'_T)\le\sum_{t=1}^{T}R_\alpha(\zeta_t,a_t)"
        ),
        pairs=("fmtt18.cni", "fmtt18.thm23", "fmtt18.thm35", "fmtt18.def10"),
        uses=("fmtt18.lem20", "fmtt18.lem21"),
        printed=(
            Obligation(
                "shift-bookkeeping",
                "Theorem 22, definition of z_{t+1} in the induction",
                Eq((shifts + s - (amounts + a)) + a, (shifts - amounts) + s),
                (shifts, amounts, s, a),
                latex=r"z_{t+1}+a_{t+1}=z_t+s_{t+1}",
                coverage=Coverage.STEP,
            ),
            Obligation(
                "tried-on-two-identity-steps",
                "Theorem 22",
                Le(
                    renyi_divergence(order, s1 + s2, 2 * sigma**2),
                    renyi_divergence(order, a1, sigma**2) + renyi_divergence(order, a2, sigma**2),
                ),
                (order, sigma, s1, s2, a1, a2),
                assuming=(Ge(s1 - a1, 0), Eq(s1 + s2 - a1 - a2, 0)),
                scope="T = 2, Gaussian noise, identity maps: the left side is exact; any real a_1, a_2",
                coverage=Coverage.INSTANCE,
                uses=("fmtt18.def10",),
                catches=Fault(
                    "a hundredth of the sum is lost",
                    Le(
                        renyi_divergence(order, s1 + s2, 2 * sigma**2),
                        sp.Rational(99, 100)
                        * (renyi_divergence(order, a1, sigma**2) + renyi_divergence(order, a2, sigma**2)),
                    ),
                ),
            ),
        ),
    )


def _theorem_23() -> Statement:
    i = integer("i", ge=1, unit=RECORDS, meaning="a step")
    amount = 2 * eta * lipschitz / (n - index + 1)
    everything = (n, index, eta, lipschitz, gradient_noise, order)
    bound = 2 * order * lipschitz**2 / (gradient_noise**2 * (n - index + 1))
    prefactor = order / (2 * eta**2 * gradient_noise**2)
    inside = (Le(index, n),)
    return Statement(
        id="fmtt18.thm23",
        title="PNSGD: Renyi differential privacy at an index",
        where="Theorem 23",
        latex=(
            r"\text{PNSGD is }\left(\alpha,\frac{\alpha\varepsilon}{n+1-t}\right)\text{-RDP for its }t\text{'th input},"
            r"\quad\varepsilon=\frac{2L^2}{\sigma^2}"
        ),
        pairs=("fmtt18.alg1", "fmtt18.thm22", "fmtt18.thm24"),
        printed=(
            Obligation(
                "schedule-is-admissible",
                "Theorem 23, proof: a_t = ... = a_n = 2 eta L/(n-t+1)",
                Ge(2 * eta * lipschitz - (i - index + 1) * amount, 0),
                (*everything, i),
                assuming=(Le(index, i), Le(i, n)),
                latex=r"z_i\ge 0\text{ for }t\le i\le n",
                coverage=Coverage.CONDITION,
            ),
            Obligation(
                "schedule-ends-at-zero",
                "Theorem 23, proof",
                Eq(total(amount, i, index, n), 2 * eta * lipschitz),
                everything,
                assuming=inside,
                latex=r"z_n=0",
                coverage=Coverage.CONDITION,
            ),
            Obligation(
                "last-display",
                "Theorem 23, proof, last display as printed: the summand does not depend on the index of the sum",
                Le(prefactor * total(amount**2, i, 1, n), bound),
                everything,
                assuming=inside,
                latex=(
                    r"\frac{\alpha}{2\eta^2\sigma^2}\sum_{i=1}^{n}a_t^2\le\frac{2\alpha L^2}{\sigma^2(n-t+1)}"
                ),
                coverage=Coverage.STEP,
                consequence=Consequence.STEP,
                reading="with a_i in place of a_t, which is zero before step t",
            ),
            Obligation(
                "schedule-gives-the-bound",
                "Theorem 23",
                Eq(
                    prefactor * total(amount**2, i, index, n),
                    order * (2 * lipschitz**2 / gradient_noise**2) / (n + 1 - index),
                ),
                everything,
                assuming=inside,
                latex=r"\frac{\alpha}{2\eta^2\sigma^2}\sum_{i=t}^{n}a_i^2=\frac{\alpha\varepsilon}{n+1-t}",
                coverage=Coverage.WHOLE,
                uses=(
                    "fmtt18.thm22",
                    "fmtt18.def10",
                    "fmtt18.prop5",
                    "fmtt18.prop17",
                    "fmtt18.prop18",
                ),
            ),
        ),
        repaired=Repair(
            because="the last display sums a_t^2 over i = 1..n; a_i^2 is meant, which is zero before step t",
            obligations=(
                Obligation(
                    "last-display",
                    "Theorem 23, proof, last display with a_i",
                    Le(prefactor * total(amount**2, i, index, n), bound),
                    everything,
                    assuming=inside,
                    latex=(
                        r"\frac{\alpha}{2\eta^2\sigma^2}\sum_{i=1}^{n}a_i^2\le\frac{2\alpha L^2}{\sigma^2(n-t+1)}"
                    ),
                    coverage=Coverage.STEP,
                ),
            ),
        ),
    )


def _theorem_26() -> Statement:
    steps = integer("T", ge=1, unit=RECORDS, meaning="stopping time")
    records = integer("n", ge=1, le=60, unit=RECORDS, meaning="number of records")
    x = real("x", ge=0, le=1, meaning="1/n")
    scale = 4 * order * lipschitz**2 / (n * gradient_noise**2)
    noise_ratio = real("r", gt=0, meaning="sigma / L")
    mixed = real("D", ge=0, unit=NATS, meaning="divergence of the output")
    harmonic_number = real("H", gt=0, meaning="1 + 1/2 + ... + 1/(n - t + 1)")
    log_n = real("l", ge=0, meaning="ln n", latex=r"\ln n")
    everything = (n, index, steps, lipschitz, gradient_noise, order)
    harmonic = total(1 / (steps - index + 1), steps, index, n)
    inside = (Le(index, n),)
    alone = (Eq(n, 1), Ge(gradient_noise**2, 2 * (order - 1) * order * lipschitz**2))
    return Statement(
        id="fmtt18.thm26",
        title="Stop-PNSGD: Renyi differential privacy",
        where="Theorem 26",
        latex=(
            r"\sigma\ge L\sqrt{2(\alpha-1)\alpha}\implies\text{Stop-PNSGD is }"
            r"\left(\alpha,\frac{4\alpha L^2\cdot\ln n}{n\sigma^2}\right)\text{-RDP}"
        ),
        pairs=("fmtt18.stop", "fmtt18.lem25", "fmtt18.thm23"),
        printed=(
            Obligation(
                "one-record",
                "Theorem 26 for n = 1",
                Le(2 * order * lipschitz**2 / gradient_noise**2, scale * sp.log(n)),
                (n, order, lipschitz, gradient_noise),
                assuming=alone,
                coverage=Coverage.INSTANCE,
                scope="n = 1, gradients 2 L apart: one step, whose divergence is exact",
                uses=("fmtt18.def10",),
                consequence=Consequence.EDGE,
                reading="for n from 2 on, where nothing here shows it false, though its proof does not show it true",
                latex=r"\frac{2\alpha L^2}{\sigma^2}\le\frac{4\alpha L^2\ln n}{n\sigma^2}\text{ for }n=1",
            ),
            Obligation(
                "condition-of-lemma-25",
                "Theorem 26, proof: every divergence is at most 1/(order - 1)",
                Le(2 * order / noise_ratio**2, 1 / (order - 1)),
                (order, noise_ratio),
                assuming=(Ge(noise_ratio**2, 2 * (order - 1) * order),),
                latex=r"\frac{2\alpha L^2}{\sigma^2}\le\frac{1}{\alpha-1}",
                coverage=Coverage.CONDITION,
            ),
            Obligation(
                "last-display",
                "Theorem 26, proof, last display: the sum of 1/k is bounded by the logarithm",
                Le(scale * harmonic, scale * sp.log(n - index + 1)),
                everything,
                assuming=inside,
                latex=(
                    r"2\cdot\frac{1}{n}\sum_{T=t}^{n}\frac{2\alpha L^2}{\sigma^2(T-t+1)}"
                    r"\le\frac{4\alpha L^2\ln(n-t+1)}{n\sigma^2}"
                ),
                coverage=Coverage.STEP,
                consequence=Consequence.STEP,
            ),
        ),
        repaired=Repair(
            because="1 + 1/2 + ... + 1/n is above ln n (for one record the printed bound is 0); 1 + ln n is enough",
            latex=r"\left(\alpha,\frac{4\alpha L^2(1+\ln n)}{n\sigma^2}\right)\text{-RDP}",
            replaces=("one-record",),
            obligations=(
                Obligation(
                    "bound",
                    "Theorem 26 with 1 + ln n: Lemma 25, Theorem 23 for every T, and the sum of 1/k up to n - t + 1",
                    Le(mixed, 4 * order * lipschitz**2 * (1 + log_n) / (n * gradient_noise**2)),
                    (mixed, harmonic_number, log_n, n, lipschitz, gradient_noise, order),
                    assuming=(
                        Le(mixed, 2 / n * (2 * order * lipschitz**2 / gradient_noise**2) * harmonic_number),
                        Le(harmonic_number, 1 + log_n),
                    ),
                    coverage=Coverage.WHOLE,
                    uses=("fmtt18.lem25", "fmtt18.thm23", "harmonic-sum"),
                    latex=(
                        r"\mathrm{D}\le\frac{2}{n}\sum_T\mathrm{D}_T\le\frac{4\alpha L^2}{n\sigma^2}H_{n-t+1}"
                        r"\le\frac{4\alpha L^2(1+\ln n)}{n\sigma^2}"
                    ),
                ),
                Obligation(
                    "last-display",
                    "Theorem 26 with 1 + ln n, at t = 1, the worst index",
                    Le(total(1 / steps, steps, 1, records), 1 + sp.log(records)),
                    (records, steps),
                    scope="n from 2 to 60; at n = 1 the sides are equal, beyond 60 the induction step",
                    box={"n": (2, 60), "T": (1, 60)},
                    coverage=Coverage.INSTANCE,
                    catches=Fault(
                        "1 + ln n without the 1", Le(total(1 / steps, steps, 1, records), sp.log(records))
                    ),
                ),
                Obligation(
                    "induction-step",
                    "Theorem 26 with 1 + ln n: from n to n + 1, x = 1/n",
                    Le(x / (1 + x), sp.log(1 + x)),
                    (x,),
                    latex=r"\frac{1}{n+1}\le\ln(n+1)-\ln n",
                    coverage=Coverage.STEP,
                ),
            ),
        ),
    )


def _lemma_27() -> Statement:
    epsilon = real("epsilon", gt=0, unit=NATS, latex=r"\varepsilon")
    small = real("epsilon", gt=0, le=1, unit=NATS, latex=r"\varepsilon")
    level = real("l", gt=0, unit=NATS, meaning="ln(1/delta)", latex=r"\ln(1/\delta)")
    distance = real("x", ge=0, unit=LOSS / LENGTH, meaning="distance of two gradients")

    def shift(privacy: object) -> sp.Expr:
        # the distance 2 L of two gradients over the noise
        return sp.sympify(privacy) / sp.sqrt(2 * (level + sp.log(sp.Rational(5, 4))))

    printed = Le(hockey_stick(epsilon, shift(epsilon)), sp.exp(-level))
    latex = (
        r"\Phi\left(-\frac{\varepsilon}{s}+\frac{s}{2}\right)-e^\varepsilon\Phi\left(-\frac{\varepsilon}{s}-\frac{s}{2}\right)"
        r"\le\delta,\quad s=\frac{\varepsilon}{\sqrt{2\ln(1.25/\delta)}}"
    )
    return Statement(
        id="fmtt18.lem27",
        title="Local privacy of a noisy gradient",
        where="Lemma 27",
        latex=(
            r"\text{for every }\varepsilon,\delta>0\text{ and }\sigma=2L\sqrt{2\ln(1.25/\delta)}/\varepsilon:"
            r"\text{ local }(\varepsilon,\delta)\text{-DP}"
        ),
        pairs=("fmtt18.alg1", "fmtt18.thm29", "fmtt18.thm30"),
        printed=(
            Obligation(
                "renyi-of-one-step",
                "Lemma 27, local Renyi differential privacy: two gradients are at most 2 L apart",
                Le(
                    renyi_divergence(order, distance, gradient_noise**2),
                    2 * order * lipschitz**2 / gradient_noise**2,
                ),
                (order, distance, lipschitz, gradient_noise),
                assuming=(Le(distance, 2 * lipschitz),),
                coverage=Coverage.WHOLE,
                uses=("fmtt18.def10",),
            ),
            Obligation(
                "noise-is-enough",
                "Lemma 27, for every epsilon and every delta below 1 (from 1 on all is private), gradients 2 L apart",
                printed,
                (epsilon, level),
                box={"epsilon": ("1/20", 12), "l": (3, 14)},
                latex=latex,
                coverage=Coverage.WHOLE,
                uses=(
                    "gll22.eq9",
                    "gll22.lem6.3/growing-in-s",
                ),
                consequence=Consequence.CLAIM,
                reading="for epsilon at most 1, as the classical proof of the Gaussian mechanism asks",
            ),
        ),
        repaired=Repair(
            because="for large epsilon this noise is too small; its classical proof asks for epsilon at most 1",
            obligations=(
                Obligation(
                    "noise-is-enough",
                    "Lemma 27 for epsilon at most 1",
                    Le(hockey_stick(small, shift(small)), sp.exp(-level)),
                    (small, level),
                    box={"epsilon": ("1/20", 1), "l": (3, 14)},
                    latex=latex,
                    coverage=Coverage.WHOLE,
                    uses=(
                        "gll22.eq9",
                        "gll22.lem6.3/growing-in-s",
                    ),
                ),
            ),
        ),
    )


def _theorem_35() -> Statement:
    i = integer("i", ge=1, unit=RECORDS, meaning="position of the record that differs")
    k = integer("k", ge=0, meaning="full rounds since the record was first used")
    r = integer("r", ge=0, unit=RECORDS, meaning="further steps")
    step = 2 * eta * lipschitz
    early, late = step / n, step / (n - i + 1)
    constants = (n, i, eta, lipschitz)
    everything = (*constants, gradient_noise, order)
    inner = n * (n - 1) / n**2 + (n - i + 1) / (n - i + 1) ** 2
    scale = 2 * order * lipschitz**2 / gradient_noise**2
    inside = (Le(i, n),)
    return Statement(
        id="fmtt18.thm35",
        title="PNMSGD: n passes in a fixed order",
        where="Theorem 35",
        latex=r"\text{Algorithm 2 satisfies }\left(\alpha,\frac{4\alpha L^2}{\sigma^2}\right)\text{-RDP}",
        pairs=("fmtt18.alg2", "fmtt18.thm22", "fmtt18.appB"),
        printed=(
            Obligation(
                "schedule-is-admissible-early",
                "Theorem 35, proof: t = i + k n + r before the last use",
                Ge(step * (k + 1) - (k * n + r + 1) * early, 0),
                (*constants, k, r),
                assuming=(*inside, Le(k, n - 2), Le(r, n - 1)),
                latex=r"z_t\ge 0\text{ for }i\le t<n(n-1)+i",
                coverage=Coverage.CONDITION,
            ),
            Obligation(
                "schedule-is-admissible-late",
                "Theorem 35, proof: t = n(n-1) + i + r from the last use on",
                Ge(step * n - n * (n - 1) * early - (r + 1) * late, 0),
                (*constants, r),
                assuming=(*inside, Le(r, n - i)),
                latex=r"z_t\ge 0\text{ for }n(n-1)+i\le t\le n^2",
                coverage=Coverage.CONDITION,
            ),
            Obligation(
                "schedule-ends-at-zero",
                "Theorem 35, proof",
                Eq(n * (n - 1) * early + (n - i + 1) * late, step * n),
                constants,
                assuming=inside,
                latex=r"z_{n^2}=0",
                coverage=Coverage.CONDITION,
            ),
            Obligation(
                "sum-of-squares",
                "Theorem 35, proof, second line of the display",
                Eq(
                    order
                    / (2 * eta**2 * gradient_noise**2)
                    * (n * (n - 1) * early**2 + (n - i + 1) * late**2),
                    scale * inner,
                ),
                everything,
                assuming=inside,
                latex=(
                    r"\frac{\alpha}{2\eta^2\sigma^2}\sum_{t=1}^{n^2}a_t^2=\frac{2\alpha L^2}{\sigma^2}"
                    r"\left(\frac{n(n-1)}{n^2}+\frac{n-i+1}{(n-i+1)^2}\right)"
                ),
                coverage=Coverage.STEP,
            ),
            Obligation(
                "bound",
                "Theorem 35",
                Lt(scale * inner, 4 * order * lipschitz**2 / gradient_noise**2),
                everything,
                assuming=inside,
                latex=(
                    r"\frac{2\alpha L^2}{\sigma^2}\left(\frac{n(n-1)}{n^2}+\frac{n-i+1}{(n-i+1)^2}\right)"
                    r"<\frac{4\alpha L^2}{\sigma^2}"
                ),
                coverage=Coverage.WHOLE,
                uses=(
                    "fmtt18.thm35/sum-of-squares",
                    "fmtt18.thm22",
                    "fmtt18.def10",
                    "fmtt18.prop5",
                    "fmtt18.prop17",
                    "fmtt18.prop18",
                ),
            ),
        ),
    )


def _appendix_b() -> Statement:
    chosen_order = 2 * log_inverse_delta / privacy_epsilon
    sigma = 5 * lipschitz * sp.sqrt(log_inverse_delta.symbol) / privacy_epsilon
    return Statement(
        id="fmtt18.appB",
        title="The noise of PNMSGD for (epsilon, delta)-DP",
        where="Appendix B, last paragraph",
        latex=(
            r"\sigma=\frac{5L\sqrt{\ln(1/\delta)}}{\varepsilon},\ \alpha=\frac{2\ln(1/\delta)}{\varepsilon}\ge 5"
            r"\implies(\varepsilon,\delta)\text{-DP}"
        ),
        pairs=("fmtt18.alg2", "fmtt18.thm35", "fmtt18.lem14"),
        printed=(
            Obligation(
                "noise-is-enough",
                "Appendix B, by Theorem 35 and Lemma 14",
                Le(
                    4 * chosen_order * lipschitz**2 / sigma**2 + log_inverse_delta / (chosen_order - 1),
                    privacy_epsilon,
                ),
                (log_inverse_delta, privacy_epsilon, lipschitz),
                assuming=(Ge(chosen_order, 5),),
                latex=r"\frac{4\alpha L^2}{\sigma^2}+\frac{\ln(1/\delta)}{\alpha-1}\le\varepsilon",
                coverage=Coverage.WHOLE,
                uses=(
                    "fmtt18.thm35",
                    "fmtt18.lem14",
                ),
            ),
        ),
    )


STATEMENTS = (
    _theorem_1(),
    *RENYI,
    _theorem_22(),
    _theorem_23(),
    _theorem_26(),
    _lemma_27(),
    _theorem_35(),
    _appendix_b(),
)
