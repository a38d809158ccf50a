"""Every accountant in use at 50 settings of Poisson-sampled Gaussian releases: the tables in docs/accountants.md.

Each accountant's epsilon stands beside our enclosure of the smallest one. Below its lower end, the claim is too small,
proven in whole numbers; above its upper end, it is enough, and the excess is what the accountant gives away.

    make accountants        # writes docs/accountants.md, of the libraries that are installed
    python tests/benchmarks/accountants.py [--cells 8192] [--only NAME ...] [--output docs/accountants.md]
"""

from __future__ import annotations

import argparse
import importlib.metadata
import itertools
import logging
import math
import multiprocessing
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from dpverify.auditing.accountants import AccountantAudit, NoisyReleases, audit_epsilon
from dpverify.files import write_table
from dpverify.ledger.records import Interval
from dpverify.ledger.verdicts import Verdict

NOISES = (0.6, 0.8, 1.0, 2.0, 5.0)
SAMPLED = (
    (1e-4, 10_000),
    (1e-3, 1_000),
    (1e-3, 10_000),
    (4e-3, 3_750),
    (0.01, 100),
    (0.01, 1_000),
    (0.02, 500),
    (0.05, 100),
    (0.1, 100),
    (0.5, 20),
)
DELTAS = (1e-5, 1e-6)
_COUNTED = ("enough", "too small", "inside", "no answer")


@dataclass(frozen=True)
class Setting:
    """What all accountants are asked."""

    noise: float
    q: float
    steps: int
    delta: float


# the delta alternates, so that each noise and each way of sampling meets both
SETTINGS = tuple(
    Setting(noise, q, steps, DELTAS[(i + j) % 2])
    for (i, noise), (j, (q, steps)) in itertools.product(enumerate(NOISES), enumerate(SAMPLED))
)


def _event(setting: Setting) -> tuple[Any, int]:
    import dp_accounting

    gaussian = dp_accounting.GaussianDpEvent(setting.noise)
    return dp_accounting.PoissonSampledDpEvent(setting.q, gaussian), setting.steps


def dp_accounting_pld(setting: Setting) -> float:
    from dp_accounting.pld import PLDAccountant

    return float(PLDAccountant().compose(*_event(setting)).get_epsilon(setting.delta))


def dp_accounting_rdp(setting: Setting) -> float:
    from dp_accounting.rdp import RdpAccountant

    return float(RdpAccountant().compose(*_event(setting)).get_epsilon(setting.delta))


def tensorflow_privacy(setting: Setting) -> float:
    """The orders of its `compute_dp_sgd_privacy`, with dp-accounting's Renyi accountant, which it calls."""
    from dp_accounting.rdp import RdpAccountant

    orders = [1 + x / 10 for x in range(1, 100)] + list(range(11, 64)) + [128, 256, 512, 1024]
    return float(RdpAccountant(orders).compose(*_event(setting)).get_epsilon(setting.delta))


def _jax_privacy(setting: Setting, config: str) -> float:
    from jax_privacy.accounting import accountants

    accountant = getattr(accountants, config)().create_accountant()
    return float(accountant.compose(*_event(setting)).get_epsilon(setting.delta))


def jax_privacy_pld(setting: Setting) -> float:
    return _jax_privacy(setting, "PldAccountantConfig")


def jax_privacy_rdp(setting: Setting) -> float:
    return _jax_privacy(setting, "RdpAccountantConfig")


def _opacus(setting: Setting, name: str) -> float:
    from opacus.accountants import create_accountant

    accountant = create_accountant(name)
    accountant.history = [(setting.noise, setting.q, setting.steps)]
    return float(accountant.get_epsilon(setting.delta))


def opacus_rdp(setting: Setting) -> float:
    return _opacus(setting, "rdp")


def opacus_prv(setting: Setting) -> float:
    return _opacus(setting, "prv")


def opacus_gdp(setting: Setting) -> float:
    return _opacus(setting, "gdp")


def prv_accountant(setting: Setting) -> float:
    """The upper end of its interval, with the errors that its page suggests."""
    from prv_accountant.dpsgd import DPSGDAccountant

    accountant = DPSGDAccountant(
        noise_multiplier=setting.noise,
        sampling_probability=setting.q,
        max_steps=setting.steps,
        eps_error=0.1,
        delta_error=setting.delta / 1000,
    )
    return float(accountant.compute_epsilon(setting.delta, setting.steps)[2])


def autodp_rdp(setting: Setting) -> float:
    from autodp.mechanism_zoo import GaussianMechanism
    from autodp.transformer_zoo import AmplificationBySampling, Composition

    gaussian = GaussianMechanism(sigma=setting.noise)
    gaussian.neighboring = "add_remove"
    sampled = AmplificationBySampling(PoissonSampling=True)(gaussian, setting.q, improved_bound_flag=True)
    return float(Composition()([sampled], [setting.steps]).get_approxDP(setting.delta))


@dataclass(frozen=True)
class Accountant:
    """One of those in use."""

    name: str
    package: str
    epsilon: Callable[[Setting], float]


ACCOUNTANTS = (
    Accountant("dp-accounting PLD", "dp-accounting", dp_accounting_pld),
    Accountant("dp-accounting RDP", "dp-accounting", dp_accounting_rdp),
    Accountant("TensorFlow Privacy's orders", "dp-accounting", tensorflow_privacy),
    Accountant("JAX-Privacy PLD", "jax_privacy", jax_privacy_pld),
    Accountant("JAX-Privacy RDP", "jax_privacy", jax_privacy_rdp),
    Accountant("Opacus PRV", "opacus", opacus_prv),
    Accountant("Opacus RDP", "opacus", opacus_rdp),
    Accountant("Opacus GDP", "opacus", opacus_gdp),
    Accountant("prv_accountant", "prv-accountant", prv_accountant),
    Accountant("autodp RDP", "autodp", autodp_rdp),
)


@dataclass(frozen=True)
class Found:
    """One accountant's answer at one setting; None, with why, where it gives none."""

    audit: AccountantAudit | None
    why: str = ""

    def text(self) -> str:
        """How far the claim is off: below the interval in bold, above it as a factor."""
        if self.audit is None:
            return self.why
        claimed, smallest = self.audit.claimed, self.audit.smallest
        if self.audit.verdict is Verdict.VIOLATED:
            return f"**{claimed:.6g}: {claimed / smallest.lower - 1:.2g}**"
        if self.audit.verdict is Verdict.SUPPORTED:
            return f"+{claimed / smallest.upper - 1:.2g}"
        return "inside"


def audited(accountant: Accountant, setting: Setting, smallest: Interval) -> Found:
    """Ask an accountant, and hold its answer against the interval."""

    class _Known:
        def smallest_epsilon(self, delta: float) -> Interval:
            return smallest

        def __str__(self) -> str:
            return str(setting)

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            claimed = accountant.epsilon(setting)
    except Exception as refusal:  # whatever another library raises
        return Found(None, type(refusal).__name__)
    if not math.isfinite(claimed) or claimed < 0:
        return Found(None, f"{claimed:g}")
    return Found(audit_epsilon(claimed, _Known(), delta=setting.delta))


def installed(accountants: tuple[Accountant, ...]) -> dict[str, str]:
    """Versions of the packages that are there."""
    versions = {}
    for package in dict.fromkeys(one.package for one in accountants):
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return versions


def rows(accountants: tuple[Accountant, ...], cells: int) -> Iterator[tuple[Setting, Interval, list[Found]]]:
    """Each setting with its interval and what every accountant says."""
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        work = partial(_row, accountants=accountants, cells=cells)
        for setting, (smallest, found) in zip(SETTINGS, pool.imap(work, SETTINGS), strict=True):
            print(setting, smallest, *(one.text() for one in found), flush=True)
            yield setting, smallest, found


def _row(
    setting: Setting, *, accountants: tuple[Accountant, ...], cells: int
) -> tuple[Interval, list[Found]]:
    logging.disable(logging.WARNING)
    releases = NoisyReleases("gaussian", setting.noise, setting.steps, setting.q, cells=cells)
    smallest = releases.smallest_epsilon(setting.delta)
    return smallest, [audited(accountant, setting, smallest) for accountant in accountants]


def table(accountants: tuple[Accountant, ...], cells: int) -> Iterator[str]:
    """The lines of both tables."""
    versions = installed(accountants)
    accountants = tuple(one for one in accountants if one.package in versions)
    all_rows = list(rows(accountants, cells))
    heads = ("accountant", "version", *_COUNTED, "largest shortfall", "excess, median", "largest")
    yield f"| {' | '.join(heads)} |"
    yield "|" + " --- |" * len(heads)
    for k, accountant in enumerate(accountants):
        yield _summary(accountant, versions[accountant.package], [found[k] for _, _, found in all_rows])
    yield ""
    yield "| noise | q | T | delta | smallest epsilon | " + " | ".join(a.name for a in accountants) + " |"
    yield "| --- | --- | --- | --- | --- |" + " --- |" * len(accountants)
    for setting, smallest, found in all_rows:
        ends = f"{smallest.lower:.6g} to {smallest.upper:.6g}"
        given = f"| {setting.noise:g} | {setting.q:g} | {setting.steps} | {setting.delta:g} | {ends} | "
        yield given + " | ".join(one.text() for one in found) + " |"


def _summary(accountant: Accountant, version: str, found: list[Found]) -> str:
    audits = [one.audit for one in found if one.audit is not None]
    counts = [
        sum(audit.verdict is verdict for audit in audits)
        for verdict in (Verdict.SUPPORTED, Verdict.VIOLATED, Verdict.UNDECIDED)
    ]
    short = max(
        (1 - a.claimed / a.smallest.lower for a in audits if a.verdict is Verdict.VIOLATED), default=0.0
    )
    excess = sorted(a.claimed / a.smallest.upper - 1 for a in audits if a.verdict is Verdict.SUPPORTED)
    middle = f"{excess[len(excess) // 2]:.2g}" if excess else ""
    most = f"{excess[-1]:.2g}" if excess else ""
    cells = [
        accountant.name,
        version,
        *counts,
        len(found) - len(audits),
        f"{short:.2g}" if short else "",
        middle,
        most,
    ]
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=int, default=2**13)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    logging.disable(logging.WARNING)
    chosen = tuple(one for one in ACCOUNTANTS if not arguments.only or one.name in arguments.only)
    lines = list(table(chosen, arguments.cells))
    if arguments.output is None:
        print("\n".join(lines))
    else:
        write_table(arguments.output, lines)


if __name__ == "__main__":
    main()
