"""Audits of a model that is trained once: canaries by fair coins, a score for each, and guesses about the coins."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
