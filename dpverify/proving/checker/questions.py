"""The checker's questions to cvc5, in a process of its own, which is ended and replaced if nothing else ends its work.

A polynomial is ((numerator, denominator, ((letter, power), ...)), ...); a formula is (relation, polynomial), which
compares 0 with it, ("not" | "and" | "or" | "implies" | "same", formula, ...) or ("forall", letter, formula).
"""

import atexit
import marshal
import os
import resource
import signal
import subprocess
import sys
from math import prod
from typing import Any

import cvc5

GUARD = 60.0  # CPU seconds for one question; counted work of rows takes less than one
MEMORY = 2 * 2**30  # bytes for all questions; rows take less than a twentieth
LONGEST = 520  # numbers and letters in a question up to which coverings are tried; rows have below 500
STEEPEST = 60  # steepness of a polynomial up to which they are; rows have up to 40
WITHOUT = 200_000  # work that is tried without them
KINDS = {
    "<=": cvc5.Kind.LEQ,
    "<": cvc5.Kind.LT,
    "==": cvc5.Kind.EQUAL,
    "!=": cvc5.Kind.DISTINCT,
    "not": cvc5.Kind.NOT,
    "and": cvc5.Kind.AND,
    "or": cvc5.Kind.OR,
    "implies": cvc5.Kind.IMPLIES,
    "same": cvc5.Kind.EQUAL,
}
RELATIONS = ("<=", "<", "==", "!=")
OPEN = dict[int, Any]()  # the process that answers, by the process that asks


class OvertimeError(Exception):
    """The guard ended a question: nothing is known of what was asked, not even that it is too hard."""


def polynomials(formulas: Any) -> Any:
    """The polynomials in formulas."""
    for f in formulas:
        yield from [f[1]] if f[0] in RELATIONS else polynomials(f[1 + (f[0] == "forall") :])


def steepness(p: Any) -> int:
    """The product of a polynomial's three highest powers, since degrees multiply as letters are eliminated.

    What is left of two terms is a monomial.
    """
    powers = dict[str, int]()
    for x, e in (factor for _, _, m in p for factor in m):
        powers[x] = max(e, powers.get(x, 0))
    return prod(sorted(powers.values())[-3:]) if len(p) > 2 else 1


def within_reach(formulas: Any, cases: Any) -> bool:
    """Whether cylindrical algebraic coverings, of which cvc5 does not count all work, may be tried."""
    known = [*polynomials(formulas), *(p for pair in cases.values() for p in pair)]
    length = sum(1 + sum(e for _, e in m) for p in known for _, _, m in p)
    return length <= LONGEST and max(map(steepness, known), default=0) <= STEEPEST


def contradict(formulas: Any, work: int, cases: Any, **options: str) -> tuple[bool, int]:
    """Whether cvc5 finds that formulas cannot all be true, and what that took of the work allowed.

    Letters in `cases` stand for the larger one of two polynomials.
    """
    if not within_reach(formulas, cases):
        work, options = min(work, WITHOUT), {"nl_cov": "false"}
    options = {"nl_cov": "true", "rlimit": str(work), **options}
    found = ask([GUARD, list(formulas), cases, {name.replace("_", "-"): v for name, v in options.items()}])
    if found is None:
        raise OvertimeError("stopped by the clock, which on a faster machine might not have happened")
    if type(found) is str:
        raise RuntimeError(found)
    return bool(found[0]), int(found[1])


# ------------------------------------------------------------------------------------------- the process that asks


def ask(question: Any) -> Any:
    """What the other process answers; None if it ended instead."""
    me = os.getpid()  # a fork starts a process of its own
    if me not in OPEN:
        OPEN[me] = subprocess.Popen(
            [sys.executable, "-P", __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
    process, answered = OPEN[me], False
    try:
        marshal.dump(question, process.stdin)
        process.stdin.flush()
        found = marshal.load(process.stdout)
        answered = True
        return found
    except (EOFError, OSError):
        return None
    finally:
        if not answered:
            end()


@atexit.register
def end() -> None:
    """End the process that answers."""
    process = OPEN.pop(os.getpid(), None)
    if process is not None:
        process.kill()
        process.communicate()


# ------------------------------------------------------------------------------------------- the process that answers


class Terms:
    """The terms of one question."""

    def __init__(self, cases: Any) -> None:
        self.all, self.cases, self.letters = cvc5.TermManager(), cases, dict[str, Any]()

    def letter(self, x: str) -> Any:
        """A letter, or the larger one of two polynomials."""
        if x in self.cases:
            a, b = map(self.polynomial, self.cases[x])
            return self.all.mkTerm(cvc5.Kind.ITE, self.all.mkTerm(cvc5.Kind.GEQ, a, b), a, b)
        if x not in self.letters:
            self.letters[x] = self.all.mkConst(self.all.getRealSort(), x)
        return self.letters[x]

    def polynomial(self, p: Any) -> Any:
        """A polynomial."""
        total = self.all.mkReal(0)
        for n, d, m in p:
            value = self.all.mkReal(f"{n}/{d}")
            for x, e in m:
                for _ in range(e):
                    value = self.all.mkTerm(cvc5.Kind.MULT, value, self.letter(x))
            total = self.all.mkTerm(cvc5.Kind.ADD, total, value)
        return total

    def formula(self, f: Any) -> Any:
        """A formula."""
        head, *parts = f
        if head in RELATIONS:
            return self.all.mkTerm(KINDS[head], self.all.mkReal(0), self.polynomial(*parts))
        if head == "forall":
            outside, bound = self.letters.get(parts[0]), self.all.mkVar(self.all.getRealSort(), parts[0])
            self.letters[parts[0]] = bound
            inner = self.formula(parts[1])
            self.letters.pop(parts[0])
            self.letters |= {parts[0]: outside} if outside is not None else {}
            names = self.all.mkTerm(cvc5.Kind.VARIABLE_LIST, bound)
            return self.all.mkTerm(cvc5.Kind.FORALL, names, inner)
        inside = [self.formula(part) for part in parts]
        return self.all.mkTerm(KINDS[head], *inside) if len(inside) > 1 or head == "not" else inside[0]


def answer(formulas: Any, cases: Any, options: Any) -> Any:
    """What cvc5 says."""
    terms = Terms(cases)
    solver = cvc5.Solver(terms.all)
    for name, value in options.items():
        solver.setOption(name, value)
    for f in formulas:
        solver.assertFormula(terms.formula(f))
    found = solver.checkSat()
    return found.isUnsat(), solver.getStatistics()["resource::resourceUnitsUsed"]["value"]


def serve() -> None:
    """Answer until nobody asks any more; whoever asks sees where the guard has ended this process."""
    limits = resource.getrlimit(resource.RLIMIT_DATA)
    least = min(n for n in (MEMORY, *limits) if n != resource.RLIM_INFINITY)
    resource.setrlimit(resource.RLIMIT_DATA, (least, limits[1]))
    with os.fdopen(os.dup(1), "wb") as out, open(os.devnull, "w", encoding="utf-8") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        while True:
            try:
                guard, *question = marshal.load(sys.stdin.buffer)
            except EOFError:
                return
            signal.setitimer(signal.ITIMER_PROF, guard)  # its signal ends the process
            try:
                found = answer(*question)
            except Exception as error:
                found = f"cvc5 cannot answer: {error!r}"
            signal.setitimer(signal.ITIMER_PROF, 0)
            marshal.dump(found, out)
            out.flush()


if __name__ == "__main__":
    serve()
