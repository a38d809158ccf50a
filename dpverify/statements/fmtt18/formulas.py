"""fmtt18: Feldman, Mironov, Talwar, Thakurta, Privacy Amplification by Iteration. What is printed there."""

from __future__ import annotations

from dpverify.statements.fmtt18.accountant import thm1, thm22
from dpverify.statements.fmtt18.contractions import prop17, prop18
from dpverify.statements.fmtt18.multiple_passes import appB, thm35
from dpverify.statements.fmtt18.multiple_tasks import thm32
from dpverify.statements.fmtt18.noisy_sgd import lem25, lem27, thm23, thm24, thm26
from dpverify.statements.fmtt18.preliminaries import def10, lem14, lem15, prop5
from dpverify.statements.fmtt18.public_records import cor31
from dpverify.statements.fmtt18.rates import table1
from dpverify.statements.fmtt18.shifted_divergence import lem20, lem21, prop9
from dpverify.statements.fmtt18.smoothing import cor34, thm33
from dpverify.statements.fmtt18.stochastic_optimization import sgd_update, thm28, thm29, thm30

STATEMENTS = tuple(
    sheet.statement
    for sheet in (
        table1, thm1, prop5, prop9, def10, lem14, lem15, prop17, prop18, lem20, lem21, thm22, thm23, thm24, lem25,
        thm26, lem27, sgd_update, thm28, thm29, thm30, cor31, thm32, thm33, cor34, thm35, appB,
    )
)  # fmt: skip
