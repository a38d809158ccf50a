"""How the batches of a training are said to be drawn, and the laws of what can be counted in them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from dpverify import checks
from dpverify.errors import InvalidArgumentError

Scheme = Literal["poisson", "without-replacement", "with-replacement", "shuffled"]
"""How a batch is drawn; `shuffled` goes through all records in a uniformly random order, drawn anew for each pass."""

Indices = NDArray[np.int64]


@dataclass(frozen=True)
class BatchScheme:
    """Batches of records 0 to n - 1, each drawn independently of all others, but for those of one shuffled pass.

    Attributes:
        kind: how they are drawn.
        n: records, at least 2.
        batch: records in a batch, but for `poisson`; the last batch of a shuffled pass has what is left. n by default
            for `shuffled`, None for `poisson`.
        probability: with which each record is in a batch, for `poisson`; in (0, 1). None for all others.

    Raises:
        InvalidArgumentError: for anything else.
    """

    kind: Scheme
    n: int
    batch: int | None = None
    probability: float | None = None

    def __post_init__(self) -> None:
        """Check the numbers that the kind needs."""
        checks.whole_field(self, "n", at_least=2)
        checks.one_of("scheme", self.kind, get_args(Scheme))
        if self.kind == "poisson":
            checked = checks.number("probability_of_a_record", self.probability, above=0, below=1)
            object.__setattr__(self, "probability", checked)
            if self.batch is not None:
                raise InvalidArgumentError("batch", self.batch, "no value with poisson, whose batches vary")
            return
        allowed = "no value but with poisson"
        checks.require(self.probability is None, "probability_of_a_record", self.probability, allowed)
        size = self.n if self.batch is None and self.kind == "shuffled" else self.batch
        most = None if self.kind == "with-replacement" else self.n
        object.__setattr__(self, "batch", checks.whole_number("batch", size, at_most=most))

    def __str__(self) -> str:
        if self.probability is not None:
            return f"Poisson batches of {self.n} records, each with probability {self.probability:.10g}"
        if self.kind == "shuffled":
            return f"batches of {self.size} in a new random order of {self.n} records for each pass"
        return f"batches of {self.size} of {self.n} records, drawn {self.kind.replace('-', ' ')}"

    @property
    def size(self) -> int:
        """Records in a batch; not for `poisson`."""
        assert self.batch is not None
        return self.batch

    @property
    def inclusion(self) -> float:
        """P[a record is in a batch]."""
        if self.probability is not None:
            return self.probability
        if self.kind == "with-replacement":
            return -math.expm1(self.size * math.log1p(-1 / self.n))
        return self.size / self.n

    @property
    def both(self) -> float:
        """P[two records are in a batch]."""
        if self.probability is not None:
            return self.probability**2
        if self.kind == "with-replacement":
            return 1 - 2 * (1 - 1 / self.n) ** self.size + (1 - 2 / self.n) ** self.size
        return self.size * (self.size - 1) / (self.n * (self.n - 1))

    def part(self, records: int) -> Any:
        """Law of how many places of a batch go to a set of so many records."""
        from scipy import stats

        if self.probability is not None:
            return stats.binom(records, self.probability)
        if self.kind == "with-replacement":
            return stats.binom(self.size, records / self.n)
        return stats.hypergeom(self.n, records, self.size)

    @property
    def shared(self) -> Any:
        """Law of how many places two batches share; with replacement, places that hold the same record."""
        from scipy import stats

        if self.probability is not None:
            return stats.binom(self.n, self.probability**2)
        if self.kind == "with-replacement":
            return stats.binom(self.size, 1 / self.n)
        return stats.hypergeom(self.n, self.size, self.size)

    def fault_of(self, batch: Indices) -> str | None:
        """What no batch of this scheme is, in words; None for one that it may draw."""
        if batch.ndim != 1 or np.any((batch < 0) | (batch >= self.n)):
            return f"A batch must be a list of indices from 0 to {self.n - 1}; one was {_few(batch)}."
        distinct = np.unique(batch).size == batch.size
        if self.kind == "shuffled":
            whole = distinct and batch.size == self.n
            return (
                None
                if whole
                else f"A shuffled pass must hold each of {self.n} records once; one was {_few(batch)}."
            )
        if self.batch is not None and batch.size != self.batch:
            return f"A batch must hold {self.batch} records; one holds {batch.size}."
        if self.kind != "with-replacement" and not distinct:
            return f"A record is in a batch twice, where the scheme is {self.kind}: {_few(batch)}."
        return None

    def passes(self, batches: list[Indices]) -> list[Indices]:
        """Batches of a shuffled scheme put together to passes; a pass that the recording cuts short is left out."""
        count = math.ceil(self.n / self.size)
        whole = range(0, len(batches) - count + 1, count)
        return [np.concatenate(batches[k : k + count]) for k in whole]


def _few(batch: Indices) -> str:
    shown = ", ".join(map(str, batch.ravel()[:12].tolist()))
    return f"[{shown}{', ...' if batch.size > 12 else ''}]"
