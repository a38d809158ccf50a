"""Ledgers as plain rows, and as frames where pandas is installed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dpverify.checks import require
from dpverify.errors import InvalidDataError
from dpverify.extras import install_command
from dpverify.ledger.document import Ledger
from dpverify.ledger.evidence import ExpectationEvidence

if TYPE_CHECKING:
    import pandas

_FIRST = ("kind", "statement", "obligation", "variant", "subject", "title", "claim", "verdict")
"""Columns that come first; the others follow in the order of the entries."""


def ledger_rows(ledger: Ledger) -> list[dict[str, Any]]:
    """A dictionary for each entry, with the fields that are numbers, texts or truth values.

    Intervals become two fields, `measured_lower` and `measured_upper`; what holds more than that is left out. `vacuous`
    says of a bound on an expectation whether nothing could break it. All rows have the same keys, with None if an
    entry has no such field.

    Raises:
        InvalidArgumentError: for what is no ledger.

    Examples:
        >>> from types import SimpleNamespace
        >>> from dpverify.auditing import CountAuditor, CountQuestion, ErrorShare, Label
        >>> from dpverify.ledger import Ledger
        >>> from dpverify.reports import ledger_rows
        >>> question = CountQuestion(50, claim="n gradients", data="50 records", label=Label("mine.sgd"))
        >>> counted = SimpleNamespace(count=lambda oracle, runs: [51] * runs)
        >>> evidence = CountAuditor().audit(question, counted, ErrorShare.nothing())
        >>> budget = ErrorShare(1e-6).record()
        >>> ledger = Ledger.of_run("make audit", seed=0, entries=(evidence,), budget=budget)
        >>> (row,) = ledger_rows(ledger)
        >>> row["subject"], str(row["verdict"]), row["counted"], row["claimed"]
        ('mine.sgd', 'violated', 51, 50)
    """
    require(isinstance(ledger, Ledger), "ledger", ledger, "a Ledger, as load_ledger gives it")
    rows = [_flat(entry.model_dump(mode="python")) for entry in ledger.entries]
    for row, entry in zip(rows, ledger.entries, strict=True):
        if isinstance(entry, ExpectationEvidence):
            row["vacuous"] = entry.vacuous
    known = dict.fromkeys(name for row in rows for name in row)
    names = [name for name in _FIRST if name in known] + [name for name in known if name not in _FIRST]
    return [{name: row.get(name) for name in names} for row in rows]


def ledger_frame(ledger: Ledger) -> pandas.DataFrame:
    """The same as a pandas DataFrame, one row an entry.

    Raises:
        InvalidArgumentError: for what is no ledger.
        InvalidDataError: where pandas is not installed.

    Examples:
        >>> from importlib.util import find_spec
        >>> from dpverify.auditing import ErrorShare
        >>> from dpverify.ledger import Ledger
        >>> from dpverify.reports import ledger_frame
        >>> ledger = Ledger.of_run("make audit", seed=0, budget=ErrorShare(1e-6).record())
        >>> if find_spec("pandas"):  # an optional extra
        ...     assert ledger_frame(ledger).empty
    """
    rows = ledger_rows(ledger)
    try:
        import pandas
    except ImportError as error:
        raise InvalidDataError(
            "ledger_frame needs pandas, which is not installed; allowed: ledger_rows, or pandas after "
            f"{install_command('frames')}."
        ) from error
    return pandas.DataFrame(rows)


def _flat(fields: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in fields.items():
        if isinstance(value, dict) and set(value) == {"lower", "upper", "rigorous"}:
            found |= {f"{name}_lower": value["lower"], f"{name}_upper": value["upper"]}
        elif isinstance(value, str):
            found[name] = str(value)
        elif value is None or isinstance(value, bool | int | float):
            found[name] = value
    return found
