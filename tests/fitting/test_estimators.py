"""Private models as scikit-learn's estimators: its own checks, and what is declared."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import check_estimator

from dpverify.fitting import DPLinearRegression, DPLinearSVC, DPLogisticRegression
from dpverify.problems import load

FAST = {"method": "yardstick.full-batch", "random_state": 0}
"""Comparing all methods takes most of the time of a small fit."""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", [DPLogisticRegression, DPLinearRegression])
def test_scikit_learns_own_checks(kind: Any) -> None:
    """All that apply pass; those that score are told that noise may outweigh so few records."""
    found = check_estimator(kind(**FAST), on_fail=None, on_skip=None)
    assert {row["status"] for row in found} <= {"passed", "skipped"}
    skipped = {row["check_name"] for row in found if row["status"] == "skipped"}
    # other libraries' arrays and frames, where they are not installed
    assert all("array" in name for name in skipped)
    assert len(found) > 40


def test_a_model_and_what_is_known_of_it() -> None:
    data = load("digits", n=500)
    names = np.array(["even", "odd"])
    labels = names[(np.asarray(data.labels) > 0).astype(int)]
    for kind in (DPLogisticRegression, DPLinearSVC):
        model = kind(epsilon=8.0, radius=10.0, classes=("even", "odd"), **FAST).fit(data.features, labels)
        assert model.score(data.features, labels) > 0.7
        assert str(model.guarantee_) == "(8, 1e-05)-DP"
        assert model.classes_.tolist() == ["even", "odd"]
        assert model.coef_.shape == (1, 64)
        assert model.model_.not_private is None
        assert model.risk_bound_ < model.population_risk_bound_ == model.model_.population
    probabilities = DPLogisticRegression(**FAST).fit(data.features, labels).predict_proba(data.features)
    assert np.sum(probabilities, axis=1) == pytest.approx(np.ones(data.n))


def test_bounds_are_declared_and_searched_as_any_parameter() -> None:
    data = load("breast-cancer", n=120, d=2)
    # what is declared of the classes is refused where it is false
    with pytest.raises(ValueError, match="allowed: 0 or 1, the declared classes"):
        DPLogisticRegression(classes=(0, 1), **FAST).fit(data.features, data.labels)
    search = GridSearchCV(DPLogisticRegression(**FAST), {"radius": [1.0, 5.0]}, cv=2)
    assert search.fit(data.features, data.labels).best_params_["radius"] in (1.0, 5.0)
    wide = DPLinearRegression(label_range=(0, 200), norm=4.0, fit_intercept=True, epsilon=100.0, **FAST)
    numbers = 100 + 50 * np.asarray(data.labels)
    assert abs(np.mean(wide.fit(data.features, numbers).predict(data.features)) - np.mean(numbers)) < 50
