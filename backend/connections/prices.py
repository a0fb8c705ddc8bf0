"""What models cost: the prices that are set on the page Models, and those of the environment."""

import threading
import time
from collections.abc import Mapping

from sqlalchemy import delete, func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from backend import audit
from backend.auth.naming import names_of
from backend.auth.scope import Scope
from backend.errors.models import PriceNotFound
from backend.schemas.connections import ModelPrice, ModelPriceInput, ModelPrices, PriceSource
from backend.schemas.people.rights import Permission
from backend.settings import Price, Settings
from db.models.model_price import ModelPriceRow
from db.session import Database

SUBJECT = "model price"
FRESH_SECONDS = 2.0


def prices_of(session: Session, settings: Settings) -> dict[str, Price]:
    """Return the price of each model that has one: the page's come before the environment's."""
    row = ModelPriceRow
    rows = session.execute(select(row.model, row.input, row.cached, row.output))
    on_page = {
        one.model: Price(input=one.input, cached=one.cached, output=one.output) for one in rows
    }
    return {**settings.model_prices, **on_page}


def list_prices(session: Session, settings: Settings, scope: Scope) -> ModelPrices:
    """Return all prices by model, and where each comes from. Raise NotAllowed."""
    scope.require(Permission.MANAGE_MODELS)
    rows = {row.model: row for row in session.scalars(select(ModelPriceRow))}
    names = names_of(session, (row.saved_by for row in rows.values()))
    environment = settings.model_prices
    items = [
        ModelPrice(
            model=model,
            **price.model_dump(),
            source=PriceSource.PAGE if model in rows else PriceSource.ENVIRONMENT,
            replaces_environment=model in rows and model in environment,
            saved_by=names[rows[model].saved_by] if model in rows else None,
            saved_at=rows[model].saved_at if model in rows else None,
        )
        for model, price in sorted(prices_of(session, settings).items())
    ]
    return ModelPrices(items=items)


def set_price(session: Session, scope: Scope, new: ModelPriceInput) -> None:
    """Set a model's price for what is used from now on. Raise NotAllowed."""
    scope.require(Permission.MANAGE_MODELS)
    values = {
        **new.model_dump(exclude={"model"}),
        "saved_by": scope.user_id,
        "saved_at": func.clock_timestamp(),
    }
    setting = insert(ModelPriceRow).values(model=new.model, **values)
    session.execute(setting.on_conflict_do_update(index_elements=["model"], set_=values))
    audit.record(session, scope.user_id, "changed", SUBJECT, new.model, new.model_dump())


def remove_price(session: Session, scope: Scope, model: str) -> None:
    """Remove the page's price of a model, so that the environment's holds again, if there is one.

    Raise NotAllowed, PriceNotFound.
    """
    scope.require(Permission.MANAGE_MODELS)
    row = ModelPriceRow
    if session.scalar(delete(row).where(row.model == model).returning(row.model)) is None:
        raise PriceNotFound
    audit.record(session, scope.user_id, "removed", SUBJECT, model)


class PriceList:
    """The prices as one process knows them; running turns use them, too.

    `find` is called where nothing may wait for the database, so others call `refresh`.
    """

    def __init__(self, database: Database, settings: Settings) -> None:
        self._database = database
        self._settings = settings
        self._prices: Mapping[str, Price] = settings.model_prices
        self._read_at = float("-inf")
        self._lock = threading.Lock()

    def find(self, model: str) -> Price | None:
        """Return a model's price, if it has one."""
        return self._prices.get(model)

    def refresh(self) -> None:
        """Read the prices, unless somebody has just done so."""
        with self._lock:
            if time.monotonic() - self._read_at < FRESH_SECONDS:
                return
            self._read_at = time.monotonic()
        with self._database.read() as session:
            self._prices = prices_of(session, self._settings)
