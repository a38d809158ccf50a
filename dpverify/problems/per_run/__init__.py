"""Problems, sets and minimizers that differ from run to run, for a whole batch at once."""
