"""The HTML report: complete, valid, safe, the same every time."""

from __future__ import annotations

import base64
import hashlib
import math
import os
import re
import shlex
import subprocess
import sys
import time

import pytest

from dpverify.ledger.besides.realistic import RealisticPoint
from dpverify.ledger.document import DisplayCount, ErrorBudget, Ledger
from dpverify.ledger.entries import ErratumEntry, NamedResult
from dpverify.ledger.facts import FailureMargin, LetterDomain, PracticalSize
from dpverify.ledger.headlines.roots import Below, Roots
from dpverify.ledger.headlines.rows import FalsePart
from dpverify.ledger.headlines.words import NOTHING, Tried, VariantOutcome
from dpverify.ledger.proofs import ProofEvidence
from dpverify.ledger.records import Interval
from dpverify.ledger.verdicts import Consequence, Verdict
from dpverify.reports import ledger_json, render_html
from dpverify.views.subjects import DocstringPart, blocks

from .html_check import Page
from .ledger_example import (
    AUDITS,
    CERTIFICATES,
    LAW,
    MEAN,
    MEASUREMENT,
    PROOFS,
    STATEMENTS,
    example_ledger,
    holding,
)

HOSTILE = "<script>alert(1)</script>\"'&]]>--><img src=x onerror=alert(2)>{{ 7*7 }}"


@pytest.fixture(scope="module")
def html() -> str:
    return render_html(example_ledger(), CERTIFICATES)


@pytest.fixture(scope="module")
def page(html: str) -> Page:
    return Page(html)


def test_page_is_well_formed(page: Page) -> None:
    assert page.problems == []
    assert page.tags["h1"] == page.tags["main"] == page.tags["header"] == page.tags["nav"] == 1
    assert page.tags["svg"] >= 6
    assert page.tags["math"] >= 8


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        ("</main>", ""),
        ('id="catalog"', 'id="summary"'),
        ("<h4 ", "<h6 "),
        ('href="#fmtt18.thm1"', 'href="#fmtt18.thm1x"'),
        ('<p class="lead">', '<p class="lead"><p>'),
        ("</figcaption>\n</figure>", "</figcaption><div></div></figure>"),
    ],
)
def test_the_reader_of_html_sees_faults(html: str, good: str, bad: str) -> None:
    assert good in html
    assert Page(html.replace(good, bad, 1)).problems


def test_needs_no_network(html: str, page: Page) -> None:
    assert {address.split("/")[0] for address in page.addresses} == {"data:,", "certificates"}
    assert not re.search(r"https?:|@import|url\((?!#)", html)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html)
    script = re.search(r"<script>(.*)</script>", html, re.S)
    assert policy is not None
    assert script is not None
    digest = base64.b64encode(hashlib.sha256(script[1].encode()).digest()).decode()
    assert "default-src 'none'" in policy[1]
    assert f"script-src 'sha256-{digest}'" in policy[1]


def test_says_everything(page: Page) -> None:
    words = page.words()
    for proof in PROOFS:
        assert proof.obligation in words
        assert proof.prover in words
        for text in (
            proof.scope,
            proof.because,
            proof.checker_says,
            proof.reason,
            proof.left,
            proof.certificate,
        ):
            assert (text or "").lower() in words.lower()  # a sentence begins with a capital letter
        row = shlex.quote(f"{proof.statement}/{proof.obligation}")
        homogeneous = proof.coverage == "unit" and proof.verdict == "proved"  # in a table, without a card
        assert (f"dpverify check ledger.json --only {row}" in words) is not homogeneous
    for audit in AUDITS:
        assert audit.title in words
        assert audit.reproduce in words
    for row in STATEMENTS:
        assert row.id in words
        assert row.title in words
    for fact in (
        "Checked 6 of 163 statements and algorithms: 6 formulas (of 1 also the units) and 8 audits. "
        "1 statement is false as printed (1: the claim fails). "
        "1 more statement has a false formula in the proof, the conditions or the units.",
        "Counterexample: T = 1, distance = 2, order = 2, sigma = 1; left side 4, right side 2.",
        "An independent checker confirmed 4 of 6 formulas and 1 of 1 unit check.",
        "157 of 163 are not checked yet",
        "ε is at least 1.965",
        "[1/1000, 1]",
        "All of it holds ateps = 3/4, gamma = 1/2",
        "91,873 boxes",
        "they spent 1.5×10⁻⁷ of it",
        "0.7.0",
        "2024-01-17 09:30 UTC",
        "0.3715",  # a smallest constant, rounded up
        "the constraint set is convex and closed",
        r"\notacommand{x} \le y",  # no MathML: the source
    ):
        assert fact in words


def test_only_checked_statements_have_a_section(html: str) -> None:
    anchors = re.findall(r'<section class="page subject" id="([^"]*)"', html)
    assert anchors == [
        *(row.id for row in STATEMENTS[:6]),
        "my-package.training-noisy-mean",
    ]
    assert html.count('data-verdicts="none"') == 157


def test_same_ledger_same_bytes(html: str) -> None:
    """In another process, too, with another hash seed."""
    program = (
        "import sys, hashlib; from dpverify.reports import parse_ledger, render_html;"
        "text = render_html(parse_ledger(sys.stdin.read()));"
        "print(hashlib.sha256(text.encode()).hexdigest())"
    )
    found = [
        subprocess.run(
            [sys.executable, "-c", program],
            input=ledger_json(example_ledger()),
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for seed in ("1", "2")
    ]
    here = hashlib.sha256(render_html(example_ledger()).encode()).hexdigest()
    assert found == [here, here]
    assert render_html(example_ledger(), CERTIFICATES) == html


def _hostile(value: object) -> object:
    """Every text in the ledger replaced by markup."""
    if isinstance(value, dict):
        kept = {
            "kind",
            "coverage",
            "consequence",
            "gap",
            "variant",
            "verdict",
            "standing",
            "own",
            "provenance",
            "mistake",
            "program",
        }
        return {
            (key if key in Ledger.model_fields or key in _FIELDS else HOSTILE + key): (
                item if key in kept and key in _FIELDS | Ledger.model_fields.keys() else _hostile(item)
            )
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [_hostile(item) for item in value]
    return HOSTILE + value if isinstance(value, str) else value


_FIELDS = {name for entry in (*PROOFS, *AUDITS, STATEMENTS[0]) for name in type(entry).model_fields}
_FIELDS |= {
    *ErrorBudget.model_fields,
    *Interval.model_fields,
    *NamedResult.model_fields,
    *RealisticPoint.model_fields,
    *DisplayCount.model_fields,
    *Roots.model_fields,
    *VariantOutcome.model_fields,
    *Tried.model_fields,
    *FalsePart.model_fields,
    *Below.model_fields,
    *LetterDomain.model_fields,
    *PracticalSize.model_fields,
    *FailureMargin.model_fields,
    "epsilon",
    "delta_lower",
    "delta_claimed",
    "delta_upper",
}


def test_text_of_the_ledger_is_never_markup() -> None:
    plain = example_ledger().model_dump()
    for row in plain["statements"]:
        row["kind"] = {"algorithm": "algorithm"}.get(row["kind"], HOSTILE)
    ledger = Ledger.model_validate(_hostile(plain))
    text = render_html(ledger, {HOSTILE: {"proof": {"method": HOSTILE}}})
    page = Page(text)
    assert page.problems == []
    assert page.tags["script"] == 1
    assert "img" not in page.tags
    assert "<script>alert" not in text
    assert "alert(1)" in page.words()
    assert "49" not in re.findall(r">--><img src=x onerror=alert\(2\)>(\d+)", page.words())


def test_a_link_to_a_certificate_stays_in_its_folder() -> None:
    name = 'javascript:alert(1)"/../..'
    proof = PROOFS[0].model_copy(update={"certificate": name})
    page = Page(render_html(example_ledger(entries=(proof,)), {name: {}}))
    assert page.problems == []
    assert [a for a in page.addresses if a != "data:,"] == [
        "certificates/javascript%3Aalert%281%29%22/../...json"
    ]


def test_certificates_that_are_not_there_have_no_links() -> None:
    page = Page(render_html(example_ledger()))
    assert page.problems == []
    assert not [a for a in page.addresses if a.startswith("certificates")]
    assert "no file beside this page" in page.words()


def test_empty_ledger() -> None:
    ledger = example_ledger(
        statements=(), entries=(), budget=ErrorBudget(failure_probability=1e-6, spent={}), versions={}
    )
    page = Page(render_html(ledger))
    assert page.problems == []
    words = page.words()
    assert "Checked 0 subjects: 0 formulas and 0 audits." in words
    assert "Nothing was audited." in words
    assert "Nothing was found." in words


def test_the_short_page_has_the_summary_and_the_catalog_and_no_link_out_of_them(page: Page) -> None:
    short = Page(render_html(example_ledger(), short=True))
    assert short.problems == []  # among them references to what is not there
    assert {"summary", "sandwich", "reproduce", "catalog"} <= set(short.ids)
    assert not {"letter--fmtt18", "dependencies"} & set(short.ids)
    assert short.tags["h2"] < page.tags["h2"]
    assert short.tags["math"] < page.tags["math"]
    assert "A short report, for paper" in short.words()
    assert "A short report" not in page.words()


def test_ids_that_look_alike_get_different_anchors() -> None:
    names = ("a.b", "a:b", "a-b", "a/b", "9", "summary", "é", "filter text")
    entries = tuple(proof.model_copy(update={"statement": name}) for name in names for proof in PROOFS[:2])
    page = Page(render_html(example_ledger(entries=entries, statements=())))
    assert page.problems == []


def test_a_failed_repair_is_shown_as_one() -> None:
    proof = PROOFS[1].model_copy(update={"verdict": Verdict.REFUTED})
    words = Page(render_html(example_ledger(entries=(proof,)))).words()
    assert "Corrections that do not hold refuted fmtt18.thm1 attained-by-identity-maps" in words
    assert "No printed formula was refuted." in words


def test_size_and_speed() -> None:
    """Forty audits with plots and forty statements: well under 3 MB, and seconds, not minutes."""
    entries: list[object] = []
    for number in range(40):
        entries += [proof.model_copy(update={"statement": f"paper.thm{number}"}) for proof in PROOFS]
        entries.append(AUDITS[number % 5].model_copy(update={"subject": f"paper.alg{number}"}))
    start = time.process_time()
    text = render_html(example_ledger(entries=tuple(entries)))
    assert len(text.encode()) < 3_000_000
    assert time.process_time() - start < 30
    assert sum(isinstance(entry, ProofEvidence) for entry in entries) == 280


def test_printed_and_corrected_stand_side_by_side_with_the_reason() -> None:
    text = render_html(example_ledger(), CERTIFICATES)
    section = text[text.index('<section class="page subject" id="fmtt18.thm1"') :]
    section = section[: section.index("</section>")]
    words = Page(section).words()
    order = [
        words.index(part)
        for part in (
            "What is false, and its correction",
            "As printed",
            "Counterexample: T = 1",
            "Corrected",
            "Why: The two sides have different units, and identity maps attain the square.",
            "Formulas as printed",
            "Formulas of the correction",
        )
    ]
    assert order == sorted(order)


def test_homogeneous_formulas_share_a_table() -> None:
    good = PROOFS[2].model_copy(
        update={"obligation": "same-unit", "variant": "corrected", "verdict": Verdict.PROVED, "left": None}
    )
    text = render_html(example_ledger(entries=(*PROOFS, good)))
    words = Page(text).words()
    assert Page(text).problems == []
    assert 'id="fmtt18.thm1-same-unit-corrected"><th scope="row">same-unit</th>' in text
    assert "In each of these formulas, both sides have the same unit." in words
    assert "The units differ: left side dimensionless, right side 1/length." in words  # a card of its own


def test_a_measurement_has_no_verdict_and_no_bound() -> None:
    text = render_html(example_ledger(entries=(MEASUREMENT,)))
    page = Page(text)
    assert page.problems == []
    words = page.words()
    assert "∞" not in words
    assert "no bound is stated for it" in words
    assert MEASUREMENT.claim in words
    section = text[text.index('<section class="page subject"') : text.index('id="catalog"')]
    assert "undecided" not in section
    assert "Undecided" not in words


def test_neighbors_are_named_in_words() -> None:
    audit = AUDITS[0].model_copy(update={"adjacency": "index"})
    assert (
        "the record at one given place replaced"
        in Page(render_html(example_ledger(entries=(audit,)))).words()
    )


def test_expectations_and_laws_have_cards() -> None:
    words = Page(render_html(example_ledger(entries=(MEAN, LAW)))).words()
    assert "probability that a member is traced lies in 0.61 to 0.66" in words
    assert "claimed: at least 0.25" in words
    assert "multiplicative distance at most 0.1" in words
    unbounded = MEAN.model_copy(update={"bound": -math.inf, "verdict": Verdict.UNDECIDED})
    page = Page(render_html(example_ledger(entries=(unbounded,))))
    assert page.problems == []
    assert "no bound is stated" in page.words()


def test_docstrings_keep_their_lists() -> None:
    found = blocks(
        """What it does, in two ways:
        - `fast`: for small
          sets;
        - slow.

        Attributes:
            width: of it, a length;
                none if `width` is 0.
            start: where.

        Examples:
            >>> 1 + 1
            2

            >>> 2 + 2
            4

        Runs <b>once</b>.

        Examples:
            >>> 3 + 3
            6
        """
    )
    assert found == (
        DocstringPart("What it does, in two ways", "", ("`fast`: for small sets;", "slow.")),
        DocstringPart(
            "Attributes", "", ("`width`: of it, a length; none if `width` is 0.", "`start`: where.")
        ),
        DocstringPart("", "Runs <b>once</b>."),
    )
    row = STATEMENTS[0].model_copy(update={"docstring": "Takes `x < 1`, <b>once</b>."})
    text = render_html(example_ledger(statements=(row, *STATEMENTS[1:])))
    assert "Takes <code>x &lt; 1</code>, &lt;b&gt;once&lt;/b&gt;." in text


GRAPH = (
    STATEMENTS[0],
    STATEMENTS[3].model_copy(
        update={
            "printed": holding(),
        }
    ),
    STATEMENTS[0].model_copy(
        update={
            "id": "fmtt18.thm9", "uses": ("fmtt18.thm1", "fmtt18.thm8"), "corrected": NOTHING,
            "printed": holding(Verdict.CERTIFIED, given=("fmtt18.thm1", "fmtt18.thm8")),
        }
    ),
    STATEMENTS[1].model_copy(update={"id": "fmtt18.thm8"}),
)  # fmt: skip
"""Two that hold given others, one below the other; one that holds; one that is not encoded."""


def _boxes(text: str) -> dict[str, str]:
    """Title to inside of every box of the first drawing."""
    svg = text[text.index('<svg class="graph"') :]
    svg = svg[: svg.index("</svg>")]
    found = re.findall(r'<(?:a href="[^"]*"|g role="img") aria-label="([^"]*)">(.*?)</(?:a|g)>', svg, re.S)
    return dict(found)


def test_what_rests_on_what_is_drawn() -> None:
    text = render_html(example_ledger(statements=GRAPH))
    page = Page(text)
    assert page.problems == []
    boxes = _boxes(text)
    assert len(boxes) == 5
    false, holds, below, plain, literature = (
        next(inside for title, inside in boxes.items() if title.startswith(start))
        for start in ("fmtt18.thm1,", "gll22.lem6.3,", "fmtt18.thm9,", "fmtt18.thm8,", "Jensen")
    )
    # border: how it stands as printed; filling: how far the proof goes
    assert "border false" in false
    assert 'class="filling"' in false
    assert 'width="160"/><rect class="border' in false  # all that it rests on holds, or is literature
    assert "border holds" in below
    assert 'width="80"/><rect class="border' in below  # it rests on what is not encoded
    assert "border holds" in holds
    assert "border unknown" in plain
    assert 'class="filling"' not in plain
    assert 'class="filling"' not in literature
    # the same in words, so that neither color nor border is needed
    assert ">false; correction proved<" in false
    assert ">certified, on a box<" in below
    assert ">not encoded<" in plain
    assert ">from the literature<" in literature
    # a list says the same, with what each rests on
    words = page.words()
    said = r"certified, given fmtt18\.thm1, fmtt18\.thm8; rests on\s*fmtt18\.thm1\s*,\s*fmtt18\.thm8"
    assert re.search(said, words)
    for above in ("fmtt18.thm1", "fmtt18.thm8"):
        assert f"<title>fmtt18.thm9 rests on {above}</title>" in text


def test_the_drawing_is_reached_by_keyboard_and_read_aloud() -> None:
    text = render_html(example_ledger(statements=GRAPH))
    svg = text[text.index('<svg class="graph"') : text.index("</svg>", text.index('<svg class="graph"'))]
    links = re.findall(r'<a href="#([^"]*)" aria-label="([^"]+)">', svg)
    assert {anchor for anchor, _ in links} == {"fmtt18.thm1", "gll22.lem6.3", "fmtt18.thm9"}
    assert all(f'id="{anchor}"' in text for anchor, _ in links)
    assert "tabindex" not in svg  # links are stops of their own
    assert 'role="group" aria-label="What rests on what in fmtt18"' in svg
    assert svg.count("<title>") == len(re.findall(r"<path ", svg)) + 5
    style = text[text.index("<style>") : text.index("</style>")]
    assert ".graph a:focus-visible .border" in style
    for kind in ("false", "unknown"):
        assert re.search(rf"\.graph \.border\.{kind} {{[^}}]*stroke-dasharray", style)
    assert not re.search(
        r'(?:fill|stroke)="#', svg
    )  # colors are the style sheet's, for light, dark and paper


def test_a_page_without_uses_has_no_drawing() -> None:
    text = render_html(example_ledger(statements=STATEMENTS[4:]))
    assert '<svg class="graph"' not in text
    assert 'href="#dependencies"' not in text


def test_displays_of_a_paper_are_counted(html: str) -> None:
    table = html.split('aria-label="Displays of each paper"')[1].split("</table>")[0]
    assert re.search(r'<th scope="row">mn25</th>', table)
    cells = re.findall(r'<td class="number">(.*?)</td>', table)
    assert cells == ["545", "31", "20", "6", "5", "29", "28", "54", "–", "3", "457", "–"]
    assert len(re.findall(r'<th scope="col">', table)) == len(cells) + 1
    assert "Displays of each paper" not in render_html(example_ledger(displays=()))


def test_errata_are_shown_with_what_computes_them() -> None:
    erratum = ErratumEntry(
        where="Corollary 31", printed="noise without the 2", corrected="with the 2", consequence=Consequence.CONSTANT,
        evidence=("tests/algorithms/test_x.py::test_y",),
    )  # fmt: skip
    row = STATEMENTS[9].model_copy(update={"errata": (erratum,)})
    page = Page(render_html(example_ledger(statements=(row,), entries=())))
    assert page.problems == []
    words = page.words()
    for fact in (
        erratum.where,
        erratum.printed,
        erratum.corrected,
        str(erratum.consequence),
        *erratum.evidence,
    ):
        assert fact in words
