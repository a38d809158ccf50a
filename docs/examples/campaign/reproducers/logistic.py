"""models.LogisticRegression, defaults but data_norm=1, claimed 1-DP: one of five records turns from -1 to 1."""

import warnings

import numpy as np
from diffprivlib.models import LogisticRegression

warnings.simplefilter("ignore")
for last in (-1.0, 1.0):
    x = np.array([[-1.0]] * 4 + [[last]])
    models = [LogisticRegression(data_norm=1.0, random_state=i).fit(x, [0, 0, 1, 1, 1]) for i in range(1000)]
    found = np.array([[m.coef_[0, 0], m.intercept_[0]] for m in models])
    # where every record at -1 is far from the boundary, only a record at 1 keeps the intercept finite
    print(np.mean((found[:, 1] - found[:, 0] < -6) & (np.abs(found).max(axis=1) < 1e6)))
print("the second is at most e = 2.72 times the first if the claim holds")
