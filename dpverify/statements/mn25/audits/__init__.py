"""The audits of mn25's algorithms: a table, its cases, and constants that are computed for it."""
