"""models.GaussianNB.partial_fit with declared classes, claimed 1-DP: one of four records is of class 1, or none is."""

import numpy as np
from diffprivlib.models import GaussianNB

x = np.full((4, 1), 0.5)
for classes in ([0, 0, 0, 0], [0, 0, 0, 1]):
    models = (
        GaussianNB(epsilon=1.0, bounds=(0, 1), priors=[0.5, 0.5], random_state=i).partial_fit(
            x, classes, [0, 1]
        )
        for i in range(500)
    )
    print(np.mean([model.var_[1, 0] == model.epsilon_ and model.theta_[1, 0] == 0 for model in models]))
print("the first is at most e = 2.72 times the second if the claim holds")
