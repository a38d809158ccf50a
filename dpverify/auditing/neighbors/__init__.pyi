from .constructions import Domain
from .pairs import Pair, TablePair, load_pair
from .search import SearchResult, search_pairs

__all__ = [
    "Domain",
    "Pair",
    "SearchResult",
    "TablePair",
    "load_pair",
    "search_pairs",
]
