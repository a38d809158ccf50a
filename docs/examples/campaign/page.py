"""The page on libraries, from a ledger of the campaign: `python page.py LEDGER PAGE`.

Every verdict and number is the ledger's. A finding's reason and what its tracker says are a person's, from notes.toml.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from notes import LIBRARIES, accountant_notes, notes

from dpverify.files import write_whole
from dpverify.ledger.document import Ledger
from dpverify.ledger.evidence import AccountantEvidence, PrivacyEvidence
from dpverify.reports import load_ledger
from dpverify.reports.formats.markdown import escaped

START = """# What was found in libraries

Privacy claims of other libraries that audits refuted, and those that passed. `make campaign` runs the audits, and
this page is made from its ledger; nobody typed a verdict by hand. [dpverify.toml](examples/campaign/dpverify.toml)
has the claim and the pair of data sets of each function. A person wrote the reason for each reading of a claim, and
the notes on the library's issue tracker, into [notes.toml](examples/campaign/notes.toml). [How to audit a
library](how-to/audit-a-library.md) explains how to add one.

A violated claim is false on the named pair, except with the failure probability: the audit bets against a claim, and a
true claim almost never lets the bets win much ([sequential.md](sequential.md)). A supported claim was not refuted on
one pair; its row names the smallest violation that the audit would have found half the time, had this pair shown it.
The audits did not test low bits of floating-point noise. We searched trackers by words, and read only the first posts
of threads: "none found" means no more than that.
"""


ACCOUNTANTS = """## Accountants

The smallest epsilon at delta 1e-5 lies between the two ends. An answer below the first is violated;
an answer between them is undecided. *Says* is the accountant's answer. [More settings](accountants.md).
"""


def _ends(entry: AccountantEvidence) -> tuple[float, float, float]:
    return entry.claimed, entry.smallest.lower, entry.smallest.upper


def name_of(entry: Any) -> str:
    """What the claim is called."""
    return str(entry.title).rpartition(" against ")[0] or str(entry.title)


def library_of(name: str, versions: Mapping[str, str]) -> str:
    """Library and version."""
    package = LIBRARIES[name.split()[0]]
    return f"{package} {versions.get(package, '')}".strip()


def page(ledger: Ledger, refused: Sequence[tuple[str, str]] = ()) -> Iterator[str]:
    """Lines of the page."""
    known = notes()
    audits = [entry for entry in ledger.entries if isinstance(entry, PrivacyEvidence)]
    accountants = [entry for entry in ledger.entries if isinstance(entry, AccountantEvidence)]
    violated = [entry for entry in audits if entry.verdict == "violated"]
    words = {name_of(entry): known.get(name_of(entry), {}).get("word", "") for entry in audits}
    yield START
    versions = ", ".join(f"{name} {ledger.versions[name]}" for name in sorted(ledger.versions))
    yield f"Run on {ledger.created[:10]}, failure probability {ledger.budget.failure_probability:g} over all claims."
    yield f"Versions: {versions}.\n"
    left = [
        name
        for name in known
        if name not in {name_of(entry) for entry in audits} | {name for name, _ in refused}
    ]
    if left:
        yield f"This ledger has {len(audits)} of {len(known)} claims; not run: {', '.join(left)}.\n"
    for title, word in (("Findings", ""), ("Doubtful", "doubtful")):
        yield f"## {title}\n"
        if word:
            yield "These claims are violated as we read them; the library may mean another reading.\n"
        for entry in violated:
            if words[name_of(entry)] == word:
                yield from _finding(entry, known.get(name_of(entry), {}), ledger.versions)
    yield "## Planted faults\n\nThe campaign has to find each; one that it misses is a defect of the campaign.\n"
    yield from _table(
        ("subject", "claim", "verdict", "runs"),
        ((name, e.claim, e.verdict, str(e.runs)) for e in audits if words[name := name_of(e)] == "planted"),
    )
    yield ACCOUNTANTS
    yield from _table(
        ("accountant", "version", "verdict", "says", "from", "to"),
        (
            (
                e.title,
                library_of(e.title, ledger.versions),
                e.verdict,
                *(f"{number:.6g}" for number in _ends(e)),
            )
            for e in accountants
        ),
    )
    for start, note in accountant_notes().items():
        if any(entry.verdict == "violated" and entry.title.startswith(start) for entry in accountants):
            yield f"- **{start}**: {note['why']}."
            yield from (f"  {line}" for line in _looked_up(note))
    yield "\n## Looked at and passed\n"
    yield from _table(
        ("subject", "version", "claim", "read from", "neighbors", "runs", "epsilon at least", "would have been found"),
        (
            (name, library_of(name, ledger.versions), e.claim, known.get(name, {}).get("documented", ""), e.adjacency,
             str(e.runs), f"{e.epsilon_lower:.3g} at delta {e.delta:g}", e.detectable)
            for e in audits if e.verdict == "supported" and words[name := name_of(e)] != "planted"
        ),
    )  # fmt: skip
    yield "## Undecided or refused\n"
    undecided = [(name_of(e), e.reason) for e in audits if e.verdict == "undecided"]
    yield from _table(
        ("subject", "why"), [*undecided, *((name, without_places(why)) for name, why in refused)]
    )
    for name, _ in refused:
        if known.get(name, {}).get("why"):
            yield f"- **{name}**: {known[name]['why']}."
            yield from (f"  {line}" for line in _looked_up(known[name]))


def without_places(text: str) -> str:
    """A message without what differs from machine to machine: folders and addresses in memory."""
    return re.sub(r" object at 0x[0-9a-f]+|(?<![\w.:/])/(?:[^\s/]+/)+", "", text)


def _looked_up(note: Mapping[str, Any]) -> Iterator[str]:
    """Lines on the script that shows it, and on what its tracker says."""
    if script := note.get("reproducer"):
        yield f"- Reproducer without dpverify: [{script}.py](examples/campaign/reproducers/{script}.py)."
    if looked := note.get("looked"):
        link, thread = note.get("tracker"), note.get("thread")
        yield f"- Tracker (a person's note of {looked}): {f'{link}: {thread}' if link else 'none found'}."


def _finding(entry: PrivacyEvidence, note: Mapping[str, Any], versions: Mapping[str, str]) -> Iterator[str]:
    name = name_of(entry)
    yield f"### {name}\n"
    library = library_of(name, versions)
    read = note.get("documented", "")
    yield f"- **{library}**, claim {entry.claim}, read from `{read}`; neighbors: {entry.adjacency}."
    pair = entry.data.rpartition("/")[2]
    yield f"- Pair: [{pair}](examples/campaign/pairs/{pair})."
    bound = f"epsilon is at least {entry.epsilon_lower:.4g} at delta {entry.delta:g}"
    # bets refute a curve as a whole, which the bound at one delta need not show
    confidence = f"confidence 1 - {entry.failure_probability:.2g}, {entry.runs} runs on each data set"
    yield f"- Evidence: {entry.reason.split(';')[0]}. By itself, {bound}, at {confidence}."
    if note.get("why"):
        yield f"- Why: {note['why']}."
    if note.get("doubt"):
        yield f"- Doubt: {note['doubt']}"
    yield from _looked_up(note)
    yield ""


def _table(head: Sequence[str], rows: Any) -> Iterator[str]:
    found = [[escaped(cell) for cell in row] for row in rows]
    if not found:
        yield "None.\n"
        return
    yield f"| {' | '.join(head)} |\n|{' --- |' * len(head)}"
    yield from (f"| {' | '.join(row)} |" for row in found)
    yield ""


def main(path: Path, out: Path) -> None:
    refused = path.with_name("refused.txt")
    lines = refused.read_text(encoding="utf-8").splitlines() if refused.is_file() else []
    rows = [(line.partition("\t")[0], line.partition("\t")[2]) for line in lines]
    write_whole(out, ("\n".join(page(load_ledger(path), rows)).rstrip() + "\n").encode())


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
