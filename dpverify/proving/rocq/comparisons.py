"""Scripts for comparisons: by a combination of what is given in a branch of a proof, by cases, or by search."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TypeAlias

from dpverify.proving.rocq.combinations import PolynomialLetters, Product, TwoSides, combination
from dpverify.proving.rocq.terms import (
    ONE,
    RELATIONS,
    ZERO,
    Json,
    RocqTerms,
    UntranslatedError,
    domain_of,
    ends_of,
    letters_in,
    name_of,
    number,
    replaced,
)

MOST_GIVEN = 8
"""Comparisons from which the kernel's own search is asked to prove one for which no combination is found."""
DECISIONS = {"<=": "Rle_lt_dec", "<": "Rlt_le_dec", "==": "Req_EM_T"}
NEGATED = {"<=": ("<", 1), "<": ("<=", 1), "==": ("!=", 0), "!=": ("==", 0)}


@dataclass(frozen=True)
class Branch:
    """What is known in a branch of a proof: kinds of letters and all comparisons."""

    kinds: Mapping[str, str]
    given: tuple[TwoSides, ...] = ()
    values: Mapping[str, Json] = field(default_factory=dict)
    """What is taken for a letter that is to exist."""
    searched: bool = True
    """Whether the kernel may search for what no combination is found for: not among exponentials and logarithms."""
    asked: dict[str, list[str] | None] = field(default_factory=dict)
    """What `asserted` has found, here and in all branches that are made from this one."""

    def knowing(self, *more: TwoSides) -> Branch:
        """With more comparisons."""
        return replace(self, given=(*self.given, *more))

    def text(self, e: Json) -> str:
        """An expression there."""
        return RocqTerms(self.kinds).real(e)


Inner: TypeAlias = Callable[[Branch, Json, Json], list[str]]
"""The script of a claim in a branch, by a proof."""


def falsity(f: Json) -> Json:
    """A comparison that says the opposite."""
    relation, swapped = NEGATED[f[0]]
    return [relation, f[2], f[1]] if swapped else [relation, f[1], f[2]]


def braced(lines: list[str]) -> list[str]:
    """Lines for a goal among several."""
    return ["{", *(f"  {line}" for line in lines), "}"]


def known_of(v: Json) -> list[TwoSides]:
    """A variable's ends."""
    return [TwoSides(*f) for f in ends_of(v)]


def substituted(setting: Branch, claim: Json) -> list[str]:
    """Letters that are equal to an expression, replaced by it; then the claim."""
    lines = []
    while True:
        for each in setting.given:
            if each.relation != "==":
                continue
            for one, other in ((each.left, each.right), (each.right, each.left)):
                if one[0] == "sym" and setting.kinds[one[1]] == "real" and one[1] not in letters_in(other):
                    break
            else:
                continue
            break
        else:
            break
        name = one[1]
        lines.append(f"subst {name_of(name)}.")
        given = tuple(
            TwoSides(k.relation, replaced(k.left, name, other), replaced(k.right, name, other))
            for k in setting.given
            if k is not each
        )
        setting = replace(setting, given=given)
        claim = replaced(claim, name, other)
    return lines + shown(setting, claim)


def shown(setting: Branch, claim: Json) -> list[str]:
    """A script for a claim from comparisons."""
    head = claim[0]
    if head == "and":
        *first, last = claim[1:]
        lines = []
        for part in first:
            lines += ["split.", *braced(shown(setting, part))]
        return lines + shown(setting, last)
    if head == "or" or head == "implies":
        first, *rest = [["not", claim[1]], claim[2]] if head == "implies" else claim[1:]
        return either(setting, first, ["or", *rest] if len(rest) > 1 else rest[0])
    if head in RELATIONS:
        return ["conditions.", *compared(setting, TwoSides(head, claim[1], claim[2]))]
    if head == "not" and claim[1][0] in RELATIONS:
        return ["conditions.", *compared(setting, TwoSides(*falsity(claim[1])))]
    if head == "forall":
        v = claim[1]
        inside = replace(setting, kinds={**setting.kinds, v["name"]: v["kind"]}).knowing(*known_of(v))
        lines = [f"intros {' '.join([name_of(v['name']), *('?' for _ in domain_of(v))])}."]
        return lines + shown(inside, claim[2])
    if head == "exists":
        v = claim[1]
        if v["name"] not in setting.values:
            raise UntranslatedError("exists")
        value = setting.values[v["name"]]
        whole = RocqTerms(setting.kinds).integer(value) if v["kind"] == "integer" else setting.text(value)
        if whole is None:
            raise UntranslatedError("exists")
        lines = [f"exists ({whole}).", *("split; [given |]." for _ in domain_of(v))]
        return lines + shown(setting, replaced(claim[2], v["name"], value))
    raise UntranslatedError(head)


def either(setting: Branch, first: Json, rest: Json) -> list[str]:
    """One of two, by cases of the first, which is a comparison or is false of several."""
    while first[0] == "not" and first[1][0] == "not":
        first = first[1][1]
    if first[0] == "not" and first[1][0] == "and":
        # one of several is false, or the rest holds: one after another
        *_earlier, _last = first[1][1:]
        lines = []
        known = setting
        conjuncts = first[1][1:]
        for k, part in enumerate(conjuncts):
            if part[0] not in DECISIONS:
                raise UntranslatedError("or")
            a, b = (setting.text(side) for side in part[1:])
            decide = f"{DECISIONS[part[0]]} ({a}) ({b})"
            lines.append(f"destruct ({decide}) as [?|?]; [| left; {_nth(k, len(conjuncts))}defined_all ].")
            known = known.knowing(TwoSides(*part))
        return [*lines, "right.", *substituted(known, rest)]
    if first[0] == "not" and first[1][0] in DECISIONS:
        return either(setting, ["not", ["and", first[1]]], rest)
    if first[0] == "not" and first[1][0] in RELATIONS:
        first = falsity(first[1])
    if first[0] not in ("<=", "<"):
        raise UntranslatedError("or")
    a, b = (setting.text(side) for side in first[1:])
    decide = f"Rle_lt_dec ({a}) ({b})" if first[0] == "<=" else f"Rlt_le_dec ({a}) ({b})"
    other = TwoSides(*falsity(first))
    return [
        f"destruct ({decide}) as [?|?]; [left; defined_all |].",
        "right.",
        *shown(setting.knowing(other), rest),
    ]


def _nth(k: int, count: int) -> str:
    if count == 1:
        return ""
    return "right; " * k + ("left; " if k < count - 1 else "")


def compared(setting: Branch, goal: TwoSides) -> list[str]:
    """A script for a comparison."""
    for e in (goal.left, goal.right, *(side for each in setting.given for side in (each.left, each.right))):
        found = _branching(e)
        if found is not None:
            return by_cases(setting, goal, found)
    if goal.relation == "==":
        one, other = (TwoSides("<=", *sides) for sides in ((goal.left, goal.right), (goal.right, goal.left)))
        letters = PolynomialLetters(setting.kinds, signs_of(setting))
        if letters.difference(goal) == {}:
            return identity(letters)
        both = [combination(letters, side, setting.given, pairs=False) for side in (one, other)]
        if None in both and any(
            e[0] in ("exp", "log") for side in (goal.left, goal.right) for e in parts_of(side)
        ):
            return ["first [same_values | without_search]."]
        return ["apply equal_by_both.", *braced(compared(setting, one)), *braced(compared(setting, other))]
    if goal.relation == "!=":
        return ["arithmetic."]
    found = by_combination(setting, goal) or without_divisors(setting, goal)
    if found is not None:
        return found
    lines, known = with_roots(setting, goal, signs_of(setting))
    searched = known.searched and len(known.given) <= MOST_GIVEN
    return [*lines, "arithmetic." if searched else "without_search."]


def by_combination(setting: Branch, goal: TwoSides) -> list[str] | None:
    """A combination of what is given, with roots, or of the squares of both sides; None if none is found."""
    letters = PolynomialLetters(setting.kinds, signs_of(setting))
    lines, setting = with_roots(setting, goal, letters.signs)
    for pairs, squares in ((False, False), (False, True), (True, False)):
        letters_now = PolynomialLetters(setting.kinds, dict(letters.signs))
        found = combination(letters_now, goal, setting.given, pairs=pairs, squares=squares)
        if found is not None:
            return [*lines, *combined(setting, letters_now, goal, found)]
    if (
        goal.relation == "<="
        and goal.left != ZERO
        and any(True for side in (goal.left, goal.right) for _ in _under_roots(side))
    ):
        left, right = (["pow", side, ["num", "2"]] for side in (goal.left, goal.right))
        squared = TwoSides("<=", left, right)
        for squares in (False, True):
            found = combination(letters, squared, setting.given, pairs=False, squares=squares)
            if found is not None:
                return [*lines, "apply by_squares; [sign |].", *combined(setting, letters, squared, found)]
    return None


def without_divisors(setting: Branch, goal: TwoSides) -> list[str] | None:
    """The comparison multiplied by what is divided by, if all that is positive and a combination shows it then."""
    above, below = fraction(["add", goal.right, ["mul", ["num", "-1"], goal.left]])
    if not below:
        return None
    lines = []
    for base, _ in below.values():
        sign = positive(setting, base)
        if not sign:
            return None
        lines += sign
    divisor = ["mul", *(["pow", base, ["num", str(times)]] for base, times in below.values())]
    lemma = "at_most" if goal.relation == "<=" else "below"
    found = by_combination(setting, TwoSides(goal.relation, ZERO, above))
    if found is None:
        return None
    lines += [f"assert (0 {goal.relation} {setting.text(above)}).", *braced(found)]
    text = f"({setting.text(above)} * / {setting.text(divisor)})"
    return [*lines, f"apply ({lemma} {text}); [identity | {lemma}_over]."]


Divisors: TypeAlias = dict[str, tuple[Json, int]]
"""Of a fraction, with their exponents."""


def fraction(e: Json) -> tuple[Json, Divisors]:
    """An expression as one without divisions over divisors, which are no numbers."""
    if e[0] == "add":
        parts = [fraction(part) for part in e[1:]]
        common: Divisors = {}
        for _, below in parts:
            common |= {
                key: max(one, common.get(key, one), key=lambda of: of[1]) for key, one in below.items()
            }
        return ["add", *(_times(above, common, below) for above, below in parts)], common
    if e[0] == "mul":
        parts = [fraction(part) for part in e[1:]]
        together: Divisors = {}
        for _, below in parts:
            together |= {key: (b, n + together.get(key, (b, 0))[1]) for key, (b, n) in below.items()}
        return ["mul", *(above for above, _ in parts)], together
    if e[0] == "pow" and e[2][0] == "num" and Fraction(e[2][1]).denominator == 1:
        times, (above, below) = int(e[2][1]), fraction(e[1])
        if times >= 0:
            return ["pow", above, e[2]], {key: (b, n * times) for key, (b, n) in below.items()}
        if above[0] != "num":
            turned_ = ["pow", _times(ONE, below, {}), ["num", str(-times)]]
            factors = above[1:] if above[0] == "mul" else [above]
            its: Divisors = {}
            for factor in factors:
                its[str(factor)] = (factor, its.get(str(factor), (factor, 0))[1] - times)
            return turned_, its
    return e, {}


def _times(e: Json, these: Divisors, but: Divisors) -> Json:
    """An expression times the divisors that it is not divided by."""
    more = [(base, times - but.get(key, (base, 0))[1]) for key, (base, times) in these.items()]
    return ["mul", e, *(["pow", base, ["num", str(times)]] for base, times in more if times)]


def with_roots(setting: Branch, goal: TwoSides, signs: Mapping[str, str]) -> tuple[list[str], Branch]:
    """With x <= sqrt(e) for each x^2 <= e that is given, in which x is not negative."""
    lines, more = [], []
    for each in setting.given:
        for one, other in ((each.left, each.right), (each.right, each.left)):
            if one[0] != "pow" or one[2] != ["num", "2"] or (each.relation != "==" and one is each.right):
                continue
            root = ["pow", other, ["num", "1/2"]]
            lines.append(f"assert ({setting.text(one[1])} <= {setting.text(root)}) by root_above.")
            more.append(TwoSides("<=", one[1], root))
            if each.relation == "==" and one[1][0] == "sym" and signs.get(setting.text(one[1])):
                lines.append(f"assert ({setting.text(root)} <= {setting.text(one[1])}) by root_below.")
                more.append(TwoSides("<=", root, one[1]))
    bases = [
        e for each in (*setting.given, goal) for side in (each.left, each.right) for e in _under_roots(side)
    ]
    for each in setting.given:
        if each.relation != "==" and (each.left in bases or each.right in bases) and bases != []:
            low, high = (["pow", side, ["num", "1/2"]] for side in (each.left, each.right))
            if Fraction(each.left[1]) >= 0 if each.left[0] == "num" else True:
                lines.append(f"assert ({setting.text(low)} <= {setting.text(high)}) by given.")
                more.append(TwoSides("<=", low, high))
    return lines, setting.knowing(*more)


def _under_roots(e: Json) -> Iterator[Json]:
    """What stands under square roots, and factors of that."""
    if not isinstance(e, list):
        return
    if e[0] == "pow" and e[2] in (["num", "1/2"], ["num", "-1/2"]):
        yield e[1]
        if e[1][0] == "mul":
            yield from e[1][1:]
    for part in e[1:]:
        yield from _under_roots(part)


def signs_of(setting: Branch) -> dict[str, str]:
    """Which letters are known to be positive, or not negative."""
    found: dict[str, str] = {}
    for each in setting.given:
        low, high = each.left, each.right
        if low[0] == "num" and Fraction(low[1]) >= 0 and high[0] == "sym":
            strict = Fraction(low[1]) > 0 or each.relation == "<"
            text = setting.text(high)
            found[text] = "+" if strict or found.get(text) == "+" else "0"
    return found


def combined(
    setting: Branch, letters: PolynomialLetters, goal: TwoSides, products: list[Product]
) -> list[str]:
    """A combination as a script."""
    lines, parts = [], []
    for text in {name: None for each in products for name, _ in each.monomial if name in letters.shown}:
        zero, why = letters.shown[text]
        lines += [f"assert (0 {zero.relation} {text}).", *braced(combined(setting, letters, zero, why))]
    for each in products:
        if each.of and each.of[0].left[0] == "opaque":
            continue
        multiplier = f"({number(each.times)} * ({letters.written(each.monomial)}))"
        strict = (
            each.strict and goal.relation == "<" and letters.is_positive(each.monomial) and each.times > 0
        )
        sign = "<" if strict else "<="
        square = f" * {each.of[0].left}" if each.of and each.of[0].relation == "square" else ""
        sides = [] if square else [(setting.text(c.left), setting.text(c.right)) for c in each.of]
        if not sides:
            said, how = f"{multiplier}{square}", "sign"
        elif len(sides) == 1:
            ((low, high),) = sides
            said = f"{multiplier} * ({high} - {low})"
            if each.of[0].relation == "==":
                how = "apply times_equal; given"
                sign = "<="
            else:
                how = f"apply times_{'strict' if strict else 'given'}; [sign | given]"
        else:
            (a, b), (c, d) = sides
            said = f"{multiplier} * (({b} - {a}) * ({d} - {c}))"
            how, sign = "apply times_two; [sign | given | given]", "<="
        lines.append(f"assert (0 {sign} {said}) by ({how}).")
        parts.append(said)
    lemma, end = ("below", "parts_positive") if goal.relation == "<" else ("at_most", "parts")
    lines.append(f"apply ({lemma} ({' + '.join(parts) or '0'})); [clear_parts | {end}].")
    return [*lines, *identity(letters)]


def identity(letters: PolynomialLetters, end: str = "identity.") -> list[str]:
    """Both sides are the same, as `end` shows once roots, logarithms and exponentials are as in the search.

    One that is not shown to be is left as it is: perhaps nothing needs it.
    """
    lines, names = [], list[tuple[str, str]]()
    for k, (text, (other, how)) in enumerate(sorted(letters.same.items(), key=lambda pair: len(pair[0]))):
        inside = "".join(
            f"try rewrite {name}; " for name, part in reversed(names) if part.strip("()") in text
        )
        lines.append(f"try assert (same_{k} : {text} = {other}) by ({inside}{how}).")
        names.append((f"same_{k}", text))
    lines += [f"try rewrite {name} in *; try clear {name}." for name, _ in reversed(names)]
    return [*lines, end]


def asserted(setting: Branch, goal: TwoSides) -> list[str] | None:
    """That a comparison holds, by a combination; None if there is none."""
    key = str((setting.kinds, setting.given, goal))
    if key not in setting.asked:
        letters, found = PolynomialLetters(setting.kinds, signs_of(setting)), None
        with suppress(UntranslatedError):
            found = combination(letters, goal, setting.given, pairs=False)
        setting.asked[key] = None
        if found is not None:
            said = f"assert ({setting.text(goal.left)} {goal.relation} {setting.text(goal.right)})."
            setting.asked[key] = [said, *braced(combined(setting, letters, goal, found))]
    its = setting.asked[key]
    return None if its is None else [*its]


def positive(setting: Branch, e: Json) -> list[str]:
    """That an expression is positive, if what is given adds up to it."""
    return asserted(setting, TwoSides("<", ZERO, e)) or []


def exponentials(e: Json, these: Collection[str] | None = None) -> Json:
    """With exponentials in the places of these powers, or of all whose exponent is no number."""
    if isinstance(e, dict):
        return {name: exponentials(part, these) for name, part in e.items()}
    if not isinstance(e, list):
        return e
    new = [exponentials(part, these) for part in e]
    its = e[:1] == ["pow"] and e[2][0] != "num" if these is None else str(e) in these
    return ["exp", ["mul", new[2], ["log", new[1]]]] if its else new


def prepared(setting: Branch, claim: Json) -> tuple[list[str], Branch, Json, Collection[str]]:
    """With powers as exponentials, and with what is known of logarithms and of what is under them and under roots.

    Returns:
        lines, the branch and the claim, and which powers are exponentials.
    """
    given = [side for each in setting.given for side in (each.left, each.right)]
    parts = {str(e): e for side in (*given, claim) for e in parts_of(side)}
    if not any(e[0] == "log" or (e[0] == "pow" and e[2][0] != "num") for e in parts.values()):
        return [], setting, claim, ()
    lines, these = list[str](), set[str]()
    for key, part in parts.items():
        if part[0] not in ("log", "pow") or not letters_in(part) <= setting.kinds.keys():
            continue
        head, base, *exponents = exponentials(part, these)
        symbolic = head == "pow" and exponents[0][0] != "num"
        if (
            head == "pow"
            and not symbolic
            and (base[0] == "sym" or Fraction(exponents[0][1]).denominator == 1)
        ):
            continue
        shown = positive(setting, base) if letters_in(base) else []
        if not shown and letters_in(base):
            continue
        lines += shown
        if symbolic:
            b, e = (setting.text(each) for each in (base, *exponents))
            whole = RocqTerms(setting.kinds).integer(exponents[0])
            rule = f"power_is_exp {b} {e}" if whole is None else f"whole_is_exp {b} {whole} {e}"
            lines.append(f"rewrite ({rule}) in * by (given || integer_is).")
            these.add(key)
            sides = [
                (k.relation, *(exponentials(side, these) for side in (k.left, k.right)))
                for k in setting.given
            ]
            setting = replace(setting, given=tuple(TwoSides(*each) for each in sides))
        if (head == "log" or symbolic) and shown:
            more, setting = _sign_of_logarithm(setting, base)
            lines += more
    return lines, replace(setting, searched=False), exponentials(claim, these), these


def _sign_of_logarithm(setting: Branch, u: Json) -> tuple[list[str], Branch]:
    """That a logarithm is positive, or negative, if that is so; what it is of is known to be positive."""
    log = ["log", u]
    for of, its, lemma in (
        (TwoSides("<", ONE, u), TwoSides("<", ZERO, log), "log_positive"),
        (TwoSides("<=", ONE, u), TwoSides("<=", ZERO, log), "log_nonnegative"),
        (TwoSides("<", u, ONE), TwoSides("<", log, ZERO), "log_negative"),
    ):
        shown = asserted(setting, of)
        if shown is not None:
            said = f"{setting.text(its.left)} {its.relation} {setting.text(its.right)}"
            return [*shown, f"assert ({said}) by (apply {lemma}; assumption)."], setting.knowing(its)
    return [], setting


def _branching(e: Json) -> Json | None:
    """A maximum, minimum or absolute value in it, an innermost one."""
    if not isinstance(e, list):
        return None
    for part in e[1:]:
        if (found := _branching(part)) is not None:
            return found
    return e if e[0] in ("max", "min", "abs") else None


def by_cases(setting: Branch, goal: TwoSides, e: Json) -> list[str]:
    """The comparison in both cases of a maximum, a minimum or an absolute value."""
    head, first, *others = e
    if head != "abs" and len(others) != 1:
        raise UntranslatedError("max")
    one = setting.text(first)
    if head == "abs":
        lemma = f"size_of {one}"
        cases = [
            (TwoSides("<=", ZERO, first), first),
            (TwoSides("<", first, ZERO), ["mul", ["num", "-1"], first]),
        ]
    else:
        second = others[0]
        lemma = f"{'larger' if head == 'max' else 'smaller'}_of {one} {setting.text(second)}"
        up, down = (second, first) if head == "max" else (first, second)
        cases = [(TwoSides("<=", first, second), up), (TwoSides("<", second, first), down)]
    lines = [f"destruct ({lemma}) as [[? case_]|[? case_]]; try rewrite case_ in *; clear case_."]
    for known, value in cases:
        given = tuple(
            TwoSides(k.relation, swapped(k.left, e, value), swapped(k.right, e, value)) for k in setting.given
        )
        inside = replace(setting, given=(*given, known))
        new = TwoSides(goal.relation, swapped(goal.left, e, value), swapped(goal.right, e, value))
        lines += braced(compared(inside, new))
    return lines


def swapped(e: Json, old: Json, new: Json) -> Json:
    """The expression with one part in another's place."""
    if e == old:
        return new
    return [swapped(part, old, new) if isinstance(part, list) else part for part in e]


def parts_of(e: Json) -> Iterator[Json]:
    """All expressions in it."""
    if isinstance(e, list):
        for part in e[1:]:
            yield from parts_of(part)
        yield e
