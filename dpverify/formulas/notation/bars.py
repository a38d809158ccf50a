"""Brackets and bars in pairs: which bar opens and which closes, where there is one way only to say so."""

from __future__ import annotations

from dataclasses import dataclass, field

from dpverify.formulas.notation.signs import BRACKETS, ENDS, SEPARATORS, STARTS, Sign, sign
from dpverify.formulas.notation.tokens import DEEPEST, OPENING, refusal

_PARTS = SEPARATORS | {"RELATION", "IN"}
MOST_BARS = 12
"""Bars side by side within one bracket at most; each might open or close."""


@dataclass
class _Level:
    opener: int
    """The index of what opened it; -1 for the whole formula."""
    members: list[int] = field(default_factory=list)
    """Indices of the tokens directly inside."""


def resolve(latex: str, found: list[Sign]) -> list[Sign]:
    """The tokens with bars as openers and closers, intervals marked, commas before words dropped."""
    found = _without_commas(found)
    levels = [_Level(-1)]
    for i, token in enumerate(found):
        if token.type == "AT" and levels[-1].opener >= 0 and found[levels[-1].opener] == r"\left.":
            _finish(latex, found, levels.pop())
        if token.type in BRACKETS.values():
            level = levels.pop()
            opener = None if level.opener < 0 else found[level.opener]
            if opener is None or not _fit(opener, token, _interval(found, level.opener)):
                raise refusal(latex, token.start, token.end, "a matching opening bracket before it")
            _finish(latex, found, level)
            if _interval(found, level.opener):
                found[level.opener] = _retyped(opener, "INTERVAL_OPEN")
                found[i] = _retyped(token, "INTERVAL_CLOSE")
            levels[-1].members.append(i)
        elif token.type in BRACKETS:
            levels[-1].members.append(i)
            levels.append(_Level(i))
            if len(levels) > DEEPEST:
                raise refusal(latex, token.start, token.end, f"at most {DEEPEST} levels of brackets")
        else:
            levels[-1].members.append(i)
    last = levels.pop()
    if last.opener >= 0:
        opener = found[last.opener]
        raise refusal(latex, opener.start, opener.end, "a matching closing bracket after it")
    _finish(latex, found, last)
    return _with_points(found)


def _without_commas(found: list[Sign]) -> list[Sign]:
    """`a, for all b` and `a, and b`: the word is the sign; that a comma was before it stays in its payload."""
    words = ("FOR", "AND", "OR", "IMPLIES", "IFF", "FORALL")
    out: list[Sign] = []
    for token in found:
        if out and out[-1].type == "COMMA" and token.type in words:
            out.pop()
            token = sign(token.type, str(token), token.start, token.end, ",")
        out.append(token)
    return out


def _with_points(found: list[Sign]) -> list[Sign]:
    """Close what `\\left.` opened at the bar before the point; which norm it is goes to its bar."""
    out: list[Sign] = []
    depth: list[bool] = []
    dropped = 0
    for i, token in enumerate(found):
        if dropped:
            dropped -= 1
            continue
        if token.type == "UNDER" and out and out[-1].type == "BAR_CLOSE" and out[-1] == r"\|":
            which = found[i + 2 : i + 4]
            if len(which) == 2 and which[1].type == "RBRACE" and str(which[0]) in ("1", "2", r"\infty"):
                out[-1] = sign("BAR_CLOSE", str(out[-1]), out[-1].start, out[-1].end, str(which[0]))
                dropped = 3
                continue
        if token.type == "OPEN":
            depth.append(token == r"\left.")
        elif token.type == "CLOSE":
            depth.pop()
        elif token.type == "AT" and depth and depth[-1]:
            depth.pop()
            out.append(_retyped(token, "CLOSE"))
        out.append(token)
    return out


def _fit(opener: Sign, closer: Sign, interval: bool) -> bool:
    if BRACKETS[opener.type] != closer.type:
        return False
    if opener.type != "OPEN":
        return True
    return (interval and closer in (")", "]")) or OPENING.get(str(opener)) == closer


def _interval(found: list[Sign], opener: int) -> bool:
    return opener > 0 and found[opener - 1].type == "IN" and found[opener] in ("(", "[")


def _retyped(token: Sign, kind: str) -> Sign:
    return sign(kind, str(token), token.start, token.end, token.payload)


# -------------------------------------------------------------------------------------------------- bars


def _finish(latex: str, found: list[Sign], level: _Level) -> None:
    """Say of each bar within a level whether it opens or closes."""
    bars = [(n, i) for n, i in enumerate(level.members) if found[i].type == "BAR"]
    if not bars:
        return
    first, last = found[bars[0][1]], found[bars[-1][1]]
    if len(bars) > MOST_BARS:
        raise refusal(latex, first.start, last.end, f"at most {MOST_BARS} bars side by side")
    ways = _ways(found, level.members, bars)
    if not ways:
        raise refusal(latex, first.start, last.end, "bars in pairs, with something between them")
    if len(ways) > 1:
        one, other = (_shown(latex, found, bars, way) for way in ways[:2])
        raise refusal(latex, first.start, last.end, f"one of two readings: `{one}`, or `{other}`")
    for (_, i), opens in zip(bars, ways[0], strict=True):
        found[i] = _retyped(found[i], "BAR_OPEN" if opens else "BAR_CLOSE")


def _ways(found: list[Sign], members: list[int], bars: list[tuple[int, int]]) -> list[tuple[bool, ...]]:
    """Up to two ways to pair the bars."""
    out: list[tuple[bool, ...]] = []

    def go(k: int, roles: tuple[bool, ...], stack: tuple[str, ...]) -> None:
        if len(out) > 1:
            return
        if k == len(bars):
            if not stack:
                out.append(roles)
            return
        n, i = bars[k]
        before = found[members[n - 1]].type if n else ""
        after = found[members[n + 1]].type if n + 1 < len(members) else ""
        start = bars[k - 1][0] if k else -1
        if stack and any(found[members[m]].type in _PARTS for m in range(start + 1, n)):
            return  # a bar does not reach across a relation
        ended = not roles[-1] if before == "BAR" else before in ENDS
        signed = after in ("PLUS", "MINUS")
        side = found[i].payload
        may_open = (after == "BAR" or after in STARTS) and not (ended and signed and stack)
        if side != "r" and may_open:
            go(k + 1, (*roles, True), (*stack, str(found[i])))
        if side != "l" and ended and stack and stack[-1] == str(found[i]):
            go(k + 1, (*roles, False), stack[:-1])

    go(0, (), ())
    return out


def _shown(latex: str, found: list[Sign], bars: list[tuple[int, int]], way: tuple[bool, ...]) -> str:
    """A way to pair bars, in LaTeX that says which bar opens."""
    names = {"|": "vert ", r"\|": "Vert "}
    out, position = "", found[bars[0][1]].start
    for (_, i), opens in zip(bars, way, strict=True):
        token = found[i]
        out += latex[position : token.start] + ("\\l" if opens else "\\r") + names[str(token)]
        position = token.end
    return out.strip()
