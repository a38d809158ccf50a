"""fmtt18, Sections 2.2 and 3: shifted Renyi divergence, its shift reduction, and what contractions do to it."""

from __future__ import annotations

from dpverify.formulas.expressions import Variable, real
from dpverify.formulas.units import LENGTH, NATS
from dpverify.formulas.vectors import vector
from dpverify.statements.fmtt18.symbols import alpha
from dpverify.statements.sheet import Sheet


def _length(name: str, latex: str, meaning: str = "") -> Variable:
    return real(name, ge=0, unit=LENGTH, latex=latex, meaning=meaning)


def _divergence(name: str, latex: str) -> Variable:
    return real(name, ge=0, unit=NATS, latex=latex)


_z, _z2 = _length("z", "z", "a shift"), _length("z2", "z'", "a larger shift")
_a = _length("a", "a", "how much the shift is reduced by")
_m = _length("m", "m", "distance of the two means")
_tau = real("tau", gt=0, unit=LENGTH, latex=r"\tau", meaning="standard deviation of the first law")
_U, _W, _Y = (vector(name, unit=LENGTH) for name in "UWY")
_GAUSSIAN = (
    "Gaussian laws on a line, of one variance, means m apart: moving all mass by z toward the other law is best, "
    "so the shifted divergence is exact"
)

prop9 = (
    Sheet(
        "fmtt18.prop9",
        (
            alpha, _z, _z2, _tau, _m, _U, _W,
            _length("moved", r"W_\infty(\mu,\mu')"),
            _length("x_distance", r"W_\infty(\mu,\mu\ast\mathbf{x})"),
            _length("s", "s"),
            _divergence("D_z", r"\mathrm{D}^{(z)}_{\alpha}(\mu\|\nu)"),
            _divergence("D_z2", r"\mathrm{D}^{(z^{\prime})}_{\alpha}(\mu\|\nu)"),
            _divergence("D_of_best", r"\mathrm{D}_\alpha(\mu'\|\nu)"),
            _divergence("D_x", r"\mathrm{D}^{(\|x\|)}_{\alpha}(\mu\|\nu)"),
            _divergence("D_moved", r"\mathrm{D}_{\alpha}(\mu\ast\mathbf{x}\|\nu)"),
        ),
        title="Shifted Renyi divergence: monotone, and shifting",
        where="Proposition 9",
        latex=(
            r"0\le z\le z'\implies\mathrm{D}^{(z')}_\alpha(\mu\|\nu)\le\mathrm{D}^{(z)}_\alpha(\mu\|\nu),"
            r"\qquad\mathrm{D}^{(\|x\|)}_\alpha(\mu\|\nu)\le\mathrm{D}_\alpha(\mu\ast\mathbf{x}\|\nu)"
        ),
        pairs=("fmtt18.lem20", "fmtt18.lem21"),
    )
    .define(r"G^{(z)}", r"\frac{\alpha\max\{m-z,0\}^2}{2\tau^2}")
    .define(r"G^{(z')}", r"\frac{\alpha\max\{m-z',0\}^2}{2\tau^2}")
    .step(
        "couplings", r"\|U-(U+W)\|=\|W\|",
        where="Lemma 7, 2 and 3, in Euclidean spaces: one distance is at most s whenever the other is",
    )
    .whole(
        "monotone", r"\mathrm{D}^{(z^{\prime})}_{\alpha}(\mu\|\nu)\leq\mathrm{D}^{(z)}_{\alpha}(\mu\|\nu)",
        given=r"W_\infty(\mu,\mu')\le z, z\le z', \mathrm{D}_\alpha(\mu'\|\nu)=\mathrm{D}^{(z)}_{\alpha}(\mu\|\nu), "
              r"(W_\infty(\mu,\mu')\le z'\implies"
              r"\mathrm{D}^{(z^{\prime})}_{\alpha}(\mu\|\nu)\le\mathrm{D}_\alpha(\mu'\|\nu))",
        uses=("shifted-divergence-is-attained",),
        where="Proposition 9, monotonicity: the infimum for z' is at most the best law's divergence for z",
    )
    .whole(
        "shifting", r"\mathrm{D}^{(\|x\|)}_{\alpha}(\mu\|\nu)\leq\mathrm{D}_{\alpha}(\mu\ast\mathbf{x}\|\nu)",
        given=r"W_\infty(\mu,\mu\ast\mathbf{x})\le\|x\|, "
              r"(W_\infty(\mu,\mu\ast\mathbf{x})\le\|x\|\implies"
              r"\mathrm{D}^{(\|x\|)}_{\alpha}(\mu\|\nu)\le\mathrm{D}_{\alpha}(\mu\ast\mathbf{x}\|\nu))",
        uses=("fmtt18.prop9/couplings",), added=(_length("shift", r"\|x\|"),),
        where="Proposition 9, shifting: U and U + x are a coupling; the infimum is at most the divergence of a law "
              "that is allowed",
    )
    .instance(
        "monotone-for-gaussians", r"G^{(z')}\le G^{(z)}", given=r"z\le z'", case=_GAUSSIAN, uses=("fmtt18.def10",),
        where="Proposition 9, monotonicity",
        catches=("the shifts are exchanged", r"G^{(z)}\le G^{(z')}"),
    )
)  # fmt: skip


_R = _divergence("R_a", r"R_{\alpha}(\zeta,a)")
_SUM = r"\mathrm{D}_{\alpha}(\mu\ast\zeta\|\nu\ast\zeta)"
_PAIRS = r"\mathrm{D}_{\alpha}((U+W,-W+Y)\|(V,Y))"
_CERTIFIED = r"\mathrm{D}_{\alpha}(\mu^{\prime}\|\nu)"
_rho = real("rho", ge=0, le=1, latex=r"\rho", meaning="weight of the first of two shifts")
_y1, _y2 = (real(f"y{i}", gt=0, latex=f"y_{i}", meaning="a shifted density over the noise's") for i in (1, 2))
_norm_h, _norm_rest = r"\|h_{z}(x)\|", r"\|x-h_{z}(x)\|"
_noise = real("noise", gt=0, unit=LENGTH, latex=r"\sigma", meaning="standard deviation of the noise")

_W1 = vector("W_1", unit=LENGTH, latex="W_{1}")
_densities = tuple(
    real(name, gt=0, latex=latex, meaning=meaning)
    for name, latex, meaning in (
        ("u", "u", "density of U + W over that of V, at v"),
        ("w", "w", "density of Y - W given U + W = v over the noise's, at y"),
        ("nu", r"\nu", "density of V at v"), ("zeta", r"\zeta", "the noise's density at y"),
    )
)  # fmt: skip
_inner = tuple(real(f"g{i}", gt=0, latex=f"g_{i}", meaning="the inner integral") for i in (1, 2))
_weights = tuple(real(f"w{i}", gt=0, latex=f"w_{i}", meaning="mass of the outer integral") for i in (1, 2))
_most = real("M", gt=0, meaning="the largest inner integral")

_so_far = (real("I", ge=0), real("B", ge=0))
_mixed_density = (real("y", gt=0),)
_mean_power, _mean_density = real("S", gt=0), real("ybar", gt=0, latex=r"\bar y")

lem20 = (
    Sheet(
        "fmtt18.lem20",
        (
            alpha, _z, _a, _m, _tau, _noise, _R, _rho, _y1, _y2, _U, _W, _Y, _W1,
            *_densities, *_inner, *_weights, _most,
            _length("x", r"\|x\|"),
            _divergence("D_sum", _SUM),
            _divergence("D_pairs", _PAIRS),
            _divergence("D_best", _CERTIFIED),
            _divergence("D_a", r"\mathrm{D}^{(a)}_{\alpha}(\mu\|\nu)"),
            _divergence("D_z_sum", r"\mathrm{D}^{(z)}_{\alpha}(\mu\ast\zeta\|\nu\ast\zeta)"),
            _divergence("D_z_a", r"\mathrm{D}^{(z+a)}_{\alpha}(\mu\|\nu)"),
            _divergence("D_first", r"\mathrm{D}_{\alpha}(U+W_{1}+Y\|V+Y)"),
            _divergence("D_a_first", r"\mathrm{D}^{(a)}_{\alpha}(U+W_{1}\|V)"),
            _divergence("D_parts", r"\mathrm{D}_{\alpha}(U+W_{1}+W_{2}\|V)"),
            _divergence("D_both", r"\mathrm{D}_{\alpha}(U+W\|V)"),
        ),
        title="Shift reduction",
        where="Lemma 20",
        latex=(
            r"\mathrm{D}^{(z)}_\alpha(\mu\ast\zeta\|\nu\ast\zeta)\le"
            r"\mathrm{D}^{(z+a)}_\alpha(\mu\|\nu)+R_\alpha(\zeta,a)\quad\text{for all }a\ge 0"
        ),
        pairs=("fmtt18.prop9", "fmtt18.thm22"),
    )
    .step(
        "adding-and-subtracting", "U+Y=U+W-W+Y", where="Lemma 20, proof, 1st display, second line; 4th display",
    )
    .step("parts-add-up", "U+W_{1}+(W-W_{1})=U+W", where="Lemma 20, proof, 5th display, second line")
    .define(_norm_h, r"\frac{z}{\|x\|}\cdot\|x\|")
    .define(_norm_rest, r"(1-\frac{z}{\|x\|})\|x\|")
    .define(r"G^{(z)}", r"\frac{\alpha\max\{m-z,0\}^2}{2(\tau^2+\sigma^2)}")
    .define(r"G^{(z+a)}", r"\frac{\alpha\max\{m-z-a,0\}^2}{2\tau^2}")
    .step(
        "integrand",
        r"(uw)^\alpha\zeta\nu=u^\alpha\cdot(w^\alpha\zeta)\nu",
        where="Lemma 20, proof, second and third line of the expansion, u and w for the ratios of densities",
    )
    .step(
        "one-more-inner-integral", r"I+w_1g_1\le(B+w_1)M", given=r"I\le BM, g_1\le M", added=_so_far,
        uses=("integral-is-monotone",),
        where="Lemma 20, proof, fourth line of the expansion, value by value of V: I is the double integral over some "
              "of "
              "them, B their part of the outer integral; w_1 and g_1 belong to one more",
    )
    .step(
        "tangent-of-the-power", r"y^\alpha\ge 1+\alpha(y-1)", added=_mixed_density,
        where="Lemma 20, proof, fifth line of the expansion, at one point: y is a shifted density over the "
              "mean of all of them, over the law of W where U + W = v",
    )
    .step(
        "mean-of-the-tangents", r"1\le S", given=r"S\ge 1+\alpha(\bar y-1), \bar y=1",
        added=(*_mixed_density, _mean_power, _mean_density), uses=("fmtt18.lem20/tangent-of-the-power",),
        where="Lemma 20, proof, fifth line of the expansion: S is the mean of y^alpha, and the largest is no "
              "smaller",
    )
    .instance(
        "largest-inner-integral", r"w_1g_1+w_2g_2\le(w_1+w_2)M", given=r"g_1\le M, g_2\le M",
        where="Lemma 20, proof, fourth line of the expansion", case="a law V with two values",
        catches=("a hundredth of the largest is lost", r"w_1g_1+w_2g_2\le 0.99(w_1+w_2)M"),
    )
    .instance(
        "a-mixture-of-shifts", r"(\rho y_1+(1-\rho)y_2)^2\le y_2^2", given=r"y_1\le y_2",
        where="Lemma 20, proof, fourth and fifth line of the expansion: the essential supremum",
        case="order 2, two values of W where U + W = v: the density is a mixture of two shifted ones",
        uses=("jensen", "fmtt18.prop5/power-is-convex"),
        catches=("a hundredth of the larger shift is lost", r"(\rho y_1+(1-\rho)y_2)^2\le 0.99y_2^2"),
    )
    .step(
        "taking-logs",
        rf"\frac{{\ln(\exp((\alpha-1){_CERTIFIED})\cdot\exp((\alpha-1)R_{{\alpha}}(\zeta,a)))}}{{\alpha-1}}"
        rf"={_CERTIFIED}+R_{{\alpha}}(\zeta,a)",
        where="Lemma 20, proof, last line of the expansion: taking logs and dividing by alpha - 1",
    )
    .step(
        "no-shift", rf"{_SUM}\le\mathrm{{D}}^{{(a)}}_{{\alpha}}(\mu\|\nu)+R_{{\alpha}}(\zeta,a)",
        given=rf"{_SUM}\le{_PAIRS}, {_PAIRS}\le{_CERTIFIED}+R_{{\alpha}}(\zeta,a), "
              rf"{_CERTIFIED}=\mathrm{{D}}^{{(a)}}_{{\alpha}}(\mu\|\nu)",
        uses=("fmtt18.prop5", "fmtt18.lem15", "renyi-quasi-convex", "shifted-divergence-is-attained",
              "fmtt18.lem20/taking-logs"),
        where="Lemma 20, proof, the case z = 0",
    )
    .step("length-of-the-first-part", rf"{_norm_h}\le z", given=r"\|x\|>z",
          where="Lemma 20, proof, easy to see; a shorter x is its own first part")
    .step("length-of-the-second-part", rf"{_norm_rest}\le a", given=r"z<\|x\|\le z+a",
          where="Lemma 20, proof, easy to see; a shorter x has no second part")
    .step(
        "moving-the-first-part",
        r"\mathrm{D}^{(z)}_{\alpha}(\mu\ast\zeta\|\nu\ast\zeta)"
        r"\leq\mathrm{D}^{(a)}_{\alpha}(U+W_{1}\|V)+R_{\alpha}(\zeta,a)",
        given=r"\mathrm{D}^{(z)}_{\alpha}(\mu\ast\zeta\|\nu\ast\zeta)\le\mathrm{D}_{\alpha}(U+W_{1}+Y\|V+Y), "
              r"\mathrm{D}_{\alpha}(U+W_{1}+Y\|V+Y)\leq\mathrm{D}^{(a)}_{\alpha}(U+W_{1}\|V)+R_{\alpha}(\zeta,a)",
        uses=("fmtt18.prop9", "fmtt18.lem20/adding-and-subtracting", "fmtt18.lem20/length-of-the-first-part",
              "fmtt18.lem20/no-shift"),
        where="Lemma 20, proof, 4th display: by the case z = 0 for U + W_1 in place of U",
    )
    .step(
        "moving-the-rest", r"\mathrm{D}^{(a)}_{\alpha}(U+W_{1}\|V)\leq\mathrm{D}^{(z+a)}_{\alpha}(\mu\|\nu)",
        given=r"\mathrm{D}^{(a)}_{\alpha}(U+W_{1}\|V)\leq\mathrm{D}_{\alpha}(U+W_{1}+W_{2}\|V), "
              r"\mathrm{D}_{\alpha}(U+W_{1}+W_{2}\|V)=\mathrm{D}_{\alpha}(U+W\|V), "
              r"\mathrm{D}_{\alpha}(U+W\|V)=\mathrm{D}^{(z+a)}_{\alpha}(\mu\|\nu)",
        uses=("fmtt18.prop9", "fmtt18.lem20/parts-add-up", "fmtt18.lem20/length-of-the-second-part",
              "shifted-divergence-is-attained"),
        where="Lemma 20, proof, 5th display",
    )
    .whole(
        "shift-reduction",
        r"\mathrm{D}^{(z)}_{\alpha}(\mu\ast\zeta\|\nu\ast\zeta)"
        r"\leq\mathrm{D}^{(z+a)}_{\alpha}(\mu\|\nu)+R_{\alpha}(\zeta,a)",
        given=r"\mathrm{D}^{(z)}_{\alpha}(\mu\ast\zeta\|\nu\ast\zeta)"
              r"\le\mathrm{D}^{(a)}_{\alpha}(U+W_{1}\|V)+R_{\alpha}(\zeta,a), "
              r"\mathrm{D}^{(a)}_{\alpha}(U+W_{1}\|V)\leq\mathrm{D}^{(z+a)}_{\alpha}(\mu\|\nu)",
        uses=("fmtt18.lem20/moving-the-first-part", "fmtt18.lem20/moving-the-rest"),
        where="Lemma 20, proof, last two displays together: every z >= 0",
    )
    .instance(
        "reduction-for-gaussians", r"G^{(z)}\le G^{(z+a)}+\frac{\alpha a^2}{2\sigma^2}",
        case=_GAUSSIAN, uses=("fmtt18.def10",),
        catches=("a hundredth of the noise's part is lost",
                 r"G^{(z)}\le G^{(z+a)}+0.99\cdot\frac{\alpha a^2}{2\sigma^2}"),
    )
)  # fmt: skip


_s = _length("s", "s", "the largest distance of the two maps")
_XY, _PSI, _APART, _PARTS = (
    _length("XY", r"\|X-Y\|"), _length("psi_XY", r"\|\psi(X)-\psi(Y)\|"),
    _length("apart", r"\|\psi(Y)-\psi^{\prime}(Y)\|"), _length("parts", r"\|\psi(X)-\psi^{\prime}(Y)\|"),
)  # fmt: skip
_c = real("c", ge=0, le=1, meaning="the slope of both maps")

lem21 = (
    Sheet(
        "fmtt18.lem21",
        (
            alpha, _z, _s, _m, _tau, _XY, _PSI, _APART, _PARTS, _c,
            _divergence("D_after", r"\mathrm{D}^{(z+s)}_{\alpha}(\psi(X)\|\psi^{\prime}(X^{\prime}))"),
            _divergence("D_before", r"\mathrm{D}^{(z)}_{\alpha}(X\|X^{\prime})"),
            _divergence("D_mapped", r"\mathrm{D}_{\alpha}(\psi^{\prime}(Y)\|\psi^{\prime}(X^{\prime}))"),
            _divergence("D_Y", r"\mathrm{D}_{\alpha}(Y\|X^{\prime})"),
        ),
        title="Contractions do not increase a shifted divergence",
        where="Lemma 21",
        latex=(
            r"\sup_x\|\psi(x)-\psi'(x)\|\le s\implies"
            r"\mathrm{D}^{(z+s)}_\alpha(\psi(X)\|\psi'(X'))\le\mathrm{D}^{(z)}_\alpha(X\|X')"
        ),
        pairs=("fmtt18.prop9", "fmtt18.thm22"),
    )
    .define(r"G^{(z)}", r"\frac{\alpha\max\{m-z,0\}^2}{2\tau^2}")
    .define(r"G^{(z+s)}", r"\frac{\alpha\max\{cm+s-(z+s),0\}^2}{2(c\tau)^2}")
    .step(
        "distance-after-the-maps",
        r"\|\psi(X)-\psi^{\prime}(Y)\|\leq\|\psi(X)-\psi(Y)\|+\|\psi(Y)-\psi^{\prime}(Y)\|\leq\|X-Y\|+s\leq z+s",
        given=r"\|\psi(X)-\psi^{\prime}(Y)\|\leq\|\psi(X)-\psi(Y)\|+\|\psi(Y)-\psi^{\prime}(Y)\|, "
              r"\|\psi(X)-\psi(Y)\|\le\|X-Y\|, \|\psi(Y)-\psi^{\prime}(Y)\|\le s, \|X-Y\|\le z",
        uses=("triangle-inequality",),
        where="Lemma 21, proof, display; the last line of the proof means psi'(X') where it prints psi'(Y)",
    )
    .step(
        "after-the-second-map",
        r"\mathrm{D}_{\alpha}(\psi^{\prime}(Y)\|\psi^{\prime}(X^{\prime}))\leq\mathrm{D}^{(z)}_{\alpha}(X\|X^{\prime})",
        given=r"\mathrm{D}_{\alpha}(\psi^{\prime}(Y)\|\psi^{\prime}(X^{\prime}))\leq\mathrm{D}_{\alpha}(Y\|X^{\prime})"
              r", \mathrm{D}_{\alpha}(Y\|X^{\prime})=\mathrm{D}^{(z)}_{\alpha}(X\|X^{\prime})",
        uses=("fmtt18.prop5", "shifted-divergence-is-attained"), where="Lemma 21, proof, before the display",
    )
    .whole(
        "contraction",
        r"\mathrm{D}^{(z+s)}_{\alpha}(\psi(X)\|\psi^{\prime}(X^{\prime}))\leq\mathrm{D}^{(z)}_{\alpha}(X\|X^{\prime})",
        given=r"\|\psi(X)-\psi^{\prime}(Y)\|\le z+s, (\|\psi(X)-\psi^{\prime}(Y)\|\le z+s\implies"
              r"\mathrm{D}^{(z+s)}_{\alpha}(\psi(X)\|\psi^{\prime}(X^{\prime}))\le"
              r"\mathrm{D}_{\alpha}(\psi^{\prime}(Y)\|\psi^{\prime}(X^{\prime}))), "
              r"\mathrm{D}_{\alpha}(\psi^{\prime}(Y)\|\psi^{\prime}(X^{\prime}))\leq"
              r"\mathrm{D}^{(z)}_{\alpha}(X\|X^{\prime})",
        uses=("fmtt18.lem21/after-the-second-map", "fmtt18.lem21/distance-after-the-maps"),
        where="Lemma 21; that psi' contracts is not used",
    )
    .instance(
        "contraction-of-gaussians", r"G^{(z+s)}\le G^{(z)}", given="c>0",
        case="Gaussian laws on a line of one variance; psi is cx, psi' is cx + s",
        uses=("fmtt18.def10",),
        catches=("the maps' distance is not added to the shift",
                 r"\frac{\alpha\max\{cm+s-z,0\}^2}{2(c\tau)^2}\le G^{(z)}"),
    )
)  # fmt: skip

STATEMENTS = tuple(sheet.statement for sheet in (prop9, lem20, lem21))
