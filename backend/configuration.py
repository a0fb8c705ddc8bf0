"""Read the settings so that a wrong one is a sentence, not a traceback."""

import json
from typing import Any

from pydantic import ValidationError
from pydantic_settings import SettingsError

from backend.errors.base import ConfigurationError
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
        name = next(name for name in Settings.model_fields if f'"{name}"' in str(error))
        (example,) = Settings.model_fields[name].examples or ({},)
        raise ConfigurationError(
            f"{name.upper()} must be a JSON object, such as {json.dumps(example)}."
        ) from None


def _sentence(found: dict[str, Any]) -> str:
    # Never the value: it may be a secret, or a URL that holds one.
    reason = str(found["msg"]).removeprefix("Value error, ").rstrip(".")
    name = ".".join(str(part) for part in found["loc"]).upper()
    if not name:
        return f"{reason}."
    return f"{name} is not usable: {reason[0].lower()}{reason[1:]}."
