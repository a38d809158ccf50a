"""The outcome of one obligation."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator

from dpverify.ledger.besides.kernels import KernelAnswer
from dpverify.ledger.besides.realistic import RealisticPoint
from dpverify.ledger.besides.thresholds import Threshold
from dpverify.ledger.facts import FailureMargin, LetterDomain
from dpverify.ledger.in_print import Mistake, Provenance, named_letter
from dpverify.ledger.notebooks import html_table
from dpverify.ledger.premises import PremiseEntry
from dpverify.ledger.records import Record
from dpverify.ledger.verdicts import Consequence, Coverage, Gap, Variant, Verdict


class ProofEvidence(Record):
    """The outcome for one obligation of one statement."""

    kind: Literal["proof"] = "proof"
    statement: str
    obligation: str
    where: str
    coverage: Coverage
    variant: Variant
    latex: str
    expression: str
    """The formula in plain characters."""
    conjuncts: tuple[str, ...] = ()
    """Its parts, where it is a conjunction."""
    written_in_full: bool = False
    """Whether `expression` writes out what `latex` abbreviates, such as O( )."""
    units_of: str = ""
    """For a row about units, the formula whose units they are."""
    read: str = ""
    """All that was read, printed from the tree that the verdict is about: for which values of which letters, under
    which conditions, with which definitions, what."""
    scope: str = ""
    """Which special case of the statement an instance covers."""
    notation: tuple[str, ...] = ()
    """In LaTeX, what the quantities in the formula that are not plain letters stand for."""
    functionals: tuple[str, ...] = ()
    """Its letters, as in `domain`, that may stand for functionals; at values of theirs nothing is refuted."""
    formulas: dict[str, str] = Field(default_factory=dict)
    """Letters that stand for formulas of others, each with its formula in plain characters."""
    written_out: bool = False
    """Whether the verdict is about the formula with these letters replaced; else it is for all values of theirs."""
    uses: tuple[str, ...] = ()
    """What it rests on: ids of statements or of named results, or `STATEMENT/OBLIGATION`."""
    provenance: Provenance | None = None
    """Where its line comes from; None on a page of somebody's own."""
    prints: tuple[str, ...] = ()
    """In LaTeX, the printed displays that it says a part of, or follows from, where it does not stand in print."""
    consequence: Consequence | None = None
    """For a printed formula that is false, what follows from that."""
    mistake: Mistake | None = None
    """For a printed formula that is false or does not follow, what kind of mistake that is, by its correction; None
    where there is none."""
    relation: str = ""
    """As printed, between `left` and `right`: `<=`, `<`, `>=`, `>`, `==` or `!=`; empty if nothing is compared."""
    excess: FailureMargin | None = None
    """By how much an inequality that is false or does not follow fails at the counterexample, where both sides are
    numbers there; in the direction that is printed."""
    reading: str = ""
    """A reading under which the printed formula is true."""
    catches: str = ""
    """For an instance, the fault that it is there to catch."""
    with_fault: Verdict | None = None
    """For an instance that names a fault, the verdict of its formula with the fault; it catches what is broken."""
    domain: dict[str, LetterDomain] = Field(default_factory=dict)
    units: dict[str, str] = Field(default_factory=dict)
    letters: dict[str, str] = Field(default_factory=dict)
    """Its letters, as in `domain`, in LaTeX as they are printed."""
    assuming: tuple[str, ...] = ()
    assuming_latex: tuple[str, ...] = ()
    """The same in LaTeX."""
    premises: tuple[PremiseEntry, ...] = ()
    """Where what is among `assuming` comes from, but for conditions on numbers that nothing used concludes."""
    says_nothing: bool = False
    """Whether all that it claims is among `assuming`, or has the same on both sides: it is not counted."""
    because: str = ""
    """For a corrected formula, why the printed one had to be corrected."""
    added: tuple[str, ...] = ()
    """For a corrected formula, the conditions and domains that the printed one of its name lacks."""
    added_latex: tuple[str, ...] = ()
    """The same in LaTeX."""
    added_letters: dict[str, str] = Field(default_factory=dict)
    """Letters of these in LaTeX, and what they are, where the statement does not tell."""
    verdict: Verdict
    prover: str
    box: dict[str, tuple[str, str]] | None = None
    counterexample: dict[str, str] | None = None
    """Symbol to exact decimal or fraction."""
    along: tuple[str, ...] = ()
    """Of a claim about orders that is false along a curve, in LaTeX: its letters there, and the constants."""
    left: str | None = None
    right: str | None = None
    """The two sides at the counterexample, in the order that is printed."""
    realistic: RealisticPoint | None = None
    """A counterexample at sizes met in practice; None if no letter has such a size."""
    thresholds: tuple[Threshold, ...] = ()
    """How far it holds, as far as `dpverify sharpen` was asked."""
    certificate: str | None = None
    """`sha256:` and the hash of the certificate, which lies beside the ledger under that name."""
    confirmed_by_checker: bool = False
    checker_says: str = ""
    """Why the checker did not confirm, or how it did."""
    kernel: KernelAnswer | None = None
    """What the kernel of a proof assistant said, of what the checker confirms; None where none was asked."""
    reason: str = ""
    """For `undecided`: what was tried and what stopped it; else what is to be said beside the verdict."""
    gap: Gap | None = None
    """For `undecided`: which of the known reasons it is."""
    boxes: int | None = None
    witness: dict[str, str] | None = None
    """A confirmed point of domain, box and assumptions: symbol to exact decimal or fraction."""
    stopped_by_the_clock: bool = False
    """Whether a last-resort guard of time ended some work, so that verdict or confirmation depends on the machine."""
    fault: str = ""
    """The traceback where dpverify itself failed on this row; the run then ends with exit code 70."""
    seconds: float = 0.0

    @field_validator("counterexample", "witness")
    @classmethod
    def _in_one_order(cls, point: dict[str, str] | None) -> dict[str, str] | None:
        """Letters by name, whether a point was found now or is remembered."""
        return None if point is None else dict(sorted(point.items()))

    @property
    def definitions(self) -> tuple[str, ...]:
        """What of `notation` defines something, in LaTeX: all but the names of letters."""
        names = {named_letter(latex, name) for name, latex in self.letters.items()}
        return tuple(line for line in self.notation if line not in names)

    @property
    def depends_on_the_machine(self) -> bool:
        """Whether a last resort or a fault ended work on it, so that it is tried again instead of being kept."""
        return self.stopped_by_the_clock or bool(self.fault) or self.gap is Gap.MEMORY

    def _repr_html_(self) -> str:
        """For notebooks."""
        return html_table(
            f"{self.statement}, {self.obligation}: {self.verdict}",
            (
                ("formula", self.expression),
                ("variant", self.variant),
                ("coverage", self.coverage),
                ("prover", self.prover),
                ("checker", "confirmed" if self.confirmed_by_checker else "not confirmed"),
                ("kernel", "" if self.kernel is None else self.kernel.text()),
                ("counterexample", ", ".join(f"{k} = {v}" for k, v in (self.counterexample or {}).items())),
                ("why", self.reason),
            ),
        )
