"""Audits of the exponential mechanism on a net (bst14, Algorithm 8).

Risks are sums over the records.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from dpverify.algorithms.bst14.net_mechanism import NetMechanism
from dpverify.algorithms.samplers.constraint_nets import cover_radius
from dpverify.auditing import ConstantQuestion, CountQuestion, LawQuestion
from dpverify.auditing.subjects import CountedRuns, LawOf
from dpverify.ledger.records import Interval
from dpverify.problems import Ball, Box, ConstraintSet, Linear, Logistic, Problem, Simplex
from dpverify.statements.audit_parts import REAL_DATA, UniformOn, linear_neighbors
from dpverify.statements.bst14.audits.sampling_cases import (
    EPSILON,
    UNCOUNTED,
    Coordinate,
    few_features,
    one_sided,
    private_case,
    risk_case,
)
from dpverify.statements.plans import (
    CONSTANT,
    COUNT,
    LAW,
    PRIVACY,
    RISK,
    Audit,
    Cases,
    Corrected,
    Plan,
    Profile,
    along,
)

WORST_EPSILON = 4.0


def _net_real(name: str, profile: Profile) -> Audit:
    pair = linear_neighbors(name, n=2, d=1)
    mechanism = NetMechanism(Problem(pair.loss, Ball(1, 1.0)), WORST_EPSILON, cover_radius=0.05)
    runs = profile.runs(40_000)
    return private_case(mechanism, pair.left, pair.right, pair.description, runs, "bst14.alg8-privacy")


def _net_worst(profile: Profile) -> Audit:
    left, right, words = one_sided()
    mechanism = NetMechanism(Problem(Linear(), Ball(1, 1.0)), WORST_EPSILON, cover_radius=0.05)
    return private_case(mechanism, left, right, words, profile.runs(40_000), "bst14.alg8-privacy")


def _net_risk(name: str, profile: Profile) -> Cases:
    cases = []
    for n in (16, 64, 128):
        problem, data = few_features(name, n, 2)
        cases.append(
            risk_case(
                NetMechanism(problem, EPSILON),
                data,
                f"{name}, n records, d = 2, epsilon = {EPSILON:g}",
                "n L r + 2 L ||C|| ln|M| / epsilon, r the covering radius of the net M",
                "bst14.thmA.1",
                profile.runs(2_000),
            )
        )
    return tuple(cases)


def _net_law(profile: Profile) -> Audit:
    """Atoms: the first coordinate's distribution function is a sum of the net's probabilities."""
    problem, data = few_features("breast-cancer", 32, 2)
    mechanism = NetMechanism(problem, 10 * EPSILON)
    points = mechanism.net_for(data.n).points
    losses = np.logaddexp(0.0, -data.labels * (points @ data.features.T))
    risks = np.sum(losses, axis=1)
    exponents = -(10 * EPSILON) / (2 * 1.0 * 2.0) * (risks - np.min(risks))
    weights = np.exp(exponents) / np.sum(np.exp(exponents))
    order = np.argsort(points[:, 0], kind="stable")
    places, sums = points[order, 0], np.concatenate([[0.0], np.cumsum(weights[order])])
    return Audit(
        LawQuestion(
            reference=lambda x: sums[np.searchsorted(places, x, side="right")],
            reference_error=1e-9,
            distance="total variation",
            bound=0.0,
            claim="probabilities proportional to exp(-epsilon L(theta; D) / (2 L ||C||)) on the net",
            statistic_name="first coordinate",
            data=f"breast-cancer, 32 records, d = 2, epsilon = {10 * EPSILON:g}",
            runs=profile.runs(40_000),
            origin=Corrected(
                "bst14.alg8",
                "with probability proportional to exp(-epsilon L(theta; D) / (L ||C||))",
                "half of the printed exponent, as in Algorithm 2: an exchanged record changes the sum by 2 L ||C||",
                "every epsilon > 0",
            ),
        ),
        LawOf(mechanism, data, Coordinate((1.0, 0.0)), blind=UniformOn(Ball(2, 1.0))),
    )


def _net_values(profile: Profile) -> Audit:
    problem, data = few_features("diabetes", 64, 2)
    mechanism = NetMechanism(problem, EPSILON)
    count = int(mechanism.queries(data.n)[0].count)
    return Audit(
        CountQuestion(count, "n |M|", data.name, oracle="value", origin=UNCOUNTED),
        CountedRuns(mechanism, data),
    )


def _net_constant(shape: str, profile: Profile) -> Audit:
    """How many points the nets have, in the form of Algorithm 8, with their radius computed and not assumed."""
    p = 2
    sets: dict[str, ConstraintSet] = {
        "ball": Ball(p, 1.0),
        "cube": Box.cube(p, 0.5),
        "simplex": Simplex(p + 1, 1.0),
    }
    constraint = sets[shape]
    problem = Problem(Logistic(), constraint)
    mechanism = NetMechanism(problem, EPSILON)
    smallest, radii, covers = 0.0, [], True
    for n in (50, 100, 200):
        net = mechanism.net_for(n)
        radius = mechanism.theorem_radius(n)
        measured = cover_radius(net.points, constraint, cells=200_000)
        radii.append(
            f"n = {n}: {len(net.points)} points, {measured.lower / radius:.3f} of the radius allowed"
        )
        covers = covers and measured.lower <= radius * (1 + 1e-9)
        smallest = max(smallest, len(net.points) ** (1 / p) * constraint.dimension / (EPSILON * n))
    return Audit(
        ConstantQuestion(
            formula="|M| <= (c epsilon n / p)^p",
            latex=r"|M|\le\left(c\,\frac{\varepsilon n}{p}\right)^{p}",
            provable=Interval(lower=smallest, upper=smallest),
            extreme="smallest",
            printed=None,
            parameters={"n": "50, 100, 200", "p": str(p), "epsilon": f"{EPSILON:g}", "set": shape},
            range_fixed_by="floating-point arithmetic"
            if covers
            else "a net does not cover the set as claimed",
            method="grid of cubes; covering radius from below by a search: " + "; ".join(radii),
            origin=Corrected(
                "bst14.alg8",
                "O((epsilon n / p)^p), no constant",
                "the hidden constant is computed",
                "these n",
            ),
            requires={"each net covers the set with the stated radius": covers},
        )
    )


PLANS: tuple[Plan, ...] = (
    *(
        Plan(
            f"bst14.alg8/{name}",
            "bst14.alg8",
            f"Exponential mechanism on a net, {name}",
            PRIVACY,
            partial(_net_real, name),
        )
        for name in REAL_DATA
    ),
    Plan(
        "bst14.alg8/worst-case",
        "bst14.alg8",
        "Exponential mechanism on a net, linear losses",
        PRIVACY,
        _net_worst,
    ),
    *(
        Plan(
            f"bst14.alg8/{name}/risk",
            "bst14.alg8",
            f"Risk of the exponential mechanism on a net, {name}",
            RISK,
            along(partial(_net_risk, name), over="n"),
        )
        for name in REAL_DATA
    ),
    Plan("bst14.alg8/law", "bst14.alg8", "Law of the exponential mechanism on a net", LAW, _net_law),
    Plan(
        "bst14.alg8/queries",
        "bst14.alg8",
        "Value queries of the exponential mechanism on a net",
        COUNT,
        _net_values,
    ),
    *(
        Plan(
            f"bst14.alg8/net-{shape}",
            "bst14.alg8",
            f"The constant in the size of a net of a {shape}",
            CONSTANT,
            partial(_net_constant, shape),
        )
        for shape in ("ball", "cube", "simplex")
    ),
)
