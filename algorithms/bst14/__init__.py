"""The algorithms of Bassily, Smith, Thakurta (2014), in the paper's order."""

from dpverify.algorithms.bst14.boosting import Boosting
from dpverify.algorithms.bst14.convex_sampling import (
    BoostedSampling,
    EfficientExponentialSampling,
    SamplingInConvexSet,
)
from dpverify.algorithms.bst14.exponential_sampling import ExponentialSampling
from dpverify.algorithms.bst14.grid_walk import GridWalk
from dpverify.algorithms.bst14.huberized_hinge import HuberizedObjectivePerturbation
from dpverify.algorithms.bst14.localization import ApproximateLocalization, Localization
from dpverify.algorithms.bst14.net_mechanism import NetMechanism
from dpverify.algorithms.bst14.noisy_gradient_descent import NoisyGradientDescent
from dpverify.algorithms.bst14.objective_perturbation import ObjectivePerturbation
from dpverify.algorithms.bst14.output_perturbation import OutputPerturbation

ROWS = (
    NoisyGradientDescent,
    ExponentialSampling,
    OutputPerturbation,
    Localization,
    GridWalk,
    SamplingInConvexSet,
    BoostedSampling,
    EfficientExponentialSampling,
    NetMechanism,
    HuberizedObjectivePerturbation,
    ApproximateLocalization,
    Boosting,
    ObjectivePerturbation,
)
"""One class a row of the paper's catalog."""

__all__ = [
    "ROWS",
    "ApproximateLocalization",
    "BoostedSampling",
    "Boosting",
    "EfficientExponentialSampling",
    "ExponentialSampling",
    "GridWalk",
    "HuberizedObjectivePerturbation",
    "Localization",
    "NetMechanism",
    "NoisyGradientDescent",
    "ObjectivePerturbation",
    "OutputPerturbation",
    "SamplingInConvexSet",
]
