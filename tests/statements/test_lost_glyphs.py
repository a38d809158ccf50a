"""Lost glyphs: each place stands in its paper's text, and its reading can be read."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from dpverify.statements.inventory import lost_glyphs
from dpverify.statements.paper import papers

FOLDER = Path(os.environ.get("DPVERIFY_PAPERS", Path(__file__).parents[3] / "shared" / "papers"))


def _bare(text: str) -> str:
    return re.sub(r"[\s\x00-\x1f]+", "", text)


def test_each_is_complete_and_of_a_statement() -> None:
    known = {row.id for paper in papers().values() for row in paper.catalog}
    for glyph in lost_glyphs():
        assert glyph.statement in known
        assert all((glyph.place, glyph.text, glyph.reading, glyph.evidence)), glyph
    assert len({(g.statement, g.place) for g in lost_glyphs()}) == len(lost_glyphs())


@pytest.mark.skipif(not FOLDER.is_dir(), reason="the papers are not here")
def test_each_stands_in_the_text() -> None:
    for glyph in lost_glyphs():
        texts = (
            p.read_text(encoding="utf-8") for p in FOLDER.glob(f"{glyph.statement.partition('.')[0]}*.txt")
        )
        assert any(_bare(glyph.text) in _bare(text) for text in texts), glyph


def test_what_was_refuted_for_a_lost_glyph_is_proved() -> None:
    """Theorem A.1: with the epsilon that `p/.` lost, the two parts of the risk have one order."""
    from dpverify.ledger.verdicts import Verdict
    from dpverify.proving import prove

    statement = next(s for s in papers()["bst14"].statements if s.id == "bst14.thmA.1")
    row = next(o for o in statement.printed if o.name == "sum-of-the-two-parts")
    assert prove(row).verdict is Verdict.PROVED
