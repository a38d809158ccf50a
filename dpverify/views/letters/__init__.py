"""The letter on a paper: which rows tell one fault, and in which words each is told."""
