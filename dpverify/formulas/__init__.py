"""Formulas as they are printed: trees that nothing simplifies, and their notation."""
