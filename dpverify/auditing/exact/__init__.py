"""Exact profiles: the law of a noisy chain's last state, pushed through on a grid, with bounds on both sides.

For maps of points in one or two dimensions with Gaussian noise, smooth or with jumps on lines, projected onto an
interval, a rectangle or a disc.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
