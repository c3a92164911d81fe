"""The stages of a ticket: one module each."""
