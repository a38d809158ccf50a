"""bs16: Bun and Steinke, Concentrated Differential Privacy (2016): pages, an algorithm and its audits."""

from dpverify.statements.own_pages import PackagePaper

PAPER = PackagePaper(
    __name__,
    "Concentrated Differential Privacy: Simplifications, Extensions, and Lower Bounds",
    "Bun, Steinke",
)
