"""Two data sets that break a mechanism's claim, and audits on them, in words."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpverify.statements.mechanisms.pairs.sampled import PageAudit
    from dpverify.statements.mechanisms.pairs.search import BrokenPair


def pair_lines(id_: str, line: int, pair: BrokenPair) -> Iterator[str]:
    """A pair as a person would show it."""
    yield f"{id_}, line {line}: two data sets that the claim does not cover"
    yield from _data_lines(pair)
    if pair.probabilities is not None:
        (low, _), (_, high) = pair.probabilities
        yield f"  event: {pair.event}"
        yield f"  its probability: at least {low:g} on the data, at most {high:g} on the neighbor"
    if 0 < pair.needs < float("inf"):
        where = f" at {pair.at}" * bool(pair.at)
        most = pair.suffices
        needs = f"of at least {pair.needs:g}" if most is None else f"between {pair.needs:g} and {most:g}"
        yield f"  this pair needs {pair.measure} {needs}{where}"


def audit_lines(id_: str, audit: PageAudit) -> Iterator[str]:
    """An audit of a page's mechanism."""
    found = audit.evidence
    yield f"{id_}: its draws, made by a generator: {found.verdict}, failure probability {found.failure_probability:g}"
    yield from _data_lines(audit)
    yield f"  {found.reason}"


def _data_lines(shown: BrokenPair | PageAudit) -> Iterator[str]:
    if shown.letters:
        yield f"  for {', '.join(f'{latex} = {value}' for latex, value in shown.letters)}"
    for name, rows in (("data", shown.left), ("neighbor", shown.right)):
        runs = [(", ".join(row), len([*same])) for row, same in groupby(rows)]
        said = [row if n == 1 else f"{row} ({n} times)" for row, n in runs]
        yield f"  {name}: {'; '.join(said) or 'no records'}"
