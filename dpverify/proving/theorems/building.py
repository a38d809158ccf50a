"""Builds proofs of theorems step by step, where it is known which steps are to be taken.

The facts are worked out by the checker's own rules as the proof grows; the certificate is checked again as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from dpverify.formulas.rendering.neutral import Json
from dpverify.proving.checker.theorems.language import Node, free, named, parts_of, put, with_types
from dpverify.proving.checker.theorems.steps import Clause, ProofState, opened_clause
from dpverify.proving.theorems.arithmetic import arithmetic
from dpverify.proving.theorems.derivation import UnderivedError, json_of, known_by

Value: TypeAlias = "tuple[tuple[str, ...], Node]"
"""What stands for a letter: a term, with the names of its arguments."""
Show: TypeAlias = Callable[[Node], int]
"""Shows what a rule assumes; its place among what is known."""


class ProofBuilder:
    """A proof that grows: its facts, each by its place, and its steps."""

    def __init__(self, state: ProofState) -> None:
        self.state = state
        self.steps = list[Json]()

    @property
    def facts(self) -> list[Node]:
        """All that is known."""
        return self.state.facts

    def know(self, step: Json, fact: Node) -> int:
        """Know a fact by a step that was worked out; the place at which it is known."""
        return known_by(self.facts, self.steps, fact, step)

    def use(
        self, source: str | int, values: Sequence[Value], given: Sequence[int],
        types: Mapping[str, Node] | None = None, defined: Sequence[int] = (),
    ) -> int:  # fmt: skip
        """The claim of a rule, or of a fact that holds for all letters, for some values of these.

        Raises:
            ValueError: where the checker refuses it.
        """
        step = {
            "step": "use", "of": source, "types": {name: json_of(kind) for name, kind in (types or {}).items()},
            "put": [[[*names], json_of(body)] for names, body in values], "from": [*given], "defined": [*defined],
        }  # fmt: skip
        return self.know(step, self.state.use(step))

    def premises_of(
        self, rule: str, values: Sequence[Value], types: Mapping[str, Node] | None = None
    ) -> Iterator[Node]:
        """What a rule assumes, for some values of its letters."""
        _, letters, premises, _ = parts_of(with_types(self.state.library[rule].body, types or {}))
        names = [named(parts_of(letter)[0]) for letter in parts_of(letters)]
        for one in parts_of(premises):
            yield put(one, dict(zip(names, values, strict=True)))

    def applied(
        self, rule: str, values: Sequence[Value], known: Sequence[int], others: Iterable[int | Show] = (),
        types: Mapping[str, Node] | None = None, defined: Callable[[], Sequence[int]] = tuple,
    ) -> int:  # fmt: skip
        """The claim of a rule, of which what it assumes of numbers is shown by arithmetic, from what is known.

        All else that it assumes is known at the places of the others, or shown by these, in their order.

        Raises:
            UnderivedError: where that is not found.
        """
        given, further = list[int](), iter(others)
        for one in self.premises_of(rule, values, types):
            if parts_of(one)[0] in ("<", "<=", "=="):
                given.append(self.arithmetic(one, *known))
            else:
                other = next(further)
                given.append(other if isinstance(other, int) else other(one))
        return self.use(rule, values, given, types, [*defined(), *known])

    def arithmetic(self, claim: Node, *given: int, thorough: bool = True) -> int:
        """What follows from some facts by arithmetic.

        Raises:
            UnderivedError: where that is not found.
        """
        claim = put(claim, {})
        if claim in self.facts:
            return self.facts.index(claim)
        if not free(claim):
            given = ()  # of numbers alone nothing else need be known
        facts = [self.facts[k] for k in given]
        found = arithmetic(self.state.scope, facts, claim, thorough=thorough)
        if found is None:
            raise UnderivedError("arithmetic does not give it")
        return self.know({"step": "arithmetic", "claim": json_of(claim), "from": [*given], **found}, claim)

    def rewritten(self, fact: int, by: int, template: Node, hole: str) -> int:
        """A fact in which one side of an equation stands in the place of the other: both are put in a hole."""
        step = {"step": "equal", "fact": fact, "by": by, "in": json_of(template), "hole": hole}
        return self.know(step, self.state.equal(step))

    def plain(self, given: Sequence[int]) -> list[int]:
        """Those of some facts that are not about all values of letters."""
        return [k for k in given if parts_of(self.facts[k])[0] != "all"]

    def block(self, whole: Node, names: Sequence[str], prove: Prove) -> int:
        """What holds for all values of letters, by a proof with the places of what is assumed of them.

        Raises:
            UnderivedError: where that proof does not come to the claim.
        """
        whole = put(whole, {})
        if whole in self.facts:
            return self.facts.index(whole)
        scope, opened = opened_clause(self.state.scope, whole, [*names])
        before = len(self.facts)
        inner = ProofBuilder(ProofState(scope, [*self.facts, *opened[:-1]], self.state.library))
        prove(inner, [*range(before, before + len(opened) - 1)])
        if opened[-1] not in inner.facts:
            raise UnderivedError("its proof ends with something else")
        step = {"step": "block", "claim": json_of(whole), "letters": [*names], "steps": inner.steps}
        return self.know(step, whole)

    def every(
        self, letters: Sequence[Node], premises: Sequence[Node], claim: Node, prove: Prove | None = None
    ) -> int:
        """The same of letters that keep their names in the proof; where none is given, by arithmetic of premises."""
        names = [named(parts_of(one)[0]) for one in letters]
        by: Prove = prove or (lambda inner, given: inner.arithmetic(claim, *given))
        return self.block(("all", (*letters,), (*premises,), claim), names, by)

    def cases(self, case: Node, claim: Node, so: Prove, not_so: Prove, defined: Sequence[int] = ()) -> int:
        """A claim, whether something is true or not; of that, the sides of comparisons have values by some facts."""
        both = [self.every((), (one,), claim, by) for one, by in ((case, so), (("not", case), not_so))]
        return self.use("rule.cases", [((), case), ((), claim)], both, defined=defined)


Prove: TypeAlias = Callable[[ProofBuilder, list[int]], object]
"""Takes the steps of a proof, from the places of what is assumed."""


def proof_of(clause: Clause, names: Sequence[str], library: Mapping[str, Clause], prove: Prove) -> list[Json]:
    """The steps of a proof of a clause.

    Raises:
        UnderivedError: where the proof does not come to the claim.
    """
    from dpverify.proving.checker.theorems.language import Scope

    outer = ProofBuilder(ProofState(Scope(dict(clause.types), {}), [], library))
    outer.block(clause.body, names, prove)
    (step,) = outer.steps
    return [*step["steps"]]
