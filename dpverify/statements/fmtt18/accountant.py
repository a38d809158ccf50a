"""fmtt18, Sections 1 and 3: contractive noisy iterations."""

from __future__ import annotations

from dpverify.formulas.expressions import integer, real
from dpverify.formulas.units import LENGTH
from dpverify.statements.fmtt18.symbols import alpha, any_alpha, length_sigma
from dpverify.statements.sheet import CLAIM, Sheet

_T = integer("T", ge=1, meaning="number of steps")
_t = integer("t", ge=1, meaning="a step")
_distance = real("distance", ge=0, unit=LENGTH, meaning="||x_0 - x_0'||", latex=r"\|x_0-x_0'\|")
_IDENTITY = (
    "all contractions the identity: the laws are Gaussian, of variance T sigma^2, and the left side is exact"
)

thm1 = (
    Sheet(
        "fmtt18.thm1", (_T, any_alpha, length_sigma, _distance, _t),
        title="Divergence after T contractive noisy steps",
        where="Theorem 1 (informal)",
        latex=r"\mathrm{D}_\alpha(X_T\|X'_T)\le\frac{\alpha\|x_0-x'_0\|}{2T\sigma^2}\quad\text{for every }\alpha\ge 1",
        pairs=("fmtt18.cni", "fmtt18.thm22"),
    )
    .define(r"\mathrm{D}_\alpha(X_T\|X'_T)", r"\frac{\alpha\|x_0-x_0'\|^2}{2(\sqrt{T}\sigma)^2}")
    .define("a_t", r"\frac{\|x_0-x_0'\|}{T}")
    .define("z_t", r"\|x_0-x_0'\|-ta_t")
    .instance(
        "attained-by-identity-maps", r"\mathrm{D}_\alpha(X_T\|X'_T)\le\frac{\alpha\|x_0-x'_0\|}{2T\sigma^2}",
        case=_IDENTITY, uses=("fmtt18.def10",),
    )
    .corrected(
        "attained-by-identity-maps", r"\mathrm{D}_\alpha(X_T\|X'_T)\le\frac{\alpha\|x_0-x'_0\|^2}{2T\sigma^2}",
        because="the two sides have different units, and identity maps attain the bound with the distance squared",
        consequence=CLAIM, true_if="with the square of the distance, which Theorem 22 gives and Theorem 23 uses",
        case=_IDENTITY, uses=("fmtt18.def10",),
        catches=("a factor 2 is lost", r"\mathrm{D}_\alpha(X_T\|X'_T)\le\frac{\alpha\|x_0-x'_0\|^2}{4T\sigma^2}"),
    )
    .corrected(
        "schedule-is-admissible", r"z_t\ge 0", given=r"t\le T",
        where="Theorem 1, by Theorem 22 with a_t = distance/T", coverage="condition",
    )
    .corrected(
        "schedule-ends-at-zero", r"\sum_{t=1}^{T}a_t=\|x_0-x'_0\|",
        where="Theorem 1, by Theorem 22 with a_t = distance/T", coverage="condition",
    )
    .corrected(
        "schedule-gives-the-bound",
        r"\sum_{t=1}^{T}\frac{\alpha a_t^2}{2\sigma^2}=\frac{\alpha\|x_0-x'_0\|^2}{2T\sigma^2}",
        where="Theorem 1, by Theorem 22 with a_t = distance/T", coverage="whole",
        uses=("fmtt18.thm22", "fmtt18.def10"),
    )
    .correction(latex=r"\mathrm{D}_\alpha(X_T\|X'_T)\le\frac{\alpha\|x_0-x'_0\|^2}{2T\sigma^2}")
)  # fmt: skip


_a1, _a2 = (real(f"a{i}", unit=LENGTH, latex=f"a_{i}") for i in (1, 2))
_s1, _s2 = (real(f"s{i}", ge=0, unit=LENGTH, latex=f"s_{i}") for i in (1, 2))
_shifts = real("S", unit=LENGTH, latex=r"\sum_{i\le t}s_i")
_amounts = real("A", unit=LENGTH, latex=r"\sum_{i\le t}a_i")
_s, _a = real("s", unit=LENGTH, latex="s_{t+1}"), real("a", unit=LENGTH, latex="a_{t+1}")

thm22 = (
    Sheet(
        "fmtt18.thm22", (alpha, length_sigma, _s1, _s2, _a1, _a2, _shifts, _amounts, _s, _a),
        title="The accountant: any schedule with z_t >= 0",
        where="Theorem 22",
        latex=(
            r"z_t=\sum_{i\le t}s_i-\sum_{i\le t}a_i\ge 0,\ z_T=0\implies"
            r"\mathrm{D}_\alpha(X_T\|X'_T)\le\sum_{t=1}^{T}R_\alpha(\zeta_t,a_t)"
        ),
        pairs=("fmtt18.cni", "fmtt18.thm23", "fmtt18.thm35", "fmtt18.def10"),
        uses=("fmtt18.lem20", "fmtt18.lem21"),
    )
    .define("z_t", r"\sum_{i\le t}s_i-\sum_{i\le t}a_i")
    .define("z_{t+1}", r"(\sum_{i\le t}s_i+s_{t+1})-(\sum_{i\le t}a_i+a_{t+1})")
    .define(r"\mathrm{D}_\alpha(X_T\|X'_T)", r"\frac{\alpha(s_1+s_2)^2}{2\cdot 2\sigma^2}")
    .define(r"\sum_{t=1}^{T}R_\alpha(\zeta_t,a_t)", r"\frac{\alpha a_1^2}{2\sigma^2}+\frac{\alpha a_2^2}{2\sigma^2}")
    .step(
        "shift-bookkeeping", r"z_{t+1}+a_{t+1}=z_t+s_{t+1}",
        where="Theorem 22, definition of z_{t+1} in the induction",
    )
    .instance(
        "tried-on-two-identity-steps", r"\mathrm{D}_\alpha(X_T\|X'_T)\le\sum_{t=1}^{T}R_\alpha(\zeta_t,a_t)",
        given=r"s_1-a_1\ge 0, s_1+s_2-a_1-a_2=0", uses=("fmtt18.def10",),
        case="T = 2, Gaussian noise, identity maps: the left side is exact; any real a_1, a_2",
        catches=(
            "a hundredth of the sum is lost",
            r"\mathrm{D}_\alpha(X_T\|X'_T)\le 0.99\cdot(\frac{\alpha a_1^2}{2\sigma^2}+\frac{\alpha a_2^2}{2\sigma^2})",
        ),
    )
)  # fmt: skip

STATEMENTS = tuple(sheet.statement for sheet in (thm1, thm22))
