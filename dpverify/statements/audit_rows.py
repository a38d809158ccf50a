"""The rows of a paper's table of audits: one call makes one plan, or one for each of several keys.

A row writes down what only a table can know: neighbors, data, sizes, runs, reference laws. What is claimed, where that
comes from, how often an oracle is called, how far a sampler may be off and what a weakened version has changed is asked
of the algorithm, in the process that carries out the audit. So a table costs nothing until then.

`{}` in a name and a title stands for the key of a row that is made `per` key, one of the real data sets if nothing else
is said. A name begins with the id of the algorithm that is audited, unless the row is `about` something else. Rows with
`full=True` belong to the full profile; one of them that is asked for by name in a quick run makes a tenth of its runs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from typing import Any, Literal

from dpverify.algorithms import Algorithm
from dpverify.algorithms.promises import StatedSamplingError
from dpverify.auditing import (
    Bound,
    ConstantQuestion,
    CountQuestion,
    LawQuestion,
    PrivacyQuestion,
)
from dpverify.auditing.subjects import CountedRuns, LawOf, OnPair, RiskOf, ValuesOf
from dpverify.ledger.origins import Corrected, Origin, Unstated
from dpverify.ledger.records import Interval
from dpverify.privacy import Guarantee, StatedGuarantee
from dpverify.problems import Dataset, Problem
from dpverify.statements.audit_parts import REAL_DATA, Neighbors, OnFreshSamples
from dpverify.statements.plans import (
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
    ClaimedRate,
    Plan,
    Profile,
)

Keys = Sequence[str] | Mapping[str, str]
"""Of the rows that one call makes; with the words for each that its title has, if they are others."""
Rows = tuple[Plan, ...]


def runs_of(profile: Profile, runs: int, *, full: bool) -> int:
    """Ten times as many in the full profile; a row for the full profile alone says how many it makes there."""
    if not full:
        return profile.runs(runs)
    return runs if profile is Profile.FULL else max(20, runs // 10)


@dataclass(frozen=True)
class _Build:
    """Makes the audit of a row from its case and the number of runs."""

    make: Callable[[Any, int], Audit]
    cases: Callable[[], Any]
    runs: int = 0
    full: bool = False

    def __call__(self, profile: Profile) -> Audit:
        return self.make(self.cases(), runs_of(profile, self.runs, full=self.full))


def _rows(
    name: str,
    title: str,
    auditor: AnyAuditor,
    build: Callable[[Callable[..., Any]], Callable[[Profile], Audit]],
    case: Callable[..., Any],
    per: Keys | None,
    *,
    about: str = "",
    full: bool = False,
) -> Rows:
    if per is None:
        per = REAL_DATA if "{}" in name else ()
    words = per if isinstance(per, Mapping) else {key: key for key in per}
    keyed: list[tuple[str, str, Callable[..., Any]]] = [
        (name.format(key), title.format(said), partial(case, key)) for key, said in words.items()
    ]
    least = Profile.FULL if full else Profile.QUICK
    return tuple(
        Plan(row, about or row.partition("/")[0], heading, auditor, build(made), least)
        for row, heading, made in keyed or [(name, title, case)]
    )


# ------------------------------------------------------------------------------------------ privacy


@dataclass(frozen=True)
class On:
    """A mechanism on two neighbors."""

    mechanism: Any
    pair: Neighbors
    claim: str | StatedGuarantee | None = "headline"
    """Which of its stated guarantees is claimed, or one that is."""
    best_known: Guarantee | None = None
    said: str = ""
    """Of the data, after the pair's description."""
    exact: Callable[[float], Interval] | None = None
    exact_weakened: Callable[[float, float], Interval] | None = None
    delta: float | None = None
    origin: Origin | None = None
    """Where the claim comes from, if it is not the mechanism's own."""


def _on_pair(case: On, runs: int) -> Audit:
    left, right, mechanism, claim = case.pair.left, case.pair.right, case.mechanism, case.claim
    stated = getattr(mechanism.guarantees(left.n), claim) if isinstance(claim, str) else claim
    if stated is None:
        raise AssertionError(f"a plan audits a guarantee that {mechanism.id} does not state")
    return Audit(
        PrivacyQuestion(
            stated,
            case.pair.description + case.said,
            runs,
            best_known=case.best_known,
            origin=case.origin or stated.origin,
            delta=case.delta,
        ),
        OnPair(
            mechanism,
            left,
            right,
            weakened=mechanism.weakened,
            fault=mechanism.fault,
            exact=case.exact,
            exact_weakened=case.exact_weakened,
        ),
    )


def privacy(
    name: str, title: str, case: Callable[..., On], runs: int, *, per: Keys | None = None, full: bool = False
) -> Rows:
    """Audits of a privacy guarantee, with so many runs on each of two neighbors."""
    return _rows(name, title, PRIVACY, lambda made: _Build(_on_pair, made, runs, full), case, per, full=full)


# ------------------------------------------------------------------------------------------ expectations


_UNBOUNDED: Origin = Unstated("the paper says nothing about it")


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
        stated = self.mechanism.risk_bound(n)
        if stated is not None and stated.probability is not None:
            raise AssertionError(f"{drawn.id} bounds no expected risk of {n} records")
        if stated is not None and stated.population:
            several, drawn = self.runs_a_sample, OnFreshSamples(drawn, n)
        value, claim, origin = math.inf, "none: the paper does not bound this algorithm's risk", _UNBOUNDED
        if stated is not None:
            value, claim = stated.bound, stated.formula or str(stated)
            source = stated.sources[0] if stated.sources else self.mechanism.id
            origin = stated.origin or Corrected(
                source,
                "the risk of the theorem, with its O( ) where it has one",
                "the bound that the algorithm states, with every constant",
                f"n = {n}, d = {self.data.d}, with these parameters",
            )
        made = several * math.ceil(runs / several)
        bound = Bound(value, claim, self.said, made, size=self.size, origin=origin)
        problem = self.problem or self.mechanism.problem
        total = stated is not None and stated.total
        return bound, RiskOf(drawn, problem, self.data, total=total, runs_a_sample=several)


@dataclass(frozen=True)
class Expectation:
    """A number that is read off runs, and a bound on its expectation."""

    mechanism: Any
    data: Dataset
    values: Callable[[Any], Any]
    lower: float
    upper: float
    quantity: str
    bound: float
    claim: str
    origin: Origin | None
    said: str = ""
    """What the data are called; by their name if empty."""
    size: float = 0.0
    at_least: bool = False
    block_size: int = 0

    def case(self, runs: int) -> tuple[Bound, ValuesOf]:
        """As an auditor takes it."""
        said = self.said or self.data.name
        bound = Bound(self.bound, self.claim, said, runs, self.at_least, self.size, self.origin)
        read = (self.mechanism, self.data, self.values, self.lower, self.upper, self.quantity)
        return bound, ValuesOf(*read, block_size=self.block_size)


@dataclass(frozen=True)
class _Curve:
    """The cases of a row, each with its runs."""

    cases: Callable[[], Iterable[Risk | Expectation]]
    runs: int
    full: bool

    def __call__(self, profile: Profile) -> Cases:
        return tuple(one.case(runs_of(profile, self.runs, full=self.full)) for one in self.cases())


def risk(
    name: str,
    title: str,
    cases: Callable[..., Iterable[Risk]],
    runs: int,
    *,
    over: str = "",
    rate: ClaimedRate | None = None,
    per: Keys | None = None,
    full: bool = False,
) -> Rows:
    """Audits of expected excess risks, along a curve `over` a size if there is one."""
    return _rows(
        name, title, RISK, lambda made: Along(_Curve(made, runs, full), over, rate), cases, per, full=full
    )


def mean(
    name: str,
    title: str,
    cases: Callable[..., Iterable[Expectation]],
    runs: int,
    *,
    over: str = "",
    per: Keys | None = None,
    full: bool = False,
) -> Rows:
    """Audits of other expectations."""
    return _rows(
        name, title, MEAN, lambda made: Along(_Curve(made, runs, full), over, None), cases, per, full=full
    )


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
    blind: Any = None
    """A sampler that looks at no record."""
    stated: StatedSamplingError | None = None
    """The law and how far it may be off; by the mechanism itself if None."""

    def audit(self, runs: int) -> Audit:
        """Question and subject."""
        stated = self.stated or self.mechanism.sampling_error(self.data.n)
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
        return Audit(question, LawOf(self.mechanism, self.data, self.statistic, blind=self.blind))


def law(
    name: str, title: str, case: Callable[..., Law], runs: int, *, per: Keys | None = None, full: bool = False
) -> Rows:
    """Audits of a sampler's law."""
    return _rows(name, title, LAW, lambda made: _Build(Law.audit, made, runs, full), case, per, full=full)


Oracle = Literal["gradient", "value", "projection", "linear minimization"]


def queries(
    name: str, title: str, case: Callable[..., tuple[Any, Dataset]], oracle: Oracle = "gradient"
) -> Rows:
    """An audit of the number of calls of an oracle that a mechanism states for a data set."""

    def audit(made: tuple[Any, Dataset], _: int) -> Audit:
        mechanism, data = made
        stated = next(one for one in mechanism.queries(data.n) if one.oracle == oracle and not one.expected)
        question = CountQuestion(
            int(stated.count),
            stated.formula,
            data.name,
            exact=stated.exact,
            oracle=oracle,
            origin=stated.origin,
        )
        return Audit(question, CountedRuns(mechanism, data))

    return _rows(name, title, COUNT, partial(_Build, audit), case, ())


def constant(
    name: str,
    title: str,
    case: Callable[..., ConstantQuestion],
    *,
    about: str = "",
    per: Keys | None = None,
) -> Rows:
    """Audits of a constant in a formula, which is computed where the audit runs."""
    build = partial(_Build, lambda question, _: Audit(question))
    return _rows(name, title, CONSTANT, build, case, per, about=about)


def hidden(source: str, printed: str, provable: float, *, holds_for: str, **more: Any) -> ConstantQuestion:
    """A constant that is not printed, and so is measured: the smallest, if `more` does not say otherwise."""
    origin = Corrected(source, printed, "the hidden constant is computed", holds_for)
    return ConstantQuestion(
        provable=at(provable), printed=None, origin=origin, **{"extreme": "smallest"} | more
    )


def at(value: float) -> Interval:
    """A number, as known as floating-point arithmetic lets it be."""
    return Interval(lower=value, upper=value)


# ------------------------------------------------------------------------------------------ the table


@dataclass(frozen=True)
class _Again:
    """The audit of another plan, with a number of runs of its own."""

    cases: Callable[[Profile], Audit]
    runs: int

    def __call__(self, profile: Profile) -> Audit:
        audit = self.cases(profile)
        assert isinstance(audit.question, PrivacyQuestion)
        return replace(audit, question=replace(audit.question, runs=profile.runs(self.runs)))


def table(paper: str, *rows: Rows) -> tuple[Plan, ...]:
    """All rows, and white-box audits of the privacy rows of every algorithm that states the steps of its runs."""
    places: Mapping[str, str] = import_module(f"dpverify.algorithms.{paper}").ROWS
    plans = [plan for row in rows for plan in row]
    for plan in [plan for plan in plans if plan.auditor is PRIVACY]:
        module, _, name = places[plan.subject].partition(":")
        if getattr(import_module(module), name).structure is not Algorithm.structure:
            runs = 1_000 if plan.least is Profile.FULL else 20_000
            again = _Again(plan.build, runs)
            title = f"{plan.title}, white box"
            plans.append(Plan(f"{plan.name}/white-box", plan.subject, title, WHITE_BOX, again, plan.least))
    return tuple(plans)
