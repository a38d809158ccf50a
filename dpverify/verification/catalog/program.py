"""What the outcome of a proof depends on: the program, its libraries, the content of an obligation."""

from __future__ import annotations

import platform
from functools import cache

from dpverify.formulas.rendering.neutral import Json
from dpverify.ledger.verdicts import Variant
from dpverify.proving.language import Obligation
from dpverify.running.program import program_hash
from dpverify.versions import versions_of

PROVING_LIBRARIES = ("sympy", "mpmath", "python-flint", "z3-solver", "cvc5")


@cache
def libraries() -> list[str]:
    """The versions of Python and of the libraries that proofs rest on, as far as they are installed."""
    found = versions_of(PROVING_LIBRARIES)
    return [platform.python_version(), *(f"{name} {number}" for name, number in found.items())]


def program() -> list[str]:
    """Changes with any line of the program, and with the version of a library that proofs rest on."""
    return [program_hash(), *libraries()]


def content_of(variant: Variant, o: Obligation) -> Json:
    box = {k: [str(e) for e in v] for k, v in o.box.items()}
    said = [
        o.coverage,
        o.scope,
        o.own_sizes,
        [quantity.line for quantity in o.notation],
        o.uses,
        o.consequence,
        o.reading,
        o.because,
        {v.name: v.meaning for v in o.over},
        o.catches.says if o.catches else "",
    ]
    # which sizes they have in practice
    sizes = {v.name: v.size for v in o.over}
    form = o.written_out
    decided, functionals = form.problem.json, [v.name for v in form.functionals]
    problem = o.problem.json
    return [variant, o.name, o.where, said, o.units, o.latex, problem, decided, functionals, sizes, box]
