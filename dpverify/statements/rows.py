"""The rows of a sheet: what its source says of an obligation, and how that is read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import Enum
from fractions import Fraction
from itertools import permutations
from typing import TYPE_CHECKING, Any, Literal

from dpverify.errors import InvalidArgumentError
from dpverify.formulas.calculus import substituted
from dpverify.formulas.expressions import Expression, OutOfScopeError, Variable, free_variables, is_integer
from dpverify.formulas.functionals import FUNCTIONAL, NUMBER, definition_of
from dpverify.formulas.logic import And, Exists, ForAll, Formula, Implies, free_in, subformulas, variables_of
from dpverify.formulas.rendering.neutral import Json, variable_to_json
from dpverify.formulas.vectors import is_vector
from dpverify.ledger.in_print import Provenance
from dpverify.ledger.verdicts import Consequence, Coverage
from dpverify.proving.language import Fault, Obligation, Quantity
from dpverify.proving.problem import check_expression
from dpverify.proving.writing_out import with_formulas

if TYPE_CHECKING:  # whoever reads nothing needs no reader
    from dpverify.formulas.asymptotics import OrderConstant
    from dpverify.formulas.notation.letters import Definition, Letters
    from dpverify.proving.second_reader import PrintedSource

_PLAIN_LETTER = re.compile(r"\\?[A-Za-z]+'?(_\{?\w+\}?)?'?")


@dataclass(frozen=True)
class DefinitionSource:
    """A quantity as printed; with a `parameter`, of which it is a function."""

    latex: str
    body: str
    parameter: Variable | None
    reading: str


@dataclass(frozen=True)
class UnreadRow:
    """An obligation that is not read yet."""

    name: str
    coverage: Coverage
    display: str
    """LaTeX as printed."""
    options: Mapping[str, Any]
    """Those of `Sheet`."""
    definitions: tuple[DefinitionSource, ...]
    """Those that stand before it on its sheet."""
    letters: tuple[Variable, ...]
    """Those of its sheet."""

    @property
    def uses(self) -> tuple[str, ...]:
        """What it rests on."""
        found: tuple[str, ...] = self.options.get("uses", ())
        return found

    @property
    def because(self) -> str:
        """For a correction, what is wrong with what is printed in its place."""
        found: str = self.options.get("because", "")
        return found

    @property
    def declared(self) -> tuple[Variable, ...]:
        """The letters that it may be about."""
        return (*_exchanged(self.letters, self.options.get("letters", ())), *self.options.get("added", ()))


class Reading:
    """What has been read of a sheet; further rows may stand on it later."""

    def __init__(self, id_: str, where: str, letters: tuple[Variable, ...]) -> None:
        self.id, self.where, self.letters = id_, where, letters
        self._obligations: dict[int, tuple[UnreadRow, Obligation]] = {}
        self._known: dict[object, Letters] = {}
        self._defined: dict[object, tuple[Definition, ...]] = {}
        self._formula_of: dict[object, Expression | None] = {}
        self._checked: dict[int, Obligation] = {}

    def obligation(self, row: UnreadRow) -> Obligation:
        """The obligation of a row."""
        found = self._obligations.get(id(row))
        if found is None:
            try:
                read = self._read(row, **row.options)
            except InvalidArgumentError as error:
                place = f"{self.id}/{row.name}: {error.argument}"
                raise InvalidArgumentError(place, error.value, error.allowed) from None
            found = self._obligations[id(row)] = (
                row,
                read,
            )  # as long as the row is kept, no other has its id
        return found[1]

    def check(self, obligation: Obligation) -> None:
        """Hold the second reader against the first, once for each obligation."""
        from dpverify.formulas.notation.tokens import Latex
        from dpverify.proving.two_readers import disagreement

        if id(obligation) not in self._checked:
            says = disagreement(obligation)
            if says:
                allowed = f"a formula that both readers read in the same way; {says}"
                place = f"{self.id}/{obligation.name}: formula"
                raise InvalidArgumentError(place, Latex(obligation.latex), allowed)
            self._checked[id(obligation)] = obligation  # as long as it is kept, no other has its id

    def known(
        self,
        definitions: tuple[DefinitionSource, ...],
        own: tuple[Variable, ...],
        changed: tuple[Variable, ...] = (),
        added: tuple[Variable, ...] = (),
    ) -> Letters:
        """The letters and definitions, some letters with another domain, some for one obligation only."""
        from dpverify.formulas.notation.letters import Letters

        key = (definitions, *(tuple(map(_said_of, letters)) for letters in (own, changed, added)))
        if key not in self._known:
            letters = (*_exchanged(own, changed), *added)
            over = letters if changed else own
            self._known[key] = Letters(letters, self._definitions(definitions, over, changed))
        return self._known[key]

    def _definitions(
        self,
        sources: tuple[DefinitionSource, ...],
        letters: tuple[Variable, ...],
        changed: tuple[Variable, ...],
    ) -> tuple[Definition, ...]:
        """Definitions over some letters; each may be made of those before it."""
        if not sources:
            return ()
        key = (sources, tuple(map(_said_of, letters)))
        if key not in self._defined:
            from dpverify.formulas import notation
            from dpverify.formulas.notation.letters import Definition, Letters

            before = self._definitions(sources[:-1], letters, changed)
            new = sources[-1]
            body = notation.read_expression(new.body, Letters(letters, before), reading=new.reading)
            of = None if new.parameter is None else _exchanged((new.parameter,), changed)[0]
            self._defined[key] = (*before, Definition(new.latex, body, of))
        return self._defined[key]

    def _read(
        self,
        row: UnreadRow,
        *,
        given: str = "",
        meant: str = "",
        letters: tuple[Variable, ...] = (),
        added: tuple[Variable, ...] = (),
        reading: str = "",
        soft: str = "",
        fixed: str = "",
        premises: Literal["", "some", "every"] = "",
        where: str = "",
        case: str = "",
        catches: tuple[str, str] | None = None,
        consequence: Consequence | None = None,
        true_if: str = "",
        guessed: tuple[str, ...] = (),
        **plain: Any,
    ) -> Obligation:
        known, display = self.known(row.definitions, row.letters, letters, added), row.display
        read = _Asymptotics(known, soft, fixed, premises)
        given = _with_meant(given, meant)
        claim, assuming = read.closed(display, given, reading)
        free = free_in(claim).union(*map(free_in, assuming))
        stated = {v for formula in (claim, *assuming) for v in variables_of(formula)}
        formulas = self._formulas(row, sorted(stated, key=lambda v: v.name))
        fault = None
        if catches is not None:
            wrong, conditions = read.closed(catches[1], "", "")
            if conditions:
                wrong = Implies(conditions[0] if len(conditions) == 1 else And(conditions), wrong)
            fault = Fault(catches[0], wrong)
            free |= free_in(fault.claim)
        behind = {v for body in formulas.values() for v in free_variables(body)}
        if not {v.name for v in stated | free | behind}.isdisjoint(guessed):
            plain["provenance"] = Provenance.GUESSED
        # in an order that no table of letters changes
        over = tuple(sorted(free, key=lambda v: v.name))
        used = _quantities([text for text in (display, given) if text], known, row.definitions)
        obligation = Obligation(
            row.name,
            (where or self.where) + (f" (read as ${reading}$)" if reading else ""),
            claim,
            over,
            coverage=row.coverage,
            assuming=assuming,
            meant=read.conditions(meant),
            latex=display,
            scope=case,
            catches=fault,
            consequence=consequence,
            reading=true_if,
            notation=_notation(used, row.definitions),
            source=source_of(row),
            **plain,
        )
        if not formulas:
            return obligation
        forms = None
        if formulas.keys() & {v for v in stated if v not in free}:
            try:
                replaced, more = read.closed(display, given, reading, formulas)
                forms = ((claim, *assuming), (replaced, *more))
            except OutOfScopeError:  # a formula with the index of a sum in it, under that sum
                return obligation
        return replace(obligation, formulas=formulas, bound_forms=forms)

    def _formulas(self, row: UnreadRow, used: Iterable[Variable]) -> dict[Variable, Expression]:
        """What stands for a formula of other letters among those of a row: the formula, in letters that do not."""
        bodies: dict[Variable, Expression] = {}
        waiting = [v for v in used if definition_of(v)]
        while waiting:
            letter = waiting.pop()
            body = None if letter in bodies else self._formula(letter, row.declared)
            if body is not None:
                bodies[letter] = body
                waiting += [v for v in free_variables(body) if definition_of(v)]
        found: dict[Variable, Expression] = {}
        while len(found) < len(bodies):
            left = bodies.keys() - found.keys()
            ready = sorted((v for v in left if not free_variables(bodies[v]) & left), key=lambda v: v.name)
            if not ready:
                names = sorted(v.name for v in left)
                raise InvalidArgumentError(
                    "what letters stand for", names, "formulas that do not need one another"
                )
            for letter in ready:
                try:
                    found[letter] = substituted(bodies[letter], found)
                except OutOfScopeError:
                    del bodies[letter]
        return found

    def _formula(self, letter: Variable, declared: tuple[Variable, ...]) -> Expression | None:
        """What a letter stands for, in the others; None where its LaTeX says none: then it may be a functional."""
        from dpverify.formulas import notation

        key = (_said_of(letter), tuple(map(_said_of, declared)))
        if key not in self._formula_of:
            self._formula_of[key] = None
            others = tuple(v for v in declared if v != letter)
            try:
                body = notation.read_expression(definition_of(letter), self.known((), others))
                check_expression(letter.name, body)
                if (letter.kind == "vector") != is_vector(body) or (
                    letter.kind == "integer" and not is_integer(body)
                ):
                    raise InvalidArgumentError("formula", definition_of(letter), f"one that is {letter.kind}")
                self._formula_of[key] = body
            except InvalidArgumentError as error:
                if letter.stands_for not in ("", NUMBER, FUNCTIONAL):
                    place = f"what {letter.name} stands for: {error.argument}"
                    raise InvalidArgumentError(place, error.value, error.allowed) from None
        return self._formula_of[key]


def _said_of(letter: Variable) -> tuple[object, ...]:
    """All that is said of a letter: two that are equal may differ in what they mean."""
    return letter, letter.latex, letter.meaning, letter.stands_for, letter.size


def source_of(row: UnreadRow) -> PrintedSource:
    """What the second reader reads of a row."""
    options = row.options
    given, catches = options.get("given", ""), options.get("catches")
    return {
        "letters": [
            {"latex": v.latex, "formula": definition_of(v), "variable": variable_to_json(v)}
            for v in row.declared
        ],
        "definitions": [
            {
                "latex": source.latex,
                "body": source.body,
                "parameter": "" if source.parameter is None else source.parameter.name,
                "reading": source.reading,
            }
            for source in row.definitions
        ],
        "display": row.display,
        "given": _with_meant(given, options.get("meant", "")),
        "also": catches[1] if catches else "",
        "reading": options.get("reading", ""),
        "soft": options.get("soft", ""),
        "fixed": options.get("fixed", ""),
        "premises": options.get("premises", ""),
    }


def _with_meant(given: str, meant: str) -> str:
    """The conditions of a row, with those that its source does not print there."""
    return f"{given}, {meant}" if given and meant else given or meant


def _quantities(
    texts: Iterable[str], known: Letters, definitions: tuple[DefinitionSource, ...]
) -> tuple[Variable | Definition, ...]:
    """The letters and defined quantities that are written in some formulas, or in the definitions of these."""
    from dpverify.formulas.notation.letters import LetterUse, tokens

    bodies = {source.latex: source.body for source in definitions}
    found: dict[str, Variable | Definition] = {}
    waiting = list(texts)
    while waiting:
        for sign in tokens(waiting.pop(0), known):
            of = sign.payload.of if isinstance(sign.payload, LetterUse) else None
            if of is None or of.latex in found:
                continue
            found[of.latex] = of
            if not isinstance(of, Variable):
                waiting.append(bodies[of.latex])
    return tuple(found.values())


def _notation(
    used: Iterable[Variable | Definition], definitions: tuple[DefinitionSource, ...]
) -> tuple[Quantity, ...]:
    """What is no plain letter among quantities: what it is defined as, or that it is one letter."""
    bodies = {source.latex: source.body for source in definitions}
    return tuple(
        Quantity(of.latex, of) if isinstance(of, Variable) else Quantity(of.latex, of.body, bodies[of.latex])
        for of in used
        if not isinstance(of, Variable) or not _PLAIN_LETTER.fullmatch(of.latex)
    )


def _exchanged(letters: tuple[Variable, ...], changed: tuple[Variable, ...]) -> tuple[Variable, ...]:
    return tuple(next((c for c in changed if c.name == v.name), v) for v in letters)


@dataclass(frozen=True)
class _Asymptotics:
    """Reads claims and conditions, in which constants of orders such as O(n) may occur."""

    known: Letters
    soft: str
    fixed: str
    premises: Literal["", "some", "every"]

    def closed(
        self, display: str, given: str, reading: str, formulas: Mapping[Variable, Expression] | None = None
    ) -> tuple[Formula, tuple[Formula, ...]]:
        """A claim and its conditions, constants bound; letters replaced by `formulas`, which have their domains."""
        from dpverify.formulas import notation
        from dpverify.formulas.asymptotics import UnclearOrderError, closed
        from dpverify.formulas.notation.tokens import Latex

        claim, conditions, chosen = self.claim(display, reading)
        more: tuple[Formula, ...] = ()
        found: tuple[OrderConstant, ...] = ()
        if given:
            more, found = notation.read_conditions(given, self.known, soft=self.soft, taken=chosen)
        if self.premises not in ("", "some", "every"):
            raise InvalidArgumentError("premises", self.premises, "`some` or `every`")
        letters = [self.letter(latex) for latex in self.fixed.split(",") if latex.strip()]
        if not (chosen or found) and (letters or self.premises or self.soft):
            option = self.fixed or self.premises or self.soft
            raise InvalidArgumentError("fixed, premises and soft", option, "what a formula with an order has")
        conditions = (*conditions, *more)
        parts = (claim, *conditions)
        over = {f: {p.variable for p in subformulas(f) if isinstance(p, ForAll | Exists)} for f in parts}
        for f, g in permutations(parts, 2):
            if both := over[f] & free_in(g):
                allowed = "another letter for what a condition quantifies: here it stands for any value"
                raise InvalidArgumentError("letter", Latex(min(v.latex or v.name for v in both)), allowed)
        if formulas:
            # what is quantified is not what it stands for, but everything that it may be
            quantified = frozenset[Variable]().union(*over.values())
            formulas = {v: body for v, body in formulas.items() if v not in quantified}
            claim, *more_of_it = with_formulas((claim, *conditions), formulas)
            conditions = tuple(more_of_it)
        try:
            return closed(claim, conditions, (*chosen, *found), fixed=letters, premises=self.premises)
        except UnclearOrderError as error:
            raise InvalidArgumentError("formula", display, str(error)) from None

    def conditions(self, latex: str) -> tuple[Formula, ...]:
        """What one line of LaTeX assumes."""
        from dpverify.formulas import notation

        return notation.read_conditions(latex, self.known, soft=self.soft, taken=())[0] if latex else ()

    def letter(self, latex: str) -> Variable:
        from dpverify.formulas import notation

        found = notation.read_expression(latex, self.known)
        if not isinstance(found, Variable):
            raise InvalidArgumentError("fixed", latex, "letters, with commas between them")
        return found

    def claim(
        self, display: str, reading: str
    ) -> tuple[Formula, tuple[Formula, ...], tuple[OrderConstant, ...]]:
        """A claim, its conditions and constants; a premise is a condition."""
        from dpverify.formulas import notation

        read = notation.read_display(display, self.known, reading=reading, soft=self.soft)
        if not isinstance(read.claim, Implies):
            return read.claim, read.given, read.chosen
        premise = read.claim.premise
        more = premise.parts if isinstance(premise, And) else (premise,)
        return read.claim.conclusion, (*read.given, *more), read.chosen


# ------------------------------------------------------------------------------------------------- sources


_letters: dict[int, tuple[Variable, Json]] = {}
"""Letters stand in many places; kept with them, so that no other object has the id of one."""


def _parts(value: Any) -> Json:
    parts = (source_json(getattr(value, part.name)) for part in fields(value))
    return [type(value).__name__, *parts]


def source_json(value: object) -> Json:
    """All that is in the parts of a sheet, for a key: equal for two that are written the same, and no others."""
    if isinstance(value, Variable):
        found = _letters.get(id(value))
        if found is None:
            found = _letters[id(value)] = (value, _parts(value))
        return found[1]
    if isinstance(value, Enum):
        return str(value.value)
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, Fraction):
        return ["fraction", str(value)]
    if is_dataclass(value) and not isinstance(value, type):
        return _parts(value)
    if isinstance(value, Mapping):
        return ["mapping", *([source_json(key), source_json(value[key])] for key in value)]
    if isinstance(value, Sequence):
        return ["sequence", *map(source_json, value)]
    raise InvalidArgumentError(
        "part of a sheet", value, "text, a number, a letter, a formula, or several of these"
    )
