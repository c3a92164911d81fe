"""A copy of a repository in which files may be broken: the user's own are never written to."""
