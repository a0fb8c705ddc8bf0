"""How long pages wait for the API."""

import httpx

from ui.client import Client
from ui.features.retention.calls import apply_retention


def test_a_page_waits_for_the_end_of_a_deletion_of_thousands_of_sessions() -> None:
    waited: list[float] = []

    def answer(request: httpx.Request) -> httpx.Response:
        waited.append(request.extensions["timeout"]["read"])
        return httpx.Response(200, json={"planned": 3_000, "deleted": 3_000})

    client = Client()
    client.http = httpx.Client(
        base_url="http://api.test", timeout=client.http.timeout,
        transport=httpx.MockTransport(answer),
    )  # fmt: skip

    assert apply_retention(client).deleted == 3_000
    assert waited[0] >= 600
