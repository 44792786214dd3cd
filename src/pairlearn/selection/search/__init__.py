"""The staged search for kernel, C and training set behind `StagedSearch` and `pairlearn select`."""
