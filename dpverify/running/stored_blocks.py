"""What a stored block of runs depends on, and its form in a store."""

from __future__ import annotations

import hashlib
import json
import math
import os
import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import scipy

from dpverify.errors import InvalidDataError
from dpverify.running.outputs import COUNTERS, Block
from dpverify.running.program import program_hash
from dpverify.running.sources import unchanged
from dpverify.running.store import Store
from dpverify.running.subjects.texts import is_texts, packed, unpacked


@dataclass(frozen=True)
class BlockKey:
    """What the bits of a block depend on, its own number and size aside."""

    mechanism: str  # fingerprint, with all parameters
    data: str  # fingerprint
    seed: tuple[int, ...]  # with its labels
    block_size: int  # runs in a full block
    namespace: str  # name of the array namespace, and its version

    def text(self) -> str:
        """The key as text, with the versions of the code that drew and computed."""
        return json.dumps(
            {
                **asdict(self),
                "seed": [str(word) for word in self.seed],
                "program": program_hash(),
                "python": platform.python_version(),
                "numpy": np.__version__,
                "scipy": scipy.__version__,
            },
            sort_keys=True,
        )


class Shelf:
    """The part of a store that belongs to one job."""

    def __init__(self, store: Store, key: BlockKey, folder: str | os.PathLike[str]) -> None:
        """Take a job's place in a store; paths of source files are relative to the folder."""
        self._store = store
        self._key = key.text()
        self._job = f"{key.mechanism} {key.data}"
        self._folder = folder
        self._unchanged: dict[str, bool] = {"": True}
        self._put: set[str] = {""}

    def _name(self, index: int, runs: int) -> str:
        return f"{self._key}\n{index} {runs}"

    def save(self, block: Block, sources: Mapping[str, str] | None) -> None:
        """Keep a block, with the source files that it rests on; where these cannot be known (None), do not."""
        if sources is None:
            self._store.tally("not_kept")
            return
        text = json.dumps(sources, sort_keys=True) if sources else ""
        name = hashlib.sha256(text.encode()).hexdigest() if sources else ""
        if name not in self._put:
            self._store.put("sources", name, text.encode())
            self._put.add(name)
        counts = list(block.counts().values())
        # most mechanisms ask for the same number in every run
        same = all(np.all(count == count[0]) for count in counts)
        as_text = is_texts(block.points)
        points = packed(block.points) if as_text else np.ascontiguousarray(block.points)
        head = {
            "sources": name,
            "counts": [int(count[0]) for count in counts] if same else None,
            "points": [points.dtype.str, points.shape],
            "texts": as_text,
        }
        content = b"".join(
            # NumPy's own format takes longer to write than a small block takes to compute
            (
                json.dumps(head).encode(),
                b"\n",
                points.tobytes(),
                b"" if same else np.stack(counts).astype(np.int64).tobytes(),
            )
        )
        self._store.put("block", self._name(block.index, block.runs), content)

    def load(self, *, index: int, start: int, runs: int) -> Block | None:
        """Read a block; None if it is absent or damaged, or a source file that it rests on has changed."""
        content = self._store.get("block", self._name(index, runs))
        block = None if content is None else self._block(content, index, start, runs)
        self._store.count("block", taken=block is not None)
        return block

    def doubtful(self, kept: Mapping[int, Block]) -> Block | None:
        """One of the blocks that were found, to be run again; None if as large a one of this job was before.

        What a block depends on and its key does not say (environment variables, files that code opens) shows so. Which
        one it is, the key says: for one seed it is always the same.
        """
        largest = max((block.runs for block in kept.values()), default=0)
        if largest <= self._store.vouched(self._job):
            return None
        places = sorted(place for place, block in kept.items() if block.runs == largest)
        chosen = int.from_bytes(hashlib.sha256(self._key.encode("utf-8", "surrogatepass")).digest()[:8])
        return kept[places[chosen % len(places)]]

    def compare(self, kept: Block, fresh: Block) -> None:
        """Hold a block that was found against the same one that was run again."""
        points = (kept.points, fresh.points)
        if any(map(is_texts, points)):
            same = all(map(is_texts, points)) and bool(np.array_equal(*points))
        else:
            same = points[0].dtype == points[1].dtype and points[0].tobytes() == points[1].tobytes()
        counts = zip(kept.counts().values(), fresh.counts().values(), strict=True)
        if not (same and all(np.array_equal(*both) for both in counts)):
            raise InvalidDataError(
                f"Block {kept.index} (runs {kept.start} to {kept.start + kept.runs - 1}) in {self._store.path} is "
                "contradicted by a fresh run with the same seed: an environment variable or a file that the code opens "
                "has changed since, or the code draws randomness from elsewhere; allowed: another store, or none."
            )
        self._store.vouch(self._job, kept.runs)

    def _block(self, content: bytes, index: int, start: int, runs: int) -> Block | None:
        try:
            first, _, rest = content.partition(b"\n")
            head = json.loads(first)
            kind, shape = head["points"]
            points, rest = _array(rest, kind, tuple(shape))
            if head["texts"] is True:
                points = unpacked(points)
            if len(points) != runs:
                raise ValueError("another number of runs")
            counts: Any = head["counts"]
            if counts is None:
                counts, rest = _array(rest, np.dtype(np.int64).str, (len(COUNTERS), runs))
            if rest:
                raise ValueError("more than was said")
            counts = [
                np.ascontiguousarray(np.broadcast_to(count, (runs,)).astype(np.int64)) for count in counts
            ]
            block = Block(index, start, points, **dict(zip(COUNTERS, counts, strict=True)))
            sources = head["sources"]
        except (ValueError, KeyError, TypeError):
            # the digest fits: someone else's content, which is not for us to run
            self._store.tally("refused")
            return None
        return block if self._rests_on_unchanged(sources) else None

    def _rests_on_unchanged(self, name: str) -> bool:
        if name not in self._unchanged:
            sources = self._store.get("sources", name)
            self._unchanged[name] = sources is not None and unchanged(json.loads(sources), self._folder)
        return self._unchanged[name]


def _array(content: bytes, kind: str, shape: tuple[int, ...]) -> tuple[Any, bytes]:
    """An array of numbers from the start of some bytes, and what comes after it."""
    dtype = np.dtype(kind)
    if dtype.kind not in "biufc":
        raise TypeError(f"{kind} is no number")
    size = dtype.itemsize * math.prod(shape)
    if not 0 <= size <= len(content):
        raise ValueError("less than was said")
    return np.frombuffer(content[:size], dtype).reshape(shape).copy(), content[size:]
