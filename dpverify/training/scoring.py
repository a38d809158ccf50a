"""What one noisy update adds to the score of each gradient canary.

Any score is valid: a better one only shows more. The sum of inner products is the best where the canary is in every
step. Where steps are sampled, it is the log-likelihood ratio of "in, and sampled with this probability" to "out" (the
Neyman-Pearson lemma), which differs from the sum where the noise is not much larger than the canary.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpverify import checks

StepScore = Callable[[NDArray[np.float64]], NDArray[np.float64]]
"""What the inner products of one update with all directions, (m,), add to the scores, (m,)."""


def inner_products(products: NDArray[np.float64]) -> NDArray[np.float64]:
    """The inner products themselves."""
    return products


@dataclass(frozen=True)
class LikelihoodRatio:
    """The log-likelihood ratio of Gaussian noise with and without a canary that is in a step by Poisson sampling.

    The audit is valid whatever the numbers are. Those that are claimed serve well; if there may be too little noise, a
    smaller deviation is better.

    Attributes:
        noise_stddev: of the sum of gradients, in their unit.
        size: L2 norm of the canary after clipping.
        sampling_probability: with which a step has the canary, if it is in.

    Raises:
        InvalidArgumentError: if a number is out of range.

    Examples:
        >>> import numpy as np
        >>> from dpverify.training import LikelihoodRatio
        >>> LikelihoodRatio(noise_stddev=1.0, size=1.0, sampling_probability=1.0)(np.array([0.0, 0.5, 1.0]))
        array([-0.5,  0. ,  0.5])
    """

    noise_stddev: float
    size: float
    sampling_probability: float

    def __post_init__(self) -> None:
        """Check the numbers."""
        for name in ("noise_stddev", "size"):
            checks.number_field(self, name, above=0.0)
        checks.number_field(self, "sampling_probability", above=0.0, at_most=1.0)

    def __call__(self, products: NDArray[np.float64]) -> NDArray[np.float64]:
        """The log-likelihood ratio of each inner product, (m,), nats."""
        exponent = self.size * (products - self.size / 2) / self.noise_stddev**2
        if self.sampling_probability == 1:
            return exponent
        return np.logaddexp(
            math.log1p(-self.sampling_probability), math.log(self.sampling_probability) + exponent
        )
