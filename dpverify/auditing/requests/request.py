"""The request: what is audited, on which data, for which claim, with which budget.

It alone knows what goes with what. A door (the command line, a project's file, pytest, `check_private`) collects
fields and makes one; how it writes their names is in `options`. Nothing heavy is imported before there is a request.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpverify.auditing.requests.options import GIB, GO_ON, OPTIONS, RUNS, SECONDS, RequestError, option_name
from dpverify.errors import InvalidArgumentError

if TYPE_CHECKING:
    from dpverify.auditing.claims import Claim
    from dpverify.auditing.error_share import ErrorShare
    from dpverify.auditing.looks import EventFilter
    from dpverify.privacy import Adjacency, Guarantee
    from dpverify.privacy.forms.units import PrivacyUnit
    from dpverify.running import Executor, Limits, Store, Target

FAILURE_PROBABILITY = 1e-6
"""Unless a request says otherwise."""
FEWEST_SEQUENTIAL, FEWEST_FIXED, FEWEST_SIMULATED = 16, 100, 1000
"""Runs: of a first round; that can be divided into learning and judging parts; that a white-box audit learns from."""

MOST_SEQUENTIAL = 2**27
"""Runs of which outputs of one number, on both sides, fit into 2 GiB; what is run at once has a limit of its own."""


@dataclass(frozen=True, eq=False)
class Request:
    """What is audited, on which data, for which claim, with which budget; `audit` answers it.

    A request is about one of three subjects. A mechanism runs on `data` and on `neighbor` until the claim is refuted,
    then on for the bound (`go_on`), or until `runs` is reached. Samples `left` and `right` that were drawn elsewhere
    are tested once. One training run is tested by the `scores` of its canaries and whether they were `members`
    (`dpverify.auditing.one_run`).

    The command, project files, pytest and Python make the same request, with the same defaults. An audit is sequential,
    since the audited code is the main cost: half of the noise that a claim needs shows after 200 to 350 of 20,000 runs.
    It loses nothing at the limit (with Laplace noise, 20,000 runs refute 1-DP about half the time if epsilon is 1.066,
    and with `fixed_runs` if it is 1.090); a true claim costs one to three seconds of betting. A refuted claim gets
    eight times as many runs as refuted it, which show how far it is off (`go_on`); `fixed_runs` bounds the whole
    profile, and takes `score` and `direction`. The failure probability is 1e-6, which tests on every push need; it
    costs a fifth (far off) to two thirds (close) more runs than 1e-3. Raises `InvalidArgumentError` for values that
    cannot be used, and for fields that do not go together.

    Examples:
        >>> from dpverify.auditing.requests import Request
        >>> def release(data, rng, runs):
        ...     return data.sum() + rng.laplace(size=runs)
        >>> Request(release, [[0.0]], [[1.0]], "eps=1").most_runs
        20000
        >>> Request(release, [[0.0]], [[1.0]], "eps=1", fixed_runs=True, time=3)
        Traceback (most recent call last):
        dpverify.auditing.requests.options.RequestError: time was 3; allowed: no value with fixed_runs.
    """

    function: Any = None
    data: Any = None
    neighbor: Any = None
    claim: Guarantee | Claim | str = ""
    _: KW_ONLY
    command: str | None = None
    attribute: Sequence[str] | str | None = None
    structure: Any = None
    left: Any = None
    right: Any = None
    scores: Any = None
    members: Any = None
    data_form: str | None = None
    pair: str | Path | None = None
    search_neighbors: str | Path | None = None
    record_range: tuple[float, float] | str | None = None
    fewest_records: int | None = None
    adjacency: Adjacency | str | None = None
    index: int | None = None
    key: int | str | None = None
    size: int | None = None
    change: str | None = None
    distance: float | None = None
    norm: str | None = None
    columns: Sequence[int | str] | str | None = None
    delta: float | None = None
    allow_equal: bool = False
    count_exceptions: bool = False
    runs: int | None = None
    go_on: int | None = None
    fixed_runs: bool = False
    time: float | None = None
    failure_probability: float | ErrorShare = FAILURE_PROBABILITY
    seed: int = 0
    score: Sequence[str] | str | None = None
    direction: Sequence[str] | str | None = None
    low_bits: bool = False
    executor: Executor | str | None = None
    store: Store | str | Path | None = None
    time_limit: float | None = None
    memory_limit: float | None = None

    def __post_init__(self) -> None:
        for name, option in OPTIONS.items():
            if option.kind == "flag" and not isinstance(getattr(self, name), bool):
                raise InvalidArgumentError(name, getattr(self, name), "True or False")
        for name in ("attribute", "score", "direction"):
            value = () if (value := getattr(self, name)) is None else value
            if not isinstance(value, str | Sequence):
                raise InvalidArgumentError(name, value, "a name, or several")
            object.__setattr__(self, name, (value,) if isinstance(value, str) else tuple(value))
        stated = self.claim if isinstance(self.claim, str) else hasattr(self.claim, "privacy_profile")
        if not stated:
            raise InvalidArgumentError("claim", self.claim, 'a claim such as "eps=1,delta=1e-5"')
        for fields, unfit, template, *names in self._rules():
            for name in fields:
                if unfit and self.given(name):
                    raise RequestError(name, getattr(self, name), template, *names)
        self._check_complete()
        self._check_values()

    # --------------------------------------------------------------------------------------- what goes with what

    def given(self, name: str) -> bool:
        """Whether a field holds something other than its absence."""
        value = getattr(self, name)
        return not (value is None or value is False or (isinstance(value, tuple) and not value))

    def _rules(self) -> Iterator[tuple[Any, ...]]:
        """Fields, when they have no place, and what is allowed: a template with the names of other fields."""
        search, structure = "search_neighbors", "structure"
        yield _SUBJECTS[1:], self.given("function"), _ONE, *_SUBJECTS
        yield _SUBJECTS[2:], self.given("command"), _ONE, *_SUBJECTS
        yield _SUBJECTS[4:], self.of_samples, _ONE, *_SUBJECTS
        yield _OF_RUNS, self.of_samples, "no value with samples, for which nothing is run"
        yield (*_OF_RUNS, *_LOOKS, "allow_equal"), self.of_scores, "no value with {}", "scores"
        yield ("attribute",), self.given("command"), "none with {}", "command"
        for other in ("command", structure):
            yield ("count_exceptions",), self.given(other), "no value with {}", other
        of_pair = ("data", "neighbor", "data_form", "adjacency", "index", *UNIT_FIELDS, search)
        yield of_pair, self.given("pair"), "no value with {}, whose file says it", "pair"
        yield ("neighbor",), self.given(search), "no value with {}, which finds one", search
        yield OF_SEARCH, not self.given(search), "no value without {}", search
        yield ("store",), self.given("command"), "none with {}: what a command loads is not known", "command"
        yield (
            ("fixed_runs", "go_on", "time", *_LOOKS),
            self.given(structure),
            "no value with {}, which looks once",
            structure,
        )
        yield ("time", "go_on"), self.fixed_runs, "no value with {}", "fixed_runs"
        yield ("score",), self.low_bits, "none with {}", "low_bits"
        yield (
            ("score", "direction"),
            not self.looks_once,
            "with {} only, where a function is run",
            "fixed_runs",
        )
        from dpverify.privacy.forms.units import PARAMETERS

        for name in UNIT_FIELDS:
            users = [by.value for by, names in PARAMETERS.items() if name in names]
            said = "no value but with {} " + " or ".join(users)
            yield (name,), self.relation not in users, said, "adjacency"
        yield ("index",), self.relation != "index", "no value but with {} index", "adjacency"

    def _check_complete(self) -> None:
        """Refuse a request that lacks what another field asks for."""
        if not any(map(self.given, _SUBJECTS)):
            raise RequestError("function", self.function, _ONE, *_SUBJECTS)
        sides = ("left", "right") if self.of_samples else ("data", "neighbor")
        sides = ("scores", "members") if self.of_scores else sides
        for name in () if self.given("pair") else sides:
            if not self.given(name) and not (name == "neighbor" and self.given("search_neighbors")):
                found = ("", ()) if self.runs_nothing else ("; {} finds a neighbor", ("search_neighbors",))
                raise RequestError(name, None, "both {} and {}" + found[0], *sides, *found[1])
        for name in ("search_neighbors", "pair"):
            if self.given(name) and not str(getattr(self, name)).endswith(".json"):
                raise InvalidArgumentError(name, str(getattr(self, name)), "a file whose name ends in .json")

    def _check_values(self) -> None:
        for name, allowed in _CODE.items():
            value = getattr(self, name)
            in_memory = name != "command" and (callable(value) or bool(self.attribute and name == "function"))
            if value is not None and not in_memory and not _is_named(value):
                raise InvalidArgumentError(name, value, allowed)
        _ = self.guarantee, self.unit, self.events, self.limits_of_records, self.target
        self._check_numbers()
        if self.data_form is not None:
            self._check_form()
        if self.executor is not None:
            from dpverify.running import Executor

            if not isinstance(self.executor, Executor):
                Executor.parse(self.executor)
        if self.store is not None:
            from dpverify.checks import of_kind
            from dpverify.running import Store

            of_kind("store", self.store, (Store, str, Path), "a folder")

    def _check_form(self) -> None:
        from dpverify.problems.tables.records import FORMS

        forms = ("array", "records") if self.given("command") else FORMS
        if not isinstance(self.data_form, str) or self.data_form not in forms:
            with_command = " with {}" if self.given("command") else ""
            raise RequestError("data_form", self.data_form, ", ".join(forms) + with_command, "command")

    def _check_numbers(self) -> None:
        from dpverify import checks
        from dpverify.auditing.claims import stated_corner

        if self.relation == "index":
            checks.whole_number("index", self.index)
        if self.fewest_records is not None:
            checks.whole_number("fewest_records", self.fewest_records)
        if self.go_on is not None:
            checks.whole_number("go_on", self.go_on)
        if self.runs is not None:
            most = None if self.looks_once else MOST_SEQUENTIAL
            checks.whole_number("runs", self.runs, at_least=self.fewest_runs, at_most=most)
        for name, limits in _NUMBERS.items():
            if getattr(self, name) is not None:
                checks.number(name, getattr(self, name), **limits)
        corner = stated_corner(self.guarantee)
        if self.delta is not None and corner is not None and self.delta != corner[1] and not self.looks_once:
            said = f"{corner[1]:g}, which the claim names, or another with {{}}"
            raise RequestError("delta", self.delta, said, "fixed_runs")
        # but a part of another one, or what divides itself among examples
        if not hasattr(self.failure_probability, "spend") and not hasattr(
            self.failure_probability, "part_for"
        ):
            checks.failure_probability("failure_probability", self.failure_probability)
        checks.whole_number("seed", self.seed, at_least=0, at_most=None)

    # --------------------------------------------------------------------------------------- what it means

    @property
    def of_samples(self) -> bool:
        """Whether it is about outputs that were drawn before."""
        return self.given("left") or self.given("right")

    @property
    def of_scores(self) -> bool:
        """Whether it is about the canaries of one training run."""
        return self.given("scores") or self.given("members")

    @property
    def runs_nothing(self) -> bool:
        """Whether all that it is about was drawn before."""
        return self.of_samples or self.of_scores

    @property
    def looks_once(self) -> bool:
        """Whether it makes all runs, or has them, before it looks."""
        return self.runs_nothing or self.fixed_runs or self.given("structure")

    @property
    def most_runs(self) -> int:
        """On each data set, at most."""
        return RUNS if self.runs is None else self.runs

    @property
    def times(self) -> int:
        """How many times the runs that refute a claim are made in all."""
        return GO_ON if self.go_on is None else self.go_on

    @property
    def fewest_runs(self) -> int:
        """With which such an audit can begin."""
        fewest = FEWEST_SIMULATED if self.given("structure") else FEWEST_SEQUENTIAL
        return FEWEST_FIXED if self.fixed_runs else fewest

    @cached_property
    def guarantee(self) -> Guarantee:
        """What is claimed; a claim of another's making as what auditors know of it."""
        from dpverify.privacy.claims import parse_claim
        from dpverify.privacy.guarantees import ApproxDP, Guarantee, ProfileDP

        if isinstance(self.claim, str):
            return parse_claim(self.claim)
        if isinstance(self.claim, Guarantee):
            return self.claim
        profile = getattr(self.claim, "privacy_profile", None)
        if not callable(profile):
            said = 'a guarantee, or one in words such as "eps=1,delta=1e-5"'
            raise InvalidArgumentError("claim", self.claim, said)
        from dpverify.auditing.claims import stated_corner

        corner = stated_corner(self.claim)
        return ProfileDP(profile) if corner is None else ApproxDP(*corner)

    @property
    def relation(self) -> Adjacency | None:
        """How the data sets differ; None for samples of which nothing is said, and for a pair, whose file says it."""
        from dpverify.privacy.adjacency import Adjacency, checked_adjacency

        if self.adjacency is not None:
            return checked_adjacency(self.adjacency)
        if self.of_scores:
            return Adjacency.ADD_REMOVE_ONE
        return None if self.of_samples or self.given("pair") else Adjacency.REPLACE_ONE

    @cached_property
    def unit(self) -> PrivacyUnit | None:
        """The neighboring relation with its parameters; None where there is no relation."""
        from dpverify.privacy.forms.units import PrivacyUnit

        if self.relation is None:
            return None
        found = {name: getattr(self, name) for name in UNIT_FIELDS if self.given(name)}
        return PrivacyUnit(self.relation, **found)

    @cached_property
    def events(self) -> EventFilter:
        """At which events an audit looks that looks once."""
        from dpverify.auditing.looks import EventFilter

        return EventFilter(tuple(self.score or ()), tuple(self.direction or ()), self.low_bits)

    @cached_property
    def limits_of_records(self) -> tuple[float, float] | None:
        """The smallest and the largest number that a record may hold; None: any."""
        if self.record_range is None:
            return None
        said = self.record_range
        try:
            low, high = (float(part) for part in (said.split(",") if isinstance(said, str) else said))
        except (TypeError, ValueError):
            low = high = 0.0
        if not -math.inf < low < high < math.inf:
            raise InvalidArgumentError(
                "record_range", said, "two finite numbers LOW,HIGH, the first below the second"
            )
        return low, high

    @property
    def fewest(self) -> int:
        """How many records a data set has at least, where neighbors are searched."""
        return self.fewest_records or 0

    @cached_property
    def target(self) -> Target | None:
        """What runs in worker processes; None for samples, and for what is called in this one."""
        if self.command is None and (self.runs_nothing or not _is_named(self.function)):
            return None
        from dpverify.running import Target

        if self.command is not None:
            return Target(self.command, command=True)
        named, counted = self.function, self.count_exceptions
        if isinstance(named, Target):
            return replace(named, count_exceptions=counted)
        return Target(named, tuple(self.attribute or ()), count_exceptions=counted)

    @property
    def limits(self) -> Limits | None:
        """Of worker processes, or of a guarded copy of this one; None: what is called in this one is not guarded."""
        from dpverify.running import Limits

        if self.target is None and self.time_limit is None and self.memory_limit is None:
            return None
        gib = GIB if self.memory_limit is None else self.memory_limit
        return Limits(SECONDS if self.time_limit is None else self.time_limit, int(gib * 2**30))

    @property
    def about(self) -> str:
        """What is audited, in words."""
        if self.of_scores:
            return str(self.scores) if isinstance(self.scores, str | Path) else "scores of canaries"
        if self.of_samples:
            files = [side for side in (self.left, self.right) if isinstance(side, str | Path)]
            return " and ".join(map(str, files)) if len(files) == 2 else "samples"
        if self.target is not None:
            return str(self.target)
        return str(getattr(self.function, "__qualname__", type(self.function).__qualname__))

    def files(self) -> tuple[Path, ...]:
        """What it asks about that is in files."""
        names = ("left", "right", "scores", "members", "data", "neighbor", "pair")
        return tuple(Path(value) for name in names if isinstance(value := getattr(self, name), str | Path))

    def again(self, runs: int) -> str:
        """The command line that asks the same with so many runs; empty if it is about something in memory."""
        if self.target is None and not self.runs_nothing:
            return ""
        words: list[object] = []
        for name in (*_FIRST, *(name for name in OPTIONS if name not in (*_FIRST, *_NOT_REPEATED))):
            if not self.given(name):
                continue
            said = _words(name, getattr(self, name))
            if not said:
                return ""
            words += said
        from dpverify.quoting import command_line

        level = getattr(self.failure_probability, "failure_probability", self.failure_probability)
        more = [] if self.runs_nothing else ["--runs", runs]
        return command_line(
            "dpverify", "audit", *words, *more, "--failure-probability", level, "--seed", self.seed
        )

    def call(self, seed: int, failure_probability: float) -> str:
        """The line of Python that asks the same, with names for what is in memory."""

        def shown(value: object) -> str:
            named = getattr(value, "__name__", "") if callable(value) else ""
            return named or repr(str(value) if isinstance(value, str | Path) else value)

        known = ("function", "data", "neighbor", "claim")
        subject = shown(self.function) if callable(self.function) or self.target else "mechanism"
        words = [subject, "data", "neighbor", shown(self.claim)]
        options = (name for name in OPTIONS if name not in (*known, *_NOT_REPEATED) and self.given(name))
        words += [f"{name}={shown(getattr(self, name))}" for name in options]
        words += [f"runs={self.most_runs}", f"seed={seed}", f"failure_probability={failure_probability!r}"]
        return f"check_private({', '.join(words)})"


_SUBJECTS = ("function", "command", "left", "right", "scores", "members")
_ONE = "one of {}, {}, {} with {}, or {} with {}"
_CODE = {
    "function": "a mechanism, a function (data, rng) -> output or (data, rng, runs) -> outputs, or where one is",
    "command": "a command line",
    "structure": "a function from a data set to a StatedStructure, or where one is",
}
_NUMBERS: dict[str, dict[str, Any]] = {
    "time": {"above": 0, "at_most": 1e9, "allowed": "seconds above 0, at most 1e9"},
    "time_limit": {"above": 0, "at_most": 1e6, "allowed": "seconds above 0, at most 1e6"},
    "memory_limit": {"at_least": 0.0625, "at_most": 2**20, "allowed": "GiB, from 0.0625 to 1048576"},
    "delta": {"at_least": 0, "below": 1, "allowed": "a number in [0, 1)"},
}
UNIT_FIELDS = ("key", "size", "change", "distance", "norm", "columns")
"""Parameters of neighboring relations."""
_LOOKS = ("score", "direction", "low_bits")
OF_SEARCH = ("record_range", "fewest_records")
"""Which data sets a search for neighbors may try."""
_OF_RUNS = (
    "data", "neighbor", "data_form", "pair", "search_neighbors", *OF_SEARCH, "attribute", "structure", "runs",
    "go_on", "fixed_runs", "time", "executor", "store", "time_limit", "memory_limit", "count_exceptions",
)  # fmt: skip
"""No fields of a request about samples."""
_FIRST = (
    "function", "command", "attribute", "left", "right", "scores", "members", "data", "neighbor", "pair", "claim",
)  # fmt: skip
"""In a line that asks again."""
_NOT_REPEATED = (
    "runs", "failure_probability", "seed", "time", "executor", "store", "time_limit", "memory_limit",
    "search_neighbors", *OF_SEARCH,
)  # fmt: skip
"""Said last there, or no part of what is found."""
Request.__doc__ = f"{Request.__doc__}\n    Attributes:\n" + "".join(
    f"        {name}: {option.summary()}\n" for name, option in OPTIONS.items()
)


def _is_named(function: Any) -> bool:
    """Whether a function is given by where it stands."""
    if isinstance(function, str):
        return True
    from dpverify.running import Target

    return isinstance(function, Target)


def _words(name: str, value: Any) -> list[object]:
    """A field on a command line; none where it is something in memory."""
    kind = OPTIONS[name].kind
    if kind == "flag":
        return [option_name(name)]
    if name == "function":
        return [value] if isinstance(value, str) else list(value.options)
    if kind in ("text", "file") and not isinstance(value, str | Path):
        return []
    values = value if kind == "texts" else [repr(value) if kind == "number" else value]
    return [word for one in values for word in (option_name(name), one)]
