"""Confirms certificates by other means than the provers'; docs/certificates.md is all that they share."""

from importlib import import_module
from threading import RLock
from typing import Any, NamedTuple

LOCK = RLock()  # the state of cvc5 and mpmath is shared by all threads


class Confirmation(NamedTuple):
    """Whether a certificate was confirmed, and how, or why not."""

    confirmed: bool
    says: str


def check(certificate: Any) -> Confirmation:
    """Whether a certificate's problem has its verdict, as far as the checker sees it."""
    try:
        problem, proof, witness = certificate["problem"], certificate["proof"], certificate.get("witness")
        by, on = proof["method"], "vector" in [v["kind"] for v in problem["variables"]]
        at = 2 * (by == "counterexample" and any(f"'{h}'" in str(problem) for h in "exp log phi sum".split()))
        part = by if by in "units boxes chains exists".split() else ("algebra", "gram", "points")[at or on]
        with LOCK:
            found = import_module(f"dpverify.proving.checker.{part}").show(problem, proof, witness)
        if (certificate["version"], certificate["verdict"]) != (1, found):
            raise ValueError(f"shown is {found}, not {certificate['verdict']}")
    except Exception as why:  # anything at all that goes wrong in a certificate is a reason to refuse it
        return Confirmation(False, f"not confirmed: {why.args[0] if type(why) is ValueError else repr(why)}")
    return Confirmation(True, f"{found}, by {part}")
