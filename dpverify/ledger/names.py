"""The grammar of names: `PAPER.STATEMENT`, and `PAPER.STATEMENT/FORMULA` for one formula of a statement.

A named result of the literature, such as `jensen`, has no paper.
"""

from __future__ import annotations


def bare(name: str) -> str:
    """The statement of `STATEMENT/FORMULA`, or the id itself."""
    return name.partition("/")[0]


def formula_of(name: str) -> str:
    """The formula of `STATEMENT/FORMULA`; empty for a statement."""
    return name.partition("/")[2]


def paper_of(id_: str) -> str:
    """The paper of a statement; of a named result, its id."""
    return id_.partition(".")[0]


def in_paper(id_: str, paper: str) -> str:
    """A statement's name within a paper: without the paper, where it is of this one."""
    return id_.removeprefix(f"{paper}.")
