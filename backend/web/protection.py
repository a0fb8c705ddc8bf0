"""The layers around a server: its requests' ids, and protection from other sites, in order."""

from starlette.types import ASGIApp

from backend.addresses import Address
from backend.web.guard import Guard, Refuse, refuse_in_words
from backend.web.headers import NOTHING, SecureTransport, SecurityHeaders
from backend.web.request_ids import RequestIds


def protect(
    app: ASGIApp, address: Address, policy: str = NOTHING, refuse: Refuse = refuse_in_words
) -> ASGIApp:
    """Return the protected app; refusals and unexpected errors carry the headers and an id, too."""
    guarded = Guard(SecureTransport(app), address, refuse)
    return RequestIds(SecurityHeaders(guarded, policy))
