"""How results look in a notebook: a small table, of text alone."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape


def html_table(title: str, rows: Iterable[tuple[str, object]]) -> str:
    """A heading and two columns; rows without text are left out, and nothing in a text is markup."""
    shown = ((name, str(text)) for name, text in rows if text is not None and str(text))
    cells = "".join(
        f'<tr><th style="text-align:left">{escape(name)}</th><td style="text-align:left">{escape(text)}</td></tr>'
        for name, text in shown
    )
    return f"<div><strong>{escape(title)}</strong><table>{cells}</table></div>"
