"""Confirms certificates by other means than the provers'; all that they share is docs/certificates.md.

Only `problem` is believed, `proof` is a hint. What is unknown, or may be undefined on the domain, is refused. The
modules `checker_*` are parts of the checker; none of them shares code with a prover.
"""

import json
import sys
from dataclasses import dataclass
from fractions import Fraction as Q
from math import ceil, floor
from pathlib import Path
from threading import Lock
from typing import Any

from dpverify.proving.checker_intervals import show
from dpverify.proving.checker_logic import decide, logic
from dpverify.proving.checker_polynomials import above, at_least_0, clear, forms
from dpverify.proving.checker_rewriting import Rewriting
from dpverify.proving.checker_terms import MINUS, ZERO, demand, mixed, names, number, put, read, slope, work

LOCK = Lock()  # mpmath's and cvc5's contexts are shared by all threads


@dataclass(frozen=True)
class Confirmation:
    """Whether a certificate was confirmed, and how, or why not."""

    confirmed: bool
    says: str


def check(certificate: Any) -> Confirmation:
    """Whether a certificate's problem has its verdict, as far as its proof leads the checker to see it."""
    try:
        demand(
            certificate["version"] == 1 and len(json.dumps(certificate["problem"])) < 10**5, "version or size"
        )
        with LOCK:
            found = Checker(certificate["problem"]).confirm(certificate["proof"])
        demand(found == certificate["verdict"], f"shown is {found}, not {certificate['verdict']}")
    except Exception as why:  # anything at all that goes wrong in a certificate is a reason to refuse it
        return Confirmation(False, str(why) if isinstance(why, ValueError) else f"malformed: {why!r}")
    return Confirmation(True, f"{found}, by {certificate['proof']['method']}")


class Checker(Rewriting):
    """The methods by which a problem is confirmed; each returns the verdict that it shows."""

    def counterexample(self, proof: Any) -> str:
        """The domain and the assumptions hold at a point, and the claim does not."""
        point = {x: number(proof["point"][x]) for x in self.variables}
        demand(
            all(v["kind"] == "real" or point[x] % 1 == 0 for x, v in self.variables.items()), "not an integer"
        )
        env = {x: ("num", q) for x, q in point.items()}
        for f, wanted in [*((f, 1) for f in self.given), (self.claim, -1)]:
            found = (decide(f, env, {}, p) for p in (64, 256, 1024, 4096))
            demand(
                next(filter(None, found), 0) == wanted,
                f"not certainly {wanted > 0} at the point: {str(f)[:80]}",
            )
        return "refuted"

    def signs(self, proof: Any) -> str:
        """With every variable at its bound plus or minus t >= 0, no coefficient of right minus left is negative."""
        demand(self.claim[0] in ("<=", "<"), "not an inequality")
        self.defined()
        shift, bounds = proof["shift"], self.bounds | {x + "+": Q(0) for x in proof["shift"]}

        def place(x: str) -> Any:
            if x not in shift:
                return "sym", x
            end, *more = shift[x]
            names, way = more[0]["plus"] if more else [], ("num", Q({"lower": 1, "upper": -1}[end]))
            base = [("num", number(self.variables[x][end]))] if not names else []
            t = (
                "mul",
                way,
                ("add", ("sym", x), *(("mul", MINUS, e) for e in [*base, *(("sym", y) for y in names)])),
            )
            demand(self.sure("<=", self.form(t)), f"{x} is not known to be beyond its bound")
            return "add", *base, *map(place, names), ("mul", way, ("sym", x + "+"))

        u = work(self.gap({x: place(x) for x in self.variables}), forms(bounds, []), {})
        inverses = {(a, k) for m in u for a, k in m if a[0] == "root" and k < 0}
        demand(
            all(at_least_0(a, k, bounds) for a, k in inverses) and above(clear(u), bounds),
            "not seen by signs",
        )
        demand(self.claim[0] == "<=" or self.sure("!=", self.form(self.gap())), "may be 0")
        return "proved"

    def conjunction(self, proof: Any) -> str:
        """Part by part."""
        demand(self.claim[0] == "and" and len(self.claim) > 1, "not a conjunction")
        found = [
            self.but(claim=f).confirm(part) for f, part in zip(self.claim[1:], proof["parts"], strict=True)
        ]
        return str(min(found, key=["refuted", "certified", "proved"].index))

    def units(self, proof: Any) -> str:
        """Every sum and comparison is mixed, or the first that is not mixes the two units named."""
        powers = {
            x: tuple(number(v["unit"][q]) for q in ("loss", "length")) for x, v in self.variables.items()
        }
        met: list[Any] = []

        def leaf(relation: str, left: Any, right: Any) -> None:
            if relation == "forall":
                demand(left["name"] not in powers, "a name bound twice")
                powers[left["name"]] = tuple(number(left["unit"][q]) for q in ("loss", "length"))
                logic(right, leaf, bool, bool)
            else:
                env = {x: ("sym", x) for x in powers}
                met.append(mixed([read(e, env) for e in (left, right)], powers))

        for f in (self.claim, *self.json["assuming"]):
            logic(f, leaf, bool, bool)
        first = next(filter(None, met), None)
        if first is not None:
            said = {tuple(number(proof[side][q]) for q in ("loss", "length")) for side in ("left", "right")}
            demand(first == said, "other units are mixed")
        return "proved" if first is None else "refuted"

    def boxes(self, proof: Any) -> str:
        """The tree of boxes replayed with other intervals."""
        demand(self.claim[0] in ("<=", "<"), "not an inequality")
        self.precision = max(53, min(1000, int(proof.get("precision", 64)))) + 16
        box, whole = {}, True
        for x, v in self.variables.items():
            low, high = map(number, proof["box"][x])
            box[x] = (Q(ceil(low)), Q(floor(high))) if v["kind"] == "integer" else (low, high)
            ends = [v[end] and number(v[end]) for end in ("lower", "upper")]
            demand(low <= high and box[x][0] <= box[x][1], f"no value of {x} in the box")
            demand(
                (ends[0] is None or ends[0] <= high) and (ends[1] is None or low <= ends[1]),
                "a box off the domain",
            )
            whole = whole and None not in ends and low <= ends[0] and ends[1] <= high
        f = self.gap({x: ("num", low) if low == high else ("sym", x) for x, (low, high) in box.items()})
        self.replay(f, self.claim[0] == "<", box, proof["tree"], frozenset())
        return "proved" if whole else "certified"

    def replay(self, f: Any, strict: bool, box: Any, tree: Any, moved: Any) -> None:
        """Confirm f >= 0 (> 0) on a box by a tree; `moved` are the variables along which edges were left."""
        match tree:
            case ["+" | "m" | "n" as rule]:
                show(f, strict, box, self.precision, "+mn"["+mn".index(rule) :], 6)
            case ["-"]:
                fixed = [g for g in self.given if not names(g) & moved]
                demand(
                    any(decide(g, self.env, box, self.precision) < 0 for g in fixed),
                    "all assumptions may hold",
                )
            case ["s", x, at, *parts]:
                (low, high), cut = box[x], number(at)
                demand(low <= cut <= high and len(parts) == 2, "a split that is not in its box")
                rounded = self.variables[x]["kind"] == "integer" and x not in moved
                halves = (
                    [(low, Q(floor(cut))), (Q(floor(cut) + 1), high)]
                    if rounded
                    else [(low, cut), (cut, high)]
                )
                for part, (a, b) in zip(parts, halves, strict=True):
                    if a <= b:
                        g = put(f, x, ("num", a)) if a == b else f
                        self.replay(g, strict, box | {x: (a, b)}, part, moved)
            case ["e", x, "lower" | "upper" as end, edge, rise]:
                value, moved = box[x][end == "upper"], moved | {x}
                face = put(f, x, ("num", value))
                if edge == ["0"]:
                    u = work(face, forms({y: low for y, (low, _) in box.items()}, []), {})
                    demand(not strict and not clear(u), "not 0 on an edge")
                else:
                    self.replay(face, strict, box | {x: (value, value)}, edge, moved)
                d = slope(f, x) if end == "lower" else ("mul", MINUS, slope(f, x))
                self.replay(("add", d, ("mul", ZERO, f)), False, box, rise, moved)  # undefined where f is
            case _:
                raise ValueError(f"not understood: {str(tree)[:60]}")


def main(paths: list[str]) -> int:
    """Check files and print a line for each: 0 if all are confirmed, 1 if not, 2 for bad input."""
    code = 0 if paths else 2
    for path in paths:
        try:
            found = check(json.loads(Path(path).read_text(encoding="utf-8")))
            code = max(code, 0 if found.confirmed else 1)
        except (OSError, ValueError) as error:
            found, code = Confirmation(False, f"cannot be read: {error}"), 2
        print(f"{path}: {'confirmed' if found.confirmed else 'not confirmed'}: {found.says}")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
