"""A ledger made up for tests of the report.

Nothing in it was computed by dpverify; the Gaussian profiles are worked out here, with SciPy, so that the
plots look like real ones.
"""

from __future__ import annotations

import hashlib
import json
import math
from typing import Any

import numpy as np
from scipy.special import log_ndtr

from dpverify.ledger.besides.realistic import RealisticPoint
from dpverify.ledger.document import DisplayCount, ErrorBudget, Ledger
from dpverify.ledger.entries import NamedResult, StatementEntry
from dpverify.ledger.evidence import (
    ComplexityEvidence,
    ConstantEvidence,
    MeanEvidence,
    PrivacyEvidence,
    ProfilePoint,
    RateEvidence,
    RiskEvidence,
    SamplingEvidence,
)
from dpverify.ledger.facts import FailureMargin, LetterDomain, PracticalSize
from dpverify.ledger.headlines.rows import FalsePart
from dpverify.ledger.headlines.words import Standing, Tried, VariantOutcome
from dpverify.ledger.proofs import ProofEvidence
from dpverify.ledger.records import Interval
from dpverify.ledger.verdicts import Consequence, Coverage, Gap, Variant, Verdict

SHIFT_CERTIFICATE: dict[str, Any] = {
    "version": 1,
    "problem": {
        "variables": [{"name": "T", "kind": "integer", "lower": "1"}],
        "assuming": [],
        "claim": ["=="],
    },
    "verdict": "proved",
    "proof": {"method": "identity"},
}


def certificate_name(value: dict[str, Any]) -> str:
    """The name under which a certificate is kept (docs/certificates.md)."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


CERTIFICATES = {certificate_name(SHIFT_CERTIFICATE): SHIFT_CERTIFICATE}


def gaussian_delta(epsilon: float, mu: float) -> float:
    """Hockey-stick divergence of N(mu, 1) from N(0, 1)."""
    first, second = float(log_ndtr(mu / 2 - epsilon / mu)), float(log_ndtr(-mu / 2 - epsilon / mu))
    return math.exp(first) - math.exp(epsilon + second)


def gaussian_profile(claimed: float, known: float, audited: float) -> tuple[ProfilePoint, ...]:
    """Thirty points; the audited bound is a Gaussian profile less a margin, and zero in the far tail."""
    points = []
    for epsilon in np.linspace(0, 3, 30):
        lower = gaussian_delta(float(epsilon), audited) - 4e-4
        points.append(
            ProfilePoint(
                epsilon=float(epsilon),
                delta_lower=max(lower, 0.0),
                delta_claimed=gaussian_delta(float(epsilon), claimed),
                delta_upper=gaussian_delta(float(epsilon), known),
            )
        )
    return tuple(points)


_THEOREM = {
    "statement": "fmtt18.thm1",
    "where": "Theorem 1 (informal)",
    "domain": {
        "T": LetterDomain(kind="integer", lower="1"),
        "order": LetterDomain(lower="1"),
        "sigma": LetterDomain(lower="0", lower_open=True),
        "distance": LetterDomain(lower="0"),
    },
    "units": {"T": "dimensionless", "order": "dimensionless", "sigma": "length", "distance": "length"},
}

PROOFS = (
    ProofEvidence(
        **_THEOREM,
        obligation="attained-by-identity-maps",
        coverage=Coverage.INSTANCE,
        variant=Variant.PRINTED,
        latex=r"\frac{\alpha \|x_0 - x_0'\|^2}{2 T \sigma^2} \le \frac{\alpha \|x_0 - x_0'\|}{2 T \sigma^2}",
        expression="order*distance^2/(2*T*sigma^2) <= order*distance/(2*T*sigma^2)",
        scope="all maps the identity, where the divergence is known exactly",
        verdict=Verdict.REFUTED,
        prover="exact",
        counterexample={"T": "1", "order": "2", "sigma": "1", "distance": "2"},
        left="4",
        right="2",
        consequence=Consequence.CLAIM,
        excess=FailureMargin.of("<=", "4", "2"),
        reading="with the square of the distance",
        realistic=RealisticPoint(
            sizes={
                "T": PracticalSize(what="number of steps, queries or the like", low="10", high="1000000"),
                "order": PracticalSize(what="Renyi order", low="5/4", high="256"),
                "sigma": PracticalSize(what="of any scale", low="1/1000", high="1000"),
                "distance": PracticalSize(what="of any scale", low="1/1000", high="1000"),
            },
            tried=256,
            point={"T": "1000", "order": "2", "sigma": "1/2", "distance": "3"},
            left="9/250",
            right="3/250",
            excess=FailureMargin.of("<=", "9/250", "3/250"),
            confirmed_by_checker=True,
        ),
        certificate="sha256:" + "ab" * 32,
        confirmed_by_checker=True,
        checker_says="the point lies in the domain and the claim is false there",
        seconds=0.02,
    ),
    ProofEvidence(
        **_THEOREM,
        obligation="attained-by-identity-maps",
        coverage=Coverage.INSTANCE,
        variant=Variant.CORRECTED,
        latex=r"\frac{\alpha \|x_0 - x_0'\|^2}{2 T \sigma^2}"
        r" \le \frac{\alpha \|x_0 - x_0'\|^2}{2 T \sigma^2}",
        expression="order*distance^2/(2*T*sigma^2) <= order*distance^2/(2*T*sigma^2)",
        scope="all maps the identity, where the divergence is known exactly",
        because="the two sides have different units, and identity maps attain the square",
        verdict=Verdict.PROVED,
        prover="exact",
        certificate=certificate_name(SHIFT_CERTIFICATE),
        confirmed_by_checker=True,
        checker_says="expanded in exact fractions",
        seconds=0.01,
    ),
    ProofEvidence(
        **_THEOREM,
        obligation="same-unit",
        coverage=Coverage.UNIT,
        variant=Variant.PRINTED,
        latex=r"\left[\frac{\alpha \|x_0 - x_0'\|}{2 T \sigma^2}\right] = [1]",
        expression="unit(order*distance/(2*T*sigma^2)) == 1",
        verdict=Verdict.REFUTED,
        prover="units",
        left="dimensionless",
        right="1/length",
        certificate="sha256:" + "cd" * 32,
        confirmed_by_checker=True,
    ),
    ProofEvidence(
        **_THEOREM,
        obligation="schedule",
        coverage=Coverage.STEP,
        variant=Variant.CORRECTED,
        latex=r"\sum_{t=1}^{T} \frac{\alpha (\|x_0-x_0'\|/T)^2}{2\sigma^2}"
        r" = \frac{\alpha \|x_0-x_0'\|^2}{2 T \sigma^2}",
        expression="sum(order*(distance/T)^2/(2*sigma^2), t, 1, T) == order*distance^2/(2*T*sigma^2)",
        because="follows the corrected bound",
        verdict=Verdict.PROVED,
        prover="exact",
        certificate=certificate_name(SHIFT_CERTIFICATE),
        confirmed_by_checker=False,
        checker_says="the closed form of the sum rests on computer algebra alone",
    ),
    ProofEvidence(
        statement="bst14.lem2.2",
        obligation="amplification",
        where="Lemma 2.2",
        coverage=Coverage.CONCLUSION,
        variant=Variant.PRINTED,
        latex=r"\ln\left(1 + \gamma (e^{\varepsilon} - 1)\right) \le 2 \gamma \varepsilon",
        expression="log(1 + gamma*(exp(eps) - 1)) <= 2*gamma*eps",
        domain={name: LetterDomain(lower="0", lower_open=True, upper="1") for name in ("gamma", "eps")},
        units={"gamma": "dimensionless", "eps": "nats"},
        assuming=("gamma <= 1", "eps <= 1"),
        witness={"gamma": "1/2", "eps": "3/4"},
        verdict=Verdict.CERTIFIED,
        prover="intervals",
        box={"gamma": ("1/1000", "1"), "eps": ("1/1000", "1")},
        certificate="sha256:" + "ef" * 32,
        confirmed_by_checker=True,
        boxes=91873,
        seconds=1.24,
    ),
    ProofEvidence(
        statement="bst14.huber-smooth",
        obligation="twice-differentiable",
        where="Appendix B, (9)",
        coverage=Coverage.STEP,
        variant=Variant.PRINTED,
        latex=r"\ell_h''(z^-) = \ell_h''(z^+) \ \forall z, \qquad"
        r" \ell_h(z) = \begin{cases} 0 & z > 1 + h \\ \frac{(1 + h - z)^2}{4h} & |1 - z| \le h"
        r" \\ 1 - z & z < 1 - h \end{cases}",
        expression="l_h''(1+h, from the left) == l_h''(1+h, from the right)",
        domain={"h": LetterDomain(lower="0", lower_open=True)},
        units={"h": "dimensionless"},
        verdict=Verdict.REFUTED,
        prover="exact",
        counterexample={"h": "1/2", "z": "3/2"},
        left="1",
        right="0",
        certificate="sha256:" + "12" * 32,
        confirmed_by_checker=True,
    ),
    ProofEvidence(
        statement="gll22.lem6.3",
        obligation="tail",
        where="Lemma 6.3",
        coverage=Coverage.STEP,
        variant=Variant.PRINTED,
        latex=r"\notacommand{x} \le y",
        expression="erfc(x) <= exp(-x^2)/(x*sqrt(pi))",
        domain={"x": LetterDomain(lower="0", lower_open=True)},
        verdict=Verdict.UNDECIDED,
        prover="intervals",
        gap=Gap.CONTACT_POINT,
        reason="the box [1e-9, 1e9] was split 500000 times and 312 boxes stayed open near 0",
        boxes=500000,
        seconds=20.0,
    ),
)


def _privacy(subject: str, title: str, mu: float, audited: float, **changes: Any) -> PrivacyEvidence:
    profile = gaussian_profile(mu, 0.97 * mu, audited)
    fields: dict[str, Any] = {
        "subject": subject,
        "title": title,
        "data": "breast cancer, 50 records; record 17 replaced by its opposite",
        "adjacency": "replace one",
        "claim": f"GDP(mu={mu})",
        "claim_source": "fmtt18.thm23",
        "verdict": Verdict.SUPPORTED,
        "epsilon_lower": max(point.epsilon for point in profile if point.delta_lower >= 0.01),
        "delta": 0.01,
        "detectable": f"GDP(mu={mu * 1.12:.3g}) in place of GDP(mu={mu})",
        "profile": profile,
        "runs": 100_000,
        "failure_probability": 2.5e-8,
        "seed": 20240117,
        "seconds": 12.7,
        "reproduce": f"dpverify verify --only {subject} --profile quick --seed 20240117",
    }
    return PrivacyEvidence(**{**fields, **changes})


MEAN = MeanEvidence(
    subject="mn25.fingerprint",
    title="Tracing the mean",
    data="40 records of the hard distribution, d = 20",
    quantity="probability that a member is traced",
    claim="at least 1/4",
    claim_source="mn25.lemC.3",
    bound=0.25,
    at_least=True,
    measured=Interval(lower=0.61, upper=0.66),
    verdict=Verdict.SUPPORTED,
    reason="confirmed: the whole interval is within the bound 0.25",
    runs=2000,
    failure_probability=1e-6,
    seed=3,
    reproduce="dpverify verify --only mn25.fingerprint/tracing --seed 3",
)

LAW = SamplingEvidence(
    subject="bst14.alg2",
    title="Law of exponential sampling",
    data="breast cancer, n = 20, d = 1",
    statistic="the point",
    distance="multiplicative",
    bound=0.1,
    claim="within a factor exp(0.1)",
    measured=Interval(lower=0.0, upper=0.02),
    points=tuple((x / 10, max(0.0, x / 10 - 0.01), min(1.0, x / 10 + 0.01), x / 10) for x in range(11)),
    verdict=Verdict.SUPPORTED,
    reason="no half-line contradicts the claim",
    runs=20000,
    failure_probability=1e-6,
    seed=3,
    reproduce="dpverify verify --only bst14.alg2/law --seed 3",
)

AUDITS = (
    _privacy("fmtt18.alg1", "Worst-case neighbors: linear losses with opposite gradients", 1.0, 0.9),
    _privacy("bst14.alg1", "Breast cancer, one record replaced", 1.5, 0.4, epsilon_lower=0.0),
    RiskEvidence(
        subject="bst14.alg1",
        title="Excess risk on breast cancer",
        data="breast cancer, n = 569, d = 30",
        quantity="expected excess empirical risk (sum over records)",
        claim="O(L ||C|| sqrt(d) log(n/delta) / eps), constant made explicit",
        claim_source="bst14.thm2.4.1",
        bound=341.2,
        measured=Interval(lower=21.4, upper=24.9),
        minimum=Interval(lower=57.02, upper=57.03),
        verdict=Verdict.SUPPORTED,
        runs=4000,
        failure_probability=2.5e-8,
        seed=20240117,
        seconds=31.0,
        reproduce="dpverify verify --only bst14.alg1 --profile quick --seed 20240117",
        curve=tuple((e, 22 / e, 25 / e, 341.2 / e) for e in (0.125, 0.25, 0.5, 1.0, 2.0, 4.0)),
        curve_over="ε",
    ),
    RiskEvidence(
        subject="fmtt18.alg1",
        title="Excess risk on diabetes",
        data="diabetes, n = 442, d = 10",
        quantity="expected excess empirical risk (mean over records)",
        claim="Theorem 28",
        bound=0.41,
        measured=Interval(lower=0.0213, upper=0.0267),
        minimum=Interval(lower=0.1, upper=0.1),
        verdict=Verdict.SUPPORTED,
        runs=4000,
        failure_probability=2.5e-8,
        seed=20240117,
        reproduce="dpverify verify --only fmtt18.alg1 --profile quick --seed 20240117",
    ),
    RateEvidence(
        subject="bst14.alg1",
        title="Risk grows as the square root of the dimension",
        over="d",
        exponent_claimed=0.5,
        exponent=Interval(lower=0.46, upper=0.53),
        points=tuple((d, 6.1 * d**0.5, 6.5 * d**0.49) for d in (5.0, 10.0, 20.0, 40.0, 80.0)),
        verdict=Verdict.SUPPORTED,
        runs=2000,
        failure_probability=2.5e-8,
        seed=20240117,
        reproduce="dpverify verify --only bst14.alg1 --profile quick --seed 20240117",
    ),
    ComplexityEvidence(
        subject="bst14.alg1",
        title="Gradient queries",
        data="breast cancer, n = 569",
        oracle="gradient",
        counted=323_761,
        claimed=323_761,
        claim="n^2",
        verdict=Verdict.PROVED,
        seed=20240117,
        reproduce="dpverify verify --only bst14.alg1 --profile quick --seed 20240117",
    ),
    ConstantEvidence(
        subject="bst14.alg1",
        title="Constant of the noise variance",
        formula="sigma^2 = c L^2 n^2 log(n/delta) log(1/delta) / eps^2",
        latex=r"\sigma^2 = c\, \frac{L^2 n^2 \log(n/\delta) \log(1/\delta)}{\varepsilon^2}",
        smallest=0.3714159,
        parameters={"n": "569", "eps": "1", "delta": "1e-5"},
        verdict=Verdict.SUPPORTED,
        method="privacy loss distribution, pessimistic rounding",
        reproduce="dpverify verify --only bst14.alg1 --profile quick --seed 20240117",
    ),
    _privacy(
        "my_package.training:noisy_mean",
        "Laplace noise at half the needed scale",
        1.0,
        1.9,
        claim="PureDP(epsilon=1)",
        claim_source="",
        verdict=Verdict.VIOLATED,
        reason="at ε = 1 the audited δ is above the claimed one",
        epsilon_lower=1.81,
        delta=0.0,
    ),
)

DOCSTRING = """Projected noisy gradient descent that touches each record once.

    Guarantee:
        Record t is protected as well as the steps after it allow: the later a record comes, the less noise
        hides it. The direction of the neighbors does not matter.

    Assumptions:
        - losses are convex and smooth, with a step size of at most 2 / smoothness
        - the constraint set is convex and
          closed

    References:
        Theorem 23.
    """


MEASUREMENT = RiskEvidence(
    subject="fmtt18.alg1",
    title="Excess risk of the last point",
    data="diabetes, n = 442, d = 5",
    quantity="expected excess empirical risk (mean over records)",
    claim="none: the paper bounds no risk of the last point",
    bound=math.inf,
    measured=Interval(lower=0.0545, upper=0.0622),
    minimum=Interval(lower=0.61, upper=0.62),
    verdict=Verdict.UNDECIDED,
    reason="there is no stated bound to compare with",
    runs=4000,
    failure_probability=2.5e-8,
    seed=20240117,
    reproduce="dpverify verify --only fmtt18.alg1 --profile quick --seed 20240117",
)
"""What has no claim to compare with; in no ledger but those of its own tests."""


def holding(verdict: Verdict = Verdict.PROVED, **more: Any) -> VariantOutcome:
    """What is said of a statement that holds."""
    return VariantOutcome(**{"verdict": verdict, "own": verdict, "standing": Standing.HOLDS, **more})


def _row(name: str, kind: str, where: str, title: str, **more: Any) -> StatementEntry:
    return StatementEntry(id=name, paper=name.split(".")[0], kind=kind, where=where, title=title, **more)


STATEMENTS = (
    _row(
        "fmtt18.thm1",
        "privacy",
        "Theorem 1 (informal)",
        "contractive noisy iteration: Renyi divergence of the last iterates",
        latex=r"D_{\alpha}(X_T \| X_T') \le \frac{\alpha \|x_0 - x_0'\|}{2 T \sigma^2}",
        pairs=("fmtt18.alg1", "fmtt18.thm22"),
        printed=VariantOutcome(
            verdict=Verdict.REFUTED,
            standing=Standing.REFUTED,
            consequence=Consequence.CLAIM,
            marks=(FalsePart(verdict=Verdict.REFUTED, coverage=Coverage.UNIT),),
        ),
        corrected=holding(given=("gll22.lem6.3", "jensen")),
        uses=("gll22.lem6.3", "jensen"),
    ),
    _row("bst14.lem2.2", "inequality", "Lemma 2.2", "amplification by sampling: 2 gamma eps"),
    _row(
        "bst14.huber-smooth",
        "property",
        "Appendix B, (9)",
        "the huberised hinge loss is twice differentiable",
    ),
    _row(
        "gll22.lem6.3",
        "inequality",
        "Lemma 6.3",
        "tail of the Gaussian",
        latex=r"For all $x > 0$: $\operatorname{erfc}(x) \le \frac{e^{-x^2}}{x \sqrt{\pi}}$, "
        "where $x$ is real.",
        printed=VariantOutcome(standing=Standing.PARTLY, tried=Tried(coverage=Coverage.STEP, hold=0, of=1)),
        used_by=("fmtt18.thm1",),
    ),
    _row(
        "fmtt18.alg1",
        "algorithm",
        "Algorithm 1",
        "projected noisy stochastic gradient descent, one pass",
        algorithm="dpverify.algorithms.fmtt18.iteration:ProjectedNoisySGD",
        docstring=DOCSTRING,
        pairs=("fmtt18.thm1", "fmtt18.thm23"),
    ),
    _row(
        "bst14.alg1",
        "algorithm",
        "Algorithm 1",
        "noisy stochastic gradient descent: n^2 steps, one random record a step, projection",
        algorithm="dpverify.algorithms.noisy_gradient:NoisySGD",
        docstring=DOCSTRING,
    ),
    *(
        _row(f"mn25.lem{number}", "inequality", f"Lemma {number}", f"unchecked statement number {number}")
        for number in range(1, 158)
    ),
)


def example_ledger(**changes: Any) -> Ledger:
    """The ledger, with fields replaced as asked."""
    spent = {
        f"{audit.subject} {audit.kind}": 2.5e-8
        for audit in AUDITS
        if audit.kind in ("privacy", "risk", "rate", "mean", "sampling")
    }
    fields: dict[str, Any] = {
        "program_version": "0.1.0",
        "created": "2024-01-17T09:30:00Z",
        "command": "dpverify verify --profile quick --seed 20240117 --out out",
        "seed": 20240117,
        "profile": "quick",
        "versions": {"python": "3.11.7", "numpy": "2.2.1", "scipy": "1.15.0", "python-flint": "0.7.0"},
        "statements": STATEMENTS,
        "entries": (*PROOFS, *AUDITS),
        "displays": (
            DisplayCount(
                paper="mn25",
                displays=545,
                encoded=31,
                whole=20,
                part=6,
                ingredient=5,
                decided=29,
                confirmed=28,
                definitions=54,
                restated=0,
                unsayable=3,
                missing=457,
            ),
        ),
        "results": (NamedResult(id="jensen", title="Jensen's inequality", source="Jensen 1906"),),
        "budget": ErrorBudget(failure_probability=1e-6, spent=spent),
        "seconds": 184.2,
    }
    return Ledger(**{**fields, **changes})
