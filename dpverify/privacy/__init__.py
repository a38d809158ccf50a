"""Guarantees, privacy profiles, trade-off functions, Renyi curves, conversions and accountants."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
