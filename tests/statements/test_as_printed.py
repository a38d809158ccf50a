"""Displays stand in the papers as they are encoded, spacing and sizes of brackets aside; what does not is listed."""

from __future__ import annotations

import csv
import os
from importlib import resources
from pathlib import Path

import pytest

from dpverify.statements.paper import papers

from .printed_latex import plain

REASONS = (
    "pieced together",  # from a sentence and a display, or several of them
    "letters of ours",  # what the paper says in words, or a step that it leaves out
    "special case",  # an instance, which the paper does not write
    "torn PDF",  # the paper's text has no LaTeX
)
FOLDER = Path(os.environ.get("DPVERIFY_PAPERS", Path(__file__).parents[3] / "shared" / "papers"))
LISTED = "not_as_printed.csv"


def displays() -> list[tuple[str, str, str]]:
    """Statement, obligation and LaTeX of everything that is shown as printed."""
    return [(s.id, o.name, o.latex) for p in papers().values() for s in p.statements for o in s.printed]


def listed() -> dict[tuple[str, str], str]:
    text = resources.files("dpverify.statements").joinpath(LISTED).read_text(encoding="utf-8")
    return {(r["statement"], r["obligation"]): r["reason"] for r in csv.DictReader(text.splitlines())}


def printed_in(folder: Path, key: str) -> str:
    return "\n".join(plain(path.read_text(encoding="utf-8")) for path in sorted(folder.glob(f"{key}*.txt")))


def unaccounted(
    shown: list[tuple[str, str, str]], texts: dict[str, str], excused: dict[tuple[str, str], str]
) -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
    """Displays that are neither found nor listed; what is listed in vain."""
    absent = {(s, o) for s, o, latex in shown if plain(latex) not in texts[s.split(".")[0]]}
    return absent - set(excused), set(excused) - absent


def test_reasons_are_from_a_closed_list() -> None:
    assert set(listed().values()) <= set(REASONS)
    assert set(listed()) <= {(s, o) for s, o, _ in displays()}


@pytest.mark.skipif(not FOLDER.is_dir(), reason="the papers are not here")
def test_displays_are_as_printed() -> None:
    texts = {key: printed_in(FOLDER, key) for key in papers()}
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
