"""gll22, Definition 3.7 and Corollary 4.3: Renyi and Kullback-Leibler divergence of the exponential mechanism."""

from __future__ import annotations

from dpverify.formulas.expressions import Variable, real
from dpverify.formulas.units import NATS
from dpverify.statements.gll22.symbols import G, k, mu, order
from dpverify.statements.sheet import NOTATION, Sheet

_s = real("s", meaning="shift")
_mean = real("E_x", latex=r"\mathbb{E}[x]", meaning="mean of N(0, 1)")
_x = real("x")
_MOMENT = r"\int_{-\infty}^{\infty}\frac{e^{-\alpha x^2/2-(1-\alpha)(x-s)^2/2}}{\sqrt{2\pi}}dx"
_RENYI = r"\mathrm{D}_{\alpha}(\mathcal{N}(0,1),\mathcal{N}(s,1))"
_KL = r"\mathrm{D}_{KL}(\mathcal{N}(0,1),\mathcal{N}(s,1))"


_trade_off = real("T", ge=0, le=1, latex=r"T(P\|Q)")
_quantile = real("q", latex=r"\Phi^{-1}(1-z)", meaning="Gaussian quantile of 1 - z", stands_for="number")


def _divergence(name: str, latex: str) -> Variable:
    return real(name, ge=0, unit=NATS, latex=latex)


_D, _D_M, _D_XY = (
    _divergence("D", r"\mathrm{D}(P\|Q)"),
    _divergence("D_M", r"\mathrm{D}(M(X)\|M(Y))"),
    _divergence("D_XY", r"\mathrm{D}(X\|Y)"),
)
_D_N = _divergence(
    "D_N",
    r"\mathrm{D}\left(\mathcal{N}(0,1)\|\mathcal{N}\left(\frac{G\sqrt{k}}{\sqrt{\mu}},1\right)\right)",
)
_D_alpha = _divergence("D_order", r"\mathrm{D}_{\alpha}(P\|Q)")
_D_KL_N = _divergence("D_KL_N", _KL)
_D_KL = _divergence("D_KL", r"\mathrm{D}_{KL}(P\|Q)")

cor4_3 = (
    Sheet(
        "gll22.cor4.3",
        (order, _s, _x, _mean, G, mu, k, _trade_off, _quantile, _D, _D_M, _D_XY, _D_N, _D_alpha, _D_KL_N, _D_KL),
        title="Renyi and KL divergence of the exponential mechanism", where="Corollary 4.3",
        latex=(
            r"\mathrm{D}_{\alpha}(P\|Q)\leq\frac{\alpha kG^{2}}{2\mu}\text{ and }"
            r"\mathrm{D}_{KL}(P\|Q)\leq\frac{kG^{2}}{2\mu}"
        ),
        pairs=("gll22.thm2.1", "gll22.def3.7", "gll22.thm6.7"),
    )
    .define(_RENYI, rf"\frac{{1}}{{\alpha}}\log({_MOMENT})")
    .define(r"T(X\|Y)", r"\Phi(\Phi^{-1}(1-z)-\frac{G\sqrt{k}}{\sqrt{\mu}})")
    .condition(
        "larger-trade-off", r"T(P\|Q)\geq T(X\|Y)",
        given=r"T(P\|Q)\ge\Phi(\Phi^{-1}(1-z)-\frac{kG}{\sqrt{k\mu}})",
        uses=("gll22.thm2.1/trade-off", "gll22.eq10"),
        where="Corollary 4.3, proof, what the cited theorem requires, at z: X and Y are Gaussians whose means are "
              "G sqrt(k) / sqrt(mu) apart",
    )
    .step(
        "scaled-functions", r"\frac{kG}{\sqrt{k\mu}}=\frac{G\sqrt{k}}{\sqrt{\mu}}", uses=("gll22.thm2.1",),
        where="Corollary 4.3: kF is k mu-strongly convex, and k times the difference is kG-Lipschitz",
    )
    .whole(
        "any-divergence",
        r"\mathrm{D}(P\|Q)\leq"
        r"\mathrm{D}\left(\mathcal{N}(0,1)\|\mathcal{N}\left(\frac{G\sqrt{k}}{\sqrt{\mu}},1\right)\right)",
        given=r"\mathrm{D}(P\|Q)=\mathrm{D}(M(X)\|M(Y))\leq\mathrm{D}(X\|Y), \mathrm{D}(X\|Y)=" + _D_N.latex,
        uses=("gll22.cor4.3/larger-trade-off", "gll22.cor4.3/scaled-functions", "gll22.cor4.3/post-processing"),
        where="Corollary 4.3, any divergence that decreases under post-processing",
    )
    .step(
        "post-processing", r"\mathrm{D}(P\|Q)=\mathrm{D}(M(X)\|M(Y))\leq\mathrm{D}(X\|Y)",
        given=r"\mathrm{D}(P\|Q)=\mathrm{D}(M(X)\|M(Y)), \mathrm{D}(M(X)\|M(Y))\leq\mathrm{D}(X\|Y)",
        uses=("trade-off-functions-order-pairs",
        "post-processing-of-divergences"), where="Corollary 4.3, proof, display",
    )
    .step(
        "renyi-of-gaussians", rf"{_RENYI}=\alpha s^{{2}}/2",
        where="Corollary 4.3, proof, with Definition 3.7 as printed: 1/alpha in front of the logarithm",
    )
    .corrected(
        "renyi-of-gaussians", rf"\frac{{1}}{{\alpha-1}}\log({_MOMENT})=\alpha s^{{2}}/2",
        because="Definition 3.7 prints 1/alpha for 1/(alpha - 1), with which the divergence of two Gaussians is "
                "(alpha - 1) s^2 / 2",
        true_if="with 1/(alpha - 1) in Definition 3.7",
        where="Corollary 4.3, proof, with 1/(alpha - 1) in front of the logarithm",
    )
    .step(
        "renyi-from-above", rf"{_RENYI}\le\alpha s^{{2}}/2",
        where="Corollary 4.3, proof: what the bound needs, which 1/alpha in front of the logarithm leaves true",
    )
    .corrected(
        "renyi-from-above", rf"\frac{{1}}{{\alpha-1}}\log({_MOMENT})\le\alpha s^{{2}}/2",
        uses=("gll22.cor4.3/renyi-of-gaussians",), where="Corollary 4.3, proof, with 1/(alpha - 1)",
    )
    .step(
        "log-ratio-of-gaussians", r"\frac{(x-s)^2}{2}-\frac{x^2}{2}=\frac{s^2}{2}-sx",
        where="Corollary 4.3, proof: the logarithm of the ratio of the densities of N(0, 1) and N(s, 1)",
    )
    .step(
        "kl-of-gaussians", rf"{_KL}=s^{{2}}/2", given=rf"{_KL}=\frac{{s^2}}{{2}}-s\mathbb{{E}}[x], \mathbb{{E}}[x]=0",
        uses=("gll22.cor4.3/log-ratio-of-gaussians",), where="Corollary 4.3, proof",
    )
    .whole(
        "renyi-and-kl",
        r"\mathrm{D}_{\alpha}(P\|Q)\leq\frac{\alpha kG^{2}}{2\mu}\text{ and }"
        r"\mathrm{D}_{KL}(P\|Q)\leq\frac{kG^{2}}{2\mu}",
        given=r"\mathrm{D}_{\alpha}(P\|Q)\leq\alpha s^{2}/2, \mathrm{D}_{KL}(P\|Q)\leq s^2/2, "
              r"s=\frac{G\sqrt{k}}{\sqrt{\mu}}",
        uses=("post-processing-of-divergences", "gll22.cor4.3/any-divergence", "gll22.cor4.3/renyi-from-above",
              "gll22.cor4.3/kl-of-gaussians"),
        where="Corollary 4.3, second display",
    )
    .instance(
        "attained", r"\frac{\alpha kG^{2}}{2\mu}\le\frac{\alpha s^2}{2}", given=r"s=\frac{G}{\mu}\sqrt{k\mu}",
        case="F = mu ||x||^2 / 2 and a shifted copy on all of R^d: means G/mu apart, variances 1/(k mu)",
        where="Corollary 4.3, second display: no smaller bound holds",
        catches=("a hundredth more",
                 r"1.01\cdot\frac{\alpha kG^{2}}{2\mu}\le\frac{\alpha s^2}{2}"),
    )
)  # fmt: skip

_SHIFTED = r"\mathrm{D}_{\alpha}(\mathcal{N}(0,1)\|\mathcal{N}(s,1))"

def3_7 = (
    Sheet(
        "gll22.def3.7", (order, _s, _x),
        title="Renyi divergence", where="Definition 3.7",
        latex=r"\mathrm{D}_{\alpha}(\pi\|\nu)=\frac{1}{\alpha}\log\int\left(\frac{\pi(x)}{\nu(x)}\right)^{\alpha}"
              r"\nu(x)\mathrm{d}x",
        pairs=("gll22.cor4.3", "fmtt18.def10"),
    )
    .define(_SHIFTED, rf"\frac{{1}}{{\alpha}}\log({_MOMENT})")
    .step(
        "of-gaussians", rf"{_SHIFTED}=\frac{{(\alpha-1)s^2}}{{2}}",
        where="Definition 3.7 as printed, of N(0, 1) and N(s, 1)",
    )
    .instance(
        "limit-at-one", r"\left.\frac{(\alpha-1)s^2}{2}\right|_{\alpha=1}=\frac{s^2}{2}",
        case="N(0, 1) and N(s, 1), whose Kullback-Leibler divergence is s^2 / 2", uses=("gll22.def3.7/of-gaussians",),
        where="Definition 3.7: the limit at alpha = 1 is the Kullback-Leibler divergence",
    )
    .corrected(
        "of-gaussians", rf"\frac{{1}}{{\alpha-1}}\log({_MOMENT})=\frac{{\alpha s^2}}{{2}}",
        where="Definition 3.7 with 1/(alpha - 1), of N(0, 1) and N(s, 1)",
    )
    .corrected(
        "limit-at-one", r"\left.\frac{\alpha s^2}{2}\right|_{\alpha=1}=\frac{s^2}{2}",
        because="1/alpha is printed in front of the logarithm where 1/(alpha - 1) is meant: the printed quantity tends "
                "to 0 at alpha = 1, and Corollary 4.3 computes with the usual one",
        consequence=NOTATION, true_if="with 1/(alpha - 1), as [Ren61] has it", uses=("gll22.def3.7/of-gaussians",),
        case="N(0, 1) and N(s, 1), whose Kullback-Leibler divergence is s^2 / 2",
        catches=("1/alpha in front of the logarithm", r"\left.\frac{(\alpha-1)s^2}{2}\right|_{\alpha=1}=\frac{s^2}{2}"),
        where="Definition 3.7 with 1/(alpha - 1)",
    )
    .correction(latex=r"\mathrm{D}_{\alpha}(\pi\|\nu)=\frac{1}{\alpha-1}\log\int"
                      r"\left(\frac{\pi(x)}{\nu(x)}\right)^{\alpha}\nu(x)\mathrm{d}x")
)  # fmt: skip

STATEMENTS = tuple(sheet.statement for sheet in (def3_7, cor4_3))
