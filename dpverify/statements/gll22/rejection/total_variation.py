"""gll22, Lemma 5.5 with (11) and (12): the distance of two laws, by how far rho leaves [0, 2]."""

from __future__ import annotations

from dpverify.statements.gll22.rejection.letters import (
    CENTERED,
    DOWN,
    EX,
    INNER,
    L1,
    MEAN,
    OFF,
    OUT,
    OUT_FEW,
    OUT_MORE,
    PART1,
    PART2,
    PROPOSAL,
    TV,
    TWO_G,
    UP,
    E,
    EXt,
    letters,
    one_letter,
)
from dpverify.statements.sheet import Sheet

total_variation = (
    Sheet(
        "gll22.lem5.5", letters,
        title="Error of the rejection step", where="Lemma 5.5",
        latex=(
            rf"\eta\leq C\log^{{-1}}(1/{INNER})G^{{-2}}\implies {TV}\leq{INNER}"
            r"\text{, with }O(1)\text{ values and samples in expectation}"
        ),
        pairs=("gll22.alg2", "gll22.lem5.3", "gll22.thm5.6"), uses=("gll22.lem5.3",),
    )
    .step(
        "total-variation", rf"{TV} ={L1}", given=rf"{TV}=\frac{{1}}{{2}}{L1}", uses=("scheffe", "gll22.lem5.3"),
        where="Lemma 5.5, proof, first display and (11), with the total variation of Definition 3.10",
    )
    .corrected(
        "total-variation", rf"{TV}\leq{L1}", given=rf"{TV}=\frac{{1}}{{2}}{L1}", uses=("scheffe", "gll22.lem5.3"),
        because="the integral of the densities' distance is twice the total variation of Definition 3.10, so the "
                "equality is an inequality",
        true_if="if d_TV is twice the total variation of Definition 3.10",
        where="Lemma 5.5, proof, first display and (11), as an inequality",
    )
    .step(
        "triangle",
        rf"\left|\frac{{X}}{{{EX}}}-\frac{{\widetilde{{X}}}}{{{EXt}}}\right|"
        rf"\leq\left|\frac{{X}}{{{EX}}}-\frac{{\widetilde{{X}}}}{{{EX}}}\right|"
        rf"+\left|\frac{{\widetilde{{X}}}}{{{EX}}}-\frac{{\widetilde{{X}}}}{{{EXt}}}\right|",
        where="Lemma 5.5, proof, (11), at each x",
    )
    .step(
        "eq11", rf"{PART1}+{PART2}\leq 2\frac{{{OFF}}}{{|{EX}|}}",
        given=rf"{PART1}=\frac{{{OFF}}}{{{EX}}}, "
              rf"{PART2}={EXt}\cdot|\frac{{1}}{{{EX}}}-\frac{{1}}{{{EXt}}}|, |{EX}-({EXt})|\le{OFF}",
        uses=("jensen", "gll22.lem5.5/triangle"), where="Lemma 5.5, proof, (11), last step",
    )
    .condition(
        "strong-convexity-of-the-proposal",
        r"\psi(z)+\frac{1}{2\eta}\|z-y\|^2\ge\psi(x)+\frac{1}{2\eta}\|x-y\|^2+\langle g+\frac{1}{\eta}(x-y),z-x\rangle"
        r"+\frac{1}{2\eta}\|z-x\|^2",
        given=r"\psi(z)\ge\psi(x)+\langle g,z-x\rangle", added=PROPOSAL, units=False,
        where="Lemma 5.4, what it requires: the proposal's negative logarithm is 1/eta-strongly convex; g is a "
              "subgradient of psi at x",
    )
    .step(
        "deviation", r"\frac{(2G\sqrt{\eta})^2}{2\eta G^2}=2", uses=("gaussian-concentration",),
        where="Lemma 5.5, proof, before the 4th display: Lemma 5.4 at t = 2 G sqrt(eta)",
    )
    .step(
        "mean-of-X", rf"{EX} ={DOWN}\cdot{UP}\geq\exp(-{MEAN})\cdot{UP}={CENTERED}",
        given=rf"{EX}={DOWN}\cdot{UP}, {DOWN}\ge\exp(-{MEAN}), {CENTERED}=\exp(-{MEAN})\cdot{UP}",
        uses=("jensen", "gll22.lem5.3"), where="Lemma 5.5, proof, 4th display, lines 1 to 3",
        **one_letter("exp_mean", rf"\exp(-{MEAN})"),
    )
    .step(
        "mean-of-X-from-below", rf"{CENTERED}\geq{TWO_G}",
        given=rf"{CENTERED}\ge p\exp(-2G\sqrt{{\eta}}), p\ge 1-e^{{-2}}",
        uses=("markov", "gll22.lem5.5/deviation"), **one_letter("exp_G", r"\exp(-2G\sqrt{\eta})"),
        where="Lemma 5.5, proof, 4th display, line 4",
    )
    .define(rf"{E}[X]", EX)
    .step(
        "two-thirds", rf"{E}[X]\geq\frac{{2}}{{3}}", given=rf"{EX}\ge{CENTERED}, {CENTERED}\ge\exp({MEAN}-{MEAN})",
        uses=("jensen", "gll22.lem5.5/mean-of-X"),
        where="Lemma 5.5, proof, after the 4th display, by Jensen's inequality twice, which gives E X >= 1",
    )
    .step(
        "bound-at-the-step-size", rf"{TWO_G}\geq\frac{{2}}{{3}}", given=r"\eta\leq G^{-2}/8",
        uses=("gll22.lem5.5/mean-of-X-from-below",),
        where="Lemma 5.5, proof, after the 4th display: the bound of that display, using eta <= G^-2 / 8",
    )
    .corrected(
        "bound-at-the-step-size", rf"\exp({MEAN}-{MEAN})\ge\frac{{2}}{{3}}",
        because="at eta = G^-2 / 8 the 4th display gives E X >= 0.426 only; Jensen's inequality gives E X >= 1, "
                "whatever eta is",
        where="Lemma 5.5, proof, after the 4th display, by Jensen's inequality twice",
    )
    .step(
        "truncation", r"|\rho-\min(\max(\rho,0),2)|\le|\rho|",
        where="Lemma 5.5, proof, 5th display, where rho is outside [0, 2]; inside, the difference is 0",
    )
    .step(
        "three-times", rf"{TV}\leq 3\cdot{OFF}\leq 3\cdot{OUT}",
        given=rf"{TV}\le 2\frac{{{OFF}}}{{|{EX}|}}, {EX}\ge\frac{{2}}{{3}}, {OFF}\le{OUT}",
        uses=("jensen", "gll22.lem5.5/total-variation", "gll22.lem5.5/eq11", "gll22.lem5.5/two-thirds",
              "gll22.lem5.5/truncation"),
        where="Lemma 5.5, proof, 5th display",
    )
    .step(
        "parts-of-rho", r"|\rho|\le|\rho_{>L}|+|\rho_{\leq L}|", given=r"\rho=\rho_{>L}+\rho_{\leq L}",
        where="Lemma 5.5, proof, before (12)",
    )
    .step(
        "eq12", rf"{TV}\leq 3\cdot{OUT_MORE}+3\cdot{OUT_FEW}",
        given=rf"{TV}\leq 3\cdot{OUT}, {OUT}\le{OUT_MORE}+{OUT_FEW}",
        uses=("gll22.lem5.5/three-times", "gll22.lem5.5/parts-of-rho"), where="Lemma 5.5, proof, (12)",
    )
)  # fmt: skip
