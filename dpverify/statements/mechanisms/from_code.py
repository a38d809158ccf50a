"""Plain NumPy code as terms: what a function asks of records, what it draws and what it returns.

The source is read, nothing of it is executed. Each form of code that is read here has one meaning on the page; anything
else raises `UnreadCodeError` with its place, so that nothing is passed over. Numbers are taken as real numbers, decimals as
they are written.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

from dpverify.formulas.expressions import (
    Apply,
    Binder,
    Constant,
    Expression,
    Number,
    Variable,
    all_variables,
    constant,
    integer,
    real,
)
from dpverify.formulas.logic import And, Compare, Formula, Not, Or, variables_of
from dpverify.formulas.operators import apply
from dpverify.formulas.rendering.latex import expression_latex, formula_latex

DEEPEST = 8
"""Functions of a module that call one another."""
INDEX, RECORD = integer("i"), real("x_i")
COUNT = integer("n", ge=1)


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


@dataclass(frozen=True)
class RecordMask:
    """An array with a truth value for each record."""

    body: Formula


@dataclass(frozen=True)
class Named:
    """A module or a function of one, by its dotted name."""

    name: str


GENERATOR = Named("<generator>")


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


CodeValue: TypeAlias = (
    "Expression | Formula | RecordColumn | RecordMask | Named | UnreadValue | ast.FunctionDef | tuple[CodeValue, ...] | None"
)
Environment: TypeAlias = "dict[str, CodeValue]"

_SAME = {
    "builtins.float", "numpy.asarray", "numpy.array", "numpy.asanyarray", "numpy.float64", "numpy.ravel", "numpy.atleast_1d",
    "copy", "ravel", "flatten", "item", "squeeze",
}  # fmt: skip
"""What gives back its argument, where this is a number or an array of numbers."""
_FUNCTIONS: Mapping[str, Callable[..., Expression]] = {
    "sqrt": lambda x: apply("root", x, 2), "exp": lambda x: apply("exp", x), "log": lambda x: apply("log", x),
    "abs": lambda x: apply("abs", x), "absolute": lambda x: apply("abs", x), "fabs": lambda x: apply("abs", x),
    "square": lambda x: x**2, "floor": lambda x: apply("floor", x), "ceil": lambda x: apply("ceiling", x),
    "power": lambda x, y: x**y, "minimum": lambda x, y: apply("min", x, y), "maximum": lambda x, y: apply("max", x, y),
    "log1p": lambda x: apply("log", 1 + x), "negative": lambda x: -x,
}  # fmt: skip
"""Functions of numbers, by number or by record."""
_FOLDS = {
    "sum": "sum", "mean": "mean", "prod": "product", "max": "largest", "amax": "largest", "min": "smallest",
    "amin": "smallest", "count_nonzero": "sum", "average": "mean",
}  # fmt: skip
_LAWS = {
    "laplace": ("laplace", ("loc", "scale")), "normal": ("normal", ("loc", "scale")), "standard_normal": ("normal", ()),
}  # fmt: skip
_NUMPY = {*_FUNCTIONS, *_FOLDS, "clip", "size", "sum", "logical_and", "logical_or", "logical_not", "random", "pi", "shape"}
_BUILTINS = {"sum", "max", "min", "abs", "len", "float", "range", "isinstance"}
_RELATIONS: Mapping[type[ast.cmpop], str] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip
_NEGATED = {"<=": ">", "<": ">=", ">=": "<", ">": "<=", "==": "!=", "!=": "=="}
_OPERATORS: Mapping[type[ast.operator], Callable[[Expression, Expression], Expression]] = {
    ast.Add: lambda a, b: plus(a, b), ast.Sub: lambda a, b: a - b, ast.Mult: lambda a, b: times(a, b),
    ast.Div: lambda a, b: a / b, ast.Pow: lambda a, b: a**b,
}  # fmt: skip


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
        return compared(_NEGATED[formula.relation], formula.left, formula.right)
    return Not(formula)


def one_if(formula: Formula) -> Variable:
    """The number that is 1 where a formula is true, else 0."""
    latex = rf"\mathbf{{1}}[{formula_latex(formula)}]"
    return real(latex, latex=latex)


class CodeReader:
    """Reads the body of a function of a module; letters are made for its parameters as they are used.

    Attributes:
        draws: what it draws, in the order of the code.
        folds: letters of largest and smallest values and products over records, which are queries of their own.
        holds: what is true of public letters where the code goes on, each with its line.
        notes: what it does that the page need not say, in words.
        unread: lines that are not read: their number and the reason.
    """

    def __init__(self, module: ast.Module, parameters: Mapping[str, Variable]) -> None:
        self.parameters = {*parameters.values()}
        self.draws = list[CodeDraw]()
        self.folds = dict[tuple[str, Expression], Variable]()
        self.holds = list[tuple[ast.stmt, Compare]]()
        self.notes = list[str]()
        self.unread = list[UnreadCodeError]()
        self.seeds = set[Variable]()
        self.depth = 0
        self.module: Environment = {}
        self.names = dict[str, ast.stmt]()
        bound = list[str]()
        for node in module.body:
            for name in _bound_names(node):
                bound.append(name)
                self.names[name] = node
        changed = {name for node in ast.walk(module) if isinstance(node, ast.Global) for name in node.names}
        self.star = "*" in bound
        self.twice = {name for name in bound if bound.count(name) > 1} | changed

    # --------------------------------------------------------------------------------------- statements

    def body(self, statements: Sequence[ast.stmt], env: Environment) -> CodeValue:
        """What a body returns; lines that are not read are kept, and what they would have made is not read."""
        for statement in statements:
            if isinstance(statement, ast.Return):
                if statement.value is None:
                    raise UnreadCodeError(statement, "nothing is returned")
                return self.value(statement.value, env)
            try:
                self.statement(statement, env)
            except UnreadCodeError as error:
                self.unread.append(error)
                for name in {*_bound_names(statement)}:
                    env[name] = UnreadValue(f"`{name}` is of line {error.node.lineno}, which is not read")  # type: ignore[attr-defined]
        raise UnreadCodeError(statements[-1], "nothing is returned at the end of the function")

    def statement(self, node: ast.stmt, env: Environment) -> None:
        """One statement."""
        match node:
            case ast.Expr(ast.Constant(str())) | ast.Pass():
                pass
            case ast.Import() | ast.ImportFrom():
                env.update(_imported(node))
            case ast.Assign([target], value):
                self.assign(target, self.value(value, env), env)
            case ast.AnnAssign(target, _, ast.expr() as value):
                self.assign(target, self.value(value, env), env)
            case ast.AugAssign(ast.Name(name), operator, value):
                old = self.known(node, name, env)
                if not isinstance(old, Expression):
                    raise UnreadCodeError(node, "an array is changed in place")
                env[name] = self.operated(node, operator, old, self.number(value, env))
            case ast.If(test, body, []) if isinstance(body[-1], ast.Raise):
                self.goes_on(node, test, env, truth=False)
            case ast.If(
                ast.Compare(ast.Name(name), [ast.Is()], [ast.Constant(None)]),
                [ast.Assign([ast.Name(same)], value)],
                [],
            ) if name == same and env.get(name) == GENERATOR:
                if self.value(value, env) != GENERATOR:
                    raise UnreadCodeError(node, "a generator that is something else")
            case ast.Assert(test):
                self.goes_on(node, test, env, truth=True)
            case ast.For(target, over, body, []):
                self.loop(node, target, over, body, env)
            case _:
                raise UnreadCodeError(node, f"no form of code that is read ({_kind(node)})")

    def assign(self, target: ast.expr, value: CodeValue, env: Environment) -> None:
        """Give a name, or names of a tuple, their values."""
        match target, value:
            case ast.Name(name), _:
                env[name] = value
            case ast.Tuple(names), tuple() if len(names) == len(value):
                for one, part in zip(names, value, strict=True):
                    self.assign(one, part, env)
            case _:
                raise UnreadCodeError(target, "values are given to names only")

    def goes_on(self, node: ast.stmt, test: ast.expr, env: Environment, *, truth: bool) -> None:
        """A condition on public parameters under which the code goes on."""
        before = len(self.holds)
        try:
            for formula in self.conjuncts(test, env, truth=truth):
                sides = formula.left, formula.right
                if not all(map(self.is_public, sides)):
                    raise UnreadCodeError(node, "whether it raises an error depends on records, or on a draw")
                left, right = map(constant, sides)
                if left is None or right is None:
                    self.holds.append((node, formula))
                elif not {"<": left < right, "<=": left <= right, "==": left == right, "!=": left != right}[formula.relation]:
                    raise UnreadCodeError(node, "it always raises an error for one number a record")
        except UnreadCodeError as error:
            typed = [one.args[0] for one in ast.walk(test) if _is_call(one, "isinstance")]
            names = [
                name for name in ast.walk(test) if isinstance(name, ast.Name) and name not in typed and name.id in env
            ]
            if error.node is node or not all(self.is_public(env[name.id]) for name in names):
                raise UnreadCodeError(node, error.reason) from None
            del self.holds[before:]
            self.notes.append(
                f"Line {node.lineno} raises an error for some parameters, of which the page speaks, too: {error.reason}."
            )

    def is_public(self, value: CodeValue) -> bool:
        """Whether a value depends on parameters alone."""
        match value:
            case Expression():
                return not self.is_private(value) and not self.drawn_in(value)
            case tuple():
                return all(map(self.is_public, value))
            case _:
                return value is None or isinstance(value, Named | ast.FunctionDef)

    def conjuncts(self, test: ast.expr, env: Environment, *, truth: bool) -> Iterator[Compare]:
        """What holds if a test comes out so."""
        match test:
            case ast.UnaryOp(ast.Not(), operand):
                yield from self.conjuncts(operand, env, truth=not truth)
            case ast.BoolOp(operator, parts) if isinstance(operator, ast.And) is truth:
                for part in parts:
                    yield from self.conjuncts(part, env, truth=truth)
            case ast.Compare(first, relations, rest) if truth or len(rest) == 1:
                sides = [self.number(one, env) for one in (first, *rest)]
                for left, relation, right in zip(sides, relations, sides[1:], strict=False):
                    name = _RELATIONS.get(type(relation))
                    if name is None:
                        raise UnreadCodeError(test, f"`{ast.unparse(test)}` is no comparison of numbers")
                    yield compared(name if truth else _NEGATED[name], left, right)
            case _:
                raise UnreadCodeError(test, f"`{ast.unparse(test)}` is not read")

    def loop(
        self, node: ast.For, target: ast.expr, over: ast.expr, body: Sequence[ast.stmt], env: Environment
    ) -> None:
        """A loop over all records that adds to numbers."""
        inside, drawn = dict(env), len(self.draws)
        for name in {*_bound_names(node)}:
            inside[name] = UnreadValue(f"`{name}` changes within the loop")
        kept = self.enter(node, target, over, env, inside)
        added = dict[str, list[Expression]]()
        sums = {n.target.id for n in ast.walk(node) if isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name)}

        def go(statements: Sequence[ast.stmt], given: tuple[Formula, ...]) -> None:
            for one in statements:
                match one:
                    case ast.AugAssign(ast.Name(name), ast.Add(), value):
                        term = self.number(value, inside)
                        for formula in reversed(given):
                            term = times(one_if(formula), term)
                        added.setdefault(name, []).append(self.term(one, term))
                    case ast.Assign([ast.Name(name)], value) if not given and name not in sums:
                        inside[name] = self.value(value, inside)
                    case ast.If(test, then, otherwise):
                        formula = self.formula(test, inside)
                        go(then, (*given, formula))
                        go(otherwise, (*given, negated(formula)))
                    case ast.Pass():
                        pass
                    case _:
                        raise UnreadCodeError(one, "a loop that does more than add to numbers")

        go(body, () if kept is None else (kept,))
        if len(self.draws) > drawn:
            del self.draws[drawn:]
            raise UnreadCodeError(node, "a draw for each record")
        start = {name: self.as_number(node, self.known(node, name, env)) for name in added}
        for name in {*_bound_names(node)}:
            env[name] = UnreadValue(f"`{name}` is of the loop in line {node.lineno}")
        for name, terms in added.items():
            env[name] = start[name]
            for term in terms:
                env[name] = plus(self.as_number(node, env[name]), Binder("sum", term, INDEX, Number(Fraction(1)), COUNT))

    def enter(
        self, node: ast.AST, target: ast.expr, over: ast.expr, env: Environment, inside: Environment
    ) -> Formula | None:
        """What a loop's letter is, in an environment of its own; the records that are kept."""
        if isinstance(over, ast.Call) and isinstance(over.func, ast.Name) and isinstance(target, ast.Name):
            first = self.resolved(over.func, env)
            if first == Named("builtins.range") and len(over.args) == 1 and self.number(over.args[0], env) == COUNT:
                inside[target.id] = INDEX - Number(Fraction(1))
                return None
        column = self.value(over, env)
        if not isinstance(column, RecordColumn) or not isinstance(target, ast.Name):
            raise UnreadCodeError(node, "a loop over something else than the records, or `range` of their number")
        inside[target.id] = column.body
        return column.kept

    # ------------------------------------------------------------------------------------------- values

    def value(self, node: ast.expr, env: Environment) -> CodeValue:
        """What an expression is."""
        match node:
            case ast.Constant(None):
                return None
            case ast.Constant(int() | float() as number) if not isinstance(number, bool):
                try:
                    return Number(Fraction(repr(number)))
                except ValueError:
                    raise UnreadCodeError(node, "no finite number") from None
            case ast.Name():
                return self.resolved(node, env)
            case ast.Tuple(parts):
                return tuple(self.value(part, env) for part in parts)
            case ast.UnaryOp(ast.USub(), operand):
                found = self.value(operand, env)
                number = constant(found) if isinstance(found, Expression) else None
                return Number(-number) if number is not None else self.lifted(node, lambda a: -a, found)
            case ast.UnaryOp(ast.UAdd(), operand):
                return self.value(operand, env)
            case ast.UnaryOp(ast.Invert(), operand):
                return RecordMask(negated(self.mask(operand, env)))
            case ast.BinOp(left, ast.BitAnd() | ast.BitOr() as operator, right):
                parts = self.mask(left, env), self.mask(right, env)
                return RecordMask(And(parts) if isinstance(operator, ast.BitAnd) else Or(parts))
            case ast.BinOp(left, operator, right):
                return self.operated(node, operator, self.value(left, env), self.value(right, env))
            case ast.Compare():
                return self.comparison(node, env)
            case ast.Attribute(inner, name):
                return self.attribute(node, self.value(inner, env), name)
            case ast.Subscript(inner, index):
                return self.element(node, self.value(inner, env), index, env)
            case ast.GeneratorExp(body, [ast.comprehension() as loop]) | ast.ListComp(body, [ast.comprehension() as loop]):
                return self.comprehension(node, body, loop, env)
            case ast.Call():
                return self.call(node, env)
        raise UnreadCodeError(node, f"no form of code that is read ({_kind(node)})")

    def number(self, node: ast.expr, env: Environment) -> Expression:
        """An expression that is one number."""
        return self.as_number(node, self.value(node, env))

    def as_number(self, node: ast.AST, value: CodeValue) -> Expression:
        """A value that is one number."""
        if isinstance(value, UnreadValue):
            raise UnreadCodeError(node, value.reason)
        if not isinstance(value, Expression):
            raise UnreadCodeError(node, "something else than one number, where one is needed")
        return value

    def known(self, node: ast.AST, name: str, env: Environment) -> CodeValue:
        """A local name's value."""
        if name not in env:
            raise UnreadCodeError(node, f"`{name}` has no value yet")
        return env[name]

    def resolved(self, node: ast.Name, env: Environment) -> CodeValue:
        """What a name stands for: a local value, one of the module, or a function of Python."""
        name = node.id
        if name in env:
            found = env[name]
            if isinstance(found, UnreadValue):
                raise UnreadCodeError(node, found.reason)
            return found
        if name in self.twice:
            raise UnreadCodeError(node, f"`{name}` is given a value more than once in its module")
        if name not in self.names:
            if name in _BUILTINS and not self.star:
                return Named(f"builtins.{name}")
            raise UnreadCodeError(node, f"`{name}` is not known")
        if name not in self.module:
            match self.names[name]:
                case ast.FunctionDef() as function:
                    self.module[name] = function
                case ast.Import() | ast.ImportFrom() as imported:
                    self.module.update(_imported(imported))
                case ast.Assign([ast.Name()], value) | ast.AnnAssign(ast.Name(), _, ast.expr() as value):
                    if any(isinstance(part, ast.Call) for part in ast.walk(value)):
                        raise UnreadCodeError(node, f"`{name}` is made by a call")
                    self.module[name] = self.value(value, {})
                case _:
                    raise UnreadCodeError(node, f"`{name}` is neither a number nor a function of its module")
        return self.module[name]

    def attribute(self, node: ast.Attribute, inner: CodeValue, name: str) -> CodeValue:
        """A part of a module, or the size of an array; methods are looked at where they are called."""
        match inner, name:
            case Named(module), _ if module in ("numpy", "math", "numpy.random"):
                found = f"{module}.{name}"
                return Constant("pi") if found in ("numpy.pi", "math.pi") else Named(found)
            case RecordColumn(), "size":
                return self.counted(node, inner)
            case RecordColumn(kept=None), "shape":
                return (COUNT,)
            case RecordColumn(), "ndim":
                return Number(Fraction(1))
            case UnreadValue(reason), _:
                raise UnreadCodeError(node, reason)
        raise UnreadCodeError(node, f"the attribute `{name}`")

    def element(self, node: ast.Subscript, inner: CodeValue, index: ast.expr, env: Environment) -> CodeValue:
        """A part of an array or tuple: `x.shape[0]`, `x[i]` within a loop, `x[mask]`."""
        at = self.value(index, env)
        match inner, at:
            case tuple(), Number(value) if value.denominator == 1 and 0 <= value < len(inner):
                return inner[int(value)]
            case RecordColumn(body, None), RecordMask(kept):
                return RecordColumn(body, kept)
            case RecordColumn(body, None), Apply("sub", (place, Number(value))) if place == INDEX and value == 1:
                return body
        raise UnreadCodeError(node, "a part of an array that is not read")

    def comprehension(
        self, node: ast.AST, body: ast.expr, loop: ast.comprehension, env: Environment
    ) -> RecordColumn | RecordMask:
        """A number for each record: `min(v, 1) for v in x if v > 0`."""
        inside, drawn = dict(env), len(self.draws)
        kept = [*filter(None, [self.enter(node, loop.target, loop.iter, env, inside)])]
        kept += [self.formula(one, inside) for one in loop.ifs]
        found = self.value(body, inside)
        if len(self.draws) > drawn:
            del self.draws[drawn:]
            raise UnreadCodeError(node, "a draw for each record")
        condition = (kept[0] if len(kept) == 1 else And(tuple(kept))) if kept else None
        if isinstance(found, Compare | And | Or | Not) and condition is None:
            return RecordMask(found)
        return RecordColumn(self.term(node, self.as_number(body, found)), condition, listed=True)

    def comparison(self, node: ast.Compare, env: Environment) -> CodeValue:
        """A comparison, of numbers or record by record."""
        sides = [self.value(one, env) for one in (node.left, *node.comparators)]
        bodies = [self.as_number(node, one.body if _whole(one) else one) for one in sides]
        names = [_RELATIONS.get(type(one)) for one in node.ops]
        if None in names:
            raise UnreadCodeError(node, "no comparison of numbers")
        parts = tuple(
            compared(str(name), left, right) for left, name, right in zip(bodies, names, bodies[1:], strict=False)
        )
        by_record = any(map(_whole, sides))
        if by_record and len(parts) > 1:
            raise UnreadCodeError(node, "a chain of comparisons of arrays, which NumPy refuses")
        formula: Formula = parts[0] if len(parts) == 1 else And(parts)
        for part, side in zip(bodies, sides, strict=True):
            if by_record and not _whole(side):
                self.alone(node, part)
        return RecordMask(formula) if by_record else formula

    def mask(self, node: ast.expr, env: Environment) -> Formula:
        """A truth value for each record."""
        found = self.value(node, env)
        if not isinstance(found, RecordMask):
            raise UnreadCodeError(node, "something else than comparisons of records")
        return found.body

    def formula(self, node: ast.expr, env: Environment) -> Formula:
        """A truth value of one record, within a loop."""
        match node:
            case ast.UnaryOp(ast.Not(), operand):
                return negated(self.formula(operand, env))
            case ast.BoolOp(operator, parts):
                made = And if isinstance(operator, ast.And) else Or
                return made(tuple(self.formula(part, env) for part in parts))
        found = self.value(node, env)
        if not isinstance(found, Compare | And):
            raise UnreadCodeError(node, "something else than a comparison of numbers")
        for part in found.parts if isinstance(found, And) else (found,):
            assert isinstance(part, Compare)
            self.term(node, part.left)
            self.term(node, part.right)
        return found

    def operated(self, node: ast.AST, operator: ast.operator, left: CodeValue, right: CodeValue) -> CodeValue:
        """An operation on numbers, or record by record."""
        if type(operator) not in _OPERATORS:
            raise UnreadCodeError(node, f"the operation `{_kind(operator)}`")
        return self.lifted(node, _OPERATORS[type(operator)], left, right)

    def lifted(self, node: ast.AST, function: Callable[..., Expression], *values: CodeValue) -> CodeValue:
        """A function of numbers, or of arrays record by record."""
        if all(isinstance(one, RecordMask) for one in values) or any(_is_list(one) for one in values):
            raise UnreadCodeError(node, "arithmetic of truth values, or of lists")
        values = tuple(RecordColumn(one_if(one.body)) if isinstance(one, RecordMask) else one for one in values)
        columns = [one for one in values if isinstance(one, RecordColumn)]
        if len({one.kept for one in columns}) > 1:
            raise UnreadCodeError(node, "arrays of different records")
        bodies = [one.body if isinstance(one, RecordColumn) else self.as_number(node, one) for one in values]
        if not columns:
            return function(*bodies)
        for one, body in zip(values, bodies, strict=True):
            if not isinstance(one, RecordColumn):
                self.alone(node, body)
        return RecordColumn(function(*bodies), columns[0].kept)

    def alone(self, node: ast.AST, e: Expression) -> None:
        """Refuse a number that is itself of all records, or drawn, beside each record."""
        if self.is_private(e) or self.drawn_in(e):
            raise UnreadCodeError(node, "a sum over records, or a draw, within another sum")

    def term(self, node: ast.AST, e: Expression) -> Expression:
        """A term of a sum over records, which has no sum in it."""
        inside = {*all_variables(e)}
        folded = inside & {*self.folds.values()} or _has_binder(e)
        if folded or any(self.drawn_in(v) for v in inside):
            raise UnreadCodeError(node, "a sum over records, or a draw, within another sum")
        return e

    def is_private(self, e: Expression) -> bool:
        """Whether a number depends on records."""
        return any(v in (RECORD, INDEX) or v in self.folds.values() or r"\mathbf" in v.latex for v in all_variables(e))

    def drawn_in(self, e: Expression) -> bool:
        """Whether a number depends on a draw."""
        letters = {draw.letter for draw in self.draws}
        return any(v in letters for v in all_variables(e))

    # -------------------------------------------------------------------------------------------- calls

    def call(self, node: ast.Call, env: Environment) -> CodeValue:
        """A call of a function, or of a method of an array or a generator."""
        if any(isinstance(one, ast.Starred) for one in node.args) or any(one.arg is None for one in node.keywords):
            raise UnreadCodeError(node, "arguments with a star")
        if isinstance(node.func, ast.Attribute):
            inner = self.value(node.func.value, env)
            if inner in (GENERATOR, Named("numpy.random")) and node.func.attr in _LAWS:
                return self.draw(node, node.func.attr, env)
            if isinstance(inner, RecordColumn | RecordMask | Expression):
                return self.method(node, node.func.attr, inner, env)
        function = self.value(node.func, env)
        if isinstance(function, ast.FunctionDef):
            return self.inlined(node, function, env)
        if not isinstance(function, Named):
            raise UnreadCodeError(node, f"the call of `{ast.unparse(node.func)}`")
        module, _, name = function.name.rpartition(".")
        builtin = module == "builtins"
        if function.name in ("numpy.random.default_rng", "numpy.random.RandomState"):
            return self.generator(node, env)
        if module == "numpy.random" and name in _LAWS:
            return self.draw(node, name, env)
        if name == "range" or module not in ("builtins", "numpy", "math"):
            raise UnreadCodeError(node, f"the call of `{function.name}`")
        if function.name in _SAME:
            return self.same(node, env)
        if builtin and name in ("max", "min") and len(node.args) > 1 and not node.keywords:
            return self.lifted(node, lambda *a: apply(name, *a), *(self.number(one, env) for one in node.args))
        if function.name in ("numpy.logical_and", "numpy.logical_or") and len(node.args) == 2 and not node.keywords:
            made = And if name == "logical_and" else Or
            return RecordMask(made(tuple(self.mask(one, env) for one in node.args)))
        if function.name in ("builtins.len", "numpy.size") and len(node.args) == 1 and not node.keywords:
            found = self.value(node.args[0], env)
            if isinstance(found, RecordColumn):
                return self.counted(node, found)
        known = name in _BUILTINS if builtin else name in _NUMPY
        if known and node.args:
            return self.method(node, name, self.value(node.args[0], env), env, skip=1)
        raise UnreadCodeError(node, f"the call of `{function.name}`")

    def same(self, node: ast.Call, env: Environment) -> CodeValue:
        """What is only made an array, or a number of another type."""
        found = self.value(node.args[0], env) if node.args else None
        if isinstance(found, RecordColumn):
            found = replace(found, listed=False)
        kinds = all(map(_is_float, node.args[1:])) and all(one.arg in ("dtype", "copy") and _is_float(one.value) for one in node.keywords)
        if not isinstance(found, RecordColumn | Expression) or not kinds:
            raise UnreadCodeError(node, "a change of an array that is not read")
        return found

    def method(self, node: ast.Call, name: str, inner: CodeValue, env: Environment, skip: int = 0) -> CodeValue:
        """A method of an array or a number, or the function of NumPy that does the same."""
        if name in _SAME and len(node.args) == skip and not node.keywords:
            return inner
        if name == "astype" and len(node.args) == 1 and _is_float(node.args[0]):
            return self.lifted(node, lambda a: a, inner)
        if name == "clip":
            given = self.arguments(node, ("low", "high"), env, skip, {"a_min": "low", "min": "low", "a_max": "high", "max": "high"})
            for side, function in (("low", "max"), ("high", "min")):
                if given.get(side) is not None:
                    inner = self.lifted(node, lambda a, b, f=function: apply(f, a, b), inner, given[side])
            return inner
        if name in _FOLDS and isinstance(inner, RecordColumn | RecordMask):
            for one in node.keywords:
                whole = one.arg == "axis" and isinstance(one.value, ast.Constant) and one.value.value in (None, 0)
                if not whole and not (one.arg == "dtype" and _is_float(one.value)):
                    raise UnreadCodeError(node, f"the argument `{one.arg}`")
            if len(node.args) > skip:
                raise UnreadCodeError(node, "further arguments")
            return self.folded(node, name, inner)
        if name in _FUNCTIONS and not node.keywords:
            further = [self.value(one, env) for one in node.args[skip:]]
            wanted = 2 if name in ("power", "minimum", "maximum") else 1
            if len(further) + 1 == wanted:
                return self.lifted(node, _FUNCTIONS[name], inner, *further)
        raise UnreadCodeError(node, f"the call of `{name}`")

    def folded(self, node: ast.AST, name: str, inner: RecordColumn | RecordMask) -> Expression:
        """A sum, mean, product, largest or smallest value over records."""
        if name == "count_nonzero" and not isinstance(inner, RecordMask):
            raise UnreadCodeError(node, "a count of what is no comparison")
        column = inner if isinstance(inner, RecordColumn) else RecordColumn(one_if(inner.body))
        body, kind = self.term(node, column.body), _FOLDS[name]
        if column.kept is not None and kind != "sum":
            raise UnreadCodeError(node, f"the {name} of some records only, of which there may be none")
        if column.kept is not None:
            body = times(one_if(column.kept), body)
        if kind in ("sum", "mean"):
            total = Binder("sum", body, INDEX, Number(Fraction(1)), COUNT)
            return total if kind == "sum" else Number(Fraction(1)) / COUNT * total
        letter = real(f"m_{{{len(self.folds) + 1}}}")
        return self.folds.setdefault((kind, body), letter)

    def counted(self, node: ast.AST, column: RecordColumn) -> Expression:
        """How many records there are, or are kept."""
        return COUNT if column.kept is None else self.folded(node, "sum", RecordMask(column.kept))

    def generator(self, node: ast.Call, env: Environment) -> Named:
        """A generator that is made within the function; it must not be the same each time."""
        given = [self.value(one, env) for one in (*node.args, *(one.value for one in node.keywords))]
        for one in given:
            if isinstance(one, Variable) and one in self.parameters:
                self.seeds.add(one)
            elif one is not None and one != GENERATOR:
                raise UnreadCodeError(node, "a generator with a fixed seed: its numbers are the same each time")
        if all(one is None for one in given):
            self.notes.append(f"Line {node.lineno} seeds its own generator, so that an audit is not repeated bit by bit.")
        return GENERATOR

    def draw(self, node: ast.Call, name: str, env: Environment) -> Expression:
        """A number that is drawn."""
        law, names = _LAWS[name]
        given = self.arguments(node, (*names, "size"), env, 0, {})
        if given.pop("size", None) is not None:
            raise UnreadCodeError(node, "more than one number is drawn at once")
        location, scale = (
            self.as_number(node, given.get(one, Number(Fraction(default)))) for one, default in (("loc", 0), ("scale", 1))
        )
        letter = real(f"draw {len(self.draws) + 1}")
        self.draws.append(CodeDraw(letter, law, location, scale, node.lineno))
        return letter

    def arguments(
        self, node: ast.Call, names: Sequence[str], env: Environment, skip: int, also: Mapping[str, str]
    ) -> dict[str, CodeValue]:
        """Arguments by name."""
        if len(node.args) - skip > len(names):
            raise UnreadCodeError(node, "further arguments")
        given = {name: self.value(one, env) for name, one in zip(names, node.args[skip:], strict=False)}
        for one in node.keywords:
            name = also.get(str(one.arg), str(one.arg))
            if name not in names or name in given:
                raise UnreadCodeError(node, f"the argument `{one.arg}`")
            given[name] = self.value(one.value, env)
        return given

    def inlined(self, node: ast.Call, function: ast.FunctionDef, env: Environment) -> CodeValue:
        """What another function of the module returns."""
        check_plain(function)
        spec = function.args
        parameters = [one.arg for one in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)]
        given = self.arguments(node, parameters, env, 0, {})
        defaults = dict(zip(reversed([*spec.posonlyargs, *spec.args]), reversed(spec.defaults), strict=False))
        defaults.update({one: d for one, d in zip(spec.kwonlyargs, spec.kw_defaults, strict=True) if d is not None})
        for parameter, default in defaults.items():
            if parameter.arg not in given:
                given[parameter.arg] = self.value(default, {})
        if self.depth >= DEEPEST or {*given} != {*parameters}:
            raise UnreadCodeError(node, f"the call of `{function.name}`")
        self.depth += 1
        unread = len(self.unread)
        found = self.body(function.body, given)
        self.depth -= 1
        if len(self.unread) > unread:
            raise UnreadCodeError(node, f"`{function.name}` is not read")
        return found


# ------------------------------------------------------------------------------------- draws as letters


def affine(e: Expression, letter: Variable) -> tuple[Expression, Expression] | None:
    """The factor and the rest of a number that a letter stands in once, multiplied and added to; None for others."""
    if e == letter:
        return Number(Fraction(1)), Number(Fraction(0))
    match e:
        case Apply("add" | "sub" as name, (left, right)):
            one, other = affine(left, letter), affine(right, letter)
            if one is not None and letter not in all_variables(right):
                rest = plus(one[1], right) if name == "add" else (-right if _zero(one[1]) else one[1] - right)
                return one[0], rest
            if other is not None and letter not in all_variables(left):
                return (other[0], plus(left, other[1])) if name == "add" else (-other[0], left if _zero(other[1]) else left - other[1])
        case Apply("mul", (left, right)):
            for inner, factor in ((left, right), (right, left)):
                found = affine(inner, letter)
                if found is not None and letter not in all_variables(factor):
                    rest = found[1] if _zero(found[1]) else times(factor, found[1])
                    return times(factor, found[0]), rest
        case Apply("div", (left, right)):
            found = affine(left, letter)
            if found is not None and letter not in all_variables(right):
                return found[0] / right, found[1] if _zero(found[1]) else found[1] / right
        case Apply("neg", (part,)):
            found = affine(part, letter)
            if found is not None:
                return -found[0], found[1] if _zero(found[1]) else -found[1]
    return None


def noisy_number(
    outputs: Sequence[Expression], letter: Variable, others: set[Variable], public: Callable[[Expression], bool]
) -> Expression | None:
    """The largest number in which a draw stands wherever it stands: what is drawn, with all that is added to it."""
    chains = [chain for output in outputs for chain in _chains(output, letter)]
    common: list[Expression] = []
    for chain in chains:
        fit = [
            one for one in chain
            if (found := affine(one, letter)) is not None and public(found[0]) and not others & {*all_variables(one)}
        ]  # fmt: skip
        common = fit if chain is chains[0] else [one for one in common if one in fit]
    return common[0] if common else None


def _chains(e: Expression, letter: Variable) -> Iterator[tuple[Expression, ...]]:
    """For each place of a letter, all numbers that it is a part of, the largest first."""
    if e == letter:
        yield (e,)
    elif isinstance(e, Apply):
        for part in e.arguments:
            yield from ((e, *chain) for chain in _chains(part, letter))


def exchanged(e: Expression, old: Expression, new: Expression) -> Expression:
    """A number with another in the place of a part."""
    if e == old:
        return new
    return replace(e, arguments=tuple(exchanged(a, old, new) for a in e.arguments)) if isinstance(e, Apply) else e


def _zero(e: Expression) -> bool:
    return e == Number(Fraction(0))


# ------------------------------------------------------------------------------------------------- code


def check_plain(function: ast.FunctionDef) -> None:
    """Refuse what makes a function something else than its body says."""
    if function.decorator_list:
        raise UnreadCodeError(function.decorator_list[0], "a decorator, which may change the function")
    if function.args.vararg or function.args.kwarg:
        raise UnreadCodeError(function, "parameters with a star")
    for node in ast.walk(function):
        if isinstance(node, ast.Yield | ast.YieldFrom | ast.Await | ast.Global | ast.Nonlocal | ast.NamedExpr):
            raise UnreadCodeError(node, f"no form of code that is read ({_kind(node)})")


def _whole(value: CodeValue) -> bool:
    return isinstance(value, RecordColumn) and value.kept is None


def _is_float(node: ast.expr) -> bool:
    """Whether a type is one of real numbers, or nothing is said."""
    return ast.unparse(node) in ("float", "np.float64", "numpy.float64", "None", "True", "False")


def _kind(node: ast.AST) -> str:
    return type(node).__name__


def _has_binder(e: Expression) -> bool:
    return isinstance(e, Binder) or (isinstance(e, Apply) and any(map(_has_binder, e.arguments)))


def _imported(node: ast.Import | ast.ImportFrom) -> dict[str, CodeValue]:
    found = dict[str, CodeValue]()
    for one in node.names:
        if isinstance(node, ast.ImportFrom):
            dotted = f"{node.module}.{one.name}" if node.level == 0 else f".{one.name}"
            found[one.asname or one.name] = Named(dotted)
        else:
            found[one.asname or one.name.partition(".")[0]] = Named(one.name if one.asname else one.name.partition(".")[0])
    return found


def _bound_names(node: ast.AST) -> Iterator[str]:
    """The names that a statement gives a value, those within functions left out; maybe more than once."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Import | ast.ImportFrom):
        yield from _imported(node)
    elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id
    elif not isinstance(node, ast.comprehension | ast.Lambda):
        for part in ast.iter_child_nodes(node):
            yield from _bound_names(part)


def _is_call(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name and bool(node.args)


def _is_list(value: CodeValue) -> bool:
    return isinstance(value, RecordColumn) and value.listed
