"""A ledger compared with what it is made from: sources, certificates, audits, theorems, and a proof assistant."""
