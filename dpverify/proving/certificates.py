"""Certificates: how they are put together, named and stored (docs/certificates.md)."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

from dpverify.checks import of_kind
from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.files import write_whole
from dpverify.formulas.rendering.neutral import Json
from dpverify.ledger.verdicts import Verdict
from dpverify.proving.problem import ProofProblem

VERSION = 1
_NAME = re.compile(r"(?:sha256:)?([0-9a-f]{64})")


def certificate(problem: ProofProblem, verdict: Verdict, proof: Json) -> Json:
    """The certificate that says how `problem` came to `verdict`; `proof` has at least a `method`."""
    return {"version": VERSION, "problem": problem.json, "verdict": str(verdict), "proof": proof}


def canonical(value: Json) -> str:
    """JSON with sorted keys and no spaces, the same for equal values."""
    try:
        return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    except (TypeError, ValueError):
        raise InvalidArgumentError("value", value, "what JSON can hold, with finite numbers") from None


def digest(value: Json) -> str:
    """`sha256:` and the hash of the canonical form."""
    return "sha256:" + hashlib.sha256(canonical(value).encode()).hexdigest()


def _path(folder: Path, name: str) -> Path:
    of_kind("folder", folder, Path)
    match = _NAME.fullmatch(name) if isinstance(name, str) else None
    if match is None:
        raise InvalidArgumentError("name", name, "`sha256:` and 64 hexadecimal digits")
    return folder / f"{match[1]}.json"


def store(value: Json, folder: Path) -> str:
    """Write a certificate to `folder` under its hash and return its name; nothing is ever half written.

    It is not waited for until it is on the disk, which takes longer than most proofs: what a power failure leaves of it
    does not have its hash.
    """
    name = digest(value)
    target = _path(folder, name)
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(target, canonical(value).encode("ascii"), durable=False)
    return name


def load(name: str, folder: Path) -> Json:
    """Read a stored certificate; `InvalidDataError` where it is missing or does not have its hash.

    Examples:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from dpverify.proving import load, store
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     name = store({"verdict": "proved"}, Path(folder))
        ...     certificate = load(name, Path(folder))
        >>> certificate
        {'verdict': 'proved'}
    """
    path = _path(folder, name)
    try:
        value = json.loads(path.read_text(encoding="ascii"))
    except (OSError, ValueError) as error:
        raise InvalidDataError(f"Certificate {path} cannot be read: {error}.") from error
    if digest(value) != f"sha256:{path.stem}":
        raise InvalidDataError(f"Certificate {path} does not have the hash in its name.")
    return value
