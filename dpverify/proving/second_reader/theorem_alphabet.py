"""The letters and definitions of one theorem as this reader takes them, and what its displays say in these."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from dpverify.proving.second_reader.orders import Coefficients
from dpverify.proving.second_reader.problem import only
from dpverify.proving.second_reader.rows import Choices
from dpverify.proving.second_reader.theorem_letters import (
    LetterMeaning,
    TheoremState,
    TheoremWords,
    domain,
    parted,
)
from dpverify.proving.second_reader.theorem_tables import KINDS, SORTS, Term
from dpverify.proving.second_reader.theorem_terms import closed
from dpverify.proving.second_reader.theorems import TheoremDisplays
from dpverify.proving.second_reader.trees import DeclaredLetter
from dpverify.proving.second_reader.typography import RefusedError, Row, marks, refuse
from dpverify.proving.second_reader.vocabulary import Vocabulary

_Found = TypeVar("_Found")


class TheoremAlphabet:
    """The letters of a theorem, as its table and its definitions say, and its displays in these."""

    def __init__(self) -> None:
        self.known = TheoremWords()
        self.types: dict[Row, tuple[str, str]] = {}
        self.domains: dict[str, DeclaredLetter] = {}
        self.printed: dict[str, Row] = {}

    def declare_type(self, latex: str, name: str, words: str) -> str:
        """A type, and of which sort it is; nothing where the words are of no type."""
        if words in SORTS:
            self.types[marks(latex)] = name, SORTS[words]
        return SORTS.get(words, "")

    def declare(
        self, latex: str, name: str, words: str, formulas: list[str]
    ) -> tuple[tuple[Term, ...], Term, tuple[Term, ...]]:
        """A letter: the types of its arguments, its own, and what its domain says of it.

        Raises:
            RefusedError: for a kind that is not known.
        """
        row, says, arguments = marks(latex), tuple[Term, ...](), tuple[Term, ...]()
        state = self.state(Choices())
        meaning: LetterMeaning | None = None
        kind: Term
        if words in KINDS or formulas:
            arguments, kind = state.declared(words, formulas)
            meaning = LetterMeaning(arguments, kind, name)
        else:
            kind, says = domain(words, name)
        state.declare(name, ("function", kind) if arguments else kind)
        self.domains[name] = state.domains[name]
        self.printed[name] = row
        self.known = self.known.having(row, name, meaning)
        return arguments, kind, says

    def formula(self, latex: str) -> Term:
        """What a display says.

        Raises:
            RefusedError: for what is not in the notation, not declared, or can be read in two ways.
        """

        def once(choices: Choices) -> Term:
            line = TheoremDisplays(self.state(choices), _row(latex))
            claim, given = line.display()
            term = line.state.term(claim)
            refuse(line.state.constants.found, "an order in a theorem")
            conditions = tuple(map(line.state.term, given))
            one = conditions[0] if len(conditions) == 1 else ("and", *conditions)
            return ("implies", one, term) if conditions else term

        return _read(once)

    def define(self, latex: str) -> tuple[str, tuple[str, ...], Term]:
        """A definition: the name of its letter, those of its parameters, and what it stands for in these.

        Raises:
            RefusedError: as for a formula, and where the letter is not declared.
        """
        row = _row(latex)
        signs = [sign for sign in (r"\sim", "=") if len(parted(row, sign)) > 1]
        refuse(not signs, "a definition has `=` or the sign of a law")
        left = min((parted(row, sign)[0] for sign in signs), key=len)
        body, known = row[len(left) + 1 :], self.known
        found = TheoremDisplays(self.state(Choices()), left).found(0)
        if found is None or found.rest.scripted:
            raise RefusedError("what is defined is not declared")
        name, domains = found.word.name, self.domains
        meaning = known.meanings.get(name, LetterMeaning((), domains[name].kind, name))
        rest = left[found.stop :]
        fits = not rest or (rest[0].text == "(" and closed(rest) == len(rest) and not rest[-1].scripted)
        parameters = parted(rest[1:-1], ",") if rest else []
        refuse(not fits or len(parameters) != len(meaning.arguments), "a definition with other arguments")

        def stands(state: TheoremState, given: tuple[Term, ...]) -> Term:
            with state.at(known):
                for parameter, kind, value in zip(parameters, meaning.arguments, given, strict=True):
                    state.bind(parameter, kind, value=value)
                line, uses = TheoremDisplays(state, body), [*state.uses]
                term = line.all_of(lambda: line.value(meaning.kind))
                state.uses[:] = uses  # what depends on what was seen when it was defined
                return term

        def once(choices: Choices) -> tuple[tuple[str, ...], Term]:
            state = self.state(choices)
            names = tuple(state.fresh(kind) for kind in meaning.arguments)
            return names, state.filled(stands(state, tuple(("sym", name) for name in names)))

        names, term = _read(once)
        self.known = known.having(found.word.printed, name, replace(meaning, body=stands))
        return name, names, term

    # ------------------------------------------------------------------------------------------ mechanisms

    def records(self, latex: str, name: str, rows: str) -> tuple[tuple[Term, ...], Term, Term]:
        """The letter of records, `x_1,\\dots,x_n`: the types of its indices, and the last of the first and second ones.

        Raises:
            RefusedError: for another list.
        """
        first, *dots, last = parted(_row(latex), ",")
        one, end = first[-1], last[-1]
        refuse(not _are_dots(dots), "records have dots between two of them")
        refuse(one.below != marks("1") or first[:-1] != last[:-1], "records begin with that of index 1")
        letter = (*first[:-1], replace(one, below=()))
        refuse(letter[-1].scripted or letter[-1] != replace(end, below=()), "records are of one letter")
        kinds: tuple[Term, ...] = ("integer",)
        columns: Term = ""
        if rows:
            kind = parted(marks(rows), r"\in")[1]
            if kind[0].text == r"\{":
                kinds, columns = (*kinds, "integer"), self.up_to(kind)
            else:
                kinds += (self.state(Choices()).type_of(kind),)
        stop = self.read(end.below, "number")
        self.with_index(letter, name, kinds, stop)
        return kinds, stop, columns

    def up_to(self, kind: Row) -> Term:
        """The last of `\\{1,\\dots,k\\}`."""
        start, *dots, stop = parted(kind[1:-1], ",")
        fits = (kind[0].text, kind[-1].text) == (r"\{", r"\}") and start == marks("1") and _are_dots(dots)
        refuse(not fits, "numbers from 1 on")
        return self.read(stop, "number")

    def with_index(self, letter: Row, name: str, kinds: tuple[Term, ...], last: Term = "") -> None:
        """A letter of numbers that has its arguments as a subscript."""
        self.domains[name] = DeclaredLetter(name, "object", None, False, None, False, {"name": name})
        self.printed[name] = letter
        self.known = self.known.having(
            letter, name, LetterMeaning(kinds, "real", name, below=True, last=last)
        )

    def line_of(self, latex: str, sign: str, what: str, index: tuple[str, Term, str] | None = None) -> Term:
        """What stands behind a sign of a mechanism's line (all of it, where there is none): a law, a guarantee, ...

        A letter for a candidate may be bound in it: its LaTeX, its type and what stands for it.

        Raises:
            RefusedError: as for a formula.
        """
        row = _row(latex)
        _, *right = parted(row, sign) if sign else ((), row)
        refuse(len(right) != 1, f"`{sign}` belongs here, once")
        row = right[0]
        if what == "rounds":
            first, *dots, last = parted(row, ",")
            refuse(first != marks("1") or not _are_dots(dots), "rounds have numbers from 1 on")
            return self.read(last, "number")
        if what == "candidates":
            return self.up_to(row)
        if what == "list":
            return self.each(row[1:-1] if row[0].text == "(" and closed(row) == len(row) else row, index)
        if what == "largest":
            of = row[1:2] if row[:1] == marks(r"\arg") else row[:1]
            name = parted(of[0].below, r"\in")[0] if of else ()
            largest = row[:1] == marks(r"\arg") and of and of[0].text == r"\max"
            refuse(not largest or index is None or name != marks(index[0]), "the largest of all candidates")
            return self.read(row[2:], "number", index)
        if what == "at least":
            signs = {mark.text for mark in row} & {r"\ge", r"\le"}
            refuse(len(signs) != 1, "one comparison belongs here")
            sides = [self.read(one, "number", index) for one in parted(row, *signs)]
            refuse(len(sides) != 2, "one comparison belongs here")
            return ("<=", *(sides if signs == {r"\le"} else sides[::-1]))
        return self.read(row, what, index)

    def each(self, row: Row, index: tuple[str, Term, str] | None) -> Term:
        """`w_1,\\dots,w_k`: what it is of a round, and the number of the last one."""
        first, *dots, last = parted(row, ",")
        refuse(not _are_dots(dots) or index is None or len(first) != len(last), "a list of all rounds")
        assert index is not None
        end = last[-1].below
        refuse(first[-1].below != marks("1") or not end, "a list from the first round on")
        refuse((*first[:-1], replace(first[-1], below=end)) != last, "a list of one letter")
        of_round = (*first[:-1], replace(first[-1], below=marks(index[0])))
        bound = None if any(one.printed == marks(index[0]) for one in self.known.words) else index
        return ("pair", self.read(of_round, "released", bound), self.read(end, "number"))

    def read(self, row: Row, what: str, index: tuple[str, Term, str] | None = None) -> Term:
        """A row that is a `number`, a `law`, what is `released` or `guaranteed`."""

        def once(choices: Choices) -> Term:
            line = TheoremDisplays(self.state(choices), row)
            if index is not None:
                line.state.bind(marks(index[0]), index[1], value=("sym", index[2]))
            if what == "number":
                return line.state.filled(line.all_of(lambda: line.value("real")))
            if what == "guaranteed":
                return tuple(map(line.state.filled, line.all_of(line.guaranteed)))
            return line.state.filled(line.all_of(line.law if what == "law" else line.released)[0])

        return _read(once)

    def state(self, choices: Choices) -> TheoremState:
        """What is known before a display is read."""
        domains = dict(self.domains)
        return TheoremState(
            Vocabulary(self.known.words), domains, dict(self.printed), Coefficients(domains, set()), choices,
            known=self.known, types=self.types,
        )  # fmt: skip


def _are_dots(parts: list[Row]) -> bool:
    return [mark.text for part in parts for mark in part] in ([r"\dots"], [r"\ldots"], [r"\cdots"])


def _row(latex: str) -> Row:
    row = marks(latex)
    return row[:-1] if row and row[-1].text in (".", ",") and not row[-1].scripted else row


def _read(once: Callable[[Choices], _Found]) -> _Found:
    try:
        return only(once)
    except RecursionError:
        raise RefusedError("it is nested too deep") from None


def order_said(sentence: str) -> str:
    """Of the sentence at a mechanism's line: whether what it puts out, or goes through, is `in random order`.

    Of a draw, whether it is made `anew after each answer`.

    Raises:
        RefusedError: where chance is spoken of in other words.
    """
    words = [word.strip("(),.:;") for word in sentence.casefold().split()]
    if "anew" in words:
        refuse(
            words != ["draw", "anew", "after", "each", "answer"],
            "`Draw (anew after each answer)` belongs here",
        )
        return "anew after each answer"
    at = [k for k, word in enumerate(words) if word.startswith(("random", "shuffl", "permut"))]
    other = [words[k] for k in at if words[max(k - 1, 0) : k + 2] != ["in", "random", "order"]]
    refuse(bool(other), f"`in random order` belongs here, not `{' '.join(other)}`")
    return "in random order" if at else "in order"
