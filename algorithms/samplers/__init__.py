"""Samplers that several algorithms share: certified rejection, restricted Gaussians, walks on a grid, nets."""
