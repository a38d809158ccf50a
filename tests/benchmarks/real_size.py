"""Each algorithm once at the sizes that people have: the table in docs/real-size.md.

Breast cancer (569 records of 30 features) and digits (1797 of 64), with the parameters that the algorithm's theorem
gives for logistic regression at epsilon = 1 and delta = 1e-5, unless a row says otherwise. Each run has a process of
its own: its time, the memory that it adds to the process, the oracle calls that it counts, and the excess risk of its
output beside the bounds that are stated, what equal records attain, and the largest excess risk that there may be.
What is foreseen to take too long is not started; the row then shows what was foreseen.

    make real-size          # writes docs/real-size.md
    python tests/benchmarks/real_size.py [--only ID ...] [--data breast-cancer digits] [--output docs/real-size.md]
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import math
import os
import resource
import subprocess
import sys
import time
from dataclasses import dataclass, fields, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ[f"{library}_NUM_THREADS"] = "1"  # read when NumPy is imported

import numpy as np  # noqa: E402
from scaling_cases import CASES, Case  # noqa: E402
from scipy.special import gammaincc  # noqa: E402

from dpverify.algorithms.bst14.exponential_sampling import ExponentialSampling  # noqa: E402
from dpverify.algorithms.bst14.grid_walk import WalkingSampler  # noqa: E402
from dpverify.algorithms.bst14.localization import Localization  # noqa: E402
from dpverify.algorithms.conditions import reach  # noqa: E402
from dpverify.algorithms.gll22.regularized_exponential_mechanism import (  # noqa: E402
    RegularizedExponentialMechanism,
)
from dpverify.algorithms.mn25.wrapped_solvers import with_problem  # noqa: E402
from dpverify.errors import DpverifyError  # noqa: E402
from dpverify.problems import Ball, Box, Dataset, Linear, Problem, load, minimize  # noqa: E402
from dpverify.problems.worst_risk import largest_risk  # noqa: E402
from dpverify.running import run  # noqa: E402

SIZES = {"breast-cancer": (569, 30), "digits": (1797, 64)}
SECONDS = 1200
"""A guard on each run; what it ends is said in the row."""

NOTES = {
    "bst14.alg2": "(squared distance)",
    "bst14.alg3": "(squared distance)",
    "bst14.alg4": "(squared distance, with Algorithm 2, epsilon = 4)",
    "bst14.alg-cube": "(epsilon = 2)",
    "bst14.alg-local-approx": "(squared distance, epsilon = 4)",
    "bst14.alg-boost": "(Algorithm 1, epsilon = 4)",
    "fmtt18.cni": "(n steps)",
    "fmtt18.multitask": "(3 tasks, epsilon = 0.9)",
    "gll22.rem": "(alternating sampler, delta = 0.01)",
    "gll22.alg1": "(fixed k and mu)",
    "gll22.alg2": "(a fixed step)",
    "mn25.alg1": "(two passes)",
    "mn25.alg3": "(epsilon = 4)",
    "mn25.hard-instance": "(n queries)",
    "mn25.limited-oracle": "(accuracy 0.6)",
    "mn25.sco-to-erm": "(with bst14.alg1, epsilon = 8)",
    "mn25.erm-to-sco": "(with bst14.alg1, epsilon = 8)",
}
"""What differs from a logistic loss on the unit ball at epsilon = 1."""

LIKELY = 0.99
"""With which probability a bound holds that is not in expectation."""

LENGTHS = (1.0, 0.25, 0.08, 0.02, 0.5, 0.12, 0.35, 0.18, 0.7, 0.05, 0.03, 0.01)
"""Of equal records: what noise does is worst where it is about as large as what they do together."""


@dataclass(frozen=True)
class Budget:
    """Calls of one oracle on equal records: for as many runs as they suffice for, 4 to 400; of a run at most; of all.

    Of few instances where a run makes many calls, but of one in any case.
    """

    instance: int
    run: int
    all: int


COMPILED, NOT_COMPILED = Budget(1_000_000, 10_000_000, 30_000_000), Budget(100_000, 2_000_000, 4_000_000)

OWN_INSTANCES = {"fmtt18.cni", "gll22.lower-instance", "mn25.hard-instance", "mn25.fingerprint"}
"""What runs on an instance of its own of that size, not on data."""


def case_of(name: str) -> Case:
    """The first case of an algorithm: of Algorithm 2 that with a closed form."""
    return next(case for case in CASES if case.id == name)


@dataclass(frozen=True)
class Distance:
    """Slope times sqrt(||w - x||^2 + width^2): none is worse for points that know no direction."""

    slope: float = 1.0
    width: float = 0.02
    lipschitz_constant = 1.0
    strong_convexity = 0.0

    @property
    def smoothness(self) -> float:
        """At w = x."""
        return self.slope / self.width

    def _length(self, w: Any, x: Any) -> Any:
        return np.sqrt(np.sum((w - x) ** 2, axis=-1) + self.width**2)

    def value(self, w: Any, x: Any, y: Any) -> Any:
        """Shape (runs,)."""
        return self.slope * self._length(w, x)

    def gradient(self, w: Any, x: Any, y: Any) -> Any:
        """Shape (runs, d)."""
        return self.slope * (w - x) / self._length(w, x)[..., None]


@dataclass(frozen=True)
class Funnel:
    """The larger of slope z and (sqrt(3) p - z) / 2, w being z below the record along it and p beside.

    Noise of a fixed size ends as high above the minimum as above a cone's, but on one side of it: a mean of points is
    as high. Its walls have slope 1.
    """

    slope: float
    lipschitz_constant = 1.0
    smoothness = math.inf
    strong_convexity = 0.0

    def _places(self, w: Any, x: Any) -> tuple[Any, Any, Any]:
        along = x / np.sqrt(np.sum(x**2, axis=-1))[..., None]
        below = np.sum((x - w) * along, axis=-1)
        return along, below, w - x + below[..., None] * along

    def value(self, w: Any, x: Any, y: Any) -> Any:
        """Shape (runs,)."""
        _, below, beside = self._places(w, x)
        return np.maximum(self.slope * below, (math.sqrt(3) * np.linalg.norm(beside, axis=-1) - below) / 2)

    def gradient(self, w: Any, x: Any, y: Any) -> Any:
        """Shape (runs, d)."""
        along, below, beside = self._places(w, x)
        far = np.linalg.norm(beside, axis=-1)
        wall = (along + math.sqrt(3) * beside / np.maximum(far, 1e-12)[..., None]) / 2
        on_wall = (math.sqrt(3) * far - below) / 2 > self.slope * below
        return np.where(on_wall[..., None], wall, -self.slope * along)


@dataclass(frozen=True)
class Bent:
    """A share of the distance to 0 with the curvature that losses must have, Lipschitz and as sensitive as is said.

    The share is (1 + <x, e>) / 2, e the first unit vector: a replaced record moves a gradient by at most the slope.
    """

    slope: float
    strong_convexity: float
    lipschitz_constant: float
    gradient_sensitivity: float
    width: float = 0.002

    @property
    def smoothness(self) -> float:
        """At w = 0."""
        return self.slope / self.width + self.strong_convexity

    def _length(self, w: Any) -> Any:
        return np.sqrt(np.sum(w**2, axis=-1) + self.width**2)

    def value(self, w: Any, x: Any, y: Any) -> Any:
        """Shape (runs,)."""
        share = self.slope * (1 + x[..., 0]) / 2
        return share * self._length(w) + self.strong_convexity * np.sum(w**2, axis=-1) / 2

    def gradient(self, w: Any, x: Any, y: Any) -> Any:
        """Shape (runs, d)."""
        share = self.slope * (1 + x[..., 0]) / 2
        return (share / self._length(w) + self.strong_convexity)[..., None] * w


PLAIN = (
    Distance(),
    Funnel(0.5),
    Funnel(0.2),
    Distance(0.3),
    Funnel(0.35),
    Funnel(0.1),
    Distance(0.1),
    Funnel(0.05),
)


def measured(name: str, data_name: str) -> dict[str, Any]:
    """One run, in this process, and what is stated of its risk, whether or not it is run."""
    n, d = SIZES[data_name]
    found: dict[str, Any] = {"id": name}
    point = None
    try:
        mechanism, own = case_of(name).build(n, d)
        data = own if name in OWN_INSTANCES else load(data_name)
        begin, before = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        output = run(mechanism, data, runs=1, seed=0)
        found["seconds"] = time.process_time() - begin
        found["mebibytes"] = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        found["gradients"] = int(output.gradient_queries[0])
        found["values"] = int(output.value_queries[0])
        found["others"] = int(output.projections[0] + output.linear_minimizations[0])
        if name not in OWN_INSTANCES:  # of several tasks, the first: all have the same losses
            point = np.asarray(output.points, dtype=np.float64).reshape(1, -1, d)[:, 0]
    except DpverifyError as error:
        found["refused"] = str(error)
    problem = getattr(mechanism, "problem", None) or getattr(mechanism, "tasks", [mechanism])[0]
    problem = getattr(problem, "problem", problem)
    if name not in OWN_INSTANCES and isinstance(problem, Problem):
        found.update(_risks(mechanism, problem, data, point))
        found["attained"] = _of_a_cone(mechanism, problem, data.n)
        if found["attained"] is None and "refused" not in found:
            found["attained"] = _attained(mechanism, problem, data.n)
    return found


def _on(mechanism: Any, problem: Problem) -> Any:
    """The same on another problem, be it of what it wraps or of each task; None if it has none of its own."""
    names = {field.name for field in fields(mechanism)}
    if "problem" in names:
        return with_problem(mechanism, problem)
    if "losses" in names:
        return replace(mechanism, losses=(problem.loss,) * len(mechanism.losses))
    inner = next((name for name in ("algorithm", "solver") if name in names), None)
    return inner and replace(mechanism, **{inner: with_problem(getattr(mechanism, inner), problem)})


def _attained(mechanism: Any, problem: Problem, n: int) -> float | None:
    """The largest mean excess risk on equal records: of its own loss, linear ones, distances to the record and funnels.

    No bound for all losses with the same constants is below it; losses for which a larger bound is stated, as they bend
    more, are left out. All records are one, a point of the unit ball: the minimizer is as far away as it can be. What
    is largest is run once more, with other draws, as the largest of many means is too large by chance.
    """
    own, known, constants = problem.loss, mechanism.risk_bound(n), problem.constants
    curvature, steepest = constants.strong_convexity, constants.lipschitz_constant
    plain: tuple[Any, ...] = PLAIN
    if curvature > 0:
        slope = steepest - curvature * problem.constraint.largest_norm
        plain = (Bent(slope, curvature, steepest, constants.gradient_sensitivity),)
    linear = () if curvature > 0 or own == Linear() else (Linear(),)
    found: list[tuple[float, Any, float, int]] = []
    for losses, lengths, budget in (((own, *linear), LENGTHS, COMPILED), (plain, (1.0,), NOT_COMPILED)):
        spent = 0.0
        for length, loss in itertools.product(lengths, losses):
            with contextlib.suppress(DpverifyError):  # it asks for other losses, or for shorter steps
                other = mechanism if loss is own else _on(mechanism, Problem(loss, problem.constraint))
                stated = other and other.risk_bound(n)
                if known is not None and (stated is None or stated.bound > known.bound * (1 + 1e-9)):
                    continue
                calls = max((one.count for one in other.queries(n)), default=0)
                if calls > budget.run or (spent and spent + 4 * calls > budget.all):
                    continue
                runs = int(np.clip(budget.instance // max(calls, 1), 4, 400))
                spent += runs * calls
                found.append((_on_equal_records(other, n, length, runs, seed=1), other, length, runs))
    if not found:
        return None
    _, other, length, runs = max(found, key=lambda one: one[0])
    return _on_equal_records(other, n, length, runs, seed=2)


def _on_equal_records(mechanism: Any, n: int, length: float, runs: int, *, seed: int) -> float:
    """The mean excess risk of its output where all n records are a point of that length."""
    problem = getattr(mechanism, "problem", None) or getattr(mechanism, "tasks", [mechanism])[0]
    problem = getattr(problem, "problem", problem)
    d = problem.constraint.dimension
    data = Dataset(np.tile(length * np.eye(1, d), (n, 1)), np.ones(n))
    output = run(mechanism, data, runs=runs, seed=seed)
    points = np.asarray(output.points).reshape(-1, d)
    end = problem.constraint.minimize_linear(problem.mean_gradient(np.zeros((1, d)), data))
    best = np.concatenate([length * np.eye(1, d), end, np.zeros((1, d))])
    least = float(np.min(np.asarray(problem.mean_risk(best, data))))
    return float(np.mean(np.asarray(problem.mean_risk(points, data)))) - least


def _of_a_cone(mechanism: Any, problem: Problem, n: int) -> float | None:
    """The expected excess of a cone under a Gibbs law, by quadrature; None where the law is another.

    On a ball the distance to the center, on a cube the largest coordinate's to a corner: density r^(p - 1) exp(-k (F(r)
    + mu r^2 / 2)). Of laws within a log-ratio of it, the one with the least excess. Where the set is localized, by a
    ball about the center and noise, losses bend as they must, and the law is that on the half of the ball that it holds
    however the noise falls, but for a probability: on more, the mean is larger, as the excess grows with the distance.
    """
    lipschitz, p = problem.constants.lipschitz_constant, problem.constraint.dimension
    if type(problem.constraint) not in (Ball, Box):
        return None
    radius = width = 1.0 if isinstance(problem.constraint, Ball) else 2.0
    bend, share = 0.0, 1.0
    if isinstance(mechanism, Localization) and isinstance(problem.constraint, Ball):
        half, scale = mechanism.radius(n) / 2, mechanism.localizer.scale(n)
        width, bend = min(radius, half), problem.constants.strong_convexity
        share = 1 - float(gammaincc(p, half / scale))
        solver = mechanism.solver_at(n)
        k, mu = solver.scale(mechanism.local_diameter(n)) * n, 0.0  # type: ignore[attr-defined]
    elif isinstance(mechanism, RegularizedExponentialMechanism):
        k, mu, _ = mechanism.tuned(n)
    elif isinstance(mechanism, ExponentialSampling | WalkingSampler):
        k, mu = mechanism.scale * n, 0.0
    else:
        return None
    slack = mechanism.distance if isinstance(mechanism, WalkingSampler) else 0.0
    r = (np.arange(200_000) + 0.5) / 200_000 * width
    excess = (lipschitz - bend * radius) * r + bend * r**2 / 2
    logs = (p - 1) * np.log(r) - k * (excess + mu * r**2 / 2)
    law = np.exp(logs - logs.max())
    law /= law.sum()
    first = np.cumsum(law) <= 1 / (math.exp(slack) + 1)
    return share * float((excess * law) @ np.where(first, math.exp(slack), math.exp(-slack)))


def _at_best_rate(mechanism: Any, n: int) -> Any:
    """With the `rate_factor` for which noisy gradient descent's bound is least; None where that plays no part."""
    if hasattr(mechanism, "best_rate_factor"):
        return replace(mechanism, rate_factor=mechanism.best_rate_factor(n))
    names = {field.name for field in fields(mechanism)} & {"algorithm", "solver"}
    for name in names:
        asked = getattr(mechanism, "single", getattr(mechanism, name))
        if hasattr(asked, "best_rate_factor"):
            inner = replace(getattr(mechanism, name), rate_factor=asked.best_rate_factor(n))
            return replace(mechanism, **{name: inner})
    return None


def _risks(mechanism: Any, problem: Problem, data: Dataset, point: Any) -> dict[str, Any]:
    """Mean empirical risks above the minimum: of the output, the bounds on it, and the largest there may be."""
    n, minimum, worst = data.n, minimize(problem, data), largest_risk(problem, data)
    constants, constraint = problem.constants, problem.constraint
    found: dict[str, Any] = {
        "here": worst.upper - minimum.value.lower,
        "anywhere": constants.lipschitz_constant * constraint.diameter,
        "center": constants.lipschitz_constant * reach(tuple(constraint.center().tolist()), constraint),
    }
    if point is not None:
        found["excess"] = float(np.asarray(problem.mean_risk(point, data))[0]) - minimum.value.lower
    stated = mechanism.risk_bound(n)
    if stated is None:
        return found
    scale = n if stated.total else 1
    found["bound"] = stated.bound / scale
    found["theorem"] = None if stated.theorem is None else stated.theorem / scale
    population = mechanism.population_risk_bound(n)
    found["population"] = None if population is None else population.bound
    found["of the population"] = stated.population
    likely = mechanism.risk_quantile(n, LIKELY)
    found["likely"] = None if likely is None else likely.bound / scale
    tuned = _at_best_rate(mechanism, n)
    found["tuned"] = None if tuned is None else tuned.risk_bound(n).bound / scale
    return found


def in_its_own_process(name: str, data_name: str) -> dict[str, Any]:
    """The same, measured by a process that does nothing else."""
    command = [sys.executable, __file__, "--measure", name, data_name]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return {"id": name, "refused": f"ended after {SECONDS} s; not foreseen"}
    if done.returncode:
        sys.exit(f"{name} on {data_name} ended with {done.returncode}:\n{done.stderr}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def quantity(value: float | None) -> str:
    """Three digits; a dash where there is nothing."""
    if value is None:
        return "–"
    return f"{value:,.0f}" if 100 <= abs(value) < 1e7 else f"{value:.3g}"


def line(found: dict[str, Any]) -> str:
    """One row of a table."""
    name = f"`{found['id']}` {NOTES.get(found['id'], '')}".strip()
    keys = (
        "seconds",
        "mebibytes",
        "gradients",
        "values",
        "others",
        "excess",
        "theorem",
        "bound",
        "likely",
        "tuned",
        "population",
    )
    cells = [quantity(found.get(key)) for key in (*keys, "attained", "here", "anywhere")]
    said = ["a bound on the population's risk"] if found.get("of the population") else []
    if "bound" in found and not says_something(found, "here"):
        empty = not says_something(found, "anywhere")
        said.append("vacuous" if empty else "vacuous on these data")
    if says_something(found, "anywhere") and not says_something(found, "center"):
        said.append("no better than the center")
    said += [found["refused"]] if "refused" in found else []
    return f"| {name} | " + " | ".join(cells) + f" | {'; '.join(said)} |"


def says_something(found: dict[str, Any], largest: str) -> bool:
    """Whether a bound is below the largest excess that there may be."""
    return "bound" in found and found["bound"] < found[largest] * (1 - 1e-9)


def summary(rows: list[dict[str, Any]]) -> str:
    """How many bounds say something, and how many are close to what is attained."""
    of, tuned = len(rows), [{**row, "bound": row["tuned"]} for row in rows if row.get("tuned")]
    better = [row for row in rows if not row.get("tuned")] + tuned
    counts = [
        (sum(says_something(row, key) for row in rows), sum(says_something(row, key) for row in better))
        for key in ("anywhere", "center", "here")
    ]
    ratios = {
        row["id"]: row["bound"] / row["attained"] for row in rows if "bound" in row and row.get("attained")
    }
    near, three = (sum(ratio <= factor for ratio in ratios.values()) for factor in (2, 3))
    farthest = max(ratios, key=lambda id_: ratios[id_])
    likely = sum(row.get("likely") is not None for row in rows)
    seconds = sum(row.get("seconds", 0.0) for row in rows)
    ran = sum("seconds" in row for row in rows)
    stated = sum("bound" in row for row in rows)
    populations = [{**row, "bound": row["population"]} for row in rows if row.get("population") is not None]
    for_all, below = len(populations), sum(says_something(row, "center") for row in populations)
    return (
        f"A bound is stated for {stated} of {of}. It is below the largest excess of any convex losses with the same "
        f"constant for {counts[0][0]} ({counts[0][1]} with the best rates), below the most that the set's center has "
        f"without any data for {counts[1][0]} ({counts[1][1]}), below the largest on these data for {counts[2][0]} "
        f"({counts[2][1]}). Of {len(ratios)} with an instance beside them it is at most twice what that attains for "
        f"{near}, at most three times for {three}, and at most {ratios[farthest]:.2g} times, for `{farthest}`. For the "
        f"population there are {for_all} bounds, of which {below} are below what the center has; {likely} hold with a "
        f"probability. The {ran} that run take {seconds:.2g} CPU s together."
    )


PAGE = """# At real sizes

What the 34 [algorithms](algorithms.md) cost and achieve at the size of real data, measured by `make real-size`: one
run of each on each data set below, with the parameters that its theorem gives for logistic regression on the unit
ball at epsilon = 1 and delta = 1e-5, unless its line says otherwise. Times are CPU seconds of one thread in a fresh
process, with the accountant, and {numba}.

- *Excess* is the mean empirical risk of the output above the minimum; *bound* is the proved bound on its expectation
  for the steps that are taken, and *by the theorem* what the paper's proof gives with every constant, if that is
  another number. *In 99 of 100* is a bound that holds with that probability, if the analysis gives one; boosting's
  only bound holds with the probability that it is asked for, 0.9. *At best rates* is the bound of the same algorithm
  with noisy gradient descent's `rate_factor` set by `best_rate_factor`. *Population* is the proved bound on the
  expected excess risk for the population that the records are drawn from (`population_risk_bound`).
- *Attained* is the largest mean excess that a search found, with all records equal, over 4 to 400 runs. The search
  tries the algorithm's own loss and linear losses, with records of up to twelve lengths; distances to the record;
  funnels, which open toward the center; and, if losses have to be smooth, a smooth distance to the center. It leaves
  out losses that bend so much that a larger bound is stated, and runs the worst again with other draws. For Gibbs
  laws (the exponential mechanism) it may be that of a distance, by quadrature. A bound for all losses cannot be below
  the expectation of this mean. The gap between the two limits what either can still gain; a bound with terms that are
  largest on different data, such as one of noise and one of descent, is attained by no single data set.
- *Here* is the largest excess risk on the constraint set and these data, *anywhere* the largest of any convex losses
  with the same Lipschitz constant on any data, which is that constant times the diameter. A bound for all such losses
  that is not below *anywhere* is *vacuous*; one that is not below *here* is *vacuous on these data*. The center of a
  ball or box is chosen without data and has at most half of *anywhere*: a bound that is not below that is *no better
  than the center*.
- A bound on the population's risk is one for every population, and so for this data set as the population. A dash
  means that nothing is stated, or that the output is no point of a problem. An algorithm that was not run shows why:
  too many predicted steps, which `run(..., call_limit=...)` allows, or a net that is too large to make. Its bound is
  stated all the same.

`dpverify verify --profile full` audits each algorithm at the size of the first data set or, if it refuses a run of
that size, at the largest size that it accepts (`dpverify explain ALGORITHM` lists these audits, `.../real-size/...`).
Of each algorithm with audits of privacy, except walks, the quick profile has one at this size, by known laws or steps
(`.../whole-data`).

{tables}
"""

HEAD = (
    "| algorithm | CPU s | MiB | gradients | values | projections, minimizations | excess | by the theorem | bound "
    "| in 99 of 100 | at best rates | population | attained | here | anywhere | |\n"
    "| --- |" + " ---: |" * 14 + " --- |"
)


def main() -> None:
    """Measure and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--data", nargs="*", default=list(SIZES), choices=list(SIZES))
    parser.add_argument("--output", type=Path)
    parser.add_argument("--measure", nargs=2, metavar=("ID", "DATA"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measured(*options.measure)))
        return
    names = [name for name in dict.fromkeys(case.id for case in CASES) if name in (options.only or [name])]
    tables = []
    in_its_own_process(
        "bst14.alg1", "breast-cancer"
    )  # what Numba compiles anew is kept for the processes that count
    for data_name in options.data:
        n, d = SIZES[data_name]
        rows = []
        for name in names:
            rows.append(in_its_own_process(name, data_name))
            print(line(rows[-1]), file=sys.stderr, flush=True)
        head = f"## {data_name}: {n:,} records of {d} features"
        tables.append("\n".join([head, "", summary(rows), "", HEAD, *map(line, rows)]))
    numba = "with Numba, whose loading takes about half a second" if find_spec("numba") else "without Numba"
    page = PAGE.format(tables="\n\n".join(tables), numba=numba)
    if options.output:
        options.output.write_text(page, encoding="utf-8")
    else:
        print(page)


if __name__ == "__main__":
    main()
