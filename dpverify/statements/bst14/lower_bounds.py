"""bst14, Section 5: lower bounds on the excess risk, from those for 1-way marginals."""

from __future__ import annotations

from dpverify.formulas.expressions import real
from dpverify.formulas.units import RECORDS
from dpverify.formulas.vectors import vector
from dpverify.statements.bst14.symbols import epsilon, n, p
from dpverify.statements.sheet import CONSTANT, Sheet

_equal = real("k", gt=0, unit=RECORDS, meaning="number of equal records")
_c = real("c", gt=0, meaning="constant of the number of equal records")
_log_2 = real("ln_2", gt="69/100", latex=r"\ln 2")
_v, _w, _sum = (
    vector(name, latex=latex) for name, latex in (("v", "v"), ("w", "w"), ("S", r"\sum_{i=1}^nd_i"))
)
_length = real("s", gt=0, latex=r"\|\sum_{i=1}^nd_i\|_2")
_error = real("e_1", ge=0, meaning="error of a marginal of signs")

lem5_1 = (
    Sheet(
        "bst14.lem5.1", (n, p, epsilon, _equal, _c, _log_2, _v, _w, _error),
        title="1-way marginals", where="Lemma 5.1",
        latex=r"\|\sum_id_i\|_2=\Omega(\min(n,p/\varepsilon)),\ |\theta^{priv}_j-q^D_j|\geq\Omega\left(\min\left("
              r"\frac{1}{\sqrt{p}},\frac{\sqrt{p}}{\varepsilon n}\right)\right)\ \forall j\in S",
        pairs=("bst14.thm5.2", "bst14.thm5.3", "bst14.thm5.4", "bst14.thm5.5"),
    )
    .step("length-of-a-record", r"p\cdot(\frac{1}{\sqrt{p}})^2=1", where="Section 5.1: records are of length 1")
    .step("length-of-the-sum", r"\|\frac{1}{k}(kv+\frac{n-k}{2}w-\frac{n-k}{2}w)\|=1", given=r"\|v\|=1",
          where="Lemma 5.1: the hard data set, k records v, the others in pairs w and -w; its sum over k")
    .step("gap-of-a-marginal", r"\frac{2k}{n}\cdot\frac{1}{\sqrt{p}}=2\min(\frac{1}{\sqrt{p}},"
                               r"\frac{\sqrt{p}}{c\varepsilon n})",
          given=r"k=\min(n,\frac{p}{c\varepsilon})", uses=("bst14.lem5.1/length-of-the-sum",),
          where="Lemma 5.1, part 1: marginals where v and v' differ; an answer can be closer to one of them only")
    .whole("packing", r"\varepsilon k-\frac{p}{8}\ln 2\le-\frac{p}{50}", given=r"k\le\frac{p}{16\varepsilon}",
           uses=("group-privacy", "gilbert-varshamov", "bst14.lem5.1/gap-of-a-marginal"),
           where="Lemma 5.1, part 1: logarithm of the probability of being close to the right one of 2^(p/8) sign "
                 "vectors of which any two differ in an eighth of the coordinates, for some of them")
    .whole("marginals-of-signs",
           r"\frac{1}{\sqrt{p}}e_1\ge c\min(\frac{1}{\sqrt{p}},\frac{1}{\varepsilon n})",
           given=r"e_1\ge c\min(1,\frac{\sqrt{p}}{\varepsilon n})", uses=("fingerprinting",),
           where="Lemma 5.1, part 2: from marginals of signs to marginals of records of length 1")
)  # fmt: skip

_out, _best = (vector(name, latex=latex) for name, latex in (("x", r"\theta^{priv}"), ("y", r"\theta^*")))
_out_j, _best_j = (
    real(name, ge=-1, le=1, latex=latex)
    for name, latex in (("x_j", r"\theta^{priv}_j"), ("y_j", r"\theta^*_j"))
)
_a, _b, _kappa, _c0 = (
    real(name, gt=0, meaning=meaning, latex=latex)
    for name, meaning, latex in (
        ("a", "constant of the marginals", "a"), ("b", "constant of the sum, from above", "b"),
        ("kappa", "constant of the number of coordinates", r"\kappa"),
        ("c_0", "constant of the sum, from below", "c_0"),
    )
)  # fmt: skip
_m = real(
    "m",
    gt=0,
    le=1,
    meaning="the smaller of 1 and the length of the sum over n, up to constants",
    stands_for="functional",
)
_ratio = real("r", gt=0, le=1, meaning="length of the sum over n", latex=r"\frac{\|\sum_{i=1}^nd_i\|_2}{n}")
_squared = real("D2", ge=0, latex=r"\|\theta^{priv}-\theta^*\|_2^2")
_excess = real("R", meaning="excess risk", latex=r"\mathcal{L}(\theta^{priv};D)-\mathcal{L}(\theta^*;D)")
_number = real("N", gt=0, meaning="number of coordinates of S", latex="|S|")
_distance = real("g", ge=0, meaning="smallest distance in a coordinate of S")
_UNIT = r"\|\theta^*\|=1, \|\theta^{priv}\|\le 1"


def _lipschitz(id_: str, where: str, privacy: str, size: str, marginal: str, part: str) -> Sheet:
    """The hard linear loss; `size` over epsilon is the length of the sum of the records."""
    least = real("M", gt=0, latex=rf"\min(n,\frac{{{size}}}{{\varepsilon}})")
    return (
        Sheet(
            id_,
            (n, p, epsilon, _length, _out, _best, _out_j, _best_j, _a, _b, _kappa, _c0, _m, _excess, _number,
             _distance),
            title=f"Lower bound, Lipschitz losses, {privacy}", where=where,
            latex=rf"\mathcal{{L}}(\theta;D)-\mathcal{{L}}(\theta^*;D)\geq\Omega\left(\min"
                  rf"\left(n,{size}/\varepsilon\right)"
                  r"\right)",
            pairs=("bst14.table1",), uses=("bst14.lem5.1",),
        )
        .define("S", r"\|\sum_{i=1}^nd_i\|_2\theta^*")
        .step("minimizer", r"-\langle\theta^*,S\rangle\le-\langle\theta^{priv},S\rangle", given=_UNIT,
              where=f"{where}: the direction of the sum of the records minimizes the loss on the ball")
        .step("excess-of-a-linear-loss",
              r"-\langle\theta^{priv},S\rangle+\langle\theta^*,S\rangle=\|\sum_{i=1}^nd_i\|_2\cdot"
              r"(\langle\theta^*,\theta^*\rangle-\langle\theta^{priv},\theta^*\rangle)",
              where=f"{where}, proof, first sentence, where <theta*, theta*> is 1")
        .step("expansion", r"\|\theta^{priv}-\theta^*\|_2^2=\|\theta^*\|_2^2+\|\theta^{priv}\|_2^2"
                           r"-2\langle\theta^{priv},\theta^*\rangle",
                           where=f"{where}, proof: why E is at least half of it")
        .step("excess-and-distance",
              r"1-\langle\theta^{priv},\theta^*\rangle\ge\frac{1}{2}\|\theta^{priv}-\theta^*\|_2^2", given=_UNIT,
              where=f"{where}, proof: E >= ||theta - theta*||^2 / 2")
        .step("from-marginals-to-the-direction", r"|\theta^{priv}_j-\theta^*_j|>0",
              given=r"|\theta^{priv}_j-\frac{\|\sum_{i=1}^nd_i\|_2}{n}\theta^*_j|\ge\frac{am}{\sqrt{p}}, "
                    r"\theta^*_j=\frac{1}{\sqrt{p}}", added=(_ratio,),
              where=f"{where}, proof: the distances to theta* are said to be of order 1/sqrt(p), hence not 0")
        .corrected("from-marginals-to-the-direction", r"|\theta^{priv}_j-\theta^*_j|\ge\frac{a}{b\sqrt{p}}",
                   given=r"\frac{\|\sum_{i=1}^nd_i\|_2}{n}|\theta^{priv}_j-\theta^*_j|\ge\frac{am}{\sqrt{p}}, "
                         r"\frac{\|\sum_{i=1}^nd_i\|_2}{n}\le bm", added=(_ratio,),
                   because="the lemma compares the output with the sum over n, which is shorter than theta*, so "
                           "it says nothing about an output near theta*; applied to the output times the length of "
                           "the sum over n it does, if the sum also has that order as an upper bound",
                   where=f"{where}, proof, with Lemma 5.1 for the output times ||sum d_i|| / n",
                   true_if="if Lemma 5.1 is applied to the output times the length of the sum over n")
        .step("orders-of-the-lemma",
              rf"\min(\frac{{1}}{{\sqrt{{p}}}},{marginal})=\frac{{1}}{{\sqrt{{p}}}}\min(1,"
              rf"\frac{{{size}}}{{\varepsilon n}})",
              uses=("bst14.lem5.1",), where=f"{where}, proof: the bound of Lemma 5.1, part {part}, over sqrt(p)")
        .step("sum-over-coordinates", r"|S|g^2\ge\frac{\kappa a^2}{b^2}",
              given=r"|S|\ge\kappa p, g\ge\frac{a}{b\sqrt{p}}",
              uses=(f"{id_}/from-marginals-to-the-direction", f"{id_}/orders-of-the-lemma"),
              where=f"{where}, proof: the squared distance is of order 1")
        .whole("bound", rf"{_excess.latex}\ge\frac{{c_0\kappa a^2}}{{2b^2}}{least.latex}",
               given=rf"{_excess.latex}=\|\sum_{{i=1}}^nd_i\|_2\cdot E, "
                     rf"E\ge\frac{{1}}{{2}}\|\theta^{{priv}}-\theta^*\|_2^2, "
                     r"\|\theta^{priv}-\theta^*\|_2^2\ge\frac{\kappa a^2}{b^2}, "
                     rf"\|\sum_{{i=1}}^nd_i\|_2\ge c_0{least.latex}",
               added=(real("E", ge=0), _squared, least),
               uses=(f"{id_}/excess-of-a-linear-loss", f"{id_}/excess-and-distance", f"{id_}/sum-over-coordinates",
                     "bst14.lem5.1"),
               where=f"{where}, end of the proof, with the constants of Lemma 5.1 in Omega( )")
    )  # fmt: skip


thm5_2 = _lipschitz(
    "bst14.thm5.2", "Theorem 5.2", "pure privacy", "p", r"\frac{\sqrt{p}}{\varepsilon n}", "1"
)
thm5_3 = _lipschitz(
    "bst14.thm5.3", "Theorem 5.3", "approximate privacy", r"\sqrt{p}", r"\frac{1}{\varepsilon n}", "2"
)

_record, _mean, _x, _y = (
    vector(name, latex=latex)
    for name, latex in (
        ("d", "d"),
        ("m_d", r"\frac{1}{n}\sum_{i=1}^nd_i"),
        ("x", r"\theta"),
        ("y", r"\theta'"),
    )
)
_squares = real("Q", ge=0, meaning="sum of the squared lengths of the records")
_each = real("g", ge=0, meaning="smallest distance in a coordinate of S")


def _strongly_convex(id_: str, where: str, privacy: str, marginal: str, rate: str, part: str) -> Sheet:
    """The hard quadratic loss; `rate` is the excess risk where n is large."""
    least = real("M", gt=0, latex=rf"\min(n,{rate})")
    closest = real("mu", gt=0, latex=rf"\min(\frac{{1}}{{\sqrt{{p}}}},{marginal})")
    return (
        Sheet(
            id_, (n, p, epsilon, _a, _kappa, _record, _mean, _x, _y, _squares, _each, _number, _excess),
            title=f"Lower bound, strongly convex losses, {privacy}", where=where,
            latex=r"\mathcal{L}(\theta^{priv};D)-\mathcal{L}(\theta^*;D)\geq\Omega\left(\min\left(n,"
                  rf"{rate}\right)\right)",
            pairs=("bst14.table1",), uses=("bst14.lem5.1",),
        )
        .step("lipschitz", r"\|\theta-d\|\le 1", given=r"\|\theta\|\le 1, \|d\|=1",
              where="Section 5.2: the loss is said to be 1-Lipschitz on the ball")
        .corrected("lipschitz", r"\|\theta-d\|\le 2", given=r"\|\theta\|\le 1, \|d\|=1", consequence=CONSTANT,
                   because="opposite to the record the gradient has length 2: the loss is 2-Lipschitz on the ball",
                   where="Section 5.2: the gradient of the loss")
        .step("strongly-convex", r"\frac{1}{2}\|\theta'-d\|^2="
                                 r"\frac{1}{2}\|\theta-d\|^2+\langle\theta-d,\theta'-\theta\rangle"
                                 r"+\frac{1}{2}\|\theta'-\theta\|^2",
                                 where="Section 5.2: the loss is 1-strongly convex")
        .step("excess-of-a-quadratic-loss",
              r"\frac{n}{2}\|\theta\|^2-n\langle\theta,\frac{1}{n}\sum_{i=1}^nd_i\rangle+\frac{Q}{2}"
              r"-(\frac{n}{2}\|\frac{1}{n}\sum_{i=1}^nd_i\|^2"
              r"-n\langle\frac{1}{n}\sum_{i=1}^nd_i,\frac{1}{n}\sum_{i=1}^nd_i\rangle+\frac{Q}{2})"
              r"=\frac{n}{2}\|\theta-\frac{1}{n}\sum_{i=1}^nd_i\|_2^2",
              where="Section 5.2: the excess risk of theta, against the mean of the records")
        .step("minimizer-is-in-the-ball", r"\|\frac{1}{2}\theta+\frac{1}{2}d\|\le 1", given=r"\|\theta\|\le 1, \|d\|=1",
              where="Section 5.2: means of records are in the ball, from two to more")
        .step("sum-over-coordinates", rf"\frac{{n}}{{2}}|S|g^2\ge\frac{{\kappa a^2}}{{2}}np\cdot({closest.latex})^2",
              given=rf"|S|\ge\kappa p, g\ge a\cdot {closest.latex}", added=(closest,), uses=("bst14.lem5.1",),
              where=f"{where}, proof, display, by Lemma 5.1, part {part}")
        .step("order", rf"np\cdot(\min(\frac{{1}}{{\sqrt{{p}}}},{marginal}))^2=\min(n,{rate})",
              where=f"{where}, proof, display: the order")
        .whole("bound", rf"{_excess.latex}\ge\frac{{\kappa a^2}}{{2}}{least.latex}",
               given=rf"{_excess.latex}\ge\frac{{n}}{{2}}|S|g^2, \frac{{n}}{{2}}|S|g^2\ge\frac{{\kappa a^2}}{{2}}np"
                     rf"\cdot({closest.latex})^2, np\cdot({closest.latex})^2={least.latex}", added=(closest, least),
               uses=(f"{id_}/excess-of-a-quadratic-loss", f"{id_}/sum-over-coordinates", f"{id_}/order",
                     "bst14.lem5.1"),
               where=f"{where} with the constants of Lemma 5.1 in Omega( )")
    )  # fmt: skip


thm5_4 = _strongly_convex(
    "bst14.thm5.4",
    "Theorem 5.4",
    "pure privacy",
    r"\frac{\sqrt{p}}{\varepsilon n}",
    r"\frac{p^2}{\varepsilon^2n}",
    "1",
)
thm5_5 = _strongly_convex(
    "bst14.thm5.5",
    "Theorem 5.5",
    "approximate privacy",
    r"\frac{1}{\varepsilon n}",
    r"\frac{p}{\varepsilon^2n}",
    "2",
)
