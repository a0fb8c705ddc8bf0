"""Random tokens: of sign-ins, for programs, and in links. Only their digests are stored."""

import hashlib
import secrets
from enum import StrEnum

BYTES = 32


class Kind(StrEnum):
    """What a token is for; it begins with this, so that people and scanners recognise it."""

    SIGN_IN = "cqs_"
    API = "cqt_"
    LINK = "cql_"


def new_token(kind: Kind) -> str:
    """Return a new token."""
    return kind + random_text()


def random_text() -> str:
    """Return a text that nobody can guess."""
    return secrets.token_urlsafe(BYTES)


def digest(token: str) -> str:
    """Return what is stored of a token. It is random, so a plain hash cannot be guessed back."""
    return hashlib.sha256(token.encode()).hexdigest()
