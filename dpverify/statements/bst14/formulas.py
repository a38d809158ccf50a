"""bst14: Bassily, Smith, Thakurta, Private Empirical Risk Minimization. What is printed there.

Losses are summed over the records.
"""

from __future__ import annotations

from dpverify.statements.bst14.boosting import app_d
from dpverify.statements.bst14.efficient_exponential_sampling import (
    alg7_budget,
    lem6_5,
    lem6_6,
    thm3_4_1,
    thm3_4_2,
    thm3_4_3,
)
from dpverify.statements.bst14.efficient_sampling import lem6_1, lem6_3, lem6_4
from dpverify.statements.bst14.exponential_sampling import claim3_3, thm3_1, thm3_2
from dpverify.statements.bst14.gaussian_localization import thm_c1, thm_c2
from dpverify.statements.bst14.gradient_descent import eq2, lem2_5, lem2_6, thm2_4_1, thm2_4_2
from dpverify.statements.bst14.huberized_hinge import huber, lem_b2, lem_b3, thm_b1
from dpverify.statements.bst14.localization import lem4_1, lem4_2, thm4_3
from dpverify.statements.bst14.lower_bounds import lem5_1, thm5_2, thm5_3, thm5_4, thm5_5
from dpverify.statements.bst14.net_mechanism import alg8_privacy, thm_a1
from dpverify.statements.bst14.objective_perturbation import (
    objpert_privacy,
    thm_e1_1,
    thm_e1_2,
    thm_e2_1,
    thm_e2_2,
)
from dpverify.statements.bst14.private_gradient_descent import lem2_2, lem2_3, thm2_1
from dpverify.statements.bst14.rates import table1

STATEMENTS = tuple(
    sheet.statement
    for sheet in (
        table1, thm2_1, lem2_2, lem2_3, eq2, lem2_5, lem2_6, thm2_4_1, thm2_4_2, thm3_1, thm3_2, claim3_3,
        thm3_4_1, thm3_4_2, thm3_4_3, lem4_1, lem4_2, thm4_3, lem5_1, thm5_2, thm5_3, thm5_4, thm5_5, lem6_1,
        lem6_3, lem6_4, lem6_5, lem6_6, alg7_budget, alg8_privacy, thm_a1, huber, lem_b2, lem_b3, thm_b1,
        thm_c1, thm_c2, app_d, objpert_privacy, thm_e1_1, thm_e1_2, thm_e2_1, thm_e2_2,
    )
)  # fmt: skip
