"""Expressions as straight-line programs over Arb balls, with exact rules for derivatives of any order.

A `Graph` holds expressions with common subexpressions shared; `differentiate` and `rebuild` stay inside it,
so a derivative costs no algebra system and shares whatever it has in common with its function. A `Program`
evaluates some of its nodes. An undefined operation (a logarithm of a ball that is not certainly positive, a
division by a ball around 0) gives a ball that is not a number, which no comparison accepts.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import sympy as sp
from flint import arb, ctx, fmpq

from dpverify.proving.language import Expression, Phi

Ball = Any  # flint.arb; python-flint's types carry no annotations
Node = int
Key = tuple[Any, ...]

NOT_A_NUMBER = arb.nan()
_THIN = 25
"""Relative accuracy in bits from which a ball is evaluated in one piece rather than at both ends."""
_LONGEST_SUM = 2000


class NotExpressibleError(Exception):
    """The expression uses something that these programs have no rule for."""


class NeedsValueError(Exception):
    """The expression makes sense only once some integer variables have values; `names` says which."""

    def __init__(self, names: set[str]) -> None:
        super().__init__(", ".join(sorted(names)))
        self.names = names


# ---------------------------------------------------------------------------------------------- operations


def _increasing(f: Callable[[Ball], Ball]) -> Callable[[Ball], Ball]:
    """The same monotone function, on wide balls taken from its values at the two ends."""

    def evaluate(x: Ball) -> Ball:
        if x.rel_accuracy_bits() > _THIN or not x.is_finite():
            return f(x)
        return f(x.lower()).union(f(x.upper()))

    return evaluate


def _erfc(x: Ball) -> Ball:
    return x.erfc()


def _phi(x: Ball) -> Ball:
    return (x * -(arb(2).rsqrt())).erfc() / 2


def _log(x: Ball) -> Ball:
    return x.log() if x > 0 else NOT_A_NUMBER


def _inverse(x: Ball) -> Ball:
    return NOT_A_NUMBER if x.contains(0) else 1 / x


def _floor(x: Ball) -> Ball:
    if not x.is_finite():
        return NOT_A_NUMBER
    low, high = x.lower().floor(), x.upper().floor()
    return low if low == high else low.union(high)


def _flat(x: Ball) -> Ball:
    """The derivative of a floor: 0 where it is constant."""
    if not x.is_finite():
        return NOT_A_NUMBER
    return arb(0) if x.lower().floor() == x.upper().floor() else NOT_A_NUMBER


def _absolute(x: Ball) -> Ball:
    if x >= 0:
        return x
    if x <= 0:
        return -x
    return abs(x).nonnegative_part() if x.is_finite() else NOT_A_NUMBER


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

    monotone = _increasing(direct)

    def even(x: Ball) -> Ball:
        if x > 0 or x < 0 or not x.is_finite():
            return monotone(x)
        return arb(0).union(direct(x.abs_upper()))

    return monotone if n % 2 else even


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


def _pick(a: Ball, b: Ball, da: Ball, db: Ball) -> Ball:
    """The slope of the larger of two branches, or the hull of both where the balls do not decide."""
    if a > b:
        return da
    if b > a:
        return db
    return da.union(db) if da.is_finite() and db.is_finite() else NOT_A_NUMBER


def _branch(a: Ball, b: Ball, da: Ball, db: Ball) -> Ball:
    """As `_pick`, for what jumps at the kink: undefined where the balls do not decide."""
    if a > b:
        return da
    return db if b > a else NOT_A_NUMBER


_OPERATIONS: dict[str, Callable[..., Ball]] = {
    "add": operator.add,
    "mul": operator.mul,
    "inv": _inverse,
    "exp": arb.exp,
    "log": _log,
    "erfc": _increasing(_erfc),
    "phi": _increasing(_phi),
    "max": arb.max,
    "min": arb.min,
    "abs": _absolute,
    "floor": _floor,
    "flat": _flat,
    "pick": _pick,
    "branch": _branch,
}


_TOTAL = frozenset(
    {"num", "sym", "pi", "add", "mul", "ipow", "exp", "erfc", "phi", "max", "min", "abs", "floor"}
)
"""Operations that are defined wherever their arguments are."""


def operation(key: Key) -> tuple[Callable[..., Ball], tuple[Node, ...]]:
    """The function that a node stands for, and the nodes it takes."""
    match key:
        case ("ipow", base, n):
            return _integer_power(n), (base,)
        case ("rpow", base, q):
            return _rational_power(q), (base,)
        case (head, *arguments):
            return _OPERATIONS[head], tuple(arguments)
    raise AssertionError(key)


# ---------------------------------------------------------------------------------------------- graph


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

    def _node(self, *key: Any) -> Node:
        found = self._numbers.get(key)
        if found is not None:
            return found
        self.keys.append(key)
        symbols = frozenset([key[1]]) if key[0] == "sym" else frozenset[str]()
        self._symbols.append(symbols.union(*(self._symbols[i] for i in self.arguments(key))))
        self._total.append(key[0] in _TOTAL and all(self._total[i] for i in self.arguments(key)))
        self._numbers[key] = len(self.keys) - 1
        return len(self.keys) - 1

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
        return self._node("num", q)

    def symbol(self, name: str) -> Node:
        return self._node("sym", name)

    def pi(self) -> Node:
        return self._node("pi")

    def add(self, a: Node, b: Node) -> Node:
        p, q = self.value_of(a), self.value_of(b)
        if p is not None and q is not None:
            return self.number(p + q)
        if p == 0:
            return b
        return a if q == 0 else self._node("add", a, b)

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
        return self.integer_power(a, 2) if a == b else self._node("mul", a, b)

    def _times(self, a: Node, slope: Node) -> Node:
        """The product, for derivatives: where the function is defined, a zero slope leaves nothing."""
        return self.zero if slope == self.zero else self.mul(a, slope)

    def scale(self, q: Fraction | int, a: Node) -> Node:
        return self.mul(self.number(Fraction(q)), a)

    def inverse(self, a: Node) -> Node:
        q = self.value_of(a)
        return self.number(1 / q) if q else self._node("inv", a)

    def integer_power(self, a: Node, n: int) -> Node:
        if n == 0:
            # 1 where the base is defined
            return self.one if self._total[a] else self.add(self.one, self.mul(self.zero, a))
        if n < 0:
            return self.inverse(self.integer_power(a, -n))
        q = self.value_of(a)
        if q is not None and n <= 64:
            return self.number(q**n)
        return a if n == 1 else self._node("ipow", a, n)

    def power(self, a: Node, b: Node) -> Node:
        """The power a^b; exponents that are not integers need a positive base."""
        exponent = self.value_of(b)
        if exponent is None:
            logarithm = self.function("log", a)
            product = self.mul(b, logarithm)
            self.intermediate.update((logarithm, product))
            return self.function("exp", product)
        if exponent.denominator == 1:
            return self.integer_power(a, int(exponent))
        return self._node("rpow", a, exponent)

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
        result = self.zero
        for i in doubtful:
            result = self.add(result, self.mul(self.zero, i))
        return result

    def function(self, name: str, *arguments: Node) -> Node:
        return self._node(name, *arguments)

    # whole expressions

    def rebuild(self, node: Node, replace: Mapping[str, Node]) -> Node:
        """The node with symbols replaced."""
        if not self.symbols(node) & set(replace):
            return node
        new: dict[Node, Node] = {}
        for i in self.below(node):
            key = self.keys[i]
            if key[0] == "sym":
                new[i] = replace.get(key[1], i)
            elif not self.symbols(i) & set(replace):
                new[i] = i
            else:
                arguments = [new[j] for j in self.arguments(key)]
                match key[0]:
                    case "add":
                        new[i] = self.add(*arguments)
                    case "mul":
                        new[i] = self.mul(*arguments)
                    case "inv":
                        new[i] = self.inverse(*arguments)
                    case "ipow":
                        new[i] = self.integer_power(arguments[0], key[2])
                    case "rpow":
                        new[i] = self._node("rpow", arguments[0], key[2])
                    case head:
                        new[i] = self._node(head, *arguments)
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
            case ("exp", _):
                return self._times(i, slopes[0])
            case ("log", a):
                return self._times(self.inverse(a), slopes[0])
            case ("erfc", a):
                bell = self.function("exp", self.scale(-1, self.integer_power(a, 2)))
                root = self.power(self.pi(), self.number(Fraction(-1, 2)))
                return self._times(self.mul(self.scale(-2, root), bell), slopes[0])
            case ("phi", a):
                bell = self.function("exp", self.scale(Fraction(-1, 2), self.integer_power(a, 2)))
                root = self.power(self.scale(2, self.pi()), self.number(Fraction(-1, 2)))
                return self._times(self.mul(root, bell), slopes[0])
            case ("max", a, b):
                return self._node("pick", a, b, *slopes)
            case ("min", a, b):
                return self._node("pick", b, a, *slopes)
            case ("abs", a):
                return self._node("pick", a, self.scale(-1, a), slopes[0], self.scale(-1, slopes[0]))
            case ("floor" | "flat", a):
                return self._node("flat", a)
            case ("pick" | "branch", a, b, _, _):
                return self._node("branch", a, b, *slopes[2:])
        raise AssertionError(key)

    def compile(self, e: Expression, values: Mapping[str, Node] | None = None) -> Node:
        """A SymPy expression as a node; `values` says what stands for some symbols.

        Raises `NotExpressibleError` for what has no rule here, `NeedsValueError` for sums with open ends.
        """
        return _Reader(self, dict(values or {})).read(e)


_FUNCTIONS = {
    sp.exp: "exp",
    sp.log: "log",
    sp.erfc: "erfc",
    Phi: "phi",
    sp.Max: "max",
    sp.Min: "min",
    sp.Abs: "abs",
    sp.floor: "floor",
}


class _Reader:
    """Reads SymPy expressions under one assignment of nodes to names."""

    def __init__(self, graph: Graph, values: dict[str, Node]) -> None:
        self.graph = graph
        self.values = values
        self.done: dict[Expression, Node] = {}

    def read(self, e: Expression) -> Node:
        if e not in self.done:
            self.done[e] = self._read(e)
        return self.done[e]

    def _read(self, e: Expression) -> Node:
        graph = self.graph
        if e.is_Rational and e.is_finite:
            return graph.number(Fraction(int(e.p), int(e.q)))
        if e.is_Symbol:
            return self.values[e.name] if e.name in self.values else graph.symbol(e.name)
        if e is sp.pi:
            return graph.pi()
        if e is sp.E:
            return graph.function("exp", graph.one)
        if e.is_Add or e.is_Mul:
            combine = graph.add if e.is_Add else graph.mul
            result, second, *rest = (self.read(a) for a in e.args)
            result = combine(result, second)
            for node in rest:
                graph.intermediate.add(result)
                result = combine(result, node)
            return result
        if e.is_Pow:
            exponent = self.read(e.exp)
            graph.exponents.update(graph.symbols(exponent))
            return graph.power(self.read(e.base), exponent)
        if isinstance(e, sp.Sum):
            return self._sum(e)
        if isinstance(e, sp.Derivative):
            node = function = self.read(e.expr)
            for variable, order in e.variable_count:
                if variable.name in self.values or not order.is_Integer:
                    raise NotExpressibleError(f"a derivative in {variable} of order {order}")
                for _ in range(int(order)):
                    node = graph.differentiate(node, variable.name)
            return graph.add(node, graph.smooth(function))
        if isinstance(e, sp.Subs):
            # the replaced symbol is bound in here, whatever it stands for outside
            names = [v.name for v in e.variables]
            inner = _Reader(graph, {k: v for k, v in self.values.items() if k not in names})
            points = [self.read(p) for p in e.point]
            return graph.rebuild(inner.read(e.expr), dict(zip(names, points, strict=True)))
        for function, name in _FUNCTIONS.items():
            if isinstance(e, function):
                first, *rest = (self.read(a) for a in e.args)
                if not rest:
                    return first if name in ("max", "min") else graph.function(name, first)
                for node in rest:
                    first = graph.function(name, first, node)
                return first
        raise NotExpressibleError(f"{type(e).__name__} in {e}")

    def _sum(self, e: Expression) -> Node:
        ((index, first, last),) = e.limits
        ends = [self.read(first), self.read(last)]
        numbers = [self.graph.value_of(node) for node in ends]
        if None in numbers:
            names = frozenset[str]().union(*(self.graph.symbols(node) for node in ends))
            if not names:
                raise NotExpressibleError(f"a sum from {first} to {last}")
            raise NeedsValueError(set(names))
        low, high = (q for q in numbers if q is not None)
        if low.denominator != 1 or high.denominator != 1 or high - low >= _LONGEST_SUM:
            raise NotExpressibleError(f"a sum from {first} to {last}")
        # a sum that ends before it begins is undefined (docs/certificates.md)
        result = self.graph.zero if low <= high else self.graph.inverse(self.graph.zero)
        for k in range(int(low), int(high) + 1):
            term = _Reader(self.graph, {**self.values, index.name: self.graph.number(Fraction(k))})
            self.graph.intermediate.add(result)
            result = self.graph.add(result, term.read(e.function))
        return result


# ---------------------------------------------------------------------------------------------- programs


class Program:
    """Some nodes of a graph as a list of ball operations over the given variables.

    Constants are worked out once for each precision. Called with one ball a variable; gives one ball a node.
    """

    def __init__(self, graph: Graph, outputs: Sequence[Node], variables: Sequence[str]) -> None:
        free = frozenset[str]().union(*(graph.symbols(node) for node in outputs)) - set(variables)
        if free:
            raise NotExpressibleError(f"free symbols {', '.join(sorted(free))}")
        self._fixed: list[tuple[Callable[..., Ball], tuple[int, ...]] | Fraction] = []
        self._code: list[tuple[Callable[..., Ball], int, int, tuple[int, ...]]] = []
        self._constants: dict[int, list[Ball]] = {}
        nodes = graph.below(*outputs)
        constant = [i for i in nodes if not graph.symbols(i)]
        slots = {node: slot for slot, node in enumerate(constant)}
        for i in constant:
            key = graph.keys[i]
            if key[0] == "num":
                self._fixed.append(key[1])
            elif key[0] == "pi":
                self._fixed.append((arb.pi, ()))
            else:
                f, arguments = operation(key)
                self._fixed.append((f, tuple(slots[j] for j in arguments)))
        inputs = {name: len(constant) + k for k, name in enumerate(variables)}
        following = len(constant) + len(variables)
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

    def _prepare(self) -> list[Ball]:
        values: list[Ball] = []
        for entry in self._fixed:
            if isinstance(entry, Fraction):
                values.append(arb(fmpq(entry.numerator, entry.denominator)))
            else:
                f, places = entry
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
