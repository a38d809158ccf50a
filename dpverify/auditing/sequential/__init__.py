"""Sequential audits by betting: valid whenever they stop, and done as soon as the claim is refuted."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
