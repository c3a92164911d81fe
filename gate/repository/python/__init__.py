"""What is read of Python: settings of its tools, and which files they look at."""
