"""The rows of a paper's table of audits, each of which makes one plan.

A row and its case write down what only they can know: neighbors, data, sizes, runs, reference laws. What is claimed,
where that comes from, how often an oracle is called, how far a sampler may be off and what a weakened version has
changed is asked of the algorithm, in the process that carries out the audit. So a table costs nothing until then.

Rows below `real-size/` belong to the full profile; one of them that is asked for by name in a quick run makes a tenth
of its runs.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module, resources
from typing import Any, Literal

from dpverify.algorithms import Algorithm
from dpverify.algorithms.listing import ListedAlgorithm
from dpverify.algorithms.promises import StatedSamplingError
from dpverify.auditing import (
    Bound,
    ConstantQuestion,
    CountQuestion,
    LawQuestion,
    PrivacyQuestion,
    RateQuestion,
)
from dpverify.auditing.subjects import CountedRuns, LawOf, OnPair, RiskOf, ValuesOf
from dpverify.auditing.white_box import StatedLaw
from dpverify.ledger.origins import AsPrinted, Corrected, Origin, Unstated
from dpverify.ledger.records import Interval
from dpverify.privacy import Guarantee, StatedGuarantee
from dpverify.problems import Ball, Dataset, NeighborPair, Problem
from dpverify.statements.audit_parts import Constructed, OnFreshSamples, UniformOn, linear_pair, real_problem
from dpverify.statements.hidden_constants import RateAt, ranges
from dpverify.statements.plans import (
    ACCOUNTANT,
    CONSTANT,
    COUNT,
    LAW,
    MEAN,
    PRIVACY,
    RISK,
    WHITE_BOX,
    Along,
    AnyAuditor,
    Audit,
    Cases,
    Plan,
    Profile,
)

Setting = Callable[..., tuple[Problem, Dataset]]
"""A problem on a data set, from its name and the numbers `n` of records and `d` of features that are kept."""
Make = Callable[[Problem, int], Any]
"""An algorithm for a problem on n records."""


@dataclass(frozen=True)
class Build:
    """Makes an audit of a row's case and the number of runs, or the cases of one."""

    make: Callable[[Any, int], Any]
    cases: Callable[..., Any]
    runs: int = 0
    full: bool = False

    def __call__(self, profile: Profile) -> Any:
        runs = profile.runs(self.runs)
        if self.full:
            runs = self.runs if profile is Profile.FULL else max(20, self.runs // 10)
        return self.make(self.cases(), runs)


# ------------------------------------------------------------------------------------------ privacy


@dataclass(frozen=True)
class On:
    """A mechanism on two neighbors."""

    mechanism: Any
    pair: NeighborPair | Constructed
    claim: str | StatedGuarantee | None = "headline"
    """Which of its stated guarantees is claimed, or one that is."""
    best_known: Guarantee | None = None
    said: str = ""
    """Of the data, after the pair's description."""
    exact: Callable[[float], Interval] | None = None
    """Has `weakened` where the smallest epsilon of weakened versions is known too."""
    delta: float | None = None
    origin: Origin | None = None
    """Where the claim comes from, if it is not the mechanism's own."""
    law: Callable[[Dataset, float], StatedLaw] | None = None
    """From a data set and the factor of a weakened version to the law of a number of the outputs, where it is known."""

    def audit(self, runs: int) -> Audit:
        left, right, mechanism, claim = self.pair.left, self.pair.right, self.mechanism, self.claim
        stated = getattr(mechanism.guarantees(left.n), claim) if isinstance(claim, str) else claim
        if stated is None:
            raise AssertionError(f"a plan audits a guarantee that {mechanism.id} does not state")
        question = PrivacyQuestion(
            stated,
            self.pair.description + self.said,
            runs,
            best_known=self.best_known,
            origin=self.origin or stated.origin,
            delta=self.delta,
        )
        subject = OnPair(
            mechanism,
            left,
            right,
            weakened=mechanism.weakened,
            fault=mechanism.fault,
            exact=self.exact,
            exact_weakened=getattr(self.exact, "weakened", None),
            law=self.law,
        )
        return Audit(question, subject)


@dataclass(frozen=True)
class OnLinear:
    """A guarantee of an algorithm, on linear losses of a few real records or on opposite ones.

    The accountant's whole profile is claimed if nothing else is said.
    """

    make: Make
    n: int
    d: int = 1
    claim: str = "sharpest"

    def __call__(self, name: str = "worst-case") -> On:
        pair = linear_pair(name, self.n, self.d)
        return On(self.make(Problem(pair.loss, Ball(self.d, 1.0)), self.n), pair, self.claim)


# ------------------------------------------------------------------------------------------ expectations


UNSTATED = Unstated("the paper says nothing about it")


@dataclass(frozen=True)
class Risk:
    """The bound that a mechanism states on its excess risk on a data set, or with it as the population."""

    mechanism: Any
    data: Dataset
    said: str
    """What the data are called."""
    size: float = 0.0
    """On the axis of the curve."""
    n: int | None = None
    """Records of a sample, where the data set is the population; all if None."""
    problem: Problem | None = None
    """Whose risk it is; the mechanism's if None."""
    runs_a_sample: int = 20

    def case(self, runs: int) -> tuple[Bound, RiskOf]:
        """As an auditor takes it. Where no risk is stated, the interval stands for itself."""
        n, drawn, several = self.n or self.data.n, self.mechanism, 1
        kind = "population_risk_bound" if self.n else "risk_bound"
        stated = getattr(self.mechanism, kind)(n)
        if stated is not None and stated.probability is not None:
            raise AssertionError(f"{drawn.id} bounds no expected risk of {n} records")
        if stated is not None and stated.population:
            several, drawn = self.runs_a_sample, OnFreshSamples(drawn, n)
        value, claim = math.inf, "none: the paper does not bound this algorithm's risk"
        origin: Origin = UNSTATED
        if stated is not None:
            value, claim = stated.bound, stated.formula or str(stated)
            origin = stated.origin or Corrected(
                stated.sources[0] if stated.sources else self.mechanism.id,
                "the risk of the theorem, with its O( ) where it has one",
                "the bound that the algorithm states, with every constant",
                f"n = {n}, d = {self.data.d}, with these parameters",
            )
        made = several * math.ceil(runs / several)
        bound = Bound(value, claim, self.said, made, size=self.size, origin=origin)
        total = stated is not None and stated.total
        problem = self.problem or self.mechanism.problem
        return bound, RiskOf(drawn, problem, self.data, total=total, runs_a_sample=several)


@dataclass(frozen=True)
class Risks:
    """The risks of an algorithm on so many records of a data set, or on samples of so many from it."""

    make: Make
    sizes: tuple[int, ...]
    d: int | None
    said: str = "{name}, n records, d = {data.d}"
    """With places for the `name` of the data set, the `data` and the `mechanism`."""
    on: Setting = real_problem
    samples: str | None = None
    """What is said of the samples of a population; None for the data themselves."""
    own_risk: bool = True
    """Whether it is the risk of the mechanism's own problem, and not of the one that it is made of."""
    runs_a_sample: int = 20
    rate: RateQuestion | None = None
    """The exponent of n that is claimed of what is measured, constants and logarithms aside."""

    def __call__(self, name: str = "breast-cancer") -> Iterator[Risk]:
        whole = self.samples is not None
        for n in self.sizes:
            problem, data = self.on(name, n=None if whole else n, d=self.d)
            mechanism = self.make(problem, n)
            said = self.said.format(name=name, data=data, mechanism=mechanism)
            if whole:
                said = f"{data.name} as the population, samples of n records{self.samples}"
            yield Risk(
                mechanism,
                data,
                said,
                float(n),
                n if whole else None,
                None if self.own_risk else problem,
                self.runs_a_sample,
            )


@dataclass(frozen=True)
class ReadOff:
    """A number that is read off each run, or each block of runs: between two bounds, with its name and unit."""

    values: Callable[[Any], Any]
    lower: float
    upper: float
    quantity: str
    block_size: int = 0


@dataclass(frozen=True)
class Expectation:
    """A mechanism on data, what is read off its runs, and a bound on the expectation of that."""

    mechanism: Any
    data: Dataset
    reading: ReadOff
    bound: float
    claim: str
    origin: Origin | None
    said: str
    """What the data are called."""
    size: float = 0.0
    at_least: bool = False

    def case(self, runs: int) -> tuple[Bound, ValuesOf]:
        """As an auditor takes it."""
        bound = Bound(self.bound, self.claim, self.said, runs, self.at_least, self.size, self.origin)
        read = self.reading
        subject = ValuesOf(
            self.mechanism,
            self.data,
            read.values,
            read.lower,
            read.upper,
            read.quantity,
            block_size=read.block_size,
        )
        return bound, subject


def _bounds(cases: Iterable[Risk | Expectation], runs: int) -> Cases:
    return tuple(one.case(runs) for one in cases)


# ------------------------------------------------------------------------------------------ laws, counts, constants


@dataclass(frozen=True)
class Law:
    """A sampler on a data set, and the law of one number of its output."""

    mechanism: Any
    data: Dataset
    statistic: Callable[[Any], Any]
    statistic_name: str
    reference: Callable[[Any], Any]
    error: float
    """At most how far the reference is from the truth, absolutely."""
    said: str
    blind: Any = "uniform"
    """A sampler that looks at no record, uniform on the set of the mechanism's problem if no other; None for none."""
    stated: StatedSamplingError | None = None
    """The law and how far it may be off; by the mechanism itself if None."""

    def audit(self, runs: int) -> Audit:
        stated, blind = self.stated or self.mechanism.sampling_error(self.data.n), self.blind
        if self.stated is None and stated.bound == 0:
            stated = replace(stated, distance="total variation")  # exact in this distance too
        if blind == "uniform":
            blind = UniformOn(self.mechanism.problem.constraint)
        question = LawQuestion(
            reference=self.reference,
            reference_error=self.error,
            distance=stated.distance,
            bound=stated.bound,
            claim=stated.formula,
            statistic_name=self.statistic_name,
            data=self.said,
            runs=runs,
            origin=stated.origin,
        )
        return Audit(question, LawOf(self.mechanism, self.data, self.statistic, blind=blind))


Oracle = Literal["gradient", "value", "projection", "linear minimization"]


@dataclass(frozen=True)
class Made:
    """An algorithm that is made of a problem on a few records, and these."""

    make: Make
    n: int | None
    d: int | None
    name: str = "breast-cancer"
    on: Setting = real_problem

    def __call__(self) -> tuple[Any, Dataset]:
        problem, data = self.on(self.name, n=self.n, d=self.d)
        return self.make(problem, data.n), data


def _counted(oracle: Oracle, case: tuple[Any, Dataset], _: int) -> Audit:
    mechanism, data = case
    stated = next(one for one in mechanism.queries(data.n) if one.oracle == oracle and not one.expected)
    question = CountQuestion(
        int(stated.count), stated.formula, data.name, exact=stated.exact, oracle=oracle, origin=stated.origin
    )
    return Audit(question, CountedRuns(mechanism, data))


@dataclass(frozen=True)
class Computed:
    """The value of a constant; a number is as known as floating-point arithmetic lets it be."""

    provable: Interval | float
    parameters: Mapping[str, str | float]
    printed: float | None = None
    """Where it depends on the parameters."""
    requires: dict[str, bool] = field(default_factory=dict)
    words: dict[str, str] = field(default_factory=dict)
    """Beside the parameters, for places in the words of the table."""


def largest(sizes: Iterable[RateAt]) -> Computed:
    """The constant that is proved at all of some sizes."""
    found = tuple(sizes)
    return Computed(max(one.proved / one.rate for one in found if one.proved is not None), ranges(found))


@dataclass(frozen=True)
class ConstantWords:
    """A row of a paper's constants.csv: what is said of a computed constant.

    `because` says why what is printed is no number, or another one; it is empty where the printed constant is claimed.
    """

    name: str
    formula: str
    latex: str
    printed: str
    source: str
    said: str
    because: str
    holds_for: str
    range_fixed_by: str
    method: str
    extreme: str
    decisive: str


@dataclass(frozen=True)
class ConstantRow:
    """The question about a computed constant, in the words of its row."""

    cases: Callable[[], Computed]
    row: ConstantWords

    def __call__(self) -> ConstantQuestion:
        found, row = self.cases(), self.row
        value, printed = found.provable, float(row.printed) if row.printed else found.printed
        because = (row.because,) if row.because else ()
        origin: Callable[..., Origin] = Corrected if because else AsPrinted
        parameters = {
            name: f"{one:g}" if not isinstance(one, str) else one for name, one in found.parameters.items()
        }
        said = {**parameters, **found.words}
        return ConstantQuestion(
            formula=row.formula,
            latex=row.latex,
            provable=value if isinstance(value, Interval) else Interval(lower=value, upper=value),
            extreme="largest" if row.extreme == "largest" else "smallest",
            printed=printed,
            parameters=parameters,
            range_fixed_by=row.range_fixed_by.format(**said),
            method=row.method.format(**said),
            decisive=row.decisive == "yes",
            requires=found.requires,
            origin=origin(row.source, row.said, *because, row.holds_for),
        )


# ------------------------------------------------------------------------------------------ the table


KINDS: Mapping[str, tuple[AnyAuditor, Callable[[Any, int], Any]]] = {
    "privacy": (PRIVACY, On.audit),
    "white box": (WHITE_BOX, On.audit),
    "risk": (RISK, _bounds),
    "mean": (MEAN, _bounds),
    "law": (LAW, Law.audit),
    "gradient queries": (COUNT, partial(_counted, "gradient")),
    "value queries": (COUNT, partial(_counted, "value")),
    "projections": (COUNT, partial(_counted, "projection")),
    "constant": (CONSTANT, lambda question, _: Audit(question)),
    "accountant": (ACCOUNTANT, lambda audit, _: audit),
}
"""Who answers the rows of each kind, and how a case and a number of runs become a question and its subject."""


def row(
    name: str,
    kind: str,
    title: str,
    case: Callable[[], Any],
    runs: int = 0,
    *,
    over: str = "",
    subject: str = "",
) -> Plan:
    """One audit, about the algorithm with whose id its name begins if it has no other subject."""
    own, _, rest = name.partition("/")
    full = rest.startswith("real-size/")
    auditor, make = KINDS[kind]
    build: Any = Build(make, case, runs, full)
    if make is _bounds:
        build = Along(build, over, getattr(case, "rate", None))
    return Plan(name, subject or own, title, auditor, build, Profile.FULL if full else Profile.QUICK)


@dataclass(frozen=True)
class _Again:
    """The audit of another plan, with a number of runs of its own."""

    cases: Callable[[Profile], Audit]
    runs: int

    def __call__(self, profile: Profile) -> Audit:
        audit = self.cases(profile)
        assert isinstance(audit.question, PrivacyQuestion)
        return replace(audit, question=replace(audit.question, runs=profile.runs(self.runs)))


def with_white_boxes(plans: Sequence[Plan], places: Mapping[str, str]) -> tuple[Plan, ...]:
    """With white-box audits of the privacy rows of every algorithm that states the steps of its runs."""
    more = []
    for plan in plans:
        module, _, name = places.get(plan.subject, "").partition(":")
        if (
            plan.auditor is PRIVACY
            and getattr(import_module(module), name).structure is not Algorithm.structure
        ):
            again = _Again(plan.build, 1_000 if plan.in_full_alone else 20_000)
            title = f"{plan.title}, white box"
            more.append(Plan(f"{plan.name}/white-box", plan.subject, title, WHITE_BOX, again, plan.least))
    return (*plans, *more)


def table(package: str, algorithms: Iterable[ListedAlgorithm]) -> tuple[Plan, ...]:
    """The rows of the audits.csv of a paper's package; none where it has no such file.

    A case is `name` or `module.name` in the package's `audits`, and after it the words that it is called with. What is
    said of a constant is a row of constants.csv with the name of its case.
    """

    def rows(file: str) -> list[dict[str, str]]:
        table = resources.files(package).joinpath(file)
        return list(csv.DictReader(table.read_text(encoding="utf-8").splitlines())) if table.is_file() else []

    constants = {one["name"]: ConstantWords(**one) for one in rows("constants.csv")}

    def case(kind: str, said: str) -> Callable[[], Any]:
        place, *words = said.split()
        module, _, name = f"{package}.audits.{place}".rpartition(".")
        found = getattr(import_module(module), name)
        found = partial(found, *words) if words else found
        return ConstantRow(found, constants[name]) if kind == "constant" else found

    plans = [
        row(kind=kind, case=case(kind, said), runs=int(runs or 0), **one)
        for one in rows("audits.csv")
        for kind, said, runs in [(one.pop("kind"), one.pop("case"), one.pop("runs"))]
    ]
    return with_white_boxes(plans, {one.id: one.place for one in algorithms})
