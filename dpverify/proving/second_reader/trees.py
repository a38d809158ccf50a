"""What a formula says, as a tree, and the form of docs/certificates.md in which it is written down."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice

from dpverify.proving.second_reader.typography import refuse

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
    """

    head: str
    parts: tuple[Tree, ...] = ()
    name: str = ""  # of a letter, or of what is bound; `~` for an order with a tilde; the sign of an infinity
    value: Fraction = Fraction(0)  # a number, or the order of a derivative


@dataclass(frozen=True)
class DeclaredLetter:
    """A letter with its domain; ends are None where there are none. In trees, it goes by its `name`."""

    name: str
    kind: str
    lower: Fraction | None
    lower_open: bool
    upper: Fraction | None
    upper_open: bool
    said: dict[str, Json]  # as a certificate says it, where it may have another name

    @property
    def label(self) -> str:
        """Its name in certificates."""
        return str(self.said["name"])


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
            refuse(tree.name in free(value), f"{tree.name} is bound where it is to be put in")
            body = put(body, name, value)
        return replace(tree, parts=(body, *(put(end, name, value) for end in ends)))
    taken = tree.head == "diff" and tree.name in free(value)
    refuse(taken, f"{tree.name} is differentiated by where it is to be put in")
    return replace(tree, parts=tuple(put(part, name, value) for part in tree.parts))


def _power(base: Fraction, exponent: Fraction) -> Fraction:
    bits = max(abs(base.numerator), base.denominator).bit_length()
    if exponent.denominator > 1 or abs(exponent) * bits > _MOST_BITS:
        raise ArithmeticError
    return base**exponent.numerator


_ARITHMETIC: dict[str, Callable[..., Fraction]] = {
    "add": operator.add, "sub": operator.sub, "neg": operator.neg, "mul": operator.mul, "div": operator.truediv,
    "pow": _power,
}  # fmt: skip


def worth(tree: Tree) -> Fraction | None:
    """The value of what is made of numbers alone, by addition, multiplication and whole powers."""
    if tree.head == "num":
        return tree.value
    values = [worth(part) for part in tree.parts]
    if tree.head not in _ARITHMETIC or None in values:
        return None
    try:
        return _ARITHMETIC[tree.head](*values)
    except ArithmeticError:
        return None


def is_vector(tree: Tree, domains: Domains) -> bool:
    """Whether it is a vector, as it is written."""
    if tree.head == "sym":
        return domains[tree.name].kind == "vector"
    return tree.head in ("add", "sub", "neg", "mul", "div") and any(is_vector(p, domains) for p in tree.parts)


_VECTORS = {
    "inner": (2,), "norm": (1,), "add": (0, 2), "sub": (0, 2), **dict.fromkeys(("neg", "mul", "div"), (0, 1))
}  # fmt: skip
"""How many of their parts may be vectors; of all others, none."""


def checked(tree: Tree, domains: Domains) -> Tree:
    """The tree, which is not too large, has infinities at ends of integrals only, and does not mix up vectors."""
    large = next(islice(inside(tree), MOST_NODES + 1, None), None)
    refuse(large, f"with all definitions written out, it has more than {MOST_NODES} parts")
    for part in inside(tree):
        numbers = part.parts[:1] if part.head == "integral" else part.parts
        refuse(any(of.head == "inf" for of in numbers), "an infinity that is no end of an integral")
        vectors = [is_vector(of, domains) for of in part.parts]
        wrong = sum(vectors) not in _VECTORS.get(part.head, (0,)) or (part.head == "div" and vectors[1])
        bound = part.head in BINDING or part.head == "diff"
        mixed = wrong or (bound and domains[part.name].kind == "vector")
        refuse(mixed, f"vectors and numbers are mixed up at `{part.head}`")
    return tree


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
