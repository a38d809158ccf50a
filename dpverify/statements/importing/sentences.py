"""Sentences: what each of their formulas is there for, and which conditions are those of which claims."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from dpverify.statements.importing.cleaning import SIGNS, VAGUE, UnreadError, certain, stripped
from dpverify.statements.importing.facts import facts_of, is_member, letter_list
from dpverify.statements.importing.records import FoundRelation, ImportedSection
from dpverify.statements.importing.relations import SourceRelation, relations_of
from dpverify.statements.importing.source import SourceToken, latex_of
from dpverify.statements.importing.structure import ITEM, SourceFormula, SourceItem, SourcePart, SourceWord
from dpverify.statements.importing.tables import (
    ASKING,
    EXISTENTIAL,
    JOINING,
    PATTERNS,
    PROBABLE,
    REFUSING,
    one_of,
    words,
)
from dpverify.statements.importing.usage import parts_if_read, written
from dpverify.statements.pages.letters import single

ROLES = {word: role for role in ("condition", "claim", "neither") for word in words(role)}
"""What a formula is there for, by the nearest word of these before it."""
LASTING, PASSING = words("lasting"), words("passing")
"""With the first, a sentence says something for all that follows; with the second, for one claim."""
_STRONG, _CLAIMING_THAT = words("strong"), words("claiming_that")
_EITHER = re.compile(r"¤ (?:, )?(?:and/)?or (?:(?:that|else|if|when|both) )*¤")
"""What says so of things of which nothing is claimed here."""
_CLAIMED = words("claim") - {"since", "because", "recall", "using", "which"}
"""Behind these, the range of an index is claimed."""
_BREAKING = frozenset(("and", "but", "or", "while", "whereas", ";"))
_IN_WORDS = frozenset(("if", "when", "whenever", "with", "for", "under", "given"))
_BEFORE_A_VERB = frozenset(("", ",", ";", "and", "we", "now", "to", "then", "us", "first", "also"))
_LISTING, _KEEPING_THAT = LASTING | {"where", "with", "call"}, words("keeping_that")
_TRAILING = words("trailing")


def _said(items: Sequence[SourceItem]) -> str:
    """Items as words."""
    return " ".join(map(_written, items))


def _written(item: SourceItem) -> str:
    """A word in small letters; `$` for a formula, `¤` for one that compares nothing, and words for one with a limit."""
    if isinstance(item, SourceWord):
        return item.text.lower()
    if isinstance(item, SourceFormula):
        compares = any(token.text in SIGNS for token in item.tokens)
        tends = re.search(r"\\(?:to|rightarrow) ?(?:\\infty|0)", item.latex) and not item.shown
        bracketed = "( $ )" if item.latex[:1] == "(" and item.latex[-1:] == ")" else "$"
        return "$ limit of a letter" if tends else bracketed if compares else "¤"
    return "@"


@dataclass(frozen=True)
class ClaimFrame:
    """What a sentence says around its claims: how probable they are, or that there is a number for which they hold."""

    place: int
    """Of the formula that says it, among the items of the sentence."""
    before: str
    after: str
    asked: str
    letters: tuple[str, ...] = ()
    """Of what there is."""
    behind: bool | None = None
    """Whether it is said of the claims behind it; None where these may be on either side."""
    joins: bool = True
    """Whether it is said of all claims at once, and not of each."""

    def around(self, claims: Sequence[FoundRelation]) -> FoundRelation:
        """Claims as one, with what is said around them."""
        latex = r" \wedge ".join(one.relation.latex for one in claims)
        signs = sum(one.relation.signs for one in claims)
        relation = replace(claims[0].relation, latex=f"{self.before}{latex}{self.after}", signs=signs)
        return replace(claims[-1], relation=relation, doubt=self.asked.replace("{latex}", latex))


_PROBABLY = re.compile(rf"\b(?:with (?:a |some )?probability|w\.?p\.)(?: ({'|'.join(PROBABLE)}))?$")
_OF_THE_LAST = re.compile(r"(?:this|these|both|it|the (?:above|latter|last|same))\b")
_ANY = re.compile(r"\bare equivalent\b|\b(?:one|any|some|none|two|either) of the following\b")
_BOUNDED = re.compile(r"[a-z]{2,}")
_AFTER_PROBABILITY = frozenset((".", ",", "over", "for", "if", "whenever", "when", "provided", "as"))
"""What goes on behind a probability that is said of what stands before it."""


def probable(said: str, tokens: Sequence[SourceToken], place: int) -> Iterator[ClaimFrame]:
    """How probable something is, by the words before a number and the sign of its formula, if that has one."""
    sign = PROBABLE.get(said, r"\ge")
    if tokens and tokens[0].text in SIGNS and not said:
        sign, tokens = SIGNS[tokens[0].text], tokens[1:]
    if not any(token.text in (*SIGNS, *VAGUE, ",") for token in tokens):
        asked = "is ${latex}$ an event with this probability, whatever its conditions are?"
        joins = sign not in (">", r"\ge")
        yield ClaimFrame(place, r"\Pr\left[", rf"\right] {sign} {latex_of(tokens)}", asked, joins=joins)


def set_apart(items: Sequence[SourceItem]) -> Iterator[SourceItem]:
    """The items of a sentence; problems that it poses, and what characterizes something, claim nothing."""
    said = ""
    for item in items:
        said += f" {_written(item)}"
        if isinstance(item, SourceFormula) and not item.apart:
            poses = item.shown and re.match(
                rf"\W*(?:\\\w+ ?\{{)?\W*{one_of('posing')}\b", item.latex, re.IGNORECASE
            )
            place = (
                "a problem" if poses else "a case of equality" if PATTERNS["equal_if"].search(said) else ""
            )
            item = replace(
                item, apart=place or ("a characterization" if PATTERNS["characterized"].search(said) else "")
            )
        yield item


def letters_in(latex: str) -> set[str]:
    """Letters of LaTeX, in a form in which they can be compared."""
    parts = parts_if_read(latex)
    return {written(parts[k : single(parts, k)]) for k in range(len(parts))} - {""}


def joined_formulas(items: Sequence[SourceItem]) -> list[SourceItem]:
    """The items of a sentence; two formulas with `if and only if` and the like between them are one."""
    kept: list[SourceItem] = []
    for number, item in enumerate(items):
        kept.append(item)
        k = len(kept) - 2
        while k > 0 and isinstance(kept[k], SourceWord):
            k -= 1
        first, between = kept[k] if k >= 0 else None, _said(kept[k + 1 : -1])
        if not (between in JOINING and isinstance(first, SourceFormula) and isinstance(item, SourceFormula)):
            continue
        several = re.search(r"[$¤](?: ,)?(?: and| or)?$", _said(kept[max(k - 3, 0) : k]))
        several = several or re.match(r"(?:, )?(?:and|or) .*[$¤]", _said(items[number + 1 : number + 4]))
        rows = any(token.text in ("&", "\\\\") for token in (*first.tokens, *item.tokens))
        if _written(first) == _written(item) == "$" and not (several or rows):
            sign = first.tokens[0]._replace(text=JOINING[between])
            tokens = (*stripped(first.tokens), sign, *stripped(item.tokens))
            refused, shown = first.refused or item.refused, first.shown or item.shown
            kept[k:] = [replace(first, tokens=tokens, refused=refused, shown=shown)]
    return kept


@dataclass
class SentenceReader:
    """Reads one sentence: roles, conditions and claims of its formulas."""

    refuse: Callable[[SourceFormula, str, str, int], None]
    section: ImportedSection
    part: SourcePart
    items: Sequence[SourceItem]
    frame: ClaimFrame | None = None
    unclear: bool = False
    """Whether more than one is said, or not clearly of what."""

    def read(self) -> None:
        """Take the conditions, and keep the claims with theirs for later."""
        said = _said(self.items)
        self.section.unsure = self.section.unsure if said.startswith(ITEM) else _ANY.search(said) is not None
        self.items = [*set_apart(joined_formulas(self.items[said.startswith(ITEM) :]))]
        said = _said(self.items)
        if re.search(r"\bcontra(?:ry|dict\w*)\b", said):
            self.section.contrary = self.part if re.search(r"\b(?:suppose|assume|let|if)\b", said) else None
        if _OF_THE_LAST.match(said) and "$" not in said and REFUSING.search(said):
            for one in self.section.recent:
                one.doubt = one.doubt or "does the next sentence change what is claimed here?"
        self.frame = self.framing()
        found = list(self.framed(list(self.found())))
        self.section.pending += [(self.part, one, []) for one in found if one.role in ("setting", "bound")]
        found = [one for one in found if one.role not in ("setting", "bound")]
        self.section.recent = [one for one in found if one.role == "claim"] or self.section.recent
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
            # whether the conditions between two claims are said to be those of the second
            leads = bool(before) and (found[(after or before[-1:])[0]].then or found[before[-1] + 1].then)
            lasting = one.modal in LASTING or one.modal in ("where", "with")
            attached = not before or (k > claims[-1] and (lasting or self.behind(found, before[-1], claims)))
            if not (attached or lasting or leads or is_member(one.relation.latex)):
                last = before[-1]
                if last not in given or found[last].doubt or not one.trailing:
                    reason = "it is not clear of which claim it is a condition"
                    self.refuse(one.item, one.relation.latex, reason, one.relation.signs)
                    for claim in (found[c] for c in claims):
                        claim.doubt = (
                            claim.doubt or f"does it hold without the condition ${one.relation.latex}$?"
                        )
                    continue
                found[last].doubt = f"is ${one.relation.latex}$ a condition of this?"
                given[last].append(one.relation.latex)
            self.section.pending.append((self.part, one, []))
            own = self.part.kind == "statement" and one.modal in LASTING and facts_of(one.relation.latex, 0)
            if not before:
                conditions += [] if own else [one.relation.latex]
            elif after and leads:
                starts = found[k - 1].role != "condition"
                conditions = [one.relation.latex] if starts else [*conditions, one.relation.latex]

    def framing(self) -> ClaimFrame | None:
        """What the sentence says around its claims, where it is one thing and clear."""
        said = [_written(item) for item in self.items]
        found: list[ClaimFrame] = []
        undecided = False
        for place, item in enumerate(self.items):
            if isinstance(item, SourceFormula) and said[place] in "$¤":
                try:
                    tokens = certain(item.tokens)
                except UnreadError:
                    continue
                before = PATTERNS["drawn"].sub("", " ".join(said[:place]))
                if (match := _PROBABLY.search(before)) and not PATTERNS["needed"].search(" ".join(said)):
                    found += probable(match[1] or "", tokens, place)
                    whole = f"{before[: match.start()]}¶ {' '.join(said[place:])}"
                    undecided = undecided or PATTERNS["undecided"].search(whole) is not None
                elif (match := PATTERNS["there_is"].search(before)) and not PATTERNS["supposed"].search(
                    before
                ):
                    found += self.existing(match, latex_of(tokens), place)
        self.unclear = len(found) > 1 or undecided
        return None if self.unclear else next(iter(found), None)

    def existing(self, match: re.Match[str], latex: str, place: int) -> Iterator[ClaimFrame]:
        """That there is a number: behind what holds for it, or before."""
        plain = letter_list(parts_if_read(latex))
        letters = plain or list(facts_of(latex, 0) or ())
        bound = f"{latex}>0" if plain and "positive" in match[0] else latex
        opens = _said(self.items[place + 1 : place + 2])
        behind = not match[0].startswith("for")
        others = sum(isinstance(item, SourceFormula) for item in self.items) > 1
        fits = opens in ("such", "so", "for", "with", "satisfying")
        if not behind:
            fits = opens in ("", ".", ",") and not _BOUNDED.search(_said(self.items[place + 1 :]))
        if letters and fits and others:
            asked = f"may ${', '.join(letters)}$ depend on all other letters here?"
            yield ClaimFrame(place, rf"\exists {bound}:\ ", "", asked, tuple(letters), behind)

    def framed(self, found: Sequence[FoundRelation]) -> Iterator[FoundRelation]:
        """The claims around which something is said, with that."""
        frame = self.frame
        if frame is None:
            yield from found
            return
        items = [id(item) for item in self.items]
        places = [items.index(id(one.item)) for one in found]
        claims = [place for one, place in zip(found, places, strict=True) if one.role in ("claim", "gap")]
        behind = any(place > frame.place for place in claims) if frame.behind is None else frame.behind
        last = max((place for place in claims if place < frame.place), default=0)
        stands = re.match(
            r"(?:, )?(?:with|w\.?p\.|for (?:some|an?)\b)", _said(self.items[last + 1 : frame.place])
        )
        follows = _said(self.items[frame.place + 1 : frame.place + 2])
        stands = None if follows and follows not in _AFTER_PROBABILITY else stands
        conditions = [one.relation.latex for one in found if one.role == "condition"]
        roles = "".join(one.role[:2] for one in found)  # with a condition between two claims, of which is it?
        parted = frame.joins and re.search("cl.*co.*cl", roles) is not None
        kept: list[FoundRelation] = []
        for one, place in zip(found, places, strict=True):
            relation = one.relation
            other = frame.behind is False and place != last
            apart = place < last and not re.fullmatch(r"[ ,$]*(?:and)?[ ,$]*", _said(self.items[place:last]))
            if (
                one.role != "claim"
                or relation.defines
                or relation.refused
                or (other and not letters_in(relation.latex).intersection(frame.letters))
            ):
                yield one
            elif (
                any(letters_in(c).intersection(frame.letters) for c in (*conditions, *relation.given))
                or (place < frame.place and (behind or not stands or apart))
                or other
                or parted
                or (kept and kept[0].relation.given != relation.given)
            ):
                reason = "it is not clear whether it is meant with what the rest of its sentence says"
                self.refuse(one.item, relation.latex, reason, relation.signs)
                yield replace(one, role="gap")
            elif frame.joins:
                kept.append(one)
            else:
                yield frame.around([one])
        if kept:
            yield frame.around(kept)

    def behind(self, found: Sequence[FoundRelation], k: int, claims: Sequence[int]) -> list[str]:
        """The conditions behind the last claims of a sentence, which are about them."""
        after = range(claims[-1] + 1, len(found))
        first = k
        while first > 0 and found[first - 1].role != "condition":
            first -= 1
        run = claims[-1] - first + 1 == sum(first <= c for c in claims)
        behind = takewhile(lambda item: not isinstance(item, SourceFormula), reversed(self.items))
        many = sum(isinstance(i, SourceWord) and i.text[:1].isalpha() for i in behind) > 3
        if not run or many or not all(found[j].trailing for j in after):
            return []  # many words are a clause of their own
        return [found[j].relation.latex for j in after]

    def found(self) -> Iterator[FoundRelation]:
        """The relations of the sentence with their roles; what has none is refused."""
        said = _said(self.items).strip()
        if self.frame is not None:
            before = _said(self.items[: self.frame.place])
            said = f"{PATTERNS['there_is'].sub('', _PROBABLY.sub('', before))}{said[len(before) :]}"
        said = PATTERNS["drawn"].sub(" ", PATTERNS["equal_if"].split(said)[0])
        refusing, existential = REFUSING.search(said), EXISTENTIAL.search(said)
        supposes = existential and PATTERNS["supposed"].search(said[: existential.start()])
        disjoined, asking = PATTERNS["disjoined"].search(said), ASKING.search(said) or _EITHER.search(said)
        role = modal = last = so_far = nearest = led = ""
        taken = joined = then = claimed = broken = supposing = supposed = opening = False
        """Whether the role has been taken by a formula, and whether `and` goes on from there."""
        written_ = [_written(item) for item in self.items]
        for place, item in enumerate(self.items):
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
                        role, modal, taken, led = ROLES[word], word, False, nearest
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
                    listed = written_[place - 1 : place] == written_[place + 1 : place + 2] == ["$"]
                    listed = listed and role == "condition" and "then" in written_[place:]
                    joined = modal in _LISTING or listed
                    supposing = supposing and joined
                elif word in ("and", "or"):
                    joined = True
                if opening and word in ("that", "with", "satisfying", "which"):
                    role, taken, supposing, opening = "claim", False, False, False
                if word in _BREAKING and nearest == "claim":
                    broken = True  # another clause begins, whose condition is not that of the claim
                last = word
            if not isinstance(item, SourceFormula):
                continue
            so_far += " $"
            if self.frame is not None and item is self.items[self.frame.place]:
                role, modal, taken = "", "", False  # `with` leads to no condition here
                opening = bool(self.frame.letters)
                self.section.existing |= dict.fromkeys(self.frame.letters, item.line)
                signs = sum(token.text in SIGNS for token in item.tokens) if opening else 0
                yield FoundRelation(item, SourceRelation(self.frame.before, item.line, signs=signs), "bound")
                continue
            try:
                relations = relations_of(item)
            except UnreadError as error:
                texts = [t.text for t in item.tokens if t.text in SIGNS]
                number = len(texts) - texts.count(r"\in") or int(r"\in" in texts)
                if item.apart == "a problem":
                    posed = SourceRelation(item.latex, item.line, signs=number, set=True)
                    yield FoundRelation(item, posed, "setting")
                    continue
                self.refuse(item, item.latex, str(error), number)
                yield FoundRelation(item, SourceRelation("", item.line), "gap", then=then)
                taken, joined, then = True, False, False
                continue
            # behind a claim, `if x and y` may go on with another claim, and what has its own `for` behind it is one
            another = modal in ("if", "when", "whenever") or {*written_[place + 1 : place + 2]} & {
                "for",
                "if",
            }
            ended = taken and (not joined or (claimed and another))
            here = "" if role == "condition" and ended else role
            if any(so_far[there.end() :] in ("", " $") for there in EXISTENTIAL.finditer(so_far)):
                here = "condition"
                self.section.existing |= dict.fromkeys(letters_in(item.latex), item.line)
            if item.shown and not here:
                here = "claim"
            if here == "claim" and re.match(r"(?i)definition|assumption|conjecture", self.part.title):
                here = "condition"
            if item.apart:
                yield from (FoundRelation(item, relation, "setting") for relation in relations.found)
                continue
            refused, doubt = item.refused, ""
            changing = refusing if here != "condition" or REFUSING.search(so_far) else None
            exists = existential and (here != "condition" or (EXISTENTIAL.search(so_far) and not supposes))
            changing = changing or (existential if exists else None)
            if not refused and self.unclear:
                refused = "its sentence says twice what there is, or how probable it is, or not of what"
            elif not refused and role == "condition" and ended and joined and led == "condition":
                refused = "it is not clear whether it goes on with a condition"
            elif not refused and self.section.unsure:
                refused = "it is said of a list that its items are equivalent, or that one of them holds"
            elif not refused and disjoined:
                refused = "its sentence says that one of two holds, or asks"
            elif not refused and changing:
                refused = f"its sentence says `{changing[0]}`, which may change what it claims"
            if not here:  # as a claim it can do no harm: it is a condition of nothing
                here, doubt = "claim", "is this claimed here, and not assumed?"
            elif re.search(r"\$ \( \$( \))?$", _said(self.items[: place + 1])) or re.match(
                r"\( \$ \)", _said(self.items[place + 1 : place + 4])
            ):
                doubt = "is this claimed, or is what stands in brackets its condition?"
            elif here == "claim" and self.section.contrary is self.part:
                doubt = "is this claimed, and not only under what is supposed for a contradiction?"
            elif here == "claim" and asking:
                doubt = f"is this claimed, in a sentence that says `{asking[0]}`?"
            whole = relations.whole and not any(
                r.given or r.defines or r.refused or r.ranged for r in relations.found
            )
            parts = relations.found
            alone = here == "claim" and not taken and len(parts) == 1
            claims_range = alone and (modal in _CLAIMED if role == "claim" else item.shown and not role)
            if (
                here == "condition"
                and whole
                and len(parts) > 1
                and not any(is_member(r.latex) for r in parts)
            ):
                parts = [SourceRelation(relations.whole, item.line, signs=sum(r.signs for r in parts))]
            for relation in parts:
                # of which set a letter is an element says nothing that words around it could change
                member = (
                    r"\in" in relation.latex and "=" not in relation.latex and facts_of(relation.latex, 0)
                )
                if is_member(relation.latex) or (member and refused and not item.refused):
                    yield FoundRelation(item, relation, "condition", "for", then=then)
                elif relation.set:
                    yield FoundRelation(item, relation, "setting", then=then)
                elif relation.ranged and not refused and not claims_range:
                    trailing = claimed and not broken and not (role == "claim" and taken and joined)
                    yield FoundRelation(item, relation, "condition", "for", then, trailing)
                elif refused:
                    self.refuse(item, relation.latex, relation.refused or refused, relation.signs)
                    yield FoundRelation(item, relation, "gap", then=then)
                else:
                    trailing = here == "condition" and claimed and modal in _TRAILING and not broken
                    yield FoundRelation(item, relation, here, modal, then, trailing, doubt)
                    then = False
            for condition in relations.conditions if not refused else ():
                one = SourceRelation(condition, item.line)
                yield FoundRelation(item, one, "condition", "for", trailing=claimed)
            claimed = claimed or (here == "claim" and bool(parts))
            taken, joined, nearest = True, False, here
            broken = broken and here != "claim"
            if here == "claim" and item.shown:
                role = ""
