"""Where things are in files, and what is found of their lines."""
