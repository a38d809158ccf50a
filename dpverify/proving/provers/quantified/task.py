"""A claim that begins with quantifiers, taken apart: what is left of it and of its negation with something put in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpverify.formulas.calculus import with_values
from dpverify.formulas.expressions import Apply, Expression, Number, OutOfScopeError, Variable
from dpverify.formulas.logic import (
    And,
    Compare,
    Exists,
    ForAll,
    Formula,
    Implies,
    Le,
    Not,
    Or,
    free_in,
    has_exists,
    in_domain,
    negated,
)
from dpverify.formulas.printing import expression_text
from dpverify.formulas.rendering.neutral import Json, expression_to_json, variable_to_json
from dpverify.ledger.verdicts import HOLDS, Gap, Verdict
from dpverify.proving.problem import ProofProblem
from dpverify.proving.proof import Budget, Proof, Prove, Prover, most_telling, settled, together, undecided

Values = Mapping[Variable, Expression]
METHOD = "exists"


@dataclass(frozen=True)
class Prefix:
    """A claim's quantifiers in their order, the conditions among them, and what is said at last."""

    quantifiers: tuple[Exists | ForAll, ...]
    """Each with its whole body."""
    premises: tuple[Formula, ...]
    core: Formula

    @property
    def chosen(self) -> tuple[Variable, ...]:
        """Of what there is to be a value."""
        return tuple(q.variable for q in self.quantifiers if isinstance(q, Exists))

    @property
    def every(self) -> tuple[Variable, ...]:
        """What is to have any value."""
        return tuple(q.variable for q in self.quantifiers if isinstance(q, ForAll))

    @property
    def chosen_first(self) -> bool:
        """Whether all that there is to be is the same for all values of the others."""
        return all(isinstance(q, Exists) for q in self.quantifiers[: len(self.chosen)])


def peeled(problem: ProofProblem) -> Prefix:
    """The prefix of a claim; `OutOfScopeError` for other claims, and where a name is bound twice."""
    quantifiers: list[Exists | ForAll] = []
    premises: list[Formula] = []
    rest = problem.claim
    while not isinstance(rest, Compare | And | Or | Not):
        if isinstance(rest, Implies):
            premises += parts_of(rest.premise)
            rest = rest.conclusion
        else:
            quantifiers.append(rest)
            rest = rest.body
    if has_exists(rest) or any(map(has_exists, (*premises, *problem.assuming))):
        raise OutOfScopeError("there is something within a part of the claim, or of an assumption")
    names = [v.name for v in (*problem.over, *(q.variable for q in quantifiers))]
    if len(set(names)) < len(names) or any(q.variable.kind == "vector" for q in quantifiers):
        raise OutOfScopeError("a letter is bound twice, or a vector is bound")
    return Prefix(tuple(quantifiers), tuple(premises), rest)


def parts_of(formula: Formula) -> tuple[Formula, ...]:
    """The parts of a conjunction, or the formula alone; |u| <= v is u <= v and -u <= v."""
    match formula:
        case And(parts):
            return tuple(part for inner in parts for part in parts_of(inner))
        case Compare("<=" | "<" as relation, Apply("abs", (u,)), right):
            minus = Number(Fraction(-1)) * u
            return Compare(relation, u, right), Compare(relation, minus, right)
        case _:
            return (formula,)


def _bounds(letters: tuple[Variable, ...], values: Values) -> tuple[Formula, ...]:
    """What puts expressions into the domains of what they stand for; numbers are looked at by themselves."""
    return tuple(f for v in letters if not isinstance(values[v], Number) for f in in_domain(v, values[v]))


@dataclass(frozen=True)
class Growth:
    """What rises without bound with a letter t of its own, and which constants it goes beyond.

    The rate is factor * t^power, or factor * log t where there is no power. For all constants there is a t at which
    those in `above` are at most the rate, and those in `below`, all positive, at least its inverse.
    """

    along: Variable
    factor: Fraction
    power: Fraction | None
    above: tuple[Variable, ...] = ()
    below: tuple[Variable, ...] = ()

    @property
    def rate(self) -> Expression:
        """What rises."""
        if self.power is None:
            return Number(self.factor) * Apply("log", (self.along,))
        return Number(self.factor) * Apply("pow", (self.along, Number(self.power)))

    def text(self) -> str:
        """The rate, in plain characters."""
        t = self.along.name
        what = f"log({t})" if self.power is None else t if self.power == 1 else f"{t}^({self.power})"
        return what if self.factor == 1 else f"{self.factor}*{what}"

    def assumptions(self) -> tuple[Formula, ...]:
        """What holds of the constants for some value of the letter."""
        above = tuple(Le(v, self.rate) for v in self.above)
        return (*above, *(Le(1, Apply("mul", (v, self.rate))) for v in self.below))

    def to_json(self) -> Json:
        """As certificates write it."""
        return {
            "along": variable_to_json(self.along),
            "rate": expression_to_json(self.rate),
            "above": [v.name for v in self.above],
            "below": [v.name for v in self.below],
        }


def values_to_json(values: Values) -> Json:
    """As certificates write it."""
    return {v.name: expression_to_json(value) for v, value in values.items()}


def fresh(name: str, problem: ProofProblem) -> str:
    """A name that nothing in a problem has."""
    taken = {*problem.letters, *(v.name for v in problem.over)}
    k = 1
    while (found := name if k == 1 else f"{name}_{k}") in taken:
        k += 1
    return found


class Task:
    """A problem whose claim begins with quantifiers: parts to be shown for all letters under conditions.

    `constants` are positive numbers that there are to be, and that no condition has; `others` are thresholds, powers
    and the like.
    """

    def __init__(
        self, problem: ProofProblem, prefix: Prefix, budget: Budget, prove: Prove, provers: Sequence[Prover]
    ) -> None:
        self.problem, self.prefix, self.budget = problem, prefix, budget
        self._prove, self._provers = prove, tuple(provers)
        self.letters = (*problem.over, *prefix.every)
        self.parts = parts_of(prefix.core)
        self.conditions = (*problem.assuming, *prefix.premises)
        in_conditions = frozenset().union(*map(free_in, prefix.premises))
        self.constants = [
            v
            for v in prefix.chosen
            if v.kind == "real"
            and v.lower == 0
            and v.lower_open
            and v.upper is None
            and v not in in_conditions
        ]
        self.others = [v for v in prefix.chosen if v not in self.constants]
        self.reasons: list[str] = []
        self.gaps: list[Gap | None] = []

    def note(self, reason: str, gap: Gap | None = Gap.NO_METHOD) -> None:
        """Keep what stopped an attempt."""
        if reason:
            self.reasons.append(reason)
            self.gaps.append(gap)

    def shown(self, problem: ProofProblem, provers: Sequence[Prover] | None = None) -> Proof:
        """What the other provers say."""
        chosen = self._provers if provers is None else tuple(provers)
        return self._prove(problem, self.budget, chosen)

    def all_shown(
        self, problems: Iterable[ProofProblem], said: str = "", wanted: tuple[Verdict, ...] = HOLDS
    ) -> list[Proof] | None:
        """Proofs of all; None, and what is said of the first that is not shown, where one is missing."""
        proofs = []
        for problem in problems:
            proof = self.shown(problem)
            if proof.verdict not in wanted:
                self.note(said + proof.reason, proof.gap)
                return None
            proofs.append(proof)
        return proofs

    def earlier(self, v: Variable) -> tuple[Variable, ...]:
        """The letters on which a value of what there is to be may depend."""
        found = list(self.problem.over)
        for q in self.prefix.quantifiers:
            if q.variable == v:
                return tuple(found)
            if q.variable in self.prefix.every:
                found.append(q.variable)
        return tuple(found)

    def under(self, values: Values) -> ProofProblem:
        """The core for all letters but what there is to be, which has values, in its conditions."""
        core, *conditions = (with_values(f, values) for f in (self.prefix.core, *self.prefix.premises))
        return self.left(core, (*self.problem.assuming, *conditions))

    def with_values(self, values: Values) -> list[ProofProblem]:
        """What is left to be shown, part by part, once something is put in for all that there is to be."""
        given = self.under(values)
        claims = (*_bounds(self.prefix.chosen, values), *(with_values(part, values) for part in self.parts))
        return [given.claiming(claim) for claim in claims]

    def negation(
        self, values: Values, growth: Growth | None = None, part: int | None = None
    ) -> list[ProofProblem]:
        """What shows the claim to be false: at the values, whatever there is, conditions hold and the core does not.

        `part` is the part of a core that is a conjunction which fails.
        """
        core = self.prefix.core if part is None else self.parts[part]
        conditions = (*_bounds(self.prefix.every, values), *(with_values(f, values) for f in self.conditions))
        over, assuming = self.prefix.chosen, tuple[Formula, ...]()
        if growth is not None:
            over, assuming = (*over, growth.along), growth.assumptions()
        claims = (*conditions, negated(with_values(core, values)))
        return [ProofProblem(self.problem.name, claim, over, assuming) for claim in claims]

    def left(self, claim: Formula, conditions: tuple[Formula, ...]) -> ProofProblem:
        """What is left to be shown for all letters once something is put in."""
        return self.problem.about(claim, self.letters, conditions)

    def claim(self, values: Values, proofs: Sequence[Proof], said: str, below: Sequence[Json] = ()) -> Proof:
        """The proof of the claim from those of what is left."""
        more = {"below": list(below)} if below else {}
        return together(self.problem, proofs, _steps("claim", values, proofs, more), reason=said)

    def refutation(
        self, values: Values, proofs: Sequence[Proof], said: str, more: Mapping[str, Json] | None = None
    ) -> Proof:
        """The refutation of the claim from proofs of what its negation leaves."""
        steps = _steps("negation", values, proofs, more or {})
        return settled(self.problem, Verdict.REFUTED, steps, reason=said)

    def undecided(self) -> Proof:
        """That nothing was found, and why."""
        reason = "; ".join(dict.fromkeys(self.reasons)) or "no suitable values are found"
        return undecided(reason, most_telling(self.gaps))


def _steps(shows: str, values: Values, proofs: Sequence[Proof], more: Mapping[str, Json]) -> Json:
    """As certificates write a proof from others."""
    inner = [p.certificate for p in proofs]
    return {"method": METHOD, "shows": shows, "values": values_to_json(values), "inner": inner, **more}


def values_text(values: Values) -> str:
    """Values in plain characters."""
    return ", ".join(f"{v.name} = {expression_text(e)}" for v, e in values.items())
