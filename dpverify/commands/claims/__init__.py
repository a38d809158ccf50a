"""Claims that a project states: the first ones, and all of them read and audited."""
