"""Claims by what is true near a data set: scales of noise that are smooth bounds, and tests before a release."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import repeat

from dpverify.proving.checker.theorems.language import Node, free, named, parts_of, put
from dpverify.proving.theorems.building import ProofBuilder, Prove, Value
from dpverify.proving.theorems.derivation import UnderivedError
from dpverify.proving.theorems.sequences import subterms
from dpverify.statements.mechanisms.pages import MechanismOnPage, on, private, zero_of
from dpverify.statements.mechanisms.proofs.composition import weakened
from dpverify.statements.mechanisms.proofs.guesses import cost
from dpverify.statements.mechanisms.proofs.ranges import DATA, ONE, OTHER, D, Ranges, minus, number, plain
from dpverify.statements.mechanisms.proofs.sensitivity import Sensitivity
from dpverify.statements.mechanisms.scope import dependence

X, Y = ("sym", "x"), ("sym", "y")
SAFE: tuple[Fraction | int, ...] = (0, 1, Fraction(1, 2))
"""Values up to which of what is tested there may be too much to tell."""


def has_smooth_scale(mechanism: MechanismOnPage) -> bool:
    """Whether a mechanism is one Laplace draw whose scale depends on records, of which a smooth bound may be proved."""
    head = parts_of(mechanism.of("claim")[0].term)[0]
    laws = [parts_of(draw.term) for draw in mechanism.of("draw")]
    if mechanism.size or mechanism.sample or mechanism.loop:
        return False
    smooth = len(laws) == 1 and laws[0][0] == "laplace" and private(mechanism, laws[0][2])
    return smooth and head == "private" and not mechanism.test and not dependence(mechanism, scales=False)


@dataclass(frozen=True)
class LocalProof:
    """A proof of a mechanism's claim, and the places of what is known of neighbors."""

    mechanism: MechanismOnPage
    proof: ProofBuilder
    given: list[int]
    same: int
    within: int
    has_values: Callable[[Node], list[int]]
    """That a query has a value on each data set."""

    @property
    def known(self) -> list[int]:
        """What is assumed of public letters."""
        return self.proof.plain(self.given)

    def smooth(self, law: tuple[Node, ...], numbers: Sequence[Node]) -> int:
        """That Laplace noise has a guarantee whose scale is a smooth bound of a query.

        Raises:
            UnderivedError: where that is not found.
        """
        _, query, scale = law
        epsilon, delta = numbers
        twice: Node = ("mul", number(2), ("log", ("mul", number(2), ("pow", delta, number(-1)))))
        rate: Node = ("mul", epsilon, ("pow", twice, number(-1)))
        values = [*self.on_data(query, scale), *plain(epsilon, delta, half(epsilon), rate)]
        return self.applied("lemma.smooth-scale", values, {"mathcalD": DATA}, [query, scale])

    def tested(self) -> int:
        """That what is put out after a test has the guarantee that is claimed.

        Raises:
            UnderivedError: where that is not found.
        """
        mechanism, test = self.mechanism, self.mechanism.test
        assert test is not None
        head, *numbers = parts_of(mechanism.of("claim")[0].term)
        before = [draw for draw in mechanism.draws if draw.line < test.line]
        after = [draw for draw in mechanism.draws if draw.line > test.line]
        laws = [parts_of(draw.term) for draw in (*before, *after)]
        alike = {law[0] for law in laws} == {"laplace"}
        if head != "private" or len(before) != 1 or len(after) > 1 or not alike:
            raise UnderivedError(
                "no theorem is known of a test but of one Laplace draw, then at most another"
            )
        (name,) = (draw.name for draw in before)
        if any(name in free(term) for term in (mechanism.output.term, *(draw.term for draw in after))):
            raise UnderivedError("no theorem is known of what says more of the number that is tested")
        passes = put(test.term, {name: ((), Y)})
        _, threshold, noisy = parts_of(passes)
        if noisy != Y or "y" in free(threshold) or private(mechanism, threshold):
            raise UnderivedError("no theorem is known of a condition but of a draw above a public threshold")
        epsilon, delta = numbers
        zero = zero_of(mechanism.output.kind)
        if after:
            spent, (query, scale) = self.spent(before[0].term, epsilon), laws[1][1:]
            made, rule = put(mechanism.output.term, {after[0].name: ((), X)}), "lemma.noisy-release"
            scales, shares = [laws[0][2], scale], [spent, minus(epsilon, spent)]
        else:
            query, made, rule = (
                parts_of(mechanism.output.term)[2],
                ("pair", number(1), X),
                "lemma.stable-release",
            )
            scales, shares = [laws[0][2]], [epsilon]
        reasons, types = list[str](), {"mathcalD": DATA, "T": mechanism.output.kind}
        for safe in SAFE:
            values = [*self.on_data(laws[0][1], query), (("x",), made), *plain(*scales), (("y",), passes)]
            values += plain(threshold, number(safe), zero, *shares, delta)
            try:
                found = self.applied(rule, values, types, [laws[0][1], query])
            except UnderivedError as error:
                reasons.append(str(error))
                continue
            law = on(mechanism, mechanism.law, ONE)
            return weakened(self.proof, found, law, (epsilon, delta), types, self.known)
        raise UnderivedError(reasons[0])

    def on_data(self, *terms: Node) -> list[Value]:
        """Terms as functions of the data set."""
        return [((ONE,), on(self.mechanism, one, ONE)) for one in terms]

    def spent(self, law: Node, epsilon: Node) -> Node:
        """What a test costs: a guess, else half of all."""
        try:
            return cost(self.mechanism, law, "private")
        except UnderivedError:
            return half(epsilon)

    def applied(self, rule: str, values: list[Value], types: dict[str, Node], terms: list[Node]) -> int:
        """The claim of a theorem for some values of its letters, once all that it assumes is shown."""
        return self.proof.applied(
            rule, values, self.known, repeat(partial(self.shown, terms)), types,
            lambda: [k for term in terms for k in self.has_values(term)],
        )  # fmt: skip

    def shown(self, terms: list[Node], premise: Node) -> int:
        """That what a theorem assumes of all numbers, of all data sets, or of all neighbors is true."""
        kinds = [parts_of(letter)[2] for letter in parts_of(parts_of(premise)[1])]
        if kinds == ["real"]:
            return self.proof.block(
                premise, ["y"], lambda inner, given: inner.arithmetic(_claim(premise), *given, *self.known)
            )
        if kinds == [DATA]:
            return self.proof.block(premise, [ONE], self.positive(terms))
        return self.proof.block(premise, [ONE, OTHER], self.of_neighbors(premise, terms))

    def positive(self, terms: list[Node]) -> Prove:
        """Shows that the scale is positive on each data set."""
        letters: tuple[Node, ...] = ((ONE, (), DATA),)
        ranges = Ranges(self.mechanism, self.proof, self.known).sums(terms[1], letters)

        def prove(inner: ProofBuilder, _: list[int]) -> None:
            found = [inner.use(k, plain(D), []) for k in ranges]
            inner.arithmetic(("<", number(0), on(self.mechanism, terms[1], ONE)), *found, *self.known)

        return prove

    def of_neighbors(self, premise: Node, terms: list[Node]) -> Prove:
        """Shows what is said of two neighbors."""

        def prove(inner: ProofBuilder, given: list[int]) -> None:
            claim = put(premise, {})
            _, letters, premises, body = parts_of(claim)
            new = {
                named(parts_of(letter)[0]): ((), ("sym", name))
                for letter, name in zip(parts_of(letters), (ONE, OTHER), strict=True)
            }
            extra = tuple(put(one, new) for one in parts_of(premises)[1:])
            whole = put(("all", (), extra, put(body, new)), {}) if extra else put(body, new)
            seen = [term for term in terms if on(self.mechanism, term, ONE) in {*subterms(whole)}]
            known = Sensitivity(self.mechanism, inner, given[0], self.same, self.within)
            found = known.follows(whole, seen, _show)
            if extra:
                inner.use(found, [], given[1:])

        return prove


def half(term: Node) -> Node:
    """Half of a number."""
    return ("mul", term, number(Fraction(1, 2)))


def _claim(premise: Node) -> Node:
    """What a premise with one number says of it."""
    _, letters, _, body = parts_of(put(premise, {}))
    (letter,) = parts_of(letters)
    return put(body, {named(parts_of(letter)[0]): ((), ("sym", "y"))})


def _show(proof: ProofBuilder, claim: Node, *given: int, thorough: bool = True) -> int:
    """Arithmetic, also from premises; a factor e^t is tried as 1 + t, too."""
    head, *parts = parts_of(claim)
    if head == "all":
        return proof.block(
            claim, [], lambda inner, assumed: inner.arithmetic(parts[2], *assumed, *given, thorough=thorough)
        )
    factor = parts_of(parts[1])[1:2] if parts_of(parts[1])[0] == "mul" else ()
    if not factor or parts_of(factor[0])[0] != "exp":
        return proof.arithmetic(claim, *given, thorough=thorough)
    try:
        return proof.arithmetic(claim, *given, thorough=False)
    except UnderivedError:
        rate, scale = parts_of(factor[0])[1], parts_of(parts[1])[2]
        more: Node = ("add", number(1), rate)
        linear = proof.arithmetic(("<=", parts[0], ("mul", more, scale)), *given, thorough=False)
        above = proof.arithmetic(("<=", more, factor[0]), *given)
        positive = proof.arithmetic(("<=", number(0), scale), *given)
        return proof.arithmetic(claim, linear, above, positive)
