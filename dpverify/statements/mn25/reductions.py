"""mn25, Appendix D: population risk by empirical risk, and the other way round."""

from __future__ import annotations

from dpverify.formulas.expressions import real
from dpverify.formulas.units import LENGTH, NATS
from dpverify.statements.mn25.symbols import B, L, epsilon, n
from dpverify.statements.sheet import CONSTANT, Sheet

_a = real("alpha", gt=0, le=1, meaning="accuracy for B = L = 1", latex=r"\alpha")
_delta = real("delta", ge=0, le=1, latex=r"\delta")
_K = real("K", ge=1, meaning="runs of the solver")
_log_n = real("Lambda", ge=1, meaning="ln n", latex=r"\log(n)")
_log_of_runs = real("kappa", ge=0, meaning="ln K", latex=r"\log(K)")
_t = real("t", ge=0, meaning="error of an estimated loss")
_e = real("e_0", ge=0, meaning="error of the selection", latex="e_0")
_best, _its, _chosen, _value = (
    real(name, ge=0, meaning=meaning, latex=name)
    for name, meaning in (("u", "excess risk of the best candidate"), ("E_u", "its estimate"),
                          ("E_v", "estimate of the selected candidate"), ("v", "excess risk of the selected candidate"))
)  # fmt: skip
_distance = real("D_w", gt=0, unit=LENGTH, meaning="distance to the minimizer", latex=r"\|w^{\prime}-w^{*}\|")
_D = real("D", gt=0, unit=LENGTH, meaning="bound on the mean distance to the minimizer")
_r = real("r", ge=0, meaning="number of a ball")
_radius = real("rho", gt=0, unit=LENGTH, meaning="radius of a ball", latex=r"\rho")
_rough = real("alpha_1", gt=0, le=1, meaning="accuracy of the boosted solver", latex=r"\tilde{\alpha}")
_time = real("T", gt=0, meaning="expected running time of the solver")
_R = real("R", ge=0, meaning="number of balls but one")
_power = real("power", ge=1, meaning="2^r", latex="2^r")
_s = real("s", gt=0, unit=NATS, meaning="what a selection may spend")
_constant = real("C", gt=0)
_ESTIMATE = r"\sqrt{\frac{8\log(n)}{n}}"
_SELECTION = r"\frac{4\log(n)}{n\epsilon}"

thm8 = (
    Sheet(
        "mn25.thm8", (n, B, L, _a, epsilon, _delta, _K, _t, _e, _best, _its, _chosen, _value, _distance, _D, _r,
                      _radius, _rough, _time, _R),
        title="Population risk by an algorithm for empirical risk",
        where="Theorem 8",
        latex=(
            r"\mathcal{A}\ (\epsilon,\delta)\text{-DP, }\alpha\text{-accurate for ERM in time }T\implies"
            r"(\tilde{O}(\epsilon),\tilde{O}(\delta))\text{-DP, }\tilde{O}\left(\alpha+\frac{BL}{\sqrt{n}}"
            r"+\frac{BL}{n\epsilon}\right)\text{-accurate for SCO in time }"
            r"\tilde{O}\left(T+\frac{B^2L^2}{\alpha^2}\right)"
        ),
        pairs=("mn25.sco-to-erm", "mn25.fact1", "mn25.d2"), uses=("stochastic-by-empirical",),
    )
    .condition(
        "interval", r"\sqrt{\frac{\log(n)}{n}}\le 1", where="Theorem 9: D in [B sqrt(log(n)/n), B]",
    )
    .step("markov", r"\frac{\alpha}{2\alpha}=\frac{1}{2}", uses=("markov",),
          where="Theorem 8, proof: a run has an excess risk above 2 alpha with probability at most 1/2")
    .step("boosting", r"1-\frac{1}{2^{\log(n)}}=1-\frac{1}{n}",
          where="Theorem 8, proof, with K = log(n)")
    .corrected(
        "boosting", r"\log_{2}(n)\cdot\log(2)=\log(n)",
        because="with the natural logarithm 2^-K is n^-0.69; K = log_2(n) runs are needed",
        true_if="if log(n) has base 2", where="Theorem 8, proof: the logarithm of 2^K, for K = log_2(n)",
    )
    .step(
        "estimate", r"e^{-2\cdot\frac{1}{\alpha^2}\cdot(\sqrt{\frac{8\log(n)}{n}})^2}\le\frac{1}{n^{2}}",
        given=r"n\ge 2", uses=("hoeffding",), where="Theorem 8, proof: Chernoff-Hoeffding for 1/alpha^2 losses",
    )
    .corrected(
        "estimate", r"2\cdot\frac{1}{\alpha^2}\cdot(\alpha\sqrt{\log(n)})^2=2\log(n)", added=(_log_n,),
        uses=("hoeffding",),
        because="1/alpha^2 losses give 1/n^2 at alpha sqrt(log(n)), which is larger for alpha above sqrt(8/n)",
        consequence=CONSTANT, true_if="for alpha of at most sqrt(8/n)",
        where="Theorem 8, proof: the exponent of Chernoff-Hoeffding at alpha sqrt(log(n))",
    )
    .step(
        "sensitivity", r"\alpha^2\le\frac{1}{n}", where="Theorem 8, proof: the exponential mechanism's error has 1/n; "
        "replacing a record changes the mean of 1/alpha^2 losses by up to alpha^2",
        true_if="with the mean of all n losses",
    )
    .corrected(
        "sensitivity", r"\frac{4\alpha^2\log(n)}{s}=4\log(n)(\frac{1}{n\epsilon}+\alpha^2)",
        given=r"s=\frac{n\alpha^2\epsilon}{1+n\alpha^2\epsilon}", added=(_s, _log_n),
        uses=("exponential-mechanism", "subsampling", "fmtt18.thm26/induction-step"),
        because="a mean of 1/alpha^2 losses changes by alpha^2, not by 1/n; sampling gives back a part: the selection "
                "may spend ln(1 + n alpha^2 (exp(epsilon) - 1)) >= n alpha^2 epsilon/(1 + n alpha^2 epsilon)",
        where="Theorem 8, proof: the exponential mechanism on 1/alpha^2 of n records, at the smallest s",
    )
    .step(
        "selection", r"\frac{2}{n\epsilon}(\log(K)+\log(n))\le\frac{4\log(n)}{n\epsilon}", given=r"\log(K)\le\log(n)",
        added=(_log_of_runs, _log_n), uses=("exponential-mechanism",),
        where="Theorem 8, proof: the exponential mechanism, with probability 1 - 1/n",
    )
    .step(
        "accuracy-of-the-boosted-solver", rf"v\le\alpha+{_ESTIMATE}+{_SELECTION}",
        given=rf"u\le 2\alpha, E_u\le u+{_ESTIMATE}, E_v\le E_u+{_SELECTION}, v\le E_v+{_ESTIMATE}",
        where="Theorem 8, proof: alpha-tilde",
    )
    .corrected(
        "accuracy-of-the-boosted-solver", r"v\le 2\alpha+2t+e_0",
        given=r"u\le 2\alpha, E_u\le u+t, E_v\le E_u+e_0, v\le E_v+t",
        because="the best run has 2 alpha, and the error of an estimate enters twice", consequence=CONSTANT,
        where="Theorem 8, proof: alpha-tilde, for errors t of an estimate and e_0 of the selection",
        true_if="up to a factor 2",
    )
    .step(
        "failures", r"\frac{1}{n}+\frac{2K}{n^2}+\frac{1}{n}\le\frac{4}{n}", given=r"K\le n",
        where="Theorem 8, proof: 1 - O(1/n): boosting, 2 K estimates, the selection", uses=("union-bound",),
    )
    .step("privacy-of-the-boosted-solver", r"K\epsilon+\epsilon=(K+1)\epsilon", uses=("basic-composition",),
          where="Theorem 8, proof, for K = log(n)")
    .step(
        "ball-holds-the-minimizer", r"\|w^{\prime}-w^{*}\|\le 2^{-r}B",
        given=r"r\leq\frac{\log(1/\|w^{\prime}-w^{*}\|)}{\log(2B)}, r>0, \|w^{\prime}-w^{*}\|\le B",
        where="Theorem 8, proof: observe; for the balls of radius 2^-r B",
        true_if="for B of at least 1",
    )
    .corrected(
        "ball-holds-the-minimizer", r"\|w^{\prime}-w^{*}\|\le\frac{1}{2^r}B",
        given=r"2^r\le\frac{B}{\|w^{\prime}-w^{*}\|}", added=(_power,),
        because="the logarithms of lengths are compared as if B were 1; r <= log_2(B/D) is right",
        where="Theorem 8, proof, for r <= log_2(B/D)",
    )
    .step(
        "smallest-ball", r"2^{-\frac{1}{2}\log(n)}B\le B\sqrt{\frac{\log(n)}{n}}", given=r"n\ge 3",
        where="Theorem 8, proof: R = log(n)/2, so the smallest ball is one of D",
        true_if="if log(n) has base 2",
    )
    .corrected(
        "smallest-ball", r"\frac{1}{\sqrt{n}}B\le B\sqrt{\frac{\log(n)}{n}}", added=(_log_n,),
        because="with the natural logarithm the smallest ball has a radius of n^-0.35 B, more than the smallest D",
        where="Theorem 8, proof, for R = log_2(n)/2 and n >= 3",
    )
    .step(
        "accuracy-in-a-ball", r"\rho L\tilde{\alpha}\le 2\|w^{\prime}-w^{*}\|L\tilde{\alpha}",
        given=r"\rho\le 2\|w^{\prime}-w^{*}\|", uses=("mn25.fact1", "mn25.thm8/ball-holds-the-minimizer"),
        where="Theorem 8, proof: easy to see; the smallest ball that holds the minimizer",
    )
    .step(
        "relative-accuracy", r"BL\sqrt{\frac{\log(n)}{n}}\le L\tilde{\alpha}D",
        given=r"B\sqrt{\frac{\log(n)}{n}}\le D, D\le B, \sqrt{\frac{8\log(n)}{n}}\le\tilde{\alpha}, n\ge 2",
        where="Theorem 8, proof: the condition of Theorem 9 is satisfied with alpha-hat = O(L alpha-tilde)",
    )
    .corrected(
        "no-constant-is-enough", r"BL\cdot\frac{\tilde{\alpha}}{3}>C\cdot L\tilde{\alpha}D",
        given=r"D=\frac{B\tilde{\alpha}}{3}, \tilde{\alpha}<\frac{1}{C}", added=(_constant,), coverage="step",
        where="Theorem 8, proof: at the smallest D, where alpha-tilde = 3 sqrt(log(n)/n), more than C alpha-hat D for "
              "every C once n is large",
    )
    .corrected(
        "relative-accuracy", r"\rho L\tilde{\alpha}+2\rho L\cdot\tilde{\alpha}\le 6L\tilde{\alpha}D",
        given=r"\rho\le 2D",
        because="the balls are compared with one error for all, which does not shrink with D; scores relative to the "
                "radii have the error alpha-tilde times the radius",
        true_if="for D of the order of B",
        where="Theorem 8, proof, with scores relative to the radii of the balls",
    )
    .corrected(
        "accuracy",
        r"\log(n)BL\cdot 6(2\alpha+2\alpha\sqrt{\log(n)}+4\log(n)(\frac{1}{n\epsilon}+\alpha^2))"
        r"+\frac{\log(n)\sqrt{\log(n)}BL}{\sqrt{n}}"
        r"\le 48(\log(n))^{2}(BL\alpha+\frac{BL}{\sqrt{n}}+\frac{BL}{n\epsilon})",
        added=(_log_n,), coverage="whole",
        uses=("stochastic-by-empirical", "mn25.thm8/accuracy-of-the-boosted-solver", "mn25.thm8/estimate",
              "mn25.thm8/sensitivity", "mn25.thm8/relative-accuracy", "mn25.thm8/accuracy-in-a-ball",
              "mn25.thm8/smallest-ball"),
        where="Theorem 8, accuracy, with alpha-hat = 6 L alpha-tilde and the constants",
    )
    .whole(
        "privacy", r"\log(n)((R+1)(\log(n)+1)\epsilon+\epsilon)\le 4(\log(n))^3\epsilon",
        given=r"R=\frac{1}{2}\log(n)", added=(_log_n,),
        uses=("basic-composition", "mn25.thm8/privacy-of-the-boosted-solver"),
        where="Theorem 8, privacy: log(n) calls, each on R + 1 balls, and a selection among the balls",
    )
    .whole(
        "delta", r"\log(n)(R+1)\log(n)\delta\le\frac{3}{2}(\log(n))^3\delta", given=r"R=\frac{1}{2}\log(n)",
        added=(_log_n,), uses=("basic-composition",), where="Theorem 8, privacy: deltas",
    )
    .whole(
        "running-time",
        r"\log(n)(R+1)(\log(n)T+\frac{\log(n)}{\alpha^2})\le\frac{3}{2}(\log(n))^3(T+\frac{1}{\alpha^2})",
        given=r"R=\frac{1}{2}\log(n)", added=(_log_n,),
        uses=("stochastic-by-empirical",), where="Theorem 8, running time for B = L = 1",
    )
    .correction(
        latex=r"\text{as printed, with scores relative to the balls' radii, and logarithms to base }2",
    )
)  # fmt: skip


_small = real("epsilon", ge=0, le="1/6", unit=NATS, latex=r"\epsilon")
_u = real("u", ge=0, le="1/5", meaning="exp(epsilon) - 1")
_v = real("v", gt=0, lt=1, meaning="1 - exp(-epsilon)")
_z = real("z", ge=0, le=1, meaning="the n-th power of 1 - v/n")

d2 = (
    Sheet(
        "mn25.d2", (n, _small, _delta, _u, _v, _z),
        title="Privacy of a solver on resampled records",
        where="Appendix D.2",
        latex=r"\epsilon\le 1/6\implies\text{a solver on }n\text{ resampled records is }(6\epsilon,e\delta)\text{-DP}",
        pairs=("mn25.erm-to-sco", "mn25.lem6", "mn25.thm8"),
    )
    .condition("condition-of-lemma-6", r"\epsilon\leq\frac{n}{2n}", where="Appendix D.2: Lemma 6 with m = n",
               uses=("mn25.lem6",))
    .step(
        "delta-by-lemma-6", r"4e^{6\epsilon\frac{n}{n}}\frac{n}{n}\delta\le e\delta", uses=("mn25.lem6",),
        where="Appendix D.2: by Lemma 6 the result is (6 epsilon, e delta)-DP",
        true_if="with the bound on delta' before the last ones in the proof of Lemma 6, as below",
    )
    .step(
        "factor-below", r"\frac{1-z}{v}\le 1", given=r"z\ge 1-v",
        uses=("bernoulli",), where="Appendix D.2, with the proof of Lemma 6: the first factor of delta, "
        "v = 1 - exp(-epsilon), z the n-th power of 1 - v/n",
    )
    .step(
        "factor-above", r"e^{u}-1\le ue^{u}", box={"u": (0, "1/5")}, uses=("exponential-above-its-tangent",),
        where="Appendix D.2, with the proof of Lemma 6: the second factor of delta, (1 + u/n)^n being at most exp(u)",
    )
    .step("largest-u", r"e^{\epsilon}-1\le\frac{1}{5}", where="Appendix D.2, u = exp(epsilon) - 1")
    .whole(
        "epsilon", r"e^{\epsilon}-1+\epsilon\le 6\epsilon", box={"epsilon": (0, "1/6")},
        uses=("bernoulli", "exponential-above-its-tangent"),
        where="Appendix D.2, epsilon: n log((1 + u/n)/(1 - (1 - exp(-epsilon))/n)) is at most u + epsilon",
    )
    .whole(
        "delta", r"(e^{e^{\epsilon}-1+\epsilon}+e^{e^{\epsilon}-1})\delta\le e\delta",
        uses=("mn25.d2/factor-below", "mn25.d2/factor-above", "mn25.d2/largest-u", "bernoulli",
              "exponential-above-its-tangent"),
        where="Appendix D.2, delta, by the bound on delta' in the proof of Lemma 6",
    )
)  # fmt: skip

STATEMENTS = (thm8.statement, d2.statement)
