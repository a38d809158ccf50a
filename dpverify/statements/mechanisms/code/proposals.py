"""A page of a mechanism, proposed from the code of a function.

What the page says is what was read; each line of the code that was not read is a line of the page that its reader
refuses, so that nothing is proved of a function that does more than was read.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from dpverify.checks import require
from dpverify.errors import InvalidArgumentError
from dpverify.formulas.expressions import (
    Apply,
    Expression,
    Number,
    Variable,
    all_variables,
    constant,
    integer,
    real,
)
from dpverify.formulas.logic import Compare
from dpverify.formulas.operators import apply, possible_signs
from dpverify.formulas.rendering.latex import expression_latex, formula_latex
from dpverify.privacy.adjacency import Adjacency, checked_adjacency
from dpverify.statements.mechanisms.code.draws import affine, exchanged, noisy_number
from dpverify.statements.mechanisms.code.statements import CodeReader
from dpverify.statements.mechanisms.code.values import (
    CELL,
    COUNT,
    DIMENSION,
    GENERATOR,
    RECORD,
    RUNS,
    CandidateColumn,
    ChosenCandidate,
    CodeDraw,
    CodeValue,
    RecordColumn,
    RecordTable,
    UnreadCodeError,
    UnreadValue,
    check_plain,
    plus,
    times,
)
from dpverify.statements.mechanisms.pages import ADDED, REPLACE

ROLES = ("data", "rng", "seed", "runs")
"""What parameters may be that are no letters."""
DATA_NAMES = ("x", "xs", "data", "records", "values", "dataset", "sample", "samples", "array", "arr", "X")
GENERATORS = ("rng", "generator", "gen", "prng", "random_state")
_GREEK = {
    "epsilon": r"\varepsilon", "eps": r"\varepsilon", "delta": r"\delta", "rho": r"\rho", "mu": r"\mu",
    "sigma": r"\sigma", "alpha": r"\alpha", "beta": r"\beta", "lam": r"\lambda", "lambda_": r"\lambda",
    "theta": r"\theta", "tau": r"\tau", "eta": r"\eta", "kappa": r"\kappa", "sensitivity": r"\Delta",
    "scale": r"\lambda", "noise_scale": r"\lambda",
}  # fmt: skip
_LATIN = {
    **dict.fromkeys(("lower", "low", "lo", "minimum", "left", "a_min"), "a"),
    **dict.fromkeys(("upper", "high", "hi", "maximum", "right", "a_max"), "b"),
    **dict.fromkeys(("bound", "clip", "clip_norm", "radius", "cap", "clipping"), "C"),
    "threshold": "T",
}  # fmt: skip
_FREE = "abckAHKMUWGhgf"
_TAKEN = {*"nxiedstuvwyzmqrjl", *"DEIOR"}
_POSITIVE = {
    "epsilon",
    "eps",
    "rho",
    "mu",
    "sigma",
    "scale",
    "noise_scale",
    "sensitivity",
    "bound",
    "radius",
    "clip",
    "clip_norm",
}
_STATE = ("self", "cls")
_FOLD_LATEX = {
    "largest": r"\max_{1\le i\le n}",
    "smallest": r"\min_{1\le i\le n}",
    "product": r"\prod_{i=1}^{n}",
}
NEIGHBORS = {Adjacency.REPLACE_ONE: REPLACE, Adjacency.ADD_REMOVE_ONE: ADDED}
"""Relations of which there are pages, and how these say so."""
EACH = r"$r\in\{1,\dots,d\}$"
"""Over what lines for each number of a vector go."""
LAWS_LATEX = {"laplace": r"\mathrm{Lap}", "normal": r"\mathcal{N}"}


@dataclass(frozen=True)
class CodeParameter:
    """A parameter of a function: its name, its letter with a domain, and why this domain."""

    name: str
    letter: Variable
    why: str


@dataclass(frozen=True)
class PageLine:
    """A display of a page, with the line of the code that it is read from."""

    role: str
    latex: str
    line: int
    each: bool = False
    """Whether it is for each number of a vector."""


@dataclass(frozen=True)
class UnreadLine:
    """A line of code that is not read, and why."""

    line: int
    code: str
    reason: str


@dataclass(frozen=True)
class CodeProposal:
    """A page, as its parts.

    Attributes:
        target: `module:function`.
        file: where it stands, and its first and last line in it.
        domain: of records: `in [0, 1]` or `of numbers`.
        neighbors: how these differ: `replace one` or `add or remove one`.
        calls: how the function is called: each parameter with `data`, `rng`, `seed`, `runs` or the name of a letter.
        given: what is assumed of public letters.
        notes: what is guessed, and what is said elsewhere.
        column: of the data, counted from 0, where the records are one.
    """

    target: str
    file: str
    first: int
    last: int
    domain: str
    neighbors: str
    parameters: tuple[CodeParameter, ...]
    given: tuple[Compare, ...]
    lines: tuple[PageLine, ...]
    calls: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    unread: tuple[UnreadLine, ...]
    column: int | None = None

    @property
    def text(self) -> str:
        """The page in Markdown."""
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        module, _, name = self.target.partition(":")
        yield f"# `{name}`, as its code was read"
        yield ""
        yield f"Read from `{self.file}`, lines {self.first} to {self.last}; numbers are real numbers, without rounding."
        yield ""
        yield from (f"- {note}" for note in self.notes)
        yield ""
        yield f"## {name} {{#{re.sub(r'[^a-z0-9.-]', '-', f'{module}.{name}'.lower())}}}"
        yield ""
        yield from ("| letter | kind | meaning |", "| --- | --- | --- |")
        if "R" in self.domain.partition(" for ")[2]:
            yield "| $R$ | finite type | the candidates |"
        for one in self.parameters:
            yield f"| ${one.letter.latex}$ | {domain_text(one.letter)} | {one.why} |"
        yield ""
        yield f"- records: $x_1,\\dots,x_n$ {self.domain}"
        if self.given:
            yield f"- given: {', '.join(f'${formula_latex(one)}$' for one in self.given)}"
        yield f"- neighbors: {self.neighbors}"
        for line in self.unread:
            yield f"- unread: line {line.line}, `{line.code}`: {line.reason}"
        for shown in self.lines:
            yield ""
            said = ", ".join([f"line {shown.line}"] * bool(shown.line) + [f"for each {EACH}"] * shown.each)
            yield f"{shown.role.title()}{said and f' ({said})'}:"
            yield f"$${shown.latex}$$"
        yield ""


def domain_text(letter: Variable) -> str:
    """A letter's kind, as pages have it."""
    low = letter.lower is not None and f"{'>' if letter.lower_open else '>='} {letter.lower}"
    high = letter.upper is not None and f"{'<' if letter.upper_open else '<='} {letter.upper}"
    ends = ", ".join(end for end in (low, high) if end)
    return f"integer {ends}".strip() if letter.kind == "integer" else ends or "real"


# ------------------------------------------------------------------------------------------- the source


def propose(
    target: str,
    file: Path,
    *,
    records: str | None = None,
    domain: str | None = None,
    claim: str | None = None,
    adjacency: Adjacency | str | None = None,
) -> CodeProposal:
    """A page for the function of a module's file, read without executing anything.

    Raises:
        InvalidArgumentError: for a function that is not there, for records that are none of its parameters, and for
            an adjacency but replace-one and add-or-remove-one.
    """
    by = Adjacency.REPLACE_ONE if adjacency is None else checked_adjacency(adjacency)
    if by not in NEIGHBORS:
        raise InvalidArgumentError("--adjacency", by.value, " or ".join(one.value for one in NEIGHBORS))
    try:
        source = file.read_text(encoding="utf-8")
        module = ast.parse(source)
    except (OSError, UnicodeDecodeError, SyntaxError, ValueError) as error:
        raise InvalidArgumentError(
            "callable", target, f"a module whose source can be read ({error})"
        ) from None
    names = target.partition(":")[2].split(".")
    inside: Sequence[ast.stmt] = module.body
    found: ast.stmt | None = None
    for name in names:
        found = next((n for n in reversed(inside) if getattr(n, "name", "") == name), None)
        inside = getattr(found, "body", ())
    if not isinstance(found, ast.FunctionDef):
        raise InvalidArgumentError("callable", target, f"a function that {file.name} defines with `def`")
    said = (
        []
        if adjacency
        else ["Neighbors are taken to differ in one record; `--adjacency` says another relation."]
    )
    return _Proposal(target, file, source, module, found, records, domain, claim).made(NEIGHBORS[by], said)


class _Proposal:
    """Reads a function and puts together its page."""

    def __init__(
        self, target: str, file: Path, source: str, module: ast.Module, function: ast.FunctionDef,
        records: str | None, domain: str | None, claim: str | None,
    ) -> None:  # fmt: skip
        self.target, self.file, self.source, self.function, self.claim = target, file, source, function, claim
        spec = function.args
        self.given = {one.arg: one for one in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)}
        self.notes = list[str]()
        self.generators = {name for name in self.given if self.draws_from(name)}
        self.records = self.which_records(records)
        self.domain = "of numbers"
        if domain is not None:
            self.domain = f"in {domain}" if domain.lstrip()[:1] in ("[", "(") else domain
        else:
            self.notes.append("Records are taken as any numbers; `--domain` says between which they are.")
        chosen = ("argmax", "choice")
        choice = any(isinstance(n, ast.Attribute) and n.attr in chosen for n in ast.walk(function))
        self.vectors = not choice and any(map(_of_rows, ast.walk(function)))
        self.rows = choice or self.vectors
        if choice:
            self.domain += r" for $r\in R$"
            self.notes.append(
                "Each record is a row with a number for each candidate, since a candidate is chosen."
            )
        elif self.vectors:
            self.domain += f" for {EACH}"
            self.notes.append(
                "Each record is a row of d numbers, since something is made of its second axis."
            )
        self.table = not self.rows and any(_is_column(node, self.records) for node in ast.walk(function))
        self.letters = self.letters_of()
        numbers = {name: v for name, v in self.letters.items() if isinstance(v, Variable)}
        batched = RUNS in self.letters.values()
        if batched:
            self.notes.append(
                "`runs` is taken as how many independent runs are made at once; the page is of one run."
            )
        self.reader = CodeReader(module, numbers, rows=self.rows, batched=batched)
        self.lines = list[PageLine]()
        self.private = set[Variable]()
        self.undefined, self.known = set[Variable](), set[Variable]()

    def draws_from(self, name: str) -> bool:
        """Whether a parameter is a generator: numbers are drawn from it, or it is called so."""
        drawn = {
            node.func.value.id
            for node in ast.walk(self.function)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name)
            and node.func.attr in ("laplace", "normal", "standard_normal", "exponential", "uniform", "gumbel")
        }  # fmt: skip
        return name in drawn or name in GENERATORS

    def which_records(self, records: str | None) -> str:
        """The parameter that is the data."""
        free = [name for name in self.given if name not in (*self.generators, *_STATE, "runs")]
        if records is not None:
            require(records in free, "--records", records, f"a parameter of the function: {', '.join(free)}")
            return records
        for name in DATA_NAMES:
            if name in free:
                self.notes.append(f"`{name}` is taken as the records, by its name; `--records` says another.")
                return name
        require(free, "callable", self.target, "a function with a parameter for the data")
        self.notes.append(
            f"`{free[0]}` is taken as the records, as the first parameter; `--records` says another."
        )
        return free[0]

    def letters_of(self) -> dict[str, CodeValue]:
        """What parameters are: letters, where they may be numbers."""
        spec, found = self.function.args, dict[str, CodeValue]()
        pairs = [*zip(reversed([*spec.posonlyargs, *spec.args]), reversed(spec.defaults), strict=False)]
        pairs += [(one, d) for one, d in zip(spec.kwonlyargs, spec.kw_defaults, strict=True) if d is not None]
        defaults = {one.arg: default for one, default in pairs}
        taken = set(_TAKEN)
        for name, one in self.given.items():
            default = defaults.get(name)
            if name == self.records:
                found[name] = RecordTable() if self.table else RecordColumn(CELL if self.rows else RECORD)
            elif name in self.generators:
                found[name] = GENERATOR
            elif name == "runs":
                found[name] = RUNS
            elif name in _STATE:
                found[name] = UnreadValue(f"`{name}` is an object with a state")
            elif isinstance(default, ast.Constant) and isinstance(default.value, str | bool):
                found[name] = UnreadValue(f"`{name}` is no number")
            else:
                latex = _letter(name, taken)
                taken.add(latex)
                whole = one.annotation is not None and ast.unparse(one.annotation) == "int"
                low = 0 if name in _POSITIVE or name == "delta" else None
                number = real(latex, latex=latex, gt=low, lt=1 if name == "delta" else None)
                found[name] = integer(latex, latex=latex) if whole else number
        return found

    def made(self, neighbors: str, said: list[str]) -> CodeProposal:
        """The page, with how neighbors differ and what is said of that."""
        reader, env = self.reader, dict(self.letters)
        try:
            check_plain(self.function)
            if self.target.partition(":")[2].split(".")[0] in reader.twice:
                raise UnreadCodeError(self.function, "its name is given a value more than once in its module")
            self.steps(reader.body(self.function.body, env))
        except UnreadCodeError as error:
            reader.unread.append(error)
        claim = self.claim or self.guessed_claim()
        if claim:
            self.lines.append(PageLine("claim", claim, 0))
        unread = [self.unread_line(error) for error in reader.unread]
        if reader.column is not None:
            self.notes.append(
                f"A record is its number in column {reader.column} of `{self.records}`, counted from 0."
            )
        if not claim and not unread:
            unread.append(
                UnreadLine(
                    self.function.lineno,
                    self.function.name,
                    "what is claimed is not guessed; --claim says it",
                )
            )
        domains, given = self.conditions()
        narrowed = {side for _, one in reader.holds for side in (one.left, one.right)}
        parameters = [CodeParameter("", domains[COUNT], "the number of records")]
        if self.vectors:
            parameters.append(CodeParameter("", DIMENSION, "how many numbers a record has"))
        seeds = {v for v in self.letters.values() if isinstance(v, Variable) and v in reader.seeds}
        for name, value in self.letters.items():
            if isinstance(value, Variable) and value not in seeds:
                guessed = name in (*_POSITIVE, "delta") and value not in narrowed
                why = (
                    f"the parameter `{name}`, a public number"
                    + ", of a domain that is guessed from its name" * guessed
                )
                parameters.append(CodeParameter(name, domains[value], why))
        calls = [
            (name, self.role(value))
            for name, value in self.letters.items()
            if not isinstance(value, UnreadValue)
        ]
        return CodeProposal(
            self.target, self.file.name, self.function.lineno, self.function.end_lineno or 0, self.domain,
            neighbors, tuple(parameters), tuple(given), tuple(self.lines), tuple(calls),
            tuple(dict.fromkeys((*self.notes, *said, *reader.notes))), tuple(dict.fromkeys(unread)), reader.column,
        )  # fmt: skip

    def role(self, value: CodeValue) -> str:
        """What a parameter is called with."""
        if isinstance(value, RecordColumn | RecordTable):
            return "data"
        if value == RUNS:
            return "runs"
        if isinstance(value, Variable):
            return "seed" if value in self.reader.seeds else value.latex
        return "rng"

    def unread_line(self, error: UnreadCodeError) -> UnreadLine:
        """A line of the code, short and without signs that mean something on a page."""
        code = ast.get_source_segment(self.source, error.node) or ""
        plain = " ".join(re.sub(r"[`$|{}\\]", "", code).split())
        line = getattr(error.node, "lineno", self.function.lineno)
        return UnreadLine(line, plain[:60] + "..." * (len(plain) > 60), re.sub(r"[$|{}\\]", "", error.reason))

    # ------------------------------------------------------------------------------------------- lines

    def is_private(self, e: Expression) -> bool:
        """Whether a number depends on records, by itself or by a query."""
        return self.reader.is_private(e) or any(v in self.private for v in all_variables(e))

    def steps(self, output: CodeValue) -> None:
        """Queries, draws and the output."""
        reader = self.reader
        last = self.function.body[-1]
        if isinstance(output, ChosenCandidate):
            self.chosen(output, last)
            return
        if self.vectors:
            drawn, scale = self.draw_for_each(output, last)
            self.lines.append(PageLine("query", drawn, reader.draws[0].line, each=True))
            self.lines.append(PageLine("draw", scale, reader.draws[0].line, each=True))
            self.lines.append(PageLine("output", r"y_1,\dots,y_d", last.lineno))
            return
        returned = output if isinstance(output, tuple) else (output,)
        outputs = [reader.as_number(last, one) for one in returned]
        draws, letters = list(reader.draws), iter("yzw")
        names = iter("stuv")
        for (kind, body), letter in reader.folds.items():
            inside = expression_latex(body)
            if isinstance(body, Apply) and body.operator in ("add", "sub", "neg"):
                inside = f"({inside})"
            self.lines.append(PageLine("query", f"{letter.latex}={_FOLD_LATEX[kind]}{inside}", 0))
        self.undefined = {draw.letter for draw in draws}
        for k, draw in enumerate(draws):
            self.undefined.discard(draw.letter)
            places = [*outputs, *(part for later in draws[k + 1 :] for part in (later.location, later.scale))]
            if not any(draw.letter in all_variables(one) for one in places):
                reader.notes.append(f"What line {draw.line} draws is in no output.")
                continue
            number = noisy_number(places, draw.letter, self.undefined, lambda e: not self.is_private(e))
            letter = real(next(letters, f"y_{{{k}}}"))
            if number is None:
                raise UnreadCodeError(last, f"what line {draw.line} draws is used in more than one way")
            self.drawn(draw, number, letter, names)
            outputs = [exchanged(one, number, letter) for one in outputs]
            draws[k + 1 :] = [
                replace(
                    d,
                    location=exchanged(d.location, number, letter),
                    scale=exchanged(d.scale, number, letter),
                )
                for d in draws[k + 1 :]
            ]
        if any(map(self.is_private, outputs)):
            raise UnreadCodeError(last, "what is returned depends on records beside what is drawn")
        shown = ",".join(map(expression_latex, outputs))
        self.lines.append(PageLine("output", f"({shown})" if len(outputs) > 1 else shown, last.lineno))

    def chosen(self, output: ChosenCandidate, last: ast.stmt) -> None:
        """A candidate: the draws for each, and the choice."""
        if output.weights:
            law = rf"j\sim\propto {expression_latex(output.body)}\text{{ at }}r\in R"
            self.lines.append(PageLine("draw", law, output.line))
        else:
            query, law = self.draw_for_each(CandidateColumn(output.body), last)
            self.lines.append(PageLine("query", query, self.reader.draws[0].line))
            self.lines.append(PageLine("draw", law, self.reader.draws[0].line))
            self.lines.append(PageLine("select", r"j=\arg\max_{r\in R}y_r", output.line))
        self.lines.append(PageLine("output", "j", last.lineno))

    def draw_for_each(self, output: CodeValue, last: ast.stmt) -> tuple[str, str]:
        """A query and noise of which there is one for each candidate, or for each number of a vector."""
        body = output.body if isinstance(output, CandidateColumn) else Number(Fraction(0))
        drawn = [draw for draw in self.reader.draws if draw.letter in all_variables(body)]
        found = affine(body, drawn[0].letter) if len(drawn) == 1 and drawn[0].each else None
        if found is None or self.is_private(found[0]):
            what = (
                "what is returned is no vector"
                if self.vectors
                else "a choice that is not of the largest of numbers"
            )
            raise UnreadCodeError(last, f"{what} with noise on each")
        location, scale = self.around(drawn[0], *found)
        if self.reader.drawn_in(location) or self.reader.drawn_in(scale):
            raise UnreadCodeError(last, "noise around what was drawn before, and a choice")
        shown = expression_latex(_square(scale) if drawn[0].law == "normal" else scale)
        return f"q(r)={expression_latex(location)}", rf"y_r\sim{LAWS_LATEX[drawn[0].law]}(q(r),{shown})"

    def around(self, draw: CodeDraw, factor: Expression, rest: Expression) -> tuple[Expression, Expression]:
        """Location and scale of what is drawn, times a factor and with something added."""
        zero = Number(Fraction(0))
        location = plus(rest, times(factor, draw.location) if draw.location != zero else zero)
        if possible_signs(factor) != {1}:
            factor = apply("abs", factor)
        return location, times(factor, draw.scale)

    def drawn(self, draw: CodeDraw, number: Expression, letter: Variable, names: Iterator[str]) -> None:
        """A draw, with what is added to it as its location, and a query of its own if that depends on records."""
        found = affine(number, draw.letter)
        assert found is not None
        location, scale = self.around(draw, *found)
        around = any(v in self.known for v in all_variables(location))  # a query is of records alone
        if self.is_private(location) and not isinstance(location, Variable) and not around:
            query = real(next(names, f"s_{{{draw.line}}}"))
            self.private.add(query)
            self.lines.append(PageLine("query", formula_latex(Compare("==", query, location)), draw.line))
            location = query
        self.known.add(letter)
        second = _square(scale) if draw.law == "normal" else scale
        shown = ",".join((expression_latex(location), expression_latex(second)))
        self.lines.append(PageLine("draw", rf"{letter.latex}\sim{LAWS_LATEX[draw.law]}({shown})", draw.line))

    def conditions(self) -> tuple[dict[Variable, Variable], list[Compare]]:
        """The domains of letters, as the code narrows them, and what else is assumed of these."""
        letters = [COUNT, *(v for v in self.letters.values() if isinstance(v, Variable))]
        domains, given = {one: one for one in letters}, list[Compare]()
        for node, one in self.reader.holds:
            sides = one.left, one.right
            at = next(
                (k for k in (0, 1) if isinstance(sides[k], Variable) and constant(sides[1 - k]) is not None),
                None,
            )
            if one.relation == "!=":
                value = None if at is None else constant(sides[1 - at])
                if value is None or domains[sides[at]].contains(value):  # type: ignore[index]
                    self.reader.notes.append(
                        f"Line {node.lineno} raises an error for some parameters, of which the page speaks, too."
                    )
            elif at is None or one.relation == "==":
                given.append(one)
            else:
                letter = sides[at]
                assert isinstance(letter, Variable)
                domains[letter] = _narrowed(
                    domains[letter], one.relation == "<", constant(sides[1 - at]), above=at == 0
                )
        return domains, [*dict.fromkeys(given)]

    def guessed_claim(self) -> str:
        """A claim that the laws and parameters suggest; nothing where they do not."""
        laws = {draw.law for draw in self.reader.draws}
        if any("propto" in one.latex for one in self.lines):
            laws.add("laplace")  # of which pure privacy is claimed, too
        shown = {name: v.latex for name, v in self.letters.items() if isinstance(v, Variable)}
        epsilon = shown.get("epsilon", shown.get("eps"))
        claim = ""
        if laws == {"laplace"} and epsilon:
            claim = rf"{epsilon}\text{{-DP}}"
        elif laws == {"normal"}:
            kinds = {"rho": "-zCDP", "mu": "-GDP"}
            claim = next(
                (rf"{shown[name]}\text{{{kind}}}" for name, kind in kinds.items() if name in shown), ""
            )
            if not claim and epsilon and "delta" in shown:
                claim = rf"({epsilon},{shown['delta']})\text{{-DP}}"
        if claim:
            self.notes.append(
                "The claim is guessed from the noise and the parameters' names; `--claim` says another."
            )
        return claim


def _is_column(node: ast.AST, name: str) -> bool:
    """Whether an expression is a column of an array of this name."""
    match node:
        case ast.Subscript(ast.Name(found), ast.Tuple([ast.Slice(None, None, None), ast.Constant(int())])):
            return found == name
    return False


def _of_rows(node: ast.AST) -> bool:
    """Whether an expression is of the second axis of an array."""
    match node:
        case ast.keyword("axis", ast.Constant(1) | ast.UnaryOp(ast.USub(), ast.Constant(1))):
            return True
        case ast.Subscript(ast.Attribute(_, "shape"), ast.Constant(1)):
            return True
    return False


def _letter(name: str, taken: set[str]) -> str:
    """The letter of a parameter."""
    own = [name] if len(name) == 1 and name.isascii() and name.isalpha() else []
    wanted = [*(table[name] for table in (_GREEK, _LATIN) if name in table), *own, *_FREE]
    return next((one for one in wanted if one not in taken), f"c_{{{len(taken)}}}")


def _square(scale: Expression) -> Expression:
    """A variance."""
    match scale:
        case Apply("root", (inner, Number(order))) if order == 2:
            return inner
        case Apply("pow", (inner, Number(order))) if order == Fraction(1, 2):
            return inner
    return scale**2


def _narrowed(letter: Variable, strict: bool, end: Fraction | None, *, above: bool) -> Variable:
    """A letter with another end of its domain, where this is narrower."""
    assert end is not None
    old, was_open = (letter.upper, letter.upper_open) if above else (letter.lower, letter.lower_open)
    if old is not None and ((old < end if above else old > end) or (old == end and was_open)):
        return letter
    if above:
        return replace(letter, upper=end, upper_open=strict)
    return replace(letter, lower=end, lower_open=strict)
