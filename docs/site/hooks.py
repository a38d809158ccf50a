"""What the site has beside the pages in docs: the README and its neighbors, linked sources, and formulas as MathML.

MkDocs calls the functions whose names begin with `on_`. Nothing is loaded from the network by the pages that result.
"""

from __future__ import annotations

import html
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
MADE = ROOT / "build" / "pages"
"""Pages that are made of a ledger; links on them start from where they would lie in docs."""

ADDED = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
"""Pages that lie outside docs, and what they are called on the site."""

STYLE = """
.md-typeset math[display="block"] { margin: 1em 0; overflow-x: auto; overflow-y: hidden; }
.md-typeset table:not([class]) td:nth-child(3) { min-width: 16em; }
"""

_LINK = re.compile(r"(?<=\]\()([^)#\s]+)(#[^)\s]*)?(?=\))")
_CODE = re.compile(r"(^```.*?^```[ \t]*$|``[^`].*?``|`[^`\n]+`)", re.S | re.M)
_FORMULA = re.compile(r'<(span|div) class="arithmatex">(.*?)</\1>', re.S)


def source_of(page: str) -> Path:
    """The file from which a page of the site is made."""
    outside = {site: name for name, site in ADDED.items()}
    made = MADE / page
    return ROOT / outside[page] if page in outside else made if made.is_file() else DOCS / page


def folder_of(page: str) -> Path:
    """From which the links of a page start."""
    source = source_of(page)
    return (DOCS / page).parent if source.is_relative_to(MADE) else source.parent


def linked(page: str) -> list[Path]:
    """Files outside docs, no pages, that a page links to."""
    text, folder = source_of(page).read_text(encoding="utf-8"), folder_of(page)
    found = [
        (folder / match[1]).resolve() for part in _CODE.split(text)[::2] for match in _LINK.finditer(part)
    ]
    return [
        path
        for path in found
        if path.is_relative_to(ROOT)
        and path.is_file()
        and not path.is_relative_to(DOCS)
        and str(path.relative_to(ROOT)) not in ADDED
    ]


def place_on_site(path: Path) -> str | None:
    """Where a file of the repository lies on the site; None for what is not there."""
    if not (path.is_relative_to(ROOT) and path.is_file()):
        return None
    if path.is_relative_to(DOCS):
        return path.relative_to(DOCS).as_posix()
    name = path.relative_to(ROOT).as_posix()
    return ADDED.get(name, f"source/{name}.txt")


def with_links_of_the_site(page: str, text: str) -> str:
    """A page's Markdown with links that lead outside docs turned into links to where those files are on the site."""

    def changed(match: re.Match[str]) -> str:
        place = place_on_site((folder_of(page) / match[1]).resolve())
        if place is None:
            return match[0]
        return os.path.relpath(place, Path(page).parent) + (match[2] or "")

    parts = _CODE.split(text)
    return "".join(_LINK.sub(changed, part) if i % 2 == 0 else part for i, part in enumerate(parts))


# ------------------------------------------------------------------------------------------- called by MkDocs


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the pages from outside, the style, and the sources that pages link to."""
    from mkdocs.structure.files import File

    for name, page in ADDED.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=text))
    for path in sorted(MADE.rglob("*.md")):
        text = path.read_text(encoding="utf-8")
        files.append(File.generated(config, path.relative_to(MADE).as_posix(), content=text))
    files.append(File.generated(config, "assets/site.css", content=STYLE))
    sources = {path for file in files.documentation_pages() for path in linked(file.src_uri)}
    for path in sorted(sources):
        text = path.read_text(encoding="utf-8")
        files.append(File.generated(config, str(place_on_site(path)), content=text))
    return files


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Links as the site has them."""
    return with_links_of_the_site(page.file.src_uri, markdown)


def on_page_content(content: str, **_: Any) -> str:
    """Formulas as MathML, which browsers show by themselves."""
    from dpverify.reports.mathml import mathml

    def shown(match: re.Match[str]) -> str:
        from xml.etree import ElementTree

        latex = html.unescape(match[2])[2:-2].strip()  # between \( and \), or \[ and \]
        display = "block" if match[1] == "div" else "inline"
        root = mathml(latex, display)
        if root is None:
            return f"<code>{html.escape(latex)}</code>"
        return ElementTree.tostring(root, encoding="unicode")

    return _FORMULA.sub(shown, content)
