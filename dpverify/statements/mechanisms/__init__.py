"""Mechanisms as pages: what is asked of records, what is drawn, what is claimed."""
