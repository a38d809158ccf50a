"""The command `dpverify tails`: how far noise goes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dpverify.errors import InvalidArgumentError
from dpverify.terminal import VIOLATED, Json, Seed, check_json, print_facts, progress_bar, write_json

if TYPE_CHECKING:
    from dpverify.auditing.noise import TailAudit
    from dpverify.verification.noise_audits import NoiseQuestion


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
        str, typer.Option(metavar="normal|laplace", help="What the numbers are said to be, about 0.")
    ] = "normal",
    scale: Annotated[
        float, typer.Option(help="Standard deviation of normal noise, or scale of Laplace noise.")
    ] = 1.0,
    distance: Annotated[
        float,
        typer.Option(help="How far apart the answers of neighboring data sets are, in the noise's scales."),
    ] = 1.0,
    runs: Annotated[int, typer.Option(min=1000, help="How many numbers are drawn.")] = 1_000_000,
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
    """Find noise whose tail ends too soon, or that takes too few values.

    Noise that never exceeds some number of standard deviations leaves outputs that one data set can give and its
    neighbor cannot: no pure guarantee holds, and an approximate one lacks their probability. It is found from the
    generator alone, or from numbers that it made: from the grid of the uniform numbers that they are made of, also
    where two are made of one (Box and Muller), from the largest, and from numbers that come again too often. Exit
    code 0 if nothing was found, 1 if something was.
    """
    from dpverify.checks import number
    from dpverify.running import Limits
    from dpverify.verification.noise_audits import NoiseQuestion, audit_noise

    if (target is None) == (samples is None):
        raise InvalidArgumentError(
            "--samples", samples, "a file, or a generator PACKAGE.MODULE:FUNCTION, not both"
        )
    number("--distance", distance, above=0.0, allowed="a finite number above 0")
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
    )
    found = audit_noise(question, progress=None if samples else progress_bar("drawing"))
    if json_file is not None:
        asked = {"distance": distance, "delta_lost": found.delta_lost(distance), "runs": found.runs}
        again = {"failure_probability": found.failure_probability, "seed": seed, "reproduce": question.again}
        write_json(json_file, {**_as_json(found), **asked, **again})
    if json_file != "-":
        print_facts(_facts(found, question, distance))
    if found.verdict == "violated":
        raise typer.Exit(VIOLATED)


def _as_json(found: TailAudit) -> dict[str, Any]:
    grids = [
        {"side": side, "bits": grid.bits, "first": grid.first, "lag": grid.lag}
        for side, grid in found.grids.items()
    ]
    return {
        "schema_version": 2, "verdict": found.verdict, "reason": found.reason, "law": found.law,
        "low": None if -1 not in found.ends else -found.ends[-1], "high": found.ends.get(1), "grids": grids,
        "values": found.values, "repeats": found.repeats, "largest": found.largest, "seen_up_to": found.seen_up_to,
        "grid_seen_up_to": found.grid_seen_up_to, "written": found.written,
    }  # fmt: skip


def _facts(found: TailAudit, question: NoiseQuestion, distance: float) -> Iterator[tuple[str, str]]:
    yield "verdict", str(found.verdict)
    yield "claim", f"as far out, and as many values, as {question.law} noise of scale {question.scale:g}"
    tail = [
        f"{'ends at' if side in found.grids else 'nothing beyond'} {side * end:.4g}"
        for side, end in sorted(found.ends.items())
    ]
    yield "tail", f"{', '.join(tail)} times the scale" if tail else "no end found"
    if lost := found.delta_lost(distance):
        # without a grid, the largest number is all that is known of an end
        given = "" if found.grids.keys() == found.ends.keys() else ", if it ends there"
        apart = f"for answers {distance:g} scales apart{given}"
        yield "costs", f"delta at least {lost:.3g}, whatever epsilon, {apart}"
    yield "failure probability", f"{found.failure_probability:g}"
    yield "numbers", str(found.runs)
    yield "why", found.reason
    yield "reproduce", question.again
