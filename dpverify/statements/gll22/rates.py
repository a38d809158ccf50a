"""gll22, Figure 1 and the text beside it: how many queries samplers take, and what private optimization takes then."""

from __future__ import annotations

from dpverify.formulas.expressions import integer, real
from dpverify.formulas.units import LENGTH, NATS
from dpverify.statements.gll22.symbols import G_exponent, d
from dpverify.statements.gll22.symbols import mu_exponent as mu
from dpverify.statements.sheet import Sheet

_G = real("G", gt=0, meaning="Lipschitz constant, of a 1-strongly convex function")
_any = real("G_any", gt=0, unit=G_exponent.unit, latex="G_F", meaning="Lipschitz constant")
_D = real("D", ge=0, unit=LENGTH, meaning="distance of the start from the minimizer")
_n = integer("n", ge=2, meaning="number of records")
_order = real("order", gt=1, latex=r"\alpha", meaning="Renyi order")
_epsilon = real("epsilon", gt=0, lt="1/10", unit=NATS, latex=r"\varepsilon")
_accuracy = real("delta", gt=0, lt="1/2", latex=r"\delta", meaning="accuracy, in total variation")
_M = real("M", ge=0, meaning="number of values of F")
_T, _V = real("T", ge=0, meaning="number of steps"), real("V", ge=0, meaning="queries a step")
_q = real("q", gt=0, meaning="logarithm of G^2 (d/mu + D^2) / delta")
_w = real("w", ge=2, meaning="log(3/(4 delta)), for delta below 1/10")
_C, _c = real("C", gt=0), real("c", gt=0)
_kappa = real("kappa", ge=1, latex=r"\kappa", meaning="condition number")

_inner = real("eta", gt=0, latex=r"\eta", meaning="Lipschitz constant in bst14")
_walks, _longest = real("m", ge=1), real("W", ge=1)
_wide = real("tau", ge=1, latex=r"\tau", meaning="diameter of the set in bst14, in units of the ball")
_OWN = "Figure 1, this work's row"
_TEXT = "Section 2.3, text after Figure 1"
_GT20 = r"\frac{\alpha^{2}G^{4}d}{\varepsilon^{2}}"
_WALK = r"\eta^{2}\tau^{2}\cdot d^{3}Wm"

figure1 = (
    Sheet(
        "gll22.figure1",
        (_G, _any, mu, d, _D, _n, _order, _epsilon, _accuracy, _M, _T, _V, _q, _w, _C, _c, _kappa,
         _inner, _walks, _longest, _wide),
        title="Queries of samplers", where="Figure 1",
        latex=r"G^{2}\text{ values of }f_{i}\text{ for }\mathrm{TV}\le\delta,\text{ polylogarithmic terms omitted}",
        pairs=("gll22.alg1", "gll22.thm5.6", "gll22.cor7.7", "gll22.thm6.4"),
    )
    .step(
        "rescaled", r"\frac{G_F^2}{\mu}=G^2", given=r"G=\frac{G_F}{\sqrt{\mu}}",
        where=f"{_OWN}: in units of 1/sqrt(mu), a mu-strongly convex function is 1-strongly convex",
    )
    .step(
        "rescaled-logarithm", r"G_F^2\cdot(\frac{d}{\mu}+D^2)=G^2\cdot(d+(\sqrt{\mu}D)^2)",
        given=r"G=\frac{G_F}{\sqrt{\mu}}", where=f"{_OWN}: what Theorem 2.3 has in its logarithm, in these units",
    )
    .step(
        "number-of-queries", r"VT\le 48CG^{2}q^2", given=r"T=C\frac{G_F^2}{\mu}q^2, V\le 48, \frac{G_F^2}{\mu}=G^2",
        uses=("gll22.thm5.6", "gll22.lem5.5/number-of-values-on-average", "gll22.figure1/rescaled"),
        where=f"{_OWN}: steps of Theorem 5.6, with its constant C, times the values per step",
    )
    .whole(
        "own-row", r"N\le 48CG^{2}q^2", added=(real("N", ge=0, meaning="number of queries"),),
        given=r"N\le VT, V\le 48, T=C\frac{G_F^2}{\mu}q^2, G=\frac{G_F}{\sqrt{\mu}}",
        uses=("gll22.thm5.6", "gll22.lem5.5/number-of-values-on-average", "gll22.figure1/rescaled-logarithm"),
        where=f"{_OWN}, its exponent of G with the constant, q being the logarithm that is left out, for an F whose "
              "strongly convex part stands apart from the f_i, as in Theorem 2.3; of the F of the caption, a mean of "
              "convex f_i, that part is not split off",
    )
    .reference(
        "lower-bound", r"48CG^{2}q^2\le 48C(1+\ell)q^2\cdot\frac{G_F^2/\mu}{1+\ell/d}", given=r"\frac{G_F^2}{\mu}=G^2",
        added=(real("ln_X", ge=0, latex=r"\ell", meaning="the logarithm of Corollary 7.7"),),
        uses=("gll22.cor7.7", "gll22.figure1/rescaled", "gll22.figure1/own-row"),
        where=f"{_OWN}: no more than the lower bound of Corollary 7.7 times logarithms, so these are all that can be "
              "saved",
    )
    .reference(
        "below-[LC21]", r"G^{2}\le\frac{G^{2}}{\delta}", where="Figure 1, this work's row and that of [LC21]: a factor "
        "of 1/delta less; the other rows are cited, not derived",
    )
    .reference(
        "below-[GT20]", r"G^{2}\le\frac{\alpha^{2}G^{4}d}{\varepsilon^{2}}", given=r"G\ge\varepsilon",
        where="Figure 1, this work's row and that of [GT20]: a factor of alpha^2 G^2 d / epsilon^2 less",
    )
    .reference(
        "at-least-d-queries", r"d\le\frac{\alpha^{2}G^{4}d}{\varepsilon^{2}}", given=r"G^4\ge\varepsilon^2",
        where=f"{_TEXT}: all previous results have at least d iterations; here [GT20]",
    )
    .reference(
        "row-of-bst14", rf"{_WALK}\le d^{{12}}", given=r"\eta\tau\le d^2, Wm\le d^5", uses=("bst14.lem6.5",),
        where="Figure 1, row [BST14], d^{O(1)}, where the Lipschitz constant and the diameter are at most powers of d, "
              "and so the rest of the bound: W is the length of a walk over d^3 eta^2 tau^2, and m the number of walks",
    )
    .step(
        "logarithm-of-the-accuracy", r"\ln(1/n^{-c})=\Theta(\ln n)", fixed="c",
        where="Figure 1, caption: delta = n^(-c), so logarithms of 1/delta are polylogarithmic in n",
    )
    .reference(
        "smooth-losses", r"\kappa\max\{d,\sqrt{nd}\}\le n", given=r"\kappa^2d\le n",
        where="Section 2.3, text before Figure 1: nearly linear time for n above kappa^2 d",
    )
    .reference(
        "private-risk-with-this-work", r"\frac{\varepsilon^2n^2}{2w}q^2\le\tilde{O}(n^{2})", soft="q",
        uses=("gll22.thm6.4/queries", "gll22.figure1/own-row"),
        where=f"{_TEXT}: values of f_i for the optimal empirical loss, w = log(3/(4 delta))",
    )
    .reference(
        "private-risk-with-[JLLV21]", r"M\cdot n\le nd^{3}", given=r"M\le d^{3}",
        where=f"{_TEXT}: d^3 values of F are n d^3 values of f_i",
    )
    .reference(
        "private-risk-with-[GT20]", rf"n\cdot{_GT20.replace('G^{4}', 'n^4')}\le O(\sqrt{{n}}\cdot n^{{4}}d)",
        fixed=r"\alpha, \varepsilon", true_if="with gradients of F in place of those of f_i",
        where=f"{_TEXT}: O~(n^4 d) gradients of f_i are said to be enough; its row of Figure 1 at G^2 = n^2, which "
              "Theorem 6.4 has, counts gradients of F, of which one takes n gradients of f_i; sqrt(n) stands for the "
              "logarithms that the tilde leaves out, and is more",
    )
    .corrected(
        "private-risk-with-[GT20]",
        rf"n\cdot{_GT20.replace('G^{4}', 'n^4')}=\frac{{\alpha^2}}{{\varepsilon^2}}n^{{5}}d",
        because="the row of [GT20] counts gradients of F, as the text says of all previous results; n^4 d of them are "
                "n^5 d gradients of f_i",
        where=f"{_TEXT}, in gradients of f_i",
    )
    .reference(
        "faster-than-[JLLV21]", r"n^{2}\le nd^{3}", given=r"n\le d^3",
        where=f"{_TEXT}: significantly faster than the previous algorithms, as they have at least d iterations, so for "
              "many dimensions; here n is at most d^3",
    )
)  # fmt: skip

STATEMENTS = (figure1.statement,)
