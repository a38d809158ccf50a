"""The report in a real browser."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import matplotlib.image
import numpy as np
import pytest

from dpverify.ledger.evidence import Evidence
from dpverify.reports import render_html

from .ledger_example import AUDITS, CERTIFICATES, PROOFS, example_ledger

CHROMIUM = shutil.which("chromium")

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="Debian's chromium is not installed"),
]

# Without these it calls home for updates.
QUIET = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update"),
    *("--hide-scrollbars", "--enable-logging=stderr", "--virtual-time-budget=5000"),
)

MEASURE = """
addEventListener("load", async () => {
  const all = (selector) => [...document.querySelectorAll(selector)];
  const visible = (element) => element.getClientRects().length > 0;
  const sticksOut = (element) =>
    visible(element) &&
    element.getBoundingClientRect().right > innerWidth + 1 &&
    !element.closest(".scroll, .formula, pre");
  const found = {
    viewport: innerWidth,
    width: document.documentElement.scrollWidth,
    pages: all("main > .page").filter(visible).map((page) => page.id),
    current: all("[aria-current]").map((link) => link.hash),
    copyButtons: all("pre.command + button.copy").length,
    commands: all("pre.command").length,
    formulaHeight: Math.max(0, ...all(".current math").map((e) => e.getBoundingClientRect().height)),
    listed: all("#contents .group li").filter(visible).length,
    wide: all("body *").filter(sticksOut).map((e) => e.tagName + "." + e.className),
  };
  /* ACT */
  parent.postMessage([name, found], "*");
});
"""

FRAMES = """<!DOCTYPE html>
<title>frames</title>
<script>
const found = {};
addEventListener("message", (event) => {
  found[event.data[0]] = event.data[1];
  document.documentElement.dataset.found = JSON.stringify(found);
});
</script>
"""


def _run(folder: Path, page: Path, *arguments: str, fragment: str = "") -> subprocess.CompletedProcess[str]:
    """Open a page in a browser with an empty profile."""
    assert CHROMIUM is not None
    profile = folder / f"profile-{len(list(folder.iterdir()))}"
    done = subprocess.run(
        [CHROMIUM, *QUIET, f"--user-data-dir={profile}", *arguments, page.as_uri() + fragment],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    complaints = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    assert complaints == []
    return done


@pytest.fixture(scope="module")
def html() -> str:
    return render_html(example_ledger(), CERTIFICATES)


def _measured(folder: Path, html: str, *views: tuple[int, str], act: str = "") -> list[dict[str, Any]]:
    """What a script that is added to a copy of the page finds, for each width and address.

    The copy's policy lets that script in. Each view is a frame, since a window is at least 500 pixels wide.
    """
    script = MEASURE.replace("/* ACT */", act)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    text = html.replace("script-src '", f"script-src 'sha256-{digest}' '", 1)
    text = text.replace("</body>", f"<script>{script}</script></body>")
    (folder / "measured.html").write_text(text, encoding="utf-8")
    frames = folder / "frames.html"
    frames.write_text(
        FRAMES
        + "".join(
            f'<iframe name="view{number}" src="measured.html{fragment}" width="{width}" height="900"'
            f' style="border: 0"></iframe>'
            for number, (width, fragment) in enumerate(views)
        )
    )
    done = _run(folder, frames, "--window-size=1400,900", "--dump-dom")
    match = re.search(r'data-found="([^"]*)"', done.stdout)
    assert match is not None
    found: dict[str, dict[str, Any]] = json.loads(match[1].replace("&quot;", '"'))
    return [found[f"view{number}"] for number in range(len(views))]


def _screenshot(folder: Path, html: str, width: int, height: int) -> np.ndarray[Any, Any]:
    page, picture = folder / "report.html", folder / "picture.png"
    page.write_text(html, encoding="utf-8")
    _run(folder, page, f"--window-size={width},{height}", f"--screenshot={picture}")
    return np.asarray(matplotlib.image.imread(picture))[..., :3]


def test_one_section_at_a_time(tmp_path: Path, html: str) -> None:
    first, findings, inner = _measured(
        tmp_path, html, (1280, ""), (1280, "#letter--fmtt18--1"), (1280, "#fmtt18.thm1-schedule-corrected")
    )
    assert first["pages"] == ["summary"]
    assert first["current"] == ["#summary"]
    assert first["commands"] == first["copyButtons"] >= 1
    assert inner["commands"] == inner["copyButtons"] > first["commands"]
    assert first["listed"] == 7
    assert findings["pages"] == ["letter--fmtt18"]
    assert findings["current"] == ["#letter--fmtt18"]
    assert findings["formulaHeight"] > 30  # a fraction, not a line of characters
    assert inner["pages"] == ["fmtt18.thm1"]
    assert inner["current"] == ["#fmtt18.thm1"]


def test_a_section_is_text_until_it_is_shown(tmp_path: Path, html: str) -> None:
    act = """
      const filled = () => all("main > .page.subject").filter((e) => !e.querySelector("noscript")).map((e) => e.id);
      found.first = filled();
      location.hash = "#bst14.huber-smooth";
      await new Promise((done) => addEventListener("hashchange", () => setTimeout(done), { once: true }));
      found.then = filled();
    """
    (found,) = _measured(tmp_path, html, (1280, ""), act=act)
    assert found["first"] == []
    assert found["then"] == ["bst14.huber-smooth"]
    assert len(re.findall("<noscript>", html)) == len(re.findall("</noscript>", html)) >= 6


def test_filter(tmp_path: Path, html: str) -> None:
    act = """
      const fill = (id, value, kind) => {
        const field = document.getElementById(id);
        field.value = value;
        field.dispatchEvent(new Event(kind));
      };
      fill("filter-verdict", "refuted", "change");
      found.refuted = all("#contents .group li").filter(visible).length;
      fill("filter-text", "HUBER hinge", "input");
      found.both = all("#contents .group li:not(.out) .id").map((e) => e.textContent);
      fill("filter-verdict", "none", "change");
      fill("filter-text", "", "input");
      fill("filter-paper", "mn25", "change");
      found.says = document.getElementById("filter-count").textContent;
    """
    (found,) = _measured(tmp_path, html, (1280, ""), act=act)
    assert found["refuted"] == 2
    assert found["both"] == ["bst14.huber-smooth"]
    assert found["says"] == "0 sections, 157 rows of the catalog"


def test_nothing_sticks_out(tmp_path: Path, html: str) -> None:
    fragments = (
        "",
        "#bst14.alg1",
        "#fmtt18.thm1",
        "#bst14.huber-smooth",
        "#catalog",
        "#dependencies",
        "#reproduce",
    )
    views = [(width, fragment) for width in (320, 360, 700) for fragment in fragments]
    for view, found in zip(views, _measured(tmp_path, html, *views), strict=True):
        assert (view, found["viewport"]) == (view, view[0])
        assert (view, found["wide"]) == (view, [])
        assert found["width"] <= view[0]


def test_measuring_sees_what_sticks_out(tmp_path: Path, html: str) -> None:
    broken = html.replace('<p class="lead">', '<p class="lead" style="width: 500px">')
    (found,) = _measured(tmp_path, broken, (360, ""))
    assert found["width"] > 360
    assert found["wide"] == ["P.lead"]


def test_console_complaints_are_seen(tmp_path: Path, html: str) -> None:
    page = tmp_path / "report.html"
    changed = html.replace('"use strict";', '"use strict"; ')  # no longer what the policy lets in
    page.write_text(changed, encoding="utf-8")
    with pytest.raises(AssertionError, match=r"CONSOLE.*Executing inline script violates"):
        _run(tmp_path, page, "--dump-dom")


def test_without_script_everything_is_shown(tmp_path: Path, html: str) -> None:
    """Measured by a script, to which what is shown without scripts would be text: its marks are left out."""
    bare = re.sub(r"<script>.*?</script>|</?noscript>", "", html, flags=re.S)
    (found,) = _measured(tmp_path, bare, (360, ""))
    assert len(found["pages"]) == 14
    assert found["width"] <= 360
    assert found["wide"] == []


@pytest.mark.parametrize("width", [1280, 360])
def test_screenshots_show_a_page(tmp_path: Path, html: str, width: int) -> None:
    picture = _screenshot(tmp_path, html, width, 900)
    assert picture.shape[:2] == (900, width)
    gray = picture.mean(axis=2)
    assert np.median(gray) > 0.9  # light paper
    assert 0.01 < (gray < 0.5).mean() < 0.3  # with ink on it
    assert (np.ptp(picture, axis=2) > 0.3).any()  # and some color


def _pages_on_paper(folder: Path, html: str, *arguments: str) -> int:
    page, paper = folder / "report.html", folder / "report.pdf"
    page.write_text(html, encoding="utf-8")
    _run(folder, page, *arguments, f"--print-to-pdf={paper}", "--no-pdf-header-footer")
    content = paper.read_bytes()
    assert content.startswith(b"%PDF-")
    return len(re.findall(rb"/Type\s*/Page\b", content))


def test_prints(tmp_path: Path, html: str) -> None:
    pages = _pages_on_paper(tmp_path, html)
    assert 6 <= pages <= 18  # all sections, not only the current one
    assert _pages_on_paper(tmp_path, html, "--blink-settings=scriptEnabled=false") == pages
    assert 2 <= _pages_on_paper(tmp_path, render_html(example_ledger(), short=True)) < pages / 2 + 1


@pytest.mark.parametrize(
    ("entry", "pages"), [(AUDITS[0], 18), (AUDITS[2], 18), (PROOFS[0], 27), (PROOFS[4], 12)]
)
def test_a_page_of_paper_holds_several_cards(tmp_path: Path, entry: Evidence, pages: int) -> None:
    """Forty cards with their headings and rows in the summary; a card a page would be more than forty."""
    ledger = example_ledger(entries=(entry,) * 40, statements=())
    assert _pages_on_paper(tmp_path, render_html(ledger)) <= pages


def test_menu_on_a_phone(tmp_path: Path, html: str) -> None:
    act = """
      const menu = document.getElementById("menu"), list = document.getElementById("contents-list");
      const state = () => [visible(menu), visible(list), menu.getAttribute("aria-expanded")];
      found.states = [state()];
      menu.click();
      found.states.push(state());
      document.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape" }));
      found.states.push(state());
      found.focus = document.activeElement.id;
    """
    phone, desk = _measured(tmp_path, html, (360, ""), (1280, ""), act=act)
    assert phone["states"] == [[True, False, "false"], [True, True, "true"], [True, False, "false"]]
    assert phone["focus"] == "menu"
    assert [state[:2] for state in desk["states"]] == [[False, True]] * 3
