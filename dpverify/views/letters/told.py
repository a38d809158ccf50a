"""The words of a letter: what is printed, what follows from it, where that fails, what is true instead."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from fractions import Fraction
from functools import cache, partial
from typing import NamedTuple

from dpverify.errors import DpverifyError
from dpverify.grouping import grouped
from dpverify.ledger.besides.thresholds import Threshold, ThresholdEnd, telling
from dpverify.ledger.entries import ErratumEntry, StatementEntry
from dpverify.ledger.facts import FailureMargin
from dpverify.ledger.headlines.rows import CLAIMS
from dpverify.ledger.headlines.words import Standing, counts
from dpverify.ledger.in_print import Provenance
from dpverify.ledger.proofs import ProofEvidence
from dpverify.ledger.verdicts import HOLDS, Consequence, Coverage, Verdict
from dpverify.ledger.written_numbers import few_digits, number_latex, number_text, short_sides
from dpverify.views.letters.faults import Letter, LetterEntry, PrintedFault
from dpverify.views.number_text import plural

_MOST = 3
"""Corrected formulas that an entry shows."""

_LONGEST = 400
"""Characters of a formula in a table."""

_LONGEST_PRINTED = 160
"""Characters of printed lines in a table that have another line beside them."""

_LONGEST_POINT = 160
"""Characters of a point that nothing need attain, in a table."""

_SIGNS = {"<=": r"\le ", ">=": r"\ge ", "==": "=", "!=": r"\ne "}

_RELATION = re.compile(r"[=<>]|\\(?:leq?|geq?|neq?|in|to|implies|subset|approx|propto|sim|iff)(?![A-Za-z])")

MEANS = {
    Consequence.CLAIM: "what is claimed is false as printed",
    Consequence.CONSTANT: "a printed constant is wrong",
    Consequence.CONDITION: "a condition is missing, without which the claim fails at sizes met in practice",
    Consequence.STEP: "a step of the proof only",
    Consequence.NOTATION: "false as it is written, and clear what is meant",
    Consequence.EDGE: "an edge case that no reader means",
}
"""What each consequence means, in a letter."""


class PieceKind(StrEnum):
    """What a piece of a sentence is."""

    WORDS = "words"
    FORMULA = "formula"
    """In LaTeX, in the line."""
    DISPLAY = "display"
    """In LaTeX, on a line of its own."""
    CODE = "code"


class SaidPiece(NamedTuple):
    """A piece of a sentence."""

    text: str
    kind: PieceKind = PieceKind.WORDS


Said = tuple[SaidPiece, ...]


def attached(before: str, piece: SaidPiece) -> bool:
    """Whether a piece follows what is said before it without a space."""
    words = piece.kind is PieceKind.WORDS
    return not before or before.endswith("(") or (words and piece.text[:1] in ",;:.)")


_math = partial(SaidPiece, kind=PieceKind.FORMULA)
_code = partial(SaidPiece, kind=PieceKind.CODE)


class PartLabel(StrEnum):
    """What a part of an entry is."""

    WHERE = "Where"
    PRINTED = "Printed"
    OURS = "What follows from it"
    SPECIAL = "A special case of it"
    PIECED = "That is"
    TORN = "As it was read, since the text lost a sign"
    FAILS = "Fails"
    UNFOLLOWED = "Does not follow"
    INSTANCE = "Instance"
    THRESHOLD = "How far it holds"
    REALISTIC = "At a realistic size"
    CODE = "In code"
    BREAKS = "What breaks"
    TRUE = "True"
    CASE = "True in this case"
    WHY = "Why"
    SURVIVES = "What survives"


class LetterPart(NamedTuple):
    """What is said under one label."""

    label: PartLabel
    said: Said


class FaultLine(NamedTuple):
    """A row of a table: one fault."""

    where: str
    name: str
    """What `dpverify prove` is given to show it again."""
    printed: Said
    fails: Said
    instead: Said


# ------------------------------------------------------------------------------------------- an entry


def printed(proof: ProofEvidence, statement: StatementEntry | None) -> tuple[LetterPart, ...]:
    """The paper's own line, and what follows from it where that is what was looked at."""
    own = _in_print(proof, statement)
    label = _FROM_IT[proof.provenance or Provenance.VERBATIM]
    line = LetterPart(label, (*_shown(proof), *_under(proof)))
    return (LetterPart(PartLabel.PRINTED, own), line) if own else (line,)


_FROM_IT = {
    Provenance.VERBATIM: PartLabel.PRINTED,
    Provenance.OURS: PartLabel.OURS,
    Provenance.SPECIAL: PartLabel.SPECIAL,
    Provenance.PIECED: PartLabel.PIECED,
    Provenance.TORN: PartLabel.TORN,
}


_IN_A_TABLE = {
    Provenance.OURS: "what follows:",
    Provenance.SPECIAL: "a special case:",
    Provenance.PIECED: "that is:",
    Provenance.TORN: "as it was read, since the text lost a sign:",
}
"""What stands before a formula that is not printed in these signs."""


def _in_print(proof: ProofEvidence, statement: StatementEntry | None) -> Said:
    """The printed lines that a formula is made of, or the statement; nothing where it stands in print itself."""
    if proof.provenance in (None, Provenance.VERBATIM):
        return ()
    lines = [line for line in proof.prints if _RELATION.search(line)]
    partly = len(lines) < len(proof.prints) and proof.coverage in CLAIMS
    if statement is not None and statement.latex and (partly or not lines):
        lines = [statement.latex]
    return tuple(SaidPiece(line, PieceKind.DISPLAY) for line in lines or proof.prints if line != proof.latex)


def _shown(proof: ProofEvidence) -> Said:
    plain = _code(proof.expression)
    found = SaidPiece(proof.latex, PieceKind.DISPLAY) if proof.latex else plain
    return (found, SaidPiece("that is,"), plain) if proof.written_in_full else (found,)


def _under(proof: ProofEvidence) -> Said:
    """What its letters are, what it assumes, and which case it is."""
    given = [*map(_math, proof.assuming_latex)] or map(_code, proof.assuming)
    return (
        *_where(proof),
        *_listed("given", given),
        *((SaidPiece(f"({proof.scope})"),) if proof.scope else ()),
    )


def _where(proof: ProofEvidence) -> Said:
    """What its letters stand for, but for what is so anyway, such as `4^r=(2^r)^2` of two that are one letter each."""
    return _listed("where", (_math(line) for line in proof.definitions if not _is_plain_arithmetic(line)))


@cache
def _is_plain_arithmetic(line: str) -> bool:
    """Whether both sides, with each of their letters a number, have the same values at a few points."""
    # not loaded where a result is written that has no formula
    from dpverify.formulas.expressions import real
    from dpverify.formulas.logic import Compare
    from dpverify.formulas.notation import read_formula
    from dpverify.proving.reasoning.evaluation import ExactPoint, evaluate

    letters = sorted(set(_LETTER.findall(line)))
    try:
        formula = read_formula(line, [real(x, gt=0) for x in letters])
        if not isinstance(formula, Compare) or formula.relation != "==":
            return False
        points: list[ExactPoint] = [
            {x: Fraction(3 * k + i + 1) for i, x in enumerate(letters)} for k in range(3)
        ]
        return all(evaluate(formula.left, at) == evaluate(formula.right, at) for at in points)
    except DpverifyError:
        return False


_LETTER = re.compile(r"(?<![\\A-Za-z])[A-Za-z](?![A-Za-z])")


def _listed(word: str, pieces: Iterable[SaidPiece]) -> Said:
    found = list(pieces)
    if not found:
        return ()
    said = [SaidPiece(word), found[0]]
    for piece in found[1:]:
        said += [SaidPiece(","), piece]
    return tuple(said)


def fails(fault: PrintedFault, longest: int | None = None) -> Said:
    """Where it fails, by how much, whose units differ; a point that nothing may attain only up to a length."""
    proof, said = fault.shown, list[SaidPiece]()
    if proof.coverage is not Coverage.UNIT:
        open_ended = proof.verdict is Verdict.DOES_NOT_FOLLOW
        at = point(proof, proof.counterexample, given=longest is None)
        if open_ended and longest is not None and sum(len(piece.text) for piece in at) > longest:
            at = ()
        by = by_how_much(proof.excess, proof.left, proof.right)
        if open_ended and longest is not None:
            said.append(SaidPiece("does not follow" + (":" if at else "")))
        said += (
            [SaidPiece("at"), *at, *([SaidPiece(":"), *by] if by else [])] if at else [] if open_ended else by
        )
        if not said and proof.along:
            said += _listed("false along", map(_math, proof.along))
        said += [SaidPiece(proof.reason)] if not said and proof.reason else []
    units = fault.units
    if units is not None:
        said.append(
            SaidPiece(f"{'; ' if said else ''}the sides have different units: {units.left} and {units.right}")
        )
    return tuple(said)


def realistic(proof: ProofEvidence) -> Said:
    """The same at sizes met in practice; nothing where none was found."""
    found = proof.realistic
    if found is None or not found.point:
        return () if found is None else (SaidPiece(found.summary()),)
    doubt = () if found.confirmed_by_checker else (SaidPiece("(not confirmed by the checker)"),)
    return (
        *point(proof, found.point),
        SaidPiece(":"),
        *by_how_much(found.excess, found.left, found.right),
        *doubt,
    )


def point(proof: ProofEvidence, values: Mapping[str, str] | None, *, given: bool = True) -> Said:
    """A point in the paper's letters, without those that the formula, or what is given with it, does not show."""
    shown = " ".join((proof.latex, *proof.definitions, *(proof.assuming_latex if given else ())))
    said: list[SaidPiece] = []
    for name, value in (values or {}).items():
        latex = proof.letters.get(name)
        if latex is not None and proof.latex and not _shows(shown, latex):
            continue
        piece = SaidPiece(f"{name} = {number_text(value)}")
        if latex is not None:
            short = few_digits(value)
            piece = _math(f"{latex}{'=' if short == value else chr(92) + 'approx '}{number_latex(short)}")
        said += [SaidPiece(","), piece] if said else [piece]
    return tuple(said)


def _shows(line: str, latex: str) -> bool:
    """Whether a letter stands in a line."""
    if latex.isalpha():
        return latex in re.sub(r"\\[A-Za-z]+", " ", line)
    return re.sub(r"[{}\s]", "", latex) in re.sub(r"[{}\s]", "", line)


def by_how_much(excess: FailureMargin | None, left: str | None, right: str | None) -> list[SaidPiece]:
    """Both sides, rounded."""
    if excess is not None:
        bound = SaidPiece(f"instead of at {'least' if excess.at_least else 'most'}")
        times = "too small by a factor of" if excess.at_least else "more by a factor of"
        factor = (
            [] if excess.factor is None else [SaidPiece(f", {times}"), _math(number_latex(excess.factor))]
        )
        return [_math(number_latex(excess.found)), bound, _math(number_latex(excess.bound)), *factor]
    if left is None or right is None:
        return []
    one, other = (_math(number_latex(side)) for side in short_sides(left, right))
    return [SaidPiece("the sides are"), one, SaidPiece("and"), other]


def true(false: ProofEvidence, repair: ProofEvidence, *, given: bool = False) -> Said:
    """What is true instead, with its domain, and what is `given` of new letters; never the line that is false."""
    said: list[SaidPiece] = []
    same = bool(repair.latex) and repair.latex == false.latex
    if same and (repair.added or repair.definitions != false.definitions):
        said.append(SaidPiece("the same"))
    elif same:
        said += [SaidPiece("read as"), _code(repair.expression)]
    else:
        said += _shown(repair)
    if repair.definitions != false.definitions:
        said += _where(repair)
    kind = PieceKind.FORMULA if repair.added_latex else PieceKind.CODE
    said += _listed("for", (SaidPiece(text, kind) for text in repair.added_latex or repair.added))
    said += _meanings(repair.added_letters)
    if given:
        new = [repair.letters.get(name, name) for name in repair.domain if name not in false.domain]
        conditions = (line for line in repair.assuming_latex if line not in repair.added_latex)
        said += _listed("given", (_math(line) for line in conditions if any(_shows(line, x) for x in new)))
    if repair.obligation != false.obligation and repair.where:
        said.append(SaidPiece(f"({repair.where})"))
    if repair.verdict not in HOLDS:
        said.append(SaidPiece(f"({repair.verdict})"))
    return tuple(said)


def _meanings(letters: Mapping[str, str]) -> Said:
    """What letters are, in brackets."""
    said: list[SaidPiece] = []
    for latex, what in letters.items():
        said += [SaidPiece("," if said else "("), _math(latex), SaidPiece(f": {what}")]
    return (*said, SaidPiece(")")) if letters else ()


def survives(entry: LetterEntry, letter: Letter) -> Said:
    """How its statements stand as printed, and corrected; those that stand alike together."""
    rows = [row for row in entry.statements if row.printed.standing is not None]
    found = grouped((_stands(row, letter), row.where or row.id) for row in rows)
    said: list[SaidPiece] = []
    for how, places in found.items():
        said += [SaidPiece(f"{'; '.join(dict.fromkeys(places))}:"), *how, SaidPiece(".")]
    return tuple(said)


def _stands(row: StatementEntry, letter: Letter) -> Said:
    before, after = row.printed, row.corrected
    said = [SaidPiece(f"{_STANDS[before.standing or Standing.PARTLY]} as printed")]
    if after.standing is not None and before.standing is not Standing.HOLDS:
        said.append(SaidPiece(f"; {_STANDS_CORRECTED[after.standing]}"))
        if after.verdict in HOLDS:
            found = [(letter.added.get(text), text) for text in after.where]
            said += _listed("for", (_math(x[0]) if x else _code(text) for x, text in found))
            said += _meanings(dict(p for x, _ in found if x for p in x[1].items() if _shows(x[0], p[0])))
    return tuple(said)


_STANDS = {
    Standing.HOLDS: "holds",
    Standing.IN_PART: "holds in part",
    Standing.WHERE_MEANT: "holds where it is meant",
    Standing.REFUTED: "false",
    Standing.DOES_NOT_FOLLOW: "does not follow",
    Standing.UNDECIDED: "open",
    Standing.PARTLY: "its conclusion was not tried",
}
_STANDS_CORRECTED = {
    Standing.HOLDS: "true as corrected",
    Standing.IN_PART: "true in part as corrected",
    Standing.WHERE_MEANT: "true where it is meant, as corrected",
    Standing.REFUTED: "the correction that was tried fails as well, and no true form is known here",
    Standing.DOES_NOT_FOLLOW: "the correction that was tried does not follow either",
    Standing.UNDECIDED: "whether the corrected form holds is open",
    Standing.PARTLY: "of the corrected form, special cases or steps are proved",
}


def entry_parts(entry: LetterEntry, letter: Letter) -> tuple[LetterPart, ...]:
    """All that an entry says, but for its further lines and its command."""
    return tuple(part for part in _parts(entry, letter) if part.said)


def _parts(entry: LetterEntry, letter: Letter) -> Iterator[LetterPart]:
    of = {row.id: row for row in entry.statements}
    for fault in entry.faults[:1]:
        proof, instance = fault.shown, entry.instance
        yield LetterPart(PartLabel.WHERE, (SaidPiece(", ".join(fault.places)),))
        yield from printed(proof, of[proof.statement])
        open_ended = proof.verdict is Verdict.DOES_NOT_FOLLOW
        yield LetterPart(PartLabel.UNFOLLOWED if open_ended else PartLabel.FAILS, fails(fault))
        if instance is not None:
            left, right = map(number_latex, instance.sides)
            line = _math(f"{left}{_SIGNS.get(instance.relation, instance.relation)}{right}")
            yield LetterPart(
                PartLabel.INSTANCE, (SaidPiece(f"{instance.says}:"), line, SaidPiece("is false"))
            )
        yield LetterPart(PartLabel.THRESHOLD, _thresholds(proof))
        sized = next((one for one in entry.faults if getattr(one.shown.realistic, "point", None)), fault)
        place = () if sized is fault else (SaidPiece(f"({', '.join(sized.places)})"),)
        yield LetterPart(PartLabel.REALISTIC, (*realistic(sized.shown), *place))
    for _, erratum in entry.errata:
        yield LetterPart(PartLabel.CODE, erratum_said(erratum))
    if entry.consequence is not None:
        yield LetterPart(PartLabel.BREAKS, (SaidPiece(MEANS[entry.consequence]), *_resting(entry)))
    for fault in entry.faults[:1]:
        for repair in fault.repairs[:_MOST]:
            yield LetterPart(_label_of_truth(fault.shown, repair), true(fault.shown, repair, given=True))
        yield LetterPart(PartLabel.WHY, why(fault))
    yield LetterPart(PartLabel.SURVIVES, survives(entry, letter))


def _thresholds(proof: ProofEvidence) -> Said:
    """How far it holds and where it fails, where the ledger has that in numbers that people write."""
    found = [t for t in telling(proof.thresholds) if all(few_digits(x) == x for x in t.numbers())]
    return tuple(piece for each in found for piece in _far(proof, each))


def _far(proof: ProofEvidence, found: Threshold) -> Iterator[SaidPiece]:
    change, holds, fails = found.change, found.holds, found.fails
    if change.letter:
        yield from (SaidPiece(f"{str(holds.verdict).capitalize()} for"), _end(found, holds))
    else:
        inside = _math(found.inside_latex) if found.inside_latex else _code(found.inside)
        what: Said = (SaidPiece(f"as a {change.varied}"),)
        if found.now:
            number = _math(number_latex(found.now))
            what = SaidPiece(f"in place of the {change.varied}"), number, SaidPiece("in")
        yield from (SaidPiece("With"), _end(found, holds), *what, inside, SaidPiece(f"it is {holds.verdict}"))
    if fails is not None:
        word = f"; {fails.verdict} for" if change.letter else "; with"
        yield from (SaidPiece(word), _end(found, fails))
        yield from () if change.letter else (SaidPiece(f"it is {fails.verdict}"),)
        if at := point(proof, fails.counterexample):
            yield from (SaidPiece(", at"), *at)
    within = [_range(proof, name, *ends) for name, ends in change.within.items()]
    yield from _listed("; both within", within)
    yield SaidPiece(".")


def _end(found: Threshold, end: ThresholdEnd) -> SaidPiece:
    """A bound on a letter, or a number."""
    if not found.change.letter:
        return _math(number_latex(end.number()))
    return _math(end.latex) if end.latex else _code(end.says)


def _range(proof: ProofEvidence, name: str, low: str, high: str) -> SaidPiece:
    letter = proof.letters.get(name)
    if letter is None:
        return _code(f"{number_text(low)} <= {name} <= {number_text(high)}")
    return _math(rf"{number_latex(low)}\le {letter}\le {number_latex(high)}")


def _label_of_truth(false: ProofEvidence, repair: ProofEvidence) -> PartLabel:
    special = false.provenance is Provenance.SPECIAL and repair.obligation == false.obligation
    return PartLabel.CASE if special else PartLabel.TRUE


def erratum_said(erratum: ErratumEntry) -> Said:
    """What a test or an audit computes."""
    said = f"{erratum.where}: {erratum.printed}; instead: {erratum.corrected}"
    return (SaidPiece(said), *_listed("; by", map(_code, erratum.evidence)))


def why(fault: PrintedFault) -> Said:
    """Why it has to be corrected so, and what makes it true."""
    found = "; ".join(dict.fromkeys(repair.because for repair in fault.repairs[:_MOST] if repair.because))
    text = "; ".join(filter(None, (found, _reading(fault.shown))))
    return (SaidPiece(text),) if text else ()


def _reading(proof: ProofEvidence) -> str:
    return f"true {proof.reading}" if proof.reading else ""


def _resting(entry: LetterEntry) -> Said:
    places = dict.fromkeys(row.where or row.id for row in entry.rest)
    verb = "rests" if len(places) == 1 else "rest"
    return (SaidPiece(f"; on it {verb}: {'; '.join(places)}"),) if places else ()


def command(entry: LetterEntry) -> str:
    """The line that shows it again."""
    shown = [fault.shown.statement for fault in entry.faults] or [row.id for row in entry.statements]
    of = {row.id: row for row in entry.statements}
    verb = "prove" if entry.faults else "explain"
    return shlex.join(["dpverify", verb, *(address(of[name]) for name in dict.fromkeys(shown[:1]))])


def address(row: StatementEntry) -> str:
    """What a command is given to find a statement."""
    return f"{row.pages}#{row.id}" if row.pages else row.id


# ------------------------------------------------------------------------------------------- tables


def lines(faults: Sequence[PrintedFault], letter: Letter) -> tuple[FaultLine, ...]:
    """A row of a table for each fault."""
    of = {row.id: address(row) for row in letter.statements}
    return tuple(_line(fault, of.get(fault.shown.statement, fault.shown.statement)) for fault in faults)


def _line(fault: PrintedFault, name: str) -> FaultLine:
    proof = fault.shown
    instead: list[SaidPiece] = []
    for repair in fault.repairs[:1]:
        instead += _fitting(true(proof, repair))
    reason = next((r.because for r in fault.repairs[:1] if r.because), "") or _reading(proof)
    instead += [SaidPiece(f"({reason})" if instead else reason)] if reason else []
    formula = _math(proof.latex) if proof.latex else _code(proof.expression)
    own = tuple(line for line in proof.prints if _RELATION.search(line) and line != proof.latex)
    own = own if sum(map(len, own)) <= _LONGEST_PRINTED else ()
    label = _IN_A_TABLE.get(proof.provenance or Provenance.VERBATIM, "")
    if proof.provenance is Provenance.PIECED and not own:
        label = "pieced together:"
    said = (
        *_listed("printed:", map(_math, own)),
        *((SaidPiece(f"{'; ' if own else ''}{label}"),) if label else ()),
        formula,
        *_where(proof),
    )
    return FaultLine(
        "; ".join(fault.places),
        name,
        _fitting(said),
        fails(fault, _LONGEST_POINT),
        tuple(instead) or (SaidPiece("–"),),
    )


def _fitting(said: Said) -> Said:
    """Without displays, and without formulas that no table has room for."""
    return tuple(
        SaidPiece("a long formula") if len(piece.text) > _LONGEST and piece.kind is not PieceKind.WORDS
        else _math(piece.text) if piece.kind is PieceKind.DISPLAY
        else piece
        for piece in said
    )  # fmt: skip


# ------------------------------------------------------------------------------------------- the first page


def first_page(letter: Letter) -> tuple[str, ...]:
    """What is counted: how the statements stand, and what this letter tells."""
    stands = counts(row.printed.standing for row in letter.statements if row.is_counted)
    of = plural(sum(stands.values()), "statement")
    how = ", ".join(each.of(number) for each, number in stands.items())
    said = [f"As printed, of {of} {how}."] if stands else []
    beside = "or matter" if len(letter.meant) == 1 else "and matters"
    told = [
        f"{plural(len(letter.entries), 'fault')} that {'changes' if len(letter.entries) == 1 else 'change'} a claim, a "
        "constant or a condition: read these first",
        f"{plural(len(letter.steps), 'step')} of other proofs, which break no claim",
        f"{plural(len(letter.meant), 'edge case')} {beside} of notation",
    ]
    numbers = (len(letter.entries), len(letter.steps), len(letter.meant))
    inner = sum(len(entry.steps) for entry in letter.entries)
    told[0] += f" ({plural(inner, 'step')} of their proofs with them)" if inner else ""
    said.append(
        f"In this letter: {'; '.join(text for text, number in zip(told, numbers, strict=True) if number)}."
    )
    unconfirmed = sum(not row.confirmed_by_checker for row in letter.rows)
    said.append(
        "Each formula fails at the values, or along the values, that are shown, in exact or rigorous arithmetic; "
        "an independent checker confirmed "
        + (f"all but {unconfirmed} of {len(letter.rows)}." if unconfirmed else "this.")
    )
    if any(row.verdict is Verdict.DOES_NOT_FOLLOW for row in letter.rows):
        said.append(
            "A formula that does not follow is not shown to be false: it fails at values of expectations, "
            "divergences and the like that perhaps nothing attains."
        )
    return tuple(said)
