"""The commands: one module per subject."""
