"""Exact profiles of the algorithms: each record's privacy on a pair of data sets, enclosed from both sides."""

from dpverify.verification.exact.chains import chains, index_profiles, noisy_chain

__all__ = ["chains", "index_profiles", "noisy_chain"]
