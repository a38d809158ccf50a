"""Plain NumPy code as terms: what a function asks of records, what it draws and what it returns.

The source is read, nothing of it is executed. Each form of code that is read here has one meaning on the page;
anything else raises `UnreadCodeError` with its place, so that nothing is passed over. Numbers are taken as real
numbers, decimals as they are written.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from fractions import Fraction

from dpverify.formulas.expressions import Binder, Expression, Number, constant
from dpverify.formulas.logic import Compare, Formula
from dpverify.statements.mechanisms.code.expressions import CodeExpressions
from dpverify.statements.mechanisms.code.values import (
    COUNT,
    GENERATOR,
    INDEX,
    IS_TRUE,
    NEGATED,
    RELATIONS,
    CodeValue,
    Environment,
    UnreadCodeError,
    UnreadValue,
    bound_names,
    compared,
    conjuncts,
    imported,
    kind_of,
    negated,
    one_if,
    plus,
    times,
    typed,
)


class CodeReader(CodeExpressions):
    """Reads the body of a function: plain assignments, conditions on what is public, loops that are sums."""

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
                for name in {*bound_names(statement)}:
                    env[name] = UnreadValue(f"`{name}` is of line {error.node.lineno}, which is not read")  # type: ignore[attr-defined]
        raise UnreadCodeError(statements[-1], "nothing is returned at the end of the function")

    def statement(self, node: ast.stmt, env: Environment) -> None:
        """One statement."""
        match node:
            case ast.Expr(ast.Constant(str())) | ast.Pass():
                pass
            case ast.Import() | ast.ImportFrom():
                env.update(imported(node))
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
                notes = len(self.notes)
                if self.value(value, env) != GENERATOR:
                    raise UnreadCodeError(node, "a generator that is something else")
                del self.notes[notes:]  # an audit hands over a generator
            case ast.Assert(test):
                self.goes_on(node, test, env, truth=True)
            case ast.For(target, over, body, []):
                self.loop(node, target, over, body, env)
            case _:
                raise UnreadCodeError(node, f"code of this form is not read ({kind_of(node)})")

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
        for part, wanted in conjuncts(test, truth=truth):
            try:
                found = self.conditions(part, env, truth=wanted)
            except UnreadCodeError as error:
                looked_at = {*filter(None, map(typed, ast.walk(part)))}
                names = [
                    n
                    for n in ast.walk(part)
                    if isinstance(n, ast.Name) and n not in looked_at and n.id in env
                ]
                if not all(self.is_public(env[n.id]) for n in names):
                    raise UnreadCodeError(node, "whether it raises an error may depend on records") from None
                more = (
                    f"Line {node.lineno} raises an error for some parameters, of which the page speaks, too"
                )
                self.notes.append(f"{more}: {error.reason}.")
                continue
            for formula in found:
                sides = formula.left, formula.right
                if not all(map(self.is_public, sides)):
                    raise UnreadCodeError(node, "whether it raises an error depends on records, or on a draw")
                left, right = map(constant, sides)
                if left is None or right is None:
                    self.holds.append((node, formula))
                elif not IS_TRUE[formula.relation](left, right):
                    raise UnreadCodeError(node, "it always raises an error where a record is one number")

    def conditions(self, test: ast.expr, env: Environment, *, truth: bool) -> list[Compare]:
        """What holds if a comparison comes out so."""
        if not isinstance(test, ast.Compare) or not (truth or len(test.ops) == 1):
            raise UnreadCodeError(test, f"`{ast.unparse(test)}` is not read")
        sides, found = [self.number(one, env) for one in (test.left, *test.comparators)], list[Compare]()
        for left, relation, right in zip(sides, test.ops, sides[1:], strict=False):
            name = RELATIONS.get(type(relation))
            if name is None:
                raise UnreadCodeError(test, f"`{ast.unparse(test)}` is no comparison of numbers")
            found.append(compared(name if truth else NEGATED[name], left, right))
        return found

    def loop(
        self, node: ast.For, target: ast.expr, over: ast.expr, body: Sequence[ast.stmt], env: Environment
    ) -> None:
        """A loop over all records that adds to numbers."""
        inside, drawn = dict(env), len(self.draws)
        for name in {*bound_names(node)}:
            inside[name] = UnreadValue(f"`{name}` changes within the loop")
        kept = self.enter(node, target, over, env, inside)
        added = dict[str, list[Expression]]()
        sums = {
            n.target.id
            for n in ast.walk(node)
            if isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name)
        }

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
        for name in {*bound_names(node)}:
            env[name] = UnreadValue(f"`{name}` is of the loop in line {node.lineno}")
        for name, terms in added.items():
            env[name] = start[name]
            for term in terms:
                env[name] = plus(
                    self.as_number(node, env[name]), Binder("sum", term, INDEX, Number(Fraction(1)), COUNT)
                )
