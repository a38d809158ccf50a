"""What golden tests share: rows as a quick run has them, and data and profiles that owe nothing to the program."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm
from sklearn.datasets import load_breast_cancer, load_diabetes

from dpverify.running import Executor
from dpverify.statements.paper import papers
from dpverify.statements.plans import Profile
from dpverify.verification.audits import AuditSettings, carry_out

SETTINGS = AuditSettings(Profile.QUICK, 0, Executor.parse("serial"))


@cache
def rows(name: str) -> list[Any]:
    """The entries of one plan, which are wrong with probability 1e-6 at most."""
    (plan,) = (plan for paper in papers().values() for plan in paper.plans if plan.name == name)
    return list(carry_out(plan, SETTINGS, 1e-6 if plan.auditor.spends else 0.0))


def row(name: str) -> Any:
    """The entry about the plan itself."""
    return rows(name)[0]


def records(name: str, n: int | None, d: int) -> tuple[Any, Any]:
    """Features and labels of a data set of scikit-learn, ranged to the unit ball and projected, with seed 0."""
    source = load_breast_cancer if name == "breast-cancer" else load_diabetes
    x, y = source(return_X_y=True)
    labels = 2.0 * y - 1 if name == "breast-cancer" else (2 * y - 371) / 321
    middle, half = (x.max(axis=0) + x.min(axis=0)) / 2, (x.max(axis=0) - x.min(axis=0)) / 2
    x = (x - middle) / half
    x /= np.linalg.norm(x, axis=1).max()
    choose, project = (np.random.default_rng(seed) for seed in np.random.SeedSequence(0).spawn(2))
    if n is not None:
        chosen = choose.permutation(len(x))[:n]
        x, labels = x[chosen], labels[chosen]
    x = x @ (project.standard_normal((x.shape[1], d)) / math.sqrt(d))
    return x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1.0), labels


def gaussian(epsilon: float, mu: float) -> float:
    """Delta of N(0, 1) and N(mu, 1)."""
    low, high = -epsilon / mu + mu / 2, -epsilon / mu - mu / 2
    return float(norm.cdf(low) - math.exp(epsilon + norm.logcdf(high)))


def gaussian_epsilon(mu: float, delta: float = 1e-5) -> float:
    """The epsilon at which that is delta."""
    return float(brentq(lambda e: gaussian(e, mu) - delta, 0, 60))


def largest_mu(epsilon: float, delta: float) -> float:
    """The mu at which that is delta."""
    return float(brentq(lambda mu: gaussian(epsilon, mu) - delta, 1e-3, 20))
