"""AdaClipDPOptimizer of Opacus with noise_multiplier=1, claimed 1-GDP: a gradient that is not clipped is removed."""

import numpy as np
import torch
from opacus import GradSampleModule
from opacus.optimizers import AdaClipDPOptimizer

settings = {"noise_multiplier": 1.0, "max_grad_norm": 1.0, "expected_batch_size": 1, "loss_reduction": "sum"}
settings |= {"target_unclipped_quantile": 0.5, "clipbound_learning_rate": 1.0, "unclipped_num_std": 0.51}
often = []
for last in ([0.999], []):
    norms = []
    for _ in range(500):
        model = GradSampleModule(torch.nn.Linear(1, 1, bias=False), loss_reduction="sum")
        sgd = torch.optim.SGD(model.parameters(), lr=1.0)
        optimizer = AdaClipDPOptimizer(sgd, max_clipbound=1e6, min_clipbound=1e-6, **settings)
        model(torch.tensor([[100.0]] * 4 + [[-100.0]] * 4 + [last] * len(last))).sum().backward()
        optimizer.step()
        norms.append(float(optimizer.max_grad_norm))
    often.append(np.mean(np.array(norms) < 1.55))
print(often, "of 1-GDP: normal quantiles of the two differ by at most 1")
