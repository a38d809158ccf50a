from .chains import (
    Map as Map,
    NoisyChain as NoisyChain,
    NoisyStep as NoisyStep,
    PiecewiseMap as PiecewiseMap,
    StepMap as StepMap,
    gradient_step as gradient_step,
)
from .profiles import (
    DirectedProfile as DirectedProfile,
    ProfileEnclosure as ProfileEnclosure,
    last_iterate_profile as last_iterate_profile,
    last_iterate_profiles as last_iterate_profiles,
)
