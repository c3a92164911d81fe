"""A list of things to do."""


def add(things, thing):
    """Return the list with one thing more."""
    return [*things, thing]
