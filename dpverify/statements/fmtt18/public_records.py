"""fmtt18, Section 5.3: public records, used last."""

from __future__ import annotations

from dpverify.formulas.expressions import integer, real
from dpverify.formulas.units import RECORDS
from dpverify.statements.fmtt18.stochastic_optimization import R, best, d, log_ratio, released
from dpverify.statements.fmtt18.symbols import PROFILE, L, epsilon, n, small_epsilon
from dpverify.statements.sheet import Sheet

_mean_square = real("G", ge=0, unit=L.unit, meaning="root of the largest mean square of a noisy gradient")
_m = integer("m", ge=1, unit=RECORDS, meaning="number of public records")
_ROOT = r"\sqrt{1+\frac{8d\ln(1.25/\delta)}{m\varepsilon^{2}}}"
_NEEDED = r"\frac{\varepsilon}{\sqrt{2\ln(1.25/\delta)}}"
_CASE = (
    "epsilon at most 1, arbitrarily many public records, n far above m: losses that pull no further than one step "
    "come arbitrarily close to Gaussians 2 L / (sigma sqrt(m)) apart"
)

cor31 = (
    Sheet(
        "fmtt18.cor31", (n, _m, d, R, L, epsilon, log_ratio, best, released),
        title="Public records last: privacy and risk",
        where="Corollary 31",
        latex=(
            r"\sigma=\frac{2L\sqrt{\ln(1.25/\delta)/m}}{\varepsilon}\implies(\varepsilon,\delta)\text{-DP for }"
            r"S_{\text{priv}},\ \mathbb{E}[F(W)]\le F^*+\frac{4\sqrt{2}RL}{\sqrt{n}}"
            r"\sqrt{1+\frac{8d\ln(1.25/\delta)}{m\varepsilon^2}}"
        ),
        pairs=("fmtt18.public", "fmtt18.thm30"),
    )
    .define(r"\sigma", r"2L\sqrt{\ln(1.25/\delta)/m}/\varepsilon")
    .define(r"\sigma'", r"2L\sqrt{2\ln(1.25/\delta)/m}/\varepsilon")
    .define("s", r"\frac{\varepsilon}{\sqrt{\ln(1.25/\delta)}}")
    .define(r"\delta", r"1.25e^{-\ln(1.25/\delta)}")
    .instance(
        "exact-profile", rf"{PROFILE}\le\delta", letters=(small_epsilon,), case=_CASE,
        box={"epsilon": ("1/2", 1), "Lambda": (9, 14)}, uses=("gll22.eq9/value-of-the-best-half-line",),
        where="Corollary 31, privacy of the last private record",
    )
    .step(  # what suffices, so that the claim would not fail with it
        "noise-of-theorem-30", rf"\frac{{2L}}{{\sigma\sqrt{{m+1}}}}\le{_NEEDED}", uses=("fmtt18.thm30",),
        where="Corollary 31, privacy: Theorem 30 for the last private record, t = n - m",
    )
    .corrected(
        "noise-of-theorem-30", rf"\frac{{2L}}{{\sigma'\sqrt{{m+1}}}}\le{_NEEDED}", uses=("fmtt18.thm30",),
        because="the noise lacks the 2 under the root that the risk bound and Theorem 30 have",
        letters=(small_epsilon,), coverage="whole", true_if="for one public record",
        where="Corollary 31 with the 2, for epsilon at most 1: Theorem 30 for the last private record, t = n - m",
    )
    .step(
        "oracle", r"d\sigma^{2}=\frac{4dL^{2}\ln(1.25/\delta)}{m\varepsilon^{2}}",
        uses=("gaussian-second-moment", "second-moment-of-a-sum"),
        where="Corollary 31, risk: the noise's mean square is half of the term in the root",
    )
    .corrected(
        "oracle", r"d\cdot(\sigma')^2=\frac{8dL^{2}\ln(1.25/\delta)}{m\varepsilon^{2}}",
        uses=("gaussian-second-moment", "second-moment-of-a-sum"),
        where="Corollary 31 with the 2, risk: the noise's mean square is the term in the root",
    )
    .whole(
        "risk", rf"{released.latex}\leq F^{{*}}+\frac{{4\sqrt{{2}}RL}}{{\sqrt{{n}}}}\cdot{_ROOT}",
        given=rf"{released.latex}\le F^{{*}}+\frac{{4\sqrt{{2}}RG}}{{\sqrt{{n}}}}, G^2\le L^2+d\cdot(\sigma')^2",
        added=(_mean_square,),
        uses=("fmtt18.thm30/risk", "fmtt18.cor31/oracle"),
        where="Corollary 31, risk: Theorem 30 with G for L_G, whose square bounds a noisy gradient's mean square; the "
              "noise as corrected, which is larger than as printed",
    )
    .reference(
        "as-good-as-without-privacy", rf"{_ROOT}\le 3", given=r"m\ge\frac{d\ln(1.25/\delta)}{\varepsilon^2}",
        where="Section 5.3, first paragraph: so many public records are enough, up to a constant, which is 3",
    )
    .correction(
        because="as Lemma 27 and Theorem 30, it needs epsilon <= 1",
        latex=r"\sigma=\frac{2L\sqrt{2\ln(1.25/\delta)/m}}{\varepsilon},\ \varepsilon\le 1",
        replaces=("exact-profile",),
    )
)  # fmt: skip

STATEMENTS = (cor31.statement,)
