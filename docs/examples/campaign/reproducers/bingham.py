"""mechanisms.Bingham in 6 dimensions, claimed 2-DP: one of 81 unit vectors turns from the first axis to the second."""

import numpy as np
from diffprivlib.mechanisms import Bingham

often = []
for counts in ((41, 40, 0, 0, 0, 0), (40, 41, 0, 0, 0, 0)):
    mechanism = Bingham(epsilon=2.0, sensitivity=1, random_state=np.random.RandomState(0))
    squares = [mechanism.randomise(np.diag(np.array(counts, float))) ** 2 for _ in range(1000)]
    often.append(np.mean([square[0] - square[1] > 0.95 for square in squares]))
print(often, "the first is at most e^2 = 7.4 times the second if the claim holds")
