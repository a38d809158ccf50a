"""White-box audits of iterative mechanisms: what is known of their steps and their noise, besides what they release."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
