"""One small instance of every algorithm, on four records in one dimension, for tests that go through all of them."""

from __future__ import annotations

import dataclasses
import inspect
import pkgutil
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import numpy as np

import dpverify.algorithms
from dpverify.algorithms.bst14.convex_sampling import LocalizedSampling
from dpverify.algorithms.examples import Examples, Setting
from dpverify.algorithms.mn25.hard_instance import HardInstance
from dpverify.algorithms.yardstick import FullBatchDescent
from dpverify.problems import Dataset
from dpverify.statements.paper import loaded, papers

SMALL = Setting()
N = SMALL.n
MEAN, LINE, CURVED, CUBE = SMALL.mean, SMALL.line, SMALL.curved, SMALL.cube
BALL = MEAN.constraint
HARD: HardInstance = HardInstance.examples(SMALL)[""]()


def examples(id_: str, at: Setting = SMALL) -> Examples:
    """Those of the algorithm with an id."""
    found: Examples = loaded(ALGORITHMS[id_]).examples(at)
    return found


ALGORITHMS = {id_: path for paper in papers().values() for id_, path in paper.algorithms.items()}
EVERY: dict[str, Callable[[], Any]] = {
    f"{id_} ({note})" if note else id_: make
    for id_ in ALGORITHMS
    for note, make in examples(id_).items()
    if note != "asked"
} | {
    "(bst14.alg7 on balls)": lambda: LocalizedSampling(CUBE, 1.0, 0.2),
    "(yardstick)": FullBatchDescent.examples(SMALL)[""],
}
"""By statement id, with what is special about an instance in brackets."""


def all_classes_that_can_withdraw() -> Iterator[type]:
    """Every public dataclass of the algorithms with a field `withdraw_guarantee`."""
    found = set()
    for info in pkgutil.walk_packages(dpverify.algorithms.__path__, "dpverify.algorithms."):
        module = import_module(info.name)
        for name, member in inspect.getmembers(module, dataclasses.is_dataclass):
            if not name.startswith("_") and inspect.isclass(member) and not inspect.isabstract(member):
                fields = {field.name for field in dataclasses.fields(member)}
                if "withdraw_guarantee" in fields and member not in found:
                    found.add(member)
                    yield member


def line_data(values: Any) -> Dataset:
    """Records with one feature each and label 1."""
    features = np.asarray(values, dtype=np.float64)[:, None]
    return Dataset(features, np.ones(features.shape[0]))
