"""gll22, Section 6.1: excess empirical risk and privacy of the regularized exponential mechanism."""

from __future__ import annotations

from dpverify.formulas.expressions import real
from dpverify.formulas.units import LENGTH, LOSS, NATS
from dpverify.formulas.vectors import vector
from dpverify.statements.gll22.guarantees import DELTA_OF, delta_at_epsilon, shift, with_privacy
from dpverify.statements.gll22.symbols import D, G, d, epsilon, k, mu, n
from dpverify.statements.sheet import Sheet

_E = r"\operatorname*{\mathbb{E}}"
_MEAN_F, _MIN_F = rf"{_E}_{{\nu}}[F(x)]", r"\min_{x\in\mathcal{K}}F(x)"
_x, _b = real("x", unit=LENGTH), real("b", gt=0, unit=LENGTH, meaning="end of the set")
_t1, _t2 = (real(f"t{i}", gt=0, unit=k.unit, latex=f"t_{i}") for i in (1, 2))
_F1, _F2 = (real(f"F{i}", ge=0, unit=LOSS, latex=rf"F(y/t_{i})") for i in (1, 2))
_Z = real("Z", gt=0, latex="Z", meaning="integral of exp(-k (F - min F))")
_slope = real("dZ", le=0, unit=LOSS, latex="Z'", meaning="its derivative in k")

lem6_1 = (
    Sheet(
        "gll22.lem6.1", (
            k, d, G, _x, _b, _t1, _t2, _F1, _F2, _Z, _slope,
            real("mean_F", unit=LOSS, latex=_MEAN_F), real("min_F", unit=LOSS, latex=_MIN_F),
        ),
        title="Excess risk of a sample", where="Lemma 6.1",
        latex=rf"{_MEAN_F}\leq{_MIN_F}+\frac{{d}}{{k}}",
        pairs=("gll22.thm6.2", "gll22.thm6.7"),
    )
    .step(
        "perspective", r"t_2F(y/t_2)\le t_1F(y/t_1)",
        given=r"t_1\le t_2, F(y/t_2)\le\frac{t_1}{t_2}F(y/t_1)+(1-\frac{t_1}{t_2})\cdot 0",
        where="Lemma 6.1, a proof: F is convex and 0 at its minimizer, the origin; y/t_2 lies between it and y/t_1",
    )
    .whole(
        "bound", rf"{_MEAN_F}\leq{_MIN_F}+\frac{{d}}{{k}}",
        given=rf"{_MEAN_F}-({_MIN_F})=-\frac{{Z'}}{{Z}}, \frac{{d}}{{k}}Z+Z'\ge 0",
        uses=("differentiation-under-the-integral", "gll22.lem6.1/perspective"),
        where="Lemma 6.1, a proof: k^d Z is the integral of exp(-k F(y/k)) over kK, which grows with k",
    )
    .instance(
        "linear-on-a-segment", r"\int_{0}^{b}Gx e^{-kGx}\mathrm{d}x\le\frac{1}{k}\int_{0}^{b}e^{-kGx}\mathrm{d}x",
        case="one dimension, F(x) = G x on [0, b]", where="Lemma 6.1, both sides times the integral",
        catches=("half of d/k", r"\int_{0}^{b}Gx e^{-kGx}\mathrm{d}x\le\frac{1}{2k}\int_{0}^{b}e^{-kGx}\mathrm{d}x"),
    )
)  # fmt: skip

_released = real("F_x", unit=LOSS, latex=rf"{_E}[F(x^{{(priv)}};\mathcal{{D}})]")
_best = real("F_best", unit=LOSS, latex=r"F(x^{*};\mathcal{D})")
_least = real("F_min", unit=LOSS, latex=r"\min_{x\in\mathcal{K}}F(x;\mathcal{D})")
_far = real("R", ge=0, unit=LENGTH, meaning="distance of the set from the origin")
_star = real("x_star", ge=0, unit=LENGTH, latex=r"\|x^{*}\|_{2}")
_norm2 = real("norm2", ge=0, unit=LENGTH**2, latex=rf"{_E}\|x^{{(priv)}}\|_{{2}}^{{2}}")
_m = real("m", unit=LENGTH, meaning="mean of the output")
_EXCESS = rf"{_released.latex}-{_best.latex}"
_REGULARIZED = (
    rf"{_released.latex}+\frac{{\mu}}{{2}}{_norm2.latex}"
    rf"\le {_best.latex}+\frac{{\mu}}{{2}}\|x^{{*}}\|_{{2}}^2+\frac{{d}}{{k}}"
)
_FAR_AWAY = r"\mu R\cdot(R+D-m)\le\frac{d}{k}+\frac{\mu D^{2}}{2}"

_vx, _vy, _g = (vector(name) for name in "xyg")
_Fx, _Fy = (real(f"F_{name}", latex=f"F_{name}", meaning=f"F({name}; D)") for name in "xy")
_own, _new = (
    tuple(real(f"{name}_{at}", unit=LOSS, latex=f"{name}_{at}", meaning=f"f({at}; {record})") for at in "xy")
    for name, record in (("a", "s"), ("b", "s'"))
)
_r = real("r", ge=0, unit=LENGTH, meaning="||x - y||")
_thm6_2 = (
    Sheet(
        "gll22.thm6.2",
        (epsilon, n, d, k, mu, G, D, shift, delta_at_epsilon, _released, _best, _far, _star, _norm2, _m),
        title="Private empirical risk minimization", where="Theorem 6.2",
        latex=(
            rf"\delta(\varepsilon)\leq{DELTA_OF},\quad {_EXCESS}\le\frac{{d}}{{k}}+\frac{{\mu D^{{2}}}}{{2}}"
        ),
        pairs=("gll22.rem", "gll22.thm6.4", "gll22.thm6.8"),
    )
    .condition(
        "strong-convexity",
        r"k\cdot(F_y+\frac{\mu}{2}\|y\|^2)\ge k\cdot(F_x+\frac{\mu}{2}\|x\|^2)+\langle k\cdot(g+\mu x),y-x\rangle"
        r"+\frac{k\mu}{2}\|y-x\|^2",
        given=r"F_y\ge F_x+\langle g,y-x\rangle", added=(_vx, _vy, _g, _Fx, _Fy), units=False,
        where="Theorem 6.2, privacy, what Theorem 2.1 requires: k (F + mu ||x||^2 / 2) is k mu-strongly convex, for a "
              "subgradient g of F at x",
    )
    .condition(
        "one-record", r"|\frac{k}{n}(a_x-b_x)-\frac{k}{n}(a_y-b_y)|\le\frac{kG}{n}r",
        given=r"|(a_x-b_x)-(a_y-b_y)|\le Gr", added=(*_own, *_new, _r), units=False,
        where="Theorem 6.2, privacy, what Theorem 2.1 requires: with s' for s, k F changes by a k G/n-Lipschitz "
              "function",
    )
    .condition(
        "center-in-the-set", r"\|x^{*}\|_{2}\le D", given=r"R\le\|x^{*}\|_{2}\le R+D",
        where="Theorem 6.2, excess risk: mu ||x||^2 / 2 is at most mu D^2 / 2 on the set, as the bound assumes",
    )
    .corrected(
        "center-in-the-set", r"\|x^{*}\|_{2}\le D", given=r"R\le\|x^{*}\|_{2}\le R+D, R=0",
        because="a set of diameter D may be far from the origin, which the regularizer is about; the origin must "
                "be in it",
        true_if="if the origin is in the set", where="Theorem 6.2, excess risk, with 0 in the set",
    )
    .instance(
        "set-far-away", _FAR_AWAY, given=r"d=1, R\le m\le R+\frac{D}{2}",
        case="F(x) = -mu R x on [R, R + D]: the regularized F grows there, so the output's mean is in the "
             "first half",
        where="Theorem 6.2, excess risk", true_if="if the origin is in the set",
    )
    .corrected(
        "set-far-away", _FAR_AWAY, given=r"d=1, R\le m\le R+\frac{D}{2}, R=0",
        case="F = 0 on [0, D]",
        catches=("it may be far away", r"\mu\cdot(R+D)\cdot((R+D)+D-m)\le\frac{d}{k}+\frac{\mu D^{2}}{2}"),
        where="Theorem 6.2, excess risk, with 0 in the set",
    )
    .whole(
        "risk",
        rf"{_EXCESS}\le\frac{{d}}{{k}}+\frac{{\mu D^{{2}}}}{{2}}", given=rf"{_REGULARIZED}, \|x^{{*}}\|_{{2}}\le D",
        uses=("gll22.lem6.1", "gll22.thm6.2/center-in-the-set"), where="Theorem 6.2, excess empirical risk",
    )
    .whole(
        "risk-of-strongly-convex-losses", rf"{_EXCESS}\le\frac{{d}}{{k}}",
        given=rf"{_released.latex}\le {_least.latex}+\frac{{d}}{{k}}, {_least.latex}={_best.latex}",
        added=(_least,), uses=("gll22.lem6.1",),
        where="Theorem 6.2, losses that are mu-strongly convex themselves",
    )
)  # fmt: skip

thm6_2 = with_privacy(
    _thm6_2, "Theorem 6.2",
    ": k F is k mu-strongly convex, and one record changes it by a k G/n-Lipschitz function",
)  # fmt: skip

_L = r"\log(3/(4\delta))"
_level = real("l", gt="23/10", unit=NATS, latex=r"\log(1/\delta)", meaning="above ln 10")
_inner = real("l_34", gt=2, unit=NATS, latex=_L, meaning="above ln 7.5")
_delta = real("delta", gt=0, lt="1/10", latex=r"\delta")
_tau = real("tau", ge=0, latex=r"\tau", meaning="sampling error in total variation", stands_for="number")
_ROOTS = rf"\sqrt{{{_L}+\varepsilon}}-\sqrt{{{_L}}}"
_K = rf"\frac{{2\mu n^{{2}}\left({_ROOTS}\right)^{{2}}}}{{G^{{2}}}}"
_MU = rf"\frac{{G\sqrt{{d}}}}{{nD\left({_ROOTS}\right)}}"
_BOUND = rf"\frac{{GD\sqrt{{d}}}}{{n({_ROOTS})}}"
_STATED = r"\frac{GD\sqrt{d}}{n(\sqrt{\log(1/\delta)+\varepsilon}-\sqrt{\log(1/\delta)})}"
_SMALL = r"\frac{2GD\sqrt{d\log(1/\delta)}}{\varepsilon n}"
_SMALL_PROOF = r"\frac{2GD\sqrt{d\log(4/(5\delta))}}{n\varepsilon}"
_y = real("x", ge=0)

_GAPS = (
    real("g", gt=0), real("h", gt=0), real("v", gt=0, meaning="sqrt(log(1/delta))"),
)  # fmt: skip

thm6_4 = (
    Sheet(
        "gll22.thm6.4", (
            epsilon, n, d, mu, k, G, D, _level, _inner, _tau, _released, _best, _y, _delta,
        ),
        title="Private empirical risk minimization, with the sampler", where="Theorem 6.4",
        latex=rf"(\varepsilon,\delta)\text{{-DP, }}{_EXCESS}\le{_STATED}",
        pairs=("gll22.rem", "gll22.thm6.2", "gll22.thm5.6"),
    )
    .define(r"\log(4/(5\delta))", rf"{_L}+\log(\frac{{16}}{{15}})")
    .step(
        "two-thirds-of-delta", r"\log(\frac{1}{2\cdot 2\delta/3})=\log(\frac{3}{4\delta})", uses=("gll22.lem6.3",),
        where="Theorem 6.4, proof: Lemma 6.3 at 2 delta/3",
    )
    .condition("lemma-6.3-applies", r"\frac{2\delta}{3}<\frac{1}{2}", where="Theorem 6.4, proof")
    .step(
        "choice-of-k", rf"\frac{{G^2}}{{n^2\mu}}\cdot{_K}=(\sqrt{{2{_L}+2\varepsilon}}-\sqrt{{2{_L}}})^2",
        uses=("gll22.thm6.2", "gll22.thm6.4/two-thirds-of-delta"),
        where="Theorem 6.4, proof, display: s = G sqrt(k) / (n sqrt(mu)), squared",
    )
    .step(
        "choice-of-mu", rf"\frac{{d}}{{k}}+\frac{{\mu D^{{2}}}}{{2}}={_BOUND}", given=rf"k={_K}, \mu={_MU}",
        uses=("gll22.thm6.2",), where="Theorem 6.4, proof: putting k and mu into the bound",
    )
    .step(
        "square-root",
        r"1+\frac{x}{2}-\frac{x^{2}}{8}\leq\sqrt{1+x}\leq 1+\frac{x}{2}", where="Theorem 6.4, proof, for x >= 0",
    )
    .step(
        "rationalized", rf"\frac{{1}}{{{_ROOTS}}}=\frac{{\sqrt{{{_L}+\varepsilon}}+\sqrt{{{_L}}}}}{{\varepsilon}}",
        where="Theorem 6.4, proof, epsilon < 1/10",
    )
    .step(
        "concave-root", rf"\sqrt{{{_L}+\varepsilon}}+\sqrt{{{_L}}}\le 2\sqrt{{{_L}+\frac{{\varepsilon}}{{2}}}}",
        where="Theorem 6.4, proof, epsilon < 1/10",
    )
    .step(
        "logarithms",
        r"\log(\frac{16}{15})>\frac{1}{20}\text{ and }\log(\frac{5}{4})>\frac{1}{5}", where="Theorem 6.4, proof",
    )
    .step(
        "sixteen-fifteenths", r"\frac{\varepsilon}{2}\le\log(\frac{16}{15})",
        given=r"\varepsilon<1/10, \log(\frac{16}{15})>\frac{1}{20}", uses=("gll22.thm6.4/logarithms",),
        where="Theorem 6.4, proof, epsilon < 1/10: 4/(5 delta) is 16/15 times 3/(4 delta)",
    )
    .step(
        "small-epsilon", rf"{_BOUND}\leq{_SMALL_PROOF}",
        given=rf"\varepsilon<1/10, \frac{{1}}{{{_ROOTS}}}\le\frac{{2\sqrt{{\log(4/(5\delta))}}}}{{\varepsilon}}",
        uses=("gll22.thm6.4/rationalized", "gll22.thm6.4/concave-root", "gll22.thm6.4/sixteen-fifteenths"),
        where="Theorem 6.4, proof, epsilon < 1/10",
    )
    .whole(
        "order-for-large-epsilon", rf"{_STATED}\le O(\frac{{GD\sqrt{{d}}}}{{n\sqrt{{\varepsilon}}}})",
        given=r"\varepsilon\geq\log(1/\delta)", uses=("gll22.thm6.4/risk",),
        where="Theorem 6.4, second item, epsilon >= log(1/delta)",
    )
    .step(
        "large-epsilon", rf"{_STATED}\le\frac{{(1+\sqrt{{2}})GD\sqrt{{d}}}}{{n\sqrt{{\varepsilon}}}}",
        given=r"\varepsilon\geq\log(1/\delta)",
        where="Theorem 6.4, second item, epsilon >= log(1/delta): the best constant is 1 + sqrt(2)",
    )
    .step(
        "privacy-with-sampling",
        r"\frac{2\delta}{3}+(1+e^{\varepsilon})\tau\le\delta", given=r"\tau\le\frac{\delta}{3}",
        uses=("post-sampling",), where="Theorem 6.4, proof: accuracy delta/3 leads to (epsilon, delta)-DP",
    )
    .corrected(
        "privacy-with-sampling", r"\frac{2\delta}{3}+(1+e^{\varepsilon})\tau\le\delta",
        given=r"\tau\le\frac{\delta}{3(1+e^{\varepsilon})}", uses=("post-sampling",),
        because="a sampling error of tau in total variation adds (1 + e^epsilon) tau to delta, not tau",
        true_if="with accuracy delta / (3 (1 + e^epsilon)), which adds epsilon to a logarithm",
        where="Theorem 6.4, proof, with accuracy delta / (3 (1 + e^epsilon))",
    )
    .whole(
        "privacy", r"\frac{G^2}{n^2\mu}k\le(\sqrt{2\log(3/(4\delta))+2\varepsilon}-\sqrt{2\log(3/(4\delta))})^2",
        given=rf"k={_K}", uses=("gll22.lem6.3", "gll22.thm6.2", "gll22.thm6.4/privacy-with-sampling"),
        where="Theorem 6.4, first item: the shift of Theorem 6.2 is one that Lemma 6.3 allows for 2 delta/3",
    )
    .step(
        "margin",
        r"\frac{\log(\frac{5}{4})}{2\sqrt{\log(1/\delta)}}"
        r"\le\sqrt{\log(1/\delta)}-\sqrt{\log(1/\delta)-\log(\frac{5}{4})}",
        given=r"\log(1/\delta)\ge\log(\frac{5}{4})",
        where="Theorem 6.4, proof: what log(1/delta) in place of log(4/(5 delta)) leaves",
    )
    .step(
        "accuracy-for-many-records",
        r"\frac{1}{5n^{5}\varepsilon}\le\frac{\log(\frac{5}{4})}{n\varepsilon\sqrt{\log(1/\delta)}}",
        given=r"\sqrt{\log(1/\delta)}\le n\le n^2, n^2\le n^5, \log(\frac{5}{4})>\frac{1}{5}",
        uses=("gll22.thm6.4/logarithms",), where="Theorem 6.4, proof, large enough constant c: c = 5",
    )
    .step(
        "exponential-above-the-line", r"w\le e^{w}", added=(real("w", ge=1),), where="Theorem 6.4, proof, small delta",
    )
    .step(
        "accuracy-for-small-delta", r"\frac{e^{-w}}{3}\le\frac{\log(\frac{5}{4})}{\varepsilon w}",
        given=r"\varepsilon<1/10, w\le e^{w}, \log(\frac{5}{4})>\frac{1}{5}", added=(real("w", ge=1),),
        uses=("gll22.thm6.4/logarithms", "gll22.thm6.4/exponential-above-the-line"),
        where="Theorem 6.4, proof: delta/3, if n <= sqrt(w) for w = log(1/delta)",
    )
    .whole(
        "risk-for-small-epsilon", rf"{_EXCESS}\le{_SMALL}",
        given=rf"{_EXCESS}\le GD\cdot(\frac{{2\sqrt{{d}}r}}{{n\varepsilon}}+\tau), "
              r"n\varepsilon\tau\le 2\sqrt{d}(\sqrt{\log(1/\delta)}-r)",
        added=(real("r", gt=0, latex="r", meaning="sqrt(log(4/(5 delta)))"),),
        uses=("range-times-total-variation", "gll22.thm6.4/choice-of-mu", "gll22.thm6.4/small-epsilon",
              "gll22.thm6.4/margin", "gll22.thm6.4/accuracy-for-many-records", "gll22.thm6.4/accuracy-for-small-delta"),
        where="Theorem 6.4, second item, epsilon < 1/10, r = sqrt(log(4/(5 delta)))",
    )
    .whole(
        "risk", rf"{_EXCESS}\le{_STATED}",
        given=rf"{_EXCESS}\le GD\cdot(\frac{{\sqrt{{d}}r}}{{n\varepsilon}}+\tau), "
              r"n\varepsilon\tau\le\sqrt{d}(\sqrt{\log(1/\delta)+\varepsilon}+\sqrt{\log(1/\delta)}-r)",
        added=(real("r", gt=0, latex="r", meaning="sqrt(log(3/(4 delta)) + epsilon) + sqrt(log(3/(4 delta)))"),),
        uses=("range-times-total-variation", "gll22.thm6.4/choice-of-mu", "gll22.thm6.4/rationalized"),
        where="Theorem 6.4, second item, first bound, for an accuracy tau that is small enough",
    )
    .step(
        "queries", rf"\frac{{G^2}}{{\mu}}\cdot{_K}\le\frac{{\varepsilon^{{2}}n^{{2}}}}{{2{_L}}}",
        uses=("gll22.thm5.6",),
        where="Theorem 6.4, third item: G^2/mu of Theorem 5.6 for the losses k f; less than the printed order for "
              "large epsilon",
    )
    .step(
        "argument-of-the-logarithm", r"(kG)^2(\frac{d}{k\mu}+D^2)\le\frac{3\varepsilon^2n^2d}{2w}",
        given=r"\frac{kG^2}{\mu}\le\frac{\varepsilon^2n^2}{2w}, (kGD)^2\le\frac{\varepsilon^2n^2d}{w}",
        added=(real("w", gt=0, meaning="log(3/(4 delta))"),), uses=("gll22.thm5.6", "gll22.thm6.4/queries"),
        where="Theorem 6.4, third item: what Theorem 5.6 has in its logarithm, over the accuracy, for the losses k f",
    )
    .step(
        "bound-below-the-range", r"ng\ge 1\text{ and }n\varepsilon\ge 3",
        given=r"\frac{GD\sqrt{d}}{ng}\le GD, \varepsilon\ge 2gv, v\ge\frac{3}{2}", added=_GAPS,
        where="Theorem 6.4: where the stated bound is above G D, any fixed point of the set is as good, private and "
              "costs no query; g = sqrt(log(1/delta) + epsilon) - sqrt(log(1/delta)) is epsilon over at least 2v",
    )
    .step(
        "theorem-5.6-applies", r"2n^2h^2\ge 1", given=r"h\ge g, ng\ge 1", added=_GAPS,
        uses=("gll22.thm6.4/bound-below-the-range", "gll22.thm6.4/rationalized"),
        where="Theorem 6.4, third item: G^2/mu of Theorem 5.6 is at least 1; h is g with log(3/(4 delta)), and larger, "
              "as it has smaller roots in its denominator",
    )
    .step(
        "coarser-accuracy", r"\frac{1}{8v}\le\sqrt{d}(v-r)", given=r"r^2=v^2-c, c\ge\frac{1}{4}, r\le v, v>0",
        added=(real("v", gt=0, meaning="sqrt(log(1/delta))"), real("r", gt=0, meaning="sqrt(log(3/(4 delta)))"),
               real("c", gt=0, meaning="ln(4/3)")),
        where="Theorem 6.4, proof: 1/(8 n epsilon v) is accurate enough for the risk",
    )
    .step(
        "argument-over-the-accuracy",
        r"\frac{3\varepsilon^2n^2d}{2w}\cdot q\le(\frac{n\varepsilon d}{\delta})^4",
        given=r"(q\le\frac{3}{\delta}(1+\frac{1}{\delta})\text{ or }q\le 8n\varepsilon\sqrt{\log(1/\delta)}), "
              r"\sqrt{\log(1/\delta)}\le\frac{1}{\delta}, n\varepsilon\ge 3, w\ge 2",
        added=(real("w", gt=0, meaning="log(3/(4 delta))"), real("q", gt=0, meaning="1 / accuracy")),
        uses=("gll22.thm6.4/argument-of-the-logarithm", "gll22.thm6.4/coarser-accuracy",
              "gll22.thm6.4/privacy-with-sampling", "gll22.thm6.4/bound-below-the-range"),
        where="Theorem 6.4, third item, epsilon <= log(1/delta): what the logarithm of Theorem 5.6 is taken of, so "
              "that it is at most 4 log(n d epsilon/delta)",
    )
    .step(
        "squared-logarithm", r"N\le 16Vaq^2", given=r"N\le Va\ell^2, \ell\le 4q",
        added=(real("N", ge=0), real("q", ge=0, meaning="log(n d epsilon / delta)"), real("a", ge=0),
               real("V", gt=0, meaning="48 times the constant of Theorem 5.6"),
               real("l_B", ge=0, latex=r"\ell", meaning="the logarithm of Theorem 5.6")),
        uses=("gll22.thm5.6", "gll22.thm6.4/argument-over-the-accuracy", "gll22.thm6.4/theorem-5.6-applies"),
        where="Theorem 6.4, third item, a = G^2/mu of Theorem 5.6",
    )
    .whole(
        "order-of-the-queries", r"N\le O(\frac{\varepsilon^{2}n^{2}}{\log(1/\delta)}q^2)",
        given=r"N\le\frac{\varepsilon^2n^2}{2w}q^2, w\ge\log(1/\delta)-\ln(\frac{4}{3}), \ln(\frac{4}{3})<\frac{3}{10}",
        meant=r"\varepsilon\le\log(1/\delta)",
        added=(real("N", ge=0, meaning="number of queries over 16 V"), real("w", gt=0),
               real("q", ge=0, meaning="log(n d epsilon / delta)")),
        uses=("gll22.thm6.4/queries", "gll22.thm6.4/squared-logarithm"),
        where="Theorem 6.4, third item, from above, for epsilon up to log(1/delta); beyond, the accuracy that privacy "
              "needs adds epsilon to the logarithm",
    )
    .step(
        "largest-number-of-queries", rf"2n^2\cdot({_ROOTS})^2\le 2n^2\varepsilon", uses=("gll22.thm6.4/queries",),
        where="Theorem 6.4, third item: G^2/mu of Theorem 5.6 for the losses k f is at most 2 epsilon n^2",
    )
    .whole(
        "order-from-below",
        rf"\frac{{2\varepsilon^2n^2}}{{(\sqrt{{{_L}+\varepsilon}}+\sqrt{{{_L}}})^2}}"
        rf"\ge\Omega(\frac{{\varepsilon^{{2}}n^{{2}}}}{{{_L}}})",
        meant=rf"\varepsilon\le {_L}", uses=("gll22.thm6.4/queries", "gll22.thm6.4/rationalized"),
        where="Theorem 6.4, third item, from below, for constants delta and epsilon, here epsilon up to "
              "log(3/(4 delta)); the same squared logarithm is left out on both sides",
    )
)  # fmt: skip

STATEMENTS = tuple(sheet.statement for sheet in (lem6_1, thm6_2, thm6_4))
