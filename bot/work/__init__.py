"""The life of a ticket, stage by stage."""
