"""O( ), Omega( ) and Theta( ): what a relation with one says, and the constants that there are (docs/notation.md)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from dpverify.proving.second_reader.trees import (
    ORDERS,
    DeclaredLetter,
    Domains,
    Json,
    Tree,
    all_of,
    bounds,
    compare,
    declared,
    free,
    has_order,
    inside,
    letter,
    number,
    signs,
    worth,
)
from dpverify.proving.second_reader.typography import RefusedError

_RISING = frozenset(("add", "max", "min", "exp", "log", "floor", "ceiling", "phi"))
_POSITIVE: dict[str, Json] = {
    "kind": "real", "lower": "0", "lower_open": True, "upper": None, "upper_open": False,
    "unit": {"loss": "0", "length": "0"},
}  # fmt: skip
_COUNTING: dict[str, Json] = {**_POSITIVE, "kind": "integer", "lower_open": False}


@dataclass(frozen=True)
class Coefficient:
    """A constant of which there is a value.

    Attributes:
        name: unlike that of any letter.
        depends: the letters on which it may depend.
        premise: whether it stands in a condition.
        threshold: whether it is the value from which on something holds.
    """

    name: str
    depends: frozenset[str] = frozenset()
    premise: bool = False
    threshold: bool = False


@dataclass
class Coefficients:
    """The constants of one formula.

    Attributes:
        domains: those of letters; each new constant is added.
        taken: names, and how letters are printed.
        soft: the quantity whose powers a tilde leaves out.
        found: all constants, in the order in which they are read.
    """

    domains: dict[str, DeclaredLetter]
    taken: set[str]
    soft: Tree | None = None
    found: list[Coefficient] = field(default_factory=list)

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
        if order.head == ("Omega" if upper else "O"):
            raise RefusedError("no bound follows from an order on this side of the relation")
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
        if left.head not in (right.head, "O"):
            raise RefusedError("different orders on both sides")
        left = left.parts[0]
    if has_order(left):
        if has_order(right):
            raise RefusedError("orders on both sides")
        turned = {"==": "==", "!=": "!=", "<=": ">=", "<": ">", ">=": "<=", ">": "<"}
        return compared(turned[relation], right, left, constants)
    if relation == "!=":
        raise RefusedError("an order is unequal to nothing")
    if relation == "==":
        return _equal(left, right, constants)
    bound = _extreme(right, constants, upper=relation in ("<=", "<"))
    return (compare(relation, left, bound),)


def _equal(left: Tree, right: Tree, constants: Coefficients) -> tuple[Tree, ...]:
    kinds = {part.head for part in inside(right)} & ORDERS
    if len(kinds) != 1:
        raise RefusedError("several kinds of orders behind an equals sign")
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


Terms = list[tuple[tuple[Tree, ...], Tree]]


def _terms(tree: Tree) -> tuple[Tree | None, Terms]:
    """What is without orders, if anything, and orders with the factors that they have."""
    if not has_order(tree):
        return tree, []
    if tree.head in ORDERS:
        return None, [((), tree)]
    if tree.head in ("add", "sub"):
        (first, found), (second, more) = (_terms(part) for part in tree.parts)
        if first is None and second is not None and tree.head == "sub":
            second = Tree("neg", (second,))
        both = second if first is None else first if second is None else Tree(tree.head, (first, second))
        return both, found + more
    if tree.head == "neg":
        rest, found = _terms(tree.parts[0])
        return None if rest is None else Tree("neg", (rest,)), found
    if tree.head == "mul" and sum(map(has_order, tree.parts)) == 1:
        inner = next(part for part in tree.parts if has_order(part))
        (other,) = (part for part in tree.parts if part is not inner)
        rest, found = _terms(inner)
        times = [((other, *factors), order) for factors, order in found]
        return None if rest is None else Tree("mul", (other, rest)), times
    if tree.head == "div" and not has_order(tree.parts[1]):
        rest, found = _terms(tree.parts[0])
        under = Tree("div", (number(1), tree.parts[1]))
        times = [((under, *factors), order) for factors, order in found]
        return None if rest is None else Tree("div", (rest, tree.parts[1])), times
    raise RefusedError("an order within a function behind an equals sign")


def _never_negative(of: Tree, domains: Domains) -> bool:
    """Whether it is 0 or more for all values of its letters."""
    return -1 not in signs(of, domains)


def _rises_with_orders(factors: tuple[Tree, ...], domains: Domains) -> bool:
    """Whether a product rises with each of its orders."""
    plain = [part for part in factors if not has_order(part)]
    others = [part for part in factors if has_order(part)]
    kept = all(_never_negative(part, domains) for part in plain)
    return kept and (len(others) == 1 or all(part.head in ORDERS for part in others))


def _falls_with_last(tree: Tree, domains: Domains) -> bool:
    """Whether it falls with its last part and rises with the one before."""
    if tree.head != "div":
        return tree.head in ("neg", "sub")
    plain = [part for part in tree.parts if not has_order(part)]
    return bool(plain) and _never_negative(plain[0], domains)


def _is_multiple_of_order(factors: tuple[Tree, ...]) -> bool:
    """Whether an order alone is multiplied with what has none."""
    inner = [part for part in factors if has_order(part)]
    return len(inner) == 1 and inner[0].head in ORDERS


def _turned(tree: Tree, domains: Domains) -> bool | None:
    """Whether a power falls as its base or its exponent rises; None if that is not known, or if both do."""
    base, exponent = tree.parts
    if not has_order(exponent):
        power = worth(exponent)
        return None if power is None else power < 0
    low, high = bounds(base, domains)
    if has_order(base) or low is None or not (low >= 1 or (low >= 0 and high is not None and high <= 1)):
        return None
    return low < 1


def _extreme(tree: Tree, constants: Coefficients, *, upper: bool) -> Tree:
    """The most, or the least, of what rises or falls with each of its orders."""
    if not has_order(tree):
        return tree
    domains, parts = constants.domains, tree.parts

    def end(of: Tree, *, turned: bool = False) -> Tree:
        return _extreme(of, constants, upper=upper is not turned)

    def with_parts(change: Callable[[Tree], Tree]) -> Tree:
        return replace(tree, parts=tuple(change(part) for part in parts))

    if tree.head in ORDERS:
        return constants.multiple(tree, upper=upper)
    if tree.head in _RISING:
        return with_parts(end)
    if _falls_with_last(tree, domains):
        return replace(tree, parts=(*map(end, parts[:-1]), end(parts[-1], turned=True)))
    if tree.head == "mul":
        if _rises_with_orders(parts, domains):
            return with_parts(end)
        if upper and _is_multiple_of_order(parts):  # O(g) lies between -C g and C g
            return with_parts(lambda part: end(part) if has_order(part) else _sized(part, domains))
    if tree.head == "root" and not has_order(parts[1]):
        return Tree("root", (end(parts[0]), parts[1]))
    if tree.head == "pow":
        turned = _turned(tree, domains)
        if turned is not None:
            return with_parts(lambda part: end(part, turned=turned) if has_order(part) else part)
    if tree.head == "sum" and not has_order(parts[1]) and not has_order(parts[2]):
        return replace(tree, parts=(end(parts[0]), *parts[1:]))
    raise RefusedError("an order where the whole is not known to rise or to fall with it")


def closed(
    claim: Tree, given: tuple[Tree, ...], found: list[Coefficient], fixed: frozenset[str], premises: str
) -> tuple[Tree, tuple[Tree, ...]]:
    """There are constants such that for all letters but the fixed ones, the conditions imply the claim.

    Conditions that are only about fixed letters stay outside.
    """
    if any(c.threshold and not c.premise for c in found):
        raise RefusedError("what is large enough is said in a condition")
    if not found:
        if fixed or premises:
            raise RefusedError("`fixed` or `premises` where there is no order")
        return claim, given
    if len({c.depends for c in found if not c.threshold}) > 1:
        raise RefusedError("constants that depend on different letters")
    outer = fixed.union(*(c.depends for c in found))
    for c in found:
        if c.premise and not c.threshold and premises not in ("some", "every"):
            raise RefusedError("`premises` does not say what the constant of an order in a condition is")
        if c.premise and not c.threshold and premises == "every":
            outer |= {c.name}
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
