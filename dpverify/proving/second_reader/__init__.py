"""A second reader of formulas: from LaTeX to a certificate's problem, without a line of the first.

It stands to `dpverify.formulas.notation` as the checker stands to the provers. What both were written from is
docs/notation.md, and what both write is the form of docs/certificates.md. Wherever the two disagree, or this one
refuses what the first reads, nothing is believed of the formula.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
