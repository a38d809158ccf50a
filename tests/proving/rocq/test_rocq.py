"""Statements and scripts for Rocq: the kernel accepts true ones and refuses planted faults."""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from functools import cache
from math import prod
from pathlib import Path
from typing import Any

import pytest

from dpverify.cli import main
from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.formulas.notation import reader
from dpverify.ledger.besides.kernels import KernelReason
from dpverify.ledger.verdicts import Variant
from dpverify.proving import two_readers
from dpverify.proving.checker import check
from dpverify.proving.rocq import kernel
from dpverify.proving.rocq.combinations import PolynomialLetters, TwoSides, combination
from dpverify.proving.rocq.kernel import (
    KernelRow,
    RocqTheorem,
    allowed,
    file_of,
    found_kernel,
    theorem_of,
)
from dpverify.proving.rocq.terms import Json, RocqTerms, UntranslatedError, boxed, name_of, statement
from dpverify.proving.second_reader import RefusedError, read
from dpverify.statements.own_pages import read_pages
from dpverify.verification.catalog.rows import answered
from dpverify.verification.kernel_rows import kernel_row, with_equations

from .problems import (
    BOUND,
    BROKEN,
    FALSE,
    LINE,
    MINUS,
    NORMAL,
    ONE,
    SMT,
    TRUE,
    TWO,
    N,
    T,
    X,
    Y,
    beyond,
    letter,
    over,
    problem,
    slope,
)


def test_a_statement_says_where_its_parts_are_defined() -> None:
    assert statement(BOUND) == (
        "forall (x : R) (y : R),\n  0 < x ->\n  0 < y ->\n  x <= 2 * y ->\n  (y <> 0 /\\ x / y <= 2)"
    )
    assert statement(BROKEN, holds=False) == (
        "exists x : R, exists y : R, \n  0 < x /\\\n  0 < y /\\\n  (y <> 0 /\\ 2 < x / y)"
    )


@pytest.mark.parametrize(
    ("claim", "says"),
    [
        (["<", ["log", X], Y], "(0 < x /\\ ln x < y)"),
        (["<=", ["pow", X, Y], ONE], "(power_defined x y /\\ power x y <= 1)"),
        (["<=", ["pow", Y, N], X], "((y <> 0 \\/ 0 <= IZR n) /\\ powerRZ y n <= x)"),
        (["not", ["and", ["<=", X, Y], ["<", Y, X]]], "(y < x \\/ x <= y)"),
        (["implies", ["==", over(X), Y], ["!=", X, Y]], "((x <> 0 /\\ / x <> y) \\/ x <> y)"),
        (["exists", letter("C"), ["<=", X, ["sym", "C"]]], "(exists C : R, 0 < C /\\ x <= C)"),
        (["forall", letter("R", low=None), ["<=", X, ["sym", "R"]]], "(forall R_ : R, x <= R_)"),
        (["==", slope(over(X)), Y],
         "(locally x (fun x : R => x <> 0) /\\ ex_derive (fun x : R => / x) x /\\ Derive (fun x : R => / x) x = y)"),
        (["<", ["phi_inverse", X], Y], "(0 < x /\\ x < 1 /\\ Phi_inverse x < y)"),
        (["==", ["integral", over(["sym", "z"]), "z", ONE, ["inf", "+"]], Y],
         "((forall z : R, 1 <= z -> z <> 0) /\\ integrable (fun z : R => / z) (at_point 1) (Rbar_locally p_infty) /\\"),
        (["<=", ["integral", over(Y), "z", X, TWO], Y],
         "(x <= 2 /\\ (forall z : R, x <= z -> z <= 2 -> y <> 0) /\\ "),
        (["<=", ["sum", ["mul", ["sym", "i"], X], "i", ONE, N], Y],
         "((1)%Z <= n)%Z"),
    ],
)  # fmt: skip
def test_what_operators_say(claim: Json, says: str) -> None:
    letters = (letter("x"), letter("y"), letter("n", "integer"))
    assert says in statement(problem(claim, letters=letters))


SIGNS = re.compile(r"\d+|[a-z]+|IZR|[-+*/^()]")


def worked_out(text: str, at: dict[str, Fraction]) -> Fraction:
    """What Rocq makes of a text: `^` binds more than `-` and `/` in front, these more than `*` and `/`."""
    signs = [*reversed(SIGNS.findall(text))]

    def part() -> Fraction:
        sign = signs.pop()
        if sign == "(":
            value = summed()
            assert signs.pop() == ")"
            return value
        return part() if sign == "IZR" else at[sign] if sign in at else Fraction(sign)

    def signed() -> Fraction:
        if signs[-1] in "-/":
            return -signed() if signs.pop() == "-" else 1 / signed()
        value = part()
        if signs and signs[-1] == "^":
            signs.pop()
            return value ** int(part())
        return value

    def multiplied() -> Fraction:
        value = signed()
        while signs and signs[-1] in "*/":
            value = value * signed() if signs.pop() == "*" else value / signed()
        return value

    def summed() -> Fraction:
        value = multiplied()
        while signs and signs[-1] in "+-":
            value = value + multiplied() if signs.pop() == "+" else value - multiplied()
        return value

    value = summed()
    assert not signs
    return value


def drawn(draws: random.Random, depth: int) -> Json:
    """A formula in x and n."""
    if not depth or draws.random() < 0.2:
        return draws.choice([X, N, TWO, MINUS, ["num", "1/3"], ["num", "-2/3"]])
    if draws.random() < 0.2:
        return ["pow", drawn(draws, depth - 1), ["num", draws.choice(("-2", "-1", "2", "3"))]]
    head = draws.choice((["add"], ["mul"], ["mul", MINUS]))
    return [*head, *(drawn(draws, depth - 1) for _ in range(draws.randint(1, 3)))]


def exact(e: Json, at: dict[str, Fraction]) -> Fraction:
    """Its value."""
    if e[0] in ("num", "sym"):
        return Fraction(e[1]) if e[0] == "num" else at[e[1]]
    if e[0] == "pow":
        return exact(e[1], at) ** int(e[2][1])
    values = [exact(part, at) for part in e[1:]]
    return sum(values, Fraction(0)) if e[0] == "add" else prod(values, start=Fraction(1))


def test_no_bracket_is_left_out_that_is_needed() -> None:
    """Of 1,000 formulas, the text has the formula's value by the rules of Rocq's notation."""
    draws, at, tried = random.Random(0), {"x": Fraction(7, 3), "n": Fraction(5)}, 0
    while tried < 1000:
        e = drawn(draws, 4)
        try:
            value = exact(e, at)
        except ZeroDivisionError:
            continue
        tried += 1
        text = RocqTerms({"x": "real", "n": "integer"}).real(e)
        assert worked_out(text, at) == value, text


def test_what_is_printed_stays_in_its_comment() -> None:
    lines = ("(*) *)", '"', "\\theta^*) Theorem (** x", "two\nlines")
    text = RocqTheorem("a*)b", "True", "exact I.", lines).text(0)
    comment = text.partition("Theorem row_0")[0]
    assert comment.startswith("(* a* )b\n   ( * ) * )\n   ''\n   \\theta^* ) Theorem ( ** x\n   two lines *)")
    assert (comment.count("(*"), comment.count("*)"), comment.count('"')) == (1, 1, 0)


def test_the_checker_says_the_same_of_methods_with_steps() -> None:
    for row in (*TRUE, *FALSE):
        if row.proof["method"] not in ("smt", "gram", "monotone", "induction", "counterexample"):
            witness = {v["name"]: "1" if v["lower_open"] else v["lower"] for v in row.problem["variables"]}
            witness |= {"x": "1/2"} if row.name in ("tail", "below one", "quantile") else {}
            assert check({"version": 1, "witness": witness, **certificate(row)}).confirmed is (row in TRUE), (
                row.name
            )


def test_what_has_no_meaning_there_is_refused_and_said() -> None:
    unknown, far_up = problem(["<=", ["gamma", X], Y]), ["inf", "+"]
    for claim in (unknown["claim"], *(["<=", ["integral", X, "z", *ends], Y]
                  for ends in ([far_up, far_up], [ONE, ["inf", "-"]], [ONE, ["sym", "z"]]))):  # fmt: skip
        with pytest.raises(UntranslatedError):
            statement(problem(claim, letters=tuple(map(letter, "xyz"))))
    assert theorem_of(KernelRow("", unknown, "proved", SMT)) is KernelReason.OPERATOR
    assert theorem_of(KernelRow("", BOUND, "certified", SMT)) is KernelReason.METHOD
    slow = beyond(LINE, [ONE, ["pow", T, ["num", "1/3"]]], T)
    assert theorem_of(KernelRow("", LINE, "refuted", slow)) is KernelReason.METHOD


def test_each_letter_has_a_name_of_its_own() -> None:
    names = [
        "w*",
        "w_",
        "w__",
        "w",
        "R",
        "R_",
        "x+",
        "x-",
        "x_",
        "i+1",
        "i_1",
        "i_2b_1",
        "α",
        "σ",
        "part1",
        "part1_",
        "_",
    ]
    assert len({name_of(name) for name in names}) == len(names)
    assert all(re.fullmatch(r"[A-Za-z_][A-Za-z0-9_']*", name_of(name)) for name in names)
    claim = ["<=", ["sym", "w*"], ["sym", "w_"]]
    text = statement(problem(claim, letters=(letter("w*"), letter("w_"))))
    assert text.endswith(f"{name_of('w*')} <= {name_of('w_')}")


def test_an_index_that_is_also_in_an_end_of_its_sum_is_refused() -> None:
    """From i + 1 to 9 of 1 / i, where i is -3: the condition that its terms are defined would be one on another i."""
    of_itself = ["sum", over(["sym", "i"]), "i", ["add", ["sym", "i"], ONE], ["num", "9"]]
    letters = (letter("i", "integer", None), letter("y"))
    with pytest.raises(UntranslatedError):
        statement(problem(["!=", of_itself, Y], letters=letters))


def test_a_value_in_a_letters_place_is_defined() -> None:
    assert "x <> 0" in statement(problem(["==", ["at", Y, "z", over(X)], Y]))


def test_a_box_is_said() -> None:
    inside = boxed(BOUND, {"x": ["0", "1"], "y": ["1", "2"]})
    assert statement(inside).split(" ->\n  ")[:4] == [
        "forall (x : R) (y : R),\n  0 < x",
        "x <= 1",
        "1 <= y",
        "y <= 2",
    ]


def source(display: str, formula: str = "z^2") -> Any:
    """A formula in x and y, where y stands for a formula in z."""
    letters = [
        {"latex": name, "formula": formula if name == "y" else "", "variable": letter(name)}
        for name in ("x", "y", "z")
    ]
    rest = dict.fromkeys(("given", "reading", "soft", "fixed", "premises", "also"), "")
    return {"display": display, "letters": letters, "definitions": [], **rest}


def test_letters_that_stand_for_formulas_are_equal_to_them() -> None:
    printed = source(r"x\le y")
    whole = with_equations(read(printed), printed)
    assert [v["name"] for v in whole["variables"]] == ["x", "y", "z"]
    assert whole["assuming"] == [["==", Y, ["pow", ["sym", "z"], TWO]]]
    printed = source(r"x\le y", r"\mathbb{E}z")
    assert with_equations(read(printed), printed)["assuming"] == []
    with pytest.raises(RefusedError):
        with_equations(read(printed), printed, ["y"])
    printed = source(r"\forall z>0\colon x\le z y")
    with pytest.raises(RefusedError):
        with_equations(read(printed), printed)


PAGE = r"""## A sum {#mine.sum}

| letter | domain | unit | meaning |
| --- | --- | --- | --- |
| $x$ | [0, oo) | 1 | a number |

`sum` (conclusion):
$$x=x+x$$
"""


def test_what_the_first_reader_misreads_is_no_theorem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`=` as `<=`, and nobody compares: provers and checker are content, and the theorem is of what is printed."""
    monkeypatch.setattr(reader, "_RELATIONS", {**reader._RELATIONS, "=": "<="})
    monkeypatch.setattr(two_readers, "disagreement", lambda obligation: "")
    page = tmp_path / "mine.md"
    page.write_text(PAGE)
    (its,) = read_pages(page).statements
    (obligation,) = its.printed
    (record,) = answered(its, Variant.PRINTED, obligation)[:1]
    assert record.certificate["problem"]["claim"][0] == "<="
    assert record.evidence.confirmed_by_checker
    asked = kernel_row(obligation, record.evidence, record.certificate)
    assert isinstance(asked, KernelRow)
    theorem = theorem_of(asked)
    assert isinstance(theorem, RocqTheorem)
    assert theorem.statement == "forall (x : R),\n  0 <= x ->\n  x = x + x"


@cache
def theorems() -> list[RocqTheorem]:
    """Of all true rows."""
    return [theorem for row in TRUE if isinstance(theorem := theorem_of(row), RocqTheorem)]


def test_a_file_has_scripts_and_nothing_that_could_add_an_axiom() -> None:
    text = file_of(theorems())
    assert len(theorems()) == len(TRUE) == text.count("\nQed.\n") == text.count("\nTheorem ")
    assert not {"Admitted", "Axiom", "Parameter", "admit", "Abort"} & set(text.replace(".", " ").split())
    for theorem in theorems():
        assert all(
            theorem.text(0).count(one) == theorem.text(0).count(other) for one, other in ("()", "[]", "{}")
        )


def test_no_tactic_may_search_without_end() -> None:
    """Groebner bases have no bound that is known before; each other search of the scripts has one.

    In rules.v, nothing is assumed, either, under a name that is on the list of axioms.
    """
    sources = [kernel.RULES, Path(kernel.__file__).with_name("rules.v").read_text()]
    assert not re.search(
        r"\b(Axioms?|Parameters?|Conjecture|Hypothes[ie]s|Variables?|Admitted|admit|Module)\b", sources[1]
    )
    sources += [theorem.script for theorem in theorems()]
    assert not re.search(
        r"(?i)nsatz|psatz_|\bpsatz\b|eauto|firstorder|timeout", " ".join(sources).replace("Psatz.", "")
    )


def test_a_combination_is_right_minus_left() -> None:
    """At random points, worked out in fractions: not by what found it."""
    letters = PolynomialLetters({"x": "real", "y": "real"}, {"x": "+", "y": "+"})
    goal = TwoSides("<=", ["mul", X, X, over(Y)], ["mul", TWO, X])
    given = TwoSides("<=", X, ["mul", TWO, Y])
    found = combination(letters, goal, [given], pairs=False)
    assert found is not None
    draws = random.Random(0)
    for _ in range(5):
        at = {name: Fraction(draws.randint(1, 99), draws.randint(1, 99)) for name in ("x", "y")}
        total = Fraction(0)
        for product in found:
            value = product.times
            for name, exponent in product.monomial:
                value *= at[name] ** int(exponent)
            total += value * ((2 * at["y"] - at["x"]) if product.of else 1)
        assert total == 2 * at["x"] - at["x"] ** 2 / at["y"]
    assert combination(letters, TwoSides("<=", X, Y), [given], pairs=True) is None


SEARCH = """
from dpverify.proving.rocq.combinations import PolynomialLetters, TwoSides, combination
a, b, c = (["sym", name] for name in "abc")
letters = PolynomialLetters(dict.fromkeys("abc", "real"), dict.fromkeys("abc", "+"))
goal = TwoSides("<=", ["mul", a, a, c], ["mul", b, b, c])
found = combination(letters, goal, [TwoSides("<=", a, b)], pairs=False)
"""


def test_of_several_combinations_the_same_is_found_each_time() -> None:
    """Whatever the order in which another run of Python has its sets."""
    here: dict[str, Any] = {}
    exec(SEARCH, here)
    other = "0" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    said = subprocess.run(
        [sys.executable, "-c", f"{SEARCH}print(found)"],
        capture_output=True, text=True, check=True, env={**os.environ, "PYTHONHASHSEED": other},
    ).stdout  # fmt: skip
    assert said == f"{here['found']}\n"


@pytest.mark.parametrize(
    ("said", "may"),
    [
        ("Closed under the global context\n", True),
        ("Axioms:\nClassicalDedekindReals.sig_forall_dec\n  : forall P, P\nPrimInt63.add : int -> int\n", True),
        ("Axioms:\nStdlib.Logic.Classical_Prop.classic : forall P : Prop, P \\/ ~ P\n", True),
        ("Fetching opaque proofs from disk for Coq.Init.Nat\nClosed under the global context\n", True),
        ("Fetching opaque proofs from disk for Coq.Init.Nat : False\nClosed under the global context\n", False),
        ("Axioms:\nrow_0 : 0 = 1\n", False),
        ("Axioms:\nClassical_Prop.classic : forall P\nmine.classic : False\n", False),
        ("Axioms:\nPrimInt63.add : int -> int\nUint63Axioms.add_spec : forall x y\n", True),
        ("Axioms:\nFloatAxioms.add_spec : forall x y\n", False),
        ("Axioms:\nUint63Axioms.add_spec : forall x y\nUint63AxiomsToo.mine : False\n", False),
        ("", False),
    ],
)  # fmt: skip
def test_axioms_are_on_the_list(said: str, may: bool) -> None:
    assert allowed(said) is may


def test_a_path_that_is_no_compiler_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="kernel-path"):
        found_kernel("/nowhere/coqc")


INSTALLED = found_kernel()
only_with_rocq = pytest.mark.skipif(INSTALLED is None, reason="Rocq is not installed")


def faults(row: KernelRow) -> list[KernelRow]:
    """The row with a constant changed by 2 percent, a sign, a condition dropped, or letters exchanged."""

    def changed(e: Json, old: Json, new: Json) -> Json:
        return (
            new if e == old else [changed(part, old, new) if isinstance(part, list) else part for part in e]
        )

    claim, assuming = row.problem["claim"], row.problem["assuming"]
    between = ["sym", "?"]
    made = [
        {**row.problem, "claim": changed(claim, TWO, ["num", "49/25"])},
        {**row.problem, "claim": [claim[0], claim[1], ["mul", ["num", "-1"], claim[2]]]},
        {**row.problem, "assuming": assuming[1:]},
        {**row.problem, "claim": changed(changed(changed(claim, X, between), Y, X), between, Y)},
    ]
    return [replace(row, problem=new) for new in made]


def in_a_line(row: Json) -> str:
    """A statement as lines of scripts have it, each of whole sentences."""
    return " ".join(statement(row).split())


BY_HAND = {
    "admitted": "admit.\nAdmitted.\nTheorem other : True. exact I.",
    "axiom": f"Abort. Axiom mine : False. Theorem row_0 : {in_a_line(BOUND)}. exfalso. exact mine.",
    "another": "Abort. Theorem row_1 : True. exact I.",
    "after tactics": "intros. Abort. Theorem row_2 : True. exact I.",
    "behind a bullet": "idtac.\n- Abort.\n- Definition ln (x : R) : R := 0.\n- Theorem row_0 : True. exact I.",
    "behind a comment": 'idtac. (* *) Abort. (* *) Local Notation "x = y" := True. (* *) Theorem row_0 : 0 = 1.',
    "behind a selector": "all: Abort.",
    "open comment": "intros. (* what follows is not read",
    "half a sentence": "intros.\nlra",
}


@pytest.mark.parametrize("name", BY_HAND)
def test_a_script_with_commands_is_not_even_asked(name: str) -> None:
    assert not RocqTheorem(name, statement(BOUND), BY_HAND[name]).is_of_tactics


def test_a_compiler_without_its_read_loop_or_libraries_is_refused(tmp_path: Path) -> None:
    compiler, loop = tmp_path / "coqc", tmp_path / "coqtop"
    compiler.write_text("#!/bin/sh\necho 'The Coq Proof Assistant, version 8.16.1'\n")
    compiler.chmod(0o755)
    with pytest.raises(InvalidArgumentError, match="with the libraries Coquelicot and Interval"):
        found_kernel(str(compiler))
    loop.write_text("#!/bin/sh\ncase $* in *Interval*) exit 1;; esac\n")
    loop.chmod(0o755)
    with pytest.raises(InvalidArgumentError, match="with the libraries Coquelicot and Interval"):
        found_kernel(str(compiler))
    loop.write_text("#!/bin/sh\n")
    found = found_kernel(str(compiler))
    assert found is not None
    assert found.version == "8.16.1"
    compiler.write_text("#!/bin/sh\necho 'The Coq Proof Assistant, version 8.9.1'\n")
    with pytest.raises(InvalidArgumentError, match=r"8\.16 or newer"):
        found_kernel(str(compiler))


def test_a_read_loop_that_ends_between_two_sentences_is_no_fault(tmp_path: Path) -> None:
    """What was still to be written to it is lost, and its exit status is what it is."""
    loop = ("sh", "-c", f"exec 0<&-; echo {kernel._AFTER}; exit 3")
    assert kernel._status(kernel.Kernel(("sh",), loop, "8.16"), tmp_path, [["one."], ["another."]], 10) == 3


def test_what_does_not_compile_is_said_in_a_sentence(tmp_path: Path) -> None:
    compiler = tmp_path / "coqc"
    compiler.write_text("#!/bin/sh\necho Error: no such thing. >&2\nexit 1\n")
    compiler.chmod(0o755)
    broken = kernel.Kernel((str(compiler),), ("true",), "8.16.1")
    with pytest.raises(
        InvalidDataError, match=r"does not compile semantics\.v, but says: Error: no such thing\."
    ):
        kernel.ask(broken, TRUE[:1], workers=1, memory=False)


def test_a_file_of_the_users_own_is_left_alone(tmp_path: Path) -> None:
    kernel.write_sources(tmp_path)
    kernel.write_sources(tmp_path)
    (tmp_path / "semantics.v").unlink()
    (tmp_path / "rules.v").write_text("Definition mine := 1.\n")
    with pytest.raises(InvalidDataError, match=r"rules\.v is no file of dpverify"):
        kernel.write_sources(tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["rules.v"]


ARCTAN = problem(["<=", ["arctan", X], ["num", "0"]])
"""False; true of another arctan, which a script, or rules.v, defines."""
OTHER = "Definition atan (x : R) : R := 0."
DEFINING = {
    "by script": f"idtac.\n- Abort.\n{OTHER}\nTheorem row_0 : {in_a_line(ARCTAN)}. intros; unfold atan; lra.",
    "by rules": "intros; unfold atan; lra.",
}


@only_with_rocq
def test_the_kernel_accepts_what_is_true_and_refuses_planted_faults(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Faults with the script of the true row, and with their own; scripts with commands, as if these were let in."""
    assert INSTALLED is not None
    monkeypatch.setattr(RocqTheorem, "is_of_tactics", True)
    monkeypatch.setattr(kernel, "RULES", f"{kernel.RULES}Module Mine. {OTHER} End Mine. Import Mine.\n")
    wrong = faults(TRUE[0])
    for row in wrong:
        assert not check({"version": 1, "witness": {"x": "1", "y": "1"}, **certificate(row)}).confirmed
    by_hand = [replace(TRUE[0], name=name) for name in ("axiom", "another")]
    by_hand += [KernelRow(name, ARCTAN, "proved", SMT) for name in DEFINING]
    scripts = {theorem.name: theorem.script for theorem in theorems()} | {**BY_HAND, **DEFINING}
    known = {row.name: theorem for row, theorem in zip(TRUE, theorems(), strict=True)}

    def made(row: KernelRow) -> RocqTheorem | KernelReason:
        return (
            RocqTheorem(row.name, statement(row.problem), scripts[row.name])
            if row in (*wrong, *by_hand)
            else known[row.name]
            if row in TRUE
            else theorem_of(row)
        )

    own = [
        replace(wrong[2], name="own"),
        replace(TRUE[-1], problem=problem(["<=", ["phi", Y], ["num", "23/25"]], *NORMAL["assuming"])),
    ]
    kernel.write_sources(tmp_path)
    for name in kernel.SOURCES:
        kernel._compiled(INSTALLED, tmp_path / name)
    first, *others = by_hand
    assert {*kernel._batch(INSTALLED, tmp_path, 2, [first], made)} == {KernelReason.AXIOM}
    assert {*kernel._batch(INSTALLED, tmp_path, 3, others, made)} == {KernelReason.SCRIPT}
    rows = [*wrong, *TRUE, *own, *FALSE]
    answers = kernel._batch(INSTALLED, tmp_path, 1, rows, made)
    accepted = [row.name for row, reason in zip(rows, answers, strict=True) if reason is None]
    assert accepted == [row.name for row in TRUE]


def certificate(row: KernelRow) -> Json:
    """What the checker is asked of a row."""
    return {"problem": row.problem, "verdict": row.verdict, "proof": row.proof}


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["check", "nowhere", "--kernel", "lean"], "--kernel was 'lean'; allowed: rocq"),
        (
            ["check", "nowhere", "--kernel-path", "coqc"],
            "--kernel-path was 'coqc'; allowed: only together with --kernel",
        ),
        (["prove", "yao", "--rocq", "semantics.v"], "--rocq was 'semantics.v'"),
        (["prove", "yao", "--rocq", "nowhere/file.v"], "--rocq was 'nowhere/file.v'"),
        (
            ["prove", "yao", "--rocq", "/proc/file.v"],
            "--rocq was '/proc/file.v'; allowed: a file that can be written",
        ),
        (["prove", "theorems", "--rocq", "file.v"], "id was 'theorems'; allowed: statements of papers"),
        (["prove", "mechanisms", "--rocq", "file.v"], "id was 'mechanisms'; allowed: statements of papers"),
        *(
            (["prove", "yao", "--rocq", "file.v", *option], "allowed: no other option beside it but --jobs")
            for option in (
                ["--json", "-"],
                ["--format", "markdown"],
                ["--watch"],
                ["--again"],
                ["--strict"],
                ["--audit"],
            )
        ),
    ],
)
def test_bad_input_is_refused_in_a_sentence(
    options: list[str], says: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["dpverify", *options])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert says in capsys.readouterr().err
