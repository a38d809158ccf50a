"""gll22: Gopi, Lee, Liu, Private Convex Optimization via Exponential Mechanism."""

from dpverify.statements.paper import PaperFolder

PAPER = PaperFolder("gll22", "Private Convex Optimization via Exponential Mechanism", "Gopi, Lee, Liu")
