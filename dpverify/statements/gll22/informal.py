"""gll22, Theorems 1.2 and 1.3: what the introduction says of empirical and population risk."""

from __future__ import annotations

from dpverify.formulas.expressions import Variable, real
from dpverify.formulas.units import LOSS, NATS
from dpverify.statements.gll22.symbols import D, G, d, k, mu, n
from dpverify.statements.sheet import Sheet

_epsilon = real("epsilon", gt=0, lt="1/10", unit=NATS, latex=r"\varepsilon")
_level = real("l", gt="23/10", unit=NATS, latex=r"\log(1/\delta)", meaning="above ln 10")
_half = real("l_2", gt="8/5", unit=NATS, latex=r"\log(1/(2\delta))", meaning="above ln 5")
_s = real("s", gt=0, meaning="shift that Lemma 6.3 allows, over sqrt(2)")
_N, _q = real("N", ge=0, meaning="number of queries"), real("q", ge=0)
_w, _a = real("w", gt=0), real("a", gt=0)
_u, _v = real("u", gt=0), real("v", gt=0)
_c = real("c", gt=0, unit=NATS, meaning="ln(3/2), which is above 2/5")


def _loss(name: str, latex: str) -> Variable:
    return real(name, unit=LOSS, latex=latex)


_excess = _loss("excess", r"\mathbb{E}[F(x^{(priv)})]-F(x^{*})")
_population = _loss("population", r"\mathbb{E}[\widehat{F}(x^{(priv)})]-\widehat{F}(x^{*})")
_RISK = r"\frac{2GD\sqrt{d\log(1/\delta)}}{\varepsilon n}"
_POPULATION = r"\frac{2GD}{\sqrt{n}}+\frac{2GD\sqrt{d\log(1/\delta)}}{\varepsilon n}"

thm1_2 = (
    Sheet(
        "gll22.thm1.2", (_epsilon, n, d, k, mu, G, D, _level, _half, _s, _excess),
        title="Private empirical risk minimization, informal", where="Theorem 1.2", latex=rf"{_excess.latex}\le{_RISK}",
        pairs=("gll22.thm6.2", "gll22.thm6.4", "gll22.rem"),
    )
    .whole(
        "privacy", r"\frac{G\sqrt{k}}{n\sqrt{\mu}}=\sqrt{2}s", given=r"k=\frac{2\mu n^2s^2}{G^2}",
        uses=("gll22.thm6.2", "gll22.lem6.3"),
        where="Theorem 1.2, privacy: k for the largest shift that Lemma 6.3 allows, sqrt(2) s",
    )
    .step(
        "shift", r"\frac{\varepsilon}{2\sqrt{\log(1/(2\delta))+\frac{\varepsilon}{2}}}\le"
        r"\sqrt{\log(1/(2\delta))+\varepsilon}-\sqrt{\log(1/(2\delta))}",
        uses=("gll22.thm6.4/concave-root",), where="Theorem 1.2, some appropriate choices",
    )
    .step(
        "choices", r"\frac{d}{k}+\frac{\mu D^{2}}{2}=\frac{GD\sqrt{d}}{ns}",
        given=r"k=\frac{2\mu n^{2}s^2}{G^2}, \mu=\frac{G\sqrt{d}}{nDs}", uses=("gll22.thm6.2",),
        where="Theorem 1.2, some appropriate choices of k and mu, as in Theorem 6.4",
    )
    .whole(
        "risk", rf"{_excess.latex}\le{_RISK}",
        given=rf"{_excess.latex}\le\frac{{GD\sqrt{{d}}}}{{ns}}, \frac{{\varepsilon}}{{2\sqrt{{\log(1/(2\delta))"
              rf"+\frac{{\varepsilon}}{{2}}}}}}"
              r"\le s, \log(1/(2\delta))\le\log(1/\delta)-\ln(2), \ln(2)>\frac{1}{2}",
        uses=("gll22.thm1.2/privacy", "gll22.thm1.2/shift", "gll22.thm1.2/choices", "gll22.thm6.2/center-in-the-set"),
        where="Theorem 1.2, risk of the exact mechanism; epsilon and delta below 1/10",
    )
    .whole(
        "order-of-the-queries", r"N\le O(\frac{\varepsilon^{2}n^{2}}{\log(1/\delta)}q^2)", added=(_N, _q, _w),
        given=r"N\le\frac{\varepsilon^2n^2}{2w}q^2, w\ge\log(1/\delta)-\ln(2), \ln(2)<\frac{7}{10}",
        uses=("gll22.thm6.4/order-of-the-queries",),
        where="Theorem 1.2, number of queries over 16 V of Theorem 6.4, with q = log(nd/delta)",
    )
)  # fmt: skip

thm1_3 = (
    Sheet(
        "gll22.thm1.3", (_epsilon, n, d, k, mu, G, D, _level, _half, _population, _u, _v),
        title="Private stochastic convex optimization, informal", where="Theorem 1.3",
        latex=rf"{_population.latex}\le{_POPULATION}", pairs=("gll22.thm6.8", "gll22.thm6.9", "gll22.rem"),
    )
    .step(
        "shift", r"\frac{\varepsilon}{\sqrt{2\log(1/(2\delta))+2c}}\le"
        r"\sqrt{2\log(1/(2\delta))+2\varepsilon}-\sqrt{2\log(1/(2\delta))}",
        given=r"c>\frac{2}{5}", added=(_c,),
        where="Theorem 1.3, some appropriate choice of k: its shift, with c = ln(3/2), is one that Lemma 6.3 allows",
    )
    .whole(
        "privacy", r"\frac{G\sqrt{k}}{n\sqrt{\mu}}\le\sqrt{2\log(1/(2\delta))+2\varepsilon}-\sqrt{2\log(1/(2\delta))}",
        given=r"k\le\frac{\mu}{G^2}\cdot\frac{\varepsilon^2n^2}{2(\log(1/(2\delta))+c)}, "
              r"\frac{\varepsilon}{\sqrt{2\log(1/(2\delta))+2c}}\le"
              r"\sqrt{2\log(1/(2\delta))+2\varepsilon}-\sqrt{2\log(1/(2\delta))}",
        added=(_c,), uses=("gll22.thm6.8", "gll22.lem6.3", "gll22.thm1.3/shift"),
        where="Theorem 1.3, privacy: for the k of Theorem 6.9, in which log(3/(4 delta)) = log(1/(2 delta)) + c, the "
              "shift is one that Lemma 6.3 allows",
    )
    .step(
        "larger-logarithm", r"u\le v", given=r"u^2\le v^2-\ln(\frac{4}{3}), \ln(\frac{4}{3})\ge 0",
        where="Theorem 1.3: u = sqrt(log(3/(4 delta))), for which Theorem 6.9's proof shows it, and v = "
              "sqrt(log(1/delta))",
    )
    .whole(
        "risk", rf"{_population.latex}\le{_POPULATION}",
        given=rf"{_population.latex}\le GD\cdot(\frac{{2u\sqrt{{d}}}}{{\varepsilon n}}+\frac{{2}}{{\sqrt{{n}}}}), u"
              rf"\le\sqrt{{\log(1/\delta)}}",
        uses=("gll22.thm6.8", "gll22.thm6.9/privacy-of-k", "gll22.thm6.9/sum-of-roots",
        "gll22.thm1.3/larger-logarithm"),
        where="Theorem 1.3, population loss of the exact mechanism",
    )
    .whole(
        "order-of-the-queries", r"N\le 2\min\{\frac{\varepsilon^2n^2}{\log(1/\delta)},nd\}q^2", added=(_N, _q, _w, _a),
        given=r"N\le aq^2, a\le\frac{\varepsilon^2n^2}{2w}, a\le 2nd, w\ge\log(1/\delta)-\ln(\frac{4}{3}), "
              r"\ln(\frac{4}{3})<\frac{3}{10}",
        uses=("gll22.thm6.9/order-of-the-queries",),
        where="Theorem 1.3, number of queries over 16 V of Theorem 6.9, with q = log(nd/delta): O(.) with the "
              "constant 32 V",
    )
)  # fmt: skip

STATEMENTS = tuple(sheet.statement for sheet in (thm1_2, thm1_3))
