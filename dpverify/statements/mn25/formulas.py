"""mn25: Menart and Nikolov on the gradient complexity of private optimization. What is printed there."""

from __future__ import annotations

from dpverify.statements.mn25.appendices import APPENDICES
from dpverify.statements.mn25.main_text import MAIN_TEXT

STATEMENTS = tuple(sheet.statement for sheet in (*MAIN_TEXT, *APPENDICES))
