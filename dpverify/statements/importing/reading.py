"""The sentences of a paper as rows: what each formula is there for, under which conditions, about which letters."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from dpverify.errors import InvalidArgumentError
from dpverify.formulas.expressions import Variable
from dpverify.formulas.units import DIMENSIONLESS
from dpverify.statements.importing.relations import (
    SIGNS,
    SourceRelation,
    UnreadError,
    cleaned,
    relations_of,
)
from dpverify.statements.importing.source import latex_of
from dpverify.statements.importing.structure import (
    SourceFormula,
    SourceItem,
    SourcePart,
    SourceReference,
    SourceWord,
)
from dpverify.statements.importing.terms import Functions, parts_of, terms_of, written
from dpverify.statements.pages.letters import read_domain, single
from dpverify.statements.sheet import Sheet

_ROLES = {
    **dict.fromkeys(
        "let suppose assume assuming if for when whenever where given provided fix every all any each with consider "
        "choose set setting pick take letting define defining defined denote denoting put such call".split(),
        "condition",
    ),
    **dict.fromkeys(
        "then have has obtain get gives give yields yield thus hence therefore so implies imply satisfies satisfy "
        "follows holds conclude is are shows show that since because note observe know find see prove claim namely which "
        "means equals equivalently recall consequently using moreover compute write bound bounded bounds".split(),
        "claim",
    ),
    **dict.fromkeys("of by to from in as on under between at than".split(), ""),
}  # fmt: skip
"""What a formula is there for, by the nearest word of these before it."""
_KEEPING_THAT = frozenset(("suppose", "assume", "assuming", "such", "provided", "given"))
_REFUSING = re.compile(
    r"(?<!\w)(exists?|for some|there (is|are) (\w+ ){0,3}\$|with (high )?probability|w\.?h\.?p|w\.p|sufficiently|(large|small) enough|not|"
    r"cannot|false|contradict\w*|unless|except|neither|nor|never|fails?|approximately|roughly|asymptotically|almost|"
    r"if and only if|iff|in expectation|on average|conjecture\w*|wrong|either|otherwise|no longer|"
    r"up to|unlike|should|might|may|could|would|hope)(?!\w)"
)
_PARTING = frozenset(
    "let and or be is are for with where such that suppose assume fix then so if when all every any each".split()
)
"""Words that part what is said of one letter from what is said of another."""
_TRAILING = frozenset(
    ("for", "if", "when", "whenever", "where", "provided", "with", "given", "every", "all", "any", "such")
)

DOMAINS = {
    **dict.fromkeys(("n", "m", "k", "d", "T", "N", "K", "t", "i", "j", "s"), "integer >= 1"),
    r"\epsilon": "> 0", r"\varepsilon": "> 0", r"\delta": "(0, 1)", r"\alpha": "> 1", r"\sigma": "> 0", r"\eta": "> 0",
    "L": "> 0", r"\beta": "> 0", r"\mu": "> 0", r"\lambda": "> 0", r"\rho": ">= 0", r"\Delta": "> 0", "p": "[0, 1]",
    "q": "[0, 1]", r"\gamma": "> 0", "R": "> 0", "D": "> 0", "G": "> 0", "b": "> 0", "c": "> 0",
}  # fmt: skip
"""What is guessed of a letter of which nothing is said, by its name; of all others, that it is real."""
_KINDS = {
    r"\mathbb{R}": "real", r"\mathbb{Z}": "integer", r"\mathbb{N}": "integer >= 0", r"\mathbb{N}_{+}": "integer >= 1",
    r"\mathbb{N}^{+}": "integer >= 1", r"\mathbb{N}_{>0}": "integer >= 1", r"\mathbb{Z}_{>0}": "integer >= 1",
    r"\mathbb{Z}^{+}": "integer >= 1", r"\mathbb{Z}_{+}": "integer >= 1", r"\mathbb{R}_{+}": ">= 0",
    r"\mathbb{R}^{+}": ">= 0", r"\mathbb{R}_{\ge0}": ">= 0", r"\mathbb{R}_{>0}": "> 0", r"\mathbb{Z}_{\ge0}": "integer >= 0",
    r"\{0,1\}": "integers in [0, 1]",
}  # fmt: skip
_UNCERTAIN = frozenset((r"\mathbb{N}", r"\mathbb{R}_{+}", r"\mathbb{R}^{+}"))
"""Of which it is not agreed whether 0 is in them."""
_INTERVAL = re.compile(r"([\[(])(-?[\d./]+|-\\infty),(-?[\d./]+|\+?\\infty)([\])])")
LAW = r"\\mathbb ?\{?E|\\mathbf ?\{?E|E\[|\\operatorname\{(?:E|Cov|Ent|KL)\}"
"""Beginnings of terms that are numbers wherever they stand."""
_BOUND = {"<": "<", ">": ">", r"\le": "<=", r"\ge": ">="}
_TURNED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}


@dataclass
class Fact:
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
    step: bool
    given: list[str] = field(default_factory=list)
    letters: list[str] = field(default_factory=list)
    opaque: dict[str, str] = field(default_factory=dict)
    bound: set[str] = field(default_factory=set)
    """Letters that are indices of sums in it."""
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
class Section:
    """A statement with its proofs, or some text, with what is read of it."""

    part: SourcePart
    id: str = ""
    proofs: list[SourcePart] = field(default_factory=list)
    rows: list[ImportedRow] = field(default_factory=list)
    facts: dict[str, list[Fact]] = field(default_factory=dict)
    meanings: dict[str, str] = field(default_factory=dict)
    conditions: list[tuple[str, int]] = field(default_factory=list)
    """Conditions of all its rows, with their lines."""
    equations: list[tuple[str, str, SourcePart]] = field(default_factory=list)
    """What it defines: the letter, the equation and the part that says so."""
    pending: list[tuple[SourcePart, _Found, list[str]]] = field(default_factory=list)
    """Relations with the conditions of their sentences, until all is known of the letters."""
    uses: list[str] = field(default_factory=list)
    used: set[str] = field(default_factory=set)
    """Conditions that are in some row."""


@dataclass
class Counts:
    """How many relations there are, and what became of them."""

    relations: int = 0
    read: int = 0
    guessed: int = 0
    refused: int = 0


@dataclass
class Reader:
    """Reads the parts of a paper."""

    parts: Sequence[SourcePart]
    key: str
    counts: Counts = field(default_factory=Counts)
    refusals: list[tuple[str, int, str, str]] = field(default_factory=list)
    """File, line, formula and reason."""
    sections: list[Section] = field(default_factory=list)
    functions: Functions = field(default_factory=Functions)
    everywhere: dict[str, list[Fact]] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    tried: dict[object, str] = field(default_factory=dict)

    def run(self) -> None:
        """Read all."""
        formulas = [i for p in self.parts for s in p.sentences for i in s if isinstance(i, SourceFormula)]
        for formula in formulas:
            try:
                self.functions.see(parts_of(latex_of(cleaned(formula.tokens))))
            except UnreadError:
                continue
        self.arrange()
        for section in self.sections:
            for part in (section.part, *section.proofs):
                for sentence in part.sentences:
                    self.introduce(section, part, sentence)
        for section in self.sections:
            for part in (section.part, *section.proofs):
                for sentence in part.sentences:
                    _Sentence(self, section, part, sentence).read()
        for section in self.sections:
            for part, found, _ in section.pending:
                if found.role == "condition":
                    self.note(section, part, found)
        for section in self.sections:
            for part, found, given in section.pending:
                (self.condition if found.role == "condition" else self.claim)(section, part, found, given)

    def arrange(self) -> None:
        """Statements with their proofs; ids by labels."""
        by_label: dict[str, Section] = {}
        last: Section | None = None
        for part in self.parts:
            if part.kind == "proof" and (of := by_label.get(part.of, last)) is not None:
                of.proofs.append(part)
                continue
            section = Section(part)
            self.sections.append(section)
            by_label |= dict.fromkeys(part.labels, section)
            if part.kind == "statement":
                last = section
        taken = Counter[str]()
        for section in self.sections:
            said = (
                section.part.labels[0]
                if section.part.labels and section.part.kind == "statement"
                else section.part.title
            )
            name = re.sub(r"[^A-Za-z0-9]+", "-", said).strip("-").lower()[:40] or "text"
            taken[name] += 1
            section.id = f"{self.key}.{name}" + (f"-{taken[name]}" if taken[name] > 1 else "")
        for section in self.sections:
            for part in (section.part, *section.proofs):
                for item in (i for s in part.sentences for i in s if isinstance(i, SourceReference)):
                    to = by_label.get(item.label)
                    if (
                        to is not None
                        and to.part.kind == "statement"
                        and to is not section
                        and part.kind == "proof"
                    ):
                        section.uses.append(to.id)

    # ---------------------------------------------------------------------------------- facts about letters

    def introduce(self, section: Section, part: SourcePart, sentence: Sequence[SourceItem]) -> None:
        """Take what a sentence says of letters: their sets, and what they are."""
        words = [i.text.lower() if isinstance(i, SourceWord) else "" for i in sentence]
        for k, item in enumerate(sentence):
            if not isinstance(item, SourceFormula) or item.refused:
                continue
            try:
                parts = parts_of(latex_of(cleaned(item.tokens)).rstrip(" .,;"))
            except UnreadError:
                continue
            letters = _letter_list(parts) or list(facts_of(written(parts), 0) or ())
            if letters:
                self.described(section, part, letters, words, k, item.line)
            for name, domain in _kinds_in(parts):
                self.kinds.setdefault(name, domain)
                if self.kinds[name] != domain:
                    self.kinds[name] = "several"

    def described(
        self,
        section: Section,
        part: SourcePart,
        letters: Sequence[str],
        words: Sequence[str],
        k: int,
        line: int,
    ) -> None:
        """Take the words around letters: `a positive integer $n$`, `$n$ be the number of records`."""
        behind = list(
            takewhile(lambda word: word not in _PARTING - {"be", "is", "are"}, _until_mark(words[k + 1 :]))
        )
        nearest = takewhile(lambda word: word not in _PARTING, _until_mark(reversed(words[:k])))
        ahead = list(reversed(list(nearest)))[-4:]
        said = behind[:4] if behind[:1] in (["be"], ["is"], ["denote"], ["denotes"], ["are"]) else []
        about = " ".join([*ahead, *said])
        if re.search(r"\bintegers?\b|\bnatural numbers?\b", about):
            positive = re.search(r"\bpositive\b|\bnatural\b", about)
            domain = (
                "integer >= 1"
                if positive
                else "integer >= 0"
                if re.search(r"\bnon-?negative\b", about)
                else "integer"
            )
            for letter in letters:
                self.add(section, part, letter, Fact(domain, line, "natural" not in about))
        elif re.search(r"\bpositive\b|\bnon-?negative\b", about) and not re.search(
            "definite|constant", about
        ):
            for letter in letters:
                self.add(
                    section, part, letter, Fact("> 0" if re.search(r"\bpositive\b", about) else ">= 0", line)
                )
        if len(letters) == 1:
            meaning = " ".join(w for w in said[1:] if w) if said else ""
            match = re.search(r"(?:^|\s)(?:the|a|an)\s+((?:[a-z-]+\s?){1,4})$", " ".join(ahead))
            meaning = meaning.removeprefix("the ").removeprefix("a ").removeprefix("an ") or (
                match[1].strip() if match else ""
            )
            if re.fullmatch(r"[a-z][a-z -]+", meaning) and not re.search(
                r"\b(integers?|numbers?|reals?|positive)$", meaning
            ):
                section.meanings.setdefault(letters[0], meaning)

    def add(self, section: Section, part: SourcePart, letter: str, fact: Fact) -> None:
        """Take a fact: of a statement's own letters for it, else as something to guess from."""
        if part.kind == "statement":
            section.facts.setdefault(letter, []).append(fact)
        self.everywhere.setdefault(letter, []).append(fact)

    def domain(self, section: Section, letter: str) -> tuple[str, str]:
        """The domain of a letter, and why it is a guess; empty where it is said."""
        own = section.facts.get(letter, [])
        if any(not f.own for f in own):
            own = [f for f in own if not f.own]
        elif len({f.domain for f in own}) > 1:
            return "real", "it is said in several ways"
        kind = self.kinds.get(letter, "")
        domain = _joined([f.domain for f in own])
        if domain is None:
            return "real", "what is said of it does not fit together"
        if kind == "vector":
            return "vector", ""
        if domain:
            sure = all(f.sure for f in own)
            if kind.startswith("integer") and not domain.startswith("integer"):
                domain = _joined([domain, kind]) or domain
            doubt = "" if sure else "whether 0 is among them is not said"
            if not domain.startswith("integer") and DOMAINS.get(letter, "").startswith("integer"):
                # nothing says that it is a whole number; as a real one, less is claimed of it than may be meant
                doubt = "whether it is a whole number is not said"
            return domain, doubt
        elsewhere = self.everywhere.get(letter, [])
        found = _joined([f.domain for f in elsewhere])
        if found:
            return found, f"line {elsewhere[0].line} says so elsewhere"
        if kind and kind not in ("several", "matrix"):
            return kind, "it is said elsewhere"
        base = re.match(r"\\?[A-Za-z]+", letter)
        return DOMAINS.get(
            letter, DOMAINS.get(base[0], "real") if base and "_" in letter else "real"
        ), "by its name"

    # ----------------------------------------------------------------------------------- what is done with it

    def note(self, section: Section, part: SourcePart, found: _Found) -> None:
        """Take what a condition says, before claims are read."""
        relation, lasting = found.relation, found.modal in _LASTING
        if relation.refused or relation.given:
            return
        facts = facts_of(relation.latex, found.item.line)
        if facts is not None:
            for letter, fact in facts.items():
                fact.own = not lasting
                self.add(section, part, letter, fact)
            return
        left, equal, right = relation.latex.partition("=")
        passing = found.modal in ("if", "when", "whenever", "such", "provided")
        if equal and "=" not in right and is_one_letter(left) and part.kind != "text" and not passing:
            section.equations.append((left.strip(), relation.latex, part))
        elif part.kind == "statement" and lasting:
            section.conditions.append((relation.latex, found.item.line))

    def condition(self, section: Section, part: SourcePart, found: _Found, _: Sequence[str]) -> None:
        """Count a condition, by whether it is read."""
        relation, item = found.relation, found.item
        if relation.refused or relation.given:
            self.refuse(
                item, relation.latex, relation.refused or "a condition under a condition", relation.signs
            )
        elif facts_of(relation.latex, item.line) is not None:
            self.counts.relations += relation.signs
            self.counts.read += relation.signs
        else:
            row = ImportedRow(relation.latex.replace(":=", "="), item.file, item.line, False)
            wrong = self.make(section, row, ())
            if wrong:
                self.refuse(item, relation.latex, wrong, relation.signs)
            else:
                self.count(section, row, relation.signs)

    def claim(self, section: Section, part: SourcePart, found: _Found, given: Sequence[str]) -> None:
        """Make a row of a relation, or say why it is none."""
        relation, item = found.relation, found.item
        if relation.refused:
            self.refuse(item, relation.latex, relation.refused, relation.signs)
            return
        row = ImportedRow(
            relation.latex,
            item.file,
            relation.line,
            part.kind != "statement",
            torn=item.torn,
            signs=relation.signs,
        )
        left = relation.latex.partition("=")[0]
        if relation.defines:
            wrong = self.make(section, row, ())
            if wrong or not is_one_letter(left):
                self.refuse(item, relation.latex, wrong or "it defines more than a letter", relation.signs)
                return
            self.count(section, row, relation.signs)
            section.equations.append((left.strip(), relation.latex, part))
            return
        lasting = [latex for latex, _ in section.conditions]
        once = Counter(name for name, _, _ in section.equations)
        equations = [
            latex
            for name, latex, where in section.equations
            if once[name] == 1 and latex != relation.latex and where in (part, section.part)
        ]
        said: dict[str, list[str]] = {}
        for condition in given:
            for letter, fact in (facts_of(condition, 0) or {}).items():
                said.setdefault(letter, []).append(fact.domain if fact.sure else "")
        joined = {letter: _joined(domains) for letter, domains in said.items() if all(domains)}
        row.own = {letter: domain for letter, domain in joined.items() if domain}
        wrong = self.make(section, row, (*lasting, *equations), (*relation.given, *given))
        missing = [c for c in relation.given if c not in row.given]
        if wrong or missing:
            self.refuse(
                item, relation.latex, wrong or f"its condition `{missing[0]}` is not read", relation.signs
            )
            return
        row.questions += [found.doubt] if found.doubt else []
        self.count(section, row, relation.signs)
        section.rows.append(row)

    def count(self, section: Section, row: ImportedRow, signs: int) -> None:
        """Count what is read, by whether it rests on guesses."""
        self.counts.relations += signs
        row.guessed = bool(row.questions) or any(
            self.guess(section, row, v) for v in (*row.letters, *row.opaque)
        )
        if row.guessed:
            self.counts.guessed += signs
        else:
            self.counts.read += signs

    # ------------------------------------------------------------------------------------------ attempts

    def declared(self, section: Section, row: ImportedRow, letter: str) -> tuple[str, str]:
        """Domain of a letter of a row, and why it is a guess: of an index of a sum, of a term, of another."""
        if letter in row.opaque:
            ordered = re.search(r"[<>]|\\[lg]eq?(?![a-z])", row.latex.replace(letter, ""))
            doubtful = row.opaque[letter] == "real" and not ordered and not re.match(LAW, letter)
            return row.opaque[letter], "whether it is a number is not said" if doubtful else ""
        if letter in row.bound:
            return "integer", ""
        found = self.domain(section, letter)
        if found[1] and letter in row.own and letter not in section.facts:
            whole = DOMAINS.get(letter, "").startswith("integer") and not row.own[letter].startswith(
                "integer"
            )
            return row.own[letter], "whether it is a whole number is not said" if whole else ""
        return found

    def guess(self, section: Section, row: ImportedRow, letter: str) -> str:
        """Why what is said of a letter is a guess; empty where it is none."""
        return self.declared(section, row, letter)[1]

    def attempt(self, section: Section, row: ImportedRow) -> str:
        """Why a row is not read by the readers of pages; empty where it is."""
        letters = tuple(variable(letter, self.declared(section, row, letter)[0]) for letter in row.letters)
        key = (
            row.latex,
            row.reading,
            tuple(row.given),
            letters,
            tuple(v.latex for v in letters),
            tuple(row.opaque.items()),
        )
        if key not in self.tried:
            try:
                own = tuple(variable(latex, domain) for latex, domain in row.opaque.items())
                sheet = Sheet(section.id, letters)
                options = {"added": own, "given": ", ".join(row.given), "reading": row.reading}
                sheet.conclusion(
                    "row", row.latex, **{key: value for key, value in options.items() if value}
                ).read()
                self.tried[key] = ""
            except InvalidArgumentError as error:
                self.tried[key] = (
                    f"{error.argument.partition(': ')[2] or error.argument} `{error.value}`: {error.allowed}"
                )
            except (RecursionError, AssertionError) as error:
                self.tried[key] = f"it cannot be read ({type(error).__name__})"
        return self.tried[key]

    def factors(self, section: Section, row: ImportedRow) -> str:
        """A row with a dot behind each letter that is a number and stands before brackets; empty where none does."""
        parts, out, at = parts_of(row.latex), list[str](), 0
        found = False
        while at < len(parts):
            stop = single(parts, at)
            letter = written(parts[at:stop])
            out += parts[at : max(stop, at + 1)]
            if stop > at and parts[stop : stop + 1] == ("(",) and letter in row.letters:
                if letter in self.functions.lists or not (
                    letter in section.facts or letter in self.everywhere
                ):
                    return ""
                if letter not in section.facts:
                    row.questions.append(f"is ${letter}$ a factor before brackets, and no function?")
                out.append(r"\cdot")
                found = True
            at = max(stop, at + 1)
        return written(out) if found else ""

    def refuse(self, formula: SourceFormula, latex: str, reason: str, signs: int) -> None:
        """Count and list what is not read."""
        if signs:
            self.counts.relations += signs
            self.counts.refused += signs
            self.refusals.append((formula.file, formula.line, latex, reason))

    def make(
        self, section: Section, row: ImportedRow, conditions: Sequence[str], own: Sequence[str] = ()
    ) -> str:
        """Read a relation under conditions; why it is refused, or nothing.

        Conditions that are not read fall away; those that are not its sentence's own are taken where they share letters.
        """
        try:
            terms = terms_of(row.latex, self.functions, self.kinds)
        except UnreadError as error:
            return str(error)
        row.letters, row.opaque, row.questions, row.bound = (
            terms.letters,
            terms.opaque,
            terms.questions,
            terms.bound,
        )
        wrong = self.attempt(section, row)
        if wrong and (reading := self.factors(section, row)):
            row.reading = reading
            wrong = self.attempt(section, row)
        if wrong:
            return wrong
        known = {*row.letters, *row.opaque} - terms.bound
        waiting = list(dict.fromkeys((*own, *conditions)))
        grown = True
        while grown:
            grown = False
            for condition in list(waiting):
                try:
                    more = terms_of(condition, self.functions, self.kinds)
                except UnreadError:
                    waiting.remove(condition)
                    continue
                names = {*more.letters, *more.opaque}
                left, equal, _ = condition.partition("=")
                fits = (
                    written(parts_of(left)) in known
                    if equal and is_one_letter(left)
                    else len(names - known) < 2
                )
                if not ((names & known and fits) or condition in own) or terms.bound & names:
                    continue
                waiting.remove(condition)
                before = list(row.given), list(row.letters), dict(row.opaque), list(row.questions)
                row.given.append(condition)
                row.letters += [letter for letter in more.letters if letter not in row.letters]
                row.opaque |= {t: d for t, d in more.opaque.items() if t not in row.opaque}
                row.questions += [q for q in more.questions if q not in row.questions]
                if self.attempt(section, row):
                    row.given, row.letters, row.opaque, row.questions = before
                else:
                    known |= names
                    section.used.add(condition)
                    grown = True
        return ""


def variable(latex: str, domain: str) -> Variable:
    """A letter as a page declares it."""
    return read_domain(domain).variable(re.sub(r"[\\{}$\s]", "", latex), DIMENSIONLESS, "", latex, "")


def _until_mark(words: Sequence[str] | Iterator[str]) -> Iterator[str]:
    for word in words:
        if word in ("", ",", ";", "(", ")", ":") or word.startswith("$"):
            return
        yield re.sub(r"[.!?]+$", "", word)
        if word.endswith("."):
            return


def _letter_list(parts: tuple[str, ...]) -> list[str]:
    """The letters of `n, m`; none where there is anything else."""
    found, at = [], 0
    while at < len(parts):
        stop = single(parts, at)
        if stop == at or (stop < len(parts) and parts[stop] != ","):
            return []
        found.append(written(parts[at:stop]))
        at = stop + 1
    return found


def _kinds_in(parts: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Of `x,y\\in\\mathbb{R}^d`, that they are vectors; of other sets, what their elements are."""
    if parts.count(r"\in") != 1:
        return
    at = parts.index(r"\in")
    where = "".join(parts[at + 1 :])
    for letter in _letter_list(parts[:at]):
        power = re.fullmatch(r"\\mathbb\{R\}\^\{(.*)\}", where)
        if power and power[1] not in ("1", "+"):
            yield letter, "matrix" if r"\times" in power[1] else "vector"
        elif where in _KINDS:
            yield letter, _KINDS[where]
        elif re.fullmatch(r"\[[A-Za-z]\]", where):
            yield letter, "integer >= 1"
        elif where.startswith((r"\mathcal", r"\mathbb", r"\{")):
            yield letter, "several"


def facts_of(latex: str, line: int) -> dict[str, Fact] | None:
    """What a condition says of each letter's domain, where it says nothing else: `0<p<1`, `n\\ge1`, `x\\in[0,1]`."""
    try:
        parts = parts_of(latex)
    except UnreadError:
        return None
    if r"\in" in parts:
        at = parts.index(r"\in")
        where = "".join(parts[at + 1 :])
        letters = _letter_list(parts[:at])
        match = _INTERVAL.fullmatch(where)
        said = "vector" if re.fullmatch(r"\\mathbb\{R\}\^\{[A-Za-z0]+\}", where) else _KINDS.get(where, "")
        if match:
            said = re.sub(r"\\infty", "oo", f"{match[1]}{match[2]}, {match[3]}{match[4]}").replace(
                "+oo", "oo"
            )
        if not letters or not said:
            return None
        return {letter: Fact(said, line, where not in _UNCERTAIN) for letter in letters}
    sides: list[tuple[str, ...]] = [()]
    signs = []
    for part in parts:
        if part in _BOUND:
            signs.append(_BOUND[part])
            sides.append(())
        elif part in SIGNS:
            return None
        else:
            sides[-1] = (*sides[-1], part)
    number = re.compile(r"-?\d+(\.\d+)?(/\d+)?")
    found: dict[str, list[str]] = {}
    for left, sign, right in zip(sides, signs, sides[1:]):
        letters, value = _letter_list(left), "".join(right)
        if not letters:
            letters, value, sign = _letter_list(right), "".join(left), _TURNED[sign]
        if not letters or not number.fullmatch(value) or (len(letters) > 1 and len(signs) > 1):
            return None
        for letter in letters:
            found.setdefault(letter, []).append(f"{sign} {value}")
    if len(signs) > 2 or not found or (len(signs) == 2 and len(found) > 1):
        return None
    return {letter: Fact(", ".join(said), line) for letter, said in found.items()}


def _joined(domains: Sequence[str]) -> str | None:
    """Several domains in one; None where they do not fit together, empty of none."""
    found = list(dict.fromkeys(domains))
    if not found:
        return ""
    low: list[tuple[float, str]] = []
    high: list[tuple[float, str]] = []
    kind = ""
    for text in found:
        try:
            one = read_domain(text)
        except InvalidArgumentError:
            return None
        if one.kind == "vector":
            return "vector" if len(found) == 1 else None
        kind = "integer" if one.kind == "integer" else kind
        if one.lower is not None:
            low.append(
                (float(one.lower) + 1e-9 * one.lower_open, f"{'>' if one.lower_open else '>='} {one.lower}")
            )
        if one.upper is not None:
            high.append(
                (float(one.upper) - 1e-9 * one.upper_open, f"{'<' if one.upper_open else '<='} {one.upper}")
            )
    bounds = [max(low)[1]] if low else []
    bounds += [min(high)[1]] if high else []
    said = f"{kind} {', '.join(bounds)}".strip() or "real"
    try:
        read_domain(said)
    except InvalidArgumentError:
        return None
    return said


_LASTING = frozenset(
    "let suppose assume assuming fix given consider take letting define defining denote denoting set setting put pick choose".split()
)
"""With these a sentence says something for all that follows; with other words, for itself."""
_LISTING = _LASTING | {"where", "with", "call"}


@dataclass
class _Found:
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


@dataclass
class _Sentence:
    """Reads one sentence: roles, conditions and claims of its formulas."""

    reader: Reader
    section: Section
    part: SourcePart
    items: Sequence[SourceItem]

    def read(self) -> None:
        """Take the conditions, and keep the claims with theirs for later."""
        found = list(self.found())
        claims = [k for k, f in enumerate(found) if f.role != "condition"]
        conditions: list[str] = []
        for k, one in enumerate(found):
            if one.role == "gap":
                continue
            if one.role == "claim":
                leading = conditions if not claims or k <= claims[-1] else []
                behind = self.behind(found, k, claims)
                self.section.pending.append((self.part, one, [*leading, *behind]))
                continue
            before, after = [c for c in claims if c < k], [c for c in claims if c > k]
            lasting = one.modal in _LASTING or one.modal in ("where", "with")
            attached = not before or k > claims[-1] and (lasting or self.behind(found, before[-1], claims))
            if not (attached or lasting or self.leads(found, before[-1], after[0] if after else before[-1])):
                reason = "it is not clear of which claim it is a condition"
                self.reader.refuse(one.item, one.relation.latex, reason, one.relation.signs)
                continue
            self.section.pending.append((self.part, one, []))
            if not before:
                if not (
                    self.part.kind == "statement"
                    and one.modal in _LASTING
                    and facts_of(one.relation.latex, 0)
                ):
                    conditions.append(one.relation.latex)
            elif after and self.leads(found, before[-1], after[0]):
                starts = found[k - 1].role != "condition"
                conditions = [one.relation.latex] if starts else [*conditions, one.relation.latex]

    @staticmethod
    def leads(found: Sequence[_Found], before: int, after: int) -> bool:
        """Whether the conditions between two claims are said to be those of the second."""
        return found[after].then or found[before + 1].then

    def behind(self, found: Sequence[_Found], k: int, claims: Sequence[int]) -> list[str]:
        """The conditions behind the last claims of a sentence, which are about them."""
        after = range(claims[-1] + 1, len(found))
        first = k
        while first > 0 and found[first - 1].role != "condition":
            first -= 1
        run = claims[-1] - first + 1 == sum(first <= c for c in claims)
        if not run or not all(found[j].trailing for j in after):
            return []
        return [found[j].relation.latex for j in after]

    def found(self) -> Iterator[_Found]:
        """The relations of the sentence with their roles; what has none is refused."""
        said = " ".join(i.text.lower() if isinstance(i, SourceWord) else "$" for i in self.items)
        refusing = _REFUSING.search(said)
        role = modal = last = so_far = ""
        taken = joined = then = claimed = False
        """Whether the role has been taken by a formula, and whether `and` goes on from there."""
        for item in self.items:
            if isinstance(item, SourceReference):
                continue
            if isinstance(item, SourceWord):
                word = re.sub(r"[^a-z;,]", "", item.text.lower())
                so_far += f" {item.text.lower()}"
                if word == "that":
                    role, taken = "condition" if last in _KEEPING_THAT else "claim", False
                elif word in _ROLES:
                    if _ROLES[word]:
                        role, modal, taken = _ROLES[word], word, False
                    elif role == "claim":
                        role = ""
                    then = then or word == "then"
                elif word == ";":
                    then, joined = True, True
                elif word == ",":
                    joined = modal in _LISTING
                elif word in ("and", "or"):
                    joined = True
                last = word
                continue
            so_far += " $"
            try:
                relations = relations_of(item)
            except UnreadError as error:
                self.unread(item, str(error))
                yield _Found(item, SourceRelation("", item.line), "gap", then=then)
                taken, joined, then = True, False, False
                continue
            here = role
            if (
                role == "condition"
                and taken
                and (not joined or (claimed and modal in ("if", "when", "whenever")))
            ):
                here = ""  # behind a claim, `if x and y` may go on with another claim
            if item.shown and not here:
                here = "claim"
            if here == "claim" and re.match(r"(?i)definition|assumption|conjecture", self.part.title):
                here = "condition"
            refused = item.refused
            if not refused and refusing and (here != "condition" or _REFUSING.search(so_far)):
                refused = f"its sentence says `{refusing[0]}`, which may change what it claims"
            doubt = ""
            if not here:  # as a claim it can do no harm: it is a condition of nothing
                here, doubt = "claim", "is this claimed here, and not assumed?"
            whole = relations.whole and not any(r.given or r.defines or r.refused for r in relations.found)
            parts = relations.found
            if here == "condition" and whole and len(parts) > 1:
                parts = [SourceRelation(relations.whole, item.line, signs=sum(r.signs for r in parts))]
            for relation in parts:
                if refused:
                    self.reader.refuse(item, relation.latex, relation.refused or refused, relation.signs)
                    yield _Found(item, relation, "gap", then=then)
                else:
                    trailing = here == "condition" and claimed and modal in _TRAILING
                    yield _Found(item, relation, here, modal, then, trailing, doubt)
                    then = False
            for condition in relations.conditions if not refused else ():
                yield _Found(item, SourceRelation(condition, item.line), "condition", "for", trailing=claimed)
            claimed = claimed or (here == "claim" and bool(parts))
            taken, joined = True, False
            if here == "claim" and item.shown:
                role = ""

    def unread(self, item: SourceFormula, reason: str) -> None:
        signs = sum(t.text in SIGNS and t.text != r"\in" for t in item.tokens) or (
            r"\in" in [t.text for t in item.tokens]
        )
        self.reader.refuse(item, item.latex, reason, int(signs))


def is_one_letter(latex: str) -> bool:
    """Whether LaTeX is one letter."""
    try:
        parts = parts_of(latex)
    except UnreadError:
        return False
    return bool(parts) and single(parts, 0) == len(parts)
