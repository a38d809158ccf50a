"""The command `dpverify tails`: how far noise goes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dpverify.errors import InvalidArgumentError
from dpverify.ledger.written_numbers import at_least
from dpverify.terminal import VIOLATED, Json, Seed, check_json, print_facts, progress_bar, write_json

if TYPE_CHECKING:
    from dpverify.auditing.noise import TailAudit
    from dpverify.verification.noise_audits import NoiseAudit, NoiseQuestion


def tails(
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="PACKAGE.MODULE:FUNCTION",
            help="A generator (rng, size) -> numbers, in the order in which it makes them.",
        ),
    ] = None,
    samples: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Numbers that it made: .npy, .csv or .parquet, one a row."),
    ] = None,
    law: Annotated[
        str, typer.Option(metavar="normal|laplace", help="The stated law of the numbers, around 0.")
    ] = "normal",
    scale: Annotated[
        float, typer.Option(help="Standard deviation of normal noise, or scale of Laplace noise.")
    ] = 1.0,
    distance: Annotated[
        float,
        typer.Option(help="How far apart the answers of neighboring data sets are, in the noise's scales."),
    ] = 1.0,
    steps: Annotated[
        int, typer.Option(min=1, help="How many releases use such noise, for the cost of its end.")
    ] = 1,
    sampling_probability: Annotated[
        float, typer.Option(help="Probability that a record takes part in each of these releases.")
    ] = 1.0,
    runs: Annotated[int, typer.Option(min=1000, help="How many numbers are drawn.")] = 1_000_000,
    streams: Annotated[
        int, typer.Option(help="Divide them among so many generators with seeds of their own, at most 64.")
    ] = 1,
    failure_probability: Annotated[
        float, typer.Option(help="Noise of the stated law is called violated with at most this probability.")
    ] = 1e-6,
    seed: Seed = 0,
    time_limit: Annotated[
        float,
        typer.Option(metavar="SECONDS", help="Wall-clock limit on importing the generator and on each call."),
    ] = 600.0,
    memory_limit: Annotated[
        float,
        typer.Option(metavar="GIB", help="Memory limit on the generator's process, and on all numbers."),
    ] = 4.0,
    json_file: Json = None,
) -> None:
    """Find noise whose tail ends too soon, or that repeats.

    Noise that never exceeds some number of standard deviations leaves outputs that one data set can give and its
    neighbor cannot: no pure guarantee holds, and an approximate one needs their probability in its delta. The command
    tests the generator alone, or numbers that it made. It looks for the grid of the uniform numbers from which they are
    made, even if two are made from one (Box and Muller); for an end that the largest number shows; for numbers that
    repeat too often; and, at any distance, for noise that is used twice, with or without its sign, for streams that
    overlap and for seeds that repeat. Exit code 0 if nothing was found, 1 if something was.
    """
    from dpverify.checks import number, positive
    from dpverify.running import Limits
    from dpverify.verification.noise_audits import NoiseQuestion, audit_noise

    if (target is None) == (samples is None):
        raise InvalidArgumentError(
            "--samples", samples, "a file, or a generator PACKAGE.MODULE:FUNCTION, not both"
        )
    positive("--distance", distance)
    number(
        "--sampling-probability", sampling_probability, above=0.0, at_most=1.0, allowed="a number in (0, 1]"
    )
    if samples is not None and streams != 1:
        raise InvalidArgumentError("--streams", streams, "1 with --samples, whose columns are streams")
    number("--time-limit", time_limit, above=0.0, at_most=1e6, allowed="seconds above 0, at most 1e6")
    number(
        "--memory-limit", memory_limit, at_least=0.0625, at_most=2**20, allowed="GiB, from 0.0625 to 1048576"
    )
    check_json(json_file)
    question = NoiseQuestion(
        str(target if samples is None else samples),
        samples is not None,
        law,  # type: ignore[arg-type]  # checked there
        scale,
        runs,
        failure_probability,
        seed,
        Limits(time_limit, int(memory_limit * 2**30)),
        streams,
    )
    found = audit_noise(question, progress=None if samples else progress_bar("drawing"))
    lost = found.tail.delta_lost(distance, steps=steps, sampling_probability=sampling_probability)
    if json_file is not None:
        asked = {
            "distance": distance, "steps": steps, "sampling_probability": sampling_probability, "delta_lost": lost,
            "runs": found.tail.runs,
        }  # fmt: skip
        again = {"failure_probability": found.failure_probability, "seed": seed, "reproduce": question.again}
        write_json(json_file, {**_as_json(found), **asked, **again})
    if json_file != "-":
        releases = f", over {steps} releases" if steps > 1 else ""
        releases += f", each with probability {sampling_probability:g}" if sampling_probability < 1 else ""
        print_facts(_facts(found, question, f"for answers {distance:g} scales apart{releases}", lost))
    if found.verdict == "violated":
        raise typer.Exit(VIOLATED)


def _as_json(audit: NoiseAudit) -> dict[str, Any]:
    found, order = audit.tail, audit.order
    grids = [
        {
            "side": side, "bits": grid.bits, "first": grid.first, "lag": grid.lag, "checked": grid.checked,
            "off": grid.off, "smallest_gap": grid.smallest_gap, "last_gap": grid.last_gap,
        }
        for side, grid in found.grids.items()
    ]  # fmt: skip
    depends = [
        {
            "relation": one.relation, "streams": one.streams, "lag": one.lag, "count": one.count, "pairs": one.pairs,
            "expected": one.expected, "log_probability": one.log_probability,
        }
        for one in order.found
    ]  # fmt: skip
    return {
        "schema_version": 3, "verdict": audit.verdict, "reason": audit.reason, "law": found.law,
        "low": None if -1 not in found.ends else -found.ends[-1], "high": found.ends.get(1), "grids": grids,
        "values": found.values, "repeats": found.repeats, "largest": found.largest, "seen_up_to": found.seen_up_to,
        "grid_seen_up_to": found.grid_seen_up_to, "written": found.written, "dependence": depends,
        "streams": order.streams, "most_lag": order.most_lag, "agreement_seen": order.agreement_seen,
    }  # fmt: skip


def _facts(audit: NoiseAudit, question: NoiseQuestion, given: str, lost: float) -> Iterator[tuple[str, str]]:
    found = audit.tail
    yield "verdict", str(audit.verdict)
    law = f"{question.law} noise of scale {question.scale:g}"
    yield "claim", f"as far out, and as many values, as {law}; no number depends on another"
    tail = [
        f"{'ends at' if side in found.grids else 'nothing beyond'} {side * end:.4g}"
        for side, end in sorted(found.ends.items())
    ]
    yield "tail", f"{', '.join(tail)} times the scale" if tail else "no end found"
    yield from _gaps(found)
    yield "order", "depends on earlier numbers" if audit.order.found else "no dependence found"
    if lost:
        # without a grid, the largest number is all that is known of an end
        if found.grids.keys() != found.ends.keys():
            given += ", if it ends there"
        yield "costs", f"delta at least {at_least(lost, 3)}, whatever epsilon, {given}"
    yield "failure probability", f"{audit.failure_probability:g}"
    yield "numbers", str(found.runs)
    yield "why", audit.reason
    yield "reproduce", question.again


def _gaps(found: TailAudit) -> Iterator[tuple[str, str]]:
    """Where numbers are made one by one of a grid: how far apart they lie."""
    gaps = {(grid.smallest_gap, grid.last_gap) for grid in found.grids.values() if grid.lag is None}
    for smallest, last in sorted(gaps, key=str):
        yield "gaps", f"{smallest:.3g} close to 0, {last:.3g} at the end, times the scale"
