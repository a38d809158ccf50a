"""Papers as pages: documents in several styles, faults planted in them, and what is accepted."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from dpverify.errors import InvalidArgumentError
from dpverify.ledger.in_print import Provenance
from dpverify.ledger.verdicts import Coverage, Gap, Variant, Verdict
from dpverify.statements.importing import accept, import_paper
from dpverify.statements.importing.facts import facts_of
from dpverify.statements.importing.folder import _read
from dpverify.statements.importing.other_sources import from_markdown
from dpverify.statements.importing.reading import PaperReader
from dpverify.statements.importing.records import LetterFact
from dpverify.statements.importing.usage import parts_of
from dpverify.statements.own_pages import read_pages
from dpverify.verification.catalog.rows import answered

from ...cli.calling import call

HERE = Path(__file__).parent
DOCUMENTS = ("conference.tex", "plain.tex", "notes.md", "lecture.tex", "memo.md", "forms.tex")


def read(path: Path, source: str | None = None) -> PaperReader:
    """What is read of a document, or of a source in its place."""
    if source is not None:
        path = path.with_name("paper" + path.suffix)
        path.write_text(source, encoding="utf-8")
    return _read(path)[1]


def rows(reader: PaperReader) -> list[tuple[int, str, tuple[str, ...]]]:
    """Line, LaTeX and conditions of each row."""
    return [(row.line, row.latex, tuple(row.given)) for section in reader.sections for row in section.rows]


def said(reader: PaperReader) -> object:
    """All that is read: rows, domains, readings, refusals."""
    return (
        [
            (
                row.latex,
                row.given,
                row.reading,
                [(v, *reader.declared(s, row, v)) for v in (*row.letters, *row.opaque)],
            )
            for s in reader.sections
            for row in s.rows
        ],
        [refusal[2:] for refusal in reader.refusals],
        [(s.conditions, [e[:2] for e in s.equations], s.facts) for s in reader.sections],
        [(found.relation.latex, found.relation.given) for s in reader.sections for _, found, _ in s.pending],
    )


def test_a_conference_paper() -> None:
    reader = read(HERE / "conference.tex")
    assert rows(reader) == [
        (20, r"\log\left(1 + q(e^{\varepsilon} - 1)\right) \le q (e^{\varepsilon} - 1)", ()),
        (24, r"1 + x \le e^x", ()),
        (27, r"q \le 1", ()),  # a remark: whether it claims that is asked
        (26, r"q(e^{\varepsilon}-1) = q e^{\varepsilon} - q", ()),
        (26, r"q e^{\varepsilon} - q \le e^{\varepsilon} - 1", ()),
        (27, r"e^{\varepsilon} - 1 = {e^{\varepsilon}} - 1", ()),
        (34, r"\lambda\lVert u - v\rVert^2 \le 1", (r"\lambda \in [0,1]", r"\lVert u - v\rVert \le 1")),
        (34, r"\frac{n}{n-1} \le 2", (r"\lambda \in [0,1]",)),
        (35, r"\mathbb{E}_{x\sim P}\left[f(x)\right] \le \operatorname{KL}(P \| Q) + \tfrac{1}{2}", ()),
        (38, r"\exists k:\ k > n", ()),
        (39, "m > 2", ("n > 3", "m = n - 1")),
        (39, r"m \ge 1", ("n > 1", "m = n - 1")),  # behind it stands another claim: that is asked
        (39, r"m \ge 3", ("n > 3", "m = n - 1")),
        (39, "n = O(m)", ("m = n - 1",)),
        (41, "g(t) = t", (r"t \le 1",)),
        (41, "g(t) = 2 - t", ("t > 1",)),
        (42, r"\mathbb{E} f(x) = 1", ()),
        (42, "w^{t} = u^T v", ()),
    ]
    theorem, lemma = (s for s in reader.sections if s.rows)
    domains = {v: reader.domain(lemma, v) for v in ("u", "n", r"\lambda")}
    assert domains == {"u": ("vector", ""), "n": ("integer >= 2", ""), r"\lambda": (">= 0, <= 1", "")}
    assert reader.domain(theorem, r"\varepsilon") == ("> 0", "")
    assert reader.domain(lemma, "m") == ("integer >= 1", "by its name")
    assert lemma.uses == [theorem.id] == ["conference.thm-amp"]
    assert theorem.rows[0].questions == ["is log the natural logarithm?"]
    assert [(line, reason.split("`")[0].strip()) for _, line, _, reason in reader.refusals] == [
        (38, "its sentence says"),
    ]  # fmt: skip
    counts = reader.counts
    assert counts.relations == counts.read + counts.guessed + counts.refused == 30


def test_old_plain_tex() -> None:
    reader = read(HERE / "plain.tex")
    assert [latex for _, latex, _ in rows(reader)] == [
        r"{\frac{\varepsilon}{ n+1}} \le {\frac{\varepsilon }{ n}}", "(n+1)^2 = n^2+2n+1", r"n^2+2n+1 \ge 2n+1",
        r"\delta \le 1", r"\varepsilon \le 2",
    ]  # fmt: skip
    assert {(line, reason) for _, line, _, reason in reader.refusals} == {
        (1, "a: a file that is not there"), (5, r"\until: a macro with delimited parameters"),
        (11, r"\until is defined in a way that is not followed"),
    }  # fmt: skip


def test_markdown_and_the_text_of_a_pdf() -> None:
    notes = read(HERE / "notes.md")
    assert [(line, latex) for line, latex, _ in rows(notes)] == [
        (5, r"ab \le \frac{\eta a^2}{2} + \frac{b^2}{2\eta}"), (7, r"(\eta a - b)^2 \ge 0"),
    ]  # fmt: skip
    assert vars(notes.counts) == {"relations": 4, "read": 4, "guessed": 0, "refused": 0}
    (fact, *_) = from_markdown("**Fact 2 (small).** We have $a \\le b$.").split("\n")
    assert fact == r"\begin{fact}[2 (small)] We have $a \le b$."
    text = read(HERE / "pdf.txt")
    assert [line for line, *_ in rows(text)] == [4, 9, 10, 11]
    assert all(row.torn for section in text.sections for row in section.rows)
    assert [line for _, line, *_ in text.refusals] == [6, 7, 8, 11, 11]
    assert rows(text)[-1] == (11, r"\eta \le \beta", ())


FORMULAS = r"\$\$?[^$]+\$\$?|\\\[.*?\\\]|\\begin\{(?:equation|align\*?)\}.*?\\end|\\eqalign\{.*?\}\$"


def mutations(source: str) -> Iterator[tuple[str, str]]:
    """The source with one sign of its formulas changed, and what was changed."""
    changes = {
        r"\le": r"\ge", r"\leq": r"\geq", r"\ge": r"\le", "+": "-", "-": "+", "2": "3", "1": "7", "<": ">", ">": "<",
        "=": r"\le", r"\eps": r"\sigma", r"\lambda": r"\mu", "n": "k", "{n}{n-1}": "{n-1}{n}",
    }  # fmt: skip
    for formula in re.finditer(FORMULAS, source, re.DOTALL):
        if not re.search(r"[=<>]|\\(?:[lg]eq?|in)(?![a-z])", formula[0]) or "1 = 2" in formula[0]:
            continue  # nothing is read of it
        for sign, other in changes.items():
            ends = r"(?![A-Za-z])" if sign[0] == "\\" else ""
            for place in re.finditer(r"(?<![\\A-Za-z])" * (sign == "n") + re.escape(sign) + ends, formula[0]):
                at = formula.start() + place.start()
                before = source[source.rfind("\n", 0, at) + 1 : at]
                if "%" in before or re.search(
                    r"\\(label|begin|end|text)\{[^}]*$|\\eqno\S*$|^[^$]*```", before
                ):
                    continue
                line = source.count("\n", 0, at) + 1
                yield source[:at] + other + source[at + len(sign) :], f"line {line}: {sign} as {other}"


SAME = {
    "spaces": (r"(\\le|\\ge|[=+])(?![A-Za-z])", r" \1 "),
    "sizes": (r"\((?=[^()$]*\))([^()$]*)\)", r"\\left(\1\\right)"),
    "alias": (r"\\le(?:q|qslant)?(?![A-Za-z])", r"\\leqslant "),
    "bars": (r"\\(?:\||Vert(?![A-Za-z]))", r"\\Vert "),
    "fractions": (r"\\[td]?frac(?![A-Za-z])", r"\\dfrac"),
    "subscripts": (r"_([A-Za-z0-9])", r"_{\1}"),
    "superscripts": (r"\^([A-Za-z0-9])", r"^{\1}"),
    "styles": (r"^(?=\s*[A-Za-z\\])", r"\\displaystyle "),
    "macros": (r"\\(eta|varepsilon|sigma)(?![A-Za-z])", r"\\mymacro\1{}"),
}
"""Ways to write the same formula, by what they change: what is replaced, and by what."""
MACROS = "".join(rf"\newcommand{{\mymacro{name}}}{{\{name}}}" for name in ("eta", "varepsilon", "sigma"))


def retyped(source: str, pattern: str, new: str) -> str:
    """A source with its formulas written in another way."""

    def change(formula: re.Match[str]) -> str:
        pieces = re.split(r"(\\(?:label|begin|end|text|mbox|tag)\s*\{[^}]*\}|\\eqno.*|\\\\|\$)", formula[0])
        return "".join(re.sub(pattern, new, piece) if k % 2 == 0 else piece for k, piece in enumerate(pieces))

    start = max(0, source.find(r"\begin{document}"))
    return (
        MACROS * ("mymacro" in new)
        + source[:start]
        + re.sub(FORMULAS, change, source[start:], flags=re.DOTALL)
    )


def in_one_form(reader: PaperReader) -> object:
    """What is read, but for how it is written; reasons of refusals are left out."""
    return (
        [
            (
                row.line,
                parts_of(row.latex),
                [parts_of(condition) for condition in row.given],
                [(v, *reader.declared(s, row, v)) for v in (*row.letters, *row.opaque)],
                len(row.questions),
            )
            for s in reader.sections
            for row in s.rows
        ],
        vars(reader.counts),
    )


@pytest.mark.one_in(3)
@pytest.mark.parametrize("how", SAME)
@pytest.mark.parametrize("name", ["conference.tex", "lecture.tex", "memo.md", "forms.tex"])
def test_the_same_formula_written_otherwise_is_read_as_the_same(name: str, how: str, tmp_path: Path) -> None:
    source = (HERE / name).read_text(encoding="utf-8")
    other = retyped(source, *SAME[how])
    assert in_one_form(read(tmp_path / name, other)) == in_one_form(read(tmp_path / name, source))


CHANGED = [
    pytest.param(name, source, id=f"{name}, {what}")
    for name in DOCUMENTS
    for source, what in mutations((HERE / name).read_text(encoding="utf-8"))
]


@pytest.mark.one_in(24)
@pytest.mark.parametrize(("name", "changed"), CHANGED)
def test_a_changed_sign_is_not_read_as_the_same(name: str, changed: str, tmp_path: Path) -> None:
    kept = said(read(tmp_path / name, (HERE / name).read_text(encoding="utf-8")))
    assert said(read(tmp_path / name, changed)) != kept


REFUSED = {
    r"We have $\mathbb{E} X + Y \le 1$.": "without brackets",
    r"We have $n = o(m)$.": "an order",
    r"We have $a \approx b$.": "up to an error",
    r"We have $x =_p y$.": "its sign has a script",
    r"Let $x \in \{0, 2, \dots, m\}$.": "is not read",
    r"Let $x = a, a + 2, \dots$.": "is not read",
    r"We have $x \equiv 1 \mod 3$.": "remainders",
    r"We have $score = 1$.": "a word or a product",
    r"We have $Y \overset{d}{=} X$.": "may change what it says",
    r"We have $X \overset{\text{iid}}{=} Y$.": "may change what it says",
    r"It is not true that $a \le b$.": "not true",
    r"With high probability we have $a \le b$.": "with high probability",
    r"We have $a \le b$, and with probability at least $p$ it stops.": "what the rest of its sentence says",
    r"With probability at least $p$, $a \le b$; with probability at least $q$, $a \le c$.": "says twice",
    r"There is some $c$, so that then $c \le b$.": "there is some",
    r"We do not have $a \le b$.": "not have",
    r"Here $a \le b$ does not hold.": "does not",
    r"There is no $c$ with $c \le b$.": "there is no",
    r"There exists $c$ so that for all $n \ge c$ we have $x \le c n$.": "what the rest of its sentence says",
    r"There is $c$ with $\Pr[A] \le c$ with probability at least $p$.": "says twice",
    r"\def\x#1.{#1} We have $\x a. = 1$.": "is not followed",
    r"\ifx\a\b We have $a \le b$. \fi": "a condition of TeX",
    r"We have $\|x\|=1, \text{ unless } y = 2$.": "the words",
    r"Here $x > 0$ implies $y > 0$ and $z > 0$.": "implies",
    r"We have $x > 0$ and $y > 0$ imply $z > 0$.": "imply",
    r"We have $x > 0$, $y > 0$ or $z > 0$.": "one of two",
    r"We have $x > 0$ or $y > 0$ and $z > 0$.": "one of two",
    r"Is $x > 0$?": "asks",
    r"We have $dv = 2a\,du$.": "a differential",
    r"We have $x < y$ as $n \to \infty$.": "limit",
    r"This violates $x < y$.": "violates",
    r"We have $\neg(a \le b)$.": r"under \neg",
    r"We have $\lnot\left\{a \le b\right\}$.": r"under \lnot",
    r"We have $\overline{a \le b}$ here.": r"under \overline",
    r"We have $\widehat{(a = b)}$.": r"under \widehat",
    r"\[ c \le d \quad \text{if } \neg(a \le b). \]": r"under \neg",
}
"""Sentences of which a formula is refused, each with a part of the reason."""


@pytest.mark.parametrize("sentence", REFUSED)
def test_what_is_not_certain_is_refused(sentence: str, tmp_path: Path) -> None:
    reader = read(tmp_path / "a.tex", sentence)
    assert rows(reader) == []
    assert any(REFUSED[sentence] in reason for *_, reason in reader.refusals)
    assert reader.counts.refused >= 1


def terms(reader: PaperReader) -> list[tuple[str, str]]:
    """Terms that are one letter each, and vectors, of all rows, with their domains."""
    return [
        (letter, reader.declared(section, row, letter)[0])
        for section in reader.sections
        for row in section.rows
        for letter in (*row.opaque, *row.letters)
        if letter in row.opaque or reader.declared(section, row, letter)[0] == "vector"
    ]


ASKED = {
    r"We have $x^T y = 1$.": [("x^{T}y", "real")],
    r"We have $x^t = 1$.": [("x^{t}", "real")],
    r"We have $\mathrm{erf}\frac{t}{2} \le 1$.": [(r"\operatorname{erf}\frac{t}{2}", "real")],
    r"We have $Ax = xA$.": [("Ax", "vector"), ("xA", "vector")],
    r"We have $(I + S)^{-1} = 2$.": [("(I+S)^{-1}", "real")],
    r"We have $f(x+y)(z) = 1$ and $f \le 2$.": [("f(x+y)(z)", "real")],
    r"We have $\|x_t - y\|\le 1$ and $x_{t+1} = x_t - \eta\nabla f(x_t)$.":
        [("x_{t}", "vector"), ("y", "vector"), (r"\nabla f(x_{t})", "vector"), ("x_{t+1}", "vector"),
         ("x_{t}", "vector")],
    r"We have $x^{t+1} = x^t - \eta\nabla f(x^t)$.":
        [("x^{t+1}", "vector"), ("x^{t}", "vector"), (r"\nabla f(x^{t})", "vector")],
    r"We have $f(y) \ge f(x) + \nabla f(x)^\top (y - x)$.":
        [("f(y)", "real"), ("f(x)", "real"), (r"\nabla f(x)^{\top}(y-x)", "real")],
    r"We have $\Phi = U\Sigma V^\top$.": [(r"\Phi", "vector"), (r"U\Sigma V^{\top}", "vector")],
    r"We have $2\|a - b\|^2 \le \mathbb{E}\|a\|^2 + \|A b - c\|$.":
        [(r"\mathbb{E}\|a\|^{2}", ">= 0"), (r"\|Ab-c\|", ">= 0"), ("a", "vector"), ("b", "vector")],
    r"We have $\mu = c^T\hat{\theta}$.": [(r"\mu", "real"), (r"c^{T}\hat{\theta}", "real")],
    r"We have $s = a_1 + \cdots + a_n$.": [("s", "real"), (r"a_{1}+\cdots+a_{n}", "real")],
    r"We have $\nabla F(x) = 0$.": [(r"\nabla F(x)", "vector")],
    r"We have $n = O(m)$.": [],
    r"We have $\sup_x f(x) + g(x) \le 1$.": [(r"\sup_{x}f(x)+g(x)", "real")],
    r"We have $z \le a + 2\sum_{i=1}^n x_i + y_i$.": [("a", "real"), (r"2\sum_{i=1}^{n}x_{i}+y_{i}", "real")],
    r"We have $z \le a - \sum_{i=1}^n x_i + y_i$.": [(r"a-\sum_{i=1}^{n}x_{i}+y_{i}", "real")],
    r"We have $E_{x\sim P} l(x) = 1$.": [(r"E_{x\sim P}l(x)", "real")],
    r"We have $\max_{x \sim y} |x - y| \le 1$.": [(r"\max_{x\sim y}|x-y|", "real")],
    r"We have $n \lesssim m$ and $x \equiv y$.": [],
    r"With probability at least $1-\beta$, $x \le y$.": [(r"\Pr[x\le y]", "[0, 1]")],
    r"With probability $\ge p$ over $S$, we have $x < y < z$.": [(r"\Pr[x<y]", "[0, 1]"), (r"\Pr[y<z]", "[0, 1]")],
    r"We have $x > y$ with probability at most $p$.": [(r"\Pr[x>y]", "[0, 1]")],
    r"For large $n$ we have $x < y$.": [],
    r"This is not needed, but we have $x < y$.": [],
    r"We have $|a| - |b + 1| \le |a - b|$.": [],
    r"We have $\Pr[\overline{a\le b}] \le p$, and $\overline{\{x \le 1\}}$ is closed.":
        [(r"\Pr[\overline{a\le b}]", "[0, 1]")],
}  # fmt: skip
"""Sentences of which a formula is read, with questions, and which of its terms are one letter or a vector."""


@pytest.mark.parametrize("sentence", ASKED)
def test_terms_that_are_one_letter(sentence: str, tmp_path: Path) -> None:
    reader = read(tmp_path / "a.tex", sentence)
    assert terms(reader) == ASKED[sentence]
    assert reader.counts.refused == 0
    assert reader.counts.read == 0 or sentence.endswith(("= 0$.", r"|x - y| \le 1$."))


CLEANED = {
    r"\underbrace{a}_\text{large} \le b": r"{a} \le b",
    r"a \overset{\left(i\right)}{\le} b": r"a \le b",
    r"a \not= .5": r"a \ne 0.5",
    r"||x - y|| \le |a||b|": "",
    r"||x||_1 \le 1": r"\|x\|_1 \le 1",
    r"\texttt{len(a\_b)} \ge \texttt{l0}": r"{\mathrm{len}(\mathrm{ab})} \ge {\mathrm{l}_{0}}",
    r"\text{Regret} \le score(x, 1)": r"\operatorname{Regret} \le \operatorname{score}(x, 1)",
    r"\operatorname*{\mathbb{E}}[X] \le \operatorname*{arg\,min}_{a} F(a)":
        r"\mathbb{E}[X] \le \operatorname*{argmin}_{a} F(a)",
    r"f(x) \le \left(a\right){}^{2}": r"f(x) \le \left(a\right)^{2}",
    r"\texttt{a < b} \le 1": "",
    r"a >> b": "",
    r"|x| \le ||y|| ||z||": r"|x| \le \|y\| \|z\|",
    r"\left< x, y \right> \le {\rm Var}(y)": r"\left\langle x, y \right\rangle \le \mathrm{ Var}(y)",
    r"x^{\raisebox{0.2ex}{$\intercal$}} y \le 1": r"x^{\top} y \le 1",
    r"x = \left( a \right. \\ & \left. + b \right)": r"x = \left( a + b \right)",
    r"Regret_T \le \mathop{\rm arg\,max}_x f(x)": r"\operatorname{Regret}_T \le \operatorname{argmax}_x f(x)",
    r"\not\subset b = 1": "",
    r"a^\mathsf{\scriptscriptstyle T} b = 1": r"a^{\top} b = 1",
    r"x = (a)^\text{T} b": r"x = (a)^{\top} b",
}  # fmt: skip
"""Formulas, and what is written for them on a page; nothing for what is refused."""


@pytest.mark.parametrize("formula", CLEANED)
def test_one_way_to_write(formula: str, tmp_path: Path) -> None:
    reader = read(tmp_path / "a.tex", f"We have ${formula}$.")
    assert [latex for _, latex, _ in rows(reader)] == [CLEANED[formula]] * bool(CLEANED[formula])
    assert (reader.counts.refused > 0) == (not CLEANED[formula])


def test_conditions_stay_with_their_claims(tmp_path: Path) -> None:
    source = (
        r"\begin{lemma} Let $x > 0$. If $y > 1$, then $xy > x$; if $y \le 1$, then $xy \le x$. For $z > 2$, $z > 1$. "
        r"We have $x > y$ if $y < 0$ and $z = 0$ if $x = 3$. We have $x > 4$ and, if $y < 5$, it grows. "
        r"We have $x > 6$ for all $y < 7$ and $z > 8$. Suppose that $f$ satisfies $|f| < 9$. "
        r"Let $c$ be so that $c > 10$. Let $d > 11$ and note that $d > 12$. If $M$ is good, it satisfies $M > 13$. "
        r"We have $x > 14$ as long as $y > 15$. \[ x > 16, \text{ for $y > 17$ and $z > 18$.} \]"
        r"\end{lemma}"
    )
    assert [row[1:] for row in rows(read(tmp_path / "a.tex", source))] == [
        ("xy > x", ("y > 1",)), (r"xy \le x", (r"y \le 1",)), ("z > 1", ("z > 2",)), ("x > y", ("y < 0",)),
        ("z = 0", ("x = 3",)), ("x > 4", ()), ("x > 6", ("y < 7", "z > 8")), ("d > 12", ()),
        ("M > 13", ()), ("x > 14", ("y > 15",)),
        ("x > 16", ("y > 17", "z > 18")),
    ]  # fmt: skip


def test_what_joins_two_formulas(tmp_path: Path) -> None:
    source = (
        r"Here $x > 0$ if and only if $y > 0$. If $x > 1$ or $y > 1$, then $z > 1$. Here $x>2$ implies that $x>1$. "
        r"We have $u_k \le 1$, $k \in \{1,\ldots,\ell\}$. We have $v \le 1$ for $w \in \{-1,2\}$."
    )
    assert [row[1:] for row in rows(read(tmp_path / "a.tex", source))] == [
        (r"x > 0\iff y > 0", ()), ("z > 1", (r"x > 1\vee y > 1",)), (r"x>2\implies x>1", ()),
        (r"u_k \le 1", (r"1\le k\le \ell",)), (r"v \le 1", (r"w=-1\vee w=2",)),
    ]  # fmt: skip


def test_what_there_is(tmp_path: Path) -> None:
    source = (
        r"There is a constant $k > 1$ such that $x \le ky$ and $z \le k$ for all $y > 2$. We have "
        r"$u \ge 1$ and $v < r$ for some positive $r$. We have $a \le b$ and $b \le 1$ for some $b$. "
        r"Suppose that there is $q$ with $q > 3$."
    )
    assert [row[1:] for row in rows(read(tmp_path / "a.tex", source))] == [
        (r"\exists k > 1:\ x \le ky \wedge z \le k", ("y > 2",)), (r"u \ge 1", ()),
        (r"\exists r>0:\ v < r", ()), (r"\exists b:\ b \le 1", ()),
    ]  # fmt: skip


SET_DEFINITIONS = [
    r"S = \{x: x \ge 0\}",
    r"K = [-1,1]^2",
    r"V = \mathbb{R}^d",
    r"Z := \{z_1, z_2\}_{i=1}^n",
    r"\Omega = \operatorname{int}(\operatorname{dom}(f))",
]


@pytest.mark.parametrize("formula", SET_DEFINITIONS)
def test_definitions_of_sets_compare_no_numbers(formula: str, tmp_path: Path) -> None:
    reader = read(tmp_path / "a.tex", f"Let ${formula}$.")
    assert (rows(reader), reader.counts.read, len(reader.settings)) == ([], 1, 1)


@pytest.mark.parametrize(
    "formula", [r"X = \mathbb{E}[Y]", r"L = \mathcal{L}(x)", r"A = (x, y)", r"Y = \{x + y\} c"]
)
def test_what_is_no_set_is_none(formula: str, tmp_path: Path) -> None:
    assert read(tmp_path / "a.tex", f"We have ${formula}$.").settings == []


def test_remarks_are_claims_with_a_question(tmp_path: Path) -> None:
    source = (
        r"\begin{align} x &\le y && \text{(because $z \ge 1$, $a = (b+c)$)} \\ "
        r"&\le w \text{ for all $k > 2$ (as $f=g$).} \end{align}"
    )
    reader = read(tmp_path / "a.tex", source)
    asked = [
        row.latex
        for s in reader.sections
        for row in s.rows
        if "is this claimed, in a remark?" in row.questions
    ]
    assert asked == [r"z \ge 1", "a = (b+c)", "f = g"]
    assert [row[1:] for row in rows(reader)][-2:] == [(r"x \le y", ("k > 2",)), (r"y \le w", ("k > 2",))]


def test_what_there_is_has_the_bounds_that_are_said(tmp_path: Path) -> None:
    reader = read(tmp_path / "a.tex", "We have $r < q$ for some $q > 4$. We have $r < p$ for some $p$.")
    (section,) = reader.sections
    assert reader.declared(section, section.rows[0], "q") == ("real", "")
    assert reader.declared(section, section.rows[1], "p") == ("[0, 1]", "by its name")


def test_a_letter_that_exists_is_asked_about_later(tmp_path: Path) -> None:
    source = "There exists $C > 1$ for which $a \\le C b$.\nHence $u \\le C v$ and $u \\le v$."
    (section,) = read(tmp_path / "a.tex", source).sections
    asked = [
        row.latex for row in section.rows if "is $C$ any number here, or one that there is?" in row.questions
    ]
    assert asked == [r"u \le C v"]


def test_a_range_bounds_an_index_and_not_its_name(tmp_path: Path) -> None:
    reader = read(
        tmp_path / "a.tex", r"We have $a_i \le i$ for $i = 0, \dots, n$. Hence $k \in \{0, \dots, m\}$."
    )
    (section,) = reader.sections
    declared = [reader.declared(section, row, v) for row, v in zip(section.rows, "ik", strict=True)]
    assert declared == [("integer", "by its name")] * 2


def test_steps_and_settings_claim_nothing(tmp_path: Path) -> None:
    source = r"\begin{algorithm} Set $x = y + 1$. \end{algorithm} \begin{figure} Here $z > 2$. \end{figure} $y > 3$."
    reader = read(tmp_path / "a.tex", source)
    assert [row[1] for row in rows(reader)] == ["y > 3"]
    assert [(latex, place) for _, _, latex, place in reader.settings] == [
        ("x = y + 1", "an algorithm"), ("z > 2", "a figure"),
    ]  # fmt: skip
    assert (reader.counts.relations, reader.counts.refused) == (3, 0)


def test_flags_of_a_paper_decide_its_conditions(tmp_path: Path) -> None:
    source = (
        r"\newif\iflong \newif\ifanon \longtrue \iflong We have $x > 1$. \else We have $x > 2$. \fi "
        r"\ifanon We have $x > 3$. \fi \ifx\a\b \anontrue \fi \ifanon We have $x > 4$. \fi \longfalse "
        r"\iflong We have $x > 5$. \ifanon \else \fi \fi We have $x > 6$."
    )
    reader = read(tmp_path / "a.tex", source)
    assert [row[1] for row in rows(reader)] == ["x > 1", "x > 6"]
    assert [(latex, "condition of TeX" in why) for *_, latex, why in reader.refusals] == [("x > 4", True)]


def test_a_package_is_no_text_of_the_paper(tmp_path: Path) -> None:
    """Conditions of a style are its own; of its macros, those that set pages are not taken."""
    (tmp_path / "conf.sty").write_text(
        r"\ifx\a\b \newcommand{\eps}{\varepsilon} \def\section{\@startsection\if x} $x < 0$ "
        r"\renewenvironment{align}{\lines\csname x\endcsname}{\csname y\endcsname} { \newcommand{\R}{R}"
    )
    reader = read(
        tmp_path / "a.tex",
        r"\usepackage{conf} \section{One} We have $\eps > 0$ and $\R > 0$. \begin{align}x<1\end{align}",
    )
    assert [row[1] for row in rows(reader)] == [r"\varepsilon > 0", "x < 1"]


def test_a_list_of_conditions_before_then(tmp_path: Path) -> None:
    """One that is not read is asked about."""
    source = r"If $a > 1$, $b > 2$, and $c > 3$, then $d > 4$. If $x > 5$, $y > 6$. If $e + x \le 1$, then $y > 7$."
    reader = read(tmp_path / "a.tex", source)
    assert reader.sections[0].rows[-1].questions == [
        "does it hold without the condition $e + x \\le 1$, which is not read?"
    ]
    assert [row[1:] for row in rows(reader)] == [
        ("d > 4", ("a > 1", "b > 2", "c > 3")), ("y > 6", ("x > 5",)), ("y > 7", ()),
    ]  # fmt: skip


def test_definitions_are_no_claims(tmp_path: Path) -> None:
    source = r"\begin{definition} A map is private if $a \le b$. We have \[ c \le d. \] \end{definition}"
    reader = read(tmp_path / "a.tex", source)
    assert (rows(reader), reader.counts.refused) == ([], 0)


def test_what_formulas_of_pages_do_not_have_is_counted(tmp_path: Path) -> None:
    reader = read(
        tmp_path / "a.tex", r"We have $a \approx b =_p c \le d$, $\|x\| < \infty$ and $B \preceq 2A$."
    )
    kinds = ("approximations", "signs with a script", "infinity as a value", "orders of matrices")
    assert (reader.outside, reader.counts.refused) == (dict.fromkeys(kinds, 1), 4)


def test_a_folder_of_pages(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, out = (HERE / "conference.tex").read_text(encoding="utf-8"), tmp_path / "paper"
    (tmp_path / "conference.tex").write_text(
        source.replace(r"By Theorem~\ref{thm:amp}, s", "S"), encoding="utf-8"
    )
    assert call("import", str(tmp_path / "conference.tex"), "--out", str(out), "--json", "-") == 0
    counts = json.loads(capsys.readouterr().out)
    assert counts["relations"] == counts["read"] + counts["guessed"] + counts["refused"]
    assert (counts["pages"], counts["questions"]) == (["amplification.md"], 14)
    questions = (out / "import" / "questions.md").read_text(encoding="utf-8")
    assert "1. Is log the natural logarithm? [conference.thm-amp/line-20]" in questions
    assert "Is $n > 1$ a condition of this?" in questions
    assert r"- conference.tex, line 38: `n \le 1`: its sentence says" in questions
    marks = provenances(out)
    assert marks["line-20"] is marks["line-39"] is marks["line-41"] is Provenance.GUESSED
    assert marks["line-26"] is marks["line-34-2"] is Provenance.PARTIAL
    assert accept(out) == 16
    assert set(provenances(out).values()) == {Provenance.PARTIAL}
    assert accept(out, whole=True) == 0
    assert set(provenances(out).values()) == {Provenance.VERBATIM}
    assert call("import", str(tmp_path / "conference.tex"), "--out", str(out)) == 2
    assert call("import", str(tmp_path / "conference.tex")) == 2
    assert call("import", str(out)) == 2
    assert "a folder that does not exist yet, or is empty" in capsys.readouterr().err


def provenances(folder: Path) -> dict[str, Provenance]:
    """Where the lines of a folder's formulas come from, by name."""
    return {row.name: row.provenance for s in read_pages(folder).statements for row in s.printed}


def test_no_verdict_under_a_guess(tmp_path: Path) -> None:
    source = (
        r"\begin{theorem} Let $x \ge 1$. Then $x + y \ge y$, and $x \ge 2$, and $x^2 \ge 1$. \end{theorem}"
    )
    (tmp_path / "t.tex").write_text(source, encoding="utf-8")
    import_paper(tmp_path / "t.tex", tmp_path / "out")
    before, after = [], []
    for kept in (before, after):
        (statement,) = read_pages(tmp_path / "out").statements
        for row in statement.printed:
            (found, *_) = (record.evidence for record in answered(statement, Variant.PRINTED, row))
            kept.append((found.verdict, found.gap))
        accept(tmp_path / "out")
    wrong, proved = (Verdict.UNDECIDED, Gap.PARTIAL), (Verdict.PROVED, None)
    assert before == [(Verdict.UNDECIDED, Gap.GUESSED), wrong, proved]  # nothing is said of y
    assert after == [proved, wrong, proved]


UNITS = {
    r"Let $L$ be the Lipschitz constant of the loss.": {"L": "loss / length"},
    r"Let $L$ be the Lipschitz constant of the gradient.": {"L": "loss / length^2"},
    r"Let $L$ be the Lipschitz constant of the link.": {"L": "unknown"},
    r"Let $b$ be the largest norm of a gradient.": {"b": "loss / length"},
    r"Let $v$ be the variance of the gradients.": {"v": "loss^2 / length^2"},
    r"Let $b$ be a bound.": {"b": "unknown"},
    r"Let $z$ be the squared distance.": {"z": "unknown"},
    r"We take a ball of radius $r$ and step size $x$.": {"r": "length", "x": "length^2 / loss"},
    r"\begin{lemma} Let $r \le 1$ be the radius. \end{lemma}": {"r": ""},  # what is compared with 1 is a number
    r"Let $z$ be the number of records, $k$ the number of steps.": {"z": "record count", "k": ""},
    r"Let $h > 0$ be the diameter. Let $s$ be the noise scale of a query with sensitivity $h$.":
        {"h": "length", "s": "length"},
    r"Let $s$ be the noise scale of a query with sensitivity $h$.": {"h": "unknown", "s": "unknown"},
    r"Let $s$ be the standard deviation of the noise. Let $h$ be the sensitivity of the gradient.":
        {"h": "loss / length", "s": "loss / length"},
}  # fmt: skip
"""Sentences, and the units of letters that they introduce."""


@pytest.mark.parametrize("sentence", UNITS)
def test_units_by_what_letters_are_called(sentence: str, tmp_path: Path) -> None:
    reader = read(tmp_path / "a.tex", sentence)
    section = reader.sections[-1]
    found = {v: reader.unit(section, v, *reader.domain(section, v)) for v in UNITS[sentence]}
    assert {v: unit for v, (unit, _) in found.items()} == UNITS[sentence]
    assert all(bool(why) == ("l" in unit) for unit, why in found.values())  # numbers and counts need no guess


def test_units_are_compared_where_all_are_known_and_accepted(tmp_path: Path) -> None:
    source = (
        r"\begin{theorem} Let $L > 0$ be the Lipschitz constant of the loss, $D > 0$ be the diameter of the set. "
        r"Then $LD + D \ge D$, $LD \ge -LD$, and $xL + x^2 \ge xL$. \end{theorem}"
    )
    (tmp_path / "t.tex").write_text(source, encoding="utf-8")
    import_paper(tmp_path / "t.tex", tmp_path / "out")
    questions = (tmp_path / "out" / "import" / "questions.md").read_text(encoding="utf-8")
    assert "Is $`D`$ in the unit length? (it is called a diameter of the set)" in questions
    assert "In which unit is $`x`$? Without it, units are not compared. [t.theorem/line-1-3]" in questions
    found = []
    for _ in range(2):
        (statement,) = read_pages(tmp_path / "out").statements
        evidence = [
            [record.evidence for record in answered(statement, Variant.PRINTED, row)]
            for row in statement.printed
        ]
        found.append([[(e.verdict, e.gap) for e in one if e.coverage is Coverage.UNIT] for one in evidence])
        accept(tmp_path / "out", whole=True)
    guessed = [(Verdict.UNDECIDED, Gap.GUESSED)]
    assert found == [[guessed, guessed, []], [[(Verdict.REFUTED, None)], [(Verdict.PROVED, None)], []]]


def test_a_statement_of_terms_alone(tmp_path: Path) -> None:
    source = r"\begin{claim} We have $\Pr[A] \le \Pr[B]$. \end{claim} \begin{claim} We have $x \le x + 1$. \end{claim}"
    (tmp_path / "t.tex").write_text(source, encoding="utf-8")
    found = import_paper(tmp_path / "t.tex", tmp_path / "out")
    assert (found.statements, found.counts.refused) == (2, 0)
    assert [len(s.printed) for s in read_pages(tmp_path / "out").statements] == [1, 1]


def test_three_commands_to_a_letter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], thorough: bool
) -> None:
    """What docs/importing.md says, on a paper with a false display; the first command alone in a short run."""
    page = (HERE.parents[2] / "docs" / "importing.md").read_text(encoding="utf-8")
    commands = re.findall(r"^dpverify (.*?)\s*#", page.split("```")[1], re.MULTILINE)
    assert [command.split()[0] for command in commands] == ["import", "verify", "findings"]
    monkeypatch.chdir(tmp_path)
    source = r"\begin{lemma} Let $x \ge 1$. Then $x^2 \ge x$, and $x^2 \ge 2$. \end{lemma}"
    Path("paper.tex").write_text(source, encoding="utf-8")
    for command in commands if thorough else commands[:1]:
        capsys.readouterr()
        assert call(*command.split()) == 0
    assert set(provenances(Path("paper")).values()) == {Provenance.VERBATIM}
    if not thorough:
        return
    letter = capsys.readouterr().out
    assert "paper.tex, line 1" in letter
    assert r"x^2 \ge 2" in letter
    assert "at $x=1$" in letter
    assert r"x^2 \ge x" not in letter
    assert Path("build/verify/report.html").is_file()


@pytest.mark.parametrize("name", ["paper.pdf", "nothing.tex"])
def test_bad_input(name: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidArgumentError, match="source"):
        import_paper(tmp_path / name, tmp_path / "out")


def test_marks_of_letters(tmp_path: Path) -> None:
    """Letters that are guessed, of all pages, of a page, of a display, and what stands for a formula of one."""
    (tmp_path / "letters.md").write_text(
        "| letter | domain | guessed |\n|-|-|-|\n| $a$ | real | yes |\n| $b$ | real | |\n"
    )
    (tmp_path / "p.md").write_text(
        "| letter | domain | stands for | guessed |\n|-|-|-|-|\n| $c$ | real | | domain |\n| $s$ | real | $c+1$ | |\n\n"
        "`of-all`:\n$$a\\le a+1$$\n\n`none`:\n$$b\\le b+1$$\n\n`of-it`:\n$$c\\le c+1$$\n\n`formula`:\n$$s\\le s+1$$\n\n"
        "`in-the-condition` (step; given $c\\le b$):\n$$b\\le b+1$$\n\n`here`:\n$$b\\le d+b$$\n\n"
        "| letter here | domain | guessed |\n|-|-|-|\n| $d$ | > 0 | domain |\n"
    )
    marks = provenances(tmp_path)
    assert marks.pop("none") is Provenance.VERBATIM
    assert set(marks.values()) == {Provenance.GUESSED}
    assert len(marks) == 5


def test_an_environment_of_a_paper(tmp_path: Path) -> None:
    """With its arguments, where it is used; beside it a footnote, and a display that goes on from another."""
    source = (
        r"\newenvironment{odd}[n]{}{} "
        r"\newenvironment{when}[1]{If $x > #1$, then}{holds.} \begin{when}{2} $y > 3$ \end{when} "
        r"We see\footnote{Here $z > 4$.} that \[ u = 5 \] \[ \le 6. \] \[ v > 7 \text{ (and} w > 8 \text{).} \]"
    )
    reader = read(tmp_path / "a.tex", source)
    assert [row[1:] for row in rows(reader)] == [
        ("y > 3", ("x > 2",)), ("u = 5", ()), (r"5 \le 6", ()), ("v > 7", ()), ("w > 8", ()), ("z > 4", ()),
    ]  # fmt: skip
    assert reader.refusals == []


def test_bounds_in_scripts_are_none_of_the_letter() -> None:
    assert facts_of("x_{i<j}>0", 1) is None
    assert facts_of("0<x", 1) == {"x": LetterFact("> 0", 1)}
