"""True pages, changed in ways that people change them: the meaning follows, or the page is refused.

Each page claims something that is true under its hypotheses. A mutation moves, drops, doubles, negates or hides these,
or puts the display elsewhere, and says what that means: a page that is read has to mean just this, compared tree by
tree with the same formula encoded without any page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from dpverify.errors import InvalidArgumentError
from dpverify.formulas.expressions import integer, real
from dpverify.formulas.logic import And, Formula, Not, Or
from dpverify.ledger.verdicts import Verdict
from dpverify.proving import prove
from dpverify.proving.language import Obligation
from dpverify.statements.pages import blocks, encoding, notes, page, prose, read_page, words
from dpverify.statements.sheet import Sheet

TABLE = """| letter | domain |
|---|---|
| $x$ | real |
| $y$ | real |
| $z$ | > 0 |
| $n$ | integer >= 1 |
"""
LETTERS = (real("x"), real("y"), real("z", gt=0), integer("n", ge=1))

BASES: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"x\ge 1", (r"x\ge 1",)),
    (r"x+y\ge 2", (r"x\ge 1", r"y\ge 1")),
    (r"xy\ge 1", (r"x\ge 1", r"y\ge 1")),
    (r"n^2\ge 4", (r"n\ge 2",)),
    (r"x^2\le 1", (r"0\le x\le 1",)),
    (r"xn\ge 2", (r"n\ge 2", r"x\ge 1")),
    (r"\frac{1}{x}\le 1", (r"x\ge 1",)),
    (r"x^2\ge y^2", (r"x\ge y", r"y\ge 0")),
    (r"z+x>1", (r"x\ge 1",)),
    (r"zx\ge z", (r"x\ge 1",)),
    (r"x<3", (r"x<2",)),
    (r"x\ne 0", (r"x>0",)),
    (r"x+y+n\ge 3", (r"x\ge 1", r"y\ge 1", r"n\ge 1")),
    (r"|x|\le 2", (r"-2\le x\le 2",)),
    (r"x^3\ge 1", (r"x\ge 1",)),
    (r"(x+y)^2\ge x^2+y^2", (r"xy\ge 0",)),
    (r"\sqrt{x}\ge 1", (r"x\ge 1",)),
    (r"2^n\ge 4", (r"n\ge 2",)),
    (r"x=1", (r"x=1",)),
    (r"x-y>0", (r"x>y",)),
    (r"\frac{x}{y}\ge 1", (r"x\ge y", r"y>0")),
    (r"\max(x,y)\ge 1", (r"x\ge 1",)),
    (r"x\in[0,2]", (r"x\in[0,1]",)),
    (r"e^x\ge 1", (r"x\ge 0",)),
)
"""True claims, each with hypotheses that it needs."""


@dataclass(frozen=True)
class Case:
    """A page, and all that it may mean if it is read: a claim and its conditions, or nothing."""

    name: str
    page: str
    claim: str
    given: tuple[str, ...] | None
    """None: it has to be refused."""
    may_refuse: bool = False
    unread: bool = False
    """Whether it has to be said that something was not read."""


def joined(hypotheses: tuple[str, ...], word: str = "and") -> str:
    return f" {word} ".join(f"${h}$" for h in hypotheses)


def negated(*hypotheses: str) -> str:
    return rf"\neg({', '.join(hypotheses)})"


def mutations(claim: str, hypotheses: tuple[str, ...]) -> Iterator[Case]:
    """All mutations of one page."""
    show, h, first = f"$${claim}$$", joined(hypotheses), f"${hypotheses[0]}$"
    rest = hypotheses[1:]

    def case(name: str, text: str, given: tuple[str, ...] | None, **more: Any) -> Case:
        return Case(name, f"{TABLE}\n{text}\n", claim, given, **more)

    # the note, and ways to write it
    note = f"The claim (given {h}):\n\n{show}"
    yield case("note", note, hypotheses)
    yield case("wrapped", f"The claim (given\n{h};\nconclusion):\n\n{show}", hypotheses)
    yield case("wrapped within", note.replace(" and ", "\nand\n"), hypotheses)
    yield case("doubled", f"The claim (given {h}; given {h}):\n\n{show}", hypotheses)
    yield case(
        "one by one", f"The claim ({'; '.join(f'given ${x}$' for x in hypotheses)}):\n\n{show}", hypotheses
    )
    yield case(
        "with commas", f"The claim (given {', '.join(f'${x}$' for x in hypotheses)}):\n\n{show}", hypotheses
    )
    yield case("in one formula", f"The claim (given ${', '.join(hypotheses)}$):\n\n{show}", hypotheses)
    yield case("in brackets", f"The claim (given ({h})):\n\n{show}", hypotheses)
    yield case("emphasized", f"**The claim** *(given {h})*:\n\n{show}", hypotheses)
    yield case(
        "twice not", f"The claim (given not (not {first})):\n\n{show}", (negated(negated(hypotheses[0])),)
    )
    yield case("dropped", f"The claim:\n\n{show}", ())
    yield case("one dropped", f"The claim{f' (given {joined(rest)})' if rest else ''}:\n\n{show}", rest)
    yield case("negated", f"The claim (given not {first}):\n\n{show}", (negated(hypotheses[0]),))
    yield case("all negated", f"The claim (given not ({h})):\n\n{show}", (negated(*hypotheses),))
    if rest:
        yield case(
            "or",
            f"The claim (given {joined(hypotheses, 'or')}):\n\n{show}",
            (r" \text{ or } ".join(hypotheses),),
        )
        either = r" \text{ or } ".join(hypotheses)
        nested = f"The claim (given ({joined(hypotheses, 'or')}) and $z>0$):\n\n{show}"
        yield case("or within and", nested, (either, "z>0"))
        yield case("mixed", f"The claim (given {h} or ${rest[0]}$):\n\n{show}", None)
        yield case("not, and", f"The claim (given not {h}):\n\n{show}", None)

    # hypotheses in the sentence before the display
    for words_ in ("For H we have:", "For all H, it follows that:", "If H, then:", "Whenever H:", "Let H:", "Given H,",
                   "Suppose that H, then:", "The claim, for H:", "The claim holds if H:", "We have, where H,",
                   "The claim holds provided that H:"):  # fmt: skip
        yield case(words_, f"{words_.replace('H', h)}\n\n{show}", hypotheses)
    yield case("inline", f"If {h}, then {show}.", hypotheses)
    yield case("before and in the note", f"For {first} we have (given {h}):\n\n{show}", hypotheses)
    yield case("unless before", f"Unless {first}, we have:\n\n{show}", (negated(hypotheses[0]),))
    for words_ in ("Let H. Then:", "Suppose H.", "Assume that H. We have:", "Note that H. Then", "Because H we have:",
                   "Only if H:", "Except for H:", "As H holds:", "For some H:", "H:", "For H or so:",
                   "For positive H:", "The claim H:", "It is not true for H:", "We have H and:",
                   "It is n\u200bot so, if H:"):  # fmt: skip
        yield case(words_, f"{words_.replace('H', h)}\n\n{show}", None)

    # behind the display
    for words_ in (
        "for all H.",
        "if H.",
        "for H",
        "where H.",
        "whenever H",
        "provided that H.",
        "holds for every H.",
    ):
        text = words_.replace("H", h)
        yield case(f"display {words_}", f"{show} {text}", hypotheses)
        yield case(f"display, line, {words_}", f"The claim:\n{show}\n{text}", hypotheses)
        yield case(f"display, paragraph, {words_}", f"{show}\n\n{text}", hypotheses)
        yield case(f"display, quote, {words_}", f"{show}\n\n> {text}", hypotheses)
    yield case("unless behind", f"{show} unless {first}.", (negated(hypotheses[0]),))
    for words_ in ("except H.", "This is for H.", "Here H.", "(given H)", "because H", "only for H", "for some H",
                   "and H", "H", "Remark: this needs H.", "for H and more"):  # fmt: skip
        text = words_.replace("H", h)
        yield case(f"display {words_}", f"{show} {text}", None)
        yield case(f"display, paragraph, {words_}", f"{show}\n\n{text}", None)

    # where nobody reads it
    yield case("comment in the note", f"The claim (conclusion<!--; given {h}-->):\n\n{show}", ())
    yield case("comment before", f"<!-- For {h}: -->\n\n{show}", ())
    yield case("comment behind", f"{show} <!-- for all {h} -->", ())
    yield case("comment with the display", f"<!--\nThe claim (given {h}):\n\n{show}\n-->", None)
    yield case("code before", f"`given {h}`:\n\n{show}", None)
    yield case("struck out", f"The claim ~~(given {h})~~:\n\n{show}", None)
    yield case("heading", f"## For {h}\n\nThe claim:\n\n{show}", None)
    yield case("footnote", f"The claim[^1]:\n\n{show}\n\n[^1]: For {h}.", None)
    yield case("table beside", f"| for |\n|---|\n| {h} |\n\n{show}", None)
    yield case("list before", f"Assume:\n\n- {h}\n\nThen:\n\n{show}", None)
    yield case("throughout", f"First.\n\nThroughout, {h}.\n\nMore of it.\n\nThe claim:\n\n{show}", None)
    yield case(
        "far away", f"First.\n\nElsewhere {h}.\n\nMore of it.\n\nThe claim:\n\n{show}", (), unread=True
    )

    # in brackets with other words
    for inner in ("if H", "for H", "assuming H", "Given H", "Lemma 3; given H", "eq. 7; given H", "given: H", "givn H",
                  "given that H", "given H only", "step given H", "step, given H", "given H (1)", "give\u200bn H",
                  "given H; and", "given H, approximately", "see (given H)"):  # fmt: skip
        yield case(f"({inner})", f"The claim ({inner.replace('H', h)}):\n\n{show}", None)
    for brackets in ("[]", "{}", "<>", "（）"):
        yield case(brackets, f"The claim {brackets[0]}given {h}{brackets[1]}:\n\n{show}", None)
    yield case("note, then words", f"The claim (given {h}) holds:\n\n{show}", None)
    yield case("note, then a period", f"The claim (given {h}).\n\n{show}", None)
    yield case("two notes", f"The claim (given {h}) (conclusion):\n\n{show}", None)
    yield case("note, then another paragraph", f"The claim (given {h}):\n\nIndeed:\n\n{show}", None)
    yield case("note behind a heading", f"The claim (given {h}):\n\n## Display\n\n{show}", None)

    # the display elsewhere
    for name, form in (
        ("quote", "> The claim (given H):\n>\n> $$C$$"), ("list", "- The claim (given H):\n\n  $$C$$"),
        ("inline", "The claim (given H): $$C$$"), ("brackets", "The claim (given H):\n\n\\[\nC\n\\]"),
        ("lines", "The claim (given H):\n$$\nC\n$$"), ("math", "The claim (given H):\n\n```math\nC\n```"),
        ("align", "The claim (given H):\n\\begin{align*}\nC\n\\end{align*}"),
        ("equation", "The claim (given H):\n\n\\begin{equation}\nC\n\\end{equation}"),
        ("number", "1. The claim (given H):\n   $$C$$"), ("deep", "> - The claim (given H):\n>   $$\n>   C\n>   $$"),
    ):  # fmt: skip
        yield case(name, form.replace("H", h).replace("C", claim), hypotheses)
    for name, form in (
        ("code", "The claim (given H):\n\n```\n$$C$$\n```"), ("code span", "The claim (given H): `$$C$$`"),
        ("indented", "The claim (given H):\n\n    $$C$$"), ("html", "The claim (given H):\n\n<p>$$C$$</p>"),
        ("open", "The claim (given H):\n\n$$C"), ("cut", "The claim (given H):\n\n$$C\n\n$$"),
        ("heading itself", "# $$C$$"), ("cell", "| claim |\n|---|\n| $$C$$ |"),
    ):  # fmt: skip
        yield case(f"display in {name}", form.replace("H", h).replace("C", claim), None)
    yield case("another display behind it", f"{note}\n\n$$x^2\\ge 0$$", None)
    yield case("another display in the sentence", f"If {h}, then {show} and $$x^2\\ge 0$$.", None)
    yield case("condition behind two displays", f"$$x^2\\ge 0$$ and {show} if {h}.", None)
    yield case("definition", f"Let us prove (given {h}):\n\n{show}", None)
    yield case("definition by a colon", f"Define:\n\n{show}", None)


def cases() -> Iterator[Case]:
    for claim, hypotheses in BASES:
        yield from mutations(claim, hypotheses)


# --------------------------------------------------------------------------------------------- meanings


def parts_of(formulas: tuple[Formula, ...]) -> frozenset[Formula]:
    """Conditions, each once, whatever their order and brackets."""
    found: set[Formula] = set()
    for formula in formulas:
        match formula:
            case And(inner):
                found |= parts_of(inner)
            case Not(And() as inner):
                found.add(Not(And(tuple(sorted(parts_of(inner.parts), key=repr)))))
            case Or(inner):
                found.add(Or(tuple(sorted(inner, key=repr))))
            case _:
                found.add(formula)
    return frozenset(found)


def meaning(obligation: Obligation) -> tuple[Formula, frozenset[Formula]]:
    return obligation.claim, parts_of(obligation.assuming)


def encoded(claim: str, given: tuple[str, ...]) -> Obligation:
    """The same without a page."""
    options = {"given": ", ".join(f"({part})" for part in given)} if given else {}
    (obligation,) = Sheet("mine", LETTERS).conclusion("claim", claim, **options).printed
    return obligation


def violations(folder: Path, some: Iterator[Case]) -> Iterator[str]:
    """The mutations that are read as what they do not say, or neither read nor refused as they should be."""
    path = folder / "mine.md"
    for case in some:
        path.write_text(case.page, encoding="utf-8")
        try:
            read = read_page(path)
        except InvalidArgumentError:
            if case.given is not None and not case.may_refuse:
                yield f"refused: {case.name}: {case.claim}"
            continue
        rows = list(read.statement.printed)
        wanted = None if case.given is None else meaning(encoded(case.claim, case.given))
        if wanted is None or len(rows) != 1 or meaning(rows[0]) != wanted or case.unread != bool(read.unread):
            yield f"read: {case.name}: {case.claim}"


def test_no_mutation_is_read_as_what_it_does_not_say(tmp_path: Path, thorough: bool) -> None:
    some = islice(cases(), 0, None, 1 if thorough else 3)
    assert list(violations(tmp_path, some)) == []


def test_there_are_many(tmp_path: Path) -> None:
    every = list(cases())
    assert len(every) > 3000
    assert len({case.page for case in every}) > 0.9 * len(every)
    refused = sum(case.given is None for case in every)
    assert 0.3 < refused / len(every) < 0.7


@pytest.mark.parametrize(("claim", "hypotheses"), BASES[:6])
def test_the_verdict_follows(claim: str, hypotheses: tuple[str, ...]) -> None:
    assert prove(encoded(claim, hypotheses)).verdict is Verdict.PROVED
    assert prove(encoded(claim, ())).verdict is Verdict.REFUTED


# ---------------------------------------------------------------------------------------- planted faults


def _only_the_first(conditions: Any) -> Any:
    return next(iter(conditions), None)


def _lenient(self: Any, sentence: Any) -> None:
    """Prose beside displays is text."""


def _no_ends(found: Any, errors: Any) -> Any:
    around, unread = _surroundings(found, errors)
    return [replace(one, after=None) for one in around], unread


def _no_leads(found: Any, errors: Any) -> Any:
    around, unread = _surroundings(found, errors)
    return [replace(one, before=None) for one in around], unread


_surroundings = prose.surroundings
_tokens = words.tokens


def _comments_are_words(self: Any, line: int, html: str) -> str:
    return html.replace("<!--", " ").replace("-->", " ")


FAULTS: tuple[tuple[str, Callable[[pytest.MonkeyPatch], None]], ...] = (
    ("only the first condition counts", lambda p: p.setattr(encoding, "both", _only_the_first)),
    ("what stands behind a display is not read", lambda p: p.setattr(page, "surroundings", _no_ends)),
    ("what stands before a display is not read", lambda p: p.setattr(page, "surroundings", _no_leads)),
    ("formulas beside displays are text", lambda p: p.setattr(prose._Prose, "beside", _lenient)),
    ("formulas far from displays are text", lambda p: p.setattr(prose._Prose, "apart", _lenient)),
    ("headings are text", lambda p: p.setattr(prose._Prose, "block", _lenient)),
    ("comments are read", lambda p: p.setattr(blocks._BlockWalk, "without_comments", _comments_are_words)),
    ("no word is strange", lambda p: p.setitem(words.WORDS, "strange", frozenset())),
    (
        "signs that nobody sees are read over",
        lambda p: p.setattr(blocks._BlockWalk, "seen", lambda self, line, text: None),
    ),
    ("each display is a sentence of its own", lambda p: p.setattr(prose, "_joins", lambda between: False)),
    (
        "no conditions between parentheses are nested",
        lambda p: p.setattr(notes.WrittenCondition, "compound", False),
    ),
    ("or is and", lambda p: p.setattr(encoding, "both", _all_joined)),
)


def _all_joined(conditions: Any) -> Any:
    """Every condition alone, whatever stands between them."""
    flat = [part for c in conditions for part in (c.parts or (c,))]
    return notes.WrittenCondition("and", flat[0].line, parts=tuple(flat)) if flat else None


@pytest.mark.one_in(2)
@pytest.mark.parametrize("plant", [fault for _, fault in FAULTS], ids=[name for name, _ in FAULTS])
def test_a_planted_fault_is_seen(
    plant: Callable[[pytest.MonkeyPatch], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)
    some = (case for claim, hypotheses in BASES[:2] for case in mutations(claim, hypotheses))
    assert next(violations(tmp_path, some), None) is not None
