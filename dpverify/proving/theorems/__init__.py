"""Theorems of the checker's language: models that show that what is assumed can hold, or that refute a claim."""
