from .problem import (
    Source,
    SourceDefinition,
    SourceLetter,
    read,
    read_letters,
)
from .typography import RefusedError

__all__ = [
    "RefusedError",
    "Source",
    "SourceDefinition",
    "SourceLetter",
    "read",
    "read_letters",
]
