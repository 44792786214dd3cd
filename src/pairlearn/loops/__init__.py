"""Everything compiled: arrays in, arrays out."""
