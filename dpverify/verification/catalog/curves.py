"""Where a claim about orders is refuted: along a curve, on which no constant will do."""

from __future__ import annotations

from fractions import Fraction

from dpverify.formulas.expressions import Apply, Expression, Number, integer
from dpverify.formulas.logic import Eq, Formula, Le, variables_of
from dpverify.formulas.rendering.latex import formula_latex
from dpverify.formulas.rendering.neutral import Json
from dpverify.proving.language import Obligation


def curve_of(form: Obligation, certificate: Json | None) -> tuple[str, ...]:
    """In LaTeX the letters on the curve, the constants that it goes beyond, and its own letter; nothing without one."""
    proof = certificate["proof"] if certificate is not None else {}
    if not proof.get("growth"):
        return ()
    growth = proof["growth"]
    letters = {v.name: v for v in (*form.over, *variables_of(form.claim))}
    t = integer(growth["along"]["name"], ge=Fraction(growth["along"]["lower"]))

    def read(e: Json) -> Expression:
        match e:
            case ["num", q]:
                return Number(Fraction(q))
            case ["sym", x]:
                return t if x == t.name else letters[x]
            case ["mul", ["num", "-1"], *parts]:
                return -read(["mul", *parts])
            case ["mul", *parts]:
                factors = tuple(read(part) for part in parts if part != ["num", "1"])
                return factors[0] if len(factors) == 1 else Apply("mul", factors)
            case ["pow", base, ["num", "1"]]:
                return read(base)
            case [str(head), *parts]:
                return Apply(head, tuple(map(read, parts)))
        raise ValueError(e)

    rate = read(growth["rate"])
    said: list[Formula] = [Eq(letters[x], read(e)) for x, e in sorted(proof["values"].items())]
    said += [Le(letters[x], rate) for x in sorted(growth["above"])]
    said += [Le(1 / rate, letters[x]) for x in sorted(growth["below"])]
    return tuple(map(formula_latex, (*said, Le(t.lower or 1, t))))
