"""fmtt18, Section 5.5 and Appendix C: losses that are not smooth, convolved with a Gaussian."""

from __future__ import annotations

from dpverify.formulas.expressions import real
from dpverify.formulas.units import LENGTH, LOSS
from dpverify.formulas.vectors import vector
from dpverify.statements.fmtt18.stochastic_optimization import R, best, d, log_ratio, released
from dpverify.statements.fmtt18.symbols import L, epsilon, level, n, small_epsilon, t
from dpverify.statements.sheet import CONSTANT, EDGE, MISSING, Sheet

_GRADIENT = LOSS / LENGTH
_width = real("lambda", gt=0, unit=LENGTH, latex=r"\lambda", meaning="standard deviation of the kernel")
_apart = real("x", ge=0, unit=LENGTH, latex=r"\|w-w^{\prime}\|_{2}")
_gradients = real("g", ge=0, unit=_GRADIENT, latex=r"\|\nabla\hat{f}(w)-\nabla\hat{f}(w^{\prime})\|_{2}")
_variation = real(
    "V", ge=0, latex=r"{\sf TV}(p_{Z},p_{Z^{\prime}})", meaning="total variation of two kernels"
)
_steepest = real("G", ge=0, unit=_GRADIENT, meaning="the largest gradient of the extension")
_masses = real("I", ge=0, meaning="integral of |p_Z - p_Z'|")
_smooth, _rough = real("fhat", unit=LOSS, latex=r"\hat{f}({w})"), real("f", unit=LOSS, latex="f({w})")
_mean_norm = real("M", ge=0, unit=LENGTH, meaning="E||Z||")
_h1, _h2, _k1, _k2 = (
    real(f"h{i}{j}", unit=LOSS, latex=latex)
    for (i, j), latex in zip(
        ((1, 1), (2, 1), (1, 2), (2, 2)), ("h_{1}", "h_{2}", "h_{1}'", "h_{2}'"), strict=True
    )
)
_y = real("y", ge=0, meaning="||w - w'|| / (2 lambda)")
_KERNELS = r"\mathcal{N}(0,\lambda^{2}\mathbb{I}_{d})\|\mathcal{N}(w^{\prime}-w,\lambda^{2}\mathbb{I}_{d})"
_DIVERGENCE = rf"\mathrm{{D}}_{{1}}({_KERNELS})"
_NORM = r"{\mathbb{E}}_{Z\sim\mathcal{N}(0,\lambda^{2}\mathbb{I}_{d})}[\|Z\|_{2}]"

_points = (vector("w"), vector("w'", latex="w'"), vector("z"))
_minimizer = vector("v")
_integrals = (vector("s"), vector("s'", latex="s'"), vector("u"))
_at_z, _part = vector("v"), vector("q")
_kernels = (real("p1", ge=0, latex="p_1"), real("p2", ge=0, latex="p_2"))
_mass = real("a", ge=0, meaning="a mass")
_on_the_way = real("t")
_norms = tuple(real(name, ge=0, unit=_GRADIENT, latex=name) for name in ("n", "n_q", "n_1"))
_elsewhere, _h_w, _h_there, _mean_h = (
    real(name, unit=LOSS, latex=latex)
    for name, latex in (("f_v", "f_v"), ("h", "h"), ("h_z", "h_z"), ("A", "A"))
)
_far = real("r", ge=0, unit=LENGTH)
_ways = (real("a", ge=0, unit=LENGTH), real("b", ge=0, unit=LENGTH))
_MEAN_DIFFERENCE, _MEAN_ABSOLUTE = (
    rf"{{\mathbb{{E}}}}_{{Z\sim\mathcal{{N}}(0,\lambda^{{2}}\mathbb{{I}}_{{d}})}}[{inside}]"
    for inside in ("h(w+Z)-h(w)", "|h(w+Z)-h(w)|")
)
_mean_difference = real("mean_difference", unit=LOSS, latex=_MEAN_DIFFERENCE)
_mean_absolute = real("mean_absolute", ge=0, unit=LOSS, latex=_MEAN_ABSOLUTE)
_above, _below = real("P", ge=0, unit=LOSS), real("N", ge=0, unit=LOSS)
_share = real("s", ge=0, le=1)
_mass_so_far = real("P", ge=0, meaning="a mass")
_h_of_other, _h_between, _mean_of_other, _mean_between, _f_u, _f_q = (
    real(name, unit=LOSS, latex=latex)
    for name, latex in (
        ("h'", "h'"), ("h_m", "h_m"), ("A'", "A'"), ("A_m", "A_m"), ("f_u", "f_u"), ("f_q", "f_q"),
    )
)  # fmt: skip

thm33 = (
    Sheet(
        "fmtt18.thm33",
        (d, L, _width, _apart, _gradients, _variation, _steepest, _masses, _smooth, _rough, _mean_norm,
         _h1, _h2, _k1, _k2, _y),
        title="Convolution with a Gaussian: convex, Lipschitz, smooth, close",
        where="Theorem 33, proof in Appendix C",
        latex=(
            r"\hat f\text{ is convex, }L\text{-Lipschitz and }L/\lambda\text{-smooth},\quad"
            r"|\hat f(w)-f(w)|\le L\lambda\sqrt{d}"
        ),
        pairs=("fmtt18.smoothing", "fmtt18.cor34"),
    )
    .define(_DIVERGENCE, r"\frac{\|w-w^{\prime}\|_{2}^2}{2\lambda^2}")
    .define(_NORM, r"\lambda\sqrt{2}\cdot\frac{\Gamma(\frac{d+1}{2})}{\Gamma(\frac{d}{2})}")
    .instance(
        "lipschitz", r"|\frac{h_{1}+h_{2}}{2}-\frac{h_{1}'+h_{2}'}{2}|\le L\|w-w^{\prime}\|_{2}",
        given=r"|h_{1}-h_{1}'|\le L\|w-w^{\prime}\|_{2}, |h_{2}-h_{2}'|\le L\|w-w^{\prime}\|_{2}",
        case="a kernel with two points: h_1, h_2 are the extension's values at w plus each of them, h_1', h_2' at w'",
        catches=("a hundredth of L is lost",
                 r"|\frac{h_{1}+h_{2}}{2}-\frac{h_{1}'+h_{2}'}{2}|\le 0.99L\|w-w^{\prime}\|_{2}"),
        where="Appendix C, Lipschitzness and convexity",
    )
    .step(
        "moved-kernel", "w+z=w'+(z-(w'-w))", added=_points,
        where="Appendix C, smoothness, second line of the display: where the kernel around w' has the density of Z at "
              "z - "
              "(w' - w)",
    )
    .step(
        "one-integral", "(s+p_1v)-(s'+p_2v)=u+(p_1-p_2)v", given="s-s'=u", added=(*_integrals, _at_z, *_kernels),
        where="Appendix C, smoothness, third line of the display, point by point: s and s' are the two integrals over "
              "some of them, p_1 and p_2 the kernels' masses at one more",
    )
    .step(
        "norm-of-a-sum", r"\|u+q\|\le\|u\|+\|q\|", added=(_integrals[2], _part),
        where="Appendix C, smoothness, fourth line of the display: q is (p_1 - p_2) times a gradient",
    )
    .step(
        "norm-of-the-integral", r"n_1\le G\cdot(I+a)", given=r"n_1\le n+n_q, n\le GI, n_q\le Ga",
        added=(_mass, *_norms), uses=("fmtt18.thm33/norm-of-a-sum", "integral-is-monotone"),
        where="Appendix C, smoothness, fourth line of the display, point by point: n is the norm of the integral over "
              "some of them and n_q that of q, a is |p_1 - p_2|, and n_1 the norm with one more point",
    )
    .step(
        "two-masses", rf"G\cdot I\leq L\cdot 2{_variation.latex}", given=rf"G\le L, I=2{_variation.latex}",
        where="Appendix C, smoothness, last two lines of the display",
    )
    .step(
        "pinsker",
        rf"{_variation.latex}\leq\sqrt{{\frac{{1}}{{2}}{_DIVERGENCE}}}"
        r"\leq\frac{\|w-w^{\prime}\|_{2}}{2\lambda}",
        given=rf"2({_variation.latex})^2\le{_DIVERGENCE}", uses=("pinsker", "fmtt18.def10"),
        where="Appendix C, smoothness, last display",
    )
    .whole(
        "smoothness",
        r"\|\nabla\hat{f}(w)-\nabla\hat{f}(w^{\prime})\|_{2}\leq\frac{L}{\lambda}\|w-w^{\prime}\|_{2}",
        given=rf"{_gradients.latex}\le G\cdot I, G\cdot I\le L\cdot 2{_variation.latex}, "
              rf"{_variation.latex}\le\frac{{\|w-w^{{\prime}}\|_{{2}}}}{{2\lambda}}",
        uses=("fmtt18.thm33/pinsker", "fmtt18.thm33/two-masses"), where="Appendix C, smoothness",
    )
    .step(
        "quadratic-bound", r"\int_{0}^{1}\frac{L}{\lambda}t\|w-w^{\prime}\|_{2}^2\mathrm{d}t"
        r"=\frac{1}{2}\cdot\frac{L}{\lambda}\|w-w^{\prime}\|_{2}^2", added=(_on_the_way,),
        uses=("fmtt18.thm33/smoothness",),
        where="Theorem 33, L/lambda-smooth: along the segment, the value leaves its tangent by no more than this",
    )
    .step(
        "extension", r"f({w})\le f_v+L\cdot r", given=r"|f({w})-f_v|\le L\cdot r", added=(_elsewhere, _far),
        where="Appendix C: h is f on the set, as the minimum is attained at v = w, where r = ||w - v|| is 0",
    )
    .step(
        "difference-of-the-means", rf"|\hat{{f}}({{w}})-f({{w}})| =|{_MEAN_DIFFERENCE}|",
        given=rf"\hat{{f}}({{w}})=A, f({{w}})=h, {_MEAN_DIFFERENCE}=A-h", added=(_mean_h, _h_w, _mean_difference),
        uses=("fmtt18.thm33/extension",),
        where="Appendix C, approximation error, first line; A is the mean of h(w + Z)",
    )
    .step(
        "absolute-value-inside", rf"|{_MEAN_DIFFERENCE}|\leq {_MEAN_ABSOLUTE}",
        given=rf"{_MEAN_DIFFERENCE}=P-N, {_MEAN_ABSOLUTE}=P+N",
        added=(_mean_difference, _mean_absolute, _above, _below),
        where="Appendix C, approximation error, second line: P and N are the means of the positive and the negative "
              "part",
    )
    .step(
        "longer-way", r"\|w+z-v\|\le\|w-v\|+\|z\|", added=(*_points[:1], *_points[2:], _minimizer),
        where="Appendix C: what makes h Lipschitz on the whole space",
    )
    .step(
        "lipschitz-extension", r"h_z-h\le L\cdot r", given=r"h_z\le f_v+L\cdot a, h=f_v+L\cdot b, a\le b+r",
        added=(_h_there, _h_w, _elsewhere, _far, *_ways), uses=("fmtt18.thm33/longer-way",),
        where="Appendix C, approximation error, third line, at z: h = h(w) is attained at v, h_z = h(w + z) is no "
              "larger "
              "than what v gives, and r = ||z||; and the same with w and w + z exchanged",
    )
    .step(
        "norm-is-convex", r"\|(1-s)\cdot(w-v)+s\cdot(w'-u)\|\le(1-s)\cdot\|w-v\|+s\|w'-u\|",
        added=(*_points[:2], _minimizer, _integrals[2], _share),
        where="Appendix C: what makes h convex; v and u are where h(w) and h(w') are attained",
    )
    .step(
        "convex-extension", r"h_m\le(1-s)\cdot h+sh'",
        given=r"h_m\le f_q+Lr, f_q\le(1-s)\cdot f_v+sf_u, r\le(1-s)\cdot a+sb, h=f_v+La, h'=f_u+Lb",
        added=(_h_w, _h_of_other, _h_between, _elsewhere, _f_u, _f_q, _far, *_ways, _share),
        uses=("fmtt18.thm33/norm-is-convex",),
        where="Appendix C, Lipschitzness and convexity: h is convex; h and h' are h(w) = f(v) + L ||w - v|| and the "
              "same at w', h_m is h((1 - s) w + s w'), no larger than what q = (1 - s) v + s u gives",
    )
    .whole(
        "lipschitz-for-every-kernel", r"|(A+ah)-(A'+ah')|\le L\|w-w^{\prime}\|_{2}\cdot(P+a)",
        given=r"|A-A'|\le L\|w-w^{\prime}\|_{2}P, |h-h'|\le L\|w-w^{\prime}\|_{2}",
        added=(_mean_h, _mean_of_other, _h_w, _h_of_other, _mass, _mass_so_far),
        uses=("fmtt18.thm33/lipschitz-extension", "integral-is-monotone"),
        where="Appendix C, Lipschitzness and convexity, point by point: A and A' are the integrals of h(w + Z) and "
              "h(w' + Z) over points of mass P, which is 1 for all of them, and a is the mass of one more",
    )
    .whole(
        "convex", r"A_m+ah_m\le(1-s)\cdot(A+ah)+s\cdot(A'+ah')",
        given=r"A_m\le(1-s)\cdot A+sA', h_m\le(1-s)\cdot h+sh'",
        added=(_mean_h, _mean_of_other, _mean_between, _h_w, _h_of_other, _h_between, _mass, _share),
        uses=("fmtt18.thm33/convex-extension", "integral-is-monotone"),
        where="Appendix C, Lipschitzness and convexity, point by point, at w, at w' and at (1 - s) w + s w'",
    )
    .step(
        "mean-norm", rf"L\cdot{_NORM}=L\lambda\sqrt{{d}}", uses=("norm-of-a-gaussian",),
        where="Appendix C, approximation error, last line",
    )
    .corrected(
        "mean-norm", r"L\cdot M\le L\lambda\sqrt{d}", given=r"M^2\le d\lambda^2",
        because="E||Z|| is below lambda sqrt(d), which is the root of E||Z||^2; at most is enough for the claim",
        true_if="with at most in place of =", uses=("jensen", "gaussian-second-moment"),
        where="Appendix C, approximation error, last line, by Jensen's inequality",
    )
    .corrected(
        "sharper-smoothness", r"\frac{\partial}{\partial y}(2\Phi(y)-1)=\frac{2e^{-y^2/2}}{\sqrt{2\pi}}",
        coverage="step",
        where="Theorem 33 with sqrt(2/pi) L/lambda in place of L/lambda: the slope of the total variation 2 Phi(y) - 1,"
              " largest at 0",
    )
    .whole(
        "approximation-error", r"|\hat{f}({w})-f({w})|\leq L\lambda\sqrt{d}",
        given=r"|\hat{f}({w})-f({w})|\le L\cdot M, M^2\le d\lambda^2",
        uses=("jensen", "gaussian-second-moment", "fmtt18.thm33/difference-of-the-means",
              "fmtt18.thm33/absolute-value-inside", "fmtt18.thm33/lipschitz-extension"),
        where="Appendix C, approximation error: the mean of the norm is at most the root of its mean square",
    )
)  # fmt: skip


_q = real("q", gt=0, meaning="q of Theorem 32")
_smoothed, _smoothed_best, _smoothed_there = (
    real(name, unit=LOSS, latex=latex, meaning=meaning)
    for name, latex, meaning in (
        ("Fhat_W", r"{\mathbb{E}}[\hat{F}(W)]", "the output's expected population risk, losses convolved"),
        ("Fhat_best", r"\hat{F}^{*}", "the smallest risk, losses convolved"),
        ("Fhat_there", r"\hat{F}(w^{*})", "the risk at the minimizer of F, losses convolved"),
    )
)
_bias = real("bias", ge=0, unit=LOSS, latex=r"L\lambda\sqrt{d}")
_WITH_SMOOTHING = (
    rf"{released.latex}\le{_smoothed.latex}, {_smoothed_best.latex}\le{_smoothed_there.latex}, "
    rf"{_smoothed_there.latex}\le F^{{*}}+L\lambda\sqrt{{d}}"
)
_ROOT = r"\sqrt{1+\frac{8d\ln(1.25/\delta)}{\varepsilon^{2}}}"
_FACTOR = r"\frac{4\sqrt{2}RL}{\sqrt{n}}"
_PRINTED = r"\frac{\varepsilon\sqrt{d}}{2\ln(1.25/\delta)}"
_RIGHT = r"\frac{\varepsilon\sqrt{d}}{8\sqrt{2}\sqrt{\ln(1/\delta)}}"

_APART = (
    r"\frac{2L}{(2L\sqrt{2\ln(1.25/\delta)}/\varepsilon)\sqrt{n-t+1}}"
    r"=\frac{\varepsilon/\sqrt{n-t+1}}{\sqrt{2\ln(1.25/\delta)}}"
)
_PRIVATE_BY = (
    "fmtt18.lem27", "fmtt18.thm24", "shifts-in-gdp-form", "fmtt18.cor34/rate-of-theorem-30",
    "fmtt18.cor34/smooth-enough",
)  # fmt: skip
_PINNED = (
    "a million losses L |w| on [-R, R], the last of which is L w against -L w, epsilon = 100 and delta = 1/10: the "
    "smoothed losses hold the iterate near 0, and the last step is 15 deviations of what noise is left in the output, "
    "or more; the half line from where that step leads to"
)

cor34 = (
    Sheet(
        "fmtt18.cor34",
        (n, t, d, R, L, epsilon, level, best, released, _smoothed, _smoothed_best, _smoothed_there),
        title="Smoothed losses: per-index privacy and risk",
        where="Corollary 34",
        latex=(
            r"\lambda=\frac{R\varepsilon}{2\sqrt{n\ln(1/\delta)}}\implies"
            r"\left(\frac{\varepsilon}{\sqrt{n-t+1}},\delta\right)\text{-DP at index }t,\ "
            r"\mathbb{E}[F(W)]\le F^*+\frac{4\sqrt{2}RL}{\sqrt{n}}"
            r"\left(\sqrt{1+\frac{8d\ln(1.25/\delta)}{\varepsilon^2}}"
            r"+\frac{\varepsilon\sqrt{d}}{2\ln(1.25/\delta)}\right)"
        ),
        pairs=("fmtt18.smoothing", "fmtt18.thm33", "fmtt18.thm30"), uses=("fmtt18.lem27",),
    )
    .whole(
        "risk", rf"{released.latex}\leq F^{{*}}+{_FACTOR}\cdot({_ROOT}+{_PRINTED})",
        given=rf"{_WITH_SMOOTHING}, {_smoothed.latex}\le{_smoothed_best.latex}+{_FACTOR}\cdot{_ROOT}, "
              rf"L\lambda\sqrt{{d}}\le{_FACTOR}\cdot{_PRINTED}",
        added=(log_ratio, _bias), uses=("jensen", "fmtt18.thm30/risk", "fmtt18.thm33", "fmtt18.cor34/bias-term"),
        where="Corollary 34, risk: the convolved loss is never below the loss, and at most L lambda sqrt(d) above",
    )
    .define(r"\lambda", r"\frac{R\varepsilon}{2\sqrt{n\ln(1/\delta)}}")
    .condition(
        "rate-of-theorem-30",
        r"\frac{8R^2}{n(L^2+8dL^2\ln(1.25/\delta)/\varepsilon^2)}\le\frac{R^2\varepsilon^2}{L^2n\ln(1/\delta)}",
        given=r"\ln(1/\delta)\le\ln(1.25/\delta)", added=(log_ratio,),
        where="Section 5.5: eta is at most R epsilon / (L sqrt(n ln(1/delta))) in Theorem 30; both sides squared",
    )
    .reference(
        "rate-of-theorem-32",
        r"\frac{16R^2}{n(L^2+16dL^2q\ln(1/\delta)/\varepsilon^2)}\le\frac{R^2\varepsilon^2}{L^2n\ln(1/\delta)}",
        given=r"q\ge 2\ln(1/\delta), \ln(1/\delta)\ge\frac{1}{2}", added=(_q,),
        where="Section 5.5: eta is at most R epsilon / (L sqrt(n ln(1/delta))) in Theorem 32; both sides squared",
    )
    .condition(
        "smooth-enough", r"\frac{R\varepsilon}{L\sqrt{n\ln(1/\delta)}}=\frac{2\lambda}{L}", uses=("fmtt18.thm33",),
        where="Section 5.5: this rate is 2/beta for beta = L/lambda",
    )
    .step(
        "approximation-error", r"L\lambda\sqrt{d}=\frac{LR\varepsilon\sqrt{d}}{2\sqrt{n\ln(1/\delta)}}",
        uses=("fmtt18.thm33",), where="Section 5.5",
    )
    .whole(
        "privacy-at-an-index", _APART, given=r"t\le n", added=(log_ratio,), uses=_PRIVATE_BY,
        where="Corollary 34, index t: as Theorem 30, on the convolved losses",
    )
    .corrected(
        "privacy-at-an-index", _APART, given=r"t\le n", added=(log_ratio,), uses=_PRIVATE_BY,
        letters=(small_epsilon,), where="Corollary 34, index t, for epsilon at most 1: as Theorem 30",
        because="for large epsilon the noise of Lemma 27 is too small; the lemma holds for epsilon at most 1",
    )
    .corrected(
        "risk", rf"{released.latex}\leq F^{{*}}+{_FACTOR}\cdot({_ROOT}+{_RIGHT})",
        given=rf"{_WITH_SMOOTHING}, {_smoothed.latex}\le{_smoothed_best.latex}+{_FACTOR}\cdot{_ROOT}",
        added=(log_ratio,), uses=("jensen", "fmtt18.thm30/risk", "fmtt18.thm33"),
        where="Corollary 34, risk, with the bias that lambda gives",
    )
    .define(r"\ln(1.25/\delta)", r"\ln(1/\delta)+\ln(1.25)")
    .step(
        "bias-term", rf"L\lambda\sqrt{{d}}\le{_FACTOR}\cdot{_PRINTED}", box={"l": (32, 200)},
        where="Corollary 34, risk: the convolved loss is never below the loss, and at most this much above",
    )
    .corrected(
        "bias-term", r"L^2\lambda^2d=\frac{32R^2L^2}{n}\cdot\frac{\varepsilon^2d}{128\ln(1/\delta)}",
        because="the last term has ln(1.25/delta) where lambda has the root of ln(1/delta)",
        consequence=CONSTANT, true_if="for delta from 2e-14 to 0.998",
        where="Corollary 34, risk: the convolved loss is never below the loss, and at most this much above; both "
              "sides squared",
    )
    .instance(
        "last-record", r"\frac{1}{2}-e^{100}\Phi(-15)\le\frac{1}{10}", case=_PINNED, consequence=MISSING,
        true_if="for epsilon at most 1, as Lemma 27", where="Corollary 34, index t = n",
    )
    .reference(
        "dominated", rf"\frac{{LR\varepsilon\sqrt{{d}}}}{{2\sqrt{{n\ln(1/\delta)}}}}\le{_FACTOR}\cdot{_ROOT}",
        given=r"\ln(1/\delta)\geq\varepsilon", box={"l": (64, 128), "epsilon": (64, 128), "d": (100, 1000)},
        where="Section 5.5: the error of smoothing is dominated by the excess loss whenever ln(1/delta) >= epsilon",
    )
    .corrected(
        "dominated",
        r"\frac{\varepsilon^2d}{4\ln(1/\delta)}\le\frac{256d\ln(1/\delta)}{\varepsilon^{2}}",
        given=r"32\ln(1/\delta)\ge\varepsilon^2",
        because="for large epsilon the error of smoothing is not dominated unless ln(1/delta) grows like epsilon^2",
        consequence=EDGE, true_if="for epsilon up to 32",
        where="Section 5.5 where 32 ln(1/delta) >= epsilon^2; both sides squared, over R L / sqrt(n)",
    )
    .correction(
        latex=(
            r"\mathbb{E}[F(W)]\le F^*+\frac{4\sqrt{2}RL}{\sqrt{n}}"
            r"\left(\sqrt{1+\frac{8d\ln(1.25/\delta)}{\varepsilon^2}}"
            r"+\frac{\varepsilon\sqrt{d}}{8\sqrt{2\ln(1/\delta)}}\right)"
        ),
        replaces=("last-record",),
    )
)  # fmt: skip

STATEMENTS = tuple(sheet.statement for sheet in (thm33, cor34))
