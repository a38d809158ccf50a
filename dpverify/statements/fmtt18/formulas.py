"""fmtt18: Feldman, Mironov, Talwar, Thakurta, Privacy Amplification by Iteration. What is printed there."""

from __future__ import annotations

from dpverify.statements.fmtt18.accountant import thm1, thm22
from dpverify.statements.fmtt18.contractions import prop17, prop18
from dpverify.statements.fmtt18.multiple_passes import appB, thm35
from dpverify.statements.fmtt18.noisy_sgd import lem25, lem27, thm23, thm26
from dpverify.statements.fmtt18.preliminaries import def10, lem14, lem15, prop5

STATEMENTS = tuple(
    sheet.statement
    for sheet in (
        thm1,
        prop5,
        def10,
        lem14,
        lem15,
        prop17,
        prop18,
        lem25,
        thm22,
        thm23,
        thm26,
        lem27,
        thm35,
        appB,
    )
)
