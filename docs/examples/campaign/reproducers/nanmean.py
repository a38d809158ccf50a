"""tools.nanmean, claimed 1-DP for numbers in [0, 1]: how often the answer exceeds 0.25; one record differs."""

import numpy as np
from diffprivlib import tools

missing = [np.nan] * 98
often = []
for data in ([*missing, 0.0, 0.0], [*missing, 0.0, 1.0]):
    answers = [tools.nanmean(np.array(data), epsilon=1.0, bounds=(0, 1), random_state=i) for i in range(2000)]
    often.append(np.mean(np.array(answers) > 0.25))
print(often, "the second is at most e = 2.72 times the first if the claim holds")
