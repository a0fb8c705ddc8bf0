"""The layers that protect a server from other sites, in their required order."""

from starlette.types import ASGIApp

from backend.addresses import Address
from backend.web.guard import Guard, Refuse, refuse_in_words
from backend.web.headers import NOTHING, SecureTransport, SecurityHeaders


def protect(
    app: ASGIApp, address: Address, policy: str = NOTHING, refuse: Refuse = refuse_in_words
) -> ASGIApp:
    """Return the protected app; refusals and unexpected errors also carry the security headers."""
    return SecurityHeaders(Guard(SecureTransport(app), address, refuse), policy)
