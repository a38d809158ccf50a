"""Sentences: what each of their formulas is there for, and which conditions are those of which claims."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from dpverify.statements.importing.cleaning import SIGNS, VAGUE, UnreadError, cleaned
from dpverify.statements.importing.facts import facts_of
from dpverify.statements.importing.records import FoundRelation, ImportedSection
from dpverify.statements.importing.relations import SourceRelation, relations_of
from dpverify.statements.importing.source import SourceToken, latex_of
from dpverify.statements.importing.structure import (
    SourceFormula,
    SourceItem,
    SourcePart,
    SourceReference,
    SourceWord,
)
from dpverify.statements.importing.tables import (
    ASKING,
    DISJOINED,
    EXISTENTIAL,
    JOINING,
    PROBABLE,
    REFUSING,
    words,
)

ROLES = {word: role for role in ("condition", "claim", "neither") for word in words(role)}
"""What a formula is there for, by the nearest word of these before it."""
LASTING, PASSING = words("lasting"), words("passing")
"""With the first, a sentence says something for all that follows; with the second, for one claim."""
_STRONG, _CLAIMING_THAT = words("strong"), words("claiming_that")
_LIMIT = re.compile(r"limit of a letter")
_BREAKING = frozenset(("and", "but", "or", "while", "whereas", ";"))
_IN_WORDS = frozenset(("if", "when", "whenever", "with", "for", "under", "given"))
_BEFORE_A_VERB = frozenset(("", ",", ";", "and", "we", "now", "to", "then", "us", "first", "also"))
_MOST_BEHIND = 3
_LISTING, _TRAILING, _KEEPING_THAT = (
    LASTING | {"where", "with", "call"},
    words("trailing"),
    words("keeping_that"),
)


def _written(item: SourceItem) -> str:
    """A word in small letters; `$` for a formula, `¤` for one that compares nothing, and words for one with a limit."""
    if isinstance(item, SourceWord):
        return item.text.lower()
    if isinstance(item, SourceFormula):
        compares = any(token.text in SIGNS for token in item.tokens)
        tends = re.search(r"\\(?:to|rightarrow) ?(?:\\infty|0)", item.latex) and not item.shown
        return "$ limit of a letter" if tends else "$" if compares else "¤"
    return "@"


@dataclass(frozen=True)
class Frame:
    """What a sentence says of the probability of its claims: `with probability at least $1-\\delta$`."""

    sign: str
    probability: str
    place: int
    """Of the formula that says it, among the items of the sentence."""

    def of(self, latex: str) -> str:
        return rf"\Pr\left[{latex}\right] {self.sign} {self.probability}"


_PROBABLY = re.compile(rf"\b(?:with (?:a |some )?probability|w\.?p\.)(?: ({'|'.join(PROBABLE)}))?$")


_AFTER_PROBABILITY = frozenset((".", "over", "for", "if", "whenever", "when", "provided", "as"))
"""What goes on behind a probability that is said of what stands before it."""


def joined_formulas(items: Sequence[SourceItem]) -> list[SourceItem]:
    """The items of a sentence; two formulas with `if and only if` and the like between them are one."""
    kept: list[SourceItem] = []
    for number, item in enumerate(items):
        kept.append(item)
        k = len(kept) - 2
        while k > 0 and isinstance(kept[k], SourceWord):
            k -= 1
        first, between = kept[k] if k >= 0 else None, " ".join(map(_written, kept[k + 1 : -1]))
        if not (between in JOINING and isinstance(first, SourceFormula) and isinstance(item, SourceFormula)):
            continue
        around = [_written(i) for i in (*kept[max(k - 2, 0) : k], *items[number + 1 : number + 4])]
        several = re.search(
            r"[$¤] ?(?:,|and|or|, and)$|^(?:, )?(?:and|or) (?:\w+ )?[$¤]", " ".join(around[:2])
        )
        several = several or re.match(r"(?:, )?(?:and|or) .*[$¤]", " ".join(around[-3:]))
        rows = any(token.text in ("&", "\\\\") for token in (*first.tokens, *item.tokens))
        if _written(first) == _written(item) == "$" and not (several or rows):
            sign = first.tokens[0]._replace(text=JOINING[between])
            tokens = (*_bare(first.tokens), sign, *_bare(item.tokens))
            refused, shown = first.refused or item.refused, first.shown or item.shown
            kept[k:] = [replace(first, tokens=tokens, refused=refused, shown=shown)]
    return kept


def _bare(tokens: Sequence[SourceToken]) -> Sequence[SourceToken]:
    """Tokens without the marks of a sentence behind them."""
    end = len(tokens)
    while end and tokens[end - 1].text in (" ", ".", ",", ";", r"\,", r"\;"):
        end -= 1
    return tokens[:end]


@dataclass
class SentenceReader:
    """Reads one sentence: roles, conditions and claims of its formulas."""

    refuse: Callable[[SourceFormula, str, str, int], None]
    section: ImportedSection
    part: SourcePart
    items: Sequence[SourceItem]
    frame: Frame | None = None

    def read(self) -> None:
        """Take the conditions, and keep the claims with theirs for later."""
        self.items = joined_formulas(self.items)
        self.frame = self.probable()
        found = list(self.framed(list(self.found())))
        self.section.pending += [(self.part, one, []) for one in found if one.role == "setting"]
        found = [one for one in found if one.role != "setting"]
        given: dict[int, list[str]] = {}
        claims = [k for k, f in enumerate(found) if f.role != "condition"]
        conditions: list[str] = []
        for k, one in enumerate(found):
            if one.role == "gap":
                continue
            if one.role == "claim":
                leading = conditions if not claims or k <= claims[-1] else []
                behind = self.behind(found, k, claims)
                given[k] = [*leading, *behind]
                self.section.pending.append((self.part, one, given[k]))
                continue
            before, after = [c for c in claims if c < k], [c for c in claims if c > k]
            lasting = one.modal in LASTING or one.modal in ("where", "with")
            attached = not before or (k > claims[-1] and (lasting or self.behind(found, before[-1], claims)))
            if not (attached or lasting or self.leads(found, before[-1], after[0] if after else before[-1])):
                last = before[-1]
                if last not in given or found[last].doubt or not one.trailing:
                    reason = "it is not clear of which claim it is a condition"
                    self.refuse(one.item, one.relation.latex, reason, one.relation.signs)
                    continue
                found[last].doubt = f"is ${one.relation.latex}$ a condition of this?"
                given[last].append(one.relation.latex)
            self.section.pending.append((self.part, one, []))
            if not before:
                if not (
                    self.part.kind == "statement" and one.modal in LASTING and facts_of(one.relation.latex, 0)
                ):
                    conditions.append(one.relation.latex)
            elif after and self.leads(found, before[-1], after[0]):
                starts = found[k - 1].role != "condition"
                conditions = [one.relation.latex] if starts else [*conditions, one.relation.latex]

    def probable(self) -> Frame | None:
        """What the sentence says of the probability of its claims."""
        said = [_written(item) for item in self.items]
        for place, item in enumerate(self.items):
            match = _PROBABLY.search(" ".join(said[:place])) if isinstance(item, SourceFormula) else None
            if match and isinstance(item, SourceFormula):
                try:
                    tokens = list(_bare(cleaned(item.tokens)))
                except UnreadError:
                    continue
                sign = PROBABLE.get(match[1] or "", r"\ge")
                if tokens and tokens[0].text in SIGNS and not match[1]:
                    sign, tokens = SIGNS[tokens[0].text], tokens[1:]
                if not any(token.text in (*SIGNS, *VAGUE, ",") for token in tokens):
                    return Frame(sign, latex_of(tokens), place)
        return None

    def framed(self, found: Sequence[FoundRelation]) -> Iterator[FoundRelation]:
        """The claims of which it is said how probable they are, as claims about that probability."""
        if self.frame is None:
            yield from found
            return
        items = [id(item) for item in self.items]
        places = [items.index(id(one.item)) for one in found]
        claims = [place for one, place in zip(found, places, strict=True) if one.role in ("claim", "gap")]
        behind = any(place > self.frame.place for place in claims)
        said = [_written(i) for i in self.items]
        last = max(claims, default=0)
        stands = re.fullmatch(r"(?:, )?(?:with|w\.?p\.).*", " ".join(said[last + 1 : self.frame.place]))
        goes_on = said[self.frame.place + 1 : self.frame.place + 2] not in (
            [],
            *([w] for w in _AFTER_PROBABILITY),
        )
        for one, place in zip(found, places, strict=True):
            relation = one.relation
            if one.role != "claim" or relation.defines or relation.refused:
                yield one
            elif place < self.frame.place and (behind or not stands or goes_on):
                reason = "it is not clear whether it has the probability that is said behind it"
                self.refuse(one.item, relation.latex, reason, relation.signs)
                yield replace(one, role="gap")
            else:
                doubt = f"is ${relation.latex}$ an event with this probability, whatever its conditions are?"
                yield replace(
                    one, relation=replace(relation, latex=self.frame.of(relation.latex)), doubt=doubt
                )

    @staticmethod
    def leads(found: Sequence[FoundRelation], before: int, after: int) -> bool:
        """Whether the conditions between two claims are said to be those of the second."""
        return found[after].then or found[before + 1].then

    def behind(self, found: Sequence[FoundRelation], k: int, claims: Sequence[int]) -> list[str]:
        """The conditions behind the last claims of a sentence, which are about them."""
        after = range(claims[-1] + 1, len(found))
        first = k
        while first > 0 and found[first - 1].role != "condition":
            first -= 1
        run = claims[-1] - first + 1 == sum(first <= c for c in claims)
        if not run or not all(found[j].trailing for j in after) or self.words_behind() > _MOST_BEHIND:
            return []
        return [found[j].relation.latex for j in after]

    def words_behind(self) -> int:
        """How many words stand behind its last formula: many are a clause of their own."""
        formulas = [k for k, item in enumerate(self.items) if isinstance(item, SourceFormula)]
        return sum(isinstance(i, SourceWord) and i.text[:1].isalpha() for i in self.items[formulas[-1] + 1 :])

    def found(self) -> Iterator[FoundRelation]:
        """The relations of the sentence with their roles; what has none is refused."""
        said = " ".join(map(_written, self.items)).strip()
        if self.frame is not None:
            before = " ".join(map(_written, self.items[: self.frame.place]))
            said = f"{_PROBABLY.sub('', before)}{said[len(before) :]}"
        refusing = REFUSING.search(said) or _LIMIT.search(said)
        existential = EXISTENTIAL.search(said)
        disjoined, asking = DISJOINED.search(said), ASKING.search(said)
        role = modal = last = so_far = nearest = ""
        taken = joined = then = claimed = broken = supposing = supposed = False
        """Whether the role has been taken by a formula, and whether `and` goes on from there."""
        for item in self.items:
            if isinstance(item, SourceReference):
                continue
            if isinstance(item, SourceWord):
                word = re.sub(r"[^a-z;,]", "", item.text.lower())
                so_far += f" {item.text.lower()}"
                supposed = supposing if word == "so" else supposed
                if word == "that":
                    supposing = supposed if last == "so" else supposing
                    keeps = last in _KEEPING_THAT or (supposing and last not in _CLAIMING_THAT)
                    role, taken, supposing = ("condition" if keeps else "claim"), False, keeps
                elif word == "set" and last not in _BEFORE_A_VERB:
                    pass  # a noun
                elif word in ROLES and not (supposing and ROLES[word] != "condition" and word not in _STRONG):
                    if ROLES[word] != "neither":
                        role, modal, taken = ROLES[word], word, False
                        supposing = role == "condition"
                    elif role == "claim":
                        role = ""
                    then = then or word == "then"
                elif word in ROLES and ROLES[word] == "claim" and supposing:
                    joined = True  # `suppose that f satisfies`
                elif word == ";":
                    then, joined = True, True
                elif word == ",":
                    if role == "condition" and not taken and modal in _IN_WORDS:
                        role = ""  # the condition was in words
                    joined = modal in _LISTING
                    supposing = supposing and joined
                elif word in ("and", "or"):
                    joined = True
                if word in _BREAKING and nearest == "claim":
                    broken = True  # another clause begins, whose condition is not that of the claim
                last = word
                continue
            so_far += " $"
            if self.frame is not None and item is self.items[self.frame.place]:
                role, modal, taken = "", "", False  # `with` leads to no condition here
                continue
            try:
                relations = relations_of(item)
            except UnreadError as error:
                self.unread(item, str(error))
                yield FoundRelation(item, SourceRelation("", item.line), "gap", then=then)
                taken, joined, then = True, False, False
                continue
            here = role
            if (
                role == "condition"
                and taken
                and (not joined or (claimed and modal in ("if", "when", "whenever")))
            ):
                here = ""  # behind a claim, `if x and y` may go on with another claim
            if any(so_far[there.end() :] in ("", " $") for there in EXISTENTIAL.finditer(so_far)):
                here = "condition"
            if item.shown and not here:
                here = "claim"
            if here == "claim" and re.match(r"(?i)definition|assumption|conjecture", self.part.title):
                here = "condition"
            if item.apart:
                yield from (FoundRelation(item, relation, "setting") for relation in relations.found)
                continue
            refused = item.refused
            if not refused and disjoined:
                refused = "its sentence says that one of two holds, or asks"
            if not refused and refusing and (here != "condition" or REFUSING.search(so_far)):
                refused = f"its sentence says `{refusing[0]}`, which may change what it claims"
            if not refused and existential and here != "condition":
                refused = f"its sentence says `{existential[0]}`, which may change what it claims"
            doubt = ""
            if not here:  # as a claim it can do no harm: it is a condition of nothing
                here, doubt = "claim", "is this claimed here, and not assumed?"
            elif here == "claim" and asking:
                doubt = f"is this claimed, in a sentence that says `{asking[0]}`?"
            whole = relations.whole and not any(r.given or r.defines or r.refused for r in relations.found)
            parts = relations.found
            if here == "condition" and whole and len(parts) > 1:
                parts = [SourceRelation(relations.whole, item.line, signs=sum(r.signs for r in parts))]
            for relation in parts:
                # of which set a letter is an element says nothing that words around it could change
                member = (
                    r"\in" in relation.latex
                    and relation.latex.count("=") == 0
                    and facts_of(relation.latex, 0)
                )
                if member and refused and not item.refused:
                    yield FoundRelation(item, relation, "condition", "for", then=then)
                elif relation.ranged and not refused:
                    yield FoundRelation(item, relation, "condition", "for", then, claimed and not broken)
                elif refused:
                    self.refuse(item, relation.latex, relation.refused or refused, relation.signs)
                    yield FoundRelation(item, relation, "gap", then=then)
                else:
                    trailing = here == "condition" and claimed and modal in _TRAILING and not broken
                    yield FoundRelation(item, relation, here, modal, then, trailing, doubt)
                    then = False
            for condition in relations.conditions if not refused else ():
                yield FoundRelation(
                    item, SourceRelation(condition, item.line), "condition", "for", trailing=claimed
                )
            claimed = claimed or (here == "claim" and bool(parts))
            taken, joined, nearest = True, False, here
            broken = broken and here != "claim"
            if here == "claim" and item.shown:
                role = ""

    def unread(self, item: SourceFormula, reason: str) -> None:
        signs = sum(t.text in SIGNS and t.text != r"\in" for t in item.tokens) or (
            r"\in" in [t.text for t in item.tokens]
        )
        self.refuse(item, item.latex, reason, int(signs))
