"""Running mechanisms: randomness, blocks of runs, executors, progress, and the store of finished work."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
