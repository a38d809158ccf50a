"""The audits of fmtt18's algorithms: a table, and the constants that are computed for it."""
