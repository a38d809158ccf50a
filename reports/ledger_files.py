"""Ledgers on disk: JSON with a version, written whole or not at all, refused in one sentence."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any, NoReturn

from pydantic import ValidationError

from dpverify.checks import of_kind
from dpverify.errors import InvalidDataError, reason_of
from dpverify.files import write_whole
from dpverify.ledger.document import SCHEMA_VERSION, Ledger


def ledger_json(ledger: Ledger) -> str:
    """The ledger as JSON text, the same for equal ledgers.

    JSON has no infinities: a float that is not finite becomes the string `Infinity`, `-Infinity` or `NaN`,
    which `parse_ledger` reads back.
    """
    of_kind("ledger", ledger, Ledger)
    tree = without_infinities(ledger.model_dump(mode="python"))
    return json.dumps(tree, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def parse_ledger(text: str, source: str = "The ledger") -> Ledger:
    """Read JSON text; `source` names it in the error message.

    Raises InvalidDataError, in one sentence, where the text is not JSON, not a ledger, of another schema
    version, or does not fit the schema.
    """
    of_kind("text", text, str, "the text of a ledger.json")
    try:
        tree = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise InvalidDataError(f"{source} is not JSON: {_first_line(error)}.") from error
    if not isinstance(tree, dict) or "schema_version" not in tree:
        raise InvalidDataError(f"{source} is not a ledger: it is not a JSON object with a `schema_version`.")
    version = tree["schema_version"]
    if isinstance(version, bool) or version != SCHEMA_VERSION:
        raise InvalidDataError(
            f"{source} has schema version {_shown(version)}; this program reads version {SCHEMA_VERSION}."
        )
    try:
        return Ledger.model_validate(tree)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the top"
        message = first["msg"].rstrip(".")
        raise InvalidDataError(f"{source} does not fit the schema at {place}: {message}.") from error


def load_ledger(path: str | os.PathLike[str]) -> Ledger:
    """Read a ledger file; raises InvalidDataError as `parse_ledger` does, and if the file cannot be read.

    Examples:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from dpverify.auditing import ErrorShare
        >>> from dpverify.ledger import Ledger
        >>> from dpverify.reports import load_ledger, write_ledger
        >>> ledger = Ledger.of_run("make audit", seed=7, budget=ErrorShare(1e-6).record())
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     found = load_ledger(write_ledger(ledger, Path(folder, "ledger.json")))
        >>> found.command, found.seed
        ('make audit', 7)
    """
    of_kind("ledger", path, (str, os.PathLike), "the path of a ledger.json")
    place = Path(path)
    try:
        text = place.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InvalidDataError(f"Ledger {place} is not text in UTF-8.") from error
    except (OSError, ValueError) as error:
        raise InvalidDataError(
            f"Ledger {place} cannot be read: {reason_of(error)}; a ledger.json written by dpverify is needed."
        ) from error
    return parse_ledger(text, f"Ledger {place}")


def write_ledger(ledger: Ledger, path: str | os.PathLike[str]) -> Path:
    """Write a ledger file, whole or not at all; returns its path."""
    of_kind("path", path, (str, os.PathLike), "the path of a file")
    return write_text(ledger_json(ledger), Path(path))


def write_text(text: str, path: Path) -> Path:
    """Write UTF-8 text, whole or not at all, and the folders above it; returns the path.

    Raises InvalidDataError where the place cannot be written to.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, text.encode())
    except OSError as error:
        raise InvalidDataError(f"{path} cannot be written: {error.strerror or error}.") from error
    return path


def without_infinities(value: Any) -> Any:
    """A tree of containers with a text in place of each float that is not finite."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, dict):
        return {key: without_infinities(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [without_infinities(item) for item in value]
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _first_line(error: BaseException) -> str:
    lines = str(error).splitlines()
    return lines[0].rstrip(".") if lines else type(error).__name__


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."
