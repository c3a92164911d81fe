"""Sluice: label an issue, get a gated pull request."""
