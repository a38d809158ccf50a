"""mn25: the letters that several of its statements share."""

from __future__ import annotations

from dpverify.formulas.expressions import integer, real
from dpverify.formulas.units import LENGTH, LOSS, NATS, RECORDS

alpha = real("alpha", gt=0, unit=LOSS, meaning="accuracy", latex=r"\alpha")
B = real("B", gt=0, unit=LENGTH, meaning="diameter of the constraint set")
L = real("L", gt=0, unit=LOSS / LENGTH, meaning="Lipschitz constant of each loss")
d = integer("d", ge=1, meaning="dimension")
n = integer("n", ge=1, unit=RECORDS, meaning="number of records")
epsilon = real("epsilon", gt=0, unit=NATS, latex=r"\epsilon")
