"""Which algorithms a paper has: the rows of its algorithms.csv, in the paper's order."""

from __future__ import annotations

import csv
from functools import cache
from importlib import resources
from typing import NamedTuple


class ListedAlgorithm(NamedTuple):
    """An algorithm, which is not loaded."""

    id: str
    where: str
    """In the paper."""
    title: str
    place: str
    """Its import path, `module:Class`."""


@cache
def algorithms_in(package: str) -> tuple[ListedAlgorithm, ...]:
    """The algorithms of a package, by its algorithms.csv; none where it has no such file."""
    table = resources.files(package).joinpath("algorithms.csv")
    if not table.is_file():
        return ()
    rows = (ListedAlgorithm(**row) for row in csv.DictReader(table.read_text(encoding="utf-8").splitlines()))
    return tuple(row._replace(place=f"{package}.{row.place}") for row in rows)


def algorithms_of(paper: str) -> tuple[ListedAlgorithm, ...]:
    """The algorithms of a paper of this repository, by its key."""
    return algorithms_in(f"dpverify.algorithms.{paper}")
