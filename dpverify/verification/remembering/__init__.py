"""What was proved once is not proved again: kept in the user's cache folder, or brought by a release."""
