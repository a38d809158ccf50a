from .chains import (
    Map,
    NoisyChain,
    NoisyStep,
    PiecewiseMap,
    StepMap,
    gradient_step,
)
from .profiles import (
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
