"""Reading the models' prices again every few seconds, so that running turns use those of now."""

from backend.connections.prices import FRESH_SECONDS, PriceList
from worker.background import Background


class PriceReader(Background):
    """One thread per worker process."""

    name = "price reader"

    def __init__(self, prices: PriceList) -> None:
        super().__init__()
        self._prices = prices

    def _run(self) -> None:
        while not self._closing.wait(FRESH_SECONDS):
            self._try(self._prices.refresh)
