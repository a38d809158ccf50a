"""The audits of bst14's algorithms, each under the name of its algorithm's file."""
