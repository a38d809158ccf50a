"""The printed statements, a module per paper, and what they pair with: algorithms and audit plans."""
