"""What a folder holds that a gate could run: one module for each kind of project."""
