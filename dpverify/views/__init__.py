"""What is said of a formula, a statement, an audit and a run: computed from the ledger, written by `dpverify.reports`.

Each fact is put into words here, once; an output format only lays it out.
"""
