"""fmtt18: Feldman, Mironov, Talwar, Thakurta, Privacy Amplification by Iteration."""

from dpverify.statements.paper import PaperFolder

PAPER = PaperFolder("fmtt18", "Privacy Amplification by Iteration", "Feldman, Mironov, Talwar, Thakurta")
