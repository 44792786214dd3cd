"""What happens when things go wrong: signals, kills, full disks, forks, a busy machine (`make faults`)."""

Row = tuple[str, int, int, str]
"""A kind of fault, how often it was tried, how often something went wrong, and what was seen."""
