"""A theorem on a Markdown page: a table of letters and `$$` displays, which any forge shows and `prove` proves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from dpverify.errors import InvalidArgumentError
from dpverify.evidence import Coverage
from dpverify.formulas.expressions import Number, Variable, integer, real
from dpverify.formulas.logic import Compare
from dpverify.formulas.notation import read_display
from dpverify.formulas.notation.tokens import Latex
from dpverify.formulas.units import DIMENSIONLESS, LENGTH, LOSS, NATS, RECORDS, Unit
from dpverify.formulas.vectors import vector
from dpverify.proving.language import Statement
from dpverify.statements.sheet import Sheet

LARGEST = 1_000_000
"""Characters of a page at most."""


@dataclass(frozen=True)
class _Block:
    """A display and the line of text before it."""

    line: int
    latex: str
    before: str


def where_on(name: str, line: int) -> str:
    """Where a display stands, as evidence about it says; lines are counted from 1."""
    return f"{name}, line {line}"


def line_of(where: str) -> int:
    """The line that `where_on` names; 1 where none is named."""
    match = re.search(r", line (\d+)$", where)
    return int(match[1]) if match else 1


def read_page(path: Path) -> Statement:
    """The statement on a page; docs/notation.md says how a page is written.

    Raises:
        InvalidArgumentError: for a file that cannot be read, a page without letters or displays, and whatever on it
            cannot be read; with the number of the line.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidArgumentError("page", str(path), f"a text file that can be read ({error})") from None
    if len(text) > LARGEST:
        raise InvalidArgumentError("page", str(path), f"a file of at most {LARGEST} characters")
    return _Page(path, text.splitlines()).statement()


class _Page:
    def __init__(self, path: Path, lines: list[str]) -> None:
        self.path, self.lines = path, _without_code(lines)
        self.source = lines

    def wrong(self, line: int, what: str, value: object, allowed: str) -> InvalidArgumentError:
        return InvalidArgumentError(f"{self.path.name}, line {line + 1}: {what}", value, allowed)

    def statement(self) -> Statement:
        letters = self.letters()
        title = next((line.lstrip("# ").strip() for line in self.lines if line.startswith("# ")), "")
        sheet = Sheet(self.path.stem, letters, title=title, where=self.path.name)
        for block in self.blocks():
            try:
                sheet = self.with_block(sheet, block)
            except InvalidArgumentError as error:
                if error.argument.startswith(self.path.name):
                    raise
                argument = error.argument.removeprefix(f"{sheet.id}/")
                raise self.wrong(block.line, argument, error.value, error.allowed) from None
        if not sheet.rows:
            raise InvalidArgumentError("page", str(self.path), "a page with a formula between `$$` and `$$`")
        return sheet.statement

    # -------------------------------------------------------------------------------------------- letters

    def letters(self) -> tuple[Variable, ...]:
        head = next((i for i, line in enumerate(self.lines) if _is_head(line)), None)
        if head is None:
            raise InvalidArgumentError(
                "page",
                str(self.path),
                "a page with a table of letters, whose columns are `letter`, `domain`, ...",
            )
        names = [_plain(cell).lower() for cell in _cells(self.lines[head])]
        found: list[Variable] = []
        for i in range(head + 2, len(self.lines)):
            if not self.lines[i].strip().startswith("|"):
                break
            cells = dict(zip(names, _cells(self.lines[i]), strict=False))
            found.append(self.letter(i, cells))
        if not found:
            raise self.wrong(head, "table", self.lines[head].strip(), "a row for each letter")
        doubled = {v.name for v in found if sum(w.name == v.name for w in found) > 1}
        if doubled:
            raise self.wrong(head, "table", sorted(doubled), "letters with different names (column `name`)")
        return tuple(found)

    def letter(self, line: int, cells: dict[str, str]) -> Variable:
        latex = _in_dollars(cells.get("letter") or cells.get("symbol") or "")
        name = _plain(cells.get("name", "")) or re.sub(r"[\\{}$\s]", "", latex)
        if not name:
            raise self.wrong(
                line, "letter", self.lines[line].strip(), "a letter such as $\\sigma$ in its column"
            )
        unit = self.unit(line, _plain(cells.get("unit", "")))
        domain = _in_dollars(cells.get("domain", ""))
        kind, bounds = self.domain(line, domain)
        try:
            make: Any = {"integer": integer, "real": real, "vector": vector}[kind]
            made: Variable = make(
                name, unit=unit, meaning=_plain(cells.get("meaning", "")), latex=latex, **bounds
            )
        except InvalidArgumentError as error:
            if error.argument.partition(" of ")[0] in ("gt", "ge", "lt", "le"):
                allowed = "a domain whose ends are finite integers or fractions, such as `> 0` or `[0, 1/2]`"
                raise self.wrong(line, "domain", domain, allowed) from None
            raise self.wrong(line, error.argument, error.value, error.allowed) from None
        return made

    def domain(self, line: int, text: str) -> tuple[str, dict[str, str]]:
        plain = text.replace(r"\infty", "oo").replace(r"\ge", ">=").replace(r"\le", "<=").replace("≥", ">=")
        plain = plain.replace("≤", "<=").replace("∞", "oo").replace("in ", " ").replace(r"\in", " ")
        words = re.match(r"\s*([A-Za-z ]*?)\s*(?=[\[(<>]|$)(.*)", plain)
        word, rest = (words[1].strip().lower(), words[2].replace(" ", "")) if words else ("?", "")
        kinds = {
            "": "real", "real": "real", "reals": "real", "integer": "integer", "integers": "integer",
            "vector": "vector", "vectors": "vector",
        }  # fmt: skip
        bounds: dict[str, str] | None = {}
        if rest:
            bounds = _interval(rest) if rest[0] in "[(" else _bounds(rest)
        allowed = {"real": {"gt", "ge", "lt", "le"}, "integer": {"ge", "le"}, "vector": set[str]()}
        if word not in kinds or bounds is None or set(bounds) - allowed[kinds[word]]:
            raise self.wrong(
                line,
                "domain",
                text,
                "a domain such as `real`, `> 0`, `[0, 1)`, `integer`, `integer >= 1`, `integers in [1, 9]`, `vector`",
            )
        return kinds[word], bounds

    def unit(self, line: int, text: str) -> Unit:
        known = {
            "": DIMENSIONLESS, "1": DIMENSIONLESS, "dimensionless": DIMENSIONLESS, "nats": NATS, "records": RECORDS,
            "record count": RECORDS, "loss": LOSS, "length": LENGTH,
        }  # fmt: skip
        if text in known:
            return known[text]
        unit, sign = Unit(), 1
        for part in re.findall(r"/|\*|[^\s/*]+", text):
            if part in "/*":
                sign = -1 if part == "/" else 1
                continue
            base, _, power = part.partition("^")
            if base not in ("1", "loss", "length") or not re.fullmatch(r"-?[1-9]?", power):
                raise self.wrong(
                    line, "unit", text, "powers of `loss` and `length`, `nats`, `record count`, or nothing"
                )
            unit = unit * (known[base] ** (sign * int(power or 1)))
            sign = 1
        return unit

    # ------------------------------------------------------------------------------------------- displays

    def blocks(self) -> Iterator[_Block]:
        """Every display, between `$$` and `$$` or in a fence that says `math`."""
        start, latex, fence = -1, "", ""
        for i, line in enumerate(self.lines):
            text = line.strip()
            if start < 0:
                if text.startswith("```math"):
                    start, latex, fence = i, "", "```"
                    continue
                if not text.startswith("$$"):
                    continue
                start, latex, fence, text = i, "", "$$", text[2:]
            inside, closed, _ = text.partition(fence)
            latex += inside + "\n"
            if closed:
                yield _Block(start, latex.strip(), self.before(start))
                start = -1
        if start >= 0:
            raise self.wrong(start, "display", self.lines[start].strip(), f"a closing `{fence}`")

    def before(self, line: int) -> str:
        """The last sentence right before a display, if it ends with a colon."""
        while line > 0 and not self.lines[line - 1].strip():
            line -= 1
        text = self.lines[line - 1].strip() if line else ""
        if text.startswith(("|", "#", "$$", "```")) or not text.endswith(":"):
            return ""
        return re.split(r"(?<=[.;!?])\s+(?=[A-Z])", text)[-1]

    def with_block(self, sheet: Sheet, block: _Block) -> Sheet:
        said = block.before.rstrip(":").strip()
        define = re.match(r"(?:Define|Let)\b(?:.*?\bfor (?:every|all|each|any) \$(?P<of>[^$]+)\$)?", said)
        if define:
            return self.defined(sheet, block, define["of"])
        name, coverage, options = self.said(block.line, said, sheet)
        if any(row.name == name for row in sheet.rows):
            raise self.wrong(block.line, "name", name, "a name that no other display has")
        add = {
            Coverage.WHOLE: sheet.whole, Coverage.STEP: sheet.step, Coverage.CONDITION: sheet.condition,
            Coverage.REFERENCE: sheet.reference, Coverage.INSTANCE: sheet.instance,
        }[coverage]  # fmt: skip
        return add(name, block.latex, where=where_on(self.path.name, block.line + 1), **options).read()

    def defined(self, sheet: Sheet, block: _Block, of: str | None) -> Sheet:
        latex = re.sub(r"\\(?:begin|end)\{[a-z*]+\}|&", "", block.latex).rstrip(" .,;")
        left, equal, body = latex.partition("=")
        if not equal:
            raise self.wrong(block.line, "definition", Latex(block.latex), "a letter, `=` and its definition")
        parameter = None
        if of is not None:
            parameter = next((v for v in sheet.letters if v.latex == of.strip()), None)
            if parameter is None:
                raise self.wrong(block.line, "parameter", Latex(of), "a letter of the table")
        return sheet.define(left.strip().removesuffix(":").strip(), body.strip(), parameter=parameter).read()

    def said(self, line: int, text: str, sheet: Sheet) -> tuple[str, Coverage, dict[str, Any]]:
        """Name, coverage and options from the line before a display: `Bound (step; given $t\\le n$)`."""
        match = re.fullmatch(r"(.*?)\s*\(([^()]*(?:\([^()]*\)[^()]*)*)\)", text)
        items = [item.strip() for item in match[2].split(";")] if match else []
        coverages = {str(c) for c in Coverage if c is not Coverage.UNIT}
        if not items or not re.match(
            rf"(?:{'|'.join(coverages)}|given|on|read as|uses|soft|fixed|premises)\b", items[0]
        ):
            return _plain(text) or self.unnamed(sheet), Coverage.WHOLE, {}
        coverage, options = Coverage.WHOLE, dict[str, Any]()
        for item in items:
            word, _, rest = item.partition(" ")
            if word.rstrip(":") in coverages:
                coverage = Coverage(word.rstrip(":"))
                if coverage is Coverage.INSTANCE:
                    options["case"] = _plain(rest) or "a special case"
            elif word == "given":
                options["given"] = ", ".join(re.findall(r"\$([^$]+)\$", rest)) or rest
            elif word == "on":
                options["box"] = self.box(line, rest, sheet)
            elif item.startswith("read as"):
                options["reading"] = _in_dollars(item.removeprefix("read as"))
            elif word in ("soft", "fixed"):
                options[word] = _in_dollars(rest)
            elif word == "premises":
                options[word] = _plain(rest)
            elif word == "uses":
                options["uses"] = tuple(re.split(r"[,\s]+", rest.strip()))
            else:
                raise self.wrong(
                    line - 1,
                    "note",
                    item,
                    "a coverage, `given $...$`, `on $...$`, `read as $...$`, `uses ...`, `soft $...$`, "
                    "`fixed $...$` or `premises some`",
                )
        return _plain(match[1] if match else "") or self.unnamed(sheet), coverage, options

    @staticmethod
    def unnamed(sheet: Sheet) -> str:
        return f"display {len(sheet.rows) + 1}"

    def box(self, line: int, text: str, sheet: Sheet) -> dict[str, tuple[Fraction, Fraction]]:
        """`$0\\le x\\le 1$, $y\\in[0,2]$`: the ends for each letter."""
        found: dict[str, dict[str, Fraction]] = {}
        for latex in re.findall(r"\$([^$]+)\$", text) or [text]:
            formula = read_display(latex, sheet.letters).claim
            for part in getattr(formula, "parts", (formula,)):
                match part:
                    case Compare("<=", Number(value), Variable(name)):
                        found.setdefault(name, {})["low"] = value
                    case Compare("<=", Variable(name), Number(value)):
                        found.setdefault(name, {})["high"] = value
                    case _:
                        found["?"] = {}
        if any(set(ends) != {"low", "high"} for ends in found.values()):
            raise self.wrong(
                line - 1, "box", Latex(text), r"both ends of each letter, such as `on $0\le x\le 1$`"
            )
        return {name: (ends["low"], ends["high"]) for name, ends in found.items()}


def _without_code(lines: list[str]) -> list[str]:
    """The lines with those inside of fences empty, but for fences that say `math`."""
    out, fence = [], ""
    for line in lines:
        text = line.strip()
        shown = line if fence in ("", "math") else ""
        if fence:
            fence = "" if text in ("```", "~~~") else fence
        elif text.startswith(("```", "~~~")):
            fence = "math" if text[3:].strip() == "math" else text[:3]
            shown = line if fence == "math" else ""
        out.append(shown)
    return out


def _cells(line: str) -> list[str]:
    """The cells of a row; a bar within dollars, or after a backslash, is none."""
    parts = re.findall(r"(?:\$[^$]*\$|\\\||[^|])+", line.strip().strip("|"))
    return [part.strip() for part in parts]


def _is_head(line: str) -> bool:
    names = {_plain(cell).lower() for cell in _cells(line)} if line.strip().startswith("|") else set()
    return bool(names & {"letter", "symbol"}) and "domain" in names


def _plain(text: str) -> str:
    return re.sub(r"[*`$]|(?<!\w)_|_(?!\w)", "", text).strip()


def _in_dollars(text: str) -> str:
    match = re.search(r"\$([^$]+)\$", text)
    return (match[1] if match else text.strip("` ")).strip()


def _interval(text: str) -> dict[str, str] | None:
    match = re.fullmatch(r"([\[(])([^,]+),([^,]+)([\])])", text)
    if match is None:
        return None
    bounds: dict[str, str] = {}
    if match[2] != "-oo":
        bounds["ge" if match[1] == "[" else "gt"] = match[2]
    if match[3] not in ("oo", "+oo"):
        bounds["le" if match[4] == "]" else "lt"] = match[3]
    return bounds


def _bounds(text: str) -> dict[str, str] | None:
    signs = {">=": "ge", ">": "gt", "<=": "le", "<": "lt"}
    parts = re.findall(r"(>=|<=|>|<)([^<>=,]+)", text)
    if not parts or "".join(sign + value for sign, value in parts) != text.replace(",", ""):
        return None
    return {signs[sign]: value for sign, value in parts}
