"""Stored blocks that a fresh run contradicts end the job, in one sentence."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from running_mechanisms import SlowWalk

from dpverify.errors import InvalidDataError
from dpverify.ledger.records import Reuse
from dpverify.running import Output, Store, run

RUNS = 45


class Reads:
    """Noise plus what a source that the store does not know says; its fingerprint is always the same."""

    fingerprint = "reads"
    any_output = True

    def __init__(self, source: Callable[[], float], form: str = "numbers", part: float = 1.0) -> None:
        self.source, self.form, self.part = source, form, part

    def __call__(self, data: Any, *, rng: Any, runs: int) -> Any:
        noise = rng.normal((runs,), "noise")
        value = self.source()
        if self.form == "texts":
            texts = [f'{{"a":{int(x * 100) + value}}}' for x in noise]
            return Output(np.array(texts, dtype=np.dtypes.StringDType()))
        if self.form == "sign of zero":
            return Output(np.full(runs, 0.0 if value == 0 else -0.0))
        if self.form == "type":
            return Output(noise.astype(np.float32 if value else np.float64))
        if self.form == "last bit":
            return Output(noise if value == 0 else np.nextafter(noise, 9))
        if self.form == "one run":
            noise[-1] += value
        return noise if self.form == "one run" else noise + value


FORMS = ["numbers", "texts", "sign of zero", "type", "last bit", "one run"]


def environment(tmp_path: Path, value: float) -> None:
    os.environ["OWN_SETTING"] = repr(value)


def file(tmp_path: Path, value: float) -> None:
    (tmp_path / "setting").write_text(repr(value))


def folder(tmp_path: Path, value: float) -> None:
    (tmp_path / str(int(value))).mkdir(exist_ok=True)
    os.chdir(tmp_path / str(int(value)))


def sources(tmp_path: Path) -> dict[str, Callable[[], float]]:
    return {
        "environment": lambda: float(os.environ["OWN_SETTING"]),
        "file": lambda: float((tmp_path / "setting").read_text()),
        "folder": lambda: float(Path.cwd().name),
    }


@pytest.fixture(autouse=True)
def _as_before(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("OWN_SETTING", "0.0")
    monkeypatch.chdir(tmp_path)


def drawn(mechanism: Any, store: Any, runs: int = RUNS, **more: Any) -> Any:
    return run(mechanism, np.zeros(2), runs=runs, seed=1, block_size=10, store=store, **more)


@pytest.mark.one_in(5)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", ["environment", "file", "folder"])
@pytest.mark.parametrize("executor", ["serial", "threads=2"])
def test_what_the_key_does_not_say_is_noticed(tmp_path: Path, form: str, kind: str, executor: str) -> None:
    change = {"environment": environment, "file": file, "folder": folder}[kind]
    mechanism, store = Reads(sources(tmp_path)[kind], form), tmp_path / "work.sqlite"
    change(tmp_path, 0.0)
    first = drawn(mechanism, store, executor=executor)
    again = drawn(mechanism, store, executor=executor)
    assert first.points.tobytes() == again.points.tobytes()
    assert (again.reuse.blocks_taken, again.reuse.blocks_compared) == (5, 1)
    change(tmp_path, 1.0)
    with pytest.raises(InvalidDataError, match="is contradicted by a fresh run with the same seed") as caught:
        drawn(mechanism, store, executor=executor)
    assert str(caught.value).count(". ") == 0  # one sentence
    change(tmp_path, 0.0)
    assert drawn(mechanism, store).points.tobytes() == first.points.tobytes()


def test_randomness_from_elsewhere_is_noticed(tmp_path: Path) -> None:
    mechanism = Reads(lambda: float(np.random.default_rng().normal()))
    drawn(mechanism, tmp_path / "work.sqlite")
    with pytest.raises(InvalidDataError, match="draws randomness from elsewhere"):
        drawn(mechanism, tmp_path / "work.sqlite")


def test_oracle_calls_are_compared_too(tmp_path: Path) -> None:
    class Counts:
        fingerprint = "counts"

        def __init__(self, calls: int) -> None:
            self.calls = calls

        def __call__(self, data: Any, *, rng: Any, runs: int) -> Output:
            counted = np.full(runs, self.calls)
            return Output(rng.normal((runs,), "noise"), gradient_queries=counted)

    drawn(Counts(1), tmp_path / "work.sqlite")
    with pytest.raises(InvalidDataError, match="is contradicted"):
        drawn(Counts(2), tmp_path / "work.sqlite")


def test_a_mechanism_that_fails_now_ends_the_job(tmp_path: Path) -> None:
    mechanism = Reads(sources(tmp_path)["file"])
    file(tmp_path, 0.0)
    drawn(mechanism, tmp_path / "work.sqlite")
    (tmp_path / "setting").unlink()
    with pytest.raises(InvalidDataError, match="raised FileNotFoundError"):
        drawn(mechanism, tmp_path / "work.sqlite")


def test_one_block_of_each_size_is_run_again_while_a_store_is_open(tmp_path: Path) -> None:
    """Small ones do not vouch for large ones; those of other data vouch for none."""
    log = tmp_path / "log"
    walk, path = SlowWalk(str(log)), tmp_path / "work.sqlite"
    for runs in (3, 10):
        run(walk, np.zeros(2), runs=runs, seed=1, block_size=10, store=path)
    with Store(path) as store:
        for runs in (3, 3, 10, 10, 3):
            run(walk, np.zeros(2), runs=runs, seed=1, block_size=10, store=store)
        assert store.reuse().blocks_compared == 2
        run(walk, np.ones(2), runs=10, seed=1, block_size=10, store=store)
        assert store.reuse().blocks_compared == 2
        assert "2 of these blocks run again" in store.reuse().summary()
    assert len(log.read_text().splitlines()) == 2 + 2 + 1


def test_which_block_is_run_again_does_not_depend_on_chance(tmp_path: Path) -> None:
    """One run in 45 differs: the same block is compared each time, whichever it is."""
    mechanism, store = Reads(sources(tmp_path)["environment"], "one run"), tmp_path / "work.sqlite"
    environment(tmp_path, 0.0)
    drawn(mechanism, store)
    environment(tmp_path, 1.0)
    said = set()
    for _ in range(3):
        with pytest.raises(InvalidDataError) as caught:
            drawn(mechanism, store)
        said.add(str(caught.value))
    assert len(said) == 1


def test_counts_add_up() -> None:
    one = Reuse(store="s", blocks=5, blocks_taken=4, blocks_compared=2)
    assert one.since(Reuse(store="s", blocks=1, blocks_taken=1, blocks_compared=1)).blocks_compared == 1
    assert Reuse(store="s").summary() == ""
