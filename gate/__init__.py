"""A verify gate that can fail."""
