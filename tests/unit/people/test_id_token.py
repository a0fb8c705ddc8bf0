"""ID tokens: what is wrong with one is found, whatever it is."""

import hmac
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable
from typing import Any

import pytest
from joserfc import jwt
from joserfc.jwk import ECKey, Key, OKPKey, RSAKey

from backend.auth.oidc.id_token import Expected, verify
from backend.auth.oidc.metadata import ALGORITHMS
from backend.errors.people import AnswerRefused
from backend.types import JSON

Edit = Callable[[JSON], JSON]
ISSUER, CLIENT, SECRET = "https://login.example.com", "colloquy", b"the client secret"
KEY, OTHER_KEY = (RSAKey.generate_key(2048, {"kid": kid}) for kid in ("one", "two"))
EXPECTED = Expected(ISSUER, CLIENT, "a-nonce", "an-access-token", ALGORITHMS)


def claims(**more: Any) -> JSON:
    now = int(time.time())
    given = {"iss": ISSUER, "aud": CLIENT, "sub": "ada", "exp": now + 300, "iat": now}
    return {**given, "nonce": "a-nonce", **more}


def check(token: str, *keys: Key, renewed: Key | None = None) -> Any:
    return verify(token, keys or [KEY], lambda: [renewed] if renewed else keys or [KEY], EXPECTED)


def _signed(key: Any, **header: Any) -> Callable[[JSON], str]:
    return lambda claims: jwt.encode({"alg": "RS256", **header}, claims, key)


WRONG_CLAIMS: dict[str, tuple[str, Edit]] = {
    "expired": ("expired", lambda c: c | {"exp": int(time.time()) - 120}),
    "future": ("wrong iat", lambda c: c | {"iat": int(time.time()) + 600}),
    "not yet": ("wrong nbf", lambda c: c | {"nbf": int(time.time()) + 600}),
    "endless": ("wrong exp", lambda c: c | {"exp": "never"}),
    "without end": ("wrong exp", lambda c: {k: v for k, v in c.items() if k != "exp"}),
    "foreign": ("wrong aud", lambda c: c | {"aud": "another-client"}),
    "for several": ("wrong azp", lambda c: c | {"aud": [c["aud"], "another-client"]}),
    "made for another": ("wrong azp", lambda c: c | {"azp": "another-client"}),
    "of another issuer": ("wrong iss", lambda c: c | {"iss": c["iss"] + "/"}),
    "replayed": ("wrong nonce", lambda c: c | {"nonce": "of-another-sign-in"}),
    "without nonce": ("wrong nonce", lambda c: {k: v for k, v in c.items() if k != "nonce"}),
    "nobody": ("wrong sub", lambda c: c | {"sub": ""}),
    "no text": ("wrong sub", lambda c: c | {"sub": 7}),
    "other access token": ("wrong at_hash", lambda c: c | {"at_hash": "AAAAAAAAAAAAAAAAAAAAAA"}),
}


HS256 = b'{"alg":"HS256","kid":"one"}'


def _by_secret(secret: bytes) -> Callable[[JSON], str]:
    """Sign as one does who takes a public text for the key: joserfc would not."""

    def sign(claims: JSON) -> str:
        body = jwt.encode({"alg": "RS256"}, claims, KEY).split(".")[1]
        text = f"{_base64(HS256)}.{body}"
        return f"{text}.{_base64(hmac.digest(secret, text.encode(), 'sha256'))}"

    return sign


def _base64(data: bytes) -> str:
    return urlsafe_b64encode(data).decode().rstrip("=")


WRONG_SIGNATURES: dict[str, tuple[str, Callable[[JSON], str]]] = {
    "unknown key": ("wrong key", _signed(OTHER_KEY, kid="two")),
    "another key under its name": ("wrong signature", _signed(OTHER_KEY, kid="one")),
    "another key, unnamed": ("wrong signature", _signed(OTHER_KEY)),
    "the secret": (
        "wrong algorithm",
        _by_secret(SECRET),
    ),
    "the public key as a secret": (
        "wrong algorithm",
        _by_secret(KEY.as_pem(private=False)),
    ),
    "none": (
        "wrong algorithm",
        lambda c: "eyJhbGciOiJub25lIn0." + jwt.encode({"alg": "RS256"}, c, KEY).split(".")[1] + ".",
    ),
    "no token": ("unreadable", lambda _: "nonsense"),
}


@pytest.mark.parametrize(
    "key",
    [KEY, ECKey.generate_key("P-256"), ECKey.generate_key("P-521"), OKPKey.generate_key("Ed25519")],
    ids=["RS256", "ES256", "ES512", "Ed25519"],
)
def test_a_token_of_the_provider_is_accepted(key: Key, request: pytest.FixtureRequest) -> None:
    algorithm = request.node.callspec.id
    header = {"alg": algorithm, "x5t": "unknown parameters mean nothing"}
    token = jwt.encode(header, claims(aud=[CLIENT]), key, [algorithm])

    assert check(token, OTHER_KEY, key)["sub"] == "ada"


def test_a_clock_that_is_a_little_off_refuses_nobody() -> None:
    now = int(time.time())

    assert check(_signed(KEY)(claims(exp=now - 30, iat=now + 30)))


@pytest.mark.parametrize(("reason", "edit"), WRONG_CLAIMS.values(), ids=WRONG_CLAIMS)
def test_wrong_claims_are_refused(reason: str, edit: Edit) -> None:
    with pytest.raises(AnswerRefused, match="The provider's token") as refused:
        check(_signed(KEY, kid="one")(edit(claims())))

    assert refused.value.reason == reason


@pytest.mark.parametrize(("reason", "sign"), WRONG_SIGNATURES.values(), ids=WRONG_SIGNATURES)
def test_what_the_provider_did_not_sign_is_refused(
    reason: str, sign: Callable[[JSON], str]
) -> None:
    with pytest.raises(AnswerRefused) as refused:
        check(sign(claims()))

    assert refused.value.reason == reason


def test_a_newer_key_is_asked_for() -> None:
    token = _signed(OTHER_KEY, kid="two")(claims())

    assert check(token, KEY, renewed=OTHER_KEY)["sub"] == "ada"
