"""Audits on tables of text, dates and what is missing. Each false alarm has probability 1e-6 at most."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from dpverify.auditing.requests import Request, audit
from dpverify.auditing.requests.audits import failure_lines
from dpverify.errors import DpverifyError, InvalidDataError
from dpverify.extras import MissingExtraError
from dpverify.ledger.verdicts import Verdict

ONE = "user,city,since\nann,Bonn,2024-01-31\nbob,,\nbob,Ulm,2023-02-28\n"
OTHER = ONE.replace("ann,Bonn", "ann,Ulm")
FUNCTION = """
def ulm(data, rng, runs):
    return sum(record["city"] == "Ulm" for record in data) + rng.laplace(size=runs)

def ulm_in_frame(data, rng, runs):
    return (data["city"] == "Ulm").sum() + rng.laplace(size=runs)
"""


def ulm(data: Any, rng: Any, runs: int) -> Any:
    return sum(record["city"] == "Ulm" for record in data) + rng.laplace(size=runs)


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_text(ONE)
    Path("b.csv").write_text(OTHER)
    Path("towns.py").write_text(FUNCTION)
    return "a.csv", "b.csv"


def test_the_same_bits_in_a_worker_and_here_and_from_a_store(files: tuple[str, str]) -> None:
    here = audit(Request(ulm, *files, "eps=0.4", runs=500, store="runs.db"))
    assert here.verdict is Verdict.VIOLATED
    again = audit(Request(ulm, *files, "eps=0.4", runs=500, store="runs.db"))
    worker = audit(Request("towns:ulm", *files, "eps=0.4", runs=500))
    assert here.runs == again.runs == worker.runs
    assert here.reason == again.reason == worker.reason
    assert audit(Request(ulm, *files, "eps=1", runs=500)).verdict is Verdict.SUPPORTED
    lines = failure_lines(Request(ulm, *files, "eps=0.4", runs=500), here)
    assert "difference: record 1 is (ann, Bonn, 2024-01-31), in the neighbor (ann, Ulm, 2024-01-31)" in lines


def test_a_command_gets_objects_with_null_and_text(files: tuple[str, str]) -> None:
    program = (
        "import json,random;a=json.loads(input());d=a['data'];assert d[1]=={'user':'bob','city':None,'since':None};"
        "assert d[0]['since']=='2024-01-31';random.seed(a['seed'])\n"
        "for _ in range(a['runs']):print(sum(r['city']=='Ulm' for r in d)+random.gauss(0,.1))"
    )
    command = f"{sys.executable} -c {shlex.quote(program)}"
    assert audit(Request(None, *files, "eps=1", command=command, runs=100)).verdict is Verdict.VIOLATED


@pytest.mark.parametrize("form", ["pandas", "polars"])
def test_data_frames(form: str, files: tuple[str, str]) -> None:
    pytest.importorskip(form)
    named = audit(Request("towns:ulm_in_frame", *files, "eps=0.4", runs=500, data_form=form))
    assert named.verdict is Verdict.VIOLATED
    assert f"--data-form {form}" in named.reproduce
    assert named.reason == audit(Request(ulm, *files, "eps=0.4", runs=500)).reason


@pytest.mark.parametrize("form", ["pandas", "polars"])
def test_a_library_that_is_missing_is_named_before_the_first_run(
    form: str, files: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, form, None)
    with pytest.raises(MissingExtraError, match=rf"needs {form}; allowed: after pip install .*\[frames\]'"):
        audit(Request("towns:ulm", *files, "eps=1", data_form=form))


def test_a_sparse_matrix_is_passed_on_as_it_is() -> None:
    def entries(data: Any, rng: Any, runs: int) -> Any:
        assert sparse.issparse(data)
        return data.nnz + rng.laplace(scale=0.2, size=runs)

    matrix = sparse.csr_matrix(np.eye(3))
    found = audit(Request(entries, matrix, matrix[:2], "eps=1", adjacency="add-or-remove-one", runs=500))
    assert found.verdict is Verdict.VIOLATED


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"data_form": "array"}, "holds no numbers"),
        ({"data_form": "frame"}, "array, records, pandas, polars, sparse"),
        ({"adjacency": "private-columns", "columns": "since"}, "in column 2"),
        ({"adjacency": "user", "key": "name"}, "user, city, since"),
        ({"structure": "towns:ulm"}, "which is a function of one"),
    ],
)
def test_what_does_not_fit(fields: dict[str, Any], says: str, files: tuple[str, str]) -> None:
    with pytest.raises(DpverifyError, match=says) as caught:
        audit(
            Request(
                **{"function": "towns:ulm", "data": files[0], "neighbor": files[1], "claim": "eps=1"} | fields
            )
        )
    assert "\n" not in str(caught.value)


def test_a_name_needs_a_header_and_a_table_another_one(files: tuple[str, str]) -> None:
    with pytest.raises(InvalidDataError, match="numbers in all columns"):
        audit(
            Request("towns:ulm", files[0], None, "eps=1", search_neighbors="pair.json", adjacency="zero-out")
        )
    with pytest.raises(DpverifyError, match="where they have no names"):
        audit(Request(ulm, [[1.0, 2.0]], [[1.0, 3.0]], "eps=1", adjacency="user", key="user"))
    with pytest.raises(InvalidDataError, match="both of one form"):
        audit(Request(ulm, files[0], [[1.0, 2.0, 3.0]], "eps=1"))


def test_a_mechanism_that_takes_its_generator_by_name_gets_the_table_too(files: tuple[str, str]) -> None:
    def mechanism(data: Any, *, rng: Any, runs: int) -> Any:
        assert isinstance(data, list)
        data[0]["city"], first = "Bonn", data[0]["city"]
        return float(first == "Ulm") + rng.generator.laplace(size=runs)

    found = audit(Request(mechanism, *files, "eps=0.4", runs=500))
    assert found.verdict is Verdict.VIOLATED


def test_integers_of_more_than_64_bits_are_refused() -> None:
    """A data frame has no place for them: polars would make them missing."""
    sides = [{"number": 2**63}], [{"number": 1}]
    with pytest.raises(InvalidDataError, match="holds 9223372036854775808; allowed: integers of 64 bits"):
        audit(Request(ulm, *sides, "eps=1", runs=100))


def test_what_a_frame_has_besides_its_records_is_the_same_on_both_sides() -> None:
    """Else a function that reads it would be called violated by a difference that no record makes."""
    pandas = pytest.importorskip("pandas")
    one, other = pandas.DataFrame({"age": [1, 2]}), pandas.DataFrame({"age": [1, 3]})
    with pytest.raises(InvalidDataError, match="an index of its own; allowed: 0, 1, 2 and so on"):
        audit(Request(ulm, one, other.set_axis([5, 6]), "eps=1", runs=100))
    with pytest.raises(InvalidDataError, match="allowed: the same types of columns"):
        audit(Request(ulm, one, other.astype(float), "eps=1", runs=100))
