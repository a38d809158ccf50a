"""Batches as they were drawn, recorded or read from a file, and held against the law that is accounted for."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
