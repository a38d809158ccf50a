from .index_chains import (
    ExactEpsilon,
    chains,
    index_profiles,
    noisy_chain,
)

__all__ = [
    "ExactEpsilon",
    "chains",
    "index_profiles",
    "noisy_chain",
]
