"""Methods of certificates whose confirmation is made of others: induction, lemmas, quantiles, changes of sign."""
