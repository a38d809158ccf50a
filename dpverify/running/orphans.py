"""Worker processes that end when the program that started them is gone, however it went."""

from __future__ import annotations

import os
import threading
import time

_LOOKS = 0.25
"""Seconds between two looks at who the parent is."""


def end_with_parent(parent: int) -> None:
    """Let this process end soon after the process `parent`, which started it, has ended.

    A signal at the parent's death, as Linux has it, comes when the thread ends that started the process; so a thread
    looks instead. Where the system has no new parent for an orphan, nothing happens.
    """

    def look() -> None:
        while os.getppid() == parent:
            time.sleep(_LOOKS)
        os._exit(1)

    if hasattr(os, "getppid") and os.getppid() != os.getpid():
        threading.Thread(target=look, name="end with parent", daemon=True).start()
