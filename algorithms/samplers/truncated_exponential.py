"""The law with density proportional to exp(-slope x) on [0, width], for slopes of either sign, elementwise.

All forms keep their relative accuracy for slopes and widths of any size: expm1 and log1p never cancel.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpverify.running.randomness import Array

_FLAT = 1e-300
"""Below this |slope| times width, the law is uniform in double precision."""


def log_mass(slopes: Array, widths: Array, xp: Any) -> Array:
    """Logarithm of the integral of exp(-slope x) over [0, width]."""
    z = xp.abs(slopes) * widths
    flat = z < _FLAT
    safe = xp.where(flat, xp.ones_like(z), z)
    shape = xp.where(flat, xp.zeros_like(z), xp.log(-xp.expm1(-safe) / safe))
    # a falling exponential from the higher end, or a rising one
    return shape + xp.log(widths) + xp.where(slopes < 0, z, xp.zeros_like(z))


def quantile(levels: Array, slopes: Array, widths: Array, xp: Any) -> Array:
    """The number in [0, width] below which a share `levels` of the mass lies, measured from the higher end.

    For a positive slope this is the quantile function, for a negative one that of the mirrored law; both turn
    uniform levels into the law.
    """
    z = xp.abs(slopes) * widths
    flat = z < _FLAT
    safe = xp.where(flat, xp.ones_like(z), z)
    share = xp.where(flat, levels, -xp.log1p(levels * xp.expm1(-safe)) / safe)
    share = xp.minimum(share, xp.ones_like(share))
    return widths * xp.where(slopes < 0, 1.0 - share, share)


def mean_fraction(slopes: NDArray[np.float64], widths: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mean over the width, in (0, 1), to about 1e-10."""
    z = np.abs(slopes) * widths
    small = z < 1e-2
    safe = np.where(small, 1.0, np.minimum(z, 700.0))
    fraction = np.where(small, 0.5 - z / 12 + z**3 / 720, 1 / safe - 1 / np.expm1(safe))
    fraction = np.where(z > 700.0, 1 / np.maximum(z, 700.0), fraction)
    return np.where(slopes < 0, 1 - fraction, fraction)
