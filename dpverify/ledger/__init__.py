"""What checks leave behind: verdicts, evidence, and the ledger that collects them for reports and exit codes."""

from dpverify.stubs import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
