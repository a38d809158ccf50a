"""Scripts for chains (docs/certificates.md): 0 <= f or 0 < f, taken apart step by step as the certificate says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from dpverify.proving.checker.reading import read
from dpverify.proving.checker.values import Values
from dpverify.proving.rocq.combinations import PolynomialLetters, TwoSides
from dpverify.proving.rocq.comparisons import (
    Branch,
    asserted,
    braced,
    by_combination,
    compared,
    exponentials,
    identity,
    parts_of,
    positive,
    signs_of,
    without_divisors,
)
from dpverify.proving.rocq.terms import (
    ONE,
    ZERO,
    Json,
    UntranslatedError,
    letters_in,
    name_of,
    number,
    replaced,
)

BITS = 60
_WAY = "{}_way"
"""A letter that stands for another on the way to it."""


def negative(e: Json) -> Json:
    """An expression times -1."""
    return ["mul", ["num", "-1"], e]


def put(e: Json, values: dict[str, Json]) -> Json:
    """The expression with values in the places of letters, which are in none of the values."""
    for name, value in values.items():
        e = replaced(e, name, value)
    return e


def slope(e: Json, letter: str) -> Json:
    """The derivative of an expression along a letter."""
    head = e[0]
    if letter not in letters_in(e):
        return ZERO
    if head == "sym":
        return ONE
    if head == "add":
        return ["add", *(slope(part, letter) for part in e[1:])]
    if head == "mul":
        parts = [k for k in range(1, len(e)) if letter in letters_in(e[k])]
        return ["add", *(["mul", *e[1:k], slope(e[k], letter), *e[k + 1 :]] for k in parts)]
    if head == "pow" and e[2][0] == "num":
        less = ["num", str(Fraction(e[2][1]) - 1)]
        return ["mul", e[2], slope(e[1], letter), *([["pow", e[1], less]] if less[1] != "0" else [])]
    if head in ("exp", "log"):
        return ["mul", slope(e[1], letter), e if head == "exp" else ["pow", e[1], ["num", "-1"]]]
    if head == "phi":
        bell = ["exp", ["mul", ["num", "-1/2"], ["pow", e[1], ["num", "2"]]]]
        return ["mul", slope(e[1], letter), bell, ["pow", ["mul", ["num", "2"], ["pi"]], ["num", "-1/2"]]]
    raise UntranslatedError(f"slope of {head}")


def halves(e: Json) -> Json:
    """With powers of which the double is a whole one as whole powers times a root."""
    if not isinstance(e, list):
        return e
    e = [halves(part) for part in e]
    exponent = Fraction(e[2][1]) if e[:1] == ["pow"] and e[2][0] == "num" else Fraction(1)
    if exponent.denominator == 2 and abs(exponent) != Fraction(1, 2):
        whole = exponent - Fraction(1, 2)
        return ["mul", ["pow", e[1], ["num", str(whole)]], ["pow", e[1], ["num", "1/2"]]]
    return e


def turned(e: Json, u: Json) -> Json:
    """With whole powers of u as those of -u, which is positive."""
    if not isinstance(e, list):
        return e
    if e[:2] == ["pow", u] and e[2][0] == "num" and Fraction(e[2][1]).denominator == 1:
        power = ["pow", negative(u), e[2]]
        return negative(power) if int(e[2][1]) % 2 else power
    return [turned(part, u) for part in e]


def _constants_named(e: Json, named: dict[str, tuple[str, Json]]) -> Json:
    """With a letter, each noted with its value, for what in a product is neither rational nor of letters."""
    if not isinstance(e, list) or e[0] == "exp":
        return e
    if e[0] == "mul":
        fixed = [part for part in e[1:] if part[0] != "num" and not letters_in(part)]
        if fixed:
            value = ["mul", *fixed]
            name, _ = named.setdefault(str(value), (f"constant {len(named)}", value))
            rest = [_constants_named(part, named) for part in e[1:] if part not in fixed]
            return ["mul", *rest, ["sym", name]]
    return [e[0], *(_constants_named(part, named) for part in e[1:])]


def chain(setting: Branch, claim: Json, steps: Json) -> list[str]:
    """The script of a claim that is shown by these steps."""
    if claim[0] not in ("<=", "<"):
        raise UntranslatedError("chains")
    lines = ["conditions.", f"apply {'at_most' if claim[0] == '<=' else 'below'}_by_difference."]
    f: Json = ["add", claim[2], negative(claim[1])]
    for name, kind in setting.kinds.items():
        if kind == "integer":
            n = name_of(name)
            lines.append(
                f"try (set (real_ := IZR {n}) in *; clearbody real_; clear {n}; rename real_ into {n})."
            )
    kinds = {name: "real" if kind == "integer" else kind for name, kind in setting.kinds.items()}
    return lines + Goal(replace(setting, kinds=kinds, searched=False), f, claim[0]).follow(
        halves(exponentials(steps))
    )


@dataclass(frozen=True)
class Goal:
    """0 <= f or 0 < f, with what is given."""

    setting: Branch
    f: Json
    relation: str

    def text(self, e: Json) -> str:
        """An expression there."""
        return self.setting.text(e)

    def follow(self, steps: Json) -> list[str]:
        """The script of the goal by these steps."""
        rule = steps[0]
        if rule == "leaf":
            return self.leaf()
        if rule == "as":
            return self.renamed(*steps[1:])
        if rule == "each":
            return self.each(steps[1:])
        if rule == "order":
            return self.order(steps[1])
        if rule == "cases":
            e = steps[1]
            lines = [f"destruct (Rle_lt_dec 0 ({self.text(e)})) as [?|?]."]
            above = replace(self, setting=self.setting.knowing(TwoSides("<=", ZERO, e)))
            below = replace(self, setting=self.setting.knowing(TwoSides("<", e, ZERO)))
            return [*lines, *braced(above.follow(steps[2])), *braced(below.follow(steps[3]))]
        if rule == "slope" and steps[2][0] == "+" and self.relation == "<=":
            x, (_, small, e), edge, rise = steps[1:]
            return self.far(x, small, e, edge, rise)
        if rule in ("slope", "climb") and steps[2][0] not in ("+", "-"):
            return self.way(*steps[1:], climbs=rule == "climb")
        raise UntranslatedError(rule)

    def leaf(self) -> list[str]:
        """By what is given, and bounds of numbers."""
        if not letters_in(self.f) and asserted(self.setting, TwoSides("==", ZERO, self.f)) is None:
            return ["first [enclosed | vanishing]."]
        lines, more = [], list[TwoSides]()
        for e in {
            str(e): e for e in parts_of(self.f) if e[0] in ("exp", "log") and not letters_in(e)
        }.values():
            at = Values({}, BITS).interval(read(e))
            low, high = (
                ["num", str(Fraction(floor_, 2**30))] for floor_ in (at.low >> 30, (at.high >> 30) + 1)
            )
            said = f"{number(low[1])} <= {self.text(e)} <= {number(high[1])}"
            lines.append(f"assert ({said}) as [? ?] by (split; enclosed).")
            more += [TwoSides("<=", low, e), TwoSides("<=", e, high)]
        f = self.f
        for u in arguments(f):
            if not positive(self.setting, u) and asserted(self.setting, TwoSides("<", u, ZERO)):
                f = turned(f, u)
        setting, goal = self.setting.knowing(*more), TwoSides(self.relation, ZERO, f)
        if _constants_named(f, {}) != f and not any(e[0] in ("max", "min", "abs") for e in parts_of(f)):
            found = by_combination(setting, goal) or without_divisors(setting, goal)
            return lines + (found or replace(self, setting=setting).with_constants(f))
        return lines + compared(setting, goal)

    def with_constants(self, f: Json) -> list[str]:
        """With a letter for each product of roots of numbers and powers of pi, of which bounds are known."""
        named: dict[str, tuple[str, Json]] = {}
        e = _constants_named(f, named)
        facts: list[Json] = []
        for name, value in named.values():
            at, letter = Values({}, BITS).interval(read(value)), ["sym", name]
            low, high = (["num", str(Fraction(end, 2**30))] for end in (-(at.low >> 30), (at.high >> 30) + 1))
            facts += [
                ["<", letter, ["leaf"]],
                ["<=", ["add", letter, low], ["leaf"]],
                ["<=", ["add", high, negative(letter)], ["leaf"]],
            ]
        return self.renamed([list(pair) for pair in named.values()], facts, e, ["leaf"])

    def renamed(self, new: Json, facts: Json, e: Json, then: Json) -> list[str]:
        """Here f is e where new letters have the values that are said; of these only the facts are used."""
        values = dict(new)
        lines, here, said = [], self, []
        for relation, fact, why in facts:
            value = put(fact, values)
            lines.append(f"assert (0 {relation} {self.text(value)}).")
            lines += braced(replace(here, f=value, relation=relation).follow(why))
            here = replace(here, setting=here.setting.knowing(TwoSides(relation, ZERO, value)))
            said.append(TwoSides(relation, ZERO, fact))
        value = put(e, values)
        kinds = {**self.setting.kinds, **dict.fromkeys(values, "real")}
        inside = replace(self, setting=replace(self.setting, kinds=kinds).knowing(*said), f=e)
        shown = inside.follow(then)
        if values:
            names = " ".join(map(name_of, values))
            claims = "".join(f"0 {k.relation} {inside.text(k.right)} -> " for k in said)
            lines += [
                f"assert (all_ : forall {names} : R, {claims}0 {self.relation} {inside.text(e)}).",
                *braced([f"intros {names} {' '.join('?' for _ in said)}.", *shown]),
            ]
            shown = ["apply all_; assumption."]
        lines.append(
            f"apply (same_{'positive' if self.relation == '<' else 'nonnegative'} ({self.text(value)}))."
        )
        return [*lines, *braced(here.equal(value)), *shown]

    def equal(self, value: Json) -> list[str]:
        """That f is this."""
        letters = PolynomialLetters(self.setting.kinds, signs_of(self.setting))
        lines = [line for u in arguments(self.f, value) for line in positive(self.setting, u)]
        try:
            known = letters.difference(TwoSides("==", self.f, value)) == {}
        except UntranslatedError:
            return [*lines, "same_values."]
        if known:
            return [*lines, *identity(letters)]
        other = "; ".join(line.removesuffix(".") for line in identity(letters, "same_values."))
        return [*lines, f"first [same_values | {other}]."]

    def each(self, proofs: Json) -> list[str]:
        """Each part of a sum or a product is not negative."""
        if self.f[0] not in ("add", "mul") or len(proofs) != len(self.f) - 1:
            raise UntranslatedError("each")
        lines = []
        for k, (part, why) in enumerate(zip(self.f[1:], proofs, strict=True)):
            relation = "<=" if self.f[0] == "add" and k else self.relation
            lines.append(f"assert (0 {relation} {self.text(part)}).")
            lines += braced(replace(self, f=part, relation=relation).follow(why))
        return [*lines, "sum_of_parts." if self.f[0] == "add" else "product_of_parts."]

    def order(self, then: Json) -> list[str]:
        """Here f is F(v) - F(u), and F grows."""
        if self.f[0] != "add" or len(self.f) != 3 or self.f[2][:2] != ["mul", ["num", "-1"]]:
            raise UntranslatedError("order")
        (head, v), (_, _, (_, u)) = self.f[1:]
        if head not in ("exp", "log", "phi") or (head == "phi" and self.relation == "<"):
            raise UntranslatedError("order")
        lemma = f"{head}_{'difference' if self.relation == '<=' else 'rises'}"
        lines = positive(self.setting, u) if head == "log" else []
        between = "; [given |]" if head == "log" else ""
        return [*lines, f"apply {lemma}{between}.", *replace(self, f=["add", v, negative(u)]).follow(then)]

    def carried(
        self, x: str, there: Callable[[TwoSides, Json], TwoSides]
    ) -> tuple[list[str], list[list[TwoSides]]]:
        """What holds along a way, what holds at its end, and what is said of x there, after lines that show it.

        Of a comparison with a rate at which its right less its left rises with x, `there` has to hold.
        """
        lines, path, at_end, kept = list[str](), list[TwoSides](), list[TwoSides](), list[TwoSides]()
        for each in self.setting.given:
            sides = ["add", each.right, negative(each.left)]
            end = each
            if x in letters_in(sides):
                try:
                    rate = slope(sides, x)
                except UntranslatedError:
                    continue
                end = there(each, rate)
                linear = each.relation in ("<", "<=") and x not in letters_in(rate)
                shown = asserted(self.setting, end) if linear else None
                if shown is None:
                    continue
                lines += shown
                kept.append(each)
            path.append(each)
            at_end.append(end)
        return lines, [path, at_end, kept]

    def moved(self, x: str, kept: list[TwoSides]) -> list[str]:
        """A letter on the way in the place of x, with what is said of x."""
        on_way, n = _WAY.format(x), name_of(x)
        inside = replace(self.setting, kinds={**self.setting.kinds, on_way: "real"})
        lines = []
        for each in kept:
            left, right = (
                inside.text(replaced(side, x, ["sym", on_way])) for side in (each.left, each.right)
            )
            lines.append(f"assert ({left} {each.relation} {right}) by between_ends.")
        return [*lines, f"cbv beta in *; clear dependent {n}; rename {name_of(on_way)} into {n}."]

    def rising(
        self, x: str, path: list[TwoSides], moved: list[str], above: bool, strict: bool, rise: Json
    ) -> list[str]:
        """That f is smooth on the way, and does not fall, or rises."""
        rises = halves(slope(self.f, x))
        there = replace(self.setting, given=tuple(path))
        relation = "<" if strict else "<="
        goal = replace(self, setting=there, f=rises if above else negative(rises), relation=relation)
        smooth = [*self.defined(replace(self, setting=there)), "derived."]
        return [*moved, "split.", *braced(smooth), *goal.follow(rise)]

    def functions(self, x: str) -> str:
        """The function of x that f is, and its derivative."""
        n = name_of(x)
        return " ".join(f"(fun {n} : R => {self.text(e)})" for e in (self.f, halves(slope(self.f, x))))

    def way(self, x: str, end: Json, edge: Json, rise: Json, *, climbs: bool) -> list[str]:
        """From an end, along a letter: f does not fall, or it climbs."""
        letter, here, n = ["sym", x], self.setting, name_of(x)
        away = asserted(here, TwoSides("<" if climbs else "<=", end, letter))
        above = away is not None
        if away is None and not climbs:
            away = asserted(here, TwoSides("<=", letter, end))
        if away is None:
            raise UntranslatedError("an end on neither side")
        shown, (path, at_end, kept) = self.carried(
            x, lambda each, _: TwoSides("<=", *(replaced(e, x, end) for e in (each.left, each.right)))
        )
        f = replaced(self.f, x, end)
        at = replace(
            self, setting=replace(here, given=tuple(at_end)), f=f, relation="<=" if climbs else self.relation
        )
        order = "Rlt_le" if at.relation == "<" else "Rle_lt" if self.relation == "<" else "Rle"
        beyond = TwoSides("<", end, letter) if above else TwoSides("<", letter, end)
        rule = "climbs" if climbs else "no_fall" if above else "no_rise"
        weaker = ["apply Rlt_le."] if climbs and self.relation == "<=" else []
        inner = self.rising(x, [*path, beyond], self.moved(x, kept), above, climbs, rise)
        return [
            *away,
            *shown,
            f"apply ({order}_trans _ ({self.text(f)})).",
            *braced([f"clear dependent {n}.", *at.follow(edge)]),
            *weaker,
            f"apply ({rule} {self.functions(x)} ({self.text(end)}) {n}).",
            *braced(["assumption."]),
            *braced([*self.defined(at), "continuous_there."]),
            *braced([f"intros {name_of(_WAY.format(x))} [? ?].", *inner]),
        ]

    def far(self, x: str, small: str, e: Json, edge: Json, rise: Json) -> list[str]:
        """From far out, down along a letter: f is not below -small there, and does not rise on the way out."""
        n, s, w = (name_of(name) for name in (x, small, _WAY.format(x)))
        shown, (path, _, kept) = self.carried(x, lambda _, rate: TwoSides("<=", ZERO, rate))
        inside = replace(self.setting, kinds={**self.setting.kinds, small: "real"}, given=tuple(path))
        inside = inside.knowing(TwoSides("<", ZERO, ["sym", small]), TwoSides("<=", e, ["sym", x]))
        tails = []
        for u in {str(u): u[1] for u in parts_of(self.f) if u[0] == "phi"}.values():
            far_down = asserted(inside, TwoSides("<=", u, negative(["pow", ["sym", small], ["num", "-1"]])))
            if far_down is not None:
                most = TwoSides("<=", ["phi", u], ["sym", small])
                how = f"assert ({inside.text(most.left)} <= {s}) by (apply Phi_below; [assumption | lra])."
                tails += [*far_down, how]
                inside = inside.knowing(most)
        at = replace(self, setting=inside, f=["add", self.f, ["sym", small]])
        moved = self.moved(x, kept)
        return [
            *shown,
            f"apply (from_far {self.functions(x)} (fun {s} : R => {inside.text(e)}) {n}).",
            *braced([f"intros {s} {w} ? ? ?.", *moved, *tails, *at.follow(edge)]),
            *braced([f"intros {w} ?.", *self.rising(x, path, moved, False, False, rise)]),
        ]

    @staticmethod
    def defined(goal: Goal) -> list[str]:
        """What is under logarithms, roots and in denominators is positive, or negative."""
        lines = []
        for u in arguments(goal.f):
            shown = positive(goal.setting, u)
            if not shown:
                shown = asserted(goal.setting, TwoSides("<", u, ZERO)) or []
            lines += shown
        return lines


def arguments(*of: Json) -> Iterator[Json]:
    """What stands under logarithms and roots, and in denominators; numbers and letters do not."""
    its = {}
    for part in (part for e in of for part in parts_of(e) if part[0] in ("log", "pow")):
        exponent = Fraction(part[2][1]) if part[0] == "pow" and part[2][0] == "num" else Fraction(-1)
        if (exponent < 0 or exponent.denominator > 1) and letters_in(part[1]):
            its[str(part[1])] = part[1]
    yield from its.values()
