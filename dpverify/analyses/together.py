"""Whether the conditions of several formulas can hold at once: at a point, for all of them or case by case."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

from dpverify.errors import InvalidArgumentError
from dpverify.formulas.calculus import map_sides, substituted
from dpverify.formulas.expressions import Expression, OutOfScopeError, Variable
from dpverify.formulas.logic import Formula, Le, free_in
from dpverify.ledger.written_numbers import coordinates_of
from dpverify.proving.language import Obligation
from dpverify.proving.pipeline import witness_of
from dpverify.proving.proof import Budget
from dpverify.proving.provers.points import admitted
from dpverify.proving.provers.witnesses import Witness

BUDGET = Budget(boxes=20_000, operations=500_000, units=100_000)
"""What one search for a point may do."""

_TRUE = Le(0, 0)


@dataclass(frozen=True)
class Case:
    """Formulas whose conditions are looked at together."""

    names: tuple[str, ...]
    conditions: tuple[Formula, ...]
    """All of theirs, each once."""
    point: Mapping[str, str] | None
    """Where all of them hold, within all domains: symbol to exact value; None where no point is known."""
    why: str = ""
    """Why they do not stand in an earlier case; and, without a point, why there is none."""


def cases(obligations: Sequence[Obligation]) -> tuple[Case, ...]:
    """The conditions of formulas, domains of letters included, in as few cases as are found in one pass.

    One case where all can hold at once. Else each formula, in order, goes into the first case with whose conditions
    its own can hold at once. Letters of the same name are the same; where their domains differ, both hold.
    """
    near = {
        o.name: found.point for o in obligations if (found := witness_of(o.problem, BUDGET)).point is not None
    }
    found = _at_once(obligations, near)
    if found.point is not None:
        return (_case(obligations, found.point),) if obligations else ()
    made: list[tuple[list[Obligation], Mapping[str, str], str]] = []
    alone: list[Case] = []
    for o in obligations:
        why = ""
        for i, (members, point, before) in enumerate(made):
            joined = _at_once([*members, o], {**near, members[0].name: point})
            if joined.point is not None:
                made[i] = ([*members, o], joined.point, before)
                break
            why = why or _apart(joined, i + 1, members, o, near)
        else:
            own = _at_once([o], near)
            if own.point is None:
                alone.append(replace(_case([o], None), why=own.why))
            else:
                made.append(([o], own.point, why))
    return (*(replace(_case(m, point), why=why) for m, point, why in made), *alone)


def _apart(
    joined: Witness,
    number: int,
    members: Sequence[Obligation],
    o: Obligation,
    near: Mapping[str, Mapping[str, str]],
) -> str:
    """Why a formula does not stand in an earlier case, by a single member of it if there is one to blame."""
    blamed, name = joined, f"case {number}"
    for member in members:
        pair = _at_once([member, o], near)
        if pair.point is None:
            blamed, name = pair, f"{member.name}, of case {number}"
            break
    if blamed.impossible:
        return f"the conditions of {o.name} contradict those of {name}"
    return f"{o.name} with {name}: {blamed.why}"


def _case(obligations: Sequence[Obligation], point: Mapping[str, str] | None) -> Case:
    conditions = dict.fromkeys(a for o in obligations for a in o.assuming)
    return Case(tuple(o.name for o in obligations), tuple(conditions), point)


def _at_once(obligations: Sequence[Obligation], known: Mapping[str, Mapping[str, str]]) -> Witness:
    """A point at which all conditions hold."""
    try:
        union = _union(obligations)
    except (InvalidArgumentError, OutOfScopeError) as error:
        return Witness(None, str(error))
    if union is None:
        return Witness(None, "a letter's domains do not meet", True)
    point: dict[str, str] = {}
    for part in _parts(union):
        found = _near(part, obligations, known) or witness_of(part.problem, BUDGET)
        if found.point is None:
            return found
        point |= found.point
    return Witness({v.name: point[v.name] for v in union.over})


def _near(
    part: Obligation, obligations: Sequence[Obligation], known: Mapping[str, Mapping[str, str]]
) -> Witness | None:
    """A point put together from known ones, one formula's values before those of the others."""
    points = [known[o.name] for o in obligations if o.name in known]
    for first in points:
        values = {name: x for p in (*points, first) for name, x in p.items()}
        if not {v.name for v in part.over} <= set(values):
            continue
        point = {v.name: coordinates_of(values[v.name]) for v in part.over}
        kinds = all(isinstance(point[v.name], tuple) == (v.kind == "vector") for v in part.over)
        if kinds and admitted(part.problem, point):
            return Witness({v.name: values[v.name] for v in part.over})
    return None


def _union(obligations: Sequence[Obligation]) -> Obligation | None:
    """All conditions as one obligation that claims nothing; None where domains of a letter do not meet."""
    met: dict[str, Variable] = {}
    for v in (v for o in obligations for v in o.over):
        before = met.setdefault(v.name, v)
        both = _both(before, v)
        if both is None:
            return None
        met[v.name] = both
    conditions = []
    for a in dict.fromkeys(a for o in obligations for a in o.assuming):
        values: dict[Variable, Expression] = {v: met[v.name] for v in free_in(a) if met[v.name] != v}
        conditions.append(map_sides(a, partial(substituted, values=values)) if values else a)
    return Obligation("conditions", "", _TRUE, tuple(met.values()), assuming=tuple(conditions))


def _both(a: Variable, b: Variable) -> Variable | None:
    """A letter with both domains; None where they do not meet, `OutOfScopeError` for different kinds or units."""
    if (a.kind == "vector") != (b.kind == "vector") or not a.unit.same_as(b.unit):
        things = (f"{a.domain_text()}, {a.unit}", f"{b.domain_text()}, {b.unit}")
        raise OutOfScopeError(f"{a.name} stands for different things ({'; and '.join(things)})")
    lower, lower_open = max(_lower(a), _lower(b))
    upper, upper_closed = min(_upper(a), _upper(b))
    kind = "integer" if "integer" in (a.kind, b.kind) else a.kind
    new = replace(
        a,
        kind=kind,
        lower=None if lower == -_FAR else lower,
        lower_open=lower_open,
        upper=None if upper == _FAR else upper,
        upper_open=not upper_closed,
    )
    empty = lower > upper or (lower == upper and (lower_open or not upper_closed))
    return None if empty else new


_FAR = Fraction(10) ** 1000


def _lower(v: Variable) -> tuple[Fraction, bool]:
    return (-_FAR if v.lower is None else v.lower, v.lower_open)


def _upper(v: Variable) -> tuple[Fraction, bool]:
    return (_FAR if v.upper is None else v.upper, not v.upper_open)


def _parts(union: Obligation) -> Iterator[Obligation]:
    """Conditions that share letters, together; a letter without conditions alone."""
    groups: list[tuple[frozenset[Variable], list[Formula]]] = [(frozenset((v,)), []) for v in union.over]
    for a in union.assuming:
        letters = free_in(a)
        meeting = [g for g in groups if g[0] & letters]
        groups = [g for g in groups if not g[0] & letters]
        joined = frozenset[Variable]().union(*(g[0] for g in meeting))
        groups.append((joined, [*(f for g in meeting for f in g[1]), a]))
    for members, conditions in groups:
        over = tuple(v for v in union.over if v in members)
        yield replace(union, over=over, assuming=tuple(conditions))
