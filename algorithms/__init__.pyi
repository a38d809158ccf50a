from .contract import Algorithm, Guarantees

__all__ = [
    "Algorithm",
    "Guarantees",
]
