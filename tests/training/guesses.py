"""How likely so many correct guesses about coins are at most: Mahloujifar, Melis and Chaudhuri 2024, Algorithm 3.

Written out from the paper for tests alone, and apart from the auditor of one training run.
"""

from __future__ import annotations

import numpy as np

from dpverify.privacy import Guarantee
from dpverify.training import RecordedScores

EPSILONS = np.linspace(0.0, 8.0, 81)


def refuted(
    found: RecordedScores, claim: Guarantee, *, guesses: int, members_alone: bool, level: float
) -> bool:
    """Whether a claim is refuted by the surest guesses, at the last checkpoint; a true one with probability `level`."""
    order = np.argsort(-found.scores[:, -1], kind="stable")
    if members_alone:
        correct = int(found.members[order[:guesses]].sum())
    else:
        half = guesses // 2
        correct = int(found.members[order[:half]].sum() + (~found.members[order[-half:]]).sum())
    deltas = np.asarray(claim.privacy_profile(EPSILONS))
    m = len(found.members)

    def least(probability: float) -> float:
        """The smallest probability of the one side that allows this one on the other."""
        return float(np.max(np.maximum(probability - deltas, 0) * np.exp(-EPSILONS)))

    r, h = level * correct / m, level * (guesses - correct) / m
    for i in range(correct - 1, -1, -1):
        higher = max(h, least(r))
        r, h = r + i / (guesses - i) * (higher - h), higher
    return r + h > guesses / m
