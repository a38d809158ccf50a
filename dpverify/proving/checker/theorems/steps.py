"""The checker's steps of theorems: uses of clauses, arithmetic, equals for equals, and blocks; each adds a fact."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dpverify.proving.checker.reading import fields, items, text
from dpverify.proving.checker.terms import demand
from dpverify.proving.checker.theorems.arithmetic import entail, show_defined
from dpverify.proving.checker.theorems.language import (
    Node,
    Scope,
    check_type,
    free,
    heads,
    named,
    nodes,
    parts_of,
    put,
    with_types,
)

QUANTIFIERS = {
    "all",
    "private",
    "renyi-private",
    "concentrated",
    "gaussian",
    "density",
    "integrable",
    "dominated",
}
COUNTED = ("integer", "finite", "data")
"""Kinds of types of which every set is an event."""


@dataclass(frozen=True)
class Clause:
    """What holds for all types, and for all values of letters that satisfy what is assumed."""

    types: tuple[tuple[str, str], ...]
    """Names, each with `any`, `finite`, `data` or `space`."""
    body: Node
    """Its letters, what is assumed, and what is claimed: `all`."""

    @staticmethod
    def read(value: object) -> Clause:
        """A clause, of which every part has a type."""
        given = fields(value)
        types = tuple((text(name), text(kind)) for name, kind in map(items, items(given["types"])))
        demand(all(kind in ("any", "finite", "data", "space") for _, kind in types), "no kind of type")
        demand(not {name for name, _ in types} & {"real", "integer", "formula"}, "a name that a type has")
        body = put(nodes(given["body"]), {})
        demand(parts_of(body)[0] == "all", "no clause")
        Scope(dict(types), {}).demand_formula(body)
        return Clause(types, body)


class ProofState:
    """The facts that are known, in their order, and what is used."""

    def __init__(self, scope: Scope, facts: list[Node], library: Mapping[str, Clause]) -> None:
        self.scope, self.facts, self.library = scope, facts, library

    def fact(self, index: object) -> Node:
        """An earlier fact."""
        demand(isinstance(index, int) and 0 <= index < len(self.facts), "no fact")
        return self.facts[index] if isinstance(index, int) else ""

    def from_(self, step: Mapping[str, object]) -> list[Node]:
        """The facts from which something follows."""
        return [self.fact(index) for index in items(step["from"])]

    def read(self, value: object) -> Node:
        """A formula in the letters that are known."""
        found = put(nodes(value), {})
        self.scope.demand_formula(found)
        return found

    def take(self, value: object) -> None:
        """Confirm a step, and know its fact."""
        step = fields(value)
        rules = {"use": self.use, "arithmetic": self.arithmetic, "equal": self.equal, "block": self.block}
        rule = text(step["step"])
        demand(rule in rules, f"no step: {rule}")
        self.facts.append(rules[rule](step))

    def use(self, step: Mapping[str, object]) -> Node:
        """The claim of a clause, for values of its letters for which what it assumes are facts."""
        source = step["of"]
        clause = self.library[source] if isinstance(source, str) else Clause((), self.fact(source))
        given = fields(step["types"])
        demand(given.keys() == dict(clause.types).keys(), "types that are not the clause's")
        types = {name: nodes(kind) for name, kind in given.items()}
        for name, kind in clause.types:
            check_type(types[name], self.scope.types)
            one = types[name]
            right = isinstance(one, str) and self.scope.types.get(one) == kind
            right |= (kind, one) == ("space", "real")  # of one dimension, where norms are absolute values
            demand(kind == "any" or right, f"{name} is not {kind}")
        head, letters, premises, claim = parts_of(with_types(clause.body, types))
        demand(head == "all", "no clause")
        values = self.values(parts_of(letters), items(step["put"]), self.facts_named(step, "defined"))
        wanted = [put(premise, values) for premise in parts_of(premises)]
        demand(wanted == self.from_(step), "what is assumed is not what is known")
        return put(claim, values)

    def facts_named(self, step: Mapping[str, object], key: str) -> list[Node]:
        """Facts that are optional."""
        return [self.fact(index) for index in items(step.get(key, []))]

    def values(
        self, letters: tuple[Node, ...], given: list[object], facts: list[Node]
    ) -> dict[str, tuple[tuple[str, ...], Node]]:
        """What stands for letters, each of the letter's type and with a value wherever the facts hold."""
        found = dict[str, tuple[tuple[str, ...], Node]]()
        for one, (name, kinds, kind) in zip(given, map(parts_of, letters), strict=True):
            params, body = items(one)
            names = [f"!{name}.{k}" for k in range(len(items(params)))]
            own = {text(p): ((), ("sym", new)) for p, new in zip(items(params), names, strict=True)}
            demand(len(names) == len(parts_of(kinds)), f"{name} with other arguments")
            discrete = all(self.scope.types.get(str(arg), str(arg)) in COUNTED for arg in parts_of(kinds))
            within = self.scope.with_letters(
                [(new, (), arg) for new, arg in zip(names, parts_of(kinds), strict=True)]
            )
            term = put(nodes(body), own)
            demand(
                not names or discrete or not QUANTIFIERS & heads(term), "an event that may not be measurable"
            )
            demand(within.has(term, kind), f"{name} of another type")
            show_defined(within, [*facts, *instances(facts, names, parts_of(kinds))], term)
            found[named(name)] = tuple(names), term
        return found

    def arithmetic(self, step: Mapping[str, object]) -> Node:
        """What follows from facts as a formula."""
        claim = self.read(step["claim"])
        opaque = frozenset(map(text, items(step.get("opaque", []))))
        entail(self.scope, self.from_(step), claim, step.get("proof"), step.get("witness"), opaque)
        return claim

    def equal(self, step: Mapping[str, object]) -> Node:
        """A fact in which what is equal stands for what it is equal to; sums are where all of their terms are."""
        left, right = equation(self.fact(step["by"]))
        hole = text(step["hole"])
        demand(hole not in self.scope.letters, "a hole that is a letter")
        claims = [put(nodes(step["in"]), {hole: ((), side)}) for side in (left, right)]
        known = self.fact(step["fact"])
        demand(known in claims, "a fact of another form")
        found = claims[1 - claims.index(known)]
        self.scope.demand_formula(found)
        return found

    def block(self, step: Mapping[str, object]) -> Node:
        """What holds for all values of further letters for which further formulas hold."""
        whole = self.read(step["claim"])
        demand(parts_of(whole)[0] == "all", "a block without a clause")
        names = [text(name) for name in items(step["letters"])]
        scope, opened = opened_clause(self.scope, whole, names)
        known = ProofState(scope, [*self.facts, *opened[:-1]], self.library)
        for one in items(step["steps"]):
            known.take(one)
        demand(opened[-1] in known.facts, "what a block claims is not among its facts")
        return whole


def equation(fact: Node) -> tuple[Node, ...]:
    """The sides of an equation; of one for all whole numbers from one to another, the sums over these."""
    head, *rest = parts_of(fact)
    if head == "==":
        return tuple(rest)
    demand(head == "all", "no equation")
    letters, premises, claim = map(parts_of, rest)
    demand(claim[0] == "==" and len(letters) == 1 and [len(one) for one in premises] == [3, 3], "no equation")
    name, first, last = parts_of(letters[0])[0], parts_of(premises[0])[1], parts_of(premises[1])[2]
    i: Node = ("sym", name)
    inside = ("<=", first, i), ("<=", i, last)
    demand(letters == ((name, (), "integer"),) and premises == inside, "no range of whole numbers")
    demand(named(name) not in free(first) | free(last), "ends that depend on the index")
    return tuple(put(("sum", (name, "integer"), side, first, last), {}) for side in claim[1:])


def instances(facts: list[Node], names: list[str], kinds: tuple[Node, ...]) -> list[Node]:
    """What facts that hold for all values of letters of some types say of letters of these types."""
    found = list[Node]()
    for fact in facts:
        head, *rest = parts_of(fact)
        letters = [parts_of(letter) for letter in parts_of(rest[0])] if head == "all" else []
        if (
            names
            and not any(parts_of(own) for _, own, _ in letters)
            and kinds == tuple(k for _, _, k in letters)
        ):
            values = {named(one[0]): ((), ("sym", name)) for one, name in zip(letters, names, strict=True)}
            found += [put(rest[2], values)] if not parts_of(rest[1]) else []
    return found


def opened_clause(scope: Scope, whole: Node, names: list[str]) -> tuple[Scope, list[Node]]:
    """The letters that are known within a clause, what it assumes, and last what it claims."""
    _, letters, premises, claim = parts_of(whole)
    taken = len({*names} | scope.letters.keys()) < len(names) + len(scope.letters)
    demand(not taken and len(names) == len(parts_of(letters)), "names that are taken")
    demand(not any(name[:1] in ("#", "!", "") or {*name} & {*"|\\"} for name in names), "no names of letters")
    values, new = dict[str, tuple[tuple[str, ...], Node]](), list[Node]()
    for name, letter in zip(names, map(parts_of, parts_of(letters)), strict=True):
        params = tuple(f"!{k}" for k in range(len(parts_of(letter[1]))))
        own: Node = ("of", name, *(("sym", p) for p in params)) if params else ("sym", name)
        values[named(letter[0])] = params, own
        new.append((name, letter[1], letter[2]))
    return scope.with_letters(new), [put(f, values) for f in (*parts_of(premises), claim)]


def show(given: Mapping[str, object]) -> str:
    """Derived, if steps derive a certificate's clause from the clauses of its library."""
    clause = Clause.read(given["clause"])
    library = {text(name): Clause.read(value) for name, value in fields(given["library"]).items()}
    demand(given["theorem"] not in library, "a theorem that rests on itself")
    empty = ProofState(Scope(dict(clause.types), {}), [], library)
    empty.take({**given, "step": "block", "claim": clause.body})
    return "derived"
