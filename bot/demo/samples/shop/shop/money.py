"""How money is shown."""


def show(cents):
    """Return an amount of cents as people read it, such as 12.50."""
    return f"{cents / 100:.2f}"
