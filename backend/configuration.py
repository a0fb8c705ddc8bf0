"""Read the settings so that a wrong one is a sentence, not a traceback."""

from typing import Any

from pydantic import ValidationError
from pydantic_settings import SettingsError

from backend.errors import ConfigurationError
from backend.settings import Settings


def read_settings() -> Settings:
    """Read the settings; ConfigurationError says in one sentence which one is wrong and why."""
    try:
        return Settings()
    except ValidationError as error:
        sentences = [_sentence(dict(found)) for found in error.errors(include_input=False)]
        raise ConfigurationError(" ".join(sentences)) from None
    except SettingsError as error:
        # Raised for text that should be JSON, before any field is looked at.
        name = "SOURCE_URLS" if "source_urls" in str(error) else "A setting"
        raise ConfigurationError(
            f'{name} must be a JSON object, such as {{"sales": "postgresql://..."}}.'
        ) from None


def _sentence(found: dict[str, Any]) -> str:
    # Never the value: it may be a secret, or a URL that holds one.
    reason = str(found["msg"]).removeprefix("Value error, ").rstrip(".")
    name = ".".join(str(part) for part in found["loc"]).upper()
    if not name:
        return f"{reason}."
    return f"{name} is not usable: {reason[0].lower()}{reason[1:]}."
