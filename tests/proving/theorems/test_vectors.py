"""Vectors in theorems: what arithmetic and types accept of them, what words of optimization stand for, and faults."""

from __future__ import annotations

import pytest

from dpverify.errors import InvalidArgumentError
from dpverify.proving.checker.theorems import steps
from dpverify.proving.checker.theorems.arithmetic import entail
from dpverify.proving.checker.theorems.language import Scope, nodes, put, typed
from dpverify.proving.checker.theorems.models import show
from dpverify.proving.theorems.letters import Alphabet
from dpverify.proving.theorems.notation import TheoremReader
from dpverify.proving.theorems.search import find_model
from dpverify.proving.theorems.signs import signs_of
from dpverify.statements.theorems.library import FOLDER, derive, shipped
from dpverify.statements.theorems.pages import read_theorems

from .clauses import look
from .tampering import Tampering

LETTERS = r"""
# A page

## Anything {#mine.anything}

| letter | kind |
| --- | --- |
| $V$ | Euclidean space |
| $W$ | Euclidean space |
| $u$ | point of $V$ |
| $v$ | point of $V$ |
| $w$ | point of $V$ |
| $x$ | point of $W$ |
| $F$ | function of $V$ to $V$ |
| $f$ | function of $V$ |
| $n$ | real |

Then:
$$0\le 1$$
"""


@pytest.fixture(scope="module")
def reader(tmp_path_factory) -> TheoremReader:
    page = tmp_path_factory.mktemp("pages") / "mine.md"
    page.write_text(LETTERS, encoding="utf-8")
    return TheoremReader(read_theorems(page)[0].alphabet)


def follows(reader: TheoremReader, claim: str, *facts: str) -> bool:
    """Whether the checker's arithmetic gives a claim, and with each of its ways to see inner products."""
    known = [put(reader.formula(signs_of(one)), {}) for one in facts]
    wanted = put(reader.formula(signs_of(claim)), {})
    try:
        entail(reader.scope, known, wanted, None, None, frozenset(), 400_000)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize(
    ("claim", "facts"),
    [
        (r"\|u+v\|^2+\|u-v\|^2=2\|u\|^2+2\|v\|^2", ()),
        (r"2\langle u,v\rangle\le\|u\|^2+\|v\|^2+\|u-v\|^2", ()),
        (r"\langle u-v,w\rangle=-\langle w,v\rangle+\langle w,u\rangle", ()),
        (r"\|3u-3v\|=3\|v-u\|", ()),
        (r"\|F(u)\|^2=\langle F(u),F(u)\rangle", ()),
        (r"0\le\|u-nv\|", ()),
        (r"u+v=v+u", ()),
        (r"\|u\|=\|v\|", (r"\|u\|^2=\|v\|^2",)),
        (r"\|u\|\le n", (r"\|u\|^2\le n^2", r"0\le n")),
        (r"0\le\left\|\frac{1}{n}u\right\|^2", (r"0<n",)),
    ],
)
def test_arithmetic_multiplies_out(reader, claim, facts):
    assert follows(reader, claim, *facts)


@pytest.mark.parametrize(
    "claim",
    [
        r"\|u+v\|^2=\|u\|^2+\|v\|^2",
        r"0\le\langle u,v\rangle",
        r"\|3u\|=\|u\|",
        r"\|u-v\|=\|u+v\|",
        r"\|nu\|=n\|u\|",
        r"\langle F(u),v\rangle=\langle u,F(v)\rangle",
        r"u=v",
        r"0<\|u\|",
    ],
)
def test_what_is_false_of_vectors_does_not_follow(reader, claim):
    assert not follows(reader, claim)


@pytest.mark.parametrize(
    "claim",
    [
        r"0\le\left\|\frac{1}{n}u\right\|^2",
        r"0\le\left\|\frac{1}{n}u\right\|",
        r"\left\langle\frac{1}{n}u,v\right\rangle=\left\langle u,\frac{1}{n}v\right\rangle",
        r"\frac{1}{n}u=\frac{1}{n}u",
        r"0\cdot\frac{1}{n}u=0u",
        r"\left\|F\left(\frac{1}{n}u\right)\right\|=\left\|F\left(\frac{1}{n}u\right)\right\|",
        r"\left\|F\left(\frac{1}{n}u\right)-F\left(\frac{1}{n}u\right)\right\|=0",
    ],
)
def test_a_vector_over_what_may_be_zero_has_no_value(reader, claim):
    """Where n is not 0, each of these is true; where it may be 0, none follows."""
    assert follows(reader, claim, r"0<n")
    assert not follows(reader, claim)


@pytest.mark.parametrize(
    "term",
    [
        ["add", ["sym", "u"], ["sym", "x"]],
        ["add", ["sym", "u"], ["num", "1"]],
        ["mul", ["sym", "u"], ["sym", "v"]],
        ["inner", ["sym", "u"], ["sym", "x"]],
        ["inner", ["sym", "u"], ["num", "1"]],
        ["inner", ["sym", "u"], ["sym", "v"], ["<", ["num", "0"], ["num", "1"]]],
        ["norm", ["<", ["num", "0"], ["num", "1"]]],
        ["normal", ["num", "1"], ["sym", "u"]],
        ["max", ["sym", "u"], ["sym", "v"]],
        ["<=", ["sym", "u"], ["sym", "v"]],
        ["exp", ["sym", "u"]],
    ],
)
def test_vectors_have_types(reader, term):
    with pytest.raises(ValueError, match=r"of|compared"):
        reader.scope.type_of(put(nodes(term), {}))


@pytest.mark.parametrize(("kind", "right"), [("V", True), ("real", True), ("integer", False), ("T", False)])
def test_a_clause_about_a_space_is_used_of_spaces_and_of_the_line(kind, right):
    body = ["all", [["u", [], "V"]], [], ["<=", ["num", "0"], ["norm", ["sym", "u"]]]]
    clause = steps.Clause.read({"types": [["V", "space"]], "body": body})
    scope = Scope({"V": "space", "T": "any"}, {"a": ((), kind)})
    step = {"step": "use", "of": "r", "types": {"V": kind}, "put": [[[], ["sym", "a"]]], "from": []}
    state = steps.ProofState(scope, [], {"r": clause})
    if right:
        state.take(step)
    else:
        with pytest.raises(ValueError, match="is not space"):
            state.take(step)


@pytest.mark.parametrize(
    ("said", "means"),
    [
        (r"f\text{ is }2\text{-Lipschitz}", r"\forall u\in V, v\in V:\ |f(u)-f(v)|\le 2\|u-v\|"),
        (
            r"f\text{ is convex with subgradient }F",
            r"\forall u\in V, v\in V:\ f(u)+\langle F(u),v-u\rangle\le f(v)",
        ),
        (
            r"f\text{ is }n\text{-smooth with gradient }F",
            r"\forall u\in V, v\in V:\ f(v)\le f(u)+\langle F(u),v-u\rangle+\frac{n}{2}\|v-u\|^2",
        ),
        (
            r"\left(f(\cdot)-2f(\cdot)\right)\text{ is }n\text{-Lipschitz}",
            r"\forall u\in V, v\in V:\ |(f(u)-2f(u))-(f(v)-2f(v))|\le n\|u-v\|",
        ),
        (r"w\text{ minimizes }f", r"\forall u\in V:\ f(w)\le f(u)"),
    ],
)
def test_words_are_formulas(reader, said, means):
    reader = one_space(reader)
    assert put(reader.formula(signs_of(said)), {}) == put(reader.formula(signs_of(means)), {})


def one_space(reader: TheoremReader) -> TheoremReader:
    types = {latex: one for latex, one in reader.alphabet.types.items() if one[0] == "V"}
    letters = {latex: one for latex, one in reader.alphabet.letters.items() if one.kind != "W"}
    return TheoremReader(Alphabet(types, letters))


def test_words_need_one_space(reader):
    with pytest.raises(InvalidArgumentError, match="one Euclidean space"):
        reader.formula(signs_of(r"w\text{ minimizes }f"))


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "id_", ["theorem.noisy-point-integrable", "theorem.cauchy-schwarz-squares", "theorem.risk-convex"]
)
def test_a_fault_in_any_step_about_vectors_is_refused(id_, monkeypatch):
    found = derive(shipped()[id_])
    assert steps.show(found.certificate) == "derived"
    monkeypatch.setattr(steps, "ProofState", Tampering)
    before = Tampering.refused
    assert steps.show(found.certificate) == "derived"
    assert Tampering.refused > before + 5


WRONG = {
    "theorem.descent": (r"\frac{\beta\eta^2}{2}", r"\frac{\beta\eta^2}{4}"),
    "theorem.strong-step": (r"(1-\eta\mu)", r"(1-3\eta\mu)"),
    "theorem.gradient-step": (r"\eta\le\frac{2}{\beta}", r"\eta\le\frac{3}{\beta}"),
    "theorem.vector-triangle": (r"\|u\|+\|v\|$$", r"\|u\|+\frac{1}{2}\|v\|$$"),
}


@pytest.mark.parametrize("id_", WRONG)
def test_a_wrong_factor_has_an_instance(id_, tmp_path):
    """On the line; what is claimed rightly has none that a short search finds."""
    text = next(p for p in FOLDER.glob("opt*.md") if f"{{#{id_}}}" in p.read_text()).read_text()
    section = "## " + next(part for part in text.split("\n## ") if f"{{#{id_}}}" in part)
    old, new = WRONG[id_]
    assert old in section
    page = tmp_path / "wrong.md"
    page.write_text(section.replace(old, new), encoding="utf-8")
    (wrong,) = read_theorems(page)
    model = find_model(wrong.clause, refute=True).model
    assert model is not None
    show(wrong.clause, model, refute=True)
    with pytest.raises(ValueError, match="not seen to be"):
        show(shipped()[id_].clause, model, refute=True)


@pytest.mark.parametrize("id_", ["theorem.noisy-step", "theorem.projected-step", "theorem.risk-neighbors"])
def test_what_is_assumed_can_hold_on_the_line(id_):
    clause = shipped()[id_].clause
    show(clause, find_model(clause, refute=False).model, refute=False)


@pytest.mark.parametrize(("parts", "seen"), [([1, 1], 1), ([1, 0], -1)])
def test_a_number_on_either_side_of_a_step_is_looked_at(parts, seen):
    """For all whole numbers k, what r is at k is a."""
    claim = ["all", [["k", [], "integer"]], [], ["==", ["of", "r", ["sym", "k"]], ["sym", "a"]]]
    body = ["all", [["r", ["integer"], "Z"], ["a", [], "Z"]], [], claim]
    clause = steps.Clause.read({"types": [["Z", "finite"]], "body": body})
    model = {"types": {"Z": 2}, "neighbors": {}, "letters": [{"below": ["1/2"], "then": parts}, 1]}
    assert look(clause, model).claim == seen


def test_the_line_is_a_space():
    """Vectors are numbers there; a model that gives a space points is none."""
    body = ["all", [["u", [], "V"]], [], ["<=", ["norm", ["sym", "u"]], ["num", "2"]]]
    clause = steps.Clause.read({"types": [["V", "space"]], "body": body})
    assert look(clause, {"types": {}, "neighbors": {}, "letters": ["-3"]}).claim == -1
    assert look(clause, {"types": {}, "neighbors": {}, "letters": ["-2"]}).claim == 1
    with pytest.raises(ValueError, match="types"):
        look(clause, {"types": {"V": 2}, "neighbors": {}, "letters": [1]})


def test_the_ends_of_an_interval_are_not_names_of_types() -> None:
    assert typed(("between", "1", "n"), {"1": "5", "n": "7"}) == ("between", "1", "n")
    assert typed(("fun", "n"), {"n": "7"}) == ("fun", "7")
