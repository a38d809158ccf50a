"""A plain checkout is one package: each module has one name."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
linked = pytest.mark.skipif(not (ROOT / "dpverify" / "reports").is_dir(), reason="this checkout has no links")


@pytest.mark.parametrize("folder", ["algorithms", "properties", "reports"])
def test_a_folder_has_the_name_of_its_package_alone(folder: str) -> None:
    refused = subprocess.run(
        [sys.executable, "-c", f"import {folder}"], cwd=ROOT, capture_output=True, text=True
    )
    assert refused.returncode != 0
    assert f"this folder is the package dpverify.{folder}; '{folder}' was imported" in refused.stderr


@linked
def test_links_lead_to_the_folders() -> None:
    found = {
        folder: (ROOT / "dpverify" / folder).resolve() for folder in ("algorithms", "properties", "reports")
    }
    assert found == {folder: ROOT / folder for folder in found}
    # from the checkout alone, without what an installation adds to the path
    said = (
        "import sys, dpverify.algorithms.contract as c, dpverify.reports as r; print(c.__file__, r.__file__)"
    )
    found_at = subprocess.run(
        [sys.executable, "-c", said], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert found_at.stdout.count(str(ROOT / "dpverify")) == 2
