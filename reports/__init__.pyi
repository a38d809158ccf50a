from .folder import (
    ReportPaths as ReportPaths,
    read_certificates as read_certificates,
    write_report as write_report,
    write_report_again as write_report_again,
)
from .formats.frames import ledger_frame as ledger_frame, ledger_rows as ledger_rows
from .formats.markdown import findings_markdown as findings_markdown, render_markdown as render_markdown
from .formats.terminal import SummaryLine as SummaryLine, summary_lines as summary_lines
from .ledger_files import (
    ledger_json as ledger_json,
    load_ledger as load_ledger,
    parse_ledger as parse_ledger,
    write_ledger as write_ledger,
)
from .page import render_html as render_html
