from .boosting import Boosting as Boosting
from .convex_sampling import (
    BoostedSampling as BoostedSampling,
    EfficientExponentialSampling as EfficientExponentialSampling,
    SamplingInConvexSet as SamplingInConvexSet,
)
from .exponential_sampling import ExponentialSampling as ExponentialSampling
from .grid_walk import GridWalk as GridWalk
from .huberized_hinge import HuberizedObjectivePerturbation as HuberizedObjectivePerturbation
from .localization import ApproximateLocalization as ApproximateLocalization, Localization as Localization
from .net_mechanism import NetMechanism as NetMechanism
from .noisy_gradient_descent import NoisyGradientDescent as NoisyGradientDescent
from .objective_perturbation import ObjectivePerturbation as ObjectivePerturbation
from .output_perturbation import OutputPerturbation as OutputPerturbation
