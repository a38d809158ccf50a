"""Proof scripts for the kernel: what a certificate's method is there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import ceil, floor

from dpverify.proving.checker.reading import read
from dpverify.proving.checker.values import Values
from dpverify.proving.rocq.combinations import PolynomialLetters, Product, TwoSides, combination
from dpverify.proving.rocq.terms import (
    RELATIONS,
    Json,
    RocqTerms,
    UntranslatedError,
    domain_of,
    ends_of,
    letters_in,
    name_of,
    number,
    replaced,
    split,
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

    def knowing(self, *more: TwoSides) -> Branch:
        """With more comparisons."""
        return replace(self, given=(*self.given, *more))

    def text(self, e: Json) -> str:
        """An expression there."""
        return RocqTerms(self.kinds).real(e)


def falsity(f: Json) -> Json:
    """A comparison that says the opposite."""
    relation, swapped = NEGATED[f[0]]
    return [relation, f[2], f[1]] if swapped else [relation, f[1], f[2]]


def taken_apart(
    f: Json, kinds: Mapping[str, str], *, holds: bool = True
) -> tuple[str, list[tuple[TwoSides, ...]]]:
    """A pattern that takes a given formula apart, and what is known in each of its branches, in their order."""
    head = f[0]
    if head in RELATIONS:
        said = f if holds else falsity(f)
        terms = RocqTerms(kinds)
        for side in f[1:]:
            terms.real(side)
        known = (TwoSides(said[0], said[1], said[2]),)
        return "".join("[? " for _ in terms.conditions) + "?" + "]" * len(terms.conditions), [known]
    if head == "not":
        return taken_apart(f[1], kinds, holds=not holds)
    if head in ("and", "or", "implies"):
        inner = [["not", f[1]], f[2]] if head == "implies" else f[1:]
        parts = [taken_apart(part, kinds, holds=holds) for part in inner]
        every = (head == "and") == holds
        pattern, branches = parts[-1]
        for other, its in reversed(parts[:-1]):
            pattern = f"[{other} {pattern}]" if every else f"[{other} | {pattern}]"
            branches = [(*a, *b) for a in its for b in branches] if every else [*its, *branches]
        return pattern, branches
    return "?", [()]


def script(problem: Json, proof: Json) -> str:
    """A script for the statement of a problem that is proved, or refuted, like this."""
    if proof["method"] == "counterexample":
        return at_point(problem, proof["point"])
    kinds = {v["name"]: v["kind"] for v in problem["variables"]}
    names = ["dimension"] if "vector" in kinds.values() else []
    names += [name_of(v["name"]) for v in problem["variables"]]
    patterns: list[str] = []
    branches: list[tuple[TwoSides, ...]] = [()]
    known = tuple(known_of(v) for v in problem["variables"])
    for v in problem["variables"]:
        patterns += ["?"] * len(domain_of(v))
    for f in problem["assuming"]:
        pattern, more = taken_apart(f, kinds)
        patterns.append(pattern)
        branches = [(*a, *b) for a in branches for b in more]
    start = Branch(kinds, tuple(each for own in known for each in own), proof.get("values", {}))
    lines = [f"intros {' '.join([*names, *patterns])}."] if names or patterns else []
    for branch in branches:
        setting = start.knowing(*branch)
        problem, inside = differentiated(setting, problem)
        if proof["method"] == "gram":
            inside += gram(setting, problem, proof)
        elif proof["method"] == "boxes":
            edges = problem["claim"][0] == "<=" and "integer" not in kinds.values()
            inside += ["conditions; try apply at_most_by_difference." if edges else "conditions."]
            inside += in_box(proof["tree"] if edges else ["+"], proof["box"])
        elif proof["method"] == "sum":
            inside += sums(setting, problem["claim"], proof["closed"])
        elif proof["method"] == "facts":
            inside += facts(setting, problem["claim"], proof["facts"])
        elif proof["method"] == "monotone":
            inside += facts(
                setting, problem["claim"], [["order", *map(proof.get, ("function", "smaller", "larger"))]]
            )
        else:
            inside += substituted(setting, problem["claim"])
        lines += braced(inside) if len(branches) > 1 else inside
    return "\n".join(lines)


def at_point(problem: Json, point: Mapping[str, str]) -> str:
    """The script of a counterexample: its numbers, what letters are equal to at them, and an evaluation."""
    lines = []
    kinds = {v["name"]: v["kind"] for v in problem["variables"]}
    terms, vectors = RocqTerms(kinds), [name for name, kind in kinds.items() if kind == "vector"]
    known: dict[str, Json] = {name: ["num", at] for name, at in point.items() if kinds.get(name) != "vector"}
    equations = [f for given in problem["assuming"] for f in split(given) if f[0] == "=="]
    pairs = [pair for f in equations for pair in ((f[1], f[2]), (f[2], f[1]))]
    for one, other in pairs * len(equations):
        if one[0] == "sym" and one[1] not in known and letters_in(other) <= {*known, *vectors}:
            for name in letters_in(other) & {*known}:
                other = swapped(other, ["sym", name], known[name])
            known[one[1]] = other
    places = {name_of(name): point[name].strip("()").split(",") for name in vectors}
    for name, at in places.items():
        cases = " | ".join(f"{k}%nat => {number(c)}" for k, c in enumerate(at) if c.strip())
        lines.append(f"pose ({name} := (fun i => match i with {cases} | _ => 0 end) : vector).")
    if vectors:
        size = len(places[name_of(vectors[0])])
        lines += [f"pose (dimension := {size}%nat).", "exists dimension."]
    for v in problem["variables"]:
        if v["kind"] == "vector":
            lines.append(f"exists {name_of(v['name'])}.")
        elif v["name"] not in known:
            raise UntranslatedError("point")
        else:
            value = known[v["name"]]
            lines.append(f"exists {terms.integer(value) if v['kind'] == 'integer' else terms.real(value)}.")
    if vectors:
        lines.append(f"subst dimension {' '.join(places)}.")
    for name, value in known.items():
        problem = {key: swapped(problem[key], ["sym", name], value) for key in ("assuming", "claim")}
    return "\n".join([*lines, *functions_at([problem["claim"], *problem["assuming"]], terms), "evaluated."])


def in_box(tree: Json, box: Mapping[str, Json]) -> list[str]:
    """Right minus left is not negative in a box: split, or at an end of a letter, and then along the letter."""
    if tree[0] == "s":
        name, at = tree[1:3]
        (low, high), decide = box[name], f"Rle_lt_dec {name_of(name)} {number(at)}"
        parts = zip(tree[3:], ([low, at], [at, high]), strict=True)
        return [
            f"destruct ({decide}) as [?|?].",
            *(line for part, ends in parts for line in braced(in_box(part, {**box, name: ends}))),
        ]
    if tree[0] == "e":
        name, rule = tree[1], {"lower": "rising", "upper": "falling"}[tree[2]]
        rest = {other: ends for other, ends in box.items() if other != name}
        first = f"along {rule} {name_of(name)} {' '.join(map(number, box[name]))}."
        return [first, *braced(in_box(tree[4], box)), *braced(in_box(tree[3], rest))]
    if tree[0] in ("0", "="):
        return ["vanishing."]
    letters = "".join(f"i_bisect {name_of(name)}, " for name in box)
    return [f"first [enclosed | interval with ({letters}i_prec 64, i_depth 24) | arithmetic]."]


def sums(setting: Branch, claim: Json, closed: Json) -> list[str]:
    """The claim with closed forms in the places of its sums, each shown from one term to the next."""
    lines = []
    for k, (of, form) in enumerate(closed):
        found = [e for e in parts_of(claim) if e[0] == "sum" and e[2:] == of[2:]]
        if not found:
            raise UntranslatedError("sum")
        _, _, index, _, last = found[0]
        form = downwards(form)
        value = replaced(form, index, last)
        of_index = RocqTerms({**setting.kinds, index: "integer"}).real(form)
        lines += [
            f"assert (closed_{k} : {setting.text(found[0])} = {setting.text(value)}).",
            f"{{ summed (fun {name_of(index)} : Z => {of_index}). }}",
            f"rewrite closed_{k}; clear closed_{k}.",
        ]
        claim = swapped(claim, found[0], value)
    return lines + substituted(setting, claim)


def differentiated(setting: Branch, problem: Json) -> tuple[Json, list[str]]:
    """The problem with derivatives worked out in its claim, each shown by `auto_derive`."""
    claim, lines = problem["claim"], []
    while found := [e for e in parts_of(claim) if e[0] == "at" and _has_slope(e)]:
        claim = swapped(claim, found[0], replaced(*found[0][1:]))
    for k, e in enumerate({str(e): e for e in parts_of(claim) if e[0] == "diff"}.values()):
        body, letter, _, *at = e[1:]
        if not letters_in(["add", *e[1:]]) <= setting.kinds.keys():
            raise UntranslatedError("diff")
        new = slope(body, letter)
        new = replaced(new, letter, at[0]) if at else new
        lines += [
            f"assert (slope_{k} : {setting.text(e)} = {setting.text(new)}) by differentiated.",
            f"rewrite slope_{k}; clear slope_{k}.",
        ]
        claim = swapped(claim, e, new)
    return {**problem, "claim": claim}, lines


def _has_slope(e: Json) -> bool:
    return any(part[0] == "diff" for part in parts_of(e))


def slope(e: Json, letter: str) -> Json:
    """The derivative of an expression along a letter."""
    head = e[0]
    if letter not in letters_in(e):
        return ["num", "0"]
    if head == "sym":
        return ["num", "1"]
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
    raise UntranslatedError(f"slope of {head}")


def downwards(e: Json) -> Json:
    """Powers with a negated exponent as inverses."""
    if e[0] == "pow" and e[2][:2] == ["mul", ["num", "-1"]] and len(e[2]) == 3:
        return ["pow", ["pow", e[1], e[2][2]], ["num", "-1"]]
    return [downwards(part) if isinstance(part, list) else part for part in e]


BITS = 60


def functions_at(formulas: list[Json], terms: RocqTerms) -> Iterator[str]:
    """Values of functions that `interval` does not know, of numbers; each is a letter from then on."""
    its = {str(e): e for f in formulas for e in parts_of(f) if e[0] in ("phi", "erfc", "floor", "ceiling")}
    for k, (head, e) in enumerate(its.values()):
        try:
            at = Values({}, BITS).interval(read(e))
            ends = [Fraction(end + more, 2**BITS) for end, more in ((at.low, -(2**10)), (at.high, 2**10))]
            if head in ("floor", "ceiling"):
                (whole,) = {
                    (floor if head == "floor" else ceil)(Fraction(end, 2**BITS)) for end in (at.low, at.high)
                }
                x, n = (terms.real(e), whole) if head == "floor" else (f"(- {terms.real(e)})", -whole)
                yield "try unfold ceiling."
                yield f"rewrite (floor_is {x} ({n})) by bounded."
                continue
            if head == "erfc":
                raise UntranslatedError(head)
            low, high = (Values({}, BITS).interval(read(["phi", ["num", str(end)]])) for end in ends)
        except ValueError:
            raise UntranslatedError(head) from None
        numbers = [ends[0], ends[1], Fraction(low.low - 2**10, 2**BITS), Fraction(high.high + 2**10, 2**BITS)]
        limits = " ".join(map(number, numbers[2:]))
        x = terms.real(e)
        between = f"Phi_between {number(numbers[0])} {x} {number(numbers[1])} {limits}"
        yield f"pose proof ({between} ltac:(bounded) ltac:(normal) ltac:(normal))."
        yield f"set (part_{k} := Phi {x}) in *; clearbody part_{k}."


def parts_of(e: Json) -> Iterator[Json]:
    """All expressions in it."""
    if isinstance(e, list):
        for part in e[1:]:
            yield from parts_of(part)
        yield e


def gram(setting: Branch, problem: Json, proof: Json) -> list[str]:
    """A sum of products of facts about inner products."""
    claim = problem["claim"]
    flat = [part for f in problem["assuming"] for part in split(f)]
    terms = RocqTerms(setting.kinds)

    def fact(f: Json) -> tuple[str, str, bool]:
        if f[0] == "assumption":
            if not (f[1] < len(flat) and flat[f[1]][0] in RELATIONS):
                raise UntranslatedError("gram")
            relation, low, high = flat[f[1]]
            text = f"({terms.real(high)} - {terms.real(low)})"
            return text, "equal" if relation == "==" else "given", relation == "<"
        if f[0] == "norm":
            return f"(norm dimension {terms.vector(f[1])})", "apply norm_nonnegative", False
        if f[0] == "inner":
            v = terms.vector(f[1])
            return f"(inner dimension {v} {v})", "apply inner_nonnegative", False
        u, v = terms.vector(f[1]), terms.vector(f[2])
        return (
            f"(norm dimension {u} * norm dimension {v} - inner dimension {u} {v})",
            "apply cauchy_schwarz",
            False,
        )

    def parts(sum_: Json, lines: list[str]) -> str:
        texts = []
        for multiplier, *its in sum_:
            found = [fact(f) for f in its]
            if claim[0] != "==" and multiplier[0] != "num":
                zero = TwoSides("<=", ["num", "0"], multiplier)
                letters = PolynomialLetters(setting.kinds, signs_of(setting))
                shown_ = combination(letters, zero, setting.given, pairs=False)
                if shown_ is not None:
                    lines += [
                        f"assert (0 <= {setting.text(multiplier)}).",
                        *braced(combined(setting, letters, zero, shown_)),
                    ]
            said = " * ".join([setting.text(multiplier), *(text for text, _, _ in found)])
            if claim[0] == "==":
                lines.append(f"assert ({said} = 0) by (zero_products).")
            elif any(how == "equal" for _, how, _ in found):
                lines.append(f"assert (0 <= {said}) by (equal_products).")
            else:
                strict = claim[0] == "<" and bool(found) and all(s for _, _, s in found)
                lines.append(f"assert (0 {'<' if strict else '<='} {said}) by (nonnegative_products).")
            texts.append(said)
        return " + ".join(texts) or "0"

    lines = ["conditions."]
    if claim[0] not in ("<=", "<", "=="):
        raise UntranslatedError("gram")
    total_ = parts(proof["sum"], lines)
    if proof.get("base"):
        base = parts(proof["base"], lines)
        lines.append(f"apply (at_most_by_squares ({base}) ({total_})); [gram | gram | parts | parts].")
        return lines
    lemma = {"<=": "at_most", "<": "below", "==": "at_most"}[claim[0]]
    if claim[0] == "==":
        return [*lines, f"apply (equal_by ({total_})); [gram | parts_zero]."]
    return [
        *lines,
        f"apply ({lemma} ({total_})); [gram | {'parts_positive' if claim[0] == '<' else 'parts'}].",
    ]


def facts(setting: Branch, claim: Json, said: Json) -> list[str]:
    """With facts about functions."""
    lines, more = [], list[TwoSides]()
    one: Json = ["num", "1"]
    for law, function, *arguments in said:
        if law == "tangent":
            (u,) = arguments
            f = [function, u]
            if function == "exp":
                lines.append(f"pose proof (exp_ineq1_le ({setting.text(u)})).")
                more.append(TwoSides("<=", ["add", one, u], f))
            else:
                text = setting.text(u)
                lines.append(f"assert ({setting.text(f)} <= {text} - 1) by (apply log_below; given).")
                lines.append(f"assert (1 - 1 / {text} <= {setting.text(f)}) by (apply log_above; given).")
                more.append(TwoSides("<=", f, ["add", u, ["num", "-1"]]))
                inverse = ["mul", ["num", "-1"], ["pow", u, ["num", "-1"]]]
                more.append(TwoSides("<=", ["add", one, inverse], f))
        elif law == "value" and function != "phi":
            c, low, high = arguments
            f = [function, c]
            for each in (TwoSides("<=", low, f), TwoSides("<=", f, high)):
                lines.append(f"assert ({setting.text(each.left)} <= {setting.text(each.right)}) by enclosed.")
                more.append(each)
        elif law == "order" and function in ("exp", "log", "arctan", "phi"):
            u, v = arguments
            lemma = {"exp": "exp_order", "log": "log_order", "arctan": "atan_order", "phi": "Phi_order"}[
                function
            ]
            for a, b in ((u, v), (v, u)):
                letters = PolynomialLetters(setting.kinds, signs_of(setting))
                goal = TwoSides("<=", a, b)
                try:
                    found = combination(letters, goal, [*setting.given, *more], pairs=False)
                except UntranslatedError:
                    found = None
                if found is None:
                    continue
                f, g = [function, a], [function, b]
                lines.append(f"assert ({setting.text(a)} <= {setting.text(b)}).")
                lines += braced(combined(setting, letters, goal, found))
                positive = "given; " if function == "log" else ""
                how = f"apply {lemma}; [given | assumption]" if positive else f"apply {lemma}; assumption"
                lines.append(f"assert ({setting.text(f)} <= {setting.text(g)}) by ({how}).")
                more.append(TwoSides("<=", f, g))
        elif law != "reflection":  # which is known of each phi
            raise UntranslatedError(f"{law} {function}")
    return lines + substituted(setting.knowing(*more), claim)


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
        return ["apply equal_by_both.", *braced(compared(setting, one)), *braced(compared(setting, other))]
    if goal.relation == "!=":
        return ["arithmetic."]
    letters = PolynomialLetters(setting.kinds, signs_of(setting))
    lines, setting = with_roots(setting, goal, letters.signs)
    for pairs in (False, True):
        letters_now = PolynomialLetters(setting.kinds, dict(letters.signs))
        found = combination(letters_now, goal, setting.given, pairs=pairs)
        if found is not None:
            return [*lines, *combined(setting, letters_now, goal, found)]
    if goal.relation == "<=" and any(True for side in (goal.left, goal.right) for _ in _under_roots(side)):
        left, right = (["pow", side, ["num", "2"]] for side in (goal.left, goal.right))
        squares = TwoSides("<=", left, right)
        found = combination(letters, squares, setting.given, pairs=False)
        if found is not None:
            return [*lines, "apply by_squares; [sign |].", *combined(setting, letters, squares, found)]
    return [*lines, "arithmetic." if len(setting.given) <= MOST_GIVEN else "linear."]


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
    for each in products:
        if each.of and each.of[0].left[0] == "opaque":
            continue
        multiplier = f"({number(each.times)} * ({letters.written(each.monomial)}))"
        strict = (
            each.strict and goal.relation == "<" and letters.is_positive(each.monomial) and each.times > 0
        )
        sign = "<" if strict else "<="
        sides = [(setting.text(c.left), setting.text(c.right)) for c in each.of]
        if not sides:
            said, how = multiplier, "sign"
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


def identity(letters: PolynomialLetters) -> list[str]:
    """Both sides are the same, once roots, logarithms and exponentials are what they are in the search."""
    lines = []
    for k, (text, (other, how)) in enumerate(sorted(letters.same.items(), key=lambda pair: -len(pair[0]))):
        lines.append(f"assert (same_{k} : {text} = {other}) by {how}; try rewrite same_{k}; clear same_{k}.")
    return [*lines, "identity."]


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
        zero = ["num", "0"]
        cases = [
            (TwoSides("<=", zero, first), first),
            (TwoSides("<", first, zero), ["mul", ["num", "-1"], first]),
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
        inside = Branch(setting.kinds, (*given, known), setting.values)
        new = TwoSides(goal.relation, swapped(goal.left, e, value), swapped(goal.right, e, value))
        lines += braced(compared(inside, new))
    return lines


def swapped(e: Json, old: Json, new: Json) -> Json:
    """The expression with one part in another's place."""
    if e == old:
        return new
    return [swapped(part, old, new) if isinstance(part, list) else part for part in e]
