"""All signs and words of theorems that this reader knows; a notation of a form that is known is one entry here."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

Term: TypeAlias = "str | tuple[Term, ...]"
"""A term as certificates have it, in nested tuples."""


SORTS = {"type": "any", "finite type": "finite", "type of data sets": "data", "Euclidean space": "space"}
"""Kinds of types."""
KINDS: dict[str, tuple[tuple[str, ...], str, str]] = {
    "data set": ((), "", "data"), "statement": ((), "", "formula"), "law on": ((), "law", "0"),
    "point of": ((), "", "0"), "event of": (("0",), "", "formula"), "function of": (("0",), "", "real"),
    "function of to": (("0",), "", "1"), "mechanism to": (("data",), "law", "0"), "law for on": (("0",), "law", "1"),
}  # fmt: skip
"""Words of a kind: its arguments, whether it is a law, and its type or its law's; digits are formulas in the words."""


class NamedLaw(NamedTuple):
    """A law that has a name: its head, how many numbers it has, and what is put first where there is one less."""

    head: str
    numbers: int
    first: tuple[Term, ...] = ()


class GuaranteeForm(NamedTuple):
    """A guarantee: its head, how many numbers it has, and what is put last where there is one less."""

    head: str
    numbers: int
    last: tuple[Term, ...] = ()


class DivergenceForm(NamedTuple):
    """A divergence of two laws: its head, and what stands in place of its order where that is 1."""

    head: str
    first_order: str = ""


class PropertyForm(NamedTuple):
    """What is said in words of a function or a set of vectors: the method, and how many formulas stand around them."""

    reader: str
    parts: int


ZERO: Term = ("num", "0")
ONE: Term = ("num", "1")
LAWS = {
    r"\mathcal{N}": NamedLaw("normal", 2), r"\mathrm{Lap}": NamedLaw("laplace", 2, (ZERO,)),
    r"\mathrm{Exp}": NamedLaw("exponential", 1), r"\mathrm{Unif}": NamedLaw("uniform", 2),
    r"\mathrm{Ber}": NamedLaw("bernoulli", 1),
}  # fmt: skip
"""Laws of numbers by their names."""
MADE = {
    r"\text{law of}": "law_of_made", r"\propto": "proportional", r"\mathrm{mix}": "mixture", r"\delta": "certain",
}  # fmt: skip
"""What else a law begins with, and the method that reads it; the last two have something below."""
OPERANDS = {
    r"\mathbb{E}": "expectation", r"\mathbf{E}": "expectation", r"\Pr": "probability", r"\mathbf{1}": "indicator",
    r"\mathbb{1}": "indicator", r"\mathrm{TV}": "total_variation", "I": "information",
    r"\mathrm{median}": "median",
}  # fmt: skip
"""Numbers that no formula has, by the sign with which they begin."""
DIVERGENCES = {"D": DivergenceForm("divergence", r"\mathrm{KL}"), "H": DivergenceForm("excess")}
"""Others, which have an order below and two laws in brackets; the letters may be declared, too."""
FOLDS = {"max": "largest", "min": "smallest"}
"""Functions that are what sums are where an index stands below: the largest and the smallest of what is behind."""
GUARANTEES = {
    r"\text{-DP}": GuaranteeForm("private", 2, (ZERO,)), r"\text{-RDP}": GuaranteeForm("renyi-private", 2),
    r"\text{-zCDP}": GuaranteeForm("concentrated", 1), r"\text{-GDP}": GuaranteeForm("gaussian", 1),
}  # fmt: skip
PROPERTIES = {
    (r"\text{is a convex set}",): PropertyForm("convex_set", 1), (r"\text{is convex}",): PropertyForm("convex", 1),
    (r"\text{is}", r"\text{-strongly convex}"): PropertyForm("strongly_convex", 2),
    (r"\text{is convex with subgradient}",): PropertyForm("with_subgradient", 2),
    (r"\text{is}", r"\text{-strongly convex with subgradient}"): PropertyForm("strongly_with_subgradient", 3),
    (r"\text{is}", r"\text{-smooth with gradient}"): PropertyForm("smooth", 3),
    (r"\text{is}", r"\text{-Lipschitz}"): PropertyForm("lipschitz", 2),
    (r"\text{is the projection onto}",): PropertyForm("projection", 2),
    (r"\text{minimizes}",): PropertyForm("minimizes", 2),
    (r"\text{minimizes}", r"\text{over}"): PropertyForm("minimizes_over", 3),
    (r"\text{permutes the whole numbers from}", r"\text{to}"): PropertyForm("permutes", 3),
}  # fmt: skip
"""Sentences about vectors by their words."""
PROPERTY_WORDS = frozenset(word for words in PROPERTIES for word in words)
SENTENCES = {
    r"\text{is integrable for}": "integrable", r"\text{has density}": "density", r"\text{is}": "guarantee",
}  # fmt: skip
"""Words of which both sides are read by a method."""
SIGNS = {r"\in": "event", r"\sim": "neighbors", r"\ll": "dominated", "=": "same"}
"""Signs behind what is no number, or before the letter of an event, and the method that reads what follows."""
