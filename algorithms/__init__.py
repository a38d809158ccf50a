"""The papers' algorithms, a folder a paper. Each says its statements, its guarantees and its number of queries."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
