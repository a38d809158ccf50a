"""fmtt18, Appendix B: several passes over the records."""

from __future__ import annotations

from dpverify.formulas.expressions import integer, real
from dpverify.formulas.units import LENGTH, LOSS, NATS, RECORDS
from dpverify.formulas.vectors import vector
from dpverify.statements.fmtt18.symbols import L, alpha, epsilon, eta, level, n, sigma
from dpverify.statements.sheet import Sheet

_i = integer("i", ge=1, unit=RECORDS, meaning="position of the record that differs")
_k = integer("k", ge=0, meaning="full rounds since the record was first used")
_r = integer("r", ge=0, unit=RECORDS, meaning="further steps")

_D = real("D", ge=0, unit=NATS, latex=r"\mathrm{D}_{\alpha}(X_{n^{2}}\|X^{\prime}_{n^{2}})")
_of_steps = tuple(
    real(f"R_{i}", ge=0, unit=NATS, meaning="divergence of shifted noise", latex=f"R_{{{i}}}") for i in (1, 2)
)
_point = vector("p", unit=LENGTH, meaning="projection of w")
_gradient, _gradient2 = (
    vector(name, unit=LOSS / LENGTH, latex=latex, meaning="gradient there")
    for name, latex in (("g", r"\nabla f"), ("g'", r"\nabla f^{\prime}"))
)

thm35 = (
    Sheet(
        "fmtt18.thm35", (n, _i, eta, L, sigma, alpha, _k, _r, _point, _gradient, _gradient2),
        title="PNMSGD: n passes in a fixed order",
        where="Theorem 35",
        latex=r"\text{Algorithm 2 satisfies }\left(\alpha,\frac{4\alpha L^2}{\sigma^2}\right)\text{-RDP}",
        pairs=("fmtt18.alg2", "fmtt18.thm22", "fmtt18.appB"),
    )
    .define("a_i", r"\frac{2\eta L}{n}")
    .define("a_{n^2}", r"\frac{2\eta L}{n-i+1}")
    .define("z_{i+kn+r}", r"2\eta L(k+1)-(kn+r+1)a_i", reading=r"L\cdot(k+1)")
    .define("z_{n(n-1)+i+r}", r"2\eta Ln-n(n-1)a_i-(r+1)a_{n^2}")
    .define("z_{n^2}", r"2\eta Ln-n(n-1)a_i-(n-i+1)a_{n^2}")
    .define(r"\sum_{t=1}^{n^2}a_t^2", r"n(n-1)a_i^2+(n-i+1)a_{n^2}^2")
    .define(r"\psi_t(w)", r"p-\eta\nabla f").define(r"\psi_t'(w)", r"p-\eta\nabla f^{\prime}").define("s_t", r"2\eta L")
    .condition("schedule-is-admissible-early", r"z_{i+kn+r}\ge 0", given=r"i\le n, k\le n-2, r\le n-1",
               where="Theorem 35, proof: t = i + k n + r before the last use")
    .condition("schedule-is-admissible-late", r"z_{n(n-1)+i+r}\ge 0", given=r"i\le n, r\le n-i",
               where="Theorem 35, proof: t = n(n-1) + i + r from the last use on")
    .condition("schedule-ends-at-zero", r"z_{n^2}=0", given=r"i\le n", where="Theorem 35, proof")
    .step("by-theorem-22",
          rf"{_D.latex}\leq\frac{{\alpha}}{{2\eta^{{2}}\sigma^{{2}}}}\cdot\sum_{{t=1}}^{{n^{{2}}}}a_{{t}}^{{2}}",
          given=rf"i\le n, {_D.latex}\le n(n-1)R_{{1}}+(n-i+1)R_{{2}}, "
                r"R_{1}\le\frac{\alpha a_i^2}{2(\eta\sigma)^2}, R_{2}\le\frac{\alpha a_{n^2}^2}{2(\eta\sigma)^2}",
          added=(_D, *_of_steps), uses=("fmtt18.thm22", "fmtt18.def10", "fmtt18.thm35/distance-of-the-maps"),
          where="Theorem 35, proof, first line of the display: Theorem 22, n(n-1) steps with a_i, then n-i+1 with "
                "a_{n^2}, and the divergence of shifted noise by Definition 10")
    .step("distance-of-the-maps", r"\|\psi_t(w)-\psi_t'(w)\|\le s_t",
          given=r"\|\nabla f\|\le L, \|\nabla f^{\prime}\|\le L",
          where="Theorem 35, proof, for every w, where the replaced record is used")
    .step("sum-of-squares",
          r"\frac{\alpha}{2\eta^2\sigma^2}\cdot\sum_{t=1}^{n^2}a_t^2"
          r"=\frac{2\alpha L^2}{\sigma^2}\cdot(\frac{n(n-1)}{n^2}+\frac{n-i+1}{(n-i+1)^2})",
          given=r"i\le n", where="Theorem 35, proof, second line of the display")
    .whole("bound",
           r"\frac{2\alpha L^2}{\sigma^2}\cdot(\frac{n(n-1)}{n^2}+\frac{n-i+1}{(n-i+1)^2})"
           r"<\frac{4\alpha L^2}{\sigma^2}",
           given=r"i\le n",
           uses=("fmtt18.thm35/sum-of-squares", "fmtt18.thm22", "fmtt18.def10", "fmtt18.prop5", "fmtt18.prop17",
                 "fmtt18.prop18"))
)  # fmt: skip

appB = (  # noqa: N816 (the paper's name)
    Sheet(
        "fmtt18.appB", (level, epsilon, L),
        title="The noise of PNMSGD for (epsilon, delta)-DP",
        where="Appendix B, last paragraph",
        latex=(
            r"\sigma=\frac{5L\sqrt{\ln(1/\delta)}}{\varepsilon},\ \alpha=\frac{2\ln(1/\delta)}{\varepsilon}\ge 5"
            r"\implies(\varepsilon,\delta)\text{-DP}"
        ),
        pairs=("fmtt18.alg2", "fmtt18.thm35", "fmtt18.lem14"),
    )
    .define(r"\alpha", r"\frac{2\ln(1/\delta)}{\varepsilon}")
    .define(r"\sigma", r"\frac{5L\sqrt{\ln(1/\delta)}}{\varepsilon}")
    .whole("noise-is-enough", r"\frac{4\alpha L^2}{\sigma^2}+\frac{\ln(1/\delta)}{\alpha-1}\le\varepsilon",
           given=r"\alpha\ge 5", where="Appendix B, by Theorem 35 and Lemma 14", uses=("fmtt18.thm35", "fmtt18.lem14"))
    .reference("order-of-the-noise", r"\sigma=\Theta\left(\frac{L\sqrt{\ln(1/\delta)}}{\varepsilon}\right)",
               where="Appendix B, comparison: the order that earlier work is said to need is that of the noise here; "
                     "the analysis of that work is cited, not followed")
)  # fmt: skip

STATEMENTS = tuple(sheet.statement for sheet in (thm35, appB))
