"""All that keeps other sites out of a server, in the one order in which it holds."""

from starlette.types import ASGIApp

from backend.addresses import Address
from backend.web.guard import Guard, Refuse, refuse_in_words
from backend.web.headers import NOTHING, SecureCookies, SecurityHeaders


def protect(
    app: ASGIApp, address: Address, policy: str = NOTHING, refuse: Refuse = refuse_in_words
) -> ASGIApp:
    """Return the app as it may be served: refusals and unexpected errors carry the headers, too."""
    return SecurityHeaders(Guard(SecureCookies(app), address, refuse), policy)
