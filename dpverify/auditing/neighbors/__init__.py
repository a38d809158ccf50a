"""Worst neighbors: a search for the pair of data sets that speaks most against a claim."""

from dpverify.auditing.neighbors.constructions import Domain
from dpverify.auditing.neighbors.pairs import Pair, load_pair
from dpverify.auditing.neighbors.search import Searched, search_pairs

__all__ = ["Domain", "Pair", "Searched", "load_pair", "search_pairs"]
