"""Each algorithm once at the sizes that people have: the table in docs/real-size.md.

Breast cancer (569 records of 30 features) and digits (1797 of 64), with the parameters that the algorithm's theorem
gives for logistic regression at epsilon = 1 and delta = 1e-5, unless a row says otherwise. Each run has a process of
its own: its time, the memory that it adds to the process, the oracle calls that it counts, and the excess risk of its
output beside the bound that is stated, and beside the largest excess risk on the set, which every output keeps to.
What is foreseen to take too long is not started; the row then shows what was foreseen.

    make real-size          # writes docs/real-size.md
    python tests/benchmarks/real_size.py [--only ID ...] [--data breast-cancer digits] [--output docs/real-size.md]
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from dataclasses import fields
from importlib.util import find_spec
from pathlib import Path
from typing import Any

for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ[f"{library}_NUM_THREADS"] = "1"  # read when NumPy is imported

import numpy as np  # noqa: E402
from scaling_cases import CASES, Case  # noqa: E402

from dpverify.algorithms.mn25.wrapped_solvers import with_problem  # noqa: E402
from dpverify.errors import DpverifyError  # noqa: E402
from dpverify.problems import Dataset, Linear, Logistic, Problem, load, minimize  # noqa: E402
from dpverify.problems.largest_risk import largest_risk  # noqa: E402
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

LINEAR_CALLS = 2_000_000
"""Oracle calls on linear losses, for as many runs as they are enough for: between 4 and 400."""

OWN_INSTANCES = {"fmtt18.cni", "gll22.lower-instance", "mn25.hard-instance", "mn25.fingerprint"}
"""What runs on an instance of its own of that size, not on data."""


def case_of(name: str) -> Case:
    """The first case of an algorithm: of Algorithm 2 that with a closed form."""
    return next(case for case in CASES if case.id == name)


def measured(name: str, data_name: str) -> dict[str, Any]:
    """One run, in this process."""
    n, d = SIZES[data_name]
    case = case_of(name)
    found: dict[str, Any] = {"id": name}
    try:
        mechanism, own = case.build(n, d)
        data = own if name in OWN_INSTANCES else load(data_name)
        begin, before = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        output = run(mechanism, data, runs=1, seed=0)
    except DpverifyError as error:
        return {**found, "refused": str(error)}
    found["seconds"] = time.process_time() - begin
    found["mebibytes"] = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    found["gradients"] = int(output.gradient_queries[0])
    found["values"] = int(output.value_queries[0])
    found["others"] = int(output.projections[0] + output.linear_minimizations[0])
    problem = getattr(mechanism, "problem", None)
    point = np.asarray(output.points, dtype=np.float64)
    if name not in OWN_INSTANCES and isinstance(problem, Problem) and point.shape == (1, d):
        found.update(_risks(mechanism, problem, data, point))
        found["attained"] = _attained(mechanism, problem, data.n)
    return found


def _attained(mechanism: Any, problem: Problem, n: int) -> float | None:
    """The mean excess risk on linear losses with the same Lipschitz constant, which no bound for all losses is below.

    All records are one: the minimizer is as far away as it can be, and nothing bends the risk towards it.
    """
    if type(problem.loss) is not Logistic or not any(f.name == "problem" for f in fields(mechanism)):
        return None
    straight = Problem(Linear(), problem.constraint)
    data = Dataset(np.tile(np.eye(1, problem.constraint.dimension), (n, 1)), np.ones(n))
    try:
        linear = with_problem(mechanism, straight)
        calls = sum(one.count for one in linear.queries(n)) if hasattr(linear, "queries") else 0
        points = run(linear, data, runs=int(np.clip(LINEAR_CALLS // max(calls, 1), 4, 400)), seed=1).points
    except DpverifyError:
        return None  # it asks for losses that bend
    return float(
        np.mean(problem.constraint.support(np.eye(1, points.shape[1]))[0] + np.asarray(points)[:, 0])
    )


def _risks(mechanism: Any, problem: Problem, data: Dataset, point: Any) -> dict[str, Any]:
    """Mean empirical risks above the minimum: of the output, the bound on it, and the largest on the set."""
    minimum = minimize(problem, data)
    worst = largest_risk(problem, data)
    risk = float(np.asarray(problem.mean_risk(point, data))[0])
    found: dict[str, Any] = {
        "excess": risk - minimum.value.lower,
        "worst": worst.upper - minimum.value.lower,
    }
    stated = mechanism.risk_bound(data.n)
    if stated is not None:
        scale = data.n if stated.total else 1
        found["bound"] = stated.bound / scale
        found["theorem"] = None if stated.theorem is None else stated.theorem / scale
        found["population"] = stated.population
        found["vacuous"] = stated.vacuous(scale * found["worst"])
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
    if "refused" in found:
        return f"| {name} | " + " | ".join(["–"] * 10) + f" | {found['refused']} |"
    bound, worst = found.get("bound"), found.get("worst")
    cells = [
        quantity(found.get(key))
        for key in ("seconds", "mebibytes", "gradients", "values", "others", "excess")
    ]
    cells += [
        quantity(found.get("theorem")),
        quantity(bound),
        quantity(found.get("attained")),
        quantity(worst),
    ]
    said = "; ".join(
        words
        for key, words in (
            ("population", "a bound on the population's risk"),
            ("vacuous", "the bound is vacuous"),
        )
        if found.get(key)
    )
    return f"| {name} | " + " | ".join(cells) + f" | {said} |"


PAGE = """# At real sizes

Made by `make real-size`. Each of the 34 algorithms, run once on each data set below, with the parameters that its
theorem gives for logistic regression on the unit ball at epsilon = 1 and delta = 1e-5, where nothing else is said (CPU
seconds, of one thread, in a fresh process: with the accountant, and {numba}).
*Excess* is the mean empirical risk of the output above the minimum; *bound* is what is proved for the steps that are
taken, and *by the theorem* what the paper's proof gives with every constant, where that is another number. *Attained* is
the mean excess on linear losses of as many equal records and the same Lipschitz constant, over 4 to 400 runs: no bound
for all losses is below its expectation. *Largest* is the largest excess risk on the constraint set. A bound that is not
below it is vacuous: no point of the set could break it. A bound on the population's risk is one for every population,
and so for this data set as the population. A dash: nothing is stated, or the output is no point of a problem. What is
not run shows what was foreseen, and `run(..., call_limit=...)` allows it.

`dpverify verify --profile full` audits each algorithm at the size of the first data set, or, where a run is refused
there, at the largest size at which it is not (`dpverify explain ALGORITHM` lists these audits, `.../real-size/...`).
The quick profile has an audit of privacy there for each algorithm that is audited for it, by known laws or steps
(`.../whole-data`), but for walks.

{tables}
"""  # noqa: E501

HEAD = (
    "| algorithm | CPU s | MiB | gradients | values | projections, minimizations | excess | by the theorem | bound "
    "| attained | largest | |\n"
    "| --- |" + " ---: |" * 10 + " --- |"
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
    for data_name in options.data:
        n, d = SIZES[data_name]
        lines = [f"## {data_name}: {n:,} records of {d} features", "", HEAD]
        for name in names:
            lines.append(line(in_its_own_process(name, data_name)))
            print(lines[-1], file=sys.stderr, flush=True)
        tables.append("\n".join(lines))
    numba = "with Numba, whose loading takes about half a second" if find_spec("numba") else "without Numba"
    page = PAGE.format(tables="\n\n".join(tables), numba=numba)
    if options.output:
        options.output.write_text(page, encoding="utf-8")
    else:
        print(page)


if __name__ == "__main__":
    main()
