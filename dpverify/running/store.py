"""Finished blocks on disk, so that an interrupted job goes on where it was and ends with the same bits."""

from __future__ import annotations

import hashlib
import io
import json
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dpverify import __version__
from dpverify.errors import InvalidDataError
from dpverify.files import write_whole
from dpverify.running.outputs import COUNTERS, Block

_MAGIC = b"dpverify block 2\n"
_DIGEST_BYTES = hashlib.sha256().digest_size


@dataclass(frozen=True)
class BlockKey:
    """What the bits of a block depend on, its own number and size aside.

    Attributes:
        mechanism: fingerprint of the mechanism with all its parameters.
        data: fingerprint of the data set.
        seed: the seed and its labels.
        block_size: runs in a full block.
        namespace: name of the array namespace.
    """

    mechanism: str
    data: str
    seed: tuple[int, ...]
    block_size: int
    namespace: str

    def manifest(self) -> str:
        """The key as JSON, with the versions of the code that drew and computed."""
        return json.dumps(
            {
                "mechanism": self.mechanism,
                "data": self.data,
                "seed": [str(word) for word in self.seed],
                "block_size": self.block_size,
                "namespace": self.namespace,
                "dpverify": __version__,
                "numpy": np.__version__,
            },
            indent=1,
            sort_keys=True,
        )


class BlockStore:
    """A folder with one file per finished block.

    Files appear under their name only when complete (written aside, flushed to disk, then renamed), hold
    plain arrays (never pickles), and carry a SHA-256 of their content; a file that does not match it counts
    as absent, so its block is computed again. Several jobs may use one folder at the same time.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)

    def _path(self, key: BlockKey, index: int, runs: int) -> Path:
        name = hashlib.sha256(key.manifest().encode()).hexdigest()[:32]
        return self.folder / name / f"block-{index:08d}-runs-{runs}.bin"

    def save(self, key: BlockKey, block: Block) -> None:
        """Write one finished block, all or nothing.

        Raises:
            InvalidDataError: if the folder cannot be written to.
        """
        path = self._path(key, block.index, block.runs)
        content = io.BytesIO()
        for array in (block.points, *block.counts().values()):
            np.save(content, array, allow_pickle=False)
        payload = content.getvalue()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            manifest = path.parent / "manifest.json"
            if not manifest.exists():
                write_whole(manifest, key.manifest().encode())
            write_whole(path, _MAGIC + hashlib.sha256(payload).digest() + payload)
        except OSError as error:
            raise InvalidDataError(f"The store {self.folder} cannot be written to: {error}.") from error

    def load(self, key: BlockKey, *, index: int, start: int, runs: int) -> Block | None:
        """Read one block; None if it is absent, truncated or damaged."""
        try:
            content = self._path(key, index, runs).read_bytes()
        except OSError:
            return None
        header = len(_MAGIC) + _DIGEST_BYTES
        payload = content[header:]
        if content[:header] != _MAGIC + hashlib.sha256(payload).digest():
            return None
        arrays = io.BytesIO(payload)
        try:
            points = np.load(arrays, allow_pickle=False)
            counts = {name: np.load(arrays, allow_pickle=False) for name in COUNTERS}
        except (ValueError, EOFError):
            return None
        if any(shape != (runs,) for shape in (points.shape[:1], *(c.shape for c in counts.values()))):
            return None
        return Block(index, start, points, **counts)
