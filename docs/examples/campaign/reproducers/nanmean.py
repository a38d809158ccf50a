"""tools.nanmean and its siblings, claimed 1-DP for numbers in [0, 1]: one of two that are not missing differs."""

import numpy as np
from diffprivlib import tools

missing = [np.nan] * 98
for name, most in (("nanmean", 0.25), ("nanvar", 0.125), ("nanstd", 0.25)):
    often = []
    for data in ([*missing, 0.0, 0.0], [*missing, 0.0, 1.0]):
        function = getattr(tools, name)
        answers = [function(np.array(data), epsilon=1.0, bounds=(0, 1), random_state=i) for i in range(1000)]
        often.append(np.mean(np.array(answers) > most))
    print(name, often, "the second is at most e = 2.72 times the first if the claim holds")
