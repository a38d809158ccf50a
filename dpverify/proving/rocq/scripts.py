"""Proof scripts for the kernel: what a certificate's method is there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from math import ceil, floor

from dpverify.proving.checker.reading import read
from dpverify.proving.checker.values import Values
from dpverify.proving.rocq.chains import BITS, chain, slope
from dpverify.proving.rocq.combinations import PolynomialLetters, TwoSides, combination
from dpverify.proving.rocq.comparisons import (
    Branch,
    braced,
    combined,
    compared,
    exponentials,
    falsity,
    known_of,
    parts_of,
    prepared,
    signs_of,
    substituted,
    swapped,
)
from dpverify.proving.rocq.integers import binomial_sum, induction, sums
from dpverify.proving.rocq.integrals import integral, quantiles
from dpverify.proving.rocq.negations import negation
from dpverify.proving.rocq.terms import (
    ONE,
    RELATIONS,
    ZERO,
    Json,
    RocqTerms,
    UntranslatedError,
    domain_of,
    letters_in,
    name_of,
    number,
    replaced,
    split,
    truth,
)

INTEGRALS = ("gaussian-integral", "antiderivative")
SLACK = 2 ** (BITS - 36)
"""What is left between a value of the normal law and its bounds: integrals are worked out until these are shown."""


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
    if is_at_a_point(proof):
        return at_point(problem, proof)
    if proof.get("shows") == "negation":
        return "\n".join(negation(problem, proof, _by_method))
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
        inside += by_method(setting, problem, proof)
        lines += braced(inside) if len(branches) > 1 else inside
    return "\n".join(lines)


def is_at_a_point(proof: Json) -> bool:
    """Whether it is a counterexample, or one once the values of integrals are in place."""
    last = proof["then"] if proof["method"] in INTEGRALS else proof
    return last["method"] == "counterexample" or (last is not proof and is_at_a_point(last))


def by_method(setting: Branch, problem: Json, proof: Json) -> list[str]:
    """The script of a claim in a branch."""
    method, claim = proof["method"], problem["claim"]
    if method == "conjunction":
        *parts, last = (
            braced(by_method(setting, {**problem, "claim": part}, steps))
            for part, steps in zip(claim[1:], proof["parts"], strict=True)
        )
        return [*(line for part in parts for line in ("split.", *part)), *last]
    if method == "gram":
        return gram(setting, problem, proof)
    if method == "boxes":
        edges = claim[0] == "<=" and "integer" not in setting.kinds.values()
        first = "conditions; try apply at_most_by_difference." if edges else "conditions."
        return [first, in_box(proof["tree"] if edges else ["+"], proof["box"]) + "."]
    if method in ("induction", "sum", "binomial-sum", "known", *INTEGRALS, "quantile"):
        try:
            return put_in_place(setting, claim, proof)
        except ValueError as error:
            raise UntranslatedError(str(error)) from None
    lines, setting, claim, powers = prepared(setting, claim)
    proof = exponentials(proof, powers) if powers else proof
    if method == "facts":
        return lines + facts(setting, claim, proof["facts"])
    if method == "monotone":
        return lines + monotone(setting, problem, claim, proof)
    if method == "square":
        rest: Json = ["mul", ["pow", proof["root"], ["num", "2"]], proof["rest"]]
        whole = TwoSides("==", ["add", claim[2], ["mul", ["num", "-1"], claim[1]]], rest)
        inside = by_method(setting, {**problem, "claim": ["<=", ZERO, proof["rest"]]}, proof["then"])
        lines += ["conditions.", f"apply (at_most ({setting.text(rest)}))."]
        return [
            *lines,
            *braced(compared(setting, whole)),
            "apply Rmult_le_pos; [apply square_nonnegative |].",
            *inside,
        ]
    if method == "chains":
        return lines + chain(setting, claim, proof["steps"])
    return lines + substituted(setting, claim)


def _by_method(branch: Branch, claim: Json, proof: Json) -> list[str]:
    return by_method(branch, {"assuming": [], "claim": claim}, proof)


def put_in_place(setting: Branch, claim: Json, proof: Json) -> list[str]:
    """By the rules for integers, for integrals and quantiles, or with what is shown before."""
    if proof["method"] == "induction":
        return induction(setting, claim, proof, _by_method)
    if proof["method"] == "sum":
        return sums(setting, claim, proof["closed"], proof["then"], _by_method)
    if proof["method"] == "binomial-sum":
        return binomial_sum(setting, claim, proof, _by_method)
    if proof["method"] in INTEGRALS:
        value, lines = integral(setting, proof)
        return lines + _by_method(setting, swapped(claim, proof["integral"], value), proof["then"])
    if proof["method"] == "quantile":
        return quantiles(setting, claim, proof, _by_method)
    lines = []
    for part in proof["facts"]:
        fact = part["fact"]
        lines += [
            f"assert ({truth(fact, setting.kinds)}).",
            *braced(_by_method(setting, fact, part["proof"])),
        ]
        setting = setting.knowing(TwoSides(*fact))
    return lines + _by_method(setting, claim, proof["then"])


def monotone(setting: Branch, problem: Json, claim: Json, proof: Json) -> list[str]:
    """With a function's values in the order of its arguments, which the inner proof shows."""
    function, u, v = proof["function"], proof["smaller"], proof["larger"]
    relation = claim[0]
    lemma = {"<=": f"{function}_order", "<": "exp_increasing" if function == "exp" else "ln_increasing"}[
        relation
    ]
    how = f"apply {lemma}; [given | assumption]" if function == "log" else f"apply {lemma}; assumption"
    ends = TwoSides(relation, [function, u], [function, v])
    lines = [f"assert ({setting.text(u)} {relation} {setting.text(v)})."]
    lines += braced(by_method(setting, {**problem, "claim": [relation, u, v]}, proof["then"]))
    lines.append(f"assert ({setting.text(ends.left)} {relation} {setting.text(ends.right)}) by ({how}).")
    return lines + substituted(setting.knowing(ends), claim)


def at_point(problem: Json, proof: Json) -> str:
    """The script of a counterexample: its numbers, what letters are equal to at them, and an evaluation."""
    lines, integrals = list[str](), list[Json]()
    while proof["method"] != "counterexample":
        integrals, proof = [*integrals, proof], proof["then"]
    point: Mapping[str, str] = proof["point"]
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
        integrals = [
            {part: swapped(e, ["sym", name], value) if isinstance(e, list) else e for part, e in each.items()}
            for each in integrals
        ]
    for each in integrals:
        value, shown = integral(Branch({}), each)
        lines += shown
        problem = {**problem, "claim": swapped(problem["claim"], each["integral"], value)}
    return "\n".join([*lines, *functions_at([problem["claim"], *problem["assuming"]], terms), "evaluated."])


def in_box(tree: Json, box: Mapping[str, Json]) -> str:
    """Right minus left is not negative in a box: split, or at an end of a letter, and then along the letter.

    One tactic, which ends at the first part that is not shown.
    """
    if tree[0] == "s":
        name, at = tree[1:3]
        (low, high), decide = box[name], f"Rle_lt_dec {name_of(name)} {number(at)}"
        parts = zip(tree[3:], ([low, at], [at, high]), strict=True)
        inside = " | ".join(in_box(part, {**box, name: ends}) for part, ends in parts)
        return f"(destruct ({decide}) as [?|?]; [{inside}])"
    if tree[0] == "e":
        name, rule = tree[1], {"lower": "rising", "upper": "falling"}[tree[2]]
        rest = {other: ends for other, ends in box.items() if other != name}
        ends = " ".join(map(number, box[name]))
        return f"(along {rule} {name_of(name)} {ends}; [{in_box(tree[4], box)} | {in_box(tree[3], rest)}])"
    if tree[0] in ("0", "="):
        return "vanishing"
    letters = "".join(f"i_bisect {name_of(name)}, " for name in box)
    return f"first [enclosed | interval with ({letters}i_prec 64)]"


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
        numbers = [ends[0], ends[1], Fraction(low.low - SLACK, 2**BITS), Fraction(high.high + SLACK, 2**BITS)]
        limits = " ".join(map(number, numbers[2:]))
        x = terms.real(e)
        between = f"Phi_between {number(numbers[0])} {x} {number(numbers[1])} {limits}"
        yield f"pose proof ({between} ltac:(bounded) ltac:(normal) ltac:(normal))."
        yield f"set (part_{k} := Phi {x}) in *; clearbody part_{k}."


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
                zero = TwoSides("<=", ZERO, multiplier)
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
    for law, function, *arguments in said:
        if law == "tangent":
            (u,) = arguments
            f = [function, u]
            if function == "exp":
                lines.append(f"pose proof (exp_ineq1_le ({setting.text(u)})).")
                more.append(TwoSides("<=", ["add", ONE, u], f))
            else:
                text = setting.text(u)
                lines.append(f"assert ({setting.text(f)} <= {text} - 1) by (apply log_below; given).")
                lines.append(f"assert (1 - 1 / {text} <= {setting.text(f)}) by (apply log_above; given).")
                more.append(TwoSides("<=", f, ["add", u, ["num", "-1"]]))
                inverse = ["mul", ["num", "-1"], ["pow", u, ["num", "-1"]]]
                more.append(TwoSides("<=", ["add", ONE, inverse], f))
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
