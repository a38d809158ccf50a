"""What checks leave behind: verdicts, evidence, and the ledger that collects them for reports and exit codes."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
