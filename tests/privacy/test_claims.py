"""Claims as people type them."""

from __future__ import annotations

import pytest

from dpverify.errors import InvalidArgumentError
from dpverify.privacy import GDP, RDP, ApproxDP, Guarantee, PureDP, parse_claim, tCDP, zCDP


@pytest.mark.parametrize(
    ("text", "guarantee", "shown"),
    [
        ("eps=1", PureDP(1.0), "1-DP"),
        ("epsilon=0", PureDP(0.0), "0-DP"),
        (" EPS = 1 , Delta = 1e-5 ", ApproxDP(1.0, 1e-5), "(1, 1e-05)-DP"),
        ("delta=1e-5,epsilon=1", ApproxDP(1.0, 1e-5), "(1, 1e-05)-DP"),
        ("eps=1,delta=0", ApproxDP(1.0, 0.0), "(1, 0)-DP"),
        ("mu=0.5", GDP(0.5), "0.5-GDP"),
        ("rho=0.5", zCDP(0.5), "0.5-zCDP"),
        ("rho=0.5,omega=10", tCDP(0.5, 10.0), "(0.5, 10)-tCDP"),
        ("order=8,rdp=0.3", RDP.point(8.0, 0.3), "(8, 0.3)-RDP"),
        ("eps=0.0,delta=0e-400", ApproxDP(0.0, 0.0), "(0, 0)-DP"),
        ("eps=1,delta=1e-300", ApproxDP(1.0, 1e-300), "(1, 1e-300)-DP"),
    ],
)
def test_every_form(text: str, guarantee: Guarantee, shown: str) -> None:
    assert parse_claim(text) == guarantee
    assert str(parse_claim(text)) == shown
    assert str(parse_claim(shown)) == shown
    assert str(parse_claim(f" {shown.lower()} ")) == shown


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "such as eps=1"),
        ("eps", "such as eps=1"),
        ("1", "such as eps=1"),
        ("eps=", "a number after eps="),
        ("1-", "such as eps=1"),
        ("-DP", "a number after eps="),
        ("one-DP", "a number after eps="),
        ("(1)-DP", "such as eps=1"),
        ("1, 1e-5-DP", "such as eps=1"),
        ("(1, 2, 3)-DP", "such as eps=1"),
        ("(1, 2-DP", "such as eps=1"),
        ("1-XDP", "such as eps=1"),
        ("(0.5, 2)-GDP", "delta as"),
        ("-1-GDP", "mu as"),
        ("eps=one", "a number after eps="),
        ("eps=1_0", "a number after eps="),
        ("eps=٣", "a number after eps="),
        ("eps=1=2", "a number after eps="),
        ("eps=1,", "such as eps=1"),
        ("sigma=1", "such as eps=1"),
        ("mu=1,eps=1", "such as eps=1"),
        ("omega=3", "such as eps=1"),
        ("order=8", "such as eps=1"),
        ("eps=1,eps=1", "stands there twice"),
        ("eps=1,epsilon=1", "stands there twice"),
        ("eps=-1", "epsilon as a finite real number of at least 0"),
        ("eps=nan", "epsilon as a finite real number of at least 0"),
        ("eps=inf", "epsilon as a finite real number of at least 0"),
        ("eps=1,delta=1", r"delta as a real number in \[0, 1\)"),
        ("eps=1,delta=-1e-9", r"delta as a real number in \[0, 1\)"),
        ("eps=1,delta=nan", r"delta as a real number in \[0, 1\)"),
        ("mu=-1", "mu as"),
        ("rho=nan", "rho as"),
        ("rho=1,omega=1", "omega as"),
        ("order=1,rdp=1", "order as"),
        ("order=2,rdp=-1", "rdp as"),
        # floats turn these into 0 and infinity without a word
        ("eps=1,delta=1e-400", "delta as 0 or a number that a float can hold, at least 4.94066e-324"),
        ("eps=1,delta=0.001e-400", "delta as 0 or a number that a float can hold"),
        (f"eps=1,delta=0.{400 * '0'}1", "delta as 0 or a number that a float can hold"),
        ("eps=1e-400", "epsilon as 0 or a number that a float can hold"),
        ("eps=1,delta=-1e-400", "delta as 0 or a number that a float can hold"),
        ("mu=1E-400", "mu as 0 or a number that a float can hold"),
        ("eps=1e400", r"epsilon as a number that a float can hold, at most 1.79769e\+308"),
        ("eps=1,delta=1e400", "delta as a number that a float can hold"),
        ("rho=1,omega=1e400", "omega as a number that a float can hold"),
        (None, "such as eps=1"),
        (1.0, "such as eps=1"),
        (b"eps=1", "such as eps=1"),
    ],
)
def test_anything_else_is_refused_in_one_sentence(text: str, says: str) -> None:
    with pytest.raises(InvalidArgumentError, match=says) as caught:
        parse_claim(text)
    assert str(caught.value).startswith("claim was ")
    assert "\n" not in str(caught.value)
