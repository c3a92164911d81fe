"""From the bytes of a delivery to a ticket."""
