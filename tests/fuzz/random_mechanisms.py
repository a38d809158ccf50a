"""Random pages of mechanisms, each with its law worked out here by other means: SciPy's distributions on a grid."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, permutations, product
from random import Random
from typing import Any

import numpy as np
from scipy import stats

from dpverify import Mechanism

Data = tuple[Any, ...]
"""A data set: records, numbers or tuples of numbers."""
LAWS = {"Lap": stats.laplace, "Exp": stats.expon, "normal": stats.norm}
EPSILON = r"\varepsilon"
EPSILONS = (0.05, 0.3, 1.0, 2.5)


@dataclass(frozen=True)
class Known:
    """A page, and the masses of many cells of what it puts out."""

    mechanism: Mechanism
    masses: Callable[[Data, float], np.ndarray]
    """Of a data set and the value of epsilon."""
    claimed: tuple[float, float]
    """What is claimed: a multiple of epsilon, and delta."""
    points: tuple[Any, ...]
    """Records that are tried."""
    sizes: tuple[int, ...]
    values: tuple[float, ...] = EPSILONS
    """Of epsilon, that are tried."""
    amplified: Callable[[float, int], float] = lambda epsilon, _: epsilon
    """Of the multiple of epsilon and of n, what is claimed of a sample."""

    def excess(self, one: Data, other: Data, epsilon: float) -> float:
        """By how much the claim is false on a pair, at least; in floating point."""
        p, q = self.masses(one, epsilon), self.masses(other, epsilon)
        most = self.amplified(self.claimed[0] * epsilon, max(len(one), len(other)))
        if self.claimed[1]:
            return float(np.maximum(p - math.exp(most) * q, 0).sum()) - self.claimed[1]
        seen = (p > 1e-11) & (q > 1e-11)
        return float(np.log(p[seen] / q[seen]).max()) - most

    def pairs(self, random: Random, count: int) -> Iterator[tuple[Data, Data]]:
        """Some pairs of neighbors."""
        for _ in range(count):
            one = tuple(random.choices(self.points, k=random.choice(self.sizes)))
            k = random.randrange(len(one))
            rest = (
                one[k + 1 :]
                if self.mechanism.neighbors.startswith("add")
                else (random.choice(self.points), *one[k + 1 :])
            )
            other = (*one[:k], *rest)
            if other and other != one:
                yield (one, other) if random.random() < 0.5 else (other, one)


def written(value: Fraction | int, below: str = "") -> str:
    """LaTeX of a number over some letters."""
    value = Fraction(value)
    down = ("" if value.denominator == 1 and below else str(value.denominator)) + below
    return str(value.numerator) if down == "1" else rf"\frac{{{value.numerator}}}{{{down}}}"


def times_epsilon(value: Fraction | int) -> str:
    return ("" if value == 1 else written(value)) + r"\varepsilon"


PARTS: tuple[tuple[str, Callable[[Any], float]], ...] = (
    ("x_i", float), ("|x_i|", abs), ("x_i^2", lambda x: x * x), (r"\mathbf{1}[0<x_i]", lambda x: float(x > 0)),
    (r"\min(\max(x_i,0),\frac{1}{2})", lambda x: min(max(x, 0.0), 0.5)),
)  # fmt: skip
WHOLE: tuple[tuple[str, Callable[[list[float]], float]], ...] = (
    (r"\sum_{i=1}^{n}%s", sum), (r"\sum_{i=1}^{n}%s", sum),
    (r"\max_{1\le i\le n}%s", max), (r"\min_{1\le i\le n}%s", min),
    (r"\frac{1}{n}\sum_{i=1}^{n}%s", lambda v: sum(v) / len(v)), (r"\prod_{i=1}^{n}%s", math.prod),
)  # fmt: skip
OUTPUTS: tuple[tuple[str, Callable[[float], np.ndarray]], ...] = (
    ("y", lambda b: np.linspace(-12 * b - 4, 12 * b + 4, 2001)),
    (r"\min(\max(y,0),1)", lambda _: np.linspace(0, 1, 401)),
    (r"\lfloor y\rfloor", lambda b: np.arange(-math.ceil(6 * b) - 4.0, math.ceil(6 * b) + 5.0)),
    (r"\mathbf{1}[0<y]", lambda _: np.zeros(1)),
)
"""What is put out of a draw, and where the line is cut for that, by the scale of noise."""


def query(random: Random) -> tuple[str, Callable[[Data], float]]:
    """A query, and what it is on a data set."""
    (part, f), (whole, g) = random.choice(PARTS), random.choice(WHOLE)

    def first(data: Data) -> float:
        return g([f(x) for x in data])

    if random.random() < 0.7:
        return whole % part, first
    (part, other_f), (more, other_g) = random.choice(PARTS), random.choice(WHOLE)
    head, both = random.choice((("(%s)-(%s)", lambda a, b: a - b), (r"\max(%s,%s)", max)))
    return head % (whole % PARTS[0][0], more % part), lambda data: both(
        g([float(x) for x in data]), other_g([other_f(x) for x in data])
    )


OF_CHOICES: list[tuple[str, Callable[[int], int]]] = [
    ("j", int),
    (r"0\cdot j", lambda j: 0),
    (r"\min(j,1)", lambda j: min(j, 1)),
    (r"\min(j,2)", lambda j: min(j, 2)),
    (r"\mathbf{1}[1\le j]", lambda j: 1),
    ("j+1", lambda j: j + 1),
]
"""What is put out of a choice."""


def cells(law: str, at: float, scale: float, cuts: np.ndarray) -> np.ndarray:
    """Masses between cuts, precise far out."""
    z = (cuts - at) / scale
    below, above = LAWS[law].cdf(z), LAWS[law].sf(z)
    inner = np.where(z[:-1] < 0, np.diff(below), -np.diff(above))
    return np.concatenate([below[:1], inner, above[-1:]])


def numbers(random: Random) -> Known:
    """One draw around a query of all records or, sometimes, of a sample; maybe a function of it is put out."""
    low, high = random.choice(((0, 1), (-1, 1), (0, 2)))
    latex, f = query(random)
    add, rate, law = random.random() < 0.3, Fraction(0), random.choice(("Lap", "Lap", "normal"))
    scale = random.choice((Fraction(1, 2), 1, Fraction(3, 2), 2, 4))
    output, cut = random.choice(OUTPUTS) if random.random() < 0.5 else OUTPUTS[0]
    steps = [("Query", f"s={latex}")]
    if random.random() < 0.3:  # a sum of a sample
        part, of = random.choice(PARTS)
        add, rate, (output, cut) = (
            random.random() < 0.5,
            random.choice((Fraction(1, 2), Fraction(1, 4))),
            OUTPUTS[0],
        )
        line = (
            f"each record with probability ${written(rate)}$"
            if add
            else "1 of $n$ records without replacement"
        )
        line = line.replace("1 of", "$1$ of")
        steps = [(f"Subsample ({line})", ""), ("Query", rf"s=\sum_{{i=1}}^{{{'n' if add else 1}}}{part}")]

        def f(data: Data) -> float:
            return sum(map(of, data))

    noise = {
        "Lap": rf"\mathrm{{Lap}}(s,{written(scale, EPSILON)})",
        "normal": rf"\mathcal{{N}}(s,{written(Fraction(scale) ** 2)})",
    }
    steps.append(("Draw", rf"y\sim{noise[law]}"))
    times = random.choice((Fraction(1, 2), 1, 1, 2, 3))
    delta = (
        random.choice((Fraction(1, 10), Fraction(1, 100)))
        if law == "normal" or random.random() < 0.3
        else Fraction(0)
    )
    most = times_epsilon(times) if law == "Lap" else written(times)
    if rate:
        most = r"\log(1+{}(e^{{{}}}-1))".format(written(rate) if add else r"\frac{1}{n}", most)
    steps += [
        ("Output", output),
        ("Claim", (f"({most},{written(delta)})" if delta else most) + r"\text{-DP}"),
    ]
    least = 2 if rate and not add else 0 if rate else 1
    letters = {"n": f"integer >= {least}", **({r"\varepsilon": "> 0"} if law == "Lap" else {})}

    def samples(data: Data) -> dict[float, float]:
        if not rate:
            return {f(data): 1.0}
        if not add:
            every = [((x,), 1 / len(data)) for x in data]
        else:
            p = float(rate)
            every = [
                (s, p ** len(s) * (1 - p) ** (len(data) - len(s)))
                for k in range(len(data) + 1)
                for s in combinations(data, k)
            ]
        found = dict[float, float]()
        for sample, chance in every:
            found[f(sample)] = found.get(f(sample), 0.0) + chance
        return found

    def masses(data: Data, epsilon: float) -> np.ndarray:
        b = float(scale) / (epsilon if law == "Lap" else 1)
        return np.sum([chance * cells(law, at, b, cut(b)) for at, chance in samples(data).items()], axis=0)

    def amplified(epsilon: float, n: int) -> float:
        return math.log1p((float(rate) if add else 1 / n) * math.expm1(epsilon)) if rate else epsilon

    records = rf"$x_1,\dots,x_n$ in [{low}, {high}]"
    made = Mechanism("fuzz.numbers", letters, records, steps, "add or remove one" if add else "replace one")
    sizes = (2, 3) if rate and not add else (1, 2, 3)
    return Known(
        made,
        masses,
        (float(times), float(delta)),
        (low, (low + high) / 2, high),
        sizes,
        EPSILONS if law == "Lap" else (1.0,),
        amplified,
    )


def choices(random: Random) -> Known:
    """Noisy max, the exponential mechanism, permute-and-flip, and stopping at the first above a threshold."""
    count, (low, high), form = (
        random.choice((2, 3)),
        random.choice(((0, 1), (-1, 1))),
        random.choice(range(5)),
    )
    scale, other, times = (random.choice((Fraction(1, 2), 1, 2, 4)) for _ in range(3))
    times, add, noisy = min(times, 2), random.random() < 0.25, random.random() < 0.8
    part, f = random.choice(
        (
            (r"x_{i,j}", float),
            (r"x_{i,j}^2", lambda x: x * x),
            (r"\mathbf{1}[0<x_{i,j}]", lambda x: float(x > 0)),
        )
    )
    typed, below, weight = form < 3, written(scale, EPSILON), times_epsilon(1 / Fraction(scale))
    j, each = ("r", r"$r\in R$") if typed else ("j", r"$j\in\{1,\dots,k\}$")
    steps = [(f"Query (for each {each})", rf"q({j})=\sum_{{i=1}}^{{n}}{part.replace('j', j)}")]
    if form == 0:
        steps += [
            (f"Draw (for each {each})", rf"y_r\sim\mathrm{{Lap}}(q(r),{below})"),
            ("Select", r"j=\arg\max_{r\in R}y_r"),
        ]
    elif form == 1:
        steps += [
            (f"Draw (for each {each})", rf"z_r\sim\mathrm{{Exp}}({below})"),
            ("Select", r"j=\arg\max_{r\in R}q(r)+z_r"),
        ]
    elif form == 2:
        steps.append(("Draw", rf"j\sim\propto e^{{{weight}\cdot q(r)}}\text{{ at }}r\in R"))
    elif form == 3:
        shown = rf"e^{{{weight}\cdot(q(j)-\max_{{1\le i\le k}}q(i))}}"
        steps.append(("Select (in random order, the first $j$ that shows heads)", shown))
    else:
        drawn = [("Draw", rf"t\sim\mathrm{{Lap}}(1,{written(other, EPSILON)})")] if noisy else []
        steps += [*drawn, (f"Draw (for each {each})", rf"y_j\sim\mathrm{{Lap}}(q(j),{below})")]
        steps.append(("Stop (at the first $j$, else at $k+1$)", rf"y_j\ge {'t' if noisy else 1}"))
    output, of = random.choice(OF_CHOICES) if form >= 3 and random.random() < 0.5 else OF_CHOICES[0]
    steps += [("Output", output), ("Claim", times_epsilon(times) + r"\text{-DP}")]
    letters = {
        "n": "integer >= 1",
        **({"R": "finite type"} if typed else {"k": "integer >= 1"}),
        r"\varepsilon": "> 0",
    }

    def masses(data: Data, epsilon: float) -> np.ndarray:
        chances = of_each(data, epsilon)
        return np.bincount([of(j) for j in range(1, len(chances) + 1)], weights=chances)

    def of_each(data: Data, epsilon: float) -> np.ndarray:
        count = len(data[0])
        q = [sum(f(row[j]) for row in data) for j in range(count)]
        b = float(scale) / epsilon
        if form == 2:
            weights = np.exp(np.array(q) / b)
            return np.asarray(weights / weights.sum())
        if form == 3:
            heads, found = np.exp((np.array(q) - max(q)) / b), np.zeros(count)
            for order in permutations(range(count)):
                left = 1.0
                for j in order:
                    found[j] += left * heads[j] / math.factorial(count)
                    left *= 1 - heads[j]
            return found
        middle = (np.arange(20_000) + 0.5) / 20_000
        if form < 2:
            law = LAWS["Lap" if form == 0 else "Exp"]
            at = [law.ppf(middle) * b + one for one in q]
            rest = [[law.cdf((at[j] - q[i]) / b) for i in range(count) if i != j] for j in range(count)]
            return np.array([np.prod(row, axis=0).mean() for row in rest])
        t = 1 + stats.laplace.ppf(middle) * float(other) / epsilon if noisy else np.ones(1)
        above = [stats.laplace.sf((t - one) / b) for one in q]
        going = np.cumprod([np.ones_like(t), *(1 - one for one in above)], axis=0)
        return np.array([*((going[j] * above[j]).mean() for j in range(count)), going[-1].mean()])

    records = rf"$x_1,\dots,x_n$ in [{low}, {high}] for {each}"
    made = Mechanism("fuzz.choices", letters, records, steps, "add or remove one" if add else "replace one")
    return Known(made, masses, (float(times), 0.0), tuple(product((low, high), repeat=count)), (1, 2))


def vectors(random: Random) -> Known:
    """Laplace noise on each number of a vector: of a histogram, or of rows, which may be clipped."""
    count, add, scalar = random.choice((2, 3)), random.random() < 0.5, random.random() < 0.4
    scale, times = random.choice((Fraction(1, 2), 1, 2, 4)), random.choice((Fraction(1, 2), 1, 2, 3))
    each, norm = rf"$j\in\{{1,\dots,{count}\}}$", rf"\sum_{{l=1}}^{{{count}}}|x_{{i,l}}|"
    rows: tuple[tuple[str, Callable[[Any, int], float]], ...] = (
        ("x_{i,j}", lambda x, j: x[j]), ("x_{i,j}^2", lambda x, j: x[j] ** 2),
        (rf"\frac{{x_{{i,j}}}}{{\max(1,{norm})}}", lambda x, j: x[j] / max(1, sum(map(abs, x)))),
        (rf"\frac{{x_{{i,j}}^2}}{{1+{norm}}}", lambda x, j: x[j] ** 2 / (1 + sum(map(abs, x)))),
    )  # fmt: skip
    scalars: tuple[tuple[str, Callable[[Any, int], float]], ...] = (
        (r"\mathbf{1}[x_i=j]", lambda x, j: float(x == j + 1)),
        (r"x_i\cdot\mathbf{1}[x_i=j]", lambda x, j: x * (x == j + 1)),
        (r"\mathbf{1}[j\le x_i]", lambda x, j: float(j + 1 <= x)),
    )
    part, f = random.choice(scalars if scalar else rows)
    steps = [
        (f"Query (for each {each})", rf"q(j)=\sum_{{i=1}}^{{n}}{part}"),
        (f"Draw (for each {each})", rf"y_j\sim\mathrm{{Lap}}(q(j),{written(scale, EPSILON)})"),
        ("Output", rf"y_1,\dots,y_{count}"), ("Claim", times_epsilon(times) + r"\text{-DP}"),
    ]  # fmt: skip
    low, high = (0, 3) if scalar else (-1, 2)
    records = rf"$x_1,\dots,x_n$ in [{low}, {high}]" + ("" if scalar else f" for {each}")

    def masses(data: Data, epsilon: float) -> np.ndarray:
        b, found, cuts = float(scale) / epsilon, np.ones(1), np.linspace(-6.0, 6.0, 25)
        for j in range(count):
            found = np.outer(found, cells("Lap", sum(f(x, j) for x in data), b, cuts)).ravel()
        return found

    letters = {"n": f"integer >= {0 if add else 1}", EPSILON: "> 0"}
    made = Mechanism("fuzz.vectors", letters, records, steps, "add or remove one" if add else "replace one")
    points = tuple(range(low, high + 1)) if scalar else tuple(product((low, 0, high), repeat=count))
    return Known(made, masses, (float(times), 0.0), points, (1, 2))
