"""tools.histogram, claimed 1-DP: one record moves to the other bin, and counts (2, 0) become (1, 1)."""

import numpy as np
from diffprivlib import tools

often = []
for data in ([0.2, 0.2], [0.2, 0.8]):
    counts = [tools.histogram(data, 1.0, bins=2, range=(0, 1), random_state=i)[0] for i in range(5000)]
    often.append(np.mean([first >= 2 and second == 0 for first, second in counts]))
print(often, "the first is at most e = 2.72 times the second if the claim holds for a replaced record")
