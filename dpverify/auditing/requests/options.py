"""How the fields of a request are written where only text can be, and how a door's errors name them.

The options of `dpverify audit` are made from this table, and a project's file is read by it. Nothing heavy is imported.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from dpverify.errors import InvalidArgumentError

RUNS = 20_000
"""On each data set, unless a request says otherwise."""
SECONDS, GIB = 600.0, 4.0
"""Limits of a worker process."""

Kind = Literal["text", "file", "number", "count", "flag", "texts"]


@dataclass(frozen=True)
class Option:
    """How a field is written: what it holds, what stands for its value, and its help, other fields in braces."""

    kind: Kind
    metavar: str
    help: str

    def summary(self, spell: Callable[[str], str] = str) -> str:
        """The help, with other fields as a door writes them."""
        return self.help.format_map({name: spell(name) for name in OPTIONS})


OPTIONS: Mapping[str, Option] = MappingProxyType({
    # what is audited
    "function": Option("text", "PACKAGE.MODULE:FUNCTION",
        "A function (data, rng) -> output, or batched (data, rng, runs) -> outputs; with {attribute}, an estimator, or "
        "what makes one."),
    "command": Option("text", "COMMAND",
        'A program in any language that reads one line {{"runs": N, "seed": S, "data": [...]}} and writes N lines of '
        "JSON, an output each."),
    "attribute": Option("texts", "NAME",
        "Fit an estimator; this attribute of it is released. May be repeated."),
    "structure": Option("text", "PACKAGE.MODULE:FUNCTION",
        "White box: a function from a data set to the steps and the noise of a run on it, a StatedStructure; {runs} of "
        "them are simulated, and outputs are compared with them."),
    "left": Option("file", "FILE",
        "Samples on one data set: .npy, .npz, .csv or .parquet, one run per row."),
    "right": Option("file", "FILE",
        "Samples on its neighbor."),
    "scores": Option("file", "FILE",
        "One training run: a score for each of its canaries, one per row, a column for each checkpoint; larger for "
        "canaries that seem to be members."),
    "members": Option("file", "FILE",
        "With {scores}: whether each canary was in the training set, 0 or 1, by its own fair coin; in the same order."),
    # on which data
    "data": Option("file", "FILE",
        "A data set: a CSV or Parquet file of numbers, passed to the function as an array, with NaN for what is "
        "missing; or with columns of text, truth values or dates, passed as {data_form} says."),
    "neighbor": Option("file", "FILE",
        "The neighboring data set, with its records in the same order."),
    "data_form": Option("text", "array|records|pandas|polars|sparse",
        "How the function gets {data}: as an array of numbers (the default where all columns are), as a list of "
        "dictionaries by column (the default for others; what is missing is None, a date a datetime.date), as a data "
        "frame, or as a sparse array of SciPy."),
    "pair": Option("file", "FILE.json",
        "A pair of neighboring data sets that a search found, instead of {data}, {neighbor} and {adjacency}."),
    "search_neighbors": Option("file", "FILE.json",
        "Search for the most revealing pair of neighbors, with {data} as an example, a table of text and dates too; "
        "write it to this file, and audit it on fresh runs."),
    "record_range": Option("text", "LOW,HIGH",
        "With {search_neighbors}: the numbers that records may hold, in columns of numbers. Without it, records out of "
        "the example's range are tried as well."),
    "fewest_records": Option("count", "N",
        "With {search_neighbors}: data sets have at least so many records; default: 1, or 0 where one has one more."),
    "adjacency": Option("text",
        "replace-one|add-or-remove-one|index|zero-out|answers-within-1|user|group|label|local|metric|private-columns|"
        "unchecked",
        "How the data sets differ: one record is replaced (the default, but for samples); one of them has one more "
        "record (the default with {scores}); the record at {index} is replaced; one record is replaced by zeros; "
        "records are queries' answers, each of which moves by at most 1; all records of one user, whom column {key} "
        "names, differ, are new or missing; at most {size} records differ, or are new or missing; only a record's "
        "label; each data set is one record; one record moves by at most {distance}; a record differs in its private "
        "{columns} only; or not checked."),
    "index": Option("count", "N",
        "With {adjacency} index: number of the record that differs, from 1."),
    "key": Option("text", "COLUMN",
        "With {adjacency} user: the column that says whose record it is, by number from 1 or by name."),
    "size": Option("count", "K",
        "With {adjacency} group: largest number of records that differ."),
    "change": Option("text", "replaced|added-or-removed",
        "With {adjacency} user or group: the only way in which records differ; default: either."),
    "distance": Option("number", "R",
        "With {adjacency} metric: largest norm of the difference of two records."),
    "norm": Option("text", "l1|l2|linf",
        "With {adjacency} metric: of that difference; default: l2."),
    "columns": Option("text", "COLUMN,...",
        "With {adjacency} private-columns: the columns that may differ, by number from 1 or by name. With label: the "
        "one of the label; default: the last."),
    # for which claim
    "claim": Option("text", "CLAIM",
        'The claim, in nats: "eps=1", "eps=ln(3),delta=1e-5", "delta=0.1" or "tv=0.1", "mu=1", "mu=1,delta=1e-6", '
        '"rho=0.5", "rho=0.5,delta=1e-6", "rho=0.5,omega=10", "order=8,rdp=0.3", "rdp=2:0.1;4:0.3", "bounded-range=1", '
        '"profile=FILE.json", "pld=FILE.json", "tradeoff=FILE.json".'),
    "delta": Option("number", "DELTA",
        "Where epsilon is bounded; default: the claim's own delta, and 1e-5 for a curve."),
    "allow_equal": Option("flag", "",
        "Equal outputs are meant: a mechanism that always gives the same, or sides drawn with one seed. Without it, a "
        "claim about outputs that never vary, or of which one sample stands on both sides, is undecided."),
    "count_exceptions": Option("flag", "",
        "An exception that the function raises is an output, of which its type is seen. Without it, a function that "
        "raises is refused. A function that takes runs is then called for one run at a time."),
    # with which budget
    "runs": Option("count", "N",
        f"Largest number of runs on each data set; default: {RUNS}. With {{fixed_runs}}, the exact number."),
    "fixed_runs": Option("flag", "",
        "Make all runs and test the whole privacy profile once, at the end, instead of stopping as soon as the claim "
        "is refuted."),
    "time": Option("number", "SECONDS",
        "Begin no more runs that would end after this; the verdict covers the runs made until then."),
    "failure_probability": Option("number", "PROBABILITY",
        "A correct claim is called violated with at most this probability."),
    "seed": Option("count", "N",
        "Same seed, same results, bit for bit."),
    # at which events
    "score": Option("texts", "NAME",
        'Cut out events by this score only, such as value or "best coordinate"; may be repeated. For samples, or with '
        "{fixed_runs}."),
    "direction": Option("texts", "left-over-right|right-over-left",
        "Look for what is likelier on the first data set, or on its neighbor; default: both. For samples, or with "
        "{fixed_runs}."),
    "low_bits": Option("flag", "",
        "Look at the low bits and last decimals of outputs, and nothing else: plain floating-point noise leaks there "
        "the value it was added to. With {search_neighbors}, pairs are searched on which they do."),
    # how it is run
    "executor": Option("text", "serial|threads=K|processes=K|dask=ADDRESS",
        "Where runs are computed; default: serial."),
    "store": Option("file", "FILE",
        "For finished blocks of runs, from which an interrupted audit continues."),
    "time_limit": Option("number", "SECONDS",
        f"Wall-clock limit on importing the function and on each call; default: {SECONDS:g}. A guard against runaway "
        "code."),
    "memory_limit": Option("number", "GIB",
        f"Memory limit on each of the function's processes, and on all outputs together; default: {GIB:g}."),
})  # fmt: skip
"""All fields of a request, as the command line lists them."""


def option_name(name: str) -> str:
    """A field as the command line writes it."""
    return OPTIONS[name].metavar if name == "function" else f"--{name.replace('_', '-')}"


class RequestError(InvalidArgumentError):
    """Fields that do not go together; `template` says what is allowed, with `{}` for other fields' names."""

    def __init__(self, argument: str, value: object, template: str, *names: str) -> None:
        super().__init__(argument, value, template.format(*names))
        self.template, self.names = template, names


@contextlib.contextmanager
def spelled(spell: Callable[[str], str]) -> Iterator[None]:
    """Within, errors about fields name them as a door writes them."""
    try:
        yield
    except InvalidArgumentError as error:
        if error.argument not in OPTIONS:
            raise
        allowed = error.allowed
        if isinstance(error, RequestError):
            allowed = error.template.format(*map(spell, error.names))
        raise InvalidArgumentError(spell(error.argument), error.value, allowed) from error.__cause__
