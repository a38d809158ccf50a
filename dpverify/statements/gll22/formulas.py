"""gll22: Gopi, Lee, Liu, Private Convex Optimization via Exponential Mechanism. What is printed there."""

from __future__ import annotations

from dpverify.statements.gll22 import (
    empirical_risk,
    gaussian_integrals,
    informal,
    lower_bound,
    population_risk,
    query_bounds,
    rates,
    renyi,
    sampler,
    trade_off,
)
from dpverify.statements.gll22.duality import prop3_3
from dpverify.statements.gll22.gaussians import eq9, eq10, lem6_3
from dpverify.statements.gll22.rejection.error import lem5_5
from dpverify.statements.gll22.rejection.step import lem5_3

STATEMENTS = (
    *informal.STATEMENTS,
    *(sheet.statement for sheet in (eq9, eq10, prop3_3, lem6_3)),
    *trade_off.STATEMENTS,
    *gaussian_integrals.STATEMENTS,
    *renyi.STATEMENTS,
    *(sheet.statement for sheet in (lem5_3, lem5_5)),
    *sampler.STATEMENTS,
    *empirical_risk.STATEMENTS,
    *population_risk.STATEMENTS,
    *lower_bound.STATEMENTS,
    *query_bounds.STATEMENTS,
    *rates.STATEMENTS,
)
