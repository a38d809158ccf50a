"""What is asked of formulas beside their proofs: realistic counterexamples, hypotheses, conditions together."""
