"""The checker's consequences: what real arithmetic shows, by letters for values of functions, and by cvc5."""
