"""Pairs of data sets that break mechanisms' claims, and audits of what stays undecided."""
