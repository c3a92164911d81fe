"""Long-lived worktrees with dependencies and caches in place."""
