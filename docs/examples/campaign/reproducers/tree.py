"""models.DecisionTreeClassifier, claimed 1-DP: one of three labels changes from 0 to 1."""

import numpy as np
from diffprivlib.models import DecisionTreeClassifier

x, often = np.full((9, 1), 0.5), []
for changed in (0, 1):
    labels = [1, 1, 1, 1, 0, 0, 0, 0, changed]
    models = (
        DecisionTreeClassifier(epsilon=4.0, bounds=(0, 1), classes=[0, 1], max_depth=1, random_state=i).fit(x, labels)
        for i in range(4000)
    )
    often.append(np.mean([model.predict(x[:1])[0] == changed for model in models]))
print(often, (1 - often[0]) / often[1], often[1] / (1 - often[0]))
