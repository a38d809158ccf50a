"""The command `dpverify fit`: a private model of a CSV file, and what is known of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dpverify.auditing.requests.options import flag, spelled
from dpverify.errors import InvalidArgumentError
from dpverify.files import check_writable, unwritable, write_whole
from dpverify.ledger.written_numbers import at_most
from dpverify.terminal import Json, check_json, print_facts, print_table, progress_bar, write_or_show

if TYPE_CHECKING:
    from dpverify.fitting import FitMethod, PrivateModel
    from dpverify.fitting.tables import LabeledTable
    from dpverify.privacy import StatedGuarantee

_OPTIONS = (
    "label", "loss", "epsilon", "delta", "method", "radius", "ridge", "norm", "ranges", "label_range", "classes",
    "seed", "call_limit",
)  # fmt: skip
_SHOWN = 8
"""Coefficients that are printed."""


def fit(
    data: Annotated[
        str,
        typer.Argument(metavar="FILE", help="A CSV or .npy file, a record a row: features and one label."),
    ],
    label: Annotated[
        str,
        typer.Option(
            metavar="COLUMN", help="Column of the label, by its number from 1, or by its name in a CSV file."
        ),
    ],
    epsilon: Annotated[float, typer.Option(help="Epsilon of the guarantee, in nats.")],
    delta: Annotated[float, typer.Option(help="Delta of the guarantee; 0 for pure privacy.")] = 1e-5,
    loss: Annotated[
        str,
        typer.Option(
            metavar="logistic|hinge|squared", help="Loss for two classes, or for numbers (squared)."
        ),
    ] = "logistic",
    method: Annotated[
        str,
        typer.Option(
            metavar="auto|ID",
            help="The id of an algorithm (dpverify list), yardstick.full-batch, or the one with the smallest proved "
            "bound on its risk.",
        ),
    ] = "auto",
    radius: Annotated[
        float, typer.Option(help="Models lie in this ball, for records divided by the norm below.")
    ] = 1.0,
    ridge: Annotated[float, typer.Option(help="Weight of ||w||^2 / 2 in the risk.")] = 0.0,
    norm: Annotated[
        float | None,
        typer.Option(
            help="Declared bound on the norm of a record's features; longer ones are shortened. Default 1."
        ),
    ] = None,
    ranges: Annotated[
        str | None,
        typer.Option(
            metavar="LOW:HIGH|FILE",
            help="Declared range of every feature, or a CSV file of name, smallest, largest; mapped to [-1, 1].",
        ),
    ] = None,
    label_range: Annotated[
        str, typer.Option(metavar="LOW:HIGH", help="Declared range of labels for the squared loss.")
    ] = "-1:1",
    classes: Annotated[
        str, typer.Option(metavar="A,B", help="The two labels, declared; the second is the positive one.")
    ] = "-1,1",
    intercept: Annotated[bool, typer.Option("--intercept", help="A model with an intercept.")] = False,
    plan: Annotated[
        bool,
        typer.Option(
            "--plan",
            help="Show which methods apply, with their bounds, and fit nothing: no privacy is spent.",
        ),
    ] = False,
    private_only: Annotated[
        bool, typer.Option("--private-only", help="Leave out what must not be released with the model.")
    ] = False,
    seed: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="For tests: whoever knows it knows the noise. Default: from the operating system.",
        ),
    ] = None,
    call_limit: Annotated[
        float | None, typer.Option(help="Oracle calls that the run may make, one after another. Default 1e7.")
    ] = None,
    out: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write the model as JSON, without what is not private.")
    ] = None,
    json_file: Json = None,
) -> None:
    """Fit a private linear model, and say what is proved of it.

    You declare bounds on records (--norm, --ranges, --classes, --label-range); they are never taken from the data, and
    records outside them are clipped, one by one. The guarantee is (epsilon, delta)-differential privacy for data sets
    that differ in one replaced record; the number of records is public. --method auto takes the method with the
    smallest proved bound on its excess risk, which depends on public numbers alone. The output also says how far the
    model's risk really is above the minimum: that is not private, and --private-only leaves it out. Exit code 0.

    Example: dpverify fit patients.csv --label outcome --classes healthy,ill --ranges ranges.csv --epsilon 1
    """
    check_json(json_file)
    if out is not None:
        check_writable("--out", Path(out))
    with spelled(flag, _OPTIONS):
        from dpverify.fitting import DeclaredBounds, candidates
        from dpverify.fitting import fit as fit_model
        from dpverify.fitting.models import problem_for
        from dpverify.fitting.tables import read_labeled, read_ranges
        from dpverify.running import call_limit as call_limit_of

        table = read_labeled(Path(data), label)
        given: Any = None
        if ranges is not None:
            pair = _ends(ranges)
            given = read_ranges(Path(ranges), table.names) if pair is None else [pair]
        if (of_labels := _ends(label_range)) is None:
            raise InvalidArgumentError("label_range", label_range, "two numbers, LOW:HIGH")
        bounds = DeclaredBounds(norm, given, of_labels, intercept)
        names, labels = _labels(table, classes, loss)
        if plan:
            problem, _ = problem_for(loss, table.features.shape[1] + intercept, radius, ridge)
            only = None if method == "auto" else method
            with nullcontext() if call_limit is None else call_limit_of(call_limit):
                known = candidates(problem, n=len(table.features), epsilon=epsilon, delta=delta, only=only)
            _show_plan(len(table.features), known, json_file)
            return
        model = fit_model(
            table.features, labels, loss=loss, epsilon=epsilon, delta=delta, method=method, radius=radius, ridge=ridge,
            bounds=bounds, classes=names, seed=seed, private_only=private_only, call_limit=call_limit,
            progress=progress_bar("fitting"),
        )  # fmt: skip
    found = _private(model, table.names)
    if out is not None:
        _write_model(out, found)
    write_or_show(
        json_file,
        lambda: found | {"not_private": _not_private(model)},
        lambda: print_facts(_facts(model, table.names, out)),
    )


def _ends(text: str) -> tuple[float, float] | None:
    """The two numbers of LOW:HIGH; None for other text."""
    from dpverify.problems.tables.cells import number_in

    found = [number_in(part) for part in text.split(":")]
    if len(found) != 2 or found[0] is None or found[1] is None:
        return None
    return found[0], found[1]


def _labels(table: LabeledTable, classes: str, loss: str) -> tuple[Sequence[Any], list[Any]]:
    """The two classes and all labels: numbers where the classes are, or for the squared loss; else texts."""
    from dpverify.problems.tables.cells import number_in

    names = [name.strip() for name in classes.split(",")]
    if len(names) != 2:
        raise InvalidArgumentError("classes", classes, "two labels, A,B")
    numbers = [number_in(name) for name in names]
    if loss != "squared" and None in numbers:
        return names, list(table.labels)
    found = [number_in(cell) for cell in table.labels]
    for place, one in enumerate(found):
        if one is None:
            allowed = (
                "numbers" if loss == "squared" else f"{names[0]} or {names[1]}, or what --classes declares"
            )
            raise InvalidArgumentError("label", f"record {place + 1}: {table.labels[place]}", allowed)
    return [int(one) if one == int(one) else one for one in numbers if one is not None], found


# ------------------------------------------------------------------------------------------ what is shown


def _show_plan(n: int, known: Iterable[FitMethod], json_file: str | None) -> None:
    """The methods, best bound first, then those that do not apply with the reason."""
    found = sorted(known, key=lambda one: (bool(one.obstacle), one.bound is None, one.bound or 0.0))
    rows = ((one.id, _bound_words(one), one.obstacle or str(one.stated)) for one in found)
    write_or_show(
        json_file,
        lambda: {"schema_version": 1, "records": n, "methods": [_method(one) for one in found]},
        lambda: print_table(("method", "bound on the risk", ""), rows),
    )


def _bound_words(one: FitMethod) -> str:
    if one.obstacle:
        return "does not apply"
    return "none on the empirical risk" if one.bound is None else at_most(one.bound)


def _method(one: FitMethod) -> dict[str, Any]:
    return {
        "id": one.id, "applies": not one.obstacle, "risk_bound": one.bound,
        "guarantee": None if one.stated is None else str(one.stated), "obstacle": one.obstacle or None,
    }  # fmt: skip


def _private(model: PrivateModel, names: Sequence[str]) -> dict[str, Any]:
    """All that may be released."""
    bounds = model.bounds
    return {
        "schema_version": 1,
        "loss": model.loss, "classes": model.classes,
        "coefficients": dict(zip(names, model.coefficients.tolist(), strict=True)), "intercept": model.intercept,
        "guarantee": str(model.claim), "epsilon": model.epsilon, "delta": model.delta,
        "adjacency": model.sharpest.adjacency.value, "sharpest": str(model.sharpest),
        "conditions": [str(one) for one in _stated(model).conditions],
        "method": model.method.id, "chosen": model.choice is not None, "risk_bound": model.method.bound,
        "left_out": dict(model.choice.left_out if model.choice else ()),
        "risk_quantile": model.quantile and dict(zip(("probability", "bound"), model.quantile, strict=True)),
        "population_risk_bound": model.population, "vacuous": model.vacuous, "largest_excess": model.largest,
        "records": model.n, "radius": model.radius, "ridge": model.ridge,
        "declared": {
            "norm": bounds.length(len(names)), "ranges": bounds.ranges, "label_range": bounds.label_range,
            "intercept": bounds.intercept,
        },
        "queries": [
            {"oracle": one.oracle, "count": one.count, "exact": one.exact, "expected": one.expected}
            for one in model.queries
        ],
        "seeded": model.seeded,
    }  # fmt: skip


def _stated(model: PrivateModel) -> StatedGuarantee:
    """The guarantee that implies what was asked for."""
    assert model.method.stated is not None
    return model.method.stated


def _rounded(stated: StatedGuarantee) -> StatedGuarantee:
    """The same, or what follows from it in a few digits."""
    from dpverify.privacy import GDP

    if not isinstance(stated.guarantee, GDP):
        return stated
    return replace(stated, guarantee=GDP(float(at_most(stated.guarantee.mu))))


def _not_private(model: PrivateModel) -> dict[str, Any] | None:
    known = model.not_private
    if known is None:
        return None
    return {
        "excess_risk": known.excess.model_dump(), "minimum": known.minimum.model_dump(), "accuracy": known.accuracy,
        "gradient_queries": known.gradient_queries, "value_queries": known.value_queries,
        "projections": known.projections, "seconds": known.seconds,
    }  # fmt: skip


def _write_model(path: str, found: dict[str, Any]) -> None:
    import json

    try:
        write_whole(Path(path), (json.dumps(found, indent=2) + "\n").encode())
    except (OSError, ValueError) as error:
        raise unwritable("--out", Path(path), error) from error


def _facts(model: PrivateModel, names: Sequence[str], out: str | None) -> Iterator[tuple[str, str]]:
    yield "guarantee", f"{model.claim} for data sets that differ in one record; {_rounded(model.sharpest)}"
    for condition in _stated(model).conditions:
        yield "if", str(condition)
    yield "public", f"n = {model.n}, d = {len(names)}, and all that is declared"
    yield "declared", _declared(model, len(names))
    if model.choice is None:
        yield "method", f"{model.method.id}, as asked"
    else:
        apply = sum(one.bound is not None for one in model.choice.compared)
        yield "method", f"{model.method.id}: the smallest proved bound of {apply} methods that state one"
        left_out = model.choice.left_out
        for reason in dict.fromkeys(why for _, why in left_out):
            yield "left out", f"{', '.join(name for name, why in left_out if why == reason)}: {reason}"
    yield "risk", _risk_words(model)
    if model.queries:
        yield "calls", "; ".join(str(one) for one in model.queries)
    seeded = "from a seed that was given: known to whoever knows it"
    yield "noise", seeded if model.seeded else "from the operating system"
    if (known := model.not_private) is not None:
        excess, least = at_most(known.excess.upper), f"{known.minimum.lower:.4g}"
        yield "NOT PRIVATE: risk", f"at most {excess} above the minimum, {least}"
        if known.accuracy is not None:
            yield "NOT PRIVATE: accuracy", f"{known.accuracy:.4g} on these records"
        calls = f"{known.gradient_queries:,} gradients, {known.value_queries:,} losses"
        yield "NOT PRIVATE: made", f"{calls}, {known.projections:,} projections in {known.seconds:.3g} s"
    shown = [f"{name} {one:.4g}" for name, one in zip(names, model.coefficients.tolist(), strict=True)][
        :_SHOWN
    ]
    more = [f"{len(names) - _SHOWN} more (--json, --out)"] if len(names) > _SHOWN else []
    yield "coefficients", ", ".join([*shown, *more])
    if model.bounds.intercept or model.intercept:
        yield "intercept", f"{model.intercept:.4g}"
    if out is not None:
        yield "model", out


def _declared(model: PrivateModel, d: int) -> str:
    bounds = model.bounds
    ranges = "" if bounds.ranges is None else "features within their ranges, "
    labels = (
        f"labels {model.classes[0]} and {model.classes[1]}"
        if model.classes
        else (f"labels from {bounds.label_range[0]:g} to {bounds.label_range[1]:g}")
    )
    return f"{ranges}norms up to {bounds.length(d):g}, {labels}; what is outside is clipped, record by record"


def _risk_words(model: PrivateModel) -> str:
    from dpverify.ledger.records import is_vacuous

    bound = model.method.bound
    if bound is None:
        return "no bound on the mean empirical risk is proved"
    words = f"expected excess of the mean risk at most {at_most(bound)}"
    if model.vacuous:
        words += f", which says nothing: no excess is above {at_most(model.largest)}"
    if model.quantile is not None:
        words += f"; with probability {model.quantile[0]:g} at most {at_most(model.quantile[1])}"
    if model.population is not None and not is_vacuous(model.population, model.largest):
        words += f"; for the population of independent records at most {at_most(model.population)}"
    return words
