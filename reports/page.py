"""The report as one HTML file that needs nothing else: no network, no fonts, no other files."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup, escape

from dpverify.checks import of_kind
from dpverify.grouping import grouped
from dpverify.ledger.audits import AuditEvidence
from dpverify.ledger.document import Ledger
from dpverify.ledger.names import bare
from dpverify.ledger.proofs import ProofEvidence
from dpverify.ledger.verdicts import Verdict
from dpverify.ledger.written_numbers import short_sides
from dpverify.reports.dependencies import drawings, tidy
from dpverify.reports.formulas import formula, in_lines, inline
from dpverify.reports.outputs_plot import outputs_plot
from dpverify.reports.plots import plot_of, sandwich_plot
from dpverify.views import number_text
from dpverify.views.audit_view import ClaimSource, Strong
from dpverify.views.audits import provable_text, view_of
from dpverify.views.first_screen import first_screen
from dpverify.views.formula import MEANING, Say, facts, gaps_text, reason_of
from dpverify.views.letters.faults import Letter, letters
from dpverify.views.letters.told import (
    PieceKind,
    Said,
    SaidPiece,
    attached,
    entry_parts,
    erratum_said,
    first_page,
    lines,
)
from dpverify.views.letters.told import command as entry_command
from dpverify.views.roots import premise_text
from dpverify.views.run import Summary, audit_text, is_measurement, origin_text, spending
from dpverify.views.sandwich import COLUMNS, cells, sandwich
from dpverify.views.subjects import Card, SubjectSection, sections, signs
from dpverify.views.theorems import facts_of_theorem, introduced, theorems_text

_TABLES = {"complexity": "complexity.html", "constant": "constant.html"}
"""Of the kinds of audits that are rows of one table."""

_WIDEST, _CELL, _LINE = 36.0, 20.0, 60.0
"""Of a part of a formula that fits into a line of the first screen, of a table, of an entry: characters as set."""

_SHOWN_CERTIFICATE = 3000
"""Certificates up to this many bytes are shown in the page; longer ones are only named."""


@dataclass(frozen=True)
class CertificateNote:
    """What the page says about a certificate."""

    method: str
    size: str
    text: str
    """The certificate itself, or nothing where it is long."""


def render_html(
    ledger: Ledger, certificates: Mapping[str, Mapping[str, Any]] | None = None, *, short: bool = False
) -> str:
    """The report on a ledger, a pure function of its arguments.

    Args:
        ledger: what a run of dpverify found.
        certificates: name (`sha256:...`) to certificate, for those that lie in `certificates/HASH.json` beside
            the page: it describes them and links to them. Of others it says that they are not there.
        short: the summary, what is claimed and seen, and the catalog.
    """
    script = _read("report.js")
    of_kind("ledger", ledger, Ledger)
    page_sections = sections(ledger)
    anchors = {section.row.id: section.anchor for section in page_sections}
    told = letters(ledger)
    found, summary = sandwich(ledger), Summary(ledger)
    audits = [card for section in page_sections for card in section.audits]
    plots = {card.anchor: plot_of(card.evidence, f"plot--{number}") for number, card in enumerate(audits)}
    for number, card in enumerate(audits):
        plots[f"{card.anchor}--outputs"] = outputs_plot(card.evidence, f"plot--{number}-outputs")
    page = _environment().get_template("report.html")
    text = page.render(
        ledger=ledger,
        summary=summary,
        first=first_screen(ledger, summary, found),
        spending=spending(ledger.budget),
        letters=told,
        sections=page_sections,
        short=short,
        groups=[] if short else _groups(page_sections),
        anchors={} if short else anchors,
        finding_anchors={} if short else _places(told),
        drawings=drawings(ledger, anchors),
        named={result.id: result for result in ledger.results},
        checked={section.row.id: section for section in page_sections if section.badges},
        plots={anchor: plot for anchor, plot in plots.items() if plot is not None},
        sandwich=found,
        sandwich_columns=COLUMNS,
        sandwich_plot=sandwich_plot(found.rows, "plot--sandwich"),
        sandwich_rows=list(zip(found.rows, cells(found.rows), strict=True)),
        card_anchors={(c.evidence.title, c.evidence.subject): "" if short else c.anchor for c in audits},
        notes={name: _note(value) for name, value in (certificates or {}).items()},
        style=Markup(_read("report.css")),
        script=Markup(script),
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )
    return text + "\n"


def _by_template(cards: Iterable[Card[AuditEvidence]]) -> list[tuple[str, list[Card[AuditEvidence]]]]:
    """Audits that are rows of a table, by the table."""
    return sorted(grouped((_TABLES[card.evidence.kind], card) for card in cards).items())


def _finding(audit: AuditEvidence, anchors: Mapping[str, str]) -> Markup:
    """A sentence with its numbers set off, and a link where it says where its claim comes from."""
    said = Markup("")
    for part in view_of(audit).finding(audit):
        if isinstance(part, Strong):
            said += Markup('<strong class="number">{}</strong>').format(part.text)
        elif isinstance(part, ClaimSource):
            link = Markup('<a class="id" href="#{}">{}</a>').format(anchors.get(part.id, ""), part.id)
            plain = Markup('<span class="id">{}</span>').format(part.id)
            said += Markup(" ({})").format(link if part.id in anchors else plain)
        else:
            said += escape(part if said else part[:1].upper() + part[1:])
    return said + ("" if said.endswith((".", "!", "?")) else ".")


def _letter_anchor(letter: Letter, part: object = "") -> str:
    """The id of a letter, or of a part of it; no id of a subject has two dashes before a word."""
    name = re.sub(r"[^A-Za-z0-9.]+", "-", letter.paper)
    return f"letter--{name}{f'--{part}' if part else ''}"


def _places(told: Sequence[Letter]) -> dict[str, str]:
    """Where the letters tell of each statement, in an entry first."""
    found: dict[str, str] = {}
    for letter in told:
        for number, entry in enumerate(letter.entries, 1):
            found |= {
                row.id: _letter_anchor(letter, number) for row in entry.statements if row.id not in found
            }
        for part, faults in (("steps", letter.steps), ("meant", letter.meant)):
            names = (row.statement for fault in faults for row in fault.rows)
            found |= {name: _letter_anchor(letter, part) for name in names if name not in found}
    return found


def _broken(latex: str) -> Markup:
    """A displayed formula that is broken where its column is narrow, if it can be."""
    return in_lines(latex, _WIDEST) or formula(latex)


def _said(pieces: Said, widest: float) -> Markup:
    """Pieces of sentences, with formulas among them, broken into lines where they are wider than that."""
    text, before = Markup(""), ""
    for piece in pieces:
        text += Markup("{}" if attached(before, piece) else " {}").format(_shown(piece, widest))
        before = piece.text
    return text


def _shown(piece: SaidPiece, widest: float) -> Markup:
    if piece.kind is PieceKind.WORDS:
        return escape(piece.text)
    if piece.kind is PieceKind.CODE:
        return Markup("<code>{}</code>").format(piece.text)
    line = inline(piece.text, widest) if piece.kind is PieceKind.FORMULA else Markup("")
    line = line or in_lines(piece.text, widest)
    return line or Markup('<div class="formula">{}</div>').format(formula(piece.text))


def _groups(page_sections: tuple[SubjectSection, ...]) -> list[tuple[str, list[SubjectSection]]]:
    """The contents list: statements by paper, then algorithms, then other implementations."""
    statements = [section for section in page_sections if section.group == "statement"]
    found = grouped((f"Statements of {section.row.paper}", section) for section in statements)
    others = {"algorithm": "Algorithms", "implementation": "Other implementations"}
    for group in others:
        found |= grouped((others[group], section) for section in page_sections if section.group == group)
    return list(found.items())


def _symbol(name: str, proof: ProofEvidence | None) -> Markup:
    """A letter as its formula prints it; its name where none does."""
    printed = proof.letters.get(name) if proof is not None else None
    return Markup("<i>{}</i>").format(name) if printed is None else inline(printed, math.inf)


def _letters(proof: ProofEvidence) -> list[str]:
    """All letters that the ledger says something of."""
    return list(
        dict.fromkeys([*proof.domain, *proof.units, *(proof.box or ()), *(proof.counterexample or ())])
    )


def _note(certificate: Mapping[str, Any]) -> CertificateNote:
    proof = certificate.get("proof")
    method = str(proof.get("method", "")) if isinstance(proof, Mapping) else ""
    size = len(json.dumps(certificate, separators=(",", ":")))
    text = ""
    if size <= _SHOWN_CERTIFICATE:
        text = json.dumps(certificate, indent=1, sort_keys=True, ensure_ascii=False)
    return CertificateNote(method, f"{number_text.count(size)} bytes", text)


def _sentence(text: str) -> str:
    """Text that begins with a capital letter, unless that would change a symbol, and ends with a stop."""
    text = text.strip()
    if len(text) > 1 and text[0].islower() and text[1].islower():
        text = text[0].upper() + text[1:]
    return text if not text or text[-1] in ".!?" else text + "."


def _unbroken(text: str) -> str:
    """Text in which no line ends beside an equals sign, or one for what is rounded."""
    return re.sub(" ([=≈]) ", "\u00a0\\1\u00a0", text)


def _prose(text: str) -> Markup:
    """Text in which what stands between backticks is code."""
    parts = re.split(r"`([^`\s][^`]*)`", text)
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if number % 2 else escape(part)
        for number, part in enumerate(parts)
    )


def _check_command(proof: ProofEvidence) -> str:
    """The line that checks a row, beside the ledger."""
    return shlex.join(["dpverify", "check", "ledger.json", "--only", f"{proof.statement}/{proof.obligation}"])


@cache  # templates are compiled once
def _environment() -> Environment:
    environment = Environment(
        loader=FunctionLoader(_read),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        check_command=_check_command,
        entry_command=entry_command,
        entry_parts=entry_parts,
        erratum_said=erratum_said,
        fault_lines=lines,
        first_page=first_page,
        letter_anchor=_letter_anchor,
        said=_said,
        broken=_broken,
        formula=formula,
        in_lines=in_lines,
        nearest=number_text.nearest,
        short_sides=lambda proof: short_sides(proof.left, proof.right),
        at_least=number_text.at_least,
        at_most=number_text.at_most,
        count=number_text.count,
        duration=number_text.duration,
        moment=number_text.moment,
        audit_facts=lambda audit: view_of(audit).facts(audit),
        audit_text=audit_text,
        by_template=_by_template,
        finding=_finding,
        facts=facts,
        premise_text=premise_text,
        origin_text=origin_text,
        provable=provable_text,
        letters=_letters,
        symbol=_symbol,
        unbroken=_unbroken,
        reason_of=reason_of,
        tidy=tidy,
        gaps_text=gaps_text,
        sentence=_sentence,
        signs=signs,
        bare=bare,
        prose=_prose,
        theorems_text=theorems_text,
        facts_of_theorem=facts_of_theorem,
        introduced=introduced,
        theorem_anchor=lambda id_: f"derived--{id_.replace('.', '-')}",
    )
    environment.tests["measurement"] = is_measurement
    environment.tests["tabular"] = lambda audit: view_of(audit).is_tabular
    environment.tests["finite"] = math.isfinite
    environment.globals.update(
        meaning=MEANING, Say=Say, Verdict=Verdict, widest=_WIDEST, cell=_CELL, line=_LINE
    )
    return environment


def _read(name: str) -> str:
    return resources.files("dpverify.reports").joinpath(name).read_text(encoding="utf-8")
