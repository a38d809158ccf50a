"""The algorithms of Bassily, Smith, Thakurta (2014), in the paper's order."""

import lazy_loader

ROWS = {
    "bst14.alg1": "dpverify.algorithms.bst14.noisy_gradient_descent:NoisyGradientDescent",
    "bst14.alg2": "dpverify.algorithms.bst14.exponential_sampling:ExponentialSampling",
    "bst14.alg3": "dpverify.algorithms.bst14.output_perturbation:OutputPerturbation",
    "bst14.alg4": "dpverify.algorithms.bst14.localization:Localization",
    "bst14.alg-cube": "dpverify.algorithms.bst14.grid_walk:GridWalk",
    "bst14.alg5": "dpverify.algorithms.bst14.convex_sampling:SamplingInConvexSet",
    "bst14.alg6": "dpverify.algorithms.bst14.convex_sampling:BoostedSampling",
    "bst14.alg7": "dpverify.algorithms.bst14.convex_sampling:EfficientExponentialSampling",
    "bst14.alg8": "dpverify.algorithms.bst14.net_mechanism:NetMechanism",
    "bst14.alg-huber": "dpverify.algorithms.bst14.huberized_hinge:HuberizedObjectivePerturbation",
    "bst14.alg-local-approx": "dpverify.algorithms.bst14.localization:ApproximateLocalization",
    "bst14.alg-boost": "dpverify.algorithms.bst14.boosting:Boosting",
    "bst14.alg-objpert": "dpverify.algorithms.bst14.objective_perturbation:ObjectivePerturbation",
}
"""Catalog id to import path, in the paper's order."""

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
