"""The checker's formulas: for cvc5, and decided by intervals. It shares no code with the provers."""

from collections.abc import Callable
from fractions import Fraction as Q
from math import prod
from operator import neg
from typing import Any

import cvc5.pythonic as smt

from dpverify.proving.checker_intervals import intervals
from dpverify.proving.checker_polynomials import ONE, clear, forms
from dpverify.proving.checker_terms import MINUS, demand, number, read, work

METHODS = {
    m: m for m in ("counterexample", "identity", "signs", "sum", "smt", "boxes", "conjunction", "units")
}
METHODS |= {m: m for m in ("monotone", "square", "antiderivative")} | {
    "gaussian-integral": "gaussian_integral"
}
FACTS: dict[str, Callable[..., Any]] = {  # what cvc5 is told about the value t of a function at u
    "root": lambda t, u: [t == u],
    "pi": lambda t, _: [t > smt.Q(314159265, 10**8), t < smt.Q(314159266, 10**8)],
    "exp": lambda t, u: [t > 0, t >= 1 + u, t * (1 - u) <= 1],
    "log": lambda t, u: [t <= u - 1, u * t >= u - 1],
    "erfc": lambda t, u: [t > 0, t < 2, (u >= 0) == (t <= 1)],
}


def encode(u: Any, facts: Any) -> Any:
    """cvc5's term for a polynomial; `facts` collects {(atom, exponent): (term, facts about it)}."""
    parts = (
        prod((factor(a, k, facts) for a, k in m), start=smt.Q(*c.as_integer_ratio())) for m, c in u.items()
    )
    return sum(parts, start=smt.RealVal(0))


def factor(a: Any, k: Any, facts: Any) -> Any:
    """cvc5's term for a power of an atom."""
    if (a, k) not in facts and a[0] == "sym" and k == 1:
        facts[a, k] = smt.Real(a[1]), []
    elif (a, k) not in facts and k > 1 and k % 1 == 0:
        facts[a, k] = prod([factor(a, Q(1), facts)] * int(k)), []
    elif (a, k) not in facts and a[0] == "abs" and k == 1:
        u = encode(dict(a[1]), facts)
        facts[a, k] = smt.If(u >= 0, u, -u), []
    elif (a, k) not in facts:
        n, d = k.as_integer_ratio()
        v = encode(dict(a[1]), facts) if k == 1 else factor(a, Q(1), facts)
        t = smt.Real(f" {len(facts)}")
        power = [prod([t] * d + [v] * max(-n, 0)) == prod([v] * max(n, 0)), *[t >= 0] * (d > 1)]
        facts[a, k] = t, power if k != 1 else FACTS[a[0]](t, v)
    return facts[a, k][0]


def logic(f: Any, leaf: Any, every: Any, no: Any) -> Any:
    """A formula's value from those of its parts `<=`, `<` and `forall`, by way of `and` and `not`."""
    match f:
        case ["<=" | "<" | "forall", _, _]:
            return leaf(*f)
        case ["==", a, b]:
            f = ["and", ["<=", a, b], ["<=", b, a]]
        case ["!=", a, b]:
            f = ["not", ["==", a, b]]
        case ["implies", a, b]:
            f = ["or", ["not", a], b]
    demand(f[0] in ("and", "or", "not"), f"not understood: {str(f)[:60]}")
    parts = [logic(g, leaf, every, no) for g in f[1:]]
    return (
        every(parts) if f[0] == "and" else no(every([no(a) for a in parts])) if f[0] == "or" else no(*parts)
    )


def decide(f: Any, env: Any, box: Any, p: int) -> int:
    """1 for true on the whole box, -1 for false, 0 where intervals do not tell or something may be undefined."""

    def leaf(relation: str, left: Any, right: Any) -> int:
        try:
            if relation == "forall":  # at a point, left to cvc5
                return (
                    0
                    if box
                    else Problem({"variables": [], "assuming": [], "claim": []}).quantified(
                        [relation, left, right], env
                    )
                )
            e = gap(left, right, env)
            d = work(e, intervals(p, box), {})  # which sees to it that all is defined
            if not box and not clear(u := work(e, forms({}, []), {})):
                d = 0
            elif not box and set(u) == set(ONE):
                d = u[frozenset()]
        except ValueError:
            return 0
        yes = d >= 0 if relation == "<=" else d > 0
        return 0 if yes is None else 1 if yes else -1

    return int(logic(f, leaf, lambda xs: min(xs, default=1), neg))


def gap(left: Any, right: Any, env: Any) -> Any:
    """The term right - left."""
    return "add", read(right, env), ("mul", MINUS, read(left, env))


def domain(v: Any) -> Any:
    """A variable's domain as comparisons."""
    demand(
        v["kind"] in ("real", "integer") and {v["lower_open"], v["upper_open"]} <= {True, False},
        "a bad variable",
    )
    x, ends = ["sym", v["name"]], {"lower": v["lower"], "upper": v["upper"]}
    sides = {"lower": [["num", v["lower"]], x], "upper": [x, ["num", v["upper"]]]}
    return [["<" if v[f"{end}_open"] else "<=", *sides[end]] for end in ends if ends[end] is not None]


def allowed(names: Any) -> bool:
    """Whether the names of variables differ, and cannot be taken for names made here."""
    return len({*names}) == len(names) and all(name and not {*name} & {*" #+"} for name in names)


class Problem:
    """What is claimed, on which domain, under which assumptions."""

    def __init__(self, problem: Any) -> None:
        self.json, self.claim, variables = problem, problem["claim"], problem["variables"]
        self.variables = {v["name"]: v for v in variables}
        demand(allowed([v["name"] for v in variables]), "names of variables that are not allowed")
        self.env = {x: ("sym", x) for x in self.variables}
        self.given, more = [f for v in variables for f in domain(v)], list(problem["assuming"])
        while more:
            f = more.pop(0)
            more, self.given = (more + f[1:], self.given) if f[0] == "and" else (more, [*self.given, f])
        self.bounds = {x: v["lower"] and number(v["lower"]) for x, v in self.variables.items()}

    def but(self, **changes: Any) -> Any:
        """The problem with another claim, say."""
        return type(self)(self.json | changes)

    def gap(self, env: Any = None) -> Any:
        """The term right - left of a claim that is a comparison."""
        _, left, right = self.claim
        return gap(left, right, env or self.env)

    def form(self, e: Any, needs: Any = None) -> Any:
        """A term's polynomial."""
        return work(e, forms(self.bounds, [] if needs is None else needs), {})

    def formula(self, f: Any, facts: Any, needs: Any = None, env: Any = None) -> Any:
        """A formula for cvc5."""
        env, needs = env or self.env, [] if needs is None else needs

        def leaf(relation: str, left: Any, right: Any) -> Any:
            if relation != "forall":
                t = encode(self.form(gap(left, right, env), needs), facts)
                return t >= 0 if relation == "<=" else t > 0
            name, own, before = left["name"], f"{left['name']} {len(facts)}", {*facts}
            demand(
                left["kind"] == "real" and allowed([*self.variables, name]),
                "a bound integer, or a bad bound name",
            )
            inner = ["implies", ["and", *domain(left)], right]
            body = self.formula(inner, facts, bound_needs := list[Any](), env | {name: ("sym", own)})
            plain = not any(facts[key][1] for key in facts.keys() - before)
            demand(plain and not bound_needs, "more than polynomials, max and abs under a quantifier")
            return smt.ForAll([smt.Real(own)], body)

        return logic(f, leaf, lambda fs: smt.And(smt.BoolVal(True), *fs), smt.Not)

    def quantified(self, f: Any, env: Any) -> int:
        """1 where cvc5 finds a closed formula true, -1 where false, else 0."""
        true = self.unsat(lambda facts: smt.Not(self.formula(f, facts, None, env)))
        return 1 if true else -1 if self.unsat(lambda facts: self.formula(f, facts, None, env)) else 0

    def unsat(self, goal: Any, seconds: int = 5) -> bool:
        """Whether cvc5 finds that domain, assumptions and goal hold together nowhere; integers count as reals."""
        solver, facts = smt.Solver(), dict[Any, Any]()
        solver.setOption("nl-cov", True)
        solver.setOption("tlimit-per", 1000 * seconds)
        for f in self.given:
            mine, needs = dict(facts), list[Any]()
            try:
                formula = self.formula(f, mine, needs)
            except (ValueError, LookupError):
                continue  # without it more is to be shown
            if f[0] in ("<=", "<", "==", "!=") or not needs:  # a comparison that holds is defined
                facts = mine
                solver.add(formula)
        solver.add(goal(facts))
        solver.add(*(fact for _, more in facts.values() for fact in more))
        return bool(solver.check() == smt.unsat)

    def sure(self, relation: str, u: Any) -> bool:
        """Whether 0 stands in the relation to a polynomial on the whole domain."""
        contrary: Any = {"<": lambda t: t <= 0, "<=": lambda t: t < 0, "!=": lambda t: t == 0}[relation]
        return self.unsat(lambda facts: contrary(encode(u, facts)))

    def defined(self) -> None:
        """Refuse unless the whole claim is defined on the whole domain; inner parts come first."""
        needs = list[Any]()
        self.formula(self.claim, {}, needs)
        for i, need in enumerate(needs):
            demand(
                need in needs[:i] or self.sure(*need),
                f"perhaps undefined: cvc5 does not find 0 {need[0]} {need[1]}",
            )

    def whole(self, e: Any) -> bool:
        """Whether a term is a sum or product of integers."""
        if e[0] in ("add", "mul"):
            return all(map(self.whole, e[1:]))
        return bool(
            e[1] % 1 == 0 if e[0] == "num" else e[0] == "sym" and self.variables[e[1]]["kind"] == "integer"
        )

    def confirm(self, proof: Any) -> str:
        """The verdict that a proof shows."""
        method = proof["method"]
        if method == "computer-algebra":
            raise ValueError(f"not confirmed: rests on computer algebra: {proof['steps']}")
        demand(method in METHODS, f"no method {method}")
        if self.claim[0] == "forall" and method not in ("counterexample", "smt"):
            return str(
                self.but(variables=[*self.json["variables"], self.claim[1]], claim=self.claim[2]).confirm(
                    proof
                )
            )
        return str(getattr(self, METHODS[method])(proof))

    def identity(self, proof: Any) -> str:
        """Left minus right is the zero polynomial."""
        demand(self.claim[0] == "==", "not an equality")
        self.defined()
        demand(not clear(self.form(self.gap())), "the two sides have different normal forms")
        return "proved"

    def smt(self, proof: Any) -> str:
        """Domain, assumptions and negated claim are unsatisfiable."""
        self.defined()
        demand(
            self.unsat(lambda facts: smt.Not(self.formula(self.claim, facts)), 20),
            "cvc5 found no proof in 20 s",
        )
        return "proved"
