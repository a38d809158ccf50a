"""Expressions of plain NumPy code, each form with its one meaning; all others are refused."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from dpverify.formulas.expressions import (
    Apply,
    Binder,
    Constant,
    Expression,
    Number,
    Variable,
    all_variables,
    constant,
    real,
)
from dpverify.formulas.logic import And, Compare, Formula, Not, Or
from dpverify.formulas.operators import apply
from dpverify.statements.mechanisms.code.draws import exchanged
from dpverify.statements.mechanisms.code.values import (
    BUILTINS,
    CANDIDATES,
    CELL,
    COUNT,
    DIMENSION,
    FLATTENED,
    FOLDS,
    FUNCTIONS,
    GENERATOR,
    INDEX,
    LAWS,
    NUMBER,
    NUMPY,
    OF_NUMBER,
    OPERATORS,
    RECORD,
    RELATIONS,
    RUNS,
    SAME,
    CandidateColumn,
    CandidateTotal,
    ChosenCandidate,
    CodeDraw,
    CodeValue,
    DottedName,
    Environment,
    RecordColumn,
    RecordMask,
    RecordTable,
    UnreadCodeError,
    UnreadValue,
    bound_names,
    check_plain,
    compared,
    fitting,
    has_sum,
    imported,
    is_float,
    is_list,
    keeps,
    kept_axis,
    kind_of,
    negated,
    one_if,
    times,
)

DEEPEST = 8
"""Functions of a module that call one another."""
NORM = "numpy.linalg.norm"
LAST_AXIS = (Number(Fraction(1)), Number(Fraction(-1)))


class CodeExpressions(ABC):
    """Reads expressions within the body of a function of a module.

    Attributes:
        draws: what it draws, in the order of the code.
        folds: letters of largest and smallest values and products over records, which are queries of their own.
        holds: what is true of public letters where the code goes on, each with its line.
        notes: what it does that the page need not say, in words.
        unread: lines that are not read: their number and the reason.
        column: of the data, counted from 0, where one is used.
    """

    def __init__(
        self,
        module: ast.Module,
        parameters: Mapping[str, Variable],
        *,
        rows: bool = False,
        batched: bool = False,
    ) -> None:
        self.rows, self.batched = rows, batched
        self.column: int | None = None
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
            for name in bound_names(node):
                bound.append(name)
                self.names[name] = node
        changed = {name for node in ast.walk(module) if isinstance(node, ast.Global) for name in node.names}
        self.star = "*" in bound
        self.seeded = any(isinstance(n, ast.Attribute) and n.attr == "seed" for n in ast.walk(module))
        self.twice = {name for name in bound if bound.count(name) > 1} | changed

    @abstractmethod
    def body(self, statements: Sequence[ast.stmt], env: Environment) -> CodeValue:
        """What a body returns."""

    def enter(
        self, node: ast.AST, target: ast.expr, over: ast.expr, env: Environment, inside: Environment
    ) -> Formula | None:
        """What a loop's letter is, in an environment of its own; the records that are kept."""
        if isinstance(over, ast.Call) and isinstance(over.func, ast.Name) and isinstance(target, ast.Name):
            first = self.resolved(over.func, env)
            if (
                first == DottedName("builtins.range")
                and len(over.args) == 1
                and self.number(over.args[0], env) == COUNT
            ):
                inside[target.id] = INDEX - Number(Fraction(1))
                return None
        column = self.value(over, env)
        if self.rows or not isinstance(column, RecordColumn) or not isinstance(target, ast.Name):
            raise UnreadCodeError(
                node, "a loop over something else than the records, or `range` of their number"
            )
        inside[target.id] = column.body
        return column.kept

    def is_public(self, value: CodeValue) -> bool:
        """Whether a value depends on parameters alone."""
        match value:
            case Expression():
                return not self.is_private(value) and not self.drawn_in(value)
            case tuple():
                return all(map(self.is_public, value))
            case _:
                return value is None or isinstance(value, DottedName | ast.FunctionDef)

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
                value = constant(found) if isinstance(found, Expression) else None
                return Number(-value) if value is not None else self.lifted(node, lambda a: -a, found)
            case ast.UnaryOp(ast.UAdd(), operand):
                return self.value(operand, env)
            case ast.UnaryOp(ast.Invert(), operand):
                return RecordMask(negated(self.mask(operand, env)))
            case ast.BinOp(left, ast.BitAnd() | ast.BitOr() as operator, right):
                both = self.mask(left, env), self.mask(right, env)
                return RecordMask(And(both) if isinstance(operator, ast.BitAnd) else Or(both))
            case ast.BinOp(left, operator, right):
                return self.operated(node, operator, self.value(left, env), self.value(right, env))
            case ast.Compare():
                return self.comparison(node, env)
            case ast.Attribute(inner, name):
                return self.attribute(node, self.value(inner, env), name)
            case ast.Subscript(inner, ast.Tuple([ast.Slice(None, None, None), last])):
                return self.beside(node, self.value(inner, env), last, env)
            case ast.Subscript(inner, index):
                return self.element(node, self.value(inner, env), index, env)
            case ast.GeneratorExp(body, [loop]) | ast.ListComp(body, [loop]):
                return self.comprehension(node, body, loop, env)
            case ast.Call():
                return self.call(node, env)
            case ast.BoolOp(ast.Or(), [first, _]) | ast.IfExp(_, first, _) if (
                self.value(first, env) == GENERATOR
            ):
                notes = len(self.notes)
                if isinstance(node, ast.IfExp) and self.value(node.orelse, env) != GENERATOR:
                    raise UnreadCodeError(node, "a generator that is something else")
                del self.notes[notes:]  # an audit hands over a generator
                return GENERATOR
        raise UnreadCodeError(node, f"code of this form is not read ({kind_of(node)})")

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
            if name in BUILTINS and not self.star:
                return DottedName(f"builtins.{name}")
            raise UnreadCodeError(node, f"`{name}` is not known")
        if name not in self.module:
            match self.names[name]:
                case ast.FunctionDef() as function:
                    self.module[name] = function
                case ast.Import() | ast.ImportFrom() as statement:
                    self.module.update(imported(statement))
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
            case DottedName(module), _ if module in ("numpy", "math", "numpy.random", "numpy.linalg"):
                found = f"{module}.{name}"
                return Constant("pi") if found in ("numpy.pi", "math.pi") else DottedName(found)
            case RecordColumn(), "size" if not self.rows:
                return self.counted(node, inner)
            case RecordColumn(shape="flat" | "beside"), _:
                raise UnreadCodeError(node, f"`{name}` of one number for each record, where records are rows")
            case RecordTable(), "shape":
                return (COUNT,)
            case RecordTable(), _:
                raise UnreadCodeError(node, "rows of data of which one column is read")
            case RecordColumn(kept=None), "shape":
                return (COUNT, CANDIDATES) if self.rows else (COUNT,)
            case RecordColumn(), "ndim":
                return Number(Fraction(1 + self.rows))
            case CandidateColumn(), "size":
                return CANDIDATES
            case CandidateColumn(), "shape":
                return (CANDIDATES,)
            case UnreadValue(reason), _:
                raise UnreadCodeError(node, reason)
        raise UnreadCodeError(node, f"the attribute `{name}`")

    def element(self, node: ast.Subscript, inner: CodeValue, index: ast.expr, env: Environment) -> CodeValue:
        """A part of an array or tuple: `x.shape[0]`, `x[i]` within a loop, `x[mask]`."""
        at = self.value(index, env)
        match inner, at:
            case tuple(), Number(value) if value.denominator == 1 and 0 <= value < len(inner):
                return inner[int(value)]
            case RecordColumn(body, None), RecordMask(kept) if not self.rows:
                return RecordColumn(body, kept)
            case RecordColumn(body, None), Apply("sub", (place, Number(value))) if (
                place == INDEX and value == 1
            ):
                return body
        raise UnreadCodeError(node, "a part of an array that is not read")

    def beside(self, node: ast.AST, inner: CodeValue, last: ast.expr, env: Environment) -> RecordColumn:
        """`norms[:, None]`: one number a record, beside each number of its row; `data[:, 0]`: its only number."""
        if isinstance(inner, RecordTable):
            at = constant(self.number(last, env))
            if at is None or at < 0 or at.denominator > 1 or self.column not in (None, at):
                raise UnreadCodeError(node, "another column of the data than one, counted from 0")
            self.column = int(at)
            return RecordColumn(RECORD)
        if self.value(last, env) not in (None, DottedName("numpy.newaxis")):
            raise UnreadCodeError(node, "a part of an array that is not read")
        if not isinstance(inner, RecordColumn) or inner.shape != "flat":
            raise UnreadCodeError(node, "a further axis of something else than one number for each record")
        return replace(inner, shape="beside")

    def of_numbers(
        self, node: ast.Call, column: CodeValue, function: Callable[[Expression], Expression], kept: bool
    ) -> RecordColumn:
        """The sum of a function of each record's numbers."""
        if not isinstance(column, RecordColumn) or column.shape or column.kept is not None or not self.rows:
            raise UnreadCodeError(node, "a sum over numbers of records that are no rows")
        body = exchanged(function(self.term(node, column.body)), CELL, OF_NUMBER)
        if any(one == CELL for one in all_variables(body)) or any(
            one == OF_NUMBER for one in all_variables(column.body)
        ):
            raise UnreadCodeError(node, "a sum over numbers of a record within another")
        total = Binder("sum", body, NUMBER, Number(Fraction(1)), DIMENSION)
        return RecordColumn(total, shape="beside" if kept else "flat")

    def norm(self, node: ast.Call, env: Environment) -> RecordColumn:
        """`np.linalg.norm(x, axis=1)`, with `ord` 1 or 2, maybe with `keepdims=True`."""
        kept = kept_axis(node)
        keywords = [one for one in node.keywords if one.arg != "keepdims"]
        plain = ast.Call(node.func, node.args, keywords)
        given = self.arguments(ast.copy_location(plain, node), ("x", "ord", "axis"), env, 0, {})
        order = given.get("ord", Number(Fraction(2)))
        if given.get("axis") not in LAST_AXIS or order not in (Number(Fraction(1)), Number(Fraction(2))):
            raise UnreadCodeError(node, "another norm than `axis=1` with `ord` 1 or 2")
        if order == Number(Fraction(1)):
            return self.of_numbers(node, given.get("x"), FUNCTIONS["abs"], kept)
        found = self.of_numbers(node, given.get("x"), FUNCTIONS["square"], kept)
        return replace(found, body=FUNCTIONS["sqrt"](found.body))

    def comprehension(
        self, node: ast.AST, body: ast.expr, loop: ast.comprehension, env: Environment
    ) -> RecordColumn | RecordMask:
        """A number for each record: `min(v, 1) for v in x if v > 0`."""
        inside, drawn = dict(env), len(self.draws)
        first = self.enter(node, loop.target, loop.iter, env, inside)
        kept = [*([] if first is None else [first]), *(self.formula(one, inside) for one in loop.ifs)]
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
        whole = [isinstance(one, RecordColumn) and one.kept is None for one in sides]
        bodies = [
            one.body if isinstance(one, RecordColumn) and one.kept is None else self.as_number(node, one)
            for one in sides
        ]
        names = [RELATIONS.get(type(one)) for one in node.ops]
        if None in names:
            raise UnreadCodeError(node, "no comparison of numbers")
        parts = tuple(
            compared(str(name), left, right)
            for left, name, right in zip(bodies, names, bodies[1:], strict=False)
        )
        by_record = any(whole)
        if any(isinstance(one, RecordColumn) and one.shape for one in sides):
            raise UnreadCodeError(node, "a comparison of one number for each record, where records are rows")
        if by_record and len(parts) > 1:
            raise UnreadCodeError(node, "a chain of comparisons of arrays, which NumPy refuses")
        formula: Formula = parts[0] if len(parts) == 1 else And(parts)
        for part, is_column in zip(bodies, whole, strict=True):
            if by_record and not is_column:
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
        if type(operator) not in OPERATORS:
            raise UnreadCodeError(node, f"the operation `{kind_of(operator)}`")
        if (
            isinstance(operator, ast.Div)
            and isinstance(left, CandidateColumn)
            and right == CandidateTotal(left.body)
        ):
            return CandidateTotal(left.body, share=True)
        return self.lifted(node, OPERATORS[type(operator)], left, right)

    def lifted(self, node: ast.AST, function: Callable[..., Expression], *values: CodeValue) -> CodeValue:
        """A function of numbers, or of arrays record by record."""
        if all(isinstance(one, RecordMask) for one in values) or any(is_list(one) for one in values):
            raise UnreadCodeError(node, "arithmetic of truth values, or of lists")
        values = tuple(
            RecordColumn(one_if(one.body)) if isinstance(one, RecordMask) else one for one in values
        )
        columns = [one for one in values if isinstance(one, RecordColumn | CandidateColumn)]
        if len({one.kept if isinstance(one, RecordColumn) else type(one) for one in columns}) > 1:
            raise UnreadCodeError(node, "arrays of different records")
        bodies = list[Expression]()
        for one in values:
            if isinstance(one, RecordColumn | CandidateColumn):
                bodies.append(one.body)
            else:
                bodies.append(self.as_number(node, one))
                if columns:
                    self.alone(node, bodies[-1])
        made, first = function(*bodies), columns[0] if columns else None
        if isinstance(first, RecordColumn):
            shape = fitting({one.shape for one in columns if isinstance(one, RecordColumn)})
            if shape is None:
                raise UnreadCodeError(node, "rows beside one number for each record: `[:, None]` is missing")
            return RecordColumn(made, first.kept, shape=shape)  # type: ignore[arg-type]
        return made if first is None else CandidateColumn(made)

    def alone(self, node: ast.AST, e: Expression) -> None:
        """Refuse a number that is itself of all records, or drawn, beside each record."""
        if self.is_private(e) or self.drawn_in(e):
            raise UnreadCodeError(node, "a sum over records, or a draw, within another sum")

    def term(self, node: ast.AST, e: Expression) -> Expression:
        """A term of a sum over records, which has no sum in it."""
        inside = {*all_variables(e)}
        folded = inside & {*self.folds.values()} or has_sum(e)
        if folded or any(self.drawn_in(v) for v in inside):
            raise UnreadCodeError(node, "a sum over records, or a draw, within another sum")
        return e

    def is_private(self, e: Expression) -> bool:
        """Whether a number depends on records."""
        return any(
            v in (RECORD, CELL, INDEX, OF_NUMBER) or v in self.folds.values() or r"\mathbf" in v.latex
            for v in all_variables(e)
        )

    def drawn_in(self, e: Expression) -> bool:
        """Whether a number depends on a draw."""
        letters = {draw.letter for draw in self.draws}
        return any(v in letters for v in all_variables(e))

    # -------------------------------------------------------------------------------------------- calls

    def call(self, node: ast.Call, env: Environment) -> CodeValue:
        """A call of a function, or of a method of an array or a generator."""
        if any(isinstance(one, ast.Starred) for one in node.args) or any(
            one.arg is None for one in node.keywords
        ):
            raise UnreadCodeError(node, "arguments with a star")
        if isinstance(node.func, ast.Attribute):
            inner = self.value(node.func.value, env)
            if inner in (GENERATOR, DottedName("numpy.random")) and node.func.attr in LAWS:
                return self.draw(node, node.func.attr, env)
            if inner == GENERATOR and node.func.attr == "choice":
                return self.weighted(node, env)
            if isinstance(inner, RecordColumn | RecordMask | CandidateColumn | Expression):
                return self.method(node, node.func.attr, inner, env)
        function = self.value(node.func, env)
        if isinstance(function, ast.FunctionDef):
            return self.inlined(node, function, env)
        if not isinstance(function, DottedName):
            raise UnreadCodeError(node, f"the call of `{ast.unparse(node.func)}`")
        module, _, name = function.name.rpartition(".")
        builtin = module == "builtins"
        if function.name in ("numpy.random.default_rng", "numpy.random.RandomState"):
            return self.generator(node, env)
        if module == "numpy.random" and name in LAWS:
            return self.draw(node, name, env)
        if name == "range" or (module not in ("builtins", "numpy", "math") and function.name != NORM):
            raise UnreadCodeError(node, f"the call of `{function.name}`")
        if function.name == NORM:
            return self.norm(node, env)
        if function.name in SAME:
            return self.same(node, env)
        if builtin and name in ("max", "min") and len(node.args) > 1 and not node.keywords:
            return self.lifted(
                node, lambda *a: apply(name, *a), *(self.number(one, env) for one in node.args)
            )
        if name in ("logical_and", "logical_or") and len(node.args) == 2 and not node.keywords:
            both = tuple(self.mask(one, env) for one in node.args)
            return RecordMask(And(both) if name == "logical_and" else Or(both))
        if function.name in ("builtins.len", "numpy.size") and len(node.args) == 1 and not node.keywords:
            found = self.value(node.args[0], env)
            if isinstance(found, CandidateColumn):
                return CANDIDATES
            if isinstance(found, RecordTable) and name == "len":
                return COUNT
            if isinstance(found, RecordColumn) and not (self.rows and name == "size"):
                return self.counted(node, found)
        known = name in BUILTINS if builtin else name in NUMPY
        if known and node.args:
            return self.method(node, name, self.value(node.args[0], env), env, skip=1)
        raise UnreadCodeError(node, f"the call of `{function.name}`")

    def keeps_shape(self, node: ast.AST, name: str, value: CodeValue) -> None:
        """Refuse what makes one row of rows, or of a column."""
        rows = (self.rows and isinstance(value, RecordColumn)) or isinstance(value, RecordTable)
        if rows and name in FLATTENED:
            raise UnreadCodeError(node, f"`{name}` of rows, which makes another shape of them")

    def same(self, node: ast.Call, env: Environment) -> CodeValue:
        """What is only made an array, or a number of another type."""
        found = self.value(node.args[0], env) if node.args else None
        self.keeps_shape(node, node.func.attr if isinstance(node.func, ast.Attribute) else "", found)
        if isinstance(found, RecordColumn):
            found = replace(found, listed=False)
        kinds = all(map(is_float, node.args[1:])) and all(
            one.arg in ("dtype", "copy") and is_float(one.value) for one in node.keywords
        )
        if not isinstance(found, RecordColumn | RecordTable | Expression) or not kinds:
            raise UnreadCodeError(node, "a change of an array that is not read")
        return found

    def method(
        self, node: ast.Call, name: str, inner: CodeValue, env: Environment, skip: int = 0
    ) -> CodeValue:
        """A method of an array or a number, or the function of NumPy that does the same."""
        if name in SAME and len(node.args) == skip and not node.keywords:
            self.keeps_shape(node, name, inner)
            return inner
        if name == "astype" and len(node.args) == 1 and is_float(node.args[0]):
            return self.lifted(node, lambda a: a, inner)
        if name == "clip":
            also = {"a_min": "low", "min": "low", "a_max": "high", "max": "high"}
            given = self.arguments(node, ("low", "high"), env, skip, also)
            for side, function in (("low", "max"), ("high", "min")):
                if given.get(side) is not None:
                    inner = self.lifted(node, lambda a, b, f=function: apply(f, a, b), inner, given[side])
            return inner
        if isinstance(inner, CandidateColumn) and len(node.args) == skip and not node.keywords:
            if name == "sum":
                return CandidateTotal(inner.body)
            if name == "argmax":
                return ChosenCandidate(inner.body, node.lineno)
        if name in FOLDS and isinstance(inner, RecordColumn | RecordMask):
            axes = [one.value for one in node.keywords if one.arg == "axis"]
            last = axes and self.rows and name == "sum" and self.value(axes[0], env) in LAST_AXIS
            if last and len(node.args) == skip and len(node.keywords) == 1 + bool(keeps(node)):
                return self.of_numbers(node, inner, lambda e: e, kept_axis(node))
            if isinstance(inner, RecordColumn) and inner.shape:
                raise UnreadCodeError(node, "a sum of one number for each record, where records are rows")
            if self.rows and not (axes and isinstance(axes[0], ast.Constant) and axes[0].value == 0):
                raise UnreadCodeError(node, "another sum than over records, `axis=0`")
            for one in node.keywords:
                whole = (
                    one.arg == "axis" and isinstance(one.value, ast.Constant) and one.value.value in (None, 0)
                )
                if not whole and not (one.arg == "dtype" and is_float(one.value)):
                    raise UnreadCodeError(node, f"the argument `{one.arg}`")
            if len(node.args) > skip:
                raise UnreadCodeError(node, "further arguments")
            return self.folded(node, name, inner)
        if name in FUNCTIONS and not node.keywords:
            further = [self.value(one, env) for one in node.args[skip:]]
            wanted = 2 if name in ("power", "minimum", "maximum") else 1
            if len(further) + 1 == wanted:
                return self.lifted(node, FUNCTIONS[name], inner, *further)
        raise UnreadCodeError(node, f"the call of `{name}`")

    def folded(
        self, node: ast.AST, name: str, inner: RecordColumn | RecordMask
    ) -> Expression | CandidateColumn:
        """A sum, mean, product, largest or smallest value over records."""
        if name == "count_nonzero" and not isinstance(inner, RecordMask):
            raise UnreadCodeError(node, "a count of what is no comparison")
        column = inner if isinstance(inner, RecordColumn) else RecordColumn(one_if(inner.body))
        body, kind = self.term(node, column.body), FOLDS[name]
        if column.kept is not None and kind != "sum":
            raise UnreadCodeError(node, f"the {name} of some records only, of which there may be none")
        if column.kept is not None:
            body = times(one_if(column.kept), body)
        if kind in ("sum", "mean"):
            total: Expression = Binder("sum", body, INDEX, Number(Fraction(1)), COUNT)
            total = total if kind == "sum" else Number(Fraction(1)) / COUNT * total
            return CandidateColumn(total) if self.rows else total
        if self.rows:
            raise UnreadCodeError(node, f"the {name} of rows")
        letter = real(f"m_{{{len(self.folds) + 1}}}")
        return self.folds.setdefault((kind, body), letter)

    def counted(self, node: ast.AST, column: RecordColumn) -> Expression | CandidateColumn:
        """How many records there are, or are kept."""
        return COUNT if column.kept is None else self.folded(node, "sum", RecordMask(column.kept))

    def generator(self, node: ast.Call, env: Environment) -> DottedName:
        """A generator that is made within the function; it must not be the same each time."""
        given = [self.value(one, env) for one in (*node.args, *(one.value for one in node.keywords))]
        for one in given:
            if isinstance(one, Variable) and one in self.parameters:
                if one in self.seeds:
                    raise UnreadCodeError(node, "two generators with one seed, whose numbers are the same")
                self.seeds.add(one)
                self.notes.append(
                    f"The seed of line {node.lineno} is taken as new each time; with one seed the noise is the same."
                )
            elif one is not None and one != GENERATOR:
                raise UnreadCodeError(node, "a generator with a fixed seed: the same numbers each time")
        if all(one is None for one in given):
            self.notes.append(
                f"Line {node.lineno} seeds its own generator, so that an audit is not repeated bit by bit."
            )
        return GENERATOR

    def draw(self, node: ast.Call, name: str, env: Environment) -> Expression | CandidateColumn:
        """A number that is drawn."""
        law, names = LAWS[name]
        shared = isinstance(node.func, ast.Name) or self.value(node.func.value, env) != GENERATOR  # type: ignore[attr-defined]
        if shared and self.seeded:
            raise UnreadCodeError(node, "NumPy's own generator, which the module seeds")
        given = self.arguments(node, (*names, "size"), env, 0, {})
        around, size = given.get("loc"), given.pop("size", None)
        if self.batched:
            if size not in (RUNS, (RUNS,)):
                raise UnreadCodeError(node, "another number of draws than `size=runs`, one for each run")
            size = None
        each = isinstance(around, CandidateColumn) or size in (CANDIDATES, (CANDIDATES,))
        if size is not None and not each:
            raise UnreadCodeError(node, "more than one number is drawn at once")
        if isinstance(around, CandidateColumn):
            given["loc"] = around.body
        location, scale = (
            self.as_number(node, given.get(one, Number(Fraction(default))))
            for one, default in (("loc", 0), ("scale", 1))
        )
        letter = real(f"draw {len(self.draws) + 1}")
        self.draws.append(CodeDraw(letter, law, location, scale, node.lineno, each))
        return CandidateColumn(letter) if each else letter

    def weighted(self, node: ast.Call, env: Environment) -> ChosenCandidate:
        """A candidate that is drawn with chances proportional to weights: `rng.choice(len(w), p=w / w.sum())`."""
        if self.batched:
            raise UnreadCodeError(node, "a choice for many runs")
        given = self.arguments(node, ("a", "p"), env, 0, {})
        weights = given.get("p")
        if given.get("a") != CANDIDATES or not isinstance(weights, CandidateTotal) or not weights.share:
            raise UnreadCodeError(
                node, "a choice of something else, or by other chances than `p=w / w.sum()`"
            )
        if self.drawn_in(weights.body):
            raise UnreadCodeError(node, "chances that depend on a draw")
        return ChosenCandidate(weights.body, node.lineno, weights=True)

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
        defaults.update(
            {one: d for one, d in zip(spec.kwonlyargs, spec.kw_defaults, strict=True) if d is not None}
        )
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
