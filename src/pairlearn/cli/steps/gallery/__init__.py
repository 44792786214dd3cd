"""The steps of `pairlearn identify`: who is enrolled and what is said of the answers, and the search itself."""
