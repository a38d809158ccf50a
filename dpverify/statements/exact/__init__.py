"""Exact profiles of the algorithms: each record's privacy on a pair of data sets, enclosed from both sides."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
