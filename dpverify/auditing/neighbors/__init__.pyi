from .constructions import Domain
from .pairs import Pair, load_pair
from .search import Searched, search_pairs

__all__ = [
    "Domain",
    "Pair",
    "Searched",
    "load_pair",
    "search_pairs",
]
