"""Has a function the law that a page says it has? It is run, and its outputs are compared with that law."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import groupby, product

import numpy as np
from scipy.optimize import brentq

from dpverify import checks
from dpverify.auditing import ErrorShare, LawAudit, audit_law
from dpverify.auditing.confidence import band_width
from dpverify.auditing.noise.laws import Law, beyond
from dpverify.checks import FloatArray
from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.ledger.verdicts import Verdict
from dpverify.proving.checker.theorems.language import Node, free, named
from dpverify.proving.theorems.finite_models import FAILURES, FloatModel
from dpverify.proving.theorems.noises import FloatLine
from dpverify.proving.theorems.sequences import numbers_in
from dpverify.proving.theorems.signs import signs_of
from dpverify.running import Limits, Target, UserMechanism, run
from dpverify.statements.mechanisms.code.proposals import ROLES, CodeProposal
from dpverify.statements.mechanisms.pages import MechanismOnPage, flat

RECORDS = 5
"""Records of a data set, where the page allows so many."""
CANDIDATES = 3
"""Also of how many numbers a vector is made."""
_NOTHING: Mapping[str, float] = {}
NUMBERS = ("3/2", "3/4", "2", "5/2", "1/2", "1/4", "3", "1/10", "5", "0", "-1", "-2", "1", "10")
WHOLE = ("3", "2", "5", "4", "7", "1", "10", "0", "-1")
"""Values of letters that are tried, other ones for each letter."""
SAMPLED = 2
"""Numbers that are drawn from a law whose distribution function is not known, for each run of the function."""
ROUNDING = 1e-9
"""By which a probability may be off that is worked out in floating point."""


@dataclass(frozen=True)
class CodeQuestion:
    """What is compared.

    Attributes:
        target: `module:function`.
        proposal: how the function is called.
        page: what it is said to do.
        runs: for each data set.
        failure_probability: with which anything is said to differ of a function that does what the page says, at most.
    """

    target: str
    proposal: CodeProposal
    page: MechanismOnPage
    runs: int = 40_000
    seed: int = 0
    failure_probability: float = 1e-6
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        checks.whole_number("--runs", self.runs, at_least=100)
        checks.failure_probability("--failure-probability", self.failure_probability)


@dataclass(frozen=True)
class ComparedLaw:
    """One output on one data set.

    Attributes:
        what: the data, the letters' values and the output, in words.
        found: what the comparison of the two laws says.
        scale_off: by which factor the noise would have to be larger for this to be found half of the time.
    """

    what: str
    found: LawAudit
    scale_off: float


@dataclass(frozen=True)
class CodeAudit:
    """All comparisons; violated where one is."""

    laws: tuple[ComparedLaw, ...]
    failure_probability: float
    reason: str = ""
    """Why nothing was compared."""

    @property
    def verdict(self) -> Verdict:
        """Of all together."""
        found = {one.found.verdict for one in self.laws}
        return next((v for v in (Verdict.VIOLATED, Verdict.SUPPORTED) if v in found), Verdict.UNDECIDED)


def audit_code(question: CodeQuestion) -> CodeAudit:
    """Run a function on a few data sets, and compare its outputs with the laws that a page says they have.

    Data sets of five records: all at the least number, all at the largest, and random ones; the letters have two sets
    of values. Each output is compared by itself. The outputs on another data set are those of a sampler that ignores
    the data, by which it is seen that the comparison sees something.

    Raises:
        InvalidArgumentError: for a page with letters that are no parameters of the function.
        InvalidDataError: for a function that fails, or returns something else than so many numbers.
    """
    page, cases = question.page, [*_cases(question)]
    loop, terms = page.loop, [(term, _NOTHING) for term in flat(page.of("output")[0].term, "pair")]
    if loop is not None:  # each number of a vector
        if not loop.listed or loop.last != page.records.columns:
            reason = "the page has a loop that is no vector of as many numbers as a record"
            return CodeAudit((), question.failure_probability, reason)
        terms = [(term, {loop.index: float(k)}) for term, _ in terms for k in range(1, CANDIDATES + 1)]
    names = [f"data set {k}, output {j}" for k in range(len(cases)) for j in range(len(terms))]
    shares = ErrorShare.of(question.failure_probability, name=question.target).split(*names)
    levels = [share.spend("the bands around distribution functions") for share in shares]
    try:
        laws = [
            _PageLaw.of(question, case, term, of, levels[k * len(terms) + j], (question.seed, 2, k, j))
            for k, case in enumerate(cases) for j, (term, of) in enumerate(terms)
        ]  # fmt: skip
    except (*FAILURES, IndexError) as error:
        return CodeAudit((), question.failure_probability, f"the page's law is not worked out ({error!r})")
    outputs = list[FloatArray]()
    for letters, some in groupby(cases, lambda one: one.letters):
        with _called(question, dict(letters)) as mechanism:
            for k, case in enumerate(some, len(outputs)):
                outputs.append(_outputs(question, mechanism, case, k, len(terms)))
    found = list[ComparedLaw]()
    for at, law in enumerate(laws):
        k, j = divmod(at, len(terms))
        same = [i for i, other in enumerate(cases) if other.letters == cases[k].letters and i != k]
        far = max(same, key=lambda i: law.apart(laws[i * len(terms) + j]))
        audit = audit_law(
            outputs[k][:, j],
            blind=outputs[far][:, j],
            reference=law.below,
            reference_error=law.error,
            distance="total variation",
            bound=0.0,
            failure_probability=law.level,
        )
        what = f"{cases[k].shown}" + f", output {j + 1}" * (len(terms) > 1)
        found.append(ComparedLaw(what, audit, law.scale_seen(question.runs)))
    return CodeAudit(tuple(found), question.failure_probability)


@dataclass(frozen=True)
class _PageLaw:
    """The law of an output: a draw's, or seen through numbers that are drawn from it."""

    line: FloatLine | None
    points: FloatArray
    up_to: FloatArray
    """The probability of what is at most each of the points, where the law is no line."""
    error: float
    """Of its distribution function."""
    level: float
    """What is left of the failure probability."""

    @classmethod
    def of(
        cls, question: CodeQuestion, case: _CodeCase, term: Node, of: Mapping[str, float], level: float,
        seed: tuple[int, ...],
    ) -> _PageLaw:  # fmt: skip
        """The law of one output, on one data set; of a vector, `of` says which of its numbers."""
        draws, model = {draw.name: draw.term for draw in question.page.of("draw")}, _model(question.page)
        env = {**case.env(question.page), **of}
        name = named(term[1]) if term[0] == "sym" else ""
        if name in draws and not free(draws[name]) & {*draws}:
            found = model.code(draws[name])(env)
            if isinstance(found, dict):
                chances = np.array([found[k] for k in sorted(found)])
                return cls(None, np.array(sorted(found), dtype=float), np.cumsum(chances), ROUNDING, level)
            return cls(_line(found), np.empty(0), np.empty(0), ROUNDING, level)
        random, runs, columns = np.random.default_rng(seed), SAMPLED * question.runs, dict[str, FloatArray]()
        if (choice := question.page.choice) is not None:
            draw, *others = question.page.of("draw") or (choice,)
            noisy_score: Node = ("add", ("num", "0"), ("of", draw.name, ("sym", choice.index)))
            if choice.role != "select" or choice.term != noisy_score or others:
                raise ValueError("a choice that is not of the largest of numbers that are drawn")
            lines = [_line(model.code(draw.term)({**env, draw.index: k})) for k in range(CANDIDATES)]
            noisy = np.stack(
                [_numbers_of(random, one.family, one.at, one.scale, runs) for one in lines], axis=1
            )
            return cls.sampled(np.argmax(noisy, axis=1).astype(float), level)
        for drawn, law in draws.items():
            around, code = free(law) & {*columns}, model.code(law)
            lines = [
                _line(code({**env, **{n: columns[n][i] for n in around}}))
                for i in range(runs if around else 1)
            ]
            places, scales = np.array([one.at for one in lines]), np.array([one.scale for one in lines])
            columns[drawn] = _numbers_of(random, lines[0].family, places, scales, runs)
        code, used = model.code(term), [*(free(term) & {*columns})]
        rows = zip(*(columns[one].tolist() for one in used), strict=True)
        made = [float(code({**env, **dict(zip(used, row, strict=True))})) for row in rows]
        return cls.sampled(np.array(made), level)

    @classmethod
    def sampled(cls, made: FloatArray, level: float) -> _PageLaw:
        """A law of which numbers are known."""
        runs = made.size
        return cls(None, np.sort(made), np.arange(1, runs + 1) / runs, band_width(runs, level / 2), level / 2)

    def apart(self, other: _PageLaw) -> float:
        """How far distribution functions are apart, where this one grows."""
        x = self.points if self.line is None else self.line.at + self.line.scale * np.linspace(-5, 5, 41)
        return float(np.max(np.abs(self.below(x) - other.below(x))))

    def below(self, x: FloatArray) -> FloatArray:
        """P(X <= x), to within the error; any shape."""
        if self.line is None:
            up_to = np.concatenate(([0.0], np.minimum(self.up_to, 1.0)))
            return np.asarray(up_to[np.searchsorted(self.points, x, side="right")])
        return beyond(_family(self.line), (self.line.at - x) / self.line.scale)

    def scale_seen(self, runs: int) -> float:
        """As `scale_seen`; infinite where only numbers of the law are known."""
        return scale_seen(_family(self.line), runs, self.level) if self.line else math.inf


def _numbers_of(
    random: np.random.Generator, family: str, at: FloatArray | float, scale: FloatArray | float, runs: int
) -> FloatArray:
    return np.asarray((random.normal if family == "normal" else random.laplace)(at, scale, runs))


def _line(found: object) -> FloatLine:
    if not isinstance(found, FloatLine) or found.family not in ("laplace", "normal") or not found.scale > 0:
        raise ValueError("no Laplace or normal noise")
    return found


def scale_seen(law: Law, runs: int, level: float) -> float:
    """The factor by which noise must be larger than it is said to be for the comparison to find it half of the time."""
    width = band_width(runs, level) + 2 * ROUNDING
    places = np.linspace(0.0, 8.0, 4001)

    def apart(factor: float) -> float:
        return float(np.max(beyond(law, places / factor) - beyond(law, places))) - width

    return float(brentq(apart, 1.0, 1e9)) if apart(1e9) > 0 else math.inf


@dataclass(frozen=True)
class _CodeCase:
    letters: tuple[tuple[str, float], ...]
    """By name."""
    rows: FloatArray
    """One number a record, or a row with one for each candidate."""
    shown: str

    def env(self, page: MechanismOnPage) -> dict[str, object]:
        first = 1 if page.records.columns else 0

        def at(index: tuple[float, ...]) -> float:
            return float(self.rows[(int(index[0]) - 1, *(int(k) - first for k in index[1:]))])

        return {**dict(self.letters), page.records.name: at}


def _model(page: MechanismOnPage) -> FloatModel:
    return FloatModel({name: CANDIDATES for name, _ in page.types}, {})


def _family(law: FloatLine) -> Law:
    return "normal" if law.family == "normal" else "laplace"


def _cases(question: CodeQuestion) -> Iterator[_CodeCase]:
    """Data sets, with values of letters."""
    page, random = question.page, np.random.default_rng((question.seed, 1))
    last = page.records.last
    if last[0] != "sym" or page.sample:
        raise InvalidArgumentError("page", page.id, "a letter for the number of records, and no sample")
    count = named(last[1])
    for first in (0, 1):
        letters = _values(page, count, first)
        n = int(letters[count])
        numbers = [
            *(v for name, v in letters.items() if name != count),
            0.0,
            1.0,
            *(float(v) for one in page.of("query") for v in numbers_in(one.term)),
        ]
        low = min(numbers) - 1 if page.records.low is None else float(page.records.low)
        high = max(numbers) + 1 if page.records.high is None else float(page.records.high)
        said = ", ".join(f"{one.latex} = {letters[one.name]:g}" for one in page.letters if one.name != count)
        shape = (n, CANDIDATES) if page.records.over else (n,)
        kinds = {"all records at the least number": np.full(shape, low)}
        kinds["random records"] = random.uniform(low, high, shape)
        if first == 0:
            kinds["all records at the largest number"] = np.full(shape, high)
        for kind, rows in kinds.items():
            yield _CodeCase(tuple(letters.items()), rows, f"{kind}{', ' * bool(said)}{said}")


def _values(page: MechanismOnPage, count: str, first: int) -> dict[str, float]:
    """Values of letters that the page allows, not the same for all, and others for another `first`."""
    model, options = _model(page), list[list[float]]()
    given = [model.margin(one) for one in page.given]
    for k, one in enumerate(page.sized_letters):
        variable = one.number
        if variable is None:
            raise InvalidArgumentError("page", page.id, "letters that are numbers")
        tried = WHOLE if one.kind == "integer" else NUMBERS
        fractions = [Fraction(text) for text in (*tried[k + first :], *tried[: k + first])]
        fit = [float(value) for value in fractions if variable.contains(value)]
        if one.term == page.records.columns:
            fit = [float(CANDIDATES)] * variable.contains(Fraction(CANDIDATES))
        if one.name == count:
            fit = [float(max(RECORDS, variable.lower or 1))]
        ends = [float(end) for end in (variable.lower, variable.upper) if end is not None]
        options.append(fit or ends or [1.0])
    for values in product(*options):
        found = dict(zip((one.name for one in page.sized_letters), values, strict=True))
        if all(one(found) >= 0 for one in given):
            return found
    raise InvalidArgumentError("page", page.id, "conditions under which letters have values that are tried")


def _called(question: CodeQuestion, values: Mapping[str, float]) -> UserMechanism:
    """The function, with values of letters for its parameters."""
    by_signs = {signs_of(one.latex): one for one in question.page.letters}
    arguments = list[tuple[str, float | str]]()
    for name, role in question.proposal.calls:
        if role == "runs":
            arguments.append((name, 1))
        elif role in ROLES:
            arguments.append((name, role))
        elif signs_of(role) in by_signs:
            letter = by_signs[signs_of(role)]
            value = values[letter.name]
            arguments.append((name, int(value) if letter.kind == "integer" else value))
        else:
            raise InvalidArgumentError(
                "page", question.page.id, f"a letter `{role}`, which is the parameter `{name}`"
            )
    return UserMechanism.load(Target(question.target, arguments=tuple(arguments)), limits=question.limits)


def _outputs(
    question: CodeQuestion, mechanism: UserMechanism, case: _CodeCase, k: int, width: int
) -> FloatArray:
    """Outputs of the function on a data set, (runs, outputs)."""
    data, column = case.rows, question.proposal.column
    if column is not None:
        data = np.zeros((len(case.rows), column + 1))
        data[:, column] = case.rows
    points = run(mechanism, data, runs=question.runs, seed=(question.seed, k)).points
    rows = points[:, None] if points.ndim == 1 else points
    if (
        rows.ndim != 2
        or rows.shape[1] != width
        or rows.dtype.kind not in "iuf"
        or not np.all(np.isfinite(rows))
    ):
        raise InvalidDataError(
            f"The function {question.target} returned something other than {width} finite number{'s' * (width > 1)}."
        )
    return np.asarray(rows, dtype=np.float64)
