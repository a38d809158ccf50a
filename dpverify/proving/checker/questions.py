"""The checker's questions to cvc5: work in cvc5's own count, and a far guard for work that it does not count."""

from typing import Any

import cvc5.pythonic as smt

GUARD = 300_000  # milliseconds, far beyond what counted work takes
LARGEST = 6000  # characters up to which coverings are tried, which nothing may end; rows have below 5000
WITHOUT = 200_000  # work that is tried without them


class OvertimeError(Exception):
    """The guard ended a question: nothing is known of what was asked, not even that it is too hard."""


def contradict(formulas: Any, work: int, **options: str) -> tuple[bool, int]:
    """Whether cvc5 finds that formulas cannot all be true, and what that took of the work allowed."""
    solver = smt.Solver()
    if sum(len(str(f.ast)) for f in formulas) > LARGEST:
        work, options = min(work, WITHOUT), {"nl_cov": "false"}
    for name, value in {"nl_cov": "true", "rlimit": str(work), "tlimit_per": str(GUARD), **options}.items():
        solver.setOption(name.replace("_", "-"), value)
    solver.add(*formulas)
    found = solver.check()
    if found == smt.unknown and str(solver.reason_unknown()).endswith(".TIMEOUT"):
        raise OvertimeError("stopped by the clock, which on a faster machine might not have happened")
    return found == smt.unsat, solver.statistics()["resource::resourceUnitsUsed"]["value"]
