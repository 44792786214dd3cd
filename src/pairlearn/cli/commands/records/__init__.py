"""Commands for tables of text and numbers."""
