"""What a formula says, as a tree, and the form of docs/certificates.md in which it is written down."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from dpverify.proving.second_reader.typography import RefusedError

Json = str | int | bool | None | list["Json"] | dict[str, "Json"]

RELATIONS = frozenset(("<=", "<", "==", "!="))
FORMULAS = RELATIONS | {"and", "or", "not", "implies", "forall", "exists"}
BINDING = frozenset(("sum", "product", "integral", "at"))
"""Heads whose name is bound in the first part and in no other."""
ORDERS = frozenset(("O", "Omega", "Theta"))
MOST_NODES = 20_000
"""Nodes of a tree at most, definitions written out."""
_MOST_BITS = 20_000


@dataclass(frozen=True)
class Tree:
    """A head and its parts.

    Heads are those of certificates, and besides: `sub`, `neg`, `div`, `root` and `log_base` as they are printed, and
    `O`, `Omega` and `Theta`, whose parts are what is in brackets and the letters below.

    Attributes:
        head: what it is.
        parts: what it is made of.
        name: of a letter, or of what is bound; `~` for an order with a tilde; the sign of an infinity.
        value: a number, or the order of a derivative.
    """

    head: str
    parts: tuple[Tree, ...] = ()
    name: str = ""
    value: Fraction = Fraction(0)


@dataclass(frozen=True)
class DeclaredLetter:
    """A letter with its domain; ends are None where there are none. In trees, it goes by its `name`."""

    name: str
    kind: str
    lower: Fraction | None
    lower_open: bool
    upper: Fraction | None
    upper_open: bool
    said: dict[str, Json]
    """As a certificate says it, where it may have another name."""

    @property
    def label(self) -> Json:
        """Its name in certificates."""
        return self.said["name"]


Domains = Mapping[str, DeclaredLetter]


def declared(said: dict[str, Json]) -> DeclaredLetter:
    """A letter as a certificate says it."""
    low, high = (None if said[end] is None else Fraction(str(said[end])) for end in ("lower", "upper"))
    name, kind = str(said["name"]), str(said["kind"])
    return DeclaredLetter(name, kind, low, bool(said["lower_open"]), high, bool(said["upper_open"]), said)


def number(value: Fraction | int) -> Tree:
    """A number."""
    return Tree("num", value=Fraction(value))


def letter(name: str) -> Tree:
    """A letter, by its name."""
    return Tree("sym", name=name)


def compare(relation: str, left: Tree, right: Tree) -> Tree:
    """A comparison as certificates know it: `>` turned around."""
    turned = {">=": "<=", ">": "<"}
    return Tree(turned[relation], (right, left)) if relation in turned else Tree(relation, (left, right))


def all_of(parts: tuple[Tree, ...]) -> Tree:
    """What says all of this."""
    return parts[0] if len(parts) == 1 else Tree("and", parts)


def split(tree: Tree) -> tuple[Tree, ...]:
    """The parts of what is said together."""
    return tree.parts if tree.head == "and" else (tree,)


def inside(tree: Tree) -> Iterator[Tree]:
    """The tree and all that it is made of."""
    yield tree
    for part in tree.parts:
        yield from inside(part)


def checked(tree: Tree) -> Tree:
    """A tree that is not too large."""
    for count, _ in enumerate(inside(tree)):
        if count > MOST_NODES:
            raise RefusedError(f"with all definitions written out, it has more than {MOST_NODES} parts")
    return tree


def has_order(tree: Tree) -> bool:
    """Whether there is an O( ) in it."""
    return any(part.head in ORDERS for part in inside(tree))


def free(tree: Tree) -> frozenset[str]:
    """The names of the letters that it depends on."""
    if tree.head == "sym":
        return frozenset((tree.name,))
    parts = [free(part) for part in tree.parts]
    if tree.head in BINDING or tree.head in ("forall", "exists"):
        parts[0] -= {tree.name}
    elif tree.head == "diff":
        parts[0] |= {tree.name}
    return frozenset().union(*parts)


def put(tree: Tree, name: str, value: Tree) -> Tree:
    """The tree with a value in a letter's place, wherever the letter is free."""
    if name not in free(tree):
        return tree
    if tree.head == "sym":
        return value
    if tree.head == "diff":
        if tree.name == name:  # the derivative there, not the derivative of what is there
            return Tree("at", (tree, value), name)
    elif tree.head in BINDING:
        body, *ends = tree.parts
        if tree.name != name and name in free(body):
            if tree.name in free(value):
                raise RefusedError(f"{tree.name} is bound where it is to be put in")
            body = put(body, name, value)
        return replace(tree, parts=(body, *(put(end, name, value) for end in ends)))
    if tree.head == "diff" and tree.name in free(value):
        raise RefusedError(f"{tree.name} is differentiated by where it is to be put in")
    return replace(tree, parts=tuple(put(part, name, value) for part in tree.parts))


def worth(tree: Tree) -> Fraction | None:
    """The value of what is made of numbers alone, by addition, multiplication and whole powers."""
    if tree.head == "num":
        return tree.value
    if tree.head not in ("add", "sub", "neg", "mul", "div", "pow"):
        return None
    values = [value for value in map(worth, tree.parts) if value is not None]
    if len(values) < len(tree.parts):
        return None
    first, last = values[0], values[-1]
    match tree.head:
        case "add":
            return sum(values, Fraction(0))
        case "sub":
            return first - last
        case "neg":
            return -first
        case "mul":
            return math.prod(values, start=Fraction(1))
        case "div":
            return first / last if last else None
    bits = max(abs(first.numerator), first.denominator).bit_length()
    if last.denominator > 1 or abs(last) * bits > _MOST_BITS or (last < 0 and first == 0):
        return None
    return first**last.numerator


def is_vector(tree: Tree, domains: Domains) -> bool:
    """Whether it is a vector, as it is written."""
    if tree.head == "sym":
        return domains[tree.name].kind == "vector"
    return tree.head in ("add", "sub", "neg", "mul", "div") and any(is_vector(p, domains) for p in tree.parts)


def check_kinds(tree: Tree, domains: Domains) -> None:
    """Refuse vectors where numbers belong, and numbers where vectors do."""
    vectors = [is_vector(part, domains) for part in tree.parts]
    if tree.head in ("inner", "norm"):
        wrong = not all(vectors)
    elif tree.head in ("add", "sub", "neg"):
        wrong = any(vectors) and not all(vectors)
    elif tree.head == "mul":
        wrong = sum(vectors) > 1
    elif tree.head == "div":
        wrong = vectors[1]
    else:
        bound = tree.name if tree.head in BINDING or tree.head == "diff" else ""
        wrong = any(vectors) or (bound != "" and domains[bound].kind == "vector")
    if wrong:
        raise RefusedError(f"vectors and numbers are mixed up at `{tree.head}`")
    for part in tree.parts:
        check_kinds(part, domains)


def certified(tree: Tree, domains: Domains) -> Json:
    """The tree as a certificate writes it: nothing simplified, what has no head of its own made of what has."""
    parts = [certified(part, domains) for part in tree.parts]
    match tree.head:
        case "num":
            return _number(tree.value)
        case "sym":
            return ["sym", domains[tree.name].label]
        case "inf":
            return ["inf", tree.name]
        case "sub":
            return ["add", parts[0], ["mul", _number(-1), parts[1]]]
        case "neg":
            known = _known(parts[0])
            return ["mul", _number(-1), parts[0]] if known is None else _number(-known)
        case "div":
            under = _known(parts[1])
            return ["mul", parts[0], _number(1 / under) if under else ["pow", parts[1], _number(-1)]]
        case "pow" | "root":
            power = worth(tree.parts[1])
            if power is not None:
                parts[1] = _number(power)
            if tree.head == "pow":
                return ["pow", *parts]
            return ["pow", parts[0], _number(1 / power) if power else ["pow", parts[1], _number(-1)]]
        case "log_base":
            return ["mul", ["log", parts[0]], ["pow", ["log", parts[1]], _number(-1)]]
        case "sum" | "product" | "integral" | "at":
            return [tree.head, parts[0], domains[tree.name].label, *parts[1:]]
        case "diff":
            return ["diff", parts[0], domains[tree.name].label, int(tree.value)]
        case "forall" | "exists":
            return [tree.head, domains[tree.name].said, parts[0]]
    return [tree.head, *parts]


def _number(value: Fraction | int) -> Json:
    return ["num", str(value)]


def _known(written: Json) -> Fraction | None:
    if isinstance(written, list) and written[0] == "num":
        return Fraction(str(written[1]))
    return None


def signs(tree: Tree, domains: Domains) -> set[int]:
    """Which signs it may have, as the domains of its letters tell."""
    parts = [signs(part, domains) for part in tree.parts if part.head != "inf"]
    match tree.head:
        case "num":
            return {(tree.value > 0) - (tree.value < 0)}
        case "sym":
            return _signs_of(domains[tree.name])
        case "pi" | "exp" | "phi" | "erfc" | "gamma" | "factorial":
            return {1}
        case "binomial" | "norm":
            return {0, 1}
        case "log":
            low, high = bounds(tree.parts[0], domains)
            if low is not None and low >= 1:
                return {1} if low > 1 else {0, 1}
            return {-1, 0} if high is not None and high <= 1 else {-1, 0, 1}
        case "neg":
            return {-s for s in parts[0]}
        case "add" | "sub" | "mul" | "div" | "max" | "min":
            return _signs_of_several(tree.head, parts)
        case "abs":
            return {abs(s) for s in parts[0]}
        case "floor":
            return parts[0] | ({0} if 1 in parts[0] else set())
        case "ceiling":
            return parts[0] | ({0} if -1 in parts[0] else set())
        case "pow" | "root":
            return _signs_of_power(tree, parts[0], domains)
        case "sum" | "product":
            keeps = parts[0] in ({1}, {0}, {0, 1}) or (tree.head == "sum" and 1 not in parts[0])
            return parts[0] if keeps else {-1, 0, 1}
    return {-1, 0, 1}


def _signs_of_several(head: str, parts: list[set[int]]) -> set[int]:
    """The signs of a sum, a product or an extreme value, from those of its parts."""
    if head in ("add", "sub"):
        second = [{-s for s in p} for p in parts[1:]] if head == "sub" else parts[1:]
        both: set[int] = set().union(parts[0], *second)
        if {-1, 1} <= both:
            return {-1, 0, 1}
        return both if all(0 in p for p in (parts[0], *second)) else both - {0}
    others = [p - {0} for p in parts[1:]] if head == "div" else parts[1:]
    found = parts[0]
    for other in others:
        pairs = [(a, b) for a in found for b in other]
        found = {max(p) if head == "max" else min(p) if head == "min" else p[0] * p[1] for p in pairs}
    return found


def _signs_of(of: DeclaredLetter) -> set[int]:
    found = {-1, 0, 1}
    if of.lower is not None and of.lower >= 0:
        found -= {-1, 0} if of.lower > 0 or of.lower_open else {-1}
    if of.upper is not None and of.upper <= 0:
        found -= {1, 0} if of.upper < 0 or of.upper_open else {1}
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
