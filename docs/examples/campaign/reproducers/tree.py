"""models.DecisionTreeClassifier, claimed 1-DP: one of three labels changes from 0 to 1."""

import numpy as np
from diffprivlib.models import DecisionTreeClassifier

x, often = np.full((3, 1), 0.5), []
for labels in ([1, 0, 0], [1, 1, 0]):
    models = (
        DecisionTreeClassifier(epsilon=1.0, bounds=(0, 1), classes=[0, 1], max_depth=1, random_state=i)
        for i in range(2000)
    )
    often.append(np.mean([model.fit(x, labels).predict(x[:1])[0] for model in models]))
print(often, "of the two ratios", often[1] / often[0], (1 - often[0]) / (1 - often[1]))
