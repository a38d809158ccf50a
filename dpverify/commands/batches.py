"""The command `dpverify batches`: recorded batches against the sampling that is accounted for."""

from __future__ import annotations

from typing import Annotated

import typer

from dpverify.commands.formats import Form, check_format, write_audit
from dpverify.terminal import Json, check_json, end_with


def batches(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="The batches in their order, a line each: a JSON list of the numbers of its records, such as "
            "[3, 17, 40]; in a .csv file 3,17,40, and an empty line for an empty batch. Records are numbered from 0.",
        ),
    ],
    sampling: Annotated[
        str,
        typer.Option(
            metavar="poisson|without-replacement|with-replacement|shuffled",
            help="How they are said to be drawn: each record in each batch by a coin of its own; so many of all "
            "records, each at most once, or again and again; or all records in a new random order for each pass.",
        ),
    ],
    records: Annotated[int, typer.Option(help="How many records the data set has.")],
    rate: Annotated[
        float | None,
        typer.Option(help="With poisson: the probability with which each record is in each batch."),
    ] = None,
    batch: Annotated[
        int | None,
        typer.Option(help="With the others: how many records a batch has; for shuffled, all by default."),
    ] = None,
    failure_probability: Annotated[
        float, typer.Option(help="Batches drawn as stated are called violated with at most this probability.")
    ] = 1e-6,
    form: Form = "text",
    json_file: Json = None,
) -> None:
    """Check recorded batches against the assumed sampling.

    The check tests the whole law of the batches' sizes; how often each record comes, alone, beside its neighbor and in
    blocks; the overlap of batches that are 1 to 8 apart; and, for shuffled batches, the order of each pass. Accountants
    assume all of it: a loader that truncates batches, or goes through a shuffled data set, has another privacy loss.
    Exit code 0 if no count is off, 1 if one is, 3 if there are too few batches to tell.
    """
    from dpverify.auditing.batches import BatchesRequest, audit_recorded
    from dpverify.auditing.requests.options import flag, spelled
    from dpverify.views.results import SourcePlace

    check_format(form, json_file)
    check_json(json_file)
    with spelled(flag, BatchesRequest.__dataclass_fields__):
        request = BatchesRequest(file, sampling, records, rate, batch, failure_probability)
    found = audit_recorded(request)
    write_audit(found, lambda: SourcePlace(file, 1), form, json_file, "dpverify batches")
    end_with(found.verdict)
