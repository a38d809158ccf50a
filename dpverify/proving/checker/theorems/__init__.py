"""Confirms certificates of theorems: clauses that follow from rules and other clauses, step by step."""
