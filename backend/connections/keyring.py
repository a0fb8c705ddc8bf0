"""Encrypting values that must not be readable in the database, with Fernet (AES-128-CBC, HMAC).

The key is ENCRYPTION_KEY of the settings, or else a file in DATA_DIR that the first use creates and
all processes share. A database without the key, such as a backup, reveals nothing.
"""

import os
import secrets
from contextlib import suppress

import orjson
from cryptography.fernet import Fernet, InvalidToken

from backend.errors.models import KeyUnreadable
from backend.settings import Settings

FILE = "encryption.key"


class Keyring:
    """Seals texts, and opens what was sealed, in any process of this installation."""

    def __init__(self, settings: Settings) -> None:
        self._given = settings.encryption_key.get_secret_value()
        self._path = settings.data_dir / FILE

    def seal(self, text: str, bound_to: str) -> str:
        """Return the text encrypted; opening it needs the same `bound_to`."""
        key = self._read() or self._make()
        return Fernet(key).encrypt(orjson.dumps([bound_to, text])).decode()

    def open(self, sealed: str, bound_to: str, within_seconds: int | None = None) -> str:
        """Return the text, sealed at most `within_seconds` ago. Raise KeyUnreadable."""
        try:
            key = Fernet(self._read() or b"")
            bound, text = orjson.loads(key.decrypt(sealed.encode(), within_seconds))
        except (InvalidToken, ValueError):
            raise KeyUnreadable(self._lost()) from None
        if bound != bound_to:
            raise KeyUnreadable
        return str(text)

    def _read(self) -> bytes | None:
        if self._given:
            return self._given.encode()
        with suppress(OSError):
            return self._path.read_bytes().strip()
        return None

    def _make(self) -> bytes:
        """Create the file atomically; if another process is faster, its file counts.

        Raise OSError.
        """
        self._path.parent.mkdir(parents=True, exist_ok=True)
        beside = self._path.with_name(f".{FILE}-{secrets.token_hex(8)}")
        with open(beside, "xb", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
            file.write(Fernet.generate_key())
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileExistsError):
            os.link(beside, self._path)
        beside.unlink()
        return self._path.read_bytes().strip()

    def _lost(self) -> str:
        place = "ENCRYPTION_KEY of the settings" if self._given else f"the file {self._path}"
        return (
            f"The stored API key cannot be read: {place} is missing or not the one that it was"
            " encrypted with. Put it back, or enter the API key again on the Models page."
        )
