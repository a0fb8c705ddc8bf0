"""The pages' server: Streamlit as an ASGI application, behind checks of host and origin."""

import asyncio
import gc
import hashlib
import re
from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import streamlit
from starlette.requests import ClientDisconnect
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit.web.bootstrap import load_config_options

from backend.addresses import Address, Networks
from backend.web.identity import HeaderNames, IdentityHeaders
from backend.web.protection import protect
from ui import features, index_page, pass_through
from ui.async_api import AsyncApi
from ui.other_versions import ask_others
from ui.relay import route as relay
from ui.shared import assets, banners
from ui.sign_in.checks import Checks
from ui.sign_in.gate import SIGN_IN_HEADER, Gate
from ui.sign_in.pages_key import check_key
from ui.sign_in.providers import ProviderRoutes
from ui.sign_in.routes import SignInRoutes
from ui.sign_in.tokens import Tokens

SCRIPT = Path(__file__).parent / "app.py"
INLINE_SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)
NAMES = HeaderNames("Remote-User", "Remote-Email", "Remote-Name", "Remote-Groups")
GARBAGE_EVERY = 10_000  # new objects; drawing one page makes thousands


def create_app(address: Address, proxies: Networks = (), names: HeaderNames = NAMES) -> ASGIApp:
    """Make the pages' application for this address.

    `proxies`: whom to believe who a person is, in headers of these names.
    """
    # As `streamlit run` does with its flags: they override files and the environment.
    load_config_options(options(address))
    api = AsyncApi()
    checks = Checks(api)
    tokens = Tokens(api, checks)
    own: list[BaseRoute] = [
        *SignInRoutes(api, checks, tokens).routes,
        *ProviderRoutes(api, checks).routes,
    ]
    own += [relay.route(api), pass_through.route(api)]
    own += [assets.route(), *index_page.routes()]
    app = streamlit.App(SCRIPT, lifespan=prepared, routes=own, on_script_error=banners.unexpected)
    gate = Gate(ask_others(until_left(app)), checks, tokens)
    return protect(IdentityHeaders(gate, proxies, names), address, page_policy())


@asynccontextmanager
async def prepared(_: streamlit.App) -> AsyncIterator[None]:
    """Import what pages need before the first one opens, and check that the API knows these pages.

    The first page would wait for the imports. Garbage collection stops all pages and streams, so it
    is rare, and not over modules, which stay.
    """
    for found in walk_packages(features.__path__, f"{features.__name__}."):
        import_module(found.name)
    gc.freeze()
    gc.set_threshold(GARBAGE_EVERY)
    checking = asyncio.create_task(check_key())
    yield
    checking.cancel()


def options(address: Address) -> dict[str, object]:
    """Return Streamlit's options for the address: a second check behind our own."""
    return {
        "server.address": address.host,
        "server.port": address.port,
        "server.allowedHosts": sorted({name for name, _ in address.schemes}),
        "server.corsAllowedOrigins": sorted(address.origins),
        "server.enableCORS": True,
        "server.enableXsrfProtection": True,
        "server.enableAgentApi": False,
        "server.enableStaticServing": False,
        "client.allowedOrigins": [],  # origins that may control our pages from a frame
        # Streamlit resumes a session only for the same value: see `ui.sign_in.gate`.
        "server.trustedUserHeaders": {SIGN_IN_HEADER: "sign_in"},
        "browser.serverAddress": address.public_host,
        "browser.serverPort": address.public_port,
    }


def page_policy() -> str:
    """Return the Content-Security-Policy: pages load only from us, and no other site frames them.

    Streamlit creates `style` elements at run time. Its own inline scripts are allowed by their
    digests, so that no others can run.
    """
    scripts = INLINE_SCRIPT.findall(index_page.INDEX.read_text())
    digests = " ".join(f"'sha256-{_digest(script)}'" for script in scripts)
    return "; ".join(
        (
            "default-src 'self'",
            # Streamlit loads component scripts from blobs, which only scripts can create.
            f"script-src 'self' blob: {digests}",
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data: blob:",
            "font-src 'self' data:",
            "media-src 'self' data: blob:",
            "connect-src 'self'",
            "worker-src 'self' blob:",
            "frame-src 'none'",
            "object-src 'none'",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
        )
    )


def until_left(app: ASGIApp) -> ASGIApp:
    """Return the app without its complaint about a browser that leaves in the middle of a form.

    The log would have it as a failure of ours.
    """

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        with suppress(ClientDisconnect):
            await app(scope, receive, send)

    return serve


def _digest(script: str) -> str:
    return b64encode(hashlib.sha256(script.encode()).digest()).decode()
