"""The language server, over its protocol, and what it says of pages."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Timer
from typing import Any

import pytest

from dpverify.commands.read import read
from dpverify.commands.statements import prove
from dpverify.editor.text import declared, end_of, id_at, letters_of
from dpverify.errors import InvalidArgumentError
from dpverify.verification.located.marks import REFUSED, marks_found, marks_read, refused

pytest.importorskip("pygls")

from lsprotocol import types
from pygls.lsp.client import BaseLanguageClient

PAGE = r"""# A page

| letter | domain | meaning |
| --- | --- | --- |
| $\varepsilon$ | (0, 1) | budget |

## Mine {#my.lemma}

- uses: bst14.thm2.1

A bound:
$$e^{\varepsilon}-1\ge\varepsilon$$

Another:
$$e^{\varepsilon}
\le 2$$
"""
THEOREM = r"""## A sum {#my.sum}

| letter | kind |
| --- | --- |
| $x$ | real |

Assume: $$0\le x$$

Step:
$$x\le 0$$

Then:
$$0\le x+1$$
"""
FALSE, END = 14, 15
"""Its false display, by lines from 0."""


class Editor:
    """What an editor sees."""

    def __init__(self, client: BaseLanguageClient, page: Path) -> None:
        self.client, self.page = client, page
        self.document = types.TextDocumentIdentifier(page.as_uri())
        self.said: asyncio.Queue[list[types.Diagnostic]] = asyncio.Queue()

        @client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)  # type: ignore[untyped-decorator]
        def _(params: types.PublishDiagnosticsParams) -> None:
            self.said.put_nowait(params.diagnostics)

        @client.feature(types.WORKSPACE_INLAY_HINT_REFRESH)  # type: ignore[untyped-decorator]
        def _(params: None) -> None:
            return None

    async def open(self) -> None:
        """Start the server and open the page."""
        await self.client.start_io(sys.executable, "-m", "dpverify", "language-server")
        await self.client.initialize_async(types.InitializeParams(types.ClientCapabilities()))
        text = self.page.read_text(encoding="utf-8")
        item = types.TextDocumentItem(self.page.as_uri(), "markdown", 1, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))

    async def save(self, text: str) -> None:
        """Write another text and save it."""
        whole = types.TextDocumentContentChangeEvent_Type2(text)
        of = types.VersionedTextDocumentIdentifier(2, self.page.as_uri())
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(of, [whole]))
        self.page.write_text(text, encoding="utf-8")
        self.client.text_document_did_save(types.DidSaveTextDocumentParams(self.document))

    async def ask(self, kind: str, line: int, column: int) -> Any:
        """Ask something about a place."""
        params = getattr(types, f"{kind.title().replace('_', '')}Params")
        asked = getattr(self.client, f"text_document_{kind}_async")
        return await asked(params(self.document, types.Position(line, column)))


def _with(page: Path, work: Callable[[Editor], Any]) -> None:
    async def run() -> None:
        client = BaseLanguageClient("test", "1")
        editor = Editor(client, page)
        await editor.open()
        await work(editor)
        await client.shutdown_async(None)
        client.exit(None)
        await client.stop()

    asyncio.run(run())


def test_a_false_display_is_underlined_and_the_mended_one_is_not(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE, encoding="utf-8")

    async def work(editor: Editor) -> None:
        (found,) = await editor.said.get()
        assert (found.range.start.line, found.range.end.line) == (FALSE, END)
        assert found.severity is types.DiagnosticSeverity.Error
        assert "refuted" in found.message
        assert "false for" in found.message
        whole = types.Range(types.Position(0, 0), types.Position(END + 1, 0))
        hints = await editor.client.text_document_inlay_hint_async(
            types.InlayHintParams(editor.document, whole)
        )
        assert {(hint.position.line, hint.label) for hint in hints} == {
            (11, " \u2713 proved"), (END, " \u2717 refuted"),
        }  # fmt: skip
        hover = await editor.ask("hover", FALSE, 3)
        assert "false for" in hover.contents.value
        assert await editor.ask("hover", 2, 3) is None
        (letter,) = await editor.ask("completion", FALSE, 6)
        assert (letter.label, letter.detail) == (r"\varepsilon", "(0, 1) budget")
        place = await editor.ask("definition", 8, 12)
        text = Path(place.uri.removeprefix("file://")).read_text(encoding="utf-8").splitlines()
        assert text[place.range.start.line].endswith("{#bst14.thm2.1}")
        await editor.save(PAGE.replace("\\le 2", "\\le 3"))
        assert await editor.said.get() == []
        await editor.save(PAGE.replace("\\ge", "\\ge\\nonsense"))
        (found,) = await editor.said.get()
        assert found.range.start.line == 11
        assert "nonsense" in found.message

    _with(page, work)


def test_pages_of_all_kinds_have_marks(tmp_path: Path) -> None:
    examples = Path(__file__).parents[2] / "docs" / "examples"
    page = tmp_path / "false.md"
    text = (examples / "clipped-sum.md").read_text(encoding="utf-8")
    page.write_text(text.replace(r"\frac{1}{\varepsilon}", r"\frac{1}{2\varepsilon}"), encoding="utf-8")
    (mark,) = marks_found(page)
    assert mark.standing == "refuted"
    assert text.splitlines()[mark.line - 1] == r"$$y\sim\mathrm{Lap}(s,\frac{1}{\varepsilon})$$"
    assert any("its probability" in line for line in mark.more)
    assert [mark.name.split(", ")[1] for mark in marks_read(page)] == ["query", "draw", "output", "claim"]
    theorem = tmp_path / "theorem.md"
    theorem.write_text(THEOREM, encoding="utf-8")
    assert [(mark.line, mark.standing) for mark in marks_found(theorem)] == [
        (10, "undecided"),
        (13, "undecided"),
    ]
    assert [mark.name for mark in marks_read(theorem)] == [
        "my.sum, assumption", "my.sum, step", "my.sum, claim"
    ]  # fmt: skip
    theorem.write_text(THEOREM.replace(r"x\le 0$$", r"-1\le x$$"), encoding="utf-8")
    assert [(mark.line, mark.standing) for mark in marks_found(theorem)] == [(13, "proved")]


def test_a_page_that_is_watched_is_proved_again(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE.replace("\\le 2", "\\nonsense 2"), encoding="utf-8")
    asked = [sys.executable, "-m", "dpverify", "prove", "--watch", str(page)]
    with subprocess.Popen(asked, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout is not None
        guard = Timer(300, process.kill)  # so that nothing is waited for in vain
        guard.start()
        try:
            assert any(
                "nonsense" in line for line in process.stdout
            )  # it goes on behind a page that is refused
            page.write_text(PAGE, encoding="utf-8")
            assert any(line.startswith("Mine: refuted") for line in process.stdout)
        finally:
            guard.cancel()
            process.kill()
    with pytest.raises(InvalidArgumentError, match="pages of your own"):
        prove(["theorems"], watch=True)


def test_what_is_read_is_printed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE, encoding="utf-8")
    read(str(page))
    assert capsys.readouterr().out.splitlines()[-1] == (
        "15\tmy.lemma/Another\tfor all real varepsilon in (0, 1): exp(varepsilon) <= 2"
    )
    with pytest.raises(InvalidArgumentError, match="beside a function"):
        read(str(page), domain="[0, 1]")


def test_all_that_a_page_is_refused_for_has_its_line(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        PAGE.replace(r"\ge\varepsilon", r"\ge\tau").replace(r"\le 2", r"\le\kappa"), encoding="utf-8"
    )
    found = marks_found(page)
    assert [(mark.line, mark.standing) for mark in found] == [(12, REFUSED), (15, REFUSED)]
    assert refused(InvalidArgumentError("page", "x", "y"))[0].line == 1
    with pytest.raises(InvalidArgumentError, match="a Markdown page"):
        marks_read(tmp_path / "none.txt")


def test_questions_about_text(tmp_path: Path) -> None:
    lines = PAGE.splitlines()
    assert (end_of(lines, 12), end_of(lines, 15), end_of(lines, 1), end_of(lines, 99)) == (12, 16, 1, 99)
    assert letters_of(lines, tmp_path / "page.md") == {r"\varepsilon": "(0, 1) budget"}
    assert (id_at("by `theorem.weaker`", 8), id_at("by nothing", 4)) == ("theorem.weaker", "")
    place = declared("theorem.weaker", tmp_path / "page.md")
    assert place is not None
    assert "{#theorem.weaker}" in place[0].read_text(encoding="utf-8").splitlines()[place[1] - 1]
    assert declared("no.such-id", tmp_path / "page.md") is None
