"""How errors leave the API."""

import asyncio
from collections import Counter

import httpx
from fastapi import FastAPI

from backend.api.problems import add_problem_handlers


def get(app: FastAPI, path: str) -> httpx.Response:
    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://x") as client:
            return await client.get(path)

    return asyncio.run(ask())


def test_an_error_that_nobody_expected_says_that_the_connection_ends() -> None:
    app = FastAPI()
    app.state.problems = Counter[int]()
    add_problem_handlers(app)

    @app.get("/break")
    def break_down() -> None:
        raise RuntimeError("secret")

    answer = get(app, "/break")

    assert (answer.status_code, answer.headers["connection"]) == (500, "close")
    assert "secret" not in answer.text
    assert app.state.problems == {500: 1}
