"""Whitened views in the search: names, which are all that a journal holds of them, and what the names make."""
