"""The REST API of the local forge: the operations that the bot uses, with GitHub's rules and status codes."""
