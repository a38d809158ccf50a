"""mn25: the sheets of Appendices B.2 to D, in the paper's order."""

from __future__ import annotations

from dpverify.statements.mn25.dp_sgd import lem11, lem12, tcdp
from dpverify.statements.mn25.fingerprinting import lem14, lem15
from dpverify.statements.mn25.phased import lem16, thm7
from dpverify.statements.mn25.reductions import d2, thm8
from dpverify.statements.mn25.smooth_losses import lem13, thm6
from dpverify.statements.sheet import Sheet

APPENDICES: tuple[Sheet, ...] = (lem11, lem12, tcdp, thm6, lem13, lem14, lem15, thm7, lem16, thm8, d2)
