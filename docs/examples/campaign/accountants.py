"""What accountants say of noisy releases at delta = 1e-5, beside a two-sided value of the smallest epsilon.

A row is a name, a function that asks a library, and the releases; nothing is run. `poisson` samples records by coins.
"""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from dpverify.auditing.accountants import NoisyReleases

DELTA = 1e-5
SETTINGS = ((1.0, 0.01, 1000), (2.0, 0.1, 100), (0.7, 0.3, 5), (4.0, 0.5, 20))
"""Noise multiplier, sampling probability, steps."""


class Accounted(NamedTuple):
    name: str
    asked: Callable[[], float]
    releases: NoisyReleases


def quietly(asked: Callable[[], float]) -> float:
    """What a library answers; what it prints on the way is dropped, and an epsilon below 0 is read as 0."""
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return max(0.0, float(asked()))


def gaussian(noise: float, steps: int = 1, probability: float = 1.0) -> NoisyReleases:
    return NoisyReleases("gaussian", noise_multiplier=noise, steps=steps, sampling_probability=probability)


def accounted() -> Iterator[Accounted]:
    """All rows."""
    for noise, probability, steps in SETTINGS:
        about = f"noise {noise:g}, probability {probability:g}, {steps} steps"
        releases = gaussian(noise, steps, probability)
        for name, asked in _poisson(noise, probability, steps):
            yield Accounted(f"{name}: {about}", asked, releases)
    yield from _of_autodp()


def _poisson(noise: float, probability: float, steps: int) -> Iterator[tuple[str, Callable[[], float]]]:
    def opacus(kind: str) -> float:
        import opacus.accountants

        accountant = getattr(opacus.accountants, kind)()
        accountant.history = [(noise, probability, steps)]
        return float(accountant.get_epsilon(DELTA))

    def google(module: Any) -> float:
        import dp_accounting

        accountant = module()
        event = dp_accounting.PoissonSampledDpEvent(probability, dp_accounting.GaussianDpEvent(noise))
        return float(accountant.compose(event, steps).get_epsilon(DELTA))

    def prv() -> float:
        from prv_accountant import PoissonSubsampledGaussianMechanism, PRVAccountant

        accountant = PRVAccountant(
            prvs=[PoissonSubsampledGaussianMechanism(probability, noise)],
            max_self_compositions=[steps],
            eps_error=0.01,
            delta_error=1e-10,
        )
        return float(accountant.compute_epsilon(delta=DELTA, num_self_compositions=[steps])[2])

    def autodp() -> float:
        from autodp.mechanism_zoo import SubsampleGaussianMechanism

        parameters = {"sigma": noise, "prob": probability, "coeff": steps}
        return float(SubsampleGaussianMechanism(parameters).get_approxDP(DELTA))

    from dp_accounting import pld, rdp

    yield "opacus RDPAccountant", lambda: opacus("RDPAccountant")
    yield "opacus PRVAccountant", lambda: opacus("PRVAccountant")
    yield "opacus GaussianAccountant", lambda: opacus("GaussianAccountant")
    yield "dp-accounting PLDAccountant", lambda: google(pld.PLDAccountant)
    yield "dp-accounting RdpAccountant", lambda: google(rdp.RdpAccountant)
    yield "prv-accountant PRVAccountant, upper bound", prv
    yield "autodp SubsampleGaussianMechanism", autodp


def _of_autodp() -> Iterator[Accounted]:
    from autodp import mechanism_zoo as zoo
    from autodp import privacy_calibrator as calibrator
    from autodp import transformer_zoo as transformers

    def approximate(mechanism: Any) -> Callable[[], float]:
        return lambda: mechanism.get_approxDP(DELTA)

    yield Accounted(
        "autodp ExactGaussianMechanism: noise 1", approximate(zoo.ExactGaussianMechanism(1.0)), gaussian(1.0)
    )
    yield Accounted(
        "autodp GaussianMechanism(phi_off=False): noise 1",
        lambda: zoo.GaussianMechanism(1.0, phi_off=False).get_approxDP(DELTA),
        gaussian(1.0),
    )
    yield Accounted(
        "autodp Composition: Laplace noise 4, 20 steps",
        lambda: transformers.Composition()([zoo.LaplaceMechanism(4.0)], [20]).get_approxDP(DELTA),
        NoisyReleases("laplace", noise_multiplier=4.0, steps=20),
    )
    for epsilon in (0.1, 1.0):
        for name in ("gaussian_mech", "classical_gaussian_mech"):
            noise = float(getattr(calibrator, name)(epsilon, DELTA)["sigma"])
            yield Accounted(
                f"autodp {name}: epsilon {epsilon:g}", lambda asked=epsilon: asked, gaussian(noise)
            )
        scale = float(calibrator.laplace_mech(epsilon, DELTA)["b"])
        yield Accounted(
            f"autodp laplace_mech: epsilon {epsilon:g}",
            lambda asked=epsilon: asked,
            NoisyReleases("laplace", noise_multiplier=scale, steps=1),
        )
