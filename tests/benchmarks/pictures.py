"""The pictures of README and gallery, into docs/images: what the commands on these pages draw, and screens of reports.

Screens need chromium, the library's picture needs diffprivlib; what is missing is said, and its picture stays as it is.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from PIL import Image, ImageChops

from tests.packaging.page_blocks import DOCS, blocks, write_files

IMAGES = DOCS / "images"
ROOT = DOCS.parent
_WIDTH = 1100


def run(script: str, folder: Path) -> None:
    """A block of a page; an audit that finds a violation ends with 1."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    subprocess.run(["bash", "-c", script], cwd=folder, env={**os.environ, "PATH": path}, check=False)


def draw_scores(folder: Path, path: Path) -> None:
    """Histograms of the canaries' scores, with the right noise and with a third of it."""
    members = np.loadtxt(folder / "members.csv", skiprows=1) == 1
    with mpl.rc_context():
        mpl.rcdefaults()
        figure = Figure(figsize=(9, 3), layout="constrained")
        panels = figure.subplots(1, 2, sharey=True)
        for panel, name in zip(panels, ("right", "third"), strict=True):
            scores = np.loadtxt(folder / f"{name}.csv", skiprows=1)
            edges = np.linspace(scores.min(), scores.max(), 30)
            panel.hist(scores[members], edges, histtype="step", color="#0b5394", label="in the training set")
            panel.hist(
                scores[~members], edges, histtype="step", color="#b45f06", linestyle="--", label="not in it"
            )
            panel.locator_params(axis="x", nbins=4)
            panel.set(title=f"{name}.csv", xlabel="score of a canary", ylabel="canaries")
        panels[0].legend(frameon=False, fontsize="small", loc="upper right")
        figure.savefig(path)


def screen(report: Path, anchor: str, height: int, path: Path) -> None:
    """A screen of a report at a place on it, without the empty space around what it shows."""
    command = [
        "chromium", "--headless", "--no-sandbox", "--hide-scrollbars", "--virtual-time-budget=5000",
        f"--window-size={_WIDTH},{height}", f"--screenshot={path}", f"{report.resolve().as_uri()}#{anchor}",
    ]  # fmt: skip
    subprocess.run(command, check=True, capture_output=True)
    with Image.open(path) as shown:
        whole = shown.convert("RGB")
    empty = Image.new("RGB", whole.size, whole.getpixel((0, 0)))
    _, top, _, bottom = ImageChops.difference(whole, empty).getbbox() or (0, 0, 0, whole.height)
    whole.crop((0, max(0, top - 12), whole.width, min(whole.height, bottom + 12))).save(path, optimize=True)


def main() -> None:
    """Draw all that can be drawn here."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ledger", type=Path, help="of a whole run, beside its report")
    report = parser.parse_args().ledger.with_name("report.html")
    gallery = DOCS / "gallery.md"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for page in (ROOT / "README.md", gallery, DOCS / "how-to" / "one-training-run.md"):
            write_files(page, folder)
        (script,) = [block for block in blocks(ROOT / "README.md", "sh") if "my_release:" in block]
        run(f"{script.rstrip()} --plot {IMAGES / 'audit.png'}", folder)
        run("python train.py right 5 && python train.py third 1.667", folder)
        draw_scores(folder, IMAGES / "scores.png")
        if importlib.util.find_spec("diffprivlib") is None:
            print("diffprivlib is not installed: library.png stays as it is")
        else:
            (script,) = [block for block in blocks(gallery, "sh") if "library:" in block]
            run(script.replace("library.png", str(IMAGES / "library.png")), folder)
        if shutil.which("chromium") is None:
            print("chromium is not installed: report.png, theorem.png and paper.png stay as they are")
            return
        screen(report, "summary", 900, IMAGES / "report.png")
        (page,) = blocks(gallery, "markdown")
        (folder / "last-iterate.md").write_text(page, encoding="utf-8")
        (script,) = [block for block in blocks(gallery, "sh") if "last-iterate" in block]
        run(script, folder)
        screen(folder / "theorem" / "report.html", "last-iterate", 820, IMAGES / "theorem.png")
        shutil.copytree(DOCS / "examples" / "bun-steinke" / "bs16", folder / "bs16")
        run("dpverify verify --paper bs16 --out paper", folder)
        screen(folder / "paper" / "report.html", "letter--bs16", 720, IMAGES / "paper.png")


if __name__ == "__main__":
    main()
