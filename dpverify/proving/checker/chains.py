"""The checker's chains: 0 <= f or 0 < f, taken apart by rules until algebra shows what is left; ("<=", e) is 0 <= e."""

from fractions import Fraction as Q
from typing import Any

from dpverify.proving.checker.functions import Functions
from dpverify.proving.checker.questions import RELATIONS
from dpverify.proving.checker.terms import MINUS, demand, minus, read, slope

work = [0]  # what is left for cvc5, by its own count


def has(e: Any, x: str) -> bool:
    """Whether a letter occurs."""
    return str(("sym", x)) in str(e)


def put(e: Any, values: Any) -> Any:
    """A term with letters replaced."""
    inner = (put(u, values) if isinstance(u, tuple) else u for u in e)
    return values.get(e[1], e) if e[0] == "sym" else tuple(inner)


class Names(dict[str, Any]):
    """The letters of a scene, made when they first occur."""

    def __init__(self, scene: Functions) -> None:
        super().__init__()
        self.scene = scene

    def __missing__(self, x: str) -> Any:
        self[x] = self.scene.variable(x)
        return self[x]


class Scene(Functions):
    """What is known at one place; integers count as real."""

    def __init__(self, given: Any) -> None:
        super().__init__(work)
        self.env = Names(self)
        self.given(given)

    def of(self, e: Any) -> Any:
        """The quotient of a term, with all that makes it defined shown."""
        return self.term(e, self.env)

    def tell(self, fact: Any) -> None:
        """From now on, 0 relation e."""
        self.learn(fact[0], self.of(fact[1]))

    def holds(self, relation: str, *es: Any) -> bool:
        """Whether 0 relation e follows, for each e."""
        return all(self.shows(relation, self.of(e)) for e in es)


def follow(given: Any, f: Any, strict: bool, proof: Any) -> None:
    """Refuse unless f is defined, and 0 <= f (or 0 < f), wherever all that is given holds."""
    here = Scene(given)
    match proof:
        case ["leaf"]:
            demand(here.holds("<" if strict else "<=", f), f"cvc5 found no proof of 0 <= {str(f)[:80]}")
        case ["as", new, facts, g, then]:  # f is g where new letters have the values that are said
            values, more = {t: read(e) for t, e in new}, [(relation, read(e)) for relation, e, _ in facts]
            demand(not any(has((f, *values.values(), *given), t) for t in values), "a letter that is not new")
            demand(here.holds("==", minus(put(read(g), values), f)), "not the same")
            for (relation, e), (_, _, why) in zip(more, facts, strict=True):
                follow(given, put(e, values), {"<": True, "<=": False}[relation], why)
            follow([*given, *more], read(g), strict, then)
        case ["each", *proofs] if f[0] in ("add", "mul"):
            for i, (part, why) in enumerate(zip(f[1:], proofs, strict=True)):
                follow(given, part, strict and (f[0] == "mul" or i == 0), why)
        case ["order", then]:  # f is F(v) - F(u), and F grows
            head, v, u = f[1][0], f[1][1], f[2][2][1]
            demand(head in ("exp", "log", "phi") and f == minus((head, v), (head, u)), "no values in order")
            here.of(f)
            follow(given, minus(v, u), strict, then)
        case ["cases", e, above, below]:
            follow([*given, ("<=", read(e))], f, strict, above)
            follow([*given, ("<=", ("mul", MINUS, read(e)))], f, strict, below)
        case ["slope" | "climb" as rule, x, end, edge, rise]:
            far, t, at, path = end[0] in ("+", "-"), ("sym", x), list[Any](), list[Any]()
            a = read(end[2] if far else end)  # far out, beyond a, f is not below -small
            above = end[0] == "-" or (not far and here.holds("<=", minus(t, a)))
            way = "num", Q(1 if above else -1)
            ahead = "mul", way, minus(t, a)
            demand(not has(a, x) and (far or here.holds("<=", ahead)), "an end on neither side")
            for relation, e in given:
                there = ("mul", way, MINUS, slope(e, x)) if far else put(e, {x: a})
                if not has(e, x):
                    at.append((relation, e))
                elif relation in ("==", "!=") or has(slope(e, x), x) or not here.holds("<=", there):
                    continue  # it may fail on the way from x to the end
                else:
                    at.append(("<=", there))
                path.append((relation, e))
            path += [] if far else [("<", ahead)]
            Scene(path).of(f)
            climbs = rule == "climb"  # strictly, from what need not be positive
            demand(not strict or (climbs if far else not climbs or here.holds("<", ahead)), "not positive")
            follow(path, ("mul", way, slope(f, x)), climbs, rise)
            if far:
                demand(not has((t, f, *given), end[1]), "a letter that is not new")
                small = "sym", end[1]
                at, f = [*path, ("<", small), ("<=", ("mul", MINUS, ahead))], ("add", f, small)
            follow(at, f if far else put(f, {x: a}), strict and not climbs, edge)
        case _:
            raise ValueError(f"not understood: {str(proof)[:60]}")


def show(problem: Any, proof: Any, _: Any) -> str:
    """Proved, where the steps show the claim."""
    work[0], known = 4_000_000, list[Any]()
    for v in problem["variables"]:
        x = ["sym", v["name"]]
        for end, u, w in ("lower", ["num", v["lower"]], x), ("upper", x, ["num", v["upper"]]):
            known += [[{True: "<", False: "<="}[v[f"{end}_open"]], u, w]] * (v[end] is not None)
    known += [f for g in problem["assuming"] for f in (g[1:] if g[0] == "and" else [g])]
    given = [(f[0], minus(read(f[2]), read(f[1]))) for f in known if f[0] in RELATIONS]
    relation, left, right = problem["claim"]
    follow(given, minus(read(right), read(left)), {"<": True, "<=": False}[relation], proof["steps"])
    return "proved"
