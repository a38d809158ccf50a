from .constructions import Domain as Domain
from .pairs import Pair as Pair, TablePair as TablePair, load_pair as load_pair
from .search import SearchResult as SearchResult, search_pairs as search_pairs
