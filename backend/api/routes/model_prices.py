"""What models cost, for administrators: read, set and remove prices."""

from typing import Annotated

from fastapi import APIRouter, Query

from backend.api.dependencies import ManageScope, ReadScope, ServicesDep
from backend.api.http.sanitize import Sent, Text
from backend.connections import prices
from backend.schemas.connections import ModelPriceInput, ModelPrices

router = APIRouter(prefix="/model-prices", tags=["model connection"])


@router.get("")
def list_prices(services: ServicesDep, scope: ReadScope) -> ModelPrices:
    """All prices, per million tokens, and whether the page or the environment sets each."""
    with services.database.read() as session:
        return prices.list_prices(session, services.settings, scope)


@router.put("")
def set_price(
    body: Sent[ModelPriceInput], services: ServicesDep, scope: ManageScope
) -> ModelPrices:
    """Set the price of one model; it comes before the environment's.

    What is used from now on costs so much, within seconds also in running turns.
    """
    with services.database.transaction() as session:
        prices.set_price(session, scope, body)
        return prices.list_prices(session, services.settings, scope)


@router.delete("")
def remove_price(
    model: Annotated[Text, Query(min_length=1)], services: ServicesDep, scope: ManageScope
) -> ModelPrices:
    """Remove the price that was set for a model; the environment's holds again, if it has one."""
    with services.database.transaction() as session:
        prices.remove_price(session, scope, model)
        return prices.list_prices(session, services.settings, scope)
