"""What letters of a page stand for decides whether what is false at some values is refuted or does not follow."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpverify.errors import InvalidArgumentError
from dpverify.ledger.verdicts import Verdict
from dpverify.proving import prove
from dpverify.statements.pages import read_page

_PAGE = """# A theorem

| letter | domain | stands for |
| --- | --- | --- |
{letters}

Bound:

$$
{display}
$$
"""


def verdict(folder: Path, display: str, *letters: str) -> Verdict:
    page = folder / "mine.md"
    page.write_text(_PAGE.format(letters="\n".join(letters), display=display), encoding="utf-8")
    (row,) = read_page(page).statement.printed
    return prove(row).verdict


@pytest.mark.parametrize(
    ("display", "letters"),
    [
        (
            r"\Pr[A\cup B]\le\Pr[A]+\Pr[B]",
            (r"| $\Pr[A\cup B]$ | [0, 1] | |", r"| $\Pr[A]$ | [0, 1] | |", r"| $\Pr[B]$ | [0, 1] | |"),
        ),
        (r"(\mathbb{E}X)^2\le\mathbb{E}[X^2]", (r"| $\mathbb{E}X$ | real | |", r"| $\mathbb{E}[X^2]$ | >= 0 | |")),
        (
            r"\mathrm{D}_2(P\|Q)\le\mathrm{D}_3(P\|Q)",
            (r"| $\mathrm{D}_2(P\\|Q)$ | >= 0 | |", r"| $\mathrm{D}_3(P\\|Q)$ | >= 0 | |"),
        ),
        (r"R\le 1", ("| $R$ | >= 0 | functional |",)),
    ],
)  # fmt: skip
def test_classic_theorems_of_functionals_do_not_follow(
    tmp_path: Path, display: str, letters: tuple[str, ...]
) -> None:
    assert verdict(tmp_path, display, *letters) is Verdict.DOES_NOT_FOLLOW


def test_what_is_said_to_be_a_number_is_refuted(tmp_path: Path) -> None:
    letter = r"| $\mathbb{E}X$ | real | %s |"
    assert verdict(tmp_path, r"\mathbb{E}X\le 1", letter % "number") is Verdict.REFUTED
    assert verdict(tmp_path, r"\mathbb{E}X\le 1", letter % "") is Verdict.DOES_NOT_FOLLOW
    with pytest.raises(InvalidArgumentError, match="stands for"):
        verdict(tmp_path, r"\mathbb{E}X\le 1", letter % "mean")
