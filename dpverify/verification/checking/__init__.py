"""What `dpverify check` says of a ledger's rows, and how it comes to say so of audits."""
