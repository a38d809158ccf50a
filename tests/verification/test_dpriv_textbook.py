"""The textbook questions of docs/dpriv-bench.md: their pages are made and read, and some are decided."""

from __future__ import annotations

import pytest

from dpverify.statements.mechanisms.reading import read_mechanisms

from ..benchmarks.dpriv_bench import score


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> list[score.Question]:
    return [one for one in score.questions(tmp_path_factory.mktemp("pages")) if one.part != score.LITERATURE]


def test_all_pages_are_made_and_read(asked: list[score.Question], thorough: bool) -> None:
    assert len({one.id for one in asked}) == len(asked) == 588
    for one in asked if thorough else asked[::17]:
        assert one.page is not None
        assert read_mechanisms(one.page)[0].id == one.id


def test_answers_have_evidence_and_are_counted(asked: list[score.Question]) -> None:
    some = [one for one in asked if one.part == "laplace" and one.number in (1, 2)]
    answers = [answer for one in some for answer in score.answers_of([one])]
    assert [one.verdict for one in answers] == ["proved", "refuted"]
    answers.append(score.Answer(asked[2], "undecided", "", 0.0))
    lines = [*score.table(answers)]
    assert lines[2] == "| laplace | 3 | 2 | 0 | 1 | 0 |"
    turned = [
        score.Answer(one.of, {"proved": "refuted"}.get(one.verdict, "proved"), "", 0.0) for one in answers[:2]
    ]
    assert [*score.table(turned)][2] == "| laplace | 2 | 0 | 2 | 0 | 0 |"
