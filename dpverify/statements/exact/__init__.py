"""Exact profiles of the algorithms: each record's privacy on a pair of data sets, enclosed from both sides."""

from dpverify.statements.exact.chains import ExactEpsilon, chains, index_profiles, noisy_chain

__all__ = ["ExactEpsilon", "chains", "index_profiles", "noisy_chain"]
