"""Running mechanisms: randomness, blocks of runs, executors, progress, and the store of finished work."""

from dpverify.stubs import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
