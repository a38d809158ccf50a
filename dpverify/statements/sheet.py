"""How a printed statement is encoded: its letters, and its displays in LaTeX, which are what is proved."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from dpverify.errors import InvalidArgumentError
from dpverify.evidence import Consequence, Coverage
from dpverify.formulas import notation
from dpverify.formulas.asymptotics import Chosen, UnclearOrderError, closed
from dpverify.formulas.expressions import Variable
from dpverify.formulas.latex import formula_latex
from dpverify.formulas.logic import And, Formula, Implies, free_in
from dpverify.formulas.notation.letters import Definition, Letters, Use, tokens
from dpverify.proving.language import Fault, Obligation, Repair, Statement

CLAIM, CONSTANT, PROOF_STEP, EDGE = (
    Consequence.CLAIM,
    Consequence.CONSTANT,
    Consequence.STEP,
    Consequence.EDGE,
)

_PLAIN_LETTER = re.compile(r"\\?[A-Za-z]+'?(_\{?\w+\}?)?'?")

Display = str | Formula
"""LaTeX as printed; or a formula, where no line of LaTeX says it, whose LaTeX is then printed from the tree."""


@dataclass(frozen=True)
class Sheet:
    """A statement as it is printed. Every method returns a new sheet with something added.

    Letters stand for every value of their domain; the variables of an obligation are the letters that are free in it.
    Options of every obligation:

    - `given`: its conditions, in LaTeX: `t\\le i\\le n`.
    - `reading`: where a printed display has two readings, the one that is meant (docs/notation.md).
    - `letters`: letters with a different domain here; `added`: letters for this obligation alone.
    - `box`: bounds by variable name, for provers that need a bounded domain.
    - `uses`: what it rests on; `consequence` and `true_if`: what follows if it is false, and a reading that is true.
    - of formulas with an order such as O(n): `soft`, the quantity of which powers a tilde leaves out; `fixed`, the
      letters on which constants may depend, beside those printed below the order; `premises`, whether the constants in
      conditions are `some` or `every` (docs/notation.md).
    - `units`: whether both sides must have the same unit. `where`: the place, if not that of the statement.
    """

    id: str
    letters: tuple[Variable, ...]
    title: str = ""
    where: str = ""
    latex: str = ""
    """What the statement says, for readers; its formulas are the obligations."""
    pairs: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()
    definitions: tuple[tuple[str, str, Variable | None, str], ...] = ()
    printed: tuple[Obligation, ...] = ()
    repaired: tuple[Obligation, ...] = ()
    because: tuple[str, ...] = ()
    replaces: tuple[str, ...] = ()
    corrected_latex: str = ""
    _read: tuple[Definition, ...] = field(default=(), compare=False, repr=False)
    """The definitions over the sheet's own letters."""
    _known: dict[tuple[tuple[Variable, ...], ...], Letters] = field(
        default_factory=dict, compare=False, repr=False
    )

    def define(self, latex: str, body: str, *, parameter: Variable | None = None, reading: str = "") -> Sheet:
        """A quantity as printed: `define("a_t", r"\\frac{2\\eta L}{n-t+1}")`."""
        known = self._letters((), ())
        new = Definition(latex, notation.read_expression(body, known, reading=reading), parameter)
        sheet = replace(
            self,
            definitions=(*self.definitions, (latex, body, parameter, reading)),
            _read=(*self._read, new),
            _known={},
        )
        sheet._letters((), ())  # refuses a letter that there is already
        return sheet

    def whole(self, name: str, display: Display, **options: Any) -> Sheet:
        """With what it uses, it gives the conclusion."""
        return self._with(Coverage.WHOLE, name, display, options)

    def step(self, name: str, display: Display, **options: Any) -> Sheet:
        """A display of the proof."""
        return self._with(Coverage.STEP, name, display, options)

    def condition(self, name: str, display: Display, **options: Any) -> Sheet:
        """What has to hold for the statement, or for a result that its proof uses."""
        return self._with(Coverage.CONDITION, name, display, options)

    def instance(self, name: str, display: Display, *, case: str, **options: Any) -> Sheet:
        """A special case, said in `case`; `catches=(what, display)` is a fault that it would have caught."""
        return self._with(Coverage.INSTANCE, name, display, {**options, "case": case})

    def reference(self, name: str, display: Display, **options: Any) -> Sheet:
        """The same thing said elsewhere."""
        return self._with(Coverage.REFERENCE, name, display, options)

    def corrected(
        self,
        name: str,
        display: Display,
        *,
        because: str = "",
        consequence: Consequence | None = None,
        true_if: str = "",
        coverage: Coverage | str | None = None,
        **options: Any,
    ) -> Sheet:
        """What should have been printed in place of an obligation; if there is none, an addition with its `coverage`.

        The reason (`because`), the consequence of the mistake and a reading that makes the printed display true are
        about the printed obligation.
        """
        before = next((o for o in self.printed if o.name == name), None)
        kind = Coverage(coverage) if coverage else before.coverage if before else None
        if kind is None:
            raise InvalidArgumentError(
                f"coverage of {self.id}/{name}", None, "one, where nothing is corrected"
            )
        new = self._obligation(kind, name, display, options)
        printed = tuple(
            replace(o, consequence=consequence or o.consequence, reading=true_if or o.reading)
            if o is before
            else o
            for o in self.printed
        )
        reasons = (*self.because, because) if because and because not in self.because else self.because
        return replace(self, printed=printed, repaired=(*self.repaired, new), because=reasons)

    def correction(self, because: str = "", *, latex: str = "", replaces: Iterable[str] = ()) -> Sheet:
        """What is wrong with the statement itself, how it should read, and which obligations fall away."""
        return replace(
            self,
            because=(*self.because, because) if because else self.because,
            corrected_latex=latex or self.corrected_latex,
            replaces=(*self.replaces, *replaces),
        )

    @property
    def statement(self) -> Statement:
        """The statement with all that is on the sheet."""
        repair = None
        if self.repaired:
            repair = Repair("; ".join(self.because), self.repaired, self.corrected_latex, self.replaces)
        return Statement(
            id=self.id,
            title=self.title,
            where=self.where,
            printed=self.printed,
            repaired=repair,
            latex=self.latex,
            pairs=self.pairs,
            uses=self.uses,
        )

    # ----------------------------------------------------------------------------------------------------

    def _with(self, coverage: Coverage, name: str, display: Display, options: Mapping[str, Any]) -> Sheet:
        return replace(self, printed=(*self.printed, self._obligation(coverage, name, display, options)))

    def _obligation(
        self, coverage: Coverage, name: str, display: Display, options: Mapping[str, Any]
    ) -> Obligation:
        try:
            return self._built(coverage, name, display, **options)
        except InvalidArgumentError as error:
            place = f"{self.id}/{name}: {error.argument}"
            raise InvalidArgumentError(place, error.value, error.allowed) from None

    def _built(
        self,
        coverage: Coverage,
        name: str,
        display: Display,
        *,
        given: str | tuple[Formula, ...] = (),
        letters: tuple[Variable, ...] = (),
        added: tuple[Variable, ...] = (),
        reading: str = "",
        soft: str = "",
        fixed: str = "",
        premises: Literal["", "some", "every"] = "",
        where: str = "",
        case: str = "",
        catches: tuple[str, Display] | None = None,
        consequence: Consequence | None = None,
        true_if: str = "",
        **plain: Any,
    ) -> Obligation:
        known = self._letters(letters, added)
        read = _Asymptotics(known, soft, fixed, premises)
        claim, assuming = read.closed(display, given, reading)
        free = free_in(claim).union(*map(free_in, assuming))
        fault = None
        if catches is not None:
            fault = Fault(catches[0], read.closed(catches[1], (), "")[0])
            free |= free_in(fault.claim)
        shown = display if isinstance(display, str) else formula_latex(display)
        over = tuple(v for v in (*_exchanged(self.letters, letters), *added) if v in free)
        # constants of conditions that stand for every value are letters, too
        over = (*over, *sorted(free - set(over), key=lambda v: v.name))
        texts = [text for text in (display, given) if isinstance(text, str) and text]
        return Obligation(
            name,
            (where or self.where) + (f" (read as ${reading}$)" if reading else ""),
            claim,
            over,
            coverage=coverage,
            assuming=assuming,
            latex=shown,
            scope=case,
            catches=fault,
            consequence=consequence,
            reading=true_if,
            stands_for=self._standing_for(texts, known),
            **plain,
        )

    def _standing_for(self, texts: Iterable[str], known: Letters) -> tuple[str, ...]:
        """What is written in some formulas and is no plain letter: what it is defined as, or that it is one letter."""
        bodies = {latex: body for latex, body, _, _ in self.definitions}
        found: dict[str, str] = {}
        waiting = list(texts)
        while waiting:
            for sign in tokens(waiting.pop(0), known):
                of = sign.payload.of if isinstance(sign.payload, Use) else None
                if of is None or of.latex in found:
                    continue
                if isinstance(of, Variable):
                    if not _PLAIN_LETTER.fullmatch(of.latex):
                        found[of.latex] = rf"{of.latex}\text{{ is one letter, {of.name}}}"
                    continue
                found[of.latex] = f"{of.latex}={bodies[of.latex]}"
                waiting.append(bodies[of.latex])
        return tuple(found.values())

    def _letters(self, changed: tuple[Variable, ...], added: tuple[Variable, ...]) -> Letters:
        """The letters and definitions, some letters with another domain, some for one obligation only."""
        key = (changed, added)
        if key not in self._known:
            letters = (*_exchanged(self.letters, changed), *added)
            definitions = self._read_with(letters, changed) if changed else self._read
            self._known[key] = Letters(letters, definitions)
        return self._known[key]

    def _read_with(
        self, letters: tuple[Variable, ...], changed: tuple[Variable, ...]
    ) -> tuple[Definition, ...]:
        definitions: list[Definition] = []
        for latex, body, parameter, reading in self.definitions:
            of = None if parameter is None else _exchanged((parameter,), changed)[0]
            known = Letters(letters, definitions)
            definitions.append(Definition(latex, notation.read_expression(body, known, reading=reading), of))
        return tuple(definitions)


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
        self, display: Display, given: str | tuple[Formula, ...], reading: str
    ) -> tuple[Formula, tuple[Formula, ...]]:
        """A claim and its conditions, constants bound."""
        claim, conditions, chosen = self.claim(display, reading)
        more = given if isinstance(given, tuple) else ()
        found: tuple[Chosen, ...] = ()
        if isinstance(given, str):
            more, found = notation.read_conditions(given, self.known, soft=self.soft, taken=chosen)
        if self.premises not in ("", "some", "every"):
            raise InvalidArgumentError("premises", self.premises, "`some` or `every`")
        letters = [self.letter(latex) for latex in self.fixed.split(",") if latex.strip()]
        if not (chosen or found) and (letters or self.premises or self.soft):
            option = self.fixed or self.premises or self.soft
            raise InvalidArgumentError("fixed, premises and soft", option, "what a formula with an order has")
        try:
            return closed(
                claim, (*conditions, *more), (*chosen, *found), fixed=letters, premises=self.premises
            )
        except UnclearOrderError as error:
            raise InvalidArgumentError("formula", display, str(error)) from None

    def letter(self, latex: str) -> Variable:
        found = notation.read_expression(latex, self.known)
        if not isinstance(found, Variable):
            raise InvalidArgumentError("fixed", latex, "letters, with commas between them")
        return found

    def claim(
        self, display: Display, reading: str
    ) -> tuple[Formula, tuple[Formula, ...], tuple[Chosen, ...]]:
        """A claim, its conditions and constants; a premise is a condition."""
        if not isinstance(display, str):
            return display, (), ()
        read = notation.read_display(display, self.known, reading=reading, soft=self.soft)
        if not isinstance(read.claim, Implies):
            return read.claim, read.given, read.chosen
        premise = read.claim.premise
        more = premise.parts if isinstance(premise, And) else (premise,)
        return read.claim.conclusion, (*read.given, *more), read.chosen
