from .folder import (
    ReportPaths,
    read_certificates,
    write_report,
    write_report_again,
)
from .formats.frames import ledger_frame, ledger_rows
from .formats.markdown import findings_markdown, render_markdown
from .formats.terminal import SummaryLine, summary_lines
from .ledger_files import (
    ledger_json,
    load_ledger,
    parse_ledger,
    write_ledger,
)
from .page import render_html

__all__ = [
    "ReportPaths",
    "SummaryLine",
    "findings_markdown",
    "ledger_frame",
    "ledger_json",
    "ledger_rows",
    "load_ledger",
    "parse_ledger",
    "read_certificates",
    "render_html",
    "render_markdown",
    "summary_lines",
    "write_ledger",
    "write_report",
    "write_report_again",
]
