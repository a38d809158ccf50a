"""Provers that make of a problem others, which are proved first, with certificates of their own."""
