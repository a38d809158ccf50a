"""`dpverify profile`: the curves of claims and of algorithms as a table, as JSON and as a picture."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from dpverify.privacy import GDP, RDP, ApproxDP, Guarantee, PureDP, parse_claim, zCDP
from dpverify.privacy.curves import curves, largest_epsilon

from .calling import call


def lines(capsys: pytest.CaptureFixture[str]) -> list[list[str]]:
    return [line.split("\t") for line in capsys.readouterr().out.splitlines()]


@pytest.mark.parametrize("claim", ["eps=1, delta=1e-5", "0.2-GDP", "order=8,rdp=0.3", "rho=0.5"])
def test_claims(claim: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Every number is the guarantee's own, and never on the wrong side of it."""
    guarantee = parse_claim(claim)
    assert call("profile", claim) == 0
    rows = lines(capsys)
    assert len(rows) == 41
    assert {row[0] for row in rows} == {str(guarantee)}
    epsilons, deltas = np.array([[float(cell) for cell in row[1:]] for row in rows]).T
    exact = np.asarray(guarantee.privacy_profile(epsilons))
    assert np.all(deltas >= exact)
    assert np.allclose(deltas, exact, rtol=1e-3, atol=1e-12)
    assert call("profile", claim, "--tradeoff", "--json", "-") == 0
    (found,) = json.loads(capsys.readouterr().out)["guarantees"]
    alphas, betas = np.array([[point["alpha"], point["beta"]] for point in found["tradeoff"]]).T
    assert np.array_equal(betas, guarantee.tradeoff_function(alphas))


def test_single_points(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("profile", "mu=1", "--epsilon", "1", "--delta", "1e-5", "--delta", "0") == 0
    (_, one, at_one), (_, other, small), last = lines(capsys)
    assert (float(one), float(small)) == (1.0, 1e-5)
    assert float(at_one) == pytest.approx(GDP(1.0).privacy_profile(1.0), rel=1e-5)
    assert float(other) == pytest.approx(GDP(1.0).epsilon_at(1e-5), rel=1e-5)
    assert last[1:] == ["inf", "0"]
    assert call("profile", "mu=1", "--tradeoff") == 0
    rows = lines(capsys)
    assert rows[0][1:] == ["0", "1"]
    assert rows[-1][1:] == ["1", "0"]


def test_an_algorithm_with_the_parameters_of_its_audit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    picture = tmp_path / "curves.svg"
    words = ["profile", "fmtt18.alg1/worst-case-3-of-6", "--delta", "1e-5", "--plot", str(picture)]
    assert call(*words) == 0
    out, err = capsys.readouterr()
    (claimed, _, _), (known, mu, _) = (line.split("\t") for line in out.splitlines())
    assert claimed == "claimed: (order, 0.5*order)-RDP"
    assert known == "best known: 1-GDP"
    assert float(mu) == pytest.approx(GDP(1.0).epsilon_at(1e-5), rel=1e-5)
    assert err.startswith("fmtt18.alg1/worst-case-3-of-6: steps up to record 3 of 6")
    first = picture.read_bytes()
    assert b"trade-off function" in first
    assert call(*words) == 0
    assert picture.read_bytes() == first


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["eps=x"], "a number after eps="),
        (["2-XDP"], "such as eps=1"),
        (["fmtt18.alg9"], "such as fmtt18.alg"),
        ([""], "an algorithm that is audited"),
        (["mu=1", "--plot", "x.gif"], "ends in .svg, .png, .pdf"),
        (["mu=1", "--plot", "no/x.svg"], "a folder that is there"),
        (["mu=1", "--delta", "1"], "delta was 1.0"),
        (["mu=1", "--epsilon", "nan"], "epsilon was nan"),
        (["mu=1", "--json", "no/x.json"], "--json"),
    ],
)
def test_bad_input(
    arguments: list[str], message: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    assert call("profile", *arguments) == 2
    out, err = capsys.readouterr()
    assert not out
    assert message in err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "guarantee", [PureDP(0.0), PureDP(2.0), ApproxDP(1.0, 0.1), zCDP(0.0), RDP.point(2.0, 9.0)]
)
def test_how_far_profiles_are_shown(guarantee: Guarantee) -> None:
    top = largest_epsilon(guarantee)
    assert 0 < top <= 100
    found = curves(guarantee)
    assert found.profile[0][0] == 0
    assert found.profile[-1] == (top, guarantee.privacy_profile(top))


def test_no_delta_is_called_0_that_is_only_below_the_floats() -> None:
    for guarantee in (GDP(1.0), zCDP(0.5)):
        (_, below), (_, far) = curves(guarantee, epsilons=[39.0, 1e6]).profile
        assert below == far == 5e-324
    assert curves(PureDP(1.0), epsilons=[1.0, 2.0]).profile == ((1.0, 0.0), (2.0, 0.0))
    assert curves(GDP(0.0), epsilons=[1.0]).profile == ((1.0, 0.0),)
