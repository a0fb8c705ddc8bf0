"""ID tokens: checked by signature and claims (OpenID Connect Core 1.0, 3.1.3.7). Pure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from authlib.oidc.core import CodeIDToken
from joserfc import jws, jwt
from joserfc.errors import (
    BadSignatureError,
    ExpiredTokenError,
    InvalidClaimError,
    JoseError,
    MissingClaimError,
)
from joserfc.jwk import Key
from joserfc.jws import JWSRegistry

from backend.errors.people import AnswerRefused

LEEWAY_SECONDS = 60  # between our clock and the provider's
LONGEST_SUBJECT = 255  # OpenID Connect Core 1.0, 2
LONGEST_HEADER = 16_384  # some hold a chain of certificates
_WRONG = {
    "iss": "is from another issuer than the one that was asked",
    "aud": "is for another application",
    "azp": "was made for another application",
    "nonce": "belongs to another sign-in",
    "iat": "is dated in the future",
    "nbf": "is dated in the future",
    "at_hash": "belongs to another access token",
}


@dataclass(frozen=True)
class Expected:
    """What a token must say."""

    issuer: str
    client_id: str
    nonce: str
    access_token: str
    algorithms: Sequence[str]


class KeyUnknown(Exception):
    """None of the keys is the one that a token names."""


def verify(
    token: str, keys: Sequence[Key], renewed_keys: Callable[[], Sequence[Key]], expected: Expected
) -> Mapping[str, Any]:
    """Return the claims of a token that is what was expected. Raise AnswerRefused."""
    try:
        try:
            found = _decode(token, keys, expected)
        except (KeyUnknown, BadSignatureError):
            found = _decode(token, renewed_keys(), expected)
        _check_claims(found, expected)
    except KeyUnknown:
        words = "is signed with a key that the provider does not publish"
        raise _refused("wrong key", words) from None
    except BadSignatureError:
        words = "has a signature that is not the provider's"
        raise _refused("wrong signature", words) from None
    except ExpiredTokenError:
        raise _refused("expired", "has expired; the clocks may differ") from None
    except (InvalidClaimError, MissingClaimError) as error:
        claim = str(error.claim)
        words = _WRONG.get(claim, f"has no valid {claim[:40]!r}")
        raise _refused(f"wrong {claim}"[:80], words) from None
    except (JoseError, ValueError, TypeError, RecursionError):
        raise _refused("unreadable", "cannot be read") from None
    return dict(found.claims)


def _decode(token: str, keys: Sequence[Key], expected: Expected) -> jwt.Token:
    # Parameters of a header that we do not know mean nothing (RFC 7515, 4), unless `crit` says so.
    registry = JWSRegistry(algorithms=expected.algorithms, strict_check_header=False)
    registry.max_header_length = LONGEST_HEADER
    header = jws.extract_compact(token.encode(), registry=registry).headers()
    algorithm = str(header.get("alg"))
    if algorithm not in expected.algorithms:
        words = f"is signed by {algorithm[:20]!r}, which is not accepted"
        raise _refused("wrong algorithm", words)
    kid, refusal = header.get("kid"), cast(Exception, KeyUnknown())
    fitting = [key for key in keys if _fits(key, algorithm) and kid in (None, key.kid)]
    for key in fitting:
        try:
            return jwt.decode(token, key, algorithms=[algorithm], registry=registry)
        except BadSignatureError as error:
            refusal = error
    raise refusal


def _fits(key: Key, algorithm: str) -> bool:
    model = JWSRegistry.algorithms[algorithm]
    return key.key_type == model.key_type and key.alg in (None, algorithm)


def _check_claims(found: jwt.Token, expected: Expected) -> None:
    options = {
        "iss": {"essential": True, "value": expected.issuer},
        "aud": {"essential": True, "value": expected.client_id},
        "sub": {"essential": True},
    }
    of_sign_in = {
        "client_id": expected.client_id,
        "nonce": expected.nonce,
        "access_token": expected.access_token,
    }
    CodeIDToken(found.claims, found.header, options, of_sign_in).validate(leeway=LEEWAY_SECONDS)
    if len(found.claims["sub"]) > LONGEST_SUBJECT:
        raise InvalidClaimError("sub")


def _refused(reason: str, words: str) -> AnswerRefused:
    return AnswerRefused(
        reason, f"The provider's token {words}, so nobody was signed in. Begin again."
    )
