"""mechanisms.Bingham in 5 dimensions, claimed 3-DP: one of 41 unit vectors turns from the first axis to the second."""

import numpy as np
from diffprivlib.mechanisms import Bingham

often = []
for counts in ((21, 20, 0, 0, 0), (20, 21, 0, 0, 0)):
    mechanism = Bingham(epsilon=3.0, sensitivity=1, random_state=np.random.RandomState(0))
    vectors = np.array([mechanism.randomise(np.diag(np.array(counts, float))) for _ in range(600)])
    often.append(np.mean(vectors[:, 0] ** 2 > 0.7))
print(often, "the first is at most e^3 = 20.1 times the second if the claim holds")
