"""mn25, Appendix C.1: lower bounds for smooth losses, by mean estimation."""

from __future__ import annotations

from dpverify.formulas.expressions import real
from dpverify.formulas.units import LENGTH, LOSS, NATS
from dpverify.formulas.vectors import vector
from dpverify.statements.mn25.symbols import B, L, alpha, d, n
from dpverify.statements.sheet import CONSTANT, EDGE, Sheet

_GRADIENT = LOSS / LENGTH
_level = real("l", gt=0, unit=NATS, meaning="ln(1/delta)", latex=r"\log(1/\delta)", stands_for="number")
_delta = real("delta", gt=0, lt=1, latex=r"\delta")
_N = real("N", gt=0, meaning="number of records that are not 0")
_calls = real("s", gt=0, meaning="expected number of oracle calls")
_lambda = real("lambda", gt=0, unit=LOSS / LENGTH**2, latex=r"\lambda")
_w, _best, _v = (
    vector(name, unit=LENGTH, latex=latex) for name, latex in (("w", "w"), ("w_best", "w^{*}"), ("v", "v"))
)
_G, _X = (real(name, ge=0, unit=_GRADIENT, meaning=f"length of a {what}") for name, what in (
    ("G", "loss's gradient"), ("Y", "record")))  # fmt: skip
_W = real("W", ge=0, unit=LENGTH, meaning="length of a point")
_width = real("D", gt=0, unit=LENGTH, meaning="diameter of a set")
_a, _b = vector("a"), vector("b")
_total = real("X", ge=0, unit=_GRADIENT, latex=r"\left\|\sum_{i=1}^{n}x_{i}\right\|")
_free = real("w_free", ge=0, unit=LENGTH, latex=r"\left\|\tilde{w}^{*}\right\|")
_excess = real(
    "E",
    ge=0,
    unit=LOSS,
    latex=r"\underset{\Theta,S,\mathcal{A}}{\mathbb{E}}\left[\mathcal{L}(w)-\mathcal{L}(w^{*})\right]",
)
_distance = real(
    "W2", ge=0, unit=LENGTH**2, latex=r"\underset{}{\mathbb{E}}\left[\left\|w-w^{*}\right\|^{2}\right]"
)
_error2 = real("Theta2", ge=0, latex=r"\underset{}{\mathbb{E}}\left[\|\bar{\Theta}-\Theta_{S}\|^{2}\right]")
_error = real("Theta", ge=0, latex=r"\underset{}{\mathbb{E}}\left[\|\bar{\Theta}-\Theta_{S}\|\right]")
_squared = real(
    "Theta_squared", ge=0, meaning="square of the mean error",
    latex=r"\underset{}{\mathbb{E}}\left[\|\bar{\Theta}-\Theta_{S}\|\right]^{2}",
)  # fmt: skip
_ESTIMATED = rf"{_error2.latex}=\frac{{4n^2\lambda^2}}{{L^2N^2}}{_distance.latex}"
_DIFFERENCE = r"\mathcal{L}(w)-\mathcal{L}(w^{*})"
_LESS = r"\lambda\left({\left\|w\right\|^{2}-\left\|w^{*}\right\|^{2}}\right)"
_SIZES = r"N=n\alpha/(BL), \lambda=\frac{NL}{144nB}"
_BOUND = r"\frac{BL\sqrt{d}}{18\alpha\sqrt{\log(1/\delta)}}"
_RATE = r"\frac{BL\sqrt{d}}{36\alpha\sqrt{\log(1/\delta)}}"

thm6 = (
    Sheet(
        "mn25.thm6", (n, d, B, L, alpha, _level, _delta, _N, _calls, _lambda, _w, _best, _v, _a, _b, _total,
                      _free, _excess, _distance, _error2, _error, _squared),
        title="Oracle calls of a private optimizer of smooth losses",
        where="Theorem 6",
        latex=(
            r"\mathcal{A}\ (\epsilon,\delta)\text{-DP and }\alpha\text{-accurate for }"
            r"(\mathcal{F}_{L,\alpha/B^2}^n,\mathcal{K}_B)\implies s=\Omega\left(\frac{BL\sqrt{d}}{\alpha}\right)"
        ),
        pairs=("mn25.thm3", "mn25.lem14", "mn25.lem13"),
    )
    .define(r"\frac{1}{n}\sum_{i=1}^{n}x_{i}", r"-2\lambda w^{*}")
    .define(r"\mathcal{L}(w)", r"\langle w,\frac{1}{n}\sum_{i=1}^{n}x_{i}\rangle+\lambda\|w\|^{2}")
    .define(r"\mathcal{L}(w^{*})", r"\langle w^{*},\frac{1}{n}\sum_{i=1}^{n}x_{i}\rangle+\lambda\|w^{*}\|^{2}")
    .condition(
        "delta-of-lemma-14", r"\frac{1}{16nd}\le\frac{1}{12Nd}", given=r"N\le n", uses=("mn25.lem14",),
        where="Theorem 6: Lemma 14 for N records requires delta <= 1/(12 N d)",
    )
    .condition(
        "records-enough", r"n\alpha/(BL)\ge 1", true_if="for alpha of at least B L/n",
        where="Theorem 6, proof: N = n alpha/(B L) records",
    )
    .corrected(
        "records-enough", r"2n\alpha/(BL)\ge 2", given=r"\alpha\ge\frac{BL}{n}",
        because="for alpha below B L/n there would be less than one record",
        where="Theorem 6, proof, for alpha >= B L/n, with twice as many records",
    )
    .step(
        "length-of-the-sum", rf"{_total.latex}\leq NL",
        given=rf"{_total.latex}\le N\cdot\frac{{L}}{{\sqrt{{d}}}}\sqrt{{d}}",
        uses=("triangle-inequality",), where="Theorem 6, proof: N vectors with d entries of size L/sqrt(d)",
    )
    .step(
        "minimizer-in-the-ball", rf"{_free.latex}\leq 72B",
        given=rf"{_free.latex}=\frac{{{_total.latex}}}{{2n\lambda}}, {_total.latex}\le NL, "
              r"\lambda\geq\frac{NL}{144nB}",
        where="Theorem 6, proof: the ball B(72 B)",
    )
    .step(
        "minimizer-in-the-small-ball", rf"{_free.latex}\le 24B",
        given=rf"{_free.latex}=\frac{{{_total.latex}}}{{2n\lambda}}, {_total.latex}\le NL, "
              r"\lambda\geq\frac{NL}{144nB}",
        where="Theorem 6, proof: w* is the minimizer on B(24 B)",
        true_if="with B(72 B), the constraint set",
    )
    .step(
        "minimizer", r"\mathcal{L}(w)\ge\langle v,\frac{1}{n}\sum_{i=1}^{n}x_{i}\rangle+\lambda\|v\|^2",
        given=r"v=\frac{1}{2\lambda}\frac{1}{n}\sum_{i=1}^{n}x_{i}",
        where="Theorem 6, proof: the unconstrained minimizer; v stands for it",
    )
    .corrected(
        "minimizer", r"\mathcal{L}(w)\ge\langle v,\frac{1}{n}\sum_{i=1}^{n}x_{i}\rangle+\lambda\|v\|^2",
        given=r"v=-\frac{1}{2\lambda}\frac{1}{n}\sum_{i=1}^{n}x_{i}",
        because="the minimizer is minus what is printed; the display below uses the right sign", consequence=EDGE,
        true_if="for the loss with a minus, or with -w for w", where="Theorem 6, proof: the unconstrained minimizer",
    )
    .step(
        "choice-of-lambda", r"\lambda=\frac{\alpha}{144B^{2}}", given=_SIZES,
        where="Theorem 6, proof: the setting of N",
    )
    .step(
        "lambda-is-small", r"\frac{\alpha}{144B^{2}}\leq\frac{L}{B}", given=r"\alpha\le BL",
        where="Theorem 6, proof, where alpha is at most B L",
    )
    .step(
        "lipschitz", r"G\le 2L",
        given=r"G\le Y+2\lambda W, Y\le L, W\le 72B, \lambda=\frac{\alpha}{144B^2}, \alpha\le BL",
        added=(_G, _X, _W), uses=("triangle-inequality",),
        where="Theorem 6, proof: 2 L-Lipschitz over B(72 B)",
    )
    .step(
        "excess-by-the-mean",
        r"\mathcal{L}(w)-\mathcal{L}(w^{*})=\Big\langle{w-w^{*}},{\frac{1}{n}\sum_{i=1}^{n}x_{i}}\Big\rangle"
        rf"+{_LESS}", where="Theorem 6, proof, 2nd display, line 1",
    )
    .step(
        "optimality", r"\Big\langle{w-w^{*}},{\frac{1}{n}\sum_{i=1}^{n}x_{i}}\Big\rangle"
        rf"+{_LESS}=2\lambda\left\langle w-w^{{*}},-w^{{*}}\right\rangle+{_LESS}",
        where="Theorem 6, proof, 2nd display, line 2",
    )
    .step(
        "product", rf"2\lambda\left\langle w-w^{{*}},-w^{{*}}\right\rangle+{_LESS}"
        rf"=2\lambda(\|w^{{*}}\|^{{2}}-\left\langle w,w^{{*}}\right\rangle)+{_LESS}",
        where="Theorem 6, proof, 2nd display, line 3",
    )
    .step(
        "polarization", rf"2\lambda(\|w^{{*}}\|^{{2}}-\left\langle w,w^{{*}}\right\rangle)+{_LESS}"
        r"=2\lambda\left({\|w^{*}\|^{2}-\frac{1}{2}\|w^{*}\|^{2}-\frac{1}{2}\left\|w\right\|^{2}"
        rf"+\frac{{1}}{{2}}\left\|w-w^{{*}}\right\|^{{2}}}}\right)+{_LESS}",
        where="Theorem 6, proof, 2nd display, line 4",
    )
    .step(
        "excess",
        rf"2\lambda\left({{\|w^{{*}}\|^{{2}}-\frac{{1}}{{2}}\|w^{{*}}\|^{{2}}-\frac{{1}}{{2}}\left\|w\right\|^{{2}}"
        rf"+\frac{{1}}{{2}}\left\|w-w^{{*}}\right\|^{{2}}}}\right)+{_LESS}=\lambda\left\|w-w^{{*}}\right\|^{{2}}",
        where="Theorem 6, proof, 2nd display, line 5",
    )
    .step(
        "polarization-identity",
        r"\left\langle a,b\right\rangle=\frac{1}{2}(\left\|a\right\|^{2}+\left\|b\right\|^{2}-\left\|a-b\right\|^{2})",
        where="Theorem 6, proof, after the 2nd display",
    )
    .step(
        "excess-and-error", rf"\lambda{_distance.latex}=\frac{{L^{{2}}N^{{2}}}}{{n^{{2}}\lambda}}{_error2.latex}",
        given=_ESTIMATED, where="Theorem 6, proof, 3rd display, line 2",
    )
    .corrected(
        "excess-and-error", rf"\lambda{_distance.latex}=\frac{{L^{{2}}N^{{2}}}}{{4n^{{2}}\lambda}}{_error2.latex}",
        given=_ESTIMATED, because="a factor 4 is left out, which the next line has",
        true_if="with the 4 of the next line", where="Theorem 6, proof, 3rd display, line 2",
    )
    .step(
        "excess-from-below",
        rf"\lambda{_distance.latex}\geq\frac{{L^{{2}}N^{{2}}}}{{4n^{{2}}\lambda}}{_squared.latex}",
        given=rf"{_ESTIMATED}, {_error2.latex}\ge {_squared.latex}", uses=("jensen",),
        where="Theorem 6, proof, 3rd display, line 3",
    )
    .step("nonzero-records-seen", r"\frac{Ns}{n}=\frac{s\alpha}{BL}", given=r"N=n\alpha/(BL)", where="Theorem 6, proof")
    .step(
        "few-records-seen", r"\frac{s\alpha}{BL}<\frac{\sqrt{d}}{18\sqrt{\log(1/\delta)}}", given=rf"s<{_BOUND}",
        where="Theorem 6, proof: by contradiction", uses=("mn25.lem14",),
    )
    .step(
        "error-of-the-mean", rf"{_squared.latex}\geq\frac{{1}}{{36}}",
        given=rf"{_squared.latex}=({_error.latex})^2, {_error.latex}\ge\frac{{1}}{{6}}",
        uses=("mn25.lem14",), where="Theorem 6, proof: by Lemma 14",
    )
    .step(
        "contradiction", r"\alpha\geq\frac{L^{2}N^{2}}{72n^{2}\lambda}",
        given=rf"\alpha\ge\frac{{L^2N^2}}{{4n^2\lambda}}{_squared.latex}, {_squared.latex}"
              rf"\ge\frac{{1}}{{36}}, {_SIZES}",
        where="Theorem 6, proof, 4th display",
    )
    .step(
        "constants", r"\frac{L^{2}N^{2}}{72n^{2}\lambda}=\frac{2BLN}{n}=2\alpha", given=_SIZES,
        where="Theorem 6, proof, 4th display",
    )
    .corrected(
        "contradiction", r"\frac{L^2N^2}{4n^2\lambda}\cdot\frac{1}{36}=2\alpha",
        given=r"N=2n\alpha/(BL), \lambda=\frac{NL}{144nB}",
        because="4 times 36 is 144, not 72, so alpha >= alpha remains, which contradicts nothing; with N = 2 n "
                "alpha/(B L) records it is alpha >= 2 alpha",
        consequence=CONSTANT, where="Theorem 6, proof, 4th display, for N = 2 n alpha/(B L)",
        true_if="for an excess risk below alpha",
    )
    .condition(
        "smoothness-of-the-class", r"2\lambda\le\frac{\alpha}{(144B)^2}", given=r"\lambda=\frac{\alpha}{144B^{2}}",
        where="Theorem 6: on B(72 B), of diameter 144 B, the class has the smoothness alpha/(144 B)^2",
    )
    .corrected(
        "smoothness-of-the-class", r"2\lambda=\frac{576\alpha}{(144B)^2}",
        given=r"N=2n\alpha/(BL), \lambda=\frac{NL}{144nB}",
        because="the losses of the proof have up to 576 times the smoothness of the class; with B as the diameter "
                "alpha/B^2 has to become 576 alpha/B^2",
        where="Theorem 6, for the smoothness 576 alpha/B^2",
        true_if="if B is the radius of a ball over 72, as in the proof",
    )
    .corrected(
        "all-points-are-accurate", r"\lambda W^2\le\frac{\alpha}{2}", given=r"2\lambda\le\frac{\alpha}{D^2}, W\le D",
        added=(_W, _width), coverage="step",
        where="Theorem 6: with the printed smoothness and a minimizer in the set, the proof's losses have no point "
              "with an excess risk above alpha/2",
    )
    .step(
        "rate", r"\frac{1}{18\sqrt{\log(1/\delta)}}=\Omega(1)", consequence=CONSTANT,
        where="Theorem 6: what the proof shows, and what is claimed, over B L sqrt(d)/alpha",
        true_if="as Theorem 3 has it, over a root of "
        "log(1/delta)",
    )
    .corrected(
        "rate", rf"s\ge {_RATE}", coverage="whole",
        given=rf"(s<{_RATE}\implies {_squared.latex}\ge\frac{{1}}{{36}}), {_excess.latex}\le\alpha, "
              rf"{_excess.latex}\ge\frac{{L^2N^2}}{{4n^2\lambda}}{_squared.latex}, "
              r"N=2n\alpha/(BL), \lambda=\frac{NL}{144nB}",
        because="the proof shows a bound that falls with log(1/delta), which delta <= 1/(16 n d) does not bound",
        uses=("mn25.lem14", "mn25.thm6/contradiction", "mn25.thm6/excess-from-below", "mn25.thm6/excess",
              "mn25.thm6/error-of-the-mean", "mn25.thm6/minimizer", "mn25.thm6/lipschitz"),
        where="Theorem 6, Omega with its constant and with the root of log(1/delta) of Theorem 3, for the smoothness "
              "576 alpha/B^2: by contradiction, a smaller s leaves the mean error that Lemma 14 gives",
    )
    .correction(
        latex=(
            r"\mathcal{A}\ (\epsilon,\delta)\text{-DP and }\alpha\text{-accurate for }"
            r"(\mathcal{F}_{L,576\alpha/B^2}^n,\mathcal{K}_B)\implies "
            r"s=\Omega\left(\frac{BL\sqrt{d}}{\alpha\sqrt{\log(1/\delta)}}\right)"
        ),
    )
)  # fmt: skip


_C = real("C", gt=0, lt=1, meaning="constant of mean estimation with s samples")
_range = real("s_0", gt=0, meaning="what sets the range of Theta", latex="s_0")
_stopped, _late, _few, _least = (
    real(name, ge=0, unit=_GRADIENT, meaning=meaning)
    for name, meaning in (("a", "mean error if T <= 2 s"), ("c", "mean error if T <= 10 s"), ("e", "mean error"),
                          ("m", "least mean error with 2 s samples"))
)  # fmt: skip
_likely = real("q", ge=0, le=1, meaning="probability of T <= 2 s")
_gap = real(
    "E_gap", ge=0, unit=_GRADIENT, latex=r"\underset{}{\mathbb{E}}\left[\|\bar{\Theta}-\Theta_{S}\|\right]"
)
_gap_squared = real(
    "E_gap_squared", ge=0, unit=_GRADIENT**2,
    latex=r"\underset{}{\mathbb{E}}\left[\|\bar{\Theta}-\Theta_{S}\|\right]^{2}",
)  # fmt: skip
_sampling = real(
    "E_sampling", ge=0, unit=_GRADIENT, latex=r"\underset{}{\mathbb{E}}\left[\|\Theta_{S}-\Theta\|\right]"
)
_spread = real("V", ge=0, unit=_GRADIENT**2, meaning="mean squared error of the records' mean")
_MEAN_ERROR = r"\underset{}{\mathbb{E}}\left[\|\mathcal{M}(S)-\Theta\|\right]"
_estimate = real("E_M", ge=0, unit=_GRADIENT, latex=_MEAN_ERROR)
_INSIDE = rf"{_gap.latex}\ge\frac{{CL}}{{\sqrt{{s}}}}-{_sampling.latex}"

lem13 = (
    Sheet(
        "mn25.lem13", (n, d, B, L, alpha, _N, _calls, _lambda, _w, _best, _C, _range, _stopped, _late, _few, _least,
                       _likely, _gap, _gap_squared, _sampling, _spread, _estimate),
        title="Oracle calls of any optimizer of smooth losses",
        where="Lemma 13",
        latex=r"s=\Omega\left(\min\left\{\frac{B^2L^2}{\alpha^2},n\right\}\right)",
        pairs=("mn25.thm3", "mn25.thm6"), uses=("mean-estimation",),
    )
    .step("markov", r"1-\frac{s}{2s}=\frac{1}{2}", uses=("markov",),
          where="Lemma 13, proof, 1st display: the 2nd inequality")
    .step(
        "few-samples-are-likely", r"e\ge cq", given=r"e\ge cr, r\ge q", added=(real("r", ge=0, le=1),),
        where="Lemma 13, proof, 1st display, line 2: c with T <= 10 s, and q the probability of T <= 2 s, r of T <= "
              "10 s",
    )
    .step(
        "one-bound-on-the-time", r"cq\ge\frac{1}{2}a", given=r"q\ge\frac{1}{2}",
        where="Lemma 13, proof, 1st display, line 3: from T <= 10 s to T <= 2 s", true_if="with T <= 2 s in both lines",
    )
    .corrected(
        "one-bound-on-the-time", r"aq\ge\frac{1}{2}a", given=r"q\ge\frac{1}{2}",
        because="the mean error under T <= 10 s says nothing about that under T <= 2 s",
        where="Lemma 13, proof, 1st display, line 3, with T <= 2 s in both lines",
    )
    .step(
        "estimation", rf"{_MEAN_ERROR}\ge\frac{{C}}{{2}}\cdot\frac{{L}}{{\sqrt{{s}}}}",
        given=rf"{_MEAN_ERROR}\ge\frac{{1}}{{2}}m, m\ge C\frac{{L}}{{\sqrt{{s}}}}", uses=("mean-estimation",),
        where="Lemma 13, proof, (18), with a constant C of mean estimation",
    )
    .step(
        "excess-and-error", r"\frac{L^2N^2}{4n^2\lambda}=\frac{B^{2}}{4\alpha}", given=r"N=n, \lambda=\alpha/B^{2}",
        where="Lemma 13, proof, 3rd display: Theorem 6's display for N = n and lambda = alpha/B^2",
        true_if="for L = 1",
    )
    .corrected(
        "excess-and-error", r"\lambda W^2=\frac{B^{2}}{4\alpha}(2\lambda W)^2", added=(_W,),
        given=r"\lambda=\alpha/B^{2}", because="Theta_S is not divided by L here, and so must not be "
        "the estimate 2 lambda w", where="Lemma 13, proof, 3rd display, for the estimate 2 lambda w; W is the "
        "length of w - w*",
    )
    .step(
        "square-root",
        rf"\alpha\geq\frac{{B^{{2}}}}{{4\alpha}}{_gap_squared.latex}\implies\alpha\geq B{_gap.latex}",
        given=rf"{_gap_squared.latex}=({_gap.latex})^2",
        where="Lemma 13, proof, 3rd display",
    )
    .corrected(
        "square-root", rf"2\alpha\ge B{_gap.latex}",
        given=rf"\alpha\ge\frac{{B^2}}{{4\alpha}}{_gap_squared.latex}, {_gap_squared.latex}=({_gap.latex})^2",
        because="the root of 4 is left out", consequence=CONSTANT, true_if="with 2 alpha in place of alpha",
        where="Lemma 13, proof, 3rd display",
    )
    .step(
        "sampling-error", rf"{_sampling.latex}\leq\frac{{L}}{{\sqrt{{n}}}}",
        given=rf"({_sampling.latex})^2\le V, V\le d\cdot\frac{{L^2}}{{dn}}", uses=("jensen",),
        where="Lemma 13, proof: clearly, d coordinates of variance at most L^2/(d n)",
    )
    .condition(
        "minimizer-in-the-set", r"\frac{1}{2\lambda}\cdot\frac{2L}{\sqrt{s}}\le B",
        given=r"\lambda=\alpha/B^{2}",
        where="Lemma 13, proof: w* = -Theta_S/(2 lambda) has to lie in the set, where Theta may be as long as 2 "
              "L/sqrt(s)",
        true_if="for s of at least B^2 L^2/alpha^2, which is what has to be shown",
    )
    .corrected(
        "minimizer-in-the-set", r"\frac{1}{2\lambda}\cdot\frac{2L}{\sqrt{s_0}}=B",
        given=r"\lambda=\alpha/B^{2}, s_0=\frac{B^2L^2}{\alpha^2}",
        because="for few calls s the range 2/sqrt(s) of Theta is so large that the minimizer lies outside of the set; "
              "a range set by B^2 L^2/alpha^2 in place of s keeps it inside",
        where="Lemma 13, proof, with s_0 = B^2 L^2/alpha^2 in place of s in the law of Theta",
    )
    .condition(
        "smoothness-of-the-class", r"2\lambda\le\frac{\alpha}{B^2}", given=r"\lambda=\alpha/B^{2}",
        where="Lemma 13: the losses of the proof have the smoothness 2 lambda",
        true_if="with the smoothness 2 alpha/B^2 in the statement",
    )
    .corrected(
        "smoothness-of-the-class", r"2\lambda=\frac{2\alpha}{B^2}", given=r"\lambda=\alpha/B^{2}",
        because="the losses of the proof are 2 alpha/B^2-smooth", where="Lemma 13, for the smoothness 2 alpha/B^2",
    )
    .step(
        "difference", rf"B{_gap.latex}\geq B\left({{\frac{{CL}}{{\sqrt{{s}}}}-\frac{{L}}{{\sqrt{{n}}}}}}\right)",
        given=rf"{_INSIDE}, {_sampling.latex}\leq\frac{{L}}{{\sqrt{{n}}}}", uses=("triangle-inequality",),
        where="Lemma 13, proof, 4th display",
    )
    .step(
        "calls", r"s\ge\frac{C^2}{4}\cdot\frac{B^2L^2}{\alpha^2}\text{ or }s\ge\frac{C^2}{4}n",
        given=r"\alpha\ge B(\frac{CL}{\sqrt{s}}-\frac{L}{\sqrt{n}})",
        where="Lemma 13, proof, 4th display, with its constant",
    )
    .corrected(
        "calls", r"s\ge\frac{C^2}{16}\cdot\frac{B^2L^2}{\alpha^2}\text{ or }s\ge\frac{C^2}{4}n",
        given=r"2\alpha\ge B(\frac{CL}{\sqrt{s}}-\frac{L}{\sqrt{n}})", coverage="whole",
        uses=("mean-estimation", "mn25.lem13/markov", "mn25.lem13/one-bound-on-the-time", "mn25.lem13/estimation",
              "mn25.lem13/excess-and-error", "mn25.lem13/square-root", "mn25.lem13/sampling-error",
              "mn25.lem13/minimizer-in-the-set", "mn25.lem13/difference", "mn25.thm6/excess"),
        where="Lemma 13, with 2 alpha, for the smoothness 2 alpha/B^2",
    )
    .correction(latex=r"s"
    r"=\Omega\left(\min\left\{\frac{B^2L^2}{\alpha^2},n\right\}\right)\text{ for }\mathcal{F}^n_{L,2\alpha/B^2}")
)  # fmt: skip

STATEMENTS = (thm6.statement, lem13.statement)
