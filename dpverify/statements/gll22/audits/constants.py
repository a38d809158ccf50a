"""Constants that gll22 hides in O( ) and Theta( )."""

from __future__ import annotations

import math

from dpverify.algorithms.gll22.rejection_inner_step import largest_spread
from dpverify.statements.audit_rows import Computed, largest
from dpverify.statements.gll22.audits import rates


def sampler_steps() -> Computed:
    """Theorem 5.6's T."""
    return largest(rates.sampler_steps())


def inner_step_size() -> Computed:
    """The largest C in Lemma 5.5's eta <= C / (G^2 ln(1/delta)) that the explicit bound proves."""
    deltas = [0.49, *(10.0**-e for e in range(1, 13))]
    return Computed(
        min(largest_spread(delta) ** 2 / 2 * math.log(1 / delta) for delta in deltas),
        {"delta_inner": "1e-12 to 0.49", "G": "any", "d": "any"},
    )


def mechanism_queries() -> Computed:
    """Theorem 6.4's queries."""
    return largest(rates.mechanism_queries("erm", least=False, with_epsilon=True))
