"""Scripts for claims that something exists, refuted: for whatever there is, values at which the rest is false.

That is how O( ) is refuted: along an integer at which a rate is above the constant, whatever it is.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from dpverify.proving.rocq.combinations import TwoSides
from dpverify.proving.rocq.comparisons import Branch, Inner, braced, falsity, known_of, swapped
from dpverify.proving.rocq.terms import (
    ONE,
    RELATIONS,
    Json,
    RocqTerms,
    UntranslatedError,
    domain_of,
    ends_of,
    name_of,
    number,
    replaced,
    split,
)

RATES = {Fraction(1): "far_line", Fraction(1, 2): "far_root"}
"""Lemmas on powers that grow, by their exponents."""


def negation(problem: Json, proof: Json, inner: Inner) -> list[str]:
    """A script that a claim is false at the values of a certificate."""
    return _Refutation(proof, inner).script(problem)


class _Refutation:
    """Values for letters, and proofs in their order: of ends of letters, of what is given, of the rest."""

    def __init__(self, proof: Json, inner: Inner) -> None:
        if "part" in proof:
            raise UntranslatedError("a part of what is refuted")
        self.values, self.growth, self.inner = proof["values"], proof.get("growth"), inner
        self.proofs = [one["proof"] for one in proof["inner"]]

    def script(self, problem: Json) -> list[str]:
        """First what is at numbers alone."""
        setting, lines, claim, given = Branch({}), list[str](), problem["claim"], problem["assuming"]
        self.ends = iter(self.proofs[: self.count_of_ends(claim)])
        self.rest = iter(self.proofs[self.count_of_ends(claim) :])
        for v in problem["variables"]:
            lines.append(self.put(setting, v))
        for v in problem["variables"]:
            letter, value = ["sym", v["name"]], self.values[v["name"]]
            lines += _first(
                [self.inner(setting, swapped(f, letter, value), {"method": "smt"}) for f in ends_of(v)]
            )
            claim, given = (swapped(f, letter, value) for f in (claim, given))
        lines += _first([self.inner(setting, f, next(self.rest)) for f in given])
        return lines + self.refuted(setting, claim)

    def count_of_ends(self, f: Json) -> int:
        """Of letters whose value is no number."""
        if f[0] in ("exists", "implies"):
            return self.count_of_ends(f[2])
        if f[0] != "forall":
            return 0
        own = 0 if self.values[f[1]["name"]][0] == "num" else len(ends_of(f[1]))
        return own + self.count_of_ends(f[2])

    def put(self, setting: Branch, v: Json) -> str:
        """The value of a letter."""
        value = self.values[v["name"]]
        text = RocqTerms(setting.kinds).integer(value) if v["kind"] == "integer" else setting.text(value)
        if v["kind"] not in ("integer", "real") or text is None:
            raise UntranslatedError("a value of another kind")
        if v["kind"] == "real" or value[0] in ("num", "sym"):
            return f"exists ({text})."
        real = f"({setting.text(value)}) by (rewrite ?plus_IZR, ?mult_IZR; ring)"
        return f"exists ({text}); replace (IZR ({text})) with {real}."

    def refuted(self, setting: Branch, f: Json) -> list[str]:
        """A script that a formula is false."""
        if f[0] == "exists":
            v = f[1]
            inside = replace(setting, kinds={**setting.kinds, v["name"]: v["kind"]}).knowing(*known_of(v))
            intros = " ".join([name_of(v["name"]), *("?" for _ in domain_of(v))])
            return [f"intros {intros}.", *self.refuted(inside, f[2])]
        if self.growth is not None:
            lines, setting = self.far(setting, self.growth)
            self.growth = None
            return lines + self.refuted(setting, f)
        if f[0] == "forall":
            v, value = f[1], self.values[f[1]["name"]]
            at = [replaced(end, v["name"], value) for end in ends_of(v)]
            shown = [
                self.inner(setting, end, {"method": "smt"} if value[0] == "num" else next(self.ends))
                for end in at
            ]
            return [
                self.put(setting, v),
                *_first(shown),
                *self.refuted(setting, replaced(f[2], v["name"], value)),
            ]
        if f[0] == "implies":
            parts = [self.inner(setting, part, next(self.rest)) for part in split(f[1])]
            return ["split.", *braced([*_first(parts[:-1]), *parts[-1]]), *self.refuted(setting, f[2])]
        return self.inner(setting, _false(f), next(self.rest))

    def far(self, setting: Branch, growth: Json) -> tuple[list[str], Branch]:
        """An integer at which the rate is above what there is."""
        t, (_, factor, form) = growth["along"], growth["rate"]
        names = [*growth["above"], *growth["below"]]
        if t["kind"] != "integer" or len(names) != 1 or t["lower"] is None or t["lower_open"]:
            raise UntranslatedError("growth")
        n, letter = name_of(t["name"]), ["sym", t["name"]]
        if form == ["log", letter]:
            lemma = "far_log"
        elif (exponent := Fraction(form[2][1])) in RATES:
            lemma, form = RATES[exponent], letter if exponent == 1 else form
        else:
            raise UntranslatedError("growth")
        setting = replace(setting, kinds={**setting.kinds, t["name"]: "integer"}).knowing(*known_of(t))
        constant, rate = ["sym", names[0]], ["mul", factor, form]
        above = bool(growth["above"])
        bound = constant if above else ["pow", constant, ["num", "-1"]]
        low, k = Fraction(t["lower"]), number(factor[1])
        lines = [f"destruct ({lemma} ({low}) {k} ({setting.text(bound)}) ltac:(lra)) as [{n} [? ?]]."]
        known = TwoSides("<=", constant, rate) if above else TwoSides("<=", ONE, ["mul", constant, rate])
        if not above:
            said = f"{setting.text(known.left)} <= {setting.text(known.right)}"
            lines.append(f"assert ({said}) by (apply inverse_below; assumption).")
        return lines, setting.knowing(known)


def _first(scripts: list[list[str]]) -> list[str]:
    """Scripts of what comes first, each of the rest."""
    return [line for each in scripts for line in ("split.", *braced(each))]


def _false(f: Json) -> Json:
    """What is true where a formula of comparisons is false."""
    if f[0] in RELATIONS:
        return falsity(f)
    if f[0] in ("and", "or"):
        return ["or" if f[0] == "and" else "and", *map(_false, f[1:])]
    if f[0] == "not":
        return f[1]
    raise UntranslatedError(f[0])
