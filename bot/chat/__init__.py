"""Answering questions and remembering the answers."""
