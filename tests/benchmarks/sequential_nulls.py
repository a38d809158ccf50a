"""How often sequential audits refute true claims, stopped where that hurts most.

`python tests/benchmarks/sequential_nulls.py [AUDITS] [RUNS]`, 1000 and 2000 if left out: each law of
tests/auditing/sequential/test_sequential.py meets its claim exactly; an alarm is a capital of 1/level at any time.
Prints alarms and an exact 99 % bound on their probability.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "auditing" / "sequential"))
from test_sequential import NULLS, highest

from dpverify.auditing import clopper_pearson_upper

_LEVELS = (0.05, 0.01)


def main(audits: int, runs: int) -> None:
    """Print a line for each level."""
    tops = [highest(draw, lines, runs, seed) for seed in range(audits // len(NULLS)) for draw, lines in NULLS]
    for level in _LEVELS:
        alarms = sum(top >= math.log(1 / level) for top in tops)
        bound = float(clopper_pearson_upper(alarms, len(tops), 0.01))
        print(
            f"level {level:g}: {alarms} of {len(tops)} true claims refuted within {runs} runs, rate at most {bound:.4g}"
        )


if __name__ == "__main__":
    given = [int(word) for word in sys.argv[1:3]]
    main(*given, *(1000, 2000)[len(given) :])
