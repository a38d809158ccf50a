"""The process that answers the checker's questions: cvc5 reads them in SMT-LIB, one line of JSON each."""

from __future__ import annotations

import json
import os
import signal
import sys
from contextlib import suppress

import cvc5

with suppress(
    ImportError
):  # Windows limits neither memory nor CPU time; counts of work end questions there, too
    import resource

MEMORY = 2 * 2**30  # bytes for all questions; rows take less than a twentieth
LIMITED = hasattr(signal, "setitimer")  # whether the system limits memory and CPU time


def answer(question: str, options: dict[str, str]) -> dict[str, object]:
    """Whether cvc5 finds a contradiction, and the work that this took by its own count."""
    solver = cvc5.Solver(cvc5.TermManager())
    for name, value in options.items():
        solver.setOption(name, value)
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, f"(set-logic ALL){question}", "question")
    names, command = parser.getSymbolManager(), parser.nextCommand()
    while not command.isNull():
        said = command.invoke(solver, names)
        if said:
            raise ValueError(said)
        command = parser.nextCommand()
    found = solver.checkSat().isUnsat()
    return {"contradiction": found, "work": solver.getStatistics()["resource::resourceUnitsUsed"]["value"]}


def serve() -> None:
    """Answer until nobody asks any more; whoever asks sees where the guard has ended this process."""
    if LIMITED:
        limits = resource.getrlimit(resource.RLIMIT_DATA)
        least = min(n for n in (MEMORY, *limits) if n != resource.RLIM_INFINITY)
        resource.setrlimit(resource.RLIMIT_DATA, (least, limits[1]))
    with (
        os.fdopen(os.dup(1), "w", encoding="utf-8") as out,
        open(os.devnull, "w", encoding="utf-8") as nowhere,
    ):
        os.dup2(nowhere.fileno(), 1)
        for line in sys.stdin:
            asked = json.loads(line)
            if LIMITED:
                signal.setitimer(signal.ITIMER_PROF, asked["guard"])  # its signal ends the process
            try:
                found = answer(asked["question"], asked["options"])
            except Exception as error:
                found = {"error": f"cvc5 cannot answer: {error!r}"}
            if LIMITED:
                signal.setitimer(signal.ITIMER_PROF, 0)
            print(json.dumps(found), file=out, flush=True)


if __name__ == "__main__":
    serve()
