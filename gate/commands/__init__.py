"""What a command really runs: through package scripts, make targets, wrappers and shell files."""
