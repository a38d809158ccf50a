"""mn25: the sheets of Appendices B.2 to D, in the paper's order."""

from __future__ import annotations

from dpverify.statements.mn25.dp_sgd import lem11, lem12, tcdp
from dpverify.statements.mn25.phased import lem16
from dpverify.statements.sheet import Sheet

APPENDICES: tuple[Sheet, ...] = (lem11, lem12, tcdp, lem16)
