"""bst14, Appendix E: objective perturbation for smooth losses, what it loses and what it costs."""

from __future__ import annotations

from dpverify.formulas.expressions import real
from dpverify.formulas.units import LENGTH, LOSS, NATS
from dpverify.formulas.vectors import vector
from dpverify.statements.bst14.symbols import L, diameter, epsilon, level, n, p, risk
from dpverify.statements.sheet import MISSING, Sheet

_beta = real("beta", gt=0, unit=LOSS / LENGTH**2, meaning="smoothness of a record's loss", latex=r"\beta")
_Delta = real("Delta", gt=0, unit=LOSS / LENGTH**2, meaning="regularization", latex=r"\Delta")
_noise, _noise2 = (
    real(name, ge=0, unit=LOSS / LENGTH, latex=latex)
    for name, latex in (("b", r"\|b\|_2"), ("b2", r"\|b'\|_2"))
)
_ratio = real("J", gt=1, meaning="ratio of the Jacobians", latex="J", stands_for=r"1+\frac{\beta}{\Delta}")
_log_ratio = real("l_J", gt=0, unit=NATS, meaning="its logarithm", latex=r"\log J")
_low_level = real("l", ge=1, unit=NATS, meaning="log(1/delta)", latex=r"\log(1/\delta)", stands_for="number")
_WINDOW = (
    "n = 1 in the plane: a loss of the norm whose slope rises from 0 to L at the rate beta, against the loss 0, and "
    "the event that the output is where it rises; Delta = beta / (2 epsilon)"
)
_GAMMA = (
    r"1-(1+\frac{\varepsilon+1/2}{2})e^{-\frac{\varepsilon+1/2}{2}}\le"
    r" e^{\varepsilon}(1-(1+\frac{1}{4})e^{-\frac{1}{4}})"
)
_HALF_GAMMA = (
    r"1-(1+\frac{\varepsilon+2}{4})e^{-\frac{\varepsilon+2}{4}}\le"
    r" e^{\varepsilon}(1-(1+\frac{2}{4})e^{-\frac{2}{4}})"
)
_GAUSS = (
    r"1-e^{-\frac{(\varepsilon+1/2)^2}{16\log(1/\delta)}}-e^{\varepsilon}(1-e^{-\frac{1/4}{16\log(1/\delta)}})"
    r"\le e^{-\log(1/\delta)}"
)

objpert_privacy = (
    Sheet(
        "bst14.objpert-privacy", (p, L, _beta, _Delta, epsilon, level, _noise, _noise2, _ratio, _log_ratio),
        title="Privacy of objective perturbation", where="Appendix E, (11)",
        latex=r"\Delta\ge\frac{\beta}{2\varepsilon}\implies\theta^{priv}\text{ of (11) is }\varepsilon\text{-DP with "
              r"Gamma "
              r"noise, }(\varepsilon,\delta)\text{-DP with Gaussian noise}",
        pairs=("bst14.alg-objpert", "bst14.thmE.1.1", "bst14.thmE.1.2"),
    )
    .step("loss-of-the-noise", r"-\frac{\varepsilon}{2L}\|b\|_2\le\varepsilon-\frac{\varepsilon}{2L}\|b'\|_2",
          given=r"\|b'\|_2\le\|b\|_2+2L", uses=("triangle-inequality",),
          where="Appendix E: logarithms of the Gamma noise's densities, for the noises that lead to one output")
    .step("loss-of-the-jacobian", r"\varepsilon+\log J\le\varepsilon",
          given=r"\log J\le\frac{\beta}{\Delta}, \Delta\ge\frac{\beta}{2\varepsilon}",
          uses=("bst14.objpert-privacy/loss-of-the-noise",),
          where="Appendix E: the noise spends epsilon, and the Jacobian of the map from output to noise changes by "
                "J = 1 + beta/Delta, even in one dimension")
    .corrected("loss-of-the-jacobian", r"\frac{\varepsilon}{2}+\log J\le\varepsilon",
               given=r"\log J\le\frac{\beta}{\Delta}, \Delta\ge\frac{2\beta}{\varepsilon}",
               because="the noise spends all of epsilon, and the Jacobian loses up to log(1 + beta/Delta) more for "
                       "each dimension; half of epsilon for each, with twice the noise and Delta >= 2 beta/epsilon, "
                       "is enough in one dimension, or where the Hessians of each loss have rank one",
               where="Appendix E with twice the Gamma noise and Delta at least 2 beta / epsilon, Hessians of rank one")
    .instance("gamma-noise", _GAMMA, case=_WINDOW,
              true_if="with twice the noise and four times the regularization",
              where="Appendix E: (11) with Gamma noise")
    .corrected("gamma-noise", _HALF_GAMMA,
               case="the same losses and event with twice the noise and Delta = 2 beta / epsilon",
               catches=("the printed noise and regularization", _GAMMA),
               where="Appendix E: (11) with twice the Gamma noise and four times the regularization")
    .instance("gaussian-noise", _GAUSS, case=_WINDOW,
              true_if="with twice the noise and four times the regularization",
              where="Appendix E: (11) with Gaussian noise")
    .corrected("privacy", r"-\frac{\varepsilon}{4L}\|b\|_2+\log J\le\varepsilon-\frac{\varepsilon}{4L}\|b'\|_2",
               given=r"\|b'\|_2\le\|b\|_2+2L, \log J\le\frac{\beta}{\Delta}",
               meant=r"\Delta\ge\frac{2\beta}{\varepsilon}", coverage="whole",
               uses=("triangle-inequality", "change-of-variables"),
               where="Appendix E, Gamma noise: logarithms of the output's densities, with twice the noise and Delta at "
                     "least 2 beta / epsilon, for losses with Hessians of rank one")
    .correction(latex=r"b\propto e^{-\frac{\varepsilon}{4L}\|b\|_2},\ \Delta\ge\frac{2\beta}{\varepsilon}",
                replaces=("gaussian-noise", "loss-of-the-noise"))
)  # fmt: skip

_out, _best, _b = (
    vector(name, unit=unit, latex=latex)
    for name, unit, latex in (
        ("x", LENGTH, r"\theta^{priv}"), ("y", LENGTH, r"\theta^*"), ("b", LOSS / LENGTH, "b"),
    )
)  # fmt: skip
_at_out, _at_best = (
    real(name, unit=LOSS, latex=rf"\mathcal{{L}}({at};D)")
    for name, at in (("F_x", r"\theta^{priv}"), ("F_y", r"\theta^*"))
)
_mean_norm = real(
    "B", ge=0, unit=LOSS / LENGTH, meaning="mean of the noise's norm", latex=r"\mathbb{E}\|b\|_2"
)
_mean_square = real(
    "B2", ge=0, unit=(LOSS / LENGTH) ** 2, meaning="mean of its square", latex=r"\mathbb{E}\|b\|_2^2"
)
_size, _size2 = (
    real(name, ge=0, unit=LENGTH, latex=latex)
    for name, latex in (("t", r"\|\theta^*\|_2"), ("t_priv", r"\|\theta^{priv}\|_2"))
)
_c = real("c", gt=0, meaning="constant of Theta( ) in Delta")
_EXCESS = r"\mathcal{L}(\theta^{priv};D)-\mathcal{L}(\theta^*;D)"
_OPTIMAL = (
    r"\mathcal{L}(\theta^{priv};D)+\frac{\Delta}{2}\|\theta^{priv}\|^2+\langle b,\theta^{priv}\rangle\le"
    r"\mathcal{L}(\theta^*;D)+\frac{\Delta}{2}\|\theta^*\|^2+\langle b,\theta^*\rangle"
)


def _lipschitz_and_smooth(
    id_: str,
    title: str,
    where: str,
    order: str,
    choice: str,
    mean: str,
    bound: str,
    *,
    moment: str,
    what: str,
    order_on_a_line: str,
    uses: tuple[str, ...] = (),
) -> Sheet:
    """The risk bound from the mean of the noise's norm, alike for both noises."""
    sheet = Sheet(
        id_, (p, L, diameter, _Delta, epsilon, level, _c, risk, _mean_norm, _size, _size2, _out, _best, _b, _at_out,
        _at_best),
        title=title, where=where, latex=rf"{risk.latex}={order}",
        pairs=("bst14.alg-objpert", "bst14.objpert-privacy"),
    )  # fmt: skip
    return (
        sheet.step("mean-of-the-norm", moment, uses=uses, where=f"{where}: {what}")
        .step("excess-by-the-noise",
              rf"{_EXCESS}\le\frac{{\Delta}}{{2}}(\|\theta^*\|^2-\|\theta^{{priv}}\|^2)"
              r"+\|b\|\|\theta^*-\theta^{priv}\|", given=_OPTIMAL,
              where=f"{where}: the output minimizes the perturbed objective")
        .condition("regularizer", r"\|\theta^*\|_2^2-\|\theta^{priv}\|_2^2\le\|\mathcal{C}\|_2^2",
                   given=r"\|\theta^*\|_2\le\|\theta^{priv}\|_2+\|\mathcal{C}\|_2",
                   where=f"{where}: the regularizer costs at most Delta ||C||^2 / 2")
        .corrected("regularizer", r"\|\theta^*\|_2^2-\|\theta^{priv}\|_2^2\le\|\mathcal{C}\|_2^2",
                   given=r"\|\theta^*\|_2\le\|\mathcal{C}\|_2",
                   because="for a set far from the origin the regularizer costs more than Delta ||C||^2 / 2",
                   true_if="if the origin is in the set", where=f"{where}, for a set with the origin")
        .whole("bound", rf"{risk.latex}\le{bound}",
               given=rf"{risk.latex}\le\frac{{\Delta}}{{2}}\|\mathcal{{C}}\|_2^2"
                     r"+\|\mathcal{C}\|_2\cdot\mathbb{E}\|b\|_2, "
                     rf"\mathbb{{E}}\|b\|_2\le{mean}, \Delta={choice}",
               uses=(f"{id_}/excess-by-the-noise", f"{id_}/regularizer", f"{id_}/mean-of-the-norm"),
               where=f"{where} with Delta = c times what is in Theta( ), for a set with the origin")
        .instance("set-far-away", rf"\frac{{nL\|\mathcal{{C}}\|_2}}{{2}}\le O({order_on_a_line})", added=(n,),
                  given=r"\varepsilon\le 1",
                  case="p = 1 and n losses -L theta on [R, R + ||C||] with Delta R = 2 n L: b is not negative with "
                       "probability 1/2, and then the output is R, whose excess risk is n L ||C||",
                  where=where, consequence=MISSING, true_if="if the origin is in the set")
        .correction(replaces=("set-far-away",))
    )  # fmt: skip


thm_e1_1 = _lipschitz_and_smooth(
    "bst14.thmE.1.1", "Risk of objective perturbation, Gamma noise", "Theorem E.1 (1)",
    r"O\left(\frac{L\|\mathcal{C}\|_2p}{\varepsilon}\right)", r"\frac{cLp}{\varepsilon\|\mathcal{C}\|_2}",
    r"\frac{2pL}{\varepsilon}", r"(\frac{c}{2}+2)\frac{L\|\mathcal{C}\|_2p}{\varepsilon}",
    moment=r"p\cdot\frac{2L}{\varepsilon}=\frac{2pL}{\varepsilon}", what="mean of the noise's norm, a Gamma law",
    order_on_a_line=r"\frac{L\|\mathcal{C}\|_2}{\varepsilon}",
)  # fmt: skip
thm_e1_2 = _lipschitz_and_smooth(
    "bst14.thmE.1.2", "Risk of objective perturbation, Gaussian noise", "Theorem E.1 (2)",
    r"O\left(\frac{L\|\mathcal{C}\|_2\sqrt{p\ln(1/\delta)}}{\varepsilon}\right)",
    r"\frac{cL\sqrt{p\log(1/\delta)}}{\varepsilon\|\mathcal{C}\|_2}", r"\frac{L\sqrt{8p\log(1/\delta)}}{\varepsilon}",
    r"(\frac{c}{2}+\sqrt{8})\frac{L\|\mathcal{C}\|_2\sqrt{p\log(1/\delta)}}{\varepsilon}",
    moment=r"p\cdot\frac{8L^2\log(1/\delta)}{\varepsilon^2}=(\frac{L\sqrt{8p\log(1/\delta)}}{\varepsilon})^2",
    what="mean square of the noise's norm", uses=("gaussian-second-moment", "jensen"),
    order_on_a_line=r"\frac{L\|\mathcal{C}\|_2\sqrt{\log(1/\delta)}}{\varepsilon}",
)  # fmt: skip

_GROWTH = (
    r"\mathcal{L}(\theta^*;D)+\langle b,\theta^*\rangle\ge\mathcal{L}(\theta^{priv};D)+\langle b,\theta^{priv}\rangle"
    r"+\frac{n\Delta}{2}\|\theta^*-\theta^{priv}\|^2"
)


def _strongly_convex(id_: str, title: str, where: str, order: str, moment: str, mean: str) -> Sheet:
    """The risk bound from the mean square of the noise's norm, alike for both noises."""
    letters = (n, p, L, _Delta, epsilon, level, risk, _mean_square, _out, _best, _b, _at_out, _at_best)
    return (
        Sheet(
            id_, letters, title=title, where=where, latex=rf"{risk.latex}={order}",
            pairs=("bst14.alg-objpert", "bst14.objpert-privacy"),
        )
        .step("mean-square-of-the-norm", moment, where=f"{where}: mean square of the noise's norm")
        .step("excess-by-the-noise", rf"2n\Delta({_EXCESS})\le\|b\|^2", given=_GROWTH, uses=("growth-at-a-minimizer",),
              where=f"{where}: the output minimizes the loss with the noise, which is n Delta-strongly convex; no "
                    "regularizer is added")
        .whole("bound", rf"{risk.latex}={order}",
               given=rf"0\le {risk.latex}, 2n\Delta\cdot {risk.latex}\le\mathbb{{E}}\|b\|_2^2, "
                     rf"\mathbb{{E}}\|b\|_2^2\le{mean}",
               uses=(f"{id_}/mean-square-of-the-norm", f"{id_}/excess-by-the-noise"),
               where=where)
    )  # fmt: skip


thm_e2_1 = _strongly_convex(
    "bst14.thmE.2.1", "Risk for strongly convex losses, Gamma noise", "Theorem E.2 (1)",
    r"O\left(\frac{L^2p^2}{n\Delta\varepsilon^2}\right)",
    r"p(p+1)(\frac{2L}{\varepsilon})^2\le\frac{8p^2L^2}{\varepsilon^2}", r"\frac{8p^2L^2}{\varepsilon^2}",
)  # fmt: skip
thm_e2_2 = _strongly_convex(
    "bst14.thmE.2.2", "Risk for strongly convex losses, Gaussian noise", "Theorem E.2 (2)",
    r"O\left(\frac{L^2p\log(1/\delta)}{n\Delta\varepsilon^2}\right)",
    r"p\cdot\frac{8L^2\log(1/\delta)}{\varepsilon^2}=\frac{8pL^2\log(1/\delta)}{\varepsilon^2}",
    r"\frac{8pL^2\log(1/\delta)}{\varepsilon^2}",
)  # fmt: skip
