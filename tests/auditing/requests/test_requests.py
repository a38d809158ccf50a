"""One request: every field at every door, one sentence for what does not go together, the same bits at every door."""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpverify.pytest_plugin.claims as plugin
from dpverify.auditing import Request, audit
from dpverify.auditing.neighbors import Pair
from dpverify.auditing.requests.options import OPTIONS, option_name, spelled
from dpverify.cli import main
from dpverify.commands.audit import audit as command
from dpverify.commands.claims.stated_claims import Project, audit_project, read_project
from dpverify.errors import DpverifyError, InvalidArgumentError
from dpverify.ledger.evidence import PrivacyEvidence
from dpverify.privacy import Adjacency, PureDP
from dpverify.properties import ErrorOverExamples, check_private
from dpverify.pytest_plugin.options import DEFAULT_FAILURE_PROBABILITY, DEFAULT_SEED
from dpverify.running import single_noise

pytest_plugins = "pytester"

DATA, NEIGHBOR = [[0.0], [1.0]], [[0.0], [0.0]]
SOURCE = """
def leaky(data, rng, runs):
    return data.sum() + 0.5 * rng.laplace(size=runs)
"""


def leaky(data: Any, rng: Any, runs: int) -> Any:
    return data.sum() + 0.5 * rng.laplace(size=runs)


@pytest.fixture
def folder(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The current folder, with a module and two data sets."""
    (pytester.path / "their_leak.py").write_text(SOURCE)
    (pytester.path / "d.csv").write_text("0\n1\n")
    (pytester.path / "e.csv").write_text("0\n0\n")
    monkeypatch.setattr(sys, "path", [str(pytester.path), *sys.path])
    yield pytester.path
    sys.modules.pop("their_leak", None)


def test_every_field_is_at_every_door() -> None:
    names = {one.name for one in fields(Request)}
    assert names == set(OPTIONS)
    assert {*inspect.signature(command).parameters} == {*names, "form", "json_file", "curves", "plot"}
    subject = {"function", "left", "right", "scores", "members", "claim"}
    assert {*plugin.ALLOWED} == names - subject - {"seed", "failure_probability"} | {"allow_undecided"}
    assert all(f"\n        {name}: " in str(Request.__doc__) for name in names)
    page = (Path(__file__).parents[3] / "docs" / "ci.md").read_text(encoding="utf-8")
    assert all(f"`{name.replace('_', '-')}`" in page for name in names)


def test_every_default_is_the_same() -> None:
    defaults = {
        name: one.default for name, one in inspect.signature(command).parameters.items() if name in OPTIONS
    }
    for one in fields(Request):
        assert defaults[one.name] == one.default, one.name
    assert (defaults["failure_probability"], defaults["seed"]) == (DEFAULT_FAILURE_PROBABILITY, DEFAULT_SEED)
    assert Project().failure_probability == defaults["failure_probability"]


def words(found: PrivacyEvidence) -> dict[str, Any]:
    """What must not depend on the door: all but how it is called, where its data are, and how long it took."""
    apart = {"subject", "title", "reproduce", "seconds", "data"}
    return {name: value for name, value in found.model_dump().items() if name not in apart}


@pytest.mark.parametrize(
    "more", [{}, {"fixed_runs": True, "score": ("value",), "direction": ("left-over-right",)}]
)
def test_every_door_finds_the_same(
    more: dict[str, Any], folder: Path, pytester: pytest.Pytester, capsys: pytest.CaptureFixture[str]
) -> None:
    """A function of its own process, of a copy of this one, and of this one; violated by far more than 1e-6."""
    named = audit(Request("their_leak:leaky", "d.csv", "e.csv", "eps=1", runs=2000, **more))
    assert named.verdict == "violated"
    expected = words(named)

    here = Request(leaky, DATA, NEIGHBOR, PureDP(1.0), runs=2000, **more)
    assert words(audit(here)) == expected
    guarded = audit(Request(leaky, DATA, NEIGHBOR, "eps=1", runs=2000, time_limit=60, **more))
    assert words(guarded) == expected
    with pytest.raises(AssertionError, match="1-DP is violated"):
        check_private(leaky, DATA, NEIGHBOR, "eps=1", runs=2000, **more)

    options = [w for name, value in more.items() for one in ([value] if value is True else value)
               for w in ([option_name(name)] if one is True else [option_name(name), one])]  # fmt: skip
    asked = ["audit", "their_leak:leaky", "--data", "d.csv", "--neighbor", "e.csv", "--claim", "eps=1"]
    with pytest.raises(SystemExit) as ended:
        main([*asked, "--runs", "2000", *options, "--json", "found.json"])
    assert ended.value.code == 1
    found = json.loads(Path("found.json").read_text())
    assert (found["runs"], found["epsilon_lower"]) == (named.runs, named.epsilon_lower)
    assert found["reason"] == named.reason
    assert found["reproduce"] == named.reproduce

    entries = "".join(f"{name.replace('_', '-')} = {json.dumps(value)}\n" for name, value in more.items())
    Path("dpverify.toml").write_text(
        '[[claims]]\nfunction = "their_leak:leaky"\nclaim = "eps=1"\ndata = "d.csv"\nneighbor = "e.csv"\nruns = 2000\n'
        + entries
    )
    (one,) = audit_project(read_project(Path("dpverify.toml")))[1]
    assert one.found is not None
    assert words(one.found) == expected | {"shares": one.found.model_dump()["shares"]}

    capsys.readouterr()
    pytester.makepyfile(
        test_one=f"""
        import pytest
        from their_leak import leaky
        @pytest.mark.privacy_claim("eps=1", data={DATA}, neighbor={NEIGHBOR}, runs=2000, **{more})
        def test_leak():
            return leaky
        """
    )
    pytester.runpytest_inprocess("--dpverify-report=l.json", "-p", "no:cacheprovider").assert_outcomes(
        failed=1
    )
    (entry,) = json.loads((pytester.path / "l.json").read_text())["entries"]
    assert (entry["runs"], entry["epsilon_lower"], entry["reason"]) == (
        named.runs, named.epsilon_lower, named.reason,
    )  # fmt: skip


RUN = {"function": leaky, "data": DATA, "neighbor": NEIGHBOR}
NAMED = {"function": "a:b", "data": "d.csv", "neighbor": "e.csv"}
SAMPLES = {"left": [1.0], "right": [2.0]}
SCORES = {"scores": [1.0], "members": [1]}
ONE_OF = "one of function, command, left with right, or scores with members"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, f"function was None; allowed: {ONE_OF}."),
        (RUN | {"command": "cat"}, f"command was 'cat'; allowed: {ONE_OF}."),
        (RUN | {"left": [1.0]}, f"left was [1.0]; allowed: {ONE_OF}."),
        (SAMPLES | {"command": "cat"}, f"left was [1.0]; allowed: {ONE_OF}."),
        ({"right": [1.0]}, "left was None; allowed: both left and right."),
        ({"members": [1]}, "scores was None; allowed: both scores and members."),
        ({"scores": [1.0]}, "members was None; allowed: both scores and members."),
        (SAMPLES | SCORES, f"scores was [1.0]; allowed: {ONE_OF}."),
        (RUN | SCORES, f"scores was [1.0]; allowed: {ONE_OF}."),
        *(
            (SCORES | {name: value}, f"{name} was {value!r}; allowed: no value with scores.")
            for name, value in {"runs": 200, "fixed_runs": True, "low_bits": True, "allow_equal": True}.items()
        ),
        *(
            (SAMPLES | {name: value}, "allowed: no value with samples, for which nothing is run.")
            for name, value in {
                "data": DATA, "neighbor": DATA, "pair": "p.json", "search_neighbors": "p.json", "record_range": (0, 1),
                "fewest_records": 3,
                "attribute": "coef_", "structure": leaky, "runs": 300, "fixed_runs": True, "time": 3,
                "executor": "serial", "store": "s", "time_limit": 3, "memory_limit": 3,
            }.items()
        ),
        ({"command": "cat", "attribute": "a", "data": 1, "neighbor": 2}, "attribute was ('a',); allowed: none with"),
        ({"command": "cat", "store": "s", "data": 1, "neighbor": 2}, "store was 's'; allowed: none with command"),
        *(
            ({"function": leaky, "pair": "p.json", name: value}, f"{name} was {value!r}; allowed: no value with pair")
            for name, value in {
                "data": DATA, "neighbor": DATA, "adjacency": "zero-out", "index": 1, "search_neighbors": "q.json",
            }.items()
        ),
        ({"function": leaky}, "data was None; allowed: both data and neighbor; search_neighbors finds a neighbor."),
        ({"function": leaky, "data": DATA}, "neighbor was None; allowed: both data and neighbor; search_neighbors"),
        (RUN | {"search_neighbors": "p.json"}, "neighbor was [[0.0], [0.0]]; allowed: no value with search_neighbors"),
        (RUN | {"record_range": (0, 1)}, "record_range was (0, 1); allowed: no value without search_neighbors."),
        (RUN | {"fewest_records": 3}, "fewest_records was 3; allowed: no value without search_neighbors."),
        ({"function": leaky, "data": DATA, "search_neighbors": "p.json", "fewest_records": 0},
         "fewest_records was 0; allowed: an integer of at least 1"),
        ({"function": leaky, "pair": "p.csv"}, "pair was 'p.csv'; allowed: a file whose name ends in .json."),
        *(
            (RUN | {"structure": leaky, name: value}, "allowed: no value with structure, which looks once.")
            for name, value in {"fixed_runs": True, "time": 3, "score": "value", "low_bits": True}.items()
        ),
        (RUN | {"time": 3, "fixed_runs": True}, "time was 3; allowed: no value with fixed_runs."),
        (RUN | {"score": "value"}, "score was ('value',); allowed: with fixed_runs only, where a function is run."),
        (SAMPLES | {"low_bits": True, "score": "value"}, "score was ('value',); allowed: none with low_bits."),
        (RUN | {"index": 1}, "index was 1; allowed: no value but with adjacency index."),
        (RUN | {"delta": 0.1}, "delta was 0.1; allowed: 0, which the claim names, or another with fixed_runs."),
        (RUN | {"adjacency": "index"}, "index was None; allowed: an integer of at least 1."),
        (RUN | {"runs": 15}, "runs was 15; allowed: an integer of at least 16"),
        (RUN | {"runs": 10**15}, "allowed: an integer of at least 16 and at most 134217728."),
        (RUN | {"runs": 99, "fixed_runs": True}, "runs was 99; allowed: an integer of at least 100."),
        (RUN | {"runs": 999, "structure": leaky}, "runs was 999; allowed: an integer of at least 1000."),
        (RUN | {"fixed_runs": 1}, "fixed_runs was 1; allowed: True or False."),
        (RUN | {"function": 3}, "function was 3; allowed: a mechanism, a function (data, rng) -> output"),
        (RUN | {"structure": 3}, "structure was 3; allowed: a function from a data set to a StatedStructure"),
        (RUN | {"function": None, "command": 3}, "command was 3; allowed: a command line."),
        (RUN | {"score": 3, "fixed_runs": True}, "score was 3; allowed: a name, or several."),
        (RUN | {"score": "spread", "fixed_runs": True}, "score was 'spread'; allowed: value, distance"),
        (NAMED | {"attribute": ("a", "a")}, "attribute was 'a a'; allowed: each attribute once."),
        (RUN | {"claim": None}, "claim was None; allowed: a claim such as"),
        (RUN | {"time": float("nan")}, "time was nan; allowed: seconds above 0"),
        (RUN | {"time_limit": 0}, "time_limit was 0; allowed: seconds above 0"),
        (RUN | {"memory_limit": True}, "memory_limit was True; allowed: GiB, from 0.0625"),
    ],
)  # fmt: skip
def test_what_does_not_go_together(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidArgumentError) as refused:
        Request(**{"claim": "eps=1", **given})
    assert said in str(refused.value)
    assert str(refused.value).count("allowed") == 1


@pytest.mark.parametrize(
    "given",
    [
        RUN | {"claim": "eps=1,delta=1e-5", "delta": 1e-5},
        RUN | {"claim": "mu=1", "delta": 0.1},
        RUN | {"delta": 0.1, "fixed_runs": True, "score": ["value"], "direction": "left-over-right"},
        RUN | {"delta": 0.1, "structure": leaky, "runs": 1000},
        RUN | {"low_bits": True, "fixed_runs": True, "runs": 2**28},
        RUN | {"low_bits": True, "time": 3},
        RUN | {"adjacency": "index", "index": 1, "time": 3, "store": "s", "executor": "threads=2"},
        SAMPLES | {"delta": 0.1, "score": "value", "adjacency": "index", "index": 2, "allow_equal": True},
        {
            "function": leaky,
            "data": DATA,
            "search_neighbors": "p.json",
            "record_range": "0,1",
            "fewest_records": 3,
            "fixed_runs": True,
        },
        {"function": leaky, "pair": "p.json", "time_limit": 3},
        NAMED | {"attribute": ["coef_", "intercept_"], "store": "s", "memory_limit": 1},
    ],
)
def test_what_goes_together(given: dict[str, Any]) -> None:
    Request(**{"claim": "eps=1", **given})


def test_errors_are_spelled_as_a_door_writes() -> None:
    def said(make: Callable[[], Any]) -> str:
        with pytest.raises(InvalidArgumentError) as refused, spelled(option_name):
            make()
        return str(refused.value)

    assert said(lambda: Request(leaky, claim="eps=1")) == (
        "--data is missing; allowed: both --data and --neighbor; --search-neighbors finds a neighbor."
    )
    assert said(lambda: Request(claim="eps=1")).startswith(
        "PACKAGE.MODULE:FUNCTION is missing; allowed: one of PACKAGE"
    )
    assert said(lambda: Request(**RUN, claim="eps=1", seed=-1)).startswith("--seed was -1; ")  # type: ignore[arg-type]


def test_callables_state_their_steps_and_are_searched(tmp_path: Path) -> None:
    """What a named function can, one in memory can. Violated by far more than 1e-6; white box: true epsilon 6.17."""

    def gaussian(data: Any, rng: Any, runs: int) -> Any:
        return data.sum() + rng.normal(size=runs)

    found = audit(
        Request(
            gaussian,
            DATA,
            NEIGHBOR,
            "eps=4,delta=1e-9",
            structure=lambda data: single_noise(np.sum(data), 1.0),
        )
    )
    assert (found.verdict, found.white_box) == ("violated", True)
    with pytest.raises(DpverifyError, match="a function from a data set to a StatedStructure"):
        audit(Request(gaussian, DATA, NEIGHBOR, "eps=4", structure=lambda data: None))
    file = tmp_path / "worst.json"
    for more in ({}, {"time_limit": 60}, {"fixed_runs": True}):
        found = audit(Request(leaky, DATA, None, "eps=1", runs=2000, search_neighbors=file, **more))  # type: ignore[arg-type]
        assert found.verdict == "violated"
        assert "that a search ran" in found.reason
    with pytest.raises(
        AssertionError, match=r"data: \[\[.*\]\]\nneighbor: \[\[.*\]\]\ndifference: record 1 is"
    ):
        check_private(leaky, DATA, None, "eps=1", runs=2000, search_neighbors=file)
    again = audit(Request(leaky, claim="eps=1", runs=2000, pair=file, fixed_runs=True))
    assert again.epsilon_lower == found.epsilon_lower
    with pytest.raises(DpverifyError, match="allowed: a file in an existing folder"):
        audit(Request(leaky, DATA, None, "eps=1", search_neighbors=tmp_path / "no" / "worst.json"))


def test_an_estimator_in_memory() -> None:
    """1e-6 for a false alarm."""

    class Mean:
        def __init__(self, random_state: int | None = None) -> None:
            self.random_state = random_state

        def fit(self, records: Any) -> None:
            self.mean_ = records.sum() + np.random.default_rng(self.random_state).laplace()

    found = audit(Request(Mean, DATA, NEIGHBOR, "eps=1", attribute="mean_", runs=300))
    assert (found.verdict, found.repeats) == ("supported", True)


def test_examples_in_files_are_questions_by_their_content(tmp_path: Path) -> None:
    """A search writes one file again and again; what it holds is another question each time."""
    shared, seeds = ErrorOverExamples(1e-3), []
    file = tmp_path / "pair.json"
    for neighbor in (0.0, 0.5, 0.0):
        Pair(np.array([[1.0]]), np.array([[neighbor]]), Adjacency.REPLACE_ONE).save(file)
        found = audit(Request(leaky, claim="eps=8", runs=100, pair=file, failure_probability=shared))
        seeds.append((found.seed, found.failure_probability))
    assert shared.questions == 2
    assert seeds[0] == seeds[2] != seeds[1]
    searched = Request(
        leaky, DATA, None, "eps=1", runs=100, search_neighbors=file, failure_probability=shared
    )
    assert audit(searched).failure_probability == pytest.approx(1e-3 / 12)
