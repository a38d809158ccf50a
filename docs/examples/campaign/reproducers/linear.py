"""models.LinearRegression without intercept, claimed 1-DP for numbers in [0, 1]: one of four features is 1 or 0."""

import numpy as np
from diffprivlib.models import LinearRegression

often = []
for first in (0.0, 1.0):
    x = np.array([[first], [0.0], [0.0], [0.0]])
    models = (
        LinearRegression(epsilon=1.0, bounds_X=(0, 1), bounds_y=(0, 1), fit_intercept=False, random_state=i)
        for i in range(60)
    )
    often.append(np.mean([abs(model.fit(x, [0.0] * 4).coef_[0]) > 1000 for model in models]))
print(often, "the first is at most e = 2.72 times the second if the claim holds")
