"""tools.histogram with weights, claimed 1-DP: a record of weight 5 is removed."""

import numpy as np
from diffprivlib import tools

often = []
for data in ([0.2, 0.2], [0.2]):
    counts = [
        tools.histogram(data, 1.0, bins=2, range=(0, 1), weights=[5.0] * len(data), random_state=i)[0]
        for i in range(2000)
    ]
    often.append(np.mean([first >= 8 for first, _ in counts]))
print(often, "the first is at most e = 2.72 times the second if the claim holds")
