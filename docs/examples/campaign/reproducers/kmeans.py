"""models.KMeans, claimed 1-DP: all records are 0, or one of 200 is 1. Centers start inside of [0.125, 0.875]."""

import numpy as np
from diffprivlib.models import KMeans

often = []
for last in (0.0, 1.0):
    x = np.zeros((200, 1))
    x[-1] = last
    centers = [
        KMeans(2, epsilon=1.0, bounds=(0, 1), random_state=i).fit(x).cluster_centers_ for i in range(200)
    ]
    often.append(np.mean([((c < 0.125) | (c > 0.875)).all() for c in centers]))
print(often, "the second is at most e = 2.72 times the first if the claim holds")
