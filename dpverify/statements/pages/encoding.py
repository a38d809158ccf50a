"""The displays of a statement on a page, made into the sheet that is proved."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from dpverify.checks import require
from dpverify.errors import InvalidArgumentError
from dpverify.formulas.expressions import Number, Variable, real
from dpverify.formulas.logic import Compare, Formula
from dpverify.formulas.notation import read_display
from dpverify.formulas.notation.tokens import Latex, normal, texts
from dpverify.ledger.headlines.roots import cycle
from dpverify.ledger.names import bare, formula_of
from dpverify.ledger.verdicts import Consequence, Coverage
from dpverify.statements.pages.blocks import Errors, Math, plain
from dpverify.statements.pages.letters import check_letter, is_letter, read_letters
from dpverify.statements.pages.notes import LeadingWords, Note, both, line_of_error
from dpverify.statements.pages.sections import Behind, Entry
from dpverify.statements.sheet import Sheet


@dataclass(frozen=True)
class PageDisplay:
    """A display as it is written, with what its sentence and the list behind it say."""

    line: int
    latex: str
    said: LeadingWords
    note: Note
    """Of the sentence before it and behind it."""
    behind: Behind = field(default_factory=Behind)
    before: str = ""
    """The sentence before it, as it is written."""
    after: str = ""
    """The rest of its sentence."""

    @property
    def name(self) -> str:
        """Empty where its sentence gives none."""
        return self.said.name

    @property
    def defines(self) -> bool:
        """Whether it is a definition, not a formula to be proved."""
        return self.said.defines


def where_on(name: str, line: int) -> str:
    """Where a display stands, as evidence about it says; lines are counted from 1."""
    return f"{name}, line {line}"


class Encoding:
    """Makes a sheet of the displays of a statement."""

    def __init__(
        self,
        name: str,
        sheet: Sheet,
        alone: bool,
        at_once: bool,
        errors: Errors,
        guessed: Set[Variable] = frozenset(),
    ) -> None:
        self.name, self.sheet, self.alone, self.at_once, self.errors = name, sheet, alone, at_once, errors
        self.guessed = guessed
        """Letters of which something is guessed."""
        self.lines: dict[str, int] = {}
        """Of the formulas that are printed, by name."""
        self.corrected: dict[str, int] = {}
        """Of those that correct them."""

    def of(self, displays: Sequence[PageDisplay], said: Behind) -> Sheet:
        """The sheet, with what the list behind the statement's heading says."""
        because, latex = said.text("because"), ""
        replaced = said.names("replaces")
        for display in displays:
            try:
                if display.note.unread:
                    latex = self.shown(display) or latex
                elif display.defines:
                    self.define(display)
                else:
                    self.add(display)
            except InvalidArgumentError as error:
                argument = error.argument.removeprefix(f"{self.sheet.id}/")
                self.errors.wrong(line_of_error(error, display.line), argument, error.value, error.allowed)
        for name in replaced:
            if name not in self.lines:
                line, allowed = said.entries["replaces"].line, "names of displays of the statement"
                self.errors.wrong(line, "replaces", name, allowed)
        if because or latex or replaced:
            self.sheet = self.sheet.correction(because, latex=latex, replaces=replaced)
        if self.alone:
            _check_uses(self.sheet, self.lines, self.errors)
        return self.sheet

    def shown(self, display: PageDisplay) -> str:
        """What a statement says, for readers; the correction's LaTeX is returned."""
        if display.note != replace(Note(), unread=True) or display.behind != Behind():
            raise InvalidArgumentError("note", display.before, "nothing beside `not read`")
        if display.said.corrects:
            return display.latex
        if self.sheet.latex:
            raise InvalidArgumentError("display", Latex(display.latex), "one display that is not read")
        self.sheet = replace(self.sheet, latex=display.latex)
        return ""

    def add(self, display: PageDisplay) -> None:
        """A formula to be proved."""
        corrects, behind, note = display.said.corrects, display.behind, display.note
        name = display.name or f"display {len(self.lines) + 1}"
        lines = self.corrected if corrects else self.lines
        require(name not in lines, "name", name, "a name that no other display has")
        lines[name] = display.line
        options = self.options(display)
        coverage = note.coverage or Coverage.CONCLUSION
        if coverage is Coverage.INSTANCE or "case" in behind.entries:
            options |= self.case(display)
        if corrects:
            because = behind.text("because")
            sheet = self.sheet.corrected(
                name, display.latex, because=because, coverage=note.coverage, **options
            )
        elif "because" in behind.entries:
            raise InvalidArgumentError("list", "because", "a reason behind what is corrected")
        else:  # a row's method is called as its coverage
            sheet = getattr(self.sheet, coverage)(name, display.latex, **options)
        self.sheet = sheet.read() if self.at_once else sheet

    def options(self, display: PageDisplay) -> dict[str, Any]:
        """What is said of a formula: the options of a sheet's row."""
        behind, note = display.behind, display.note
        here = read_letters(behind.letters, self.errors)
        own = [one.variable for one in here]
        names = {v.name for v in self.sheet.letters}
        declared = (*(v for v in self.sheet.letters if v.name not in {o.name for o in own}), *own)
        for condition in note.letters:
            if read_display(rf"0=0 \text{{ for all }} {condition.latex}", declared).given:
                allowed = "a formula with a relation, or letters"
                raise InvalidArgumentError("condition", Latex(condition.latex), allowed)
        given, consequence = both(note.given), behind.text("consequence")
        place = where_on(self.name, display.line) if self.alone else self.sheet.where
        guessed = {one.variable.name for one in here if one.guessed}
        guessed |= {v.name for v in self.sheet.letters if v in self.guessed and v in declared}
        said = {
            "letters": tuple(v for v in own if v.name in names),
            "added": tuple(v for v in own if v.name not in names),
            "given": given.written() if given else "", "where": behind.text("place") or place,
            "box": self.box(note.box, declared) if note.box else None,
            "reading": note.reading, "uses": note.uses, "soft": note.soft,
            "premises": note.premises, "meant": note.meant, "true_if": behind.text("true if"),
            "fixed": ", ".join(note.fixed), "provenance": note.provenance, "own_sizes": note.own_sizes,
            "guessed": tuple(sorted(guessed)),
            "consequence": _consequence(consequence) if consequence else None,
            "catches": _fault(behind.entries["catches"]) if "catches" in behind.entries else None,
        }  # fmt: skip
        return {key: value for key, value in said.items() if value} | ({} if note.units else {"units": False})

    def case(self, display: PageDisplay) -> dict[str, str]:
        """Of which case of the statement an instance is."""
        listed, noted = display.behind.text("case"), display.note.case
        if listed and noted:
            raise InvalidArgumentError("case", listed, f"one case: the note says `{noted}`")
        return {"case": listed or noted or "a special case"}

    def box(
        self, formulas: Sequence[str], letters: tuple[Variable, ...]
    ) -> Mapping[str, tuple[Fraction, Fraction]]:
        """`$0\\le x\\le 1$, $y\\in[0,2]$`: the ends for each letter."""
        found: dict[str, dict[str, Fraction]] = {}

        def end(name: str, side: str, value: Fraction, latex: str) -> None:
            if side in found.setdefault(name, {}):
                raise InvalidArgumentError("box", Latex(latex), "each end of a letter once")
            found[name][side] = value

        for latex in formulas:
            formula: Formula = read_display(latex, letters).claim
            for part in getattr(formula, "parts", (formula,)):
                match part:
                    case Compare("<=", Number(value), Variable(name)):
                        end(name, "low", value, latex)
                    case Compare("<=", Variable(name), Number(value)):
                        end(name, "high", value, latex)
                    case _:
                        found["?"] = {}
        if any(set(ends) != {"low", "high"} for ends in found.values()):
            allowed = r"both ends of each letter, such as `on $0\le x\le 1$`"
            raise InvalidArgumentError("box", Latex(", ".join(formulas)), allowed)
        return {name: (ends["low"], ends["high"]) for name, ends in found.items()}

    # ----------------------------------------------------------------------------------------- definitions

    def define(self, display: PageDisplay) -> None:
        """A definition: a letter that is not declared, `=`, and an expression."""
        note, (left, body) = display.note, sides(display.latex)
        try:
            said = replace(Note(), reading=note.reading, single=note.single)
            if note != said or display.behind != Behind():
                allowed = (
                    "nothing but `read as $...$` or `one letter`: it has no conditions, and is not proved"
                )
                raise InvalidArgumentError("definition", display.before, allowed)
            if not body:
                raise InvalidArgumentError("definition", Latex(left), "a letter, `=` and its definition")
            if note.single:
                parameter = None
                if self.is_known(left):
                    allowed = "a letter that is not declared"
                    raise InvalidArgumentError("definition", Latex(left), allowed)
            else:
                parameter = self.parameter(display.said.parameter, left)
                self.check_left(left, parameter)
            sheet = self.sheet.define(left, body, parameter=parameter, reading=note.reading)
            self.sheet = sheet.read() if self.at_once else sheet
        except InvalidArgumentError:
            self.stand_in(left)
            raise

    def stand_in(self, left: str) -> None:
        """Declare the letter of a definition that is refused, so that what is made of it is read nonetheless."""
        with suppress(InvalidArgumentError):
            if is_letter(left) and not self.is_known(left):
                letter = real(f"undefined {left}", latex=left)
                self.sheet = replace(self.sheet, letters=(*self.sheet.letters, letter))

    def parameter(self, said: str, left: str) -> Variable | None:
        inner = _argument(left) if not said else texts(normal(said))
        if inner is None:
            return None
        found = next((v for v in self.sheet.letters if texts(normal(v.latex)) == inner), None)
        if found is None:
            raise InvalidArgumentError("parameter", Latex(said or left), "a letter of the table")
        return found

    def check_left(self, left: str, parameter: Variable | None) -> None:
        allowed = (
            "on the left of a definition a letter that is not declared, alone or with a declared one as its index or "
            "argument, and nothing else"
        )
        try:
            parts = texts(normal(left))
        except InvalidArgumentError:
            raise InvalidArgumentError("definition", Latex(left), allowed) from None
        base = left
        if parameter is not None and _argument(left) == texts(normal(parameter.latex)):
            base = left[: left.rindex(r"\left(" if r"\left(" in left else "(")]
        if not base.strip() or not is_letter(base) or self.is_known(base) or self.is_known(left):
            raise InvalidArgumentError("definition", Latex(left), allowed)
        known = [v for v in self.sheet.letters if texts(normal(v.latex)) != parts]
        try:
            check_letter(base, known)
        except InvalidArgumentError:
            raise InvalidArgumentError("definition", Latex(left), allowed) from None

    def is_known(self, latex: str) -> bool:
        form = texts(normal(latex))
        known = [v.latex for v in self.sheet.letters]
        for definition in self.sheet.definitions:
            known.append(definition.latex)
            if definition.parameter is not None and "(" in definition.latex:
                known.append(definition.latex[: definition.latex.rindex("(")].removesuffix(r"\left"))
        return form in [texts(normal(known_)) for known_ in known]


def sides(latex: str) -> tuple[str, str]:
    """What a display defines, and as what; the latter is empty where it has no equality sign."""
    bare = re.sub(r"\\(?:begin|end)\{[a-z*]+\}|&", "", latex).strip().rstrip(" .,;")
    depth = 0
    for sign in re.finditer(r"\\[{}]|[{}]|\\coloneqq|:=|=", bare):
        depth += (sign[0] == "{") - (sign[0] == "}")
        if depth == 0 and sign[0][-1] in "=q":
            return bare[: sign.start()].strip(), bare[sign.end() :].strip()
    return bare, ""


def defined_by(latex: str) -> tuple[str, ...]:
    """What a definition is of, and of `f(x)` the f."""
    left, _ = sides(latex)
    return (left, left[: left.rindex("(")].removesuffix(r"\left")) if "(" in left else (left,)


def _argument(left: str) -> tuple[str, ...] | None:
    """Of `f(x)`, the x in pieces; None where there are no brackets at the end."""
    try:
        parts = texts(normal(left))
    except InvalidArgumentError:
        return None
    if parts[-1:] != (")",) or "(" not in parts:
        return None
    opening = len(parts) - 1 - parts[::-1].index("(")
    return parts[opening + 1 : -1] if opening else None


def _consequence(said: str) -> Consequence:
    try:
        return Consequence(said)
    except ValueError:
        raise InvalidArgumentError("consequence", said, "; ".join(Consequence)) from None


def _fault(entry: Entry) -> tuple[str, str]:
    """`what is wrong with it: $formula$`."""
    *words, last = entry.pieces
    if not isinstance(last, Math) or not words:
        allowed = "what is wrong with a formula, a colon, and the formula between dollars"
        raise InvalidArgumentError("catches", entry.text, allowed)
    return plain(words).rstrip(": "), last.latex


def _check_uses(sheet: Sheet, lines: Mapping[str, int], errors: Errors) -> None:
    """Add to the errors what is used and unknown, and circles; lines are those of displays, by name."""
    own = {f"{sheet.id}/{row.name}": row.uses for row in sheet.rows}
    used = {name for names in own.values() for name in names}
    known = _known(used) if any(bare(name) != sheet.id for name in used) else frozenset()
    for row in sheet.rows:
        for name in row.uses:
            if name in own or name in known:
                continue
            allowed = (
                "ids of statements or named results, `STATEMENT/FORMULA`, or `PAGE/NAME` of a display here"
            )
            if name == sheet.id:
                allowed = "something else than the page itself, in a circle"
            errors.wrong(lines[row.name], "uses", name, allowed)
    circle = cycle({name: tuple(n for n in uses if n in own) for name, uses in own.items()})
    if circle:
        line = min(lines[formula_of(name)] for name in circle)
        allowed = "displays that do not rest on themselves"
        errors.wrong(line, "uses", " -> ".join(circle), allowed)


def _known(used: Iterable[str]) -> frozenset[str]:
    """All names of papers, and of the collections in which some of the used ones are."""
    from dpverify.statements.own_pages import collections_of
    from dpverify.statements.paper import named_results, papers

    collections_of(used)
    among = papers().values()
    statements = [s for paper in among for s in paper.statements]
    names = {row.id for paper in among for row in paper.catalog} | set(named_results(among))
    return frozenset(names | {f"{s.id}/{part.name}" for s in statements for part in s.parts})
