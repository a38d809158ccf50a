"""models.LogisticRegression with data_norm=1, claimed 1-DP: one of two records is 1 or -1, the other is -1."""

import warnings

import numpy as np
from diffprivlib.models import LogisticRegression

warnings.simplefilter("ignore")
often = []
for first in (1.0, -1.0):
    x = np.array([[first], [-1.0]])
    models = [LogisticRegression(data_norm=1.0, random_state=i).fit(x, [1, 0]) for i in range(2000)]
    at = np.array([(m.intercept_[0] + m.coef_[0, 0], m.intercept_[0] - m.coef_[0, 0]) for m in models])
    often.append(np.mean((abs(at[:, 0]) < 5) & (abs(at[:, 1]) > 6)))  # unsure at 1, sure at -1
print(often, "the first is at most e = 2.72 times the second if the claim holds")
