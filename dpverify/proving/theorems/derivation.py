"""Finds the steps of proofs: for a display and the rules that it names, their instances and the arithmetic between.

What is found is confirmed by the checker (`dpverify.proving.checker.theorems`); a mistake here loses a proof, no more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, count

from dpverify.checks import require
from dpverify.errors import DpverifyError, InvalidArgumentError
from dpverify.formulas.rendering.neutral import Json
from dpverify.proving.checker.terms import COMPARISONS
from dpverify.proving.checker.theorems.arithmetic import OPERATIONS
from dpverify.proving.checker.theorems.language import (
    LOGIC,
    Node,
    Scope,
    bound_in,
    free,
    heads,
    inner,
    parts_of,
    put,
    typed,
)
from dpverify.proving.checker.theorems.steps import Clause, opened_clause
from dpverify.proving.theorems.arithmetic import arithmetic
from dpverify.proving.theorems.letters import TheoremLetter
from dpverify.proving.theorems.matching import (
    Assignment,
    ClauseMatcher,
    NoMatchError,
    Pattern,
    atoms,
    is_telling,
)
from dpverify.proving.theorems.notation import TheoremReader, bound_letter
from dpverify.proving.theorems.signs import signs_of, split

DEPTH = 5
"""How many premises may stand behind one another."""
GUARANTEES = ("private", "renyi-private", "concentrated", "gaussian")
VECTORS = {"inner", "norm"}
HOLE = "the hole"
QUESTIONS = 150
"""Questions of arithmetic for one step; one that the provers of formulas are asked counts for eleven."""
MOST = 12
"""Instances of a rule that are taken at most."""


class UnderivedError(DpverifyError):
    """A step does not follow by what it names; the message says what was missing."""


def json_of(node: Node) -> Json:
    """A term as JSON."""
    return node if isinstance(node, str) else [json_of(part) for part in node]


def known_by(facts: list[Node], steps: list[Json], fact: Node, step: Json) -> int:
    """The place of a fact among those that are known, to which it is added with its step if it is new."""
    if fact in facts:
        return facts.index(fact)
    steps.append(step)
    facts.append(fact)
    return len(facts) - 1


@dataclass
class Frame:
    """What is known at a place of a proof."""

    scope: Scope
    facts: list[Node]
    reader: TheoremReader
    steps: list[Json] = field(default_factory=list)
    named: dict[Node, tuple[str, ...]] = field(default_factory=dict)
    """Of displays that hold for all values of letters: the names that these have on the page."""

    def add(self, step: Json, fact: Node) -> int:
        """Know a fact by a step."""
        return known_by(self.facts, self.steps, fact, step)

    def back(self, facts: int, steps: int) -> None:
        """Forget what was found since."""
        del self.facts[facts:]
        del self.steps[steps:]


class Derivation:
    """Derives the displays of one theorem."""

    def __init__(self, library: Mapping[str, Pattern], automatic: Iterable[str]) -> None:
        self.library = library
        self.automatic = [library[id_] for id_ in automatic if id_ in library]
        self.names = count()
        self.given: dict[str, str] = {}
        self.unread: dict[str, ValueError] = {}
        self.failed, self.asked = "", 0
        self.goal: Node = ("num", "0")
        self.tried = set[tuple[Node, ...]]()

    def step(self, frame: Frame, goal: Node, by: Sequence[str], given: Sequence[str], latex: str) -> int:
        """Know a display by the rules that it names.

        Raises:
            UnderivedError: where that is not found.
        """
        rules = []
        for name in by:
            require(
                name in self.library, "rule", name, "a rule, a result or an earlier theorem that is known"
            )
            rules.append(self.library[name])
        self.given, self.unread = dict.fromkeys(given, ""), {}
        self.asked = 0
        self.failed = ""
        letters = _letters_of(frame.reader, latex)
        found = self.solve(goal, frame, rules, DEPTH, letters)
        if found is not None:
            self.name(frame, goal, latex)
            if parts_of(goal)[0] == "and" and parts_of(goal[1])[0] == "all":
                self.parts_known(frame, goal, found)
        for latex_, used in self.given.items():
            if not used and isinstance(self.unread.get(latex_), InvalidArgumentError):
                raise self.unread[latex_]
        if found is None:
            named_ = f" by {', '.join(by)}" if by else ""
            raise UnderivedError(f"it is not derived{named_}{self.failed and f': {self.failed}'}")
        unused = [one for one, used in self.given.items() if not used]
        if unused:
            raise InvalidArgumentError("with", unused[0], "letters of the rules that the step names")
        return found

    def name(self, frame: Frame, formula: Node, latex: str) -> None:
        """Keep the names of the letters for whose values something holds."""
        letters = _letters_of(frame.reader, latex)
        if letters:
            frame.named[formula] = tuple(one.name for one in letters)

    # ------------------------------------------------------------------------------------------ goals

    def solve(
        self, goal: Node, frame: Frame, rules: Sequence[Pattern], depth: int,
        letters: Sequence[TheoremLetter] = (),
    ) -> int | None:  # fmt: skip
        """The place of a fact; None if it is not found, and then nothing else is known either."""
        if goal in frame.facts:
            return frame.facts.index(goal)
        if depth < 0:
            return None
        mark = len(frame.facts), len(frame.steps)
        parts = parts_of(goal)
        if parts[0] == "all":
            nested = [
                one
                for one in (*rules, *self.clauses(frame))
                if parts_of(one.claim)[0] in ("all", "of", "sym")
            ]
            found = self.backward(goal, frame, nested, depth - 1) if nested else None
            if found is None:
                found = self.block(goal, frame, rules, depth, letters)
        else:
            found = self.backward(goal, frame, rules, depth)
            if found is None:
                local = self.clauses(frame)
                if parts[0] not in COMPARISONS:
                    local += self.automatic
                found = self.backward(goal, frame, local, depth - 1)
            if found is None and parts[0] in ("and",):
                known = [self.solve(part, frame, rules, depth) for part in parts[1:]]
                if None not in known and not any(map(_usable, parts[1:])):
                    found = frame.add({"step": "arithmetic", "claim": json_of(goal), "from": known}, goal)
                elif None not in known:
                    found = self.counted(goal, frame, [k for k in known if k is not None])
            if found is None and parts[0] == "integrable":
                found = self.of_equals(goal, frame, rules, depth)
            if found is None and parts[0] in (*COMPARISONS, *LOGIC):
                found = self.forward(goal, frame, rules, depth)
        if found is None:
            frame.back(*mark)
        return found

    def block(
        self, goal: Node, frame: Frame, rules: Sequence[Pattern], depth: int, letters: Sequence[TheoremLetter]
    ) -> int | None:
        """A clause, from what it assumes."""
        declared = parts_of(parts_of(goal)[1])
        reader = frame.reader
        if len(letters) == len(declared):
            names = [one.name for one in letters]
            reader = reader.having(*letters)
        else:
            names = [f"v{next(self.names)}" for _ in declared]
        if {*names} & frame.scope.letters.keys():
            names = [f"{name}.{next(self.names)}" for name in names]
        scope, opened = opened_clause(frame.scope, goal, names)
        inside = Frame(scope, [*frame.facts, *opened[:-1]], reader, named=frame.named)
        for k, fact in enumerate(opened[:-1]):
            self.parts_known(inside, fact, len(frame.facts) + k)
        self.same_letters(inside, depth)
        if self.solve(opened[-1], inside, rules, depth) is None:
            return None
        return frame.add(
            {"step": "block", "claim": json_of(goal), "letters": names, "steps": inside.steps}, goal
        )

    def same_letters(self, frame: Frame, depth: int) -> None:
        """Earlier displays for letters that are named as theirs are."""
        for rule in self.clauses(frame):
            names = frame.named.get(frame.facts[rule.source] if isinstance(rule.source, int) else "", ())
            if not names or len(names) != len(rule.letters):
                continue
            values = dict[str, tuple[tuple[str, ...], Node]]()
            for name, (own, kind) in zip(names, rule.letters, strict=True):
                if frame.scope.letters.get(name) == kind:
                    params = tuple(f"!q{k}" for k in range(len(kind[0])))
                    term: Node = ("of", name, *(("sym", q) for q in params)) if params else ("sym", name)
                    values[own] = params, term
            if len(values) == len(names):
                wanted = [Assignment(values).filled(premise) for premise in rule.premises]
                if all(premise in frame.facts for premise in wanted):
                    self.use(rule, Assignment(values), frame, depth)

    def parts_known(self, frame: Frame, fact: Node, index: int) -> None:
        """The parts of a conjunction that is known."""
        parts = parts_of(fact)
        if parts[0] == "and":
            for part in parts[1:]:
                if part not in frame.facts:
                    step = {"step": "arithmetic", "claim": json_of(part), "from": [index]}
                    self.parts_known(frame, part, frame.add(step, part))

    def clauses(self, frame: Frame) -> list[Pattern]:
        """The facts that hold for all values of letters."""
        return [
            Pattern.of(k, Clause((), fact))
            for k, fact in enumerate(frame.facts)
            if parts_of(fact)[0] == "all"
        ]

    # ------------------------------------------------------------------------------------------ rules

    def backward(self, goal: Node, frame: Frame, rules: Sequence[Pattern], depth: int) -> int | None:
        """A fact that is what a rule claims."""
        for rule in rules:
            matcher = ClauseMatcher(rule, frame.scope)
            for first in self.beginnings(rule, frame):
                try:
                    found = matcher.match(rule.claim, goal, first)
                except NoMatchError:
                    continue
                known = self.use(rule, found, frame, depth)
                if known is not None and frame.facts[known] == goal:
                    return known
        return None

    def forward(self, goal: Node, frame: Frame, rules: Sequence[Pattern], depth: int) -> int | None:
        """A fact that follows by arithmetic from instances of rules, and of what holds for all values of letters."""
        new = list[int]()
        self.goal = goal
        found = self.counted(goal, frame, [], thorough=False, few=True)
        if found is None and "space" in frame.scope.types.values():
            found = self.by_equals(goal, frame, range(len(frame.facts)), few=True)
        if found is not None:
            return found
        if rules:
            for rule in rules:
                new += self.instances(goal, frame, rule, depth, new, wide=False)
            found = self.counted(goal, frame, new, thorough=False) if new else None
            if found is not None:
                return found
        for rule in rules:
            new += [k for k in self.instances(goal, frame, rule, depth, new) if k not in new]
        for _ in range(4 if depth >= DEPTH - 1 else depth >= DEPTH - 2):
            before = len(new)
            for rule in reversed(self.clauses(frame)):
                if parts_of(rule.claim)[0] in (*COMPARISONS, "and"):
                    new += [k for k in self.instances(goal, frame, rule, depth, new) if k not in new]
            for rule in rules:
                new += [k for k in self.instances(goal, frame, rule, depth, new) if k not in new]
            if len(new) == before:
                break
        return self.counted(goal, frame, new, thorough=depth >= DEPTH - 1)

    def instances(
        self, goal: Node, frame: Frame, rule: Pattern, depth: int, new: Sequence[int], *, wide: bool = True
    ) -> list[int]:
        """Facts that a rule gives of what a goal and, if it is to be wide, other facts are about."""
        told = [one for one in dict.fromkeys(atoms(rule.claim)) if is_telling(one)]
        about = dict.fromkeys(atoms(goal, deep=True))
        for k in new:
            about |= dict.fromkeys(atoms(frame.facts[k], deep=True))
        later = dict.fromkeys(
            one for fact in frame.facts if parts_of(fact)[0] != "all" for one in atoms(fact, deep=True)
        )
        pool = [*about, *(one for one in later if wide and one not in about)]
        found, seen = list[int](), list[Assignment]()
        for first in self.beginnings(rule, frame):
            for one in self.told(rule, told, pool, first, frame):
                if one in seen:
                    continue
                seen.append(one)
                known = self.use(rule, one, frame, depth)
                if known is not None and known not in found:
                    found.append(known)
                if len(found) >= MOST or len(seen) >= 2 * MOST:
                    return found
        return found

    def beginnings(self, rule: Pattern, frame: Frame) -> Iterator[Assignment]:
        """What is said that letters stand for, and what guarantees that are known tell of them."""
        said = self.said(rule, frame)
        matcher = ClauseMatcher(rule, frame.scope)
        for premise in rule.premises:
            if parts_of(premise)[0] in GUARANTEES:
                for fact in frame.facts:
                    try:
                        yield matcher.match(premise, fact, said)
                    except NoMatchError:
                        continue
        yield said

    def told(
        self, rule: Pattern, told: Sequence[Node], pool: Sequence[Node], found: Assignment, frame: Frame,
        begun: bool = False,
    ) -> Iterator[Assignment]:  # fmt: skip
        """What letters stand for so that enough of the telling parts of a claim are in a pool."""
        matcher = ClauseMatcher(rule, frame.scope)
        left = [one for one in told if matcher.unknown(one, found)]
        if not left:
            yield found
            return
        for part in left[:1] if begun else left:
            for one in pool:
                try:
                    more = matcher.match(part, one, found)
                except NoMatchError:
                    continue
                if more != found:
                    yield from self.told(rule, [p for p in left if p != part], pool, more, frame, True)
        if begun:
            yield found  # premises may tell of the other letters

    def use(self, rule: Pattern, found: Assignment, frame: Frame, depth: int) -> int | None:
        """The place of a rule's claim for what letters stand for; None if something that it assumes is not known."""
        mark = len(frame.facts), len(frame.steps)
        for complete in self.completed(rule, found, frame, depth):
            if any(name not in complete.values for name, _ in rule.letters):
                continue
            known = dict[int, int]()
            order = sorted(range(len(rule.premises)), key=lambda k: parts_of(rule.premises[k])[0] == "all")
            for k in order:
                wanted = complete.filled(rule.premises[k])
                place = self.solve(wanted, frame, [], depth - (1 if isinstance(rule.source, str) else 3))
                if place is None:
                    self.failed = f"{rule.source} needs {shown(wanted)}"
                    break
                known[k] = place
            else:
                return self.used(rule, complete, frame, [known[k] for k in sorted(known)])
            frame.back(*mark)
        frame.back(*mark)
        return None

    def used(self, rule: Pattern, found: Assignment, frame: Frame, known: Sequence[int]) -> int:
        """Know a rule's claim."""
        given = [[[*found.values[name][0]], json_of(found.values[name][1])] for name, _ in rule.letters]
        types = {name[1:]: json_of(found.types.get(name, "real")) for name in rule.types}
        defined = [k for k, fact in enumerate(frame.facts) if _is_bound(fact)]
        step = {
            "step": "use",
            "of": rule.source,
            "types": types,
            "put": given,
            "from": [*known],
            "defined": defined,
        }
        return frame.add(step, found.filled(rule.claim))

    def completed(self, rule: Pattern, found: Assignment, frame: Frame, depth: int) -> Iterator[Assignment]:
        """What all letters stand for, where premises tell of those that the claim does not."""
        found = self.said(rule, frame, found)
        matcher = ClauseMatcher(rule, frame.scope)
        for premise in rule.premises:
            if not matcher.unknown(premise, found):
                continue
            for fact in chain([*frame.facts], self.resolved(premise, found, frame, depth)):
                try:
                    more = matcher.match(premise, fact, found)
                except NoMatchError:
                    continue
                yield from self.completed(rule, more, frame, depth)
            return
        yield from self.filled(rule, found, frame) if isinstance(rule.source, int) else [found]

    def filled(self, rule: Pattern, found: Assignment, frame: Frame) -> Iterator[Assignment]:
        """What is known, and numbers of which nothing tells are those that the goal is about."""
        left = [(name, kind) for name, kind in rule.letters if name not in found.values]
        if len(left) > 2 or any(kinds or kind not in ("real", "integer") for _, (kinds, kind) in left):
            return
        if not left:
            yield found
            return
        name, (_, kind) = left[0]
        for letter, own in reversed([*frame.scope.letters.items()]):
            if letter in free(self.goal) and own == ((), kind):
                values = {**found.values, name: ((), ("sym", letter))}
                yield from self.filled(rule, replace(found, values=values), frame)

    def resolved(self, premise: Node, found: Assignment, frame: Frame, depth: int) -> Iterator[Node]:
        """Facts that rules give, which may be what a premise needs whose letters are not all known."""
        if depth <= 0 or parts_of(premise)[0] in ("all", *COMPARISONS):
            return
        law = found.filled(parts_of(premise)[2]) if len(parts_of(premise)) > 2 else None
        if law is None or parts_of(premise)[0] != "density":
            return
        for rule in self.automatic:
            claim = parts_of(rule.claim)
            if claim[0] != "density":
                continue
            try:
                one = ClauseMatcher(rule, frame.scope).match(claim[2], law, Assignment())
            except NoMatchError:
                continue
            known = self.use(rule, one, frame, depth - 1)
            if known is not None:
                yield frame.facts[known]

    # ------------------------------------------------------------------------------------------ arithmetic

    def counted(
        self, goal: Node, frame: Frame, new: Sequence[int], *, thorough: bool = True, few: bool = False
    ) -> int | None:
        """A fact by arithmetic, from new facts and bounds, else from all facts about the same."""
        usable = [k for k, fact in enumerate(frame.facts) if _usable(fact)]
        about = {*atoms(goal)}.union(*({*atoms(frame.facts[k])} for k in new))
        letters = [k for k in usable if not {*atoms(frame.facts[k])}]
        near = [k for k in usable if {*atoms(frame.facts[k])} & about]
        if VECTORS & heads(goal):
            near += [k for k in usable if VECTORS & heads(frame.facts[k])]
        recent = [k for k in usable if k not in letters and k not in new]
        groups = [
            {*letters, *recent[-3:], *new[:1]},
            {*letters, *recent[-6:], *new[:2]},
            {*letters, *new[:2]},
            {*letters, *new[:4]},
            {*letters, *new[:8]},
            {*letters, *new},
        ]
        groups = groups[:2] if few else [*groups, {*letters, *new, *near}]
        for choice in [sorted(one & {*usable}) for one in groups]:
            facts = [frame.facts[k] for k in choice]
            covered = {one for fact in facts for one in atoms(fact)}
            far = [one for one in {*atoms(goal)} - covered if bound_in(parts_of(one))]
            deep = thorough and not far and choice in (sorted({*letters, *new} & {*usable}), choice[:9])
            key = (str(deep), goal, *facts)
            if key in self.tried:
                continue
            self.asked += 1 + 10 * deep
            if self.asked > QUESTIONS:
                self.failed = self.failed or f"{QUESTIONS} questions of arithmetic were not enough"
                return None
            found = arithmetic(frame.scope, facts, goal, thorough=deep)
            if found is not None:
                return frame.add(
                    {"step": "arithmetic", "claim": json_of(goal), "from": choice, **found}, goal
                )
            self.tried.add(key)
        if not few:
            found = self.by_equals(goal, frame, [*new, *recent])
            if found is not None:
                return found
        self.failed = self.failed or f"arithmetic does not give {shown(goal)}"
        return None

    def by_equals(self, goal: Node, frame: Frame, facts: Sequence[int], *, few: bool = False) -> int | None:
        """A fact by arithmetic, in which what is equal stands for parts that are no arithmetic."""
        for k in facts:
            head, *sides = parts_of(frame.facts[k])
            if head != "==":
                continue
            deep = frame.scope.type_of(sides[0]) not in ("real", "integer")
            if sides[0] not in {*atoms(goal, deep=True)} or sides[0] in {*atoms(sides[1], deep=deep)}:
                continue
            pattern = with_hole(goal, sides[0])
            other = put(pattern, {HOLE: ((), sides[1])})
            mark = len(frame.facts), len(frame.steps)
            left = [] if few else [j for j in facts if j != k]
            known = self.counted(other, frame, left, thorough=False, few=few)
            if known is not None and known != k:
                step = {"step": "equal", "by": k, "hole": HOLE, "in": json_of(pattern), "fact": known}
                return frame.add(step, goal)
            frame.back(*mark)
        return None

    def of_equals(self, goal: Node, frame: Frame, rules: Sequence[Pattern], depth: int) -> int | None:
        """A fact about a law that is equal to one of which something is known."""
        for k, fact in enumerate([*frame.facts]):
            head, *sides = parts_of(fact)
            if head != "==" or sides[0] != parts_of(goal)[2] or sides[0] == sides[1]:
                continue
            pattern = with_hole(goal, sides[0])
            known = self.solve(put(pattern, {HOLE: ((), sides[1])}), frame, rules, depth - 1)
            if known is not None:
                step = {"step": "equal", "by": k, "hole": HOLE, "in": json_of(pattern), "fact": known}
                return frame.add(step, goal)
        return None

    # ------------------------------------------------------------------------------------------ with

    def said(self, rule: Pattern, frame: Frame, found: Assignment | None = None) -> Assignment:
        """What a step says that letters of a rule stand for, as far as the types of these are known."""
        found = found or Assignment()
        kinds = dict(rule.letters)
        for latex in self.given if isinstance(rule.source, str) else ():
            left, *right = split(signs_of(latex), "=")
            place = next((k for k, name in enumerate(rule.names) if _heads(left, name)), None)
            if place is None or not right or f"?{place}" in found.values:
                continue
            arguments, kind = kinds[f"?{place}"]
            types = [typed(one, found.types) for one in (*arguments, kind)]
            if any("?" in str(one) for one in types):
                continue
            body = signs_of(latex)[len(left) + 1 :]
            inside = split(left[left.index("(") + 1 : -1], ",") if "(" in left and arguments else []
            bound = [bound_letter(one, t) for one, t in zip(inside, types[:-1], strict=True)]
            try:
                term = frame.reader.having(*bound).value(body, types[-1])
            except ValueError as error:  # other types may fit
                self.unread.setdefault(latex, error)
                continue
            params = tuple(f"!q{k}" for k in range(len(bound)))
            names = {b.name: ((), ("sym", q)) for b, q in zip(bound, params, strict=True)}
            self.given[latex] = "used"
            found = replace(found, values={**found.values, f"?{place}": (params, put(term, names))})
        return found


def with_hole(node: Node, part: Node) -> Node:
    """A term with a hole in place of a part."""
    if node == part:
        return ("sym", HOLE)
    return node if isinstance(node, str) else tuple(with_hole(one, part) for one in node)


def _heads(left: tuple[str, ...], name: str) -> bool:
    """Whether the left side of what is said is a letter with some name."""
    head = left[: left.index("(")] if "(" in left else left
    return "".join(sign for sign in head if sign not in "{}").replace("\\", "") == name


def _letters_of(reader: TheoremReader, latex: str) -> list[TheoremLetter]:
    """The letters of the quantifier with which a display begins."""
    signs = signs_of(latex) if latex else ()
    if signs[:1] != (r"\forall",):
        return []
    found = list[TheoremLetter]()
    for one in split(split(signs, ":")[0][1:], ","):
        found += reader.having(*found).quantified(one)[0]
    return found


def _usable(fact: Node) -> bool:
    return parts_of(fact)[0] in (*COMPARISONS, "and", "or", "not", "implies")


def _is_bound(fact: Node) -> bool:
    """Whether a fact, for all or not, compares numbers that have values: that no law is about, or one with a number."""
    if parts_of(fact)[0] == "all" and not parts_of(parts_of(fact)[2]):
        return _is_bound(parts_of(fact)[3])
    if parts_of(fact)[0] not in COMPARISONS or _may_be_undefined(fact):
        return False
    if any(parts_of(side)[0] == "num" for side in parts_of(fact)[1:]):
        return True
    return not any(bound_in(parts_of(atom)) for atom in atoms(fact) if parts_of(atom)[0] != "divergence")


def _may_be_undefined(node: Node) -> bool:
    """Whether there are logarithms, quantiles or powers with letters as exponents, those within other terms aside."""
    parts = parts_of(node)
    if parts[0] not in OPERATIONS and parts[0] not in COMPARISONS:
        return False
    symbolic = parts[0] == "pow" and parts_of(parts[2])[0] != "num"
    return (
        symbolic
        or parts[0] in ("log", "phi_inverse")
        or any(_may_be_undefined(part) for part, _ in inner(parts))
    )


def shown(node: Node) -> str:
    """A term in plain characters."""
    if isinstance(node, str):
        return node
    head = node[0] if node else ""
    if not isinstance(head, str):
        return f"[{', '.join(map(shown, node))}]"
    if head in ("sym", "num"):
        return shown(node[1])
    if head == "of":
        return f"{shown(node[1])}({', '.join(map(shown, node[2:]))})"
    return f"{head}({', '.join(map(shown, node[1:]))})"
