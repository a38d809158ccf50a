"""Trainings with canaries: the right ones pass, and faults are found by the canaries that the page names."""

from __future__ import annotations

import importlib.util
from functools import lru_cache
from pathlib import Path
from types import ModuleType

import pytest

from dpverify.privacy import Guarantee

from .guesses import refuted

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
NEEDED = {"numpy": ("numpy",), "opacus": ("opacus",), "jax_privacy": ("jax_privacy", "optax")}
LEVEL = 1e-3
"""Probability of a false alarm; all seeds are fixed but those of no one's choice."""

# the canaries, the faults that they find, with how many guesses, and whether of members alone
FOUND = [
    ("gradient", "noise", 200, False),
    ("gradient", "clipping", 200, False),
    ("gradient", "rate", 200, False),
    ("gradient", "same-batch", 100, True),
    ("blank", "clipping", 200, False),
    ("blank", "centered", 200, False),
]
NOT_FOUND = [("gradient", "none"), ("blank", "none"), ("gradient", "shuffled"), ("gradient", "centered")]
LIBRARIES = pytest.mark.parametrize("library", NEEDED)


@lru_cache
def example(library: str) -> ModuleType:
    """The example of a library."""
    for module in NEEDED[library]:
        pytest.importorskip(module, exc_type=ImportError)
    spec = importlib.util.spec_from_file_location(f"one_run_{library}", EXAMPLES / f"one_run_{library}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@lru_cache
def claim(library: str) -> Guarantee:
    """What it claims."""
    guarantee: Guarantee = example(library).CLAIM.guarantee()
    return guarantee


@LIBRARIES
@pytest.mark.parametrize(("kind", "fault", "guesses", "members_alone"), FOUND)
@pytest.mark.filterwarnings("default")  # other libraries' warnings are theirs
def test_a_fault_is_found(library: str, kind: str, fault: str, guesses: int, members_alone: bool) -> None:
    found = example(library).record(fault, kind).finish()
    assert refuted(found, claim(library), guesses=guesses, members_alone=members_alone, level=LEVEL)


@LIBRARIES
@pytest.mark.parametrize(("kind", "fault"), NOT_FOUND)
@pytest.mark.filterwarnings("default")
def test_nothing_is_found_in_the_right_training_nor_where_the_page_says_so(
    library: str, kind: str, fault: str
) -> None:
    """Of the right trainings by chance with probability 1e-3 each and look."""
    found = example(library).record(fault, kind).finish()
    for guesses, members_alone in ((200, False), (100, True)):
        assert not refuted(found, claim(library), guesses=guesses, members_alone=members_alone, level=LEVEL)


def test_canaries_of_the_clipping_norm_do_not_show_that_it_is_the_mean_that_is_clipped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    numpy = example("numpy")
    monkeypatch.setattr(numpy, "NORM", numpy.CLIP)
    found = numpy.record("clipping", "gradient").finish()
    assert not refuted(found, claim("numpy"), guesses=200, members_alone=False, level=LEVEL)
