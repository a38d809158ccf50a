"""A statement or an algorithm in words, for the terminal."""

from __future__ import annotations

import inspect
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dpverify.extras import MissingExtraError
from dpverify.formulas.expressions import Variable
from dpverify.grouping import grouped
from dpverify.ledger.entries import StatementEntry
from dpverify.ledger.headlines.roots import ancestors
from dpverify.ledger.headlines.rows import marks, row_of
from dpverify.ledger.in_print import Provenance
from dpverify.ledger.names import bare
from dpverify.ledger.proofs import ProofEvidence
from dpverify.ledger.records import is_vacuous
from dpverify.ledger.verdicts import BROKEN, HOLDS, Coverage, Use, Variant, Verdict
from dpverify.proving.language import Statement, parts_of
from dpverify.reports.plain_formulas import plain_formula, plain_signs, plain_words
from dpverify.running.store import keep, kept
from dpverify.statements.hidden_constants import hidden_constants
from dpverify.statements.inventory import lost_glyphs
from dpverify.statements.own_pages import opened
from dpverify.statements.paper import CatalogRow, Paper, address_of, loaded, named_results, papers
from dpverify.statements.selection import find_statement, select
from dpverify.verification.catalog.entries import catalog_entries, named_with, used_by, uses_graph
from dpverify.verification.catalog.program import program
from dpverify.verification.catalog.rows import ProofRecord, domain_of, source_texts
from dpverify.verification.catalog.source_rows import SourceRow, obligations_of
from dpverify.verification.hypotheses import case_lines, recall_hypotheses, use_text
from dpverify.verification.located.places import places
from dpverify.verification.remembering.remembered import audits_of, recall_instances
from dpverify.verification.remembering.shipped import origin, recall_or_read
from dpverify.verification.thresholds import can_be_sharpened, recall_thresholds
from dpverify.views.formula import MEANING, Say, confirmed_by, facts, point_text
from dpverify.views.roots import premise_text

if TYPE_CHECKING:
    from dpverify.statements.plans import Plan

_VARIANTS = {Variant.PRINTED: "as printed", Variant.CORRECTED: "corrected"}


def explanation_lines(id_: str) -> Iterator[str]:
    """What is known about a catalog id, for someone who has not read the paper or the code.

    For a statement: the formula, what was proved or refuted of it (as far as that is remembered: nothing is computed
    here), the correction, what rests on it. For an algorithm: where it is, its parameters, its guarantee, what that
    rests on. For both: how to check and audit it. For a paper: the ids in it.
    """
    found = list(select((id_,)))
    paper = opened(id_)
    if paper is not None and len(found) > 1:
        yield from _paper(paper, [row for _, row in found])
        return
    for paper, row in found:
        yield from _row(paper, row)


def _paper(paper: Paper, rows: list[CatalogRow]) -> Iterator[str]:
    encoded = {statement.id for statement in paper.statements}
    yield f"{paper.key}: {paper.named}"
    for heading, listed in (
        ("Algorithms", [row for row in rows if row.id in paper.algorithms]),
        ("Statements with formulas to prove", [row for row in rows if row.id in encoded]),
        ("Other statements", [row for row in rows if row.id not in encoded | set(paper.algorithms)]),
    ):
        yield from _section(heading, (f"  {row.id}: {row.where}, {row.title}" for row in listed))
    yield ""
    yield f"More about each: dpverify explain ID. Verdicts: dpverify list {paper.key}"


def _row(paper: Paper, row: CatalogRow) -> Iterator[str]:
    statement = find_statement(row.id)
    path = paper.algorithms.get(row.id)
    algorithm = None if path is None else loaded(path)
    yield f"{row.id}: {row.title}"
    yield f"{row.where} of {paper.named}; {row.kind}"
    if statement is None and algorithm is None:
        yield from ("", "Its formulas are not encoded, so there is nothing to prove here yet.")
    if statement is not None:
        yield from _statement(statement)
    if path is not None:
        yield from _algorithm(path, algorithm)
    yield from _section("What its O( ), Omega( ) or Theta( ) hides", _hidden(paper, row.id))
    yield from _rests_on(row.id)
    rows = _catalog()
    users = {
        name: rows[name].title
        for other in papers().values()
        for name in other.rest_on(row.id)
        if name in rows
    }
    audits = Counter[str]()
    for other in papers().values():
        audits.update(audits_of(other))
    # audits take long to load
    plans = [plan for p in papers().values() for plan in p.plans_about((row.id,))] if audits[row.id] else []
    yield from _section(
        "Algorithms that rest on it",
        (f"  {name}: {title} (dpverify explain {name})" for name, title in users.items()),
    )
    # what the encoded statements name together with this one, without what was named above
    related = {*named_with().get(row.id, ()), *(statement.pairs if statement else ())}
    related -= {row.id, *users, *getattr(algorithm, "statements", ())}
    if related:
        yield from ("", f"Related: {', '.join(sorted(related))}")
    yield from _section(
        "Bounds on expectations, where they are audited", (f"  {line}" for line in _bounds(row.id, plans))
    )
    yield from _audits(row.id, {name: audits[name] for name in users}, plans)
    yield from _section("Where to find it", (f"  {place}" for place in places(paper, row.id, plans)))


def _hidden(paper: Paper, id_: str) -> Iterator[str]:
    """A line for each rate: the constant that is proved, the one exhibited, where, and what lies between."""
    for one in hidden_constants(paper, id_):
        proved, exhibited, ratio, where, why = one.row
        bound, other = ("at least", "at most") if one.below else ("at most", "at least")
        constants = [
            f"proved {bound} {proved}" if proved else "",
            f"exhibited {other} {exhibited}, a ratio of {ratio}" if exhibited else "",
            where,
            why,
        ]
        words = (
            f"{plain_formula(one.display.latex)} ({one.display.place}): {'; '.join(filter(None, constants))}"
        )
        yield from _indented((words,))


def _catalog() -> dict[str, CatalogRow]:
    return {row.id: row for paper in papers().values() for row in paper.catalog}


def _section(heading: str, lines: Iterable[str]) -> Iterator[str]:
    """A heading and what stands below it; nothing where that is nothing."""
    if found := list(lines):
        yield from ("", f"{heading}:", *found)


def _indented(texts: Iterable[str]) -> Iterator[str]:
    """Texts of a section, a line each."""
    return (f"  {_one_line(text)}" for text in texts)


def _one_line(text: str) -> str:
    return " ".join(text.split())


# --------------------------------------------------------------------------------------------- statements


def _said(statement: Statement, entry: StatementEntry, evidence: Sequence[ProofEvidence]) -> Iterator[str]:
    """What was shown of it, what is false, what refutes it, how it is corrected, and what no formula says."""
    false_parts = [
        e for e in evidence if e.variant is Variant.PRINTED and e.verdict in BROKEN and not row_of(e).refutes
    ]
    yield from _stated("As printed", entry.printed.headline, entry.printed.verdict)
    yield f"  {plain_formula(statement.latex)}" if statement.latex else "  see the formulas below"
    for mark in entry.marks:
        names = ", ".join(e.obligation for e in false_parts if mark in marks([e]))
        yield f"  But {mark}: {names}."
    for instance in recall_instances(_catalog()[statement.id].paper, statement.id):
        texts = [f"{instance.says}.", f"{instance.text()}{': ' if instance.reason else ''}{instance.reason}."]
        texts += [f"Checked at it: {'; '.join(instance.conditions)}."] if instance.conditions else []
        yield from _section(f"What refutes it ({instance.obligation})", _indented(texts))
    repair = statement.corrected
    if repair is not None:
        yield from _stated("Corrected", entry.corrected.headline, entry.corrected.verdict)
        yield f"  {plain_formula(repair.latex)}" if repair.latex else "  see the corrected formulas below"
        yield from _indented(f"Why: {reason}." for reason in repair.reasons)
    elif entry.corrected.headline:
        yield from _stated(
            "With the corrections of what it rests on", entry.corrected.headline, entry.corrected.verdict
        )
    if entry.missing:
        yield from ("", _one_line(f"No formula says: {'; '.join(entry.missing)}."))
    if entry.unsaid_claims:
        words = "; ".join(f'"{text}"' for text in entry.unsaid_claims)
        yield from ("", _one_line(f"In words, and not all of it in a formula: {words}."))


def _statement(statement: Statement) -> Iterator[str]:
    evidence = recall_or_read(statement) or []
    entry = _entry(statement.id, evidence)
    yield from _said(statement, entry, evidence)
    yield from _roots(entry)
    glyphs = (
        f"{glyph.place}, {glyph.text!r}, is read as {plain_formula(glyph.reading)}: {glyph.evidence}."
        for glyph in lost_glyphs()
        if glyph.statement == statement.id
    )
    yield from _section("Where the paper's text lost a glyph", _indented(glyphs))
    prove = f"dpverify prove {address_of(statement.id)}"
    if not evidence:
        yield from ("", f"No verdicts are stored yet; to compute them: {prove}")
    rows = _rows(statement, evidence)
    symbols: dict[str, Variable] = {}  # as declared for the first formula that uses them
    for variable in (variable for _, letters in rows for variable in letters):
        symbols.setdefault(variable.name, variable)
    yield from _section(
        "Symbols of the formulas below", (f"  {_symbol(variable)}" for variable in symbols.values())
    )
    for variant, words in _VARIANTS.items():
        units_of = {e.units_of: e for e in evidence if e.variant is variant and e.units_of}
        lines = (
            line
            for row, letters in rows
            if row.variant is variant
            for line in _obligation(row, letters, symbols, units_of.get(row.obligation))
        )
        yield from _section(f"Formulas to prove, {words}", lines)
    units = [e for e in evidence if e.coverage is Coverage.UNIT]
    if units:
        agree = sum(e.verdict is Verdict.PROVED for e in units)
        yield from ("", f"Units: the two sides agree in {agree} of {len(units)} formulas.")
    if of_release := origin([statement]):
        yield of_release
    elif evidence:
        yield f"To prove it again, with certificates and checker: {prove}"
    yield from _hypotheses(statement)


def _roots(entry: StatementEntry) -> Iterator[str]:
    """What it rests on in the end, as far as something was found of it."""
    if entry.printed.verdict not in HOLDS and entry.corrected.verdict not in HOLDS:
        return
    roots = entry.roots
    found = (
        ("proved here", roots.own),
        ("results of the literature", roots.literature),
        ("not proved", roots.unproved),
        ("proved on a box only", roots.boxed),
    )
    said = [f"{what}: {', '.join(names)}" for what, names in found if names] or ["nothing else"]
    assumed = grouped((each.formula, plain_signs(each.premise)) for each in roots.assumed)
    said += [f"assumed by {name}: {'; '.join(texts)}" for name, texts in assumed.items()]
    yield from _section("It rests in the end on", _indented(said))


def _hypotheses(statement: Statement) -> Iterator[str]:
    """What its hypotheses are for, and whether its conditions can hold at once, as far as that is remembered."""
    found = recall_hypotheses(statement)
    if found is None:
        command = f"dpverify hypotheses {address_of(statement.id)}"
        yield f"Which hypotheses they need, and whether these can hold at once: {command}"
        return
    needed = (
        f"{plain_signs(h.hypothesis)}: {use_text(h)}{f', at {point_text(h.point)}' if h.point else ''}"
        for use in Use
        for h in found.of(use)
    )
    yield from _section("Hypotheses of the conclusion", _indented(needed))
    yield from ("", "Conditions of all its formulas together:")
    for words, of in zip(_VARIANTS.values(), (found.printed, found.corrected), strict=True):
        yield from _indented(f"{words}: {line}" for line in case_lines(of))


def _entry(id_: str, evidence: list[ProofEvidence]) -> StatementEntry:
    """A statement's row in the catalog, as `list` shows it, with what is remembered about all that it rests on."""
    below = (find_statement(name) for name in ancestors(id_, uses_graph()))
    found = [*evidence, *(e for statement in below if statement for e in recall_or_read(statement) or [])]
    records = [ProofRecord(e) for e in found]
    (entry,) = catalog_entries(records, (id_,), docstrings=False, judged=recall_instances)
    return entry


def _stated(heading: str, headline: str, verdict: Verdict | None) -> Iterator[str]:
    """A heading with what was shown; a verdict that stands alone is explained."""
    if headline == verdict and verdict is not None:
        headline += f" ({MEANING[verdict]})"
    yield from ("", f"{heading}{', ' + headline if headline else ''}:")


Row = tuple[ProofEvidence, tuple[Variable, ...]]
"""What a ledger's row shows of an obligation, whatever comes of it, and the variables of its formula."""


def _rows(statement: Statement, evidence: Sequence[ProofEvidence]) -> list[Row]:
    """The obligations; of those that something is remembered of, no formula is read, the others have no prover."""
    known = {(e.variant, e.obligation): e for e in evidence}
    rows = []
    for variant in Variant:
        obligations = obligations_of(statement, variant)
        for i, part in enumerate(parts_of(obligations)):
            row = known.get((variant, part.name))
            if row is None:
                texts = source_texts(SourceRow(statement, variant, obligations[i]))
                row = ProofEvidence(**texts, verdict=Verdict.UNDECIDED, prover="")
            elif can_be_sharpened(row, loose=True):
                row = row.but(thresholds=recall_thresholds(statement, part.name))
            declared = {variable.name: variable for variable in part.declared}
            if not declared.keys() >= row.domain.keys():  # some come from an order such as O(n)
                declared = {variable.name: variable for variable in obligations[i].over}
            rows.append((row, tuple(declared[name] for name in row.domain)))
    return rows


def _symbol(variable: Variable) -> str:
    domain = domain_of(variable)
    within = domain.text() if domain.kind != "real" else f"in {domain.text()}"
    unit = "" if str(variable.unit) == "dimensionless" else f", {variable.unit}"
    return f"{variable.name}: {variable.meaning + '; ' if variable.meaning else ''}{within}{unit}"


def _obligation(
    row: ProofEvidence,
    letters: Sequence[Variable],
    symbols: Mapping[str, Variable],
    units: ProofEvidence | None,
) -> Iterator[str]:
    unknown = "cited" if row.coverage is Coverage.CITED else "verdict not known"
    yield f"  {row.obligation}: {_verdict(row) if row.prover else unknown}"
    yield f"    {plain_words(row.where)}; {_PARTS[row.coverage]}"
    for line in map(plain_formula, row.prints):
        # one line of several may open a bracket that another closes
        plain = "\\" not in line and "$" not in line
        yield f"    the paper prints: {line if plain else 'a part of a display, which the report shows'}"
    if row.variant is Variant.PRINTED and row.provenance not in (None, Provenance.VERBATIM):
        yield f"    {row.provenance.says}:"
    yield f"    {plain_formula(row.latex)}"
    parts = row.conjuncts if len(row.conjuncts) > 1 else (row.expression,)
    for number, part in enumerate(parts, 1):
        yield f"    {plain_signs(part)}{' and' if number < len(parts) else ''}"
    if row.assuming:
        yield "    given " + "; ".join(map(plain_signs, row.assuming))
    for premise in row.premises:
        yield f"    premise {plain_signs(premise.premise)}: {_one_line(premise_text(premise))}"
        for pair in premise.identified:
            yield f"      {plain_formula(f'${pair.used}$')} is read as {plain_formula(f'${pair.read_as}$')}"
    yield from (f"    here {_symbol(v)}" for v in letters if _symbol(v) != _symbol(symbols[v.name]))
    yield from (f"    with {plain_formula(quantity)}" for quantity in row.notation)
    for what, text in (
        ("the case", row.scope),
        ("uses", ", ".join(row.uses)),
        ("is there to catch", row.catches if row.with_fault is None else ""),
    ):
        if text:
            yield f"    {what}: {_one_line(text)}"
    if row.prover:
        yield from _outcome(row)
    if units is not None and units.verdict is not Verdict.PROVED:
        yield f"    the units: {_verdict(units)}"
        yield from _outcome(units)


_PARTS = {
    Coverage.CONCLUSION: "gives the statement, together with what it uses",
    Coverage.INSTANCE: "an instance, which cannot prove the statement",
    Coverage.STEP: "a step of its proof",
    Coverage.CONDITION: "a condition",
    Coverage.UNIT: "a unit",
    Coverage.REFERENCE: "the same thing stated elsewhere",
    Coverage.CITED: "taken from its source, not proved here",
}


def _verdict(evidence: ProofEvidence) -> str:
    by = f"confirmed by the {confirmed_by([evidence])}" if evidence.confirmed_by_checker else "not confirmed"
    return f"{evidence.verdict} (prover {evidence.prover}, {by})"


def _outcome(evidence: ProofEvidence) -> Iterator[str]:
    """All that came of a formula, a fact a line; of point and sides, one line."""
    said = facts(evidence)
    if Say.POINT in said:
        sides = said.pop(Say.SIDES, "")
        said[Say.POINT] += f"; {sides}" if sides else ""
    if Say.SIDES in said or evidence.left is not None or evidence.right is not None:
        said.pop(Say.NOTE, None)  # the sides say it
    for say, text in said.items():
        words = plain_signs(text) if say is Say.ADDED else text
        yield f"    {_one_line(words if say is Say.SIDES else say.before(words))}"


def _rests_on(id_: str) -> Iterator[str]:
    """Both directions: what a statement rests on, and the statements that rest on it."""
    rows, results = _catalog(), named_results()

    def line(name: str) -> str:
        if bare(name) in results:
            return f"{name}: {results[bare(name)].title} ({results[bare(name)].source})"
        row = rows[bare(name)]
        known = _known(row.id) or "" if find_statement(row.id) else " (no formulas to prove yet)"
        return f"{name}: {row.where}, {row.title}{known}"

    statement = find_statement(id_)
    for heading, names in (
        ("The statement rests on", statement.rests_on if statement else ()),
        ("Statements that rest on it", used_by(id_)),
    ):
        yield from _section(heading, _indented(map(line, names)))


# --------------------------------------------------------------------------------------------- algorithms


def _algorithm(path: str, found: Any) -> Iterator[str]:
    module, _, name = path.partition(":")
    parameters = inspect.signature(found).parameters.values()
    call = ", ".join(p.name if p.default is p.empty else f"{p.name}={p.default!r}" for p in parameters)
    yield from ("", f"Code: {path}", f"  from {module} import {name}", f"  {name}({call})", "")
    yield from _without_attributes(found)
    meanings = parameter_meanings(found)
    texts = (f"{p.name}: {meanings.get(p.name, 'not documented')}" for p in parameters)
    in_full = f"  In full: python -m pydoc {module}.{name}"
    yield from _section(f"Parameters of {name}", [*_indented(texts), in_full])
    unstated = (f"{what}: {why}" for what, why in getattr(found, "unstated", {}).items())
    yield from _section("What it does not state", _indented(unstated))
    rows = _catalog()
    rests_on = [rows[name] for name in getattr(found, "statements", ()) if name in rows]
    yield from _section(
        "Rests on", (f"  {row.id}: {row.where}, {row.title}{_known(row.id)}" for row in rests_on)
    )


def _known(id_: str) -> str:
    """The verdicts of a statement that an algorithm rests on, or how to get them."""
    statement = find_statement(id_)
    if statement is None:
        return ""
    entry = _entry(id_, recall_or_read(statement) or [])
    if not entry.printed.headline:
        return f" (dpverify prove {address_of(id_)})"
    said = [entry.printed.headline]
    if entry.corrected.headline:
        said.append(f"corrected: {entry.corrected.headline}")
    return f" ({'. '.join(said)}. dpverify explain {id_})"


def _without_attributes(found: Any) -> Iterator[str]:
    """The docstring without the list of fields; guarantee and assumptions begin a paragraph there."""
    text, heading, rest = inspect.cleandoc(found.__doc__ or "").partition("\nAttributes:\n")
    yield from text.rstrip().splitlines()
    after = re.split(r"\n(?=\S)", rest, maxsplit=1) if heading else []
    if len(after) == 2:
        yield ""
        yield from after[1].splitlines()


def parameter_meanings(found: type) -> dict[str, str]:
    """The first sentence about every parameter that a class, or one that it inherits from, documents.

    It comes from the list of fields, else it is the first sentence of the docstring with the name in backticks.
    """
    meanings: dict[str, str] = {}
    prose: list[str] = []
    for base in inspect.getmro(found):
        text, _, rest = inspect.cleandoc(base.__doc__ or "").partition("\nAttributes:\n")
        prose += _sentences(text)
        fields = re.split(r"\n(?=\S)", rest)[0]
        for name, meaning in re.findall(r"^    (\w+): (.*(?:\n {5,}.*)*)", fields, re.M):
            meanings.setdefault(name, _sentences(meaning)[0])
    for name in inspect.signature(found).parameters:
        said = next((sentence for sentence in prose if f"`{name}`" in sentence), None)
        if said is not None:
            meanings.setdefault(name, said)
    return meanings


def _sentences(text: str) -> list[str]:
    return re.split(r"(?<=[^.][.!?])\s+(?=[A-Z`])", " ".join(text.split()))


# ------------------------------------------------------------------------------------------ what goes with it


def _bounds(id_: str, plans: list[Plan]) -> list[str]:
    """The bounds on expectations, risks above all, that audits compare with, and which of them say nothing."""
    key = [program(), id_, [plan.name for plan in plans]]
    found = kept("bounds", key)
    if not isinstance(found, list):
        try:
            found = [line for plan in plans if plan.subject == id_ for line in bound_lines(plan)]
        except MissingExtraError as error:
            return [str(error)]
        keep("bounds", key, found)
    return found


def bound_lines(plan: Plan) -> list[str]:
    """What a plan's audit compares with, a line a case, marked where nothing could break it; none for other audits."""
    from dpverify.auditing import BoundsQuestion
    from dpverify.auditing.expectations.bounds import worst_possible
    from dpverify.auditing.subjects import Runner
    from dpverify.statements.plans import Along, Profile

    if not isinstance(plan.build, Along):  # others may take long to build
        return []
    audit = plan.build(Profile.QUICK)
    question = audit.question
    assert isinstance(question, BoundsQuestion)
    lines: list[str] = []
    for bound, numbers in zip(question.bounds, audit.subject.on(Runner(())), strict=True):
        if not math.isfinite(bound.bound):
            continue
        heading = f"{numbers.quantity}; {bound.data}"
        lines += [] if heading in lines else [heading]
        at = f"{question.over} = {bound.size:.4g}: " if question.over else ""
        line = f"  {at}at {'least' if bound.at_least else 'most'} {bound.bound:.4g}"
        worst = worst_possible(numbers, at_least=bound.at_least)
        if is_vacuous(bound.bound, worst, at_least=bound.at_least):
            line += f": vacuous, as nothing {'below' if bound.at_least else 'above'} {worst:.4g} is possible"
        lines.append(line)
    return lines


def _audits(id_: str, users: Mapping[str, int], plans: list[Plan]) -> Iterator[str]:
    """The plans that audit it, and how to carry them out; the same for algorithms that rest on it, with numbers."""
    own = [plan for plan in plans if plan.subject == id_]
    if own:
        from dpverify.statements.plans import Profile

        full = [plan for plan in own if not plan.within(Profile.QUICK)]
        more = "; with --profile full also those marked *" if full else ""
        yield from _section(
            f"Audits (all of them: dpverify verify --paper {id_}{more})",
            (f"  dpverify verify --only {p.name}    {p.title}{' *' if p in full else ''}" for p in own),
        )
    of_users = (
        f"  dpverify verify --paper {name}    {number} audit{'s' if number > 1 else ''}"
        for name, number in users.items()
        if number
    )
    yield from _section("Audits of what rests on it", of_users)
