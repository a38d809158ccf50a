"""The checker's quantifiers: what is put in for letters; what is left of a claim is confirmed by the other parts.

A claim is true if, with values for what there is to be, the rest holds for all values of the others.
"""

from fractions import Fraction
from math import prod
from typing import Any

from dpverify.proving.checker import check

BINDING = ("sum", "product", "integral", "at", "diff")
FLIPPED = {"<=": "<", "<": "<=", "==": "!=", "!=": "=="}


def demand(holds: Any, why: str) -> None:
    """Refuse unless something holds."""
    if not holds:
        raise ValueError(why)


def number(q: Any) -> Fraction:
    """An exact number from JSON."""
    demand(type(q) is str and len(q) < 900 and {*q} <= {*"-/.0123456789"}, f"no number: {str(q)[:60]}")
    return Fraction(q)


def put_in(e: Any, values: Any) -> Any:
    """A term or formula with terms for names; refused where something would be captured."""
    if not isinstance(e, list) or not e:
        return e
    head, *parts = e
    demand(isinstance(head, str), "no term")
    if head == "sym" and parts[0] in values:
        return values[parts[0]]
    bound = parts[1] if head in BINDING else parts[0]["name"] if head in ("forall", "exists") else None
    demand(bound not in values, f"{bound} is bound, and has a value")
    demand(bound is None or repr(bound) not in str([*values.values()]), f"{bound} would be captured")
    return [head, *(put_in(part, values) for part in parts)]


def folded(e: Any) -> Any:
    """A term or formula in which sums, products and powers of numbers alone are numbers."""
    if not isinstance(e, list) or not e:
        return e
    head, *parts = map(folded, e)
    if head in ("add", "mul", "pow") and all(isinstance(p, list) and p[0] == "num" for p in parts):
        numbers = [number(p[1]) for p in parts]
        if head != "pow":
            return ["num", str(sum(numbers) if head == "add" else prod(numbers))]
        if numbers[1] in range(-9, 10) and numbers[0] != 0:
            return ["num", str(numbers[0] ** numbers[1].numerator)]
    return [head, *parts]


def whole(e: Any, known: Any) -> bool:
    """Whether a term is an integer as it is written; what stands in exponents must be a number or a letter."""
    head, *parts = e
    letters = {v["name"]: v for v in known}
    if head == "pow":
        least = {"num": parts[1][1], "sym": letters.get(parts[1][1], {}).get("lower")}[parts[1][0]]
        return least is not None and number(least) >= 0 and all(whole(part, known) for part in parts)
    if head in ("add", "mul"):
        return all(whole(part, known) for part in parts)
    integer = (
        number(parts[0]) % 1 == 0
        if head == "num"
        else letters.get(str(parts[0]), {}).get("kind") == "integer"
    )
    return integer or head in ("floor", "ceiling")


def conditions(v: Any, value: Any, known: Any) -> list[Any]:
    """What is left to be shown for a value to lie in a domain; a number is looked at here."""
    demand(v["kind"] in ("real", "integer"), "a vector")
    demand(v["kind"] == "real" or whole(value, known), f"no integer for {v['name']}")
    found = []
    for end, side in (("lower", 1), ("upper", -1)):
        if v[end] is not None:
            found.append(["<" if v[f"{end}_open"] else "<=", *[["num", v[end]], value][::side]])
    if value[0] != "num":
        return found
    for relation, low, high in found:
        gap = number(high[1]) - number(low[1])
        demand(gap > 0 or (gap == 0 and relation == "<="), f"{value[1]} is no value of {v['name']}")
    return []


def negated(f: Any) -> Any:
    """What is true where a formula is false."""
    head, *parts = f
    if head in FLIPPED:
        return [FLIPPED[head], *(parts[::-1] if head in ("<=", "<") else parts)]
    if head in ("and", "or"):
        return ["or" if head == "and" else "and", *map(negated, parts)]
    demand(head == "not", f"the negation of {head}")
    return parts[0]


def parts_of(f: Any) -> Any:
    """The parts of a conjunction, or the formula alone; |u| <= v is u <= v and -u <= v."""
    if f[0] in ("<=", "<") and f[1][0] == "abs":
        return [[f[0], u, f[2]] for u in (f[1][1], ["mul", ["num", "-1"], f[1][1]])]
    return [part for g in f[1:] for part in parts_of(g)] if f[0] == "and" else [f]


class Peeled:
    """The quantifiers of a claim in their order, its premises, and the rest."""

    def __init__(self, problem: Any) -> None:
        self.over, self.quantifiers, self.given = problem["variables"], list[Any](), list(problem["assuming"])
        self.core = problem["claim"]
        while self.core[0] in ("forall", "exists", "implies"):
            if self.core[0] == "implies":
                self.given += parts_of(self.core[1])
            else:
                self.quantifiers.append((self.core[0], self.core[1]))
            self.core = self.core[2]
        used = [v["name"] for v in (*self.over, *(v for _, v in self.quantifiers))]
        demand(len({*used}) == len(used), "a name twice")
        self.chosen = [v for kind, v in self.quantifiers if kind == "exists"]
        self.every = [v for kind, v in self.quantifiers if kind == "forall"]

    def filled(self, of: str, before: Any, values: Any) -> list[Any]:
        """The conditions of values for one kind of quantifier, each made of what comes before it."""
        known, found = list(before), list[Any]()
        for kind, v in self.quantifiers:
            if kind != of:
                known.append(v)
                continue
            value, free = values[v["name"]], {u["name"] for u in known}
            demand(symbols(value) <= free, f"the value of {v['name']} uses what comes after it")
            found += conditions(v, value, known)
        return found


def symbols(e: Any) -> set[str]:
    """The names in a value, in which nothing may be bound."""
    demand(e[0] not in (*BINDING, "inf"), f"{e[0]} in a value")
    return {e[1]} if e[0] == "sym" else set().union(*(symbols(u) for u in e[1:] if isinstance(u, list)))


def confirmed(inner: Any, variables: Any, given: Any, claim: Any) -> str:
    """The verdict of a certificate that is about a problem, as the rest of the checker confirms it."""
    wanted = {"variables": variables, "assuming": given, "claim": claim}
    same = all(folded(inner["problem"][part]) == folded(wanted[part]) for part in wanted)
    demand(same and inner["problem"].keys() == wanted.keys(), "a certificate about something else")
    found = check(inner)
    demand(found.confirmed, f"inside: {found.says}")
    return str(inner["verdict"])


def weakest(inner: Any, variables: Any, given: Any, claims: list[Any]) -> str:
    """The weakest verdict of certificates, one for each claim in turn."""
    demand(len(inner) == len(claims), "not a certificate for each part")
    verdicts = {confirmed(c, variables, given, f) for c, f in zip(inner, claims, strict=True)}
    demand(verdicts <= {"proved", "certified"}, "not shown inside")
    return "proved" if verdicts == {"proved"} else "certified"


def shown(peeled: Peeled, proof: Any) -> str:
    """Proved: with the values in place, the rest holds for everything else."""
    values, over = proof["values"], [*peeled.over, *peeled.every]
    demand(values.keys() == {v["name"] for v in peeled.chosen}, "values of other names")
    found = peeled.filled("exists", peeled.over, values)
    given = [put_in(f, values) for f in peeled.given]
    verdict = weakest(proof["inner"], over, given, found + [put_in(f, values) for f in parts_of(peeled.core)])
    for less in proof.get("below", []):
        peeled.filled("exists", peeled.over, less["values"])
        demand(all(e[0] == "num" for e in less["values"].values()), "a bound that is no number")
        rest = [put_in(f, less["values"]) for f in (*peeled.given, peeled.core)]
        demand(confirmed(less["inner"], over, rest[:-1], rest[-1]) == "refuted", "a bound that is not shown")
    return verdict


def refuted(peeled: Peeled, proof: Any) -> str:
    """Refuted: whatever there is, at the values all conditions hold and the claim does not.

    With `growth`, only for constants up to a rate that grows without bound (down to its inverse).
    """
    values, growth, over, given = proof["values"], proof.get("growth"), list(peeled.chosen), list[Any]()
    demand(values.keys() == {v["name"] for v in (*peeled.over, *peeled.every)}, "values of other names")
    before = []
    if growth is not None:
        t, rate, kinds = growth["along"], growth["rate"], [kind for kind, _ in peeled.quantifiers]
        demand(t["kind"] in ("real", "integer") and t["upper"] is None, "a letter that is bounded")
        demand(t["name"] not in {v["name"] for v in (*over, *peeled.over, *peeled.every)}, "a name twice")
        demand(kinds == sorted(kinds), "constants that depend on other letters")  # exists before forall
        demand(rises(rate, t["name"]), "a rate that does not grow")
        constants = {v["name"]: v for v in peeled.chosen}
        given = [["<=", ["sym", x], rate] for x in growth["above"]]
        for x in growth["below"]:
            low = constants[x]["lower"]
            demand(low is not None and number(low) >= 0 and constants[x]["lower_open"], f"{x} may be 0")
            given.append(["<=", ["num", "1"], ["mul", ["sym", x], rate]])
        demand(set(growth["above"]) <= constants.keys(), "a name that is not a constant")
        over, before = [*over, t], [t]
    for v in peeled.over:
        demand(values[v["name"]][0] == "num", "no point")
        conditions(v, values[v["name"]], [])
    found = peeled.filled("forall", before, values)
    found += [put_in(f, values) for f in peeled.given]
    core = peeled.core if proof.get("part") is None else parts_of(peeled.core)[proof["part"]]
    verdict = weakest(proof["inner"], over, given, [*found, negated(put_in(core, values))])
    demand(verdict == "proved", "not shown inside for all values")
    return "refuted"


def rises(rate: Any, t: str) -> bool:
    """Whether a rate is a positive multiple of a positive power of t, or of its logarithm."""
    times, factor, what = rate
    power = number(what[2][1]) if what[0] == "pow" and what[2][0] == "num" else Fraction(what[0] == "log")
    return times == "mul" and factor[0] == "num" and number(factor[1]) > 0 < power and what[1] == ["sym", t]


def show(problem: Any, proof: Any, _: Any) -> str:
    """The verdict that follows from the certificate inside."""
    peeled = Peeled(problem)
    demand("exists" in [kind for kind, _ in peeled.quantifiers], "nothing that there is to be")
    return {"claim": shown, "negation": refuted}[proof["shows"]](peeled, proof)
