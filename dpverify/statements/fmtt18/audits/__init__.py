"""The audits of fmtt18's algorithms, each under the name of its algorithm's file."""
