"""gll22, Theorems 6.2 and 6.8: the privacy of either mechanism, which both state in the same words."""

from __future__ import annotations

from dpverify.formulas.expressions import real
from dpverify.statements.sheet import Sheet

DELTA_OF = (
    r"\delta\left(\mathcal{N}(0,1)\;\middle\|\;"
    r"\mathcal{N}\left(\frac{G\sqrt{k}}{n\sqrt{\mu}},1\right)\right)(\varepsilon)"
)
shift = real("s", gt=0, meaning="shift")
delta_at_epsilon = real("delta_eps", ge=0, le=1, latex=r"\delta(\varepsilon)")
_event, _other_event = (
    real(name, ge=0, le=1, latex=rf"\Pr[{{\mathcal{{M}}}}(\mathcal{{D}}{mark})\in S]")
    for name, mark in (("p", ""), ("q", r"^{\prime}"))
)
_OF_THEOREM_2_1 = r"\delta(\varepsilon)\le C(\frac{kG/n}{\sqrt{k\mu}})"
_USES = ("gll22.thm2.1", "gll22.eq9", "gll22.thm6.2/strong-convexity", "gll22.thm6.2/one-record")


def with_privacy(sheet: Sheet, theorem: str, remark: str) -> Sheet:
    """A sheet with the letters `shift` and `delta_at_epsilon`, and the privacy of its theorem.

    `remark` is what is to be said of the bound on delta(epsilon).
    """
    return (
        sheet.define(
            "C(s)", r"\Phi(-\frac{\varepsilon}{s}+\frac{s}{2})-e^\varepsilon\Phi(-\frac{\varepsilon}{s}-\frac{s}{2})",
            parameter=shift,
        )
        .define(DELTA_OF, r"C(\frac{G\sqrt{k}}{n\sqrt{\mu}})")
        .whole(
            "guarantee", rf"{_event.latex}\leq e^{{\varepsilon}}{_other_event.latex}+{DELTA_OF}",
            given=rf"{_event.latex}-e^{{\varepsilon}}{_other_event.latex}\le\delta(\varepsilon), {_OF_THEOREM_2_1}",
            added=(_event, _other_event), uses=_USES,
            where=f"{theorem}, (epsilon, delta(epsilon))-DP of either mechanism, as Definition 1.1 writes it",
        )
        .whole(
            "privacy", rf"\delta(\varepsilon)\leq{DELTA_OF}", given=_OF_THEOREM_2_1, uses=_USES,
            where=f"{theorem}, privacy{remark}",
        )
    )  # fmt: skip
