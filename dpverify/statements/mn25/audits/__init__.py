"""The audits of mn25's algorithms, each under the name of its algorithm's file."""
