"""A worker process's chat models, from the connection that a turn was claimed under."""

from backend.connections.prices import PriceList
from backend.connections.store import find_saved, open_saved
from backend.llm.provider import ModelProvider
from backend.settings import Settings
from db.session import Database


class Providers:
    """Returns providers by the number of the saved connection, keeping the newest.

    A turn keeps the provider that it began with, even if another connection is saved.
    """

    def __init__(self, database: Database, settings: Settings) -> None:
        self._database = database
        self._settings = settings
        self.prices = PriceList(database, settings)
        self._environment = ModelProvider(settings, find_price=self.prices.find)
        self._saved: tuple[int, ModelProvider] | None = None

    def of(self, number: int | None) -> ModelProvider:
        """Return the provider; None means the environment's. Raise KeyUnreadable.

        It may query the database, so call it from a thread, not a loop.
        """
        self.prices.refresh()
        if number is None:
            return self._environment
        held = self._saved
        if held is not None and held[0] == number:
            return held[1]
        with self._database.read() as session:
            row = find_saved(session)
            if row is None:
                return self._environment
            found = row.number, self._environment.of(open_saved(row, self._settings))
        self._saved = found
        return found[1]
