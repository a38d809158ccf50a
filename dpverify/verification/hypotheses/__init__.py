"""Which hypotheses statements need, and whether their conditions can hold at once."""
