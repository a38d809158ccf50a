"""What a session of pytest may choose: profile, seed, failure probability, and where the ledger goes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import pytest

PROFILES = {"dev": 0.1, "ci": 1.0, "nightly": 10.0}
"""By how much the number of runs that a claim asks for is multiplied."""

DEFAULT_PROFILE, DEFAULT_SEED, DEFAULT_FAILURE_PROBABILITY = "ci", 0, 1e-6


@dataclass(frozen=True)
class Options:
    """As they were chosen."""

    profile: str
    """A key of `PROFILES`."""
    seed: int
    """Of every mechanism's runs and of the audits."""
    failure_probability: float
    """With at most this probability does any correct claim of the session fail."""
    report: Path | None
    """A file for the ledger."""
    sarif: Path | None
    """A file for code scanning."""

    def scaled(self, runs: int, least: int) -> int:
        """How many runs the profile makes of so many, at least `least`."""
        return max(least, round(PROFILES[self.profile] * runs))


_OPTIONS = {
    "profile": (
        DEFAULT_PROFILE,
        f"dev (a tenth of the runs), ci, or nightly (ten times); {DEFAULT_PROFILE}",
    ),
    "seed": (str(DEFAULT_SEED), f"the same seed gives the same verdicts; {DEFAULT_SEED}"),
    "failure-probability": (
        str(DEFAULT_FAILURE_PROBABILITY),
        "at most so often does any correct claim of the whole session fail; it is divided among the tests that "
        f"state claims; {DEFAULT_FAILURE_PROBABILITY:g}",
    ),
    "report": ("", "write a ledger of all claims to this file, for dpverify report and dpverify compare"),
    "sarif": (
        "",
        "write SARIF to this file, for code scanning: violated and undecided claims, with their lines",
    ),
}
"""With their defaults, as texts, and what each says."""


def add_options(parser: pytest.Parser) -> None:
    """The options, each also an entry of the configuration file."""
    group = parser.getgroup("dpverify", "privacy claims")
    for name, (default, text) in _OPTIONS.items():
        group.addoption(f"--dpverify-{name}", metavar=name.upper().replace("-", "_"), default=None, help=text)
        parser.addini(f"dpverify_{name.replace('-', '_')}", text, default=default)


def read_options(config: pytest.Config) -> Options:
    """The options as they were given; one that cannot be used is a `pytest.UsageError`, in one sentence."""
    profile = _given(config, "profile")
    if profile not in PROFILES:
        raise _refused("profile", profile, ", ".join(PROFILES))
    seed = _given(config, "seed")
    if not (seed.isascii() and seed.isdigit()):
        raise _refused("seed", seed, "an integer of at least 0")
    said = _given(config, "failure-probability")
    try:
        level = float(said)
    except ValueError:
        level = math.nan
    if not 1e-15 <= level < 1:
        raise _refused("failure-probability", said, "a number from 1e-15 to below 1")
    return Options(profile, int(seed), level, _file(config, "report"), _file(config, "sarif"))


def _file(config: pytest.Config, name: str) -> Path | None:
    given = _given(config, name)
    path = config.invocation_params.dir / given if given else None
    if path is not None and (path.is_dir() or not path.parent.is_dir()):
        raise _refused(name, given, "a file in a folder that exists")
    return path


def _given(config: pytest.Config, name: str) -> str:
    chosen = config.getoption(f"--dpverify-{name}")
    return str(config.getini(f"dpverify_{name.replace('-', '_')}") if chosen is None else chosen)


def _refused(name: str, value: str, allowed: str) -> pytest.UsageError:
    return pytest.UsageError(f"--dpverify-{name} was {value!r}; allowed: {allowed}.")
