"""Private models with their guarantee, what is proved of their risk, and what they lose by being private.

Bounds on records are declared, never taken from the data; every other choice follows from public numbers.
"""

from dpverify.stubs import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
