"""The algorithms of Gopi, Lee, Liu (2022), in the paper's order."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
