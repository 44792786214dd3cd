"""What happens when things go wrong: signals, kills, full disks, forks, a busy machine (`make faults`)."""
