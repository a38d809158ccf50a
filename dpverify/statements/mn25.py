"""mn25: Menart and Nikolov, On the Gradient Complexity of Private Optimization with Private Oracles."""

from __future__ import annotations

from dpverify.statements.paper import Paper, own_catalog

PAPER = Paper(
    key="mn25",
    title="On the Gradient Complexity of Private Optimization with Private Oracles",
    authors="Menart, Nikolov",
    catalog=own_catalog("mn25"),
)
