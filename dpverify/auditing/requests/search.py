"""The most revealing pair of neighbors that a search finds for a request, kept in a file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from numpy.typing import ArrayLike

from dpverify.auditing.neighbors import Domain, Pair, SearchResult, search_pairs
from dpverify.auditing.requests.data import Sides, example_of
from dpverify.auditing.requests.drawing import Draws, loaded
from dpverify.auditing.requests.request import OF_SEARCH, UNIT_FIELDS, Request
from dpverify.errors import InvalidDataError
from dpverify.files import check_writable
from dpverify.privacy import Adjacency

_SEARCH = 1 << 20
"""Label of the streams of a search: the audit's own are numbered from 0."""
_LEAST = 2000
"""Runs of a search on each side."""


def with_found_pair(request: Request, tell: Callable[[str], None]) -> tuple[Request, str]:
    """Search, write the pair to the request's file, and ask about that pair; what was searched stands beside, in words.

    The search makes about as many runs on each side as the audit, at least 2000. Nothing of them is used again: all of
    the failure probability is the audit's, since what it audits was chosen by runs that it does not see.
    """
    save = Path(str(request.search_neighbors))
    check_writable("search_neighbors", save)
    found = find_pair(request)
    if not found.tried:
        raise InvalidDataError(
            f"The search knows no two neighbors of at least {request.fewest} records within the record range "
            f"{request.record_range}; allowed: a wider range, fewer records."
        )
    if found.pair is None:
        raise InvalidDataError(
            f"The function fails on all {found.tried} pairs of data sets; the first time: {found.failure}"
        )
    found.pair.save(save)
    tell(f"{found.summary()}; it is written to {save}")
    none = dict.fromkeys(("data", "data_form", "adjacency", "search_neighbors", *OF_SEARCH, *UNIT_FIELDS))
    return replace(request, pair=save, **none), f"; {found.summary()}"  # type: ignore[arg-type]


def find_pair(request: Request) -> SearchResult:
    """The search alone."""
    by = request.relation or Adjacency.REPLACE_ONE
    example, unit, table = example_of(request)
    domain = Domain(example, by, request.limits_of_records, unit, table, request.fewest)
    with loaded(request) as mechanism:

        def draw(pair: Pair, runs: int, stream: int) -> tuple[ArrayLike, ArrayLike]:
            sides: Sides = pair.data, pair.neighbor
            if table is not None:
                sides = table.records(pair.data), table.records(pair.neighbor)
            draws = Draws(request, mechanism, sides, stream=(_SEARCH, stream))
            with draws.ready() as ready:
                return ready.draw(runs)

        most = max(request.most_runs, _LEAST)
        return search_pairs(
            draw, domain, request.guarantee, runs=most, seed=request.seed, low_bits=request.low_bits
        )
