"""Reports: from the ledger, and from nothing else, to HTML, Markdown and lines for a terminal."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
