"""What an answer costs, by the price of its model."""

from collections.abc import Callable

from langchain_core.messages.ai import UsageMetadata

from backend.settings import Price

FindPrice = Callable[[str], Price | None]  # by the model's name
COST = "cost"  # in the response metadata of a priced answer
MILLION = 1e6


def cost_of(used: UsageMetadata, price: Price) -> float:
    """Return the cost of one answer, in the table's currency.

    Input tokens include cached ones.
    """
    cached = used.get("input_token_details", {}).get("cache_read", 0)
    cached_price = price.input if price.cached is None else price.cached
    fresh = used["input_tokens"] - cached
    parts = fresh * price.input + cached * cached_price + used["output_tokens"] * price.output
    return parts / MILLION
