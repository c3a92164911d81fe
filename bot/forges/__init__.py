"""Talking to GitHub, and a stand-in that speaks its protocol."""
