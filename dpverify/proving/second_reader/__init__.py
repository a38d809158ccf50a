"""A second reader of formulas: from LaTeX to a certificate's problem, without a line of the first.

It stands to `dpverify.formulas.notation` as the checker stands to the provers. What both were written from is
docs/notation.md, and what both write is the form of docs/certificates.md. Wherever the two disagree, or this one
refuses what the first reads, nothing is believed of the formula.
"""

from dpverify.proving.second_reader.problem import (
    PrintedSource,
    SourceDefinition,
    SourceLetter,
    read,
    read_letters,
)
from dpverify.proving.second_reader.typography import RefusedError

__all__ = ["PrintedSource", "RefusedError", "SourceDefinition", "SourceLetter", "read", "read_letters"]
