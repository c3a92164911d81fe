"""The loop on one machine."""
