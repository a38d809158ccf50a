"""What a project begins with: a claim that is audited, its data, and a test; or a paper's page, algorithm and audit."""

from __future__ import annotations

import contextlib
import keyword
import re
import tomllib
from collections.abc import Mapping
from importlib import resources
from importlib.util import find_spec
from pathlib import Path

from dpverify.commands.claims.stated_claims import OWN_FILE
from dpverify.errors import InvalidArgumentError, InvalidDataError
from dpverify.files import write_whole
from dpverify.statements.paper import papers

FOLDER = "privacy"


def write_first_claims(folder: Path) -> list[Path]:
    """Write all of it, or nothing, into a folder that has no claims or such files yet; returns what was written."""
    if not folder.is_dir():
        raise InvalidDataError(f"{folder} is not a folder; allowed: an existing one.")
    project, own = folder / "pyproject.toml", folder / OWN_FILE
    place = folder / FOLDER
    texts = {place / name: text for name, text in _texts("first_files.toml").items()}
    there = [path for path in (own, *texts) if path.exists()]
    if place.exists() and not place.is_dir():
        raise InvalidDataError(
            f"{place} is not a folder; allowed: a project without it, or with a folder of that name."
        )
    try:
        before = project.read_text(encoding="utf-8") if project.is_file() else None
    except (OSError, UnicodeError) as error:
        raise InvalidDataError(f"{project} cannot be read; allowed: a text file ({error}).") from error
    if before is not None and "[tool.dpverify]" in before:
        there.insert(0, project)
    if there:
        raise InvalidDataError(f"{there[0]} states claims or exists already; allowed: a project without it.")
    target, content = project, resources.files(__package__).joinpath("first_claims.toml").read_text("utf-8")
    if before is None:  # in a file of its own, its entries stand at the top
        target, content = own, content.replace("[tool.dpverify]\n", "").replace("tool.dpverify.", "")
    elif before:
        content = before + "\n" * (2 - before.endswith("\n") - before.endswith("\n\n")) + content
    _write_all(folder, place, texts | {target: content})
    return [target, *texts]


def _texts(name: str) -> dict[str, str]:
    """What is to be written, by its path."""
    return tomllib.loads(resources.files(__package__).joinpath(name).read_text("utf-8"))


def _write_all(folder: Path, place: Path, texts: Mapping[Path, str]) -> None:
    """Write files into a folder and one in it, or none of them; what exists is changed last, and whole."""
    new, was_there = [path for path in texts if not path.exists()], place.exists()
    try:
        place.mkdir(exist_ok=True)
        for path, text in texts.items():
            write_whole(path, text.encode())
    except OSError as error:
        with contextlib.suppress(OSError):
            for path in new:
                path.unlink(missing_ok=True)
            if not was_there:
                place.rmdir()
        raise InvalidDataError(
            f"{folder} cannot be written to; allowed: a folder that can be ({error})."
        ) from error


def write_first_paper(folder: Path, name: str) -> list[Path]:
    """Write a package with a page, an algorithm and an audit, or nothing; returns what was written.

    Raises:
        InvalidArgumentError: for a name that no new package can have.
        InvalidDataError: for a folder that is none, or in which one of the files exists.
    """
    taken = re.fullmatch("[a-z][a-z0-9_]*", name) is None or keyword.iskeyword(name)
    if taken or name in papers() or (find_spec(name) is not None and not (folder / name).is_dir()):
        allowed = "small letters, digits and _, and no paper or module that there is"
        raise InvalidArgumentError("--paper", name, allowed)
    if not folder.is_dir():
        raise InvalidDataError(f"{folder} is not a folder; allowed: an existing one.")
    found = _texts("first_paper.toml")
    texts = {folder / path.replace("NAME", name): text.replace("NAME", name) for path, text in found.items()}
    there = next((path for path in (folder / name, *texts) if path.exists()), None)
    if there is not None:
        raise InvalidDataError(f"{there} exists already; allowed: a folder without it.")
    _write_all(folder, folder / name, texts)
    return [*texts]
