"""The authorization code flow with PKCE: a browser is sent to a provider, and comes back once."""

import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, cast
from urllib.parse import quote_plus

import httpx2
from authlib.integrations.httpx_client import OAuth2Client
from sqlalchemy import delete, func, insert, select
from sqlalchemy.orm import Session

from backend.auth.identities import Identity
from backend.auth.oidc import http
from backend.auth.oidc.claims import read_identity
from backend.auth.oidc.id_token import Expected, verify
from backend.auth.oidc.metadata import PKCE, Directory, Metadata
from backend.auth.oidc.provider import Provider
from backend.auth.tokens import digest, random_text
from backend.errors.people import AnswerRefused, ProviderFails, TooManySignIns
from backend.schemas.people.providers import ProviderAnswer, ProviderSignIn, ProviderVisit
from db.models.people.provider import OidcRequestRow
from db.session import Database

WAY = "oidc"
LASTS = timedelta(minutes=10)
MOST_BEGUN = 10_000  # nobody has signed in yet, so anybody could begin more
BASIC = "client_secret_basic"
AGAIN = "Open the sign-in page and begin again."


@dataclass(frozen=True)
class Begun:
    """A sign-in that waited for its answer; `link_hash`: by whose one-time link."""

    issuer: str
    nonce: str
    verifier: str
    link_hash: str | None


def begin(
    database: Database, directory: Directory, provider: Provider, wanted: ProviderSignIn
) -> ProviderVisit:
    """Return where to send the browser. Raise ProviderFails, TooManySignIns."""
    metadata = directory.find(provider).metadata
    state, nonce, verifier = (random_text() for _ in range(3))
    browser_key, link_token = wanted.browser_key or random_text(), wanted.link_token
    with database.transaction() as session:
        _make_room(session)
        session.execute(
            insert(OidcRequestRow).values(
                state_hash=digest(state),
                provider_id=provider.id,
                issuer=provider.issuer,
                nonce=nonce,
                verifier=verifier,
                browser_hash=digest(browser_key),
                link_hash=digest(link_token) if link_token else None,
                expires_at=func.clock_timestamp() + LASTS,
            )
        )
    with _client(provider, metadata) as client:
        url, _ = client.create_authorization_url(
            metadata.authorization_endpoint, state, code_verifier=verifier, nonce=nonce
        )
    return ProviderVisit(url=url, browser_key=browser_key, lasts_seconds=int(LASTS.total_seconds()))


def take_request(database: Database, answer: ProviderAnswer) -> Begun:
    """Return what an answer belongs to. It is gone then: it counts once, right or wrong.

    Raise AnswerRefused if it is for no sign-in, another browser's, or another provider's.
    """
    row = OidcRequestRow
    with database.transaction() as session:
        taken = session.execute(
            delete(row)
            .where(row.state_hash == digest(answer.state))
            .returning(*row.__table__.columns, row.expires_at > func.clock_timestamp())
        ).one_or_none()
    if taken is None or not taken[-1]:
        words = f"This sign-in was used before, or took longer than ten minutes. {AGAIN}"
        raise AnswerRefused("no such sign-in", words)
    if not hmac.compare_digest(taken.browser_hash, digest(answer.browser_key)):
        words = f"This sign-in was begun in another browser. {AGAIN}"
        raise AnswerRefused("another browser", words)
    if taken.provider_id != answer.provider:
        words = f"This answer came to another provider's address. {AGAIN}"
        raise AnswerRefused("another provider", words)
    return Begun(taken.issuer, taken.nonce, taken.verifier, taken.link_hash)


def redeem(
    directory: Directory, provider: Provider, begun: Begun, answer: ProviderAnswer
) -> Identity:
    """Return whom a provider's answer names. Raise AnswerRefused, ProviderFails."""
    metadata = directory.find(provider).metadata
    code = _check_answer(answer, provider, begun, metadata)
    token = _exchange(provider, metadata, code, begun.verifier)
    access_token = str(token.get("access_token") or "")
    expected = Expected(
        issuer=provider.issuer,
        client_id=provider.client_id,
        nonce=begun.nonce,
        access_token=access_token,
        algorithms=metadata.algorithms,
    )
    claims = verify(
        str(token.get("id_token") or ""),
        directory.find(provider).keys,
        lambda: directory.renewed(provider).keys,
        expected,
    )
    more = _userinfo(provider, metadata, access_token, str(claims["sub"]))
    return read_identity({**more, **claims}, provider.groups_claim)


def is_secret_accepted(provider: Provider, metadata: Metadata) -> bool:
    """Return whether the provider knows our client: a wrong code is refused in another way."""
    answer = _ask_for_token(provider, metadata, "a-code-that-was-never-issued", random_text())
    return answer.get("error") not in ("invalid_client", "unauthorized_client")


def _check_answer(
    answer: ProviderAnswer, provider: Provider, begun: Begun, metadata: Metadata
) -> str:
    """Return the code of an answer of the provider that was asked. Raise AnswerRefused.

    `iss` tells one provider's answer from another's (RFC 9207).
    """
    is_missing = answer.iss is None and metadata.authorization_response_iss_parameter_supported
    if begun.issuer != provider.issuer or is_missing or answer.iss not in (None, begun.issuer):
        words = f"The answer is not from the provider that was asked. {AGAIN}"
        raise AnswerRefused("wrong issuer", words)
    if answer.error == "access_denied":
        words = f"{provider.name} did not let you in, or you cancelled. {AGAIN}"
        raise AnswerRefused("access_denied", words)
    if answer.error is not None or not answer.code:
        error = _word(answer.error) or "no code"
        words = f"{provider.name} answered with an error ({error}). {AGAIN}"
        raise AnswerRefused(error, words)
    return answer.code


def _exchange(
    provider: Provider, metadata: Metadata, code: str, verifier: str
) -> Mapping[str, Any]:
    token = _ask_for_token(provider, metadata, code, verifier)
    if "error" not in token:
        return token
    error = _word(token["error"]) or "an unknown error"
    if error in ("invalid_client", "unauthorized_client"):
        raise ProviderFails(
            f"{provider.name} refuses the client id or the client secret. Tell an administrator:"
            " it has to be set anew."
        )
    raise AnswerRefused(error, f"{provider.name} did not accept the code ({error}). {AGAIN}")


def _ask_for_token(
    provider: Provider, metadata: Metadata, code: str, verifier: str
) -> Mapping[str, Any]:
    """Return the answer of the token endpoint, an error included. Raise ProviderFails."""
    url = metadata.token_endpoint
    with http.explained(url), _client(provider, metadata) as client:
        answer = client.post(
            url,
            data={
                "grant_type": "authorization_code",
                "code": code,
                "redirect_uri": provider.redirect_url,
                "code_verifier": verifier,
            },
            auth=_client_auth(client),
        )
    found = http.read_object(answer, f"The token endpoint of {provider.name}")
    if answer.status_code != httpx2.codes.OK and "error" not in found:
        raise ProviderFails(f"{provider.name} answered with HTTP status {answer.status_code}.")
    return found


def _client(provider: Provider, metadata: Metadata) -> OAuth2Client:
    client = OAuth2Client(
        client_id=provider.client_id,
        client_secret=provider.client_secret.get_secret_value(),
        token_endpoint_auth_method=_auth_method(provider, metadata),
        scope=provider.scopes,
        redirect_uri=provider.redirect_url,
        code_challenge_method=PKCE,
    )
    return cast(OAuth2Client, http.bounded(client, provider.outgoing))


def _auth_method(provider: Provider, metadata: Metadata) -> str:
    methods = metadata.token_endpoint_auth_methods_supported
    if not provider.client_secret.get_secret_value():
        return "none"
    is_post = BASIC not in methods and "client_secret_post" in methods
    return "client_secret_post" if is_post else BASIC


def _client_auth(client: OAuth2Client) -> httpx2.Auth:
    """Return what shows the provider that it is us.

    Authlib does not encode a user name and a password as forms are first (RFC 6749, 2.3.1).
    """
    if client.token_endpoint_auth_method == BASIC:
        return httpx2.BasicAuth(quote_plus(client.client_id), quote_plus(client.client_secret))
    return cast(httpx2.Auth, client.client_auth(client.token_endpoint_auth_method))


def _userinfo(
    provider: Provider, metadata: Metadata, access_token: str, subject: str
) -> Mapping[str, Any]:
    """Return what the provider says besides: many name people and groups only there.

    Raise AnswerRefused if it is about somebody else (OpenID Connect Core 1.0, 5.3.2).
    """
    if metadata.userinfo_endpoint is None or not access_token:
        return {}
    found = http.get_object(metadata.userinfo_endpoint, provider.outgoing, access_token)
    if found.get("sub") != subject:
        words = f"The provider speaks of two different people. {AGAIN}"
        raise AnswerRefused("wrong userinfo", words)
    return found


def _make_room(session: Session) -> None:
    """Forget sign-ins that were given up. Raise TooManySignIns."""
    row = OidcRequestRow
    session.execute(delete(row).where(row.expires_at < func.clock_timestamp()))
    if (session.scalar(select(func.count()).select_from(row)) or 0) >= MOST_BEGUN:
        raise TooManySignIns("Too many people are signing in. Try again in a few minutes.")


def _word(error: object) -> str:
    """Return an error's code, if it is one: it came by way of the browser."""
    text = str(error or "")
    return text if text.replace("_", "").isalnum() and text.isascii() and len(text) < 60 else ""
