"""Claims with an `exists`: what there is to be is found in floats or as a term, put in, and proved by the others."""
