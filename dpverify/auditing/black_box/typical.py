"""About what exact binomial bounds will be, for choosing events: thousands of them in a few milliseconds.

Wilson's score bounds with a correction for continuity. No verdict rests on them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

Array = NDArray[np.float64]


def typical_lower(frequency: Array, runs: int, failure_probability: float) -> Array:
    """About the lower confidence bound of a probability that shows as `frequency` in `runs` runs; same shape."""
    return 1.0 - typical_upper(1.0 - frequency, runs, failure_probability)


def typical_upper(frequency: Array, runs: int, failure_probability: float) -> Array:
    """About the upper confidence bound; see `typical_lower`."""
    z = -float(ndtri(failure_probability))
    p = np.minimum(frequency + 0.5 / runs, 1.0)
    center = p + z * z / (2 * runs)
    spread = z * np.sqrt(p * (1 - p) / runs + z * z / (4 * runs * runs))
    bound: Array = np.minimum((center + spread) / (1 + z * z / runs), 1.0)
    return np.where(frequency >= 1, 1.0, bound)
