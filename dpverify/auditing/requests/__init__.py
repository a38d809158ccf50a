"""One request, one audit: what every door (command, project file, pytest, Python) asks, and what answers it."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
