"""fmtt18, Table 1: the rates of this work and of noisy SGD, with the constants that are found for them."""

from __future__ import annotations

from dpverify.formulas.expressions import integer, real
from dpverify.formulas.units import NATS
from dpverify.statements.fmtt18.stochastic_optimization import d
from dpverify.statements.fmtt18.symbols import n
from dpverify.statements.sheet import Sheet

_k = integer("k", ge=1, meaning="number of tasks")
_epsilon = real("epsilon", gt=0, le=1, unit=NATS, latex=r"\varepsilon")
_level = real(
    "l",
    ge="2/3",
    unit=NATS,
    meaning="ln(1/delta), delta at most 1/2",
    latex=r"\ln(1/\delta)",
    stands_for="number",
)
_log_ratio = real(
    "Lambda",
    ge="9/10",
    meaning="ln(1.25/delta), delta at most 1/2",
    latex=r"\ln(1.25/\delta)",
    stands_for="number",
)
_log_n = real("ln_n", ge=0, latex=r"\ln n")
_q = real("q", gt=0, meaning="q of Theorem 32")


_PLACE = "Table 1, over R L, for epsilon <= 1 and delta <= 1/2"
_ONE = r"\tilde{O}\left(\sqrt{\frac{d}{\varepsilon^2n}}\right)"
_MANY = r"\tilde{O}\left(\sqrt{\frac{dk}{\varepsilon^2n}}\right)"
_THM30 = r"\frac{4\sqrt{2}}{\sqrt{n}}\sqrt{1+\frac{8d\ln(1.25/\delta)}{\varepsilon^{2}}}"
_THM32 = r"\frac{4}{\sqrt{n}}\sqrt{1+\frac{16dq\ln(1/\delta)}{\varepsilon^{2}}}"
_THM29 = r"\frac{4}{\sqrt{n}}\sqrt{1+\frac{8d\ln(1.25/\delta)}{\varepsilon^{2}}}"
_COMPOSED = r"\frac{4}{\sqrt{n}}\sqrt{1+\frac{8dk\ln(1.25/\delta)}{\varepsilon^{2}}}"

table1 = (
    Sheet(
        "fmtt18.table1", (n, _k, d, _epsilon, _level, _log_ratio, _log_n, _q),
        title="Excess loss of this work and of noisy SGD",
        where=_PLACE,
        latex=(
            r"\text{one task: }\tilde{O}\left(\sqrt{\frac{d}{\varepsilon^2n}}\right),\quad "
            r"k\le n\text{ tasks: }\tilde{O}\left(\sqrt{\frac{d}{\varepsilon^2n}}\right),\quad "
            r"\text{noisy SGD, }k\text{ tasks: }\tilde{O}\left(\sqrt{\frac{dk}{\varepsilon^2n}}\right)"
        ),
        pairs=("fmtt18.thm29", "fmtt18.thm30", "fmtt18.thm32"),
    )
    .step(
        "one-task", rf"{_THM30}\le {_ONE}", soft=r"\ln(1.25/\delta)", uses=("fmtt18.thm30",),
        where=f"{_PLACE}, this work, one task, by Theorem 30; other people's rows are cited, not derived",
    )
    .step(
        "up-to-n-tasks", r"\frac{2k\ln n}{n}\le 2(\ln n+\ln(1/\delta))", given=r"k\le n",
        where="Table 1, this work, k <= n tasks: q of Theorem 32, whose other term 2 ln(1/delta) is below this as well",
    )
    .step(
        "many-tasks", rf"{_THM32}\le {_ONE}", soft=r"(\ln n+\ln(1/\delta))\ln(1/\delta)",
        given=r"q\le 2(\ln n+\ln(1/\delta))", uses=("fmtt18.thm32", "fmtt18.table1/up-to-n-tasks"),
        where=f"{_PLACE}, this work, k <= n tasks, by Theorem 32",
    )
    .step(
        "noisy-sgd-one-task", rf"{_THM29}\le {_ONE}", soft=r"\ln(1.25/\delta)", uses=("fmtt18.thm29",),
        where=f"{_PLACE}, noisy SGD, one task, by Theorem 29",
    )
    .step(
        "noisy-sgd-many-tasks", rf"{_COMPOSED}\le {_MANY}", soft=r"\ln(1.25/\delta)",
        uses=("fmtt18.thm29", "fmtt18.lem15"),
        where=f"{_PLACE}, noisy SGD with sqrt(k) times the noise for k tasks, by Theorem 29",
    )
)  # fmt: skip

STATEMENTS = (table1.statement,)
