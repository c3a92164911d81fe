"""Running what is not ours."""
