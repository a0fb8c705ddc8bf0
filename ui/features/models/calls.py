"""API calls of the models page."""

from datetime import datetime

from backend.schemas.connections import (
    ConnectionTest,
    ModelConnection,
    ModelPrices,
)
from backend.types import JSON
from ui.client import Client

PATH = "model-connection"
PRICES = "model-prices"
TEST_SECONDS = 60.0  # it calls a real endpoint, which may have to load its model first


def get_connection(client: Client) -> ModelConnection:
    """Return the connection in use, without its key."""
    return client.get(ModelConnection, PATH)


def save_connection(client: Client, body: JSON, seen: datetime | None) -> ModelConnection:
    """Replace the connection that was saved at `seen` with this one."""
    replaces = {"replaces": seen and seen.isoformat()}
    return client.call(ModelConnection, "PUT", PATH, json=body | replaces)


def remove_connection(client: Client) -> ModelConnection:
    """Remove the saved connection, so that the environment's applies again."""
    return client.call(ModelConnection, "DELETE", PATH)


def test_connection(client: Client, body: JSON) -> ConnectionTest:
    """Send the endpoint a short request; nothing is saved."""
    return client.call(ConnectionTest, "POST", f"{PATH}/test", json=body, timeout=TEST_SECONDS)


def list_prices(client: Client) -> ModelPrices:
    """Return what models cost."""
    return client.get(ModelPrices, PRICES)


def set_price(client: Client, price: JSON) -> None:
    """Set what a model costs from now on."""
    client.send("PUT", PRICES, json=price)


def remove_price(client: Client, model: str) -> None:
    """Remove the price that was set for a model."""
    client.send("DELETE", PRICES, params={"model": model})
