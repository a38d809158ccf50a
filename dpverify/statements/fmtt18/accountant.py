"""fmtt18, Sections 1 and 3: contractive noisy iterations."""

from __future__ import annotations

from dpverify.formulas.expressions import Variable, integer, real
from dpverify.formulas.units import LENGTH, NATS
from dpverify.formulas.vectors import vector
from dpverify.statements.fmtt18.symbols import alpha, any_alpha, length_sigma
from dpverify.statements.sheet import Sheet

_T = integer("T", ge=1, meaning="number of steps")
_t = integer("t", ge=1, meaning="a step")
_distance = real(
    "distance", ge=0, unit=LENGTH, meaning="||x_0 - x_0'||", latex=r"\|x_0-x_0'\|", stands_for="number"
)
_IDENTITY = (
    "all contractions the identity: the laws are Gaussian, of variance T sigma^2, and the left side is exact"
)

_divergence = real("D", ge=0, unit=NATS, latex=r"\mathrm{D}_\alpha(X_T\|X'_T)")
_of_a_step = real("R", ge=0, unit=NATS, meaning="divergence of shifted noise")
_BY_THEOREM_22 = r"\mathrm{D}_\alpha(X_T\|X'_T)\le T\cdot R, R\le\frac{\alpha a_t^2}{2\sigma^2}"

thm1 = (
    Sheet(
        "fmtt18.thm1", (_T, any_alpha, length_sigma, _distance, _t),
        title="Divergence after T contractive noisy steps",
        where="Theorem 1 (informal)",
        latex=r"\mathrm{D}_\alpha(X_T\|X'_T)\le\frac{\alpha\|x_0-x'_0\|}{2T\sigma^2}\quad\text{for every }\alpha\ge 1",
        pairs=("fmtt18.cni", "fmtt18.thm22"),
    )
    .define("a_t", r"\frac{\|x_0-x_0'\|}{T}")
    .whole(
        "bound", r"\mathrm{D}_\alpha(X_T\|X'_T)\leq\frac{\alpha\|x_0-x_0'\|}{2T\sigma^2}", given=_BY_THEOREM_22,
        added=(_divergence, _of_a_step), uses=("fmtt18.thm22", "fmtt18.def10"),
        true_if="with the square of the distance, which Theorem 22 gives and Theorem 23 uses",
        where="Theorem 1, from Theorem 22 with a_t = distance/T",
    )
    .corrected(
        "bound", r"\mathrm{D}_\alpha(X_T\|X'_T)\leq\frac{\alpha\|x_0-x_0'\|^2}{2T\sigma^2}", given=_BY_THEOREM_22,
        added=(_divergence, _of_a_step),
        uses=("fmtt18.thm22", "fmtt18.def10", "fmtt18.thm1/schedule-is-admissible",
              "fmtt18.thm1/schedule-ends-at-zero"),
        where="Theorem 1 with the square of the distance, from Theorem 22 with a_t = distance/T",
    )
    .define(r"\mathrm{D}_\alpha(X_T\|X'_T)", r"\frac{\alpha\|x_0-x_0'\|^2}{2(\sqrt{T}\sigma)^2}")
    .define("z_t", r"\|x_0-x_0'\|-ta_t")
    .instance(
        "attained-by-identity-maps", r"\mathrm{D}_\alpha(X_T\|X'_T)\le\frac{\alpha\|x_0-x'_0\|}{2T\sigma^2}",
        case=_IDENTITY, uses=("fmtt18.def10",),
    )
    .corrected(
        "attained-by-identity-maps", r"\mathrm{D}_\alpha(X_T\|X'_T)\le\frac{\alpha\|x_0-x'_0\|^2}{2T\sigma^2}",
        because="the two sides have different units, and identity maps attain the bound with the distance squared",
        true_if="with the square of the distance, which Theorem 22 gives and Theorem 23 uses",
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


def _nats(name: str, latex: str) -> Variable:
    return real(name, ge=0, unit=NATS, latex=latex)


_MAPPED, _MAPPED_TOO = r"\psi_{t+1}(X_{t})", r"\psi^{\prime}_{t+1}(X^{\prime}_{t})"
_after, _reduced, _shifted, _before, _at_end, _end = (
    _nats("D_after", r"\mathrm{D}^{(z_{t+1})}_{\alpha}(X_{t+1}\|X^{\prime}_{t+1})"),
    _nats("D_reduced", rf"\mathrm{{D}}^{{(z_{{t+1}}+a_{{t+1}})}}_{{\alpha}}({_MAPPED}\|{_MAPPED_TOO})"),
    _nats("D_shifted", rf"\mathrm{{D}}^{{(z_{{t}}+s_{{t+1}})}}_{{\alpha}}({_MAPPED}\|{_MAPPED_TOO})"),
    _nats("D_before", r"\mathrm{D}^{(z_{t})}_{\alpha}(X_{t}\|X^{\prime}_{t})"),
    _nats("D_z_T", r"\mathrm{D}^{(z_{T})}_{\alpha}(X_{T}\|X^{\prime}_{T})"),
    _nats("D_T", r"\mathrm{D}_{\alpha}(X_{T}\|X^{\prime}_{T})"),
)  # fmt: skip
_partial_sum, _next, _whole_sum = (
    _nats("R_t", r"\sum_{i=1}^{t}R_{\alpha}(\zeta_{i},a_{i})"),
    _nats("R_next", r"R_{\alpha}(\zeta_{t+1},a_{t+1})"),
    _nats("R_T", r"\sum_{t=1}^{T}R_{\alpha}(\zeta_{t},a_{t})"),
)
_made, _last_shift = integer("t", ge=0, meaning="steps made"), real("z_T", ge=0, unit=LENGTH, latex="z_{T}")
_x2, _x2_next, _noise = (vector(name, unit=LENGTH, latex=latex) for name, latex in (
    ("x'", r"X^{\prime}_{t}"), ("x'next", r"X^{\prime}_{t+1}"), ("Z", "Z_{t+1}"),
))  # fmt: skip
_PRINTED_STEP = r"X^{\prime}_{t+1}=\psi^{\prime}_{t+1}(X^{\prime}_{t+1})+Z_{t+1}"

_INDUCTION = (
    rf"{_after.latex}\le{_reduced.latex}+{_next.latex}, "
    rf"(z_{{t+1}}+a_{{t+1}}=z_t+s_{{t+1}}\implies{_reduced.latex}={_shifted.latex}), "
    rf"{_shifted.latex}\le{_before.latex}, {_before.latex}\le{_partial_sum.latex}"
)

thm22 = (
    Sheet(
        "fmtt18.thm22",
        (alpha, length_sigma, _s1, _s2, _a1, _a2, _shifts, _amounts, _s, _a, _after, _reduced, _shifted, _before,
         _at_end, _end, _partial_sum, _next, _whole_sum, _made, _last_shift, _x2, _x2_next, _noise),
        title="The accountant: any schedule with z_t >= 0",
        where="Theorem 22",
        latex=(
            r"z_t=\sum_{i\le t}s_i-\sum_{i\le t}a_i\ge 0,\ z_T=0\implies"
            r"\mathrm{D}_\alpha(X_T\|X'_T)\le\sum_{t=1}^{T}R_\alpha(\zeta_t,a_t)"
        ),
        pairs=("fmtt18.cni", "fmtt18.thm23", "fmtt18.thm35", "fmtt18.def10"),
        uses=("fmtt18.lem20", "fmtt18.lem21"),
    )
    .define(r"\psi^{\prime}_{t+1}(X^{\prime}_{t})", r"X^{\prime}_{t}")
    .define(r"\psi^{\prime}_{t+1}(X^{\prime}_{t+1})", r"X^{\prime}_{t+1}")
    .step(
        "one-step", _PRINTED_STEP, given=r"X^{\prime}_{t+1}=\psi^{\prime}_{t+1}(X^{\prime}_{t})+Z_{t+1}",
        where="Theorem 22, proof, first line of the last display, second argument, against Definition 19; with the "
              "identity as the map",
    )
    .corrected(
        "one-step", r"X^{\prime}_{t+1}=\psi^{\prime}_{t+1}(X^{\prime}_{t})+Z_{t+1}",
        given=r"X^{\prime}_{t+1}-X^{\prime}_{t}=Z_{t+1}",
        where="Theorem 22, proof, first line of the last display, second argument",
        because="the map of step t + 1 is applied to the state after that step; it should be the one before",
        true_if="with t in place of t + 1 in the argument, as in the next line",
    )
    .define("z_t", r"\sum_{i\le t}s_i-\sum_{i\le t}a_i")
    .define("z_{t+1}", r"(\sum_{i\le t}s_i+s_{t+1})-(\sum_{i\le t}a_i+a_{t+1})")
    .define("D", r"\frac{\alpha(s_1+s_2)^2}{2\cdot 2\sigma^2}")
    .define("R", r"\frac{\alpha a_1^2}{2\sigma^2}+\frac{\alpha a_2^2}{2\sigma^2}")
    .step(
        "shift-bookkeeping", r"z_{t+1}+a_{t+1}=z_t+s_{t+1}",
        where="Theorem 22, definition of z_{t+1} in the induction",
    )
    .step(
        "before-the-first-step", rf"{_before.latex}\le{_partial_sum.latex}",
        given=rf"t=0, {_partial_sum.latex}=0, {_before.latex}=0",
        where="Theorem 22, proof, base case: z_0 = 0, and both start in the same state",
    )
    .step(
        "one-step-further", rf"{_after.latex}\leq{_partial_sum.latex}+{_next.latex}",
        given=_INDUCTION,
        uses=("fmtt18.lem20", "fmtt18.lem21", "fmtt18.thm22/shift-bookkeeping", "fmtt18.thm22/before-the-first-step"),
        where="Theorem 22, proof, last display: Lemma 20, z_{t+1}, Lemma 21, and the induction hypothesis",
    )
    .whole(
        "shifted-bound", rf"{_at_end.latex}\leq{_whole_sum.latex}",
        given=rf"{_at_end.latex}={_after.latex}, {_whole_sum.latex}={_partial_sum.latex}+{_next.latex}, {_INDUCTION}",
        uses=("fmtt18.lem20", "fmtt18.lem21", "fmtt18.thm22/shift-bookkeeping", "fmtt18.thm22/before-the-first-step"),
        where="Theorem 22, first display: t + 1 = T; by induction over t",
    )
    .whole(
        "bound", rf"{_end.latex}\leq{_whole_sum.latex}",
        given=rf"z_{{T}}=0, (z_{{T}}=0\implies{_end.latex}={_at_end.latex}), {_at_end.latex}\le{_whole_sum.latex}",
        uses=("fmtt18.thm22/shifted-bound",), where="Theorem 22, second display: Definition 8 with z = 0",
    )
    .instance(
        "tried-on-two-identity-steps", r"D\le R",
        given=r"s_1-a_1\ge 0, s_1+s_2-a_1-a_2=0", uses=("fmtt18.def10",),
        case="T = 2, Gaussian noise, identity maps: the left side is exact; any real a_1, a_2",
        catches=(
            "a hundredth of the sum is lost",
            r"D\le 0.99R",
        ),
    )
)  # fmt: skip

STATEMENTS = tuple(sheet.statement for sheet in (thm1, thm22))
