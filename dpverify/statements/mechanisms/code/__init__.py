"""Pages of mechanisms, proposed from the code of functions."""
