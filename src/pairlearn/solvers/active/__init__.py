"""The active set, the working sets that it optimises, when it stands still, and its start by nested subsets."""
