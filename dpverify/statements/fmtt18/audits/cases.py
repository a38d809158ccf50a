"""Mechanisms of fmtt18 on pairs and data: what the rows of the table audit."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from dpverify.algorithms.fmtt18 import (
    PNMSGD,
    PNSGD,
    ContractiveNoisyIteration,
    MultitaskStopPNSGD,
    PublicRecordsLast,
    SkipPNSGD,
    SmoothedPNSGD,
    StopPNSGD,
)
from dpverify.algorithms.fmtt18.iteration import GaussianNoise
from dpverify.auditing.accountants import AccountantQuestion, NoisyReleases
from dpverify.auditing.subjects import FixedSubject
from dpverify.ledger.origins import AsPrinted, Corrected
from dpverify.privacy import RDP, Adjacency, NoisyIteration, StatedGuarantee
from dpverify.problems import (
    AllSpace,
    Ball,
    Dataset,
    Hinge,
    Linear,
    Logistic,
    NeighborPair,
    Problem,
    Squared,
    contract_then_reveal,
    gradient_sensitivity,
    load,
    minimize,
)
from dpverify.problems.further_losses import OneVersusRest
from dpverify.problems.smoothed_losses import AbsoluteError, SmoothedGeneralizedLinear
from dpverify.running import Output, Randomness, Runs
from dpverify.statements import real_size
from dpverify.statements.audit_parts import (
    Constructed,
    FullGradientStep,
    GaussianPair,
    Identity,
    OnFreshSamples,
    ToTheRecord,
    longest_replaced,
    mean_problem,
    on_pair,
    real_problem,
)
from dpverify.statements.audit_rows import Expectation, Made, On, ReadOff, Risk, Risks
from dpverify.statements.exact.index_chains import ExactEpsilon
from dpverify.statements.plans import Audit

EPSILON, DELTA = 8.0, 1e-5
"""Asked of the one-pass algorithms on real data, locally, as Theorems 29 and 30 set their parameters."""

SIZE, DIMENSION = 40, 5
"""Records and features kept of a real data set: few enough that a single record can be seen in the output."""

PAIR_ONLY = "; the claim is stated for this pair, whose gradients are at distance 2 L with L = 1"
"""Said of worst cases whose loss has no Lipschitz constant on all space."""

RUNS_A_SAMPLE = 20
"""Runs that share one sample of the population."""


def _few(make: Callable[[Problem, int], Any]) -> Made:
    """On few real records."""
    return Made(make, SIZE, DIMENSION)


# ------------------------------------------------------------------------------------------ noisy iteration

CNI_STEPS = 10


def _full_gradient(
    problem: Problem, n: int, steps: int, rate: float, noise: float, **more: Any
) -> ContractiveNoisyIteration:
    """Steps along the mean gradient, with so much noise for each shift between neighbors."""
    shift = rate * gradient_sensitivity(problem.loss) / n
    return ContractiveNoisyIteration(
        maps=(FullGradientStep(problem, rate),) * steps,
        noises=GaussianNoise(noise * shift),
        start=np.zeros(problem.constraint.dimension),
        shifts=(shift,) * steps,
        queries_per_step=n,
        **more,
    )


def _half_way(problem: Problem, n: int, steps: int, noise: float) -> ContractiveNoisyIteration:
    """Half of the way to the mean of n records in each step."""
    return _full_gradient(problem, n, steps, 0.5, noise, contractions=(0.5,) * steps)


def iterated(name: str) -> On:
    n, problem = 8, mean_problem(2, 4.0)
    pair = longest_replaced(problem.loss, name, n, 2)
    return On(_half_way(problem, n, CNI_STEPS, 1.2), pair, said="; maps that contract by 1/2")


def identity_maps() -> On:
    """Two starting points at distance 1, then identity maps: Theorem 1 is attained."""
    left, right = (Dataset(np.array([[x, 0.0]]), np.ones(1), "start", "by construction") for x in (0.0, 1.0))
    stddev = 0.3
    mechanism = ContractiveNoisyIteration(
        maps=(ToTheRecord(), *(Identity(),) * CNI_STEPS),
        noises=(GaussianNoise(0.0), *(GaussianNoise(stddev),) * CNI_STEPS),
        start=np.zeros(2),
        contractions=(0.0, *(1.0,) * CNI_STEPS),
    )
    slope = 1.0 / (2 * CNI_STEPS * stddev**2)  # the corrected Theorem 1: order distance^2 / (2 T sigma^2)
    origin = Corrected(
        "fmtt18.thm1",
        f"order ||x_0 - x_0'|| / (2 T sigma^2), the same number at distance 1: {slope:.4g} order",
        "the distance must be squared, as the units require and identity maps show",
        "every order >= 1, Gaussian noise",
    )
    return On(
        mechanism,
        Constructed(left, right, f"two starting points at distance 1, {CNI_STEPS} identity maps"),
        StatedGuarantee(RDP.linear(slope), Adjacency.REPLACE_ONE, origin=origin),
        best_known=_hidden_shift(stddev).gdp(),
        exact=GaussianPair(1 / (stddev * math.sqrt(CNI_STEPS))),  # all noise after the last step together
    )


def _hidden_shift(stddev: float) -> NoisyIteration:
    return NoisyIteration(shifts=[1.0] + [0.0] * (CNI_STEPS - 1), noise_stddevs=[stddev] * CNI_STEPS)


def accounted() -> Audit:
    """The accountant's epsilon for a shift that all later noise hides, beside that of the noise in one piece."""
    stddev, delta = 0.3, 1e-5
    origin = Corrected(
        "fmtt18.thm22",
        "sum of R_order(zeta_t, a_t) for a schedule a_t >= 0 with z_t >= 0 and z_T = 0",
        "the best schedule in the form of GDP",
        "every order, Gaussian noise",
    )
    epsilon = _hidden_shift(stddev).gdp().epsilon_at(delta)
    question = AccountantQuestion(epsilon, delta, "the best schedule of Theorem 22", origin=origin)
    return Audit(question, FixedSubject(NoisyReleases("gaussian", stddev * math.sqrt(CNI_STEPS))))


iteration_queries = _few(lambda p, n: _full_gradient(p, n, CNI_STEPS, 1.0 / p.loss.smoothness, 1.5))

# ------------------------------------------------------------------------------------------ one pass, many epochs


def _stepped(kind: Any, n: int, index: int, name: str, *, rate: float = 1.0, **more: Any) -> On:
    """The mean of a few real records, step by step: a step of size 1 lands on the record and forgets the others."""
    # random stopping claims little at large orders unless there is more noise
    stddev = 2.0 if kind is StopPNSGD else 1.0
    mechanism = kind(mean_problem(2, 4.0 * stddev), rate, stddev, **more)
    pair = longest_replaced(mechanism.problem.loss, name, n, 2, index=index)
    known = mechanism.guarantee_at(n, index).guarantee
    return On(mechanism, pair, mechanism.theorem_at(n, index), best_known=known)


def revealed(make: Callable[..., Any], n: int, index: int) -> tuple[NeighborPair, Any, Any]:
    """Steps before the index contract to a point, later ones are identity maps: the theorems' worst case.

    The loss is not Lipschitz on all space; what the theorems use is that these two data sets' gradients are at
    distance 2, so the claim is that of the algorithm on linear losses, which is the last one.
    """
    pair = contract_then_reveal(n, index)
    return pair, make(pair.loss, withdraw_guarantee=True), make(Linear())


def _contracted(kind: Any, n: int, index: int, said: str = "", **more: Any) -> On:
    """The worst case at an index."""
    pair, mechanism, stating = revealed(
        lambda loss, **withdrawn: kind(Problem(loss, AllSpace(1)), 1.0, 1.0, **more, **withdrawn), n, index
    )
    known = stating.guarantee_at(n, index).guarantee
    exact = ExactEpsilon(mechanism, pair.left, pair.right)
    return On(mechanism, pair, stating.theorem_at(n, index), known, said + PAIR_ONLY, exact)


def _theorem_risk(kind: Any, *sizes: int) -> Risks:
    """Theorems 29 and 30 with the data set as the population.

    The printed noise is enough up to epsilon = 1, so they are tried there. From a few hundred records on, the bound is
    below the largest risk on the set.
    """
    return Risks(
        lambda p, n: kind.for_privacy(p, n=n, epsilon=1.0, delta=DELTA), sizes, 2, samples=", epsilon = 1"
    )


def _one_pass(kind: Any) -> Callable[[Problem, int], Any]:
    """Parameters by Theorem 30 for PNSGD and Skip; for Stop those of Theorem 29 with the per-index claim."""

    def make(problem: Problem, n: int) -> Any:
        chosen = kind.for_privacy(problem, n=n, epsilon=EPSILON, delta=DELTA)
        return kind(problem, chosen.rate, chosen.noise_stddev)

    return make


def _many_epochs(problem: Problem, _: int) -> PNMSGD:
    """Appendix B sets its parameters for orders from 5 on."""
    return PNMSGD.for_privacy(problem, rate=0.05, epsilon=4.0, delta=DELTA)


def epochs_last_point(name: str) -> Iterator[Risk]:
    """A measurement: nothing is proved of the risk of a last point after several passes."""
    problem, data = real_problem(name, n=SIZE, d=DIMENSION)
    yield Risk(_many_epochs(problem, data.n), data, data.name)


one_pass = partial(_stepped, PNSGD, 8, 8)
one_pass_worst, one_pass_middle = partial(_contracted, PNSGD, 6, 6), partial(_contracted, PNSGD, 6, 3)
one_pass_queries = _few(_one_pass(PNSGD))

skip, skip_worst = partial(_stepped, SkipPNSGD, 8, 8), partial(_contracted, SkipPNSGD, 6, 6)
skip_risk = _theorem_risk(SkipPNSGD, 200, 400, 800)
skip_queries = _few(_one_pass(SkipPNSGD))

stop, stop_worst = partial(_stepped, StopPNSGD, 2, 1, rate=0.5), partial(_contracted, StopPNSGD, 2, 1)
stop_risk = _theorem_risk(StopPNSGD, 100, 200, 400)
stop_queries = _few(_one_pass(StopPNSGD))

epochs = partial(_stepped, PNMSGD, 8, 8, epochs=2)
epochs_worst = partial(_contracted, PNMSGD, 2, 2, ", 2 epochs")
epochs_queries = _few(_many_epochs)

# ------------------------------------------------------------------------------------------ Skip and Stop(n/2)


@dataclass(frozen=True)
class SkipBesideStop:
    """Skip-PNSGD and Stop(n/2) with noise of their own, on one data set; points have shape (runs, 2, d)."""

    skip: SkipPNSGD
    stop: StopPNSGD

    def __call__(self, data: Dataset, *, rng: Randomness, runs: int) -> Output:
        """Run both."""
        both = [algorithm(data, rng=rng, runs=runs).points for algorithm in (self.skip, self.stop)]
        return Output(rng.xp.stack(both, axis=1))


def skip_is_stop(name: str) -> Iterator[Expectation]:
    """The proof of Theorem 30: on independent draws from one population the two have one law."""
    problem, data = real_problem(name, d=DIMENSION)
    n = 20
    # noise low enough for the records' order to be felt
    both = SkipBesideStop(SkipPNSGD(problem, 0.2, 0.2), StopPNSGD(problem, 0.2, 0.2, second_half=True))
    along = np.asarray(data.features).T @ np.asarray(data.labels)
    direction = along / np.linalg.norm(along)
    printed = "the distributions of the two outputs are identical"
    for threshold in (0.2, 0.4):

        def difference(runs: Runs, threshold: float = threshold) -> Any:
            """How much more often Skip's point is below the number; one number a sample."""
            below = np.asarray(runs.points @ direction <= threshold, dtype=np.float64)
            return (below[:, 0] - below[:, 1]).reshape(-1, RUNS_A_SAMPLE).mean(axis=1)

        quantity = f"P[Skip's point is below {threshold} in a direction] minus the same for Stop(n/2)"
        for at_least in (False, True):
            yield Expectation(
                OnFreshSamples(both, n),
                data,
                ReadOff(difference, -1.0, 1.0, quantity, RUNS_A_SAMPLE),
                0.0,
                "0: on independent draws, the two have the same law",
                AsPrinted("fmtt18.thm30", printed, "independent records"),
                f"{data.name} as the population, samples of {n} records",
                at_least=at_least,
            )


# ------------------------------------------------------------------------------------------ public records last


def public_last(name: str) -> On:
    """The last private record, the worst one, of a few, and one public one; steps go half of the way to a record."""
    n, public = 4, 1
    mechanism = PublicRecordsLast(mean_problem(2, 4.0), 0.5, 1.0, public=public)
    last = mechanism.private_count(n)
    pair = longest_replaced(mechanism.problem.loss, name, n, 2, index=last)
    claim = on_pair(mechanism.guarantees(n).headline, pair)
    return On(mechanism, pair, claim, said=f"; the last {public} records are public")


def public_last_worst() -> On:
    """The last private record's step lands on a point or its opposite; the public steps are identity maps."""
    n, public = 6, 2
    pair, mechanism, stating = revealed(
        lambda loss, **more: PublicRecordsLast(Problem(loss, AllSpace(1)), 1.0, 1.0, public=public, **more),
        n,
        n - public,
    )
    said = f"; the last {public} records are public{PAIR_ONLY}"
    claim = on_pair(stating.guarantees(n).headline, pair)
    return On(mechanism, pair, claim, said=said, exact=ExactEpsilon(mechanism, pair.left, pair.right))


def _half_public(problem: Problem, n: int) -> PublicRecordsLast:
    """Corollary 31 with half of the records public, and the noise that its proof supports."""
    return PublicRecordsLast.for_privacy(
        problem, n=n, public=n // 2, epsilon=1.0, delta=DELTA, noise="corrected"
    )


public_risk = Risks(_half_public, (100, 200, 400), DIMENSION, samples=", half of them public, epsilon = 1")
public_queries = _few(
    lambda p, n: PublicRecordsLast.for_privacy(p, n=n, public=10, epsilon=EPSILON, delta=DELTA)
)

# ------------------------------------------------------------------------------------------ several tasks


def _digits(d: int) -> Dataset:
    """The digits with the digit itself as the label, not its parity."""
    from sklearn.datasets import load_digits

    data = load("digits", d=d)
    labels = np.asarray(load_digits().target, dtype=np.float64)
    return Dataset(np.asarray(data.features), labels, f"{data.name}, labeled by digit", data.scaling)


def several_tasks(name: str) -> On:
    """The first of two records, the worst one; all tasks' points are seen together."""
    if name == "digits":
        losses: tuple[Any, ...] = tuple(OneVersusRest(Linear(labeled=True), float(i)) for i in range(3))
        pair = _turned(losses[0], _digits(2), 2)
    else:
        # three times the mean of two records
        losses = (mean_problem(2, 12.0).loss,) * 3
        pair = longest_replaced(losses[0], name, 2, 2, index=1)
    mechanism = MultitaskStopPNSGD(losses, Ball(2, 12.0), 0.5, 2.0)
    return On(mechanism, pair, on_pair(mechanism.guarantees(2).headline, pair), said="; 3 tasks")


def _turned(loss: Any, every: Dataset, n: int) -> NeighborPair:
    """The longest record and the first ones of a data set, n in all, and the opposite of that one with the same label:

    linear losses of all tasks are turned around at once.
    """
    features, labels = np.asarray(every.features), np.asarray(every.labels)
    chosen = [int(np.argmax(np.linalg.norm(features, axis=1))), *range(n - 1)]
    data = Dataset(features[chosen], labels[chosen], f"{every.name}, {n} records", every.scaling)
    record, label = features[chosen[0]], float(labels[chosen[0]])
    length = float(np.linalg.norm(record))
    words = f"{data.name} and its neighbor with record 1 turned around, the label kept"
    other = data.replace(1, -(1 - 1e-15) * record / length, label)
    return NeighborPair(data, other, 1, loss, 1 + length, words)


def several_tasks_worst() -> On:
    n, tasks = 4, 4
    pair, mechanism, stating = revealed(
        lambda loss, **more: MultitaskStopPNSGD((loss,) * tasks, AllSpace(1), 1.0, 1.5, **more), n, 1
    )
    claim = on_pair(stating.guarantees(n).headline, pair)
    return On(mechanism, pair, claim, said=f"; {tasks} tasks{PAIR_ONLY}")


def tasks_risk() -> Iterator[Expectation]:
    """Theorem 32's risk at a delta near 1/2, the only place where so few records are enough for it."""
    data, constraint, n = _digits(2), Ball(2, 1.0), 300
    losses = tuple(OneVersusRest(Logistic(), float(digit)) for digit in range(3))
    problems = [Problem(loss, constraint) for loss in losses]
    mechanism = MultitaskStopPNSGD.for_privacy(losses, constraint, n=n, epsilon=0.99, delta=0.4)
    minima = [minimize(problem, data).value for problem in problems]
    stated = mechanism.risk_bound(n)
    assert stated is not None
    slack = max(interval.upper - interval.lower for interval in minima)

    def mean_excess(runs: Runs) -> Any:
        """Over the tasks and the runs that share a sample; one number a sample, no excess counted too small."""
        total = np.zeros(len(runs))
        for task, (problem, minimum) in enumerate(zip(problems, minima, strict=True)):
            total += np.asarray(problem.mean_risk(runs.points[:, task, :], data)) - minimum.lower
        return (total / len(losses)).reshape(-1, RUNS_A_SAMPLE).mean(axis=1)

    largest = constraint.diameter * max(loss.lipschitz_constant for loss in losses) + slack
    quantity = "expected excess population risk, averaged over the tasks"
    yield Expectation(
        OnFreshSamples(mechanism, n),
        data,
        ReadOff(mean_excess, 0.0, largest, quantity, RUNS_A_SAMPLE),
        # the largest error of the certified minima is added
        stated.bound + slack,
        stated.formula,
        stated.origin,
        f"{data.name} as the population, samples of {n} records, epsilon = 0.99, delta = 0.4; the largest error "
        "of the certified minima is added to the bound",
    )


def _three_losses(problem: Problem, _: int) -> MultitaskStopPNSGD:
    losses = (Logistic(), Squared(1.0), SmoothedGeneralizedLinear(Hinge(), 0.5))
    return MultitaskStopPNSGD(losses, problem.constraint, 0.5, 1.0)


tasks_queries = _few(_three_losses)

# ------------------------------------------------------------------------------------------ smoothing


def _kinked(name: str, *, n: int | None, d: int) -> tuple[Problem, Dataset]:
    """A support vector machine on breast cancer, or a median regression on diabetes, on the unit ball."""
    loss = Hinge() if name == "breast-cancer" else AbsoluteError()
    return Problem(loss, Ball(d, 1.0)), load(name, n=n, d=d)


def smoothed(name: str) -> On:
    """The second of two records; every step of a support vector machine or a median shows its record's direction."""
    n, width = 2, 0.2
    mechanism = SmoothedPNSGD(_kinked(name, n=n, d=2)[0], 0.05, 1.0, width)
    pair, known = longest_replaced(mechanism.algorithm.problem.loss, name, n, 2), mechanism.guarantee_at(n, n)
    assert known is not None
    said = f"; smoothed with lambda = {width:g}"
    return On(mechanism, pair, mechanism.rdp_at(n, n), known.guarantee, said)


def _smoothed_for_privacy(problem: Problem, n: int) -> SmoothedPNSGD:
    """Corollary 34's proof for the loss itself, at an epsilon for which the bound says something."""
    return SmoothedPNSGD.for_privacy(problem, n=n, epsilon=EPSILON, delta=DELTA)


smoothed_risk = Risks(
    _smoothed_for_privacy,
    (100, 200, 400),
    DIMENSION,
    on=_kinked,
    samples=f", epsilon = {EPSILON:g}",
    own_risk=False,
)
smoothed_queries = Made(_smoothed_for_privacy, SIZE, DIMENSION, on=_kinked)

# ------------------------------------------------------------------------------------------ real size

ASKED: dict[str, Any] = {"n": real_size.SIZE, "epsilon": real_size.EPSILON, "delta": real_size.DELTA}
PUBLIC = real_size.SIZE // 5


def _forgetting() -> Problem:
    """The mean of the records in a large ball: a step of size 1 lands on its record and forgets the others."""
    return mean_problem(real_size.DIMENSION, 40.0)


def _three_tasks() -> MultitaskStopPNSGD:
    asked = {**ASKED, "epsilon": 0.9 * real_size.EPSILON}
    return MultitaskStopPNSGD.for_privacy((Linear(),) * 3, Ball(real_size.DIMENSION, 1.0), **asked)


iteration_at_size = real_size.privacy(
    lambda: _half_way(real_size.mean(), real_size.SIZE, 4, 1.0), loss=real_size.mean().loss
)
one_pass_risk_at_size = real_size.risk(
    lambda: PNSGD.for_privacy(real_size.linear(), **{**ASKED, "epsilon": EPSILON}), real_size.equal
)
one_pass_at_size = real_size.privacy(lambda: PNSGD(_forgetting(), 1.0, 1.0))
epochs_at_size = real_size.privacy(lambda: PNMSGD(_forgetting(), 1.0, 1.0, epochs=2))
skip_pair_at_size = real_size.privacy(lambda: SkipPNSGD(_forgetting(), 1.0, 1.0))
skip_at_size = real_size.risk(lambda: SkipPNSGD.for_privacy(real_size.linear(), **ASKED), real_size.equal)
stop_pair_at_size = real_size.privacy(lambda: StopPNSGD.for_privacy(real_size.linear(), **ASKED), index=1)
stop_at_size = real_size.risk(lambda: StopPNSGD.for_privacy(real_size.linear(), **ASKED), real_size.equal)
public_at_size = real_size.privacy(
    lambda: PublicRecordsLast.for_privacy(real_size.linear(), public=PUBLIC, **ASKED),
    index=real_size.SIZE - PUBLIC,
)
tasks_at_size = real_size.privacy(_three_tasks, index=1, loss=Linear())
smoothed_at_size = real_size.privacy(
    lambda: SmoothedPNSGD.for_privacy(Problem(Hinge(), Ball(real_size.DIMENSION, 1.0)), **ASKED), loss=Hinge()
)
