"""Exact profiles: the law of a noisy chain's last state, pushed through on a grid, with bounds on both sides.

For maps of points in one or two dimensions with Gaussian noise, projected onto an interval or a rectangle.
"""

from dpverify.auditing.exact.chains import NoisyChain, NoisyStep, StepMap, gradient_step
from dpverify.auditing.exact.profiles import (
    DirectedProfile,
    ProfileEnclosure,
    last_iterate_profile,
    last_iterate_profiles,
)

__all__ = [
    "DirectedProfile",
    "NoisyChain",
    "NoisyStep",
    "ProfileEnclosure",
    "StepMap",
    "gradient_step",
    "last_iterate_profile",
    "last_iterate_profiles",
]
