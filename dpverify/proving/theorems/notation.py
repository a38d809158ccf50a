"""LaTeX of theorems as terms: laws, expectations, probabilities, events and guarantees around ordinary formulas.

A part that ordinary formulas do not have is read here and is one letter in what is left; that is read by
`dpverify.formulas.notation`, with all that it refuses.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TypeVar

from dpverify.errors import InvalidArgumentError
from dpverify.formulas.expressions import Variable, integer, real
from dpverify.formulas.notation import read_expression, read_formula
from dpverify.formulas.notation.tokens import DRESS, end_of_group
from dpverify.formulas.rendering.neutral import Json, expression_to_json, formula_to_json
from dpverify.formulas.vectors import vector
from dpverify.proving.checker.theorems.language import (
    INNER,
    LAWS,
    Node,
    Scope,
    bound_in,
    free,
    inner,
    law_of,
    named,
    nodes,
    parts_of,
    put,
)
from dpverify.proving.theorems.letters import Abbreviation, Alphabet, TheoremLetter, Tokens
from dpverify.proving.theorems.optimization import unfolded
from dpverify.proving.theorems.ranks import median, ranked, remainder
from dpverify.proving.theorems.signs import (
    RELATIONS,
    begins,
    closing,
    end_of_product,
    name_of,
    refused,
    signs_of,
    split,
    split_said,
    written,
)

NAMED_LAWS = {
    r"\mathcal{N}": "normal", r"\mathrm{Lap}": "laplace", r"\mathrm{Exp}": "exponential",
    r"\mathrm{Unif}": "uniform", r"\mathrm{Ber}": "bernoulli",
}  # fmt: skip
_Read = TypeVar("_Read")
_LAW_SIGNS = {signs_of(latex): name for latex, name in NAMED_LAWS.items()}
_EXPECTATION = [signs_of(latex) for latex in (r"\mathbb{E}", r"\mathbf{E}")]
_INDICATOR = [signs_of(latex) for latex in (r"\mathbf{1}", r"\mathbb{1}")]
_LAW_OF, _FOR = signs_of(r"\text{law of}"), signs_of(r"\text{for}")
_FOLDS = {r"\sum": "sum", r"\prod": "product", r"\max": "largest", r"\min": "smallest"}
(_MEDIAN,) = signs_of(r"\mathrm{median}")
_MIX = signs_of(r"\mathrm{mix}")


class TheoremReader:
    """Reads terms in the letters of an alphabet."""

    def __init__(self, alphabet: Alphabet) -> None:
        self.alphabet = alphabet
        self.scope = Scope(dict(alphabet.types.values()), alphabet.kinds)
        self.longest = sorted(alphabet.letters, key=len, reverse=True)

    def having(self, *letters: TheoremLetter) -> TheoremReader:
        """One that knows further letters."""
        return TheoremReader(self.alphabet.having(*letters))

    # ------------------------------------------------------------------------------------------ letters

    def letter_at(self, signs: Tokens, at: int) -> TheoremLetter | None:
        """The letter at a place: the longest; None where there is none."""
        found = next((word for word in self.longest if begins(signs, at, word)), None)
        if found is None or signs[at + len(found) : at + len(found) + 1] in (("_",), ("'",)):
            return None
        return self.alphabet.letters[found]

    def applied(self, signs: Tokens, at: int) -> tuple[TheoremLetter, Node, int] | None:
        """A letter at a place with its arguments, and where it ends; None where no letter is."""
        letter = self.letter_at(signs, at)
        if letter is None:
            return None
        end, arguments = at + len(letter.signs), tuple[Node, ...]()
        if letter.arguments:
            if signs[end : end + 1] != ("(",):
                raise refused(signs[at:], f"`{letter.latex}` with its arguments in brackets")
            stop = closing(signs, end)
            given = split(signs[end + 1 : stop], ",")
            if len(given) != len(letter.arguments):
                raise refused(signs[at : stop + 1], f"{len(letter.arguments)} arguments of `{letter.latex}`")
            arguments = tuple(
                self.value(one, kind) for one, kind in zip(given, letter.arguments, strict=True)
            )
            if (
                letter.name in self.alphabet.lasts
                and given[0][0] == "("
                and closing(given[0], 0) == len(given[0]) - 1
            ):
                last = self.alphabet.lasts[letter.name]
                made = ranked(
                    lambda i: ("of", letter.name, i, *arguments[1:]), ("num", "1"), last, arguments[0]
                )
                return letter, made, stop + 1
            end = stop + 1
        defined = self.alphabet.defined.get(letter.name)
        if defined is not None:
            values = {n: ((), a) for n, a in zip(defined.names, arguments, strict=True)}
            return letter, put(defined.body, values), end
        return letter, ("of", letter.name, *arguments) if arguments else letter.term, end

    def value(self, signs: Tokens, kind: Node) -> Node:
        """A term of some type."""
        if kind in ("real", "integer"):
            return self.number(signs)
        if kind == "formula":
            return self.formula(signs)
        if kind[:1] == ("law",):
            return self.law(signs)
        return self.point(signs)

    def point(self, signs: Tokens) -> Node:
        """An outcome: a letter, a pair, or a number."""
        if signs[:1] == ("(",) and closing(signs, 0) == len(signs) - 1:
            inside = split(signs[1:-1], ",")
            if len(inside) == 2:
                return ("pair", *map(self.point, inside))
        found = self.applied(signs, 0)
        if found is not None and found[2] == len(signs):
            return found[1]
        return self.number(signs)

    # ------------------------------------------------------------------------------------------ numbers

    def number(self, signs: Tokens) -> Node:
        """A number; of a remainder, `(\\dots)\\bmod 2`, what is divided stands in brackets."""
        sides = split(signs, r"\bmod") if r"\bmod" in signs else []
        if len(sides) == 2 and sides[0][:1] == ("(",) and closing(sides[0], 0) == len(sides[0]) - 1:
            by = "".join(sides[1])
            if not by.isdigit() or not int(by):
                raise refused(signs, "a positive whole number behind `\\bmod`")
            return remainder(self.number(sides[0][1:-1]), int(by))
        return self.around(signs, lambda latex, known: expression_to_json(read_expression(latex, known)))

    def around(self, signs: Tokens, read: Callable[[str, Sequence[Variable]], Json]) -> Node:
        """A formula or a number, of which some parts are read here."""
        shown, parts = list[str](), list[tuple[Variable, Node]]()
        at = 0
        while at < len(signs):
            found = self.part(signs, at)
            if found is None:
                shown.append(signs[at])
                at += 1
                continue
            term, at = found
            kind = self.scope.type_of(term)
            make = vector if self.scope.is_space(kind) else {"real": real, "integer": integer}.get(str(kind))
            if make is None:
                raise refused(signs, f"numbers, and not `{written(signs[:at])}` among them")
            latex = f"Z_{{{9000 + len(parts)}}}"
            parts.append((make(f"!{len(parts)}", latex=latex), term))
            shown += (" ", latex, " ")
        known = [one.number for one in self.alphabet.letters.values() if one.number is not None]
        known = [v for v in known if v.name not in self.alphabet.defined]
        try:
            tree = read(written(shown), [*known, *(v for v, _ in parts)])
        except InvalidArgumentError as error:
            raise refused(signs, f"a formula that can be read: {error}") from None
        whole_term = nodes(_bound_first(tree))
        caught = {name for _, term in parts for name in free(term)} & _bound_names(whole_term)
        if caught:
            raise refused(signs, f"sums such as `\\sum_{{i=1}}^{{n}}` over {', '.join(sorted(caught))}")
        return put(whole_term, {v.name: ((), term) for v, term in parts})

    def part(self, signs: Tokens, at: int) -> tuple[Node, int] | None:
        """What stands at a place that no ordinary formula has, and where it ends."""
        for word in _EXPECTATION:
            if begins(signs, at, word):
                return self.expected(signs, at + len(word), chance=False)
        if signs[at] == "(" and r"\bmod" in signs:
            stop = closing(signs, at)
            if len(split(signs[at + 1 : stop], r"\bmod")) == 2:
                return self.number(signs[at + 1 : stop]), stop + 1
        if signs[at] == r"\Pr":
            return self.expected(signs, at + 1, chance=True)
        for word in _INDICATOR:
            if begins(signs, at, word) and signs[at + len(word) : at + len(word) + 1] == ("[",):
                stop = closing(signs, at + len(word))
                return ("indicator", self.formula(signs[at + len(word) + 1 : stop])), stop + 1
        if begins(signs, at, ("\\sum", "_", "{")) and r"\in" in signs[at : end_of_group(signs, at + 2)]:
            return self.total(signs, at)
        if (signs[at] in _FOLDS or signs[at] == _MEDIAN) and (over := self.counted(signs, at)) is not None:
            return over
        if begins(signs, at, ("\\frac", "{", "d")):
            return self.ratio(signs, at)
        if (compared := self.divergence(signs, at)) is not None:
            return compared
        letter = self.letter_at(signs, at)
        if letter is None or (letter.number is not None and letter.name not in self.alphabet.defined):
            return None
        if letter.kind[:1] == ("law",) and not letter.arguments:
            return self.mass(signs, at)
        found = self.applied(signs, at)
        assert found is not None
        if letter.kind[:1] == ("law",):
            raise refused(signs[at:], "a number, and not a law")
        return found[1], found[2]

    def divergence(self, signs: Tokens, at: int) -> tuple[Node, int] | None:
        """A divergence of two laws, `D_{\\alpha}(P\\|Q)`, or what a law and a kernel tell of one another, `I(P,K)`."""
        word, start, given = signs[at], at + 1, Tokens()
        if word in ("D", "H") and signs[start : start + 2] == ("_", "{"):
            start = end_of_group(signs, at + 2)
            given = signs[at + 3 : start - 1]
        named_ = not given and (
            word == r"\operatorname{TV}" or (word == "I" and ("I",) not in self.alphabet.letters)
        )
        if signs[start : start + 1] != ("(",) or not (given or named_):
            return None
        stop = closing(signs, start)
        laws = split(signs[start + 1 : stop], "," if named_ else r"\|")
        if len(laws) != 2:
            return None
        if word == "I":
            return self.information(*laws), stop + 1
        if named_:
            return ("excess", ("num", "1"), *map(self.law, laws)), stop + 1
        order: Node = ("num", "1")
        if given != (r"\operatorname{KL}",):
            order = self.number(given)
        return ("divergence" if word == "D" else "excess", order, *map(self.law, laws)), stop + 1

    def information(self, first: Tokens, second: Tokens) -> Node:
        """The divergence of a joint law from the product of its marginal laws."""
        law, letter = self.law(first), self.letter_at(second, 0)
        if (
            letter is None
            or letter.signs != second
            or letter.kind[:1] != ("law",)
            or len(letter.arguments) != 1
        ):
            raise refused(second, "the letter of a law for one argument")
        kind, of = letter.arguments[0], letter.kind[1]
        pair: Node = ("certain", ("pair", ("sym", "y"), ("sym", "z")))
        made: Node = ("then", ("z", of), ("of", letter.name, ("sym", "y")), pair)
        other: Node = ("then", ("v", kind), law, ("of", letter.name, ("sym", "v")))
        laws = (("then", ("y", kind), law, one) for one in (made, ("then", ("z", of), other, pair)))
        return put(("divergence", ("num", "1"), *laws), {})

    def mass(self, signs: Tokens, at: int) -> tuple[Node, int]:
        """The probability of an event under a law, `P(S)`."""
        found = self.applied(signs, at)
        assert found is not None
        letter, law, end = found
        if signs[end : end + 1] != ("(",):
            raise refused(signs[at:], f"an event in brackets behind the law `{letter.latex}`")
        stop = closing(signs, end)
        event = self.letter_at(signs, end + 1)
        if event is None or len(event.signs) != stop - end - 1:
            raise refused(signs[end : stop + 1], "the letter of an event")
        return self.probability(law, event), stop + 1

    def probability(self, law: Node, event: TheoremLetter) -> Node:
        """The probability of an event."""
        name, kind = "x of the event", law_of(self.scope.type_of(law))
        return put(("chance", (name, kind), law, ("of", event.name, ("sym", name))), {})

    def binders(self, signs: Tokens) -> list[tuple[TheoremLetter, Node]]:
        """Letters and their laws, of which a later may depend on earlier ones: `x\\sim P, y\\sim Q(x)`."""
        found, reader = list[tuple[TheoremLetter, Node]](), self
        for one in split(signs, ",", ";"):
            name, *rest = split(one, r"\sim")
            if len(rest) != 1:
                raise refused(one, "a letter, `\\sim` and its law")
            law = reader.law(rest[0])
            letter = bound_letter(name, law_of(reader.scope.type_of(law)))
            found.append((letter, law))
            reader = reader.having(letter)
        return found

    def expected(self, signs: Tokens, at: int, *, chance: bool) -> tuple[Node, int]:
        """An expectation or a probability."""
        letters = list[tuple[TheoremLetter, Node]]()
        if signs[at : at + 1] == ("_",):
            stop = end_of_group(signs, at + 1)
            letters, at = self.binders(signs[at + 2 : stop - 1]), stop
        if signs[at : at + 1] not in (("[",), ("(",), (r"\{",)):
            raise refused(signs[at:], "what it is about in brackets")
        stop = closing(signs, at)
        inside = signs[at + 1 : stop]
        if not letters:
            if not chance or r"\in" not in inside:
                raise refused(signs[: stop + 1], r"the letter with its law below it, or `\Pr[M(D)\in S]`")
            left, right = split(inside, r"\in")
            event = self.letter_at(right, 0)
            if event is None or event.signs != right:
                raise refused(right, "the letter of an event")
            return self.probability(self.law(left), event), stop + 1
        within = self.having(*(letter for letter, _ in letters))
        body = within.formula(inside) if chance else within.number(inside)
        head = "chance" if chance else "mean"
        for letter, law in reversed(letters):
            body, head = (head, (letter.name, letter.kind), law, body), "mean"
        return put(body, {}), stop + 1

    def total(self, signs: Tokens, at: int) -> tuple[Node, int]:
        """A sum over a finite type, up to the end of its product."""
        stop = end_of_group(signs, at + 2)
        name, kind = split(signs[at + 3 : stop - 1], r"\in")
        letter = bound_letter(name, self.alphabet.type_of(kind))
        end = end_of_product(signs, stop)
        body = self.having(letter).number(signs[stop:end])
        return put(("total", (letter.name, letter.kind), body), {}), end

    def counted(self, signs: Tokens, at: int) -> tuple[Node, int] | None:
        """What is over whole numbers, `\\prod_{i=1}^{n}`, `\\max_{1\\le i\\le n}`; None where nothing is."""
        if signs[at + 1 : at + 3] != ("_", "{"):
            return None
        stop = end_of_group(signs, at + 2)
        name, *first = split(signs[at + 3 : stop - 1], "=")
        if len(first) == 1 and signs[stop : stop + 2] == ("^", "{"):
            last, stop = signs[stop + 2 : end_of_group(signs, stop + 1) - 1], end_of_group(signs, stop + 1)
        elif len(sides := split(name, r"\le")) == 3 and not first and signs[stop : stop + 1] != ("^",):
            first, name, last = [sides[0]], sides[1], sides[2]
        else:
            return None
        end, letter = end_of_product(signs, stop), bound_letter(name, "integer")
        ends = map(self.number, (first[0], last))
        body = self.having(letter).number(signs[stop:end])
        if signs[at] == _MEDIAN:
            return put(median(lambda i: put(body, {letter.name: ((), i)}), *ends), {}), end
        return put((_FOLDS[signs[at]], (letter.name, "integer"), body, *ends), {}), end

    def ratio(self, signs: Tokens, at: int) -> tuple[Node, int] | None:
        """The density of one law by another at a point, `\\frac{dP}{dQ}(x)`; None for other fractions."""
        middle = end_of_group(signs, at + 1)
        end = end_of_group(signs, middle)
        if signs[middle : middle + 2] != ("{", "d") or signs[end : end + 1] != ("(",):
            return None
        stop = closing(signs, end)
        laws = self.law(signs[at + 3 : middle - 1]), self.law(signs[middle + 2 : end - 1])
        return ("ratio", *laws, self.point(signs[end + 1 : stop])), stop + 1

    # ------------------------------------------------------------------------------------------ laws

    def law(self, signs: Tokens) -> Node:
        """A law: a letter, a known one, that of what is made from others, a mixture, a point mass."""
        if signs[:1] == ("(",) and closing(signs, 0) == len(signs) - 1:
            return self.law(signs[1:-1])
        for word, name in _LAW_SIGNS.items():
            if begins(signs, 0, word) and signs[len(word) : len(word) + 1] == ("(",):
                return self.named_law(signs, len(word), name)
        if begins(signs, 0, _LAW_OF):
            return self.law_of_made(signs)
        if begins(signs, 0, _MIX):
            stop = end_of_group(signs, len(_MIX) + 1)
            if closing(signs, stop) != len(signs) - 1:
                raise refused(signs, "a law and nothing behind it")
            first, second = split(signs[stop + 1 : -1], ",")
            weight = self.number(signs[len(_MIX) + 2 : stop - 1])
            return ("mixture", weight, self.law(first), self.law(second))
        if signs[:1] == (r"\propto",):
            density, place = split(signs[1:], r"\text{at}")
            point, outcomes = split(place, r"\in")
            letter = bound_letter(point, self.alphabet.type_of(outcomes))
            body = self.having(letter).number(density)
            return put(("proportional", (letter.name, letter.kind), body), {})
        if signs[:3] == (r"\delta", "_", "{") and end_of_group(signs, 2) == len(signs):
            return ("certain", self.point(signs[3:-1]))
        found = self.applied(signs, 0)
        if found is None or found[2] != len(signs) or self.scope.type_of(found[1])[:1] != ("law",):
            allowed = f"a law: a letter that is one, {', '.join(NAMED_LAWS)}, or `\\text{{law of }}`"
            raise refused(signs, allowed)
        return found[1]

    def named_law(self, signs: Tokens, at: int, name: str) -> Node:
        """A law of numbers by its parameters; of the normal law the variance is written."""
        if closing(signs, at) != len(signs) - 1:
            raise refused(signs, "a law and nothing behind it")
        shown, given = split(signs[at + 1 : -1], ","), list[Node]()
        if (
            name == "normal"
            and len(shown) == 2
            and shown[1][-1:] == ("I",)
            and self.letter_at(("I",), 0) is None
        ):
            shown, given = [shown[1][:-1]], [self.point(shown[0])]  # its covariance is a multiple of I
        given += [self.number(one) for one in shown]
        if len(shown) + self.scope.is_space(self.scope.type_of(given[0])) != len(given):
            raise refused(signs, r"`\mathcal{N}(m,s^2I)` of vectors, `\mathcal{N}(m,s^2)` of numbers")
        if name == "laplace" and len(given) == 1:
            given = [("num", "0"), *given]
        if len(given) != LAWS[name]:
            raise refused(signs, f"{LAWS[name]} numbers")
        if name == "normal":
            variance = parts_of(given[1])
            square = variance[0] == "pow" and variance[2] == ("num", "2")
            given[1] = variance[1] if square else ("pow", given[1], ("num", "1/2"))
        return (name, *given)

    def law_of_made(self, signs: Tokens) -> Node:
        """`\\text{law of } f(x,y) \\text{ for } x\\sim P, y\\sim Q`."""
        made, *rest = split(signs[len(_LAW_OF) :], *_FOR)
        if len(rest) != 1:
            raise refused(signs, r"`\text{for}` and letters with their laws behind it")
        letters = self.binders(rest[0])
        *first, (last, law) = letters
        point = self.having(*(letter for letter, _ in letters)).point(made)
        body: Node = law
        if point != last.term:
            body = ("then", (last.name, last.kind), law, ("certain", point))
        for letter, law in reversed(first):
            body = ("then", (letter.name, letter.kind), law, body)
        return put(body, {})

    # ------------------------------------------------------------------------------------------ formulas

    def formula(self, signs: Tokens) -> Node:
        """A formula."""
        if signs[-1:] in ((".",), (",",)):
            signs = signs[:-1]
        if signs[:1] == ("(",) and closing(signs, 0) == len(signs) - 1:
            return self.formula(signs[1:-1])
        if signs[:1] == (r"\forall",):
            head, *rest = split(signs, ":")
            if not rest:
                raise refused(signs, "a colon behind what a formula is said of")
            return self.of_all(head[1:], signs[len(head) + 1 :])
        sides = split_said(signs, r"\implies")
        if len(sides) > 2:
            raise refused(signs, r"brackets that say which `\implies` is said first")
        if len(sides) == 2:
            return ("all", (), tuple(self.conjuncts(sides[0])), self.formula(sides[1]))
        parts = split_said(signs, r"\text{and}")
        if len(parts) > 1:
            return ("and", *map(self.formula, parts))
        if signs[:1] == (r"\neg",):
            return ("not", self.formula(signs[1:]))
        return self.said(signs) or self.compared(signs)

    def conjuncts(self, signs: Tokens) -> list[Node]:
        """The parts of a premise."""
        return [self.formula(one) for one in split_said(signs, r"\text{and}")]

    def of_all(self, head: Tokens, body: Tokens) -> Node:
        """What is said of all values of letters: `\\forall D\\sim D', x\\in T, S\\subseteq T: ...`."""
        reader, letters, premises = self, list[TheoremLetter](), list[Node]()
        for one in split(head, ","):
            new, given = reader.quantified(one)
            letters += new
            reader = reader.having(*new)
            premises += [reader.formula(one)] if given else []
        sides = split_said(body, r"\implies")
        if len(sides) == 2:
            premises += reader.conjuncts(sides[0])
            body = sides[1]
        return put(("all", tuple(one.declared for one in letters), tuple(premises), reader.formula(body)), {})

    def data_sets(self, signs: Tokens) -> str:
        """The type of data sets, of which there has to be one."""
        data = [name for name, kind in self.alphabet.types.values() if kind == "data"]
        if len(data) != 1:
            raise refused(signs, "one type of data sets")
        return data[0]

    def quantified(self, signs: Tokens) -> tuple[list[TheoremLetter], bool]:
        """New letters, and whether what is said of them is a premise, too."""
        for sign in (r"\sim", r"\in", r"\subseteq"):
            left, *right = split(signs, sign)
            if not right:
                continue
            if sign == r"\sim":
                data = self.data_sets(signs)
                return [bound_letter(one, data) for one in (left, right[0])], True
            kind = self.alphabet.type_of(right[0])
            if sign == r"\in":
                return [bound_letter(left, kind)], False
            return [replace(bound_letter(left, "formula"), arguments=(kind,))], False
        raise refused(signs, r"`x\in T`, `S\subseteq T` or `D\sim D'`")

    def said(self, signs: Tokens) -> Node | None:
        """What is said in words or signs of laws, data sets, events; None for comparisons."""
        sentence = unfolded(signs, self.alphabet)
        if sentence is not None:
            return self.formula(sentence)
        for words, read in _SENTENCES.items():
            for k in range(len(signs) if words[0] in signs else 0):
                if begins(signs, k, words):
                    return read(self, signs[:k], signs[k + len(words) :])
        for sign, read in _SIGNS.items():
            sides = split(signs, sign) if sign in signs else []
            if len(sides) == 2 and len(split(sides[0], "=")) == 1:
                return read(self, *sides)
        found = self.applied(signs, 0) if signs else None
        if found is not None and found[2] == len(signs) and self.scope.type_of(found[1]) == "formula":
            return found[1]
        return None

    def compared(self, signs: Tokens) -> Node:
        """A comparison, or a chain of them."""
        sides = split(signs, *RELATIONS)
        if len(sides) == 2 and "=" in signs:
            for read in (self.law, self.point):
                with suppress(InvalidArgumentError, ValueError):
                    left = read(sides[0])
                    if self.scope.type_of(left) not in ("real", "integer", "formula"):
                        return ("==", left, read(sides[1]))
        return self.around(signs, lambda latex, known: formula_to_json(read_formula(latex, known)))


def _bound_first(tree: Json) -> Json:
    """JSON of a formula with the letters of sums behind their heads."""
    if not isinstance(tree, list):
        return tree
    if tree[0] in ("sum", "product"):
        head, body, name, *ends = tree
        return [head, [name, "integer"], _bound_first(body), *map(_bound_first, ends)]
    if tree[0] in ("diff", "at", "integral", "forall", "exists"):
        raise InvalidArgumentError("formula", tree[0], "sums and products as its only binders")
    return [tree[0], *map(_bound_first, tree[1:])]


def _bound_names(node: Node) -> set[str]:
    """The names of all letters that are bound somewhere in a term."""
    term = parts_of(node)
    own = {named(parts_of(letter)[0]) for letter in bound_in(term)}
    return own.union(*(_bound_names(part) for part, _ in inner(term)))


def bound_letter(signs: Tokens, kind: Node) -> TheoremLetter:
    """A letter that is bound: a number where it is one."""
    stop = end_of_group(signs, 1) if signs[:1] != () and signs[0] in DRESS else 1
    stop = end_of_group(signs, stop + 1) if signs[stop : stop + 1] == ("_",) else stop
    if not signs or not signs[0].removeprefix("\\").isalpha() or {*signs[stop:]} - {"'"}:
        raise refused(signs, "one letter")
    name, latex = name_of(signs), written(signs)
    number = {"real": real, "integer": integer}.get(kind if isinstance(kind, str) else "")
    return TheoremLetter(name, latex, (), kind, number(name, latex=latex) if number else None)


# ------------------------------------------------------------------------------------------ what is said


def _of_event(reader: TheoremReader, left: Tokens, right: Tokens) -> Node:
    event = reader.letter_at(right, 0)
    if event is None or event.signs != right or event.kind != "formula":
        raise refused(right, "the letter of an event")
    return ("of", event.name, reader.point(left))


def _neighbors(reader: TheoremReader, left: Tokens, right: Tokens) -> Node:
    return ("neighbors", reader.point(left), reader.point(right))


def _dominated(reader: TheoremReader, left: Tokens, right: Tokens) -> Node:
    return ("dominated", reader.law(left), reader.law(right))


def _integrable(reader: TheoremReader, left: Tokens, right: Tokens) -> Node:
    ((letter, law),) = reader.binders(right)
    return put(("integrable", (letter.name, letter.kind), law, reader.having(letter).number(left)), {})


def _density(reader: TheoremReader, left: Tokens, right: Tokens) -> Node:
    body, letter = split(right, *signs_of(r"\text{at}"))
    bound = bound_letter(letter, "real")
    return put(("density", (bound.name, "real"), reader.law(left), reader.having(bound).number(body)), {})


def mechanism(reader: TheoremReader, signs: Tokens) -> tuple[TheoremLetter, Node]:
    """A letter of data sets, and the law of a mechanism on it: `M`, or `M(\\cdot, y)`."""
    slot = signs_of("D_{9999}")
    letter = TheoremLetter("D of the mechanism", written(slot), (), reader.data_sets(signs))
    if r"\cdot" in signs:
        shown = tuple(part for sign in signs for part in (slot if sign == r"\cdot" else (sign,)))
    else:
        shown = (*signs, "(", *slot, ")")
    return letter, reader.having(letter).law(shown)


def guarantee_of(reader: TheoremReader, signs: Tokens) -> tuple[Node, ...]:
    """A guarantee's head and numbers, of `(\\varepsilon,\\delta)\\text{-DP}`."""
    for word, head in _GUARANTEES.items():
        if signs[-len(word) :] == word:
            inside = signs[: -len(word)]
            if inside[:1] == ("(",) and closing(inside, 0) == len(inside) - 1:
                inside = inside[1:-1]
            given = [reader.number(one) for one in split(inside, ",")]
            given += [("num", "0")] * (head == "private" and len(given) == 1)
            if len(given) != len(INNER[head]) - 1:
                raise refused(signs, "the numbers that the guarantee has")
            return head, *given
    raise refused(signs, "-DP, -RDP, -zCDP or -GDP")


def _private(reader: TheoremReader, left: Tokens, right: Tokens) -> Node:
    letter, law = mechanism(reader, left)
    head, *given = guarantee_of(reader, right)
    return put((head, (letter.name, letter.kind), law, *given), {})


_GUARANTEES = {
    signs_of(r"\text{-DP}"): "private", signs_of(r"\text{-RDP}"): "renyi-private",
    signs_of(r"\text{-zCDP}"): "concentrated", signs_of(r"\text{-GDP}"): "gaussian",
}  # fmt: skip
_SENTENCES: dict[Tokens, Callable[[TheoremReader, Tokens, Tokens], Node]] = {
    signs_of(r"\text{is integrable for}"): _integrable,
    signs_of(r"\text{has density}"): _density,
    signs_of(r"\text{is}"): _private,
}
_SIGNS: dict[str, Callable[[TheoremReader, Tokens, Tokens], Node]] = {
    r"\in": _of_event, r"\sim": _neighbors, r"\ll": _dominated,
}  # fmt: skip


def define(reader: TheoremReader, latex: str) -> Abbreviation:
    """What a display defines: `M(D)\\sim\\mathrm{Lap}(f(D),b)` for a law, `g(x)=...` for the rest."""
    signs = signs_of(latex)
    left, *right = split(signs, r"\sim", "=")
    if not right:
        raise refused(signs, r"`M(D)\sim` and a law, or `g(x)=` and what it is")
    body = signs[len(left) + 1 :]
    letter = reader.letter_at(left, 0)
    if letter is None:
        raise refused(left, "a letter that is declared")
    rest = left[len(letter.signs) :]
    names = split(rest[1:-1], ",") if rest else []
    if len(names) != len(letter.arguments) or (rest and closing(rest, 0) != len(rest) - 1):
        raise refused(left, f"`{letter.latex}` with {len(letter.arguments)} arguments")
    bound = [bound_letter(one, kind) for one, kind in zip(names, letter.arguments, strict=True)]
    term = reader.having(*bound).value(body, letter.kind)
    return Abbreviation(letter, tuple(one.name for one in bound), term)
