"""When Python looks for garbage."""

from __future__ import annotations

import gc


def look_for_garbage_rarely() -> None:
    """Let a process that is this program's own look for garbage in cycles after 100,000 new objects, not after 700.

    Formulas are many small objects that stay; to go through them again and again takes a twentieth of the time.
    """
    gc.set_threshold(100_000, 20, 20)
