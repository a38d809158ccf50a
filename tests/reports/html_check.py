"""A small independent reader of HTML that complains where a page is not well made."""

from __future__ import annotations

from html.parser import HTMLParser

VOID = {"meta", "link", "input", "br", "hr", "img"}
BLOCKS = {
    "div",
    "p",
    "ul",
    "ol",
    "dl",
    "table",
    "figure",
    "section",
    "article",
    "pre",
    "details",
    "h2",
    "h3",
    "h4",
}
PARENTS = {
    "li": {"ul", "ol"},
    "dt": {"dl"},
    "dd": {"dl"},
    "tr": {"thead", "tbody"},
    "td": {"tr"},
    "th": {"tr"},
    "thead": {"table"},
    "tbody": {"table"},
    "figcaption": {"figure"},
    "summary": {"details"},
    "option": {"select"},
}


class Page(HTMLParser):
    """Reads a page once; `problems` says what is wrong with it."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.problems: list[str] = []
        self.open: list[str] = []
        self.inside: list[list[str]] = [[]]
        """What each open element, and the page itself, has had as children so far."""
        self.ids: list[str] = []
        self.references: list[str] = []
        self.headings: list[int] = []
        self.addresses: list[str] = []
        self.tags: dict[str, int] = {}
        self.text: list[str] = []
        self.feed(text)
        self.close()
        if self.open:
            self.problems.append(f"left open: {self.open}")
        if len(set(self.ids)) != len(self.ids):
            self.problems.append(f"ids used twice: {sorted({i for i in self.ids if self.ids.count(i) > 1})}")
        for reference in self.references:
            if reference not in self.ids:
                self.problems.append(f"nothing has the id {reference}")
        for before, after in zip(self.headings, self.headings[1:], strict=False):
            if after > before + 1:
                self.problems.append(f"h{after} follows h{before}")

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] = self.tags.get(tag, 0) + 1
        parent = self.open[-1] if self.open else ""
        before = self.inside[-1]
        if parent == "figure" and "figcaption" in before[1:]:
            self.problems.append(f"{tag} behind the caption of a figure")
        before.append(tag)
        if tag in PARENTS and parent not in PARENTS[tag]:
            self.problems.append(f"{tag} inside {parent}")
        if tag in BLOCKS and "p" in self.open:
            self.problems.append(f"{tag} inside a paragraph")
        if parent in {"ul", "ol", "tr", "table", "tbody", "thead", "dl"} and tag not in PARENTS:
            self.problems.append(f"{tag} inside {parent}")
        if len({name for name, _ in attrs}) != len(attrs):
            self.problems.append(f"an attribute of {tag} twice")
        for name, value in attrs:
            text = value or ""
            if name == "id":
                self.ids.append(text)
                if not text or any(character.isspace() for character in text):
                    self.problems.append(f"id {text!r}")
            elif name in {"href", "src", "action", "data", "poster", "srcset"}:
                if text.startswith("#"):
                    self.references.append(text[1:])
                else:
                    self.addresses.append(text)
            elif name in {"aria-labelledby", "aria-controls", "for", "aria-describedby"}:
                self.references.extend(text.split())
            elif name.startswith("on"):
                self.problems.append(f"{tag} has {name}")
            if "url(" in text:
                self.references.append(text.split("url(#")[1].split(")")[0])
        if tag in {"h1", "h2", "h3", "h4", "h5", "h6"}:
            self.headings.append(int(tag[1]))
        if tag not in VOID:
            self.open.append(tag)
            self.inside.append([])

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()
            self.inside.pop()

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open[-1] != tag:
            self.problems.append(f"</{tag}> where {self.open[-1:]} is open")
        if tag in self.open:
            while self.open.pop() != tag:
                self.inside.pop()
            self.inside.pop()

    def handle_data(self, data: str) -> None:
        if not self.open or self.open[-1] not in {"script", "style"}:
            self.text.append(data)

    def words(self) -> str:
        """The text of the page on one line."""
        return " ".join("".join(self.text).split())
