"""What is kept of a paper while it is read: its statements, their rows, letters and conditions."""

from __future__ import annotations

from dataclasses import dataclass, field

from dpverify.statements.importing.relations import SourceRelation
from dpverify.statements.importing.structure import SourceFormula, SourcePart


@dataclass
class LetterFact:
    """What is said of a letter."""

    domain: str
    line: int
    sure: bool = True
    own: bool = False
    """Whether it is said for one sentence alone."""


@dataclass
class ImportedRow:
    """A formula that is read, with all that its page says of it."""

    latex: str
    file: str
    line: int
    given: list[str] = field(default_factory=list)
    letters: list[str] = field(default_factory=list)
    opaque: dict[str, str] = field(default_factory=dict)
    bound: set[str] = field(default_factory=set)
    """Letters that are indices of sums in it."""
    scalars: set[str] = field(default_factory=set)
    """Letters that are numbers in it, where they seem to be vectors elsewhere."""
    own: dict[str, str] = field(default_factory=dict)
    """Domains that its sentence gives to letters."""
    reading: str = ""
    """Which of two readings is meant: letters that are numbers stand before brackets as factors."""
    questions: list[str] = field(default_factory=list)
    torn: bool = False
    signs: int = 1
    name: str = ""
    guessed: bool = False


@dataclass
class ImportedSection:
    """A statement with its proofs, or some text, with what is read of it."""

    part: SourcePart
    id: str = ""
    proofs: list[SourcePart] = field(default_factory=list)
    rows: list[ImportedRow] = field(default_factory=list)
    facts: dict[str, list[LetterFact]] = field(default_factory=dict)
    meanings: dict[str, str] = field(default_factory=dict)
    conditions: list[tuple[str, int]] = field(default_factory=list)
    """Conditions of all its rows, with their lines."""
    equations: list[tuple[str, str, SourcePart]] = field(default_factory=list)
    """What it defines: the letter, the equation and the part that says so."""
    pending: list[tuple[SourcePart, FoundRelation, list[str]]] = field(default_factory=list)
    """Relations with the conditions of their sentences, until all is known of the letters."""
    recent: list[FoundRelation] = field(default_factory=list)
    """The claims of the last sentence that has some."""
    unsure: bool = False
    """Whether of the list that is read not each item is claimed."""
    contrary: SourcePart | None = None
    """Where something is supposed of which a contradiction is to follow."""
    existing: dict[str, int] = field(default_factory=dict)
    """Letters of which it is said that they exist, with the line where it is."""
    uses: list[str] = field(default_factory=list)
    used: set[str] = field(default_factory=set)
    """Conditions that are in some row."""


@dataclass
class ImportCounts:
    """How many relations there are, and what became of them."""

    relations: int = 0
    read: int = 0
    guessed: int = 0
    refused: int = 0


@dataclass
class FoundRelation:
    """A formula of a sentence, with its role."""

    item: SourceFormula
    relation: SourceRelation
    role: str
    modal: str = ""
    then: bool = False
    """Whether `then` or a semicolon stands between the claim before and it, or between it and the next claim."""
    trailing: bool = False
    doubt: str = ""
    """What is asked about its role."""
