"""Literal credentials in the templates of tool servers: found and refused.

They belong in the environment, and templates name them as `${NAME}`.
"""

import re
from collections.abc import Iterator, Mapping

from backend.schemas.domains.configuration import Fault
from backend.schemas.domains.templates import NAMED, McpServer, StdioServer

# Names of headers, variables, flags and parameters that hold credentials.
_NAMES = re.compile(
    r"(?<!mon)key(?!board|word|space)|token(?!s(?![a-z])|i[sz])|secret|passw|passphrase|\bpwd|_pwd"
    r"|auth(?!or(?!i))|cookie|credential|bearer|jwt|^x-tokens$|signature|^x-session(?:-id)?$|^x-api$",
    re.IGNORECASE,
)
_PLACES = re.compile(r"[_-](file|path|sock|dir|url|uri|mode|type|method)$", re.IGNORECASE)
_HARMLESS = re.compile(r"(true|false|yes|no|on|off|none|null|[01])?", re.IGNORECASE)
# Formats of credentials by well-known issuers, anywhere in a text.
_TOKENS = re.compile(
    r"(?<![A-Za-z0-9])(?:sk-[\w-]{8,}|[sr]k_(?:live|test)_\w{8,}|gh[pousr]_\w{8,}|github_pat_\w{8,}"
    r"|glpat-[\w-]{8,}|xox[abeprs]-[\w-]{8,}|xapp-[\w-]{8,}|A[KS]IA[A-Z0-9]{12,}|AIza[\w-]{20,}"
    r"|ya29\.[\w-]{8,}|hf_\w{8,}|npm_\w{8,}|pypi-[\w-]{8,}|dop_v1_\w{8,}|SG\.[\w-]{8,}\.[\w-]{8,}"
    r"|ATATT[\w=-]{8,}|lin_api_\w{8,}"
    # Only at the start of a run of such characters: a search from each of them would be quadratic.
    r"|(?<![\w-])eyJ[\w-]{6,}\.eyJ[\w-]{6,}\.?[\w-]*"
    r"|-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----(?s:.*))"
)
_SCHEME = re.compile(r"\b(?:bearer|basic|token|api-?key)\b", re.IGNORECASE)
# A cookie's name. Only from the start of a word: a search from each letter would be quadratic.
_COOKIE_NAME = re.compile(r"(?<![\w.-])[\w.-]++=(?=\$\{)")
_LETTER = re.compile(r"[^\W_]")
_SCHEMES = re.compile(r"\b(?:bearer|basic)\s+[^\s$,;]{4,}", re.IGNORECASE)
_USERINFO = re.compile(r"(?<=://)[^/?#\s]*(?=@)")
_PARAMETER = re.compile(r"([?&;])([^=&#?;\s]+)=([^&#\s]+)")
_ASSIGNED = re.compile(r"(-{0,2}[A-Za-z][\w.-]*)([=:]\s*)(.+)", re.DOTALL)


def find_credentials(servers: Mapping[str, McpServer]) -> list[Fault]:
    """Return the literal credentials of servers, by field."""
    return [
        Fault(path=["mcp_servers", name, field], message=_said(field, place))
        for name, server in servers.items()
        for (field, place), value in _values(server)
        if _is_literal(field, place, value, server)
    ]


def _values(server: McpServer) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield each text that may hold a credential, with its field and its place there."""
    if isinstance(server, StdioServer):
        yield from ((("args", str(n)), text) for n, text in enumerate(server.args))
        yield from ((("env", name), text) for name, text in server.env.items())
    else:
        yield ("url", ""), server.url
        yield from ((("headers", name), text) for name, text in server.headers.items())


def _is_literal(field: str, place: str, value: str, server: McpServer) -> bool:
    """Return whether a credential stands in the text at this place."""
    if field == "args" and isinstance(server, StdioServer):
        flag = server.args[int(place) - 1] if int(place) else ""
        is_flag = flag.startswith("-") and "=" not in flag and not value.startswith("-")
        assigned = _ASSIGNED.fullmatch(value)
        if (is_flag and _holds(flag, value)) or (assigned and _holds(assigned[1], assigned[3])):
            return True
    elif field != "url" and _holds(place, value):
        return True
    return _contains(value)


def _contains(text: str) -> bool:
    """Return whether anything in a text looks like a credential."""
    return (
        any(_is_secret_userinfo(found[0]) for found in _USERINFO.finditer(text))
        or any(_holds(found[2], found[3]) for found in _PARAMETER.finditer(text))
        or _SCHEMES.search(text) is not None
        or _TOKENS.search(text) is not None
    )


def _is_secret_userinfo(userinfo: str) -> bool:
    """Return whether a password stands there; a name alone may be a token."""
    name, colon, password = userinfo.partition(":")
    secret = password if colon else name
    return bool(secret) and not _is_named(secret)


def _holds(name: str, value: str) -> bool:
    """Return whether the value under this name is a literal credential."""
    if name.lower() == "cookie":
        value = _COOKIE_NAME.sub("", value)
    if not _NAMES.search(name) or _PLACES.search(name) or _is_named(value):
        return False
    return _HARMLESS.fullmatch(value.strip()) is None


def _is_named(value: str) -> bool:
    """Return whether the value names a secret, and has at most a scheme and punctuation besides."""
    rest = NAMED.sub("", value)
    return rest != value and _LETTER.search(_SCHEME.sub("", rest)) is None


def _said(field: str, place: str) -> str:
    return (
        f"{_place_words(field, place)} contains a literal credential. Put it into the worker's"
        " environment, or into `.env`, and name it here: ${COLLOQUY_SECRET_…}."
    )


def _place_words(field: str, place: str) -> str:
    if field == "url":
        return "Its url"
    if field == "args":
        return f"Its argument {int(place) + 1}"
    return f"Its {'header' if field == 'headers' else 'variable'} {place}"
