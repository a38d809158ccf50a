"""Displays stand in the papers as they are encoded, but for spacing and brackets; a page says which do not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dpverify.ledger.in_print import Provenance
from dpverify.statements.paper import papers

from .printed_latex import plain

FOLDER = Path(os.environ.get("DPVERIFY_PAPERS", Path(__file__).parents[3] / "shared" / "papers"))


PAPERS = [paper for paper in papers().values() if paper.key != "literature"]
"""Those whose text is there."""


def displays() -> list[tuple[str, str, str]]:
    """Statement, obligation and LaTeX of everything that is shown as printed."""
    return [(s.id, o.name, o.latex) for p in PAPERS for s in p.statements for o in s.printed]


def listed() -> dict[tuple[str, str], str]:
    """What does not stand in print, as the pages say, and where its line comes from."""
    every = [(s.id, o.name, o.provenance) for p in PAPERS for s in p.statements for o in s.printed]
    return {(s, o): provenance for s, o, provenance in every if provenance is not Provenance.VERBATIM}


def printed_in(folder: Path, key: str) -> str:
    return "\n".join(plain(path.read_text(encoding="utf-8")) for path in sorted(folder.glob(f"{key}*.txt")))


def unaccounted(
    shown: list[tuple[str, str, str]], texts: dict[str, str], excused: dict[tuple[str, str], str]
) -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
    """Displays that are neither found nor listed; what is listed in vain."""
    absent = {(s, o) for s, o, latex in shown if plain(latex) not in texts[s.split(".")[0]]}
    return absent - set(excused), set(excused) - absent


@pytest.mark.skipif(not FOLDER.is_dir(), reason="the papers are not here")
def test_displays_are_as_printed() -> None:
    texts = {key: printed_in(FOLDER, key) for key in (paper.key for paper in PAPERS)}
    assert unaccounted(displays(), texts, listed()) == (set(), set())


def test_a_changed_display_is_seen() -> None:
    texts = {"a": plain(r"we have $\frac{x_{0}^{2}}{2}\leq\left(y'_{t}\right)$ and")}
    assert plain(r"\frac{12}{3}") != plain(r"\frac{1}{23}")
    assert plain(r"\sigma^{\alpha}x") == plain(r"\sigma ^\alpha x") != plain(r"\sigma^{\alpha x}")
    right, wrong = ("a.1", "o", r"\frac{x_0^2}{2}\le(y_t')"), ("a.1", "o", r"\frac{x_0^2}{3}\le(y_t')")
    assert unaccounted([right], texts, {}) == (set(), set())
    assert unaccounted([wrong], texts, {}) == ({("a.1", "o")}, set())
    assert unaccounted([wrong], texts, {("a.1", "o"): "torn PDF"}) == (set(), set())
    assert unaccounted([right], texts, {("a.1", "o"): "torn PDF"}) == (set(), {("a.1", "o")})
