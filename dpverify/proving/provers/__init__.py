"""One prover a module; the pipeline asks them in its order."""
