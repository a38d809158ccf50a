"""LaTeX as tokens with their lines, macros expanded.

What TeX would do and this does not is left as it stands, so that a formula with it is refused: delimited parameters,
definitions under a condition or in an argument of a command, files that are not found.
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
    unread: str = ""
    """Why what it stands for is not read; what stands apart from it may be."""

    @property
    def command(self) -> bool:
        """Whether it is a command of letters."""
        return len(self.text) > 1 and self.text[0] == "\\" and self.text[1].isalpha()


@dataclass(frozen=True)
class _Macro:
    arguments: int
    default: Sequence[SourceToken] | None
    body: Sequence[SourceToken]
    starred: bool = False
    """Whether a star and a size in brackets behind it are of no meaning."""


_TOKEN = re.compile(
    r"\\csname +[A-Za-z@]+ *\\endcsname|\\[A-Za-z@]+\*?|\\.|\n[ \t]*(?:\n[ \t]*)+|\s+|.", re.DOTALL
)
_VERBATIM = re.compile(
    r"\\begin\{(verbatim\*?|lstlisting|minted|comment|Verbatim)\}.*?\\end\{\1\}|\\verb\*?([^A-Za-z\s]).*?\2",
    re.DOTALL,
)
UNFOLLOWED = r"\unfollowed"
"""Stands before a command whose definition is not followed."""
_COMMENT = re.compile(r"(?<!\\)((?:\\\\)*)%[^\n]*(?:\n[ \t]*(?=\S)|(?=\n)|$)")
_CONDITION = re.compile(r"\\(?:if(?!f$)[a-zA-Z@]*|unless)")
_STARRED, _DEFINING, _UNREAD = words("starred"), words("defining"), words("defining_unread")
_NEW = (r"\newcommand", r"\providecommand", r"\DeclareMathOperator", r"\DeclarePairedDelimiter")
"""They define only what nothing else defines."""
_KNOWN = r"""\newcommand{\mathpalette}[2]{#1{}{#2}}
\newcommand{\norm}[1]{\left\|#1\right\|}\newcommand{\abs}[1]{\left|#1\right|}"""


def tokens_of(text: str, file: str) -> list[SourceToken]:
    """Tokens of a source text; comments and what is printed verbatim are left out, lines stay."""
    text = text.replace("\0", " ").replace("\r\n", "\n")
    text = _COMMENT.sub(lambda m: m[1] + "\0" * m[0].count("\n"), text)
    text = _VERBATIM.sub(lambda m: " " + "\n" * m[0].count("\n"), text)
    found, line = [], 1
    for match in _TOKEN.finditer(text):
        said = match[0]
        if said == "\0":
            line += 1
            continue
        new = said.count("\n")
        if said.isspace():
            found.append(SourceToken("par" if new > 1 else " ", line, file))
        elif said.endswith(r"\endcsname") and said != r"\endcsname":
            found.append(SourceToken("\\" + said[7:-10].strip(), line, file))
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


class TokenReader:
    """Tokens that wait to be read, and the arguments among them."""

    def __init__(self, tokens: Iterable[SourceToken]) -> None:
        self.waiting = deque(tokens)

    def peek(self) -> str:
        """What comes next; empty at the end."""
        return self.waiting[0].text if self.waiting else ""

    def back(self, tokens: Sequence[SourceToken]) -> None:
        """Put tokens before what comes next."""
        self.waiting.extendleft(reversed(tokens))

    def spaces(self) -> None:
        while self.peek() == " ":
            self.waiting.popleft()

    def skips(self, mark: str) -> bool:
        """Whether a mark comes next; then it is behind."""
        self.spaces()
        found = self.peek() == mark
        if found:
            self.waiting.popleft()
        return found

    def argument(self) -> list[SourceToken]:
        """The next token, or what is in the next braces; nothing at the end."""
        if self.skips("{"):
            return self.until("}")
        return [self.waiting.popleft()] if self.waiting else []

    def optional(self) -> list[SourceToken] | None:
        """What is in the brackets that come next."""
        return self.until("]") if self.skips("[") else None

    def until(self, closing: str) -> list[SourceToken]:
        """What stands before a mark outside of braces, which is behind then."""
        depth, found = 0, list[SourceToken]()
        while self.waiting:
            token = self.waiting.popleft()
            if token.text == closing and depth <= 0:
                break
            depth += (token.text == "{") - (token.text == "}")
            found.append(token)
        return found

    def name(self) -> str:
        """The name in an argument."""
        return "".join(t.text for t in self.argument()).strip()


class ExpandedSource(TokenReader):
    """A source with its macros expanded, the environments of its theorems, and what could not be followed."""

    def __init__(self, path: Path, text: str) -> None:
        super().__init__(())
        self.path = path
        self.theorems: dict[str, str] = {}
        """Title of each environment that is declared as a theorem's."""
        self.left: list[tuple[str, int, str]] = []
        """File, line and reason of what is not followed."""
        self.macros: dict[str, _Macro] = {}
        self.environments: dict[str, tuple[_Macro, Sequence[SourceToken]]] = {}
        self.undo: list[dict[str, _Macro | bool | None]] = [{}]
        """Of each group, what was before it of what it defines; `""` is there in an argument of a command."""
        self.conditions = 0
        self.flags: dict[str, bool] = {}
        """Of `\\newif`, whether they are set."""
        self.unfollowed: set[str] = set()
        """Commands and flags that may be something else than is known here."""
        self.package = False
        """Whether what is read is a package, of which no word is the paper's."""
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
        count, before = 0, ""
        while self.waiting:
            count += 1
            if count > LONGEST:
                allowed = f"macros that expand to at most {LONGEST} tokens"
                raise InvalidArgumentError("source", str(self.path), allowed)
            token = self.waiting.popleft()
            name, last = token.text, before
            before = last if name == " " else name
            if name in self.unfollowed:
                yield token._replace(text=UNFOLLOWED)
            if name in self.macros:
                self.expand(token, self.macros[name])
            elif name in ("{", r"\begingroup", r"\bgroup"):
                self.undo.append({"": None} if name == "{" and last[:1] in ("\\", "}", "]") else {})
                yield token
            elif name in ("}", r"\endgroup", r"\egroup"):
                self.close()
                yield token
            elif name == r"\fi" and self.conditions:
                self.conditions -= 1
                yield token._replace(text="fi")
            elif not _CONDITION.fullmatch(name):
                if self.takes(token):
                    before = ""
                else:
                    yield token
            elif not self.decide(token):
                self.conditions += 1
                yield token._replace(text="if")

    def decide(self, token: SourceToken) -> bool:
        """Whether a condition is plain, as `\\if 0`, or a flag of the paper: then its branch is what is read next.

        One that has its branches in braces ends behind them.
        """
        name = token.text
        holds = name == r"\iftrue" or self.flags.get(name, False)
        if name == r"\if":
            self.spaces()
            if len(self.waiting) < 2 or len(self.peek()) > 1 or len(self.waiting[1].text) > 1:
                return False
            one, other = self.waiting.popleft(), self.waiting.popleft()
            holds = one.text == other.text
        elif name not in (r"\iftrue", r"\iffalse", *self.flags):
            if name == r"\unless":
                self.argument()
            elif inside := self.branches(name):
                self.back([*inside, token._replace(text=r"\fi")])
            return False
        depth, branch, taken, passed = 1, True, list[SourceToken](), list[SourceToken]()
        while self.waiting:
            token = self.waiting.popleft()
            passed.append(token)
            if _CONDITION.fullmatch(token.text) and token.text != r"\unless":
                inside = self.branches(token.text)
                depth += not inside
                self.back(inside)
            depth -= token.text == r"\fi"
            if depth == 0:
                self.back(taken)
                return True
            if depth == 1 and token.text == r"\else":
                branch = False
            elif branch == holds:
                taken.append(token)
        self.back(passed)  # it does not end
        return False

    def branches(self, name: str) -> list[SourceToken]:
        """Arguments in braces that a condition has, as `\\ifthenelse`, if there are several: they are taken."""
        found, number = list[SourceToken](), 0
        while name not in self.flags and self.peek() == "{":
            opening = self.waiting.popleft()
            found += [opening, *self.until("}"), opening._replace(text="}")]
            number += 1
        self.back(found if number < 2 else [])
        return found if number > 1 else []

    @property
    def sure(self) -> bool:
        """Whether TeX carries out what is read here, too: under no unknown condition, and in no argument."""
        return not (self.conditions or any("" in group for group in self.undo))

    def close(self) -> None:
        """The end of a group: what was defined in it is not any more."""
        if len(self.undo) > 1:
            for name, before in self.undo.pop().items():
                if isinstance(before, bool):
                    self.flags[name] = before
                elif before is None:
                    self.macros.pop(name, None)
                else:
                    self.macros[name] = before

    def expand(self, token: SourceToken, macro: _Macro) -> None:
        """Put what a macro stands for before what follows; its lines are those of its use."""
        found: list[Sequence[SourceToken]] = []
        if macro.starred:
            self.skips("*")
            self.optional()
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
                out.append(piece._replace(line=token.line, file=token.file))
        self.back(out)

    def takes(self, token: SourceToken) -> bool:
        """Whether a command is one that defines, includes or asks; then it has been done."""
        name = token.text.removesuffix("*")
        if name in _DEFINING:
            self.skips("*")
            command, macro = self.name(), self.macro()
            if name != r"\providecommand" or command not in self.macros:
                self.define(token, command, macro)
        elif name in (r"\def", r"\gdef", r"\edef", r"\xdef"):
            self.plain(token, everywhere=name in (r"\gdef", r"\xdef"))
        elif name == r"\let":
            command = self.name()
            self.skips("=")
            to = self.argument()
            self.define(token, command, self.macros.get(to[0].text if to else "", _Macro(0, None, to)))
        elif name == r"\DeclareMathOperator":
            command, said = self.name(), self.argument()
            star = "*" * token.text.endswith("*")
            head, opening, closing = tokens_of(rf"\operatorname{star}{{}}", token.file)
            self.define(token, command, _Macro(0, None, (head, opening, *said, closing)))
        elif name == r"\DeclarePairedDelimiter":
            command, left, right = self.name(), self.argument(), self.argument()
            if not any(t.text in ("[", "#") for t in (*left, *right)):
                whole = (*left, *tokens_of("#1", token.file), *right)
                self.define(token, command, _Macro(1, None, whole, starred=True))
        elif name in (r"\newenvironment", r"\renewenvironment"):
            called = self.name()
            found = self.macro(), self.argument()
            if self.sure:
                self.environments[called] = found
            else:
                self.forget(token, called, "an environment under a condition of TeX, or in an argument")
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
            if (called := self.name()) not in self.unfollowed:
                self.flags[called] = False
        elif flag := re.fullmatch(r"\\(.+?)(true|false)", name):
            called = rf"\if{flag[1]}"
            if not self.sure:
                self.unfollowed.add(called)
                self.flags.pop(called, None)
            elif called in self.flags:
                self.undo[-1].setdefault(called, self.flags[called])
                self.flags[called] = flag[2] == "true"
            return not self.sure or called in self.flags
        elif name in _UNREAD:
            self.forget(token, self.name(), "")
            if name.endswith("DocumentCommand"):
                self.argument(), self.argument()
        elif name == r"\global" and self.waiting:
            groups, following = self.undo, self.waiting.popleft()
            self.undo = groups[:1] if self.sure else groups
            self.back([] if self.takes(following) else [following])
            self.undo = groups
        elif name in (r"\xspace", r"\expandafter", r"\relax", r"\protect", r"\noindent", r"\maketitle"):
            pass
        else:
            return False
        return True

    def macro(self) -> _Macro:
        """The number of arguments, the default of the first and the body, which come next."""
        count, default, body = latex_of(self.optional() or ()), self.optional(), self.argument()
        return _Macro(int(count) if count.isdigit() else 0, default, body)

    def environment(self, token: SourceToken) -> bool:
        """Whether an environment is one that the source defines, so that what it stands for is read instead."""
        called = self.argument()
        found = self.environments.get(latex_of(called))
        opening, closing = tokens_of("{}", token.file)
        begins = token.text == r"\begin"
        if found is not None:
            self.expand(token, found[0] if begins else _Macro(0, None, found[1]))
            return True
        if begins:
            self.undo.append({})
        else:
            self.close()
        self.back([opening, *called, closing])
        return False

    def plain(self, token: SourceToken, *, everywhere: bool) -> None:
        """`\\def\\x#1#2{...}`; one with words between its parameters is no macro that is expanded."""
        command = self.waiting.popleft().text if self.waiting else ""
        said = ""
        while self.peek() not in ("{", ""):
            said += self.waiting.popleft().text.strip()
        body = self.argument()
        arguments = said.count("#")
        if said != "".join(f"#{k + 1}" for k in range(arguments)):
            self.forget(token, command, "a macro with delimited parameters")
        else:
            self.define(token, command, _Macro(arguments, None, body), everywhere=everywhere)

    def define(self, token: SourceToken, command: str, macro: _Macro, *, everywhere: bool = False) -> None:
        if not command.startswith("\\") or command in (r"\begin", r"\end"):
            self.unfollowed.add(command)
            return
        before = self.macros.get(command)
        same = before is not None and latex_of(before.body) == latex_of(macro.body)
        new = before is None and token.text.removesuffix("*") in _NEW
        sets_pages = self.package and any(re.match(r"\\if|\\.*@", t.text) for t in macro.body)
        if sets_pages or not (self.sure or same or new):
            self.forget(token, command, "")  # a formula with it is refused, or it sets pages
            return
        names, seen = [t.text for t in macro.body], set[str]()
        while names:
            if (name := names.pop()) == command:
                self.forget(token, command, "a macro that stands for itself")
                return
            if name in self.macros and name not in seen:
                seen.add(name)
                names += [t.text for t in self.macros[name].body]
        if not everywhere:
            self.undo[-1].setdefault(command, before)
        self.unfollowed.discard(command)
        self.macros[command] = macro

    def forget(self, token: SourceToken, command: str, reason: str) -> None:
        self.macros.pop(command, None)
        self.unfollowed.add(command)
        if reason and not self.package:
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
                (self.define_all if package else self.back)(tokens)
