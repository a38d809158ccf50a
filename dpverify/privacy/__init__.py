"""Guarantees, privacy profiles, trade-off functions, Renyi curves, conversions and accountants."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpverify import lazy

if TYPE_CHECKING:
    from dpverify.privacy.adjacency import ALL_RECORDS, Adjacency, ProtectedRecords
    from dpverify.privacy.claims import parse_claim
    from dpverify.privacy.composition import compose, compose_profiles, for_group
    from dpverify.privacy.conversions import (
        hockey_stick_divergence,
        profile_to_tradeoff,
        smallest_epsilon,
        tradeoff_to_profile,
    )
    from dpverify.privacy.gaussian import gaussian_hockey_stick, gaussian_tradeoff
    from dpverify.privacy.guarantees import (
        FDP,
        GDP,
        RDP,
        ApproxDP,
        Guarantee,
        ProfileDP,
        PureDP,
        tCDP,
        zCDP,
    )
    from dpverify.privacy.iteration import (
        NoisyIteration,
        Schedule,
        from_initial_distance,
        per_index,
        printed_schedule,
    )
    from dpverify.privacy.stated import Condition, ConditionKind, StatedGuarantee
    from dpverify.privacy.subsampling import (
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
    "from_initial_distance",
    "gaussian_hockey_stick",
    "gaussian_tradeoff",
    "hockey_stick_divergence",
    "noise_constant",
    "noise_constant_interval",
    "parse_claim",
    "per_index",
    "printed_schedule",
    "profile_to_tradeoff",
    "smallest_epsilon",
    "subsampled_gaussian",
    "subsampled_gaussian_noise",
    "tCDP",
    "tradeoff_to_profile",
    "zCDP",
]

__getattr__ = lazy.attributes(
    __name__,
    {
        "ALL_RECORDS": "dpverify.privacy.adjacency",
        "Adjacency": "dpverify.privacy.adjacency",
        "ApproxDP": "dpverify.privacy.guarantees",
        "Condition": "dpverify.privacy.stated",
        "ConditionKind": "dpverify.privacy.stated",
        "FDP": "dpverify.privacy.guarantees",
        "GDP": "dpverify.privacy.guarantees",
        "Guarantee": "dpverify.privacy.guarantees",
        "NoiseConstant": "dpverify.privacy.subsampling",
        "NoisyIteration": "dpverify.privacy.iteration",
        "ProfileDP": "dpverify.privacy.guarantees",
        "ProtectedRecords": "dpverify.privacy.adjacency",
        "PureDP": "dpverify.privacy.guarantees",
        "RDP": "dpverify.privacy.guarantees",
        "SampledGaussian": "dpverify.privacy.subsampling",
        "Schedule": "dpverify.privacy.iteration",
        "StatedGuarantee": "dpverify.privacy.stated",
        "compose": "dpverify.privacy.composition",
        "compose_profiles": "dpverify.privacy.composition",
        "for_group": "dpverify.privacy.composition",
        "from_initial_distance": "dpverify.privacy.iteration",
        "gaussian_hockey_stick": "dpverify.privacy.gaussian",
        "gaussian_tradeoff": "dpverify.privacy.gaussian",
        "hockey_stick_divergence": "dpverify.privacy.conversions",
        "noise_constant": "dpverify.privacy.subsampling",
        "noise_constant_interval": "dpverify.privacy.subsampling",
        "parse_claim": "dpverify.privacy.claims",
        "per_index": "dpverify.privacy.iteration",
        "printed_schedule": "dpverify.privacy.iteration",
        "profile_to_tradeoff": "dpverify.privacy.conversions",
        "smallest_epsilon": "dpverify.privacy.conversions",
        "subsampled_gaussian": "dpverify.privacy.subsampling",
        "subsampled_gaussian_noise": "dpverify.privacy.subsampling",
        "tCDP": "dpverify.privacy.guarantees",
        "tradeoff_to_profile": "dpverify.privacy.conversions",
        "zCDP": "dpverify.privacy.guarantees",
    },
)
