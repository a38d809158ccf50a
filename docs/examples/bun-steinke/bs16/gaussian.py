"""The Gaussian mechanism of Proposition 1.6, for the mean of records."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpverify.algorithms.contract import Guarantees, replace_one
from dpverify.algorithms.parameters import Positive
from dpverify.algorithms.weakening import Weakenable
from dpverify.ledger.origins import AsPrinted
from dpverify.privacy import GDP, zCDP
from dpverify.problems import Dataset
from dpverify.running import Output, Randomness


@dataclass(frozen=True)
class GaussianMean(Weakenable):
    """The mean of n records, each shortened to norm 1, plus Gaussian noise of standard deviation 2 / (n sqrt(2 rho)).

    Guarantee: rho-zCDP when one record is replaced, which moves the mean by at most 2 / n (Proposition 1.6).

    Attributes:
        rho: nats.
    """

    rho: Positive

    id = "bs16.gaussian"
    statements = ("bs16.prop1.6",)

    def noise_stddev(self, n: int) -> float:
        """Of each coordinate of the noise, for n records."""
        return 2 / (n * math.sqrt(2 * self.rho))

    def _guaranteed(self, n: int) -> Guarantees:
        printed = AsPrinted("bs16.prop1.6", "Delta^2 / (2 sigma^2)-zCDP", "every Delta and sigma above 0")
        headline = replace_one(zCDP(self.rho), "bs16.prop1.6", origin=printed)
        return Guarantees(headline, sharpest=replace_one(GDP(math.sqrt(2 * self.rho)), origin=printed))

    def __call__(self, data: Dataset, *, rng: Randomness, runs: int) -> Output:
        """Noisy means, shape (runs, d)."""
        records = np.asarray(data.features)
        shortened = records / np.maximum(1, np.linalg.norm(records, axis=1))[:, None]
        noise = rng.normal((runs, data.d), "noise")
        return Output(shortened.mean(axis=0) + self.noise_stddev(data.n) * noise)
