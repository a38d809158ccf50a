"""The claims that a project states in its pyproject.toml, audited under one failure probability."""

from __future__ import annotations

import re
import time
import tomllib
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from dpverify import __version__
from dpverify.auditing import ErrorShare
from dpverify.errors import DpverifyError, InvalidArgumentError, InvalidDataError
from dpverify.ledger.document import Ledger
from dpverify.ledger.evidence import PrivacyEvidence
from dpverify.quoting import command_line
from dpverify.running import Limits, Target
from dpverify.versions import library_versions
from dpverify.views.results import AuditedClaim, SourcePlace

OWN_FILE = "dpverify.toml"
"""Read where there is no pyproject.toml; its entries stand at the top."""


class _Strict(BaseModel):
    model_config = ConfigDict(
        extra="forbid", frozen=True, alias_generator=lambda name: name.replace("_", "-"), strict=False
    )


class StatedClaim(_Strict):
    """One claim: about a function, an estimator, a command, or samples in files.

    Attributes:
        claim: such as "eps=1,delta=1e-5".
        name: how it is called; what it is about if empty.
        function: `package.module:function`.
        command: a program in any language.
        left: file of samples on one data set.
        right: file of samples on its neighbor.
        attribute: of a fitted estimator.
        structure: `package.module:function` that states the steps, for a white-box audit.
        data: CSV file with a data set.
        neighbor: CSV file with its neighbor.
        pair: JSON file of a pair that a search found, instead of both.
        adjacency: how the data sets differ; by default one record is replaced, and for samples as given.
        runs: on each data set, at most.
        delta: where epsilon is bounded.
        allow_equal: outputs are meant to be equal, which leaves a claim undecided otherwise.
    """

    claim: str
    name: str = ""
    function: str | None = None
    command: str | None = None
    left: str | None = None
    right: str | None = None
    attribute: tuple[str, ...] = ()
    structure: str | None = None
    data: str | None = None
    neighbor: str | None = None
    pair: str | None = None
    adjacency: str | None = None
    runs: int = Field(default=20_000, ge=16)
    delta: float | None = Field(default=None, ge=0, lt=1)
    allow_equal: bool = False

    @property
    def about(self) -> str:
        """What is audited."""
        return self.function or self.command or f"{self.left} and {self.right}"


class Project(_Strict):
    """All claims, and what may be spent on them.

    Attributes:
        claims: in the order in which they are audited.
        failure_probability: with at most this probability is any correct claim called violated.
        seed: of all audits.
        report: folder for the ledger.
        time_limit: seconds for importing a function and for each call.
        memory_limit: GiB for each of its processes.
    """

    claims: tuple[StatedClaim, ...] = ()
    failure_probability: float = Field(default=1e-3, gt=0, lt=1)
    seed: int = Field(default=0, ge=0)
    report: str = "build/dpverify"
    time_limit: float = Field(default=600.0, gt=0, le=1e6)
    memory_limit: float = Field(default=4.0, ge=0.0625, le=2**20)

    def names(self) -> tuple[str, ...]:
        """A name for each claim, all different."""
        found: list[str] = []
        for one in self.claims:
            name, number = one.name or one.about, 1
            while (name if number == 1 else f"{name} ({number})") in found:
                number += 1
            found.append(name if number == 1 else f"{name} ({number})")
        return tuple(found)


def project_file(folder: Path) -> Path:
    """The file in which a folder's project states its claims.

    Raises:
        InvalidDataError: if there is none.
    """
    for name in ("pyproject.toml", OWN_FILE):
        if (folder / name).is_file() and (name == OWN_FILE or _table(folder / name) is not None):
            return folder / name
    raise InvalidDataError(
        f"{folder.absolute()} has no pyproject.toml with a table [tool.dpverify] and no {OWN_FILE}; allowed: a folder "
        "with one of them, which dpverify init writes."
    )


def read_project(path: Path) -> Project:
    """The project of a pyproject.toml, or of a TOML file whose entries stand at the top.

    Raises:
        InvalidDataError: for a file that cannot be read, and an entry that is not known or not allowed.
    """
    table = _table(path)
    if table is None:
        raise InvalidDataError(f"{path} has no table [tool.dpverify]; allowed: what dpverify init writes.")
    try:
        project = Project.model_validate(table)
    except ValidationError as error:
        raise InvalidDataError(f"{path}: {_first(error)}") from error
    for one, name in zip(project.claims, project.names(), strict=True):
        _check(one, f"{path}: claim {name!r}")
    return project


def audit_project(
    project: Project,
    *,
    chosen: Sequence[str] = (),
    folder: Path,
    places: Sequence[SourcePlace] = (),
    tell: Callable[[str], None] = lambda line: None,
) -> tuple[Ledger, list[AuditedClaim]]:
    """Audit all claims, or those chosen by name; each gets an equal part of the failure probability.

    The parts are those of all claims, whatever is chosen. A claim whose audit ends in an error is said so, and the
    others go on.

    Args:
        project: the claims.
        chosen: names of claims; all if empty.
        folder: the files' names are relative to it.
        places: where each claim is stated, in their order.
        tell: gets a line now and then.

    Raises:
        InvalidArgumentError: for a name that is none of a claim.
    """
    begin, names = time.perf_counter(), project.names()
    for name in chosen:
        if name not in names:
            raise InvalidArgumentError("NAME", name, ", ".join(names) or "no name: no claim is stated")
    if not names:
        raise InvalidDataError("No claim is stated; allowed: at least one entry [[tool.dpverify.claims]].")
    budget = ErrorShare(project.failure_probability)
    audited: list[AuditedClaim] = []
    stated = places or (None,) * len(names)
    for one, name, share, place in zip(project.claims, names, budget.split(*names), stated, strict=True):
        if chosen and name not in chosen:
            continue
        tell(f"{name}: {one.claim}")
        try:
            found = _audit(project, one, share.failure_probability, folder, tell)
        except DpverifyError as error:
            audited.append(AuditedClaim(name, one.claim, None, str(error), place))
            continue
        if found.spent():
            share.settle(found.spent())
        found = found.model_copy(update={"title": f"{name} against {one.claim}"})
        audited.append(AuditedClaim(name, one.claim, found, place=place))
    ledger = Ledger(
        program_version=__version__,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        command=command_line("dpverify", "run", *chosen),
        seed=project.seed,
        profile="project",
        versions=library_versions(),
        statements=(),
        entries=tuple(one.found for one in audited if one.found is not None),
        budget=budget.record(),
        seconds=round(time.perf_counter() - begin, 3),
    )
    return ledger, audited


_HEADER = re.compile(r"\s*\[\[\s*(?:tool\s*\.\s*dpverify\s*\.\s*)?claims\s*\]\]")
_CLAIM = re.compile(r"\s*claim\s*=")


def claim_places(project: Project, path: Path) -> tuple[SourcePlace, ...]:
    """The lines of a project's file on which its claims are stated; line 1 where they stand in another form."""
    file = path.absolute()
    shown = (file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else file).as_posix()
    lines: list[int] = []
    inside = False
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if _HEADER.match(line):
            lines.append(number)
            inside = True
        elif line.lstrip().startswith("["):
            inside = False
        elif inside and _CLAIM.match(line):
            lines[-1] = number
    if len(lines) != len(project.claims):
        lines = [1] * len(project.claims)
    return tuple(SourcePlace(shown, line) for line in lines)


def _audit(
    project: Project, one: StatedClaim, share: float, folder: Path, tell: Callable[[str], None]
) -> PrivacyEvidence:
    if one.left is not None and one.right is not None:
        from dpverify.verification.sample_audits import audit_samples

        return audit_samples(
            folder / one.left,
            folder / one.right,
            claim=one.claim,
            failure_probability=share,
            seed=project.seed,
            adjacency=one.adjacency,
            delta=one.delta,
            allow_equal=one.allow_equal,
        )
    from dpverify.verification.user_audits import (
        FunctionQuestion,
        audit_function_sequentially,
        audit_function_white_box,
    )

    data, neighbor, adjacency = one.data, one.neighbor, one.adjacency or "replace-one"
    if one.pair is not None:
        from dpverify.auditing.neighbors import load_pair

        data = neighbor = one.pair
        adjacency = load_pair(folder / one.pair).adjacency.value
    question = FunctionQuestion(
        Target(one.about, one.attribute, command=one.command is not None),
        folder / str(data),
        folder / str(neighbor),
        claim=one.claim,
        runs=one.runs,
        failure_probability=share,
        seed=project.seed,
        adjacency=adjacency,
        limits=Limits(project.time_limit, int(project.memory_limit * 2**30)),
        delta=one.delta,
        allow_equal=one.allow_equal,
    )
    if one.structure is not None:
        return audit_function_white_box(question, one.structure)
    return audit_function_sequentially(question, tell=tell)


def _check(one: StatedClaim, where: str) -> None:
    """Refuse entries that do not go together.

    Raises:
        InvalidDataError: naming them.
    """
    subjects = {"function": one.function, "command": one.command, "left and right": one.left or one.right}
    given = [name for name, value in subjects.items() if value is not None]
    if len(given) != 1:
        said = " and ".join(given) or "nothing"
        raise InvalidDataError(f"{where} is about {said}; allowed: one of {', '.join(subjects)}.")
    samples = given == ["left and right"]
    if samples and None in (one.left, one.right):
        raise InvalidDataError(f"{where} names samples on one side only; allowed: both left and right.")
    for name in ("data", "neighbor", "pair", "structure"):
        if samples and getattr(one, name) is not None:
            raise InvalidDataError(
                f"{where} has {name}; allowed: no {name} with samples, which are drawn already."
            )
    if one.attribute and one.function is None:
        raise InvalidDataError(
            f"{where} has attribute; allowed: with a function that is or makes an estimator."
        )
    if samples:
        return
    if (one.pair is None) == (one.data is None and one.neighbor is None):
        raise InvalidDataError(f"{where} needs its data sets; allowed: data and neighbor, or pair.")
    if one.pair is None and None in (one.data, one.neighbor):
        raise InvalidDataError(f"{where} names one data set; allowed: both data and neighbor.")
    if one.pair is not None and one.adjacency is not None:
        raise InvalidDataError(f"{where} has adjacency; allowed: none with a pair, whose file says it.")


def _table(path: Path) -> dict[str, Any] | None:
    """The entries of a file; None for a pyproject.toml without ours."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeError) as error:
        raise InvalidDataError(f"{path} cannot be read; allowed: a TOML file ({error}).") from error
    except tomllib.TOMLDecodeError as error:
        raise InvalidDataError(f"{path} is no TOML file: {error}.") from error
    if path.name != "pyproject.toml":
        return content
    tools = content.get("tool")
    found = tools.get("dpverify") if isinstance(tools, dict) else None
    return found if isinstance(found, dict) else None


def _first(error: ValidationError) -> str:
    """The first thing that is wrong, in one sentence."""
    one = error.errors()[0]
    place = " ".join(str(part + 1) if isinstance(part, int) else part for part in one["loc"])
    if one["type"] == "extra_forbidden":
        model: type[BaseModel] = StatedClaim if one["loc"][0] == "claims" else Project
        known = ", ".join(str(field.alias) for field in model.model_fields.values())
        return f"{place} is not known; allowed: {known}."
    if one["type"] == "missing":
        return f"{place} is missing; allowed: a value for it."
    message = one["msg"].removeprefix("Input should be ").partition(", unable to")[0]
    message = "a list" if message == "a valid tuple" else message
    message = (
        ("a number " if message.startswith(("greater", "less")) else "") + message[0].lower() + message[1:]
    )
    return f"{place} was {one['input']!r}; allowed: {message}."
