"""models.LinearRegression, claimed 1-DP: one of four x is 1, or none is; all y are 0."""

import numpy as np
from diffprivlib.models import LinearRegression

often = []
for first in (1.0, 0.0):
    x = np.zeros((4, 1))
    x[0] = first
    models = [
        LinearRegression(epsilon=1.0, bounds_X=(0, 1), bounds_y=(0, 1), random_state=i).fit(x, np.zeros(4))
        for i in range(200)
    ]
    # where the noisy mean of x is 0, the sum of squares gets no noise: it is 1 on the first data set, 0 on the second
    often.append(np.mean([abs(m.coef_[0]) > 1000 for m in models]))
print(often, "the second is at most e = 2.72 times the first if the claim holds")
