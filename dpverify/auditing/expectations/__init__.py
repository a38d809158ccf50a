"""Auditors of expectations: excess risks, means of what is read off a run, and how they grow."""
