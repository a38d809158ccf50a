"""A mechanism's claim as a theorem: what is assumed of neighbors, what the mechanism is, and steps to the claim."""

from __future__ import annotations

from dpverify.errors import InvalidArgumentError
from dpverify.proving.checker.theorems.language import Node, named, parts_of, put
from dpverify.proving.checker.theorems.steps import Clause
from dpverify.proving.theorems.letters import Alphabet, TheoremLetter, bounds
from dpverify.statements.mechanisms.pages import MechanismOnPage, on
from dpverify.statements.mechanisms.sensitivity import (
    DATA,
    PLACE,
    Pair,
    Step,
    bounded,
    number,
    sensitivity_steps,
)
from dpverify.statements.theorems.pages import TheoremDisplay, TheoremOnPage, as_lists


def theorem_of(mechanism: MechanismOnPage) -> TheoremOnPage:
    """A mechanism's claim with the steps that are tried.

    Raises:
        InvalidArgumentError: for a mechanism that no known theorem is about.
    """
    records = mechanism.records
    types = (*mechanism.types, (DATA, "data"))
    letters = [
        *mechanism.letters,
        TheoremLetter(records.name, records.name, (DATA, *records.arguments), "real"),
        TheoremLetter(PLACE, PLACE, (DATA, DATA), "integer"),
    ]
    premises = [*(bound for one in mechanism.letters for bound in bounds(one)), *assumed(mechanism)]
    (draw,) = mechanism.of("draw")
    law = on(mechanism, draw.term, "D")
    head, *numbers = parts_of(mechanism.of("claim")[0].term)
    claim = put((head, ("D", DATA), law, *numbers), {})
    steps = steps_of(mechanism, draw.term, tuple(numbers))
    body: Node = ("all", tuple(one.declared for one in letters), tuple(premises), claim)
    clause = Clause.read({"types": [list(one) for one in types], "body": as_lists(put(body, {}))})
    alphabet = Alphabet({(name,): (name, kind) for name, kind in types}).having(*letters)
    displays = [
        TheoremDisplay(mechanism.line, "", "assumption", formula=premise) for premise in assumed(mechanism)
    ]
    displays += [TheoremDisplay(mechanism.line, "", "step", by, (), formula) for by, formula in steps[:-1]]
    displays.append(TheoremDisplay(mechanism.line, "", "claim", steps[-1][0], (), claim))
    return TheoremOnPage(
        mechanism.id, mechanism.title, mechanism.line, "theorem", "", alphabet, clause,
        tuple(one.name for one in letters), tuple(displays),
    )  # fmt: skip


def assumed(mechanism: MechanismOnPage) -> list[Node]:
    """What holds of data sets and neighbors: bounds of records, and that all but one are the same."""
    records, pair = mechanism.records, Pair(mechanism)
    further: tuple[Node, ...] = (("r", (), records.over.kind),) if records.over else ()
    second = (("sym", "r"),) if records.over else ()
    index, place = ("sym", "i"), pair.place
    inside: tuple[Node, ...] = (("<=", number(1), index), ("<=", index, records.last))
    found = [
        pair.holds(("and", ("<=", number(1), place), ("<=", place, records.last))),
        pair.holds(
            ("==", *(("of", records.name, ("sym", data), index, *second) for data in ("D", "E"))),
            *inside, ("not", ("==", index, place)), letters=(("i", (), "integer"), *further),
        ),
    ]  # fmt: skip
    if records.low is not None or records.high is not None:
        one: Node = ("of", records.name, ("sym", "D"), index, *second)
        every = (("D", (), DATA), ("i", (), "integer"), *further)
        found.append(put(("all", every, inside, bounded(mechanism, one)), {}))
    return found


def steps_of(mechanism: MechanismOnPage, law: Node, claimed: tuple[Node, ...]) -> list[Step]:
    """Steps to the claim; the last one's formula is the claim."""
    head, *parts = parts_of(law)
    if head == "laplace":
        at, scale = parts
        bound: Node = ("mul", claimed[0], scale)
        return [*sensitivity_steps(mechanism, at, bound), (("lemma.laplace-scale",), "")]
    if head == "proportional":
        letter, weight = parts
        power = parts_of(weight)
        if power[0] != "exp":
            raise InvalidArgumentError("draw", mechanism.id, "weights `e^{...}`")
        name, kind = map(named, parts_of(letter))
        bound = ("mul", claimed[0], ("pow", number(2), number(-1)))
        return [
            *sensitivity_steps(mechanism, power[1], bound, ((name, (), kind),)),
            (("lemma.exponential-weights",), ""),
        ]
    raise InvalidArgumentError("draw", mechanism.id, "Laplace noise, or weights of candidates")
