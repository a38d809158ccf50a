"""mn25: the hard instance of Section 3.1, what it takes to solve it, and what follows (Sections 3.1, 5 and B.1)."""
