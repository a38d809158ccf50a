"""Reasoning that several provers share: definedness, signs, normal forms, satisfiability."""
