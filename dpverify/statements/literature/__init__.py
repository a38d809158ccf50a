"""Named results of the literature on which the papers' statements rest."""

from dpverify.statements.paper import Literature

PAPER = Literature("literature", "Named results of the literature")
