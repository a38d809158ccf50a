"""Accountants, ours and others': a claimed epsilon against exact or two-sided values, without any runs."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
