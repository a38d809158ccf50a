"""Theorems about selection: wrong constants are not derived, and the checker refuses a fault in any step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest

from dpverify.proving.checker.theorems import steps
from dpverify.proving.theorems.derivation import Derivation, UnderivedError
from dpverify.statements.theorems.library import FOLDER, derive, shipped
from dpverify.statements.theorems.pages import read_theorems

WRONG = {
    "theorem.bounded-range": (r"{2\Delta}", r"{\Delta}"),
    "theorem.noisy-max": (r"2\Delta", r"\Delta"),
    "theorem.noisy-max-exponential": (
        r"\mathrm{Exp}(2\Delta/\varepsilon)",
        r"\mathrm{Exp}(\Delta/\varepsilon)",
    ),
    "theorem.noisy-max-laplace": (r"\mathrm{Lap}(2\Delta/\varepsilon)", r"\mathrm{Lap}(\Delta/\varepsilon)"),
    "theorem.sparse-vector": (r"\mathrm{Lap}(2\Delta/\varepsilon)", r"\mathrm{Lap}(\Delta/\varepsilon)"),
    "theorem.permute-and-flip": (r"{2\Delta}", r"{\Delta}"),
}
"""Half of the noise, wherever it stands on the page."""


class StepFailedError(Exception):
    """The first step that does not follow; those behind it are not tried."""


@pytest.fixture
def first_failure(monkeypatch):
    step = Derivation.step

    def tried(*given: object) -> int:
        try:
            return step(*given)
        except UnderivedError as error:
            raise StepFailedError from error

    monkeypatch.setattr(Derivation, "step", tried)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("id_", WRONG)
@pytest.mark.usefixtures("first_failure")
def test_half_of_the_noise_is_not_derived(id_, tmp_path):
    sections = (FOLDER / "selection.md").read_text(encoding="utf-8").split("\n## ")
    section = "## " + next(part for part in sections if f"{{#{id_}}}" in part)
    old, new = WRONG[id_]
    assert old in section
    page = tmp_path / "wrong.md"
    page.write_text(section.replace(old, new).replace(f"{{#{id_}}}", "{#mine.wrong}"), encoding="utf-8")
    (wrong,) = read_theorems(page)
    with pytest.raises(StepFailedError):
        derive(wrong)


def faults(step: Mapping[str, object]) -> Iterator[dict[str, object]]:
    """The same step with a fault."""
    match step["step"]:
        case "use":
            yield {**step, "of": "rule.same" if step["of"] != "rule.same" else "rule.cases"}
            if step["from"]:
                yield {**step, "from": step["from"][:-1]}
                yield {**step, "from": [*step["from"][:-1], 0 if step["from"][-1] else 1]}
        case "arithmetic":
            yield {**step, "claim": opposite(step["claim"])}
        case "block":
            head, letters, premises, claim = step["claim"]
            yield {**step, "claim": [head, letters, premises, opposite(claim)]}
            yield {**step, "steps": []}


def opposite(claim: list) -> list:
    return ["not", claim]


class Tampering(steps.ProofState):
    """Takes each step only after each fault in it was refused."""

    refused = 0

    def take(self, value: object) -> None:
        known = len(self.facts)
        for wrong in faults(value):
            with pytest.raises((ValueError, KeyError)):
                super().take(wrong)
            assert len(self.facts) == known
            Tampering.refused += 1
        super().take(value)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("id_", WRONG)
def test_a_fault_in_any_step_is_refused(id_, monkeypatch):
    """Another rule, a premise less or another one, the opposite of a claim, no steps: at all steps, at each depth."""
    found = derive(shipped()[id_])
    assert steps.show(found.certificate) == "derived"
    monkeypatch.setattr(steps, "ProofState", Tampering)
    before = Tampering.refused
    assert steps.show(found.certificate) == "derived"
    assert Tampering.refused > before + 20
