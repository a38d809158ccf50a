"""Faults in the steps of certificates, and a checker's state that takes no step before each fault in it was refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from dpverify.proving.checker.theorems import steps
from dpverify.statements.theorems.library import derive
from dpverify.statements.theorems.names import FOLDER
from dpverify.statements.theorems.pages import read_theorems


class StepFailedError(Exception):
    """The first step that does not follow; those behind it are not tried."""


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


def demand_underived(id_: str, old: str, new: str, folder: Path) -> None:
    """That a shipped theorem is not derived with a fault in it."""
    page = next(p for p in FOLDER.glob("*.md") if f"{{#{id_}}}" in p.read_text(encoding="utf-8"))
    sections = page.read_text(encoding="utf-8").split("\n## ")
    section = "## " + next(part for part in sections if f"{{#{id_}}}" in part)
    assert old in section
    wrong = folder / "wrong.md"
    wrong.write_text(section.replace(old, new).replace(f"{{#{id_}}}", "{#mine.wrong}"), encoding="utf-8")
    (theorem,) = read_theorems(wrong)
    with pytest.raises(StepFailedError):
        derive(theorem)
