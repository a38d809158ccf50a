"""Instances: laws, losses and mechanisms that code evaluates, at which both sides of a printed claim are enclosed."""
