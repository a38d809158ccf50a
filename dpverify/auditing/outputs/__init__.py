"""Outputs of a mechanism as samples: read from files, checked, and encoded as numbers without loss."""
