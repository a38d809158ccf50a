"""The parts of a paper as rows: what is read of each formula, under which conditions, about which letters."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain, starmap, takewhile

from dpverify.errors import InvalidArgumentError
from dpverify.formulas.expressions import Variable
from dpverify.formulas.notation.tokens import end_of_group
from dpverify.formulas.units import DIMENSIONLESS, UNKNOWN
from dpverify.statements.importing.cleaning import UnreadError, certain
from dpverify.statements.importing.facts import (
    DOMAINS,
    by_meaning,
    facts_of,
    is_member,
    is_one_letter,
    joined,
    kinds_in,
    letter_list,
    ranged_in,
    until_mark,
)
from dpverify.statements.importing.records import (
    FoundRelation,
    ImportCounts,
    ImportedRow,
    ImportedSection,
    LetterFact,
)
from dpverify.statements.importing.sentences import LASTING, PASSING, SentenceReader
from dpverify.statements.importing.source import latex_of
from dpverify.statements.importing.structure import (
    SourceFormula,
    SourceItem,
    SourcePart,
    SourceReference,
    SourceWord,
)
from dpverify.statements.importing.tables import OUTSIDE, words
from dpverify.statements.importing.terms import FUNCTIONS, FormulaTerms, is_one_term, may_be_matrix, terms_of
from dpverify.statements.importing.units import SENSITIVITY, in_words, quantity, unit_called, unit_of_letter
from dpverify.statements.importing.usage import ENDS, LetterUses, family_of, parts_if_read, parts_of, written
from dpverify.statements.importing.wholes import looks_like_vectors, whole_terms
from dpverify.statements.pages.letters import read_domain, single
from dpverify.statements.sheet import Sheet

_KINDS_IN_WORDS = {"real": "one number", "vector": "one vector, or matrix"}
_BY_NAME = "by its name"
PARTING = words("parting")
"""Words that part what is said of one letter from what is said of another."""
LAW = r"\\mathbb ?\{?E|\\mathbf ?\{?E|E\[|\\operatorname\{(?:E|Cov|Ent|KL)\}"
"""Beginnings of terms that are numbers wherever they stand."""


@dataclass
class PaperReader:
    """Reads the parts of a paper."""

    parts: Sequence[SourcePart]
    key: str
    counts: ImportCounts = field(default_factory=ImportCounts)
    outside: Counter[str] = field(default_factory=Counter)
    """Of relations that are refused, how many are about what formulas of pages do not have."""
    refusals: list[tuple[str, int, str, str]] = field(default_factory=list)
    """File, line, formula and reason."""
    settings: list[tuple[str, int, str, str]] = field(default_factory=list)
    """File, line, formula and place of what is a step of an algorithm or a setting."""
    sections: list[ImportedSection] = field(default_factory=list)
    uses: LetterUses = field(default_factory=LetterUses)
    everywhere: dict[str, list[LetterFact]] = field(default_factory=dict)
    meanings: dict[str, str] = field(default_factory=dict)
    """What letters are said to be, the first time."""
    sensitivities: list[str] = field(default_factory=list)
    """Letters that are said to be the sensitivity of something."""
    tried: dict[object, str] = field(default_factory=dict)

    def run(self) -> None:
        """Read all."""
        formulas = [i for p in self.parts for s in p.sentences for i in s if isinstance(i, SourceFormula)]
        seen = list[tuple[str, ...]]()
        for formula in formulas:
            with suppress(UnreadError):
                seen.append(parts_of(latex_of(certain(formula.tokens))))
        self.uses.see(seen)
        self.arrange()
        sentences = [(s, p, said) for s in self.sections for p in (s.part, *s.proofs) for said in p.sentences]
        for section, part, sentence in sentences:
            self.introduce(section, part, sentence)
        for section, part, sentence in sentences:
            SentenceReader(self.refuse, section, part, sentence).read()
        pending = [(section, *one) for section in self.sections for one in section.pending]
        for section, part, found, _ in pending:
            if found.role == "condition":
                self.note(section, part, found)
        for section, part, found, given in pending:
            if found.role == "claim":
                self.claim(section, part, found, given)
            else:
                self.condition(section, found)

    def arrange(self) -> None:
        """Statements with their proofs; ids by labels."""
        by_label: dict[str, ImportedSection] = {}
        last: ImportedSection | None = None
        for part in self.parts:
            if part.kind == "proof" and (of := by_label.get(part.of, last)) is not None:
                of.proofs.append(part)
                continue
            section = ImportedSection(part)
            self.sections.append(section)
            by_label |= dict.fromkeys(part.labels, section)
            if part.kind == "statement":
                last = section
        taken = Counter[str]()
        for section in self.sections:
            labels = section.part.labels if section.part.kind == "statement" else []
            said = labels[0] if labels else section.part.title
            name = re.sub(r"[^A-Za-z0-9]+", "-", said).strip("-").lower()[:40] or "text"
            taken[name] += 1
            section.id = f"{self.key}.{name}" + (f"-{taken[name]}" if taken[name] > 1 else "")
        for section in self.sections:
            items = (item for proof in section.proofs for sentence in proof.sentences for item in sentence)
            for to in (by_label.get(item.label) for item in items if isinstance(item, SourceReference)):
                if to is not None and to.part.kind == "statement" and to is not section:
                    section.uses.append(to.id)

    # ---------------------------------------------------------------------------------- facts about letters

    def introduce(self, section: ImportedSection, part: SourcePart, sentence: Sequence[SourceItem]) -> None:
        """Take what a sentence says of letters: their sets, and what they are."""
        words = [i.text.lower() if isinstance(i, SourceWord) else "" for i in sentence]
        for k, item in enumerate(sentence):
            if not isinstance(item, SourceFormula) or item.refused or item.apart:
                continue
            try:
                parts = parts_of(latex_of(certain(item.tokens)))
            except UnreadError:
                continue
            letters = letter_list(parts) or list(facts_of(written(parts), 0) or ())
            if letters:
                before, after = until_mark(reversed(words[:k])), until_mark(words[k + 1 :])
                ahead = [*reversed([*takewhile(lambda word: word not in PARTING, before)])][-4:]
                behind = [*takewhile(lambda word: word not in PARTING - {"be", "is", "are"}, after)][:7]
                behind = behind if behind[:1] in (["be"], ["is"], ["denote"], ["denotes"], ["are"]) else []
                self.described(section, part, letters, ahead, behind, item.line)
            for name, domain in kinds_in(parts):
                self.uses.kinds.setdefault(name, domain)
                if self.uses.kinds[name] != domain:
                    self.uses.kinds[name] = "several"

    def described(
        self, section: ImportedSection, part: SourcePart, letters: Sequence[str], ahead: Sequence[str],
        behind: Sequence[str], line: int,
    ) -> None:  # fmt: skip
        """Take the words around letters: `a positive integer $n$`, `$n$ be the number of records`."""
        about = " ".join([*ahead, *behind])
        whole = re.search(r"\bintegers?\b|\bnatural numbers?\b", about)
        positive = re.search(r"\bpositive\b|\bnatural\b" if whole else r"\bpositive\b", about)
        bounded = positive or re.search(r"\bnon-?negative\b", about)
        domain = (">= 1" if whole else "> 0") if positive else ">= 0" if bounded else ""
        if whole or (bounded and not re.search("definite|constant", about)):
            fact = LetterFact(
                f"integer {domain}".strip() if whole else domain, line, not (whole and "natural" in about)
            )
            for letter in letters:
                self.add(section, part, letter, fact)
        if len(letters) == 1:
            match = re.search(r"(?:^|\s)(?:the|a|an)\s+((?:[a-z-]+\s?){1,4})$", " ".join(ahead))
            meaning = re.sub(r"^(?:the |a |an )", "", " ".join(filter(None, behind[1:])))
            meaning = meaning or (match[1].strip() if match else "")
            last = quantity(" ".join(ahead))  # `with step size`, `a ball of radius`
            if not behind and last and unit_called(meaning) == UNKNOWN:
                meaning = last
            if quantity(meaning) == SENSITIVITY or meaning.startswith(f"{SENSITIVITY} "):
                self.sensitivities.append(letters[0])
            kind = re.search(r"\b(integers?|numbers?|reals?|positive)$", meaning)
            if re.fullmatch(r"[a-z][a-z -]+", meaning) and not kind:
                section.meanings.setdefault(letters[0], meaning)
                self.meanings.setdefault(letters[0], meaning)

    def add(self, section: ImportedSection, part: SourcePart, letter: str, fact: LetterFact) -> None:
        """Take a fact: of a statement's own letters for it, else as something to guess from."""
        if part.kind == "statement":
            section.facts.setdefault(letter, []).append(fact)
        self.everywhere.setdefault(letter, []).append(fact)
        if fact.domain != "vector":
            self.uses.numbers[family_of(parts_of(letter))] += 1

    def domain(self, section: ImportedSection, letter: str) -> tuple[str, str]:
        """The domain of a letter, and why it is a guess; empty where it is said."""
        own = section.facts.get(letter, [])
        if any(not f.own for f in own):
            own = [f for f in own if not f.own]
        elif len({f.domain for f in own}) > 1:
            return "real", "it is said in several ways"
        kind = self.uses.kinds.get(letter, "")
        domain = joined([f.domain for f in own])
        if domain is None:
            return "real", "what is said of it does not fit together"
        if kind == "vector" and domain in ("", "vector"):
            return "vector", "" if domain else "it is said elsewhere"
        if domain:
            doubt = "" if all(f.sure for f in own) else "whether 0 is among them is not said"
            named, word = by_meaning(section.meanings.get(letter, "") or self.meanings.get(letter, ""))
            if named.startswith("integer") and not domain.startswith("integer"):
                return joined([domain, "integer"]) or domain, f"it is called a {word}"
            whole = kind.startswith("integer") or DOMAINS.get(letter, "").startswith("integer")
            if whole and not domain.startswith("integer"):
                # as a real number, less is claimed of it than may be meant
                doubt = "whether it is a whole number is not said"
            return domain, doubt
        if self.uses.sort(parts_of(letter)) == "vector":
            return "vector", f"it stands {self.uses.why(parts_of(letter))}"
        elsewhere = self.everywhere.get(letter, [])
        found = joined([f.domain for f in elsewhere])
        if found:
            return found, f"line {elsewhere[0].line} says so elsewhere"
        if kind and kind not in ("several", "matrix"):
            return kind, "it is said elsewhere"
        named, word = by_meaning(section.meanings.get(letter, "") or self.meanings.get(letter, ""))
        if named:
            return named, f"it is called a {word}"
        base = re.match(r"\\?[A-Za-z]+", letter)
        by_base = DOMAINS.get(base[0], "real") if base and "_" in letter else "real"
        return DOMAINS.get(letter, by_base), _BY_NAME

    def unit(self, section: ImportedSection, letter: str, domain: str, doubt: str) -> tuple[str, str]:
        """The unit of a letter or term, by its domain and what is doubtful of that, and why it is a guess.

        A number has none, and nothing is guessed of what has none that is known.
        """
        meaning = section.meanings.get(letter, "") or self.meanings.get(letter, "")
        called = {unit_called(self.meanings.get(v, "")) for v in self.sensitivities}
        said = unit_called(meaning, called.pop() if len(called) == 1 else UNKNOWN)
        found = unit_of_letter(domain, said, guessed=bool(doubt))
        return in_words(found), f"it is called a {meaning}" if found.loss or found.length else ""

    # ----------------------------------------------------------------------------------- what is done with it

    def note(self, section: ImportedSection, part: SourcePart, found: FoundRelation) -> None:
        """Take what a condition says, before claims are read."""
        relation, lasting = found.relation, found.modal in LASTING
        if relation.refused or relation.given:
            return
        facts = facts_of(relation.latex, found.item.line)
        if facts is not None:
            for letter, fact in facts.items():
                fact.own = not lasting
                self.add(section, part, letter, fact)
            return
        left, equal, right = relation.latex.partition("=")
        passing = found.modal in PASSING
        if equal and "=" not in right and is_one_letter(left) and part.kind != "text" and not passing:
            section.equations.append((left.strip(), relation.latex, part))
        elif part.kind == "statement" and lasting:
            section.conditions.append((relation.latex, found.item.line))

    def condition(self, section: ImportedSection, found: FoundRelation) -> None:
        """Count a condition, a step or a setting, by whether it is read."""
        relation, item = found.relation, found.item
        if found.role == "setting":
            place = item.apart or "the definition of a set"
            self.settings.append((item.file, item.line, relation.latex, place))
        if relation.refused:
            self.refuse(item, relation.latex, relation.refused, relation.signs)
        elif (
            found.role == "bound" or relation.set or is_member(relation.latex) or facts_of(relation.latex, 0)
        ):
            self.counts.relations += relation.signs
            self.counts.read += relation.signs
        else:
            row = ImportedRow(relation.latex.replace(":=", "="), item.file, item.line)
            wrong = self.make(section, row, (), relation.given)
            under = any(c not in row.given and not facts_of(c, 0) for c in relation.given)
            if wrong := wrong or ("a condition under a condition" if under else ""):
                self.refuse(item, relation.latex, wrong, relation.signs)
            else:
                self.count(section, row, relation.signs)

    def claim(
        self, section: ImportedSection, part: SourcePart, found: FoundRelation, given: Sequence[str]
    ) -> None:
        """Make a row of a relation, or say why it is none."""
        relation, item = found.relation, found.item
        if relation.refused:
            self.refuse(item, relation.latex, relation.refused, relation.signs)
            return
        row = ImportedRow(relation.latex, item.file, relation.line, torn=item.torn, signs=relation.signs)
        left = relation.latex.partition("=")[0]
        if relation.defines:
            wrong = self.make(section, row, ())
            if wrong or not (is_one_letter(left) or is_one_term(left, self.uses)):
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
        domains = {letter: joined(found_) for letter, found_ in said.items() if all(found_)}
        row.own = {letter: domain for letter, domain in domains.items() if domain}
        wrong = self.make(section, row, (*lasting, *equations), (*relation.given, *given))
        missing = [c for c in relation.given if c not in row.given and not facts_of(c, 0)]
        members = [c for c in missing if r"\in" in parts_if_read(c)]
        fallen = [c for c in given if c not in row.given and not facts_of(c, 0)]
        asked = "does it hold without the condition ${}$, which is not read?"
        row.questions += map(asked.format, (*members, *fallen))
        unread = [f"its condition `{c}` is not read" for c in missing if c not in members]
        if wrong or unread:
            self.refuse(item, relation.latex, wrong or unread[0], relation.signs)
            return
        row.questions += [doubt for doubt in (found.doubt, relation.doubt) if doubt]
        late = [v for v in row.letters if row.line > section.existing.get(v, row.line)]
        bound = row.latex.startswith(r"\exists")
        row.questions += [f"is ${v}$ any number here, or one that there is?" for v in late if not bound]
        self.count(section, row, relation.signs)
        section.rows.append(row)

    def count(self, section: ImportedSection, row: ImportedRow, signs: int) -> None:
        """Count what is read, by whether it rests on guesses."""
        self.counts.relations += signs
        told = [(v, *self.declared(section, row, v)) for v in (*row.letters, *row.opaque)]
        guesses = [v for v, domain, why in told if why or self.unit(section, v, domain, why)[1]]
        row.guessed = bool(row.questions or guesses)
        self.counts.guessed += signs * row.guessed
        self.counts.read += signs * (not row.guessed)

    # ------------------------------------------------------------------------------------------ attempts

    def declared(self, section: ImportedSection, row: ImportedRow, letter: str) -> tuple[str, str]:
        """Domain of a letter of a row, and why it is a guess: of an index of a sum, of a term, of another."""
        if letter in row.opaque:
            ordered = re.search(r"[<>]|\\[lg]eq?(?![a-z])", row.latex.replace(letter, ""))
            doubtful = row.opaque[letter] == "real" and not ordered and not re.match(LAW, letter)
            return row.opaque[letter], "whether it is a number is not said" if doubtful else ""
        if letter in row.bound:
            return "integer", ""
        if letter in row.scalars:
            return "real", "it stands where a number does"
        found = self.domain(section, letter)
        if found[1] == _BY_NAME and letter in ranged_in((row.latex, *row.given)):
            return "integer" if found[0].startswith("integer") else "real", _BY_NAME  # the range bounds it
        if found[1] == _BY_NAME and row.latex.startswith(r"\exists"):
            parts = parts_of(row.latex)
            stop = next(k for k, part in enumerate(parts) if part in ENDS - {","})
            if letter in letter_list(parts[1:stop]) and parts[stop] != ":":
                return "real", ""  # its bounds are said
        if found[1] and letter in row.own and letter not in section.facts:
            own = row.own[letter]
            whole = DOMAINS.get(letter, "").startswith("integer") and not own.startswith("integer")
            return own, "whether it is a whole number is not said" if whole else ""
        return found

    def attempt(self, section: ImportedSection, row: ImportedRow) -> str:
        """Why a row is not read by the readers of pages; empty where it is."""
        domains = [(letter, self.declared(section, row, letter)[0]) for letter in row.letters]
        key = (row.latex, row.reading, *row.given, *domains, None, *row.opaque.items())
        if key not in self.tried:
            try:
                sheet = Sheet(section.id, tuple(starmap(variable, domains)))
                own = tuple(starmap(variable, row.opaque.items()))
                options = {"added": own, "given": ", ".join(row.given), "reading": row.reading}
                sheet.conclusion(
                    "row", row.latex, **{name: said for name, said in options.items() if said}
                ).read()
                self.tried[key] = ""
            except InvalidArgumentError as error:
                what = error.argument.partition(": ")[2] or error.argument
                self.tried[key] = f"{what} `{error.value}`: {error.allowed}"
            except (RecursionError, AssertionError) as error:
                self.tried[key] = f"it cannot be read ({type(error).__name__})"
        return self.tried[key]

    def factors(self, section: ImportedSection, row: ImportedRow) -> str:
        """A row with a dot behind each letter that is a number and stands before brackets; empty where none does."""
        parts = parts_of(row.latex)
        dotted: set[int] = set()
        for at in range(len(parts)):
            end = stop = single(parts, at)
            letter = written(parts[at:stop])
            if letter not in row.letters:
                continue
            if parts[stop : stop + 1] == ("^",):
                end = end_of_group(parts, stop + 1)
            if parts[end : end + 1] in (("(",), ("[",)):
                number = self.uses.sort(parts[at:stop]) == "number" or letter in DOMAINS
                known = letter in (*section.facts, *self.everywhere) and letter not in self.uses.lists
                if letter in FUNCTIONS or not (known or number):
                    return ""
                if letter not in section.facts:
                    row.questions.append(f"is ${letter}$ a factor before brackets, and no function?")
                dotted.add(end)
        pieces = (((r"\cdot",) if k in dotted else ()) + (part,) for k, part in enumerate(parts))
        return written(chain.from_iterable(pieces))

    def refuse(self, formula: SourceFormula, latex: str, reason: str, signs: int) -> None:
        """Count and list what is not read."""
        if signs:
            self.counts.relations += signs
            self.counts.refused += signs
            if kind := next((name for name, shows in OUTSIDE.items() if shows.search(latex)), ""):
                self.outside[kind] += signs
            self.refusals.append((formula.file, formula.line, latex, reason))

    def read(self, section: ImportedSection, row: ImportedRow) -> str:
        """Read a relation as it stands, or in a way that is asked about; why it is refused, or nothing."""
        try:
            terms = terms_of(row.latex, self.uses)
        except UnreadError as error:
            return str(error)
        for letter in terms.letters:
            capital = letter[0].isupper()
            unknown = self.uses.sort(parts_of(letter)) not in ("number", "vector")
            guessed_ = capital and unknown and self.domain(section, letter)[1]
            if guessed_ and may_be_matrix(row.latex, letter, self.uses):
                return f"`{letter}` may be a matrix or an operator"
        self.take(row, terms)
        wrong = self.attempt(section, row)
        if not wrong:
            return ""
        named = [v for v in terms.letters if self.domain(section, v)[0] == "vector"]
        guessed = [v for v in named if self.declared(section, row, v)[1]]
        vectors = guessed or "vector" in terms.opaque.values()
        if terms.doubtful and vectors:  # beside vectors, a function's value may be one
            row.opaque = terms.opaque | dict.fromkeys(terms.doubtful, "vector")
            if not self.attempt(section, row):
                row.questions += [f"is ${term}$ a vector?" for term in dict.fromkeys(terms.doubtful)]
                return ""
            row.opaque = terms.opaque
        if guessed and "vector" not in terms.opaque.values():
            row.scalars = set(guessed)
            if not self.attempt(section, row):
                row.questions += [f"is ${letter}$ a number here?" for letter in guessed]
                return ""
            row.scalars = set()
        row.reading = self.factors(section, row)
        if row.reading not in ("", written(parts_of(row.latex))) and not self.attempt(section, row):
            return ""
        row.reading = ""
        return self.attempt_plain(section, row) and wrong

    def attempt_plain(self, section: ImportedSection, row: ImportedRow) -> str:
        """Attempt a row as it is written, else without braces that nobody sees; why neither is read, or nothing."""
        wrong = self.attempt(section, row)
        before, row.latex = row.latex, written(parts_of(row.latex))
        if wrong and row.latex != before and not self.attempt(section, row):
            return ""
        row.latex = before
        return wrong

    @staticmethod
    def take(row: ImportedRow, terms: FormulaTerms) -> None:
        """What a relation is made of, for its row."""
        row.letters, row.opaque = terms.letters, terms.opaque
        row.questions, row.bound = terms.questions, terms.bound

    def make(
        self, section: ImportedSection, row: ImportedRow, conditions: Sequence[str], own: Sequence[str] = ()
    ) -> str:
        """Read a relation under conditions; why it is refused, or nothing.

        Conditions that are not read fall away; those that are not its sentence's own are taken if they share letters.
        """
        wrong = self.read(section, row)
        domains = ("vector", "real") if looks_like_vectors(row.latex, self.uses) else ("real", "vector")
        for domain in domains if wrong else ():
            try:
                terms = whole_terms(row.latex, self.uses, domain)
            except UnreadError:
                break
            self.take(row, terms)
            row.reading = ""
            row.questions = [f"is ${term}$ {_KINDS_IN_WORDS[domain]}?" for term in terms.opaque]
            if not self.attempt_plain(section, row):
                wrong = ""
                break
        if wrong:
            return wrong
        known = {*row.letters, *row.opaque} - row.bound
        waiting = list(dict.fromkeys((*own, *conditions)))
        grown = True
        while grown:
            grown = False
            for condition in list(waiting):
                try:
                    more = terms_of(condition, self.uses)
                except UnreadError:
                    waiting.remove(condition)
                    continue
                names = {*more.letters, *more.opaque}
                left, equal, _ = condition.partition("=")
                defines = equal and is_one_letter(left)
                fits = written(parts_of(left)) in known if defines else len(names - known) < 2
                if not ((names & known and fits) or condition in own) or row.bound & names:
                    continue
                waiting.remove(condition)
                before = row.given, row.letters, row.opaque, row.questions
                row.given = [*row.given, condition]
                row.letters = list(dict.fromkeys((*row.letters, *more.letters)))
                row.opaque = row.opaque | more.opaque | row.opaque
                row.questions = list(dict.fromkeys((*row.questions, *more.questions)))
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
