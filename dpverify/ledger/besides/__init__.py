"""What is found of a formula beside its verdict: a counterexample at a realistic size, how far it holds."""
