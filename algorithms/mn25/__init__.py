"""The algorithms of Menart, Nikolov (2025), in the paper's order."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
