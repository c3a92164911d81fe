"""Schema changes, one a file."""
