"""The command line, called in this process."""

from __future__ import annotations

from dpverify.cli import main


def call(*arguments: str) -> int:
    """The exit code of `dpverify` with these arguments."""
    try:
        main(list(arguments))
    except SystemExit as stop:
        return int(stop.code or 0)
    return 0
