"""bst14, Section 6: sampling from a log-concave density on a cube, and on a convex set inside of it."""

from __future__ import annotations

from dpverify.formulas.expressions import integer, real
from dpverify.formulas.units import DIMENSIONLESS, LENGTH
from dpverify.formulas.vectors import vector
from dpverify.statements.bst14.symbols import diameter, p
from dpverify.statements.sheet import CONSTANT, Sheet

eta = real("eta", gt=0, unit=DIMENSIONLESS / LENGTH, meaning="Lipschitz constant of log F", latex=r"\eta")
tau = real("tau", gt=0, unit=LENGTH, meaning="edge length of the cube", latex=r"\tau")
error = real("e", gt=0, meaning="multiplicative distance", latex=r"\tilde\varepsilon")
_small_error = real("e", gt=0, le=1, meaning="multiplicative distance", latex=r"\tilde\varepsilon")

_exp_error = real("H", ge=1, meaning="exp(e), any number above 1", latex=r"e^{\tilde\varepsilon}")
_grid = real("gamma", gt=0, unit=LENGTH, meaning="edge length of a cell", latex=r"\gamma")
_relative = real("e_rel", gt=0, lt=1, meaning="relative error of the walk", latex=r"\varepsilon'")
_phi = real("phi", gt=0, meaning="conductance", latex=r"\phi")
_least = real("pi_min", gt=0, le=1, meaning="smallest mass of a grid point", latex=r"\pi^*")
_log_mass = real(
    "l_pi", ge=0, meaning="log(1/(e' pi*))", latex=r"\log\left(\frac{1}{\varepsilon'\pi^*}\right)"
)
_mixing = real("t", gt=0, meaning="mixing time", latex=r"t_{\infty}")
_u_v = real("d", ge=0, unit=LENGTH, latex=r"\|u-v\|_2", stands_for="number")
_drop = real("s", meaning="log F(v) - log F(u)", latex=r"\log F(v)-\log F(u)")
_parts = tuple(
    real(name, meaning=meaning)
    for name, meaning in (
        ("a", "log ratio of the walk's masses"), ("b", "log ratio of F inside a cell"), ("c", "log ratio of the sums"),
    )
)  # fmt: skip
_lower, _upper = (
    real(name, gt=0, meaning=meaning, latex=latex)
    for name, meaning, latex in (
        ("h", "exp(-e/2)", r"e^{-\frac{\tilde\varepsilon}{2}}"), ("H", "exp(e/2)", r"e^{\frac{\tilde\varepsilon}{2}}"),
    )
)  # fmt: skip
_k = real("k", gt=0, meaning="drop of log F from one grid point to the next along an axis")
_m = integer("m", ge=1, meaning="grid points along an axis")
_CONDUCTANCE = r"\phi=\frac{\tilde\varepsilon}{8\eta\tau p\sqrt{p}G}"
_growth = real("G", gt=1, meaning="exp(e/2) in the conductance")

lem6_1 = (
    Sheet(
        "bst14.lem6.1",
        (p, eta, tau, error, _grid, _relative, _phi, _least, _log_mass, _mixing, _u_v, _drop, *_parts, _k, _m, _growth),
        title="Sampling on a cube", where="Lemma 6.1",
        latex=r"\mathrm{Dist}_\infty(\hat\mu_A,\mu_A)\le\tilde\varepsilon\text{ in time }O\left("
              r"\frac{\eta^2\tau^2}{\tilde\varepsilon^2}p^3\max\left(p\log\left(\frac{\eta\tau p}{\tilde\varepsilon}"
              r"\right),\eta\tau\right)\right)",
        pairs=("bst14.alg-cube",),
    )
    .step("half-diagonal-of-a-cell", r"\eta\cdot\frac{\gamma\sqrt{p}}{2}=\frac{\tilde\varepsilon}{4}",
          given=r"\gamma=\frac{\tilde\varepsilon}{2\eta\sqrt{p}}",
          where="Lemma 6.1, proof: log F inside a cell, against its center")
    .whole("distance", r"a+b+c\le\tilde\varepsilon",
           given=r"a\le\frac{\tilde\varepsilon}{2}, b\le\frac{\tilde\varepsilon}{4}, c\le\frac{\tilde\varepsilon}{4}",
           uses=("bst14.lem6.1/half-diagonal-of-a-cell", "bst14.lem6.1/lower-side", "bst14.lem6.1/upper-side",
                 "integral-is-monotone"),
           where="Lemma 6.1, proof: it is easy to show; the walk's mass, F in a cell, and the sum for the integral")
    .step("upper-side", r"1+\frac{\tilde\varepsilon}{2}\le e^{\frac{\tilde\varepsilon}{2}}", letters=(_small_error,),
          where="Lemma 6.1, proof: a relative error of e/2 as in Lemma 6.2, upper side, for e at most 1")
    .step("lower-side", r"1-\frac{\tilde\varepsilon}{2}\ge e^{-\frac{\tilde\varepsilon}{2}}",
          where="Lemma 6.1, proof: a relative error of e/2 as in Lemma 6.2, lower side")
    .corrected("lower-side", r"1-\varepsilon'\ge e^{-\frac{\tilde\varepsilon}{2}}, "
                             r"1+\varepsilon'\le e^{\frac{\tilde\varepsilon}{2}}",
               added=(_lower, _upper), given=r"\varepsilon'=1-e^{-\frac{\tilde\varepsilon}{2}}, "
                                             r"e^{\frac{\tilde\varepsilon}{2}}e^{-\frac{\tilde\varepsilon}{2}}=1",
               because="a relative error of e/2 is too large on the lower side; 1 - exp(-e/2) is enough on both",
               consequence=CONSTANT, where="Lemma 6.1, proof, with the relative error 1 - exp(-e/2)")
    .step("integral-of-lemma-6.2", r"\frac{\partial}{\partial x}(\frac{4}{\phi^2}\ln x)=\frac{4}{x\phi^2}",
          added=(real("x", gt=0, meaning="mass of a set"),), where="Lemma 6.2 with a constant conductance")
    .step("mixing-time", r"\frac{4}{\phi^2}=\frac{256\eta^2\tau^2p^3G^2}{\tilde\varepsilon^2}", given=_CONDUCTANCE,
          uses=("bst14.lem6.1/integral-of-lemma-6.2", "morris-peres"),
          where="Lemma 6.1, proof: the conductance in Lemma 6.2; O( ) has the constant 256 exp(e)")
    .condition("constant-of-the-mixing-time", r"256e^{\tilde\varepsilon}=O(1)", meant=r"\tilde\varepsilon\le 1",
               added=(_exp_error,),
               where="Lemma 6.1: exp(e) is hidden in O( ), for e at most 1; Section 6 has epsilon/3")
    .step("smallest-mass", r"\log F(v)-\log F(u)\le\eta\tau",
          given=r"\log F(v)-\log F(u)\le\eta\|u-v\|_2, \|u-v\|_2\le\tau\sqrt{p}",
          where="Lemma 6.1, proof, last display: exp(-eta tau) for the ratio of two values of F")
    .corrected("smallest-mass", r"\log F(v)-\log F(u)\le\eta\tau\sqrt{p}",
               given=r"\log F(v)-\log F(u)\le\eta\|u-v\|_2, \|u-v\|_2\le\tau\sqrt{p}",
               because="two points of a cube are up to tau sqrt(p) apart: the exponent of the smallest mass lacks a "
                       "sqrt(p)",
               where="Lemma 6.1, proof, last display",
               true_if="if log F is Lipschitz with respect to the maximum norm")
    .instance("smallest-mass-on-a-square",
              r"(\frac{e^{-(m-1)k}(1-e^{-k})}{1-e^{-mk}})^2\ge\frac{e^{-\sqrt{2}mk}}{m^2}",
              case="p = 2 and log F = -k (i + j) on m by m grid points, so eta tau = sqrt(2) m k",
              box={"k": ("1/10", "1/2"), "m": (50, 200)},
              true_if="with sqrt(p) in the exponent", where="Lemma 6.1, proof, last display")
    .corrected("smallest-mass-on-a-square",
               r"(\frac{e^{-(m-1)k}(1-e^{-k})}{1-e^{-mk}})^2\ge\frac{e^{-\sqrt{2}mk\sqrt{2}}}{m^2}",
               case="p = 2 and log F = -k (i + j) on 50 by 50 grid points, with sqrt(p) in the exponent",
               letters=(integer("m", ge=50, le=50, meaning="grid points along an axis"),), box={"k": ("1/10", "1/2")},
               catches=("the root of p is lost",
                        r"(\frac{e^{-(m-1)k}(1-e^{-k})}{1-e^{-mk}})^2\ge\frac{e^{-\sqrt{2}mk}}{m^2}"),
               where="Lemma 6.1, proof, last display")
    .step("grid-points", r"\frac{\tau}{\gamma}=\frac{2\eta\tau\sqrt{p}}{\tilde\varepsilon}",
          given=r"\gamma=\frac{\tilde\varepsilon}{2\eta\sqrt{p}}",
          where="Lemma 6.1, proof: plugging in gamma; grid points along an edge")
    .correction(latex=r"\max\left(p\log\left(\frac{\eta\tau p}{\tilde\varepsilon}\right),\eta\tau\sqrt{p}\right)")
)  # fmt: skip

_x1, _x2, _y1, _y2, _x = (
    vector(name, unit=LENGTH, latex=latex)
    for name, latex in (("x1", "x_1"), ("x2", "x_2"), ("y1", "y_1"), ("y2", "y_2"), ("x", "x"))
)
_lambda = real("lambda", ge=0, le=1, latex=r"\lambda")
_values = tuple(
    real(name, latex=latex)
    for name, latex in (
        ("g_l", r"g_{y_{\lambda}}(x_{\lambda})"), ("g_m", r"g_{\lambda y_1+(1-\lambda)y_2}(x_{\lambda})"),
        ("f_m", r"f(\lambda y_1+(1-\lambda)y_2)"), ("f_1", "f(y_1)"), ("f_2", "f(y_2)"), ("e_l", r"\bar "
                                                                                                 r"f(x_{\lambda})"),
        ("e_1", r"\bar f(x_1)"), ("e_2", r"\bar f(x_2)"), ("F_2", "F(x_2)"),
    )
)  # fmt: skip
_mixed = real("d_m", ge=0, unit=LENGTH, latex=r"\|\lambda(y_1-x_1)+(1-\lambda).(y_2-x_2)\|_2")
_d1, _d2, _d12, _d21 = (
    real(name, ge=0, unit=LENGTH, latex=latex)
    for name, latex in (("d_1", r"\|y_1-x_1\|_2"), ("d_2", r"\|y_2-x_2\|_2"), ("d_12", r"\|x_1-x_2\|_2"),
                        ("d_21", r"\|x_1-y_2\|_2"))
)  # fmt: skip
_THIRD = r"\lambda(f(y_1)+\eta\|y_1-x_1\|_2)+(1-\lambda)(f(y_2)+\eta\|y_2-x_2\|_2)"

lem6_3 = (
    Sheet(
        "bst14.lem6.3", (eta, _lambda, _x1, _x2, _y1, _y2, _x, *_values, _mixed, _d1, _d2, _d12, _d21),
        title="Convex Lipschitz extension", where="Lemma 6.3",
        latex=r"\bar f(x)=\min_{y\in\mathcal{C}}\left(f(y)+\eta\|x-y\|_2\right)\text{ is convex, "
              r"}\eta\text{-Lipschitz, and }"
              r"f\text{ on }\mathcal{C}",
        pairs=("bst14.alg5",),
    )
    .define("c", r"\lambda(y_1-x_1)+(1-\lambda)(y_2-x_2)")
    .step("first-line", r"\bar f(x_{\lambda})=g_{y_{\lambda}}(x_{\lambda})\leq g_{\lambda "
                        r"y_1+(1-\lambda)y_2}(x_{\lambda})",
          given=r"\bar f(x_{\lambda})=g_{y_{\lambda}}(x_{\lambda}), "
                r"\bar f(x_{\lambda})\le g_{\lambda y_1+(1-\lambda)y_2}(x_{\lambda})",
          where="Lemma 6.3, proof, last display, first line: the extension is a minimum, attained at y_lambda")
    .step("displacement", r"\lambda y_1+(1-\lambda)y_2-(\lambda x_1+(1-\lambda)x_2)=c",
          where="Lemma 6.3, proof, last display, second line: c is the vector in the norm")
    .step("norm-is-convex", r"\|c\|\le\lambda\|y_1-x_1\|+(1-\lambda)\|y_2-x_2\|",
          where="Lemma 6.3, proof, last display, third line: convexity of the norm")
    .step("third-line",
          r"f(\lambda y_1+(1-\lambda)y_2)+\eta\|\lambda(y_1-x_1)+(1-\lambda).(y_2-x_2)\|_2"
          rf"\leq {_THIRD}",
          given=r"f(\lambda y_1+(1-\lambda)y_2)\le\lambda f(y_1)+(1-\lambda)f(y_2), "
                r"\|\lambda(y_1-x_1)+(1-\lambda).(y_2-x_2)\|_2\le\lambda\|y_1-x_1\|_2+(1-\lambda)\|y_2-x_2\|_2",
          uses=("bst14.lem6.3/norm-is-convex",), where="Lemma 6.3, proof, last display, third line")
    .step("last-line", rf"{_THIRD}=\lambda\bar f(x_1)+(1-\lambda)F(x_2)",
          given=r"\bar f(x_1)=f(y_1)+\eta\|y_1-x_1\|_2, \bar f(x_2)=f(y_2)+\eta\|y_2-x_2\|_2",
          where="Lemma 6.3, proof, last display, last line")
    .corrected("last-line", rf"{_THIRD}=\lambda\bar f(x_1)+(1-\lambda)\bar f(x_2)",
               given=r"\bar f(x_1)=f(y_1)+\eta\|y_1-x_1\|_2, \bar f(x_2)=f(y_2)+\eta\|y_2-x_2\|_2",
               because="F stands for the extension there; elsewhere F is exp(-f)",
               true_if="if F is read as the extension", where="Lemma 6.3, proof, last display, last line")
    .whole("convex", r"\bar f(x_{\lambda})\le\lambda\bar f(x_1)+(1-\lambda)\bar f(x_2)",
           given=r"\bar f(x_{\lambda})\le f(\lambda "
                 r"y_1+(1-\lambda)y_2)+\eta\|\lambda(y_1-x_1)+(1-\lambda).(y_2-x_2)\|_2, "
                 r"f(\lambda y_1+(1-\lambda)y_2)\le\lambda f(y_1)+(1-\lambda)f(y_2), "
                 r"\|\lambda(y_1-x_1)+(1-\lambda).(y_2-x_2)\|_2\le\lambda\|y_1-x_1\|_2+(1-\lambda)\|y_2-x_2\|_2, "
                 r"\bar f(x_1)=f(y_1)+\eta\|y_1-x_1\|_2, \bar f(x_2)=f(y_2)+\eta\|y_2-x_2\|_2",
           uses=("bst14.lem6.3/first-line", "bst14.lem6.3/displacement", "bst14.lem6.3/norm-is-convex"),
           where="Lemma 6.3: the extension is convex")
    .whole("lipschitz", r"\bar f(x_1)\le\bar f(x_2)+\eta\|x_1-x_2\|_2",
           given=r"\bar f(x_1)\le f(y_2)+\eta\|x_1-y_2\|_2, \bar f(x_2)=f(y_2)+\eta\|y_2-x_2\|_2, "
                 r"\|x_1-y_2\|_2\le\|x_1-x_2\|_2+\|y_2-x_2\|_2",
           uses=("triangle-inequality",), where="Lemma 6.3: the extension is eta-Lipschitz, a standard result")
    .whole("extends", r"\bar f(x_1)=f(y_2)",
           given=r"\bar f(x_1)\le f(y_2), \bar f(x_1)=f(y_1)+\eta\|y_1-x_1\|_2, f(y_2)\le f(y_1)+\eta\|y_1-x_1\|_2",
           where="Lemma 6.3: for x_1 = y_2 in the set the extension is f, since f is eta-Lipschitz there")
)  # fmt: skip

_alpha = real("alpha", gt=0, meaning="gauge's factor", latex=r"\alpha")
_square = real("E", ge=1, meaning="exp(2 e)", latex=r"e^{2\tilde\varepsilon}")
_r = real("r", ge=0, le=1, meaning="distance along a ray, relative to the boundary")
_far = real("r", ge=0, meaning="distance beyond the boundary, relative to it")
_in, _out = (
    real(f"I_{at}", gt=0, meaning="integral over a cone", latex=rf"I_{{{at}}}") for at in ("in", "out")
)
_weight = real("w", gt=0, meaning="p exp(-f(theta_0)) times the volume of the cone")
_x_pos = real("x", ge=0, le=1)
_next = real("B", gt=0, meaning="(1+r)^(p-1)", latex="(1+r)^{p-1}")
_below = real("D", gt=0, meaning="(1-r)^(p-1)", latex="(1-r)^{p-1}")
_eta_tilde = real("eta_tilde", gt=0, latex=r"\tilde\eta")
_REACH = r"\eta\|\mathcal{C}\|_2"

lem6_4 = (
    Sheet(
        "bst14.lem6.4", (p, eta, diameter, error, _alpha, _square, _in, _out, _weight, _eta_tilde),
        title="Sampling on a convex set, with probability 1/2", where="Lemma 6.4",
        latex=r"\alpha=3e^{2\tilde\varepsilon}(\eta\|\mathcal{C}\|_2+p)\implies"
              r"\Pr[\tilde\theta\in\mathcal{C}]\ge\frac{1}{2},\ "
              r"\mathrm{Dist}_\infty(\hat\mu_{Good},\mu_{\mathcal{C}})\le\tilde\varepsilon",
        pairs=("bst14.alg5", "bst14.lem6.1", "bst14.lem6.3"), uses=("bst14.lem6.1", "bst14.lem6.3"),
    )
    .step("tangent", r"e^{-x}\ge 1-x", added=(_x_pos,),
          where="Lemma 6.4, proof, after the first display, up to 1, which is all that is used")
    .step("bernoulli-base", r"(1-r)^{1-1}\ge 1-1\cdot r", letters=(), added=(_r,),
          where="Lemma 6.4, proof, after the first display: (1 - x)^(p-1) >= 1 - p x for p = 1")
    .step("bernoulli-step", r"(1-r)(1-r)^{p-1}\ge 1-(p+1)r", given=r"(1-r)^{p-1}\ge 1-pr", added=(_r, _below),
          uses=("bst14.lem6.4/bernoulli-base",), where="Lemma 6.4, proof, after the first display: from p to p + 1")
    .step("product", rf"(1-{_REACH}r)(1-pr)\ge 1-({_REACH}+p)r", added=(_r,),
          where="Lemma 6.4, proof, first display, last inequality")
    .step("inner-integral", r"\int_0^{\frac{1}{K}}(1-Kr)\,dr=\frac{1}{2K}",
          added=(_far, real("K", gt=0, meaning="eta ||C|| + p")),
          where="Lemma 6.4, proof, first display, end, K = eta ||C|| + p")
    .step("outer-power", r"(1+r)(1+r)^{p-1}\le e^{r}P", given=r"(1+r)^{p-1}\le P, 1+r\le e^{r}",
          added=(_far, real("P", gt=0, meaning="exp((p-1) r)"), _next, real("T", gt=0, latex="e^{r}")),
          where="Lemma 6.4, proof, second display: (1 + r)^(p-1) <= exp(p r), from p to p + 1")
    .step("outer-integral", r"\frac{\partial}{\partial r}(-\frac{e^{-ar}}{a})=e^{-ar}",
          added=(_far, real("a", gt=0, meaning="alpha - (eta ||C|| + p)")),
          where="Lemma 6.4, proof, second display: the integral of exp(-(alpha - (eta ||C|| + p)) r)")
    .step("ratio-of-the-integrals", r"w\cdot\frac{1}{\alpha-K}\le 2KI_{in}\cdot\frac{1}{\alpha-K}",
          given=r"I_{in}\ge w\cdot\frac{1}{2K}, \alpha>K", added=(real("K", gt=0, meaning="eta ||C|| + p"),),
          uses=("bst14.lem6.4/inner-integral", "bst14.lem6.4/outer-integral", "bst14.lem6.4/product",
                "bst14.lem6.4/bernoulli-step", "bst14.lem6.4/outer-power"),
          where="Lemma 6.4, (8), first inequality")
    .step("choice-of-alpha", r"2K\cdot\frac{1}{\alpha-K}\le\frac{1}{e^{2\tilde\varepsilon}}",
          given=r"\alpha=3e^{2\tilde\varepsilon}K", added=(real("K", gt=0, meaning="eta ||C|| + p"),),
          where="Lemma 6.4, (8), last inequality: alpha is large enough")
    .step("smallest-factor-of-alpha", r"\frac{2K}{cK-K}>1", given=r"c<3, c>1",
               added=(real("K", gt=0, meaning="eta ||C|| + p"), real("c", gt=0)),
               where="Lemma 6.4, (8) for e near 0: a smaller factor than 3 is not enough")
    .whole("probability", r"q_{out}\le q_{in}", added=(
               real("q_out", ge=0, latex="q_{out}", meaning="mass outside of the set"),
               real("q_in", ge=0, latex="q_{in}", meaning="mass of the set"),
               real("m_out", ge=0, latex="m_{out}", meaning="mass under F"), real("m_in", ge=0, latex="m_{in}"),
               real("h", ge=1, latex="h", meaning="exp(e/2)")),
           given=r"q_{out}\le h m_{out}, m_{out}\le\frac{m_{in}}{e^{2\tilde\varepsilon}}, m_{in}\le h q_{in}, "
                 r"e^{2\tilde\varepsilon}=h^4",
           uses=("bst14.lem6.1", "bst14.lem6.4/ratio-of-the-integrals", "bst14.lem6.4/choice-of-alpha",
                 "integral-is-monotone"),
           where="Lemma 6.4: the output is in the set at least as often as not")
    .whole("conditional-distance", r"\frac{u}{q}\le h^2\cdot\frac{v}{m}", given=r"u\le hv, m\le hq",
           added=(*(real(name, gt=0) for name in "uvqm"), real("h", ge=1, meaning="exp(e/2)")),
           uses=("bst14.lem6.1",),
           where="Lemma 6.4: the law given that the output is in the set, with e/2 in Lemma 6.1")
    .step("lipschitz-constant", r"\eta+\alpha\le(\frac{1}{2}+6e^{2\tilde\varepsilon})\tilde\eta",
          given=r"\alpha=3e^{2\tilde\varepsilon}(a+p), a\le\tilde\eta, p\le\tilde\eta, 2\eta\le a", units=False,
          added=(real("a", gt=0, meaning="eta ||C||"),),
          where="Lemma 6.4, end of the proof: eta + alpha = O(max(eta ||C||, p)), the isotropic position being "
                "the unit of length, in which ||C|| is at least 2")
    .condition("constant-of-the-lipschitz-constant", r"\frac{1}{2}+6e^{2\tilde\varepsilon}=O(1)",
               meant=r"\tilde\varepsilon\le 1",
               where="Lemma 6.4, end of the proof: exp(2 e) is hidden in O( ), for e up to 1; Section 6 has epsilon/3")
)  # fmt: skip
