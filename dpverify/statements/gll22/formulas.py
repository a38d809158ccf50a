"""gll22: Gopi, Lee, Liu, Private Convex Optimization via Exponential Mechanism. What is printed there."""

from __future__ import annotations

from dpverify.statements.gll22 import (
    empirical_risk,
    gaussian_integrals,
    lower_bound,
    population_risk,
    rejection_error,
    rejection_step,
    renyi,
)
from dpverify.statements.gll22.duality import prop3_3
from dpverify.statements.gll22.gaussians import eq9, eq10, lem6_3

STATEMENTS = (
    *(sheet.statement for sheet in (eq9, eq10, prop3_3, lem6_3)),
    *gaussian_integrals.STATEMENTS,
    *renyi.STATEMENTS,
    *rejection_step.STATEMENTS,
    *rejection_error.STATEMENTS,
    *empirical_risk.STATEMENTS,
    *population_risk.STATEMENTS,
    *lower_bound.STATEMENTS,
)
