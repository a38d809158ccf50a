"""Scripts for integrals, and for quantiles of the normal law, which letters stand for."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dpverify.proving.rocq.chains import halves, negative, slope
from dpverify.proving.rocq.combinations import PolynomialLetters, TwoSides
from dpverify.proving.rocq.comparisons import Branch, Inner, braced, compared, parts_of, signs_of, swapped
from dpverify.proving.rocq.terms import (
    ONE,
    ZERO,
    Json,
    RocqTerms,
    UntranslatedError,
    letters_in,
    name_of,
    replaced,
)

INFINITE: list[Json] = [["inf", "-"], ["inf", "+"]]
TWO, HALF = ["num", "2"], ["num", "1/2"]


@dataclass(frozen=True)
class Primitive:
    """A rule for an integral, and what it is applied to."""

    rule: str
    its: list[Json]
    function: Json
    """Its derivative is asked for; the primitive, or a factor in it."""
    form: Json
    """The integrand, by that derivative."""
    value: Json
    first: list[list[str]]
    """A script for each condition before those on derivatives."""


def integral(setting: Branch, proof: Json) -> tuple[Json, list[str]]:
    """The value of an integral of a bell, of what decays exponentially, or by a primitive; a script with it."""
    e = proof["integral"]
    _, body, x, low, high = e
    if x in setting.kinds or x in letters_in(proof.get("rate", ZERO)):
        raise UntranslatedError("a letter that is not new")
    inside, between, shown = replace(setting, kinds={**setting.kinds, x: "real"}), "", list[str]()
    if "rate" in proof:
        shown = [f"assert (rate_ : 0 < {setting.text(proof['rate'])})."]
        shown += braced(compared(setting, TwoSides("<", ZERO, proof["rate"])))
        its = _gaussian(proof) if proof["method"] == "gaussian-integral" else _exponential(proof)
    else:
        ends = [TwoSides("<=", low, ["sym", x]), TwoSides("<=", ["sym", x], high)]
        inside, between = inside.knowing(*ends), " low_ high_"
        q, ordered = proof["primitive"], compared(setting, TwoSides("<=", low, high))
        value = difference(replaced(q, x, high), replaced(q, x, low))
        its = Primitive("integral_between", [], q, halves(slope(q, x)), value, [ordered])
    function, *ends_of = RocqTerms(setting.kinds).integral(*e[1:])
    n, given = name_of(x), " ".join(f"({setting.text(each)})" for each in its.its)
    its_slope = halves(slope(its.function, x))
    functions = " ".join(f"(fun {n} : R => {inside.text(each)})" for each in (its.function, its_slope))
    all_of_it = " ".join([function, *ends_of])
    shown += [f"eapply ({its.rule} {function} {given} {functions})."]
    for script in (
        *its.first,
        [f"intros {n}{between}; derived."],
        [f"intros {n}{between}; auto_derive; repeat split; first [exact I | apply Phi_derivable | defined]."],
        [f"intros {n}{between}; cbv beta.", *compared(inside, TwoSides("==", body, its.form))],
    ):
        shown += braced(script)
    said = f"integrable {all_of_it} /\\ integral {all_of_it} = {setting.text(its.value)}"
    lines = [f"assert ({said}) as [? integral_].", *braced(shown), "rewrite integral_; clear integral_."]
    return its.value, lines


def _gaussian(proof: Json) -> Primitive:
    """By the normal law at both ends."""
    _, _, x, low, high = proof["integral"]
    rate, center, factor, q = proof["rate"], proof["center"], proof["factor"], proof.get("part", ZERO)
    away = ["add", ["sym", x], negative(center)]
    tail = bell(["mul", rate, ["pow", away, TWO]])
    law = ["phi", ["mul", away, ["pow", ["mul", TWO, rate], HALF]]]
    rest = ["mul", q, tail]
    (below, first), (above, last) = (
        (ONE if end[1] == "+" else ZERO, ZERO)
        if end in INFINITE
        else (replaced(law, x, end), replaced(rest, x, end))
        for end in (low, high)
    )
    size = ["mul", factor, ["pow", ["mul", ["pi"], ["pow", rate, ["num", "-1"]]], HALF]]
    value = ["add", ["mul", size, difference(above, below)], difference(last, first)]
    form = ["mul", ["add", factor, halves(slope(q, x)), ["mul", ["num", "-2"], rate, away, q]], tail]
    ends = [
        ["apply bell_ends; [exact rate_ | slow]." if end in INFINITE else "apply bell_end_at."]
        for end in (low, high)
    ]
    return Primitive(
        "gaussian_integral",
        [factor, rate, center],
        q,
        form,
        value,
        [*ends, ["cbv beta; ring."], ["exact rate_."]],
    )


def _exponential(proof: Json) -> Primitive:
    """From a number to infinity."""
    _, _, x, low, high = proof["integral"]
    if high != INFINITE[1] or low[0] == "inf":
        raise UntranslatedError("ends")
    rate, q = proof["rate"], proof["factor"]
    tail = bell(["mul", rate, ["sym", x]])
    form = ["mul", ["add", halves(slope(q, x)), negative(["mul", rate, q])], tail]
    value = negative(replaced(["mul", q, tail], x, low))
    return Primitive("exponential_integral", [rate, low], q, form, value, [["exact rate_."], ["slow."]])


def difference(e: Json, other: Json) -> Json:
    """The first less the other, without what is zero."""
    if ZERO in (e, other):
        return e if other == ZERO else negative(other)
    return ["add", e, negative(other)]


def bell(e: Json) -> Json:
    """An exponential of minus this."""
    return ["exp", negative(e)]


def quantiles(setting: Branch, claim: Json, proof: Json, inner: Inner) -> list[str]:
    """With letters for quantiles, and values of the normal distribution function in the places of others."""
    lines = list[str]()
    for x, new, of, value in proof["letters"]:
        q, n, letter = name_of(new), name_of(x), ["sym", new]
        phi, place = ["phi", letter], replaced(value, new, ["phi", letter])
        if new in setting.kinds or setting.kinds[x] != "real" or x in letters_in(value):
            raise UntranslatedError("a letter that is not new")
        for k, goal in enumerate((TwoSides("<", ZERO, of), TwoSides("<", of, ONE))):
            said = f"{setting.text(goal.left)} < {setting.text(goal.right)}"
            lines += [f"assert (inside_{k} : {said}).", *braced(compared(setting, goal))]
        letters = PolynomialLetters(setting.kinds, signs_of(setting))
        kinds = {name: kind for name, kind in {**setting.kinds, new: "real"}.items() if name != x}
        for e in [e for e in parts_of(claim) if e[0] == "phi_inverse"]:
            if letters.difference(TwoSides("==", e[1], of)) == {}:
                claim = swapped(claim, e, letter)
            elif letters.difference(TwoSides("==", ["add", ONE, negative(e[1])], of)) == {}:
                claim = swapped(claim, e, negative(letter))
        given = tuple(
            TwoSides(k.relation, replaced(k.left, x, place), replaced(k.right, x, place))
            for k in setting.given
        )
        lines += [
            f"destruct (quantile_exists ({setting.text(of)}) inside_0 inside_1) as [{q} is_{q}].",
            f"assert ({n} = {replace(setting, kinds=kinds).text(place)}) by lra; clear inside_0 inside_1; subst {n}.",
            f"pose proof (Phi_positive {q}); pose proof (Phi_below_one {q}).",
            f"quantiles {q}; try clear is_{q}.",
        ]
        setting = replace(setting, kinds=kinds, given=given)
        setting = setting.knowing(TwoSides("<", ZERO, phi), TwoSides("<", phi, ONE))
        claim = replaced(claim, x, place)
    return lines + inner(setting, claim, proof["then"])
