"""A connection to models: an endpoint, its key, and the model for domains that name none."""

from dataclasses import dataclass
from typing import Self
from urllib.parse import urlsplit

from pydantic import SecretStr

from backend.errors.base import ConfigurationError
from backend.outgoing.policy import Outgoing
from backend.settings import Settings

OPENAI_URL = "https://api.openai.com/v1"


@dataclass(frozen=True)
class Connection:
    """Where models are asked. An empty `base_url` means the demo model, which is not running."""

    base_url: str
    api_key: SecretStr
    default_model: str
    is_demo: bool = False

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Return the environment's connection: OPENAI_* and MODEL, else the demo model."""
        if settings.uses_demo_model:
            url = f"{settings.demo_model_url}/v1" if settings.demo_model_url else ""
        else:
            url = settings.openai_base_url or OPENAI_URL
        is_demo = settings.uses_demo_model
        return cls(url, settings.openai_api_key, settings.default_model, is_demo)

    @property
    def shown_url(self) -> str:
        """Return the URL as people may see it: the environment's may contain a password."""
        parts = urlsplit(self.base_url)
        return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()

    @property
    def endpoint(self) -> str:
        """Return the address that requests go to. Raise ConfigurationError if there is none."""
        if not self.base_url:
            raise ConfigurationError(
                "No model is configured: connect one on the Models page, set OPENAI_API_KEY or "
                "OPENAI_BASE_URL, or start with `make run`, which starts the demo model."
            )
        return self.base_url


def outgoing_of(settings: Settings) -> Outgoing:
    """Return where models may be asked: also at the addresses that the environment names."""
    return settings.outgoing.trusting(settings.openai_base_url, settings.demo_model_url)
