"""bst14: Bassily, Smith, Thakurta, Private Empirical Risk Minimization: Efficient Algorithms and Tight Error Bounds."""

from dpverify.statements.paper import PaperFolder

PAPER = PaperFolder(
    "bst14",
    "Private Empirical Risk Minimization: Efficient Algorithms and Tight Error Bounds",
    "Bassily, Smith, Thakurta",
)
