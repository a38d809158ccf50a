"""The gallery of mechanisms: each proved, and with each planted fault refuted; the tables of docs/mechanism-gallery.md.

make mechanisms       # some 3 minutes on 2 cores; a mechanism alone: gallery.py --only count

The pages come with the program. faults.csv has what is planted in them: in the section of a mechanism, one text
in place of another.
"""

from __future__ import annotations

import argparse
import csv
import os
import re
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from dpverify.files import write_table
from dpverify.statements.mechanisms.reading import mechanisms_of
from dpverify.statements.theorems.library import mechanism_pages
from dpverify.verification.mechanisms import MechanismRow, decide_mechanism
from dpverify.views.pairs import pair_lines

FAULTS = Path(__file__).with_name("faults.csv")


@dataclass(frozen=True)
class Fault:
    """A fault that is planted in a mechanism; without `old`, the mechanism as it is."""

    mechanism: str
    kind: str = ""
    old: str = ""
    new: str = ""

    @property
    def page(self) -> str:
        """The section of the mechanism, with the fault."""
        text = section(self.mechanism)
        if not self.old:
            return text
        before, found, after = text.partition(self.old)
        if not found or self.old in after:
            raise ValueError(f"{self.mechanism}, {self.kind}: what is changed stands there once")
        return before + self.new + after

    def decided(self) -> tuple[MechanismRow, float]:
        """What is found of it, and in how many seconds."""
        begun = time.process_time()
        (one,) = mechanisms_of(self.page, self.mechanism)
        return decide_mechanism(one, self.mechanism), time.process_time() - begun


def section(mechanism: str) -> str:
    """A mechanism's section of its page."""
    id_ = f"mechanism.{mechanism}"
    text = mechanism_pages()[id_].read_text(encoding="utf-8")
    (found,) = (part for part in re.split(r"(?m)^(?=## )", text) if f"{{#{id_}}}" in part.partition("\n")[0])
    return found


def mechanisms() -> tuple[str, ...]:
    """All mechanisms of the gallery."""
    return tuple(id_.removeprefix("mechanism.") for id_ in mechanism_pages())


def faults() -> list[Fault]:
    """What is planted."""
    with FAULTS.open(encoding="utf-8", newline="") as file:
        return [Fault(**row) for row in csv.DictReader(file)]


def table(found: list[tuple[Fault, MechanismRow, float]]) -> Iterator[str]:
    """The lines of the tables."""
    counts = Counter((bool(one.kind), str(row.verdict)) for one, row, _ in found)
    for planted, what in ((False, "mechanisms"), (True, "planted faults")):
        said = ", ".join(f"{n} {verdict}" for (of, verdict), n in counts.items() if of is planted)
        yield f"{sum(n for (of, _), n in counts.items() if of is planted)} {what}: {said}."
        yield ""
    yield "| mechanism | fault | in place of | stands | found | seconds |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for one, row, seconds in found:
        page = mechanism_pages()[f"mechanism.{one.mechanism}"]
        name = f"[{row.title}](../dpverify/statements/mechanisms/gallery/{page.name})"
        pair = [] if row.pair is None else [*pair_lines("", 0, row.pair)][1:]
        said = "; ".join([str(row.verdict), *(line.strip() for line in pair)])
        changed = [_cell(text) for text in (one.old, one.new)]
        cells = ("" if one.kind else name, one.kind, *changed, said.replace("|", "&#124;"), f"{seconds:.1f}")
        yield f"| {' | '.join(cells)} |"


def _cell(text: str) -> str:
    """Text of a page as code in a cell."""
    lines = (line for line in text.split("\n") if line)
    return " ".join(f"`{line}`" for line in lines).replace("|", "&#124;")


def main() -> None:
    """Decide all, and write or print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("output", nargs="?", help="the page whose table is written; default: printed")
    parser.add_argument("--only", action="append", help="a mechanism, without `mechanism.`; default: all")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    chosen = parser.parse_args()
    names = chosen.only or mechanisms()
    asked = [one for name in names for one in (Fault(name), *(f for f in faults() if f.mechanism == name))]
    with ProcessPoolExecutor(chosen.jobs) as pool:
        found = pool.map(Fault.decided, asked)
        lines = [*table([(one, *outcome) for one, outcome in zip(asked, found, strict=True)])]
    if chosen.output:
        write_table(Path(chosen.output), lines)
    else:
        print(*lines, sep="\n")


if __name__ == "__main__":
    main()
