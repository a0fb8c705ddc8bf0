"""Where chat models come from: OPENAI_* of the settings, else the demo model, on the same path."""

from collections.abc import AsyncIterator
from typing import Any

import httpx2
from pydantic import SecretStr

from backend.errors import ConfigurationError
from backend.llm.chat_model import ColloquyChatModel
from backend.llm.patience import Patience
from backend.settings import Settings

OPENAI_URL = "https://api.openai.com/v1"
CONNECT_SECONDS = 5.0
WRITE_SECONDS = 60.0
MAX_LINE_BYTES = 32 * 2**20
LIMITS = httpx2.Limits(max_connections=1000, max_keepalive_connections=100)


class ModelProvider:
    """Gives chat models by name; they share one HTTP client, which belongs to one event loop."""

    def __init__(self, settings: Settings, patience: Patience | None = None) -> None:
        self.is_demo = settings.uses_demo_model
        self._settings = settings
        self._patience = patience or Patience(
            first_token_seconds=settings.model_first_token_seconds,
            silence_seconds=settings.model_silence_seconds,
            tries=settings.model_tries,
        )
        self._models: dict[str, ColloquyChatModel] = {}
        # The model's own patience is what counts; this one only frees connections for good.
        silence = max(self._patience.first_token_seconds, self._patience.silence_seconds) + 5
        self._timeout = httpx2.Timeout(silence, connect=CONNECT_SECONDS, write=WRITE_SECONDS)
        self._client = httpx2.AsyncClient(
            timeout=self._timeout,
            limits=LIMITS,
            follow_redirects=True,
            trust_env=not self.is_demo,
            event_hooks={"response": [_bound_lines]},
        )

    def chat_model(self, name: str | None = None) -> ColloquyChatModel:
        """Return the named chat model, or the default one.

        Raise ConfigurationError if the demo model is wanted and no one has started it.
        """
        wanted = name or self._settings.default_model
        if wanted not in self._models:
            self._models[wanted] = self._build(wanted)
        return self._models[wanted]

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    def _build(self, name: str) -> ColloquyChatModel:
        return ColloquyChatModel(
            model=name,
            base_url=self._base_url(),
            api_key=SecretStr(self._api_key()),
            http_async_client=self._client,
            openai_proxy=None,
            timeout=self._timeout,
            max_retries=0,
            stream_usage=True,
            use_responses_api=False,
            output_version="v0",
            patience=self._patience,
            price=self._settings.model_prices.get(name),
        )

    def _base_url(self) -> str:
        if not self.is_demo:
            return self._settings.openai_base_url or OPENAI_URL
        if not self._settings.demo_model_url:
            raise ConfigurationError(
                "No model is configured: set OPENAI_API_KEY or OPENAI_BASE_URL, "
                "or start with `make run`, which brings the demo model."
            )
        return self._settings.demo_model_url.rstrip("/") + "/v1"

    def _api_key(self) -> str:
        return self._settings.openai_api_key.get_secret_value() or "none"


class _BoundedLines(httpx2.AsyncByteStream):
    """An answer of which no line is too long for the memory: the SDK gathers any length."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    async def __aiter__(self) -> AsyncIterator[bytes]:
        length = 0
        async for chunk in self._inner:
            end = chunk.rfind(b"\n")
            length = len(chunk) - end - 1 if end >= 0 else length + len(chunk)
            if length > MAX_LINE_BYTES:
                raise httpx2.ReadError("a line of the answer is too long")
            yield chunk

    async def aclose(self) -> None:
        await self._inner.aclose()


async def _bound_lines(response: httpx2.Response) -> None:
    response.stream = _BoundedLines(response.stream)
