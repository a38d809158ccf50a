"""How good private models are: every method that applies, and other libraries, on three data sets: docs/utility.md.

Each method fits a logistic regression on a ball, with parameters that follow from n, d and the budget alone. A model's
excess risk is its mean empirical risk above the certified minimum; accuracy is on the same records. Intervals are
those of a mean of independent runs (Student's t, 95 %), of which there are fewer where a run takes long.

    make utility            # writes docs/utility.md, with what is installed beside dpverify
    python tests/benchmarks/utility.py [--size small|page|large] [--data NAME ...] [--output docs/utility.md]
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ[f"{library}_NUM_THREADS"] = "1"  # read when NumPy is imported

import numpy as np  # noqa: E402
from scipy import stats  # noqa: E402

from dpverify.errors import DpverifyError  # noqa: E402
from dpverify.fitting import FitMethod, candidates  # noqa: E402
from dpverify.fitting.methods import places  # noqa: E402
from dpverify.fitting.models import problem_for  # noqa: E402
from dpverify.ledger.written_numbers import at_most  # noqa: E402
from dpverify.problems import Dataset, Problem, load, minimize  # noqa: E402
from dpverify.running import run  # noqa: E402

DELTA = 1e-5
RADII = (1.0, 10.0)


@dataclass(frozen=True)
class Size:
    """Budgets, seconds that the runs of one method may take at one setting, and most runs."""

    epsilons: tuple[float, ...]
    seconds: float
    runs: int


SIZES = {
    "small": Size((1.0,), 0.5, 20),
    "page": Size((0.1, 1.0, 10.0), 1.0, 100),
    "large": Size((0.1, 0.3, 1.0, 3.0, 10.0), 30.0, 1000),
}
LONGEST = 8.0
"""Seconds that one run may be foreseen to take, from the gradients that it makes."""


def made() -> Dataset:
    """A made data set of the size that people have: 2,000 records of 20 features, two Gaussian classes."""
    rng = np.random.default_rng(20)
    labels = np.where(rng.uniform(size=2000) < 0.5, 1.0, -1.0)
    features = 0.5 * labels[:, None] * rng.normal(size=20) / np.sqrt(20) + rng.normal(
        size=(2000, 20)
    ) / np.sqrt(20)
    norms = np.maximum(np.linalg.norm(features, axis=1, keepdims=True), 1.0)
    return Dataset(features / norms, labels, "made", "records longer than 1 shortened")


DATA: dict[str, Callable[[], Dataset]] = {
    "breast-cancer": lambda: load("breast-cancer"),
    "digits": lambda: load("digits"),
    "made": made,
}

Point = np.ndarray[Any, np.dtype[np.float64]]
Fitter = Callable[[Dataset, float, float, int], Point]
"""From data, epsilon, a radius and a seed to a point, (d,)."""


def _diffprivlib(data: Dataset, epsilon: float, radius: float, seed: int) -> Point:
    """Objective perturbation with pure privacy; the library has no ball, so that its own default ridge is used."""
    from diffprivlib.models import LogisticRegression

    model = LogisticRegression(epsilon=epsilon, data_norm=1.0, fit_intercept=False, random_state=seed)
    model.fit(np.asarray(data.features), np.asarray(data.labels))
    found = model.coef_[0]
    return np.asarray(found / max(1.0, float(np.linalg.norm(found)) / radius))


STEPS, RATE = 100, 0.1
"""Of a training with JAX-Privacy: Poisson samples."""


@lru_cache
def _multiplier(epsilon: float) -> float:
    """The least noise over clipping norm, by dp-accounting's losses, for neighbors with one record more or less."""
    import dp_accounting
    from dp_accounting.pld import PLDAccountant

    def training(multiplier: float) -> Any:
        step = dp_accounting.PoissonSampledDpEvent(RATE, dp_accounting.GaussianDpEvent(multiplier))
        return dp_accounting.SelfComposedDpEvent(step, STEPS)

    return float(dp_accounting.calibrate_dp_mechanism(PLDAccountant, training, epsilon, DELTA))


def _jax_privacy(data: Dataset, epsilon: float, radius: float, seed: int) -> Point:
    """Noisy SGD from JAX-Privacy's parts, with the textbook's steps, radius / sqrt(T (1 + d sigma^2)); last point."""
    import jax
    import jax.numpy as jnp
    from jax_privacy import clipped_grad
    from jax_privacy.batch_selection import CyclicPoissonSampling
    from jax_privacy.noise_addition import gaussian_privatizer

    def loss(weights: Any, x: Any, y: Any) -> Any:
        return jnp.sum(jax.nn.softplus(-y * (x @ weights)))

    multiplier, expected = _multiplier(epsilon), RATE * data.n
    rate = radius / (STEPS * (1 + data.d * (multiplier / expected) ** 2)) ** 0.5
    gradient = clipped_grad(loss, l2_clip_norm=1.0, batch_argnums=(1, 2), keep_batch_dim=False)
    privatizer = gaussian_privatizer(stddev=multiplier, prng_key=seed)
    features, labels = jnp.asarray(data.features, jnp.float32), jnp.asarray(data.labels, jnp.float32)

    @jax.jit
    def step(weights: Any, state: Any, batch: Any) -> Any:
        clipped = gradient(weights, features[batch], labels[batch], is_padding_example=batch < 0)
        noisy, state = privatizer.update(clipped, state)
        moved = weights - rate / expected * noisy
        return moved / jnp.maximum(1.0, jnp.linalg.norm(moved) / radius), state

    weights = jnp.zeros(data.d)
    state, most = privatizer.init(weights), round(2 * expected)
    sampling = CyclicPoissonSampling(sampling_prob=RATE, iterations=STEPS)
    for batch in sampling.batch_iterator(data.n, np.random.default_rng([seed, 7])):
        weights, state = step(weights, state, np.pad(batch, (0, most - len(batch)), constant_values=-1))
    return np.asarray(weights, dtype=np.float64)


LIBRARIES: dict[str, tuple[str, Fitter]] = {
    "diffprivlib": (
        "LogisticRegression with its default ridge, epsilon-DP, its weights scaled onto the ball if they lie outside",
        _diffprivlib,
    ),
    "jax_privacy": (
        f"noisy SGD, {STEPS} Poisson samples of a tenth, steps radius / sqrt({STEPS} (1 + d sigma^2)); neighbors with "
        "one record more or less",
        _jax_privacy,
    ),
}
"""By module: what is fitted, and how."""


def installed(package: str) -> str | None:
    """The version of a package that can be imported; None without it."""
    try:
        __import__(package)
        return version(package)
    except (ImportError, PackageNotFoundError):
        return None


@dataclass(frozen=True)
class Row:
    """What was measured of a method at one setting, or why it was not."""

    name: str
    bound: float | None = None
    excess: Point | None = None
    accuracy: Point | None = None
    seconds: float = 0.0
    why: str = ""


def _measured(
    name: str, points: Point, plain: Problem, data: Dataset, least: float, seconds: float, **more: Any
) -> Row:
    excess = np.asarray(plain.mean_risk(points, data)) - least
    decided = np.asarray(data.features) @ points.T > 0
    return Row(
        name,
        excess=excess,
        accuracy=np.mean(decided == (data.labels > 0)[:, None], axis=0),
        seconds=seconds,
        **more,
    )


def of_method(found: FitMethod, plain: Problem, data: Dataset, least: float, size: Size) -> Row:
    """A method's runs, as many as fit into the time."""
    asked = max((one.count for one in found.algorithm.queries(data.n) if one.oracle == "gradient"), default=0)
    if asked * found.algorithm.seconds_a_call > LONGEST:
        return Row(found.id, found.bound, why=f"{asked:.2g} gradients")
    try:
        begin = time.process_time()
        first = run(found.algorithm, data, runs=1, seed=(0, 1)).points
        seconds = time.process_time() - begin
        further = min(size.runs - 1, int(size.seconds / max(seconds, 1e-6)))
        rest = [run(found.algorithm, data, runs=further, seed=0).points] if further > 0 else []
    except DpverifyError as error:
        return Row(found.id, found.bound, why=str(error))
    return _measured(found.id, np.concatenate([first, *rest]), plain, data, least, seconds, bound=found.bound)


def of_library(
    package: str, plain: Problem, data: Dataset, least: float, size: Size, at: tuple[float, float]
) -> Row:
    """A library's runs, of different seeds."""
    _, fitter = LIBRARIES[package]
    begin, points = time.process_time(), []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            while len(points) < min(size.runs, 20) and (
                not points or time.process_time() - begin < 6 * size.seconds
            ):
                points.append(fitter(data, *at, len(points)))
        except Exception as error:  # another library's
            return Row(package, why=f"{type(error).__name__}: {error}")
    seconds = (time.process_time() - begin) / len(points)
    return _measured(package, np.stack(points), plain, data, least, seconds)


def rows(data: Dataset, radius: float, epsilon: float, size: Size) -> Iterator[Row]:
    """Every method that applies at one setting, and every library that is installed."""
    problem, plain = problem_for("logistic", data.d, radius)
    least = minimize(plain, data).value.lower
    for id_ in places():
        (found,) = candidates(problem, n=data.n, epsilon=epsilon, delta=DELTA, only=id_)
        row = of_method(found, plain, data, least, size) if found.algorithm is not None else None
        if row is not None or found.costly:
            yield row or Row(id_, why=found.obstacle)
    for package in LIBRARIES:
        if installed(package):
            yield of_library(package, plain, data, least, size, (epsilon, radius))


def interval(values: Point, digits: str = ".3g") -> str:
    """Mean and the half length of its interval; of one value, the value."""
    mean = float(np.mean(values))
    if len(values) < 2:
        return f"{mean:{digits}} (one run)"
    half = float(stats.t.ppf(0.975, len(values) - 1)) * float(np.std(values, ddof=1)) / len(values) ** 0.5
    return f"{mean:{digits}} ± {half if half > 1e-12 else 0:.1g}"


def line(row: Row, best: str) -> str:
    """One row of a table; the least excess is in bold."""
    bound = "–" if row.bound is None else at_most(row.bound, 3)
    name = f"`{row.name}`"
    if row.excess is None or row.accuracy is None:
        return f"| {name} | {bound} | – | – | – | – | {row.why[:160]} |"
    excess = interval(row.excess)
    excess = f"**{excess}**" if row.name == best else excess
    cells = (name, bound, excess, interval(row.accuracy), str(len(row.excess)), f"{row.seconds:.2g}", "")
    return "| " + " | ".join(cells) + " |"


HEAD = "| method | bound | excess risk | accuracy | runs | s a run | |\n| --- |" + " ---: |" * 5 + " --- |"


def summary(found: list[tuple[str, float, float, list[Row]]]) -> list[str]:
    """At each setting, the least excess risk, the yardstick's, and the method that `auto` takes with its excess."""
    lines = [
        "| data | radius | epsilon | yardstick | best of the 34 | `auto` takes |",
        "| --- | ---: | ---: | ---: | ---: | --- |",
    ]
    for name, radius, epsilon, table in found:
        measured = {row.name: float(np.mean(row.excess)) for row in table if row.excess is not None}
        papers = {
            key: value for key, value in measured.items() if "." in key and not key.startswith("yardstick")
        }
        best = min(papers, key=lambda key: papers[key])
        once = any(row.name == best and len(row.excess) == 1 for row in table if row.excess is not None)
        bounds = {row.name: row.bound for row in table if row.bound is not None}
        auto = min(bounds, key=lambda key: bounds[key])
        lines.append(
            f"| {name} | {radius:g} | {epsilon:g} | {measured['yardstick.full-batch']:.3g} | {papers[best]:.3g} "
            f"(`{best}`{', one run' if once else ''}) | `{auto}` |"
        )
    return lines


PAGE = """# Utility

How good private models are, measured by `make utility`: logistic regression on a ball, delta {delta:g}, by each
method that [`dpverify fit`](how-to/fit.md) can run for the budget (its parameters follow from n, d, the ball and the
budget), and by other libraries. *Bound* is the proved bound on the expected excess risk; *excess risk* is the mean
empirical risk above the certified minimum on the ball, *accuracy* that on the same records; ± is half the width of a
95 % confidence interval of the mean over independent runs. *s a run*: CPU seconds of a single run. In bold: the
smallest mean of several runs, libraries aside; it may lie within the intervals of others. Records lie in the unit
ball: breast cancer (569 of 30 features, scaled from the data, which is not private in itself) and digits (1,797 of
64) as `dpverify.problems.load` gives them, and a synthetic set, *made* (2,000 of 20, two Gaussian classes).

`yardstick.full-batch` is noisy gradient descent on all records with exact accounting, which comes from none of the
papers. We set its one free number, the factor by which its steps exceed those that minimize the bound, with the first
two data sets at epsilon = 1 in view, and did not look at the synthetic one. All methods get the largest slope of the
logistic loss on the ball of radius R, 1 / (1 + e^-R), in place of 1. Neighbors differ in one replaced record, except
for libraries below that say otherwise: adding or removing a record moves a gradient half as far. Methods for strongly
convex losses only (`dpverify fit --ridge`) are not here, and neither is a run that is expected to take more than
{longest:g} s. An output that is always the starting point shows as ± 0.

{libraries}

## At a glance

Mean excess risks. `auto` is the method with the smallest bound, which `dpverify fit` chooses before it runs anything.

{summary}

{tables}
"""


def said_of_libraries() -> str:
    """Which are there, and what is fitted with them."""
    lines = []
    for package, (what, _) in LIBRARIES.items():
        found = installed(package)
        lines.append(f"- {package}: {f'{found}, {what}' if found else 'not installed here'}.")
    lines.append("- Opacus: not compared; it takes the same steps as JAX-Privacy.")
    return "\n".join(lines)


def main() -> None:
    """Measure and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", choices=list(SIZES), default="page")
    parser.add_argument("--data", nargs="*", default=list(DATA), choices=list(DATA))
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    size, found, tables = SIZES[options.size], [], []
    for name in options.data:
        data = DATA[name]()
        for radius in RADII:
            for epsilon in size.epsilons:
                begin = time.perf_counter()
                table = list(rows(data, radius, epsilon, size))
                found.append((name, radius, epsilon, table))
                measured = [row for row in table if row.excess is not None and len(row.excess) > 1]
                measured = [row for row in measured if row.name not in LIBRARIES]
                best = min(measured, key=lambda row: float(np.mean(row.excess))).name
                title = f"## {name}, radius {radius:g}, epsilon = {epsilon:g}"
                tables.append("\n".join([title, "", HEAD, *(line(row, best) for row in table)]))
                print(
                    title,
                    f"({time.perf_counter() - begin:.0f} s)",
                    *summary(found)[-1:],
                    file=sys.stderr,
                    flush=True,
                )
    page = PAGE.format(
        delta=DELTA,
        longest=LONGEST,
        libraries=said_of_libraries(),
        summary="\n".join(summary(found)),
        tables="\n\n".join(tables),
    )
    if options.output:
        options.output.write_text(page, encoding="utf-8")
    else:
        print(page)


if __name__ == "__main__":
    main()
