"""Reports: from the ledger, and from nothing else, to HTML, Markdown and lines for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpverify import lazy

if TYPE_CHECKING:
    from dpverify.reports.findings import findings_markdown
    from dpverify.reports.folder import ReportPaths, read_certificates, write_report, write_report_again
    from dpverify.reports.formats.frames import ledger_frame, ledger_rows
    from dpverify.reports.formats.markdown import render_markdown
    from dpverify.reports.ledger_files import ledger_json, parse_ledger, read_ledger, write_ledger
    from dpverify.reports.page import render_html
    from dpverify.reports.summary import SummaryLine, summary_lines

__all__ = [
    "ReportPaths",
    "SummaryLine",
    "findings_markdown",
    "ledger_frame",
    "ledger_json",
    "ledger_rows",
    "parse_ledger",
    "read_certificates",
    "read_ledger",
    "render_html",
    "render_markdown",
    "summary_lines",
    "write_ledger",
    "write_report",
    "write_report_again",
]

__getattr__ = lazy.attributes(
    __name__,
    {
        "ReportPaths": "dpverify.reports.folder",
        "SummaryLine": "dpverify.reports.summary",
        "findings_markdown": "dpverify.reports.findings",
        "ledger_frame": "dpverify.reports.formats.frames",
        "ledger_rows": "dpverify.reports.formats.frames",
        "ledger_json": "dpverify.reports.ledger_files",
        "parse_ledger": "dpverify.reports.ledger_files",
        "read_certificates": "dpverify.reports.folder",
        "read_ledger": "dpverify.reports.ledger_files",
        "render_html": "dpverify.reports.page",
        "render_markdown": "dpverify.reports.formats.markdown",
        "summary_lines": "dpverify.reports.summary",
        "write_ledger": "dpverify.reports.ledger_files",
        "write_report": "dpverify.reports.folder",
        "write_report_again": "dpverify.reports.folder",
    },
)
