"""Confirms certificates by other means than the provers'; docs/certificates.md is all that they share.

What a part of the checker leaves to another part it asks for here, as a statement of its own; only parts that are used
are loaded.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from threading import RLock
from types import ModuleType

from dpverify.proving.checker.reading import Theorem, fields, text
from dpverify.proving.checker.terms import demand

LOCK = RLock()  # threads share the state of cvc5 and mpmath
PARTS = {
    "counterexample": "points",
    **dict.fromkeys(("identity", "signs", "smt", "square", "monotone"), "algebra"),
    **dict.fromkeys(("sum", "binomial-sum", "conjunction"), "closed"),
    **dict.fromkeys(("gaussian-integral", "antiderivative"), "closed"),
    **{method: method for method in ("units", "boxes", "chains", "gram", "exists", "facts")},
    **{"induction": "further.induction", "quantile": "further.quantiles", "crossing": "further.crossing"},
    **dict.fromkeys(("known", "cases", "substitution"), "further.lemmas"),
}
# for the others, those within them
WITNESSED = ("algebra", "boxes", "chains", "gram", "further.induction", "further.quantiles")


@dataclass(frozen=True)
class Confirmation:
    """Whether a certificate was confirmed, and how, or why not."""

    confirmed: bool
    says: str
    by_the_clock: bool = False
    """Whether a far guard ended it, so that on a faster machine it may end otherwise."""


def part(name: str) -> ModuleType:
    """A part of the checker."""
    return import_module(f"dpverify.proving.checker.{name}")


def meet(problem: Theorem, point: object) -> None:
    """Refuse unless a point lies in the domain and all that is assumed is true there."""
    part("points").meet(problem, point)


def follow(problem: Theorem, work: int = 4_000_000) -> None:
    """Refuse unless a claim follows, by so much work, from domain and assumptions, which need not hold anywhere."""
    part("arithmetic.consequences").follow(problem, work)


def settle(problem: Theorem, proof: object, witness: object) -> str:
    """The verdict that a proof shows, and the part that found it, in words."""
    steps = fields(proof)
    method = text(steps["method"])
    demand(method in PARTS, f"the method {method} is beyond this checker")
    if PARTS[method] in WITNESSED:
        meet(problem, witness)
    return str(part(PARTS[method]).show(problem, steps, witness))


def confirm(certificate: object) -> str:
    """How a certificate was confirmed; refused unless its problem has exactly its verdict."""
    given = fields(certificate)
    demand(given["version"] == 1, "another version")
    if "theorem" in given:
        return f"{part('theorems.steps').show(given)}, given what its library says"
    found = settle(Theorem.read(given["problem"]), given["proof"], given.get("witness"))
    demand(given["verdict"] == found, f"shown is {found}, not {given['verdict']}")
    return f"{found}, by {PARTS[text(fields(given['proof'])['method'])]}"


def check(certificate: object) -> Confirmation:
    """Whether a certificate's problem has its verdict, as far as the checker can tell."""
    try:
        with LOCK:
            return Confirmation(True, confirm(certificate))
    except Exception as why:  # anything at all that goes wrong in a certificate is a reason to refuse it
        late = type(why).__name__ == "OvertimeError"
        words = why.args[0] if late or type(why) is ValueError else repr(why)
        return Confirmation(False, f"not confirmed: {words}", late)
