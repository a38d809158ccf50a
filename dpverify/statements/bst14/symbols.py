"""bst14: the letters that several of its statements share. Losses are summed over the records."""

from __future__ import annotations

from dpverify.formulas.expressions import integer, real
from dpverify.formulas.units import LENGTH, LOSS, NATS, RECORDS

n = integer("n", ge=1, unit=RECORDS, meaning="number of records")
several = integer("n", ge=2, unit=RECORDS, meaning="number of records")
p = integer("p", ge=1, meaning="dimension")
L = real("L", gt=0, unit=LOSS / LENGTH, meaning="Lipschitz constant of a record's loss")
diameter = real(
    "C", gt=0, unit=LENGTH, meaning="diameter of the set", latex=r"\|\mathcal{C}\|_2", stands_for="number"
)
Delta = real(
    "Delta", gt=0, unit=LOSS / LENGTH**2, meaning="strong convexity of a record's loss", latex=r"\Delta"
)
epsilon = real("epsilon", gt=0, unit=NATS, latex=r"\varepsilon")
level = real("l", gt=0, unit=NATS, meaning="log(1/delta)", latex=r"\log(1/\delta)", stands_for="number")
log_n = real("l_n", ge=0, unit=NATS, meaning="log n", latex=r"\log(n)")
risk = real(
    "R", unit=LOSS, meaning="expected excess risk",
    latex=r"\mathbb{E}\left[\mathcal{L}(\theta^{priv};D)-\mathcal{L}(\theta^*;D)\right]",
)  # fmt: skip
