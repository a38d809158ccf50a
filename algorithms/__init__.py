"""The papers' algorithms, a folder a paper. Each says its statements, its guarantees and its number of queries."""
