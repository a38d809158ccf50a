"""Proofs of mechanisms' claims: sensitivities of queries, theorems about noise, and what draws cost together."""
