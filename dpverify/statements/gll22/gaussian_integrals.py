"""gll22, Claim 4.2: two integrals of the Gaussian distribution function against exponentials."""

from __future__ import annotations

from dpverify.formulas.expressions import real
from dpverify.statements.sheet import Sheet

_a, _gamma, _t = real("a"), real("gamma", gt=0, latex=r"\gamma"), real("t")
_DOWN = r"\int_{0}^{\infty}e^{-t}\Phi\left(a-\frac{t}{\gamma}\right)\mathrm{d}t"
_UP = r"\int_{0}^{\infty}e^{t}\Phi\left(a-\frac{t}{\gamma}\right)\mathrm{d}t"
_DENSITY = r"\frac{e^{-(a-t/\gamma)^{2}/2}}{\gamma\sqrt{2\pi}}"
_DOWN_ENDS = r"\left.-e^{-t}\Phi(a-t/\gamma)\right|_{0}^{\infty}"
_UP_ENDS = r"\left.e^{t}\Phi(a-t/\gamma)\right|_{0}^{\infty}"
_DOWN_IN_PROOF = r"\int_{0}^{\infty}e^{-t}\Phi(a-t/\gamma)\mathrm{d}t"
_UP_IN_PROOF = r"\int_{0}^{\infty}e^{t}\Phi(a-t/\gamma)\mathrm{d}t"
_DOWN_PARTS = rf"{_DOWN_ENDS}-\int_{{0}}^{{\infty}}e^{{-t}}{_DENSITY}\mathrm{{d}}t"
_UP_PARTS = rf"{_UP_ENDS}+\int_{{0}}^{{\infty}}e^{{t}}{_DENSITY}\mathrm{{d}}t"
_DOWN_SQUARE = (
    r"\Phi(a)-\int_{0}^{\infty}e^{\gamma^{2}/2-a\gamma}"
    r"\frac{e^{-(t-(\gamma a-\gamma^{2}))^{2}/2}}{\gamma\sqrt{2\pi}}\mathrm{d}t"
)
_DOWN_SQUARE_RIGHT = _DOWN_SQUARE.replace("^{2}/2}}{", r"^{2}/(2\gamma^{2})}}{")
_UP_SQUARE = (
    r"-\Phi(a)+\int_{0}^{\infty}e^{\gamma^{2}/2+a\gamma}"
    r"\frac{e^{-(t-(a\gamma+\gamma^{2}))^{2}/2\gamma^{2}}}{\gamma\sqrt{2\pi}}\mathrm{d}t"
)
_UNDER_THE_SQUARE = r"/(2\gamma^{2})"
_DOWN_VALUE = r"\Phi(a)-e^{\gamma^{2}/2-a\gamma}\Phi(a-\gamma)"
_UP_VALUE = r"-\Phi(a)+e^{\gamma^{2}/2+a\gamma}\Phi(a+\gamma)"

claim4_2 = (
    Sheet(
        "gll22.claim4.2", (_a, _gamma, _t),
        title="Two Gaussian integrals", where="Claim 4.2",
        latex=(
            rf"{_DOWN}=\Phi(a)-e^{{\frac{{\gamma^{{2}}}}{{2}}-a\gamma}}\Phi(a-\gamma),\quad "
            rf"{_UP}=-\Phi(a)+e^{{\frac{{\gamma^{{2}}}}{{2}}+a\gamma}}\Phi(a+\gamma)"
        ),
        pairs=("gll22.thm2.1",),
    )
    .define(_DOWN_ENDS, r"\Phi(a)").define(_UP_ENDS, r"-\Phi(a)")
    # as integration by parts gives them
    .define(_DOWN, _DOWN_PARTS).define(_UP, _UP_PARTS)
    .define(_DOWN_IN_PROOF, _DOWN).define(_UP_IN_PROOF, _UP)
    .step(
        "derivative-below",
        rf"\frac{{\partial}}{{\partial t}}(-e^{{-t}}\Phi(a-t/\gamma))=e^{{-t}}\Phi(a-t/\gamma)+e^{{-t}}{_DENSITY}",
        where="Claim 4.2, proof, first line: what integration by parts uses; the ends are 0 and -Phi(a)",
    )
    .step(
        "derivative-above",
        rf"\frac{{\partial}}{{\partial t}}(e^{{t}}\Phi(a-t/\gamma))=e^{{t}}\Phi(a-t/\gamma)-e^{{t}}{_DENSITY}",
        where="Claim 4.2, proof, fourth line: what integration by parts uses; the ends are 0, by Phi's tail, and "
              "Phi(a)",
    )
    .step(
        "tail-at-the-end",
        r"t-\frac{(a-t/\gamma)^2}{2}=\frac{\gamma^2}{2}+a\gamma-\frac{(t-a\gamma-\gamma^2)^2}{2\gamma^2}",
        uses=("gll22.lem6.3/gaussian-tail",),
        where="Claim 4.2, proof, fourth line: e^t Phi(a - t / gamma) goes to 0, by the tail of Phi",
    )
    .step(
        "square-below", rf"{_DOWN_PARTS}={_DOWN_SQUARE}", where="Claim 4.2, proof, second line",
    )
    .corrected(
        "square-below", rf"{_DOWN_PARTS}={_DOWN_SQUARE_RIGHT}", where="Claim 4.2, proof, second line, over 2 gamma^2",
        because="the completed square is over 2 gamma^2, as in the second integral, not over 2",
        true_if="with the square over 2 gamma^2, as in the fifth line",
    )
    .step(
        "value-below", rf"{_DOWN_SQUARE}={_DOWN_VALUE}", where="Claim 4.2, proof, third line",
    )
    .corrected(
        "value-below", rf"{_DOWN_SQUARE_RIGHT}={_DOWN_VALUE}", where="Claim 4.2, proof, third line, over 2 gamma^2",
        true_if="with the square over 2 gamma^2, as in the fifth line",
    )
    .step("square-above", rf"{_UP_PARTS}={_UP_SQUARE}", reading=_UNDER_THE_SQUARE, where="Claim 4.2, proof, fifth line")
    .step("value-above", rf"{_UP_SQUARE}={_UP_VALUE}", reading=_UNDER_THE_SQUARE, where="Claim 4.2, proof, sixth line")
    .whole(
        "decreasing-exponential", rf"{_DOWN}=\Phi(a)-e^{{\frac{{\gamma^{{2}}}}{{2}}-a\gamma}}\Phi(a-\gamma)",
        uses=("integration-by-parts", "gll22.claim4.2/derivative-below"), where="Claim 4.2, first integral",
    )
    .whole(
        "growing-exponential", rf"{_UP}=-\Phi(a)+e^{{\frac{{\gamma^{{2}}}}{{2}}+a\gamma}}\Phi(a+\gamma)",
        uses=("integration-by-parts", "gll22.claim4.2/derivative-above",
              "gll22.claim4.2/tail-at-the-end"), where="Claim 4.2, second integral",
    )
)  # fmt: skip

STATEMENTS = (claim4_2.statement,)
