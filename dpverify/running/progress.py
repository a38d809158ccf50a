"""How a long run tells how far it is, without printing anything itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Protocol, TypeVar

from dpverify.checks import with_attribute

if TYPE_CHECKING:
    from rich.console import Console


class Progress(Protocol):
    """Called from the process that started the run, in order; `finish` also after an error."""

    def start(self, total: int) -> None:
        """So many runs will be done."""

    def advance(self, runs: int) -> None:
        """So many more runs are done, by computing them or from the store."""

    def finish(self) -> None:
        """No more runs will come."""


def checked_progress(progress: object) -> None:
    """Refuse what cannot be told how far a run is; None is nobody."""
    if progress is not None:
        with_attribute("progress", progress, "start")


T = TypeVar("T")

_of_steps: ContextVar[Progress | None] = ContextVar("of_steps", default=None)


@contextmanager
def steps_told_to(progress: Progress | None) -> Iterator[None]:
    """Within, and in this thread, the steps of a single long run are told, by mechanisms that use `told`."""
    token = _of_steps.set(progress)
    try:
        yield
    finally:
        _of_steps.reset(token)
        if progress is not None:
            progress.finish()


def told(steps: Sequence[T]) -> Iterator[T]:
    """The steps in order, each told when it is done, where somebody listens."""
    listener = _of_steps.get()
    if listener is not None:
        listener.start(len(steps))
    for one in steps:
        yield one
        if listener is not None:
            listener.advance(1)


class RichProgress:
    """A bar on a console, standard error unless another is given."""

    def __init__(self, title: str, console: Console | None = None) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        self._bar = Bar(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=console if console is not None else Console(stderr=True),
            transient=True,
        )
        self._task = self._bar.add_task(title, total=None)

    def start(self, total: int) -> None:
        self._bar.update(self._task, total=total)
        self._bar.start()

    def advance(self, runs: int) -> None:
        self._bar.advance(self._task, runs)

    def finish(self) -> None:
        self._bar.stop()
