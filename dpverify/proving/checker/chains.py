"""The checker's chains: 0 <= f or 0 < f, taken apart by rules until cvc5 shows what is left; ("<=", e) is 0 <= e."""

from fractions import Fraction as Q
from functools import reduce
from math import prod
from typing import Any

import cvc5.pythonic as smt
from mpmath.libmp import from_rational, mpf_exp, mpf_log, mpf_pi, to_fixed

UNIT, MINUS = smt.RealVal(1), ("num", Q(-1))
BELL = "pow", ("mul", ("num", Q(2)), ("pi",)), Q(-1, 2)
CONSTANTS = {"exp": mpf_exp, "log": mpf_log, "pi": lambda _, p: mpf_pi(p)}
work, seen = [0], dict[Any, Any]()  # what is left for cvc5, by its own count, and terms made simple
simple: Any = lambda t: seen[t.ast] if t.ast in seen else seen.setdefault(t.ast, smt.simplify(t))  # noqa: E731
minus: Any = lambda u, v: ("add", u, ("mul", MINUS, v))  # noqa: E731
has: Any = lambda e, x: str(("sym", x)) in str(e)  # noqa: E731


def demand(holds: Any, why: str) -> None:
    """Refuse unless something holds."""
    if not holds:
        raise ValueError(why)


def read(e: Any) -> Any:
    """A term from JSON; a power with a symbolic exponent is an exponential."""
    head, *us = (read(a) if isinstance(a, list) else a for a in e)
    if head == "num":
        demand({*us[0]} <= {*"-/.0123456789"} and len(us[0]) < 900, "no number")
        return head, Q(*us)
    demand(head in ("sym", "add", "mul", "pow", "exp", "log", "phi", "pi"), f"{head} is beyond chains")
    if head == "pow":
        return (head, us[0], us[1][1]) if us[1][0] == "num" else ("exp", ("mul", us[1], ("log", us[0])))
    return head, *us


def put(e: Any, values: Any) -> Any:
    """A term with letters replaced."""
    inner = (put(u, values) if isinstance(u, tuple) else u for u in e)
    return values.get(e[1], e) if e[0] == "sym" else tuple(inner)


def slope(e: Any, x: str) -> Any:
    """The derivative in a letter, rule by rule; undefined where a root is 0."""
    head, *us = e
    if head == "sym" or not has(e, x):
        return "num", Q(e == ("sym", x))
    if head in ("add", "mul"):
        others = [us[:i] + us[i + 1 :] if head == "mul" else [] for i in range(len(us))]
        return "add", *(("mul", slope(u, x), *rest) for u, rest in zip(us, others, strict=True) if has(u, x))
    if head == "pow":
        less = [e, ("pow", us[0], Q(-1))] if us[1] % 1 else [("pow", us[0], us[1] - 1)]
        return "mul", slope(us[0], x), ("num", us[1]), *less
    bell = BELL, ("exp", ("mul", ("num", Q(-1, 2)), *us, *us))
    return "mul", slope(us[0], x), *{"exp": (e,), "log": (("pow", *us, Q(-1)),), "phi": bell}[head]


class Scene:
    """What is known at one place, and the numbers that functions have there; terms are pairs, n / d."""

    def __init__(self, given: Any) -> None:
        self.known, self.atoms, self.logs = list[Any](), dict[Any, Any](), dict[Any, Any]()
        for fact in given:
            self.known.append(self.holds(*fact))

    def follows(self, goal: Any) -> bool:
        """Whether cvc5 finds, by a part of the work that is left, that a goal is true wherever what is known is."""
        solver = smt.Solver()
        for option, value in ("nl-cov", True), ("nl-ext", "light"), ("rlimit", str(max(work[0] // 4, 1))):
            solver.setOption(option, value)
        solver.add(*self.known, smt.Not(goal))
        found = solver.check()
        work[0] -= solver.statistics()["resource::resourceUnitsUsed"]["value"]
        return bool(found == smt.unsat)

    def holds(self, relation: str, e: Any) -> Any:
        """The formula 0 relation e, with e shown to be defined."""
        n, d = self.term(e)
        return {"==": n == 0, "!=": n != 0, "<=": n * d >= 0, "<": n * d > 0}[relation]

    def shows(self, relation: str, *es: Any) -> bool:
        """Whether 0 relation e follows, for each e."""
        return all(self.follows(self.holds(relation, e)) for e in es)

    def atom(self, head: str, n: Any, d: Any, *facts: Any) -> Any:
        """The number that a function has at n / d, with facts about it; a constant is known to 18 digits."""
        n, d = simple(n), simple(d)
        if (key := (head, n.ast, d.ast)) not in self.atoms:
            self.atoms[key] = t = smt.Real(f"{head}!{len(self.atoms)}")
            self.known += [fact(t) for fact in facts]
            if head in CONSTANTS and {type(n), type(d)} == {smt.RatNumRef}:
                demand(abs(q := n.as_fraction() / d.as_fraction()) < 99, "a large constant")
                k = to_fixed(CONSTANTS[head](from_rational(*q.as_integer_ratio(), 300), 300), 64)
                off = 0 if (head, q) == ("log", 1) else 2
                self.known += [t >= smt.Q(k - off, 2**64), t <= smt.Q(k + off, 2**64)]
        return self.atoms[key], UNIT

    def term(self, e: Any) -> Any:
        """The pair of a term, with all that makes it defined shown."""
        match e:
            case "num" | "sym" as head, q if "!" not in str(q):  # as in the names of atoms
                return smt.Real(q) if head == "sym" else smt.Q(*q.as_integer_ratio()), UNIT
            case "pow", ("pow", u, p), q if p % 1 and q > 0 and self.shows("<=", u):
                return self.term(("pow", u, p * q))
            case "pow" | "log" as head, ("mul", *us), *q if (not q or q[0] % 1) and self.shows("<", *us):
                return self.term(("mul" if q else "add", *((head, u, *q) for u in us)))
            case "pow", u, q:
                return self.power(self.term(u), q)
            case "log", ("pow", u, q) if self.shows("<", u):
                return self.term(("mul", ("num", q), ("log", u)))
        pairs = [self.term(u) for u in e[1:]]
        if e[0] == "add":
            return reduce(lambda u, v: (u[0] + v[0], u[1]) if u[1].ast == v[1].ast else
                          (u[0] * v[1] + v[0] * u[1], u[1] * v[1]), pairs)  # fmt: skip
        if e[0] == "mul":
            return tuple(prod(parts, start=UNIT) for parts in zip(*pairs, strict=True))
        n, d = map(simple, pairs[0]) if pairs else (UNIT, UNIT)
        if e[0] == "exp":
            parts = n.children() if n.ast.getKind().name == "ADD" else [n]
            return tuple(map(prod, zip(*(self.exponential(part, d) for part in parts), strict=True)))
        if e[0] == "log":
            demand(self.follows(n * d > 0), "perhaps undefined")
            self.logs[self.atom("log", n, d)[0].ast] = n, d
        side: Any = lambda s, t: smt.And(s * t >= 0, n * n * (1 - s * t) <= d * d)  # noqa: E731
        tail: Any = lambda s, t: smt.Implies(s * n * d >= 0, side(s, t))  # noqa: E731
        both: Any = lambda t: smt.And(t > 0, t < 1, tail(1, 2 * t - 1), tail(-1, 2 * t - 1))  # noqa: E731
        return self.atom(e[0], n, d, *[both] * (e[0] == "phi"))

    def power(self, u: Any, q: Q) -> Any:
        """The power of a pair."""
        p, k = q.as_integer_ratio()
        demand(abs(p) < 99 and k < 99, "a large power")
        if k > 1:
            demand(self.follows(u[0] * u[1] >= 0), "perhaps undefined")
            u = self.atom(f"root{k}", *u, lambda t: smt.And(t >= 0, u[1] * prod([t] * k) == u[0]))
        if p < 0:
            demand(self.follows(u[0] != 0), "perhaps undefined")
        return tuple(prod([part] * abs(p), start=UNIT) for part in u[:: 1 if p > 0 else -1])

    def exponential(self, n: Any, d: Any) -> Any:
        """A power of exp(m / (q * d)), for n = c * m with a number c whose denominator is q."""
        split = n.ast.getKind().name == "MULT" and isinstance(n.children()[0], smt.RatNumRef)
        c, m = n.children() if split else (n, UNIT) if isinstance(n, smt.RatNumRef) else (UNIT, n)
        if m.ast in self.logs and isinstance(d, smt.RatNumRef):
            return self.power(self.logs[m.ast], c.as_fraction() / d.as_fraction())
        p, q = c.as_fraction().as_integer_ratio()
        return self.power(self.atom("exp", m, q * d, lambda t: t > 0), Q(p))


def follow(given: Any, f: Any, strict: bool, proof: Any) -> None:
    """Refuse unless f is defined, and 0 <= f (or 0 < f), wherever all that is given holds."""
    here = Scene(given)
    match proof:
        case ["leaf"]:
            demand(here.shows("<" if strict else "<=", f), f"cvc5 found no proof of 0 <= {str(f)[:80]}")
        case ["as", new, facts, g, then]:  # f is g where new letters have the values that are said
            values, more = {t: read(e) for t, e in new}, [(relation, read(e)) for relation, e, _ in facts]
            demand(not any(has((f, *values.values(), *given), t) for t in values), "a letter that is not new")
            demand(here.shows("==", minus(put(read(g), values), f)), "not the same")
            for (relation, e), (_, _, why) in zip(more, facts, strict=True):
                follow(given, put(e, values), {"<": True, "<=": False}[relation], why)
            follow([*given, *more], read(g), strict, then)
        case ["each", *proofs] if f[0] in ("add", "mul"):
            for i, (part, why) in enumerate(zip(f[1:], proofs, strict=True)):
                follow(given, part, strict and (f[0] == "mul" or i == 0), why)
        case ["order", then]:  # f is F(v) - F(u), and F grows
            head, v, u = f[1][0], f[1][1], f[2][2][1]
            demand(head in ("exp", "log", "phi") and f == minus((head, v), (head, u)), "no values in order")
            here.term(f)
            follow(given, minus(v, u), strict, then)
        case ["cases", e, above, below]:
            follow([*given, ("<=", read(e))], f, strict, above)
            follow([*given, ("<=", ("mul", MINUS, read(e)))], f, strict, below)
        case ["slope" | "climb" as rule, x, end, edge, rise]:
            far, t, at, path = end[0] in ("+", "-"), ("sym", x), list[Any](), list[Any]()
            a = read(end[2] if far else end)  # far out, beyond a, f is not below -small
            above = end[0] == "-" or (not far and here.shows("<=", minus(t, a)))
            way = "num", Q(1 if above else -1)
            ahead = "mul", way, minus(t, a)
            demand(not has(a, x) and (far or here.shows("<=", ahead)), "an end on neither side")
            for relation, e in given:
                there = ("mul", way, MINUS, slope(e, x)) if far else put(e, {x: a})
                if not has(e, x):
                    at.append((relation, e))
                elif relation in ("==", "!=") or has(slope(e, x), x) or not here.shows("<=", there):
                    continue  # it may fail on the way from x to the end
                else:
                    at.append(("<=", there))
                path.append((relation, e))
            path += [] if far else [("<", ahead)]
            Scene(path).term(f)
            climbs = rule == "climb"  # strictly, from what need not be positive
            demand(not strict or (climbs if far else not climbs or here.shows("<", ahead)), "not positive")
            follow(path, ("mul", way, slope(f, x)), climbs, rise)
            if far:
                demand(not has((t, f, *given), end[1]), "a letter that is not new")
                small = "sym", end[1]
                at, f = [*path, ("<", small), ("<=", ("mul", MINUS, ahead))], ("add", f, small)
            follow(at, f if far else put(f, {x: a}), strict and not climbs, edge)
        case _:
            raise ValueError(f"not understood: {str(proof)[:60]}")


def show(problem: Any, proof: Any, witness: Any) -> str:
    """Proved, where the steps show the claim, and the witness meets all that is assumed."""
    work[0], point, known = 4_000_000, dict[str, Any](), list[Any]()
    seen.clear()
    for v in problem["variables"]:
        x, q = ["sym", v["name"]], point.setdefault(v["name"], read(["num", witness[v["name"]]]))
        demand({"real": True, "integer": q[1] % 1 == 0}[v["kind"]], "no witness")
        for end, u, w in ("lower", ["num", v["lower"]], x), ("upper", x, ["num", v["upper"]]):
            known += [[{True: "<", False: "<="}[v[f"{end}_open"]], u, w]] * (v[end] is not None)
    given = [(relation, minus(read(v), read(u))) for relation, u, v in [*known, *problem["assuming"]]]
    met = all(Scene([]).shows(relation, put(e, point)) for relation, e in given)
    demand(met and len(point) == len(problem["variables"]), "no witness, or a name twice")
    relation, left, right = problem["claim"]
    follow(given, minus(read(right), read(left)), {"<": True, "<=": False}[relation], proof["steps"])
    return "proved"
