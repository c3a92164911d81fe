"""Making the App, and checking that everything is in place."""
