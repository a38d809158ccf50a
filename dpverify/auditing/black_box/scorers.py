"""All scorers, the simplest first."""

from __future__ import annotations

from dpverify.auditing.black_box.boosting import GradientBoosting
from dpverify.auditing.black_box.cells import RatiosInCells
from dpverify.auditing.black_box.mixed import WithinCategories
from dpverify.auditing.black_box.scores import (
    BestCoordinate,
    DistanceFromCenter,
    FrequencyRatio,
    HistogramRatio,
    LinearDiscriminant,
    NearestCentroid,
    QuadraticLogistic,
    Scorer,
    SumOfFunctions,
    Value,
)

DEFAULT_SCORERS: tuple[Scorer, ...] = (
    Value(),
    DistanceFromCenter(),
    HistogramRatio(),
    FrequencyRatio(),
    WithinCategories(),
    BestCoordinate(),
    NearestCentroid(),
    LinearDiscriminant(),
    QuadraticLogistic(),
    SumOfFunctions(shared=True),
    SumOfFunctions(shared=False),
    RatiosInCells(),
    GradientBoosting(),
)
"""All of them; those that do not apply to the outputs at hand say so."""
