from .adjacency import ALL_RECORDS, Adjacency, ProtectedRecords
from .claims import parse_claim
from .composition import compose, compose_profiles, for_group
from .conversions import hockey_stick_divergence, profile_to_tradeoff, smallest_epsilon, tradeoff_to_profile
from .gaussian import gaussian_hockey_stick, gaussian_tradeoff
from .guarantees import FDP, GDP, RDP, ApproxDP, Guarantee, ProfileDP, PureDP, tCDP, zCDP
from .iteration import NoisyIteration, Schedule, per_index
from .stated import Condition, ConditionKind, StatedGuarantee
from .subsampling import (
    NoiseConstant,
    SampledGaussian,
    noise_constant,
    noise_constant_interval,
    subsampled_gaussian,
    subsampled_gaussian_noise,
)

__all__ = [
    "ALL_RECORDS",
    "FDP",
    "GDP",
    "RDP",
    "Adjacency",
    "ApproxDP",
    "Condition",
    "ConditionKind",
    "Guarantee",
    "NoiseConstant",
    "NoisyIteration",
    "ProfileDP",
    "ProtectedRecords",
    "PureDP",
    "SampledGaussian",
    "Schedule",
    "StatedGuarantee",
    "compose",
    "compose_profiles",
    "for_group",
    "gaussian_hockey_stick",
    "gaussian_tradeoff",
    "hockey_stick_divergence",
    "noise_constant",
    "noise_constant_interval",
    "parse_claim",
    "per_index",
    "profile_to_tradeoff",
    "smallest_epsilon",
    "subsampled_gaussian",
    "subsampled_gaussian_noise",
    "tCDP",
    "tradeoff_to_profile",
    "zCDP",
]
