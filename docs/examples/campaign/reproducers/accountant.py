"""autodp's GaussianMechanism of noise 1 at delta = 1e-5: without its phi function, and with it."""

import contextlib
import io

from autodp.mechanism_zoo import GaussianMechanism

for off in (True, False):
    with contextlib.redirect_stdout(io.StringIO()):
        epsilon = GaussianMechanism(1.0, phi_off=off).get_approxDP(1e-5)
    print(epsilon, "of 4.377")
