"""`python -m pairlearn` is the command line."""

from pairlearn.cli import main

main()
