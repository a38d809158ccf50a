"""Formulas written out: in plain characters, as LaTeX, and as the nested lists of certificates."""
