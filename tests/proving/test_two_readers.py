"""The second reader reads what the first reads, refuses what has two readings, and shares nothing with the first."""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dpverify.errors import InvalidArgumentError
from dpverify.formulas.expressions import integer, real
from dpverify.ledger.verdicts import Variant
from dpverify.proving import second_reader
from dpverify.proving.language import Obligation, parts_of
from dpverify.proving.second_reader import RefusedError, expressions, formulas, orders, rows, typography
from dpverify.proving.second_reader.trees import Tree
from dpverify.proving.two_readers import ReadersDisagreeError, check_agreement, disagreement
from dpverify.statements.paper import papers
from dpverify.statements.sheet import Sheet
from dpverify.verification.catalog.source_rows import obligations_of

from .both_readers import both, ordered, second, styled

FOLDER = Path(second_reader.__file__).parent
x, y, f, d, e = (real(name) for name in ("x", "y", "f", "d", "e"))
delta = real("delta", gt=0, latex=r"\delta")
n, m, i = integer("n", ge=1), integer("m", ge=1), integer("i", ge=1)
LETTERS = (x, y, delta, n, m, i)


def test_every_row_of_the_papers_is_read_the_same_by_both() -> None:
    found: Counter[str] = Counter()
    for paper in papers().values():
        for statement in paper.statements:
            for variant in Variant:
                obligations = obligations_of(statement, variant)
                found["rows"] += len(parts_of(obligations))
                for obligation in obligations:
                    assert not disagreement(obligation), f"{statement.id}/{obligation.name}"
                    found["trees"] += obligation.source is None
    assert found["rows"] > 1300
    assert found["trees"] == 0


@pytest.mark.parametrize("part", range(4))
def test_random_formulas_in_random_styles_are_read_as_they_were_meant(part: int) -> None:
    read = 0
    for seed in range(75 * part, 75 * (part + 1)):
        found = styled(seed)
        assert found.agree, (seed, found)
        read += found.first is not None
    assert read > 65


@pytest.mark.parametrize("part", range(2))
def test_random_orders_say_the_same_to_both(part: int) -> None:
    read = 0
    for seed in range(80 * part, 80 * (part + 1)):
        found = ordered(seed)
        assert found.agree, (seed, found)
        read += found.first is not None
    assert read > 30


REFUSED = [
    r"\delta\ge 1e-5", r"1e-3\le 0", r"x\le 2e5", r"x^2\ge0 \qquad y\le1", r"x^2\ge0\quad y\le 1", r"x\ge0\;y\le 1",
    r"x\ge0~~y\le 1", r"x\ge0\hspace{2em}y\le 1", r"x\ge0&y\le 1", r"x&=y\\-x&\le 1", r"x\ge 0\qquad -y\le 1",
    r"\begin{aligned}x&\le y\\-y&\le 1\end{aligned}",
    r"\text{there is } y>0 \text{ such that } n\le y \text{ for all } n\ge1",
    r"\exists y: n\le y \text{ for all } n\ge 1", r"\forall n: n\le y \text{ for } y\ge 1", r"[n]=1", r"[nx]\ge 1",
    r"\{x\}\ge 0", r"\{x+y\}\ge 0", r"\exists x,n>0: x<n", r"x\le 1\text{ for all }x,y\in(0,1)", r"x^2+y|_{x=1}=1",
    r"x\le1\text{ and }y<1\text{ for }n\ge1", r"x\le1, y\le 2\implies n\ge 1", r"x\le1\implies y\le 2, n\ge 1",
    r"{x^2}^3=1", r"{xy}^2=1", r"x{}^2=1", r"x^{(2)}=1", r"(x)^{*}=1", r"O(n)\in(0,1]", r"x\in(-\infty,\infty)",
    r"\infty\le x", r"x\Phi(y)!=1", r"\frac{x}{y}^2=1", r"x=1\\y=2", r"\log x y=1", r"1/2x=1", r"x/y/n=1", r"x(y)=1",
    r"|x|y|x|=1", r"x2=1", r"2\frac12=1", r"x^12=1", r"x^-1=1", r"\sum_{i=1}^n i+x=1", r"\lg x=1", r"x_1=1", r"x'=1",
    r"x\approx y", r"x", r"x+", r"(x=1", r"|x=1", r"{x=1", r"", r"x=\dots", "x" * 5000, r"\sum_i i=1", r"\int_0^1 x=1",
    r"\sum_{x=1}^n x=1", "(" * 70 + "x" + ")" * 70 + "=1", "+".join(["x"] * 1600) + "=1", r"é=1", r"x%=1", r"x$=1",
    r"\forall 2: x=1", r"x=1\implies y=1\implies x=y", r"x<y\text{ and }x=1\text{ or }y=2", r"\text{whence }x=1",
    r"x\text{ large enough}", r"x=1\tag{not}", r"\{x\le 1\}",
]  # fmt: skip


@pytest.mark.parametrize("latex", REFUSED)
def test_what_has_two_readings_or_none_is_refused(latex: str) -> None:
    with pytest.raises(RefusedError):
        second(latex, LETTERS)


@pytest.mark.parametrize(
    ("latex", "letters"),
    [
        (r"\sum_{i=1}^n x_i=1", (*LETTERS, real("x_i", latex="x_i"))),
        (r"f(x+y)=1", (*LETTERS, f)), (r"\frac{dx}{dy}=1", (*LETTERS, d)), (r"\int_0^1 x\,dx=1", (*LETTERS, d)),
        (r"\frac{d}{dx}(x)=1", (*LETTERS, d)), (r"x=1", (*LETTERS, real("z", latex="x"))),
        (r"xy=1", (*LETTERS, real("z", latex="xy"))), (r"z^2=1", (real("z", latex=r"\ln(1/\delta)"),)),
    ],
)  # fmt: skip
def test_letters_that_could_be_something_else_are_refused(latex: str, letters: Any) -> None:
    with pytest.raises(RefusedError):
        second(latex, letters)


def test_two_letters_of_one_name_are_told_apart() -> None:
    letters = (x, real("x", gt=0, latex=r"\xi"))
    assert both(r"x\ge 0", letters).agree
    assert both(r"\xi\ge 0", letters).agree
    assert both(r"\xi\ge x", letters).second is None


def test_a_definition_that_no_formula_uses_need_not_be_read() -> None:
    sheet = Sheet("page", LETTERS).define("c", "x+y").define("b_n", "nc", parameter=n)
    sheet = sheet.define("g", "b_{n+1}").conclusion("row", "b_2=2c", given="c>1")
    assert not disagreement(sheet.printed[0])
    assert sheet.read() is sheet


def test_what_letters_stand_for_is_read_by_both(monkeypatch: pytest.MonkeyPatch) -> None:
    letters = (delta, real("k", latex=r"2\ln(1/\delta)"))
    obligation = Sheet("page", letters).conclusion("row", r"2\ln(1/\delta)\ge 0").printed[0]
    assert [v.name for v in obligation.formulas] == ["k"]
    assert not disagreement(obligation)
    monkeypatch.setitem(rows.HEADS, r"\ln", rows.HEADS[r"\exp"])
    assert "in what k stands for, where the second reads" in disagreement(obligation)


# ------------------------------------------------------------------------------------------- planted faults


def _swapped(make: Callable[..., Any]) -> Callable[..., Any]:
    def planted(head: str, parts: tuple[Tree, ...] = (), *rest: Any, **more: Any) -> Any:
        return make(head, parts[::-1] if head == "sub" else parts, *rest, **more)

    return planted


def _minus_before_power(self: Any) -> Any:
    sign = self.sign("+", "-")
    item = self.term()
    value = item.value
    if sign == "-" and value.head == "pow":
        value = Tree("pow", (Tree("neg", (value.parts[0],)), value.parts[1]))
    return rows.Item(value)


def _of_order_one(self: Any) -> Any:
    found = _DERIVATIVE(self)
    return found and (found[0], 1)


_DERIVATIVE = expressions.Expressions.derivative
FAULTS: dict[str, tuple[str, Callable[[pytest.MonkeyPatch], None]]] = {
    "differences turned around": (r"x-y\le 1", lambda p: p.setattr(expressions, "Tree", _swapped(Tree))),
    "minus before power": (r"-x^2\le 1", lambda p: p.setattr(expressions.Expressions, "sum", _minus_before_power)),
    "at least read as at most": (r"x\ge y", lambda p: p.setitem(rows.RELATIONS, r"\ge", "<=")),
    "strictly read as weakly": (r"x<y", lambda p: p.setitem(rows.RELATIONS, "<", "<=")),
    "exponential for logarithm": (r"\ln(x)\le 1", lambda p: p.setitem(rows.HEADS, r"\ln", rows.HEADS[r"\exp"])),
    "primes lost": (
        r"\frac{d^2}{dx^2}(x^3)=6x",
        lambda p: p.setattr(expressions.Expressions, "derivative", _of_order_one),
    ),
    "tilde lost": (r"x\le\tilde O(n)", lambda p: p.setattr(expressions, "order_of", lambda mark: ("O", False))),
    "bounds of the wrong side": (r"x\le O(n)", lambda p: p.setattr(orders, "_POSITIVE", orders._COUNTING)),
    "conditions dropped": (
        r"x\le 1\text{ for all }n\ge 2",
        lambda p: p.setattr(formulas.Formulas, "conditions", lambda self: ()),
    ),
    "a root of two": (r"\sqrt[3]{x}\le 1", lambda p: p.setattr(typography._Page, "arguments", _without_orders)),
}  # fmt: skip


def _without_orders(self: Any, text: str, depth: int) -> Any:
    found = list(_ARGUMENTS(self, text, depth))
    return iter([(), *found[1:]] if text == r"\sqrt" else found)


_ARGUMENTS = typography._Page.arguments


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_in_a_reader_is_seen(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    latex, plant = FAULTS[fault]
    options = {"soft": r"\log n"} if "tilde" in latex else {}
    obligation = Sheet("page", LETTERS).conclusion("row", latex, **options).printed[0]
    check_agreement(obligation)
    typography.marks.cache_clear()
    plant(monkeypatch)
    says = disagreement(obligation)
    typography.marks.cache_clear()
    assert says
    with pytest.raises(ReadersDisagreeError):
        check_agreement(obligation)
    typography.marks.cache_clear()


def test_a_fault_in_the_first_reader_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    from dpverify.formulas.notation import reader

    sheet = Sheet("page", LETTERS).conclusion("row", r"x\ge 1")
    assert sheet.read() is sheet
    monkeypatch.setitem(reader._RELATIONS, r"\ge", "<")
    with pytest.raises(
        InvalidArgumentError, match=r"page/row.*the first reader reads .* where the second reads"
    ):
        replace(sheet, reading=None).read()


PAGE = r"""| letter | domain |
| --- | --- |
| $x$ | real |

Binder:

$$x^2\ge 0$$
"""


def test_a_page_that_is_read_in_two_ways_is_refused_with_its_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from dpverify.cli import main

    page = tmp_path / "page.md"
    for relation, code in ((">=", 0), ("<=", 2)):
        page.write_text(PAGE + "\n" * code, encoding="utf-8")  # a page that has not changed is not read again
        monkeypatch.setitem(rows.RELATIONS, r"\ge", relation)
        with pytest.raises(SystemExit) as ended:
            main(["prove", str(page)])
        assert ended.value.code == code
    said = capsys.readouterr().err
    assert "line 7" in said
    assert "where the second reads" in said


# ------------------------------------------------------------------------------------------- independence


def _imported(tree: ast.AST) -> list[str]:
    found: list[str] = []
    for item in ast.walk(tree):
        found += [name.name for name in item.names] if isinstance(item, ast.Import) else []
        found += [item.module or ""] if isinstance(item, ast.ImportFrom) else []
    return found


@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.py")), ids=lambda file: file.stem)
def test_it_shares_no_code_with_the_first(file: Path) -> None:
    own = second_reader.__name__
    for module in _imported(ast.parse(file.read_text(encoding="utf-8"))):
        assert module.startswith(f"{own}.") or module.split(".")[0] in sys.stdlib_module_names, module


def test_no_line_of_any_length_is_the_first_readers() -> None:
    """Long lines that both have would be a copied thought; imports and headers aside."""
    first = Path(second_reader.__file__).parents[2] / "formulas"
    theirs = {
        line.strip() for file in first.rglob("*.py") for line in file.read_text(encoding="utf-8").splitlines()
    }
    for file in FOLDER.glob("*.py"):
        for line in file.read_text(encoding="utf-8").splitlines():
            plain = len(line.strip()) < 50 or line.strip().startswith(
                ("from ", "import ", 'r"', '"""', "**dict")
            )
            assert plain or line.strip() not in theirs, line


def test_an_obligation_made_as_a_tree_has_no_source() -> None:
    from dpverify.formulas.logic import Le

    assert not disagreement(Obligation("a", "here", Le(x, x), (x,)))
