from .canaries import (
    GradientCanaries as GradientCanaries,
    RecordCanaries as RecordCanaries,
    blank_records as blank_records,
    coordinate_gradients as coordinate_gradients,
    mislabeled_records as mislabeled_records,
    spread_gradients as spread_gradients,
)
from .recorder import (
    CanaryRecorder as CanaryRecorder,
    RecordedScores as RecordedScores,
    TrainingSet as TrainingSet,
)
from .scoring import LikelihoodRatio as LikelihoodRatio
