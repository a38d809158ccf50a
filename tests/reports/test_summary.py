"""What a run came to, for terminals and CI pages."""

from __future__ import annotations

import re

from dpverify.evidence import Verdict
from dpverify.reports import render_markdown, summary_lines
from dpverify.reports.summary import summarize

from .ledger_example import AUDITS, PROOFS, STATEMENTS, example_ledger


def test_counts_add_up() -> None:
    summary = summarize(example_ledger())
    assert sum(row.printed + row.repaired for row in summary.counts) == len(PROOFS)
    assert sum(row.audits for row in summary.counts) == len(AUDITS)
    assert (summary.statements, summary.checked) == (163, 6)
    assert summary.refuted_statements == ("fmtt18.thm1", "bst14.huber-smooth")
    assert [proof.obligation for proof in summary.unconfirmed] == ["schedule"]


def test_repairs_stand_beside_what_they_repair() -> None:
    findings = summarize(example_ledger()).findings
    assert [[repair.obligation for repair in finding.repairs] for finding in findings] == [
        ["attained-by-identity-maps"],
        ["attained-by-identity-maps"],  # no repair of that name: the whole statement's
        [],
    ]


def test_lines_for_a_terminal() -> None:
    lines = summary_lines(example_ledger())
    assert all("\n" not in line.text for line in lines)
    assert [line.verdict for line in lines].count(Verdict.VIOLATED) == 2  # the count and the finding
    text = "\n".join(line.text for line in lines)
    assert (
        "order*distance^2/(2*T*sigma^2) <= order*distance/(2*T*sigma^2) is false at T = 1, order = 2" in text
    )
    assert "sides are 4 and 2; repaired: " in text
    assert "error probability spent: 1.5×10⁻⁷ of 1×10⁻⁶" in text
    assert lines[-1].text == (
        "reproduce: dpverify verify --profile quick --seed 20240117 --out out (seed 20240117)"
    )


def test_nothing_found() -> None:
    lines = summary_lines(example_ledger(entries=(AUDITS[0],), statements=STATEMENTS[1:3]))
    assert lines[0].text == (
        "Checked 0 of 2 statements: 0 formulas and 1 audit. No printed formula was refuted. "
        "No audit found a violation."
    )


def test_markdown() -> None:
    text = render_markdown(example_ledger())
    assert text.startswith("## dpverify\n")
    assert "| refuted | 3 | 0 | 0 |" in text
    assert "T = 1, order = 2, sigma = 1, distance = 2 | 4 | 2 |" in text
    tables = re.findall(r"(?:^\|.*\n)+", text, re.M)
    assert len(tables) == 3
    for table in tables:
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}) == 1
    assert render_markdown(example_ledger()) == text


def test_markdown_is_escaped() -> None:
    hostile = "a|b\n# c <script> [x](http://y) `@team` #12 *s*"
    proof = PROOFS[0].model_copy(update={"obligation": hostile, "expression": hostile, "where": hostile})
    text = render_markdown(example_ledger(entries=(proof,), command="run ``x``"))
    assert "<script>" not in text.replace(r"\<script\>", "")
    assert "\n# c" not in text
    assert "http://" not in text
    assert not re.search(r"(?<!\\)[@]", text)
    assert "``` run ``x`` ```" in text
