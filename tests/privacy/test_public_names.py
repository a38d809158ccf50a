"""The names that other floors build on."""

from __future__ import annotations

import dpverify.privacy

PROMISED = """
    ALL_RECORDS Adjacency Condition ConditionKind ProtectedRecords
    PureDP ApproxDP GDP RDP zCDP tCDP FDP ProfileDP Guarantee StatedGuarantee parse_claim
    gaussian_hockey_stick gaussian_tradeoff profile_to_tradeoff tradeoff_to_profile hockey_stick_divergence
    smallest_epsilon compose compose_profiles for_group NoisyIteration Schedule per_index
    SampledGaussian subsampled_gaussian subsampled_gaussian_noise noise_constant
    noise_constant_interval NoiseConstant
"""


def test_the_promised_names_are_there_and_no_others() -> None:
    assert sorted(PROMISED.split()) == sorted(dpverify.privacy.__all__)
    assert all(hasattr(dpverify.privacy, name) for name in dpverify.privacy.__all__)


def test_adjacency_members() -> None:
    assert {member.name for member in dpverify.privacy.Adjacency} == {
        "REPLACE_ONE",
        "ADD_REMOVE_ONE",
        "ZERO_OUT",
        "ANSWERS",
        "UNCHECKED",
        "INDEX",
        "USER",
        "GROUP",
        "LABEL",
        "LOCAL",
        "METRIC",
        "PRIVATE_COLUMNS",
    }
