"""Documents of which something was read wrong once, in silence, with what is read of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dpverify.statements.importing.folder import _read

_WHOLE = (Path(__file__).parent / "misreadings.txt").read_text(encoding="utf-8")
DOCUMENTS = re.findall(r"^(?![ #\n])(.+)\n((?:  .+\n)*)", _WHOLE[_WHOLE.index("#") :], re.MULTILINE)


@pytest.mark.parametrize(("document", "expected"), DOCUMENTS)
def test_none_is_read_wrong(document: str, expected: str, tmp_path: Path) -> None:
    """Each row with its conditions, and `?` before it where it has a question; then how many relations are refused."""
    (tmp_path / "paper.tex").write_text(document, encoding="utf-8")
    reader = _read(tmp_path / "paper.tex")[1]
    rows = [row for section in reader.sections for row in section.rows]
    said = [f"  {'?' if row.questions else '|'} {'; '.join((row.latex, *row.given))}\n" for row in rows]
    said += [f"  refused: {reader.counts.refused}\n"] * (reader.counts.refused > 0)
    assert "".join(said) == expected
    assert reader.counts.relations == reader.counts.read + reader.counts.guessed + reader.counts.refused
