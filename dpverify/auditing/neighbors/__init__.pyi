from .constructions import Domain
from .pairs import Pair, load_pair
from .search import SearchResult, search_pairs

__all__ = [
    "Domain",
    "Pair",
    "SearchResult",
    "load_pair",
    "search_pairs",
]
