"""Property tests for your own objects: Hypothesis strategies and checks that raise AssertionError."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
