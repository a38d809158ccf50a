"""Confirms certificates by other means than the provers'; docs/certificates.md is all that they share."""

from importlib import import_module
from threading import RLock
from typing import Any, NamedTuple

LOCK, OWN = RLock(), ("units", "boxes", "chains", "exists", "facts")  # cvc5 and mpmath have state


class Confirmation(NamedTuple):
    """Whether a certificate was confirmed, and how, or why not."""

    confirmed: bool
    says: str


def check(certificate: Any) -> Confirmation:
    """Whether a certificate's problem has its verdict, as far as the checker sees it."""
    try:
        problem, proof, witness = certificate["problem"], certificate["proof"], certificate.get("witness")
        how, gram = proof["method"], "vector" in [v["kind"] for v in problem["variables"]]
        at = how == "counterexample" and any(f"'{h}'" in str(problem) for h in ("exp", "log", "phi", "sum"))
        part = "points" if at else how if how in OWN else ("algebra", "gram")[gram]
        with LOCK:
            found = import_module(f"dpverify.proving.checker.{part}").show(problem, proof, witness)
        if (certificate["version"], certificate["verdict"]) != (1, found):
            raise ValueError(f"shown is {found}, not {certificate['verdict']}")
    except Exception as why:  # anything at all that goes wrong in a certificate is a reason to refuse it
        return Confirmation(False, f"not confirmed: {why.args[0] if type(why) is ValueError else repr(why)}")
    return Confirmation(True, f"{found}, by {part}")
