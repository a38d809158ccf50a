"""The second reader of theorems reads what the first reads, and a fault in either is seen."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dpverify.errors import InvalidArgumentError
from dpverify.ledger.verdicts import Verdict
from dpverify.proving.checker.theorems.language import put
from dpverify.proving.second_reader import (
    RefusedError,
    rows,
    theorem_alphabet,
    theorem_letters,
    theorem_properties,
    theorem_tables,
    theorem_terms,
    theorems,
)
from dpverify.proving.second_reader.theorem_tables import DivergenceForm, GuaranteeForm, NamedLaw
from dpverify.proving.theorems import letters, notation, two_readers
from dpverify.proving.theorems.notation import TheoremReader
from dpverify.proving.theorems.signs import signs_of
from dpverify.statements.pages.blocks import Errors, blocks
from dpverify.statements.pages.sections import section_ids
from dpverify.statements.theorems.library import FOLDER, shipped
from dpverify.statements.theorems.pages import TheoremSection, read_theorems
from dpverify.verification.theorems import theorem_rows

from ...cli.calling import call

PAGES = ("composition", "conversions", "false_in_circulation", "gaussian", "rules_selection")
"""Pages whose displays are edited."""
_SIGN = re.compile(r"\\text\{[^}]*\}|\\math\w+\{\w+\}|\\[A-Za-z]+|\\.|.")
JOINED = (
    r"\text{ and }",
    r"\implies ",
    r"\text{ or }",
    r"\iff ",
    r"\text{ for }",
    "+",
    "-",
    r"\cdot ",
    "=",
    r"\le ",
)
MORE = (
    *r"()+-=<,'|/![]", "^2", r"\text{and}", r"\implies", r"\neg", r"\lor", r"\cdot", r"\forall x\in T:",
    r"\sum_{i=1}^{n}",
)  # fmt: skip


def both(section: TheoremSection, latex: str) -> tuple[Any, Any]:
    """What each reader makes of a display in the letters of a theorem; why it is refused where it is."""
    first: Any
    second: Any
    try:
        reader = TheoremReader(section.alphabet)
        first = put(reader.formula(signs_of(latex)), {})
        reader.scope.demand_formula(first)
    except (InvalidArgumentError, ValueError) as error:
        first = error
    try:
        second = put(section.second.alphabet.formula(latex), {})
    except (RefusedError, ValueError) as error:
        second = error
    return first, second


def sections(text: str) -> list[tuple[TheoremSection, list[str]]]:
    """Theorems of a page, each with its displays that are no definitions."""
    found = []
    for id_, heading, inside in section_ids(blocks(text, Errors())):
        if heading is not None:
            reader = TheoremSection(id_, heading, inside)
            read = reader.theorem()
            found.append((reader, [one.latex for one in read.displays if one.role != "definition"]))
    return found


def edited(rng: random.Random, latex: str, others: list[str]) -> str:
    """A display with something left out, added, exchanged, put in brackets or joined to it."""
    signs = _SIGN.findall(latex)
    for _ in range(rng.choice((1, 1, 2))):
        one, other = sorted(rng.choices(range(len(signs)), k=2))
        more = _SIGN.findall(rng.choice(others))
        match rng.randrange(7):
            case 0 if len(signs) > 1:
                del signs[one]
            case 1:
                signs.insert(one, rng.choice((*MORE, *more)))
            case 2:
                signs[one] = rng.choice((*MORE, *more))
            case 3:
                signs[one], signs[other] = signs[other], signs[one]
            case 4:
                signs[one : other + 1] = ["(", *signs[one : other + 1], ")"]
            case 5:
                start, stop = sorted(rng.choices(range(len(more)), k=2))
                signs[one:one] = more[start : stop + 1]
            case _:
                signs += [rng.choice(JOINED), *more]
    return "".join(f" {sign}" if sign[0].isalpha() else sign for sign in signs)


def test_every_display_that_is_shipped_is_read_the_same_by_both() -> None:
    found = Counter[str]()
    for one in shipped().values():
        assert not one.unclear, (one.id, one.unclear)
        found["displays"] += len(one.displays)
        found["twice"] += one.read_twice
    assert found["displays"] == found["twice"] > 800


def test_edited_displays_are_read_the_same_by_both() -> None:
    """Seeded; what is edited is mostly refused, by both."""
    rng, found = random.Random(0), Counter[str]()
    known = [one for name in PAGES for one in sections((FOLDER / f"{name}.md").read_text(encoding="utf-8"))]
    for _ in range(700):
        section, displays = rng.choice(known)
        latex = edited(rng, rng.choice(displays), displays)
        first, second = both(section, latex)
        alone = [isinstance(one, Exception) for one in (first, second)]
        found[str(alone)] += 1
        if not any(alone):
            assert first == second, (section.id, latex)
    assert found["[False, False]"] > 60
    assert found["[False, True]"] < 15


LETTERS = r"""## A theorem {#mine.theorem}

| letter | kind |
| --- | --- |
| $\mathcal{D}$ | type of data sets |
| $T$ | type |
| $R$ | finite type |
| $M$ | mechanism to $T$ |
| $J$ | law for $T$ on $T$ |
| $K$ | law for $T,\mathcal{D}$ on $T$ |
| $L$ | law for $T,\mathcal{D}$ on $R$ |
| $D$ | data set |
| $D'$ | data set |
| $P$ | law on $T$ |
| $Q$ | law on $T$ |
| $S$ | event of $T$ |
| $A$ | statement |
| $f$ | function of $T$ |
| $g$ | function of $\mathbb{Z}$ |
| $h$ | function of $T,R$ |
| $q$ | function of $\mathbb{Z}$ to $\mathbb{Z}$ |
| $n$ | integer >= 1 |
| $i$ | integer |
| $x_i$ | real |
| $a$ | > 0 |
| $b$ | [0, 1) |
| $c$ | real |
| $\varepsilon$ | >= 0 |
| $\delta$ | real |
"""


def page(latex: str) -> str:
    """A page that claims a display."""
    return f"{LETTERS}\nThen:\n$${latex}$$\n"


READ = [
    r"a\le b\text{ and }\forall y\in T:\ f(y)\le c\text{ and }a\le f(y)", r"A\implies\forall y\in T:\ f(y)\le c",
    r"A\text{ and }\forall y\in T:\ y\in S\implies f(y)\le c", r"(A\implies a\le b)\text{ and }A",
    r"\Pr_{x\sim P,y\sim K(x,D)}[(x,y)=(x,y)]\le a", r"P(S)^2\le\Pr[M(D)\in S]", r"P=Q\text{ and }P\ll(M(D'))",
    r"\Pr_{x\sim(\text{law of }y\text{ for }z\sim P,y\sim K(z,D))}[x\in S]\le b", r"D\sim D'",
    r"\forall x\in T:\ K(x,\cdot)\text{ is }\varepsilon\text{-DP}", r"\neg(A)\implies|c|\le a",
    r"\Pr_{x\sim\mathrm{mix}_{b}(P,Q)}[x\in S]=bP(S)+(1-b)Q(S)", r"\prod_{i=1}^{n}g(i)\le\sum_{i=1}^{n}(g(i)+c)",
    r"f(x)\text{ is integrable for }x\sim P", r"\mathcal{N}(c,a^2)\text{ has density }b y\text{ at }y",
    r"\forall x\in T:\ \sum_{r\in R}bh(x,r)\le\mathbb{E}_{r\sim L(x,D)}[h(x,r)-c]", r"1\le n\text{ for }a\le b",
    r"\forall D\sim D':\ \mathbb{E}_{x\sim M(D')}\left[\frac{dM(D)}{dM(D')}(x)^2\right]\le a",
    r"M\text{ is }(\varepsilon,b)\text{-DP}",
    r"a\mathrm{TV}(P,Q)^2\le D_{1+b}((M(D))\|M(D'))", r"c\le H_a(P\|Q)\text{ and }D\sim D'",
    r"M\text{ is }c\text{-GDP}", r"D_{\mathrm{KL}}(\mathcal{N}(c,a^2)\|\mathcal{N}(0,1))\le I(P,J)^2",
    r"D_{D_{a}(P\|Q)}(P\|Q)|c|\le a",
    r"2\max_{1\le i\le n}|g(i)-c|<(\min_{i=1}^{n}g(i))^2", r"\max(a,\min_{1\le i\le n}g(i))\le 0.9a",
    r"|c-\max_{i=1}^{n}g(i)|\le\frac{1}{16}a", r"|(\sum_{i=1}^{n}g(i))-(\sum_{1\le i\le n}g(i+1))|\le a",
    r"|c-\sum_{i=1}^{n}g(i)|\le\prod_{1\le i\le n}g(i)",
    r"c\le 2\cdot\mathrm{median}_{1\le i\le n}|g(i)-c|", r"((\sum_{i=1}^{n}\mathbf{1}[g(i)\le c])\bmod 12)\le a",
    r"q\text{ permutes the whole numbers from }2\text{ to }n+1",
    r"\mathbf{1}[A]\le\Pr_{y\sim\mathrm{Lap}(c,a)}[y\ge b]", r"\Pr_{y\sim\mathrm{Unif}(b,a)}[y<b]\le c",
]  # fmt: skip
"""Each has one reading."""
REFUSED = [
    r"\max_{i\le n}g(i)\le c", r"\max_{i=1}^{n}g(i)+c\le a", r"\min_{n}(a,b)\le c",
    r"\sum_{i=1}^{n}x_i\le c", r"\sum_{r\in R}a+b\le c",
    r"A\implies A\text{ and }A\implies a\le b", r"a\le b\text{ or }A\text{ and }a\le c", r"A\implies a\le b\iff a\le c",
    r"a\le c\text{ and }a\le b\text{ for }b\le c", r"A\implies a\le b,b\le c", r"\Pr_{x\sim P}[x\in S)\le(a]",
    r"\forall(y\in T:\ f(y))\le c", r"\forall y z\in T:\ a\le c", r"\Pr_{x\sim\mathrm{mix}_{b}(P,Q)a}[x\in S]\le c",
    r"\prod_{i=1}^{n}g(i)c\le a", r"A=A", r"D(P\|Q)\le c", r"D_{a}(P,Q)\le c",
    r"\mathrm{TV}(P\|Q)\le c", r"H_{\mathrm{KL}}(P\|Q)\le c", r"I(P,K)\le c", r"M\text{ is }(a,b)\text{-GDP}",
    r"\forall y\in T:\ f(y)\le c\text{ for }a\le b", r"\mathrm{median}_{i\le n}g(i)\le c", r"(a\bmod 2)\le c",
    r"((c)\bmod 2+1)\le a", r"((c)\bmod n)\le a", r"g\text{ permutes the whole numbers from }1\text{ to }n",
]  # fmt: skip
"""What one reader alone read once, or read in another way, and what could be read in two."""


@pytest.fixture(scope="module")
def section() -> TheoremSection:
    ((reader, _),) = sections(page(r"\forall x\in T:\ A"))
    assert not reader.unclear
    return reader


@pytest.mark.parametrize("latex", READ)
def test_it_is_read_by_both(latex: str, section: TheoremSection) -> None:
    first, second = both(section, latex)
    assert not isinstance(first, Exception), first
    assert first == second


@pytest.mark.parametrize("latex", REFUSED)
def test_it_is_refused(latex: str, section: TheoremSection) -> None:
    assert any(isinstance(one, Exception) for one in both(section, latex))


# ------------------------------------------------------------------------------------------- planted faults

Plant = Callable[[pytest.MonkeyPatch], None]


def _law(latex: str, law: NamedLaw) -> Plant:
    return lambda p: p.setitem(theorem_terms._LAWS, theorem_letters.bare(theorem_terms.marks(latex)[0]), law)


def _turned(of: type, method: str, back: Callable[[Any], Any]) -> Plant:
    read = getattr(of, method)
    return lambda p: p.setattr(of, method, lambda *given: back(read(*given)))


def _deviation_for_variance(self: Any) -> Any:
    term, kind = _NAMED_LAW(self)
    return (*term[:2], ("pow", term[2], ("num", "2"))) if term[0] == "normal" else term, kind


_MEANS = theorem_terms.means
_NAMED_LAW = theorem_terms.TheoremTerms.named_law
DISPLAYS = theorems.TheoremDisplays
FAULTS: dict[str, tuple[str, Plant]] = {
    "at least read as at most": (r"P(S)\ge a", lambda p: p.setitem(rows.RELATIONS, r"\ge", "<=")),
    "a law for another": (r"\Pr_{y\sim\mathrm{Lap}(c,a)}[y\ge b]\le a", _law(r"\mathrm{Lap}", NamedLaw("uniform", 2))),
    "a location that is not 0": (
        r"\Pr_{y\sim\mathrm{Lap}(a)}[y\ge b]\le a", _law(r"\mathrm{Lap}", NamedLaw("laplace", 2, (("num", "1"),))),
    ),
    "variance for deviation": (
        r"\Pr_{y\sim\mathcal{N}(c,a^2)}[y\ge b]\le a",
        lambda p: p.setattr(theorem_terms.TheoremTerms, "named_law", _deviation_for_variance),
    ),
    "laws in the other order": (
        r"\Pr_{x\sim\mathrm{mix}_{b}(P,Q)}[x\in S]\le a",
        _turned(theorem_terms.TheoremTerms, "laws", lambda two: two[::-1]),
    ),
    "laws of a divergence in the other order": (
        r"H_{a}(P\|Q)\le c", _turned(theorem_terms.TheoremTerms, "laws", lambda two: two[::-1]),
    ),
    "a divergence for another": (
        r"H_{a}(P\|Q)\le c",
        lambda p: p.setitem(theorem_tables.DIVERGENCES, "H", DivergenceForm("divergence")),
    ),
    "another order of Kullback and Leibler": (
        r"D_{\mathrm{KL}}(P\|Q)\le c", lambda p: p.setattr(theorem_terms, "ONE", ("num", "2")),
    ),
    "another factor in the total variation": (
        r"\mathrm{TV}(P,Q)\le c", lambda p: p.setattr(theorem_terms, "ONE", ("num", "2")),
    ),
    "the product law for the joint": (
        r"I(P,J)\le c",
        _turned(theorem_terms.TheoremTerms, "joint_and_product", lambda term: (*term[:2], *term[:1:-1])),
    ),
    "of the first, the product law for the joint": (
        r"I(P,J)\le c",
        _turned(notation.TheoremReader, "information", lambda term: (*term[:2], *term[:1:-1])),
    ),
    "the smallest for the largest": (
        r"\max_{1\le i\le n}g(i)\le c", lambda p: p.setitem(theorem_tables.FOLDS, "max", "smallest"),
    ),
    "of the first, the smallest for the largest": (
        r"\max_{i=1}^{n}g(i)\le c", lambda p: p.setitem(notation._FOLDS, r"\max", "smallest"),
    ),
    "Gaussian privacy for concentrated": (
        r"M\text{ is }a\text{-GDP}",
        lambda p: p.setitem(theorem_tables.GUARANTEES, r"\text{-GDP}", GuaranteeForm("concentrated", 1)),
    ),
    "numbers of a guarantee in the other order": (
        r"M\text{ is }(\varepsilon,b)\text{-DP}",
        _turned(DISPLAYS, "guarantee", lambda term: (*term[:3], *term[:2:-1])),
    ),
    "a guarantee for another": (
        r"M\text{ is }\varepsilon\text{-DP}",
        lambda p: p.setitem(theorem_tables.GUARANTEES, r"\text{-DP}", GuaranteeForm("concentrated", 1)),
    ),
    "domination turned around": (
        r"P\ll Q", _turned(DISPLAYS, "dominated", lambda term: (term[0], *term[:0:-1])),
    ),
    "a part lost": (
        r"A\text{ and }a\le b", lambda p: p.setattr(theorems, "_together", lambda parts: parts[0]),
    ),
    "binders in the other order": (
        r"\Pr_{x\sim P,r\sim L(x,D)}[h(x,r)\le a]\le b",
        lambda p: p.setattr(theorem_terms, "means", lambda letters, *of: _MEANS(letters[::-1], *of)),
    ),
    "a stricter bound": (r"a\le b", lambda p: p.setattr(theorem_letters, "_inside", lambda value, _: value + 1)),
    "a kernel without data": (
        r"a\le b", lambda p: p.setitem(theorem_tables.KINDS, "mechanism to", ((), "law", "0")),
    ),
    "types for finite types": (r"a\le b", lambda p: p.setitem(theorem_tables.SORTS, "finite type", "any")),
    "of the first, a guarantee for another": (
        r"M\text{ is }\varepsilon\text{-DP}",
        lambda p: p.setitem(notation._GUARANTEES, signs_of(r"\text{-DP}"), "concentrated"),
    ),
    "of the first, what is said of all ends with `and`": (
        r"a\le b\text{ and }\forall y\in T:\ f(y)\le c\text{ and }a\le b",
        lambda p: p.setattr(notation, "split_said", notation.split),
    ),
    "of the first, a law for another": (
        r"\Pr_{y\sim\mathrm{Lap}(c,a)}[y\ge b]\le a",
        lambda p: p.setitem(notation._LAW_SIGNS, signs_of(r"\mathrm{Lap}"), "uniform"),
    ),
    "of the first, no domain": (r"a\le b", lambda p: p.setattr(two_readers, "bounds", lambda letter: [])),
    "arguments in the other order": (
        r"\forall x\in T,r\in R:\ h(x,r)\le a", _turned(DISPLAYS, "values", lambda given: given[::-1]),
    ),
    "another rank": (
        r"\mathrm{median}_{i=1}^{n}g(i)\le a",
        _turned(DISPLAYS, "of_rank", lambda term: ("smallest", *term[1:])),
    ),
    "of the first, another remainder": (
        r"((c)\bmod 3)\le a", lambda p: p.setattr(notation, "remainder", lambda value, by: ("add", value, value)),
    ),
    "a sum that ends too early": (
        r"\forall x\in T:\ \sum_{r\in R}bh(x,r)\le a",
        lambda p: p.setattr(DISPLAYS, "term", lambda self: self.factor()),
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_in_a_reader_is_seen(fault: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    latex, plant = FAULTS[fault]
    file = tmp_path / "mine.md"
    file.write_text(page(latex), encoding="utf-8")
    (good,) = read_theorems(file)
    assert not good.unclear
    assert good.read_twice == 1
    plant(monkeypatch)
    (found,) = read_theorems(file)
    assert all("the two readers differ" in one.says for one in found.unclear)
    assert found.unclear


def test_a_definition_that_is_read_in_two_ways_is_seen(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "mine.md"
    define = r"""Define:
$$M(D)\sim\text{law of }y\text{ for }z\sim P,y\sim K(z,D)$$
"""
    file.write_text(page(r"\Pr[M(D)\in S]\le a").replace("Then:", f"{define}\nThen:"), encoding="utf-8")
    assert not read_theorems(file)[0].unclear
    FAULTS["arguments in the other order"][1](monkeypatch)
    (found,) = read_theorems(file)
    assert found.read_twice < 2


def test_it_shares_no_line_with_the_first() -> None:
    """Long lines that both have would be a copied thought; docstrings, imports and headers aside."""
    theirs = {
        line.strip()
        for of in (notation, letters)
        for line in Path(of.__file__).read_text("utf-8").splitlines()
    }
    for of in (theorems, theorem_terms, theorem_letters, theorem_alphabet, theorem_properties):
        for line in Path(of.__file__).read_text("utf-8").splitlines():
            plain = len(line.strip()) < 50 or line.strip().startswith(("# ---", "from "))
            assert plain or line.strip() not in theirs, line


OWN = r"""
## A rule of my own {#mine.rule}

- kind: rule

| letter | kind |
| --- | --- |
| $a$ | > 0 |

Then:
$$a\ge 0$$

## What rests on it {#mine.claim}

| letter | kind |
| --- | --- |
| $b$ | > 0 |

Then, by `mine.rule`:
$$0\le b$$
"""


def test_nothing_is_derived_of_what_is_read_in_two_ways(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mine.md"
    file.write_text(OWN, encoding="utf-8")
    good = theorem_rows([str(file)])[0].found
    assert (good.verdict, good.read_twice, len(good.displays)) == (Verdict.PROVED, 1, 1)
    monkeypatch.setitem(rows.RELATIONS, r"\ge", "<=")
    found = theorem_rows([str(file)])[0].found
    assert (found.verdict, found.underived) == (Verdict.UNDECIDED, ("mine.rule",))
    monkeypatch.setitem(rows.RELATIONS, r"\le", "<")
    found = theorem_rows([str(file)])[0].found
    assert (found.verdict, found.read_twice, found.line) == (Verdict.UNDECIDED, 0, 20)
    assert "the two readers differ: the first reads `<=(0, b)` where" in found.reason
    assert (found.model, found.certificate) == (None, None)
    assert call("prove", str(file)) == 3
    said = " ".join(capsys.readouterr().out.split())
    assert "0 of 1" in said
    assert "line 20: the two readers differ" in said
