"""The checker's terms and formulas, of which equal ones are one object, and the variables of problems."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, reduce
from weakref import WeakValueDictionary

ZERO = Fraction(0)
COMPARISONS = ("<=", "<", "==", "!=")
BINDING = ("sum", "product", "integral", "at", "diff", "forall", "exists")


def demand(holds: object, why: str) -> None:
    """Refuse unless something holds."""
    if not holds:
        raise ValueError(why)


@dataclass(frozen=True)
class Unknown:
    """A name, its domain, and the powers of loss and length in its unit."""

    name: str
    kind: str
    lower: Fraction | None = None
    lower_open: bool = True
    upper: Fraction | None = None
    upper_open: bool = True
    loss: Fraction = ZERO
    length: Fraction = ZERO

    def domain(self, value: Term | None = None) -> Iterator[Term]:
        """That a value, or the variable itself, lies in its domain, as comparisons."""
        value = value or symbol(self.name)
        if self.lower is not None:
            yield term("<" if self.lower_open else "<=", number(self.lower), value)
        if self.upper is not None:
            yield term("<" if self.upper_open else "<=", value, number(self.upper))


@dataclass(frozen=True, eq=False)
class Term:
    """A term or formula. The name is its own or what it binds; the number, its own, or an order, or an exponent."""

    head: str
    parts: tuple[Term, ...]
    name: str
    number: Fraction
    over: Unknown | None

    def of(self, *parts: Term) -> Term:
        """The same with other parts."""
        return self if parts == self.parts else make(self.head, parts, self.name, self.number, self.over)

    def put(self, values: Mapping[str, Term]) -> Term:
        """The same with terms for names; refused where something would be captured."""
        if self.head == "sym":
            return values.get(self.name, self)
        if self.head in BINDING:
            captured = self.name in values or any(self.name in names(value) for value in values.values())
            demand(not captured, f"{self.name} is bound, and would be captured")
        return self.of(*(part.put(values) for part in self.parts))


KNOWN: WeakValueDictionary[tuple[object, ...], Term] = WeakValueDictionary()


def make(
    head: str, parts: tuple[Term, ...], name: str = "", at: Fraction = ZERO, over: Unknown | None = None
) -> Term:
    """The one term with these parts."""
    key = head, parts, name, at, over
    found = KNOWN.get(key)
    if found is None:
        found = KNOWN[key] = Term(*key)
    return found


def term(head: str, *parts: Term) -> Term:
    """A term that is made of its parts."""
    return make(head, parts)


def symbol(name: str) -> Term:
    """A name."""
    return make("sym", (), name)


def number(value: Fraction | int) -> Term:
    """A number."""
    return make("num", (), "", Fraction(value))


def negative(value: Term) -> Term:
    """The term -value."""
    return term("mul", number(-1), value)


def minus(left: Term, right: Term) -> Term:
    """The term left - right."""
    return term("add", left, negative(right))


def power(base: Term, exponent: Fraction | int) -> Term:
    """A power with a number as its exponent."""
    return make("power", (base,), "", Fraction(exponent))


@lru_cache(10**5)
def names(e: Term) -> frozenset[str]:
    """All names that occur, bound or not."""
    return frozenset({e.name} - {""}).union(*map(names, e.parts))


@lru_cache(10**5)
def heads(e: Term) -> frozenset[str]:
    """All heads that occur."""
    return frozenset({e.head}).union(*map(heads, e.parts))


def conjuncts(*formulas: Term) -> list[Term]:
    """The parts of conjunctions, and what is none."""
    return [part for f in formulas for part in (conjuncts(*f.parts) if f.head == "and" else [f])]


@lru_cache(10**5)
def plain(e: Term) -> Term:
    """The form in which arithmetic takes a term: exponents are numbers, and a maximum has two parts."""
    parts = [plain(part) for part in e.parts]
    match e.head:
        case "abs":
            return term("max", *parts, *map(negative, parts))
        case "min":
            return negative(reduce(lambda u, v: term("max", u, v), map(negative, parts)))
        case "max":
            return reduce(lambda u, v: term("max", u, v), parts)
        case "pow" if parts[1].head == "num":
            demand(max(map(abs, parts[1].number.as_integer_ratio())) < 200, "a large power")
            return power(parts[0], parts[1].number)
        case "erfc":
            return term("mul", number(2), term("phi", term("mul", number(-1), ROOT_2, *parts)))
        case "pow":
            return term("exp", term("mul", parts[1], term("log", parts[0])))
    return e.of(*parts)


ROOT_2 = power(number(2), Fraction(1, 2))
BELL = power(term("mul", number(2), term("pi")), Fraction(-1, 2))  # 1 / root(2 pi)


SLOPES: dict[str, Callable[[Term], tuple[Term, ...]]] = {
    "exp": lambda u: (term("exp", u),), "log": lambda u: (power(u, -1),), "sin": lambda u: (term("cos", u),),
    "cos": lambda u: (negative(term("sin", u)),), "arctan": lambda u: (power(term("add", number(1), power(u, 2)), -1),),
    "phi": lambda u: (BELL, term("exp", term("mul", number(Fraction(-1, 2)), u, u))),
}  # fmt: skip


@lru_cache(10**5)
def slope(e: Term, x: str) -> Term:
    """The derivative of a plain term in x, rule by rule; `step` is 1 above 0 and 0 below."""
    inner = [slope(part, x) for part in e.parts]
    used = [i for i, rise in enumerate(inner) if rise is not number(0)]
    if e.head == "sym" or not used:
        return number(e is symbol(x))
    if e.head in ("add", "mul"):
        others = [e.parts[:i] + e.parts[i + 1 :] if e.head == "mul" else () for i in used]
        return term("add", *(term("mul", inner[i], *rest) for i, rest in zip(used, others, strict=True)))
    if e.head == "max":
        above, below = (term("step", minus(*sides)) for sides in (e.parts, e.parts[::-1]))
        return term("add", term("mul", above, inner[0]), term("mul", below, inner[1]))
    u = e.parts[0]
    if e.head == "power":
        defined = [u, power(u, -1)] if e.number % 1 and e.number > 1 else []  # not at 0
        return term("mul", inner[0], number(e.number), power(u, e.number - 1), *defined)
    demand(e.head in SLOPES, f"a derivative of {e.head} is beyond this checker")
    return term("mul", inner[0], *SLOPES[e.head](u))


def derivative(e: Term, body: Term) -> Term:
    """What `diff` stands for, of a plain term; what has kinks is refused."""
    demand(e.number in range(9) and "max" not in heads(body), "a derivative that may be undefined")
    return reduce(lambda f, _: slope(f, e.name), range(int(e.number)), body)
