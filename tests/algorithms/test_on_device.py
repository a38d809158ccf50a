"""Steps on a device: known answers, the law of NumPy's, a twin in float64 on the same numbers, what is refused.

What needs JAX is skipped without it; `make test-libraries` has it.
"""

from __future__ import annotations

import builtins
import math
import pickle
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy import stats

from dpverify.algorithms import on_device
from dpverify.algorithms.bst14 import NoisyGradientDescent, OutputPerturbation
from dpverify.algorithms.contract import Algorithm
from dpverify.algorithms.fmtt18 import PNMSGD, PNSGD, MultitaskStopPNSGD, SkipPNSGD, StopPNSGD
from dpverify.algorithms.on_device import DevicePlace, rounding_bound
from dpverify.errors import DpverifyError, InvalidArgumentError
from dpverify.extras import MissingExtraError
from dpverify.problems import (
    AllSpace,
    Ball,
    Box,
    Dataset,
    EuclideanDistance,
    Hinge,
    Logistic,
    Problem,
    Ridge,
    Simplex,
    Squared,
)
from dpverify.running import Output, Randomness, TooCostlyError, fingerprint, run

from ..packaging.page_blocks import DOCS, blocks

N, D, RUNS = 12, 3, 40
BALL = Ball(D, 0.6)
PROBLEM = Problem(Logistic(), BALL)


def records() -> Dataset:
    rng = np.random.default_rng(1)
    features = rng.normal(size=(N, D))
    return Dataset(features / np.linalg.norm(features, axis=1)[:, None], rng.choice([-1.0, 1.0], N))


DATA = records()


@pytest.fixture
def jax() -> Any:
    return pytest.importorskip("jax", reason="JAX is an optional extra")


def words(*numbers: int) -> Any:
    return np.array(numbers, dtype=np.uint32)


# from kat_vectors of Random123 1.14
KNOWN = (
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((2**32 - 1,) * 4, (2**32 - 1,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
)


def test_known_answers_of_the_stream(jax: Any) -> None:
    counters, keys, answers = (np.array(part, dtype=np.uint32).T for part in zip(*KNOWN, strict=True))
    for unroll in (False, True):
        assert np.array_equal(on_device.philox(counters, keys, unroll), answers)


def test_normal_numbers_have_their_law(jax: Any) -> None:
    """False alarms: 1e-6 by the Dvoretzky-Kiefer-Wolfowitz inequality, and one in 1e6 a correlation."""
    count = 100_000
    found = np.asarray(on_device.normals(words(1, 2), words(3)[0], 6, count), dtype=np.float64)
    assert stats.kstest(found.ravel(), "norm").statistic < math.sqrt(math.log(2 / 1e-6) / (2 * found.size))
    signs = np.sign(found)
    for numbers in (found, found**2 - 1, signs):
        across = np.corrcoef(np.vstack([numbers, np.roll(numbers[0], 1)]))
        assert np.max(np.abs(across - np.eye(7))) < 5.5 / math.sqrt(count)
    # every other step, run, key and coordinate has other numbers
    other = np.asarray(on_device.normals(words(1, 2), words(4)[0], 6, count))
    assert not np.any(found[:, :1000] == other[:, :1000])


def test_normal_numbers_at_the_ends_of_the_words(jax: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is that of the words in float64, near zero and far out."""
    rng = np.random.default_rng(0)
    ends = [0, 1, 2**31 - 1, 2**31, 2**32 - 2, 2**32 - 1]
    u = np.array([*ends, *rng.integers(0, 2**32, 500)], dtype=np.uint32)[:, None]
    v = np.array([*rng.integers(0, 2**32, 500), *ends], dtype=np.uint32)[:, None]
    monkeypatch.setattr(on_device, "philox", lambda *_: (u, v, u, v))
    found = np.asarray(on_device.normals(None, 0, 4 * len(u), 1)).reshape(-1, 4)
    part = (u[:, 0] + 0.5) / 2.0**32
    radius = np.sqrt(-2 * np.where(part < 0.5, np.log(part), np.log1p(-(1 - part))))
    angle = v[:, 0] * (2 * np.pi / 2.0**32)
    for column, exact in enumerate((np.cos(angle), np.sin(angle))):
        assert np.max(np.abs(found[:, column] - radius * exact) / radius) < 1e-6
    assert np.max(np.abs(found)) <= on_device.LARGEST_NORMAL * (1 + 1e-6)


def test_records_are_drawn_without_bias(jax: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    high, low = (np.array([0, 2**32 - 1, *rng.integers(0, 2**32, 300)], dtype=np.uint32) for _ in range(2))
    monkeypatch.setattr(on_device, "philox", lambda *_: (high, low, low, low))
    for n in (1, 7, 569, 2**31 - 1):
        exact = [((int(a) << 32) + int(b)) * n >> 64 for a, b in zip(high, low, strict=True)]
        assert np.asarray(on_device.drawn(None, 0, len(high), n)).tolist() == exact


# ------------------------------------------------------------------------------------------------- a twin in float64


@dataclass(frozen=True)
class Steps:
    """Of an algorithm on the data: what gradients are multiplied by, the noise, the record, in which runs."""

    factors: Any
    stddevs: Any
    order: Any = None
    taken: Any = None


def steps_of(algorithm: Any, rng: Randomness) -> Steps:
    if isinstance(algorithm, NoisyGradientDescent):
        rates = np.array([algorithm.rate(N, t) for t in range(1, algorithm.step_count(N) + 1)])
        return Steps(N * rates, rates * algorithm.noise_stddev(N))
    order = np.tile(np.arange(N), algorithm.passes(N))
    taken = None
    if algorithm.stops_early:
        keys, largest = algorithm._draw(N, rng, RUNS)
        taken = keys[None, :] <= largest[:, None]
    rates = np.full(len(order), algorithm.rate)
    return Steps(rates, rates * algorithm.noise_stddev, order, taken)


@cache
def _compiled() -> tuple[Any, Any]:
    import jax

    return (
        jax.jit(lambda key, step: on_device.normals(key, step, D, RUNS)),
        jax.jit(lambda key, step: on_device.drawn(key, step, RUNS, N)),
    )


def twin(algorithm: Any) -> tuple[Any, Steps]:
    """The definition with NumPy in float64, on the numbers that the device draws."""
    rng = Randomness(7)
    key = np.asarray(rng.integers(0, 2**32, (2,), "key"), dtype=np.uint32)
    steps, problem = steps_of(algorithm, rng), algorithm.problem
    normals, drawn = _compiled()
    w = np.tile(np.asarray(algorithm.start), (RUNS, 1))
    for t, (factor, stddev) in enumerate(zip(steps.factors, steps.stddevs, strict=True)):
        step = words(t)[0]
        index = steps.order[t] if steps.order is not None else np.asarray(drawn(key, step))
        noise = np.asarray(normals(key, step), dtype=np.float64).T
        gradient = problem.loss.gradient(w, DATA.features[index], DATA.labels[index])
        moved = problem.constraint.project(w - factor * gradient - stddev * noise)
        w = moved if steps.taken is None else np.where(steps.taken[t][:, None], moved, w)
    return w, steps


def there(algorithm: Any, dtype: str = "float32") -> Any:
    rng = Randomness(7)
    rng.device = DevicePlace("cpu", dtype)
    return algorithm(DATA, rng=rng, runs=RUNS)


TWINS = {
    "pnsgd": PNSGD(PROBLEM, 0.5, 0.4),
    "skip": SkipPNSGD(PROBLEM, 0.5, 0.4),
    "stop": StopPNSGD(PROBLEM, 0.5, 0.4),
    "epochs": PNMSGD(PROBLEM, 0.5, 0.4, epochs=2),
    "drawn records": NoisyGradientDescent(
        PROBLEM, 1.0, 1e-5, steps=30, noise_constant=0.01, withdraw_guarantee=True
    ),
    "ball elsewhere": PNSGD(Problem(Logistic(), Ball(D, 0.3, (0.4, 0.0, 0.1))), 0.5, 0.4),
    "box": PNSGD(Problem(Ridge.on(Box.cube(D, 0.2), Logistic(), 0.3), Box.cube(D, 0.2)), 0.5, 0.4),
    "squared": PNSGD(Problem(Squared.on(BALL), BALL), 0.5, 0.4),
}
"""Some of whose points leave the set, and are projected."""


@pytest.mark.parametrize("name", TWINS)
def test_steps_are_those_of_the_twin(jax: Any, name: str) -> None:
    algorithm = TWINS[name]
    expected, steps = twin(algorithm)
    found = there(algorithm)
    bound = rounding_bound(algorithm.problem, steps.factors, steps.stddevs)
    apart = float(np.max(np.linalg.norm(found.points - expected, axis=1)))
    assert 0 < apart <= bound < 1e-3
    assert np.all(algorithm.problem.constraint.contains(found.points, 1e-14))
    taken = np.full(RUNS, len(steps.factors)) if steps.taken is None else steps.taken.sum(axis=0)
    assert np.array_equal(found.gradient_queries, taken)
    assert np.array_equal(found.projections, taken)
    if name in ("stop", "drawn records"):
        with jax.enable_x64(True):
            exact = there(algorithm, "float64").points
        assert np.max(np.abs(exact - expected)) < 1e-13


def test_a_wrong_step_is_outside_of_the_bound(jax: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """One part in a thousand of a gradient is seen by it."""
    algorithm = TWINS["pnsgd"]
    expected, steps = twin(algorithm)
    slower = Logistic.gradient
    monkeypatch.setattr(Logistic, "gradient", lambda *given: 0.999 * slower(*given))
    on_device._kernel.cache_clear()
    apart = np.max(np.linalg.norm(there(algorithm).points - expected, axis=1))
    on_device._kernel.cache_clear()
    assert apart > rounding_bound(PROBLEM, steps.factors, steps.stddevs)


@pytest.mark.parametrize("loss", [Logistic(), Squared(1.0)], ids=str)
def test_slopes_are_as_good_as_the_bound_takes_them_to_be(jax: Any, loss: Any) -> None:
    """To 16 roundings of the Lipschitz constant, wherever the inner product is."""
    reach = 2.0 ** np.linspace(-30, 7 if isinstance(loss, Logistic) else 0, 20_000)
    z = np.concatenate([-reach, reach]).astype(np.float32)
    y = np.where(np.arange(z.size) % 3 == 0, -1.0, 1.0).astype(np.float32)
    found = np.asarray(jax.jit(loss.link_slope)(z, y), dtype=np.float64)
    exact = loss.link_slope(z.astype(np.float64), y.astype(np.float64))
    assert np.max(np.abs(found - exact)) <= 16 * 2.0**-24 * loss.lipschitz_constant


def test_there_is_no_bound_where_nothing_is_known() -> None:
    one = np.ones(1)
    for problem in (
        Problem(Hinge(), BALL),  # a slope that jumps
        Problem(Logistic(), AllSpace(D)),
        Problem(Logistic(), Simplex(D)),
    ):
        assert rounding_bound(problem, one, one) == math.inf


# ---------------------------------------------------------------------------------------------------------- the law


def distances(ours: Any, theirs: Any) -> list[float]:
    """Kolmogorov distances of each coordinate and of the norm, to four digits: many points are on the sphere."""
    numbers = ((*points.T, np.round(np.linalg.norm(points, axis=1), 4)) for points in (ours, theirs))
    return [float(stats.ks_2samp(*both, method="asymp").statistic) for both in zip(*numbers, strict=True)]


@pytest.mark.parametrize("kind", [PNSGD, StopPNSGD, NoisyGradientDescent])
def test_the_law_is_that_of_numpy(jax: Any, kind: Any) -> None:
    """False alarms: 1e-6 by the two-sample inequality 2 exp(-n t^2) (Wei and Dudley 2012); a planted fault is seen."""
    count = 10_000
    if kind is NoisyGradientDescent:
        problem = Problem(Logistic(), Ball(D, 30.0))
        algorithm = kind(problem, 1.0, 1e-5, steps=20, noise_constant=0.01, withdraw_guarantee=True)
    else:
        algorithm = kind(Problem(Logistic(), Ball(D, 3.0)), 0.5, 0.4)
    allowed = math.sqrt(math.log(2 * (D + 1) / 1e-6) / count)
    theirs = run(algorithm, DATA, runs=count, seed=1)
    ours = run(algorithm, DATA, runs=count, seed=1, device="cpu")
    assert max(distances(ours.points, theirs.points)) < allowed
    weaker = run(algorithm.on_device("cpu").weakened(1.5), DATA, runs=count, seed=1)
    assert max(distances(weaker.points, theirs.points)) > allowed


def test_tasks_have_noise_of_their_own(jax: Any) -> None:
    """Each walk from a start has a key: the points of two equal tasks are not the same."""
    tasks = MultitaskStopPNSGD((Logistic(), Logistic()), BALL, 0.5, 0.4)
    points = run(tasks, DATA, runs=500, seed=0, device="cpu").points.reshape(500, 2, -1)
    assert not np.any(np.all(points[:, 0] == points[:, 1], axis=1))


# --------------------------------------------------------------------------------------------------- seeds and bits


def test_bits_follow_from_the_seed_alone(jax: Any, tmp_path: Any) -> None:
    algorithm = PNSGD(PROBLEM, 0.5, 0.4)
    given: dict[str, Any] = {"runs": 2500, "seed": 3, "block_size": 1000, "device": "cpu"}
    found = run(algorithm, DATA, **given, store=tmp_path).points
    for options in (
        {"memory_limit": 1},
        {"executor": "threads=2"},
        {"store": tmp_path},
    ):
        assert run(algorithm, DATA, **given, **options).points.tobytes() == found.tobytes()
    assert len(np.unique(found[:, 0])) > 2400  # blocks have other numbers
    assert not np.any(found == run(algorithm, DATA, **given | {"seed": 4}).points)
    # those without a device are other ones, in a store too, whatever a user calls the mechanism
    named = {"store": tmp_path, "fingerprint": "mine"}
    assert np.array_equal(run(algorithm, DATA, **given, **named).points, found)
    assert not np.any(found == run(algorithm, DATA, **given | {"device": None}, **named).points)
    assert not np.any(found == run(algorithm, DATA, **given | {"device": None}, store=tmp_path).points)


def test_what_it_says_of_itself(jax: Any) -> None:
    algorithm = PNSGD(PROBLEM, 0.5, 0.4)
    placed = algorithm.on_device("cpu")
    assert placed.stream == f"Philox4x32-10, float32, JAX {jax.__version__} on cpu"
    assert fingerprint(placed) != fingerprint(algorithm)
    assert pickle.loads(pickle.dumps(placed)) == placed
    assert placed.guarantees(N).headline == algorithm.guarantees(N).headline


def test_an_audit_sees_the_same_leak(jax: Any) -> None:
    """Bounds from below on the loss between neighbors agree with NumPy's, and with what one step with mu = 2 loses."""
    from dpverify import GDP, Request, audit
    from dpverify.ledger.verdicts import Verdict

    first, other = (Dataset(np.full((1, 1), x), np.ones(1)) for x in (1.0, -1.0))
    algorithm = PNSGD(Problem(Logistic(), Ball(1, 3.0)), 1.0, 0.5)
    for mechanism in (algorithm, algorithm.on_device("cpu")):
        found = audit(Request(mechanism, first, other, "eps=1,delta=0.05", runs=20_000, fixed_runs=True))
        assert found.verdict is Verdict.VIOLATED
        assert 3 < found.epsilon_lower <= GDP(2.0).epsilon_at(0.05)


def test_the_page_runs(jax: Any) -> None:
    """The code of docs/device.md, on the CPU and with fewer runs."""
    (code,) = blocks(DOCS / "device.md", "python")
    names: dict[str, Any] = {}
    exec(code.replace('"gpu"', '"cpu"').replace("1_000_000", "2_000"), names)
    assert names["runs"].points.shape == (2_000, 10)


# ------------------------------------------------------------------------------------------------------- refusals


def refusal(call: Any, kind: type[DpverifyError] = InvalidArgumentError) -> str:
    with pytest.raises(kind) as caught:
        call()
    return str(caught.value)


def test_without_jax_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *given: Any) -> Any:
        if name == "jax":
            raise ImportError(name)
        return real(name, *given)

    monkeypatch.setattr(builtins, "__import__", without)
    on_device._jax.cache_clear()
    said = refusal(
        lambda: run(PNSGD(PROBLEM, 0.5, 0.4), DATA, runs=1, seed=0, device="cpu"), MissingExtraError
    )
    assert "needs jax" in said
    assert "[device]" in said
    assert said.count(". ") == 0


def test_devices_that_are_not_there_and_functions_are_refused(jax: Any) -> None:
    algorithm = PNSGD(PROBLEM, 0.5, 0.4)
    assert "cpu, gpu or None" in refusal(lambda: run(algorithm, DATA, runs=1, seed=0, device="tpu"))
    if all(one.platform == "cpu" for one in jax.devices()):
        assert "JAX finds here: cpu" in refusal(lambda: run(algorithm, DATA, runs=1, seed=0, device="gpu"))
    assert "without `on_device`" in refusal(
        lambda: run(
            lambda data, *, rng, runs: rng.normal((runs,), "noise"), DATA, runs=1, seed=0, device="cpu"
        )
    )


class Constant(Algorithm):
    id = "constant"

    def __call__(self, data: Any, *, rng: Randomness, runs: int) -> Output:
        return Output(np.zeros((runs, 1)))


class Unhashable(Logistic):
    __hash__ = None  # type: ignore[assignment]


REFUSED = {
    "is drawn outside of the steps": OutputPerturbation(Problem(Ridge.on(BALL, Logistic(), 1.0), BALL), 1.0),
    "Constant takes none there": Constant(),
    "EuclideanDistance": PNSGD(Problem(EuclideanDistance(), BALL), 0.5, 0.4, claim="local"),
    "cannot be hashed": PNSGD(Problem(Unhashable(), BALL), 0.5, 0.4),
    "float32 takes lengths": PNSGD(Problem(Logistic(), Ball(D, 1e-20)), 0.5, 0.4),
}


@pytest.mark.parametrize("why", REFUSED)
def test_what_has_no_steps_there_is_refused(jax: Any, why: str) -> None:
    said = refusal(lambda: run(REFUSED[why], DATA, runs=3, seed=0, device="cpu"))
    assert why in said
    assert said.startswith("device was 'cpu'; allowed: None")


def test_guards_are_the_same(jax: Any) -> None:
    """Records outside of the unit ball, labels, dimensions, too many calls: refused in the same words."""
    algorithm = PNSGD(PROBLEM, 0.5, 0.4)
    cases: list[tuple[Any, dict[str, Any], type[DpverifyError]]] = [
        (Dataset(2 * DATA.features, DATA.labels), {}, DpverifyError),
        (Dataset(DATA.features, 3 * DATA.labels), {}, DpverifyError),
        (Dataset(DATA.features[:, :2], DATA.labels), {}, DpverifyError),
        (DATA, {"call_limit": 3}, TooCostlyError),
    ]
    for data, options, kind in cases:
        said = [
            refusal(lambda: run(algorithm, data, runs=2, seed=0, device=device, **options), kind)  # noqa: B023
            for device in (None, "cpu")
        ]
        assert said[0] == said[1]
