"""Reports: from the ledger, and from nothing else, to HTML, Markdown and lines for a terminal."""

from dpverify.reports.folder import ReportPaths, read_certificates, write_report, write_report_again
from dpverify.reports.ledger_files import ledger_json, parse_ledger, read_ledger, write_ledger
from dpverify.reports.markdown import render_markdown
from dpverify.reports.page import render_html
from dpverify.reports.summary import SummaryLine, summary_lines

__all__ = [
    "ReportPaths",
    "SummaryLine",
    "ledger_json",
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
