"""The HTTP client that asks models' endpoints, the same for turns and for tests of a connection."""

import os
from typing import Any

import httpx2

from backend.errors.base import ConfigurationError

_VARIABLES = ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR")


def open_client(*, trust_env: bool = True, **options: Any) -> httpx2.AsyncClient:
    """Return a client that trusts the system's certificates and uses the environment's proxy.

    Raise ConfigurationError if the environment names a proxy or a file that cannot be used.
    """
    try:
        return httpx2.AsyncClient(follow_redirects=True, trust_env=trust_env, **options)
    except (ImportError, ValueError, OSError) as error:
        given = [
            name for name in _VARIABLES if os.environ.get(name) or os.environ.get(name.lower())
        ]
        raise ConfigurationError(
            "Models cannot be asked: the environment has a proxy that is not an http:// or https://"
            f" address, or a file of certificates that cannot be read. Correct {', '.join(given)}."
        ) from error
