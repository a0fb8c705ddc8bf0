"""Headers and variables that could take a secret elsewhere than to the place it is bound to. Pure.

Behind one address, a gateway chooses the server by headers such as Host. A child process connects
through a proxy, and trusts certificates, that its variables name.
"""

import re
from collections.abc import Iterator, Mapping

from backend.schemas.domains.templates import McpServer, StdioServer

# Names, or prefixes and suffixes with *; case is ignored.
_HEADERS = ("host", "forwarded", "via", "proxy-*", "x-forwarded-*", "x-original-*", "x-rewrite-*")
_VARIABLES = (
    "*_proxy",
    "*_ca_bundle",
    "ssl_cert_*",
    "node_extra_ca_certs",
    "node_tls_*",
    "hostaliases",
    "localdomain",
    "res_options",
)  # fmt: skip


def find_rerouting(server: McpServer) -> Iterator[tuple[str, str]]:
    """Yield each field and name that could take the server's secrets elsewhere."""
    if isinstance(server, StdioServer):
        yield from _found("env", server.env, _VARIABLES)
    else:
        yield from _found("headers", server.headers, _HEADERS)


def rerouting_text(name: str, secret: str) -> str:
    """Return a sentence about a header or variable beside a secret."""
    return (
        f"{name} could take the secret ${{{secret}}} elsewhere than DOMAIN_SECRETS of the settings"
        f" allows. Leave {name} out."
    )


def _found(
    field: str, given: Mapping[str, str], patterns: tuple[str, ...]
) -> Iterator[tuple[str, str]]:
    for name in given:
        if any(_is_like(name.lower(), pattern) for pattern in patterns):
            yield field, name


def _is_like(name: str, pattern: str) -> bool:
    return bool(re.fullmatch(re.escape(pattern).replace(r"\*", ".*"), name, re.DOTALL))
