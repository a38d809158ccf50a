"""models.KMeans.inertia_, claimed 1-DP with the centers: two of four numbers are 1, or one is."""

import numpy as np
from diffprivlib.models import KMeans

for data in ([0, 0, 1, 1], [0, 0, 1, 0]):
    x = np.array(data, float)[:, None]
    models = [KMeans(1, epsilon=1.0, bounds=(0, 1), random_state=i).fit(x) for i in range(100)]
    # sum of (x - c)^2 is ones (1 - 2 c) + 4 c^2: center and inertia give the number of ones away
    ones = [(m.inertia_ - 4 * c**2) / (1 - 2 * c) for m in models for c in m.cluster_centers_[0]]
    print(np.unique(np.round(ones, 6)))
