"""What can be audited beside a function of numbers: any output, estimators, commands in any language."""
