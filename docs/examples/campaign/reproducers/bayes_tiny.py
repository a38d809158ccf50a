"""models.GaussianNB with bounds [0, 1e-9] and [0, 9e-9], claimed 1-DP: one record is clipped to the wrong bound."""

import numpy as np
from diffprivlib.models import GaussianNB

classes, often = [0] * 10 + [1], []
for first in (0.0, 9e-9):
    x = np.zeros((11, 2))
    x[0, 0] = first
    models = (
        GaussianNB(epsilon=1.0, bounds=([0, 0], [1e-9, 9e-9]), priors=[0.5, 0.5], random_state=i).fit(
            x, classes
        )
        for i in range(300)
    )
    often.append(np.mean([model.theta_[0, 0] == 0 for model in models]))
print(often, "the first is at most e = 2.72 times the second if the claim holds")
