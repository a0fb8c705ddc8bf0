"""What providers publish of themselves: addresses and keys, checked, and remembered for a while."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any

from joserfc.errors import JoseError
from joserfc.jwk import Key, import_key
from pydantic import BaseModel, ValidationError

from backend.auth.oidc.http import get_object
from backend.auth.oidc.provider import Provider
from backend.errors.people import ProviderFails
from backend.schemas.people.providers import Endpoint

WELL_KNOWN = "/.well-known/openid-configuration"
KEPT_SECONDS = 600.0
RENEWED_SECONDS = 5.0  # tokens with unknown keys do not make us ask more often
# Signatures by keys that only the provider holds. Never `none`, and never HMAC: its key would be
# the client secret, or a public key taken for one (RFC 8725, 2.1 and 3.1).
ALGORITHMS = (
    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "Ed25519",
    "EdDSA",
)  # fmt: skip
PKCE = "S256"
MOST_KEYS = 100


class Metadata(BaseModel):
    """The provider's own description (OpenID Connect Discovery 1.0, 3; RFC 8414, 2)."""

    issuer: str
    authorization_endpoint: Endpoint
    token_endpoint: Endpoint
    jwks_uri: Endpoint
    userinfo_endpoint: Endpoint | None = None
    id_token_signing_alg_values_supported: list[str] = ["RS256"]
    token_endpoint_auth_methods_supported: list[str] = ["client_secret_basic"]
    code_challenge_methods_supported: list[str] | None = None
    authorization_response_iss_parameter_supported: bool = False

    @property
    def algorithms(self) -> tuple[str, ...]:
        """Return the algorithms that its tokens may be signed with."""
        offered = self.id_token_signing_alg_values_supported
        return tuple(name for name in ALGORITHMS if name in offered)


def read_metadata(document: dict[str, Any], issuer: str) -> Metadata:
    """Return a provider's description if it is usable, and of this issuer. Raise ProviderFails."""
    try:
        found = Metadata.model_validate(document)
    except ValidationError as error:
        fault = error.errors(include_input=False)[0]
        where = ".".join(map(str, fault["loc"]))
        reason = str(fault["msg"]).removeprefix("Value error, ")
        raise ProviderFails(
            f"The provider's description is not usable: {where}: {reason}."
        ) from None
    if found.issuer != issuer:
        raise ProviderFails(
            f"The provider calls itself {found.issuer[:300]!r}, not {issuer!r}. The issuer must be"
            " the same letter by letter."
        )
    if not found.algorithms:
        raise ProviderFails(
            f"The provider signs with none of these algorithms: {', '.join(ALGORITHMS)}."
        )
    offered = found.code_challenge_methods_supported
    if offered is not None and PKCE not in offered:
        raise ProviderFails(f"The provider does not offer PKCE with {PKCE}.")
    return found


def read_keys(document: dict[str, Any]) -> tuple[Key, ...]:
    """Return the keys that signatures may be checked with; unknown kinds are left out.

    Raise ProviderFails if there is none.
    """
    given = document.get("keys")
    found: list[Key] = []
    for one in given[:MOST_KEYS] if isinstance(given, list) else ():
        if not isinstance(one, dict) or one.get("kty") == "oct" or one.get("use", "sig") != "sig":
            continue
        try:
            found.append(import_key(one))
        except (JoseError, ValueError, TypeError, KeyError):
            continue
    if not found:
        raise ProviderFails("The provider publishes no keys that its tokens could be checked with.")
    return tuple(found)


@dataclass(frozen=True)
class Published:
    """A provider's description and keys, and when they were read."""

    metadata: Metadata
    keys: Sequence[Key]
    read_at: float


class Directory:
    """What providers have published, read when it is needed; several threads may ask."""

    def __init__(self) -> None:
        self._known: dict[str, Published] = {}
        self._lock = Lock()

    def find(self, provider: Provider) -> Published:
        """Return what a provider publishes, read within ten minutes. Raise ProviderFails."""
        return self._find(provider, KEPT_SECONDS)

    def renewed(self, provider: Provider) -> Published:
        """Return it anew, because a key is missing: providers change theirs at any time."""
        return self._find(provider, RENEWED_SECONDS)

    def _find(self, provider: Provider, kept_seconds: float) -> Published:
        known = self._known.get(provider.issuer)
        if known is None or time.monotonic() - known.read_at > kept_seconds:
            known = look_up(provider)
            with self._lock:
                self._known[provider.issuer] = known
        return known


def look_up(provider: Provider) -> Published:
    """Read what a provider publishes. Raise ProviderFails."""
    place, outgoing = provider.issuer.rstrip("/") + WELL_KNOWN, provider.outgoing
    metadata = read_metadata(get_object(place, outgoing), provider.issuer)
    keys = read_keys(get_object(metadata.jwks_uri, outgoing))
    return Published(metadata, keys, time.monotonic())
