"""The command `dpverify profile`: what a guarantee implies, as numbers and as a picture."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dpverify.errors import InvalidArgumentError
from dpverify.terminal import Json, check_json, print_table, tell, write_json

if TYPE_CHECKING:
    from dpverify.privacy import Guarantee
    from dpverify.privacy.curves import Curves


def profile(
    what: Annotated[
        str,
        typer.Argument(
            metavar="CLAIM|ID",
            help='A claim, such as "eps=1,delta=1e-5", "0.2-GDP" or "order=8,rdp=0.3"; or an algorithm or one of its '
            "privacy audits, such as fmtt18.alg1, for what it claims with the parameters of that audit.",
        ),
    ],
    epsilon: Annotated[
        list[float] | None,
        typer.Option(metavar="EPSILON", help="Only at this epsilon, nats: what is delta? May be repeated."),
    ] = None,
    delta: Annotated[
        list[float] | None,
        typer.Option(metavar="DELTA", help="Only at this delta: what is epsilon? May be repeated."),
    ] = None,
    tradeoff: Annotated[
        bool,
        typer.Option(
            "--tradeoff", help="Print the trade-off function instead, type I against type II error."
        ),
    ] = False,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also draw both curves: .svg, .png or .pdf.")
    ] = None,
    json_file: Json = None,
) -> None:
    """Print a guarantee's privacy profile: epsilon and delta.

    Each line is the guarantee, an epsilon in nats, and the smallest delta that is proved there, rounded up; with
    --tradeoff, a type I error, and the least type II error that a test between neighbors can have, rounded down. For an
    algorithm, these are the guarantee that it claims and, if a sharper one is proved, that one, too.
    """
    from dpverify.privacy.curves import curves, largest_epsilon

    check_json(json_file)
    if plot is not None:
        from dpverify.reports.pictures import check_picture

        check_picture(plot)
    named = _guarantees(what)
    top = max(largest_epsilon(guarantee) for _, guarantee in named)
    made = [
        (name, guarantee, curves(guarantee, epsilons=epsilon or (), deltas=delta or (), up_to=top))
        for name, guarantee in named
    ]
    if plot is not None:
        from dpverify.reports.pictures import draw_curves

        draw_curves([(name, curves(guarantee, up_to=top)) for name, guarantee in named], plot, title=what)
    if json_file is not None:
        guarantees = [_as_json(*one) for one in made]
        write_json(json_file, {"schema_version": 1, "asked": what, "guarantees": guarantees})
    if json_file != "-":
        safe, of, columns = ROUND_CEILING, "profile", ("guarantee", "epsilon", "delta")
        if tradeoff:
            safe, of, columns = ROUND_FLOOR, "tradeoff", ("guarantee", "type I error", "type II error")
        points = ((name, point) for name, _, found in made for point in getattr(found, of))
        print_table(columns, ((name, _text(x, ROUND_CEILING), _text(y, safe)) for name, (x, y) in points))


def _as_json(name: str, guarantee: Guarantee, found: Curves) -> dict[str, Any]:
    return {
        "name": name,
        "guarantee": str(guarantee),
        "profile": [{"eps": e if e < math.inf else None, "delta": d} for e, d in found.profile],
        "tradeoff": [{"alpha": a, "beta": b} for a, b in found.tradeoff],
    }


def _text(value: float, rounding: str) -> str:
    """Six digits, as programs read them."""
    rounded = Context(prec=6, rounding=rounding).create_decimal(repr(value))
    return f"{float(rounded):.6g}"


def _guarantees(what: str) -> list[tuple[str, Guarantee]]:
    """With a name each: a claim itself, or what an audit of an algorithm claims and what is known beside it."""
    from dpverify.privacy import parse_claim

    if "=" in what or what.rstrip().upper().endswith("DP"):
        guarantee = parse_claim(what)
        return [(str(guarantee), guarantee)]
    from dpverify.auditing import PrivacyQuestion
    from dpverify.statements.paper import papers
    from dpverify.statements.plans import PRIVACY, Profile

    plans = {
        plan.name: plan for paper in papers().values() for plan in paper.plans if plan.auditor is PRIVACY
    }
    of_it = [name for name, plan in plans.items() if what in (name, plan.subject)]
    if not of_it:
        near = get_close_matches(what, [*{plan.subject for plan in plans.values()}, *plans], n=4, cutoff=0.5)
        like = f" (such as {', '.join(near)})" if near else ""
        allowed = f"a claim such as eps=1,delta=1e-5, or an algorithm that is audited for privacy{like}"
        raise InvalidArgumentError("claim", what, allowed)
    chosen, *others = of_it
    question = plans[chosen].build(Profile.QUICK).question
    assert isinstance(question, PrivacyQuestion)
    also = f"; others: {', '.join(others)}" if others else ""
    tell(f"{chosen}: {question.data}{also}")
    found = [(f"claimed: {question.stated.guarantee}", question.stated.guarantee)]
    if question.best_known is not None:
        found.append((f"best known: {question.best_known}", question.best_known))
    return found
