"""Expressions as straight-line programs over Arb balls, with exact rules for derivatives of any order.

A `Graph` holds expressions with common subexpressions shared; `differentiate` and `rebuild` stay inside it,
so a derivative costs no algebra system and shares whatever it has in common with its function. A `Program`
evaluates some of its nodes. An undefined operation (a logarithm of a ball that is not certainly positive, a
division by a ball around 0) gives a ball that is not a number, which no comparison accepts.
"""

from __future__ import annotations

import operator as ring
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from fractions import Fraction
from functools import cache, reduce
from typing import Any

from flint import arb, ctx, fmpq

from dpverify.formulas.expressions import (
    Apply,
    At,
    Binder,
    Constant,
    Derivative,
    Expression,
    Number,
    Variable,
    real,
)
from dpverify.formulas.operators import operators
from dpverify.formulas.values import NOT_A_NUMBER, Ball, monotone

Node = int
Key = tuple[Any, ...]

_LONGEST_SUM = 2000


class NotExpressibleError(Exception):
    """The expression uses something that these programs have no rule for."""


class NeedsValueError(Exception):
    """The expression makes sense only once some integer variables have values; `names` says which."""

    def __init__(self, names: AbstractSet[str]) -> None:
        super().__init__(", ".join(sorted(names)))
        self.names = names


def _flat(x: Ball) -> Ball:
    """The derivative of a floor: 0 where it is constant."""
    if not x.is_finite():
        return NOT_A_NUMBER
    return arb(0) if x.lower().floor() == x.upper().floor() else NOT_A_NUMBER


def _integer_power(n: int) -> Callable[[Ball], Ball]:
    def direct(x: Ball) -> Ball:
        result = None
        square, k = x, n
        while True:
            if k & 1:
                result = square if result is None else result * square
            k >>= 1
            if not k:
                return result
            square = square * square

    odd = monotone(direct)

    def even(x: Ball) -> Ball:
        if x > 0 or x < 0 or not x.is_finite():
            return odd(x)
        return arb(0).union(direct(x.abs_upper()))

    return odd if n % 2 else even


def _rational_power(q: Fraction) -> Callable[[Ball], Ball]:
    exponent = fmpq(q.numerator, q.denominator)

    def evaluate(x: Ball) -> Ball:
        if not x > 0:
            # a root of what is 0 is 0
            if not (q > 0 and x >= 0):
                return NOT_A_NUMBER
            top = x.abs_upper()
            return arb(0).union(evaluate(top)) if top > 0 else arb(0)
        if q.denominator == 2:
            root = x.sqrt() if q > 0 else x.rsqrt()
            return root if abs(q.numerator) == 1 else _integer_power(abs(q.numerator))(root)
        return (x.log() * arb(exponent)).exp()

    return evaluate


def _branch(a: Ball, b: Ball, da: Ball, db: Ball) -> Ball:
    """The slope of the larger of two branches; undefined where the balls do not decide."""
    return da if a > b else db if b > a else NOT_A_NUMBER


def _pick(a: Ball, b: Ball, da: Ball, db: Ball) -> Ball:
    """The same, or the hull of both slopes where the balls do not decide."""
    undecided = not (a > b or b > a) and da.is_finite() and db.is_finite()
    return da.union(db) if undecided else _branch(a, b, da, db)


_OPERATIONS: dict[str, Callable[..., Ball]] = {
    "add": ring.add,
    "mul": ring.mul,
    "inv": lambda x: NOT_A_NUMBER if x.contains(0) else 1 / x,
    "flat": _flat,
    "pick": _pick,
    "branch": _branch,
    "unknown": lambda *_: NOT_A_NUMBER,
    **{name: record.ball for name, record in operators().items() if record.ball is not None},
}


_TOTAL = frozenset(
    {"num", "sym", "pi", "add", "mul", "ipow", "exp", "erfc", "phi", "max", "min", "abs", "floor", "ceiling"}
)
"""Operations that are defined wherever their arguments are."""


def operation(key: Key) -> tuple[Callable[..., Ball], tuple[Node, ...]]:
    """The function that a node stands for, and the nodes it takes."""
    if key[0] in ("ipow", "rpow"):
        return (_integer_power if key[0] == "ipow" else _rational_power)(key[2]), (key[1],)
    return _OPERATIONS[key[0]], key[1:]


class Graph:
    """Expressions in shared nodes; a node's arguments always have smaller numbers than the node."""

    def __init__(self) -> None:
        self.keys: list[Key] = []
        self._numbers: dict[Key, Node] = {}
        self._symbols: list[frozenset[str]] = []
        self._total: list[bool] = []
        self._derivatives: dict[tuple[Node, str], Node] = {}
        self.exponents: set[str] = set()
        """Names of the symbols met in exponents."""
        self.intermediate: set[Node] = set()
        """Nodes that are no part of an expression as it was written: sums and products on their way to the end."""
        self.zero = self.number(Fraction(0))
        self.one = self.number(Fraction(1))

    def node(self, *key: Any) -> Node:
        """The node of an operation and what it takes."""
        if key not in self._numbers:
            self._numbers[key] = len(self.keys)
            self.keys.append(key)
            symbols = frozenset([key[1]]) if key[0] == "sym" else frozenset[str]()
            self._symbols.append(symbols.union(*(self._symbols[i] for i in self.arguments(key))))
            self._total.append(key[0] in _TOTAL and all(self._total[i] for i in self.arguments(key)))
        return self._numbers[key]

    @staticmethod
    def arguments(key: Key) -> tuple[Node, ...]:
        """The nodes that a node is made from."""
        if key[0] in ("num", "sym", "pi"):
            return ()
        return (key[1],) if key[0] in ("ipow", "rpow") else key[1:]

    def symbols(self, node: Node) -> frozenset[str]:
        """Names of the symbols below a node."""
        return self._symbols[node]

    def value_of(self, node: Node) -> Fraction | None:
        """The exact number that a node is, if it is one."""
        key = self.keys[node]
        return key[1] if key[0] == "num" else None

    # building blocks; they fold exact numbers and drop neutral elements, and rewrite nothing else

    def number(self, q: Fraction) -> Node:
        return self.node("num", q)

    def add(self, a: Node, b: Node) -> Node:
        p, q = self.value_of(a), self.value_of(b)
        if p is not None and q is not None:
            return self.number(p + q)
        if p == 0:
            return b
        return a if q == 0 else self.node("add", a, b)

    def mul(self, a: Node, b: Node) -> Node:
        p, q = self.value_of(a), self.value_of(b)
        if p is not None and q is not None:
            return self.number(p * q)
        if (p == 0 and self._total[b]) or (q == 0 and self._total[a]):
            return self.zero  # not where the other factor may be undefined: 0 * log(0) is no number
        if p == 1:
            return b
        if q == 1:
            return a
        return self.integer_power(a, 2) if a == b else self.node("mul", a, b)

    def _times(self, a: Node, slope: Node) -> Node:
        """The product, for derivatives: where the function is defined, a zero slope leaves nothing."""
        return self.zero if slope == self.zero else self.mul(a, slope)

    def scale(self, q: Fraction | int, a: Node) -> Node:
        return self.mul(self.number(Fraction(q)), a)

    def inverse(self, a: Node) -> Node:
        q = self.value_of(a)
        return self.number(1 / q) if q else self.node("inv", a)

    def integer_power(self, a: Node, n: int) -> Node:
        if n == 0:
            # 1 where the base is defined
            return self.one if self._total[a] else self.add(self.one, self.mul(self.zero, a))
        if n < 0:
            return self.inverse(self.integer_power(a, -n))
        q = self.value_of(a)
        if q is not None and n <= 64:
            return self.number(q**n)
        return a if n == 1 else self.node("ipow", a, n)

    def power(self, a: Node, b: Node) -> Node:
        """The power a^b; exponents that are not integers need a positive base."""
        exponent = self.value_of(b)
        if exponent is None:
            logarithm = self.node("log", a)
            product = self.mul(b, logarithm)
            self.intermediate.update((logarithm, product))
            return self.node("exp", product)
        if exponent.denominator == 1:
            return self.integer_power(a, int(exponent))
        return self.node("rpow", a, exponent)

    def smooth(self, node: Node) -> Node:
        """Zero wherever the node is defined and differentiable, rule by rule, and undefined elsewhere."""
        doubtful: list[Node] = []
        for i in self.below(node):
            match self.keys[i]:
                case ("rpow", a, _) | ("abs", a):
                    doubtful.append(self.inverse(a))
                case ("max" | "min", a, b):
                    doubtful.append(self.inverse(self.add(a, self.scale(-1, b))))
                case ("floor", _):
                    raise NotExpressibleError("a derivative of floor")
            if not self._total[i]:
                doubtful.append(i)
        return reduce(lambda total, i: self.add(total, self.mul(self.zero, i)), doubtful, self.zero)

    # whole expressions

    def rebuild(self, node: Node, replace: Mapping[str, Node]) -> Node:
        """The node with symbols replaced."""
        if not self.symbols(node) & set(replace):
            return node
        new: dict[Node, Node] = {}
        folding: dict[str, Callable[..., Node]] = {
            "add": self.add, "mul": self.mul, "inv": self.inverse, "ipow": self.integer_power
        }  # fmt: skip
        for i in self.below(node):
            key = self.keys[i]
            if key[0] == "sym":
                new[i] = replace.get(key[1], i)
            elif not self.symbols(i) & set(replace):
                new[i] = i
            else:
                arguments = [new[j] for j in self.arguments(key)]
                if key[0] in ("ipow", "rpow"):
                    arguments.append(key[2])
                make = folding.get(key[0])
                new[i] = self.node(key[0], *arguments) if make is None else make(*arguments)
        return new[node]

    def below(self, *nodes: Node) -> list[Node]:
        """All nodes that the given ones are made from, and themselves, arguments first."""
        seen, waiting = set(nodes), list(nodes)
        while waiting:
            for j in self.arguments(self.keys[waiting.pop()]):
                if j not in seen:
                    seen.add(j)
                    waiting.append(j)
        return sorted(seen)

    def differentiate(self, node: Node, name: str) -> Node:
        """The derivative in one symbol, by the rules of calculus without any simplification."""
        for i in self.below(node):
            if (i, name) not in self._derivatives:
                self._derivatives[i, name] = self._rule(i, name)
        return self._derivatives[node, name]

    def _rule(self, i: Node, name: str) -> Node:
        if name not in self.symbols(i):
            return self.zero
        key = self.keys[i]
        slopes = [self._derivatives[j, name] for j in self.arguments(key)]
        match key:
            case ("sym", _):
                return self.one
            case ("add", _, _):
                return self.add(*slopes)
            case ("mul", a, b):
                return self.add(self._times(b, slopes[0]), self._times(a, slopes[1]))
            case ("inv", a):
                square = self.inverse(self.integer_power(a, 2))
                return self._times(self.scale(-1, square), slopes[0])
            case ("ipow", a, n):
                return self._times(self.scale(n, self.integer_power(a, n - 1)), slopes[0])
            case ("rpow", a, q):
                return self._times(self.scale(q, self.power(a, self.number(q - 1))), slopes[0])
            case ("max", a, b):
                return self.node("pick", a, b, *slopes)
            case ("min", a, b):
                return self.node("pick", b, a, *slopes)
            case ("abs", a):
                return self.node("pick", a, self.scale(-1, a), slopes[0], self.scale(-1, slopes[0]))
            case ("floor" | "flat", a):
                return self.node("flat", a)
            case ("pick" | "branch", a, b, _, _):
                return self.node("branch", a, b, *slopes[2:])
            case ("unknown", *_):
                return i
            case (head, *arguments):
                return self._by_record(head, arguments, slopes)
        raise AssertionError(key)

    def _by_record(self, head: str, arguments: Sequence[Node], slopes: Sequence[Node]) -> Node:
        """The derivative of a function by the partial derivatives in its record."""
        places = [real(f"argument {k}") for k in range(len(arguments))]
        values = {v.name: node for v, node in zip(places, arguments, strict=True)}
        result = self.zero
        for partial, slope in zip(operators()[head].slopes(*places), slopes, strict=True):
            if slope == self.zero:
                continue
            outer = self.node("unknown", *arguments) if partial is None else self.compile(partial, values)
            result = self.add(result, self._times(outer, slope))
        return result

    def compile(self, e: Expression, values: Mapping[str, Node] | None = None) -> Node:
        """An expression as a node; `values` says what stands for some names.

        Raises `NotExpressibleError` for what has no rule here, `NeedsValueError` for sums with open ends.
        """
        return _FormulaReader(self, dict(values or {})).read(e)


_FAMILIES = ({"add", "sub"}, {"mul", "div"})
"""Operators whose nests are read as one sum, or one product."""


class _FormulaReader:
    """Reads expressions, as they are written, under one assignment of nodes to names."""

    def __init__(self, graph: Graph, values: dict[str, Node]) -> None:
        self.graph, self.values = graph, values
        self.read = cache(self._read)

    def _read(self, e: Expression) -> Node:
        graph = self.graph
        match e:
            case Number(value):
                return graph.number(value)
            case Variable():
                return self.values[e.name] if e.name in self.values else graph.node("sym", e.name)
            case Constant("pi"):
                return graph.node("pi")
            case Apply(name, arguments):
                nodes = [self.read(a) for a in arguments]
                for part, node in zip(arguments, nodes, strict=True):
                    if isinstance(part, Apply) and any({name, part.operator} <= f for f in _FAMILIES):
                        graph.intermediate.add(node)
                return self._applied(name, nodes)
            case Binder("sum" | "product"):
                return self._repeated(e)
            case Derivative(body, variable, order):
                node = function = self.read(body)
                if variable.name in self.values:
                    raise NotExpressibleError(f"a derivative in {variable.name}, which has a value")
                for _ in range(order):
                    node = graph.differentiate(node, variable.name)
                return graph.add(node, graph.smooth(function))
            case At(body, variable, value):
                # the replaced name is bound in here, whatever it stands for outside
                inner = graph.compile(body, {k: v for k, v in self.values.items() if k != variable.name})
                return graph.rebuild(inner, {variable.name: self.read(value)})
            case _:
                raise NotExpressibleError(f"{type(e).__name__} ({getattr(e, 'kind', '')})")

    def _applied(self, name: str, nodes: list[Node]) -> Node:
        graph = self.graph
        first, *rest = nodes
        match name, rest:
            case "add" | "mul", _:
                return self._joined(graph.add if name == "add" else graph.mul, nodes)
            case "sub", [second]:
                return graph.add(first, graph.scale(-1, second))
            case "neg", _:
                return graph.scale(-1, first)
            case "div", [second]:
                return graph.mul(first, graph.inverse(second))
            case "pow", [exponent]:
                graph.exponents.update(graph.symbols(exponent))
                return graph.power(first, exponent)
            case "root", [order]:
                return graph.power(first, graph.inverse(order))
            case "max" | "min", _:
                return self._joined(lambda a, b: graph.node(name, a, b), nodes)
            case "ceiling", _:
                return graph.scale(-1, graph.node("floor", graph.scale(-1, first)))
            case _:
                if name not in _OPERATIONS:
                    raise NotExpressibleError(f"{name}: function not supported")
                return graph.node(name, *nodes)

    def _joined(self, combine: Callable[[Node, Node], Node], nodes: Iterable[Node]) -> Node:
        """All of them combined one by one, with what is on the way marked."""
        first, *rest = nodes
        for place, node in enumerate(rest):
            if place:
                self.graph.intermediate.add(first)
            first = combine(first, node)
        return first

    def _repeated(self, e: Binder) -> Node:
        graph = self.graph
        ends = [self.read(e.first), self.read(e.last)]
        numbers = [graph.value_of(node) for node in ends]
        where = f"a {e.kind} over {e.variable.name} with these ends"
        if None in numbers:
            names = frozenset[str]().union(*(graph.symbols(node) for node in ends))
            if not names:
                raise NotExpressibleError(where)
            raise NeedsValueError(names)
        low, high = (q for q in numbers if q is not None)
        if low.denominator != 1 or high.denominator != 1 or high - low >= _LONGEST_SUM:
            raise NotExpressibleError(where)
        # a sum that ends before it begins is undefined (docs/certificates.md)
        start = graph.zero if e.kind == "sum" else graph.one
        result = start if low <= high else graph.inverse(graph.zero)
        for k in range(int(low), int(high) + 1):
            graph.intermediate.add(result)
            node = graph.compile(e.body, {**self.values, e.variable.name: graph.number(Fraction(k))})
            result = graph.add(result, node) if e.kind == "sum" else graph.mul(result, node)
        return result


def operators_known() -> frozenset[str]:
    """Names of the operators that programs have a rule for."""
    arithmetic = {"add", "sub", "neg", "mul", "div", "pow", "root", "ceiling"}
    return frozenset(arithmetic | {name for name in operators() if name in _OPERATIONS})


class Program:
    """Some nodes of a graph as a list of ball operations over the given variables.

    Constants are worked out once for each precision. Called with one ball a variable; gives one ball a node.
    """

    def __init__(self, graph: Graph, outputs: Sequence[Node], variables: Sequence[str]) -> None:
        free = frozenset[str]().union(*(graph.symbols(node) for node in outputs)) - set(variables)
        if free:
            raise NotExpressibleError(f"free symbols {', '.join(sorted(free))}")
        nodes = graph.below(*outputs)
        constant = [i for i in nodes if not graph.symbols(i)]
        slots = {node: slot for slot, node in enumerate(constant)}
        self._fixed = [self._constant(graph.keys[i], slots) for i in constant]
        self._constants: dict[int, list[Ball]] = {}
        inputs = {name: len(constant) + k for k, name in enumerate(variables)}
        following = len(constant) + len(variables)
        self._code: list[tuple[Callable[..., Ball], int, int, tuple[int, ...]]] = []
        for i in nodes:
            key = graph.keys[i]
            if i in slots:
                continue
            if key[0] == "sym":
                slots[i] = inputs[key[1]]
                continue
            f, arguments = operation(key)
            places = tuple(slots[j] for j in arguments)
            first, second = (*places, -1)[:2]
            self._code.append((f, first, second, places if len(places) > 2 else ()))
            slots[i] = following
            following += 1
        self._outputs = [slots[node] for node in outputs]
        self.size = len(self._code) + 1
        """Operations of one evaluation."""

    @staticmethod
    def _constant(key: Key, slots: Mapping[Node, int]) -> tuple[Callable[..., Ball], tuple[int, ...]]:
        if key[0] == "num":
            number = fmpq(key[1].numerator, key[1].denominator)
            return lambda: arb(number), ()
        if key[0] == "pi":
            return arb.pi, ()
        f, arguments = operation(key)
        return f, tuple(slots[j] for j in arguments)

    def _prepare(self) -> list[Ball]:
        values: list[Ball] = []
        for f, places in self._fixed:
            values.append(f(*(values[k] for k in places)))
        self._constants[ctx.prec] = values
        return values

    def __call__(self, balls: Sequence[Ball]) -> list[Ball]:
        """Evaluate at the precision in force."""
        values = list(self._constants.get(ctx.prec) or self._prepare())
        values.extend(balls)
        append = values.append
        for f, first, second, many in self._code:
            if many:
                append(f(*[values[k] for k in many]))
            elif second < 0:
                append(f(values[first]))
            else:
                append(f(values[first], values[second]))
        return [values[k] for k in self._outputs]
