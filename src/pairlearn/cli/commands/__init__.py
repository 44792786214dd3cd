"""What a user can type: one file per command with its options, help and steps; nothing heavy is imported here."""
