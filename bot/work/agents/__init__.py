"""Who writes the change: one module each."""
