"""What practice uses, with tight accounting: no paper's theorem, but what its algorithms are measured by."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
