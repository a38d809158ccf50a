"""Confirms certificates by other means than the provers'; docs/certificates.md is all that they share."""

from importlib import import_module
from threading import RLock
from typing import Any, NamedTuple

LOCK = RLock()  # threads share the state of cvc5 and mpmath
CLOSED = dict.fromkeys(("sum", "gaussian-integral", "antiderivative", "conjunction"), "closed")
OWN = ("units", "boxes", "chains", "exists", "facts")


class Confirmation(NamedTuple):
    """Whether a certificate was confirmed, and how, or why not."""

    confirmed: bool
    says: str
    by_the_clock: bool = (
        False  # whether a far guard ended it, so that on a faster machine it may end otherwise
    )


def part(name: str) -> Any:
    """A part of the checker; only those that are used are loaded."""
    return import_module(f"dpverify.proving.checker.{name}")


def settle(problem: Any, proof: Any, witness: Any) -> tuple[str, str]:
    """The verdict that a proof shows, and the part that sees it."""
    how, vectors = proof["method"], "vector" in [v["kind"] for v in problem["variables"]]
    by = "gram" if vectors and how not in OWN else how if how in OWN else CLOSED.get(how, "algebra")
    if how == "counterexample" and not vectors:
        part("points").meet(problem, proof["point"], True)
        return "refuted", "points"
    if by in ("algebra", "boxes", "chains"):
        part("points").meet(problem, witness, False)
    return part(by).show(problem, proof, witness), by


def check(certificate: Any) -> Confirmation:
    """Whether a certificate's problem has its verdict, as far as the checker sees it."""
    try:
        with LOCK:
            found, by = settle(certificate["problem"], certificate["proof"], certificate.get("witness"))
        if (certificate["version"], certificate["verdict"]) != (1, found):
            raise ValueError(f"shown is {found}, not {certificate['verdict']}")
    except Exception as why:  # anything at all that goes wrong in a certificate is a reason to refuse it
        late = type(why).__name__ == "OvertimeError"
        words = why.args[0] if late or type(why) is ValueError else repr(why)
        return Confirmation(False, f"not confirmed: {words}", late)
    return Confirmation(True, f"{found}, by {by}")
