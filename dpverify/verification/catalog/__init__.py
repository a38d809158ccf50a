"""The catalog: obligations as rows, proofs side by side, and what was found of each statement."""
