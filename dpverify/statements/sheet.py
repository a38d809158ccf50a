"""How a printed statement is encoded: its letters, and its displays in LaTeX, which are what is proved."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from dpverify.errors import InvalidArgumentError
from dpverify.formulas.expressions import Variable
from dpverify.formulas.rendering.neutral import Json
from dpverify.ledger.in_print import Provenance
from dpverify.ledger.verdicts import Consequence, Coverage
from dpverify.proving.language import Correction, Obligation, Statement, Unread
from dpverify.statements.rows import DefinitionSource, Reading, UnreadRow, source_json


@dataclass(frozen=True)
class Sheet:
    """A statement as it is printed. Every method returns a new sheet with something added.

    A display is read, with the definitions before it, when its obligation is asked for; one that cannot be read is
    refused then. What else is said of an obligation is known without.

    Letters stand for every value of their domain; the variables of an obligation are the letters that are free in it.
    Options of every obligation:

    - `given`: its conditions, in LaTeX: `t\\le i\\le n`; `meant`: further ones that the source does not print there:
      it speaks of them elsewhere, or a correction needs them. They are said in every headline that rests on it.
    - `reading`: where a printed display has two readings, the one that is meant (docs/notation.md).
    - `letters`: letters with a different domain here; `added`: letters for this obligation alone.
    - `box`: bounds by variable name, for provers that need a bounded domain.
    - `uses`: what it rests on; `consequence` and `true_if`: what follows if it is false, and a reading that is true.
    - of formulas with an order such as O(n): `soft`, the quantity of which powers a tilde leaves out; `fixed`, the
      letters on which constants may depend, beside those printed below the order; `premises`, whether the constants in
      conditions are `some` or `every` (docs/notation.md).
    - `guessed`: names of letters of which something is guessed; a formula with one of them has no verdict.
    - `catches=(what, display)`: a fault that the obligation would have caught.
    - `units`: whether both sides must have the same unit; `own_sizes`: of an instance, whether its case gives letters
      their sizes, so that none is looked for at realistic ones. `where`: the place, if not that of the statement.
    """

    id: str
    letters: tuple[Variable, ...]
    title: str = ""
    where: str = ""
    latex: str = ""
    """What the statement says, for readers; its formulas are the obligations."""
    pairs: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()
    definitions: tuple[DefinitionSource, ...] = ()
    rows: tuple[UnreadRow, ...] = ()
    """What is printed."""
    corrected_rows: tuple[UnreadRow, ...] = ()
    because: tuple[str, ...] = ()
    replaces: tuple[str, ...] = ()
    corrected_latex: str = ""
    reading: Reading | None = field(default=None, compare=False, repr=False)
    """What has been read so far, here or on a sheet that this one was made from."""

    def __post_init__(self) -> None:
        read = self.reading
        if read is None or (read.id, read.where) != (self.id, self.where) or read.letters is not self.letters:
            object.__setattr__(self, "reading", Reading(self.id, self.where, self.letters))

    def define(self, latex: str, body: str, *, parameter: Variable | None = None, reading: str = "") -> Sheet:
        """A quantity as printed: `define("a_t", r"\\frac{2\\eta L}{n-t+1}")`."""
        return replace(
            self, definitions=(*self.definitions, DefinitionSource(latex, body, parameter, reading))
        )

    def conclusion(self, name: str, display: str, **options: Any) -> Sheet:
        """With what it uses, it gives the conclusion."""
        return self._with(Coverage.CONCLUSION, name, display, options)

    def step(self, name: str, display: str, **options: Any) -> Sheet:
        """A display of the proof."""
        return self._with(Coverage.STEP, name, display, options)

    def condition(self, name: str, display: str, **options: Any) -> Sheet:
        """What has to hold for the statement, or for a result that its proof uses."""
        return self._with(Coverage.CONDITION, name, display, options)

    def instance(self, name: str, display: str, *, case: str, **options: Any) -> Sheet:
        """A special case, said in `case`."""
        return self._with(Coverage.INSTANCE, name, display, {**options, "case": case})

    def reference(self, name: str, display: str, **options: Any) -> Sheet:
        """The same thing said elsewhere."""
        return self._with(Coverage.REFERENCE, name, display, options)

    def cited(self, name: str, display: str, **options: Any) -> Sheet:
        """What is taken from its source and not proved."""
        return self._with(Coverage.CITED, name, display, options)

    def corrected(
        self,
        name: str,
        display: str,
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
        before = next((row for row in self.rows if row.name == name), None)
        kind = Coverage(coverage) if coverage else before.coverage if before else None
        if kind is None:
            allowed = (
                "a coverage such as step, since no printed formula has this name, so that this is an addition"
            )
            raise InvalidArgumentError(f"coverage of {self.id}/{name}", None, allowed)
        for what, key, value in (
            ("consequence", "consequence", consequence),
            ("true if", "true_if", true_if),
        ):
            if value and (before is None or key in before.options):
                allowed = "said once of what is printed, there or at its correction"
                raise InvalidArgumentError(what, str(value), allowed)
        if "provenance" in options:
            allowed = "none: what should have been printed is not in print"
            raise InvalidArgumentError("provenance", options["provenance"], allowed)
        said: dict[str, object] = {"consequence": consequence} if consequence else {}
        said |= {"true_if": true_if} if true_if else {}
        rows = tuple(
            replace(row, options={**row.options, **said}) if row is before and said else row
            for row in self.rows
        )
        options = {**options, "because": because} if because else options
        new = self._row(kind, name, display, {**options, "provenance": Provenance.OURS})
        return replace(self, rows=rows, corrected_rows=(*self.corrected_rows, new))

    def correction(self, because: str = "", *, latex: str = "", replaces: Iterable[str] = ()) -> Sheet:
        """What is wrong with the statement itself, how it should read, and which obligations fall away."""
        return replace(
            self,
            because=(*self.because, because) if because else self.because,
            corrected_latex=latex or self.corrected_latex,
            replaces=(*self.replaces, *replaces),
        )

    @cached_property
    def printed(self) -> Unread:
        """The obligations that are printed."""
        return self._unread(self.rows)

    @cached_property
    def corrections(self) -> Unread:
        """The obligations that correct them."""
        return self._unread(self.corrected_rows)

    def read(self) -> Sheet:
        """The same sheet, after all that is on it has been read, each display by both readers.

        Raises:
            InvalidArgumentError: if a definition or a display cannot be read, or a display is read in two ways.
        """
        assert self.reading is not None
        self.reading.known(self.definitions, self.letters)
        for obligations in (self.printed, self.corrections):
            for obligation in obligations:
                self.reading.check(obligation)
        return self

    def including(self, other: Sheet) -> Sheet:
        """With the rows of another sheet of the statement after its own, each with its sheet's letters and definitions.

        For a statement in whose proof a letter is given a value later on.
        """
        return replace(
            self,
            rows=(*self.rows, *other.rows),
            corrected_rows=(*self.corrected_rows, *other.corrected_rows),
            because=(*self.because, *other.because),
        )

    @cached_property
    def statement(self) -> Statement:
        """The statement with all that is on the sheet."""
        repair = None
        if self.corrected_rows:
            repair = Correction(
                "; ".join(self.because), self.corrections, self.corrected_latex, self.replaces
            )
        return Statement(
            id=self.id,
            title=self.title,
            where=self.where,
            printed=self.printed,
            corrected=repair,
            latex=self.latex,
            pairs=self.pairs,
            uses=self.uses,
        )

    # ----------------------------------------------------------------------------------------------------

    def _with(self, coverage: Coverage, name: str, display: str, options: Mapping[str, Any]) -> Sheet:
        return replace(self, rows=(*self.rows, self._row(coverage, name, display, options)))

    def _row(self, coverage: Coverage, name: str, display: str, options: Mapping[str, Any]) -> UnreadRow:
        if coverage is not Coverage.INSTANCE and "case" in options:
            raise InvalidArgumentError("case", options["case"], "said of an instance alone")
        return UnreadRow(name, coverage, display, options, self.definitions, self.letters)

    def _unread(self, rows: tuple[UnreadRow, ...]) -> Unread:
        def read(i: int) -> Obligation:
            assert self.reading is not None
            return self.reading.obligation(rows[i])

        def source() -> Json:
            said = [
                (row.name, row.coverage, row.display, row.options, len(row.definitions))
                if (row.letters, row.definitions) == (self.letters, self.definitions[: len(row.definitions)])
                else row
                for row in rows
            ]
            return source_json((self.id, self.where, self.letters, self.definitions, said))

        return Unread(rows, read, source)
