from .boosting import Boosting
from .convex_sampling import BoostedSampling, EfficientExponentialSampling, SamplingInConvexSet
from .exponential_sampling import ExponentialSampling
from .grid_walk import GridWalk
from .huberized_hinge import HuberizedObjectivePerturbation
from .localization import ApproximateLocalization, Localization
from .net_mechanism import NetMechanism
from .noisy_gradient_descent import NoisyGradientDescent
from .objective_perturbation import ObjectivePerturbation
from .output_perturbation import OutputPerturbation

__all__ = [
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
