"""What a repository holds, as the audit's rules see it: its files, its workflows, and the checks that they run."""
