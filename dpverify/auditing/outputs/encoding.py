"""Outputs of any form as rows of floats, which is what auditors score.

An output is a tree: lists and dictionaries of leaves. Each place in it has up to eight columns: its number, the digits
of the number that a float cannot hold, whether it is -0.0, the bits of a NaN that is not the usual one, its category
(the code of a text, None, NaN, ..., 0 for a number), more of the code of a long text, its length, and whether a
dictionary has that key. A column is a function of one output alone, and 0 where an output has no such place. So columns
may be added while an audit goes on: for earlier outputs they are 0.

A list whose length varies has further columns, since what is told may stand anywhere in it: how often each value is in
it (of integers, texts and the like, or what its items begin with; values share 128 columns), how many items differ, and
how many are less than the one before. An audit looks at them where the runs that learn show that the length varies.

Nothing is lost: outputs get the same row only if they are equal as Python's `==` sees it (1, 1.0 and True are equal,
and so are dictionaries in another order), but for -0.0 and 0.0, which are different bits that anyone can see; NaN is
equal to NaN of the same bits. Texts longer than five bytes have codes of 103 bits, by a hash; were two of them to
coincide, the audit would miss something, but accuse nobody.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import zlib
from collections import Counter, defaultdict
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpverify.auditing.events import MOST_SHOWN, AnyEvent, Event, OneNumber, SingleOutput, WhichNumber
from dpverify.auditing.outputs.likeness import Likeness
from dpverify.auditing.outputs.samples import as_floats, is_minus_zero
from dpverify.errors import InvalidDataError
from dpverify.ledger.verdicts import Gap, Verdict
from dpverify.quoting import quoted
from dpverify.running.subjects.texts import DEEPEST, as_texts, is_texts

Array = NDArray[np.float64]
Path = tuple[str | int, ...]
Slot = tuple[Path, str]

MOST_COLUMNS = 10_000
"""More would be compared with nothing but themselves."""

_NUMBER, _LOW, _MINUS_ZERO, _NAN_BITS, _CATEGORY, _MORE, _LENGTH, _THERE = (
    "number",
    "low digits",
    "-0.0",
    "bits of NaN",
    "category",
    "rest",
    "length",
    "presence",
)
_RAISED = "exception"
_DIFFERENT, _LESS = "number of different items", "number of items less than the one before"
_COUNTS = tuple(f"count {place}" for place in range(128))
"""How often a list has the values that share this place."""
_OF_LISTS = frozenset((_DIFFERENT, _LESS, *_COUNTS))
_ORDER = (
    *(_RAISED, _NUMBER, _LOW, _MINUS_ZERO, _NAN_BITS, _LENGTH, _DIFFERENT, _LESS, _THERE, _CATEGORY, _MORE),
    *_COUNTS,
)

NOT_ALLOWED = (
    "nothing random was compared; where equal outputs are meant, say so (--allow-equal, allow_equal=True)"
)
ALLOWED_EQUAL = "that equal outputs are meant was stated (--allow-equal)"

_NONE, _NAN, _PLUS, _MINUS, _LIST, _DICTIONARY, _SET, _COMPLEX = range(1, 9)
_NUMBERS = "biuf"
"""NumPy's kinds of real numbers."""
_SHORT = 64
_LONG = 2.0**51
_HASHED = 2**51
_EXACT = 2**53


class Encoder:
    """Encodes what comes out on two data sets, all at once or round by round.

    Columns that were the same in all runs so far are left out. One that is shown later is transposed so that it is 0
    for the earlier runs: the value that they had and 0 change places.

    Attributes:
        runs: of each side so far; the larger count where they differ.
    """

    def __init__(self) -> None:
        self.runs = 0
        self._plain: tuple[int, ...] | None = None
        self._shown: dict[Slot, float] = {}
        self._constant: dict[Slot, float] = {}
        self._seen = _Seen()
        self.likeness = Likeness()

    def rows(self, left: NDArray[Any], right: NDArray[Any]) -> tuple[Array, Array]:
        """Both sides' outputs, a run each along the first axis, as floats (runs, d).

        Outputs are real numbers (runs, ...) or texts (runs,), as `dpverify.running.subjects.texts` writes them. Raises
        `InvalidDataError` for anything else, outputs of more than `MOST_COLUMNS` columns, and texts that are not of
        that form.
        """
        sides = (np.asarray(left), np.asarray(right))
        for name, side in zip(("left", "right"), sides, strict=True):
            if not is_texts(side) and side.dtype.kind not in _NUMBERS:
                raise InvalidDataError(
                    f"{name} has outputs of type {side.dtype}; allowed: real numbers, and texts as "
                    "dpverify.running.subjects.texts.of_runs writes them."
                )
        self.likeness.add(*sides)
        if (plain := self._as_they_are(sides)) is not None:
            self.runs += max(map(len, plain))
            return plain
        self._begin_columns()
        if (
            sides[0].shape[1:] != sides[1].shape[1:]
            or any(map(is_texts, sides))
            or any(kind == _LENGTH for _, kind in self._shown)
        ):
            sides = as_texts(sides[0]), as_texts(sides[1])
        columns = [_columns(side, self._seen) for side in sides]
        self._choose(columns, [len(side) for side in sides])
        self.runs += max(len(side) for side in sides)
        found = [_stacked(self._shown, found, len(side)) for found, side in zip(columns, sides, strict=True)]
        return found[0], found[1]

    def _as_they_are(self, sides: tuple[NDArray[Any], NDArray[Any]]) -> tuple[Array, Array] | None:
        """Finite numbers of one shape that floats hold, as they are; None for all else, -0.0 too, now or before."""
        shape = sides[0].shape[1:]
        if self._shown or (self._plain is not None and self._plain != shape):
            return None
        if sides[1].shape[1:] != shape or 0 in shape or not all(map(_is_finite, sides)):
            return None
        found = [as_floats(side.reshape(len(side), -1), "outputs") for side in sides]
        if any(lost.any() or is_minus_zero(rounded).any() for rounded, lost in found):
            return None
        self._plain = shape
        for side in sides:
            self._seen.array(side)
        return found[0][0], found[1][0]

    def _begin_columns(self) -> None:
        """Where outputs were as they are so far, give their columns their names."""
        if self._plain is None or self._shown:
            return
        self._shown = {(path, _NUMBER): 0.0 for path in np.ndindex(self._plain)}
        self._constant = dict(_containers(self._plain))

    def _choose(self, columns: list[dict[Slot, Array]], counts: list[int]) -> None:
        """Show what is not the same in all runs, in an order that does not depend on which run came first."""
        known = [*self._constant, *(slot for found in columns for slot in found)]
        first: dict[Slot, float] = {}
        varying = []
        # what is said of lists comes last, since it is shown of those whose length varies
        for slot in sorted(dict.fromkeys(known), key=lambda slot: slot[1] in _OF_LISTS):
            path, kind = slot
            if slot in self._shown or (kind in _OF_LISTS and (path, _LENGTH) not in self._shown):
                continue
            before = self._constant.get(slot, 0.0 if self.runs else None)
            there = [
                found.get(slot, np.zeros(1)) for found, count in zip(columns, counts, strict=True) if count
            ]
            low, high = float(min(map(np.min, there))), float(max(map(np.max, there)))
            if low == high and before in (None, low):
                first[slot] = low
            else:
                varying.append(slot)
                self._shown[slot] = 0.0 if before is None else before
        self._constant = first
        added = {slot: self._shown.pop(slot) for slot in sorted(varying, key=_place)}
        self._shown |= added
        if len(self._shown) > MOST_COLUMNS:
            raise InvalidDataError(
                f"The outputs have more than {MOST_COLUMNS} different parts, such as "
                f"{self._name(list(self._shown)[-1])}; allowed: fewer keys, or shorter lists."
            )
        if not self._shown:
            self._shown[((), "nothing")] = 0.0

    @property
    def names(self) -> tuple[str, ...]:
        """Of the columns."""
        self._begin_columns()
        return tuple(self._name(slot) for slot in self._shown)

    @property
    def needs(self) -> dict[int, int]:
        """Of columns that say something of a list, the column of its length: if that is constant, they say nothing."""
        places = {slot: place for place, slot in enumerate(self._shown)}
        return {place: places[path, _LENGTH] for (path, kind), place in places.items() if kind in _OF_LISTS}

    def _name(self, slot: Slot) -> str:
        path, kind = slot
        if kind not in _COUNTS:
            return _name(slot)
        items = self._seen.items.get(slot, [])
        either = " or ".join(items[:MOST_SHOWN]) + (" and others" if len(items) > MOST_SHOWN else "")
        return f"how often {either or 'a value'} is in {_name((path, _NUMBER))}"

    def summary(self) -> str:
        """What outputs were seen, such as `a category and two numbers`, and whether they were all the same."""
        seen = self._seen.summary()
        return f"{seen}, the same in all runs" if seen and self.likeness.always_the_same else seen

    def judged(self, verdict: Verdict, reason: str, gap: Gap | None, *, allow_equal: bool) -> dict[str, Any]:
        """An auditor's verdict, reason and gap: undecided where outputs are equal that should not be.

        `allow_equal` says that this is meant, which the reason then repeats.
        """
        alike = self.likeness.summary()
        if verdict is not Verdict.SUPPORTED or not alike:
            return {"verdict": verdict, "reason": reason, "gap": gap}
        if allow_equal:
            return {"verdict": verdict, "reason": f"{reason}; {alike}: {ALLOWED_EQUAL}", "gap": gap}
        return {"verdict": Verdict.UNDECIDED, "reason": f"{alike}: {NOT_ALLOWED}", "gap": Gap.EQUAL_OUTPUTS}

    def name_event(self, event: AnyEvent | WhichNumber) -> str:
        """An event of the rows, or a number, in words, with the places of the outputs instead of numbers of columns."""
        names = self.names if self._shown else ()
        if isinstance(event, SingleOutput) and names:
            return self._output(event)
        if isinstance(event, OneNumber) and event.column < len(names):
            slot, before = list(self._shown.items())[event.column]
            return self._part(slot, before, event.value) or f"{names[event.column]} = {event.value:.6g}"
        if not isinstance(event, Event | WhichNumber) or event.column is None or event.column >= len(names):
            return str(event)
        (path, kind), before = list(self._shown.items())[event.column]
        if kind == _MINUS_ZERO:
            there = isinstance(event, WhichNumber) or event.above
            return f"{_name((path, _NUMBER))} {'is' if there else 'is not'} -0.0"
        if kind == _RAISED and not isinstance(event, WhichNumber):
            return self._exceptions(event, before)
        if isinstance(event, WhichNumber):
            return names[event.column]
        return str(replace(event, scorer=names[event.column]))

    def _exceptions(self, event: Event, before: float) -> str:
        """Exceptions that are in an event, or which are not."""
        raised = {"": 0.0} | {word: code for code, word in sorted(self._seen.raised.items())}
        shown = {
            word: before if code == 0 else 0.0 if code == before else code for word, code in raised.items()
        }
        inside = [word for word, code in shown.items() if (code > event.threshold) == event.above]
        if "" not in inside:
            return f"{' or '.join(inside) or 'another exception'} raised"
        return f"no {' or '.join(word for word in raised if word not in inside) or 'other exception'} raised"

    def _output(self, event: SingleOutput) -> str:
        parts, raised = [], set()
        for value, (slot, before) in zip(event.values[:MOST_SHOWN], self._shown.items(), strict=False):
            part = "" if slot[0] in raised else self._part(slot, before, value)
            parts += [part] if part else []
            raised |= {slot[0]} if part and slot[1] == _RAISED else set()
        parts += ["..."] if len(event.values) > MOST_SHOWN else []
        return f"output with {', '.join(parts)}" if parts else str(event)

    def _part(self, slot: Slot, before: float, value: float) -> str:
        """What a column says of an output; empty if nothing."""
        path, kind = slot
        value = before if value == 0 else 0.0 if value == before else value
        if kind == _CATEGORY and value:
            word = self._seen.words.get(int(value), "another category")
            return f"{_name((path, _NUMBER))} = {word}"
        if kind == _RAISED:
            return f"{self._seen.raised.get(value, 'an exception')} raised" if value else ""
        if kind == _MINUS_ZERO:
            return f"{_name((path, _NUMBER))} is {'' if value else 'not '}-0.0"
        return (
            f"{_name((path, kind))} = {value:.6g}"
            if kind in (_NUMBER, _NAN_BITS) or (kind == _LOW and value)
            else ""
        )


# ------------------------------------------------------------------------------------------- columns


def _stacked(shown: dict[Slot, float], columns: dict[Slot, Array], count: int) -> Array:
    rows = np.zeros((count, len(shown)))
    for place, (slot, before) in enumerate(shown.items()):
        if slot in columns:
            rows[:, place] = columns[slot]
            if slot[1] in _OF_LISTS and (usual := shown[slot[0], _LENGTH]):
                # of lists as long as all were before, it was not said
                rows[columns[slot[0], _LENGTH] == usual, place] = 0
        if before:
            values = rows[:, place]
            rows[:, place] = np.where(values == before, 0.0, np.where(values == 0, before, values))
    return rows


def _columns(points: NDArray[Any], seen: _Seen) -> dict[Slot, Array]:
    """The values of each column in all runs, 0 in those that have none."""
    if is_texts(points):
        return _of_trees(points, seen)
    seen.array(points)
    flat = points.reshape(len(points), math.prod(points.shape[1:]))
    found = {slot: np.full(len(points), value) for slot, value in _containers(points.shape[1:])}
    if not flat.size:
        return found
    with np.errstate(over="ignore"):  # a long double may not fit
        finite = np.isfinite(flat.astype(np.float64, copy=False))
    rounded, lost = as_floats(np.where(finite, flat, 0), "outputs")
    codes = np.select([np.isnan(flat), flat > 0], [_NAN, _PLUS], _MINUS) * ~finite
    parts = (
        (_NUMBER, rounded + 0.0),
        (_LOW, lost),
        (_MINUS_ZERO, is_minus_zero(rounded).astype(np.float64)),
        (_NAN_BITS, _nan_bits(np.where(np.isnan(flat), flat, np.nan))),
        (_CATEGORY, codes.astype(np.float64)),
    )
    for place, path in enumerate(np.ndindex(points.shape[1:])):
        for kind, values in parts:
            if kind == _NUMBER or values[:, place].any():
                found[path, kind] = values[:, place]
    return found


def _nan_bits(values: NDArray[Any]) -> Array:
    """What the bits of NaN are but for those of the usual one, as a number that a float holds; 0 for that one."""
    bits = np.asarray(values, dtype=np.float64).view(np.uint64) ^ np.float64(np.nan).view(np.uint64)
    sign, rest = bits >> np.uint64(63), bits & np.uint64(2**52 - 1)
    return np.asarray((sign << np.uint64(52) | rest).astype(np.float64))


def _containers(shape: tuple[int, ...]) -> list[tuple[Slot, float]]:
    """What an array says beside its numbers: at each level, a list of so many."""
    found: list[tuple[Slot, float]] = []
    for level, length in enumerate(shape):
        for path in np.ndindex(shape[:level]):
            found += [((path, _CATEGORY), float(_LIST)), ((path, _LENGTH), float(length))]
    return found


def _is_finite(points: NDArray[Any]) -> bool:
    if is_texts(points) or points.dtype.kind not in _NUMBERS:
        return False
    with np.errstate(over="ignore"):
        return bool(np.isfinite(points.astype(np.float64, copy=False)).all())


# ------------------------------------------------------------------------------------------- trees


def _of_trees(texts: NDArray[Any], seen: _Seen) -> dict[Slot, Array]:
    columns: dict[Slot, Array] = defaultdict(lambda: np.zeros(len(texts)))
    for run, text in enumerate(texts.tolist()):
        slots: dict[Slot, float] = {}
        try:
            _walk(json.loads(text), (), slots, seen, 0)
        except (ValueError, RecursionError, TypeError, KeyError) as error:
            raise InvalidDataError(
                f"The output of run {run + 1} of a round is not a text as dpverify writes it; allowed: outputs that "
                "came through the function's return value."
            ) from error
        for slot, value in slots.items():
            columns[slot][run] = value
    return dict(columns)


def _walk(tree: Any, path: Path, slots: dict[Slot, float], seen: _Seen, depth: int) -> None:
    if depth > 3 * DEEPEST:
        raise ValueError("too deep")
    if isinstance(tree, (bool, int, float)):
        _number(tree, path, slots, seen)
    elif isinstance(tree, list):
        slots[path, _CATEGORY], slots[path, _LENGTH] = _LIST, len(tree)
        seen.list(path, len(tree))
        _list(tree, path, slots, seen)
        for place, item in enumerate(tree):
            _walk(item, (*path, place), slots, seen, depth + 1)
    elif isinstance(tree, dict):
        _object(tree, path, slots, seen, depth)
    else:
        _category("text" if isinstance(tree, str) else "", tree, path, slots, seen)


def _list(items: list[Any], path: Path, slots: dict[Slot, float], seen: _Seen) -> None:
    """What a list says wherever it says it."""
    if len(items) > 1:
        plain = [json.dumps(item) if isinstance(item, list | dict) else item for item in items]
        slots[path, _DIFFERENT] = len(set(plain))
    # a pair counts by its first
    firsts = [item[0] if isinstance(item, list) and item else item for item in items]
    if all(isinstance(item, str) for item in firsts) or all(isinstance(item, int | float) for item in firsts):
        slots[path, _LESS] = sum(later < item for item, later in itertools.pairwise(firsts))
    for item in firsts:
        if isinstance(item, list | dict) or (isinstance(item, float) and not item.is_integer()):
            continue
        whole = isinstance(item, int | float)
        place = int(item) if whole else zlib.crc32(str(item).encode("utf-8", "surrogatepass"))
        slot = path, _COUNTS[place % len(_COUNTS)]
        slots[slot] = slots.get(slot, 0.0) + 1
        seen.item(slot, repr(quoted(item, 40)) if isinstance(item, str) else str(item))


def _number(value: float, path: Path, slots: dict[Slot, float], seen: _Seen) -> None:
    if isinstance(value, float) and not math.isfinite(value):
        code = _NAN if math.isnan(value) else _PLUS if value > 0 else _MINUS
        slots[path, _CATEGORY] = code
        seen.leaf(path, "NaN" if code == _NAN else "infinity")
        return
    seen.leaf(path, "truth value" if isinstance(value, bool) else "number")
    try:
        near = float(value)
        low = 0 if abs(value) <= _EXACT or isinstance(value, float) else value - int(near)
        slots[path, _NUMBER] = near + 0.0
        if near == 0 and math.copysign(1.0, near) < 0:
            slots[path, _MINUS_ZERO] = 1.0
        if low:
            slots[path, _LOW] = float(low)
        if int(float(low)) != low:
            _category("integer", str(value), path, slots, seen)
    except OverflowError:
        _category("integer", str(value), path, slots, seen)


def _object(tree: dict[str, Any], path: Path, slots: dict[Slot, float], seen: _Seen, depth: int) -> None:
    tag = next(iter(tree)) if len(tree) == 1 else ""
    if not tag.startswith("$"):
        pairs, kind = list(tree.items()), _DICTIONARY
    elif tag == "$dict":
        # texts as keys of other dictionaries never begin so
        pairs = [(f"${json.dumps(key, sort_keys=True)}", item) for key, item in tree[tag]]
        kind = _DICTIONARY
    elif tag == "$set":
        pairs, kind = [(json.dumps(item, sort_keys=True), None) for item in tree[tag]], _SET
    elif tag == "$complex":
        pairs, kind = list(zip(("real", "imag"), tree[tag], strict=True)), _COMPLEX
    elif tag == "$nan":
        _number(math.nan, path, slots, seen)
        slots[path, _NAN_BITS] = float(
            _nan_bits(np.array([int(tree[tag], 16)], dtype=np.uint64).view(np.float64))[0]
        )
        return
    elif tag == "$sum":
        slots[path, _NUMBER], slots[path, _LOW] = map(float, tree[tag])
        seen.leaf(path, "number")
        return
    elif tag == "$raised":
        # a small code, by which types of exceptions are told apart
        slots[path, _RAISED] = code = 1.0 + zlib.crc32(tree[tag].encode("utf-8", "surrogatepass"))
        seen.leaf(path, "exception")
        seen.raised.setdefault(code, tree[tag])
        return
    else:
        _category(tag, json.dumps(tree[tag]), path, slots, seen)
        return
    slots[path, _CATEGORY] = kind
    for key, item in pairs:
        if kind != _COMPLEX:
            slots[(*path, key), _THERE] = 1.0
        if kind == _SET:
            seen.leaf((*path, key), "category")
        else:
            _walk(item, (*path, key), slots, seen, depth + 1)


def _category(kind: str, value: str | None, path: Path, slots: dict[Slot, float], seen: _Seen) -> None:
    """The code of a category: of None, of a short text by its bytes, of anything else by a hash."""
    if kind != "integer":
        seen.leaf(path, "category")
    if value is None:
        slots[path, _CATEGORY] = _NONE
        return
    content = value.encode("utf-8", "surrogatepass")
    if kind == "text" and len(content) <= 5:
        slots[path, _CATEGORY] = float(_SHORT + int.from_bytes(b"\1" + content))
        seen.word(slots[path, _CATEGORY], value)
        return
    digest = hashlib.blake2b(content, digest_size=16, person=kind.encode()[:16]).digest()
    slots[path, _CATEGORY] = _LONG + int.from_bytes(digest[:8]) % _HASHED
    slots[path, _MORE] = float(int.from_bytes(digest[8:]) >> 12)
    slots[path, _LENGTH] = float(len(value))
    seen.word(slots[path, _CATEGORY], value)


# ------------------------------------------------------------------------------------------- names


def _place(slot: Slot) -> tuple[int, list[tuple[int, int, str]], int]:
    """Numbers first, then categories, then counts of values, each in the order of their places."""
    path, kind = slot
    steps = [(0, step, "") if isinstance(step, int) else (1, 0, step) for step in path]
    group = 2 if kind in _COUNTS else int(kind in (_CATEGORY, _MORE))
    return group, steps, _ORDER.index(kind) if kind in _ORDER else 0


def _name(slot: Slot) -> str:
    path, kind = slot
    if not path:
        name = "value"
    elif len(path) == 1 and isinstance(path[0], int):
        name = f"coordinate {path[0] + 1}"
    else:
        name = "".join(f"[{step!r}]" for step in path)
    return name if kind == _NUMBER else f"{kind} of {name}"


_WORDS = "no one two three four five six seven eight nine ten eleven twelve"
_KINDS = {
    "number": ("a number", "numbers"),
    "truth value": ("a truth value", "truth values"),
    "category": ("a category", "categories"),
    "NaN": ("NaN", "NaN"),
    "infinity": ("infinity", "infinities"),
    "exception": ("an exception", "exceptions"),
}
"""One of a kind, and several."""
_MOST_WORDS = 10_000


class _Seen:
    """Which kinds of leaves were seen at which places, and how long lists were."""

    def __init__(self) -> None:
        self.leaves: dict[Path, set[str]] = {}
        self.items: dict[Slot, list[str]] = {}
        self.raised: dict[float, str] = {}
        self.lengths: dict[Path, tuple[int, int]] = {}
        self.arrays: set[tuple[tuple[int, ...], str]] = set()
        self.words = {_NONE: "None", _NAN: "NaN", _PLUS: "infinity", _MINUS: "-infinity", _LIST: "a list",
                      _DICTIONARY: "a dictionary", _SET: "a set", _COMPLEX: "a complex number"}  # fmt: skip

    def word(self, code: float, text: str) -> None:
        """What a category's code stands for, of the first ones."""
        if len(self.words) < _MOST_WORDS:
            self.words.setdefault(int(code), repr(quoted(text, 40)))

    def item(self, slot: Slot, word: str) -> None:
        """What is counted in a column, of the first ones."""
        words = self.items.setdefault(slot, [])
        if word not in words and len(words) <= MOST_SHOWN:
            words.append(word)

    def leaf(self, path: Path, kind: str) -> None:
        self.leaves.setdefault(path, set()).add(kind)

    def list(self, path: Path, length: int) -> None:
        low, high = self.lengths.get(path, (length, length))
        self.lengths[path] = min(low, length), max(high, length)

    def array(self, points: NDArray[Any]) -> None:
        """All runs of an array; of its NaN and infinities, that there are some."""
        values = points.reshape(-1)
        shape = points.shape[1:]
        if points.dtype.kind != "f":
            self.arrays.add((shape, "truth value" if points.dtype.kind == "b" else "number"))
            return
        nan, infinite = np.isnan(values), np.isinf(values)
        for kind, found in (("number", ~(nan | infinite)), ("NaN", nan), ("infinity", infinite)):
            if found.any() or (kind == "number" and not values.size):
                self.arrays.add((shape, kind))

    def summary(self) -> str:
        """In words."""
        for shape, kind in sorted(self.arrays):
            for level, length in enumerate(shape):
                for path in np.ndindex(shape[:level]):
                    self.list(path, length)
            for path in np.ndindex(shape):
                self.leaf(path, kind)
        self.arrays.clear()
        counted: Counter[tuple[str, ...]] = Counter()
        lists: dict[Path, set[str]] = {}
        for path, kinds in self.leaves.items():
            outer = next((path[:n] for n in range(len(path)) if self._varies(path[:n])), None)
            if outer is None:
                counted[_label(kinds)] += 1
            else:
                lists.setdefault(outer, set()).update(kinds)
        parts = [_so_many(count, label) for label, count in sorted(counted.items())]
        for path, kinds in lists.items():
            low, high = self.lengths[path]
            so_many = _so_many(high, _label(kinds))
            parts.append(
                f"a list that is empty or has {so_many}" if high == 1 else f"a list of {low} to {so_many}"
            )
        if not parts:
            return "empty lists" if self.lengths else ""
        return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"

    def _varies(self, path: Path) -> bool:
        low, high = self.lengths.get(path, (0, 0))
        return low != high


def _label(kinds: set[str]) -> tuple[str, ...]:
    """The kinds at one place, the main one first."""
    if "number" in kinds:
        kinds = kinds - {"truth value"}
    return tuple(kind for kind in _KINDS if kind in kinds)


def _so_many(count: int, label: tuple[str, ...]) -> str:
    main, *others = label
    rest = f" (at times {' or '.join(_KINDS[kind][0] for kind in others)})" if others else ""
    if count == 1:
        return _KINDS[main][0] + rest
    words = _WORDS.split()
    return f"{words[count] if count < len(words) else count} {_KINDS[main][1]}{rest}"
