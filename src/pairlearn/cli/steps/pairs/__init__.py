"""The steps of `pairlearn pairs`: drawing pairs, parting tables, looking for leaks and contradictions."""
