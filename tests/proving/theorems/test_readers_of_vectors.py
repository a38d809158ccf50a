"""What readers of theorems make of vectors, and of what is said of their functions and sets in words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dpverify.proving.checker.theorems.language import put
from dpverify.proving.second_reader import RefusedError, theorem_properties, theorem_tables
from dpverify.proving.second_reader.theorem_properties import TheoremProperties
from dpverify.proving.second_reader.theorem_tables import PropertyForm
from dpverify.proving.second_reader.trees import Tree
from dpverify.statements.theorems.pages import TheoremSection

from .test_two_readers import both, sections

PAGE = r"""## A theorem {#mine.theorem}

| letter | kind |
| --- | --- |
| $\mathcal{D}$ | type of data sets |
| $V$ | Euclidean space |
| $C$ | event of $V$ |
| $f$ | function of $V$ |
| $g$ | function of $V$ to $V$ |
| $F$ | function of $\mathcal{D},V$ |
| $G$ | function of $\mathcal{D},V$ to $V$ |
| $P$ | law on $V$ |
| $D$ | data set |
| $D'$ | data set |
| $u$ | point of $V$ |
| $v$ | point of $V$ |
| $m$ | > 0 |
| $c$ | real |

Then:
$$u=v$$
"""
_ALL = r"\forall x\in V,y\in V:\ "
_PART = r"\forall x\in V,y\in V,t\in\mathbb{R}:\ "
_TANGENT = r"f(x)+\langle g(x),y-x\rangle"
WRITTEN = {
    r"C\text{ is a convex set}":
        _PART + r"x\in C\text{ and }y\in C\text{ and }0\le t\text{ and }t\le 1\implies tx+(1-t)y\in C",
    r"f\text{ is convex}":
        _PART + r"0\le t\text{ and }t\le 1\implies f(tx+(1-t)y)\le tf(x)+(1-t)f(y)",
    r"f\text{ is }m\text{-strongly convex}":
        _PART + r"0\le t\text{ and }t\le 1\implies f(tx+(1-t)y)\le tf(x)+(1-t)f(y)-\frac{m}{2}t(1-t)\|x-y\|^2",
    r"f\text{ is convex with subgradient }g": _ALL + _TANGENT + r"\le f(y)",
    r"f\text{ is }m\text{-strongly convex with subgradient }g": _ALL + _TANGENT + r"+\frac{m}{2}\|y-x\|^2\le f(y)",
    r"f\text{ is }m\text{-smooth with gradient }g": _ALL + r"f(y)\le " + _TANGENT + r"+\frac{m}{2}\|y-x\|^2",
    r"f\text{ is }m\text{-Lipschitz}": _ALL + r"|f(x)-f(y)|\le m\|x-y\|",
    r"g\text{ is the projection onto }C":
        r"(\forall x\in V:\ g(x)\in C)\text{ and }"
        r"\forall x\in V,y\in V:\ y\in C\implies\langle x-g(x),y-g(x)\rangle\le 0",
    r"u\text{ minimizes }f\text{ over }C": r"u\in C\text{ and }\forall x\in V:\ x\in C\implies f(u)\le f(x)",
    r"u\text{ minimizes }f": r"\forall x\in V:\ f(u)\le f(x)",
    r"\left(F(D,\cdot)-F(D',\cdot)\right)\text{ is }2m\text{-Lipschitz}":
        _ALL + r"|(F(D,x)-F(D',x))-(F(D,y)-F(D',y))|\le 2m\|x-y\|",
    r"\forall D\sim D':\ F(D,\cdot)\text{ is }\frac{m}{2}\text{-smooth with gradient }G(D',\cdot)":
        r"\forall D\sim D':\ \forall x\in V,y\in V:\ F(D,y)\le F(D,x)+\langle G(D',x),y-x\rangle"
        r"+\frac{\frac{m}{2}}{2}\|y-x\|^2",
    r"u-v\text{ minimizes }\left(f(\cdot)+\langle v,\cdot\rangle\right)":
        r"\forall x\in V:\ f(u-v)+\langle v,u-v\rangle\le f(x)+\langle v,x\rangle",
    r"0<c\implies(f\text{ is convex})": r"0<c\implies(" + _PART
        + r"0\le t\text{ and }t\le 1\implies f(tx+(1-t)y)\le tf(x)+(1-t)f(y))",
}  # fmt: skip
"""Sentences, and what each stands for (docs/theorems.md)."""
REFUSED = (
    r"f-f\text{ is convex}", r"-f\text{ is convex}", r"F\text{ is convex}", r"g\text{ is convex and }f",
    r"f\text{ is }c+m\text{-Lipschitz}", r"f\text{ is }\text{-Lipschitz}", r"f\text{ is convex}g",
    r"C\text{ minimizes }f", r"f\text{ is }\text{-Lipschitz}m",
    r"\langle u,c\rangle\le m", r"u+c=v", r"uv=u", r"f(c)\le m", r"u\le v", r"P=\mathcal{N}(u,m^2)",
    r"P=\mathcal{N}(c,m^2I)", r"P=\mathcal{N}(u,c+mI)", r"P=\mathcal{N}(u,I)", r"|u|\le m", r"u^2\le m",
)  # fmt: skip


@pytest.fixture(scope="module")
def section() -> TheoremSection:
    ((reader, _),) = sections(PAGE)
    assert not reader.unclear
    return reader


def apart(section: TheoremSection, sentence: str) -> bool:
    """Whether the second reads a sentence as another formula than the one that it stands for, and than the first."""
    first, second = both(section, sentence)
    assert not isinstance(first, Exception), first
    written = both(section, WRITTEN[sentence])
    assert [written[0]] == [first]
    return bool(second != first and second != written[1])


@pytest.mark.parametrize("sentence", WRITTEN)
def test_a_sentence_is_its_formula(sentence: str, section: TheoremSection) -> None:
    assert len({*both(section, sentence), *both(section, WRITTEN[sentence])}) == 1


@pytest.mark.parametrize("latex", REFUSED)
def test_the_second_refuses_it(latex: str, section: TheoremSection) -> None:
    assert isinstance(both(section, latex)[1], RefusedError)


U, V, M = ("sym", "u"), ("sym", "v"), ("sym", "m")


@pytest.mark.parametrize(
    ("latex", "term"),
    [
        ("u=v", ("==", U, V)),
        ("u-v=g(u)", ("==", ("add", U, ("mul", ("num", "-1"), V)), ("of", "g", U))),
        (r"\langle u,v\rangle\le m\|u\|^2", ("<=", ("inner", U, V), ("mul", M, ("pow", ("norm", U), ("num", "2"))))),
        ("mu\\in C", ("of", "C", ("mul", M, U))),
        (r"P=\mathcal{N}(u,m^2I)", ("==", ("sym", "P"), ("normal", U, M))),
        (r"P=\delta_{u}", ("==", ("sym", "P"), ("certain", U))),
        (
            r"\mathbb{E}_{x\sim\mathcal{N}(u,mI)}[\|x-v\|]\le c",
            (
                "<=",
                (
                    "mean", ("x", "V"), ("normal", U, ("pow", M, ("num", "1/2"))),
                    ("norm", ("add", ("sym", "x"), ("mul", ("num", "-1"), V))),
                ),
                ("sym", "c"),
            ),
        ),
    ],
)  # fmt: skip
def test_vectors_are_read_by_both(latex: str, term: Any, section: TheoremSection) -> None:
    assert {*both(section, latex)} == {put(term, {})}


def _turned(method: str, back: Callable[[Any], Any]) -> Callable[[pytest.MonkeyPatch], None]:
    read = getattr(TheoremProperties, method)
    return lambda p: p.setattr(TheoremProperties, method, lambda *given, **how: back(read(*given, **how)))


def _named(words: tuple[str, ...], reader: str, parts: int) -> Callable[[pytest.MonkeyPatch], None]:
    return lambda p: p.setitem(theorem_tables.PROPERTIES, words, PropertyForm(reader, parts))


def _exchanged(name: str) -> Callable[[pytest.MonkeyPatch], None]:
    read = getattr(theorem_properties, name)
    return lambda p: p.setattr(theorem_properties, name, lambda one, other, *more: read(other, one, *more))


FAULTS: dict[str, tuple[str, Callable[[pytest.MonkeyPatch], None]]] = {
    "a whole constant for half": (
        r"f\text{ is }m\text{-smooth with gradient }g",
        _turned("half", lambda tree: Tree("add", (tree, tree))),
    ),
    "a difference turned around": (
        r"f\text{ is convex with subgradient }g", _exchanged("_minus"),
    ),
    "the other part of a segment": (r"f\text{ is convex}", _exchanged("_between")),
    "a norm that is not squared": (
        r"f\text{ is }m\text{-strongly convex}",
        lambda p: p.setattr(theorem_properties, "_square", lambda vector: Tree("norm", (vector,))),
    ),
    "smooth for strongly convex": (
        r"f\text{ is }m\text{-strongly convex with subgradient }g",
        _named((r"\text{is}", r"\text{-strongly convex with subgradient}"), "smooth", 3),
    ),
    "a minimum everywhere for one on a set": (
        r"u\text{ minimizes }f\text{ over }C",
        lambda p: p.setattr(TheoremProperties, "minimizes_over", lambda self, z, f, c: self.minimizes(z, f)),
    ),
    "an angle of other vectors": (r"g\text{ is the projection onto }C", _exchanged("_minus")),
    "no segment but all of a line": (
        r"C\text{ is a convex set}",
        _turned("of_every", lambda term: (*term[:2], term[2][:-1], term[3])),
    ),
    "a bound lost": (
        r"f\text{ is }m\text{-Lipschitz}",
        _turned("value_at", lambda tree: Tree("abs", (tree,))),
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_seen(fault: str, section: TheoremSection, monkeypatch: pytest.MonkeyPatch) -> None:
    sentence, plant = FAULTS[fault]
    assert not apart(section, sentence)
    plant(monkeypatch)
    assert apart(section, sentence)
