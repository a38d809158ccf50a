"""The checker's logic, by cvc5: formulas of terms that are quotients of polynomials in what is unknown."""

from contextlib import suppress
from typing import Any

from dpverify.proving.checker.functions import Functions
from dpverify.proving.checker.quotients import number
from dpverify.proving.checker.terms import demand, minus, read
from dpverify.proving.checker.terms import number as exact

LOGIC = {"and": range(99_999), "or": range(99_999), "not": (1,), "implies": (2,)}  # how many parts each has
COMPARISONS = ("<=", "<", "==", "!=")
METHODS = ("identity", "signs", "smt", "square", "monotone")


class Algebra(Functions):
    """What is known of the variables of a problem."""

    def __init__(self, variables: Any, assumed: Any, point: Any = None) -> None:
        super().__init__([4_000_000], [v["name"] for v in variables if v["kind"] == "integer"])
        self.env = dict[str, Any]()
        for v in variables:
            x = v["name"]
            demand(v["kind"] in ("real", "integer") and x not in self.env, f"no number, or a name twice: {x}")
            self.env[x] = self.variable(x) if point is None else number(point[x])
        self.given(assumed)

    def tell(self, g: Any) -> None:
        """From now on, a formula; a comparison that holds is defined, where no logarithm asks for more."""
        if g[0] == "and":
            for part in g[1:]:
                self.tell(part)
        elif g[0] in COMPARISONS:
            self.assuming = "'log'" not in str([read(e) for e in g[1:]])
            try:
                self.learn(g[0], self.gap(g, self.env))
            finally:
                self.assuming = False
        else:
            self.known.append(self.logic(g, self.env))

    def need(self, relation: str, u: Any) -> None:
        """Show what makes a term defined; a comparison that is given implies it."""
        demand(self.assuming or self.shows(relation, u), "perhaps undefined")
        self.learn(relation, u)

    def gap(self, f: Any, env: Any) -> Any:
        """Right minus left of a comparison."""
        return self.term(minus(*(read(e) for e in f[:0:-1])), env)

    def logic(self, f: Any, env: Any) -> Any:
        """A formula for cvc5."""
        head, *parts = f
        if head in LOGIC:
            demand(len(parts) in LOGIC[head], f"{head} of {len(parts)} parts")
            return head, *(self.logic(g, env) for g in parts)
        if head in COMPARISONS:
            return self.formula(head, self.gap(f, env))
        demand(head == "forall", f"{head} is beyond this checker")
        (v, body), x = parts, parts[0]["name"]
        demand(v["kind"] == "real" and x not in env, "a bound integer, or a name bound twice")
        low, high = (v[end] and exact(v[end]) for end in ("lower", "upper"))
        demand(None in (low, high) or low < high, "a domain of one number or none")
        at, known = self.variable(x), len(self.known)
        inner = self.logic(["implies", ["and", *domain(v)], body], env | {x: at})
        demand(len(self.known) == known, "more than polynomials under a quantifier")
        self.letters.remove(x)
        return "forall", x, inner

    def prove(self, f: Any) -> None:
        """Refuse unless a formula follows."""
        if f[0] == "and":
            for part in f[1:]:
                self.prove(part)
        elif f[0] in COMPARISONS:
            demand(self.shows(f[0], self.gap(f, self.env)), f"cvc5 found no proof of {str(f)[:80]}")
        else:
            demand(self.follows(self.logic(f, self.env)), f"cvc5 found no proof of {str(f)[:80]}")


def domain(v: Any) -> Any:
    """A variable's domain, as formulas."""
    demand({v["lower_open"], v["upper_open"]} <= {True, False}, "a bad variable")
    sides = {end: [["num", v[end]], ["sym", v["name"]]][::s] for end, s in (("lower", 1), ("upper", -1))}
    return [["<" if v[f"{end}_open"] else "<=", *sides[end]] for end in sides if v[end] is not None]


def decide(f: Any, variables: Any, point: Any) -> int:
    """1 where a formula is true at a point, -1 where it is false, else 0."""
    for found, g in (1, f), (-1, ["not", f]):
        with suppress(ValueError):
            Algebra(variables, [], point).prove(g)
            return found
    return 0


def show(problem: Any, proof: Any, _: Any) -> str:
    """Proved, where cvc5 shows the claim, with the help of root and rest of a square, or of arguments' order."""
    goals = [problem["claim"]]
    demand(proof["method"] in METHODS, f"the method {proof['method']} is beyond this checker")
    assumed = [*(f for v in problem["variables"] for f in domain(v)), *problem["assuming"]]
    gap = ["add", goals[0][2], ["mul", ["num", "-1"], goals[0][1]]] if goals[0][0] in ("<=", "<") else None
    if proof["method"] == "square" and goals[0][0] == "<=":
        root, rest = proof["root"], proof["rest"]
        goals = [["==", gap, ["mul", root, root, rest]], ["<=", ["num", "0"], rest]]
    if proof["method"] == "monotone":
        function, times, ends = proof["function"], proof["times"], [proof[e] for e in ("larger", "smaller")]
        demand(gap and exact(times) > 0 and function in ("exp", "log"), "a function that may not grow")
        rise = ["add", [function, ends[0]], ["mul", ["num", "-1"], [function, ends[1]]]]
        goals = [["==", gap, ["mul", ["num", times], rise]], [goals[0][0], *ends[::-1]]]
    for f in goals:
        Algebra(problem["variables"], assumed).prove(f)
    return "proved"
