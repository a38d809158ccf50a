"""Rarer forms of claims: an additive delta, several orders, bounded range, tables; numbers as they are typed."""
