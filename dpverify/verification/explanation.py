"""A statement or an algorithm in words, for the terminal."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from importlib import import_module

from dpverify.evidence import Variant
from dpverify.proving.language import And, Formula, Obligation, formula_text
from dpverify.statements.paper import find_statement, papers, select


def _claim(claim: Formula) -> Iterator[str]:
    """A formula on one line; the parts of a conjunction on a line each."""
    if not isinstance(claim, And):
        yield formula_text(claim)
        return
    for number, part in enumerate(claim.parts, 1):
        yield formula_text(part) + (" and" if number < len(claim.parts) else "")


def _obligation(obligation: Obligation, variant: Variant) -> Iterator[str]:
    yield f"  {obligation.name} ({variant}, {obligation.role})"
    yield f"    {obligation.where}"
    yield from (f"    {line}" for line in _claim(obligation.claim))
    if obligation.assuming:
        yield "    given " + "; ".join(formula_text(a) for a in obligation.assuming)
    for variable in obligation.over:
        unit = "" if str(variable.unit) == "dimensionless" else f", {variable.unit}"
        meaning = f": {variable.meaning}" if variable.meaning else ""
        yield f"      {variable.name} in {variable.domain_text()}{unit}{meaning}"
    if obligation.scope:
        yield f"    covers: {obligation.scope}"


def _inherited_attributes(found: type) -> Iterator[str]:
    """What the nearest base class says of the fields, where the class itself says nothing."""
    if "Attributes:" in (found.__doc__ or ""):
        return
    for base in inspect.getmro(found)[1:]:
        _, heading, fields = inspect.cleandoc(base.__doc__ or "").partition("Attributes:")
        if heading:
            yield ""
            yield heading + fields
            return


def _rests_on(ids: tuple[str, ...]) -> Iterator[str]:
    """The statements behind an algorithm, with where they are printed."""
    rows = {row.id: row for paper in papers().values() for row in paper.catalog}
    if ids:
        yield ""
        yield "Rests on:"
        for name in ids:
            encoded = "" if find_statement(name) is None else f" (dpverify prove {name})"
            yield (
                f"  {name}: {rows[name].where}, {rows[name].title}{encoded}" if name in rows else f"  {name}"
            )


def explanation_lines(id_: str) -> Iterator[str]:
    """What is known of a catalog id: formula, obligations and repair; code path, guarantee and plans.

    Raises:
        InvalidArgumentError: if there is no such id.
    """
    for paper, row in select((id_,)):
        yield f"{row.id}: {row.title}"
        yield f"{paper.title} ({paper.authors}), {row.where}; {row.kind}"
        statement = next((s for s in paper.statements if s.id == row.id), None)
        algorithm = paper.algorithms.get(row.id)
        if statement is None and algorithm is None:
            yield "Not encoded yet."
        if statement is not None:
            yield ""
            yield f"Printed: {statement.latex}"
            for obligation in statement.printed:
                yield from _obligation(obligation, Variant.PRINTED)
            if statement.repaired is not None:
                yield ""
                yield f"Repaired: {statement.repaired.latex or 'as below'}"
                yield f"Because: {statement.repaired.because}"
                for obligation in statement.repaired.obligations:
                    yield from _obligation(obligation, Variant.REPAIRED)
            yield ""
            yield f"Verdicts: dpverify prove {row.id}"
        if algorithm is not None:
            module, _, name = algorithm.partition(":")
            found = getattr(import_module(module), name)
            yield ""
            yield f"Code: {algorithm}{inspect.signature(found)}"
            yield ""
            yield inspect.cleandoc(found.__doc__ or "")
            yield from _inherited_attributes(found)
            yield from _rests_on(getattr(found, "statements", ()))
        related = {p.id for q in papers().values() for p in q.statements if row.id in p.pairs}
        related |= set(statement.pairs if statement else ())
        if related:
            yield ""
            yield f"Belongs with: {', '.join(sorted(related))}"
        plans = [plan for plan in paper.plans if plan.subject == row.id]
        if plans:
            yield ""
            yield "Audits:"
            for plan in plans:
                yield f"  dpverify verify --only {plan.name}    {plan.title}"
