"""What a violation looks like: regions named by the numbers that they are about, counts that add up, all formats."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from dpverify.auditing import audit_samples
from dpverify.auditing.events import Event, SingleOutput
from dpverify.auditing.shown import shown_outputs
from dpverify.ledger.evidence import PrivacyEvidence, ShownOutputs
from dpverify.ledger.verdicts import Verdict
from dpverify.reports.formats.documents import audit_json
from dpverify.reports.formats.markdown import audit_markdown
from dpverify.reports.outputs_plot import outputs_plot
from dpverify.views.audits import privacy_rows
from dpverify.views.results import of_audit, result_of
from dpverify.views.shown_outputs import histogram_lines

Array = NDArray[np.float64]


def shown(
    left: Array, right: Array, inside: tuple[Array, Array], event: Event | SingleOutput
) -> ShownOutputs:
    return shown_outputs((left, right), (inside[0] > 0, inside[1] > 0), event, str)


def samples(seed: int = 0, runs: int = 400, d: int = 3) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(runs, d)), rng.normal(size=(runs, d)) + 1


def test_a_region_of_a_learned_score_is_named_by_the_number_it_is_about() -> None:
    left, right = samples()
    inside = (left[:, 1] > 0.7) * 1.0, (right[:, 1] > 0.7) * 1.0
    found = shown(left, right, inside, Event("logistic score", 0.1, True))
    assert found.event.startswith("logistic score > 0.1; the outputs with coordinate 2 > 0.6")
    assert found.axis == "coordinate 2"
    apart = left[:, 0] - left[:, 2], right[:, 0] - right[:, 2]
    found = shown(
        left, right, ((apart[0] <= 1) * 1.0, (apart[1] <= 1) * 1.0), Event("logistic score", 0.1, True)
    )
    assert "the outputs with coordinate 1 - coordinate 3 <= 0.9" in found.event


def test_a_region_that_is_near_no_half_line_is_not_said_to_be() -> None:
    left, right = samples()
    inside = (np.abs(left[:, 0]) < 0.5) * 1.0, (np.abs(right[:, 0]) < 0.5) * 1.0
    assert shown(left, right, inside, Event("distance", 0.5, False)).event == "distance <= 0.5"


def test_counts_add_up() -> None:
    left, right = samples(d=2)
    inside = (left[:, 0] > 1) * 1.0, (right[:, 0] > 1) * 1.0
    found = shown(left, right, inside, Event("coordinate 1", 1.0, True, 0))
    assert (found.left_count, found.right_count) == (int(inside[0].sum()), int(inside[1].sum()))
    assert sum(one.left for one in found.bins) == sum(one.right for one in found.bins) == found.runs == 400
    assert len(found.left) == len(found.right) == 10
    assert (found.above, found.at_most) == (1.0, None)
    assert [len(side) for side in found.plane] == [150, 150]


@pytest.mark.parametrize("scale", [1e308, 1e-308, 0.0])
def test_extreme_numbers_are_written(scale: float) -> None:
    left, right = (np.clip(side, -1.7, 1.7) * scale for side in samples(runs=50, d=2))
    found = shown(left, right, ((left[:, 0] > 0) * 1.0, (right[:, 0] > 0) * 1.0), Event("score", 0.0, True))
    assert sum(one.left for one in found.bins) == 50
    assert "NaN" not in found.model_dump_json()
    assert histogram_lines(found)


@pytest.fixture(scope="module")
def violated() -> PrivacyEvidence:
    rng = np.random.default_rng(0)
    return audit_samples(rng.laplace(size=(4000, 1)), rng.laplace(size=(4000, 1)) + 3, "eps=1")


def test_it_shows_in_every_format(violated: PrivacyEvidence) -> None:
    """Text, JSON, Markdown, JUnit (text), SARIF (properties) and HTML (plot)."""
    found = violated.shown
    assert found is not None
    rows = dict(privacy_rows(violated))
    assert rows["event"] == found.event
    assert f"{found.left_count} of {found.runs}" in rows["came in"]
    assert audit_json(violated)["shown"] is None
    assert audit_json(violated, curves=True)["shown"]["bins"][0]["left"] == found.bins[0].left
    assert histogram_lines(found)[1] in audit_markdown(violated)
    assert histogram_lines(found)[1] in result_of(violated).text
    assert of_audit(violated)["event"] == found.event
    plot = outputs_plot(violated, "name")
    assert plot is not None
    assert found.event in plot.caption
    assert PrivacyEvidence.model_validate_json(violated.model_dump_json()) == violated


def test_what_is_supported_shows_none() -> None:
    rng = np.random.default_rng(0)
    found = audit_samples(rng.laplace(size=2000), rng.laplace(size=2000), "eps=1")
    assert found.shown is None
    assert outputs_plot(found, "name") is None
    assert "event" not in dict(privacy_rows(found))


def test_categories_are_shown_as_words() -> None:
    rng = np.random.default_rng(0)
    left, right = ([{"label": "yes" if u < p else "no"} for u in rng.random(1500)] for p in (0.95, 0.05))
    found = audit_samples(left, right, "eps=1").shown
    assert found is not None
    assert sorted(one.label for one in found.bins) == ["['label'] = 'no'", "['label'] = 'yes'"]
    assert (
        found.event in ("['label'] = 'no'", "['label'] = 'yes'")
        or "the outputs with ['label'] = " in found.event
    )


@pytest.mark.parametrize(
    ("verdict", "seen", "claimed", "said"),
    [
        (Verdict.SUPPORTED, 0.8799, 1.0, "87 % of its epsilon at delta 0"),
        (Verdict.SUPPORTED, 0.0, 2.0, "0 % of its epsilon at delta 0"),
        (Verdict.SUPPORTED, 0.5, math.inf, None),
        (Verdict.SUPPORTED, 0.0, 0.0, None),
        (Verdict.VIOLATED, 2.0, 1.0, None),
    ],
)
def test_a_supported_claim_has_the_share_that_was_seen(
    verdict: Verdict, seen: float, claimed: float, said: str | None
) -> None:
    found = audit_samples([0.0, 1.0] * 50, [1.0, 0.0] * 50, "eps=1")
    rows = dict(privacy_rows(found.but(verdict=verdict, epsilon_lower=seen, epsilon_claimed=claimed)))
    assert rows.get("share of the claim seen") == said
