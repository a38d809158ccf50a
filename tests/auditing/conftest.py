"""Claims in closed form, written here independently of the library's own guarantees."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import norm

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Corner:
    """(epsilon, delta)-DP; below epsilon, the profile of the pair that attains it."""

    epsilon: float
    delta: float = 0.0

    def privacy_profile(self, epsilon: Array) -> Array:
        truth, lie = 1 / (1 + math.exp(-self.epsilon)), 1 / (1 + math.exp(self.epsilon))
        inside = np.maximum(truth - np.exp(np.minimum(epsilon, self.epsilon)) * lie, 0.0)
        profile: Array = self.delta + (1 - self.delta) * np.where(epsilon < self.epsilon, inside, 0.0)
        return profile


@dataclass(frozen=True)
class Gaussian:
    """The profile of N(0, 1) against N(mu, 1)."""

    mu: float

    def privacy_profile(self, epsilon: Array) -> Array:
        more = norm.sf(epsilon / self.mu - self.mu / 2)
        less = np.exp(epsilon + norm.logsf(epsilon / self.mu + self.mu / 2))
        profile: Array = np.clip(more - less, 0.0, 1.0)
        return profile


@pytest.fixture
def corner() -> Callable[..., Corner]:
    return Corner


@pytest.fixture
def gaussian() -> Callable[..., Gaussian]:
    return Gaussian
