from .canaries import (
    GradientCanaries,
    RecordCanaries,
    blank_records,
    coordinate_gradients,
    mislabeled_records,
    spread_gradients,
)
from .recorder import CanaryRecorder, RecordedScores, TrainingSet
from .scoring import LikelihoodRatio

__all__ = [
    "CanaryRecorder",
    "GradientCanaries",
    "LikelihoodRatio",
    "RecordCanaries",
    "RecordedScores",
    "TrainingSet",
    "blank_records",
    "coordinate_gradients",
    "mislabeled_records",
    "spread_gradients",
]
