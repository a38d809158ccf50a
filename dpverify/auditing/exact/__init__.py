"""Exact profiles: the law of a noisy chain's last state, pushed through on a grid, with bounds on both sides.

For maps of points in one or two dimensions with Gaussian noise, smooth or with jumps on lines, projected onto an
interval, a rectangle or a disc.
"""

from dpverify.stubs import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
