"""mn25: the letters that several of its statements share."""

from __future__ import annotations

from dpverify.formulas.expressions import integer, real
from dpverify.formulas.units import LENGTH, LOSS, NATS, RECORDS

alpha = real("alpha", gt=0, unit=LOSS, meaning="accuracy", latex=r"\alpha")
small_alpha = real("alpha", gt=0, meaning="accuracy, where L = 2 and B = 1", latex=r"\alpha")
B = real("B", gt=0, unit=LENGTH, meaning="diameter of the constraint set")
L = real("L", gt=0, unit=LOSS / LENGTH, meaning="Lipschitz constant of each loss")
C_2 = real("C_2", gt=0, latex="C_{2}", meaning="the constant of Theorem 1")
K = integer("K", ge=1, meaning="number of problem vectors")
d = integer("d", ge=1, meaning="dimension")
n = integer("n", ge=1, unit=RECORDS, meaning="number of records")
rho = real("rho", gt=0, unit=NATS, latex=r"\rho", meaning="zCDP of the private oracle")
unique = real(
    "T", ge=0, latex=r"\underset{}{\mathbb{E}}\left[\bar{T}\right]", meaning="expected number of unique queries"
)  # fmt: skip
epsilon = real("epsilon", gt=0, unit=NATS, latex=r"\epsilon")
