"""The checker's polynomials, with fractions as coefficients and exponents. It shares no code with the provers."""

from fractions import Fraction as Q
from functools import reduce
from itertools import product
from math import floor
from typing import Any

from dpverify.proving.checker_terms import HALF, demand

ONE = {frozenset[Any](): Q(1)}


def gather(*us: Any) -> Any:
    """The sum of polynomials {{(atom, exponent), ...}: coefficient}; an atom is (head, name or items of a polynomial).

    Heads are sym, pi, exp, log, erfc, abs, and root: a polynomial under a root or inverse. Exponents are rational.
    """
    total: dict[Any, Any] = {}
    for m, c in (pair for u in us for pair in u.items()):
        total[m] = total.get(m, 0) + c
    return {m: c for m, c in total.items() if c}


def times(*us: Any) -> Any:
    """The product of polynomials; whole powers of constants under roots become coefficients."""
    return reduce(lambda u, v: gather(*(join(*a, *b) for a, b in product(u.items(), v.items()))), us, ONE)


def join(m: Any, c: Q, n: Any, d: Q) -> Any:
    powers, c = {}, c * d
    for a, _ in m | n:
        k = dict(m).get(a, 0) + dict(n).get(a, 0)
        inside = dict(a[1]) if a[0] == "root" else {}
        if set(inside) == set(ONE):
            c, k = c * inside[frozenset()] ** floor(k), k - floor(k)
        powers[a] = k
    return {frozenset((a, k) for a, k in powers.items() if k): c}


def atom(head: str, inside: Any = ONE, k: Any = Q(1)) -> Any:
    """The polynomial that is an atom to the power k."""
    key = head, frozenset(inside.items()) if isinstance(inside, dict) else inside
    return times({frozenset({(key, k)}): Q(1)})


def clear(u: Any) -> Any:
    """A polynomial times whole powers of its roots' insides, so that roots keep exponents in [0, 1) only."""
    for a in {a for m in u for a, k in m if a[0] == "root" and not 0 <= k < 1}:
        whole = {m: floor(dict(m).get(a, 0)) for m in u}
        inside, low = dict(a[1]), min(0, *whole.values())
        parts = (
            times({m: c}, atom(a[0], a[1], Q(-whole[m])), *[inside] * (whole[m] - low)) for m, c in u.items()
        )
        return clear(gather(*parts))
    return u


def above(u: Any, bounds: Any) -> bool:
    """Whether no summand can be negative where all is defined, with lower bounds of the symbols."""
    return all(c > 0 and all(k % 2 == 0 or at_least_0(a, k, bounds) for a, k in m) for m, c in u.items())


def at_least_0(a: Any, k: Any, bounds: Any) -> bool:
    """Whether an atom that stands with exponent k cannot be negative where all is defined."""
    if a[0] == "root":
        return k % 1 != 0 or above(dict(a[1]), bounds)
    return a[0] in ("pi", "exp", "erfc", "abs") or (
        a[0] == "sym" and bounds.get(a[1]) is not None and bounds[a[1]] >= 0
    )


def primes(c: Q) -> Any:
    """Integers that multiply to a positive fraction, with weight 1 or -1; small ones are prime."""
    for n, w in (c.numerator, 1), (c.denominator, -1):
        p = 2
        while n > 1:
            p = n if p * p > n or p > 999 else p
            if n % p:
                p += 1
            else:
                n //= p
                yield Q(p), w


def power(u: Any, q: Q, bounds: Any) -> Any:
    """A polynomial, defined there, to a power; of products with nonnegative factors the product of the powers."""
    demand(abs(q) < 99 and (u or q >= 0), "division by zero, or a high power")
    if q % 1 == 0 and (q >= 0 or len(u) == 1):
        (m, c), *_ = u.items() or [(frozenset(), Q(0))]
        return times(*[u] * int(q)) if q >= 0 else {frozenset((a, k * q) for a, k in m): c ** int(q)}
    if len(u) == 1:
        ((m, c),) = u.items()
        if c > 0 and all(at_least_0(a, k, bounds) for a, k in m):
            roots = [atom("root", {frozenset(): p}, q * w) for p, w in primes(c)]
            return times(*roots, *(atom(a[0], a[1], k * q) for a, k in m))
    if q % 1 == 0 and all(c < 0 for c in u.values()):
        return times({frozenset(): Q(-1) ** int(q)}, atom("root", {m: -c for m, c in u.items()}, q))
    return atom("root", u, q) if u else u


def logarithm(u: Any, bounds: Any) -> Any:
    """Log of a polynomial that is positive; of products with nonnegative factors the sum of the logarithms."""
    ((m, c), *more) = u.items() or [(frozenset(), Q(0))]
    if more or c <= 0 or not all(at_least_0(a, k, bounds) for a, k in m):
        return atom("log", u)
    logs = [(k, a[1]) for a, k in m if a[0] == "exp"]
    logs += [(k, logarithm(dict(a[1]), bounds).items()) for a, k in m if a[0] == "root"]
    logs += [(k, atom("log", atom(a[0], a[1])).items()) for a, k in m if a[0] not in ("exp", "root")]
    logs += [(w, atom("log", {frozenset(): p}).items()) for p, w in primes(c)]
    return gather(*({n: Q(k) * d for n, d in items} for k, items in logs))


def forms(bounds: Any, needs: Any) -> Any:
    """The functions of polynomials; `needs` collects what (relation, polynomial) 0 must satisfy."""

    def raised(u: Any, q: Q) -> Any:
        if q % 1 or q < 0:
            needs.append(("!=" if q % 1 == 0 else "<=" if q > 0 else "<", u))
        return power(u, q, bounds)

    def exp(u: Any) -> Any:
        parts = []  # exp of a sum is a product of powers of exp of its monomials; exp(c log v) is v^c
        for m, c in u.items():
            a, k = next(iter(m), (("", ()), 0))
            known = a[0] == "log" and k == 1 and len(m) == 1
            parts.append(power(dict(a[1]), c, bounds) if known else atom("exp", {m: Q(1)}, c))
        return times(*parts)

    def log(u: Any) -> Any:
        needs.append(("<", u))
        return logarithm(u, bounds)

    def larger(u: Any, v: Any) -> Any:
        return times(
            {frozenset(): HALF}, gather(u, v, atom("abs", gather(u, times({frozenset(): Q(-1)}, v))))
        )

    return {
        "num": lambda q: {frozenset(): q} if q else {},
        "sym": lambda x: atom("sym", x),
        "pi": lambda: atom("pi"),
        "add": gather,
        "mul": times,
        "pow": raised,
        "exp": exp,
        "log": log,
        "erfc": lambda u: atom("erfc", u) if u else ONE,
        "abs": lambda u: atom("abs", u),
        "max": lambda *us: reduce(larger, us),
    }
