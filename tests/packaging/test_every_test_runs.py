"""No test file may sit where pytest does not look."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_test_file_is_below_tests_and_named_so_that_pytest_collects_it() -> None:
    holding_tests = [
        file
        for folder in ("dpverify", "algorithms", "properties", "reports", "tests")
        for file in (ROOT / folder).rglob("*.py")
        if "\ndef test_" in file.read_text(encoding="utf-8")
    ]
    assert holding_tests
    assert [
        f for f in holding_tests if not (f.is_relative_to(ROOT / "tests") and f.name.startswith("test_"))
    ] == []
