"""Inequalities between inner products, as ones about the vectors' Gram matrix."""
