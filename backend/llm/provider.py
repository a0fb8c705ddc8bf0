"""Where chat models come from: OPENAI_* of the settings, else the demo model, on the same path."""

import httpx2
from pydantic import SecretStr

from backend.errors import ConfigurationError
from backend.llm.chat_model import SILENCE_SECONDS, ColloquyChatModel
from backend.settings import Settings

OPENAI_URL = "https://api.openai.com/v1"
CONNECT_SECONDS = 5.0
WRITE_SECONDS = 60.0
MAX_RETRIES = 2
LIMITS = httpx2.Limits(max_connections=1000, max_keepalive_connections=100)


class ModelProvider:
    """Gives chat models by name; they share one HTTP client, which belongs to one event loop."""

    def __init__(self, settings: Settings, *, silence_seconds: float = SILENCE_SECONDS) -> None:
        self.is_demo = settings.uses_demo_model
        self._settings = settings
        self._silence_seconds = silence_seconds
        self._models: dict[str, ColloquyChatModel] = {}
        self._timeout = httpx2.Timeout(
            silence_seconds, connect=CONNECT_SECONDS, write=WRITE_SECONDS
        )
        self._client = httpx2.AsyncClient(
            timeout=self._timeout, limits=LIMITS, follow_redirects=True, trust_env=not self.is_demo
        )

    def chat_model(self, name: str | None = None) -> ColloquyChatModel:
        """Return the named chat model, or the default one.

        Requests are tried again, twice, as long as nothing of the answer has arrived. Raises
        ConfigurationError if the demo model is wanted and no one has started it.
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
            max_retries=MAX_RETRIES,
            stream_usage=True,
            use_responses_api=False,
            output_version="v0",
            silence_seconds=self._silence_seconds,
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
