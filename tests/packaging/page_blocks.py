"""What stands on a page of the documentation: its code blocks, its headings, its links."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.S | re.M)
_LINK = re.compile(r"(?<!\\)\]\(([^)#\s]*)(?:#([^)\s]*))?\)")


def blocks(page: Path, language: str) -> list[str]:
    """The code blocks of one language, in their order."""
    return [text for name, text in _FENCE.findall(page.read_text(encoding="utf-8")) if name == language]


def commands(page: Path) -> list[str]:
    """The commands of a page's shell blocks, indented ones too, each on one line and without a comment behind it."""
    found = []
    for block in re.findall(
        r"^ *```(?:sh|console)\n(.*?)^ *```$", page.read_text(encoding="utf-8"), re.S | re.M
    ):
        # what goes into a file or a program is no command
        text = re.sub(r"<<'(\w+)'\n.*?^ *\1$", "", block.replace("\\\n", " "), flags=re.S | re.M)
        found += [re.sub(r"\s+# .*$", "", line).strip() for line in text.splitlines()]
    return [command for command in found if command]


def languages(page: Path) -> set[str]:
    """The languages of a page's code blocks."""
    return {name for name, _ in _FENCE.findall(page.read_text(encoding="utf-8"))}


def links(page: Path) -> list[tuple[str, str]]:
    """Targets and anchors of the links and pictures outside of code; either may be empty."""
    text = _FENCE.sub("", page.read_text(encoding="utf-8"))
    return [found for found in _LINK.findall(re.sub(r"`[^`\n]*`", "", text)) if any(found)]


def anchors(page: Path) -> set[str]:
    """What the headings of a page are called in links."""
    text = _FENCE.sub("", page.read_text(encoding="utf-8"))
    found = set()
    for heading in re.findall(r"^#+ (.*)$", text, re.M):
        plain = unicodedata.normalize("NFKD", heading.replace("`", "").replace("\\", "")).lower()
        found.add(re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", plain).strip()))
    return found


def write_files(page: Path, folder: Path) -> None:
    """Write the blocks that begin with a comment with their name, as `# survey.py`, into files of that name."""
    for block in blocks(page, "python"):
        if name := re.match(r"# (\w+\.py)\n", block):
            (folder / name[1]).write_text(block, encoding="utf-8")


def said(block: str) -> list[str]:
    """What a block of output says line by line, up to an ellipsis, with what goes on in the next line taken along."""
    lines: list[str] = []
    for line in block.splitlines():
        if line.startswith("          ") and lines:
            lines[-1] += " " + line.strip()
        else:
            lines.append(line)
    return [" ".join(line.partition("...")[0].split()) for line in lines]
