"""The noise of several libraries: bits, ends, gaps, what an end costs, what low bits leak; docs/noise-generators.md.

Libraries that are missing are left out, and said to be. Everything is seeded but what draws from the system.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import math
import platform
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpverify.auditing.noise import Law, TailAudit, audit_independence, audit_tails, lost_in_steps
from dpverify.auditing.noise.laws import beyond
from dpverify.auditing.sequential import SequentialAuditor
from dpverify.privacy import GDP, PureDP
from tests.benchmarks.constructions import Polar, RatioOfUniforms, Ziggurat

Array = NDArray[Any]
MULTIPLIERS = (0.5, 1.0, 2.0)
STEPS = (1, 10_000)
PAIRS = ((5.0, 6.0), (0.0, 1.0), (0.0, 2.0**-30), (1 / 3, 1.0))
"""Answers in turn, until low bits tell the two apart; none is farther apart than the sensitivity, 1."""
MOST_RUNS = 20_000
FEW, MANY = 100_000, 1_000_000
FAILURE = 1e-6
CLOSE = 2.0**28
"""Numbers of which those close to 0 are held against the steps of a ziggurat."""


@dataclass(frozen=True)
class Sampler:
    """A generator of noise of scale 1, and how it is added to an answer."""

    name: str
    library: str
    law: Law
    draw: Callable[[int], Array]
    """So many numbers, in the order in which they are made, on from the last call."""
    dtype: type = np.float64
    numbers: int = MANY
    release: Callable[[float, int], Array] | None = None
    """The mechanism itself where it is no plain sum."""
    construction: Ziggurat | Polar | RatioOfUniforms | None = None
    scale: float = 1.0
    epsilon: float = 1.0
    """Of the claim about a release; Gaussian noise is claimed to be 1/scale-GDP."""

    def released(self, answer: float, size: int) -> Array:
        if self.release is not None:
            return np.asarray(self.release(answer, size), dtype=np.float64)
        return (self.dtype(answer) + self.draw(size).astype(self.dtype)).astype(np.float64)


# --------------------------------------------------------------------------------------------- libraries


def of_numpy() -> Iterator[Sampler]:
    rng, old = np.random.default_rng(0), np.random.RandomState(0)
    single = np.float32
    zig, zig32 = Ziggurat(digits=49), Ziggurat(23, 24, 24)
    yield Sampler("Generator.normal", "numpy", "normal", rng.standard_normal, construction=zig)
    yield Sampler("Generator.standard_normal, float32", "numpy", "normal",
        lambda n: rng.standard_normal(n, dtype=single), single, construction=zig32)  # fmt: skip
    yield Sampler("Generator.laplace", "numpy", "laplace", lambda n: rng.laplace(size=n))
    yield Sampler("RandomState.normal", "numpy", "normal", lambda n: old.normal(size=n), construction=Polar())
    yield Sampler("RandomState.laplace", "numpy", "laplace", lambda n: old.laplace(size=n))


def of_python() -> Iterator[Sampler]:
    plain, system = random.Random(0), random.SystemRandom()
    ratio = RatioOfUniforms()
    for name, one in (("Random", plain), ("SystemRandom", system)):
        yield Sampler(
            f"{name}.gauss",
            "Python",
            "normal",
            lambda n, one=one: drawn(lambda: one.gauss(0, 1), n),
        )
        yield Sampler(
            f"{name}.normalvariate",
            "Python",
            "normal",
            lambda n, one=one: drawn(lambda: one.normalvariate(0, 1), n),
            construction=ratio,
        )


def of_torch() -> Iterator[Sampler]:
    import torch

    made = torch.Generator().manual_seed(0)
    for dtype, name in ((torch.float32, "float32"), (torch.float64, "float64")):
        yield Sampler(f"normal_, {name}, processor", "torch", "normal",
            lambda n, dtype=dtype: torch.empty(n, dtype=dtype).normal_(generator=made).numpy(),
            np.float32 if dtype is torch.float32 else np.float64)  # fmt: skip


def of_jax() -> Iterator[Sampler]:
    import jax

    jax.config.update("jax_enable_x64", True)
    keys = iter(jax.random.split(jax.random.key(0), 4096))
    for dtype in (np.float32, np.float64):
        for law, draw in (("normal", jax.random.normal), ("laplace", jax.random.laplace)):
            yield Sampler(f"random.{law}, {np.dtype(dtype)}, processor", "jax", law,  # type: ignore[arg-type]
                lambda n, draw=draw, dtype=dtype: np.asarray(draw(next(keys), (n,), dtype=dtype)), dtype)  # fmt: skip


def of_diffprivlib() -> Iterator[Sampler]:
    from diffprivlib.mechanisms import Gaussian, Laplace

    # without a seed, numbers come from the system
    laplace = Laplace(epsilon=1, sensitivity=1)
    gaussian = Gaussian(epsilon=0.9, delta=0.3, sensitivity=1)
    scale = float(gaussian._scale)
    yield secure("mechanisms.Laplace", "diffprivlib", "laplace", laplace.randomise)
    yield secure("mechanisms.Gaussian", "diffprivlib", "normal", gaussian.randomise, scale=scale)


def of_opendp() -> Iterator[Sampler]:
    import opendp.prelude as dp

    dp.enable_features("contrib", "floating-point")
    domain = dp.vector_domain(dp.atom_domain(T=float, nan=False))
    laplace = dp.m.make_laplace(domain, dp.l1_distance(T=float), scale=1.0)
    gaussian = dp.m.make_gaussian(domain, dp.l2_distance(T=float), scale=1.0)
    for name, law, made, most in (
        ("make_laplace", "laplace", laplace, FEW),
        ("make_gaussian", "normal", gaussian, FEW // 2),
    ):
        yield Sampler(name, "opendp", law, lambda n, made=made: np.array(made([0.0] * n)), numbers=most,  # type: ignore[arg-type]
            release=lambda answer, n, made=made: np.array(made([float(answer)] * n)))  # fmt: skip
    whole = dp.m.make_laplace(dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int), scale=1.0)

    def discrete(answer: float, n: int) -> Array:
        return np.array(whole([round(answer)] * n), dtype=float)

    yield Sampler(
        "make_laplace of integers",
        "opendp",
        "laplace",
        lambda n: discrete(0.0, n),
        numbers=FEW,
        release=discrete,
    )


def of_pydp() -> Iterator[Sampler]:
    from pydp.algorithms.numerical_mechanisms import GaussianMechanism, LaplaceMechanism

    yield secure(
        "LaplaceMechanism", "python-dp", "laplace", LaplaceMechanism(epsilon=1, sensitivity=1).add_noise
    )
    gaussian = GaussianMechanism(epsilon=1, delta=0.1, sensitivity=1)
    yield secure("GaussianMechanism", "python-dp", "normal", gaussian.add_noise, scale=float(gaussian.std))


def secure(name: str, library: str, law: Law, one: Callable[[float], float], scale: float = 1.0) -> Sampler:
    """A mechanism that answers once a call."""
    return Sampler(name, library, law, lambda n: drawn(lambda: one(0.0), n), numbers=2 * FEW, scale=scale,
        release=lambda answer, n: drawn(lambda: one(float(answer)), n))  # fmt: skip


def drawn(one: Callable[[], float], size: int) -> Array:
    return np.fromiter((one() for _ in range(size)), dtype=np.float64, count=size)


LIBRARIES: tuple[Callable[[], Iterator[Sampler]], ...] = (
    of_numpy, of_python, of_torch, of_jax, of_diffprivlib, of_opendp, of_pydp,
)  # fmt: skip


# --------------------------------------------------------------------------------------------- what is measured


def bits_and_ends(sampler: Sampler, values: Array, found: TailAudit) -> tuple[str, str, str]:
    """Bits, ends and the smallest gap, and from where they are known."""
    if found.grids:
        bits = {side: grid.bits for side, grid in found.grids.items()}
        checked = sum(grid.checked for grid in dict.fromkeys(found.grids.values()))
        off = sum(grid.off for grid in dict.fromkeys(found.grids.values()))
        kinds = "/".join(dict.fromkeys(str(bits[side]) for side in sorted(bits)))
        pairs = {grid.lag for grid in found.grids.values()} - {None}
        said = f"{kinds}{f', pairs {min(pairs)} apart' if pairs else ''} ({off} of {checked} off)"  # type: ignore[type-var]
        ends = " / ".join(f"{side * end:.4g}" for side, end in sorted(found.ends.items()))
        gaps = [grid.smallest_gap for grid in found.grids.values() if grid.smallest_gap]
        return said, ends, f"{min(gaps):.2g}" if gaps else "by the angle"
    made = sampler.construction
    if isinstance(made, RatioOfUniforms):
        return "53, by its code", f"±{made.end:.4g}, by its code", "of the format"
    if made is not None:
        some = close_to_zero(sampler) if isinstance(made, Ziggurat) else values
        held = made.check(some)
        kind = f"{made.bits}, ziggurat" if isinstance(made, Ziggurat) else f"{made.bits}, polar"
        gap = "of the format" if made.smallest_gap is None else f"{made.smallest_gap:.2g}"
        return f"{kind} ({held.off} of {held.checked} off)", f"±{made.end:.4g}, by its code", gap
    apart = np.diff(np.unique(values)) / sampler.scale
    step = steps_of(values)
    seen = f"multiples of {step:.3g}" if step else "no grid seen"
    return (
        seen,
        f"none seen up to {found.seen_up_to:.3g}",
        f"{step / sampler.scale:.2g}" if step else f"<= {apart.min():.2g}",
    )


def steps_of(values: Array) -> float:
    """The power of two that divides all numbers, where it is coarser than their format makes it."""
    small = np.abs(values[values != 0])
    step = 2.0 ** math.floor(math.log2(float(small.min())))
    while np.any(values % step):
        step /= 2
    return step if step > 2.0**-45 else 0.0


def close_to_zero(sampler: Sampler) -> Array:
    made, size = [], 2**22
    limit = 1e-3 if sampler.dtype is np.float32 else 1e-5
    rounds = int(CLOSE / size) // (16 if sampler.dtype is np.float32 else 1)
    for _ in range(rounds):
        some = sampler.draw(size)
        made.append(some[np.abs(some) < limit])
    return np.concatenate(made)


def costs(sampler: Sampler, found: TailAudit) -> list[str]:
    """Delta lost at each noise multiplier, for each number of releases."""
    out = []
    for multiplier in MULTIPLIERS:
        for steps in STEPS:
            if found.grids:
                out.append(f"{found.delta_lost(1 / multiplier, steps=steps):.1e}")
            elif sampler.construction is not None:
                mass = float(beyond(sampler.law, np.asarray(sampler.construction.end - 1 / multiplier)))
                out.append(f"≈ {lost_in_steps(mass, steps):.0e}")
            else:
                out.append("none seen")
    return out


def leak(sampler: Sampler) -> str:
    """Which pair of answers low bits tell apart, and after how many runs on each."""
    claim = GDP(1 / sampler.scale) if sampler.law == "normal" else PureDP(sampler.epsilon)
    for pair in PAIRS:
        auditor = SequentialAuditor(claim, "replace-one", FAILURE / len(PAIRS), 0, MOST_RUNS, low_bits=True)
        for size in auditor.rounds():
            auditor.see(*(sampler.released(answer, size) for answer in pair))
            if auditor.violated:
                return f"{pair[0]:.3g} and {pair[1]:.3g}, after {auditor.runs}"
    return "no"


def row(sampler: Sampler) -> str:
    values = sampler.draw(sampler.numbers)
    found = audit_tails(
        values.astype(np.float64), law=sampler.law, scale=sampler.scale, failure_probability=FAILURE / 2
    )
    order = audit_independence(values, failure_probability=FAILURE / 2)
    bits, ends, gap = bits_and_ends(sampler, values, found)
    cells = [
        f"{version(sampler.library)} {sampler.name}", sampler.law, f"{sampler.numbers:.0e}", bits, ends, gap,
        *costs(sampler, found), "no" if not order.found else "yes", leak(sampler), found.verdict,
    ]  # fmt: skip
    return "| " + " | ".join(cells) + " |"


def version(library: str) -> str:
    if library == "Python":
        return f"Python {platform.python_version()}"
    return f"{library} {importlib.metadata.version(library)}"


def main() -> None:
    """Write the page, or print the rows."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--output", type=Path, help="the page whose table is replaced; printed if missing")
    parser.add_argument("--only", default="", help="part of a sampler's name")
    arguments = parser.parse_args()
    head = ["generator", "law", "numbers", "bits of the uniform", "ends at, times the scale", "smallest gap"]
    head += [f"delta lost, {m:g}, T = {t:g}" for m in MULTIPLIERS for t in STEPS]
    head += ["depends on earlier numbers", "low bits tell apart", "`tails`"]
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    missing = []
    for library in LIBRARIES:
        try:
            for sampler in library():
                if arguments.only in f"{sampler.library} {sampler.name}":
                    lines.append(row(sampler))
                    print(lines[-1], flush=True)
        except ImportError as error:
            missing.append(f"{library.__name__[3:]} ({error})")
    if missing:
        print("missing:", ", ".join(missing))
    if arguments.output is not None:
        if missing:
            raise SystemExit("Nothing is written: libraries are missing.")
        before, _, rest = arguments.output.read_text().partition(BEGIN)
        after = rest.partition(END)[2]
        arguments.output.write_text(before + BEGIN + "\n" + "\n".join(lines) + "\n" + END + after)


BEGIN, END = "<!-- table -->", "<!-- end of table -->"

if __name__ == "__main__":
    main()
