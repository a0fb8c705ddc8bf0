"""Providing chat models of a connection's endpoint; the demo model's takes the same path."""

from copy import copy
from typing import Self

import httpx2
from pydantic import SecretStr

from backend.llm.chat_model import ColloquyChatModel, Permit
from backend.llm.connection import Connection, outgoing_of
from backend.llm.http import open_client
from backend.llm.patience import Patience
from backend.llm.prices import FindPrice
from backend.outgoing.connecting import guard
from backend.settings import Settings

CONNECT_SECONDS = 5.0
WRITE_SECONDS = 60.0
LIMITS = httpx2.Limits(max_connections=1000, max_keepalive_connections=100)


class ModelProvider:
    """Provides chat models by name from one connection, by default the environment's.

    They share HTTP clients, which belong to one event loop. `find_price` returns what a model
    costs now; by default the environment's prices hold.
    """

    def __init__(
        self,
        settings: Settings,
        patience: Patience | None = None,
        connection: Connection | None = None,
        find_price: FindPrice | None = None,
    ) -> None:
        self.connection = connection or Connection.of(settings)
        self._settings = settings
        self._find_price = find_price or settings.model_prices.get
        self._patience = patience or Patience(
            first_token_seconds=settings.model_first_token_seconds,
            silence_seconds=settings.model_silence_seconds,
            tries=settings.model_tries,
        )
        self._models: dict[str, ColloquyChatModel] = {}
        self._permit: Permit | None = None
        # The model's own limits apply first; this one only makes sure that connections are freed.
        silence = max(self._patience.first_token_seconds, self._patience.silence_seconds) + 5
        self._timeout = httpx2.Timeout(silence, connect=CONNECT_SECONDS, write=WRITE_SECONDS)
        self._clients: dict[bool, tuple[httpx2.Client, httpx2.AsyncClient]] = {}

    def of(self, connection: Connection) -> Self:
        """Return a provider of another connection that shares this one's HTTP clients."""
        other = type(self)(self._settings, self._patience, connection, self._find_price)
        other._clients = self._clients
        return other

    def permitted_by(self, permit: Permit) -> Self:
        """Return these models such that each asks, before each request, whether it may be sent."""
        view = copy(self)
        view._permit = permit
        return view

    def chat_model(self, name: str | None = None) -> ColloquyChatModel:
        """Return the named chat model, or the default one.

        Raise ConfigurationError if it is the demo model and that is not running, or if the
        environment's proxy or certificates cannot be used.
        """
        wanted = name or self.connection.default_model
        if wanted not in self._models:
            self._models[wanted] = self._build(wanted)
        model = self._models[wanted]
        return model.model_copy(update={"permit": self._permit}) if self._permit else model

    async def aclose(self) -> None:
        """Close the HTTP connections."""
        for plain, client in self._clients.values():
            plain.close()
            await client.aclose()

    def _build(self, name: str) -> ColloquyChatModel:
        client, async_client = self._http()
        return ColloquyChatModel(
            model=name,
            base_url=self.connection.endpoint,
            api_key=SecretStr(self.connection.api_key.get_secret_value() or "none"),
            key=self.connection.api_key,
            http_client=client,
            http_async_client=async_client,
            http_socket_options=(),
            openai_proxy=None,
            timeout=self._timeout,
            max_retries=0,
            stream_usage=True,
            use_responses_api=False,
            output_version="v0",
            patience=self._patience,
            find_price=self._find_price,
        )

    def _http(self) -> tuple[httpx2.Client, httpx2.AsyncClient]:
        """Return the HTTP clients, the first for scripts, which ask without a loop.

        No proxy is used for the demo model, which is on this machine.
        """
        trust_env, outgoing = not self.connection.is_demo, outgoing_of(self._settings)
        if trust_env not in self._clients:
            client = open_client(
                outgoing, trust_env=trust_env, timeout=self._timeout, limits=LIMITS
            )
            plain = httpx2.Client(trust_env=trust_env, timeout=self._timeout)
            self._clients[trust_env] = guard(plain, outgoing), client
        return self._clients[trust_env]
