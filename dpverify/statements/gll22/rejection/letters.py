"""gll22, Lemma 5.5: the letters of its proof, and what several of its parts are made of."""

from __future__ import annotations

from typing import Any

from dpverify.formulas.expressions import Variable, integer, real
from dpverify.formulas.units import LENGTH
from dpverify.formulas.vectors import vector
from dpverify.statements.gll22.symbols import G_exponent as G

E = r"\operatorname*{\mathbb{E}}"
INNER = r"\delta_{\mathrm{inner}}"
eta = real("eta", gt=0, unit=LENGTH**2, latex=r"\eta", meaning="step size")
delta = real("delta", gt=0, lt="1/2", latex=INNER, meaning="accuracy")
level = real("l", gt=0, latex=rf"\log(1/{INNER})")
level_1000 = real("l_1000", gt=0, latex=rf"\log(1000/{INNER})")
L = integer("L", ge=1, meaning="rounds that are looked at")
k = integer("k", ge=1)
j = integer("j", ge=1, latex=r"\alpha", meaning="round of the inner loop")
t, w = real("t", ge=0), real("w", ge=0, meaning="k^2 / (eta G^2)")
scale = real("lambda", ge=0, latex=r"\lambda")


def number(name: str, latex: str, meaning: str = "") -> Variable:
    """A number that is not negative."""
    return real(name, ge=0, latex=latex, meaning=meaning)


def probability(name: str, latex: str) -> Variable:
    """A probability."""
    return real(name, ge=0, le=1, latex=latex)


TV = r"d_{\mathrm{TV}}(\pi,\widetilde{\pi})"
EX, EXt = rf"{E}X", rf"{E}\widetilde{{X}}"
L1 = rf"{E}\left|\frac{{X}}{{{EX}}}-\frac{{\widetilde{{X}}}}{{{EXt}}}\right|"
PART1 = rf"{E}\left|\frac{{X}}{{{EX}}}-\frac{{\widetilde{{X}}}}{{{EX}}}\right|"
PART2 = rf"{E}\left|\frac{{\widetilde{{X}}}}{{{EX}}}-\frac{{\widetilde{{X}}}}{{{EXt}}}\right|"
OFF = rf"{E}|X-\widetilde{{X}}|"
DOWN = rf"{E}_{{x\sim\mathcal{{G}}}}\exp(-{E}_{{i\in I}}f_{{i}}(x))"
UP = rf"{E}_{{z\sim\mathcal{{G}}}}\exp({E}_{{i\in I}}f_{{i}}(z))"
MEAN = rf"{E}_{{x\sim\mathcal{{G}}}}{E}_{{i\in I}}f_{{i}}(x)"
CENTERED = rf"{E}_{{z\sim\mathcal{{G}}}}\exp({E}_{{i\in I}}f_{{i}}(z)-{MEAN})"
OUT, OUT_MORE, OUT_FEW = (
    rf"{E}(|\rho{index}|\cdot 1_{{\rho\notin[0,2]}})" for index in ("", r"_{>L}", r"_{\leq L}")
)
MORE = rf"{E}|\rho_{{>L}}|"
SERIES = rf"{E}_{{x,z}}\Phi({E}_{{i\in I}}|f_{{i}}(z)-f_{{i}}(x)|)"
LARGE = rf"{E}e^{{\Delta}}1_{{\Delta\geq 1}}"
LAYERS = r"\sum_{k=1}^{\infty}e^{k+1}\Pr_{x,z}(\Delta\geq k)"
PAIR = r"\Pr_{x,z}[|f_{i}(z)-f_{i}(x)|\geq t]"
H, EH = r"h_{x,z}(t)", rf"{E}_{{x,z}}[h_{{x,z}}(t)]"
H_LARGE = r"\Pr_{x,z}[h_{x,z}(t)\geq e^{-k}]"
H_LARGER = r"\Pr_{x,z}[h_{x,z}(t)\geq e^{-t^{2}/(16\eta G^{2})}]"
AVERAGE = rf"{E}_{{i\in I}}|f_{{i}}(z)-f_{{i}}(x)|"
FAR = rf"\Pr_{{x,z}}\Big{{[}}{AVERAGE}\geq t+e^{{-t^{{2}}/(16\eta G^{{2}})}}G\|x-z\|_{{2}}\Big{{]}}"
CLOSE = rf"\Pr_{{x,z}}[{AVERAGE}\geq 2t,\|x-z\|_{{2}}<t/G]"
DELTA = r"\Pr(\Delta\geq k)"
OUTSIDE = r"\Pr[\rho\notin[0,2]]"
FEW_OUTSIDE = r"\Pr[\rho_{\leq L}\notin[0,2]]"
SUM14 = r"\sum_{k=1}^{\infty}2^{(k+1)L}\Pr(|\rho_{\leq L}|\geq 2^{kL})"
SUM15 = r"\sum_{k=1}^{\infty}2^{(k+1)L}\Pr(|\rho_{\leq L}|>2^{kL})"
GEOMETRIC = r"\sum_{k=1}^{\infty}2^{-kL}"
ONE = r"\Pr_{x\sim\mathcal{G}}(|f_{i}(x)-\operatorname*{\mathbb{E}}_{x\sim\mathcal{G}}f_{i}(x)|\geq t)"
X, Xt = real("X", gt=0), real("Xt", ge=0, latex=r"\widetilde{X}")
rho, rho_more, rho_few = (
    real("rho", latex=r"\rho"),
    real("rho_more", latex=r"\rho_{>L}"),
    real("rho_few", latex=r"\rho_{\leq L}"),
)
distance = real("distance", ge=0, unit=LENGTH, latex=r"\|x-z\|_{2}")
S, r, a, c = real("S", ge=0), real("r", ge="2/3", meaning="2^k / 3"), real("a", gt=0), real("c", ge=1)
two = real("A", gt=0, latex="2^{L}")
factorial = real("F", gt=0, latex="L!")
q = real("q", gt=0, meaning="exp(-1/(64 G^2 eta))")
DOUBLED: dict[str, Any] = {"added": (two, factorial)}


def one_letter(name: str, latex: str) -> dict[str, Any]:
    """What a row needs to know of an exponential is said in its conditions."""
    return {"added": (real(name, gt=0, latex=latex),)}


AT_2, AT_8, AT_16 = (
    one_letter(f"tail{part}", rf"e^{{-t^{{2}}/({part}\eta G^{{2}})}}") for part in (2, 8, 16)
)
TWO_G = r"(1-e^{-2})\exp(-2G\sqrt{\eta})"
PROPOSAL = (
    *(vector(name) for name in "xyzg"), real("psi_x", latex=r"\psi(x)"), real("psi_z", latex=r"\psi(z)"),
)  # fmt: skip

letters = (
    G, eta, delta, level, level_1000, L, k, j, t, w, scale, X, Xt, rho, rho_more, rho_few, distance,
    S, r, a, c, q,
    probability("TV", TV), real("EX", gt=0, latex=EX), real("EXt", gt=0, latex=EXt),
    number("L1", L1), number("part1", PART1), number("part2", PART2), number("off", OFF),
    real("down", gt=0, latex=DOWN), real("up", gt=0, latex=UP), real("mean", latex=MEAN),
    real("centered", gt=0, latex=CENTERED),
    probability("p", "p"),
    number("out", OUT), number("out_more", OUT_MORE), number("out_few", OUT_FEW), number("more", MORE),
    number("series", SERIES), number("large", LARGE), number("layers", LAYERS),
    probability("pair", PAIR), probability("h", H), probability("Eh", EH),
    probability("h_large", H_LARGE), probability("h_larger", H_LARGER), number("average", AVERAGE),
    probability("far", FAR), probability("close", CLOSE),
    probability("P_Delta", DELTA), probability("outside", OUTSIDE),
    probability("few_outside", FEW_OUTSIDE), number("sum14", SUM14), number("sum15", SUM15),
    number("geometric", GEOMETRIC), probability("one", ONE),
)  # fmt: skip
