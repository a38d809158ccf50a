"""O( ), Omega( ) and Theta( ): what a relation with one says, and the constants that there are (docs/notation.md)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product

from dpverify.proving.second_reader.trees import (
    ORDERS,
    DeclaredLetter,
    Domains,
    Json,
    Tree,
    all_of,
    compare,
    declared,
    free,
    has_order,
    inside,
    letter,
    number,
    worth,
)
from dpverify.proving.second_reader.typography import RefusedError, refuse

_POSITIVE: dict[str, Json] = {
    "kind": "real", "lower": "0", "lower_open": True, "upper": None, "upper_open": False,
    "unit": {"loss": "0", "length": "0"},
}  # fmt: skip
_COUNTING: dict[str, Json] = {**_POSITIVE, "kind": "integer", "lower_open": False}


@dataclass(frozen=True)
class Coefficient:
    """A constant of which there is a value."""

    name: str  # unlike that of any letter
    depends: frozenset[str] = frozenset()  # the letters on which it may depend
    premise: bool = False  # whether it stands in a condition
    threshold: bool = False  # whether it is the value from which on something holds


@dataclass
class Coefficients:
    """The constants of one formula."""

    domains: dict[str, DeclaredLetter]  # those of letters; each new constant is added
    taken: set[str]  # names, and how letters are printed
    soft: Tree | None = None  # the quantity whose powers a tilde leaves out
    found: list[Coefficient] = field(default_factory=list)  # in the order in which they are read

    @property
    def count(self) -> int:
        """How many there are so far."""
        return len(self.found)

    def are_premises(self, start: int) -> None:
        """Those from the one with this number on stand in conditions."""
        self.found[start:] = [replace(constant, premise=True) for constant in self.found[start:]]

    def threshold(self, of: str) -> Tree:
        """The value from which on something holds of a letter."""
        like = self.domains[of]
        name = self._unused(f"{of}_0" if of.isalpha() else "N")
        return self._new(replace(like, name=name), Coefficient(name, threshold=True))

    def multiple(self, order: Tree, *, upper: bool) -> Tree:
        """The most, or the least, that an order stands for: a constant times what is in its brackets."""
        refuse(order.head == ("Omega" if upper else "O"), "no bound follows from an order on this side")
        of, *below = order.parts
        depends = frozenset(part.name for part in below)
        name = self._unused("C" if upper else "c")
        times = self._new(declared({"name": name, **_POSITIVE}), Coefficient(name, depends))
        bound = times if of == number(1) else Tree("mul", (times, of))
        if not order.name:
            return bound
        if self.soft is None:
            raise RefusedError("what an order with a tilde leaves out is not said")
        name = self._unused("k")
        count = self._new(declared({"name": name, **_COUNTING}), Coefficient(name, depends))
        return Tree("mul" if upper else "div", (bound, Tree("pow", (self.soft, count))))

    def _new(self, domain: DeclaredLetter, constant: Coefficient) -> Tree:
        self.domains[domain.name] = replace(domain, said={**domain.said, "name": domain.name})
        self.taken.add(domain.name)
        self.found.append(constant)
        return letter(domain.name)

    def _unused(self, name: str) -> str:
        found, k = name, 1
        while found in self.taken or (k > 1 and f"{name}_{{{k}}}" in self.taken):
            k += 1
            found = f"{name}_{k}"
        return found


def compared(relation: str, left: Tree, right: Tree, constants: Coefficients) -> tuple[Tree, ...]:
    """What a relation with an order on a side says: one comparison, or two that hold together."""
    alone = left.head in ORDERS and right.head in ORDERS
    if alone and relation in ("==", "<="):
        refuse(left.head not in (right.head, "O"), "different orders on both sides")
        left = left.parts[0]
    if has_order(left):
        refuse(has_order(right), "orders on both sides")
        turned = {"==": "==", "!=": "!=", "<=": ">=", "<": ">", ">=": "<=", ">": "<"}
        return compared(turned[relation], right, left, constants)
    refuse(relation == "!=", "an order is unequal to nothing")
    if relation == "==":
        return _equal(left, right, constants)
    bound = _extreme(right, constants, upper=relation in ("<=", "<"))
    return (compare(relation, left, bound),)


def _equal(left: Tree, right: Tree, constants: Coefficients) -> tuple[Tree, ...]:
    kinds = {part.head for part in inside(right)} & ORDERS
    refuse(len(kinds) != 1, "several kinds of orders behind an equals sign")
    if kinds == {"Omega"} or kinds == {"Theta"}:
        below = compare("<=", _extreme(right, constants, upper=False), left)
        if kinds == {"Omega"}:
            return (below,)
        return below, compare("<=", left, _extreme(right, constants, upper=True))
    rest, terms = _terms(right)
    apart = left if rest is None else Tree("sub", (left, rest))
    bound: Tree | None = None
    for factors, order in terms:
        size = constants.multiple(order, upper=True)
        for factor in factors:
            size = Tree("mul", (_sized(factor, constants.domains), size))
        bound = size if bound is None else Tree("add", (bound, size))
    assert bound is not None
    return (compare("<=", _sized(apart, constants.domains), bound),)


def _sized(tree: Tree, domains: Domains) -> Tree:
    """Its absolute value; without bars where it is never negative."""
    return tree if -1 not in signs(tree, domains) else Tree("abs", (tree,))


def _terms(tree: Tree) -> tuple[Tree | None, list[tuple[tuple[Tree, ...], Tree]]]:
    """What is without orders, if anything, and orders with the factors that they have."""
    head, parts = tree.head, tree.parts
    if not has_order(tree):
        return tree, []
    if head in ORDERS:
        return None, [((), tree)]
    if head in ("add", "sub"):
        (first, found), (second, more) = map(_terms, parts)
        if first is None and second is not None and head == "sub":
            second = Tree("neg", (second,))
        both = second if first is None else first if second is None else Tree(head, (first, second))
        return both, found + more
    if head == "neg":
        rest, found = _terms(parts[0])
        return None if rest is None else Tree("neg", (rest,)), found
    if sum(map(has_order, parts)) == 1 and (head == "mul" or (head == "div" and has_order(parts[0]))):
        inner, other = parts if has_order(parts[0]) else reversed(parts)
        rest, found = _terms(inner)
        times = other if head == "mul" else Tree("div", (number(1), other))
        if rest is not None:
            rest = Tree(head, (other, rest) if head == "mul" else (rest, other))
        return rest, [((times, *factors), order) for factors, order in found]
    raise RefusedError("an order within a function behind an equals sign")


def _extreme(tree: Tree, constants: Coefficients, *, upper: bool) -> Tree:
    """The most, or the least, of what rises or falls with each of its orders."""
    if not has_order(tree):
        return tree
    if tree.head in ORDERS:
        return constants.multiple(tree, upper=upper)
    parts, domains = tree.parts, constants.domains
    ways = _ways(tree, domains)
    orders = [part.head for part in parts if has_order(part)]
    if upper and not ways and tree.head == "mul" and len(orders) == 1 and orders[0] in ORDERS:
        # O(g) lies between -C g and C g
        parts = tuple(part if has_order(part) else _sized(part, domains) for part in parts)
        ways = (1, 1)
    refuse(not ways, "an order where the whole is not known to rise or to fall with it")
    ends = (_extreme(p, constants, upper=upper is (way > 0)) for p, way in zip(parts, ways, strict=True))
    return replace(tree, parts=tuple(ends))


def _ways(tree: Tree, domains: Domains) -> tuple[int, ...]:
    """1 for each part with which it rises, and -1 where it falls; empty where that is not known of all orders in it."""
    parts = tree.parts
    orders, plain = ([part for part in parts if has_order(part) is is_one] for is_one in (True, False))
    match tree.head:
        case "add" | "max" | "min" | "exp" | "log" | "floor" | "ceiling" | "phi":
            return (1,) * len(parts)
        case "neg":
            return (-1,)
        case "sub":
            return (1, -1)
        case "div" if plain and _never_negative(plain, domains):
            return (1, -1)
        case "mul" if _never_negative(plain, domains):
            return (1, 1) if len(orders) == 1 or all(part.head in ORDERS for part in orders) else ()
        case "root" if not has_order(parts[1]):
            return (1, 1)
        case "sum" if not has_order(parts[1]) and not has_order(parts[2]):
            return (1, 1, 1)
        case "pow":
            return _ways_of_power(parts[0], parts[1], domains)
    return ()


def _ways_of_power(base: Tree, exponent: Tree, domains: Domains) -> tuple[int, ...]:
    if not has_order(exponent):
        power = worth(exponent)
        return () if power is None else (1 if power >= 0 else -1, 1)
    low, high = bounds(base, domains)
    if has_order(base) or low is None or not (low >= 1 or (low >= 0 and high is not None and high <= 1)):
        return ()
    return (1, 1 if low >= 1 else -1)


def _never_negative(parts: list[Tree], domains: Domains) -> bool:
    return all(-1 not in signs(part, domains) for part in parts)


def closed(
    claim: Tree, given: tuple[Tree, ...], found: list[Coefficient], fixed: frozenset[str], premises: str
) -> tuple[Tree, tuple[Tree, ...]]:
    """There are constants such that for all letters but the fixed ones, the conditions imply the claim.

    Conditions that are only about fixed letters stay outside.
    """
    refuse(any(c.threshold and not c.premise for c in found), "what is large enough is said in a condition")
    if not found:
        refuse(fixed or premises, "`fixed` or `premises` where there is no order")
        return claim, given
    multiples = [c for c in found if not c.threshold]
    refuse(len({c.depends for c in multiples}) > 1, "constants that depend on different letters")
    outer = fixed.union(*(c.depends for c in found))
    in_conditions = {c.name for c in multiples if c.premise}
    refuse(in_conditions and premises not in ("some", "every"), "`premises` says neither some nor every")
    outer |= in_conditions if premises == "every" else set()
    kept = tuple(formula for formula in given if free(formula) <= outer)
    moved = tuple(formula for formula in given if not free(formula) <= outer)
    chosen = [c.name for c in found if c.name not in outer]
    letters = free(claim).union(*map(free, moved)) - outer - set(chosen)
    if moved:
        claim = Tree("implies", (all_of(moved), claim))
    for name in sorted(letters, reverse=True):
        claim = Tree("forall", (claim,), name)
    for name in reversed(chosen):
        claim = Tree("exists", (claim,), name)
    return claim, kept


_EVERY = {-1, 0, 1}
_SIGNS: dict[str, Callable[..., set[int]]] = {
    "add": lambda a, b: {a or b} if a * b >= 0 else _EVERY, "sub": lambda a, b: {a or -b} if a * b <= 0 else _EVERY,
    "neg": lambda a: {-a}, "mul": lambda a, b: {a * b}, "div": lambda a, b: {a * b} if b else set(),
    "max": lambda *of: {max(of)}, "min": lambda *of: {min(of)}, "abs": lambda a: {abs(a)},
    "floor": lambda a: {a, min(a, 0)}, "ceiling": lambda a: {a, max(a, 0)},
    **dict.fromkeys(("pi", "exp", "phi", "erfc", "gamma", "factorial"), lambda *of: {1}),
    **dict.fromkeys(("binomial", "norm"), lambda *of: {0, 1}),
}  # fmt: skip
"""Which signs a value may have, from one sign of each part."""


def signs(tree: Tree, domains: Domains) -> set[int]:
    """Which signs it may have, as the domains of its letters tell."""
    if tree.head in ("num", "sym"):
        of = domains.get(tree.name) if tree.head == "sym" else None
        return _signs_between(*bounds(tree, domains), of)
    if tree.head == "log":
        low, high = (None if end is None else end - 1 for end in bounds(tree.parts[0], domains))
        return _signs_between(low, high, None)
    parts = [signs(part, domains) for part in tree.parts]
    if tree.head in _SIGNS:
        return set().union(*(_SIGNS[tree.head](*of) for of in product(*parts)))
    if tree.head in ("pow", "root"):
        return _signs_of_power(tree, parts[0], domains)
    alike = tree.head in ("sum", "product") and parts[0] in ({1}, {0}, {0, 1})
    return parts[0] if alike or (tree.head == "sum" and 1 not in parts[0]) else _EVERY


def _signs_between(low: Fraction | None, high: Fraction | None, of: DeclaredLetter | None) -> set[int]:
    found = _EVERY
    if low is not None and low >= 0:
        found = found - ({-1, 0} if low > 0 or (of and of.lower_open) else {-1})
    if high is not None and high <= 0:
        found = found - ({1, 0} if high < 0 or (of and of.upper_open) else {1})
    return found


def _signs_of_power(tree: Tree, base: set[int], domains: Domains) -> set[int]:
    power = worth(tree.parts[1])
    if tree.head == "root":
        power = 1 / power if power else None
    if power is None:
        fixed = tree.head == "root" or not _whole(tree.parts[1], domains) or base <= {0, 1}
        return {1} | (base & {0}) if fixed else {-1, 0, 1}
    if power.denominator > 1:
        return {1} | (base & {0} if power > 0 else set())
    if power == 0:
        return {1}
    base = base - {0} if power < 0 else base
    return {abs(s) for s in base} if power % 2 == 0 else base


def _whole(tree: Tree, domains: Domains) -> bool:
    """Whether it is an integer wherever it has a value, as it is written."""
    value = worth(tree)
    if value is not None:
        return value.denominator == 1
    if tree.head == "sym":
        return domains[tree.name].kind == "integer"
    if tree.head in ("floor", "ceiling", "factorial", "binomial"):
        return True
    if tree.head in ("add", "sub", "neg", "mul", "max", "min", "abs"):
        return all(_whole(part, domains) for part in tree.parts)
    if tree.head == "pow":
        power = worth(tree.parts[1])
        return _whole(tree.parts[0], domains) and power is not None and power.denominator == 1 and power >= 0
    return tree.head in ("sum", "product") and _whole(tree.parts[0], domains)


def bounds(tree: Tree, domains: Domains) -> tuple[Fraction | None, Fraction | None]:
    """Numbers that it is not below and not above, as far as its letters' domains tell."""
    if tree.head == "num":
        return tree.value, tree.value
    if tree.head == "sym":
        return domains[tree.name].lower, domains[tree.name].upper
    if tree.head not in ("add", "mul", "div"):
        return None, None
    (low, high), (least, most) = (bounds(part, domains) for part in tree.parts)
    if tree.head == "add":
        below = None if low is None or least is None else low + least
        return below, None if high is None or most is None else high + most
    if low is None or least is None or low < 0 or least < 0:
        return None, None
    if tree.head == "mul":
        return low * least, None if high is None or most is None else high * most
    return low / most if most else Fraction(0), None if high is None or least == 0 else high / least
