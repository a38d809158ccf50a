"""What code is made of, as terms: records, columns of numbers, draws; and the forms of code that are known."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

from dpverify.formulas.expressions import Apply, Binder, Expression, Number, Variable, integer, real
from dpverify.formulas.logic import Compare, Formula, Not
from dpverify.formulas.operators import apply
from dpverify.formulas.rendering.latex import formula_latex

INDEX, RECORD, CELL = integer("i"), real("x_i"), real("x_{i,r}")
COUNT, DIMENSION = integer("n", ge=1), integer("d", ge=1)
NUMBER, OF_NUMBER = integer("l"), real("x_{i,l}")
"""The index of a record's numbers where these are added up, and one of them."""


class UnreadCodeError(Exception):
    """Code that is not read, and why."""

    def __init__(self, node: ast.AST, reason: str) -> None:
        super().__init__(reason)
        self.node, self.reason = node, reason


@dataclass(frozen=True)
class RecordColumn:
    """An array with a number for each record; of some records only, where they are kept."""

    body: Expression
    kept: Formula | None = None
    listed: bool = False
    """Whether it is a list, with which arithmetic means something else."""
    shape: Literal["", "flat", "beside"] = ""
    """Where records are rows: one number a record, or that beside each number of its row, `(n, 1)`; else of rows."""


@dataclass(frozen=True)
class RecordMask:
    """An array with a truth value for each record."""

    body: Formula


@dataclass(frozen=True)
class DottedName:
    """A module or a function of one, by its dotted name."""

    name: str


@dataclass(frozen=True)
class RecordTable:
    """The data with a row for each record, of which one column is used: `data[:, 0]`."""


GENERATOR, CANDIDATES = DottedName("<generator>"), DottedName("<number of candidates>")
RUNS = DottedName("<number of runs>")
"""How many runs an audit asks for at once; the page is of one."""


@dataclass(frozen=True)
class CandidateColumn:
    """An array with a number for each candidate, where a record is a row with one."""

    body: Expression


@dataclass(frozen=True)
class CandidateTotal:
    """The sum of such an array; that array divided by it, with `share`."""

    body: Expression
    share: bool = False


@dataclass(frozen=True)
class ChosenCandidate:
    """The candidate with the largest number; with `weights`, one that is drawn with chances proportional to them."""

    body: Expression
    line: int
    weights: bool = False


@dataclass(frozen=True)
class UnreadValue:
    """A value that is not read."""

    reason: str


@dataclass(frozen=True)
class CodeDraw:
    """A number that is drawn: letter, law, location, scale (standard deviation), and where."""

    letter: Variable
    law: str
    location: Expression
    scale: Expression
    line: int
    each: bool = False
    """Whether one is drawn for each candidate."""


CodeValue: TypeAlias = (
    "Expression | Formula | RecordColumn | RecordTable | RecordMask | DottedName | UnreadValue | ast.FunctionDef"
    " | CandidateColumn | CandidateTotal | ChosenCandidate | tuple[CodeValue, ...] | None"
)
Environment: TypeAlias = "dict[str, CodeValue]"

RELATIONS: Mapping[type[ast.cmpop], str] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip
IS_TRUE: Mapping[str, Callable[[Fraction, Fraction], bool]] = {
    "<": lambda a, b: a < b, "<=": lambda a, b: a <= b, "==": lambda a, b: a == b, "!=": lambda a, b: a != b,
}  # fmt: skip
NEGATED = {"<=": ">", "<": ">=", ">=": "<", ">": "<=", "==": "!=", "!=": "=="}


def plus(one: Expression, other: Expression) -> Expression:
    """A sum, without terms that are 0."""
    return other if one == Number(Fraction(0)) else one if other == Number(Fraction(0)) else one + other


def times(one: Expression, other: Expression) -> Expression:
    """A product, without factors that are 1."""
    return other if one == Number(Fraction(1)) else one if other == Number(Fraction(1)) else one * other


def compared(relation: str, left: Expression, right: Expression) -> Compare:
    """A comparison; a formula has no `>`."""
    if relation in (">", ">="):
        return Compare("<" if relation == ">" else "<=", right, left)
    return Compare(relation, left, right)  # type: ignore[arg-type]


def negated(formula: Formula) -> Formula:
    """What is true where a formula is false."""
    if isinstance(formula, Compare):
        return compared(NEGATED[formula.relation], formula.left, formula.right)
    return Not(formula)


def one_if(formula: Formula) -> Variable:
    """The number that is 1 where a formula is true, else 0."""
    latex = rf"\mathbf{{1}}[{formula_latex(formula)}]"
    return real(latex, latex=latex)


SAME = {
    "builtins.float", "numpy.asarray", "numpy.array", "numpy.asanyarray", "numpy.float64", "numpy.ravel",
    "numpy.atleast_1d", "copy", "ravel", "flatten", "item", "squeeze",
}  # fmt: skip
"""What gives back its argument, where this is a number or an array of numbers."""
FLATTENED = {"ravel", "flatten", "squeeze", "item"}
"""Which of these make one row of rows."""
FUNCTIONS: Mapping[str, Callable[..., Expression]] = {
    "sqrt": lambda x: apply("root", x, 2), "exp": lambda x: apply("exp", x), "log": lambda x: apply("log", x),
    "abs": lambda x: apply("abs", x), "absolute": lambda x: apply("abs", x), "fabs": lambda x: apply("abs", x),
    "square": lambda x: x**2, "floor": lambda x: apply("floor", x), "ceil": lambda x: apply("ceiling", x),
    "power": lambda x, y: x**y, "minimum": lambda x, y: apply("min", x, y), "maximum": lambda x, y: apply("max", x, y),
    "log1p": lambda x: apply("log", 1 + x), "negative": lambda x: -x,
}  # fmt: skip
"""Functions of numbers, by number or by record."""
FOLDS = {
    "sum": "sum", "mean": "mean", "prod": "product", "max": "largest", "amax": "largest", "min": "smallest",
    "amin": "smallest", "count_nonzero": "sum", "average": "mean",
}  # fmt: skip
LAWS = {
    "laplace": ("laplace", ("loc", "scale")), "normal": ("normal", ("loc", "scale")), "standard_normal": ("normal", ()),
}  # fmt: skip
NUMPY = {*FUNCTIONS, *FOLDS, "clip", "argmax"}
BUILTINS = {"sum", "max", "min", "abs", "len", "float", "range", "isinstance"}
OPERATORS: Mapping[type[ast.operator], Callable[[Expression, Expression], Expression]] = {
    ast.Add: lambda a, b: plus(a, b), ast.Sub: lambda a, b: a - b, ast.Mult: lambda a, b: times(a, b),
    ast.Div: lambda a, b: a / b, ast.Pow: lambda a, b: a**b,
}  # fmt: skip


def check_plain(function: ast.FunctionDef) -> None:
    """Refuse what makes a function something else than its body says."""
    if function.decorator_list:
        raise UnreadCodeError(function.decorator_list[0], "a decorator, which may change the function")
    if function.args.vararg or function.args.kwarg:
        raise UnreadCodeError(function, "parameters with a star")
    for node in ast.walk(function):
        if isinstance(
            node, ast.Yield | ast.YieldFrom | ast.Await | ast.Global | ast.Nonlocal | ast.NamedExpr
        ):
            raise UnreadCodeError(node, f"code of this form is not read ({kind_of(node)})")


def keeps(node: ast.Call) -> list[ast.expr]:
    """What a call says of `keepdims`."""
    return [one.value for one in node.keywords if one.arg == "keepdims"]


def kept_axis(node: ast.Call) -> bool:
    """Whether a call keeps the axis over which it adds up."""
    said = keeps(node)
    if said and not (isinstance(said[0], ast.Constant) and isinstance(said[0].value, bool)):
        raise UnreadCodeError(node, "`keepdims` that is neither True nor False")
    return bool(said) and isinstance(said[0], ast.Constant) and said[0].value is True


def is_float(node: ast.expr) -> bool:
    """Whether a type is one of real numbers, or nothing is said."""
    return ast.unparse(node) in ("float", "np.float64", "numpy.float64", "None", "True", "False")


def kind_of(node: ast.AST) -> str:
    return type(node).__name__


def has_sum(e: Expression) -> bool:
    """Whether there is a sum in it, those of one record's numbers aside."""
    over_records = isinstance(e, Binder) and e.variable != NUMBER
    return over_records or (isinstance(e, Apply) and any(map(has_sum, e.arguments)))


def fitting(shapes: set[str]) -> str | None:
    """The shape of what is made of arrays of some shapes; None where rows and numbers of records are mixed."""
    if len(shapes) == 1:
        return next(iter(shapes))
    return "" if shapes == {"", "beside"} else None


def imported(node: ast.Import | ast.ImportFrom) -> dict[str, CodeValue]:
    found = dict[str, CodeValue]()
    for one in node.names:
        if isinstance(node, ast.ImportFrom):
            dotted = f"{node.module}.{one.name}" if node.level == 0 else f".{one.name}"
            found[one.asname or one.name] = DottedName(dotted)
        else:
            found[one.asname or one.name.partition(".")[0]] = DottedName(
                one.name if one.asname else one.name.partition(".")[0]
            )
    return found


def bound_names(node: ast.AST) -> Iterator[str]:
    """The names that a statement gives a value, those within functions left out; maybe more than once."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Import | ast.ImportFrom):
        yield from imported(node)
    elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id
    elif not isinstance(node, ast.comprehension | ast.Lambda):
        for part in ast.iter_child_nodes(node):
            yield from bound_names(part)


def conjuncts(test: ast.expr, *, truth: bool) -> Iterator[tuple[ast.expr, bool]]:
    """Tests that all come out in their way if a test does in its way."""
    match test:
        case ast.UnaryOp(ast.Not(), operand):
            yield from conjuncts(operand, truth=not truth)
        case ast.BoolOp(operator, parts) if isinstance(operator, ast.And) is truth:
            for part in parts:
                yield from conjuncts(part, truth=truth)
        case _:
            yield test, truth


def typed(node: ast.AST) -> ast.expr | None:
    """What a call of `isinstance` looks at."""
    match node:
        case ast.Call(ast.Name("isinstance"), [first, _]):
            return first
    return None


def is_list(value: CodeValue) -> bool:
    return isinstance(value, RecordColumn) and value.listed
