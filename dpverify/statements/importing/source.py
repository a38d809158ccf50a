"""LaTeX as tokens with their lines, macros expanded.

What TeX would do and this does not is left as it stands, so that a formula with it is refused: delimited parameters,
definitions under a condition that differ, files that are not found.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from dpverify.errors import InvalidArgumentError
from dpverify.statements.importing.tables import words

LONGEST = 2_000_000
"""Tokens that macros may be expanded to at most."""


class SourceToken(NamedTuple):
    """A command, a brace, a character, a space, or `par` for an empty line."""

    text: str
    line: int
    file: str

    @property
    def command(self) -> bool:
        """Whether it is a command of letters."""
        return len(self.text) > 1 and self.text[0] == "\\" and self.text[1].isalpha()


@dataclass(frozen=True)
class _Macro:
    arguments: int
    default: tuple[SourceToken, ...] | None
    body: tuple[SourceToken, ...]
    starred: bool = False
    """Whether a star behind it is of no meaning."""


_TOKEN = re.compile(r"\\[A-Za-z@]+\*?|\\.|\n[ \t]*(?:\n[ \t]*)+|\s+|.", re.DOTALL)
_VERBATIM = re.compile(
    r"\\begin\{(verbatim\*?|lstlisting|minted|comment|Verbatim)\}.*?\\end\{\1\}|\\verb\*?([^A-Za-z\s]).*?\2"
    r"|\\iffalse\b.*?\\fi\b",
    re.DOTALL,
)
_COMMENT = re.compile(r"(?<!\\)((?:\\\\)*)%[^\n]*(?:\n[ \t]*(?=\S)|(?=\n)|$)")
_STARRED, _DEFINING = words("starred"), words("defining")
_KNOWN = r"""\newcommand{\mathpalette}[2]{#1{}{#2}}
\newcommand{\norm}[1]{\left\|#1\right\|}\newcommand{\abs}[1]{\left|#1\right|}"""


def tokens_of(text: str, file: str) -> list[SourceToken]:
    """Tokens of a source text; comments and what is printed verbatim are left out, lines stay."""

    def blank(found: re.Match[str]) -> str:
        return " " + "\n" * found[0].count("\n")

    text = _COMMENT.sub(
        lambda m: m[1] + "\0" * m[0].count("\n"), text.replace("\0", " ").replace("\r\n", "\n")
    )
    text = _VERBATIM.sub(blank, text)
    found, line = [], 1
    for match in _TOKEN.finditer(text):
        said = match[0]
        if said == "\0":
            line += 1
            continue
        new = said.count("\n")
        if said.isspace():
            found.append(SourceToken("par" if new > 1 else " ", line, file))
        elif len(said) > 2 and said.endswith("*") and said[:-1] not in _STARRED:
            found += [SourceToken(said[:-1], line, file), SourceToken("*", line, file)]
        else:
            found.append(SourceToken(said, line, file))
        line += new
    return found


def latex_of(tokens: Iterable[SourceToken]) -> str:
    """Tokens as LaTeX."""
    out: list[str] = []
    for token in tokens:
        text = " " if token.text == "par" else token.text
        if out and text[:1].isalpha() and re.fullmatch(r"\\[A-Za-z@]+", out[-1]):
            out.append(" ")
        out.append(text)
    return re.sub(r"\s+", " ", "".join(out)).strip()


class ExpandedSource:
    """A source with its macros expanded, the environments of its theorems, and what could not be followed."""

    def __init__(self, path: Path, text: str) -> None:
        self.path = path
        self.theorems: dict[str, str] = {}
        """Title of each environment that is declared as a theorem's."""
        self.left: list[tuple[str, int, str]] = []
        """File, line and reason of what is not followed."""
        self.macros: dict[str, _Macro] = {}
        self.environments: dict[str, tuple[_Macro, tuple[SourceToken, ...]]] = {}
        self.undo: list[dict[str, _Macro | None]] = [{}]
        self.conditions = 0
        self.flags: dict[str, bool] = {}
        """Of `\\newif`, whether they are set."""
        self.package = False
        """Whether what is read is a package, of which no word is the paper's."""
        self.waiting: deque[SourceToken] = deque()
        self.read: set[Path] = {path.resolve()}
        self.define_all(tokens_of(_KNOWN, ""))
        self.waiting.extend(tokens_of(text, path.name))
        self.tokens = list(self.run())

    def define_all(self, tokens: Sequence[SourceToken]) -> None:
        """Take the macros of a package, and nothing else of it."""
        outside, self.waiting, inside = self.waiting, deque(tokens), (self.conditions, self.package)
        self.package, depth = True, len(self.undo)
        for _ in self.run():
            pass
        while len(self.undo) > depth:
            self.close()
        self.waiting = outside
        self.conditions, self.package = inside

    def run(self) -> Iterator[SourceToken]:
        """Every token, expanded; definitions are taken in."""
        count = 0
        while self.waiting:
            count += 1
            if count > LONGEST:
                raise InvalidArgumentError(
                    "source", str(self.path), f"macros that expand to at most {LONGEST} tokens"
                )
            token = self.waiting.popleft()
            name = token.text
            if name in self.macros:
                self.expand(token, self.macros[name])
            elif name in ("{", r"\begingroup", r"\bgroup"):
                self.undo.append({})
                yield token
            elif name in ("}", r"\endgroup", r"\egroup"):
                self.close()
                yield token
            elif name in (r"\iff", r"\fi") or not re.match(r"\\if[a-zA-Z@]*$", name):
                if name == r"\fi" and self.conditions:
                    self.conditions -= 1
                    yield token._replace(text="fi")
                elif not self.takes(token):
                    yield token
            elif not self.decide(name):
                self.conditions += 1
                yield token._replace(text="if")

    def decide(self, name: str) -> bool:
        """Whether a condition is plain, as `\\if 0`, or a flag of the paper: then its branch is what is read next."""
        holds = name == r"\iftrue" or self.flags.get(name, False)
        if name == r"\if":
            self.spaces()
            if len(self.waiting) < 2:
                return False
            one, other = self.waiting.popleft(), self.waiting.popleft()
            if len(one.text) > 1 or len(other.text) > 1:
                self.waiting.extendleft((other, one))
                return False
            holds = one.text == other.text
        elif name not in (r"\iftrue", r"\iffalse", *self.flags):
            return False
        depth = 1
        branches: tuple[list[SourceToken], list[SourceToken]] = ([], [])
        other_one = False
        while self.waiting:
            token = self.waiting.popleft()
            opens = re.match(r"\\if(?!f$)[a-zA-Z@]*$", token.text) is not None
            depth += opens - (token.text == r"\fi")
            if depth == 0:
                break
            if depth == 1 and token.text == r"\else":
                other_one = True
            else:
                branches[other_one].append(token)
        self.waiting.extendleft(reversed(branches[not holds]))
        return True

    def close(self) -> None:
        """The end of a group: what was defined in it is not any more."""
        if len(self.undo) > 1:
            for name, before in self.undo.pop().items():
                if before is None:
                    self.macros.pop(name, None)
                else:
                    self.macros[name] = before

    def expand(self, token: SourceToken, macro: _Macro) -> None:
        """Put what a macro stands for before what follows; its lines are those of its use."""
        found: list[Sequence[SourceToken]] = []
        if macro.starred:
            self.star()
        if macro.default is not None:
            found.append(self.optional() or macro.default)
        while len(found) < macro.arguments:
            found.append(self.argument())
        out: list[SourceToken] = []
        body = iter(macro.body)
        for piece in body:
            if piece.text == "#" and (number := next(body, None)) is not None:
                if number.text.isdigit() and 0 < int(number.text) <= len(found):
                    out += found[int(number.text) - 1]
            else:
                out.append(replace_line(piece, token))
        self.waiting.extendleft(reversed(out))

    # ------------------------------------------------------------------------------------------- arguments

    def spaces(self) -> None:
        while self.waiting and self.waiting[0].text == " ":
            self.waiting.popleft()

    def star(self) -> bool:
        self.spaces()
        if self.waiting and self.waiting[0].text == "*":
            self.waiting.popleft()
            return True
        return False

    def argument(self) -> list[SourceToken]:
        """The next token, or what is in the next braces."""
        self.spaces()
        if not self.waiting:
            return []
        first = self.waiting.popleft()
        return self.until("{", "}") if first.text == "{" else [first]

    def optional(self) -> list[SourceToken] | None:
        self.spaces()
        if not self.waiting or self.waiting[0].text != "[":
            return None
        self.waiting.popleft()
        return self.until("[", "]")

    def until(self, opening: str, closing: str) -> list[SourceToken]:
        """What stands before the bracket that closes one that is open."""
        depth, braces, found = 1, 0, list[SourceToken]()
        while self.waiting:
            token = self.waiting.popleft()
            if not braces or opening == "{":
                depth += (token.text == opening) - (token.text == closing)
            if depth == 0:
                break
            braces += (token.text == "{") - (token.text == "}")
            found.append(token)
        return found

    def name(self) -> str:
        """The name in an argument."""
        return "".join(t.text for t in self.argument()).strip()

    # ----------------------------------------------------------------------------------------- definitions

    def takes(self, token: SourceToken) -> bool:
        """Whether a command is one that defines, includes or asks; then it has been done."""
        name = token.text.removesuffix("*")
        if name in _DEFINING:
            self.star()
            command, count = self.name(), self.optional()
            default, body = self.optional(), self.argument()
            arguments = int(latex_of(count)) if count and latex_of(count).isdigit() else 0
            if name != r"\providecommand" or command not in self.macros:
                self.define(
                    token,
                    command,
                    _Macro(arguments, None if default is None else tuple(default), tuple(body)),
                )
        elif name in (r"\def", r"\gdef", r"\edef", r"\xdef"):
            self.plain(token, everywhere=name in (r"\gdef", r"\xdef"))
        elif name == r"\let":
            command = self.name()
            self.spaces()
            if self.waiting and self.waiting[0].text == "=":
                self.waiting.popleft()
            to = self.argument()
            self.define(token, command, self.macros.get(to[0].text if to else "", _Macro(0, None, tuple(to))))
        elif name == r"\DeclareMathOperator":
            command, said = self.name(), self.argument()
            head = tokens_of(r"\operatorname*" if token.text.endswith("*") else r"\operatorname", token.file)
            braces = tokens_of("{}", token.file)
            self.define(token, command, _Macro(0, None, (*head, braces[0], *said, braces[1])))
        elif name == r"\DeclarePairedDelimiter":
            command, left, right = self.name(), self.argument(), self.argument()
            if not any(t.text in ("[", "#") for t in (*left, *right)):
                whole = (*left, *tokens_of("#1", token.file), *right)
                self.define(token, command, _Macro(1, None, whole, starred=True))
        elif name in (r"\newenvironment", r"\renewenvironment"):
            called, count = self.name(), self.optional()
            default, begin, end = self.optional(), self.argument(), self.argument()
            arguments = int(latex_of(count)) if count else 0
            macro = _Macro(arguments, None if default is None else tuple(default), tuple(begin))
            self.environments[called] = macro, tuple(end)
        elif name == r"\newtheorem":
            called = self.name()
            self.optional()
            self.theorems[called] = latex_of(self.argument())
            self.optional()
        elif name == r"\declaretheorem":
            options, called = self.optional() or [], self.name()
            titled = re.search(r"(?:name|title)\s*=\s*\{?([^,}]*)", latex_of(options))
            self.theorems[called] = titled[1] if titled else called.capitalize()
        elif name in (r"\begin", r"\end"):
            return self.environment(token)
        elif name in (r"\input", r"\include", r"\usepackage", r"\RequirePackage"):
            self.include(token, package=name not in (r"\input", r"\include"))
        elif name == r"\newif":
            self.flags[self.name()] = False
        elif (flag := re.fullmatch(r"\\(.+?)(true|false)", name)) and rf"\if{flag[1]}" in self.flags:
            if self.conditions:
                del self.flags[rf"\if{flag[1]}"]  # under a condition that is not known
            else:
                self.flags[rf"\if{flag[1]}"] = flag[2] == "true"
        elif name in (r"\xspace", r"\relax", r"\protect", r"\noindent", r"\maketitle"):
            pass
        else:
            return False
        return True

    def environment(self, token: SourceToken) -> bool:
        """Whether an environment is one that the source defines, so that what it stands for is read instead."""
        called = self.argument()
        name = latex_of(called)
        found = self.environments.get(name)
        opening, closing = tokens_of("{}", token.file)
        if found is None:
            if token.text == r"\begin":
                self.undo.append({})
            else:
                self.close()
            self.waiting.extendleft(reversed([opening, *called, closing]))
            return False
        if token.text == r"\begin":
            self.expand(token, found[0])
        else:
            self.waiting.extendleft(reversed([replace_line(t, token) for t in found[1]]))
        return True

    def plain(self, token: SourceToken, *, everywhere: bool) -> None:
        """`\\def\\x#1#2{...}`; one with words between its parameters is no macro that is expanded."""
        command = self.waiting.popleft().text if self.waiting else ""
        before: list[str] = []
        while self.waiting and self.waiting[0].text != "{":
            before.append(self.waiting.popleft().text)
        body = tuple(self.argument())
        said = "".join(before).replace(" ", "")
        arguments = said.count("#")
        if said != "".join(f"#{k + 1}" for k in range(arguments)):
            self.forget(token, command, "a macro with delimited parameters")
        else:
            self.define(token, command, _Macro(arguments, None, body), everywhere=everywhere)

    def define(self, token: SourceToken, command: str, macro: _Macro, *, everywhere: bool = False) -> None:
        if not command.startswith("\\") or command in (r"\begin", r"\end"):
            return
        before = self.macros.get(command)
        same = before is not None and latex_of(before.body) == latex_of(macro.body)
        if self.conditions and before is not None and not same:
            self.forget(token, command, "a macro that is defined in two ways, under a condition")
            return
        if self.package and any(re.match(r"\\if|\\.*@", t.text) for t in macro.body):
            return  # how pages are set
        if command in (t.text for t in macro.body):
            self.forget(token, command, "a macro that stands for itself")
            return
        if not everywhere:
            self.undo[-1].setdefault(command, before)
        self.macros[command] = macro

    def forget(self, token: SourceToken, command: str, reason: str) -> None:
        self.macros.pop(command, None)
        if not self.package:
            self.left.append((token.file, token.line, f"{command}: {reason}"))

    def include(self, token: SourceToken, *, package: bool) -> None:
        """A file beside the source; of a package, only one that lies there."""
        if package:
            self.optional()
        for part in self.name().split(","):
            here = (self.path.parent / part.strip()).resolve()
            places = [here] if here.suffix else []
            places.append(here.with_name(here.name + (".sty" if package else ".tex")))
            found = next((p for p in places if p.is_file()), None)
            if found is None:
                if not package:
                    self.left.append((token.file, token.line, f"{part.strip()}: a file that is not there"))
            elif found not in self.read:
                self.read.add(found)
                tokens = tokens_of(found.read_text("utf-8", "replace"), found.name)
                if package:
                    self.define_all(tokens)
                else:
                    self.waiting.extendleft(reversed(tokens))


def replace_line(token: SourceToken, use: SourceToken) -> SourceToken:
    """A token of a macro, at the line where that is used."""
    return token._replace(line=use.line, file=use.file)
