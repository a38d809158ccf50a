"""fmtt18, Section 2.4 and Appendix A: projections and gradient steps bring points no further apart."""

from __future__ import annotations

from dpverify.formulas.expressions import real
from dpverify.formulas.units import LENGTH, LOSS
from dpverify.formulas.vectors import vector
from dpverify.statements.fmtt18.symbols import eta
from dpverify.statements.interpolation import Sample, smooth_convex
from dpverify.statements.sheet import Sheet

_x, _y = (vector(name, unit=LENGTH) for name in "xy")
_px, _py = (
    vector(f"p{v.name}", unit=LENGTH, meaning=f"point of K nearest to {v.name}",
           latex=rf"\Pi_{{\mathcal{{K}}}}({v.name})")
    for v in (_x, _y)
)  # fmt: skip
_NEAREST_TO_X = r"\langle x-\Pi_{\mathcal{K}}(x),\Pi_{\mathcal{K}}(y)-\Pi_{\mathcal{K}}(x)\rangle\le 0"
_NEAREST_TO_Y = r"\langle y-\Pi_{\mathcal{K}}(y),\Pi_{\mathcal{K}}(x)-\Pi_{\mathcal{K}}(y)\rangle\le 0"

prop17 = Sheet(
    "fmtt18.prop17", (_x, _y, _px, _py),
    title="Projection is a contraction",
    where="Proposition 17",
    latex=r"\Pi_{\mathcal{K}}(x)\doteq\arg\min_{y\in\mathcal{K}}\|x-y\|\text{ is a contraction}",
    pairs=("fmtt18.thm23",),
).whole(
    "contraction", r"\|\Pi_{\mathcal{K}}(x)-\Pi_{\mathcal{K}}(y)\|\leq\|x-y\|",
    given=f"{_NEAREST_TO_X}, {_NEAREST_TO_Y}",
    where="Proposition 17, with the display of Definition 16", uses=("projection-inequality",),
)  # fmt: skip


_beta = real("beta", gt=0, unit=LOSS / LENGTH**2, meaning="smoothness of f", latex=r"\beta")
_w = vector("w", unit=LENGTH)
_w2 = vector("w'", unit=LENGTH)
_g, _g2 = (
    vector(name, unit=LOSS / LENGTH, meaning=f"gradient of f at {at}", latex=rf"\nabla_{{w}}f({at})")
    for name, at in (("g", "w"), ("g'", "w'"))
)
_f, _f2 = (
    real(name, unit=LOSS, meaning=f"value of f at {at}", latex=f"f({at})")
    for name, at in (("f", "w"), ("f'", "w'"))
)
_turned = vector(
    "h", unit=LOSS / LENGTH, meaning="the Hessian at z applied to w - w'", latex=r"(w-w')^{\top}\nabla^{2}f(z)"
)  # fmt: skip
_factor = real("m", ge=0, meaning="operator norm", latex=r"\|\mathbb{I}-\eta\nabla^{2}f(z)\|")
_curvature = real("curvature", ge=0, unit=_beta.unit, meaning="eigenvalue of the Hessian", latex=r"\lambda")
_APART = r"\frac{1}{\beta}\|\nabla_{w}f(w)-\nabla_{w}f(w')\|^2"
_SAMPLES = [Sample(at, f"f({at})", rf"\nabla_{{w}}f({at})") for at in ("w", "w'")]
_COCOERCIVE = rf"{_APART}\le\langle\nabla_{{w}}f(w)-\nabla_{{w}}f(w'),w-w'\rangle"
_STEP = r"w-w'-\eta(\nabla f(w)-\nabla f(w'))"
_TURNED = r"(w-w')^{\top}\nabla^{2}f(z)"
# so for every symmetric Hessian with eigenvalues in [0, beta], and for no other vectors
_MEAN_VALUE = rf"\nabla f(w)-\nabla f(w')={_TURNED}, \|{_TURNED}\|^2\le\beta\langle {_TURNED},w-w'\rangle"
_TURNED_STEP = r"(w-w')(\mathbb{I}-\eta\nabla^{2}f(z))"

prop18 = (
    Sheet(
        "fmtt18.prop18", (_w, _w2, _g, _g2, _f, _f2, _turned, _factor, _curvature, eta, _beta),
        title="A gradient step is a contraction",
        where="Proposition 18",
        latex=r"\psi(w)\doteq w-\eta\nabla_{w}f(w)\text{ is contractive as long as }\eta\leq 2/\beta",
        pairs=("fmtt18.thm23",),
    )
    .define(r"\nabla f(w)", r"\nabla_{w}f(w)").define(r"\nabla f(w')", r"\nabla_{w}f(w')")
    .define(r"\psi(w)", r"w-\eta\nabla_{w}f(w)").define(r"\psi(w')", r"w'-\eta\nabla_{w}f(w')")
    .define(r"(w-w')(\mathbb{I}-\eta\nabla^{2}f(z))", r"w-w'-\eta(w-w')^{\top}\nabla^{2}f(z)")
    .step(
        "cocoercivity", _COCOERCIVE, given=smooth_convex(_SAMPLES, r"\beta"),
        where="Proposition 18: what smoothness and convexity say about two points",
        uses=("smooth-convex-interpolation",),
    )
    .whole(
        "contraction", r"\|\psi(w)-\psi(w')\|\leq\|w-w'\|", given=rf"\eta\leq 2/\beta, {_COCOERCIVE}",
        where="Proposition 18, with the display of Definition 16", uses=("fmtt18.prop18/cocoercivity",),
    )
    .reference(
        "contraction-below-the-end", r"\|\psi(w)-\psi(w')\|\leq\|w-w'\|",
        given=rf"\eta<2/\beta, {_COCOERCIVE}",
        where="Appendix A, where the end is left out", uses=("fmtt18.prop18/cocoercivity",),
    )
    .step("difference", rf"\psi(w)-\psi(w')={_STEP}", where="Appendix A, 2nd display, first line")
    .step(
        "mean-value", rf"{_STEP}=w-w'+\eta{_TURNED}", given=_MEAN_VALUE,
        where="Appendix A, 2nd display, second line",
    )
    .corrected(
        "mean-value", rf"{_STEP}=w-w'-\eta{_TURNED}", given=_MEAN_VALUE,
        because="a sign is wrong, and no single z need serve; the mean of the Hessian between w' and w does",
        where="Appendix A, 2nd display, second line",
    )
    .step(
        "factor", rf"{_STEP}={_TURNED_STEP}", given=_MEAN_VALUE,
        where="Appendix A, 2nd display, third line",
    )
    .step(
        "operator-norm", r"\|\psi(w)-\psi(w')\|\leq\|w-w'\|\|\mathbb{I}-\eta\nabla^{2}f(z)\|",
        given=rf"\|\psi(w)-\psi(w')\|=\|{_TURNED_STEP}\|, "
              rf"\|{_TURNED_STEP}\|\le\|w-w'\|\|\mathbb{{I}}-\eta\nabla^{{2}}f(z)\|",
        where="Appendix A, 3rd display", uses=("fmtt18.prop18/difference", "fmtt18.prop18/factor"),
    )
    .step(
        "eigenvalues", r"|1-\eta\lambda|\le 1", given=r"\lambda\le\beta, \eta\leq 2/\beta",
        where="Appendix A, last sentence: the eigenvalues of the Hessian lie in [0, beta]",
    )
    .step(
        "claim-follows", r"\|\psi(w)-\psi(w')\|\leq\|w-w'\|",
        given=r"\|\psi(w)-\psi(w')\|\leq\|w-w'\|\|\mathbb{I}-\eta\nabla^{2}f(z)\|, "
              r"\|\mathbb{I}-\eta\nabla^{2}f(z)\|\le 1",
        where="Appendix A, last sentence", uses=("fmtt18.prop18/operator-norm", "fmtt18.prop18/eigenvalues"),
    )
)  # fmt: skip

STATEMENTS = tuple(sheet.statement for sheet in (prop17, prop18))
