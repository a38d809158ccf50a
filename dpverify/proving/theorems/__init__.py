"""Theorems: their notation, the rules by which they follow, and how steps of proofs are found (docs/theorems.md)."""
