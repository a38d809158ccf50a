"""The checker of theorems: what is right is confirmed, and a fault in any step is refused."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from functools import cache

import pytest

from dpverify.proving.checker import check
from dpverify.proving.checker.theorems.language import Scope, nodes, put
from dpverify.statements.theorems.library import derive, shipped

X = ["sym", "x"]
SMALL = ("theorem.group", "theorem.functions", "theorem.laplace", "theorem.renyi-to-approximate")


@cache
def certificate(id_: str) -> dict:
    found = derive(shipped()[id_])
    assert found.derived, [step.reason for step in found.steps]
    return found.certificate


def confirmed(value: object) -> bool:
    return check(value).confirmed


@pytest.mark.parametrize("id_", SMALL)
def test_it_is_confirmed(id_):
    assert confirmed(certificate(id_))


def step_paths(steps: list, before: tuple = ()) -> Iterator[tuple]:
    for k, step in enumerate(steps):
        yield (*before, k)
        if step["step"] == "block":
            yield from step_paths(step["steps"], (*before, k, "steps"))


def at(value: dict, path: tuple) -> dict:
    found = value["steps"]
    for key in path:
        found = found[key]
    return found


def faults(step: dict) -> Iterator[tuple[str, dict]]:
    """What may be wrong with a step: each must be refused."""
    if step["step"] == "use":
        if step["from"]:
            yield "a premise less", {**step, "from": step["from"][:-1]}
            yield "another fact", {**step, "from": [*step["from"][:-1], step["from"][-1] + 10_000]}
        yield "another clause", {**step, "of": "rule.no-such"}
        if step["put"]:
            yield "a letter less", {**step, "put": step["put"][:-1]}
    if step["step"] == "arithmetic":
        yield "a claim that is false", {**step, "claim": ["<", ["num", "1"], ["num", "0"]]}
    if step["step"] == "equal":
        yield "another equation", {**step, "by": step["fact"]}
    if step["step"] == "block":
        yield "no steps", {**step, "steps": []}
        yield (
            "a letter less",
            {**step, "letters": step["letters"][:-1]} if step["letters"] else {**step, "steps": []},
        )
    yield "another kind", {**step, "step": "trust"}


@pytest.mark.parametrize("id_", SMALL[:2])
def test_a_fault_in_any_step_is_refused(id_):
    """Every step of the certificate, with every fault: none passes."""
    whole = certificate(id_)
    for path in step_paths(whole["steps"]):
        for name, wrong in faults(at(whole, path)):
            faulty = copy.deepcopy(whole)
            at(faulty, path[:-1])[path[-1]] = wrong
            assert not confirmed(faulty), (path, name)


def test_a_stronger_claim_is_refused():
    whole = copy.deepcopy(certificate("theorem.laplace"))
    claim = whole["clause"]["body"][3]
    assert claim[0] == "private"
    claim[3] = ["mul", claim[3], ["num", "1/2"]]
    assert not confirmed(whole)


def test_a_weaker_library_is_refused():
    """A rule without one of the things that it assumes is another rule, by which the step does not follow."""
    whole = copy.deepcopy(certificate("theorem.functions"))
    whole["library"]["rule.monotone"]["body"][2].pop()
    assert not confirmed(whole)


def test_it_does_not_rest_on_itself():
    whole = copy.deepcopy(certificate("theorem.group"))
    whole["library"][whole["theorem"]] = whole["clause"]
    assert not confirmed(whole)


SCOPE = Scope({"T": "any"}, {"P": ((), ("law", "T")), "f": (("T",), "real"), "S": (("T",), "formula")})


@pytest.mark.parametrize(
    "term",
    [
        ["mean", ["x", "real"], ["sym", "P"], X],
        ["mean", ["x", "T"], ["sym", "P"], X],
        ["chance", ["x", "T"], ["sym", "P"], ["of", "f", X]],
        ["of", "f", ["num", "1"]],
        ["total", ["x", "T"], ["of", "f", X]],
        ["normal", ["num", "1"]],
        ["add", ["sym", "P"], ["num", "1"]],
        ["private", ["x", "T"], ["sym", "P"], ["num", "1"], ["num", "0"]],
        ["<=", ["sym", "P"], ["num", "1"]],
        ["sym", "Q"],
    ],
)
def test_what_has_no_type_is_refused(term):
    with pytest.raises(ValueError, match=r"of|no|that"):
        SCOPE.type_of(put(nodes(term), {}))


def test_nothing_is_captured():
    """The mean of y + z, put where y is bound and z stands for it, does not confuse the two."""
    inner = nodes(["mean", ["y", "real"], ["sym", "Q"], ["add", ["sym", "y"], ["sym", "z"]]])
    outer = nodes(["mean", ["y", "real"], ["sym", "R"], ["of", "f", ["sym", "y"]]])
    found = put(outer, {"f": (("z",), inner)})
    wanted = [
        "mean",
        ["a", "real"],
        ["sym", "R"],
        ["mean", ["b", "real"], ["sym", "Q"], ["add", ["sym", "b"], ["sym", "a"]]],
    ]
    assert found == put(nodes(wanted), {})


ONE_BELOW_ZERO = ["<", ["num", "1"], ["num", "0"]]
NO_UNIT = {"loss": "0", "length": "0"}


def of(body: list, steps: list, library: dict | None = None, types: list = ()) -> dict:
    """A certificate of a clause without letters."""
    clause = {"types": list(types), "body": body}
    return {
        "version": 1, "theorem": "x", "clause": clause, "letters": [], "library": library or {}, "steps": steps,
    }  # fmt: skip


def test_a_proof_about_units_proves_nothing():
    units = {"method": "units", "left": NO_UNIT, "right": NO_UNIT}
    for proof in (units, {"method": "conjunction", "parts": [units]}):
        step = {"step": "arithmetic", "claim": ONE_BELOW_ZERO, "from": [], "proof": proof}
        assert "about units" in check(of(["all", [], [], ONE_BELOW_ZERO], [step])).says


@pytest.mark.parametrize("name", ["real", "integer", "formula"])
def test_a_type_has_a_name_of_its_own(name):
    body = ["all", [], [], ["<", ["num", "0"], ["num", "1"]]]
    step = {"step": "arithmetic", "claim": body[3], "from": []}
    assert confirmed(of(body, [step], types=[["T", "finite"]]))
    assert not confirmed(of(body, [step], types=[[name, "finite"]]))


def test_what_is_no_clause_is_not_used():
    """The parts of another formula, here an `or` of three, are not letters, premises and a claim."""
    wrong = ["or", ["and"], ["and"], ONE_BELOW_ZERO]
    body = ["all", [], [wrong], ONE_BELOW_ZERO]
    step = {"step": "use", "of": 0, "types": {}, "put": [], "from": []}
    assert "no clause" in check(of(body, [step])).says


TERMS = ["all", [["i", [], "integer"]], [["<=", ["num", "1"], ["sym", "i"]], ["<=", ["sym", "i"], ["num", "3"]]],
         ["==", ["of", "f", ["sym", "i"]], ["of", "g", ["sym", "i"]]]]  # fmt: skip


def summed(name: str, last: str = "3") -> list:
    body = ["of", name, ["sym", "i"]]
    return ["sum", ["i", "integer"], body, ["num", "1"], ["num", last]]


def with_equal_terms(terms: list, claim: list) -> bool:
    """Whether it is confirmed that sums are the same where terms are."""
    letters = [[name, ["integer"], "real"] for name in "fg"] + [["n", [], "integer"]]
    body = ["all", letters, [terms], claim]
    itself = {"step": "arithmetic", "claim": ["==", claim[2], claim[2]], "from": []}
    step = {"step": "equal", "fact": 1, "by": 0, "in": ["==", ["sym", "hole"], claim[2]], "hole": "hole"}
    return confirmed({**of(body, [itself, step]), "letters": ["f", "g", "n"]})


def test_sums_of_equal_terms_are_equal():
    assert with_equal_terms(TERMS, ["==", summed("f"), summed("g")])


@pytest.mark.parametrize("terms", [
    [*TERMS[:2], [*TERMS[2], TERMS[3]], TERMS[3]],
    [*TERMS[:2], TERMS[2][:1], TERMS[3]],
    [*TERMS[:2], [["<", ["num", "1"], ["sym", "i"]], TERMS[2][1]], TERMS[3]],
    [*TERMS[:2], [TERMS[2][0], ["<=", ["sym", "i"], ["add", ["sym", "i"], ["num", "3"]]]], TERMS[3]],
    [*TERMS[:2], TERMS[2], ["<=", *TERMS[3][1:]]],
    ["all", [["i", [], "real"]], TERMS[2], ["==", ["sym", "i"], ["sym", "n"]]],
])  # fmt: skip
def test_sums_of_terms_that_are_equal_elsewhere_are_not(terms):
    """Fewer terms, other ends, ends that depend on the index, an inequality, and no whole numbers."""
    assert not with_equal_terms(terms, ["==", summed("f"), summed("g")])
    assert not with_equal_terms(TERMS, ["==", summed("f", "4"), summed("g", "4")])


@pytest.mark.parametrize(("first", "says"), [("1", "derived"), ("0", "perhaps undefined")])
def test_terms_of_a_sum_have_values_between_its_ends(first, says):
    inverse = ["pow", ["sym", "i"], ["num", "-1"]]
    whole = [
        "sum",
        ["i", "integer"],
        ["mul", ["of", "f", ["sym", "i"]], inverse],
        ["num", first],
        ["num", "3"],
    ]
    claim = ["==", whole, whole]
    step = {"step": "arithmetic", "claim": claim, "from": []}
    found = of(["all", [["f", ["integer"], "real"]], [], claim], [step])
    assert says in check({**found, "letters": ["f"]}).says
