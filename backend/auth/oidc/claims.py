"""What a provider's claims say of a person: name, address, groups. Pure."""

from collections.abc import Mapping
from typing import Any

from backend.auth.identities import Identity
from backend.errors.people import AnswerRefused

NAMES = ("name", "preferred_username", "nickname")
MOST_GROUPS = 5_000


def read_identity(claims: Mapping[str, Any], groups_claim: str | None) -> Identity:
    """Return whom verified claims name. Raise AnswerRefused."""
    # An address that the provider does not vouch for would only mislead.
    email = claims.get("email") if claims.get("email_verified") is not False else None
    names = (claims.get(name) for name in NAMES)
    return Identity(
        issuer=claims["iss"],
        subject=claims["sub"],
        name=next((name for name in names if isinstance(name, str) and name.strip()), None),
        email=email if isinstance(email, str) else None,
        groups=read_groups(claims, groups_claim) if groups_claim else frozenset(),
    )


def read_groups(claims: Mapping[str, Any], claim: str) -> frozenset[str]:
    """Return the values of a claim: a list of texts, or one text; without the claim, none.

    Raise AnswerRefused where the provider only says where to ask for them: without them, people
    would lose what their groups give (OpenID Connect Core 1.0, 5.6.2).
    """
    elsewhere = claims.get("_claim_names")
    if isinstance(elsewhere, Mapping) and claim in elsewhere:
        raise AnswerRefused(
            "groups elsewhere",
            f"The provider sends {claim!r} by reference, because you are in too many groups. Ask"
            " its administrators to send only those that are assigned to Colloquy.",
        )
    value = _value(claims, claim)
    values = [value] if isinstance(value, str) else value
    if not isinstance(values, list):
        return frozenset()
    return frozenset(one for one in values[:MOST_GROUPS] if isinstance(one, str))


def _value(claims: Any, path: str) -> Any:
    """Return a claim by its name, or what a dotted path leads to: a claim's name may have dots."""
    if isinstance(claims, Mapping) and path in claims:
        return claims[path]
    first, dot, rest = path.partition(".")
    if not dot or not isinstance(claims, Mapping):
        return None
    return _value(claims.get(first), rest)
