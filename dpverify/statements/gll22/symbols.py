"""gll22: the letters that several of its statements share."""

from __future__ import annotations

from dpverify.formulas.expressions import integer, real
from dpverify.formulas.units import LENGTH, LOSS, NATS, RECORDS, Unit

order = real("order", gt=1, meaning="Renyi order", latex=r"\alpha")
epsilon = real("epsilon", gt=0, unit=NATS, latex=r"\varepsilon")
n = integer("n", ge=1, unit=RECORDS, meaning="number of records")
d = integer("d", ge=1, meaning="dimension")
k = real("k", gt=0, unit=Unit() / LOSS, meaning="inverse temperature")
D = real("D", gt=0, unit=LENGTH, meaning="diameter of the set")
G = real("G", gt=0, unit=LOSS / LENGTH, meaning="Lipschitz constant")
mu = real("mu", gt=0, unit=LOSS / LENGTH**2, meaning="strong convexity", latex=r"\mu")
"""Of a loss, which is to be multiplied by k."""

G_exponent = real("G", gt=0, unit=Unit() / LENGTH, meaning="Lipschitz constant")
mu_exponent = real("mu", gt=0, unit=Unit() / LENGTH**2, meaning="strong convexity", latex=r"\mu")
"""Of a negative log-density."""
