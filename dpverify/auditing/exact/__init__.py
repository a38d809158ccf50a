"""Exact profiles: the law of a noisy chain's last state, pushed through on a grid, with bounds on both sides.

For maps of points in one or two dimensions with Gaussian noise, smooth or with jumps on lines, projected onto an
interval, a rectangle or a disc.
"""

from dpverify.auditing.exact.chains import (
    Map,
    NoisyChain,
    NoisyStep,
    PiecewiseMap,
    StepMap,
    gradient_step,
)
from dpverify.auditing.exact.profiles import (
    DirectedProfile,
    ProfileEnclosure,
    last_iterate_profile,
    last_iterate_profiles,
)

__all__ = [
    "DirectedProfile",
    "Map",
    "NoisyChain",
    "NoisyStep",
    "PiecewiseMap",
    "ProfileEnclosure",
    "StepMap",
    "gradient_step",
    "last_iterate_profile",
    "last_iterate_profiles",
]
