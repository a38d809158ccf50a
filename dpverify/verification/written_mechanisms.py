"""A mechanism with its claim, written in Python: what a page of a mechanism says, field by field."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from dpverify.errors import InvalidArgumentError
from dpverify.statements.mechanisms.reading import mechanisms_of
from dpverify.verification.mechanisms import MechanismRow, decide_mechanism, with_guarantee


@dataclass(frozen=True)
class Mechanism:
    """A mechanism and what is claimed of its privacy, in the notation of docs/mechanisms.md.

    Attributes:
        id: its name, such as `my.sum`.
        letters: of the public letters, in LaTeX, the kind, such as `{"n": "integer >= 1", r"\\varepsilon": "> 0"}`.
        records: LaTeX of the first and the last, and their domain, as `$x_1,\\dots,x_n$ in [0, 1]`.
        steps: the lines in the order of pseudo-code, each what it is (`Query`, `Draw`, `Output`, `Claim`, or such
            a word with what stands behind it on a page) and its LaTeX.
        neighbors: adjacency, `replace one` or `add or remove one`.
        given: LaTeX of what is assumed of letters, as `a<b`.
        sample: on which sample it runs, as `each record with probability $p$`; nothing for all records.

    Raises:
        InvalidArgumentError: for a field that would not stand on a page as it is.

    Example:
        >>> from dpverify import Mechanism
        >>> steps = [
        ...     ("Query", r"s=\\sum_{i=1}^{n}x_i"),
        ...     ("Draw", r"y\\sim\\mathrm{Lap}(s,\\frac{1}{2\\varepsilon})"),
        ...     ("Output", "y"),
        ...     ("Claim", r"\\varepsilon\\text{-DP}"),
        ... ]
        >>> letters = {"n": "integer >= 1", r"\\varepsilon": "> 0"}
        >>> found = Mechanism("my.sum", letters, r"$x_1,\\dots,x_n$ in [0, 1]", steps).decide()
        >>> print(found.verdict, found.pair.left, found.pair.right)
        refuted (('0',),) (('1',),)
    """

    id: str
    letters: Mapping[str, str]
    records: str
    steps: Sequence[tuple[str, str]]
    neighbors: str = "replace one"
    given: Sequence[str] = field(default=(), kw_only=True)
    sample: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        """Refuse what is no text, and signs that end a field of a page."""
        for name, value, ends in self._texts():
            wrong = [end for end in ends if isinstance(value, str) and end in value]
            if not isinstance(value, str) or not value.strip() or wrong:
                allowed = f"text in one line{''.join(f', without `{end}`' for end in ends[1:])}"
                raise InvalidArgumentError(name, value, allowed)

    def _texts(self) -> Iterator[tuple[str, object, tuple[str, ...]]]:
        if not isinstance(self.letters, Mapping):
            raise InvalidArgumentError("letters", self.letters, "a dictionary of letters with their kinds")
        for name, rows in (("steps", self.steps), ("given", self.given)):
            if isinstance(rows, str) or not isinstance(rows, Sequence):
                raise InvalidArgumentError(name, rows, "a list")
        yield "id", self.id, ("\n", "}", " ")
        for latex, kind in self.letters.items():
            yield from ((name, text, ("\n", "|")) for name, text in (("letters", latex), ("kind", kind)))
        yield from (("records", self.records, ("\n",)), ("neighbors", self.neighbors, ("\n", "$")))
        yield from (("given", one, ("\n", "$")) for one in self.given)
        yield from (("sample", one, ("\n",)) for one in [self.sample] if one != "")
        for step in self.steps:
            if isinstance(step, str) or not isinstance(step, Sequence) or len(step) != 2:
                raise InvalidArgumentError(
                    "steps", step, r"pairs such as `('Draw', r'y\sim\mathrm{Lap}(s,1)')`"
                )
            yield from (("steps", step[0], ("\n",)), ("steps", step[1], ("\n", "$")))

    @property
    def page(self) -> str:
        """Its page, in Markdown, as `dpverify prove` takes it."""
        lines = [f"## {self.id} {{#{self.id}}}", "", "| letter | kind |", "| --- | --- |"]
        lines += [f"| ${latex}$ | {kind} |" for latex, kind in self.letters.items()]
        lines += ["", f"- records: {self.records}", f"- neighbors: {self.neighbors}"]
        lines += [f"- given: ${one}$" for one in self.given]
        lines += ["", f"Subsample ({self.sample}):"] if self.sample else []
        for what, latex in self.steps:
            lines += ["", f"{what}:", f"$${latex}$$"]
        return "\n".join([*lines, ""])

    def decide(self, *, audit: bool = False) -> MechanismRow:
        """Prove the claim, or find two data sets that break it.

        Args:
            audit: audit its draws, made by a generator, where it is neither proved nor refuted.

        Raises:
            PageError: for a field that is not understood, with the line of `page`.
        """
        (one,) = mechanisms_of(self.page, self.id)
        return with_guarantee(decide_mechanism(one, self.id, audit), one)
