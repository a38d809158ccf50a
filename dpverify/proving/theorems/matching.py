"""Finds what letters of a clause stand for: a letter with arguments matches a term in which these are bound."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count

from dpverify.formulas.expressions import OutOfScopeError
from dpverify.proving.checker.theorems.arithmetic import OPERATIONS
from dpverify.proving.checker.theorems.language import (
    LOGIC,
    Kind,
    Node,
    Scope,
    bound_in,
    fits,
    free,
    inner,
    named,
    parts_of,
    put,
    with_types,
)
from dpverify.proving.checker.theorems.steps import Clause

_BOUND = count()


class NoMatchError(OutOfScopeError):
    """A pattern does not fit a term."""


@dataclass(frozen=True)
class Pattern:
    """A clause whose letters are to be found; their names and those of its types begin with `?`."""

    source: str | int
    types: tuple[str, ...]
    letters: tuple[tuple[str, Kind], ...]
    premises: tuple[Node, ...]
    claim: Node
    names: tuple[str, ...] = ()
    """Of its letters on the page."""

    @staticmethod
    def of(source: str | int, clause: Clause, names: Sequence[str] = ()) -> Pattern:
        """A clause as a pattern."""
        types = {name: f"?{name}" for name, _ in clause.types}
        _, letters, premises, claim = parts_of(with_types(clause.body, types))
        values, found = dict[str, tuple[tuple[str, ...], Node]](), list[tuple[str, Kind]]()
        for k, (name, kinds, kind) in enumerate(map(parts_of, parts_of(letters))):
            params = tuple(f"!p{i}" for i in range(len(parts_of(kinds))))
            own: Node = ("of", f"?{k}", *(("sym", p) for p in params)) if params else ("sym", f"?{k}")
            values[named(name)] = params, own
            found.append((f"?{k}", (parts_of(kinds), kind)))
        opened = [put(part, values) for part in (*parts_of(premises), claim)]
        return Pattern(
            source, tuple(types.values()), tuple(found), tuple(opened[:-1]), opened[-1], tuple(names)
        )


@dataclass(frozen=True)
class Assignment:
    """What letters and types of a pattern stand for, as far as that is known."""

    values: Mapping[str, tuple[tuple[str, ...], Node]] = field(default_factory=dict)
    types: Mapping[str, Node] = field(default_factory=dict)

    def filled(self, node: Node) -> Node:
        """A pattern with what is known in it."""
        return put(with_types(node, self.types), self.values)


class ClauseMatcher:
    """Matches patterns of one clause with terms in a scope."""

    def __init__(self, pattern: Pattern, scope: Scope) -> None:
        self.kinds = dict(pattern.letters)
        self.types = pattern.types
        self.scope = scope

    def match(self, pattern: Node, node: Node, found: Assignment) -> Assignment:
        """What letters stand for so that a pattern is a term.

        Raises:
            NoMatchError: where it is not, whatever they stand for.
        """
        late = list[tuple[Node, Node]]()
        found = self._match(pattern, node, found, self.scope, late)
        for one, other in late:
            if self.unknown(one, found) or found.filled(one) != other:
                raise NoMatchError
        return found

    def unknown(self, pattern: Node, found: Assignment) -> frozenset[str]:
        """The letters of a pattern of which nothing is known."""
        return frozenset(name for name in free(pattern) if name in self.kinds and name not in found.values)

    def _match(
        self, p: Node, s: Node, found: Assignment, scope: Scope, late: list[tuple[Node, Node]]
    ) -> Assignment:
        pattern, node = parts_of(p), parts_of(s)
        head = named(pattern[0])
        if head in ("sym", "of") and pattern[1] in self.kinds:
            name = named(pattern[1])
            if name in found.values:
                if not self.unknown(p, found):
                    if found.filled(p) != s:
                        raise NoMatchError
                    return found
                return self._match(found.filled(p), s, found, scope, late)
            slots = [named(part[1]) for part in map(parts_of, pattern[2:]) if part[0] == "sym"]
            if len({*slots}) < len(pattern) - 2 or not all(slot[:2] == "!b" for slot in slots):
                if node[0] == "of" and len(node) == len(pattern):
                    return self.imitated(name, pattern, node, found, scope, late)
                late.append((p, s))
                return found
            return self.bind(name, slots, s, found, scope)
        if head == "num" or (head in ("sym", "of") and pattern[:2] != node[:2]):
            if p != s:
                raise NoMatchError
            return found
        if head != node[0] or len(pattern) != len(node):
            raise NoMatchError
        mine, others = bound_in(pattern), bound_in(node)
        if len(mine) != len(others):
            raise NoMatchError
        values = dict[str, tuple[tuple[str, ...], Node]](), dict[str, tuple[tuple[str, ...], Node]]()
        letters = list[Node]()
        for one, other in zip(map(parts_of, mine), map(parts_of, others), strict=True):
            found = self.same_types((*parts_of(one[1]), one[2]), (*parts_of(other[1]), other[2]), found)
            fresh = f"!b{next(_BOUND)}"
            params = tuple(f"!p{k}" for k in range(len(parts_of(one[1]))))
            own: Node = ("of", fresh, *(("sym", q) for q in params)) if params else ("sym", fresh)
            values[0][named(one[0])] = values[1][named(other[0])] = params, own
            letters.append((fresh, other[1], other[2]))
        within = scope.with_letters(letters)
        pairs = zip(inner(pattern), inner(node), strict=False)
        if len(inner(pattern)) != len(inner(node)):
            raise NoMatchError
        for (part, bound), (other_part, _) in pairs:
            if bound:
                part, other_part = put(part, values[0]), put(other_part, values[1])
            found = self._match(part, other_part, found, within if bound else scope, late)
        return found

    def imitated(
        self, name: str, pattern: tuple[Node, ...], node: tuple[Node, ...], found: Assignment, scope: Scope,
        late: list[tuple[Node, Node]],
    ) -> Assignment:  # fmt: skip
        """A letter stands for the letter of the term, and its arguments for those there."""
        params = tuple(f"!q{k}" for k in range(len(node) - 2))
        kinds, kind = self.kinds[name]
        try:
            arguments, own = scope.letters[named(node[1])]
        except KeyError:
            raise NoMatchError from None
        found = self.same_types((*kinds, kind), (*arguments, own), found)
        body: Node = ("of", node[1], *(("sym", q) for q in params))
        found = replace(found, values={**found.values, name: (params, body)})
        for part, other in zip(pattern[2:], node[2:], strict=True):
            found = self._match(part, other, found, scope, late)
        return found

    def bind(
        self, name: str, slots: Sequence[str], node: Node, found: Assignment, scope: Scope
    ) -> Assignment:
        """A letter stands for a term, in which bound letters are its arguments."""
        params = tuple(f"!q{k}" for k in range(len(slots)))
        body = put(node, {slot: ((), ("sym", q)) for slot, q in zip(slots, params, strict=True)})
        if any(one[:2] == "!b" for one in free(body)):
            raise NoMatchError
        kinds, kind = self.kinds[name]
        try:
            own = scope.type_of(node)
            arguments = [scope.letters[slot][1] for slot in slots]
        except ValueError:
            raise NoMatchError from None
        found = self.same_types((*kinds, kind), (*arguments, own), found)
        return replace(found, values={**found.values, name: (params, body)})

    def same_types(self, patterns: Sequence[Node], kinds: Sequence[Node], found: Assignment) -> Assignment:
        """What types stand for so that types are these."""
        if len(patterns) != len(kinds):
            raise NoMatchError
        for pattern, kind in zip(patterns, kinds, strict=True):
            if isinstance(pattern, str) and pattern in self.types:
                known = found.types.get(pattern)
                if known is not None and not (fits(kind, known) or fits(known, kind)):
                    raise NoMatchError
                if known is None:
                    found = replace(found, types={**found.types, pattern: kind})
            elif isinstance(pattern, str) or isinstance(kind, str):
                if not fits(kind, pattern):
                    raise NoMatchError
            else:
                if pattern[0] != kind[0] or len(pattern) != len(kind):
                    raise NoMatchError
                found = self.same_types(pattern[1:], kind[1:], found)
        return found


def atoms(node: Node, *, deep: bool = False) -> Iterator[Node]:
    """The parts of a formula that are no arithmetic and no logic; with `deep`, those within them as well."""
    parts = parts_of(node)
    if parts[0] in OPERATIONS or parts[0] in LOGIC:
        for part, _ in inner(parts):
            yield from atoms(part, deep=deep)
        return
    if parts[0] in ("num", "sym", "all"):
        return
    yield node
    if deep:
        bound = {named(parts_of(letter)[0]) for letter in bound_in(parts)}
        for part, _ in inner(parts):
            for one in atoms(part, deep=True):
                if not free(one) & bound:
                    yield one


def is_telling(pattern: Node) -> bool:
    """Whether a part of a pattern is more than a letter to be found."""
    parts = parts_of(pattern)
    return not (parts[0] in ("sym", "of") and named(parts[1])[:1] == "?")
