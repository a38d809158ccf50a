"""Formulas written out: as LaTeX, and as the nested lists of certificates."""
