"""The checker's language of theorems: terms with bound letters, their types, and substitution (docs/theorems.md).

A term is nested tuples, as certificates have nested lists: a head, and its parts. A binder has the letter that it
binds, `(name, type)`, behind its head. Bound letters get names by height (`#1` has none within), so that terms which
differ in the names of bound letters are equal; no letter that is declared begins with `#` or `!`.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from itertools import count
from typing import TypeAlias

from dpverify.proving.checker.reading import ANY_NUMBER, PARTS, exact, items
from dpverify.proving.checker.terms import COMPARISONS, demand

Node: TypeAlias = "str | tuple[Node, ...]"
Kind: TypeAlias = "tuple[tuple[Node, ...], Node]"
"""Of a letter: the types of its arguments, and that of what it is with them."""
Values: TypeAlias = "Mapping[str, tuple[tuple[str, ...], Node]]"
"""What stands for letters: the names of arguments, and a term in these."""
LOGIC = ("and", "or", "not", "implies")
INNER = {
    "mean": "lr", "chance": "lf", "integrable": "lr", "then": "ll", "proportional": "r", "total": "r", "density": "lr",
    "sum": "rii", "product": "rii", "largest": "rii", "smallest": "rii", "private": "lrr", "renyi-private": "lrr",
    "concentrated": "lr", "gaussian": "lr",
}  # fmt: skip
"""Binders, and of each part whether it is a law, a number, a whole number or a formula."""
OUTSIDE = {
    "mean": {0}, "chance": {0}, "integrable": {0}, "then": {0}, "density": {0}, "sum": {1, 2}, "product": {1, 2},
    "largest": {1, 2}, "smallest": {1, 2}, "private": {1, 2}, "renyi-private": {1, 2}, "concentrated": {1},
    "gaussian": {1},
}  # fmt: skip
"""The parts in which the letter of a binder is not bound."""
LAWS = {"normal": 2, "laplace": 2, "exponential": 1, "uniform": 2, "bernoulli": 1}
"""Laws of numbers, and how many numbers each has; a Bernoulli variable is a whole number."""
_FRESH = count()


def nodes(value: object) -> Node:
    """JSON as tuples."""
    if isinstance(value, str):
        return value
    return tuple(map(nodes, value if isinstance(value, tuple) else items(value)))


def parts_of(node: Node) -> tuple[Node, ...]:
    """The parts of a term or of a list."""
    if not isinstance(node, tuple):
        raise ValueError(f"no term: {str(node)[:60]}")  # not by `demand`, which would write each term out
    return node


def named(node: Node) -> str:
    """A name or a head."""
    if not isinstance(node, str):
        raise ValueError(f"no name: {str(node)[:60]}")
    return node


def bound_in(node: tuple[Node, ...]) -> list[Node]:
    """The letters that a binder binds: name, types of arguments, type; none of other terms."""
    if node[0] == "all":
        return [*parts_of(node[1])]
    if node[0] in INNER:
        name, kind = parts_of(node[1])
        return [(name, (), kind)]
    return []


def inner(node: tuple[Node, ...]) -> list[tuple[Node, bool]]:
    """The parts of a term, and of each whether the term's letters are bound in it."""
    if node[0] == "all":
        return [(part, True) for part in (*parts_of(node[2]), node[3])]
    if node[0] in INNER:
        outside = OUTSIDE.get(named(node[0]), set())
        return [(part, k not in outside) for k, part in enumerate(node[2:])]
    if node[0] in ("sym", "num"):
        return []
    return [(part, False) for part in node[2 if node[0] == "of" else 1 :]]


def again(node: tuple[Node, ...], letters: list[Node], parts: list[Node]) -> Node:
    """A term with other bound letters and other parts."""
    if node[0] == "all":
        return ("all", tuple(letters), tuple(parts[:-1]), parts[-1])
    if node[0] in INNER:
        name, _, kind = parts_of(letters[0])
        return (node[0], (name, kind), *parts)
    return (*node[: 2 if node[0] in ("of", "sym", "num") else 1], *parts)


def put(node: Node, values: Values) -> Node:
    """A term with terms for letters; bound letters are named anew, so that nothing is captured."""
    return canonical(_put(node, values))


def _put(node: Node, values: Values) -> Node:
    term = parts_of(node)
    if term[0] in ("sym", "of"):
        args = [_put(part, values) for part in term[2:]]
        found = values.get(named(term[1]))
        if found is None:
            return (*term[:2], *args)
        params, body = found
        demand(len(params) == len(args), f"{term[1]} with {len(args)} arguments")
        return _put(body, {p: ((), a) for p, a in zip(params, args, strict=True)}) if params else body
    names, letters = dict[str, tuple[tuple[str, ...], Node]](), list[Node]()
    for letter in bound_in(term):
        name, kinds, kind = parts_of(letter)
        new = f"!{next(_FRESH)}"
        params = tuple(f"!{next(_FRESH)}" for _ in parts_of(kinds))
        own: Node = ("of", new, *(("sym", p) for p in params)) if params else ("sym", new)
        names[named(name)] = params, own
        letters.append((new, kinds, kind))
    scope = {**values, **names}
    return again(term, letters, [_put(part, scope if within else values) for part, within in inner(term)])


@lru_cache(10**5)
def height(node: Node) -> int:
    """How many binders stand within one another."""
    term = parts_of(node)
    return max((height(part) for part, _ in inner(term)), default=0) + bool(bound_in(term))


@lru_cache(10**5)
def canonical(node: Node) -> Node:
    """A term whose bound letters are named by height; no two binders within one another may bind the same name."""
    term = parts_of(node)
    parts = [(canonical(part), within) for part, within in inner(term)]
    letters, names = list[Node](), dict[str, str]()
    top = max((height(part) for part, _ in parts), default=0) + 1
    for k, letter in enumerate(bound_in(term)):
        name, kinds, kind = parts_of(letter)
        names[named(name)] = f"#{top}.{k}"
        letters.append((f"#{top}.{k}", kinds, kind))
    return again(term, letters, [_renamed(part, names) if within else part for part, within in parts])


def _renamed(node: Node, new: Mapping[str, str]) -> Node:
    term = parts_of(node)
    parts = [_renamed(part, new) for part, _ in inner(term)]
    if term[0] in ("sym", "of"):
        name = named(term[1])
        return (term[0], new.get(name, name), *parts)
    return again(term, bound_in(term), parts)


def with_types(node: Node, types: Mapping[str, Node]) -> Node:
    """A term with types for names of types."""
    term = parts_of(node)
    letters = [
        (name, tuple(typed(one, types) for one in parts_of(kinds)), typed(kind, types))
        for name, kinds, kind in map(parts_of, bound_in(term))
    ]
    return again(term, [*letters], [with_types(part, types) for part, _ in inner(term)])


def typed(kind: Node, types: Mapping[str, Node]) -> Node:
    """A type with types for names."""
    if isinstance(kind, str):
        return types.get(kind, kind)
    if kind[:1] == ("between",):
        return kind  # its ends are numbers, not names
    return (kind[0], *(typed(part, types) for part in kind[1:]))


@lru_cache(10**5)
def free(node: Node) -> frozenset[str]:
    """The letters of a term that it does not bind."""
    term = parts_of(node)
    bound = {named(parts_of(letter)[0]) for letter in bound_in(term)}
    own = frozenset({named(term[1])}) if term[0] in ("sym", "of") else frozenset[str]()
    return own.union(*(free(part) - bound if within else free(part) for part, within in inner(term)))


@lru_cache(10**5)
def heads(node: Node) -> frozenset[str]:
    """All heads of a term."""
    term = parts_of(node)
    return frozenset({named(term[0])}).union(*(heads(part) for part, _ in inner(term)))


# ---------------------------------------------------------------------------------------------- types


def fits(found: Node, wanted: Node) -> bool:
    """Whether a term of one type may stand where another is wanted."""
    return found == wanted or (found == "integer" and wanted == "real")


def law_of(kind: Node) -> Node:
    """The type of that which has a law."""
    parts = kind if isinstance(kind, tuple) else ("", "")
    demand(len(parts) == 2 and parts[0] == "law", f"no law: {kind}")
    return parts[1]


def check_type(kind: Node, types: Mapping[str, str]) -> None:
    """Refuse what is no type."""
    if isinstance(kind, str):
        demand(kind in ("real", "integer", "formula") or kind in types, f"no type: {kind}")
        return
    if kind[:1] == ("between",):
        demand(len(kind) == 3 and exact(kind[1]) <= exact(kind[2]), f"no interval: {kind}")
        return
    demand(
        kind[:1] in (("law",), ("pair",)) and len(kind) == (2 if kind[0] == "law" else 3), f"no type: {kind}"
    )
    for part in kind[1:]:
        check_type(part, types)
        demand(part != "formula" and part[:1] != ("between",), f"{part} is no outcome")


class Scope:
    """The letters and types that are known, and of what type terms are."""

    def __init__(self, types: Mapping[str, str], letters: Mapping[str, Kind]) -> None:
        self.types, self.letters = types, letters

    def with_letters(self, letters: list[Node]) -> Scope:
        """The same with further letters."""
        new = dict(self.letters)
        for letter in letters:
            name, kinds, kind = parts_of(letter)
            for one in (*parts_of(kinds), kind):
                check_type(one, self.types)
            new[named(name)] = parts_of(kinds), kind
        return Scope(self.types, new)

    def demand_formula(self, node: Node) -> None:
        """Refuse what is no formula."""
        demand(self.type_of(node) == "formula", f"no formula: {str(node)[:80]}")

    def type_of(self, node: Node) -> Node:
        """The type of a term; refused where it has none."""
        term = parts_of(node)
        head = named(term[0])
        if head == "num":
            return "integer" if exact(term[1]).denominator == 1 else "real"
        if head in ("sym", "of"):
            demand(term[1] in self.letters, f"no letter: {term[1]}")
            kinds, kind = self.letters[named(term[1])]
            self.expect(term[2:], kinds)
            return "real" if kind[:1] == ("between",) else kind
        within = self.with_letters(bound_in(term))
        found = [(within if bound else self).type_of(part) for part, bound in inner(term)]
        if head == "all":
            demand(all(kind == "formula" for kind in found), "a clause of what are no formulas")
            return "formula"
        if head in INNER:
            return self.of_binder(head, parts_of(term[1])[1], found)
        return self.of_parts(head, found)

    def has(self, node: Node, kind: Node) -> bool:
        """Whether a term may stand where a type is wanted; between two numbers, only a letter of that type may."""
        found = self.type_of(node)
        if kind[:1] == ("between",):
            return parts_of(node)[0] in ("sym", "of") and self.letters[named(node[1])][1] == kind
        return fits(found, kind)

    def range_of(self, node: Node) -> tuple[Fraction, Fraction] | None:
        """The numbers between which a letter is by its type."""
        kind = self.letters[named(node[1])][1] if node[0] in ("sym", "of") else ""
        return (exact(kind[1]), exact(kind[2])) if kind[:1] == ("between",) else None

    def expect(self, parts: tuple[Node, ...], kinds: tuple[Node, ...]) -> None:
        """Refuse arguments of other types."""
        found = tuple(map(self.type_of, parts))
        right = len(found) == len(kinds) and all(map(fits, found, kinds))
        demand(right, f"of types {found} where {kinds} are wanted")

    def of_binder(self, head: str, kind: Node, found: list[Node]) -> Node:
        """The type of a term that binds a letter."""
        for one, wanted in zip(found, INNER[head], strict=True):
            right = {
                "l": one[:1] == ("law",),
                "r": fits(one, "real"),
                "f": one == "formula",
                "i": one == "integer",
            }
            demand(right[wanted], f"{head} of {one}")
        match head:
            case "mean" | "chance" | "integrable" | "then" | "density":
                demand(law_of(found[0]) == kind, f"{head} of another type than the law's")
                demand(head != "density" or kind == "real", "a density on what is not the line")
            case "proportional" | "total":
                demand(
                    isinstance(kind, str) and self.types.get(kind) == "finite",
                    f"{kind} is not known to be finite",
                )
            case "sum" | "product" | "largest" | "smallest":
                demand(kind == "integer", "a sum over no whole numbers")
            case _:
                demand(
                    isinstance(kind, str) and self.types.get(kind) == "data",
                    f"{kind} is no type of data sets",
                )
        if head == "proportional":
            return ("law", kind)
        if head in ("mean", "chance", "total", "sum", "product", "largest", "smallest"):
            return "real"
        return found[-1] if head == "then" else "formula"

    def is_space(self, kind: Node) -> bool:
        """Whether a type is a Euclidean space."""
        return isinstance(kind, str) and self.types.get(kind) == "space"

    def of_vectors(self, head: str, found: list[Node]) -> Node:
        """The type of a sum, a multiple, an inner product, a norm, or a normal law, of vectors of one space."""
        spaces = [*filter(self.is_space, found)]
        space, counts = spaces[0], (len(spaces), sum(fits(one, "real") for one in found))
        right = {
            "add": counts == (len(found), 0), "mul": counts == (1, len(found) - 1), "inner": counts == (2, 0),
            "norm": counts == (1, 0), "normal": counts == (1, 1) and found[0] == space,
        }  # fmt: skip
        demand(right[head] and len({*spaces}) == 1 and sum(counts) == len(found), f"{head} of {found}")
        return ("law", space) if head == "normal" else "real" if head in ("inner", "norm") else space

    def of_parts(self, head: str, found: list[Node]) -> Node:
        """The type of a term without letters of its own."""
        numbers = all(fits(one, "real") for one in found)
        whole = all(one == "integer" for one in found)
        if head in ("add", "mul", "inner", "norm", "normal") and any(map(self.is_space, found)):
            return self.of_vectors(head, found)
        if head in LAWS:
            demand(numbers and len(found) == LAWS[head], f"{head} of {found}")
            return ("law", "integer" if head == "bernoulli" else "real")
        match head, *found:
            case "certain", one:
                demand(one != "formula", "a law of formulas")
                return ("law", one)
            case "mixture", weight, one, other:
                demand(fits(weight, "real") and one == other and law_of(one), "a mixture of different laws")
                return one
            case "pair", one, other:
                return ("pair", one, other)
            case "indicator", "formula":
                return "real"
            case (("excess" | "divergence"), number, one, other):
                demand(fits(number, "real") and one == other and law_of(one), f"{head} of different laws")
                return "real"
            case ("ratio", one, other, at):
                demand(one == other and fits(at, law_of(one)), "a ratio of different laws")
                return "real"
            case "dominated", one, other:
                demand(one == other and law_of(one), "domination of different laws")
                return "formula"
            case "neighbors", str(one), other:
                demand(one == other and self.types.get(one) == "data", "neighbors that are no data sets")
                return "formula"
            case (("==" | "!="), one, other):
                demand(fits(one, other) or fits(other, one), f"{one} compared with {other}")
                return "formula"
        if head in LOGIC:
            demand(all(one == "formula" for one in found), f"{head} of what are no formulas")
            demand(len(found) == PARTS.get(head, len(found)), f"{head} of {len(found)} parts")
            return "formula"
        demand(head in PARTS or head in ANY_NUMBER, f"{head} is beyond this language")
        demand(numbers and len(found) == PARTS.get(head, len(found)), f"{head} of {found}")
        if head in COMPARISONS:
            return "formula"
        kept = head in ("add", "mul", "max", "min", "abs") and whole
        return "integer" if kept or head in ("floor", "ceiling") else "real"


PARTIAL = ("log", "phi_inverse", "gamma", "factorial", "binomial")
"""Functions that are not defined everywhere; powers are not, but for those with whole positive numbers."""


def is_partial(term: tuple[Node, ...]) -> bool:
    """Whether an operation may be undefined."""
    if term[0] == "pow":
        exponent = parts_of(term[2])
        value = exact(exponent[1]) if exponent[0] == "num" else Fraction(-1)
        return value < 0 or value.denominator != 1
    return term[0] in PARTIAL
