"""Rarer forms of claims: what they say, how they print, and that no profile is below what a mechanism may attain."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from dpverify.errors import InvalidArgumentError
from dpverify.privacy import GDP, RDP, ApproxDP, Guarantee, PureDP, hockey_stick_divergence, parse_claim, zCDP
from dpverify.privacy.forms.approximate import ApproxGDP, ApproxzCDP, BoundedRange, renyi_points
from dpverify.privacy.forms.tables import LossDistribution, ProfilePoints

EPSILONS = np.array([0.0, 0.01, 0.3, 1.0, 2.0, 5.0])


@pytest.mark.parametrize(
    ("text", "guarantee", "shown"),
    [
        ("eps=ln(3)", PureDP(math.log(3)), "1.0986122886681098-DP"),
        ("eps=1/2", PureDP(0.5), "0.5-DP"),
        ("eps=2*log(3/2), delta=1/8", ApproxDP(2 * math.log(1.5), 0.125), "(0.8109302162163288, 0.125)-DP"),
        ("eps=sqrt(2)*exp(1)/4", PureDP(math.sqrt(2) * math.e / 4), None),
        ("delta=0.1", ApproxDP(0.0, 0.1), "(0, 0.1)-DP"),
        ("tv=0.3", ApproxDP(0.0, 0.3), "(0, 0.3)-DP"),
        ("mu=1,delta=1e-6", ApproxGDP(1.0, 1e-6), "(1, 1e-06)-GDP"),
        ("rho=0.5,delta=1e-6", ApproxzCDP(0.5, 1e-6), "(0.5, 1e-06)-zCDP"),
        ("bounded-range=1", BoundedRange(1.0), "bounded-range=1"),
        ("RDP = 4:0.3; 2:0.1", renyi_points([(2.0, 0.1), (4.0, 0.3)]), "rdp=2:0.1;4:0.3"),
        ("mu=0.1234567890123", GDP(0.1234567890123), "0.1234567890123-GDP"),
    ],
)
def test_forms_print_what_is_read_back(text: str, guarantee: Guarantee, shown: str | None) -> None:
    found = parse_claim(text)
    assert found == guarantee
    assert parse_claim(str(found)) == found
    assert shown is None or str(found) == shown


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("eps=1/0", "a number after eps="),
        ("eps=ln(0)", "a number after eps="),
        ("eps=ln(1/0)", "a number after eps="),
        ("eps=ln(-1)", "a number after eps="),
        ("eps=2+1", "a number after eps="),
        ("eps=2**3", "a number after eps="),
        ("eps=__import__('os')", "a number after eps="),
        ("eps=exp(1000)", "epsilon as a number that a float can hold, at most"),
        ("eps=1e-200/1e200", "epsilon as 0 or a number that a float can hold"),
        ("eps=ln(1/2)", "epsilon as a finite real number of at least 0"),
        ("tv=1.5", "delta as"),
        ("bounded-range=-1", "range as"),
        ("rdp=2:0.1;2:0.2", "each of them once"),
        ("rdp=1:0.1", "order as"),
        ("rdp=2:0.1;", "points ORDER:RDP"),
        ("rdp=2:x", "a number after rdp="),
        ("profile=no-such-file.json", "a JSON file that can be read"),
        ("pld=", "a JSON file that can be read"),
    ],
)
def test_what_cannot_be_meant_is_refused(text: str, says: str) -> None:
    with pytest.raises(InvalidArgumentError, match=says) as caught:
        parse_claim(text)
    assert str(caught.value).startswith("claim was ")


def test_the_profile_of_a_bounded_range_is_attained_and_nowhere_passed() -> None:
    length = 1.3
    profile = np.asarray(BoundedRange(length).privacy_profile(EPSILONS))
    best = np.zeros_like(EPSILONS)
    for top in np.linspace(0, length, 2001):
        # losses top and top - length only, and both laws sum to 1
        weight = (math.exp(length) - math.exp(top)) / math.expm1(length)
        ours = np.array([weight, 1 - weight])
        theirs = ours * np.exp([-top, length - top])
        for there, here in ((ours, theirs), (theirs, ours)):
            found = [hockey_stick_divergence(there, here, epsilon=float(e)) for e in EPSILONS]
            best = np.maximum(best, found)
    assert np.all(best <= profile + 1e-15)
    np.testing.assert_allclose(best, profile, rtol=1e-5, atol=1e-12)
    assert BoundedRange(length).epsilon_at(0.0) == length
    assert BoundedRange(0.0).privacy_profile(0.0) == 0


def test_an_additive_delta_is_attained() -> None:
    # with probability delta the data set is printed
    delta = 0.01
    for core, whole in ((GDP(1.0), ApproxGDP(1.0, delta)), (zCDP(0.5), ApproxzCDP(0.5, delta))):
        attained = delta + (1 - delta) * np.asarray(core.privacy_profile(EPSILONS))
        profile = np.asarray(whole.privacy_profile(EPSILONS))
        assert np.all(profile >= attained)
        assert np.all(profile <= attained + 2 * delta * np.asarray(core.privacy_profile(EPSILONS)) + 1e-12)


def test_several_orders_are_at_least_as_good_as_each() -> None:
    several = np.asarray(parse_claim("rdp=2:0.1;8:0.3").privacy_profile(EPSILONS))
    for order, rdp in ((2.0, 0.1), (8.0, 0.3)):
        assert np.all(several <= np.asarray(RDP.point(order, rdp).privacy_profile(EPSILONS)) * (1 + 1e-9))


def test_points_of_a_profile_bound_every_mechanism_that_has_them(tmp_path: Path) -> None:
    truth = GDP(1.0)
    known = [0.5, 1.0, 3.0]
    file = tmp_path / "a, curve.json"
    file.write_text(json.dumps({"epsilons": known, "deltas": [truth.privacy_profile(e) for e in known]}))
    found = parse_claim(f"profile={file}")
    assert parse_claim(str(found)) == found
    grid = np.linspace(0, 6, 61)
    assert np.all(np.asarray(found.privacy_profile(grid)) >= np.asarray(truth.privacy_profile(grid)))
    for epsilon in known:
        assert found.privacy_profile(epsilon) == pytest.approx(truth.privacy_profile(epsilon), rel=1e-9)
    # one point is an (epsilon, delta) claim, whose dominating pair is known
    one, pair = ProfilePoints(((1.0, 1e-3),)), ApproxDP(1.0, 1e-3)
    np.testing.assert_allclose(one.privacy_profile(EPSILONS), pair.privacy_profile(EPSILONS), rtol=1e-9)


def test_a_privacy_loss_distribution_of_dp_accounting(tmp_path: Path) -> None:
    from dp_accounting.pld import privacy_loss_distribution

    pld = privacy_loss_distribution.from_laplace_mechanism(1.0, value_discretization_interval=1e-2)
    pmf = pld._pmf_remove.to_dense_pmf()
    losses = (np.arange(pmf.size) + pmf._lower_loss) * pmf._discretization
    table = {"losses": losses.tolist(), "probabilities": pmf._probs.tolist(), "infinity": pmf._infinity_mass}
    file = tmp_path / "laplace.json"
    file.write_text(json.dumps([table]))
    found = parse_claim(f"pld={file}")
    assert isinstance(found, LossDistribution)
    for epsilon in (0.0, 0.5, 0.9):
        assert found.privacy_profile(epsilon) == pytest.approx(pld.get_delta_for_epsilon(epsilon), abs=1e-9)
    assert parse_claim(str(found)) == found


def test_a_trade_off_function_through_points_is_the_claim_of_its_profile(tmp_path: Path) -> None:
    # (epsilon, delta)-DP has a trade-off function of three straight pieces
    epsilon, delta = 1.0, 0.05
    corner = (1 - delta) / (1 + np.exp(epsilon))
    file = tmp_path / "f.json"
    points = {"alphas": [0, corner, 1 - delta, 1], "betas": [1 - delta, corner, 0, 0]}
    file.write_text(json.dumps(points))
    found = parse_claim(f"tradeoff={file}")
    assert str(found) == f"tradeoff={file}"
    assert parse_claim(str(found)) == found
    pair = ApproxDP(epsilon, delta)
    np.testing.assert_allclose(found.privacy_profile(EPSILONS), pair.privacy_profile(EPSILONS), atol=1e-12)
    alphas = np.linspace(0, 1, 33)
    np.testing.assert_allclose(found.tradeoff_function(alphas), pair.tradeoff_function(alphas), atol=1e-12)
    # rounded decimals of a straight line are taken, and lie on or below it
    file.write_text(json.dumps({"alphas": [0, 0.1, 0.2, 0.7, 1], "betas": [1, 0.9, 0.8, 0.3, 0]}))
    assert np.all(np.asarray(parse_claim(f"tradeoff={file}").tradeoff_function(alphas)) <= 1 - alphas + 1e-15)


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("profile", "no JSON"),
        ("profile", "{}"),
        ("profile", '{"epsilons": [1], "deltas": [0.1, 0.2]}'),
        ("profile", '{"epsilons": [], "deltas": []}'),
        ("profile", '{"epsilons": [2, 1], "deltas": [0.1, 0.2]}'),
        ("profile", '{"epsilons": [1], "deltas": [NaN]}'),
        ("tradeoff", '{"alphas": [0, 1], "betas": [0.9]}'),
        ("tradeoff", '{"alphas": [0, 0.5], "betas": [0.9, 0]}'),
        ("tradeoff", '{"alphas": [0, 0.5, 1], "betas": [0.9, 0.6, 0]}'),
        ("tradeoff", '{"alphas": [0, 0.5, 0.6, 1], "betas": [0.9, 0.3, 0.25, 0]}'),
        ("tradeoff", '{"alphas": [0, 0.2, 0.5, 1], "betas": [0.5, 0.1, 0.2, 0]}'),
        ("tradeoff", '{"alphas": [0, NaN, 1], "betas": [1, 0.5, 0]}'),
        ("tradeoff", "{}"),
        ("pld", "[]"),
        ("pld", '{"losses": [1], "probabilities": [0.5], "infinity": 0}'),
        ("pld", '{"losses": [1], "probabilities": ["1"], "infinity": 0}'),
        ("pld", '{"losses": [NaN], "probabilities": [1], "infinity": 0}'),
    ],
)
def test_files_that_hold_anything_else(kind: str, content: str, tmp_path: Path) -> None:
    file = tmp_path / "claim.json"
    file.write_text(content)
    with pytest.raises(InvalidArgumentError) as caught:
        parse_claim(f"{kind}={file}")
    assert "\n" not in str(caught.value)
