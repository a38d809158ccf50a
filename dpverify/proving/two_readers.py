"""The two readers of formulas held against each other: what they do not both read in the same way is not believed."""

from __future__ import annotations

from dpverify.formulas.rendering.neutral import Json, expression_to_json
from dpverify.proving.language import Obligation


class ReadersDisagreeError(Exception):
    """A fault in one of the readers, which makes whatever is said of the formula worthless."""


def disagreement(obligation: Obligation) -> str:
    """How the second reader differs from the first, in a sentence; nothing where it does not.

    Nothing, too, where there is no LaTeX to read (`Obligation.source`). No difference is allowed for: what each makes
    of the source must be the same problem, letter by letter.
    """
    from dpverify.proving.second_reader import RefusedError, read

    if obligation.source is None:
        return ""
    first = obligation.problem.json
    try:
        second = read(obligation.source)
    except RefusedError as refusal:
        return f"the second reader does not read what the first reads as {shown(first['claim'])}: {refusal}"
    if second == first:
        return _about_letters(obligation)
    for part in ("claim", "assuming", "variables"):
        one, other = apart(first[part], second[part])
        if one != other:
            place = {"assuming": " in its conditions", "variables": " among its letters"}.get(part, "")
            return f"the first reader reads {shown(one)}{place} where the second reads {shown(other)}"
    raise AssertionError(second)


def _about_letters(obligation: Obligation) -> str:
    """The same of the formulas that letters stand for, which take their place in counterexamples."""
    from dpverify.proving.second_reader import RefusedError, read_letters

    first = {v.name: expression_to_json(body) for v, body in obligation.formulas.items()}
    if obligation.source is None or not first:
        return ""
    try:
        second = read_letters(obligation.source, tuple(first))
    except RefusedError as refusal:
        return f"the second reader does not read what {', '.join(first)} stand for: {refusal}"
    for name, body in first.items():
        if second[name] != body:
            one, other = (shown(part) for part in apart(body, second[name]))
            return f"the first reader reads {one} in what {name} stands for, where the second reads {other}"
    return ""


def check_agreement(obligation: Obligation) -> None:
    """Raise `ReadersDisagreeError` where the readers differ, with how."""
    says = disagreement(obligation)
    if says:
        raise ReadersDisagreeError(says)


def apart(one: Json, other: Json) -> tuple[Json, Json]:
    """The smallest part of each that holds all that is different."""
    if isinstance(one, list | tuple) and isinstance(other, list | tuple) and len(one) == len(other):
        unlike = [(a, b) for a, b in zip(one, other, strict=True) if a != b]
        if len(unlike) == 1 and all(isinstance(part, list | tuple) for part in unlike[0]):
            return apart(*unlike[0])
    return one, other


def shown(part: Json) -> str:
    """A part of a problem in a line: `pow(x, 2)` for `["pow", ["sym", "x"], ["num", "2"]]`."""
    text = _written(part)
    return f"`{text if len(text) <= 200 else text[:197] + '...'}`"


def _written(part: Json) -> str:
    if isinstance(part, dict):
        return str(part["name"]) if "name" in part else str(part)
    if not isinstance(part, list | tuple):
        return str(part)
    head, *rest = part if part else [""]
    if head in ("sym", "num"):
        return str(rest[0])
    inner = ", ".join(map(_written, rest))
    return f"{_written(head)}({inner})" if isinstance(head, str) else ", ".join(map(_written, part))
