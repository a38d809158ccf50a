"""mn25: the sheets of Sections 1 to 5 and Appendices A and B.1, in the paper's order."""

from __future__ import annotations

from dpverify.statements.mn25.lower_bounds.fano import lem8, lem9, lem10
from dpverify.statements.mn25.lower_bounds.hard_instance import instance_facts
from dpverify.statements.mn25.lower_bounds.information_needed import lem2
from dpverify.statements.mn25.lower_bounds.information_obtained import lem1
from dpverify.statements.mn25.lower_bounds.leftover_subspace import lem3
from dpverify.statements.mn25.lower_bounds.limited_oracles import thm5
from dpverify.statements.mn25.preliminaries import prelim
from dpverify.statements.mn25.private_oracles import cor1, thm1_1, thm1_2, thm2
from dpverify.statements.mn25.sampling import lem6
from dpverify.statements.mn25.smooth_optimization import thm3, thm4
from dpverify.statements.mn25.supplementary import fact1, lem5
from dpverify.statements.sheet import Sheet

MAIN_TEXT: tuple[Sheet, ...] = (
    cor1, prelim, thm1_1, thm1_2, thm2, instance_facts, lem1, lem2, lem3, thm3, thm4, thm5, fact1, lem5, lem6, lem8,
    lem9, lem10,
)  # fmt: skip
