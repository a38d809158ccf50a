"""Models of theorems in words, for readers: sizes of types, laws, values. Nothing reads these again."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from dpverify.proving.checker.theorems.language import Node, named, nodes, parts_of
from dpverify.proving.checker.theorems.steps import Clause

Json: TypeAlias = Any
SIGNS = {"<=": "<=", "<": "<", "==": "=", "!=": "!=", "and": "and", "or": "or", "implies": "implies"}
_LOOKS = re.compile(r"mathcal|var(?=(epsilon|theta|pi|rho|sigma|phi)(?![a-z]))")
LAWS = {"laplace": "Lap", "normal": "N", "exponential": "Exp", "uniform": "Unif", "bernoulli": "Ber"}


def short(name: str) -> str:
    """A name without what is only how it looks: `X` of `mathcalX`, `epsilon` of `varepsilon`."""
    return _LOOKS.sub("", name)


def in_words(node: Node, names: Mapping[str, str]) -> str:
    """A term in the letters of a page."""
    head, *rest = parts_of(node)
    match head, *rest:
        case ("num", str(written)):
            return written
        case ("sym", str(name)):
            return names.get(name, name)
        case ("of", str(name), *args):
            return f"{names.get(name, name)}({', '.join(in_words(one, names) for one in args)})"
        case ("all", (*letters,), (*given,), claim):
            bound = {named(parts_of(one)[0]): f"{chr(ord('i') + k)}" for k, one in enumerate(letters)}
            inside = {**names, **bound}
            if_ = " and ".join(in_words(one, inside) for one in given)
            said = f"if {if_} then {in_words(claim, inside)}" if given else in_words(claim, inside)
            return f"for all {', '.join(bound.values())}: {said}" if bound else said
        case ("add", *_):
            return " + ".join(in_words(one, names) for one in rest).replace("+ -", "- ")
        case ("mul", ("num", "-1"), *others):
            return "-" + "*".join(_factor(one, names) for one in others)
        case ("mul", *_):
            above = "*".join(_factor(one, names) for one in rest if not _below(one)) or "1"
            return "/".join([above, *(_factor(parts_of(one)[1], names) for one in rest if _below(one))])
        case "pow", base, exponent:
            return f"{_factor(base, names)}^{_factor(exponent, names)}"
        case "not", f:
            return f"not ({in_words(f, names)})"
    parts = [in_words(one, names) for one in rest if isinstance(one, tuple)]
    if head in SIGNS:
        kept = [
            f"({one})" if " " in one and head in ("and", "or", "implies") and len(parts) > 1 else one
            for one in parts
        ]
        return f" {SIGNS[named(head)]} ".join(kept)
    return f"{LAWS.get(named(head), head)}({', '.join(parts)})"


def _below(node: Node) -> bool:
    return node[0] == "pow" and node[2] == ("num", "-1")


def _factor(node: Node, names: Mapping[str, str]) -> str:
    found = in_words(node, names)
    return f"({found})" if {*" */"} & {*found} else found


def model_in_words(clause: Clause, names: Sequence[str], model: Json) -> list[str]:
    """A line for the types, and one for each letter."""
    letters = [parts_of(one) for one in parts_of(parts_of(clause.body)[1])]
    plain = [*map(short, names)]
    names = plain if len({*plain}) == len({*names}) else names
    known = {named(letter[0]): name for letter, name in zip(letters, names, strict=True)}
    lines = ["; ".join(_types(clause, model))] if model["types"] else []
    for (_, kinds, kind), name, value in zip(letters, names, model["letters"], strict=True):
        words = _Words(known, name, kind, model["types"])
        found = [*words.of(parts_of(kinds), value, [])]
        what = {said for _, said in found}
        if len(found) > 1 and len(what) == 1:
            found = [(words.at([f"x{k}" for k in range(len(parts_of(kinds)))]), found[0][1])]
        lines.append("; ".join(f"{where} {said}" for where, said in found))
    return lines


def _types(clause: Clause, model: Json) -> Iterator[str]:
    for name, kind in clause.types:
        size = model["types"][name]
        if isinstance(size, dict):
            place = "whole number" if size["for"] == "integer" else f"point of {short(size['for'])}"
            yield f"{short(name)}: sequences of a number for each {place}"
            continue
        if kind != "data":
            yield f"{short(name)}: {size} point{'s' * (size > 1)}"
            continue
        pairs = {(i, j) for i, j in model["neighbors"][name]}
        own = any(i == j for i, j in pairs)
        every = all((i, j) in pairs for i in range(size) for j in range(size) if i != j)
        which = "all" if every else ", ".join(f"{i} and {j}" for i, j in sorted(pairs) if i < j)
        yield f"{short(name)}: {size} data sets, neighbors are {which}{', and each of itself' * own}"


class _Words:
    def __init__(self, names: Mapping[str, str], name: str, kind: Node, sizes: Mapping[str, int]) -> None:
        self.names, self.name, self.kind, self.sizes = names, name, kind, sizes

    def of(self, kinds: tuple[Node, ...], value: Json, args: list[str]) -> Iterator[tuple[str, str]]:
        """What a letter is, as (`M(D0)`, `= ...`), for each point of its arguments."""
        own = [f"x{k}" for k in range(len(args), len(args) + len(kinds))]
        if isinstance(value, str) and value in ("read", "write"):
            said = "= the number of x0 at x1" if value == "read" else "= x0 with x2 in place of that at x1"
            yield self.at(own), said
        elif isinstance(value, dict) and "below" in value:
            ends = [self.step(end, kinds[0]) for end in value["below"]]
            for k, part in enumerate(value["then"]):
                where = ends[k - 1 : k + 1] if k else ends[:1]
                words = (
                    [f"> {where[0]}", f"<= {where[1]}"]
                    if len(where) > 1
                    else [f"{'>' if k else '<='} {e}" for e in where]
                )
                yield from self.of(kinds[1:], part, [*args, " and ".join(words) or "any"])
        elif isinstance(value, dict) and "where" in value:
            names = {**self.names, **dict(zip(value["params"], own, strict=True))}
            yield (
                self.at([*args, *own]),
                f"= the first {value['first']} with {in_words(nodes(value['where']), names)}",
            )
        elif isinstance(value, dict) and "independent" in value:
            yield self.at(args), f"~ independent {in_words(nodes(value['independent']), self.names)}"
        elif isinstance(value, dict):
            names = {**self.names, **dict(zip(value["params"], own, strict=True))}
            law = "~" if self.kind[:1] == ("law",) else "="
            yield self.at([*args, *own]), f"{law} {in_words(nodes(value['term']), names)}"
        elif not kinds:
            yield self.at(args), f"{'~' if self.kind[:1] == ('law',) else '='} {self.value(self.kind, value)}"
        else:
            for point, row in zip(self.points(kinds[0]), value, strict=True):
                yield from self.of(kinds[1:], row, [*args, point])

    def at(self, args: list[str]) -> str:
        """A letter with arguments."""
        return f"{self.name}({', '.join(args)})" if args else self.name

    @staticmethod
    def step(end: str, kind: Node) -> str:
        """Where a step ends; among whole numbers, at one."""
        return str(Fraction(end) // 1) if kind == "integer" else end

    def points(self, kind: Node) -> list[str]:
        """Names of points."""
        if kind == "formula":
            return ["false", "true"]
        if isinstance(kind, str):
            return [f"{short(kind)}{k}" for k in range(self.sizes[kind])]
        return [f"({one}, {other})" for one in self.points(kind[1]) for other in self.points(kind[2])]

    def value(self, kind: Node, value: Json) -> str:
        """A value."""
        if isinstance(value, bool):
            return str(value).lower()
        if kind in ("real", "integer") or kind[0] == "between":
            return str(value)
        if isinstance(kind, str):
            return f"{short(kind)}{value}"
        if kind[0] == "pair":
            return f"({', '.join(self.value(part, one) for part, one in zip(kind[1:], value, strict=True))})"
        if all(isinstance(one, str) for one in value):
            places = self.points(kind[1])
            masses = [(place, mass) for place, mass in zip(places, value, strict=True)]
        else:
            masses = [(self.value(kind[1], one), mass) for one, mass in value]
        kept = [f"{place}: {mass}" for place, mass in masses if mass != "0"]
        return f"{{{', '.join(kept)}}}"
