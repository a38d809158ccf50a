"""What may be said about a statement, computed from its formulas: a headline says what was proved and no more."""
