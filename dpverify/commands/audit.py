"""The command `dpverify audit`: a request from its options, and what is printed of the answer."""

from __future__ import annotations

import inspect
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dpverify.auditing.requests.options import OPTIONS, Option, option_name, spelled
from dpverify.auditing.requests.request import Request
from dpverify.commands.formats import Form, check_format
from dpverify.errors import InvalidArgumentError
from dpverify.terminal import Json, check_json, end_with, progress_bar, tell

if TYPE_CHECKING:
    from dpverify.ledger.evidence import PrivacyEvidence

_TYPES: dict[str, Any] = {
    "text": str | None, "file": str | None, "number": float | None, "count": int | None, "flag": bool,
    "texts": list[str] | None,
}  # fmt: skip
_Plot = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Also draw the outputs, and the bound on epsilon beside the claim: .svg, .png or .pdf.",
    ),
]


_Curves = Annotated[
    bool,
    typer.Option(
        "--curves", help="JSON also holds the points of the privacy profile and the outputs that were shown."
    ),
]


def audit(*, form: str, json_file: str | None, curves: bool, plot: Path | None, **options: Any) -> None:
    """Audit a privacy claim about code, samples or a training.

    Give a function or --command with --data and --neighbor; or --left and --right (samples that you drew yourself); or
    --scores and --members (the canaries of one training run; dpverify canaries says how many are needed).
    Outputs may be numbers, text, None, lists, dictionaries and more. Both directions are tested. A function runs
    until the claim is refuted, then on to bound how far it is off (--go-on), and at most --runs times on each data
    set; before the first run, standard error says whether that many can refute it. With --structure, the audit uses
    the stated steps of a run, and reaches far smaller deltas.
    Functions run in worker processes with limits on time and memory; what they print goes to standard error.
    Exit code 0 if the claim is supported, 1 if it is violated, 3 if the audit is undecided; only a finished audit ends
    with one of these.
    """
    from dpverify.running.thread_pools import no_idle_threads

    check_format(form, json_file)
    if curves and form != "json" and json_file is None:
        raise InvalidArgumentError("--curves", curves, "beside --json or --format json")
    if plot is not None:
        from dpverify.reports.pictures import check_picture

        check_picture(plot)
    with spelled(option_name):
        pairs = (("left", "right"), ("scores", "members"))
        samples = any(options[one] is not None and options[other] is not None for one, other in pairs)
        with no_idle_threads() if samples else nullcontext():
            request = Request(**options)
            from dpverify.auditing.requests import audits
        check_json(json_file)
        # a sequential audit tells how far it is itself
        at_once = request.fixed_runs or request.structure is not None
        found = audits.audit(request, tell=tell, progress=progress_bar("running") if at_once else None)
    if plot is not None:
        from dpverify.reports.pictures import draw_audit

        draw_audit(found, plot)
    _write(found, form, json_file, request, curves=curves)
    end_with(found.verdict)


def _parameter(name: str, option: Option) -> inspect.Parameter:
    """A field of a request as an option of the command; the function is its argument."""
    texts: dict[str, Any] = {
        "help": option.summary(option_name),
        "metavar": option.metavar or ("FILE" if option.kind == "file" else None),
    }
    written = typer.Argument(**texts) if name == "function" else typer.Option(option_name(name), **texts)
    default = Request.__dataclass_fields__[name].default
    return _keyword(name, Annotated[_TYPES[option.kind], written], default)


def _keyword(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


# the fields of a request, and where its answer goes
audit.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
    [
        *(_parameter(name, option) for name, option in OPTIONS.items()),
        _keyword("form", Form, "text"),
        _keyword("json_file", Json, None),
        _keyword("curves", _Curves, False),
        _keyword("plot", _Plot, None),
    ]
)


def _write(
    found: PrivacyEvidence, form: str, json_file: str | None, request: Request, *, curves: bool
) -> None:
    from dpverify.commands.formats import write_audit
    from dpverify.verification.located.user_places import place_of
    from dpverify.views.results import SourcePlace
    from dpverify.views.shown_outputs import histogram_lines

    def place() -> SourcePlace | None:
        return place_of(request.target) if request.target else SourcePlace(str(request.files()[0]), 1)

    write_audit(found, place, form, json_file, "dpverify audit", curves=curves)
    if form == "text" and json_file != "-" and found.shown is not None:
        print("\n".join(["", *histogram_lines(found.shown)]))
