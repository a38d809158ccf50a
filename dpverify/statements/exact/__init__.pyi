from .index_chains import (
    ExactEpsilon as ExactEpsilon,
    chains as chains,
    index_profiles as index_profiles,
    noisy_chain as noisy_chain,
)
