"""The audits of gll22's algorithms: a table, its cases, reference laws, and constants that are computed for it."""
