"""Prices: what a request costs."""

import pytest

from bot.work.agents.prices import CLASSIFY_MODEL, CODE_MODEL, cost, find_price


@pytest.mark.parametrize(
    ("model", "dollars"),
    [
        ("claude-sonnet-5-5", 2.0 + 10.0 + 0.1 + 2.5),
        ("claude-haiku-4-5", 1.0 + 5.0 + 0.1 + 1.25),
        ("claude-haiku-4-5-20251001", 1.0 + 5.0 + 0.1 + 1.25),
        ("claude-haiku-5-5", 0.5 + 2.5 + 0.05 + 0.625),
        ("claude-fable-5-2", None),
        ("gpt-7", None),
    ],
)
def test_a_million_tokens_of_each_kind(model: str, dollars: float | None) -> None:
    million = 1_000_000
    found = cost(
        model, input_tokens=million, output_tokens=million, cache_read_tokens=million, cache_write_tokens=million
    )

    assert found == (None if dollars is None else pytest.approx(dollars))


def test_a_short_prompt_has_the_lower_price_where_there_are_two() -> None:
    assert cost("claude-haiku-5-5", input_tokens=100_000, output_tokens=1000) == pytest.approx(0.0105)


def test_the_default_models_have_prices() -> None:
    assert None not in (find_price(CODE_MODEL), find_price(CLASSIFY_MODEL))
