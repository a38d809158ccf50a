"""Colors of the page: text must stand out, on light and on dark, by WCAG's measure."""

from __future__ import annotations

import re
from importlib import resources

import pytest

CSS = resources.files("dpverify.reports").joinpath("report.css").read_text(encoding="utf-8")


def _luminance(color: str) -> float:
    """Relative luminance of `#rrggbb` (WCAG 2.2, definition of relative luminance)."""
    digits = color.removeprefix("#")
    digits = "".join(2 * digit for digit in digits) if len(digits) == 3 else digits
    channels = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first: str, second: str) -> float:
    """Contrast ratio, from 1 to 21."""
    light, dark = sorted((_luminance(first), _luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _schemes() -> dict[str, dict[str, str]]:
    """The variables of the light, dark and print schemes."""
    roots = re.findall(r":root \{(.*?)\}", CSS, re.S)
    light, dark, paper = (dict(re.findall(r"--([\w-]+): (#[0-9a-f]+)", root)) for root in roots)
    return {"light": light, "dark": {**light, **dark}, "print": {**light, **paper}}


def test_contrast_by_hand() -> None:
    assert contrast("#fff", "#000000") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("scheme", ["light", "dark", "print"])
def test_text_stands_out(scheme: str) -> None:
    colors = _schemes()[scheme]
    verdicts = ("proved", "certified", "supported", "refuted", "violated", "undecided")
    pairs = [(name, f"{name}-tint") for name in verdicts]
    pairs += [(ink, ground) for ink in ("ink", "soft", "link") for ground in ("page", "raised", "sunk")]
    pairs += [("plot-ink", "raised")]
    for ink, ground in pairs:
        assert contrast(colors[ink], colors[ground]) >= 4.5, (ink, ground)
    for mark in ("plot-claim", "plot-upper", "plot-measured", "focus"):
        assert contrast(colors[mark], colors["raised"]) >= 3, mark  # graphics, WCAG 1.4.11


def test_every_verdict_has_a_word_and_a_sign() -> None:
    signs = dict(re.findall(r'\.(\w+)::before \{ content: "(.)"', CSS))
    assert set(signs) >= {"proved", "certified", "supported", "refuted", "violated", "undecided"}
