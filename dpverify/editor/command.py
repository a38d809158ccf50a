"""The command `dpverify language-server`."""

from __future__ import annotations

from importlib.util import find_spec

from dpverify import extras


def language_server() -> None:
    """Serve an editor that speaks the Language Server Protocol.

    For Markdown pages of your own: a mark at each display once the page is opened or saved (proved, false with its
    counterexample, not read), letters completed, and the way from an id to its statement. An editor starts it, and
    speaks to it over standard input and output (docs/how-to/editor.md). Needs the extra `editor`.
    """
    extras.require("dpverify language-server", "prove")
    if find_spec("pygls") is None:
        raise extras.missing("dpverify language-server", {"editor": ["pygls"]})
    from dpverify.editor.server import serve

    serve()
