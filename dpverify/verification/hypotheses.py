"""Which hypotheses of a statement its formulas need, whether its conditions can hold at once, and both in words."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from dpverify.errors import InvalidArgumentError
from dpverify.formulas.printing import formula_text
from dpverify.ledger.records import Record
from dpverify.ledger.verdicts import Coverage, Use, Variant
from dpverify.proving.language import Obligation, Statement
from dpverify.running.store import keep, kept
from dpverify.statements.paper import CatalogRow, address_of, papers
from dpverify.statements.selection import find_statement
from dpverify.verification.catalog.proofs import as_they_end
from dpverify.verification.catalog.source_rows import obligations_of
from dpverify.verification.remembering.remembered import statement_key
from dpverify.views.formula import point_text

if TYPE_CHECKING:  # whoever only reads what was found needs no provers
    from dpverify.analyses.hypotheses import TriedHypothesis
    from dpverify.running import Progress

_ASIDE = (Coverage.INSTANCE, Coverage.REFERENCE, Coverage.CITED)
"""Special cases, and what is said elsewhere or cited, are no part of a proof."""


class HypothesisUse(Record):
    """One hypothesis of a statement, and the formula that shows most of what it is for."""

    hypothesis: str
    """In plain characters."""
    use: Use
    formula: str
    """The formula that needs it most; where it is unused, one that is proved without it."""
    coverage: Coverage
    """Of that formula. A hypothesis that only a step needs is used, but the conclusion is proved without it."""
    point: dict[str, str] | None = None
    """Where that formula is false or undefined without it: symbol to exact value."""


class ConditionsTogether(Record):
    """Formulas of a statement whose conditions were looked at together."""

    formulas: tuple[str, ...]
    conditions: tuple[str, ...]
    point: dict[str, str] | None
    """Where all of them hold; None where no such point is known."""
    why: str = ""
    """Why they do not stand in an earlier case, or why there is no point."""


class StatementHypotheses(Record):
    """What was found of one statement."""

    statement: str
    hypotheses: tuple[HypothesisUse, ...]
    """Those of its conclusion: of the formulas that, together with what they use, give it."""
    formulas: tuple[str, ...]
    """These formulas, as far as they are proved."""
    left: tuple[str, ...]
    """Those that are not, so that nothing can be said of their hypotheses."""
    printed: tuple[ConditionsTogether, ...]
    """The conditions of all that is printed but instances and references, one case if they can hold at once."""
    corrected: tuple[ConditionsTogether, ...]
    """The same of the corrected statement; empty where there is none."""
    cut_short: bool = False
    """Whether a wall-clock guard ended some work, so that a faster machine may find more; it is not kept then."""

    def of(self, use: Use) -> tuple[HypothesisUse, ...]:
        """Its hypotheses of one use."""
        return tuple(h for h in self.hypotheses if h.use is use)


def hypotheses_of(statement: Statement) -> StatementHypotheses:
    """Find out what a statement makes of its hypotheses, and whether its conditions can hold at once."""
    from dpverify.proving.reasoning.effort import limited

    with limited(sys.maxsize) as meter:  # each attempt has limits of its own
        found = _hypotheses_of(statement)
    return found.model_copy(update={"cut_short": meter.stopped_by_the_clock})


def _hypotheses_of(statement: Statement) -> StatementHypotheses:
    from dpverify.analyses.hypotheses import hypotheses, uses_of_hypotheses

    parts = [(variant, o) for variant in Variant for o in obligations_of(statement, variant)]
    behind = {Variant.PRINTED: "", Variant.CORRECTED: " (corrected)"}
    named = [(o.name + behind[variant], o) for variant, o in parts if o.coverage not in _ASIDE]
    conclusions = [(name, o) for name, o in named if o.coverage is Coverage.CONCLUSION]
    best: dict[str, HypothesisUse] = {}
    left = []
    for name, o in conclusions:
        found = uses_of_hypotheses(o)
        if not found and hypotheses(o):
            left.append(name)
        for finding in found:
            _note(best, name, o, finding)
    for name, o in named:
        if o.coverage is Coverage.CONCLUSION:
            continue
        unused = {text for text, known in best.items() if known.use is Use.UNUSED}
        asked = tuple(h for h in hypotheses(o) if h.text in unused) if unused else ()
        for finding in uses_of_hypotheses(o, asked):
            _note(best, name, o, finding)
    return StatementHypotheses(
        statement=statement.id,
        hypotheses=tuple(best.values()),
        formulas=tuple(name for name, _ in conclusions if name not in left),
        left=tuple(left),
        printed=_together(statement.printed),
        corrected=_together(_corrected(statement)),
    )


def _note(best: dict[str, HypothesisUse], name: str, o: Obligation, finding: TriedHypothesis) -> None:
    """Keep what a formula says of a hypothesis where it says more than those before."""
    text, order = finding.hypothesis.text, list(Use)
    before = best.get(text)
    if before is None or order.index(finding.use) < order.index(before.use):
        point = None if finding.point is None else dict(finding.point)
        best[text] = HypothesisUse(
            hypothesis=text, use=finding.use, formula=name, coverage=o.coverage, point=point
        )


def _corrected(statement: Statement) -> list[Obligation]:
    """The corrected statement: the printed one but for what its correction replaces."""
    repair = statement.corrected
    if repair is None:
        return []
    new = list(repair.obligations)
    gone = {*repair.replaces, *(o.name for o in new)}
    return [*(o for o in statement.printed if o.name not in gone), *new]


def _together(obligations: Iterable[Obligation]) -> tuple[ConditionsTogether, ...]:
    """The conclusion's formulas first, so that the first case has what the statement itself assumes."""
    from dpverify.analyses.together import cases

    order = (Coverage.CONCLUSION, Coverage.CONDITION, Coverage.STEP)
    parts = sorted((o for o in obligations if o.coverage in order), key=lambda o: order.index(o.coverage))
    return tuple(
        ConditionsTogether(
            formulas=case.names,
            conditions=tuple(map(formula_text, case.conditions)),
            point=None if case.point is None else dict(case.point),
            why=case.why,
        )
        for case in cases(parts)
    )


# ------------------------------------------------------------------------------------------- remembering


def recall_hypotheses(statement: Statement) -> StatementHypotheses | None:
    """What was kept, None where formulas or provers have changed since."""
    found = kept("hypotheses", statement_key(statement))
    try:
        return None if found is None else StatementHypotheses.model_validate(found)
    except (TypeError, ValueError):
        return None


def _found(address: str) -> StatementHypotheses:
    statement = find_statement(address)
    if statement is None:  # the other process sees other papers
        raise InvalidArgumentError("statement", address, "a statement registered in this environment")
    return hypotheses_of(statement)


def recall_or_find_hypotheses(
    statements: Sequence[Statement],
    *,
    workers: int = 1,
    progress: Progress | None = None,
    missing: Callable[[int], None] = lambda count: None,
) -> list[StatementHypotheses]:
    """What is kept of each statement, and what is found of the others; `missing` hears how many these are."""
    known = {s.id: recall_hypotheses(s) for s in statements}
    others = {s.id: s for s in statements if known[s.id] is None}
    missing(len(others))
    longest_first = sorted(others.values(), key=lambda s: -len(s.parts))  # so that all end together
    addresses = [address_of(s.id) for s in longest_first]
    for _, found in as_they_end(_found, addresses, workers=workers, progress=progress):
        known[found.statement] = found
        if not found.cut_short:
            keep("hypotheses", statement_key(others[found.statement]), found.model_dump(mode="json"))
    return [found for found in known.values() if found is not None]


# ------------------------------------------------------------------------------------------- in words


CUT_SHORT = "a guard of time ended some of the work here, so that a faster machine may find more"

_WIDTH = 120
"""Of the page's paragraphs."""


def summary(found: Iterable[StatementHypotheses]) -> str:
    """How many hypotheses there are of each use, and how many statements' conditions can hold at once."""
    every = list(found)
    counts = ", ".join(f"{sum(len(f.of(use)) for f in every)} {use}" for use in Use)
    total = sum(len(f.hypotheses) for f in every)
    once = sum(len(f.printed) == 1 and f.printed[0].point is not None for f in every)
    return (
        f"Hypotheses: {total}, {counts}. Statements whose conditions can hold all at once: {once} of "
        f"{sum(bool(f.printed) for f in every)}."
    )


def markdown(found: Iterable[StatementHypotheses]) -> str:
    """A page of Markdown with all of it, statement by statement."""
    every = list(found)
    paragraphs = (textwrap.wrap(text, _WIDTH) for text in (*_INTRODUCTION, summary(every)))
    lines = ["# Hypotheses", "", *(line for paragraph in paragraphs for line in (*paragraph, ""))]
    for paper in papers().values():
        rows = {row.id: row for row in paper.catalog}
        mine = [f for f in every if f.statement in rows]
        if mine:
            lines += [f"## {paper.key}", "", *(line for f in mine for line in _section(f, rows[f.statement]))]
    return "\n".join(lines).rstrip() + "\n"


_INTRODUCTION = (
    "Made by `make hypotheses`. Each proved formula that gives the conclusion of a statement is tried again without "
    "each of its hypotheses: the conditions that it is printed with, and the ends of its letters' domains (that a "
    "letter is an integer is not tried). A hypothesis is *needed* if the formula is false, or has no value, at a point "
    "where all others hold; *not proved without it* if neither such a point nor a proof is found; and *unused* if the "
    "formula is proved without it, and without all other unused ones at once. Of several formulas with the same "
    "hypothesis, the one is named that needs it most; if the conclusion does not need it, the steps and conditions of "
    "the proof are tried as well. What is unused here may still be needed by what the statement rests on, or for its "
    "words to make sense.",
    "*Together* says whether the conditions of all formulas of a statement and its proof, domains included, can hold "
    "at once, and where. If no such point is found, the formulas are split into cases, the conclusion's first: "
    "separate cases of a proof, or steps whose letters mean something else there.",
    "`dpverify hypotheses ID` computes it again, `dpverify explain ID` shows it beside the formulas.",
)


def _section(f: StatementHypotheses, row: CatalogRow) -> Iterator[str]:
    yield from (f"### {f.statement}", "", f"{row.where}: {row.title}", "")
    for use in Use:
        of = f.of(use)
        if of:
            yield f"- {use}: " + "; ".join(map(_item, of))
    if f.left:
        yield f"- not tried, since not proved: {', '.join(f'`{name}`' for name in f.left)}"
    if f.cut_short:
        yield f"- {CUT_SHORT}"
    if not f.hypotheses and not f.left:
        yield "- no formula of its own gives the conclusion" if not f.formulas else "- no hypotheses"
    for words, of_variant in (("together", f.printed), ("together, corrected", f.corrected)):
        for line in case_lines(of_variant):
            yield f"- {words}: {line}"
    yield ""


def _item(h: HypothesisUse) -> str:
    step = "" if h.coverage is Coverage.CONCLUSION else f" in the {h.coverage} `{h.formula}` only"
    return f"`{h.hypothesis}`{step}" + (f" ({point_text(h.point)})" if h.point else "")


def use_text(h: HypothesisUse) -> str:
    """`false without it (bound)`; that only a step needs it is said."""
    if h.use is Use.UNUSED:
        return str(h.use)
    step = (
        "" if h.coverage is Coverage.CONCLUSION else f", a {h.coverage}; the conclusion is proved without it"
    )
    return f"{h.use} ({h.formula}{step})"


def case_lines(found: tuple[ConditionsTogether, ...]) -> Iterator[str]:
    """That the conditions can hold at once, and where; or the cases into which they fall, and why."""
    if len(found) == 1 and found[0].point is not None:
        yield f"all conditions can hold at once{_where(found[0])}"
        return
    for number, case in enumerate(found, 1):
        can = f"can hold at once{_where(case)}" if case.point is not None else "no point is known"
        yield f"case {number} ({', '.join(case.formulas)}): {can}{'; ' + case.why if case.why else ''}"


def _where(case: ConditionsTogether) -> str:
    return f", at {point_text(case.point)}" if case.point else ""
