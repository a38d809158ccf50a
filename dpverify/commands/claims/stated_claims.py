"""The claims that a project states in its pyproject.toml, audited under one failure probability."""

from __future__ import annotations

import contextlib
import re
import time
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from dpverify.auditing import ErrorShare
from dpverify.auditing.batches import BatchesRequest, audit_recorded
from dpverify.auditing.requests import Request, audit
from dpverify.auditing.requests.options import OPTIONS, spelled
from dpverify.auditing.requests.request import FAILURE_PROBABILITY
from dpverify.errors import DpverifyError, InvalidArgumentError, InvalidDataError
from dpverify.ledger.document import Ledger, UnauditedClaim
from dpverify.ledger.evidence import BatchesEvidence, PrivacyEvidence
from dpverify.quoting import command_line
from dpverify.views.results import AuditedClaim, SourcePlace

OWN_FILE = "dpverify.toml"
"""Read where there is no pyproject.toml; its entries stand at the top."""


TABLES = ("claims", "batches")
"""Of a project's file: claims about privacy, and recorded batches."""
SHARED = ("failure_probability", "seed", "executor", "store", "time_limit", "memory_limit")
"""Fields of a request that the project states once, for all of its claims."""


@dataclass(frozen=True)
class StatedClaim:
    """One claim, about privacy or recorded batches, with what it is called; about what it is if that is empty."""

    name: str
    request: Request | BatchesRequest


@dataclass(frozen=True)
class Project:
    """All claims, in the order in which they are audited, and what may be spent on them."""

    claims: tuple[StatedClaim, ...] = ()
    failure_probability: float = FAILURE_PROBABILITY
    """With at most this probability is any correct claim called violated."""
    seed: int = 0
    report: str = "build/dpverify"
    """Folder for the ledger."""

    def names(self) -> tuple[str, ...]:
        """A name for each claim, all different."""
        found: list[str] = []
        for one in self.claims:
            name, number = one.name or one.request.about, 1
            while (name if number == 1 else f"{name} ({number})") in found:
                number += 1
            found.append(name if number == 1 else f"{name} ({number})")
        return tuple(found)


def project_file(folder: Path) -> Path:
    """The file in which a folder's project states its claims."""
    for name in ("pyproject.toml", OWN_FILE):
        if (folder / name).is_file() and (name == OWN_FILE or _table(folder / name) is not None):
            return folder / name
    raise InvalidDataError(
        f"{folder.absolute()} has no pyproject.toml with a table [tool.dpverify] and no {OWN_FILE}; allowed: a folder "
        "with one of them, which dpverify init writes."
    )


def read_project(path: Path) -> Project:
    """The project of a pyproject.toml, or of a TOML file whose entries stand at the top.

    An entry is a field of a `Request`, with dashes for underscores. Files are looked for beside the TOML file.
    """
    table = _table(path)
    if table is None:
        raise InvalidDataError(f"{path} has no table [tool.dpverify]; allowed: what dpverify init writes.")
    stated = _fields(str(path), table, (*TABLES, *SHARED, "report"))
    claims, recorded = (_tables(f"{path}: {name}", stated.pop(name, [])) for name in TABLES)
    report = stated.pop("report", Project.report)
    if not isinstance(report, str):
        raise InvalidDataError(f"{path}: report was {report!r}; allowed: a folder.")
    stated |= {"failure_probability": stated.get("failure_probability", FAILURE_PROBABILITY)}
    with _said_of(str(path)):
        _in_folder(stated, path.parent)
        any_claim = Request(
            "any:function", "any.csv", "other.csv", "eps=1", **stated
        )  # what all share is checked
    found = [_claim(f"{path}: claim {k}", one, stated, path.parent) for k, one in enumerate(claims, 1)]
    found += [_batches(f"{path}: batches {k}", one, path.parent) for k, one in enumerate(recorded, 1)]
    named = [one.name for one in found if one.name]
    for name in named:
        if named.count(name) > 1:
            raise InvalidDataError(
                f"{path}: two claims have the name {name!r}; allowed: a name of its own for each."
            )
    return Project(tuple(found), stated["failure_probability"], any_claim.seed, report)


def _tables(where: str, entries: Any) -> list[dict[str, Any]]:
    if not isinstance(entries, list) or not all(isinstance(one, dict) for one in entries):
        raise InvalidDataError(f"{where} was {entries!r}; allowed: a list of tables.")
    return entries


def _name(where: str, own: dict[str, Any]) -> str:
    name = own.pop("name", "")
    if not isinstance(name, str):
        raise InvalidDataError(f"{where}: name was {name!r}; allowed: a text.")
    return name


def _claim(where: str, entry: dict[str, Any], shared: dict[str, Any], folder: Path) -> StatedClaim:
    own = _fields(where, entry, ("name", *(name for name in OPTIONS if name not in SHARED)))
    name = _name(where, own)
    with _said_of(where):
        _in_folder(own, folder)
        # where nothing is run, limits of runs are not about it
        if own.keys() & {"left", "right", "scores", "members"}:
            shared = {key: shared[key] for key in ("failure_probability", "seed") if key in shared}
        return StatedClaim(name, Request(**shared, **own))


def _batches(where: str, entry: dict[str, Any], folder: Path) -> StatedClaim:
    known = [one.name for one in fields(BatchesRequest) if one.init and one.name not in SHARED]
    own = _fields(where, entry, ("name", *known))
    name = _name(where, own)
    with _said_of(where):
        for needed in ("file", "sampling", "records"):
            if needed not in own or (needed == "file" and not isinstance(own[needed], str)):
                raise InvalidArgumentError(needed, own.get(needed), "a value, in quotes where it is a text")
        return StatedClaim(name, BatchesRequest(**own | {"file": str(folder / own["file"])}))


def _in_folder(own: dict[str, Any], folder: Path) -> None:
    """Files are named relative to a folder."""
    for name, value in own.items():
        if OPTIONS[name].kind == "file":
            if not isinstance(value, str):
                raise InvalidArgumentError(name, value, "a file")
            own[name] = str(folder / value)


def _fields(where: str, entry: dict[str, Any], known: Sequence[str]) -> dict[str, Any]:
    """Entries by the names of fields; refused where one is not known."""
    spelled_so = {_spelling(name): name for name in known}
    for key in entry:
        if key not in spelled_so:
            raise InvalidDataError(f"{where}: {key} is not known; allowed: {', '.join(spelled_so)}.")
    return {spelled_so[key]: value for key, value in entry.items()}


def _spelling(name: str) -> str:
    return name.replace("_", "-")


@contextlib.contextmanager
def _said_of(where: str) -> Iterator[None]:
    """Within, what is wrong with fields is said of a place in the file."""
    try:
        with spelled(_spelling):
            yield
    except InvalidArgumentError as error:
        raise InvalidDataError(f"{where}: {error}") from error


def audit_project(
    project: Project,
    *,
    chosen: Sequence[str] = (),
    places: Sequence[SourcePlace] = (),
    tell: Callable[[str], None] = lambda line: None,
) -> tuple[Ledger, list[AuditedClaim]]:
    """Audit all claims, or those chosen by name; each gets an equal part of the failure probability.

    The parts are those of all claims, whatever is chosen. A claim whose audit ends in an error is said so, and the
    others go on. `places` say where each claim is stated, in their order.
    """
    begin, names = time.perf_counter(), project.names()
    for name in chosen:
        if name not in names:
            raise InvalidArgumentError("NAME", name, ", ".join(names) or "no name: no claim is stated")
    if not names:
        allowed = "at least one entry [[tool.dpverify.claims]] or [[tool.dpverify.batches]]"
        raise InvalidDataError(f"No claim is stated; allowed: {allowed}.")
    budget = ErrorShare(project.failure_probability)
    audited: list[AuditedClaim] = []
    stated = places or (None,) * len(names)
    for one, name, share, place in zip(project.claims, names, budget.split(*names), stated, strict=True):
        if chosen and name not in chosen:
            continue
        claim = str(one.request.claim)
        tell(f"{name}: {claim}")
        try:
            found = _answer(one.request, share, tell)
        except DpverifyError as error:
            audited.append(AuditedClaim(name, claim, None, str(error), place))
            continue
        found = found.but(title=f"{name} against {claim}")
        audited.append(AuditedClaim(name, claim, found, place=place))
    ledger = Ledger.of_run(
        command_line("dpverify", "run", *chosen),
        seed=project.seed,
        profile="project",
        entries=[one.found for one in audited if one.found is not None],
        not_audited=[
            UnauditedClaim(called=one.name, claim=one.claim, error=one.error)
            for one in audited
            if one.found is None
        ],
        budget=budget.record(),
        seconds=round(time.perf_counter() - begin, 3),
    )
    return ledger, audited


def _answer(
    request: Request | BatchesRequest, share: ErrorShare, tell: Callable[[str], None]
) -> PrivacyEvidence | BatchesEvidence:
    if isinstance(request, BatchesRequest):
        return audit_recorded(replace(request, failure_probability=share))
    return audit(replace(request, failure_probability=share), tell=tell)


_HEADER = re.compile(r"\s*\[\[\s*(?:tool\s*\.\s*dpverify\s*\.\s*)?(claims|batches)\s*\]\]")
_CLAIM = re.compile(r"\s*(claim|sampling)\s*=")


def claim_places(project: Project, path: Path) -> tuple[SourcePlace, ...]:
    """The lines of a project's file on which its claims are stated; line 1 where they stand in another form."""
    found: dict[str, list[int]] = {name: [] for name in TABLES}
    inside: list[int] | None = None
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if header := _HEADER.match(line):
            inside = found[header[1]]
            inside.append(number)
        elif line.lstrip().startswith("["):
            inside = None
        elif inside and _CLAIM.match(line):
            inside[-1] = number
    lines = [number for name in TABLES for number in found[name]]
    if len(lines) != len(project.claims):
        lines = [1] * len(project.claims)
    return tuple(SourcePlace.of(path, line) for line in lines)


def _table(path: Path) -> dict[str, Any] | None:
    """The entries of a file; None for a pyproject.toml without ours."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeError) as error:
        raise InvalidDataError(f"{path} cannot be read; allowed: a TOML file ({error}).") from error
    except tomllib.TOMLDecodeError as error:
        raise InvalidDataError(f"{path} is not a TOML file: {error}.") from error
    if path.name != "pyproject.toml":
        return content
    tools = content.get("tool")
    found = tools.get("dpverify") if isinstance(tools, dict) else None
    return found if isinstance(found, dict) else None
