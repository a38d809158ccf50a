"""The command `dpverify canaries`: what an audit of one training run can show, before the training."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dpverify.ledger.written_numbers import at_least
from dpverify.terminal import Json, check_json, print_facts, write_or_show

if TYPE_CHECKING:
    from dpverify.auditing.one_run import Foresight


def canaries(
    count: Annotated[
        int, typer.Argument(metavar="CANARIES", help="How many canaries, each with a fair coin of its own.")
    ],
    claim: Annotated[
        str, typer.Option(metavar="CLAIM", help='The claim, such as "mu=1" or "eps=1,delta=1e-5".')
    ],
    delta: Annotated[
        float | None,
        typer.Option(
            help="The delta at which epsilon is bounded; default: the claim's own, and 1e-5 for a curve."
        ),
    ] = None,
    failure_probability: Annotated[
        float, typer.Option(help="A correct claim is called violated with at most this probability.")
    ] = 1e-6,
    json_file: Json = None,
) -> None:
    """Say what a training's canaries can show of a claim.

    With the best possible scores (independent Gaussian ones; for a pure claim, randomized response): the smallest
    violation that dpverify audit --scores finds with probability one half, the bounds that it shows if the claim is
    true and tight, and how many canaries notice a third, half or two thirds of the noise. Real scores show less.
    Exit code 0.
    """
    from dpverify.auditing.one_run import foresee
    from dpverify.auditing.requests.options import flag, spelled
    from dpverify.privacy import parse_claim

    check_json(json_file)
    with spelled(flag):
        found = foresee(count, parse_claim(claim), failure_probability=failure_probability, delta=delta)
    write_or_show(json_file, lambda: _as_json(found, claim), lambda: print_facts(_facts(found, claim)))


def _as_json(found: Foresight, claim: str) -> dict[str, Any]:
    plan = found.plan
    return {
        "schema_version": 2, "claim": claim, "canaries": found.canaries,
        "failure_probability": found.failure_probability, "detectable": found.detectable,
        "guesses": None if plan is None else plan.guesses.count, "correct": None if plan is None else plan.needed,
        "mu_lower": found.mu_lower, "epsilon_lower": found.epsilon_lower, "delta": found.delta,
        "needed": [{"noise_divided_by": factor, "canaries": count} for factor, count in found.needed],
    }  # fmt: skip


def _facts(found: Foresight, claim: str) -> Iterator[tuple[str, str]]:
    from dpverify.auditing.one_run.canaries import FEWEST_CANARIES
    from dpverify.auditing.one_run.foresight import MOST_CANARIES

    yield "claim", claim
    yield "canaries", str(found.canaries)
    yield "failure probability", f"{found.failure_probability:g}"
    yield "would find", found.detectable or "nothing: these are too few to refute this claim"
    if found.plan is not None:
        guesses = found.plan.guesses.count
        yield "by", f"{found.plan.needed} correct of the {guesses} surest guesses"
        at = f"epsilon at least {at_least(found.epsilon_lower)} at delta {found.delta:g}"
        yield "if the claim is tight", f"mu at least {at_least(found.mu_lower)}, {at}"
    for factor, count in found.needed:
        fewest = ", the fewest that an audit takes" if count == FEWEST_CANARIES else ""
        many = (
            f"not noticed by up to {MOST_CANARIES} canaries" if count is None else f"{count} canaries{fewest}"
        )
        yield f"noise divided by {factor:g}", many
