"""Theorems about mechanisms on samples and one after another: wrong claims are not derived, faults are refused."""

from __future__ import annotations

import json

import pytest

from dpverify.proving.checker.theorems import steps
from dpverify.proving.checker.theorems.models import show
from dpverify.proving.theorems.search import definitions
from dpverify.statements.theorems.library import FOLDER, derive, shipped
from dpverify.statements.theorems.pages import read_theorems

from .clauses import look
from .tampering import Tampering

WRONG = {
    "lemma.taken-places": (r"=m\sum_{r\in R}h(r)$$", r"=(m-1)\sum_{r\in R}h(r)$$"),
    "lemma.split": (r"\le c+c'", r"\le c"),
    "lemma.two-ratios": (r"p\le yr", r"p\le r"),
}
"""n - 1 for n, one of two responses, a factor that is missing."""
TAMPERED = ("lemma.sampled-pair", "lemma.split-part", "theorem.histogram")
WITHOUT_REPLACEMENT = {
    "types": {"mathcalD": 2, "T": 2, "I": 2, "R": 2},
    "neighbors": {"mathcalD": [[i, j] for i in range(2) for j in range(2)]},
    "letters": [
        [[True, False], [False, True]],
        [[[r if i == j else 1 - r for j in range(2)] for i in range(2)] for r in range(2)],
        [[0, 1], [1, 1]],
        [[0, 0], [0, 0]],
        *("1", "2", "2", "0"),
        [["3/4", "1/4"], ["1/4", "3/4"]],
    ],
}
"""Samples of one of two records."""
HISTORIES = {
    "K": [[["3/4", "1/4"], ["1/4", "3/4"]]] * 2,
    "a": [[0, 0], [1, 1]],
    "N": {"below": [], "then": [[[["1", "0"]] * 2, [["0", "1"]] * 2]]},
    "C": {"params": ["n", "l"], "term": ["num", "1"]},
    "h": 0, "k": "0", "varepsilon": "2", "varepsilon'": "0", "j": "1",
}  # fmt: skip
"""Mechanisms of which nothing is kept; Pascal's rule is asked of no row."""


@pytest.mark.parametrize("id_", WRONG)
def test_a_wrong_claim_is_not_derived(id_, tmp_path):
    one = shipped()[id_]
    text = next(p for p in FOLDER.glob("*.md") if f"{{#{id_}}}" in p.read_text(encoding="utf-8"))
    section = next(s for s in text.read_text(encoding="utf-8").split("\n## ") if f"{{#{id_}}}" in s)
    before, _, claim = section.rpartition("\nThen")
    old, new = WRONG[id_]
    assert old in claim
    page = tmp_path / "wrong.md"
    wrong = f"## {before}\nThen{claim.replace(old, new)}".replace(f"{{#{id_}}}", "{#mine.wrong}")
    page.write_text(wrong, encoding="utf-8")
    (found,) = read_theorems(page)
    known = {name: other for name, other in shipped().items() if name != id_}
    assert not derive(found, known).derived
    assert [*one.names] == [*found.names]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("id_", TAMPERED)
def test_a_fault_in_any_step_is_refused(id_, monkeypatch):
    found = derive(shipped()[id_])
    monkeypatch.setattr(steps, "ProofState", Tampering)
    before = Tampering.refused
    assert steps.show(found.certificate) == "derived"
    assert Tampering.refused > before + 20


def test_what_is_assumed_of_sampling_without_replacement_holds_of_samples():
    clause = shipped()["theorem.sampling-without-replacement"].clause
    show(clause, WITHOUT_REPLACEMENT, refute=False)
    assert look(clause, WITHOUT_REPLACEMENT).claim == 1


@pytest.mark.parametrize(
    "id_", ["theorem.pure-k-fold", "theorem.optimal-composition", "theorem.optimal-composition-levels"]
)
def test_what_is_assumed_of_histories_can_hold(id_):
    """Delta and theta are what they are defined to be."""
    one = shipped()[id_]
    defined = definitions(one.clause)
    letters = [
        {"params": [], "term": defined[inner][1]} if inner in defined else HISTORIES[name]
        for inner, name in zip((row[0] for row in one.clause.body[1]), one.names, strict=True)
    ]
    sizes = {name: 2 for name, _ in one.clause.types}
    model = {"types": sizes, "neighbors": {"mathcalD": [[0, 1], [1, 0]]}, "letters": letters}
    show(one.clause, json.loads(json.dumps(model)), refute=False)


@pytest.mark.parametrize("k", [0, 1, 2])
def test_samples_that_are_none_are_refused(k):
    """A set of two places, an exchange that does nothing, samples that do not differ."""
    letters = [*WITHOUT_REPLACEMENT["letters"]]
    letters[k] = [[[True, True], [False, True]], [[[0, 0], [0, 0]], [[1, 1], [1, 1]]], [[0, 1], [1, 0]]][k]
    clause = shipped()["theorem.sampling-without-replacement"].clause
    with pytest.raises(ValueError, match="what is assumed"):
        show(clause, {**WITHOUT_REPLACEMENT, "letters": letters}, refute=False)
