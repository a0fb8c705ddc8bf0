"""Where a request comes from, also behind proxies that are trusted to say so."""

import ipaddress

from fastapi import Request

from backend.auth.sign_ins import Visitor
from backend.settings import Settings

FORWARDED = "x-forwarded-for"


def visitor_of(request: Request, settings: Settings) -> Visitor:
    """Return the visitor's address and browser.

    The pages' server on this machine, and TRUSTED_PROXIES, name the address that they were asked
    from; each further one only if it is trusted, too. All others are who they are.
    """
    address = request.client.host if request.client else ""
    hops = [one.strip() for one in request.headers.get(FORWARDED, "").split(",") if one.strip()]
    while hops and is_trusted(address, settings):
        address = hops.pop()
    return Visitor(address[:100], request.headers.get("user-agent", ""))


def is_trusted(address: str, settings: Settings) -> bool:
    """Return whether what this address says of others is believed."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return False
    return found.is_loopback or any(found in network for network in settings.proxies)
