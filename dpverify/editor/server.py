"""A language server for pages: verdicts at displays, letters completed, the way to what is used.

It speaks the Language Server Protocol over standard input and output. What is found of a page is found in a process
of its own, when the page is opened or saved; the next save ends it.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from pathlib import Path

from lsprotocol import types
from pygls.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path

from dpverify import __version__
from dpverify.editor.text import declared, end_of, id_at, letters_of
from dpverify.ledger.verdicts import Verdict
from dpverify.verification.located.marks import REFUSED, Mark, of_json

_SIGNS = {Verdict.PROVED: "\u2713", Verdict.CERTIFIED: "\u2713", Verdict.UNDECIDED: "?"}
"""What stands before a verdict; a cross, if nothing else does."""
_GRAVE = {
    Verdict.PROVED: None,
    Verdict.CERTIFIED: types.DiagnosticSeverity.Information,
    Verdict.UNDECIDED: types.DiagnosticSeverity.Warning,
}
"""How a display is underlined; as an error, if nothing else is said."""


class PageServer(LanguageServer):
    """The server, and what it has found of the pages that are open."""

    def __init__(self) -> None:
        super().__init__("dpverify", f"v{__version__}")
        self.marks = dict[str, list[Mark]]()
        self.finding = dict[str, asyncio.Task[None]]()

    def lines(self, uri: str) -> list[str]:
        """The text of a page, as it is in the editor."""
        return self.workspace.get_text_document(uri).source.splitlines()

    def find(self, uri: str) -> None:
        """Find what there is to say of a page, instead of what was being found before."""
        if (before := self.finding.pop(uri, None)) is not None:
            before.cancel()
        self.finding[uri] = asyncio.get_running_loop().create_task(self._find(uri))

    async def _find(self, uri: str) -> None:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "dpverify.verification.located.marks", _path(uri),
            stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        try:
            said, wrong = await process.communicate()
        except asyncio.CancelledError:
            process.kill()
            raise
        if process.returncode == 0:
            self.marks[uri] = of_json(said.decode())
        else:
            last = [*wrong.decode(errors="replace").strip().splitlines(), "nothing was said"][-1]
            self.marks[uri] = [Mark(1, "", REFUSED, f"dpverify ended with an error: {last}")]
        self.publish_diagnostics(uri, [*self.diagnostics(uri)])
        self.lsp.send_request(types.WORKSPACE_INLAY_HINT_REFRESH)  # type: ignore[no-untyped-call]

    def range_of(self, uri: str, mark: Mark) -> types.Range:
        """The lines of a mark's display."""
        lines = self.lines(uri)
        last = min(end_of(lines, mark.line), max(1, len(lines)))
        end = types.Position(last - 1, len(lines[last - 1]) if lines else 0)
        return types.Range(types.Position(min(mark.line, last) - 1, 0), end)

    def diagnostics(self, uri: str) -> list[types.Diagnostic]:
        """Displays that are not proved, and what is not read."""
        found = []
        for mark in self.marks.get(uri, []):
            severity = _GRAVE.get(mark.standing, types.DiagnosticSeverity.Error)  # type: ignore[call-overload]
            if severity is not None:
                where = self.range_of(uri, mark)
                found.append(types.Diagnostic(where, _said(mark), severity, source="dpverify"))
        return found


def _path(uri: str) -> str:
    return to_fs_path(uri) or uri


def _said(mark: Mark) -> str:
    head = f"{mark.name}: {mark.standing}" if mark.name else mark.standing
    return "\n".join([f"{head}: {mark.says}" if mark.says else head, *mark.more])


def page_server() -> PageServer:
    """The server, with all that it answers."""
    server = PageServer()

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    async def _(server: PageServer, params: types.DidOpenTextDocumentParams) -> None:
        server.find(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    async def _(server: PageServer, params: types.DidSaveTextDocumentParams) -> None:
        server.find(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    async def _(server: PageServer, params: types.DidCloseTextDocumentParams) -> None:
        uri = params.text_document.uri
        server.marks.pop(uri, None)
        if (task := server.finding.pop(uri, None)) is not None:
            task.cancel()
        server.publish_diagnostics(uri, [])

    @server.feature(types.TEXT_DOCUMENT_INLAY_HINT)
    def _(server: PageServer, params: types.InlayHintParams) -> list[types.InlayHint]:
        uri = params.text_document.uri
        return [
            types.InlayHint(
                server.range_of(uri, mark).end,
                f" {_SIGNS.get(mark.standing, chr(0x2717))} {mark.standing}",  # type: ignore[call-overload]
                tooltip=_said(mark),
            )
            for mark in server.marks.get(uri, [])
        ]

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def _(server: PageServer, params: types.HoverParams) -> types.Hover | None:
        uri, line = params.text_document.uri, params.position.line
        for mark in server.marks.get(uri, []):
            where = server.range_of(uri, mark)
            if where.start.line <= line <= where.end.line:
                return types.Hover(types.MarkupContent(types.MarkupKind.PlainText, _said(mark)), where)
        return None

    @server.feature(
        types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(trigger_characters=["\\", "$", "="])
    )
    def _(server: PageServer, params: types.CompletionParams) -> list[types.CompletionItem]:
        uri = params.text_document.uri
        before = server.lines(uri)[params.position.line][: params.position.character]
        letters = letters_of(server.lines(uri), Path(_path(uri)))
        cut = before.rfind("\\")
        begun = before[cut:] if cut >= 0 and before[cut + 1 :].isalpha() | (cut == len(before) - 1) else ""
        start = types.Position(params.position.line, params.position.character - len(begun))
        where = types.Range(start, params.position)
        return [
            types.CompletionItem(latex, detail=kind, text_edit=types.TextEdit(where, latex))
            for latex, kind in letters.items()
            if latex.startswith(begun)
        ]

    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    def _(server: PageServer, params: types.DefinitionParams) -> types.Location | None:
        uri, at = params.text_document.uri, params.position
        id_ = id_at(server.lines(uri)[at.line], at.character)
        place = declared(id_, Path(_path(uri))) if id_ else None
        if place is None:
            return None
        start = types.Position(place[1] - 1, 0)
        return types.Location(from_fs_path(str(place[0])) or "", types.Range(start, start))

    return server


def serve() -> None:
    """Serve over standard input and output, until the editor ends it."""
    logging.disable(logging.WARNING)  # of pygls, about what it does not know
    page_server().start_io()
