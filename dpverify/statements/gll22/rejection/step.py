"""gll22, Lemma 5.3: the law of the rejection step, and what its estimate is on average."""

from __future__ import annotations

from dpverify.formulas.expressions import Variable, integer, real
from dpverify.statements.sheet import Sheet

_E = r"\operatorname*{\mathbb{E}}"
_F_X, _F_Z = rf"{_E}_{{i\in I}}f_{{i}}(x)", rf"{_E}_{{i\in I}}f_{{i}}(z)"
_PI, _PROPOSAL, _OUTPUT = r"\frac{d\pi}{dx}", r"\frac{d\mathcal{G}}{dx}", r"\frac{d\widetilde{\pi}}{dx}"
_WEIGHT, _MEAN_WEIGHT = rf"\exp(-{_F_X})", rf"{_E}_{{x\sim\mathcal{{G}}}}\exp(-{_F_X})"
_UP = rf"{_E}_{{z\sim\mathcal{{G}}}}\exp({_F_Z})"
_FULL = rf"\exp(-{_F_X}-\psi(x)-\frac{{1}}{{2\eta}}\|x-y\|_{{2}}^{{2}})"
_TOTAL = rf"\int{_FULL}dx"
_INTEGRAL = rf"\int{_WEIGHT}{_PROPOSAL}dx"
_CLIPPED_X, _CLIPPED = rf"{_E}(\overline{{\rho}}|x)", rf"{_E}(\overline{{\rho}})"
_ACCEPTED_X, _ACCEPTED = r"\Pr(u\leq\frac{1}{2}\rho|x)", r"\Pr(u\leq\frac{1}{2}\rho)"
_RHO_X, _RHO_XZ = rf"{_E}(\rho|x)", rf"{_E}(\rho|x,z)"
_PRODUCT = rf"{_E}\Pi_{{i=1}}^{{\alpha}}(f_{{j_{{i}}}}(z)-f_{{j_{{i}}}}(x))"
_GAP = rf"{_E}_{{i\in I}}(f_{{i}}(z)-f_{{i}}(x))"
_SERIES = rf"\sum_{{\alpha=1}}^{{\infty}}\frac{{1}}{{\alpha!}}({_GAP})^{{\alpha}}"

_v, _V = (
    real("v", gt=0, meaning="exp(-psi(x) - ||x - y||^2 / (2 eta))"),
    real("V", gt=0, meaning="its integral"),
)
_rho = real("rho", latex=r"\rho")
_j = integer("j", ge=1, latex=r"\alpha", meaning="round of the inner loop")
_reached, _factorial = (
    real("R", gt=0, le=1, meaning="probability that a round is reached"),
    real("F", ge=1, latex=r"\alpha!"),
)
_a, _b = real("a"), real("b")


def _positive(name: str, latex: str) -> Variable:
    return real(name, gt=0, latex=latex)


lem5_3 = (
    Sheet(
        "gll22.lem5.3",
        (
            _v, _V, _rho, _j, _reached, _factorial, _a, _b,
            _positive("pi", _PI), _positive("proposal", _PROPOSAL), real("output", ge=0, latex=_OUTPUT),
            _positive("weight", _WEIGHT), _positive("mean_weight", _MEAN_WEIGHT), _positive("up", _UP),
            _positive("full", _FULL), _positive("total", _TOTAL), _positive("integral", _INTEGRAL),
            real("clipped_x", ge=0, le=2, latex=_CLIPPED_X), real("clipped", gt=0, le=2, latex=_CLIPPED),
            real("accepted_x", ge=0, le=1, latex=_ACCEPTED_X), real("accepted", gt=0, le=1, latex=_ACCEPTED),
            real("rho_x", latex=_RHO_X), real("rho_xz", latex=_RHO_XZ), real("gap", latex=_GAP),
            real("series", gt=-1, latex=_SERIES),
        ),
        title="Law of the rejection step", where="Lemma 5.3",
        latex=(
            rf"{_OUTPUT}={_PROPOSAL}\cdot\frac{{{_CLIPPED_X}}}{{{_CLIPPED}}},\quad {_RHO_X}={_WEIGHT}\cdot{_UP}"
        ),
        pairs=("gll22.alg2", "gll22.lem5.5"),
    )
    .step(
        "density", rf"{_PI} =\frac{{{_FULL}}}{{{_TOTAL}}}=\frac{{{_WEIGHT}{_PROPOSAL}}}{{{_INTEGRAL}}}",
        given=rf"{_PI}=\frac{{{_FULL}}}{{{_TOTAL}}}, {_FULL}={_WEIGHT}v, {_PROPOSAL}=\frac{{v}}{{V}}, "
              rf"{_TOTAL}=V\cdot{_INTEGRAL}",
        where="Lemma 5.3, proof, first display",
    )
    .step(
        "density-of-the-target",
        rf"\frac{{{_WEIGHT}{_PROPOSAL}}}{{{_INTEGRAL}}}={_PROPOSAL}\cdot\frac{{{_WEIGHT}}}{{{_MEAN_WEIGHT}}}",
        given=rf"{_INTEGRAL}={_MEAN_WEIGHT}", where="Lemma 5.3, proof, first display, last step",
    )
    .whole(
        "target", rf"{_PI}={_PROPOSAL}\cdot\frac{{{_WEIGHT}}}{{{_MEAN_WEIGHT}}}",
        given=rf"{_PI}=\frac{{{_FULL}}}{{{_TOTAL}}}, {_FULL}={_WEIGHT}v, {_PROPOSAL}=\frac{{v}}{{V}}, "
              rf"{_TOTAL}=V\cdot{_INTEGRAL}, {_INTEGRAL}={_MEAN_WEIGHT}",
        uses=("gll22.lem5.3/density",), where="Lemma 5.3, first display, and the end of its proof's first",
    )
    .step(
        "acceptance-by-clipping", r"\min(\max(\frac{1}{2}\rho,0),1)=\frac{1}{2}\min(\max(\rho,0),2)",
        where="Lemma 5.3, proof: u is uniform on [0, 1], so u <= rho/2 has the probability on the left",
    )
    .whole(
        "output", rf"{_OUTPUT}={_PROPOSAL}\cdot\frac{{{_CLIPPED_X}}}{{{_CLIPPED}}}",
        given=rf"{_OUTPUT}={_PROPOSAL}\frac{{{_ACCEPTED_X}}}{{{_ACCEPTED}}}, {_ACCEPTED_X}"
              rf"=\frac{{1}}{{2}}{_CLIPPED_X}, {_ACCEPTED}=\frac{{1}}{{2}}{_CLIPPED}",
        uses=("rejection-sampling", "gll22.lem5.3/acceptance-by-clipping"), where="Lemma 5.3, second display",
    )
    .define(_PRODUCT, rf"({_GAP})^{{\alpha}}")
    .step(
        "one-more-index", rf"{_PRODUCT}\cdot{_GAP}=({_GAP})^{{\alpha+1}}", letters=(_positive("gap", _GAP),),
        uses=("independent-means-multiply",),
        where="Lemma 5.3, proof, 3rd display, from alpha to alpha + 1 indices, which are independent of one another, "
              "for "
              "a mean over I above 0; for one index it is that mean. Where that is 0, so are both sides; where it is "
              "below 0, both are (-1)^(alpha + 1) times those of its absolute value",
    )
    .instance(
        "independent-indices", r"\frac{a^2+ab+ba+b^2}{4}=(\frac{a+b}{2})^2",
        case="the second round, and two functions whose values differ by a and by b",
        where="Lemma 5.3, proof, 3rd display", catches=("the same index twice", r"\frac{a^2+b^2}{2}=(\frac{a+b}{2})^2"),
    )
    .step(
        "next-round",
        r"R\cdot(1-\frac{\alpha}{1+\alpha})=\frac{1}{(\alpha+1)\cdot\alpha!}", given=r"R=\frac{1}{\alpha!}",
        where="Lemma 5.3, proof: the probability that the loop reaches round alpha is exactly 1/alpha!; the next round",
    )
    .step(
        "mean-given-both", rf"{_RHO_XZ}=1+{_SERIES}=\exp({_GAP})",
        given=rf"{_RHO_XZ}=1+{_SERIES}, 1+{_SERIES}=\exp({_GAP})",
        uses=("exponential-series", "gll22.lem5.3/next-round"),
        where="Lemma 5.3, proof, 4th display; a bracket is missing at its end",
    )
    .step(
        "mean-over-z", r"S+pe^{b-a}=e^{-a}\cdot(T+pe^{b})", given=r"S=e^{-a}T",
        added=(real("S", ge=0), real("T", ge=0), real("p", ge=0, meaning="mass of one more z")),
        uses=("gll22.lem5.3/mean-given-both", "integral-is-monotone"),
        where="Lemma 5.3, taking expectation over z, point by point: a is E f_i(x), b is E f_i(z), S and T are the "
              "integrals of exp(b - a) and of exp(b) over some of the points",
    )
    .whole(
        "mean-of-rho", rf"{_RHO_X}={_WEIGHT}\cdot{_UP}", given=rf"{_RHO_X}=a\cdot{_UP}, a={_WEIGHT}",
        uses=("gll22.lem5.3/mean-given-both", "gll22.lem5.3/mean-over-z", "independent-means-multiply"),
        where="Lemma 5.3, third display: x and z are independent, and exp(-E f_i(x)) does not depend on z",
    )
)  # fmt: skip
