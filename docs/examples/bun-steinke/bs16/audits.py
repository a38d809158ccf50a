"""Data sets on which the algorithm is audited."""

import numpy as np

from bs16.gaussian import GaussianMean
from dpverify.statements.audit_parts import made, one_turned
from dpverify.statements.audit_rows import On


def opposite_records() -> On:
    """Ten records at one end of a line, and the last of them moved to the other end: as far as two means can be."""
    pair = one_turned(made(np.ones((10, 1)), "ten ones"), 10, "the last of ten records turned around")
    return On(GaussianMean(0.5), pair)
