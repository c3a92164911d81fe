"""What is to be done, in which order, and everything that is stored."""
