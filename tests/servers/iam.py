"""Canaille, a real OpenID Connect provider, in a process of its own: `python -m tests.servers.iam`.

It knows the people that it is told of; clients register themselves, as its own protocol has it.
"""

import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx

from backend.types import JSON
from tests.processes import free_port, kill_process, launch

PATIENCE_SECONDS = 60
SCOPES = "openid profile email groups"


@contextmanager
def canaille(home: Path, *people: JSON) -> Iterator[str]:
    """Run the provider, and give its issuer. A person: user_name, password, groups and more."""
    port = free_port()
    environment = {**os.environ, "AUTHLIB_INSECURE_TRANSPORT": "1"}  # it is on loopback
    arguments = ("-m", "tests.servers.iam", str(port), json.dumps(people))
    process = launch(arguments, environment, home / "canaille.log")
    try:
        issuer = f"http://localhost:{port}"
        wait_until_there(issuer, process.poll)
        yield issuer
    finally:
        kill_process(process)


def wait_until_there(issuer: str, ended: Any) -> None:
    """Wait until a provider publishes its description."""
    until = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < until:
        assert ended() is None, "the provider has ended; see its log"
        try:
            httpx.get(f"{issuer}/.well-known/openid-configuration").raise_for_status()
        except httpx.TransportError:
            time.sleep(0.1)
        else:
            return
    raise TimeoutError(issuer)


def register(issuer: str, redirect_url: str) -> JSON:
    """Register Colloquy there, and return the settings of this provider."""
    described = httpx.get(f"{issuer}/.well-known/openid-configuration").json()
    wanted = {
        "client_name": "Colloquy",
        "redirect_uris": [redirect_url],
        "grant_types": ["authorization_code"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "client_secret_basic",
        "scope": SCOPES,
    }
    made = httpx.post(described["registration_endpoint"], json=wanted)
    assert made.status_code == 201, made.text
    client = made.json()
    return {
        "issuer": described["issuer"],
        "client_id": client["client_id"],
        "client_secret": client["client_secret"],
        "scopes": SCOPES,
    }


def main() -> None:
    """Serve until the process is killed."""
    from canaille import create_app
    from canaille.app import models
    from canaille.backends import Backend
    from joserfc.jwk import JWKRegistry
    from pytest_iam import Server

    port, people = int(sys.argv[1]), json.loads(sys.argv[2])
    key = JWKRegistry.generate_key("RSA", 2048)
    key.ensure_kid()
    settings = {
        "TESTING": True,
        "SECRET_KEY": str(uuid4()),
        "WTF_CSRF_ENABLED": False,
        "PREFERRED_URL_SCHEME": "http",
        "SERVER_NAME": f"localhost:{port}",
        "CANAILLE": {
            "DATABASE": "memory",
            "JAVASCRIPT": False,
            "ACL": {"DEFAULT": {"PERMISSIONS": ["use_oidc", "edit_self"], "READ": ["user_name"]}},
        },
        "CANAILLE_OIDC": {
            "DYNAMIC_CLIENT_REGISTRATION_OPEN": True,
            "ACTIVE_JWKS": [key.as_dict(private=True)],
        },
    }
    app = create_app(config=settings, env_file="", env_prefix="NO_SUCH_SETTING_")
    server = Server(app, port, Backend.instance, logging=True)
    groups: dict[str, list[Any]] = {}
    with app.app_context():
        for person in people:
            named = person.pop("groups", [])
            user = models.User(**person)
            Backend.instance.save(user)
            for name in named:
                groups.setdefault(name, []).append(user)
        for name, members in groups.items():
            Backend.instance.save(models.Group(display_name=name, members=members))
    server.httpd.serve_forever()


if __name__ == "__main__":
    main()
