"""Provers, certificates and their checker; see docs/certificates.md.

Names are imported when they are first used, so that reading a statement or checking a certificate does not
load the provers.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
