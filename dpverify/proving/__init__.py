"""Provers, certificates and their checker; see docs/certificates.md.

Names are imported when they are first used, so that reading a statement or checking a certificate does not
load the provers.
"""

from dpverify.stubs import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
