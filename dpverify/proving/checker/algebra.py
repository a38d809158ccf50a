"""The checker's algebra and logic, by cvc5: terms are fractions, functions are numbers of which facts are known."""

from fractions import Fraction as Q
from functools import reduce
from math import prod
from typing import Any

import cvc5.pythonic as smt

from dpverify.proving.checker.terms import ZERO, demand, minus, number, read, slope

LOGIC = {"and": smt.And, "or": smt.Or, "not": smt.Not, "implies": smt.Implies}
METHODS = ("identity", "signs", "smt", "square", "monotone", "conjunction", "sum", "counterexample")
ONE = smt.RealVal(1)


class Algebra:
    """What is known, and the fractions (numerator, denominator) of terms; `env` gives those of names."""

    def __init__(self, integers: Any, env: Any, assumed: Any) -> None:
        self.whole, self.known, self.atoms = {*integers, ("num", Q(1))}, list[Any](), dict[Any, Any]()
        self.work = 2_000_000
        for g in assumed:
            self.assuming = g[0] in ("<=", "<", "==", "!=") and "'log'" not in str(read(g))
            self.known.append(self.formula(g, env))
        self.assuming = False

    def follows(self, goal: Any) -> bool:
        """Whether cvc5 finds, by the work that is left, that a goal is true wherever all that is known is."""
        solver = smt.Solver()
        solver.setOption("nl-cov", True)
        solver.setOption("nl-ext", "light")  # its lemmas cost far more than they help
        solver.setOption("rlimit", str(max(self.work, 1)))
        solver.add(*self.known, smt.Not(goal))
        found = solver.check()
        self.work -= solver.statistics()["resource::resourceUnitsUsed"]["value"]
        return bool(found == smt.unsat)

    def need(self, holds: Any) -> None:
        """Show what makes a term defined; a comparison that is given implies it, where log does not ask for more."""
        demand(self.assuming or self.follows(holds), "perhaps undefined")
        self.known.append(holds)

    def atom(self, head: str, u: Any, facts: Any) -> Any:
        """The number that a function has at u, one for each normal form of u, with facts about it."""
        key = head, *(smt.simplify(part).ast for part in u)
        if key not in self.atoms:
            self.atoms[key] = t = smt.Real(f"{head}!{len(self.atoms)}")
            self.known += facts(t, *u)
        return self.atoms[key], ONE

    def term(self, e: Any, env: Any) -> Any:
        """The fraction of a term."""
        match e:
            case "sym", x:
                return env[x]
            case "at", f, x, v if ("sym", x) not in self.whole:
                return self.term(f, env | {x: self.term(v, env)})
            case "diff", f, x, order if order in range(9) and "max" not in str(f):
                self.term(f, env)  # it must be defined
                return self.term(reduce(lambda g, _: slope(g, x), range(order), f), env)
            case "sum", f, x, first, last:
                demand(slope(f, x) == ZERO and {first, last} <= self.whole, "a sum beyond this checker")
                n, d = self.term(minus(last, first), env)
                self.need(n * d >= 0)
                return self.term(("mul", f, ("add", ("num", Q(1)), minus(last, first))), env)
            case "log", ("mul", *us):  # each of them must be positive, then
                return self.term(("add", *(("log", u) for u in us)), env)
            case "log", ("exp", u):
                return self.term(u, env)
        return self.apply(e[0], *(self.term(a, env) if isinstance(a, tuple) else a for a in e[1:]))

    def apply(self, head: str, *us: Any) -> Any:
        """A function of fractions."""
        match head, *us:
            case "num", q:
                return smt.Q(*q.as_integer_ratio()), ONE
            case "add", *_:
                return reduce(lambda u, v: (u[0] * v[1] + v[0] * u[1], u[1] * v[1]), us)
            case "mul", *_:
                return tuple(prod(parts, start=ONE) for parts in zip(*us, strict=True))
            case "max", (n, d), (m, c):
                return tuple(smt.If((n * c - m * d) * d * c >= 0, u, v) for u, v in ((n, m), (d, c)))
            case "pow", u, q:
                if (k := q.denominator) > 1:
                    self.need(u[0] * u[1] >= 0)
                    u = self.atom(f"root{k}", u, lambda t, n, d: [t >= 0, d * prod([t] * k) == n])
                if q < 0:
                    self.need(u[0] != 0)
                return tuple(prod([part] * abs(q.numerator), start=ONE) for part in (u if q > 0 else u[::-1]))
            case "exp", (n, d):
                n, d = smt.simplify(n), smt.simplify(d)
                parts = n.children() if n.ast.getKind().name == "ADD" else [n]
                return self.apply("mul", *(self.power(part, d) for part in parts))
            case "log", (n, d):
                self.need(n * d > 0)
                return self.atom("log", us[0], lambda t, n, d: [n * t * d >= (n - d) * d])
        demand(head in ("phi", "pi"), f"{head} is beyond this checker")
        return self.atom(head, us[0] if us else (ONE, ONE), lambda t, *_: [t > 0])

    def power(self, n: Any, d: Any) -> Any:
        """exp(c * m / d) with a number c, as a power of exp(m / (q * d)), q being the denominator of c."""
        split = n.ast.getKind().name == "MULT" and isinstance(n.children()[0], smt.RatNumRef)
        c, m = n.children() if split else (smt.Q(1, 1), n)
        p, q = c.as_fraction().as_integer_ratio()
        demand(abs(p) < 200, "a large power")
        return self.apply("pow", self.atom("exp", (m, q * d), lambda t, *_: [t > 0]), Q(p))

    def formula(self, f: Any, env: Any) -> Any:
        """A formula for cvc5."""
        head, *parts = f
        if head in LOGIC:
            return LOGIC[head](*(self.formula(g, env) for g in parts))
        if head != "forall":
            n, d = self.term(minus(*(read(e) for e in parts[::-1])), env)
            return {"==": n == 0, "!=": n != 0, "<=": n * d >= 0, "<": n * d > 0}[head]
        (v, body), known, x = parts, len(self.known), smt.Real(parts[0]["name"])
        demand(v["kind"] == "real" and v["name"] not in env, "a bound integer, or a name bound twice")
        low, high = (v[end] and number(v[end]) for end in ("lower", "upper"))
        demand(None in (low, high) or low < high, "a domain of one number or none")
        inner = self.formula(["implies", ["and", *domain(v)], body], env | {v["name"]: (x, ONE)})
        demand(len(self.known) == known, "more than polynomials under a quantifier")
        return smt.ForAll([x], inner)


def domain(v: Any) -> Any:
    """A variable's domain, as formulas."""
    named = v["name"].isidentifier() and v["kind"] in ("real", "integer")
    demand(named and {v["lower_open"], v["upper_open"]} <= {True, False}, "a bad variable")
    sides = {end: [["num", v[end]], ["sym", v["name"]]][::s] for end, s in (("lower", 1), ("upper", -1))}
    return [["<" if v[f"{end}_open"] else "<=", *sides[end]] for end in sides if v[end] is not None]


def show(problem: Any, proof: Any, witness: Any) -> str:
    """The verdict that cvc5 finds, where the witness meets domain and assumptions; points and squares are of use."""
    claim, variables, refuted = problem["claim"], problem["variables"], proof["method"] == "counterexample"
    goals, assumed = [claim], [*(f for v in variables for f in domain(v)), *problem["assuming"]]
    env = {v["name"]: (smt.Real(v["name"]), ONE) for v in variables}
    integers = {("sym", v["name"]) for v in variables if v["kind"] == "integer"}
    demand(proof["method"] in METHODS, f"the method {proof['method']} is beyond this checker")
    point = proof["point"] if refuted else witness
    whole = all(number(point[x]) % 1 == 0 for _, x in integers)
    demand(len(env) == len(variables) and whole, "a name twice, or no integer")
    if proof["method"] == "square" and claim[0] == "<=":
        gap, root, rest = ["add", claim[2], ["mul", ["num", "-1"], claim[1]]], proof["root"], proof["rest"]
        goals = [["==", gap, ["mul", root, root, rest]], ["<=", ["num", "0"], rest]]
    here = [["==", ["sym", x], ["num", point[x]]] for x in env]
    questions = [(f, here) for f in assumed]
    questions += [(["not", claim], here)] if refuted else [(f, assumed) for f in goals]
    for f, known in questions:
        algebra = Algebra(integers, env, known)
        demand(algebra.follows(algebra.formula(f, env)), f"cvc5 found no proof of {str(f)[:80]}")
    return "refuted" if refuted else "proved"
