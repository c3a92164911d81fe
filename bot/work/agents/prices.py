"""What models cost: dollars per million tokens, with the date of the source. No model, no known cost."""

from dataclasses import dataclass

# Anthropic's price list, https://platform.claude.com/docs/en/about-claude/pricing; cache writes are those of 5 minutes
SOURCE_DATE = "2026-10-24"

CODE_MODEL = "claude-sonnet-5-5"  # the newest Sonnet and Haiku that the SDK names
CLASSIFY_MODEL = "claude-haiku-5-5"
SCRIPTED_MODEL = "scripted"  # the stand-in that answers from recorded sessions


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars per million tokens; `long` holds for every token of a prompt above `long_above` tokens."""

    input: float
    output: float
    cache_read: float
    cache_write: float
    long: "Price | None" = None
    long_above: int = 0


def _price(input: float, output: float, *, read: float = 0.1) -> Price:
    return Price(input, output, cache_read=input * read, cache_write=input * 1.25)


PRICES: dict[str, Price] = {
    "claude-sonnet-5-5": _price(2, 10, read=0.05),  # read 0.20 until 2026-10-07
    "claude-sonnet-5": _price(2, 10),
    "claude-sonnet-4-6": _price(3, 15),
    "claude-sonnet-4-5": _price(3, 15),
    "claude-haiku-5-5": Price(0.1, 0.5, 0.01, 0.125, long=Price(0.5, 2.5, 0.05, 0.625), long_above=100_000),
    "claude-haiku-4-5": _price(1, 5),
    "claude-opus-5-5": _price(4, 20, read=0.05),
    "claude-opus-5": _price(5, 25),
    "claude-opus-4-8": _price(5, 25),
    "claude-opus-4-7": _price(5, 25),
    "claude-opus-4-6": _price(5, 25),
    "claude-opus-4-5": _price(5, 25),
    "claude-fable-5-1": _price(10, 50, read=0.025),
    "claude-mythos-5-1": _price(10, 50, read=0.025),
    "claude-fable-5": _price(10, 50),
    "claude-mythos-5": _price(10, 50),
    SCRIPTED_MODEL: Price(0, 0, 0, 0),
}


def find_price(model: str) -> Price | None:
    """Return a model's price; a name with a date (`claude-haiku-4-5-20251001`) is that of the name before it."""
    name, _, date = model.rpartition("-")
    return PRICES.get(name if len(date) == 8 and date.isdigit() else model)


def cost(
    model: str, *, input_tokens: int, output_tokens: int, cache_read_tokens: int = 0, cache_write_tokens: int = 0
) -> float | None:
    """Return the dollars of one request, None if the model's price is not known."""
    price = find_price(model)
    if price is None:
        return None
    if price.long is not None and input_tokens + cache_read_tokens + cache_write_tokens > price.long_above:
        price = price.long
    millionths = (
        input_tokens * price.input
        + output_tokens * price.output
        + cache_read_tokens * price.cache_read
        + cache_write_tokens * price.cache_write
    )
    return millionths / 1_000_000
