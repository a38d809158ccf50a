"""The audits of gll22's algorithms, each under the name of its algorithm's file."""
