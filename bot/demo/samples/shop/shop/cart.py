"""What is in the cart, and what it costs."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Line:
    """One article in the cart; the price is in cents."""

    article: str
    price: int
    quantity: int = 1


def total(lines):
    """Return what all lines cost together, in cents."""
    return sum(line.price for line in lines)
