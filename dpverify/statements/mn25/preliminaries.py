"""mn25, Section 2: entropy, mutual information, packing numbers, Renyi divergence."""

from __future__ import annotations

from dpverify.formulas.expressions import real
from dpverify.formulas.vectors import vector
from dpverify.statements.mn25.symbols import rho
from dpverify.statements.sheet import EDGE, NOTATION, Sheet

_order = real("order", gt=1, latex=r"\alpha", meaning="Renyi order")
_log_1 = real("l", latex=r"\ell", meaning="log(1)")
_r, _apart = real("r", gt=0, meaning="radius"), real("a", gt=0, meaning="distance of points")
_v, _v2 = vector("v"), vector("v2", latex=r"v^{\prime}")
_x = real("x", ge=1, meaning="r / a")

prelim = (
    Sheet(
        "mn25.prelim", (_order, rho, _r, _apart, _x, _v, _v2),
        title="Entropy, mutual information, packing numbers, zCDP",
        where="Section 2",
        latex=r"H(X)=\sum_{x}x\log(1/\rho(x)),\quad D_{\alpha}(X||Y)=\frac{1}{\alpha-1}"
              r"\int\rho_{X}(x)^{\alpha}\rho_{Y}(x)^{1-\alpha}dx",
        pairs=("mn25.lem1", "mn25.lem8", "mn25.thm1.1"),
    )
    .instance(
        "entropy-of-a-coin", r"1\cdot\log(1/(\frac{1}{2}))+2\cdot\log(1/(\frac{1}{2}))\le\log 2", consequence=NOTATION,
        where="Section 2, entropy, which is at most log 2 for two values",
        case="X is 1 or 2, each with probability 1/2", true_if="with rho(x) in place of the first x",
    )
    .corrected(
        "entropy-of-a-coin",
        r"\frac{1}{2}\cdot\log(1/(\frac{1}{2}))+\frac{1}{2}\cdot\log(1/(\frac{1}{2}))\le\frac{7}{10}",
        where="Section 2, entropy with rho(x)",
        case="X is 1 or 2, each with probability 1/2: log 2",
        catches=("a value for its probability",
                 r"1\cdot\log(1/(\frac{1}{2}))+2\cdot\log(1/(\frac{1}{2}))\le\frac{7}{10}"),
        because="the values should be weighted by their probabilities",
    )
    .instance(
        "information-of-a-coin", r"\frac{69}{100}\le 2\cdot\frac{1}{2}\cdot\log(\frac{1/2}{1/4})",
        where="Section 2, mutual information", case="X is a fair coin and Y = X, so the information is log 2",
        catches=("a marginal is left out", r"\frac{69}{100}\le 2\cdot\frac{1}{2}\cdot\log(\frac{1/2}{1/2})"),
    )
    .instance(
        "equal-laws", r"\frac{1}{\alpha-1}\cdot 1\leq\rho\alpha", consequence=NOTATION,
        where="Section 2, Renyi divergence in the definition of zCDP",
        case="X and Y have the same law, so the integral is 1: a mechanism that ignores its data",
        true_if="with the logarithm of the integral, as in the cited paper",
    )
    .corrected(
        "equal-laws", r"\frac{1}{\alpha-1}\cdot\ell\leq\rho\alpha", given=r"\ell=0", added=(_log_1,),
        where="Section 2, Renyi divergence with a logarithm", case="X and Y have the same law; l is log(1)",
        catches=("the logarithm is left out", r"\frac{1}{\alpha-1}\cdot 1\leq\rho\alpha"),
        because="the logarithm of the integral is missing",
    )
    .reference(
        "points-apart", r"\|v-v\|\geq a", given=r"\|v-v^{\prime}\|\geq a",
        where="Section 2, packing number, which is printed with v and v",
        true_if="with v' for one of them",
    )
    .instance(
        "packing-of-an-interval", r"2\le\frac{3r}{a}", given=r"a=2r", consequence=EDGE,
        where="Section 2, packing number, upper bound, printed with epsilon for the distance alpha",
        case="d = 1: both ends of [-r, r] are 2 r apart",
        true_if="for r of at least a, as for the balls of Sections 3 and B.1",
    )
    .corrected(
        "packing-of-an-interval", r"2x+1\le 3x", where="Section 2, packing number for r of at least a",
        case="d = 1; x is r/a, and the floor is left out",
        catches=("twice the radius in place of three times", r"2x+1\le 2x"),
        because="a ball smaller than the distance holds one point, which is more than (3 r/a)^d",
    )
    .instance(
        "not-fewer", r"\frac{r}{a}\le\frac{2r}{a}", where="Section 2, packing number, lower bound",
        case="d = 1: an interval of length 2 r holds more than 2 r/a points",
        catches=("the bounds are exchanged", r"\frac{2r}{a}\le\frac{r}{a}"),
    )
    .instance(
        "capacity-of-bits", r"\log 2\le 1", where="Section 2, after Definition 1",
        case="the largest entropy of one of Gamma bits, in nats", uses=("largest-entropy",),
        catches=("bits for nats", r"1\le\log 2"),
    )
)  # fmt: skip
