"""models.GaussianNB with bounds (100, 101), claimed 1-DP: one of four records changes its class."""

import numpy as np
from diffprivlib.models import GaussianNB

x, often = np.full((4, 1), 101.0), []
for classes in ([0, 0, 1, 1], [0, 1, 1, 1]):
    models = (
        GaussianNB(epsilon=1.0, bounds=(100, 101), priors=[0.5, 0.5], random_state=i).fit(x, classes)
        for i in range(2000)
    )
    often.append(np.mean([model.theta_[0, 0] == 101 and model.theta_[1, 0] == 100 for model in models]))
print(often, "the first is at most e = 2.72 times the second if the claim holds")
