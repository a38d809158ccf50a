"""Bad arguments of public functions: one sentence each, of the errors that the package names."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout, suppress
from dataclasses import is_dataclass
from doctest import DocTestParser
from enum import Enum
from functools import partial
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpverify.properties
from dpverify.algorithms.fmtt18 import PNSGD
from dpverify.algorithms.fmtt18.iteration import GaussianNoise
from dpverify.auditing import (
    ErrorShare,
    Request,
    audit_law,
    audit_mean,
    audit_privacy,
    audit_queries,
    betting_interval,
    check_samples,
    clopper_pearson_lower,
    clopper_pearson_upper,
    fit_rate,
    read_samples,
)
from dpverify.checks import whole_number
from dpverify.errors import DpverifyError
from dpverify.formulas.expressions import integer, real
from dpverify.privacy import (
    GDP,
    ApproxDP,
    NoisyIteration,
    PureDP,
    SampledGaussian,
    compose,
    compose_profiles,
    for_group,
    gaussian_hockey_stick,
    hockey_stick_divergence,
    noise_constant,
    parse_claim,
    per_index,
    smallest_epsilon,
    subsampled_gaussian_noise,
    tCDP,
    zCDP,
)
from dpverify.problems import (
    AllSpace,
    Ball,
    Box,
    Dataset,
    HalfSquaredDistance,
    Linear,
    Logistic,
    Problem,
    Ridge,
    Simplex,
    Squared,
    load,
    opposite_linear,
    read_csv,
)
from dpverify.properties import (
    check_guarantee,
    check_mechanism,
    check_private,
    datasets,
    neighboring_datasets,
)
from dpverify.proving import homogeneity, prove
from dpverify.reports import load_ledger, parse_ledger
from dpverify.running import Executor, FunctionMechanism, Limits, Randomness, UserMechanism, run
from dpverify.verification import VerificationSettings

NAN, INF, HUGE = math.nan, math.inf, 10**400
NO_NUMBER: list[Any] = [NAN, None, "1", True, [1.0], 1j]
NOT_FINITE: list[Any] = [*NO_NUMBER, INF, -INF, HUGE]
NOT_POSITIVE: list[Any] = [*NOT_FINITE, 0, -0.0, -1.0]
NEGATIVE: list[Any] = [*NO_NUMBER, -1.0, -INF]
NO_COUNT: list[Any] = [NAN, None, "1", True, [1], 1.5, INF, 0, -1]
NO_PROBABILITY: list[Any] = [*NO_NUMBER, 0, 1, -0.5, 1.5, INF]
NO_TEXT: list[Any] = [None, 3, b"x", ["eps=1"], ""]
NO_DATA: list[Any] = [None, "text", 3.0, [[1.0], [1.0, 2.0]], np.array([None] * 200), np.full(200, NAN)]

LEFT, RIGHT = np.zeros((4, 1)), np.array([[1.0], [0.0], [0.0], [0.0]])
SAMPLES = np.linspace(0.0, 1.0, 200)
BALL = Problem(Logistic(), Ball(2, 1.0))


def noise(data: Any, *, rng: Any, runs: int) -> Any:
    return rng.normal((runs,), "noise")


def draw(data: Any, rng: Any) -> float:
    return float(rng.normal())


def audited(**options: Any) -> Any:
    arguments = {
        "left": SAMPLES,
        "right": SAMPLES,
        "claim": PureDP(1.0),
        "failure_probability": 0.1,
        "seed": 0,
    }
    arguments |= {"adjacency": "replace-one"} | options
    return audit_privacy(arguments.pop("left"), arguments.pop("right"), arguments.pop("claim"), **arguments)


def averaged(**options: Any) -> Any:
    arguments = {
        "bound": 0.5,
        "lower": 0.0,
        "upper": 1.0,
        "failure_probability": 0.1,
        "values": SAMPLES,
    } | options
    return audit_mean(arguments.pop("values"), **arguments)


def law(**options: Any) -> Any:
    arguments = {
        "values": SAMPLES,
        "distance": "total variation",
        "bound": 0.0,
        "failure_probability": 0.1,
    } | options
    arguments = {"blind": None} | arguments
    return audit_law(arguments.pop("values"), reference=lambda v: v, **arguments)


def ran(**options: Any) -> Any:
    arguments = {"mechanism": noise, "data": LEFT, "runs": 3, "seed": 1} | options
    return run(arguments.pop("mechanism"), arguments.pop("data"), **arguments)


def private(**options: Any) -> Any:
    arguments = {"mechanism": draw, "data": LEFT, "neighbor": RIGHT, "claim": "eps=1", "runs": 200} | options
    first = [arguments.pop(name) for name in ("mechanism", "data", "neighbor", "claim")]
    return check_private(*first, **arguments)


TABLE: dict[str, tuple[Callable[[Any], Any], list[Any]]] = {
    # privacy
    "PureDP epsilon": (PureDP, NEGATIVE),
    "ApproxDP epsilon": (lambda x: ApproxDP(x, 1e-5), NEGATIVE),
    "ApproxDP delta": (lambda x: ApproxDP(1.0, x), [*NO_NUMBER, -0.1, 1.5, INF]),
    "GDP mu": (GDP, NEGATIVE),
    "zCDP rho": (zCDP, NEGATIVE),
    "tCDP rho": (lambda x: tCDP(x, 10.0), NEGATIVE),
    "tCDP omega": (lambda x: tCDP(1.0, x), [*NO_NUMBER, 0.5, 1, -1.0]),
    "SampledGaussian n": (lambda x: SampledGaussian(x, 1, 1.0), NO_COUNT),
    "SampledGaussian steps": (lambda x: SampledGaussian(10, x, 1.0), NO_COUNT),
    "SampledGaussian noise": (lambda x: SampledGaussian(10, 1, x), NOT_POSITIVE),
    "subsampled_gaussian_noise n": (lambda x: subsampled_gaussian_noise(x, 1, 1.0, 1e-5), NO_COUNT),
    "subsampled_gaussian_noise delta": (lambda x: subsampled_gaussian_noise(9, 1, 1.0, x), NO_PROBABILITY),
    "noise_constant n": (lambda x: noise_constant(x, 0.5, 1e-3), NO_COUNT),
    "noise_constant delta": (lambda x: noise_constant(10, 0.5, x), NO_PROBABILITY),
    "for_group guarantee": (lambda x: for_group(x, 2), [None, "eps=1", 1.0]),
    "for_group size": (lambda x: for_group(PureDP(1.0), x), NO_COUNT),
    "compose": (compose, [None, 1.0, [None], ["eps=1"], PureDP(1.0), []]),
    "compose_profiles": (compose_profiles, [None, 1.0, [None], ["eps=1"], PureDP(1.0), []]),
    "NoisyIteration distance": (lambda x: NoisyIteration([0.0], 1.0, 1.0, x), [*NOT_FINITE, -1.0]),
    "per_index n": (lambda x: per_index(x, 1, shift=1.0, noise_stddev=1.0), NO_COUNT),
    "per_index index": (lambda x: per_index(3, x, shift=1.0, noise_stddev=1.0), [*NO_COUNT, 4]),
    "NoisyIteration shifts": (
        lambda x: NoisyIteration(x, 1.0),
        [None, "1", [NAN], [-1.0], [], [[1.0]], [None]],
    ),
    "gaussian_hockey_stick epsilon": (lambda x: gaussian_hockey_stick(x, 1.0), [NAN, None, "1", -1.0, 1j]),
    "gaussian_hockey_stick mu": (lambda x: gaussian_hockey_stick(1.0, x), [NAN, None, "1", -1.0, 1j]),
    "hockey_stick_divergence p": (
        lambda x: hockey_stick_divergence(x, [0.5, 0.5], epsilon=1.0),
        [None, "p", [0.5], [0.5, 0.6], [NAN, 1.0], [-0.5, 1.5], [None, None]],
    ),
    "hockey_stick_divergence epsilon": (
        lambda x: hockey_stick_divergence([0.5, 0.5], [0.5, 0.5], epsilon=x),
        NEGATIVE,
    ),
    "smallest_epsilon delta": (
        lambda x: smallest_epsilon(PureDP(1.0).privacy_profile, x),
        [*NO_NUMBER, -1.0, 2.0],
    ),
    "parse_claim": (
        parse_claim,
        [
            *NO_TEXT,
            "eps",
            "eps=",
            "eps=x",
            "eps=-1",
            "eps=nan",
            "eps=1,eps=1",
            "eps=1;delta=0",
            "mu=inf,rho=1",
            "eps=1,delta=2",
            "order=1,rdp=1",
            "rho=1e999",
            "eps=1_0",
            "eps=1,",
        ],
    ),
    # problems
    "AllSpace": (AllSpace, NO_COUNT),
    "Ball dimension": (lambda x: Ball(x, 1.0), NO_COUNT),
    "Ball radius": (lambda x: Ball(2, x), NOT_POSITIVE),
    "Ball midpoint": (lambda x: Ball(2, 1.0, x), ["ab", 1.0, [1.0], [NAN, 0.0], [None, None]]),
    "Box": (lambda x: Box(x, [1.0, 1.0]), [None, "ab", [], [2.0, 0.0], [NAN, 0.0], [0.0], 1.0]),
    "Simplex dimension": (Simplex, NO_COUNT),
    "Simplex scale": (lambda x: Simplex(2, x), NOT_POSITIVE),
    "HalfSquaredDistance": (HalfSquaredDistance, [*NO_NUMBER, HUGE, 0, -1.0]),
    "Squared": (Squared, [*NO_NUMBER, HUGE, 0, -1.0]),
    "Ridge weight": (lambda x: Ridge(Logistic(), x, 1.0), [*NOT_FINITE, -1.0]),
    "Problem loss": (lambda x: Problem(x, Ball(2, 1.0)), [None, "hinge", 1.0]),
    "Problem constraint": (lambda x: Problem(Linear(), x), [None, "ball", 1.0]),
    "Dataset features": (
        lambda x: Dataset(x, np.zeros(2)),
        [None, "x", [1.0, 2.0], np.full((2, 1), NAN), np.zeros((0, 2))],
    ),
    "Dataset labels": (
        lambda x: Dataset(np.zeros((2, 1)), x),
        [None, "x", [[1.0, 2.0]], np.full(2, INF), np.zeros(3)],
    ),
    "load name": (load, [*NO_TEXT, "iris"]),
    "load n": (lambda x: load("diabetes", n=x), [0, -1, 1.5, True, "3", 10**6]),
    "load d": (lambda x: load("diabetes", d=x), [0, -1, 1.5, True, "3"]),
    "opposite_linear n": (lambda x: opposite_linear(x, 2, 1), NO_COUNT),
    "opposite_linear index": (lambda x: opposite_linear(3, 2, x), [*NO_COUNT, 4]),
    "read_csv path": (read_csv, [None, 3, "", "no-such.csv", "a\0b", "x" * 300, "."]),
    # running
    "Executor.parse": (
        Executor.parse,
        [
            *NO_TEXT,
            "threads",
            "threads=0",
            "threads=999999",
            "processes=-1",
            "dask=",
            "serial=1",
            "threads=2.5",
        ],
    ),
    "Executor kind": (Executor, [None, 3, "gpu", ["serial"]]),
    "Executor workers": (lambda x: Executor("threads", x), [*NO_COUNT, 10**6]),
    "Randomness": (Randomness, [None, -1, 1.5, "5", (), True, 2**128, (5, -1), (5, 2**40)]),
    "run mechanism": (lambda x: ran(mechanism=x), [None, "noise", 3]),
    "run runs": (lambda x: ran(runs=x), [*NO_COUNT, 10**15]),
    "run seed": (lambda x: ran(seed=x), [None, -1, 1.5, "5", True, ()]),
    "run executor": (lambda x: ran(executor=x), [3, "threads", "gpu", ["serial"], ""]),
    "run block_size": (lambda x: ran(block_size=x), NO_COUNT),
    "run memory_limit": (lambda x: ran(memory_limit=x), NO_COUNT),
    "run result_limit": (lambda x: ran(result_limit=x), [NAN, "1", True, 1.5, 0, -1, 10]),
    "run store": (lambda x: ran(store=x), [3, "", "a\0b", "x" * 300, ["store"]]),
    "run xp": (lambda x: ran(xp=x), [None, "numpy", 3]),
    "Limits seconds": (lambda x: Limits(seconds=x), NOT_POSITIVE),
    "Limits memory": (lambda x: Limits(memory=x), [*NO_COUNT, 1000]),
    "UserMechanism.load": (UserMechanism.load, [*NO_TEXT, "x", "x:", ":y", "no_such_module_x:f", "a b:c"]),
    "UserMechanism.load limits": (lambda x: UserMechanism.load("m:f", limits=x), [3, "1", (1, 2)]),
    "UserMechanism.load folder": (lambda x: UserMechanism.load("m_not:f", x), [3, "a\0b"]),
    "FunctionMechanism": (FunctionMechanism, [None, 3, "f", lambda data: 0, lambda a, b, c, d: 0]),
    # auditing
    "ErrorShare": (ErrorShare, NO_PROBABILITY),
    "audit_privacy left": (
        lambda x: audited(left=x),
        [*NO_DATA, np.zeros((200, 1, 1)), np.zeros(10), np.zeros(201)],
    ),
    "audit_privacy claim": (lambda x: audited(claim=x), [None, "eps=1", 1.0]),
    "audit_privacy failure_probability": (lambda x: audited(failure_probability=x), NO_PROBABILITY),
    "audit_privacy adjacency": (lambda x: audited(adjacency=x), [None, 3, ""]),
    "audit_privacy seed": (lambda x: audited(seed=x), [None, -1, 1.5, "5", True]),
    "audit_privacy delta": (lambda x: audited(delta=x), [NAN, "1", True, -0.1, 1.0, INF]),
    "audit_privacy most_events": (lambda x: audited(most_events=x), [None, 0, 1, 1.5, "5", True]),
    "audit_mean values": (lambda x: averaged(values=x), NO_DATA),
    "audit_mean bound": (lambda x: averaged(bound=x), [NAN, None, "1", True]),
    "audit_mean lower": (lambda x: averaged(lower=x), [NAN, None, "1", True, 2.0, -INF]),
    "audit_mean upper": (lambda x: averaged(upper=x), [NAN, None, "1", True, -2.0, INF]),
    "audit_mean failure_probability": (lambda x: averaged(failure_probability=x), NO_PROBABILITY),
    "audit_queries counted": (lambda x: audit_queries(x, 3), [None, "3", [], [1.5], [-1], [NAN]]),
    "audit_queries claimed": (lambda x: audit_queries([3, 3], x), [None, "3", 1.5, -1, True]),
    "audit_law bound": (lambda x: law(bound=x), [NAN, None, "1", True, -1.0]),
    "audit_law values": (lambda x: law(values=x), NO_DATA),
    "audit_law distance": (lambda x: law(distance=x), [None, "tv", 3]),
    "audit_law blind": (lambda x: law(blind=x), ["uniform", 3.0, [NAN], SAMPLES[:100]]),
    "audit_law failure_probability": (lambda x: law(failure_probability=x), NO_PROBABILITY),
    "clopper_pearson_lower": (lambda x: clopper_pearson_lower(x, 10, 0.1), [None, "3", -1, 11, NAN]),
    "clopper_pearson_upper": (lambda x: clopper_pearson_upper(3, 10, x), NO_PROBABILITY),
    "betting_interval": (lambda x: betting_interval(x, 0.0, 1.0, 0.1), [None, "3", [], [NAN], [2.0]]),
    "check_samples": (lambda x: check_samples(x, "left"), NO_DATA),
    "fit_rate": (lambda x: fit_rate(x, [], 0.5), [None, "3", [], [1.0], [NAN, 1.0]]),
    "read_samples": (
        read_samples,
        [None, 3, "", "no.npy", "a\0b", "x" * 300 + ".npy", ".", "pyproject.toml"],
    ),
    # proving
    "prove": (prove, [None, "x >= 0", 3, [], real]),
    "homogeneity": (homogeneity, [None, "x >= 0", 3]),
    "real name": (real, [None, 3, ""]),
    "integer name": (integer, [None, 3, " "]),
    # properties
    "check_private mechanism": (lambda x: private(mechanism=x), [None, 3, "f", lambda data: 0]),
    "check_private data": (
        lambda x: private(data=x),
        [None, 3.0, "text", RIGHT, LEFT + 1, np.zeros((5, 1)), [[0.0], [1.0, 2.0]]],
    ),
    "check_private claim": (lambda x: private(claim=x), [*NO_TEXT, "eps", 1.0]),
    "check_private adjacency": (lambda x: private(adjacency=x), [3, "", "next"]),
    "check_private index": (lambda x: private(adjacency="index", index=x), [None, 0, 2, 1.5, "1", True]),
    "check_private runs": (
        lambda x: private(runs=x),
        [NAN, "1", True, [1], 1.5, INF, 0, -1, 15, 10**15],
    ),
    "check_private fixed runs": (lambda x: private(runs=x, fixed_runs=True), [99, 10**15]),
    "check_private seed": (lambda x: private(seed=x), [None, -1, 1.5, "5", True]),
    "check_private failure_probability": (lambda x: private(failure_probability=x), NO_PROBABILITY),
    "check_private executor": (lambda x: private(executor=x), [3, "gpu", ""]),
    "check_guarantee": (check_guarantee, [None, "eps=1", 3]),
    "check_mechanism": (lambda x: check_mechanism(x, LEFT), [None, "f", 3]),
    "datasets n": (lambda x: datasets(n=x, d=1), [None, 0, -1, 1.5, "1", True]),
    "neighboring_datasets d": (lambda x: neighboring_datasets(n=1, d=x), [None, 0, -1, 1.5, "1", True]),
    # algorithms, reports, verification
    "PNSGD rate": (lambda x: PNSGD(BALL, x, 1.0), NOT_POSITIVE),
    "PNSGD noise": (lambda x: PNSGD(BALL, 0.1, x), [*NOT_FINITE, -1.0]),
    "PNSGD problem": (lambda x: PNSGD(x, 0.1, 1.0), [None, "problem", 3]),
    "GaussianNoise": (GaussianNoise, [*NOT_FINITE, -1.0]),
    "parse_ledger": (
        parse_ledger,
        ["", "{", "[]", "null", "3", '{"schema_version": 99}', '{"a": 1}', "[" * 5000, "1" * 5000],
    ),
    "load_ledger": (load_ledger, [None, 3, "", "no.json", "a\0b", "x" * 300, "."]),
    "settings papers": (lambda x: VerificationSettings(papers=x), [("no",), (3,)]),
    "settings profile": (lambda x: VerificationSettings(profile=x), [None, "slow", 3, ""]),
    "settings executor": (lambda x: VerificationSettings(executor=x), [None, "gpu", 3, "threads=0"]),
    "settings only": (lambda x: VerificationSettings(only=x), [("no-plan",)]),
    "settings failure_probability": (lambda x: VerificationSettings(failure_probability=x), NO_PROBABILITY),
}


def rows() -> Iterator[Any]:
    for name, (call, values) in TABLE.items():
        for number, value in enumerate(values):
            yield pytest.param(call, value, id=f"{name} {number}")


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("call", "value"), list(rows()))
def test_one_sentence(
    call: Callable[[Any], Any], value: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DpverifyError) as caught:
        call(value)
    assert isinstance(caught.value, ValueError)
    said = str(caught.value)
    assert "\n" not in said
    assert said.rstrip().endswith(".")
    assert 10 < len(said) < 600
    assert list(tmp_path.iterdir()) == []


ROOT = Path(__file__).parents[2]
STUBS = [
    stub
    for folder in ("dpverify", "algorithms", "properties", "reports")
    for stub in ROOT.glob(f"{folder}/**/*.pyi")
]
NAMES = {"dpverify." + ".".join(stub.parent.relative_to(ROOT).parts) for stub in STUBS}
OF_THE_PROGRAM = {"dpverify.formulas.notation", "dpverify.statements.pages"}
"""Packages whose names are used by the program alone."""
PACKAGES = sorted({name.replace("dpverify.dpverify", "dpverify") for name in NAMES} - OF_THE_PROGRAM)
COSTLY = {"dpverify", "dpverify.properties", "dpverify.fitting"}
"""Packages whose examples take seconds."""
OF_ANOTHER_KIND: tuple[Any, ...] = (None, "x", np.ones((2, 3, 4)), {}, -1.5, NAN)


def public(package: str) -> dict[str, Any]:
    """Functions and dataclasses by name."""
    module = import_module(package)
    found = {name: getattr(module, name) for name in module.__all__}
    return {
        k: v for k, v in found.items() if inspect.isfunction(v) or (inspect.isclass(v) and is_dataclass(v))
    }


def refuses(name: str, call: Callable[[], Any], *found: type[Exception]) -> None:
    """Fail where a call ends neither well nor in a sentence, nor in what a check says that it found."""
    try:
        call()
    except found:
        pass
    except Exception as error:
        if not isinstance(error, DpverifyError) or "\n" in str(error):
            pytest.fail(f"{name}: {type(error).__name__}: {error}")


@pytest.mark.parametrize("package", PACKAGES)
def test_public_functions_refuse_what_is_of_another_kind(
    package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All arguments that are required are of one wrong kind; what takes that is no matter here."""
    monkeypatch.chdir(tmp_path)
    for name, found in public(package).items():
        parameters = inspect.signature(found).parameters.values()
        needed = [
            p for p in parameters if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
        ]
        for value in OF_ANOTHER_KIND if needed else ():
            by_name = {p.name: value for p in needed if p.kind is p.KEYWORD_ONLY}
            positional = [value] * (len(needed) - len(by_name))
            refuses(f"{name} of {value!r}", partial(found, *positional, **by_name))


@pytest.mark.one_in(2)
@pytest.mark.parametrize("package", [name for name in PACKAGES if name not in COSTLY])
def test_each_argument_of_an_example_is_refused_if_of_another_kind(
    package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first call in an example of a docstring, with each argument in turn of a wrong kind."""
    monkeypatch.chdir(tmp_path)
    refuse_each_argument(public(package))


def refuse_each_argument(names: dict[str, Any]) -> None:
    """Make the calls in their examples again, with each argument in turn of each wrong kind."""
    for name, call in calls_in_examples(names).items():
        for argument, value in product(call.arguments, OF_ANOTHER_KIND):
            kind = call.signature.parameters[argument].kind
            if kind is not inspect.Parameter.VAR_KEYWORD:
                changed = call.signature.bind(*call.args, **call.kwargs)
                changed.arguments[argument] = (value,) if kind is inspect.Parameter.VAR_POSITIONAL else value
                refuses(
                    f"{argument}={value!r} of {name}", partial(names[name], *changed.args, **changed.kwargs)
                )


def calls_in_examples(names: dict[str, Any]) -> dict[str, inspect.BoundArguments]:
    """The first call of each of these functions in any of their docstrings' examples, which are run."""
    found: dict[str, inspect.BoundArguments] = {}

    def spied(name: str, function: Any) -> Callable[..., Any]:
        def spy(*args: Any, **kwargs: Any) -> Any:
            found.setdefault(name, inspect.signature(function).bind(*args, **kwargs))
            return function(*args, **kwargs)

        return spy

    for function in names.values():
        namespace: dict[str, Any] = dict(names)
        for example in DocTestParser().get_examples(function.__doc__ or ""):
            namespace |= {k: spied(k, v) for k, v in names.items() if namespace.get(k) is v}
            with suppress(Exception), redirect_stdout(None):
                exec(example.source, namespace)
    return found


def called(*args: Any, **kwargs: Any) -> Any:
    """A function of the user that is reached, as it is where no argument is wrong."""
    raise Reached


class Reached(Exception):  # noqa: N818
    """No argument was refused."""


ONE, OTHER = np.zeros((1, 1)), np.ones((1, 1))
PAIR = {"data": ONE, "neighbor": OTHER, "claim": "eps=1"}
RECORDS = Dataset([[1.0], [0.0]], [1.0, 1.0])
SMALL: dict[str, dict[str, Any]] = {
    "dpverify.ApproxDP": {"epsilon": 1.0, "delta": 0.0},
    "dpverify.Mechanism": {"id": "own", "letters": {}, "records": "X_i", "steps": [], "neighbors": "replace one"},
    "dpverify.Request": {"function": called, **PAIR},
    "dpverify.audit": {"request": Request(called, **PAIR)},
    "dpverify.audit_samples": {"left": ONE, "right": OTHER, "claim": "eps=1"},
    "dpverify.check_private": {"mechanism": called, **PAIR},
    "dpverify.load_ledger": {"path": "none.json"},
    "dpverify.prove": {"obligation": called},
    "dpverify.properties.adversarial_optimizers": {"n": 2},
    "dpverify.properties.check_accountant": {"epsilon": called},
    "dpverify.properties.check_algorithm": {"algorithm": called, "data": RECORDS},
    "dpverify.properties.check_audit": {"auditor": called, "question": None, "subject": None},
    "dpverify.properties.check_batch_sampling": {"sampler": called, "n": 9, "scheme": "poisson", "draws": 9},
    "dpverify.properties.check_batch_sizes": {"mechanism": called, "data": ONE, "sizes": (1, 9), "runs": 100},
    "dpverify.properties.check_contraction": {"update": called, "dimension": 2, "restarts": 1},
    "dpverify.properties.check_duality": {"guarantee": PureDP(1.0), "points": 5},
    "dpverify.properties.check_gradient": {"value": called, "gradient": called, "dimension": 2, "points": 1},
    "dpverify.properties.check_group_privacy": {"guarantee": PureDP(1.0), "group": called},
    "dpverify.properties.check_guarantee": {"guarantee": PureDP(1.0)},
    "dpverify.properties.check_hidden": {"run": called},
    "dpverify.properties.check_interaction": {"method": called, "left": RECORDS, "right": RECORDS},
    "dpverify.properties.check_loss": {"loss": Linear(), "constraint": Ball(1, 1.0), "rounds": 1},
    "dpverify.properties.check_mechanism": {"mechanism": called, "data": ONE},
    "dpverify.properties.check_noise": {"mechanism": called, "datasets": [ONE, OTHER], "center": called, "runs": 9},
    "dpverify.properties.check_post_processing": {"mechanism": called, **PAIR},
    "dpverify.properties.check_private": {"mechanism": called, **PAIR},
    "dpverify.properties.check_projection": {"project": called, "dimension": 2, "points": 2},
    "dpverify.properties.check_scaling": {"guarantee": called},
    "dpverify.properties.check_sensitivity": {"query": called, "bound": 1.0, "n": 2, "d": 1, "examples": 9},
    "dpverify.properties.datasets": {"n": 2, "d": 1},
    "dpverify.properties.distributions": {"outcomes": 2},
    "dpverify.properties.losses": {"constraint": Ball(1, 1.0)},
    "dpverify.properties.neighboring_arrays": {"n": 2, "d": 1},
    "dpverify.properties.neighboring_datasets": {"n": 2, "d": 1},
    "dpverify.properties.schedules": {"steps": 2},
    "dpverify.properties.unit_ball_points": {"rows": 2, "dimension": 1},
    "dpverify.fitting.DPLinearRegression": {"method": "bst14.alg1"},
    "dpverify.fitting.DPLinearSVC": {"method": "bst14.alg1"},
    "dpverify.fitting.DPLogisticRegression": {"method": "bst14.alg1"},
    "dpverify.fitting.candidates": {
        "problem": Problem(Linear(), Ball(1, 1.0)), "n": 2, "epsilon": 1.0, "delta": 0.0, "only": "bst14.alg3"
    },
    "dpverify.fitting.fit": {"features": ONE, "labels": [1], "epsilon": 1.0, "method": "bst14.alg1"},
}  # fmt: skip
"""Arguments with which a public function is called, but for one that is wrong: as few and as small as they may be."""
ANSWERS = {"Adversary", "KnownMechanism", "Leak", "FitMethod", "NotPrivate", "PrivateModel"}
"""Classes of objects that are handed out, or drawn."""
BAD: tuple[Any, ...] = (None, "text", np.zeros((2, 2)), -1, NAN, object())


def wrong_arguments(name: str, function: Any, given: dict[str, Any]) -> Iterator[str]:
    """What becomes of a call with each argument in turn of each wrong kind, where that is no sentence."""
    for argument, parameter in inspect.signature(function).parameters.items():
        kinds = set(re.sub(r"\[.*\]", "", str(parameter.annotation)).replace(" ", "").split("|"))
        for value in BAD if parameter.kind is not parameter.VAR_KEYWORD else ():
            try:
                made = function(**{**given, argument: value})
                if hasattr(made, "fit"):  # scikit-learn's estimators check their parameters there
                    made.fit([[0.0], [1.0]], [-1, 1])
                ended = "is taken"
            except DpverifyError as error:
                ended = "" if "\n" not in str(error) else "is refused in several sentences"
            except (Reached, AssertionError):  # the second says what a check found
                ended = "is taken"
            except Exception as error:
                ended = f"raises {type(error).__name__}: {error}"
            fits = "Any" in kinds or {type(None): "None", str: "str"}.get(type(value)) in kinds
            if ended.startswith("raises") or (
                ended and type(value) in (type(None), str, object) and not fits
            ):
                yield f"{argument}={value!r} of {name} {ended}"


@pytest.mark.parametrize("package", sorted(COSTLY))
def test_no_argument_of_another_kind_is_taken(
    package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every argument, also those that may be left out; None and text are taken where the signature says so alone."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("dpverify.fitting.models._run", called)
    found = []
    for name in set(import_module(package).__all__) - ANSWERS:
        function = getattr(import_module(package), name)
        if not (inspect.isclass(function) and issubclass(function, Enum)):
            found += wrong_arguments(name, function, SMALL.get(f"{package}.{name}", {}))
    assert found == []


def test_nothing_of_another_kind_is_taken_from_a_function_of_the_user() -> None:
    """What checks call returns something else than they ask for, each function in turn."""
    names = {key.rpartition(".")[2]: given for key, given in SMALL.items() if ".check_" in key}
    names = {name: given for name, given in names.items() if "claim" not in given}  # these take all outputs
    tried = 0
    for name, given in names.items():
        for argument, value in product([k for k, v in given.items() if v is called], (*BAD, [], True)):
            one = {k: (lambda *_, **__: 1.0) if v is called else v for k, v in given.items()}
            one[argument] = lambda *_, value=value, **__: value
            call = partial(getattr(dpverify.properties, name), **one)
            refuses(f"{argument} of {name} returning {value!r}", call, AssertionError)
            tried += 1
    assert tried > 90


def test_an_argument_that_is_not_checked_is_found() -> None:
    """A planted function whose second argument is taken as it is."""

    def faulty(count: int, share: float) -> float:
        """Multiply.

        >>> faulty(2, 0.5)
        1.0
        """
        return whole_number("count", count) * share.real

    def taking(share: float) -> float:
        return share

    with pytest.raises(pytest.fail.Exception, match=r"^share=None of faulty: AttributeError"):
        refuse_each_argument({"faulty": faulty})
    found = list(wrong_arguments("faulty", faulty, {"count": 2, "share": 0.5}))
    assert all(line.startswith("share=") for line in found)
    assert len(found) == 3  # None, text and another object
    assert "share='text' of taking is taken" in list(wrong_arguments("taking", taking, {"share": 0.5}))


def test_the_table_is_long_enough() -> None:
    assert sum(len(values) for _, values in TABLE.values()) > 400
