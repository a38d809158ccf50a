"""Files that appear with their whole content or not at all."""

from __future__ import annotations

import os
import secrets
from pathlib import Path


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that no reader ever sees a part of it, even if the program or the power fails.

    A link is followed, and stays one. What is no regular file (a pipe, /dev/stdout) is written to as it is: it cannot
    be replaced. A new file gets the permissions that the user's umask leaves.

    Raises:
        OSError: if the place cannot be written to; nothing is left behind then.
    """
    if path.exists() and not path.is_file():
        with path.open("wb") as stream:
            stream.write(content)
        return
    target = Path(os.path.realpath(path))
    aside = target.with_name(f".{target.name[:100]}.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        with aside.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(aside, target)
    finally:
        aside.unlink(missing_ok=True)
    if os.name == "posix":
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
