"""The papers' algorithms. Each says its statements, its guarantees and its number of queries."""

from dpverify.algorithms.iteration import (
    ContractiveNoisyIteration,
    GaussianNoise,
    LaplaceNoise,
    NoiseLaw,
)
from dpverify.algorithms.noisy_gradient_descent import NoisyGradientDescent
from dpverify.algorithms.projected_noisy_sgd import PNMSGD, PNSGD, SkipPNSGD, StopPNSGD

__all__ = [
    "PNMSGD",
    "PNSGD",
    "ContractiveNoisyIteration",
    "GaussianNoise",
    "LaplaceNoise",
    "NoiseLaw",
    "NoisyGradientDescent",
    "SkipPNSGD",
    "StopPNSGD",
]
