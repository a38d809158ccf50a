"""mechanisms.Bingham, claimed 2-DP: of 201 unit vectors in two directions, one turns from the first to the second."""

import numpy as np
from diffprivlib.mechanisms import Bingham

often = []
for counts in ([101, 100], [100, 101]):
    sums = np.diag([*counts, 0, 0, 0, 0]).astype(float)
    vectors = [Bingham(epsilon=2.0, sensitivity=1.0, random_state=i).randomise(sums) for i in range(1000)]
    often.append(np.mean([v[0] ** 2 - v[1] ** 2 > 0.86 for v in vectors]))
print(often, "the first is at most e^2 = 7.39 times the second if the claim holds")
# the law that is meant has density proportional to exp(sums[0, 0] u_1^2 / 2 + sums[1, 1] u_2^2 / 2): e at most
