"""Outputs of any form: different ones get different rows, equal ones equal rows, whatever else is seen."""

from __future__ import annotations

import dataclasses
import decimal
import enum
import math
from collections.abc import Sequence
from datetime import date
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpverify.auditing import DEFAULT_SCORERS, Encoder, audit_privacy
from dpverify.auditing.black_box.mixed import WithinCategories, varying
from dpverify.auditing.black_box.scores import apply_score
from dpverify.auditing.events import Event, SingleOutput
from dpverify.auditing.sequential import SequentialAuditor
from dpverify.errors import InvalidDataError
from dpverify.ledger.verdicts import Gap, Verdict
from dpverify.privacy import PureDP
from dpverify.running.subjects.texts import (
    FormlessError,
    as_texts,
    of_batch,
    of_runs,
    packed,
    text_of,
    unpacked,
)


class Color(enum.Enum):
    RED = 1
    BLUE = 2


@dataclasses.dataclass
class Answer:
    count: float
    name: str


DIFFERENT: list[Any] = [
    None, "", "a", "b", "None", "null", "nan", "1", b"", b"a", float("nan"), math.inf, -math.inf, 0, 1, 2, 0.5, -0.5,
    -0.0, 2**53, 2**53 + 1, 2**53 + 2, -(2**53) - 1, 2**70, 2**70 + 1, 10**400, 10**400 + 1, 1e300, 5e-324,
    [], [0], [[]], [0, 0], [[0], [0]], [[0, 0]], [None], {}, {"a": 0}, {"a": None}, {"a": {}}, {"b": 0},
    {"a": 0, "b": 0}, {1: 0}, {"1": 0}, {(1, 2): 0}, {"$bytes": "61"}, {"$dict": []}, set(), {0}, {1}, {"a"},
    {0, 1}, 1j, 1 + 1j,
    "a longer text", "a longer texu", "a longer text" * 50, "\ud800", "\0", "é", "e\u0301", Color.RED, Color.BLUE,
    decimal.Decimal("1.10"), decimal.Decimal("1.1"), date(2020, 1, 1), date(2020, 1, 2), Answer(1.0, "x"),
    Answer(1.0, "y"), np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1.0, 2.0, 3.0, 4.0]), np.array(["a", "b"]),
    np.longdouble(1) + np.finfo(np.longdouble).eps, ("yes", 1), ("no", 1), ("yes", [1]),
]  # fmt: skip
EQUAL: list[tuple[Any, Any]] = [
    (1, 1.0), (1, True), ((1, 2), [1, 2]), (np.float32(0.5), 0.5), (np.array([1, 2]), [1.0, 2.0]),
    ({"a": 1, "b": 2}, {"b": 2, "a": 1}), ({1, 2}, frozenset({2, 1})), (float("nan"), np.float32("nan")),
    (np.array(3), 3), (np.int64(2**53 + 1), 2**53 + 1), (np.str_("a"), "a"), (bytearray(b"a"), b"a"),
    (10**20, 1e20), ([2**53 + 1, 0.5], (2**53 + 1, np.float64(0.5))),
]  # fmt: skip


def texts(outputs: Sequence[Any]) -> np.ndarray[Any, Any]:
    return as_texts(of_runs(list(outputs)))


def test_different_outputs_have_different_rows() -> None:
    left, right = Encoder().rows(texts(DIFFERENT), texts(DIFFERENT[::-1]))
    assert len(np.unique(left, axis=0)) == len(DIFFERENT)
    assert np.array_equal(left, right[::-1])


def test_rows_stay_apart_while_columns_are_added() -> None:
    """Seen one by one, with what was seen before padded by zeros, as auditors do it."""
    encoder, rows = Encoder(), []
    for output in DIFFERENT:
        rows.append(encoder.rows(texts([output]), texts([output]))[0][0])
    width = len(rows[-1])
    padded = np.array([np.pad(row, (0, width - row.size)) for row in rows])
    assert len(np.unique(padded, axis=0)) == len(DIFFERENT)
    # and each gets the row that it had
    again, _ = encoder.rows(texts(DIFFERENT), texts(DIFFERENT))
    assert np.array_equal(again, padded)
    assert len(encoder.names) == width == len(set(encoder.names))


@pytest.mark.parametrize(("one", "other"), EQUAL)
def test_equal_outputs_have_equal_rows(one: Any, other: Any) -> None:
    left, right = Encoder().rows(texts([one, None, "x"]), texts([other, None, "x"]))
    assert np.array_equal(left, right)


LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8), st.binary(max_size=4),
    st.sampled_from([2**53, 2**53 + 1, -(2**53) - 1]),
)  # fmt: skip
TREES = st.recursive(
    LEAVES,
    lambda below: st.one_of(
        st.lists(below, max_size=3),
        st.dictionaries(st.one_of(st.text(max_size=3), st.integers(0, 3)), below, max_size=3),
    ),
    max_leaves=6,
)  # fmt: skip


@settings(max_examples=40, deadline=None)
@given(st.lists(TREES, min_size=2, max_size=8), st.integers(0, 8))
def test_rows_are_equal_just_where_outputs_are(outputs: list[Any], early: int) -> None:
    """Whatever was seen first. True is 1 in Python, and in rows; in texts it is not."""
    known = [text_of(output).replace("true", "1").replace("false", "0") for output in outputs]
    encoder = Encoder()
    encoder.rows(of_runs(outputs[:1]), of_runs(outputs[-1:] + outputs[:early]))
    rows, again = encoder.rows(of_runs(outputs), texts(outputs))
    assert np.array_equal(rows, again)
    for i, one in enumerate(known):
        for j, other in enumerate(known[:i]):
            if '"' not in one + other:  # no word true or false in a text
                assert np.array_equal(rows[i], rows[j]) == (one == other)


def test_a_row_depends_on_one_output_alone() -> None:
    """Else what is bet on one run would rest on others of its round. The order of runs changes no row either."""
    rng = np.random.default_rng(1)
    pool = [*DIFFERENT, *rng.normal(size=20).tolist()]
    first = [pool[i] for i in rng.integers(len(pool), size=10)]
    later = [pool[i] for i in rng.integers(len(pool), size=30)]
    order = rng.permutation(30)
    found = []
    for others in (later, [later[i] for i in order]):
        encoder = Encoder()
        before, _ = encoder.rows(texts(first), texts(first))
        rows, _ = encoder.rows(texts(others), texts(first))
        found.append((rows, before.shape[1]))
    (rows, width), (shuffled, _) = found
    assert np.array_equal(rows[order], shuffled)
    alone = Encoder()
    alone.rows(texts(first), texts(first))
    for row, output in zip(rows, later, strict=True):
        one, _ = alone.rows(texts([output]), texts(first))
        assert np.array_equal(one[0, :width], row[:width])


def test_numbers_of_one_shape_are_their_own_rows() -> None:
    values = np.random.default_rng(2).normal(size=(10, 2, 3))
    encoder = Encoder()
    rows, _ = encoder.rows(values, values)
    assert np.array_equal(rows, values.reshape(10, 6))
    # something else comes later
    rows, _ = encoder.rows(texts([values[0], None, [1, 2], [[1, 2, 3], [4, 5]]]), texts([None]))
    assert np.array_equal(rows[0], np.concatenate([values[0].ravel(), np.zeros(rows.shape[1] - 6)]))
    assert len(np.unique(rows, axis=0)) == 4


@pytest.mark.parametrize(
    ("outputs", "says"),
    [
        ([0.5, 1.5], "a number"),
        ([np.zeros(50)], "50 numbers"),
        ([True, False], "a truth value"),
        (["yes", "no"], "a category"),
        ([("yes", 0.5, 1.5)], "a category and two numbers"),
        ([{"name": "a", "count": 3, "seen": True}], "a category, a number and a truth value"),
        ([0.5, None], "a number (at times a category)"),
        ([0.5, float("nan"), -math.inf], "a number (at times NaN or infinity)"),
        ([[], [1.0, 2.0]], "a list of 0 to two numbers"),
        ([[], [1.0]], "a list that is empty or has a number"),
        ([("a", [1.0]), ("b", [1.0, 2.0, 3.0])], "a category and a list of 1 to three numbers"),
        ([2**80], "a number"),
        ([[], []], "empty lists, the same in all runs"),
        ([1.5, 1.5], "a number, the same in all runs"),
        ([float("nan")] * 2, "NaN, the same in all runs"),
        (["no", "no"], "a category, the same in all runs"),
    ],
)
def test_what_outputs_are_is_said(outputs: list[Any], says: str) -> None:
    for points in (of_runs(outputs), texts(outputs)):
        encoder = Encoder()
        encoder.rows(points, points)
        assert encoder.summary() == says


def test_what_varies_later_was_not_the_same() -> None:
    encoder = Encoder()
    encoder.rows(np.zeros(3), np.zeros(3))
    assert encoder.summary() == "a number, the same in all runs"
    encoder.rows(np.zeros(3), np.array([0.0, 0.0, 1.0]))
    assert encoder.summary() == "a number"


def test_too_many_parts_are_refused() -> None:
    with pytest.raises(InvalidDataError, match="more than 10000 different parts"):
        Encoder().rows(texts([{f"key {i}": 0 for i in range(10_001)}]), texts([0]))


@pytest.mark.parametrize("outputs", [["yes", "no"], [b"yes", b"no"], [1j, 2j], [None, {}]])
def test_arrays_of_neither_numbers_nor_texts_are_refused(outputs: list[Any]) -> None:
    with pytest.raises(InvalidDataError, match=r"right has outputs of type .*; allowed: real numbers"):
        Encoder().rows(np.zeros(2), np.array(outputs))


def test_texts_that_are_none_are_refused() -> None:
    bad = np.array(["[1", "[" * 500 + "]" * 500, '{"$complex": 3}'], dtype=np.dtypes.StringDType())
    for text in bad:
        with pytest.raises(InvalidDataError, match="not a text as dpverify writes it"):
            Encoder().rows(np.array([text], dtype=bad.dtype), texts([0]))


@pytest.mark.parametrize("output", [object(), [lambda: 0], {"a": type}, 10**4000, iter([])])
def test_what_has_no_form_is_refused(output: Any) -> None:
    with pytest.raises(FormlessError, match=r"^returned "):
        text_of(output)


def test_texts_travel_as_bytes() -> None:
    found = texts(DIFFERENT)
    assert unpacked(packed(found)).tolist() == found.tolist()
    for bad in (np.zeros(3), np.frombuffer(b"1\n2", np.uint8), np.frombuffer(b"\xff\n", np.uint8)):
        with pytest.raises(ValueError):  # noqa: PT011
            unpacked(bad)


def test_batches_have_an_output_a_run() -> None:
    assert of_batch(np.array(["a", "b"])).tolist() == ['"a"', '"b"']
    assert of_batch([None, [1]]).tolist() == ["null", "[1]"]
    assert np.array_equal(of_batch([[1, 2], [3, 4]]), [[1, 2], [3, 4]])
    assert of_batch([[2**53 + 1], [0.5]]).tolist() == [f"[{2**53 + 1}]", "[0.5]"]
    for bad in ("abc", {"a": [1, 2]}, None, np.array(None)):
        with pytest.raises(FormlessError):
            of_batch(bad)


# ------------------------------------------------------------------------------------------- audits


def _release(kind: str, side: int, runs: int, rng: np.random.Generator) -> list[Any]:
    """Outputs whose sides differ in one respect only; with side 0 twice, they do not."""
    noise = rng.laplace(size=runs)
    if kind == "text":
        return np.where(rng.random(runs) < 0.5 + 0.3 * side, "yes", "no").tolist()
    if kind == "None":
        return [None if u < 0.2 + 0.3 * side else x for u, x in zip(rng.random(runs), noise, strict=True)]
    if kind == "NaN":
        return [math.nan if u < 0.2 + 0.3 * side else x for u, x in zip(rng.random(runs), noise, strict=True)]
    if kind == "key":
        return [
            {"a": x} | ({"b": x} if u < 0.3 * side else {})
            for u, x in zip(rng.random(runs), noise, strict=True)
        ]
    if kind == "length":
        return [rng.normal(size=n).tolist() for n in rng.poisson(3 + 2 * side, size=runs)]
    if kind == "low digit":
        return [2**53 + 2 * int(n) + side for n in rng.integers(9, size=runs)]
    if kind == "padding":
        return ["x" * n for n in rng.geometric(0.1, size=runs) + 6 + 4 * side]
    # the number moves one way within one category and the other way within the other, so neither shows alone
    up = rng.random(runs) < 0.5
    return list(
        zip(np.where(up, "up", "down").tolist(), (noise + 1.5 * side * (2 * up - 1)).tolist(), strict=True)
    )


KINDS = ("text", "None", "NaN", "key", "length", "low digit", "padding", "within a category")


@pytest.mark.one_in(4)
@pytest.mark.parametrize("kind", KINDS)
def test_differences_of_any_form_are_found(kind: str) -> None:
    """Both auditors refute eps = 0.2, and neither refutes it of two equal laws: false alarm 1e-6 each, seeded."""
    rng = np.random.default_rng(3)
    claim = PureDP(0.2)
    for side in (1, 0) if kind == "within a category" else (1,):
        left, right = of_runs(_release(kind, 0, 2000, rng)), of_runs(_release(kind, side, 2000, rng))
        p, q = Encoder().rows(left, right)
        found = audit_privacy(p, q, claim, adjacency="replace-one", failure_probability=1e-6, seed=1)
        assert (found.verdict is Verdict.VIOLATED) == (side == 1), found.reason
        auditor = SequentialAuditor(claim, "replace-one", 1e-6, 1, 2000)
        encoder, done = Encoder(), 0
        for size in auditor.rounds():
            auditor.see(*encoder.rows(left[done : done + size], right[done : done + size]))
            done += size
            if auditor.violated:
                break
        assert auditor.violated == (side == 1)


def test_unique_texts_accuse_nobody() -> None:
    """Texts that never repeat, on both sides by one law: codes must not tell which side was encoded first."""
    rng = np.random.default_rng(4)
    auditor, encoder = SequentialAuditor(PureDP(0.1), "replace-one", 1e-6, 1, 1000), Encoder()
    for size in auditor.rounds():
        auditor.see(*encoder.rows(*(texts([f"text {u:.17g}" for u in rng.random(size)]) for _ in range(2))))
    assert not auditor.violated
    assert auditor.epsilon_lower == 0


def test_a_planted_dependence_on_the_side_would_be_caught() -> None:
    """The same with codes in the order of appearance in a round, which is what the encoder must not give."""
    auditor = SequentialAuditor(PureDP(0.1), "replace-one", 1e-6, 1, 2000)
    for size in auditor.rounds():
        auditor.see(*np.split(np.arange(2.0 * size) / size, 2))
        if auditor.violated:
            break
    assert auditor.violated


def test_columns_that_do_not_vary_in_learning_runs_are_left_out() -> None:
    columns = varying(np.array([[1.0, 2.0, 3.0], [1.0, 2.0, 4.0]]), np.array([[1.0, 5.0, 3.0]]))
    assert columns.tolist() == [False, True, True]
    assert varying(np.ones((3, 2)), np.ones((3, 2))).tolist() == [True, False]
    # a constant beside the number does not cost the scores that are for one number
    rng = np.random.default_rng(5)
    p, q = rng.laplace(size=4000), rng.laplace(1.0, size=4000)
    alone, beside = (
        audit_privacy(*pair, PureDP(0.5), adjacency="replace-one", failure_probability=1e-6, seed=1)
        for pair in ((p, q), (np.column_stack([p, np.zeros(4000)]), np.column_stack([q, np.zeros(4000)])))
    )
    assert alone.epsilon_lower == beside.epsilon_lower


def test_scores_within_categories_use_one_output_alone() -> None:
    rng = np.random.default_rng(6)
    left, right = (
        np.array([[c == "up", x] for c, x in _release("", side, 3000, rng)], float) for side in (0, 1)
    )
    score = WithinCategories().fit(left, right, rng)
    assert score is not None
    assert WithinCategories() in DEFAULT_SCORERS
    whole = apply_score(score, left)
    order = rng.permutation(3000)[:500]
    assert np.array_equal(apply_score(score, left[order]), whole[order])
    # the score is what tells the sides apart: above its median in opposite ways
    assert whole.mean() > 0 > apply_score(score, right).mean()


def test_events_are_named_by_places_and_words() -> None:
    outputs = [{"a": 1.5, "b": "yes"}, {"a": 2.5, "b": "no"}, {"a": 2.5}, {"a": None, "b": "no longer short"}]
    encoder = Encoder()
    rows, _ = encoder.rows(texts(outputs), texts(outputs))
    assert encoder.name_event(Event("coordinate 1", 2.0, True, 0)) == "['a'] > 2"
    assert encoder.name_event(Event("coordinate 3", 0.0, False, 2)) == "presence of ['b'] <= 0"
    assert [encoder.name_event(SingleOutput(tuple(row))) for row in rows.tolist()] == [
        "output with ['a'] = 1.5, ['b'] = 'yes'",
        "output with ['a'] = 2.5, ['b'] = 'no'",
        "output with ['a'] = 2.5",
        "output with ['a'] = 0, ['a'] = None, ['b'] = 'no longer short'",
    ]
    plain = Encoder()
    plain.rows(np.zeros((3, 2)), np.ones((3, 2)))
    assert plain.name_event(Event("coordinate 1", 2.0, True, 0)) == "coordinate 1 > 2"
    encoder = Encoder()
    encoder.rows(texts(["yes", "no"]), texts(["yes", "no"]))
    assert encoder.name_event(Event("value", 93871.0, True, 0)) == "category of value > 93871"


def test_support_for_outputs_that_never_vary_is_none_unless_that_is_meant() -> None:
    encoder = Encoder()
    encoder.rows(np.zeros(200), np.zeros(200))
    for verdict, gap in ((Verdict.UNDECIDED, Gap.TOO_FEW_RUNS), (Verdict.VIOLATED, None)):
        kept = encoder.judged(verdict, "why", gap, allow_equal=False)
        assert kept == {"verdict": verdict, "reason": "why", "gap": gap}
    found = encoder.judged(Verdict.SUPPORTED, "why", None, allow_equal=False)
    assert (found["verdict"], found["gap"]) == (Verdict.UNDECIDED, Gap.EQUAL_OUTPUTS)
    assert "one and the same" in found["reason"]
    meant = encoder.judged(Verdict.SUPPORTED, "why", None, allow_equal=True)
    assert meant["verdict"] is Verdict.SUPPORTED
    assert meant["reason"].startswith("why; all outputs were one and the same")
    assert meant["reason"].endswith("was stated (--allow-equal)")
    encoder.rows(np.ones(2), np.zeros(2))
    assert encoder.judged(Verdict.SUPPORTED, "why", None, allow_equal=False)["reason"] == "why"


QUIET, SIGNALS, MINUS, OTHER = (
    np.array([bits], dtype=np.uint64).view(np.float64)[0]
    for bits in (0x7FF8000000000000, 0x7FF0000000000001, 0xFFF8000000000000, 0x7FF8000000000123)
)


@pytest.mark.parametrize(
    ("one", "other", "says"),
    [
        (0.0, -0.0, "value is -0.0"),
        ([1.5, 0.0], [1.5, -0.0], "coordinate 2 is -0.0"),
        (np.float32(0.0), np.float32(-0.0), "value is -0.0"),
        (np.float16(-0.0), 0, "value is -0.0"),
        ({"a": -0.0}, {"a": 0.0}, "['a'] is -0.0"),
        ([None, 0.0], [None, -0.0], "coordinate 2 is -0.0"),
        (complex(0.0, -0.0), complex(0.0, 0.0), "['imag'] is -0.0"),
        (np.array([[0.0, -0.0]]), np.array([[0.0, 0.0]]), "[0][1] is -0.0"),
        (QUIET, MINUS, "bits of NaN of value = 4.5036e+15"),
        (QUIET, OTHER, "bits of NaN of value = 291"),
        (QUIET, SIGNALS, "bits of NaN of value = 2.25"),
        ([QUIET, 1.0], [OTHER, 1.0], "bits of NaN of coordinate 1 = 291"),
        ([None, QUIET], [None, OTHER], "bits of NaN of coordinate 2 = 291"),
        ({"a": MINUS}, {"a": QUIET}, "bits of NaN of ['a'] = 4.5036e+15"),
    ],
)
@pytest.mark.parametrize("as_text", [False, True])
def test_bits_are_told_apart(one: Any, other: Any, says: str, as_text: bool) -> None:
    """What differs in the sign of a zero or in the bits of a NaN alone is another output, and the event says so."""
    sides = [
        as_texts(of_runs([output] * 200)) if as_text else of_runs([output] * 200) for output in (one, other)
    ]
    encoder = Encoder()
    left, right = encoder.rows(*sides)
    assert not np.array_equal(left[0], right[0])
    assert not encoder.likeness.always_the_same
    found = audit_privacy(left, right, PureDP(1.0), adjacency="unchecked", failure_probability=1e-3, seed=0)
    assert found.verdict is Verdict.VIOLATED
    said = {encoder.name_event(SingleOutput(tuple(row.tolist()))) for row in (left[0], right[0])}
    assert any(says in words for words in said)


def test_an_event_of_the_sign_of_a_zero_is_said() -> None:
    """A column that is 1 where a zero has a sign."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(400, 1))
    values[::2] = 0.0
    encoder = Encoder()
    rows, _ = encoder.rows(values, np.where(values == 0, -0.0, values))
    assert rows.shape == (400, 2)
    assert encoder.name_event(Event("coordinate 2", 0.5, True, 1)) == "coordinate 1 is -0.0"
    assert encoder.name_event(Event("coordinate 2", 0.5, False, 1)) == "coordinate 1 is not -0.0"
    assert encoder.name_event(Event("coordinate 1", 2.0, True, 0)) == "coordinate 1 > 2"


def test_an_event_of_a_column_after_one_that_is_left_out_has_its_own_name() -> None:
    """Once, columns were counted without those that never vary, so that the event was said of another one."""
    rng = np.random.default_rng(3)
    left, right = (np.column_stack([np.zeros(2000), rng.normal(shift, size=2000)]) for shift in (0.0, 9.0))
    found = audit_privacy(left, right, PureDP(0.1), adjacency="replace-one", failure_probability=1e-6, seed=1)
    assert found.violation is not None
    assert found.violation.event.column == 1
    assert "event: coordinate 2 " in found.reason
