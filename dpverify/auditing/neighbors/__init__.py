"""Worst neighbors: a search for the pair of data sets that speaks most against a claim."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
