"""Testing an endpoint with a real call, bounded in time and size, and explaining the outcome."""

import asyncio
import socket
import ssl
import time
from collections.abc import AsyncIterator, Coroutine, Iterator
from difflib import get_close_matches
from typing import Any
from urllib.parse import urlsplit

import httpx2
import orjson

from backend.errors.outgoing import AddressRefused
from backend.llm.connection import Connection
from backend.llm.http import RedirectedElsewhere, open_client
from backend.llm.quoting import error_in, quote, without_key, words_in
from backend.llm.refusals import is_about_model
from backend.llm.wire.stream import Decoder
from backend.outgoing.policy import Outgoing
from backend.schemas.connections import ConnectionTest, TestOutcome
from backend.types import JSON

CONNECT_SECONDS = 5.0
ANSWER_SECONDS = 30.0  # until the answer begins: local models have to load first
LIST_SECONDS = 10.0
MOST_BYTES = 2**20
MOST_MODELS = 500
NAMED = 8
NO_SUCH_PLACE = (404, 405)
QUESTION = "Say OK."


class _NotReadable(Exception):
    """The answer is not one of a chat model; the text is the endpoint's, if any."""


async def probe(connection: Connection, outgoing: Outgoing) -> ConnectionTest:
    """Ask the connection's default model for a word, or list the models if it names none.

    What the endpoint does is in the answer. Raise ConfigurationError if the environment's proxy or
    certificates cannot be used.
    """
    key = connection.api_key.get_secret_value()
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    timeout = httpx2.Timeout(ANSWER_SECONDS, connect=CONNECT_SECONDS)
    async with open_client(outgoing, headers=headers, timeout=timeout) as client:
        if not connection.default_model:
            return await _explained(_look_for_models(client, connection), connection)
        models, found = await asyncio.gather(
            _list_models(client, connection), _explained(_ask(client, connection), connection)
        )
    if found.outcome is TestOutcome.UNKNOWN_MODEL and models:
        found.detail += _named(connection.default_model, models)
    found.models = models
    return found


async def _explained(
    test: Coroutine[None, None, ConnectionTest], connection: Connection
) -> ConnectionTest:
    """Return what a test has found; if it breaks off, what that means."""
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            return await test
    except (TimeoutError, httpx2.TimeoutException):
        detail = f"{_host(connection)} gave no answer within {ANSWER_SECONDS:.0f} seconds."
        return ConnectionTest(outcome=TestOutcome.UNREACHABLE, detail=detail)
    except (httpx2.DecodingError, httpx2.TooManyRedirects, _NotReadable):
        return _not_compatible(connection)
    except AddressRefused as refused:
        detail = f"{_host(connection)} cannot be reached: {refused.reason}."
        return ConnectionTest(outcome=TestOutcome.UNREACHABLE, detail=detail)
    except (httpx2.HTTPError, httpx2.InvalidURL, UnicodeError, OSError) as error:
        return ConnectionTest(
            outcome=TestOutcome.UNREACHABLE, detail=_unreachable(error, connection)
        )


async def _ask(client: httpx2.AsyncClient, connection: Connection) -> ConnectionTest:
    body = {
        "model": connection.default_model,
        "messages": [{"role": "user", "content": QUESTION}],
        "stream": True,
    }
    url, began = f"{connection.endpoint}/chat/completions", time.monotonic()
    async with client.stream("POST", url, json=body) as answer:
        if not answer.is_success:
            return _refusal(answer.status_code, await _body(answer), connection)
        error = await _first_piece(answer)
    if error is not None:
        return _refusal(400, error, connection)
    seconds = time.monotonic() - began
    detail = f"{connection.default_model} answers: its answer began after {seconds:.1f} s."
    return ConnectionTest(outcome=TestOutcome.OK, detail=detail, seconds=round(seconds, 3))


async def _look_for_models(client: httpx2.AsyncClient, connection: Connection) -> ConnectionTest:
    """Return the endpoint's models, of which a person chooses one."""
    async with client.stream("GET", f"{connection.endpoint}/models") as answer:
        body = await _body(answer)
    if not answer.is_success and answer.status_code not in NO_SUCH_PLACE:
        return _refusal(answer.status_code, body, connection)
    models = _names_in(body) if answer.is_success else []
    host = _host(connection)
    if not models:
        detail = f"{host} answers, but does not list its models. Enter the name of one."
        detail += _hint(connection)
        return ConnectionTest(outcome=TestOutcome.UNKNOWN_MODEL, detail=detail)
    detail = f"{host} lists its models. Choose one as the default model, and test that."
    return ConnectionTest(outcome=TestOutcome.OK, detail=detail, models=models)


async def _list_models(client: httpx2.AsyncClient, connection: Connection) -> list[str]:
    """Return the names of the endpoint's models; nothing if it does not list them."""
    try:
        async with (
            asyncio.timeout(LIST_SECONDS),
            client.stream("GET", f"{connection.endpoint}/models") as answer,
        ):
            return _names_in(await _body(answer)) if answer.is_success else []
    except (
        AddressRefused,
        TimeoutError,
        httpx2.HTTPError,
        httpx2.InvalidURL,
        OSError,
        UnicodeError,
    ):
        return []


def _names_in(body: Any) -> list[str]:
    items = body.get("data") if isinstance(body, dict) else None
    names = [item.get("id") for item in items or () if isinstance(item, dict)]
    return sorted({name for name in names if isinstance(name, str) and name})[:MOST_MODELS]


async def _first_piece(answer: httpx2.Response) -> JSON | None:
    """Return the error sent in place of an answer; None once an answer has begun.

    Raise _NotReadable. An endpoint may answer as a whole, without a stream.
    """
    if "event-stream" not in answer.headers.get("content-type", ""):
        return _error_in(await _body(answer))
    decoder = Decoder()
    try:
        async for received in _bounded(answer):
            for chunk in decoder.feed(received):
                return _error_in(chunk)
        for chunk in decoder.end():
            return _error_in(chunk)
    except (ValueError, RecursionError):
        raise _NotReadable from None
    raise _NotReadable


def _error_in(piece: Any) -> JSON | None:
    if isinstance(piece, dict) and piece.get("error"):
        return piece
    if not isinstance(piece, dict) or not isinstance(piece.get("choices"), list):
        raise _NotReadable
    return None


async def _body(answer: httpx2.Response) -> Any:
    """Return the body as JSON; None if it is not JSON, or too long."""
    try:
        return _read(b"".join([chunk async for chunk in _bounded(answer)]))
    except _NotReadable:
        return None


async def _bounded(answer: httpx2.Response) -> AsyncIterator[bytes]:
    size = 0
    async for chunk in answer.aiter_bytes():
        size += len(chunk)
        if size > MOST_BYTES:
            raise _NotReadable
        yield chunk


def _read(text: bytes) -> Any:
    try:
        return orjson.loads(text)
    except ValueError:
        raise _NotReadable from None


def _refusal(status: int, body: Any, connection: Connection) -> ConnectionTest:
    """Return what an unsuccessful status means."""
    key = connection.api_key.get_secret_value()
    words = without_key(words_in(body), key)
    says = f" It says: {quote(words)}" if words else ""
    host, model = _host(connection), connection.default_model
    if status == 403 and words:  # may have other reasons than the key
        what = "the request or the API key" if key else "the request, or wants an API key"
        detail = f"{host} refused {what} (status 403).{says}"
        return ConnectionTest(outcome=TestOutcome.REFUSED, detail=detail)
    if status in (401, 403):
        detail = f"refused the API key (status {status})" if key else "wants an API key"
        return ConnectionTest(outcome=TestOutcome.KEY_REFUSED, detail=f"{host} {detail}.{says}")
    if is_about_model(status, _codes(body), words, model):
        detail = f"{host} knows no model {model}.{says}"
        return ConnectionTest(outcome=TestOutcome.UNKNOWN_MODEL, detail=detail)
    if status in NO_SUCH_PLACE:
        return _not_compatible(connection, f" (status {status})")
    if status in (402, 429):
        detail = f"{host} was reached, but the account's rate limit or quota is used up.{says}"
    else:
        detail = f"{host} was reached, but refused the request (status {status}).{says}"
    return ConnectionTest(outcome=TestOutcome.REFUSED, detail=detail)


def _codes(body: Any) -> list[str]:
    error = error_in(body)
    return [str(error.get("code"))] if isinstance(error, dict) else []


def _not_compatible(connection: Connection, more: str = "") -> ConnectionTest:
    detail = (
        f"{_host(connection)} answers, but not as an OpenAI-compatible endpoint"
        f"{more}: there is no chat under {connection.base_url}/chat/completions."
    )
    detail += _hint(connection)
    return ConnectionTest(outcome=TestOutcome.NOT_COMPATIBLE, detail=detail)


def _hint(connection: Connection) -> str:
    is_usual = connection.base_url.endswith("/v1")
    return "" if is_usual else " The base URL usually ends in /v1."


def _named(wanted: str, models: list[str]) -> str:
    named = get_close_matches(wanted, models, NAMED) or models[:NAMED]
    return f" It has {', '.join(named)}{' and others' if len(models) > len(named) else ''}."


def _unreachable(error: Exception, connection: Connection) -> str:
    host, causes = _host(connection), tuple(_causes(error))
    if any(isinstance(cause, socket.gaierror) for cause in causes):
        return f"{host} cannot be reached: there is no host with this name."
    if any(isinstance(cause, ssl.SSLError) for cause in causes):
        return (
            f"{host} cannot be reached over TLS: its certificate is not trusted here, or it speaks"
            " http:// only."
        )
    if isinstance(error, RedirectedElsewhere):
        return str(error)
    if isinstance(error, httpx2.ConnectError):
        return f"{host} cannot be reached: nothing listens there, or the network blocks it."
    return f"{host} closed the connection before it answered."


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _host(connection: Connection) -> str:
    return urlsplit(connection.base_url).netloc
