from .adjacency import (
    ALL_RECORDS as ALL_RECORDS,
    Adjacency as Adjacency,
    ProtectedRecords as ProtectedRecords,
)
from .claims import parse_claim as parse_claim
from .composition import compose as compose, compose_profiles as compose_profiles, for_group as for_group
from .conversions import (
    hockey_stick_divergence as hockey_stick_divergence,
    profile_to_tradeoff as profile_to_tradeoff,
    smallest_epsilon as smallest_epsilon,
    tradeoff_to_profile as tradeoff_to_profile,
)
from .gaussian import gaussian_hockey_stick as gaussian_hockey_stick, gaussian_tradeoff as gaussian_tradeoff
from .guarantees import (
    FDP as FDP,
    GDP as GDP,
    RDP as RDP,
    ApproxDP as ApproxDP,
    Guarantee as Guarantee,
    ProfileDP as ProfileDP,
    PureDP as PureDP,
    tCDP as tCDP,
    zCDP as zCDP,
)
from .iteration import NoisyIteration as NoisyIteration, Schedule as Schedule, per_index as per_index
from .stated import Condition as Condition, ConditionKind as ConditionKind, StatedGuarantee as StatedGuarantee
from .subsampling import (
    NoiseConstant as NoiseConstant,
    SampledGaussian as SampledGaussian,
    noise_constant as noise_constant,
    noise_constant_interval as noise_constant_interval,
    subsampled_gaussian as subsampled_gaussian,
    subsampled_gaussian_noise as subsampled_gaussian_noise,
)
