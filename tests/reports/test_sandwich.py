"""The sandwich table: the most telling pair of each algorithm, rounded to the safe side, and why some saw nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import binom

from dpverify.cli import main
from dpverify.ledger.document import Ledger
from dpverify.ledger.entries import StatementEntry
from dpverify.ledger.evidence import PrivacyEvidence
from dpverify.ledger.records import Interval
from dpverify.ledger.verdicts import Verdict
from dpverify.reports import render_html, write_ledger
from dpverify.reports.formats.markdown import audit_markdown, escaped, render_markdown
from dpverify.views.audits import privacy_rows
from dpverify.views.results import of_audit
from dpverify.views.sandwich import cells, sandwich, why_zero

from .ledger_example import AUDITS as EXAMPLES
from .ledger_example import LAW, example_ledger


def audit(subject: str, title: str, lower: float, **changes: Any) -> PrivacyEvidence:
    example = next(one for one in EXAMPLES if isinstance(one, PrivacyEvidence))
    fixed = {"subject": subject, "title": title, "epsilon_lower": lower, "delta": 1e-5}
    return example.model_copy(update=fixed | changes)


AUDITS = (
    audit(
        "a.one",
        "first pair",
        0.5,
        epsilon_claimed=4.0,
        epsilon_proved=2.0,
        claim="4-DP",
        conditions=("no run is refused",),
    ),
    audit("a.one", "second pair", 0.9, epsilon_claimed=9.0, epsilon_proved=9.0),
    audit(
        "a.two",
        "blind pair",
        0.0,
        epsilon_claimed=1.0,
        epsilon_proved=1.0,
        epsilon_exact=Interval(lower=0.5001, upper=0.5002, rigorous=True),
        verdict=Verdict.UNDECIDED,
        reason="sees nothing here: x",
    ),
    audit("a.other", "a pair of ours", 0.1, epsilon_claimed=float("inf"), epsilon_proved=float("inf")),
    LAW.model_copy(update={"subject": "a.law"}),
)


def algorithm(name: str) -> StatementEntry:
    return StatementEntry(
        id=name, paper="a", kind="algorithm", where="", title=f"title of {name}", algorithm="m:C"
    )


@pytest.fixture(scope="module")
def ledger() -> Ledger:
    rows = tuple(algorithm(name) for name in ("a.one", "a.two", "a.law"))
    return example_ledger().model_copy(update={"entries": AUDITS, "statements": rows})


def test_rows(ledger: Ledger) -> None:
    found = sandwich(ledger)
    assert [row.subject for row in found.rows] == ["a.one", "a.two", "a.law", "a.other"]
    one, two, law, other = found.rows
    assert one.audit is AUDITS[0]  # a quarter of what is proved, not a tenth of more
    assert one.audit is not None
    shown = (one.audit.epsilon_claimed, one.audit.epsilon_proved, one.audit.epsilon_lower)
    assert (*shown, one.ratio, one.audits) == (4.0, 2.0, 0.5, 0.25, 2)
    assert (two.ratio, other.ratio, law.audit, law.others) == (0.0, None, None, ("sampling",))
    texts = cells(found.rows)
    assert texts[1] == (
        "a.two", "1×10⁻⁵", "1", "1", "0.5001 to 0.5002", "0", "0", "at most 0.501", "1", "", "blind pair",
    )  # fmt: skip
    assert texts[0][-2] == "no run is refused"
    assert texts[2][-3] == "none; sampling"
    assert texts[3][2:4] == ("any", "any")
    assert found.summary() == (
        "3 of 4 algorithms are audited for privacy, in 4 audits; 1 of these has a lower bound of 0; "
        "at least half of what is proved is seen for 0 of the 3 audited, nine tenths for 0; "
        "1 of them has no finite proved epsilon; "
        "less than half of a.one, a.two, whose pair allows at most 0.501 of it"
    )


def test_what_rests_on_more_than_outputs_is_counted(ledger: Ledger) -> None:
    first, *others = AUDITS
    by_law = ledger.model_copy(update={"entries": (first.but(white_box=True, stated_law=True), *others)})
    assert "1 rest on a stated law of the outputs and 0 on stated steps" in sandwich(by_law).summary()


def test_an_audit_without_a_bound_is_explained(ledger: Ledger) -> None:
    ((blind, why),) = sandwich(ledger).zeros
    assert blind is AUDITS[2]
    assert "runs on each data set show no difference in an event's probability below" in why
    assert why.endswith("sees nothing here: x")


@pytest.mark.parametrize(("runs", "level"), [(200, 1e-2), (5000, 1e-6)])
def test_the_least_difference_is_where_exact_bounds_part(runs: int, level: float) -> None:
    """At the frequency said, an event that never occurs on the other side is told apart; just below, it is not."""
    why = why_zero(audit("a", "t", 0.0, runs=runs, failure_probability=level, reason=""))
    said = float(why.split(" below ")[1].split(";")[0])
    never = 1 - (level / 2) ** (1 / runs)
    parted = [k for k in range(runs) if binom.sf(k - 1, runs, never) < level / 2]
    assert parted[0] / runs == pytest.approx(said, rel=0.05)


def test_the_page_has_the_table_and_a_drawing_with_its_text(ledger: Ledger) -> None:
    page = render_html(ledger)
    assert 'id="sandwich"' in page
    assert '<a href="#sandwich">' in page
    assert "Privacy of each algorithm: claimed, proved, exact and audited epsilon" in page
    assert "a.one: claimed 4, proved 2, audited at least 0.5." in page
    assert "a.two: claimed 1, proved 1, exact 0.5001 to 0.5002, no audited bound." in page
    assert "No dot: the audit has no lower bound (a.two)." in page
    without = ledger.model_copy(update={"entries": (AUDITS[-1],)})
    assert 'id="sandwich"' not in render_html(without)


def test_a_condition_stands_wherever_the_claim_does(ledger: Ledger) -> None:
    said = "4-DP (if no run is refused)"
    assert f'Claimed <strong class="number">{said}</strong>' in render_html(ledger)
    assert f"claimed {said}; at" in render_markdown(ledger)
    assert f"| claim | {escaped(said)} |" in audit_markdown(AUDITS[0])
    assert ("claim", said) in privacy_rows(AUDITS[0])
    assert of_audit(AUDITS[0])["conditions"] == "no run is refused"
    assert said in AUDITS[0]._repr_html_()


def test_an_older_ledger_has_a_table_without_of_audit(ledger: Ledger) -> None:
    old = ledger.model_copy(update={"entries": (audit("a.one", "p", 0.5),)})
    (row,) = sandwich(old).rows
    assert row.audit is not None
    assert (row.audit.epsilon_claimed, row.ratio, row.audit.epsilon_lower) == (None, None, 0.5)
    assert "Privacy of each algorithm: claimed" not in render_html(old)


def test_the_command_prints_lines_for_a_pipe(
    ledger: Ledger, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_ledger(ledger, tmp_path / "ledger.json")
    with pytest.raises(SystemExit) as ended:
        main(["sandwich", str(tmp_path / "ledger.json")])
    assert not ended.value.code
    out, err = capsys.readouterr()
    assert [line.split("\t") for line in out.splitlines()] == [
        list(row) for row in cells(sandwich(ledger).rows)
    ]
    assert err.startswith("3 of 4 algorithms")
    assert "a.two, blind pair: " in err
    with pytest.raises(SystemExit):
        main(["sandwich", str(tmp_path / "ledger.json"), "--json", "-"])
    tree = json.loads(capsys.readouterr().out)
    assert tree["rows"][0]["epsilon_proved"] == 2.0
    assert tree["rows"][0]["conditions"] == ["no run is refused"]
    assert tree["rows"][3]["epsilon_proved"] is None
    assert tree["without_a_lower_bound"][0]["audit"] == "blind pair"
