"""mn25, Theorems 3 and 4: private optimization of smooth losses, lower and upper bounds."""

from __future__ import annotations

from dpverify.formulas.expressions import real
from dpverify.formulas.units import LOSS, NATS
from dpverify.statements.mn25.symbols import B, L, alpha, d, epsilon, n
from dpverify.statements.sheet import CONSTANT, Sheet

_calls = real(
    "Time", ge=0, latex=r"\overline{\mathsf{Time}}(\mathcal{A},\mathcal{O},\alpha,B,L,\alpha/B^{2})"
)
_private, _sampling = (
    real("private", gt=0, latex=r"\frac{BL\sqrt{d}}{\alpha\sqrt{\log(1/\delta)}}"),
    real("sampling", gt=0, latex=r"\min\big\{{\frac{B^{2}L^{2}}{\alpha^{2}},n}\big\}"),
)
_c1, _c2 = (real(f"c{i}", gt=0, latex=f"c_{{{i}}}") for i in (1, 2))
_f_any, _f_best, _distance = (
    real("F_w", unit=LOSS, latex=r"\mathcal{L}(w_{0})"), real("F_best", unit=LOSS, latex=r"\mathcal{L}(w^{*})"),
    real("D", ge=0, unit=B.unit, latex=r"\|w_{0}-w^{*}\|"),
)  # fmt: skip
_delta = real("delta", gt=0, lt=1, latex=r"\delta")

thm3 = (
    Sheet(
        "mn25.thm3",
        (alpha, B, L, d, n, epsilon, _delta, _calls, _private, _sampling, _c1, _c2),
        title="Oracle calls for smooth losses",
        where="Theorem 3",
        latex=(
            r"\overline{\mathsf{Time}}(\mathcal{A},\mathcal{O},\alpha,B,L,\alpha/B^{2})=\Omega\big("
            r"\frac{BL\sqrt{d}}{\alpha\sqrt{\log(1/\delta)}}+\min\big\{\frac{B^{2}L^{2}}{\alpha^{2}},n\big\}\big)"
        ),
        pairs=("mn25.thm6", "mn25.lem13", "mn25.thm4", "mn25.fingerprint"),
    )
    .instance(
        "accuracy-for-nothing", r"0\ge c_{1}\cdot\min\{\frac{B^{2}L^{2}}{\alpha^{2}},n\}",
        given=r"\mathcal{L}(w_{0})-\mathcal{L}(w^{*})\le L\cdot\|w_{0}-w^{*}\|, \|w_{0}-w^{*}\|\le B, \alpha\ge BL",
        added=(_f_any, _f_best, _distance), true_if="for accuracies below a constant fraction of B L",
        where="Theorem 3 for alpha of at least B L; Theorem 6 and Lemma 13 are alike",
        case="the algorithm that releases the center of the ball and makes no call: it is private, and B L accurate",
    )
    .step(
        "nothing-is-accurate-enough", r"\mathcal{L}(w_{0})-\mathcal{L}(w^{*})\le\alpha",
        given=r"\mathcal{L}(w_{0})-\mathcal{L}(w^{*})\le L\cdot\|w_{0}-w^{*}\|, \|w_{0}-w^{*}\|\le B, \alpha\ge BL",
        added=(_f_any, _f_best, _distance), where="Theorem 3 for alpha of at least B L: the center is accurate",
    )
    .whole(
        "bound",
        rf"{_calls.latex}\ge\frac{{c}}{{2}}({_private.latex}+{_sampling.latex})",
        given=rf"{_calls.latex}\ge c_{{1}}\cdot {_private.latex}, {_calls.latex}\ge c_{{2}}\cdot {_sampling.latex}, "
              r"c\le c_{1}, c\le c_{2}", added=(real("c", gt=0),),
        uses=("mn25.thm6", "mn25.lem13"),
        where="Appendix C.1: Theorem 3 follows from two lower bounds; a sum is at most twice the larger part",
    )
)  # fmt: skip

_beta = real("beta", gt=0, unit=LOSS / B.unit**2, latex=r"\beta")
_root, _root_n = (
    real("root", gt=0, latex=r"\sqrt{d\log(1/\delta)}"),
    real("root_n", gt=0, latex=r"\sqrt{d\log(n/\delta)}"),
)
_level, _level_n = (
    real("level", gt=0, unit=NATS, latex=r"\log(1/\delta)", stands_for="number"),
    real("level_n", gt=0, unit=NATS, latex=r"\log(n/\delta)"),
)
_log_n, _log_delta = (
    real("x", ge=0, meaning="log n", stands_for=r"\log n"),
    real("y", gt=0, meaning="log(1/delta)"),
)
_eta = real("eta", gt=0, unit=B.unit**2 / LOSS, latex=r"\eta", meaning="step size")
_C = real("C", gt=0)
_N = real("N", ge=0, meaning="calls of Phased SGD")
_best, _best_1 = (
    real("best", gt=0, unit=LOSS, latex=r"\alpha_{\epsilon,\delta}^{*}"),
    real("best_1", gt=0, unit=LOSS, latex=r"\alpha_{1,\delta}^{*}"),
)  # fmt: skip
_excess = real("E", ge=0, unit=LOSS, meaning="mean excess risk of the output")
_final = real("eps", gt=0, unit=NATS, latex=r"\epsilon^{\prime}", meaning="epsilon of the algorithm")

thm4 = (
    Sheet(
        "mn25.thm4",
        (alpha, B, L, d, n, epsilon, _beta, _root, _root_n, _level, _level_n, _eta, _C, _N, _best, _best_1, _final),
        title="Phased SGD for smooth losses",
        where="Theorem 4",
        latex=(
            r"O\big(\max\big\{\frac{BL\sqrt{d\log(1/\delta)}}{\alpha},\frac{B^{2}L^{2}}{\alpha^{2}}\big\}\big)"
            r"\text{ calls},\quad\alpha\geq 6\alpha_{\epsilon,\delta}^{*}\implies(\epsilon,\delta)\text{-DP}"
        ),
        pairs=("mn25.alg4", "mn25.thm7", "mn25.thm3"),
    )
    .step(
        "smooth-enough-for-the-step", r"\beta\leq\frac{2}{\eta}",
        given=r"\beta\leq L\sqrt{d\log(1/\delta)}/B, \eta\le\frac{B}{L\sqrt{d\log(n/\delta)}}, "
              r"\sqrt{d\log(1/\delta)}\le\sqrt{d\log(n/\delta)}",
        where="Theorem 4: the step size of Algorithm 4 is at most 2/beta, which makes steps contractions",
    )
    .step(
        "logarithms-of-both-theorems", r"x+1=O(1)", added=(_log_n, _log_delta),
        where="Theorems 4 and 7: the calls are bounded with log(1/delta) in one, with log(n/delta) in the other: "
              "x = log n, and log(1/delta) = 1",
        consequence=CONSTANT, true_if="with log(n/delta), as in Theorem 7 and Algorithm 4, or for delta of at most 1/n",
    )
    .corrected(
        "logarithms-of-both-theorems", r"x+y\le 2y", given=r"x\le y", added=(_log_n, _log_delta),
        because="Algorithm 4 has log(n/delta); it is at most 2 log(1/delta) only where delta is at most 1/n",
        where="Theorem 4 for delta of at most 1/n: x = log n, y = log(1/delta)",
    )
    .whole(
        "privacy", r"\epsilon^{\prime}\le\epsilon",
        given=r"\epsilon^{\prime}\le 6\frac{\alpha_{1,\delta}^{*}}{\alpha}, \alpha\geq 6\alpha_{\epsilon,\delta}^{*}, "
              r"\alpha_{\epsilon,\delta}^{*}=\frac{\alpha_{1,\delta}^{*}}{\epsilon}",
        uses=("mn25.thm7",), where="Theorem 4, privacy",
    )
    .whole(
        "calls",
        r"N\le 2\cdot\frac{BL\sqrt{d\log(1/\delta)}}{\alpha}\text{ or }N\le\frac{B^{2}L^{2}}{\alpha^{2}}",
        given=r"(N\le\frac{BL\sqrt{d\log(n/\delta)}}{\alpha}\text{ or }N\le\frac{B^{2}L^{2}}{\alpha^{2}}), "
              r"(\sqrt{d\log(n/\delta)})^2=d(x+y), (\sqrt{d\log(1/\delta)})^2=dy, x\le y",
        added=(_log_n, _log_delta),
        uses=("mn25.thm7/calls", "mn25.thm4/logarithms-of-both-theorems"),
        where="Theorem 4, calls, O of a maximum with the constant 2, for delta of at most 1/n: x = log n, "
              "y = log(1/delta)",
    )
    .whole(
        "accuracy", r"E\le 133\alpha",
        given=r"(\alpha<BL\implies E\le 133\alpha), (\alpha\ge BL\implies E\le L\cdot\|w_{0}-w^{*}\|), "
              r"\|w_{0}-w^{*}\|\le B",
        added=(_excess, _distance),
        uses=("mn25.thm7/accuracy", "mn25.thm4/smooth-enough-for-the-step", "subgradient-inequality"),
        where="Theorem 4, accuracy, O(alpha) with the constant 133: Phased SGD where alpha is below B L, and the start "
              "where there are no phases",
    )
)  # fmt: skip
