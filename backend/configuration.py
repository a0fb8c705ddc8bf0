"""Reads the settings, and reports an invalid one in a sentence instead of a traceback."""

import json
from typing import Any

from pydantic import ValidationError
from pydantic_settings import SettingsError

from backend.errors.base import ConfigurationError
from backend.settings import Settings


def read_settings() -> Settings:
    """Return the settings. Raise ConfigurationError, which says which one is wrong and why."""
    try:
        return Settings()
    except ValidationError as error:
        sentences = [_sentence(dict(found)) for found in error.errors(include_input=False)]
        raise ConfigurationError(" ".join(sentences)) from None
    except SettingsError as error:
        # Raised for a text that should be JSON, before any field is validated.
        name = next(name for name in Settings.model_fields if f'"{name}"' in str(error))
        (example,) = Settings.model_fields[name].examples or ({},)
        raise ConfigurationError(
            f"{name.upper()} must be a JSON object, such as {json.dumps(example)}."
        ) from None


def _sentence(found: dict[str, Any]) -> str:
    # Never quote the value: it may be a secret, or a URL that contains one.
    reason = str(found["msg"]).removeprefix("Value error, ").rstrip(".")
    name = ".".join(str(part) for part in found["loc"]).upper()
    if not name:
        return f"{reason}."
    return f"{name} is not usable: {reason[0].lower()}{reason[1:]}."
