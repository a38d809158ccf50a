"""Audits of sample files that users bring, drawn anywhere and by anything."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

from dpverify.auditing.batch import BatchAuditor
from dpverify.auditing.contract import Label
from dpverify.auditing.error_share import ErrorShare
from dpverify.auditing.looks import EventFilter
from dpverify.auditing.outputs.encoding import Encoder
from dpverify.auditing.outputs.sample_files import read_samples
from dpverify.auditing.outputs.samples import check_as_many
from dpverify.auditing.pairs import GivenSamples, PrivacyQuestion
from dpverify.ledger.evidence import PrivacyEvidence
from dpverify.privacy.adjacency import Adjacency, checked_adjacency
from dpverify.privacy.claims import parse_claim
from dpverify.privacy.stated import StatedGuarantee
from dpverify.quoting import command_line

_EVERYWHERE = EventFilter()


def audit_samples(
    left: Path,
    right: Path,
    *,
    claim: str,
    failure_probability: float,
    seed: int,
    adjacency: Adjacency | str | None = None,
    delta: float | None = None,
    looks: EventFilter = _EVERYWHERE,
    allow_equal: bool = False,
) -> PrivacyEvidence:
    """Audit two sample files; whoever drew them vouches that the data sets are neighbors, by `adjacency` if given.

    `delta` is where epsilon is bounded, by default where the claim is; `looks` says at what; `allow_equal` that outputs
    are meant to be equal, which leaves a claim undecided otherwise.

    Raises:
        InvalidArgumentError, InvalidDataError: for a claim, an adjacency or a file that cannot be used.
    """
    begin = time.perf_counter()
    guarantee = parse_claim(claim)
    by = None
    if adjacency is not None:
        by = checked_adjacency(adjacency)
    more: tuple[str, ...] = () if by is None else ("--adjacency", by.value)
    more += () if delta is None else ("--delta", repr(delta))
    more += (*looks.options(), *(("--allow-equal",) if allow_equal else ()))
    encoder = Encoder()
    sides = read_samples(left), read_samples(right)
    check_as_many(*sides, (str(left), str(right)))
    samples = GivenSamples(*encoder.rows(*sides), encoder.name_event)
    again = command_line(
        "dpverify", "audit", "--left", left, "--right", right, "--claim", claim, *more,
        "--failure-probability", failure_probability, "--seed", seed,
    )  # fmt: skip
    question = PrivacyQuestion(
        StatedGuarantee(guarantee, Adjacency.UNCHECKED if by is None else by),
        "samples as given",
        np.shape(samples.left)[0],
        delta=delta,
        neighbors="as the samples were drawn" if by is None else "",
        label=Label(f"{left} and {right}", f"{left} and {right} against {guarantee}", again, seed),
    )
    found = BatchAuditor(looks).audit(question, samples, ErrorShare.of(failure_probability))
    said = {
        "outputs": encoder.says(),
        **encoder.judged(found.verdict, found.reason, found.gap, allow_equal=allow_equal),
    }
    return found.model_copy(update=said | {"seconds": round(time.perf_counter() - begin, 3)})
