"""Formulas whose parts are clear and whose whole has two readings: what commas, conditions and brackets belong to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from lark import Tree

from dpverify.formulas.expressions import Variable
from dpverify.formulas.notation.customs import may_name_a_function
from dpverify.formulas.notation.signs import Sign
from dpverify.formulas.notation.syntax import Node, Reads, adds, is_letter, kind_of, subtrees, tokens_of
from dpverify.formulas.notation.tokens import DRESS, end_of_group, normal, texts

_UPWARD = {r"\le": True, "<": True, r"\ge": False, ">": False}
_PLAIN = frozenset(("number", "letter", "constant", "euler", "indexed"))


def check_suffix(reader: Reads, tree: Node) -> None:
    """A condition after a claim that has a quantifier, an `iff` or several parts: of which it is one.

    A comma before `\\text{for all}` says that it is about all that stands before.
    """
    statement, conditions = subtrees(tree)
    (word,) = (child for child in tree.children if isinstance(child, Sign))
    last = statement
    while last.data == "implies":
        last = subtrees(last)[1]
    whole = f"({reader.source(statement)}) {reader.source([word, conditions])}"
    if last.data in ("exists", "for_all"):
        other = r"the condition within, as in `\exists C:\ \forall n:\ n\ge 1\implies\dots`"
        raise reader.two(tree, whole, other)
    if word.payload != ",":
        several = last.data == "implication" and any(
            child.type in ("COMMA", "AND") for child in last.children[0].children if isinstance(child, Sign)
        )
        related = any(reader.lone_letter(part) is None for part in subtrees(conditions))
        if last.data == "equivalent" or (several and related):
            one = f"{reader.source(statement)}, {reader.source([word, conditions])}"
            raise reader.two(tree, one, "the condition of the last part alone, in a formula of its own")
    for child in conditions.children:
        if isinstance(child, Sign) and child.type == "AND" and child.payload == ",":
            one = "the condition without the comma before `and`"
            raise reader.two(tree, one, "a second formula, before the condition")


def check_commas(reader: Reads, node: Node) -> None:
    """`A, B\\implies C` and `A\\implies B, C`."""
    sign = next(str(child) for child in node.children if isinstance(child, Sign))
    left, right = subtrees(node)
    for side, other in ((left, right), (right, left)):
        junction = side.children[0] if side.data == "implication" else side
        if junction.data != "junction":
            continue
        signs = [child for child in junction.children if isinstance(child, Sign) and child.type == "COMMA"]
        if signs:
            listed, single = reader.source(side), reader.source(other)
            shown = f"({listed}) {sign} {single}" if side is left else f"{single} {sign} ({listed})"
            raise reader.two(node, shown, f"a list, one part of which has the `{sign}` in brackets with it")


def check_ranges(reader: Reads, junction: Node, *, condition: bool) -> None:
    """`0<a,b<1` and `1\\le i,j\\le n`: two relations, or one of both letters."""
    listed: list[Node] = []
    """A relation, and the letters after it, each after a comma."""
    for sign, part in zip([None, *junction.children[1::2]], junction.children[::2], strict=True):
        if sign is not None and sign.type == "COMMA" and listed:
            if part.data == "relation" and len(part.children) > 1:
                _check_range(reader, [*listed, part], condition=condition)
            elif reader.lone_letter(part) is not None:
                listed.append(part)
                continue
        listed = [part] if part.data == "relation" and len(part.children) > 1 else []


def _check_range(reader: Reads, listed: list[Node], *, condition: bool) -> None:
    one, *middle, other = listed
    first, second = reader.lone_letter(one.children[-1]), reader.lone_letter(other.children[0])
    before, after = one.children[-3], other.children[2]
    upward = _UPWARD.get(str(one.children[-2]))
    if first is None or second is None or upward is None or upward != _UPWARD.get(str(other.children[1])):
        return
    if first == second or {first, second} & _letters(before, after):
        return
    low, high = reader.source(before), reader.source(after)
    alike = bool(_base(first)) and _base(first) == _base(second)
    indices = first.kind == second.kind == "integer"
    bounded = not _letters(one.children[0]) or not (upward or _letters(after))
    number = not _letters(before)
    if middle or number or low == f"-{high}" or alike or (indices and (condition or bounded)):
        sign, last = str(one.children[-2]), str(other.children[1])
        both = ", ".join(f"{low}{_spaced(sign)}{v.latex}{_spaced(last)}{high}" for v in (first, second))
        apart = rf"{reader.source(one)}\text{{ and }}{reader.source([*middle, other])}"
        raise reader.two(listed, both, apart)


def check_bracket(reader: Reads, node: Node) -> None:
    """`[n]`, `[nx]`, `\\{x\\}`: brackets around what needs none, or a set, the floor, the part after the point."""
    opening = str(node.children[0])
    inner: Any = subtrees(node)[0]
    if opening not in ("[", r"\{"):
        return
    while isinstance(inner, Tree) and inner.data != "term" and len(inner.children) == 1:
        inner = inner.children[0]
    shown = reader.source(inner)
    if opening == r"\{" and isinstance(inner, Tree) and inner.data not in ("term", "sum"):
        raise reader.two(node, f"({shown})", "the set or event")
    if not isinstance(inner, Tree) or inner.data not in ("term", "sum"):
        return
    factors = [item for item in inner.children if not isinstance(item, Sign)]
    plain = inner.data == "term" and all(
        kind_of(item) == "factor" and kind_of(item.children[0]) in _PLAIN for item in factors
    )
    if (plain or opening == r"\{") and not any(bracket in shown for bracket in ("(", "[", r"\{", "|", r"\|")):
        part = r"the integer part `\lfloor\dots\rfloor`" if opening == "[" else "the fractional part"
        raise reader.two(node, f"({shown})", f"the set or {part}")


def check_fixed(reader: Reads, token: Sign, bound: Iterable[Variable]) -> None:
    """`\\sum_{i=1}^n x_i` of one letter `x_i`, which would be the same number for every `i`."""
    of: Any = getattr(token.payload, "of", None)
    if getattr(of, "kind", None) is None:  # a definition, or no letter
        return
    printed = texts(normal(of.latex))
    scripts = (*printed[end_of_group(printed, 1) if printed[0] in DRESS else 1 :], "")
    for variable in bound:
        index = texts(normal(variable.latex))
        places = (i for i in range(len(scripts) - 1) if scripts[i : i + len(index)] == index)
        if variable != of and any(scripts[i + len(index)] not in ("_", "'") for i in places):
            raise reader.refuse(
                token,
                f"a definition with the parameter `{variable.latex}`, or a letter for the whole: as a letter, "
                f"`{of.latex}` is one number, the same for every `{variable.latex}`",
            )


def check_powers(reader: Reads, node: Node) -> None:
    """`n!^2` and `n^2!`; `{x^2}^3`, which looks like a power of 23; `\\frac{a}{b}^2`."""
    atom, *after = node.children
    base, *signs = (reader.source(child) for child in node.children)
    if len(after) > 1 and "BANG" in map(kind_of, after):
        raise reader.two(node, f"({base}{signs[0]}){''.join(signs[1:])}", "the signs in the other order")
    powers = [reader.source(subtrees(child)) for child in after if kind_of(child) == "superscript"]
    if len(powers) > 1:
        raise reader.two(node, f"({base}^{{{powers[0]}}})^{{{powers[1]}}}", f"{base}^{{{''.join(powers)}}}")
    if powers and kind_of(atom) == "letter" and atom.children[0] == "e":
        raise reader.two(node, rf"\exp({powers[0]})", f"(e)^{{{powers[0]}}}")
    inner = texts(normal(powers[0])) if powers and kind_of(atom) != "euler" else ()
    if len(inner) == 3 and inner[0] in ("(", "["):
        raise reader.two(node, f"{base}^{{{inner[1]}}}", "a derivative, an iterate or a rising factorial")
    if powers and kind_of(atom) == "fraction":
        raise reader.two(node, f"({base})^{{\\dots}}", "a power in the numerator")


def check_call(reader: Reads, before: Node, item: Node) -> None:
    """`f(x)` and, where functions are called so, `f(x+y)`; `n(n-1)` and `\\alpha(\\alpha-1)` are products."""
    if kind_of(before) != "factor":
        return
    lone, powers = not adds(item.children[0]), len(item.children) > 1
    if is_letter(before):
        token = before.children[0].children[0]
        number = token.type in ("CONSTANT", "EULER")
        named = _names_a_function(token, alone=len(before.children) == 1)
        of = getattr(token.payload, "of", None)
        called = not (number and powers) if lone else named and of not in _letters(item)
    else:
        names = _summed(before)
        called = bool(names) and not powers and all(_names_a_function(name, alone=False) for name in names)
    if called:
        letter, inner = reader.source(before), reader.source(item)
        other = f"the value of a function `{letter}` at `{inner}`"
        raise reader.two([before, item], f"{letter}\\cdot {inner}", other)


def _summed(item: Node) -> list[Sign]:
    """The letters that something in brackets is the sum of, such as `(f+g)`; none where it is anything else."""
    if kind_of(item.children[0]) != "bracket" or len(item.children) > 1 or not adds(item.children[0]):
        return []
    node: Any = item
    while node.data != "sum":
        node = subtrees(node)[0]
    factors = [factor for term in subtrees(node) for factor in term.children]
    atoms = [factor.children[0] for factor in factors if kind_of(factor) == "factor"]
    letters = [atom.children[0] for atom in atoms if kind_of(atom) in ("letter", "indexed")]
    return letters if len(letters) == len(subtrees(node)) == len(factors) else []


def _names_a_function(token: Sign, *, alone: bool) -> bool:
    of = getattr(token.payload, "of", None)
    if of is None:
        return may_name_a_function((str(token),), alone=alone)
    return getattr(of, "kind", "") != "integer" and may_name_a_function(texts(normal(of.latex)), alone=alone)


def _base(variable: Variable) -> tuple[str, ...]:
    """The letter without its subscript; nothing where it is more than a letter with one."""
    parts = texts(normal(variable.latex))
    stop = end_of_group(parts, 1) if parts[0] in DRESS else 1
    whole = stop == len(parts) or (parts[stop] == "_" and end_of_group(parts, stop + 1) == len(parts))
    return parts[:stop] if whole else ()


def _letters(*nodes: Node) -> set[Any]:
    return {t.payload.of for t in tokens_of(*nodes) if t.type in ("LETTER", "INDEXED", "APPLIED")}


def _spaced(sign: str) -> str:
    return f"{sign} " if sign[-1].isalpha() else sign
