"""Witnesses of theorems that come with the program: what is found is true, and with one wrong value it is not."""

from __future__ import annotations

import copy
from functools import cache

import pytest

from dpverify.proving.checker.theorems.models import show
from dpverify.proving.theorems.model_words import model_in_words
from dpverify.proving.theorems.search import Effort, find_model
from dpverify.statements.theorems.library import shipped

from .clauses import Json, clause

POINT: Json = {"params": [], "term": ["certain", ["num", "1/2"]]}
WRONG: dict[str, list[tuple[str, Json]]] = {
    "theorem.group": [("varepsilon", "-1")],
    "theorem.concentrated-k-fold": [("g", [0, 0, 0, 0]), ("rho", "-1")],
    "theorem.advanced-composition": [("delta", "1"), ("varepsilon", "0")],
    "theorem.noisy-max": [("Delta", "50"), ("Delta", "0"), ("Z", POINT), ("o", ["1", "1"])],
    "theorem.noisy-max-exponential": [
        ("varepsilon", "0"),
        ("N", {"independent": ["exponential", ["num", "1/7"]]}),
    ],
    "theorem.noisy-max-laplace": [("N", {"independent": ["laplace", ["num", "0"], ["num", "1/7"]]})],
    "theorem.sparse-vector": [
        ("n", "-1"),
        ("v", "write"),
        ("N", {"independent": ["laplace", ["num", "0"], ["num", "9"]]}),
    ],
    "theorem.sparse-vector-answers": [("n", "-1"), ("v", "write"), ("varepsilon", "0"), ("c", "1/7")],
    "theorem.permute-and-flip": [("K", "3"), ("c", "-1"), ("Delta", "-1")],
    "lemma.function-ratio": [("c", "0"), ("f", {"params": ["x"], "term": ["num", "2"]})],
    "lemma.largest-score": [("K", "0"), ("g", "-99")],
    "lemma.scaled-chain": [("p", "0"), ("c", "1/7")],
    "lemma.uniform-switched": [("f", {"params": ["x"], "term": ["log", ["sym", "x"]]})],
}
"""Of theorems about sequences of noises, whole numbers or all events: letters with wrong values."""


@cache
def witness(id_: str) -> Json:
    """The model that is found."""
    return find_model(shipped()[id_].clause, refute=False).model


@pytest.mark.one_in(2)
@pytest.mark.parametrize("id_", WRONG)
def test_a_witness_with_a_wrong_value_is_refused(id_: str) -> None:
    """What is found is confirmed; the same with another value of one letter is not."""
    one = shipped()[id_]
    model = witness(id_)
    show(one.clause, model, refute=False)
    for name, value in WRONG[id_]:
        wrong = copy.deepcopy(model)
        wrong["letters"][one.names.index(name)] = value
        with pytest.raises(ValueError, match=r"in the model|argument|no letter"):
            show(one.clause, wrong, refute=False)


NOISES = "(z (W R) real) (s (W R real) W) (N (law W)) (b real)"
READS = "(all ((w W) (r R) (x real)) () (== (z (s w r x) r) x)) (< 0 b)"
SHIFTS = "(all ((A (real) formula)) () (<= (chance (x real) Q (A (+ x 1))) (* c (chance (x real) Q (A x)))))"
IMPOSSIBLE = {
    "places that all change": ("W:any R:finite", NOISES,
                               f"{READS} (all ((w W) (r R) (x real) (t R)) () (== (z (s w r x) t) x))"),
    "noises that are equal": ("W:any R:finite", NOISES, f"{READS} (all ((w W) (r R) (t R)) () (== (z w r) (z w t)))"),
    "less likely than itself": ("", "(Q (law real)) (c real)", f"{SHIFTS} (<= c 1/2)"),
    "bounded and shifted": ("", "(Q (law real)) (c real)", f"{SHIFTS} (== (chance (x real) Q (<= x 5)) 1)"),
    "no neighbors": ("D:data", "(G (integer) D)",
                     "(all ((n integer)) () (neighbors (G n) (G (+ n 1)))) (not (neighbors (G 0) (G 1)))"),
    "growing for ever": ("", "(g (integer) real) (a real)",
                         "(all ((n integer)) () (<= (g n) a)) (all ((n integer)) () (<= (+ 1 (g n)) (g (+ n 1))))"),
}  # fmt: skip


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_what_contradicts_itself_has_no_witness(name: str) -> None:
    """Nothing that is found is confirmed."""
    types, letters, premises = IMPOSSIBLE[name]
    found = find_model(clause(types, letters, premises, "(<= 0 1)"), refute=False, effort=Effort(200, 3))
    assert found.model is None


FALSE = {
    "a shift by more": (
        "", "(b real) (c real)", "(< 0 b) (< 0 c)",
        "(all ((A (real) formula)) () (<= (chance (x real) (laplace 0 b) (A (+ x c)))"
        " (* (exp (/ c (* 2 b))) (chance (x real) (laplace 0 b) (A x)))))",
    ),
    "a step less": (
        "D:data T:any", "(M (D) (law T)) (e real) (G (integer) D) (k integer) (S (T) formula)",
        "(<= 0 k) (private (x D) (M x) e 0) (all ((n integer)) () (neighbors (G n) (G (+ n 1))))",
        "(<= (chance (t T) (M (G 0)) (S t)) (* (exp (* (- k 1) e)) (chance (t T) (M (G k)) (S t))))",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FALSE)
def test_what_is_said_of_events_and_whole_numbers_is_refuted(name: str) -> None:
    """By half lines, and by data sets that change from one number to the next."""
    whole = clause(*FALSE[name])
    show(whole, find_model(whole, refute=True).model, refute=True)


def test_a_model_in_words() -> None:
    """Types, then each letter."""
    one = shipped()["theorem.sparse-vector"]
    model = witness("theorem.sparse-vector")
    words = model_in_words(one.clause, one.names, model)
    assert words[0] == "D: 2 data sets, neighbors are all; W: sequences of a number for each whole number"
    assert words[2:5] == [
        "v(x0, x1) = the number of x0 at x1",
        "s(x0, x1, x2) = x0 with x2 in place of that at x1",
        "N ~ independent Lap(0, (4*Delta)/epsilon)",
    ]
    assert words[7].startswith("a(x0, x1, x2) = the first value with ((0 <= value) and (value <= n)) and ")
