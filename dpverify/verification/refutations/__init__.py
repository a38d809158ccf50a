"""What is said of a formula that is false, or that does not follow."""
