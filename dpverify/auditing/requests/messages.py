"""What a failing test prints of an audit."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpverify.auditing.requests.request import Request
from dpverify.ledger.evidence import PrivacyEvidence


def failure_lines(request: Request, found: PrivacyEvidence) -> list[str]:
    """The verdict with its event, both data sets, interval, seed and failure probability, a line each."""
    where = f"seed {found.seed}, {found.runs} runs, adjacency {found.adjacency}"
    if found.repeats is False:
        where += "; cannot be reproduced from the seed, under which outputs do not repeat"
    record = f", record {request.index}" if request.index else ""
    lines = [
        f"{found.claim} is {found.verdict} ({where}). {found.reason.rstrip('.')}.",
        f"claim: {found.claim}, adjacency {found.adjacency}{record}",
    ]
    if request.of_samples:
        lines.append(f"data: {found.data}")
    else:
        from dpverify.auditing.requests.data import arrays_of, shown

        data, neighbor = arrays_of(request)
        lines += [
            f"data: {shown(data)}",
            f"neighbor: {shown(neighbor)}",
            f"difference: {_difference(data, neighbor)}",
        ]
    claimed = f"; the claim is {found.epsilon_claimed:.6g}" if found.epsilon_claimed is not None else ""
    # what a sequential audit bounds epsilon by was itself refuted
    end = "(" if found.sequential is not None and found.epsilon_lower > 0 else "["
    return [
        *lines,
        f"interval: epsilon at delta {found.delta:g} is in {end}{found.epsilon_lower:.6g}, inf){claimed}",
        f"seed: {found.seed}",
        f"failure probability: {found.failure_probability:.3g}; so often is a correct claim called violated",
    ]


def _difference(data: NDArray[Any], neighbor: NDArray[Any]) -> str:
    """Where two neighbors first differ, records counted from 1."""
    from dpverify.auditing.requests.data import shown

    common = min(len(data), len(neighbor))
    if data.shape[1:] != neighbor.shape[1:]:
        return "of another form"
    more = "data set" if len(data) > len(neighbor) else "neighbor"
    for index in range(common):
        if not np.array_equal(data[index], neighbor[index]):
            if len(data) == len(neighbor):
                return f"record {index + 1} is {shown(data[index])}, in the neighbor {shown(neighbor[index])}"
            longer = data if len(data) > len(neighbor) else neighbor
            return f"record {index + 1} is in the {more} alone: {shown(longer[index])}"
    return f"record {common + 1} is in the {more} alone"
