"""What tests of derivations share."""

from __future__ import annotations

import pytest

from dpverify.proving.theorems.derivation import Derivation, UnderivedError

from .tampering import StepFailedError


@pytest.fixture
def first_failure(monkeypatch):
    step = Derivation.step

    def tried(*given: object) -> int:
        try:
            return step(*given)
        except UnderivedError as error:
            raise StepFailedError from error

    monkeypatch.setattr(Derivation, "step", tried)
