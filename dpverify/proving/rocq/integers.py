"""Scripts for what goes from one integer to the next: induction, closed forms of sums, and the binomial theorem."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from math import gcd

from dpverify.proving.checker.further.induction import Named, linear, short
from dpverify.proving.checker.reading import read
from dpverify.proving.checker.terms import BINDING, Term, symbol
from dpverify.proving.rocq.combinations import PolynomialLetters, TwoSides
from dpverify.proving.rocq.comparisons import Branch, Inner, asserted, braced, parts_of, signs_of, swapped
from dpverify.proving.rocq.terms import (
    ONE,
    RELATIONS,
    ZERO,
    Json,
    RocqTerms,
    UntranslatedError,
    letters_in,
    name_of,
    replaced,
)

NAMES = {"<=": "Rle", "<": "Rlt", "==": "eq"}


def said(e: Term) -> Json:
    """The checker's term as it is read."""
    if e.head in ("num", "sym"):
        return [e.head, str(e.number) if e.head == "num" else e.name]
    if e.head in ("sum", "product"):
        body, *ends = map(said, e.parts)
        return [e.head, body, e.name, *ends]
    if e.head in BINDING:
        raise UntranslatedError(e.head)
    return [e.head, *map(said, e.parts)]


def induction(setting: Branch, claim: Json, proof: Json, inner: Inner) -> list[str]:
    """The claim at the first integers, and from each integer to the next, in letters for what grows."""
    name, first = proof["letter"], proof["first"]
    if first[0] != "num" or claim[0] not in NAMES:
        raise UntranslatedError("induction")
    n, relation = name_of(name), RELATIONS[claim[0]]

    def text(branch: Branch, f: Json) -> str:
        return relation.format(branch.text(f[1]), branch.text(f[2]))

    places = [str(Fraction(first[1]) + k) for k in range(len(proof["bases"]))]
    apart = tuple(each for each in setting.given if name not in letters_in(["add", each.left, each.right]))
    kinds = {letter: kind for letter, kind in setting.kinds.items() if letter != name}
    here = replace(setting, kinds=kinds, given=apart)
    bases = []
    for place, part in zip(places, proof["bases"], strict=True):
        at = said(short(read(replaced(claim, name, ["num", place]))))
        sides = f"({here.text(at[1])}) ({here.text(at[2])})"
        bases.append([f"apply (same_sides {NAMES[claim[0]]} {sides}); [at_first | at_first |].",
                      *inner(here, at, part["proof"])])  # fmt: skip
    last = ["num", places[-1]]
    whole = replace(setting, given=(*apart, TwoSides("<=", last, ["sym", name])))
    lines = [f"assert (all_ : forall {n} : Z, ({places[-1]} <= {n})%Z -> {text(setting, claim)})."]
    inside = [
        f"clear dependent {n}.",
        f"apply (from_first (fun {n} : Z => {text(setting, claim)}) {places[-1]}); cbv beta.",
    ]
    inside += braced(bases[-1])
    inside += [f"intros {n} low_; pose proof (IZR_le _ _ low_)."]

    known = named(setting, proof["letters"])
    before, earlier = in_letters(setting, claim, known)
    after, later = in_letters(setting, replaced(claim, name, ["add", ["sym", name], ONE]), known)
    facts = []
    for g, what in proof["letters"]:
        for fact, shown in facts_of(whole, ["sym", g], what):
            facts.append(fact)
            inside += shown
    step = replace(whole, kinds={**setting.kinds, **{g: "real" for g, _ in proof["letters"]}})
    step = step.knowing(*facts, TwoSides(before[0], before[1], before[2]))
    letters = " ".join(name_of(g) for g, _ in proof["letters"])
    claims = [
        *(RELATIONS[f.relation].format(step.text(f.left), step.text(f.right)) for f in facts),
        text(step, before),
    ]
    over = f"forall {letters} : R, " if letters else ""
    inside += [f"assert (step_ : {over}{' -> '.join([*claims, text(step, after)])})."]
    inside += braced(
        [
            f"clear low_; intros {letters} {' '.join('?' for _ in claims)}.",
            *inner(step, after, proof["step"]["proof"]),
        ]
    )
    inside += ["intros before_; of_integers."]
    inside += [line for e, value in later for line in one_further(setting, e, value, "")]
    inside += [line for e, value in earlier for line in one_further(setting, e, value, " in before_")]
    whats = "".join(f" ({setting.text(what)})" for _, what in proof["letters"])
    inside += [f"apply (step_{whats}); first [exact before_ | known_of_letter]."]
    lines += [*braced(inside), f"assert (({places[0]} <= {n})%Z) by (apply le_IZR; lra).", "conditions."]
    for place, base in zip(places[:-1], bases, strict=False):
        lines += [f"destruct (Z.eq_dec {n} {place}) as [-> | ?].", *braced(base)]
    return [*lines, "apply all_; lia."]


def named(setting: Branch, letters: Json) -> list[Named]:
    """Letters for what has a rule for the next integer; that the rule may be used is for the kernel to see."""
    integers = frozenset(letter for letter, kind in setting.kinds.items() if kind == "integer")
    return [Named(symbol(g), read(what), integers, inverse=True) for g, what in letters]


def in_letters(setting: Branch, f: Json, known: list[Named]) -> tuple[Json, list[tuple[Json, Json]]]:
    """A comparison in letters, and what was put in others' places, one after another, without letters."""
    changes = []
    while (found := next(reachable(read(f), known), None)) is not None:
        e, one = said(found[0]), found[1]
        value = cancelled(said(one.reached(found[0])), one.integers)
        if found[0] is not one.what:
            changes.append((e, replaced(value, one.letter.name, said(one.what))))
        rest = swapped(f, e, value)
        if rest == f:
            raise UntranslatedError("another form")
        f = rest
    return f, changes


def reachable(e: Term, known: list[Named]) -> Iterator[tuple[Term, Named]]:
    """What is reached from one of these letters, and from which."""
    for one in known:
        with suppress(ValueError):
            one.reached(e)
            yield e, one
            return
    if e.head not in BINDING:
        for part in e.parts:
            yield from reachable(part, known)


def cancelled(e: Json, integers: frozenset[str]) -> Json:
    """A product, in which sums of integers above and below are cancelled."""
    factor, others, powers = Fraction(1), list[Json](), dict[tuple[tuple[str, int], ...], int]()
    for part in _factors(e):
        base, k = (part[1], -1) if part[0] == "pow" and part[2] == ["num", "-1"] else (part, 1)
        try:
            its = {name: c for name, c in linear(read(base), integers).items() if c}
        except ValueError:
            others.append(part)
            continue
        content = gcd(*its.values())
        factor *= Fraction(content) ** k
        key = tuple(sorted((name, c // content) for name, c in its.items()))
        powers[key] = powers.get(key, 0) + k
    sums = [
        ["pow", _sum_of(key), ["num", str(k)]] if k != 1 else _sum_of(key)
        for key, k in powers.items()
        if k and key != (("", 1),)
    ]
    return ["mul", *others, *([["num", str(factor)]] if factor != 1 else []), *sums]


def _factors(e: Json) -> Iterator[Json]:
    for part in e[1:] if e[0] == "mul" else [e]:
        yield from _factors(part) if part[0] == "mul" else [part]


def _sum_of(key: tuple[tuple[str, int], ...]) -> Json:
    return ["add", *(["mul", ["num", str(c)], ["sym", name]] if name else ["num", str(c)] for name, c in key)]


def facts_of(whole: Branch, g: Json, what: Json) -> Iterator[tuple[TwoSides, list[str]]]:
    """What is known of a letter for a power, a factorial or a binomial coefficient, and what shows that."""
    if what[0] == "factorial":
        yield TwoSides("<=", ONE, g), []
    elif what[0] == "binomial":
        yield TwoSides("<", ZERO, g), []
    elif what[0] == "pow":
        base = what[1]
        rising = asserted(whole, TwoSides("<=", ZERO, what[2])) is not None
        above, most, least = (
            asserted(whole, TwoSides(*each))
            for each in (("<", ZERO, base), ("<=", base, ONE), ("<=", ONE, base))
        )
        not_below = above or asserted(whole, TwoSides("<=", ZERO, base))
        if above is not None:
            yield TwoSides("<", ZERO, g), above
        elif not_below is not None and rising:
            yield TwoSides("<=", ZERO, g), not_below
        if not_below is not None and most is not None and rising:
            yield TwoSides("<=", g, ONE), [*not_below, *most]
        if least is not None and rising:
            yield TwoSides("<=", ONE, g), least


def one_further(setting: Branch, e: Json, value: Json, where: str) -> list[str]:
    """That an expression is what it is said to be from the integer before, put in its place."""
    steps = ["one_further"]
    if e[0] == "binomial":
        what = next(part for part in parts_of(value) if part[0] == "binomial")
        integers = frozenset(letter for letter, kind in setting.kinds.items() if kind == "integer")
        gaps = [
            linear(read(a), integers).get("", 0) - linear(read(b), integers).get("", 0)
            for a, b in zip(e[1:], what[1:], strict=True)
        ]
        terms = RocqTerms(setting.kinds)
        (of, above), (chosen, over) = (
            (terms.integer(a), terms.integer(b)) for a, b in zip(what[1:], e[1:], strict=True)
        )
        for k in range(gaps[1], 0, -1):
            top = over if k == gaps[1] else f"({chosen} + {k})%Z"
            steps.insert(-1, f"rewrite (binomial_over {above} ({chosen} + {k - 1})%Z {top}) by lia")
        for k in range(gaps[0], 0, -1):
            top, low = (
                above if k == gaps[0] else f"({of} + {k})%Z",
                f"({chosen} + 0)%Z" if gaps[1] else chosen,
            )
            steps.insert(-1, f"rewrite (binomial_up ({of} + {k - 1})%Z {low} {top}) by lia")
        steps.insert(-1, "rewrite ?Z.add_0_r")
    return [
        f"assert (next_ : {setting.text(e)} = {setting.text(value)}) by ({'; '.join(steps)}).",
        f"rewrite next_{where}; clear next_.",
    ]


def sums(setting: Branch, claim: Json, closed: Json, then: Json, inner: Inner) -> list[str]:
    """The claim with closed forms in the places of its sums, each shown from one term to the next."""
    lines = []
    for k, (of, form) in enumerate(closed):
        found = [e for e in parts_of(claim) if e[0] == "sum" and e[2] == of[2] and _same_ends(setting, e, of)]
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
    more, claim = powers_from_least(setting, claim)
    return [*lines, *more, *inner(setting, claim, then)]


def _same_ends(setting: Branch, e: Json, of: Json) -> bool:
    """Whether two sums have the same ends."""
    letters = PolynomialLetters(setting.kinds, signs_of(setting))
    return all(letters.difference(TwoSides("==", *ends)) == {} for ends in zip(e[3:], of[3:], strict=True))


def powers_from_least(setting: Branch, claim: Json) -> tuple[list[str], Json]:
    """The claim with a power as another one in it times the base, where the exponent of that is less by 1."""
    its = [e for e in {str(e): e for e in parts_of(claim) if e[0] == "pow" and e[2][0] != "num"}.values()
           if RocqTerms(setting.kinds).integer(e[2]) is not None]  # fmt: skip
    lines = []
    for e in its:
        for what in its:
            (one,) = named(setting, [[" ", what]])
            with suppress(ValueError):
                if e[1] == what[1] and one.ahead(read(e), 1) == 1:
                    value = ["mul", what, e[1]]
                    lines += ["conditions.", *one_further(setting, e, value, "")]
                    claim = swapped(claim, e, value)
                    break
    return lines, claim


def downwards(e: Json) -> Json:
    """Powers with a negated exponent as inverses."""
    if e[0] == "pow" and e[2][:2] == ["mul", ["num", "-1"]] and len(e[2]) == 3:
        return ["pow", ["pow", e[1], e[2][2]], ["num", "-1"]]
    return [downwards(part) if isinstance(part, list) else part for part in e]


def binomial_sum(setting: Branch, claim: Json, proof: Json, inner: Inner) -> list[str]:
    """The claim with a power of a sum in the place of a sum with binomial coefficients."""
    of, a, b, factor = (proof[part] for part in ("sum", "a", "b", "factor"))
    last = of[4]
    both = PolynomialLetters(setting.kinds, signs_of(setting)).polynomial(["add", a, b])
    total: Json = ["num", str(both.get((), 0))] if {*both} <= {()} else ["add", a, b]
    value = ["mul", factor, *([["pow", total, last]] if total != ONE else [])]
    f, p, q, t = (setting.text(e) for e in (factor, a, b, total))
    n = RocqTerms(setting.kinds).integer(last)
    return [
        f"assert (closed_ : {setting.text(of)} = {setting.text(value)}).",
        *braced(
            [
                f"transitivity ({f} * powerRZ ({p} + {q}) {n}).",
                "{ apply binomial_sum; [defined | terms_of_binomial]. }",
                f"replace ({p} + {q}) with {t} by identity. rewrite ?powerRZ_R1. identity.",
            ]
        ),
        "rewrite closed_; clear closed_.",
        *inner(setting, swapped(claim, of, value), proof["then"]),
    ]
