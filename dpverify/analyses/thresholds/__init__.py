"""How far formulas hold: bounds on letters, constants and exponents, with the checker's word for both ends."""
