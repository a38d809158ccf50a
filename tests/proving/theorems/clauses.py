"""Classic theorems of differential privacy and probability as clauses, and false variants of them.

A clause is written in brackets: `(head part ...)`; what is no head is a letter, and `(f x)` a letter with arguments.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from dpverify.proving.checker.reading import ANY_NUMBER, PARTS
from dpverify.proving.checker.theorems.language import INNER, LAWS, LOGIC, parts_of
from dpverify.proving.checker.theorems.models import Model
from dpverify.proving.checker.theorems.numbers import FALSE, TRUE
from dpverify.proving.checker.theorems.steps import Clause

Json = Any
HEADS = {
    *PARTS,
    *ANY_NUMBER,
    *LAWS,
    *LOGIC,
    *["certain", "mixture", "pair", "indicator", "ratio", "dominated", "neighbors", "excess", "divergence"],
}
TOKEN = re.compile(r"[()]|[^\s()]+")


def brackets(text: str) -> Json:
    """Nested lists of words."""
    stack: list[list[Json]] = [[]]
    for token in TOKEN.findall(text):
        if token == "(":
            stack.append([])
        elif token == ")":
            last = stack.pop()
            stack[-1].append(last)
        else:
            stack[-1].append(token)
    ((found,),) = stack
    return found


def term(words: Json) -> Json:
    """A term of the language."""
    if isinstance(words, str):
        return ["num", words] if re.fullmatch(r"-?[\d/.]+", words) else ["sym", words]
    head, *rest = words
    if head == "all":
        letters = [one if len(one) == 3 else [one[0], [], one[1]] for one in rest[0]]
        return ["all", letters, [*map(term, rest[1])], term(rest[2])]
    if head in INNER:
        return [head, rest[0], *map(term, rest[1:])]
    if head == "-":
        return ["add", term(rest[0]), ["mul", ["num", "-1"], term(rest[1])]]
    if head == "/":
        return ["mul", term(rest[0]), ["pow", term(rest[1]), ["num", "-1"]]]
    known = {"+": "add", "*": "mul", "^": "pow"}.get(head, head)
    return [known, *map(term, rest)] if known in HEADS else ["of", head, *map(term, rest)]


def clause(types: str, letters: str, premises: str, claim: str) -> Clause:
    """A clause; types are written `T:any`."""
    body = term(brackets(f"(all ({letters}) ({premises}) {claim})"))
    return Clause.read({"types": [one.split(":") for one in types.split()], "body": body})


@dataclass(frozen=True)
class Seen:
    """What is seen in a model: 1 where a formula is true, -1 where it is false, else 0."""

    premises: tuple[int, ...]
    claim: int


def look(clause: Clause, value: Json) -> Seen:
    """Whether what a clause assumes and claims is true in a model; what is no model is refused."""
    model = Model(clause, value)
    _, _, premises, claim = parts_of(model.clause.body)
    seen = [model.truth(f, {}) for f in (*parts_of(premises), claim)]
    signs = [(f is TRUE) - (f is FALSE) for f in seen]
    return Seen(tuple(signs[:-1]), signs[-1])


@dataclass(frozen=True)
class Case:
    """What is assumed, a claim that follows, and claims that do not."""

    types: str
    letters: str
    premises: str
    claim: str
    wrong: tuple[str, ...]

    def clause(self, claim: str) -> Clause:
        """The clause with a claim."""
        return clause(self.types, self.letters, self.premises, claim)


DT, DTU = "D:data T:any", "D:data T:any U:any"
MECHANISM = "(M (D) (law T)) (e real) (d real)"
PRIVATE = "(<= 0 e) (<= 0 d) (private (x D) (M x) e d)"
TWO = "(M (D) (law T)) (N (D) (law U)) (e1 real) (e2 real) (d1 real) (d2 real)"
TWO_PRIVATE = """(<= 0 e1) (<= 0 e2) (<= 0 d1) (<= 0 d2)
    (private (x D) (M x) e1 d1) (private (x D) (N x) e2 d2)"""
PRODUCT = "(then (y T) (M x) (then (z U) (N x) (certain (pair y z))))"
ADAPTIVE = "(then (y T) (M x) (then (z U) (N x y) (certain (pair y z))))"
POSITIVE = "(all ((x T)) () (<= 0 (f x)))"
MEAN = "(mean (x T) P (f x))"
KL = "(mean (x T) P (log (ratio P Q x)))"
VARIANCE = f"(mean (x T) P (^ (- (f x) {MEAN}) 2))"
NOISY_MAX = "(then (y integer) (M x) (then (z integer) (N x) (bernoulli (indicator (<= y z)))))"
SENSITIVE = "(all ((x D) (y D) (t T)) ((neighbors x y)) (<= (abs (- (q x t) (q y t))) s))"
JENSEN_PREMISES = """(all ((x real) (y real) (t real)) ((<= 0 t) (<= t 1))
    (<= (g (+ (* t x) (* (- 1 t) y))) (+ (* t (g x)) (* (- 1 t) (g y)))))"""


def exponential(scale: str) -> str:
    """The exponential mechanism."""
    return f"(all ((x D)) () (== (M x) (proportional (t T) (exp {scale}))))"


CASES = {
    "basic composition": Case(
        DTU, TWO, TWO_PRIVATE, f"(private (x D) {PRODUCT} (+ e1 e2) (+ d1 d2))",
        (f"(private (x D) {PRODUCT} (max e1 e2) (+ d1 d2))",
         f"(private (x D) {PRODUCT} (+ e1 e2) (* d1 d2))",
         f"(private (x D) {PRODUCT} (+ e1 e2) (max d1 d2))"),
    ),
    "adaptive composition": Case(
        DTU, "(M (D) (law T)) (N (D T) (law U)) (e1 real) (e2 real)",
        "(<= 0 e1) (<= 0 e2) (private (x D) (M x) e1 0) (all ((y T)) () (private (x D) (N x y) e2 0))",
        f"(private (x D) {ADAPTIVE} (+ e1 e2) 0)",
        (f"(private (x D) {ADAPTIVE} (max e1 e2) 0)",),
    ),
    "group privacy": Case(
        DT, "(M (D) (law T)) (e real) (d real) (x D) (y D) (z D) (S (T) formula)",
        f"{PRIVATE} (neighbors x y) (neighbors y z)".replace("private (x D) (M x)", "private (w D) (M w)"),
        """(<= (chance (t T) (M x) (S t))
            (+ (* (exp (* 2 e)) (chance (t T) (M z) (S t))) (* (+ 1 (exp e)) d)))""",
        ("(<= (chance (t T) (M x) (S t)) (+ (* (exp (* 2 e)) (chance (t T) (M z) (S t))) (* 2 d)))",
         "(<= (chance (t T) (M x) (S t)) (+ (* (exp e) (chance (t T) (M z) (S t))) d))"),
    ),
    "post-processing": Case(
        DTU, f"{MECHANISM} (K (T) (law U))", PRIVATE, "(private (x D) (then (y T) (M x) (K y)) e d)",
        ("(private (x D) (then (y T) (M x) (K y)) (/ e 2) d)",
         "(private (x D) (then (y T) (M x) (K y)) e (/ d 2))"),
    ),
    "randomized response": Case(
        "D:data", "(b (D) formula) (M (D) (law integer)) (p real)",
        """(< 1/2 p) (< p 1) (all ((x D)) () (== (M x)
            (bernoulli (+ (* p (indicator (b x))) (* (- 1 p) (indicator (not (b x))))))))""",
        "(private (x D) (M x) (log (/ p (- 1 p))) 0)",
        ("(private (x D) (M x) (/ (log (/ p (- 1 p))) 2) 0)",
         "(private (x D) (M x) (log (* 2 p)) 0)"),
    ),
    "exponential mechanism": Case(
        "D:data T:finite", "(q (D T) real) (M (D) (law T)) (s real) (e real)",
        f"(< 0 s) (< 0 e) {SENSITIVE} {exponential('(/ (* e (q x t)) (* 2 s))')}",
        "(private (x D) (M x) e 0)",
        ("(private (x D) (M x) (/ e 2) 0)",),
    ),
    "exponential mechanism without the factor 2": Case(
        "D:data T:finite", "(q (D T) real) (M (D) (law T)) (s real) (e real)",
        f"(< 0 s) (< 0 e) {SENSITIVE} {exponential('(/ (* e (q x t)) s)')}",
        "(private (x D) (M x) (* 2 e) 0)",
        ("(private (x D) (M x) e 0)",),
    ),
    "subsampling": Case(
        DT, "(M (D) (law T)) (e real) (p real) (Q (law T)) (x D) (y D) (S (T) formula)",
        """(<= 0 e) (< 0 p) (<= p 1) (private (w D) (M w) e 0) (neighbors x y)
            (all ((w D) (s T)) () (<= (chance (t T) (M w) (== s t)) (* (exp e) (chance (t T) Q (== s t)))))
            (all ((w D) (s T)) () (<= (chance (t T) Q (== s t)) (* (exp e) (chance (t T) (M w) (== s t)))))""",
        """(<= (chance (t T) (mixture p (M x) Q) (S t))
            (* (+ 1 (* p (- (exp e) 1))) (chance (t T) (mixture p (M y) Q) (S t))))""",
        ("""(<= (chance (t T) (mixture p (M x) Q) (S t))
            (* (exp (* p e)) (chance (t T) (mixture p (M y) Q) (S t))))""",),
    ),
    "markov": Case(
        "T:any", "(P (law T)) (f (T) real) (a real)", f"(< 0 a) {POSITIVE} (integrable (x T) P (f x))",
        f"(<= (chance (x T) P (<= a (f x))) (/ {MEAN} a))",
        (f"(<= (chance (x T) P (<= a (f x))) (/ {MEAN} (^ a 2)))",
         f"(<= (chance (x T) P (<= a (f x))) (/ {MEAN} (* 2 a)))"),
    ),
    "jensen": Case(
        "", "(P (law real)) (g (real) real)", JENSEN_PREMISES,
        "(<= (g (mean (x real) P x)) (mean (x real) P (g x)))",
        ("(<= (mean (x real) P (g x)) (g (mean (x real) P x)))",),
    ),
    "square of the mean": Case(
        "T:any", "(P (law T)) (f (T) real)", "(integrable (x T) P (^ (f x) 2))",
        f"(<= (^ {MEAN} 2) (mean (x T) P (^ (f x) 2)))",
        (f"(<= (mean (x T) P (^ (f x) 2)) (^ {MEAN} 2))",),
    ),
    "union bound": Case(
        "T:any", "(P (law T)) (A (T) formula) (B (T) formula)", "",
        "(<= (chance (x T) P (or (A x) (B x))) (+ (chance (x T) P (A x)) (chance (x T) P (B x))))",
        ("(<= (chance (x T) P (or (A x) (B x))) (max (chance (x T) P (A x)) (chance (x T) P (B x))))",),
    ),
    "independence": Case(
        "T:any", "(P (law T)) (A (T) formula) (B (T) formula)", "",
        "(<= (chance (x T) P (and (A x) (B x))) (min (chance (x T) P (A x)) (chance (x T) P (B x))))",
        ("(== (chance (x T) P (and (A x) (B x))) (* (chance (x T) P (A x)) (chance (x T) P (B x))))",),
    ),
    "report noisy max": Case(
        "D:data", "(M (D) (law integer)) (N (D) (law integer)) (e real)",
        "(< 0 e) (private (x D) (M x) e 0) (private (x D) (N x) e 0)",
        f"(private (x D) {NOISY_MAX} (* 2 e) 0)",
        (f"(private (x D) {NOISY_MAX} e 0)",),
    ),
    "chebyshev": Case(
        "T:any", "(P (law T)) (f (T) real) (a real)", "(< 0 a) (integrable (x T) P (^ (f x) 2))",
        f"(<= (chance (x T) P (<= a (abs (- (f x) {MEAN})))) (/ {VARIANCE} (^ a 2)))",
        (f"(<= (chance (x T) P (<= a (abs (- (f x) {MEAN})))) (/ {VARIANCE} (* 2 (^ a 2))))",
         f"(<= (chance (x T) P (<= a (abs (- (f x) {MEAN})))) (/ {VARIANCE} a))"),
    ),
    "total expectation": Case(
        "T:any", "(P (law T)) (A (T) formula) (f (T) real) (p real)",
        "(== p (chance (x T) P (A x))) (< 0 p) (< p 1)",
        f"""(== {MEAN} (+ (* p (/ (mean (x T) P (* (f x) (indicator (A x)))) p))
            (* (- 1 p) (/ (mean (x T) P (* (f x) (indicator (not (A x))))) (- 1 p)))))""",
        (f"""(== {MEAN} (+ (* (- 1 p) (/ (mean (x T) P (* (f x) (indicator (A x)))) p))
            (* p (/ (mean (x T) P (* (f x) (indicator (not (A x))))) (- 1 p)))))""",),
    ),
    "data processing": Case(
        "T:any U:any", "(P (law T)) (Q (law T)) (K (T) (law U)) (e real) (d real) (S (U) formula)",
        """(all ((S (T) formula)) () (<= (chance (x T) P (S x)) (+ (* (exp e) (chance (x T) Q (S x))) d)))""",
        "(<= (chance (y U) (then (x T) P (K x)) (S y)) (+ (* (exp e) (chance (y U) (then (x T) Q (K x)) (S y))) d))",
        (),
    ),
    "data processing reversed": Case(
        "T:any U:any", "(P (law T)) (Q (law T)) (K (T) (law U)) (e real) (d real) (S (T) formula)",
        """(<= 0 e) (<= 0 d) (all ((S (U) formula)) () (<= (chance (y U) (then (x T) P (K x)) (S y))
            (+ (* (exp e) (chance (y U) (then (x T) Q (K x)) (S y))) d)))""",
        "(<= (chance (x T) P (S x)) 1)",
        ("(<= (chance (x T) P (S x)) (+ (* (exp e) (chance (x T) Q (S x))) d))",),
    ),
    "renyi to approximate": Case(
        DT, "(M (D) (law T)) (a real) (r real) (d real)",
        "(< 1 a) (<= 0 r) (< 0 d) (< d 1) (renyi-private (x D) (M x) a r)",
        "(private (x D) (M x) (+ r (/ (log (/ 1 d)) (- a 1))) d)",
        ("(private (x D) (M x) r 0)", "(private (x D) (M x) r d)"),
    ),
    "pure to concentrated": Case(
        DT, "(M (D) (law T)) (e real)", "(< 0 e) (private (x D) (M x) e 0)",
        "(concentrated (x D) (M x) (/ (^ e 2) 2))",
        ("(concentrated (x D) (M x) (/ (^ e 2) 16))",),
    ),
    "concentrated composition": Case(
        DTU, "(M (D) (law T)) (N (D) (law U)) (r real) (s real)",
        "(< 0 r) (< 0 s) (concentrated (x D) (M x) r) (concentrated (x D) (N x) s)",
        f"(concentrated (x D) {PRODUCT} (+ r s))",
        (f"(concentrated (x D) {PRODUCT} (max r s))",),
    ),
    "renyi composition": Case(
        DTU, "(M (D) (law T)) (N (D) (law U)) (a real) (r real) (s real)",
        "(< 1 a) (<= 0 r) (<= 0 s) (renyi-private (x D) (M x) a r) (renyi-private (x D) (N x) a s)",
        f"(renyi-private (x D) {PRODUCT} a (+ r s))",
        (f"(renyi-private (x D) {PRODUCT} a (max r s))",),
    ),
    "laplace mechanism": Case(
        "D:data", "(f (D) real) (s real) (e real)",
        "(< 0 s) (< 0 e) (all ((x D) (y D)) ((neighbors x y)) (<= (abs (- (f x) (f y))) s))",
        "(private (x D) (then (z real) (laplace 0 (/ s e)) (certain (+ (f x) z))) e 0)",
        ("(private (x D) (then (z real) (laplace 0 (/ s (* 2 e))) (certain (+ (f x) z))) e 0)",),
    ),
    "gaussian mechanism": Case(
        "D:data", "(f (D) real) (s real) (e real) (d real)",
        """(< 0 s) (< 0 e) (< e 1) (< 0 d) (< d 1)
            (all ((x D) (y D)) ((neighbors x y)) (<= (abs (- (f x) (f y))) s))""",
        """(private (x D) (then (z real) (normal 0 (^ (/ (* 2 (log (/ 5/4 d)) (^ s 2)) (^ e 2)) 1/2))
            (certain (+ (f x) z))) e d)""",
        ("""(private (x D) (then (z real) (normal 0 (^ (/ (* (log (/ 5/4 d)) (^ s 2)) (* 4 (^ e 2))) 1/2))
            (certain (+ (f x) z))) e d)""",),
    ),
    "gaussian mechanism, all epsilon": Case(
        "D:data", "(f (D) real) (s real) (e real) (d real)",
        """(< 0 s) (< 0 e) (< 0 d) (< d 1)
            (all ((x D) (y D)) ((neighbors x y)) (<= (abs (- (f x) (f y))) s))""",
        "(<= 0 s)",
        ("""(private (x D) (then (z real) (normal 0 (^ (/ (* 2 (log (/ 5/4 d)) (^ s 2)) (^ e 2)) 1/2))
            (certain (+ (f x) z))) e d)""",),
    ),
    "pinsker": Case(
        "T:any", "(P (law T)) (Q (law T)) (S (T) formula)", "(dominated P Q) (dominated Q P)",
        f"(<= (- (chance (x T) P (S x)) (chance (x T) Q (S x))) (^ (/ {KL} 2) 1/2))",
        (f"(<= (- (chance (x T) P (S x)) (chance (x T) Q (S x))) (^ (/ {KL} 4) 1/2))",
         f"(<= (- (chance (x T) P (S x)) (chance (x T) Q (S x))) {KL})"),
    ),
    "hoeffding's lemma": Case(
        "", "(P (law real)) (s real)", "(== (chance (x real) P (and (<= 0 x) (<= x 1))) 1)",
        "(<= (mean (x real) P (exp (* s (- x (mean (y real) P y))))) (exp (/ (^ s 2) 8)))",
        ("(<= (mean (x real) P (exp (* s (- x (mean (y real) P y))))) (exp (/ (^ s 2) 16)))",),
    ),
    "cauchy-schwarz": Case(
        "T:any", "(P (law T)) (f (T) real) (g (T) real)", "",
        "(<= (^ (mean (x T) P (* (f x) (g x))) 2) (* (mean (x T) P (^ (f x) 2)) (mean (x T) P (^ (g x) 2))))",
        ("(<= (mean (x T) P (* (f x) (g x))) (* (mean (x T) P (f x)) (mean (x T) P (g x))))",
         "(<= (^ (mean (x T) P (* (f x) (g x))) 2) (* (^ (mean (x T) P (f x)) 2) (mean (x T) P (^ (g x) 2))))"),
    ),
    "concentrated to approximate": Case(
        DT, "(M (D) (law T)) (r real) (d real)", "(< 0 r) (< 0 d) (< d 1) (concentrated (x D) (M x) r)",
        "(private (x D) (M x) (+ r (* 2 (^ (* r (log (/ 1 d))) 1/2))) d)",
        ("(private (x D) (M x) r d)", "(private (x D) (M x) (* 2 r) (/ d 2))"),
    ),
    "divergence of pure privacy": Case(
        "T:any", "(P (law T)) (Q (law T)) (e real)",
        "(< 0 e) (dominated P Q) (dominated Q P) (all ((x T)) () (<= (abs (log (ratio P Q x))) e))",
        f"(<= {KL} (* e (- (exp e) 1)))",
        (f"(<= {KL} (/ (^ e 2) 4))",),
    ),
    "laplace tail": Case(
        "", "(b real) (t real)", "(< 0 b) (< 0 t)",
        "(<= (chance (z real) (laplace 0 b) (<= t (abs z))) (exp (/ (* -1 t) b)))",
        ("(<= (chance (z real) (laplace 0 b) (<= t (abs z))) (exp (/ (* -2 t) b)))",
         "(<= (chance (z real) (laplace 0 b) (<= t (abs z))) (/ (exp (/ (* -1 t) b)) 2))"),
    ),
    "gaussian tail": Case(
        "", "(t real) (v real)", "(< 0 t) (< 0 v)",
        "(<= (chance (z real) (normal 0 v) (<= t z)) (exp (/ (* -1 (^ t 2)) (* 2 (^ v 2)))))",
        ("(<= (chance (z real) (normal 0 v) (<= t z)) (exp (/ (* -1 (^ t 2)) (^ v 2))))",),
    ),
    "gaussian renyi": Case(
        "D:data", "(f (D) real) (s real) (v real) (a real)",
        "(< 0 s) (< 0 v) (< 1 a) (all ((x D) (y D)) ((neighbors x y)) (<= (abs (- (f x) (f y))) s))",
        "(renyi-private (x D) (normal (f x) v) a (/ (* a (^ s 2)) (* 2 (^ v 2))))",
        ("(renyi-private (x D) (normal (f x) v) a (/ (* a (^ s 2)) (* 4 (^ v 2))))",
         "(concentrated (x D) (normal (f x) v) (/ s (* 2 (^ v 2))))"),
    ),
    "joint convexity": Case(
        DT, "(M (D) (law T)) (N (D) (law T)) (p real) (e real) (d real)",
        "(<= 0 e) (<= 0 p) (<= p 1) (<= 0 d) (private (x D) (M x) e d) (private (x D) (N x) e d)",
        "(private (x D) (mixture p (M x) (N x)) e d)",
        ("(private (x D) (mixture p (M x) (N x)) (* p e) d)",
         "(private (x D) (mixture p (M x) (N x)) e (* p d))"),
    ),
    "means under privacy": Case(
        DT, f"{MECHANISM} (f (T) real) (x D) (y D)",
        f"""{PRIVATE} (neighbors x y) (all ((t T)) () (and (<= 0 (f t)) (<= (f t) 1)))"""
        .replace("private (x D) (M x)", "private (w D) (M w)"),
        "(<= (mean (t T) (M x) (f t)) (+ (* (exp e) (mean (t T) (M y) (f t))) d))",
        ("(<= (mean (t T) (M x) (f t)) (* (exp e) (mean (t T) (M y) (f t))))",
         "(<= (mean (t T) (M x) (f t)) (+ (mean (t T) (M y) (f t)) d))"),
    ),
    "randomized response of many": Case(
        "D:data T:finite", "(b (D) T) (M (D) (law T)) (c real)",
        "(<= 0 c) (all ((x D)) () (== (M x) (proportional (t T) (exp (* c (indicator (== t (b x))))))))",
        "(private (x D) (M x) c 0)",
        ("(private (x D) (M x) (/ c 2) 0)",),
    ),
    "tower": Case(
        "T:any U:any", "(P (law T)) (K (T) (law U)) (f (U) real)", "",
        "(== (mean (y U) (then (x T) P (K x)) (f y)) (mean (x T) P (mean (y U) (K x) (f y))))",
        ("(== (mean (y U) (then (x T) P (K x)) (^ (f y) 2)) (mean (x T) P (^ (mean (y U) (K x) (f y)) 2)))",),
    ),
    "renyi data processing": Case(
        DTU, "(M (D) (law T)) (K (T) (law U)) (a real) (r real)", "(< 1 a) (renyi-private (x D) (M x) a r)",
        "(renyi-private (x D) (then (y T) (M x) (K y)) a r)",
        ("(renyi-private (x D) (then (y T) (M x) (K y)) a (/ r 2))",
         "(renyi-private (x D) (then (y T) (M x) (K y)) (* 2 a) r)"),
    ),
    "midpoints of convex functions": Case(
        "", "(g (real) real) (a real) (b real)", JENSEN_PREMISES,
        "(<= (g (/ (+ a b) 2)) (/ (+ (g a) (g b)) 2))",
        ("(<= (g (/ (+ a b) 2)) (min (g a) (g b)))", "(<= (+ (g a) (g b)) (* 2 (g (/ (+ a b) 2))))"),
    ),
    "variance of a sum": Case(
        "T:any U:any", "(P (law T)) (Q (law U)) (f (T) real) (g (U) real)",
        "(== (mean (x T) P (f x)) 0) (== (mean (y U) Q (g y)) 0)",
        """(== (mean (x T) P (mean (y U) Q (^ (+ (f x) (g y)) 2)))
            (+ (mean (x T) P (^ (f x) 2)) (mean (y U) Q (^ (g y) 2))))""",
        (),
    ),
    "variance of a sum without independence": Case(
        "T:any", "(P (law T)) (f (T) real) (g (T) real)", "(== (mean (x T) P (f x)) 0) (== (mean (x T) P (g x)) 0)",
        """(<= (mean (x T) P (^ (+ (f x) (g x)) 2))
            (* 2 (+ (mean (x T) P (^ (f x) 2)) (mean (x T) P (^ (g x) 2)))))""",
        ("""(<= (mean (x T) P (^ (+ (f x) (g x)) 2))
            (+ (mean (x T) P (^ (f x) 2)) (mean (x T) P (^ (g x) 2))))""",),
    ),
    "induction over steps": Case(
        "", "(a (integer) real) (n integer)",
        "(<= 1 n) (<= (a 0) 0) (all ((k integer)) ((<= 0 k)) (<= (a (+ k 1)) (+ (a k) 1)))",
        "(<= (a n) n)",
        ("(<= (a n) (- n 1))",),
    ),
    "post-processing of numbers": Case(
        "D:data U:any", "(M (D) (law real)) (K (real) (law U)) (e real) (d real)", PRIVATE,
        "(private (x D) (then (y real) (M x) (K y)) e d)",
        ("(private (x D) (then (y real) (M x) (K y)) (/ e 2) d)",),
    ),
    "composition with a function of the first output": Case(
        "D:data", "(M (D) (law real)) (N (D real) (law real)) (e real)",
        "(<= 0 e) (private (x D) (M x) e 0) (all ((y real)) () (private (x D) (N x y) e 0))",
        "(private (x D) (then (y real) (M x) (N x y)) (* 2 e) 0)",
        (),
    ),
}  # fmt: skip
