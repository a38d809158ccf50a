"""The checker's finite models: what they show, and faults of each kind, which are refused."""

from __future__ import annotations

import copy
from collections.abc import Callable

import pytest

from dpverify.proving.checker.terms import number, symbol
from dpverify.proving.checker.theorems.language import nodes, parts_of, put
from dpverify.proving.checker.theorems.models import Model, show
from dpverify.proving.checker.theorems.numbers import compared
from dpverify.proving.checker.theorems.outcomes import constant
from dpverify.proving.checker.theorems.steps import Clause

from .clauses import Json, Seen, brackets, clause, look, term

PRIVATE = clause(
    "D:data T:any",
    "(M (D) (law T)) (e real) (d real)",
    "(<= 0 e) (private (x D) (M x) e d)",
    "(private (x D) (M x) (/ e 2) d)",
)
X: Json = ["sym", "x"]
RESPONSE: Json = {
    "types": {"D": 2, "T": 2},
    "neighbors": {"D": [[0, 1], [1, 0]]},
    "letters": [[["3/4", "1/4"], ["1/4", "3/4"]], {"params": [], "term": ["log", ["num", "3"]]}, "0"],
}


def truth(types: str, letters: str, values: list[Json], claim: str, points: int = 2) -> int:
    """Whether a claim is seen to be true (1) or false (-1), or neither (0), for values of letters."""
    kinds = dict(one.split(":") for one in types.split())
    near = [[i, j] for i in range(points) for j in range(points) if i != j]
    model = {
        "types": dict.fromkeys(kinds, points),
        "neighbors": {name: near for name, kind in kinds.items() if kind == "data"},
        "letters": values,
    }
    return look(clause(types, letters, "", claim), model).claim


def test_randomized_response_refutes_half_of_its_epsilon() -> None:
    """The premises hold with equality, at e = log 3."""
    show(PRIVATE, RESPONSE, refute=False)
    show(PRIVATE, RESPONSE, refute=True)


FAULTS: dict[str, tuple[Callable[[Json], object], str]] = {
    "sum": (lambda m: m["letters"][0].__setitem__(0, ["3/4", "1/3"]), "no law's"),
    "negative": (lambda m: m["letters"][0].__setitem__(0, ["5/4", "-1/4"]), "no law's"),
    "masses": (lambda m: m["letters"][0].__setitem__(0, ["1"]), "argument"),
    "rows": (lambda m: m["letters"][0].pop(), "argument"),
    "float": (lambda m: m["letters"].__setitem__(2, 0.5), "no string"),
    "truth for a number": (lambda m: m["letters"].__setitem__(2, True), "no string"),
    "letters": (lambda m: m["letters"].pop(), "argument"),
    "one direction": (lambda m: m["neighbors"]["D"].pop(), "not symmetric"),
    "a third data set": (lambda m: m["neighbors"]["D"].append([0, 2]), "no whole number below 2"),
    "no neighbors": (lambda m: m["neighbors"].clear(), "no neighbors"),
    "no points": (lambda m: m["types"].update(T=0), "without points"),
    "points": (lambda m: m["types"].update(T=3), "argument"),
    "another type": (lambda m: m["types"].update(U=2), "types"),
    "more": (lambda m: m.update(says="ok"), "no model"),
    "arguments": (lambda m: m["letters"][1].update(params=["x"]), "other arguments"),
    "type of a term": (
        lambda m: m["letters"][1].update(term=["<", ["num", "0"], ["num", "1"]]),
        "another type",
    ),
    "unknown letter": (lambda m: m["letters"][1].update(term=["sym", "y"]), "no letter"),
    "a premise that fails": (lambda m: m["letters"].__setitem__(1, "1"), "number 1"),
    "a claim that holds": (lambda m: m["letters"].__setitem__(1, "3"), "claim"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_of_models_are_refused(fault: str) -> None:
    """Each planted fault is refused with its reason."""
    change, why = FAULTS[fault]
    model = copy.deepcopy(RESPONSE)
    change(model)
    with pytest.raises((ValueError, KeyError), match=why):
        show(PRIVATE, model, refute=True)


def test_a_claim_without_a_value_is_not_false() -> None:
    """No bound is 1/0, for laws of finitely many values; of a wider law, see the tests of cells."""
    for claim, seen in (("(private (x D) (M x) (/ 1 e) 0)", 0), ("(private (x D) (M x) (/ 1 2) 0)", -1)):
        given = copy.deepcopy(RESPONSE["letters"][0])
        assert truth("D:data T:finite", "(M (D) (law T)) (e real)", [given, "0"], claim) == seen


def test_letters_that_define_one_another_are_refused() -> None:
    """A circle of definitions gives no values."""
    two = clause("", "(a real) (b real)", "", "(<= a b)")
    a, b = (parts_of(letter)[0] for letter in parts_of(parts_of(two.body)[1]))
    letters: list[Json] = [
        {"params": [], "term": ["sym", b]},
        {"params": [], "term": ["add", ["num", "1"], ["sym", a]]},
    ]
    model = {"types": {}, "neighbors": {}, "letters": letters}
    with pytest.raises(ValueError, match="defined by one another"):
        look(two, model)
    letters[1] = "2"
    assert look(two, model).claim == 1


def test_steps_of_another_number_are_refused() -> None:
    """Two ends need three parts, and the argument is a number."""
    for letters, value in (("(g (real) real)", {"below": ["0", "1"], "then": ["1", "2"]}),
                           ("(g (formula) real)", {"below": ["0"], "then": ["1", "2"]})):  # fmt: skip
        with pytest.raises(ValueError, match="steps"):
            truth("", letters, [value], "(<= 0 1)")


SIX: Json = [[str(k), "1/6"] for k in range(1, 7)]
LAW = [["0", "1/2"], ["1", "1/4"], ["3", "1/4"]]
TRUTHS: list[tuple[str, str, list[Json], str, int]] = [
    ("", "(P (law real))", [LAW], "(== (mean (x real) P x) 1)", 1),
    ("", "(P (law real))", [LAW], "(== (mean (x real) P (^ x 2)) 2)", -1),
    ("", "(P (law real))", [LAW], "(== (chance (x real) P (<= 1 x)) 1/2)", 1),
    ("", "(P (law real))", [LAW], "(integrable (x real) P (log (+ 1 x)))", 1),
    ("", "(P (law real))", [LAW], "(integrable (x real) P (log x))", 0),
    ("", "(P (law real))", [LAW], "(density (x real) P (exp x))", -1),
    ("", "(P (law real))", [LAW], "(== (mean (y real) (then (x real) P (certain (* 2 x))) y) 2)", 1),
    ("", "(P (law real))", [LAW], "(<= (chance (y real) (mixture 1/3 P (certain 1/2)) (== y 1/2)) 1/2)", -1),
    ("", "(P (law real))", [LAW], "(<= (chance (y real) (mixture 4/3 P (certain 1/2)) (== y 1/2)) 2)", 0),
    ("", "(P (law real))", [LAW], "(<= (mean (n integer) (bernoulli 3/2) n) 9)", 0),
    ("T:any", "(P (law T)) (Q (law T))", [["1/2", "1/2"], ["1", "0"]], "(dominated P Q)", -1),
    ("T:any", "(P (law T)) (Q (law T))", [["1/2", "1/2"], ["1", "0"]], "(dominated Q P)", 1),
    ("T:any", "(P (law T)) (Q (law T))", [["1", "0"], ["1/2", "1/2"]], "(== (mean (x T) Q (^ (ratio P Q x) 2)) 2)", 1),
    ("T:any", "(P (law T)) (Q (law T))", [["1", "0"], ["1", "0"]], "(== (mean (x T) Q (ratio P Q x)) 1)", 1),
    ("T:any", "(P (law T))", [["1/3", "2/3"]], "(all ((S (T) formula)) () (<= (chance (x T) P (S x)) 2/3))", -1),
    ("T:any", "(P (law T))", [["1/3", "2/3"]], "(== P (then (x T) P (certain x)))", 1),
    ("T:finite", "(f (T) real)", [["0", "2"]], "(== (total (x T) (exp (* (f x) (log 2)))) 5)", 1),
    ("T:finite", "(f (T) real)", [["0", "-1"]], "(<= (chance (x T) (proportional (y T) (f y)) (== (f x) 0)) 9)", 0),
    ("", "(n integer)", ["4"], "(== (sum (k integer) (* k k) 1 n) 30)", 1),
    ("", "(n integer)", ["4"], "(== (product (k integer) k 1 n) 30)", -1),
    ("", "(g (real) real)", [{"params": ["x"], "term": ["pow", ["sym", "x"], ["num", "2"]]}],
     "(all ((x real) (y real)) () (<= (* 2 x y) (+ (g x) (g y))))", 1),
    ("", "(g (real) real)", [{"params": ["x"], "term": ["pow", ["sym", "x"], ["num", "2"]]}],
     "(all ((x real)) ((<= 0 x)) (<= (g x) x))", -1),
    ("", "(a real)", ["2"], "(all ((x real)) ((< a x)) (all ((y real)) ((< x y)) (< a y)))", 1),
    ("", "(a real)", ["0"], "(== (exp (/ 1 a)) (exp (/ 1 a)))", 0),
    ("D:data", "(M (D) (law D))", [[["1", "0"], ["0", "1"]]], "(renyi-private (x D) (M x) 2 9)", -1),
    ("D:data", "(M (D) (law D))", [[["1/2", "1/2"], ["3/4", "1/4"]]], "(renyi-private (x D) (M x) 2 (log 4/3))", 1),
    ("D:data", "(M (D) (law D))", [[["1/2", "1/2"], ["3/4", "1/4"]]], "(renyi-private (x D) (M x) 2 (log 5/4))", -1),
    ("D:data", "(M (D) (law D))", [[["1/2", "1/2"], ["3/4", "1/4"]]], "(renyi-private (x D) (M x) 1 9)", 0),
    ("D:data", "(M (D) (law D))", [[["1/2", "1/2"], ["3/4", "1/4"]]], "(concentrated (x D) (M x) 1/4)", 1),
    ("D:data", "(M (D) (law D))", [[["1/2", "1/2"], ["3/4", "1/4"]]], "(concentrated (x D) (M x) 1/10)", -1),
    ("D:data", "(f (D) real)", [["0", "1"]], "(concentrated (x D) (normal (f x) 2) 1/8)", 1),
    ("D:data", "(f (D) real)", [["0", "1"]], "(concentrated (x D) (normal (f x) 2) 1/9)", -1),
    ("D:data", "(f (D) real)", [["0", "1"]], "(renyi-private (x D) (normal (f x) 2) 3 3/8)", 1),
    ("D:data", "(f (D) real)", [["0", "1"]], "(renyi-private (x D) (normal (f x) 2) 3 1/3)", -1),
    ("D:data", "(f (D) real)", [["0", "1"]], "(renyi-private (x D) (laplace (f x) 1) 2 3/4)", 1),
    ("D:data", "(f (D) real)", [["0", "1"]], "(renyi-private (x D) (laplace (f x) 1) 2 1/2)", -1),
    ("D:data", "(f (D) real)", [["0", "1"]], "(private (x D) (laplace (f x) 2) 1/2 0)", 1),
    ("D:data", "(f (D) real)", [["0", "1"]], "(private (x D) (laplace (f x) 2) 1/4 1/9)", -1),
    ("D:data", "(f (D) real)", [["0", "1"]], "(private (x D) (laplace (f x) 2) 1/4 1/8)", 1),
    ("D:data", "(f (D) real)", [["0", "1"]], "(private (x D) (normal (f x) 1) 1 1/7)", 1),
    ("D:data", "(f (D) real)", [["0", "1"]], "(private (x D) (normal (f x) 1) 1 1/8)", -1),
    ("D:data", "(f (D) real)", [["0", "1"]],
     "(private (x D) (then (z real) (normal 0 1) (certain (- (f x) (* 3 z)))) 1/3 0)", -1),
    ("D:data", "(f (D) real)", [["0", "1"]],
     "(private (x D) (then (z real) (normal 0 1) (certain (* z z))) 1/3 0)", 0),
    ("D:data", "(f (D) real)", [["0", "1"]], "(private (x D) (normal (f x) (+ 1 (f x))) 9 1)", 0),
    ("", "(g (real) integer)", [{"below": ["0", "2"], "then": ["3", "5", "4"]}], "(== (+ (g 0) (g 1) (g 3)) 12)", 1),
    ("", "(g (real) integer)", [{"below": ["0", "2"], "then": ["3", "5", "4"]}], "(all ((x real)) () (<= 3 (g x)))", 1),
    ("", "(g (real) integer)", [{"below": ["0", "2"], "then": ["3", "5", "4"]}],
     "(all ((x real)) () (<= 4 (g x)))", -1),
    ("", "(g (real) integer)", [{"below": ["0", "2"], "then": ["3", "5", "4"]}],
     "(all ((x real)) ((< 0 x)) (<= 4 (g x)))", 1),
    ("", "(g (real) integer)", [{"below": ["0", "2"], "then": ["3", "5", "4"]}],
     "(== (chance (x real) (uniform 0 4) (<= 5 (g x))) 1/2)", 1),
    ("", "(g (real) integer)", [{"below": ["0", "2"], "then": ["3", "5", "4"]}],
     "(integrable (x real) (laplace 0 4) (g x))", 1),
    ("", "(g (integer) real)", [{"below": ["1", "2"], "then": ["3", "5", "4"]}],
     "(all ((k integer)) ((<= 2 (* 2 k)) (<= k 2) (<= 1 k)) (<= (g k) (* k 3)))", 1),
    ("", "(g (integer) real)", [{"below": ["1", "2"], "then": ["3", "5", "4"]}],
     "(all ((k integer)) ((<= 1 k) (<= k 2)) (<= (g k) (* k 2)))", -1),
    ("D:data", "(G (integer) D)", [{"below": ["0"], "then": [0, 1]}],
     "(all ((k integer)) () (or (== (G k) (G (+ k 1))) (neighbors (G k) (G (+ k 1)))))", 1),
    ("", "(a integer)", ["3"], "(all ((k integer)) ((<= 0 k) (== 3 k) (<= k 9)) (<= k 2))", -1),
    ("", "(a integer)", ["3"], "(all ((k integer)) ((<= k 9) (== k 3) (<= 0 k)) (<= k a))", 1),
    ("", "(a integer)", ["3"], "(all ((k integer)) ((< 2 k) (< k 4) (<= 0 k)) (< k a))", -1),
    ("", "(a integer)", ["3"], "(all ((k integer)) ((< 3/2 k) (< k 7/2) (<= k 5/2)) (== k 2))", 1),
    ("", "(a integer)", ["3"], "(all ((k integer)) ((== (* 2 k) 3)) (< k 0))", 0),
    ("D:data", "(G (integer) D)", [{"below": ["0"], "then": [0, 1]}],
     "(all ((k integer)) () (neighbors (G k) (G (+ k 1))))", -1),
    ("", "(a real)", ["2"], "(all ((x real)) () (<= 0 (indicator (<= x a))))", 1),
    ("", "(a real)", ["2"], "(all ((x real)) () (<= 0 (indicator (<= (/ a x) 3))))", 0),
    ("", "(a real)", ["2"],
     "(all ((x real)) () (all ((y real)) ((<= x y)) (<= (indicator (<= a x)) (indicator (<= a y)))))", 1),
    ("", "(a real)", ["2"],
     "(all ((x real)) () (all ((y real)) () (<= (indicator (<= a x)) (indicator (<= a y)))))", -1),
    ("", "(a real)", ["2"], "(== (chance (z real) (exponential a) (<= z a)) (- 1 (exp -1)))", 1),
    ("", "(a real)", ["2"], "(<= (chance (z real) (exponential a) (<= (+ z 1) 0)) 0)", 1),
    ("", "(a real)", ["2"], "(== (mean (z real) (exponential a) (+ (* z z) (* -1 z))) 6)", 1),
    ("", "(a real)", ["2"], "(<= (chance (z real) (then (y real) (exponential a) (certain (* -1 y))) (<= z 1)) 1)", 0),
    ("", "(a real)", ["2"], "(== (chance (z real) (laplace 1 a) (<= z 1)) 1/2)", 1),
    ("", "(a real)", ["2"], "(<= (chance (z real) (laplace 0 a) (<= 3 (abs z))) (exp -3/2))", 1),
    ("", "(a real)", ["2"], "(< (chance (z real) (laplace 0 a) (<= 3 (abs z))) (exp -3/2))", -1),
    ("", "(a real)", ["2"], "(<= (chance (z real) (normal 0 1) (<= a (abs (+ 1 z)))) 16/100)", -1),
    ("", "(a real)", ["2"], "(<= (chance (z real) (normal 0 1) (<= a (abs (+ 1 z)))) 161/1000)", 1),
    ("", "(a real)", ["2"], "(<= (chance (z real) (normal 0 1) (and (< a (* 2 z)) (not (<= 2 z)))) 136/1000)", 1),
    ("", "(a real)", ["2"], "(<= (chance (z real) (normal 0 1) (and (< a (* 2 z)) (not (<= 2 z)))) 135/1000)", -1),
    ("", "(a real)", ["2"], "(<= (chance (z real) (normal 0 1) (<= (* z z) a)) 1/2)", 0),
    ("", "(a real)", ["2"], "(<= (chance (z real) (normal 0 1) (<= (max z a) 2)) 1/2)", 0),
    ("", "(a real)", ["2"], "(== (mean (z real) (normal 1 a) (* (- z 3) (- z 3))) 8)", 1),
    ("", "(a real)", ["2"], "(== (mean (z real) (laplace 1 a) (* z z)) 8)", -1),
    ("", "(a real)", ["2"], "(== (mean (z real) (laplace 1 a) (* z z)) 9)", 1),
    ("", "(a real)", ["2"], "(== (mean (z real) (laplace 1 a) (* z z z)) 25)", 1),
    ("", "(a real)", ["2"], "(== (mean (z real) (laplace 1 a) (* z z z)) 24)", -1),
    ("", "(a real)", ["2"], "(== (mean (z real) (exponential a) (* z z z)) 48)", 1),
    ("", "(a real)", ["2"], "(== (mean (z real) (uniform 0 a) (* z z z)) 2)", 1),
    ("", "(a real)", ["2"], "(== (mean (z real) (normal 1 a) (* z z z)) 13)", 1),
    ("", "(a real)", ["2"], "(== (mean (z real) (uniform 0 a) (* z z z z)) 16/5)", 1),
    ("", "(a real)", ["2"], "(== (mean (z real) (uniform 0 a) (* z z z z)) 3)", -1),
    ("", "(a real)", ["2"], "(<= (mean (z real) (uniform 0 a) (max z (* z z))) 9)", 0),
    ("", "(a real)", ["2"], "(<= (mean (z real) (normal 1 (- a 2)) z) 9)", 0),
    ("", "(a real)", ["2"], "(integrable (z real) (normal 0 a) (^ (abs z) 3))", 1),
    ("", "(a real)", ["2"], "(== (mean (z real) (uniform 0 a) (* z z)) 4/3)", 1),
    ("", "(a real)", ["2"], "(== (chance (z real) (uniform 0 a) (<= 1/2 (abs (- z 1)))) 1/2)", 1),
    ("", "(a real)", ["2"], "(== (chance (z real) (then (y real) (uniform 0 a) (certain (- 1 y))) (<= z 0)) 1/3)", -1),
    ("", "(a real)", ["2"], "(<= (mean (z real) (uniform a 0) z) 9)", 0),
    ("D:data", "(f (D) real)", [["0", "1"]], "(private (x D) (uniform (f x) (+ 9 (f x))) 9 1)", 0),
    ("", "(a real)", ["2"], "(integrable (z real) (normal 0 a) (/ 1 z))", 0),
    ("", "(a real)", ["2"], "(integrable (z real) (laplace 0 a) (exp z))", 0),
    ("", "(a real)", ["2"], "(== (sum (i integer) (/ a i) 1 2) 3)", 1),
    ("", "(a real)", ["2"], "(== (sum (i integer) a 3 2) 0)", 1),
    ("", "(a real)", ["2"], "(== (product (i integer) a 3 2) 0)", -1),
    ("", "(a real)", ["2"], "(<= (largest (i integer) a 3 2) 2)", 0),
    ("", "(a real)", ["2"], "(== (sum (i integer) a 3 1) 0)", 0),
    # a number is one of several values at most, and none for the numbers that are left
    ("", "(P (law real))", [SIX],
     "(all ((r integer)) ((not (and (<= 1 r) (<= r 6)))) (== (chance (x real) P (== x r)) 0))", 1),
    ("", "(P (law real))", [SIX],
     "(all ((r integer)) ((not (and (<= 1 r) (<= r 5)))) (== (chance (x real) P (== x r)) 0))", -1),
    ("", "(P (law real))", [SIX], "(all ((r real)) () (<= (chance (x real) P (== x r)) 1/6))", 1),
    ("", "(P (law real))", [SIX], "(all ((r real)) () (<= (chance (x real) P (== x r)) 1/7))", -1),
    # a sum is worked out once for the same values of its letters, and again for others
    ("", "(a real)", ["2"], "(== (sum (i integer) (sum (j integer) (* a i) 1 3) 1 2) 18)", 1),
    ("", "(a real)", ["2"], "(== (sum (i integer) (sum (j integer) (* a i) 1 3) 1 2) 12)", -1),
    ("D:data", "(f (D) real)", [["0", "1"]], "(all ((x () D)) () (== (sum (i integer) (f x) 1 2) 0))", -1),
    ("", "(a real)", ["2"],
     "(== (chance (z real) (uniform 0 a) (<= 2 (sum (i integer) (indicator (<= 1 z)) 1 2))) 1/2)", 1),
]  # fmt: skip


@pytest.mark.parametrize(("types", "letters", "values", "claim", "wanted"), TRUTHS)
def test_truth_in_models(types: str, letters: str, values: list[Json], claim: str, wanted: int) -> None:
    """Each part of the language has its meaning; what has no value, or is beyond the rules, is not known."""
    assert truth(types, letters, values, claim) == wanted


def test_what_depends_on_a_case_is_worked_out_in_each() -> None:
    """A sum is kept for numbers and points alone: how an open letter compares with 1 differs from case to case."""
    model = Model(clause("", "(a real)", "", "(== a a)"), {"types": {}, "neighbors": {}, "letters": ["2"]})
    node = put(nodes(term(brackets("(sum (i integer) (indicator (<= 1 z)) 1 2)"))), {})
    z = symbol(model.new_letter())
    found = []
    for holds in (True, False):
        model.in_case = {compared("<=", number(1), z): holds}
        found.append(model.value(node, {"z": constant(z)}))
    assert found == [number(2), number(0)]


LAPLACE, NORMAL, EXPONENTIAL = "(laplace 0 2)", "(normal 0 2)", "(exponential 2)"


def within(law: str, value: str) -> str:
    """The chance of an event."""
    return f"(chance (x real) {law} (A {value}))"


def ratio(law: str, value: str, most: str) -> str:
    """That no event is more likely for a value than for x, but for a factor."""
    return f"(<= {within(law, value)} (* {most} {within(law, 'x')}))"


EVENTS: list[tuple[str, int]] = [
    (ratio(LAPLACE, "(+ x 1)", "(exp 1/2)"), 1),
    (ratio(LAPLACE, "(- x 1)", "(exp 1)"), 1),
    (ratio(LAPLACE, "(+ x 1)", "(exp 1/4)"), -1),
    (ratio(NORMAL, "(+ x 1)", "(exp 1/2)"), -1),
    (ratio(NORMAL, "x", "1"), 1),
    (ratio(EXPONENTIAL, "(+ x 1)", "(exp 1/2)"), 1),
    (ratio(EXPONENTIAL, "(+ x 1)", "(exp 1/3)"), -1),
    (ratio(EXPONENTIAL, "(- x 1)", "(exp 1/2)"), -1),
    (ratio(LAPLACE, "(* 2 x)", "9"), -1),
    (ratio(LAPLACE, "(* 2 x)", "200"), 0),
    (ratio("P", "(* 2 x)", "9"), -1),
    (ratio("P", "x", "1/2"), -1),
    (f"(== (mean (y real) P {within('P', 'y')}) {within('P', 'x')})", 1),
    (f"(== (mean (y real) {LAPLACE} {within(NORMAL, 'y')}) {within(LAPLACE, 'x')})", 1),
    (f"(== (mean (y real) {LAPLACE} {within(NORMAL, 'x')}) {within(NORMAL, 'x')})", 1),
    (f"(== (mean (y real) {LAPLACE} {within(NORMAL, 'x')}) {within(LAPLACE, 'x')})", -1),
    (f"(<= (mean (y real) {LAPLACE} {within('(laplace y 1)', 'x')}) 1)", 0),
    (f"(<= (mean (y real) {LAPLACE} {within(NORMAL, '(+ x y)')}) 1)", 0),
    (f"(all ((y real)) () (<= {within('(laplace y 1)', 'x')} 1))", 0),
]
"""What is said of all events A of numbers."""


@pytest.mark.parametrize(("claim", "wanted"), EVENTS)
def test_events_of_numbers(claim: str, wanted: int) -> None:
    """What holds for any probabilities is true; half lines and points show what is false."""
    assert truth("", "(P (law real))", [LAW], f"(all ((A (real) formula)) () {claim})") == wanted


def test_an_event_that_is_assumed_is_not_any_probability() -> None:
    """That a bound holds for all events is not made stronger where it is assumed."""
    bound = "(all ((A (real) formula)) () (<= (chance (x real) (laplace y 2) (A x)) 1/2))"
    assert truth("", "(a real)", ["2"], f"(all ((y real)) ({bound}) (<= y a))") == 0


LAWS_OF_IMAGES = {
    ("(indicator (<= x a))", "(indicator (<= x a))"): 1,
    ("(indicator (<= x a))", "(indicator (<= x 1))"): -1,
    ("(/ 1 x)", "(/ 1 x)"): 0,
}


@pytest.mark.parametrize("values", LAWS_OF_IMAGES)
def test_laws_of_images(values: tuple[str, str]) -> None:
    """Laws of the same function of a number with a law are equal, if the function is defined everywhere."""
    one, other = (f"(then (x real) (normal 0 1) (certain {value}))" for value in values)
    assert truth("", "(a real)", ["2"], f"(== {one} {other})") == LAWS_OF_IMAGES[values]


SEQUENCES = """(all ((w W) (r R) (x real)) () (== (z (s w r x) r) x))
    (all ((w W) (r R) (x real) (t R)) ((not (== t r))) (== (z (s w r x) t) (z w t)))
    (all ((r R) (A (W) formula)) () (== (chance (w W) N (A w))
        (mean (w W) N (chance (x real) (laplace 0 b) (A (s w r x))))))
    (all ((w W)) () (== (z w (a w)) (max (z w p) (z w q))))"""
"""Noises, one for each of two candidates, and whose is the largest."""
LETTERS_OF_NOISES = "(z (W R) real) (s (W R real) W) (N (law W)) (b real) (a (W) R) (p R) (q R)"
NOISES = clause(
    "W:any R:finite",
    LETTERS_OF_NOISES,
    SEQUENCES,
    "(<= b 2)",
)


def noises(whole: Clause) -> Json:
    """Two independent Laplace noises."""
    z, _, _, b, *_ = (parts_of(one)[0] for one in parts_of(parts_of(whole.body)[1]))
    largest = ["all", [["t", [], "R"]], [], ["<=", ["of", z, X, ["sym", "t"]], ["of", z, X, ["sym", "v"]]]]
    law = {"independent": ["laplace", ["num", "0"], ["sym", b]]}
    choice = {"params": ["x"], "first": "v", "where": largest}
    return {
        "types": {"W": {"for": "R"}, "R": 2},
        "neighbors": {},
        "letters": ["read", "write", law, "2", choice, 0, 1],
    }


def test_independent_noises_are_sequences() -> None:
    """All that is assumed of them is true, of all sequences and all events; and so is the claim."""
    assert look(NOISES, noises(NOISES)) == Seen((1, 1, 1, 1), 1)


FAULTS_OF_NOISES: dict[str, tuple[Callable[[Json], object], str]] = {
    "another law": (
        lambda m: m["letters"].__setitem__(2, {"independent": line("laplace", "0", "3")}),
        "number 2",
    ),
    "another family": (
        lambda m: m["letters"].__setitem__(2, {"independent": line("normal", "0", "2")}),
        "number 2",
    ),
    "another place": (
        lambda m: m["letters"].__setitem__(2, {"independent": line("laplace", "1", "2")}),
        "number 2",
    ),
    "no family": (
        lambda m: m["letters"].__setitem__(2, {"independent": ["certain", ["num", "1/2"]]}),
        "number 2",
    ),
    "the smallest": (
        lambda m: m["letters"][4]["where"][3].insert(1, m["letters"][4]["where"][3].pop()),
        "number 3",
    ),
    "whoever": (lambda m: m["letters"][4].update(where=["<=", ["num", "0"], ["num", "0"]]), "number 3"),
    "nobody": (lambda m: m["letters"][4].update(where=["<=", ["num", "1"], ["num", "0"]]), "number 3"),
    "a third": (lambda m: m["types"].update(R=3), "number 3"),
    "one twice": (lambda m: m["letters"].__setitem__(6, 0), "number 3"),
    "read for write": (lambda m: m["letters"].__setitem__(1, "read"), "no letter of sequences"),
    "write for read": (lambda m: m["letters"].__setitem__(0, "write"), "no letter of sequences"),
    "points": (lambda m: m["types"].update(W=2), "argument|no letter of sequences"),
    "places": (lambda m: m["types"].update(W={"for": "integer"}), "no letter of sequences"),
    "places of itself": (lambda m: m["types"].update(W={"for": "W"}), "without places"),
    "a finite type": (lambda m: m["types"].update(R={"for": "W"}), "no type of sequences"),
    "no choice": (lambda m: m["letters"][4].pop("first"), "no choice"),
}


def line(family: str, *numbers: str) -> Json:
    """A law of a family."""
    return [family, *(["num", one] for one in numbers)]


@pytest.mark.parametrize("fault", FAULTS_OF_NOISES)
def test_faults_of_sequences_are_refused(fault: str) -> None:
    """Each planted fault is refused, by the premise that it makes false or unknown, or as no model."""
    change, why = FAULTS_OF_NOISES[fault]
    model = noises(NOISES)
    change(model)
    with pytest.raises(ValueError, match=why):
        show(NOISES, model, refute=False)


def test_what_contradicts_itself_of_sequences_is_not_true() -> None:
    """A place that is written keeps its number; another one gets it; two noises are the same."""
    drawn = "(mean (w W) N (chance (x real) (laplace 0 {}) (A (s w p {}))))"
    wrong = [
        "(all ((w W) (r R) (x real) (t R)) () (== (z (s w r x) t) (z w t)))",
        "(all ((w W) (r R) (x real) (t R)) () (== (z (s w r x) t) x))",
        "(all ((w W)) () (== (z w p) (z w q)))",
        *(
            f"(all ((A (W) formula)) () (== (chance (w W) N (A w)) {drawn.format(*one)}))"
            for one in (("3", "x"), ("b", "(+ x 1)"), ("b", "(z w q)"), ("b", "0"))
        ),
    ]
    for premise in wrong:
        whole = clause("W:any R:finite", LETTERS_OF_NOISES, "", premise)
        assert look(whole, noises(whole)).claim < 1, premise
