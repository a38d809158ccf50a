"""Subjects of diffprivlib: its tools and its models, each with epsilon = 1 unless it says otherwise.

A record is a row. Where a value may be missing, -1 stands for it, since data sets in files hold finite numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Data = NDArray[np.float64]
Rng = np.random.Generator


def _state(rng: Rng) -> int:
    return int(rng.integers(2**31))


# ------------------------------------------------------------------------------------------- tools


def _tool(name: str, data: Data, rng: Rng, **arguments: Any) -> float:
    """A statistic of numbers in [0, 1]."""
    from diffprivlib import tools

    values = np.where(data[:, 0] < 0, np.nan, data[:, 0])
    return float(
        getattr(tools, name)(values, epsilon=1.0, bounds=(0, 1), random_state=_state(rng), **arguments)
    )


def mean(data: Data, rng: Rng) -> float:
    return _tool("mean", data, rng)


def var(data: Data, rng: Rng) -> float:
    return _tool("var", data, rng)


def std(data: Data, rng: Rng) -> float:
    return _tool("std", data, rng)


def total(data: Data, rng: Rng) -> float:
    return _tool("sum", data, rng)


def median(data: Data, rng: Rng) -> float:
    return _tool("median", data, rng)


def quantile(data: Data, rng: Rng) -> float:
    return _tool("quantile", data, rng, quant=0.9)


def percentile(data: Data, rng: Rng) -> float:
    return _tool("percentile", data, rng, percent=10)


def nanmean(data: Data, rng: Rng) -> float:
    return _tool("nanmean", data, rng)


def nanvar(data: Data, rng: Rng) -> float:
    return _tool("nanvar", data, rng)


def nanstd(data: Data, rng: Rng) -> float:
    return _tool("nanstd", data, rng)


def nansum(data: Data, rng: Rng) -> float:
    return _tool("nansum", data, rng)


def count_nonzero(data: Data, rng: Rng) -> int:
    from diffprivlib import tools

    return int(tools.count_nonzero(data[:, 0], epsilon=1.0, random_state=_state(rng)))


def histogram(data: Data, rng: Rng) -> list[int]:
    """Two bins of [0, 1]; a second column is the weights."""
    from diffprivlib import tools

    weights = data[:, 1] if data.shape[1] > 1 else None
    found = tools.histogram(
        data[:, 0], epsilon=1.0, bins=2, range=(0, 1), weights=weights, random_state=_state(rng)
    )
    return [int(count) for count in found[0]]


def histogram_edges(data: Data, rng: Rng) -> float:
    """The width of the bins, where NumPy's rule chooses them."""
    from diffprivlib import tools

    edges = tools.histogram(data[:, 0], epsilon=1.0, bins="auto", range=(0, 1), random_state=_state(rng))[1]
    return float(edges[1] - edges[0])


def histogram2d(data: Data, rng: Rng) -> list[int]:
    from diffprivlib import tools

    counts = tools.histogram2d(
        data[:, 0], data[:, 0], epsilon=1.0, bins=2, range=[(0, 1), (0, 1)], random_state=_state(rng)
    )[0]
    return [int(count) for count in counts.ravel()]


# ------------------------------------------------------------------------------------- models; the last column is y


def _bayes(bounds: tuple[Any, Any], rng: Rng) -> Any:
    from diffprivlib.models import GaussianNB

    return GaussianNB(epsilon=1.0, bounds=bounds, priors=[0.5, 0.5], random_state=_state(rng))


def bayes(data: Data, rng: Rng) -> list[float]:
    """Features in [0, 1]."""
    return _bayes((0, 1), rng).fit(data[:, :-1], data[:, -1].astype(int)).theta_.ravel().tolist()


def bayes_far(data: Data, rng: Rng) -> list[float]:
    """Features in [100, 101]."""
    return _bayes((100, 101), rng).fit(data[:, :-1], data[:, -1].astype(int)).theta_.ravel().tolist()


def bayes_tiny(data: Data, rng: Rng) -> list[float]:
    """Two features, in [0, 1e-9] and [0, 9e-9]; in units of 1e-9."""
    model = _bayes(([0, 0], [1e-9, 9e-9]), rng).fit(data[:, :-1], data[:, -1].astype(int))
    return (model.theta_ * 1e9).ravel().tolist()


def bayes_declared(data: Data, rng: Rng) -> list[float]:
    """Classes 0 and 1 are declared, whether there are records of them or not."""
    model = _bayes((0, 1), rng).partial_fit(data[:, :-1], data[:, -1].astype(int), classes=[0, 1])
    return model.theta_.ravel().tolist()


def clusters(data: Data, rng: Rng) -> list[float]:
    """Two cluster centers of numbers in [0, 1]."""
    from diffprivlib.models import KMeans

    model = KMeans(2, epsilon=1.0, bounds=(0, 1), random_state=_state(rng)).fit(data)
    return sorted(model.cluster_centers_[:, 0].tolist())


def cluster(data: Data, rng: Rng) -> float:
    """One cluster center of numbers in [0, 1]."""
    from diffprivlib.models import KMeans

    return float(
        KMeans(1, epsilon=1.0, bounds=(0, 1), random_state=_state(rng)).fit(data).cluster_centers_[0, 0]
    )


def inertia(data: Data, rng: Rng) -> list[float]:
    """One cluster center and the attribute inertia_."""
    from diffprivlib.models import KMeans

    model = KMeans(1, epsilon=1.0, bounds=(0, 1), random_state=_state(rng)).fit(data)
    return [float(model.cluster_centers_[0, 0]), float(model.inertia_)]


def _linear(data: Data, rng: Rng, **arguments: Any) -> Any:
    from diffprivlib.models import LinearRegression

    model = LinearRegression(
        epsilon=1.0, bounds_X=(0, 1), bounds_y=(0, 1), random_state=_state(rng), **arguments
    )
    return model.fit(data[:, :-1], data[:, -1])


def linear(data: Data, rng: Rng) -> list[float]:
    model = _linear(data, rng)
    return [float(model.coef_[0]), float(np.ravel(model.intercept_)[0])]


def linear_through_zero(data: Data, rng: Rng) -> float:
    return float(_linear(data, rng, fit_intercept=False).coef_[0])


def _logistic(data: Data, rng: Rng, **arguments: Any) -> Any:
    from diffprivlib.models import LogisticRegression

    model = LogisticRegression(epsilon=1.0, random_state=_state(rng), **arguments)
    return model.fit(data[:, :-1], data[:, -1].astype(int))


def logistic(data: Data, rng: Rng) -> float:
    """Records of norm 1 at most, other arguments by default: how much surer the model is at -1 than at 1.

    Within [-30, 30]; 0 where the solver ran away, as it does with most draws of the noise.
    """
    model = _logistic(data, rng, data_norm=1.0)
    slope, start = float(model.coef_[0, 0]), float(model.intercept_[0])
    if abs(start) > 1000:
        return 0.0
    return float(np.clip(abs(start - slope) - abs(start + slope), -30, 30))


def logistic_through_zero(data: Data, rng: Rng) -> float:
    """Records of norm 1 at most, no intercept."""
    return float(_logistic(data, rng, data_norm=1.0, fit_intercept=False).coef_[0, 0])


def logistic_large(data: Data, rng: Rng) -> float:
    """Records of norm 1000 at most, no intercept."""
    return float(_logistic(data, rng, data_norm=1000.0, fit_intercept=False).coef_[0, 0])


def components(data: Data, rng: Rng) -> list[float]:
    """The first component's squared coordinates and its variance, of centered records of norm 1 at most."""
    from diffprivlib.models import PCA

    model = PCA(1, epsilon=1.0, data_norm=1.0, centered=True, random_state=_state(rng)).fit(data)
    return [*(model.components_[0] ** 2).tolist(), float(model.explained_variance_[0])]


def scaler(data: Data, rng: Rng) -> list[float]:
    from diffprivlib.models import StandardScaler

    model = StandardScaler(epsilon=1.0, bounds=(0, 1), random_state=_state(rng)).fit(data)
    return [float(model.mean_[0]), float(model.var_[0])]


def tree(data: Data, rng: Rng) -> list[int]:
    """The class of each node of a tree of depth 1."""
    from diffprivlib.models import DecisionTreeClassifier

    model = DecisionTreeClassifier(
        epsilon=1.0, bounds=(0, 1), classes=[0, 1], max_depth=1, random_state=_state(rng)
    )
    model.fit(data[:, :-1], data[:, -1].astype(int))
    return [int(node.argmax()) for node in model.tree_.value]
