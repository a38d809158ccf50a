"""models.LogisticRegression without intercept and data_norm=1000, claimed 1-DP: a record is 1000 or 0."""

import warnings

import numpy as np
from diffprivlib.models import LogisticRegression

warnings.simplefilter("ignore")
often = []
for first in (1000.0, 0.0):
    x = np.array([[first], [1.0]])
    models = [
        LogisticRegression(data_norm=1000.0, fit_intercept=False, random_state=i).fit(x, [1, 0])
        for i in range(1500)
    ]
    often.append(np.mean([-0.001 < m.coef_[0, 0] < 0.003 for m in models]))
print(often, "the first is at most e = 2.72 times the second if the claim holds")
