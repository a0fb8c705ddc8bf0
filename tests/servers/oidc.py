"""A scripted OpenID Connect provider: strict about requests, wrong in its answers if told so."""

import base64
import hashlib
import json
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote_plus, urlencode, urlsplit
from uuid import uuid4

from joserfc import jwt
from joserfc.jwk import Key, RSAKey

from backend.types import JSON

CLIENT_ID, CLIENT_SECRET = "colloquy & co", "s3cret:with/signs%"
SCOPES = {"openid", "profile", "email"}


def new_key(kid: str) -> Key:
    """Return a key that a provider signs with."""
    return RSAKey.generate_key(2048, {"kid": kid, "use": "sig"})


KEY = new_key("one")


class OidcProvider:
    """Serves a provider on loopback; `person` signs in there at once.

    `metadata` and `userinfo` are merged into what it says; `edit` changes the claims of a token,
    and `sign` how it is signed. Codes count once, for the client and verifier that began.
    """

    def __init__(self, **person: Any) -> None:
        self.person: JSON = {"sub": f"sub-{uuid4().hex[:8]}", **person}
        self.metadata: JSON = {}
        self.userinfo: JSON = {}
        self.keys: list[Key] = [KEY]
        self.edit: Callable[[JSON], JSON] = dict
        self.sign: Callable[[JSON], str] = lambda claims: jwt.encode(
            {"alg": "RS256", "kid": KEY.kid}, claims, KEY
        )
        self.calls: list[str] = []
        self.codes: dict[str, JSON] = {}
        provider = self

        class Handler(_Handler):
            pass

        Handler.provider = provider
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.issuer = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> "OidcProvider":
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def settings(self, **more: Any) -> JSON:
        """Return this provider as Colloquy's settings describe one."""
        return {
            "name": "Scripted",
            "issuer": self.issuer,
            "client_id": CLIENT_ID,
            "client_secret": CLIENT_SECRET,
            **more,
        }

    def describe(self) -> JSON:
        """Return the provider's description, as it is published."""
        return {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize?tenant=1",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/jwks",
            "userinfo_endpoint": f"{self.issuer}/userinfo",
            "id_token_signing_alg_values_supported": ["RS256", "ES256", "HS256", "none"],
            "code_challenge_methods_supported": ["S256"],
            "authorization_response_iss_parameter_supported": True,
            **self.metadata,
        }

    def sign_in(self, url: str) -> JSON:
        """Be the browser at the authorization endpoint; return with what it comes back."""
        asked = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
        assert url.startswith(f"{self.issuer}/authorize?tenant=1&"), url
        assert (asked["response_type"], asked["client_id"]) == ("code", CLIENT_ID)
        assert asked["code_challenge_method"] == "S256"
        assert set(asked["scope"].split()) == SCOPES
        code = uuid4().hex
        self.codes[code] = asked
        return {"code": code, "state": asked["state"], "iss": self.issuer}

    def redeem(self, form: dict[str, str], authorization: str) -> tuple[int, JSON]:
        """Answer at the token endpoint."""
        name, _, secret = (
            base64.b64decode(authorization.removeprefix("Basic ")).decode().partition(":")
        )
        if (unquote_plus(name), unquote_plus(secret)) != (CLIENT_ID, CLIENT_SECRET):
            return 401, {"error": "invalid_client"}
        asked = self.codes.pop(form["code"], None)
        if asked is None or form["redirect_uri"] != asked["redirect_uri"]:
            return 400, {"error": "invalid_grant"}
        challenge = hashlib.sha256(form["code_verifier"].encode()).digest()
        if base64.urlsafe_b64encode(challenge).rstrip(b"=").decode() != asked["code_challenge"]:
            return 400, {"error": "invalid_grant"}
        now = int(time.time())
        claims = {"iss": self.issuer, "aud": CLIENT_ID, "exp": now + 300, "iat": now}
        claims |= {"nonce": asked["nonce"], **self.person}
        token = self.sign(self.edit(claims))
        return 200, {"access_token": "an-access-token", "token_type": "Bearer", "id_token": token}


class _Handler(BaseHTTPRequestHandler):
    provider: OidcProvider

    def do_GET(self) -> None:
        provider, path = self.provider, urlsplit(self.path).path
        provider.calls.append(path)
        if path == "/.well-known/openid-configuration":
            self._answer(200, provider.describe())
        elif path == "/jwks":
            self._answer(200, {"keys": [key.as_dict(private=False) for key in provider.keys]})
        elif path == "/userinfo":
            assert self.headers["Authorization"] == "Bearer an-access-token"
            self._answer(200, {"sub": provider.person["sub"], **provider.userinfo})
        else:
            self._answer(404, {})

    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        form = {k: v[0] for k, v in parse_qs(self.rfile.read(length).decode()).items()}
        self.provider.calls.append(self.path)
        self._answer(*self.provider.redeem(form, self.headers.get("Authorization", "")))

    def _answer(self, status: int, body: JSON) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


def answer_of(query: str) -> JSON:
    """Return the parameters of an answer that are ours, from a redirect's address."""
    found = parse_qs(urlsplit(query).query)
    return {name: found[name][0] for name in ("state", "code", "iss", "error") if name in found}


def address(base: str, answer: JSON) -> str:
    """Return the address by which a browser brings an answer."""
    return f"{base}?{urlencode(answer)}"
