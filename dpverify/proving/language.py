"""What is to be proved: obligations over trees, and the statements that they belong to."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Protocol, overload

from dpverify.errors import InvalidArgumentError
from dpverify.formulas.expressions import Expression, Variable
from dpverify.formulas.functionals import may_be_a_functional
from dpverify.formulas.logic import Compare, Formula, conjuncts
from dpverify.formulas.rendering.neutral import Json
from dpverify.formulas.units import DIMENSIONLESS, UNKNOWN
from dpverify.ledger.in_print import Provenance, named_letter
from dpverify.ledger.names import bare
from dpverify.ledger.verdicts import Consequence, Coverage
from dpverify.proving.problem import ProofProblem
from dpverify.proving.writing_out import BoundForms, written_out

if TYPE_CHECKING:
    from dpverify.proving.second_reader import PrintedSource


@dataclass(frozen=True)
class Fault:
    """A wrong claim in the place of an obligation's, which is to be seen: never proved under its assumptions."""

    says: str
    """What is wrong with it, such as `a factor sqrt(2) is lost`."""
    claim: Formula


@dataclass(frozen=True)
class Quantity:
    """What is written in a formula and is no plain letter."""

    latex: str
    of: Expression
    """The letter that it is, or what it is defined as."""
    body: str = ""
    """The LaTeX of the definition; empty for a letter."""

    @property
    def line(self) -> str:
        """What it stands for, in LaTeX."""
        if isinstance(self.of, Variable) and not self.body:
            return named_letter(self.latex, self.of.name)
        return f"{self.latex}={self.body}"


@dataclass(frozen=True)
class Obligation:
    """One formula of a statement, to be proved or refuted on its domain.

    `claim` is to hold for all values of the variables in `over` that satisfy everything in `assuming`. `box`
    bounds (some of) the variables for provers that need a bounded domain; where it cuts the domain, the
    verdict is at best `certified`. `coverage` says how much of the statement the formula is; where nobody says so,
    it proves nothing of it. `latex` is the formula as printed, for reading.
    """

    name: str
    where: str
    claim: Formula
    over: tuple[Variable, ...]
    coverage: Coverage = Coverage.STEP
    assuming: tuple[Formula, ...] = ()
    meant: tuple[Formula, ...] = ()
    """Conditions, among these or of the claim, that the source does not print where the formula stands."""
    box: Mapping[str, tuple[object, object]] = field(default_factory=dict)
    latex: str = ""
    scope: str = ""
    """Of which case of the statement an instance is; nothing else has a scope."""
    own_sizes: bool = False
    """Of an instance, whether its case gives letters their sizes, such as n = 2, and none met in practice."""
    units: bool = True
    """Whether the formula is checked for homogeneity (a separate row of coverage `unit`)."""
    uses: tuple[str, ...] = ()
    """Ids of the statements or named results, or `STATEMENT/OBLIGATION`, that its part in the statement rests on."""
    consequence: Consequence | None = None
    """For a printed formula that is false (or compares different units), what follows from that."""
    reading: str = ""
    """How what is printed can be read so that it is true."""
    catches: Fault | None = None
    """For an instance that holds, a fault that it would have caught."""
    because: str = ""
    """For a correction, what is wrong with what is printed in its place."""
    provenance: Provenance = Provenance.VERBATIM
    """Where its line comes from; what someone's own page says stands there."""
    notation: tuple[Quantity, ...] = ()
    """The quantities in `latex` that are no plain letters."""
    formulas: Mapping[Variable, Expression] = field(default_factory=dict)
    """What letters of it stand for, in letters that stand for none (`dpverify.proving.writing_out`)."""
    bound_forms: BoundForms | None = None
    """Where such letters are bound: claim and assumptions as they are, and with letters replaced before binding."""
    source: PrintedSource | None = field(default=None, compare=False, repr=False)
    """What it was read from, for the second reader; None where it was made as a tree."""

    def __post_init__(self) -> None:
        self._check_coverage()
        problem = self.problem
        if self.catches is not None:
            problem.check_free(f"fault of obligation {self.name}", self.catches.claim, "a claim")

    @cached_property
    def problem(self) -> ProofProblem:
        """What is to be decided: all of it that provers see."""
        return ProofProblem(self.name, self.claim, self.over, self.assuming, self.box)

    @cached_property
    def written_out(self) -> Obligation:
        """The same with letters replaced by the formulas that they stand for; itself where there are none."""
        written = written_out(self.problem, self.formulas, self.bound_forms)
        if written is None:
            return self
        form, formulas = written
        # the source says the formula as it was before
        return replace(
            self, claim=form.claim, over=form.over, assuming=form.assuming, box=form.box,
            formulas=formulas, bound_forms=None, catches=None, source=None,
        )  # fmt: skip

    @property
    def declared(self) -> tuple[Variable, ...]:
        """Its variables."""
        return self.over

    @property
    def assumed(self) -> tuple[Formula, ...]:
        """The parts of its claim that are assumptions, or have the same on both sides: to show them shows nothing."""
        given = {_unordered(part) for formula in self.assuming for part in conjuncts(formula)}
        return tuple(p for p in conjuncts(self.claim) if _unordered(p) in given or _is_of_equals(p))

    @property
    def says_nothing(self) -> bool:
        """Whether its claim says no more than its assumptions, word for word."""
        return self.assumed == tuple(conjuncts(self.claim))

    @property
    def functionals(self) -> tuple[Variable, ...]:
        """Its letters, bound ones included, that may stand for functionals (`dpverify.formulas.functionals`)."""
        return tuple(v for _, v in sorted(self.problem.letters.items()) if may_be_a_functional(v))

    @property
    def compares_units(self) -> bool:
        """Whether its units are all known and to be compared, and some letter is no pure number: else none fails."""
        units = [v.unit for v in self.problem.letters.values()]
        return self.units and UNKNOWN not in units and not all(u.same_as(DIMENSIONLESS) for u in units)

    def _check_coverage(self) -> None:
        if self.coverage not in tuple(Coverage) or self.coverage is Coverage.UNIT:
            allowed = ", ".join(c for c in Coverage if c is not Coverage.UNIT)
            raise InvalidArgumentError(f"coverage of obligation {self.name}", self.coverage, allowed)
        if bool(self.scope) != (self.coverage is Coverage.INSTANCE):
            allowed = "the case for an instance, and none for others"
            raise InvalidArgumentError(f"scope of obligation {self.name}", self.scope, allowed)
        if self.own_sizes and self.coverage is not Coverage.INSTANCE:
            raise InvalidArgumentError(
                f"own sizes of obligation {self.name}", True, "said of an instance alone"
            )
        _check_names(f"uses of obligation {self.name}", self.uses)


def _unordered(formula: Formula) -> object:
    """A formula, whichever side of an equation comes first."""
    if isinstance(formula, Compare) and formula.relation in ("==", "!="):
        return formula.relation, frozenset((formula.left, formula.right))
    return formula


def _is_of_equals(formula: Formula) -> bool:
    return isinstance(formula, Compare) and formula.relation in ("==", "<=") and formula.left == formula.right


def _check_names(what: str, names: object) -> None:
    if not isinstance(names, tuple) or not all(isinstance(name, str) for name in names):
        raise InvalidArgumentError(what, names, "a tuple of ids")


class StatementPart(Protocol):
    """What is said of an obligation beside its formulas."""

    @property
    def name(self) -> str:
        """Its name within the statement."""

    @property
    def coverage(self) -> Coverage:
        """How much of the statement it is."""

    @property
    def uses(self) -> tuple[str, ...]:
        """What its part in the statement rests on."""

    @property
    def because(self) -> str:
        """For a correction, what is wrong with what is printed in its place."""

    @property
    def declared(self) -> tuple[Variable, ...]:
        """The letters that it may be about; only constants of orders such as O(n) are not among them."""


class Unread(Sequence[Obligation]):
    """Obligations that are read when they are asked for, each once; `parts` is known of them without reading."""

    def __init__(
        self, parts: Sequence[StatementPart], read: Callable[[int], Obligation], source: Callable[[], Json]
    ) -> None:
        self.parts = tuple(parts)
        self._read = read
        self.source = source
        """What they are read from: all of it, so that where it is the same, they are."""

    @overload
    def __getitem__(self, index: int) -> Obligation: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Obligation, ...]: ...
    def __getitem__(self, index: int | slice) -> Obligation | tuple[Obligation, ...]:
        if isinstance(index, slice):
            return tuple(self)[index]
        return self._read(range(len(self.parts))[index])

    def __len__(self) -> int:
        return len(self.parts)

    def __iter__(self) -> Iterator[Obligation]:
        return map(self._read, range(len(self.parts)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, tuple | Unread) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[type, tuple[tuple[Obligation, ...]]]:
        return tuple, (tuple(self),)


def parts_of(obligations: Sequence[Obligation]) -> Sequence[StatementPart]:
    """What is said of obligations beside their formulas, without reading them."""
    return obligations.parts if isinstance(obligations, Unread) else obligations


@dataclass(frozen=True)
class Correction:
    """What should have been printed, and why.

    A corrected obligation takes the place of the printed one with the same name; `replaces` names further
    printed obligations that it makes void. All others stand as printed.
    """

    because: str
    """What is wrong with the statement itself; each of its obligations may have a reason of its own."""
    obligations: Sequence[Obligation]
    latex: str = ""
    replaces: tuple[str, ...] = ()

    @property
    def reasons(self) -> tuple[str, ...]:
        """All reasons, each once."""
        found = dict.fromkeys((*(part.because for part in parts_of(self.obligations)), self.because))
        return tuple(reason for reason in found if reason)


@dataclass(frozen=True)
class Statement:
    """What a paper prints under one id, as obligations."""

    id: str
    title: str
    where: str
    printed: Sequence[Obligation]
    corrected: Correction | None = None
    latex: str = ""
    pairs: tuple[str, ...] = ()
    """Ids of the algorithms and statements that belong with it."""
    uses: tuple[str, ...] = ()
    """Ids of the statements or named results that its proof in the paper rests on, beside those of its obligations."""

    def __post_init__(self) -> None:
        _check_names(f"uses of statement {self.id}", self.uses)

    @property
    def parts(self) -> tuple[StatementPart, ...]:
        """What is said of its obligations beside their formulas, printed ones first."""
        corrected = self.corrected.obligations if self.corrected else ()
        return (*parts_of(self.printed), *parts_of(corrected))

    @property
    def rests_on(self) -> tuple[str, ...]:
        """All that it uses, and what its obligations but for instances do, without what is its own."""
        parts = (part for part in self.parts if part.coverage is not Coverage.INSTANCE)
        named = [*self.uses, *(name for o in parts for name in o.uses)]
        return tuple(dict.fromkeys(name for name in named if bare(name) != self.id))
