"""mn25: Menart, Nikolov, On the Gradient Complexity of Private Optimization with Private Oracles."""

from dpverify.statements.paper import PaperFolder

PAPER = PaperFolder(
    "mn25", "On the Gradient Complexity of Private Optimization with Private Oracles", "Menart, Nikolov"
)
