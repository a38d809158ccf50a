"""Scripts for integrals to infinite ends, and for quantiles of the normal law, which letters stand for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from dpverify.proving.rocq.chains import ZERO, halves, negative, slope
from dpverify.proving.rocq.combinations import PolynomialLetters, TwoSides
from dpverify.proving.rocq.comparisons import Branch, braced, compared, parts_of, signs_of, swapped
from dpverify.proving.rocq.terms import Json, RocqTerms, UntranslatedError, letters_in, name_of, replaced

INFINITE: list[Json] = [["inf", "-"], ["inf", "+"]]
Inner = Callable[[Branch, Json, Json], list[str]]
"""The script of a claim in a branch, by a proof."""


def integral(setting: Branch, claim: Json, proof: Json, inner: Inner) -> list[str]:
    """With the integral's value in its place: of a Gaussian bell, or of what decays exponentially."""
    if "rate" not in proof:
        raise UntranslatedError("an antiderivative between finite ends")
    e, rate = proof["integral"], proof["rate"]
    _, body, x, low, high = e
    q = proof.get("part", ZERO) if proof["method"] == "gaussian-integral" else proof["factor"]
    rises, letter = halves(slope(q, x)), ["sym", x]
    inside = replace(setting, kinds={**setting.kinds, x: "real"})
    if x in setting.kinds or x in letters_in(rate):
        raise UntranslatedError("a letter that is not new")
    if proof["method"] == "gaussian-integral" and [low, high] == INFINITE:
        factor, center = proof["factor"], proof["center"]
        away = ["add", letter, negative(center)]
        slant = ["mul", ["num", "-2"], rate, away, q]
        form = ["mul", ["add", factor, rises, slant], bell(["mul", rate, ["pow", away, ["num", "2"]]])]
        square = ["mul", ["pi"], ["pow", rate, ["num", "-1"]]]
        value = ["mul", factor, ["pow", square, ["num", "1/2"]]]
        rule, its = "gaussian_integral", [factor, rate, center]
    elif proof["method"] == "antiderivative" and high == INFINITE[1] and low[0] != "inf":
        form = ["mul", ["add", rises, ["mul", ["num", "-1"], rate, q]], bell(["mul", rate, letter])]
        value = negative(["mul", replaced(q, x, low), bell(["mul", rate, low])])
        rule, its = "exponential_integral", [rate, low]
    else:
        raise UntranslatedError("ends")
    function, *ends = RocqTerms(setting.kinds).integral(*e[1:])
    between = " ".join([function, *ends])
    n, text, given = name_of(x), setting.text(value), " ".join(f"({setting.text(each)})" for each in its)
    functions = " ".join(f"(fun {n} : R => {inside.text(each)})" for each in (q, rises))
    lines = [
        f"assert (integrable {between} /\\ integral {between} = {text}) as [? integral_].",
        *braced(
            [
                f"apply ({rule} {function} {given} {functions}).",
                *braced(compared(setting, TwoSides("<", ZERO, rate))),
                *braced(["slow."]),
                *braced([f"intros {n}; derived."]),
                *braced([f"intros {n}; auto_derive; repeat split."]),
                *braced([f"intros {n}; cbv beta.", *compared(inside, TwoSides("==", body, form))]),
            ]
        ),
        "rewrite integral_; clear integral_.",
    ]
    return lines + inner(setting, swapped(claim, e, value), proof["then"])


def bell(e: Json) -> Json:
    """An exponential of minus this."""
    return ["exp", negative(e)]


def quantiles(setting: Branch, claim: Json, proof: Json, inner: Inner) -> list[str]:
    """With letters for quantiles, and values of the normal distribution function in the places of others."""
    lines, one = list[str](), ["num", "1"]
    for x, new, of, value in proof["letters"]:
        q, n, letter = name_of(new), name_of(x), ["sym", new]
        phi, place = ["phi", letter], replaced(value, new, ["phi", letter])
        if new in setting.kinds or setting.kinds[x] != "real" or x in letters_in(value):
            raise UntranslatedError("a letter that is not new")
        for k, goal in enumerate((TwoSides("<", ZERO, of), TwoSides("<", of, one))):
            said = f"{setting.text(goal.left)} < {setting.text(goal.right)}"
            lines += [f"assert (inside_{k} : {said}).", *braced(compared(setting, goal))]
        letters = PolynomialLetters(setting.kinds, signs_of(setting))
        kinds = {name: kind for name, kind in {**setting.kinds, new: "real"}.items() if name != x}
        for e in [e for e in parts_of(claim) if e[0] == "phi_inverse"]:
            if letters.difference(TwoSides("==", e[1], of)) == {}:
                claim = swapped(claim, e, letter)
            elif letters.difference(TwoSides("==", ["add", one, negative(e[1])], of)) == {}:
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
        setting = setting.knowing(TwoSides("<", ZERO, phi), TwoSides("<", phi, one))
        claim = replaced(claim, x, place)
    return lines + inner(setting, claim, proof["then"])
