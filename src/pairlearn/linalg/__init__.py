"""Dense factors of any size, and how many threads a piece of work gets."""
