"""gll22, Lemma 5.5: how far the rejection step is from the law that it should sample, and its cost."""

from __future__ import annotations

from dpverify.formulas.expressions import real
from dpverify.statements.gll22.rejection.few_rounds import few_rounds
from dpverify.statements.gll22.rejection.letters import (
    EX,
    INNER,
    OFF,
    OUT_FEW,
    OUT_MORE,
    OUTSIDE,
    SUM14,
    TV,
    EXt,
)

lem5_5 = (
    few_rounds
    .condition(
        "eta-for-eq13", rf"\eta\le 2^{{-6}}G^{{-2}}/\log(1000/{INNER})",
        given=rf"\eta\leq\frac{{1}}{{3072}}\cdot\frac{{1}}{{\log(1/{INNER})G^2}}, "
              rf"\log(1000/{INNER})\le\ln(1000)+\log(1/{INNER}), "
              rf"\log(1/{INNER})>\frac{{693}}{{1000}}, \ln(1000)<7",
        uses=("gll22.lem5.5/logarithms",),
        where="Lemma 5.5, small enough C: with C = 1/3072 the bounds on eta of the proof hold, here that of (13)",
    )
    .condition(
        "eta-for-eq15", r"\eta\le 2^{-8}G^{-2}L^{-1}\text{ and }\eta\le G^{-2}/8",
        given=rf"\eta\leq\frac{{1}}{{3072}}\cdot\frac{{1}}{{\log(1/{INNER})G^2}}, "
              rf"L\le 10\log(1/{INNER})+1, \log(1/{INNER})>\frac{{693}}{{1000}}",
        where="Lemma 5.5, small enough C: the bounds on eta of (15) and before (12), for L the first integer from "
              "10 log(1/delta_inner) on",
    )
    .whole(
        "accuracy", rf"{TV}\leq{INNER}",
        given=rf"{TV}\leq 3\cdot{OUT_MORE}+3\cdot{OUT_FEW}, {OUT_MORE}\le\frac{{{INNER}}}{{9}}, "
              rf"{OUT_FEW}\leq {OUTSIDE}\cdot 2^{{L}}+{SUM14}, {OUTSIDE}\cdot 2^{{L}}\le\frac{{{INNER}}}{{9}}, "
              rf"{SUM14}\le\frac{{{INNER}}}{{9}}",
        uses=("gll22.lem5.5/eq12", "gll22.lem5.5/eq13", "gll22.lem5.5/eq14", "gll22.lem5.5/eq15", "gll22.lem5.5/eq16"),
        where="Lemma 5.5, proof, combining (12) to (16)",
    )
    .whole(
        "acceptance",
        rf"{EXt}\geq{EX}-{OFF}\geq\frac{{2}}{{3}}-\frac{{{INNER}}}{{3}}\geq\frac{{1}}{{3}}",
        given=rf"|{EX}-({EXt})|\le{OFF}, {EX}\ge\frac{{2}}{{3}}, 3\cdot{OFF}\le{INNER}",
        uses=("gll22.lem5.5/two-thirds", "gll22.lem5.5/three-times", "gll22.lem5.5/accuracy"),
        where="Lemma 5.5, proof, acceptance probability: E X~ / 2, so 6 rounds are enough on average",
    )
    .step(
        "values-in-a-round", r"\sum_{\alpha=1}^{L}\frac{2\cdot 2}{2^{\alpha-1}}\le 8",
        uses=("gll22.lem5.3/next-round", "gll22.lem5.5/phase-probability"),
        where="Lemma 5.5, number of values: 2 alpha of them with probability 1/alpha!, and 1/(alpha - 1)! <= "
              "2/2^(alpha - 1)",
    )
    .whole(
        "number-of-values-on-average", r"N\le 48", added=(real("N", ge=0), real("V", ge=0)),
        given=rf"N=\frac{{V}}{{p}}, V\le 8, p=\frac{{1}}{{2}}{EXt}, {EXt}\ge\frac{{1}}{{3}}",
        uses=("wald", "gll22.lem5.5/values-in-a-round", "gll22.lem5.5/acceptance"),
        where="Lemma 5.5, O(1) values on average: at most 48",
    )
    .whole(
        "number-of-samples-on-average", r"N\le 12", added=(real("N", ge=0),),
        given=rf"N=\frac{{2}}{{p}}, p=\frac{{1}}{{2}}{EXt}, {EXt}\ge\frac{{1}}{{3}}",
        uses=("wald", "gll22.lem5.5/acceptance"), where="Lemma 5.5, O(1) samples on average: at most 12",
    )
    .correction(replaces=("union-bound-for-quarters", "union-bound-for-halves"))
)  # fmt: skip
