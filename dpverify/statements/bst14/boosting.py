"""bst14, Appendix D: from risk in expectation to risk with high probability."""

from __future__ import annotations

from dpverify.formulas.expressions import integer, real
from dpverify.formulas.units import LOSS, NATS
from dpverify.statements.bst14.symbols import L, diameter, epsilon
from dpverify.statements.sheet import Sheet

_k = integer("k", ge=1, meaning="number of runs")
_delta = real("delta", gt=0, lt=1, latex=r"\delta")
_rho = real("rho", gt=0, lt=1, meaning="failure probability", latex=r"\rho")
_halves = real("M", gt=0, le=1, meaning="2^(-k)", latex="2^{-k}")
_expected = real("F", gt=0, unit=LOSS, meaning="expected excess risk of a run", latex="F")
_bad = real("q", ge=0, le=1, meaning="probability that a run's risk is above 2 F")
_all_bad = real("Q", ge=0, meaning="probability for the runs so far", latex="Q")
_released, _least = (real(name, ge=0, unit=LOSS, meaning=meaning) for name, meaning in
                     (("R", "excess risk of the output"), ("m", "smallest excess risk of the runs")))  # fmt: skip
_largest = real("X", ge=0, unit=LOSS, meaning="largest excess risk of the runs")
_log = real("l", gt=0, unit=NATS, meaning="log(2 k/rho)", latex=r"\log(2k/\rho)")

app_d = (
    Sheet(
        "bst14.appD",
        (_k, L, diameter, epsilon, _delta, _rho, _halves, _expected, _bad, _all_bad, _released, _least, _largest, _log),
        title="Risk with high probability", where="Appendix D",
        latex=r"k=\log(2/\rho)\text{ runs with }\varepsilon/k\text{ and }\delta/k\text{, the best by Algorithm 2: "
              r"excess risk }"
              r"O\left(F\left(\frac{\varepsilon}{\log(1/\rho)},\frac{\delta}{\log(1/\rho)}\right)\right)"
              r"\text{ with probability }1-\rho",
        pairs=("bst14.alg-boost", "bst14.thm3.2"),
    )
    .step("privacy-of-the-runs", r"k\cdot\frac{\varepsilon}{k}=\varepsilon, k\cdot\frac{\delta}{k}=\delta",
          uses=("pure-composition",),
          where="Appendix D: k runs with epsilon/k and delta/k are (epsilon, delta)-private")
    .corrected("privacy-with-the-selection", r"k\cdot\frac{\varepsilon}{2k}+\frac{\varepsilon}{2}\le\varepsilon",
               because="the selection spends its epsilon beside that of the runs, of which nothing is printed; half "
                       "of it for each is enough",
               coverage="step", uses=("bst14.thm3.1", "pure-composition"),
               where="Appendix D with half of epsilon for the runs and half for the selection")
    .step("one-run", r"q\le\frac{1}{2}", given=r"q\cdot 2F\le F", uses=("markov",),
          where="Appendix D: Markov's inequality for a run")
    .step("all-runs", r"qQ\le\frac{1}{2}2^{-k}", given=r"q\le\frac{1}{2}, Q\le 2^{-k}",
          uses=("bst14.appD/one-run",), where="Appendix D: probability that all are above 2 F, from k runs to k + 1")
    .step("choice-of-the-number-of-runs", r"2^{-\log_2(2/\rho)}=\frac{\rho}{2}",
          where="Appendix D: k = log(2/rho), whose base is not printed, here 2")
    .step("selection", r"R\le X-\frac{2L\|\mathcal{C}\|_2}{\varepsilon}\log(2k/\rho)",
          given=r"R\le m+\frac{2L\|\mathcal{C}\|_2}{\varepsilon}\log(2k/\rho), m\le X",
          uses=("exponential-mechanism-tail",),
          where="Appendix D: the selected risk is said to be the largest risk less a multiple of log(k/rho)")
    .corrected("selection", r"R\le m+\frac{2L\|\mathcal{C}\|_2}{\varepsilon}\log(2k/\rho)",
               given=r"R\le m+\frac{2L\|\mathcal{C}\|_2}{\varepsilon}(l_k+l_{\rho}), \log(2k/\rho)=l_k+l_{\rho}",
               added=(real("l_k", ge=0, unit=NATS, latex="l_k", meaning="log k"),
                      real("l_rho", ge=0, unit=NATS, latex=r"l_{\rho}", meaning="log(2/rho)")),
               because="the selected risk is at most the smallest one and a multiple of log(k/rho)",
               true_if="if it is read as a score, the negative of a risk",
               uses=("exponential-mechanism-tail",), where="Appendix D, the selected risk")
    .whole("probability", r"P+S\le\rho", given=r"P\le 2^{-k}, 2^{-k}\le\frac{\rho}{2}, S\le\frac{\rho}{2}",
           added=(real("P", ge=0, meaning="probability that no run is good"),
                  real("S", ge=0, meaning="probability that the selection fails")),
           uses=("bst14.appD/all-runs", "bst14.appD/choice-of-the-number-of-runs", "bst14.appD/selection"),
           where="Appendix D: probability of failure, k the logarithm of 2/rho to base 2 or more")
    .whole("risk", r"R\le 4F", given=r"R\le m+\frac{2L\|\mathcal{C}\|_2}{\varepsilon}\log(2k/\rho), m\le 2F, "
                                     r"\frac{L\|\mathcal{C}\|_2}{\varepsilon}\log(2k/\rho)\le F",
           uses=("bst14.appD/selection", "bst14.appD/one-run"),
           where="Appendix D: risk with the constant 4 in O( ), where the selection's part is at most 2 F")
)  # fmt: skip
