"""The checker's methods that put something simpler in the place of a claim. They share no code with the provers."""

from typing import Any

from dpverify.proving.checker_logic import Problem, gap
from dpverify.proving.checker_terms import demand, names, number, read


def free(name: str, kind: str) -> Any:
    """A variable without bounds."""
    ends = {"lower": None, "lower_open": False, "upper": None, "upper_open": False}
    return {"name": name, "kind": kind, **ends, "unit": {"loss": "0", "length": "0"}}


def less(a: Any, b: Any) -> Any:
    """The expression a - b."""
    return ["add", a, ["mul", ["num", "-1"], b]]


def replaced(e: Any, old: Any, new: Any) -> Any:
    """A formula with an expression replaced where no name is bound."""
    if e == old or not isinstance(e, list) or e[0] in ("diff", "at", "sum", "integral", "forall"):
        return new if e == old else e
    return [replaced(a, old, new) for a in e]


class Rewriting(Problem):
    """Each method returns the verdict that it shows."""

    def monotone(self, proof: Any) -> str:
        """Right minus left is a positive multiple of function(larger) - function(smaller)."""
        relation, left, right = self.claim
        demand(
            relation in ("<=", "<") and proof["function"] in ("log", "exp"),
            "no inequality, or no such function",
        )
        demand(number(proof["times"]) > 0, "a factor that is not positive")
        difference = less(*([proof["function"], proof[side]] for side in ("larger", "smaller")))
        product = ["mul", ["num", proof["times"]], difference]
        self.but(claim=["==", less(right, left), product]).identity({})
        return str(self.but(claim=[relation, proof["smaller"], proof["larger"]]).confirm(proof["then"]))

    def square(self, proof: Any) -> str:
        """Right minus left is a square times something that is at least 0."""
        demand(self.claim[0] == "<=", "no claim with <=")
        product = ["mul", ["pow", proof["root"], ["num", "2"]], proof["rest"]]
        self.but(claim=["==", less(self.claim[2], self.claim[1]), product]).identity({})
        return str(self.but(claim=["<=", ["num", "0"], proof["rest"]]).confirm(proof["then"]))

    def within(self, x: str, *more: Any) -> Any:
        """The problem with a real variable in the place of any of its name, and more assumptions."""
        others = [v for v in self.json["variables"] if v["name"] != x]
        return self.but(
            variables=[*others, free(x, "real")],
            assuming=[*(f for f in self.given if x not in names(f)), *more],
        )

    def gaussian_integral(self, proof: Any) -> str:
        """An integral of factor * exp(-rate * (x - center)^2) with rate > 0, by the normal distribution function."""
        head, body, x, *ends = proof["integral"]
        rate, center, factor = (proof[part] for part in ("rate", "center", "factor"))
        demand(
            head == "integral" and x not in names(["and", rate, center, factor]),
            "parameters that move with x",
        )
        away = ["pow", less(["sym", x], center), ["num", "2"]]
        bell = ["mul", factor, ["exp", ["mul", ["num", "-1"], rate, away]]]
        self.within(x).but(claim=["==", body, bell]).identity({})
        self.but(claim=["<", ["num", "0"], rate]).smt({})
        width = ["pow", ["mul", ["num", "2"], rate], ["num", "1/2"]]
        infinite = {"+": ["num", "1"], "-": ["num", "0"]}
        low, high = (
            infinite[u[1]] if u[0] == "inf" else ["phi", ["mul", width, less(u, center)]] for u in ends
        )
        value = [
            "mul",
            factor,
            ["pow", ["mul", ["pi"], ["pow", rate, ["num", "-1"]]], ["num", "1/2"]],
            less(high, low),
        ]
        return str(self.but(claim=replaced(self.claim, proof["integral"], value)).confirm(proof["then"]))

    def antiderivative(self, proof: Any) -> str:
        """An integral over a bounded interval by the fundamental theorem; all that can be read is continuous."""
        (head, body, x, low, high), primitive = proof["integral"], proof["primitive"]
        demand(
            head == "integral" and x not in names(["and", low, high]) and "floor" not in str(body),
            "no such integral",
        )
        ordered = self.but(claim=["<=", low, high])
        ordered.smt({})
        inside = self.within(x, ["<=", low, ["sym", x]], ["<=", ["sym", x], high])
        inside.but(claim=["==", ["diff", primitive, x, 1], body]).identity({})
        value = less(["at", primitive, x, high], ["at", primitive, x, low])
        return str(self.but(claim=replaced(self.claim, proof["integral"], value)).confirm(proof["then"]))

    def sum(self, proof: Any) -> str:
        """The claim with closed forms for sums."""
        return str(self.but(claim=self.close(self.claim, proof["closed"])).confirm(proof["then"]))

    def close(self, e: Any, closed: Any) -> Any:
        """A formula with its sums replaced by closed forms F: F(first) = body(first), F(k) - F(k - 1) = body(k)."""
        if not isinstance(e, list) or e[0] in ("diff", "at", "integral", "forall", "num", "sym"):
            return e
        if e[0] != "sum":
            return [self.close(a, closed) for a in e]
        _, body, k, first, last = e
        demand(
            all(self.whole(read(end, self.env)) for end in (first, last)),
            "ends of a sum that may be no integers",
        )
        inside = self.but(variables=[*self.json["variables"], free(k, "integer")])
        from_first, to_last = ["<=", first, ["sym", k]], ["<=", ["sym", k], last]
        body = inside.but(assuming=[*self.given, from_first, to_last]).close(body, closed)
        for _, form in (entry for entry in closed if entry[0][2:] == e[2:]):
            before = ["at", form, k, ["add", ["sym", k], ["num", "-1"]]]
            step = ["==", ["add", form, ["mul", ["num", "-1"], before]], body]
            try:
                demand(self.sure("<=", self.form(gap(first, last, self.env))), "a sum that may be empty")
                self.but(claim=["==", ["at", form, k, first], ["at", body, k, first]]).identity({})
                inside.but(claim=step, assuming=[*self.given, ["<", *from_first[1:]], to_last]).identity({})
                return ["at", form, k, last]
            except ValueError:
                continue
        return ["sum", body, k, first, last]
