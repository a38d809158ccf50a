"""Private linear models as scikit-learn's estimators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dpverify.errors import InvalidArgumentError
from dpverify.extras import require_module
from dpverify.fitting.bounds import DeclaredBounds
from dpverify.fitting.models import PrivateModel, fit

require_module("A model as an estimator of scikit-learn", "sklearn")

from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin  # noqa: E402
from sklearn.utils import check_random_state  # noqa: E402
from sklearn.utils.multiclass import check_classification_targets, type_of_target  # noqa: E402
from sklearn.utils.validation import check_is_fitted, validate_data  # noqa: E402


@dataclass(kw_only=True, eq=False, repr=False)
class _Private(BaseEstimator):  # type: ignore[misc]
    """What all have in common: parameters as for `dpverify.fitting.fit`."""

    epsilon: float = 1.0
    delta: float = 1e-5
    method: str = "auto"
    radius: float = 1.0
    ridge: float = 0.0
    norm: float | None = None
    ranges: Sequence[Sequence[float]] | None = None
    fit_intercept: bool = False
    random_state: Any = None

    _loss: ClassVar[str]

    def _bounds(self) -> DeclaredBounds:
        return DeclaredBounds(norm=self.norm, ranges=self.ranges, intercept=self.fit_intercept)

    def _fitted(self, X: Any, y: Any, **given: Any) -> PrivateModel:
        given["seed"] = None if self.random_state is None else self._seed()
        return fit(
            X, y, loss=self._loss, epsilon=self.epsilon, delta=self.delta, method=self.method, radius=self.radius,
            ridge=self.ridge, bounds=self._bounds(), private_only=True, **given,
        )  # fmt: skip

    def _seed(self) -> int:
        try:
            return int(check_random_state(self.random_state).randint(2**31))
        except ValueError:
            allowed = "None, an integer from 0 to 2^32 - 1, or a numpy.random.RandomState"
            raise InvalidArgumentError("random_state", self.random_state, allowed) from None

    def _keep(self, model: PrivateModel) -> None:
        self.model_ = model
        self.guarantee_ = model.claim
        self.method_ = model.method.id
        self.risk_bound_ = model.method.bound
        self.population_risk_bound_ = model.population

    def _decisions(self, X: Any) -> Any:
        check_is_fitted(self)
        return self.model_.decisions(validate_data(self, X, reset=False, dtype=np.float64))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = self.random_state is None
        return tags


@dataclass(kw_only=True, eq=False, repr=False)
class _Classifier(ClassifierMixin, _Private):  # type: ignore[misc]
    classes: Sequence[Any] | None = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        # noise may outweigh the few records that scikit-learn's checks fit
        tags.classifier_tags.poor_score = True
        return tags

    def fit(self, X: Any, y: Any) -> Any:
        """Fit on records (n, d) and labels (n,); raises ValueError for anything but two classes."""
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        names = np.unique(y) if self.classes is None else np.asarray(self.classes)
        if self.classes is None and type_of_target(y, input_name="y") != "binary":
            raise ValueError(
                f"Only binary classification is supported. The type of the target is {type_of_target(y)}."
            )
        if names.shape == (1,):
            raise ValueError("Classifier can't train when only one class is present: y has one class.")
        self._keep(self._fitted(X, y, classes=names))
        self.classes_ = np.asarray(names)
        self.coef_, self.intercept_ = self.model_.coefficients[None, :], np.array([self.model_.intercept])
        return self

    def decision_function(self, X: Any) -> Any:
        """Signed distances times ||coef_||, shape (m,); positive for `classes_[1]`."""
        return self._decisions(X)

    def predict(self, X: Any) -> Any:
        """A class for each record, shape (m,)."""
        positive = self.decision_function(X) > 0
        return self.classes_[positive.astype(int)]


class DPLogisticRegression(_Classifier):
    """Logistic regression under (epsilon, delta)-DP for data sets that differ in one record.

    Bounds on records are declared: `norm` bounds a record's norm (1 unless said otherwise) and `ranges` each feature;
    longer records are shortened. Nothing is learned of the data besides the model, but for `classes=None`, where the
    two labels that appear are taken as public; declare them where they are not.

    Args:
        epsilon: in nats, above 0.
        delta: in [0, 1).
        method: the id of an algorithm, or `auto`: the one with the smallest proved bound on its risk.
        radius: of the ball of models, for records in the unit ball.
        ridge: weight of ||w||^2 / 2 in the risk.
        norm: bound on the norm of a record.
        ranges: the smallest and the largest value of each feature, or one pair for all.
        classes: the two labels, declared; the second is the positive one.
        fit_intercept: whether the model has an intercept, which shares the ball.
        random_state: for tests: whoever knows it knows the noise. None: noise from the operating system.

    Attributes:
        coef_, intercept_, classes_: as in scikit-learn.
        guarantee_: what holds of the fitted model.
        method_: the id of the algorithm that was run.
        risk_bound_: proved of its expected excess mean risk; None where nothing is.
        population_risk_bound_: the same for the population of which the records are independent draws.
        model_: the whole `PrivateModel`.

    Examples:
        >>> from dpverify.fitting import DPLogisticRegression
        >>> from dpverify.problems import load
        >>> data = load("digits")
        >>> model = DPLogisticRegression(epsilon=1.0, radius=10.0, classes=(-1, 1), random_state=0)
        >>> print(model.fit(data.features, data.labels).guarantee_, model.score(data.features, data.labels) > 0.8)
        (1, 1e-05)-DP True
    """

    _loss = "logistic"

    def predict_proba(self, X: Any) -> Any:
        """Probabilities of both classes, shape (m, 2)."""
        from scipy.special import expit

        positive = expit(self.decision_function(X))
        return np.stack([1 - positive, positive], axis=1)


class DPLinearSVC(_Classifier):
    """A linear support vector machine (hinge loss) under (epsilon, delta)-DP; parameters as `DPLogisticRegression`."""

    _loss = "hinge"


@dataclass(kw_only=True, eq=False, repr=False)
class DPLinearRegression(RegressorMixin, _Private):  # type: ignore[misc]
    """Least squares on a ball under (epsilon, delta)-DP; `label_range` is declared, labels outside are clipped.

    Other parameters as `DPLogisticRegression`; with a `ridge` it is ridge regression.
    """

    _loss = "squared"

    label_range: Sequence[float] = (-1.0, 1.0)

    def _bounds(self) -> DeclaredBounds:
        return DeclaredBounds(self.norm, self.ranges, self.label_range, self.fit_intercept)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True
        return tags

    def fit(self, X: Any, y: Any) -> Any:
        """Fit on records (n, d) and numbers (n,)."""
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        self._keep(self._fitted(X, y))
        self.coef_, self.intercept_ = self.model_.coefficients, self.model_.intercept
        return self

    def predict(self, X: Any) -> Any:
        """A number for each record, shape (m,)."""
        return self._decisions(X)
