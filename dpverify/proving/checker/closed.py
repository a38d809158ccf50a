"""The checker's sums and integrals: a closed form takes their place once it is shown; parts of a claim one by one."""

from typing import Any

from dpverify.proving.checker import settle
from dpverify.proving.checker.algebra import Algebra, domain
from dpverify.proving.checker.terms import demand, number

BINDING = ("sum", "product", "integral", "at", "diff", "forall", "exists")
MINUS = ["num", "-1"]


def has(e: Any, x: str) -> bool:
    """Whether a name occurs, bound or not."""
    return e == x or (
        isinstance(e, list | dict) and any(has(u, x) for u in (e.values() if type(e) is dict else e))
    )


def put(e: Any, x: str, value: Any) -> Any:
    """A term with a value for a name; nothing may be bound in it."""
    demand(e[0] not in BINDING, f"{e[0]} in a closed form")
    return value if e == ["sym", x] else [put(u, x, value) if isinstance(u, list) else u for u in e]


def found(e: Any, heads: Any) -> list[Any]:
    """The terms with certain heads, but for those within a scope."""
    if not isinstance(e, list) or e[:1] == ["num"]:
        return []
    return [e] if e[0] in heads else [] if e[0] in BINDING else [t for u in e for t in found(u, heads)]


def replaced(e: Any, old: Any, new: Any) -> Any:
    """The same with a term in another's place, but for those within a scope, where names mean other things."""
    if e == old or not isinstance(e, list) or e[0] in BINDING:
        return new if e == old else e
    return [replaced(u, old, new) for u in e]


def minus(u: Any, v: Any) -> Any:
    """The term u - v."""
    return ["add", u, ["mul", MINUS, v]]


def whole(e: Any, kinds: Any) -> bool:
    """Whether a term is an integer as it is written."""
    if e[0] in ("add", "mul"):
        return all(whole(u, kinds) for u in e[1:])
    return number(e[1]) % 1 == 0 if e[0] == "num" else e[0] == "sym" and kinds.get(e[1]) == "integer"


class Place:
    """A problem's variables and assumptions, for questions with one more letter."""

    def __init__(self, problem: Any) -> None:
        self.variables, self.given = problem["variables"], problem["assuming"]

    def show(self, *claims: Any, x: str = "", kind: str = "real", given: Any = ()) -> None:
        """Refuse unless claims follow, for all x as well, which then is no variable of the problem."""
        free = {"name": x, "kind": kind, **dict.fromkeys(("lower", "upper"))}
        free |= dict.fromkeys(("lower_open", "upper_open"), True)
        variables = [*(v for v in self.variables if v["name"] != x), *[free] * bool(x)]
        assumed = [
            *(f for v in variables for f in domain(v)),
            *(f for f in self.given if not (x and has(f, x))),
        ]
        here = Algebra(variables, [*assumed, *given])
        for f in claims:
            here.prove(f)

    def sum(self, e: Any, forms: Any) -> Any:
        """The closed form F of a sum, at its last term: F(first) = body(first), and F(k) - F(k - 1) = body."""
        _, body, k, first, last = e
        demand(not has([first, last], k), "an end of a sum that depends on its index")
        kinds = {v["name"]: v["kind"] for v in self.variables}
        demand(whole(first, kinds) and whole(last, kinds), "an end of a sum that may be no integer")
        self.show(["<=", first, last])
        why = ValueError("no closed form of the sum")
        for (head, _, index, *_), form in forms:
            demand(head == "sum", "no sum")
            try:
                demand(index == k, "another index")
                self.show(["==", put(form, k, first), put(body, k, first)])
                rise = ["==", minus(form, put(form, k, ["add", ["sym", k], MINUS])), body]
                between = ["<=", ["add", first, ["num", "1"]], ["sym", k]], ["<=", ["sym", k], last]
                self.show(rise, x=k, kind="integer", given=between)
                return put(form, k, last)
            except ValueError as error:
                why = error
        raise why

    def gaussian(self, proof: Any) -> Any:
        """The integral of factor * exp(-rate * (x - center)^2)."""
        _, body, x, *ends = proof["integral"]
        rate, center, factor = (proof[part] for part in ("rate", "center", "factor"))
        demand(not has([rate, center, factor, ends], x), "a part that depends on what is integrated over")
        square = ["pow", minus(["sym", x], center), ["num", "2"]]
        self.show(["==", body, ["mul", factor, ["exp", ["mul", MINUS, rate, square]]]], x=x)
        self.show(["<", ["num", "0"], rate], *[["<=", *ends]] * (not any(end[0] == "inf" for end in ends)))
        below = []
        for end in ends:
            demand(end[0] != "inf" or end[1] in ("+", "-"), "no end")
            far = ["pow", ["mul", ["num", "2"], rate], ["num", "1/2"]]
            limit = ["num", {"+": "1", "-": "0"}.get(str(end[1]), "")]
            below.append(limit if end[0] == "inf" else ["phi", ["mul", far, minus(end, center)]])
        demand(ends[0] != ["inf", "+"] and ends[1] != ["inf", "-"], "ends in the wrong order")
        size = ["pow", ["mul", ["pi"], ["pow", rate, MINUS]], ["num", "1/2"]]
        return ["mul", factor, size, minus(below[1], below[0])]

    def primitive(self, proof: Any) -> Any:
        """The integral of a derivative between two numbers."""
        (_, body, x, low, high), form = proof["integral"], proof["primitive"]
        demand(not has([low, high], x), "an end that depends on what is integrated over")
        self.show(["<=", low, high])
        between = ["<=", low, ["sym", x]], ["<=", ["sym", x], high]
        self.show(["==", ["diff", form, x, 1], body], x=x, given=between)
        return minus(put(form, x, high), put(form, x, low))


def show(problem: Any, proof: Any, witness: Any) -> str:
    """The verdict of what is left once closed forms are in place, or the weakest of a conjunction's parts."""
    how, claim, place = proof["method"], problem["claim"], Place(problem)
    if how == "conjunction":
        demand(claim[0] == "and" and len(claim) > 1, "no conjunction")
        parts = zip(claim[1:], proof["parts"], strict=True)
        verdicts = {settle(problem | {"claim": f}, steps, witness)[0] for f, steps in parts}
        demand(verdicts <= {"proved", "certified"}, "a part that is refuted")
        return min(verdicts)
    if how == "sum":
        for e in found(claim, ("sum",)):
            claim = replaced(claim, e, place.sum(e, proof["closed"]))
    else:
        ways = {"gaussian-integral": place.gaussian, "antiderivative": place.primitive}
        demand(proof["integral"][0] == "integral", "no integral")
        claim = replaced(claim, proof["integral"], ways[how](proof))
    return str(settle(problem | {"claim": claim}, proof["then"], witness)[0])
