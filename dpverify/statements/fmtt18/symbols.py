"""fmtt18: the letters that several of its statements share."""

from __future__ import annotations

from dpverify.formulas.expressions import integer, real
from dpverify.formulas.units import LENGTH, LOSS, NATS, RECORDS

alpha = real("order", gt=1, meaning="Renyi order", latex=r"\alpha")
any_alpha = real("order", ge=1, meaning="Renyi order", latex=r"\alpha")
length_sigma = real("sigma", gt=0, unit=LENGTH, meaning="noise of a step, a coordinate", latex=r"\sigma")
sigma = real(
    "sigma", gt=0, unit=LOSS / LENGTH, meaning="noise added to a gradient, per coordinate", latex=r"\sigma"
)
L = real("L", gt=0, unit=LOSS / LENGTH, meaning="Lipschitz constant of each loss")
eta = real("eta", gt=0, unit=LENGTH**2 / LOSS, meaning="step size", latex=r"\eta")
n = integer("n", ge=1, unit=RECORDS, meaning="number of records")
t = integer("t", ge=1, unit=RECORDS, meaning="position of the record that differs")
epsilon = real("epsilon", gt=0, unit=NATS, latex=r"\varepsilon")
small_epsilon = real("epsilon", gt=0, le=1, unit=NATS, latex=r"\varepsilon")
level = real("l", gt=0, unit=NATS, meaning="ln(1/delta)", latex=r"\ln(1/\delta)", stands_for="number")
PROFILE = r"\Phi(-\frac{\varepsilon}{s}+\frac{s}{2})-e^{\varepsilon}\Phi(-\frac{\varepsilon}{s}-\frac{s}{2})"
"""The privacy profile of Gaussians s apart, over their standard deviation."""
