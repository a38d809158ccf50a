"""Rules and theorems as pages: what follows from what, and how (docs/theorems.md)."""
