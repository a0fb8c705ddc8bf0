"""Reads the settings, and reports an invalid one in a sentence instead of a traceback."""

import json
import os
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from dotenv import dotenv_values
from pydantic import ValidationError
from pydantic_settings import SettingsError

from backend.errors.base import ConfigurationError
from backend.setting_files import SUFFIX, UnusableFile
from backend.settings import Settings

# Where Pydantic's own sentence speaks of Python's types.
REASONS: Mapping[str, str] = {
    "dict_type": "must be a JSON object",
    "model_type": "must be a JSON object",
    "extra_forbidden": "there is no such name here",
}
CALLED_FROM = "COLLOQUY_CALLED_FROM"  # the folder in which a person called `colloquy`
ALIKE = 0.8  # of the letters of a name: `UI_PORRT` is UI_PORT, `REDIS_URI` is REDIS_URL


def named_path(text: str) -> Path:
    """Return a path as a person named it to `colloquy`, whose parts run in Colloquy's folder."""
    return Path(os.environ.get(CALLED_FROM, ""), text)


def find_misspelt() -> list[str]:
    """Return a sentence for each name in `.env` that is almost a setting's.

    Other names there are nobody's mistake: they may be secrets that domains refer to.
    """
    settings = [name.upper() for name in Settings.model_fields]
    known = [*settings, *(name + SUFFIX for name in settings)]
    return [
        f"`.env` sets {name}, which is not a setting. Did you mean {meant}?"
        for name in dotenv_values(".env")
        if name.upper() not in known
        for meant in get_close_matches(name.upper(), known, 1, ALIKE)
    ]


def read_settings() -> Settings:
    """Return the settings. Raise ConfigurationError, which says which one is wrong and why."""
    try:
        return Settings()
    except UnusableFile as error:
        raise ConfigurationError(str(error)) from None
    except UnicodeDecodeError:
        raise ConfigurationError("`.env` is not encoded in UTF-8. Save it as UTF-8.") from None
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
    reason = REASONS.get(found["type"], str(found["msg"])).removeprefix("Value error, ").rstrip(".")
    if not found["loc"]:
        return f"{reason}."
    setting, *inside = map(str, found["loc"])
    name = ".".join((setting.upper(), *inside))
    return f"{name} is not usable: {reason[0].lower()}{reason[1:]}."
