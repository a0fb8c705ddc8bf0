"""Literal credentials in the templates of tool servers: found, refused, and masked.

They belong in the environment, and templates name them as `${NAME}`. Those stored before this was
required are masked wherever people read them, and restored where a client sends the mask back.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from backend.schemas.domains.configuration import Fault
from backend.schemas.domains.templates import NAMED, DomainTemplate, McpServer, StdioServer

MASK = "********"
Template = TypeVar("Template", bound=DomainTemplate)

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


def mask_template(template: Template) -> Template:
    """Return the template with its literal credentials masked, as people may read it."""
    return template.model_copy(update={"mcp_servers": mask_servers(template.mcp_servers)})


def mask_servers(servers: Mapping[str, McpServer]) -> dict[str, McpServer]:
    """Return the servers with their literal credentials masked."""
    return {name: _masked(server) for name, server in servers.items()}


def unmask(given: Mapping[str, Any], stored: Mapping[str, McpServer]) -> dict[str, Any]:
    """Return the servers that a client sends, with masks replaced by what is stored.

    Only if the rest of a server is unchanged: a credential must not move to another place.
    """
    back: dict[str, Any] = {}
    for name, server in given.items():
        before = stored.get(name)
        same = before is not None and _where(server) == _where(_masked(before).model_dump())
        back[name] = _restored(server, before.model_dump()) if before and same else server
    return back


def find_credentials(
    servers: Mapping[str, McpServer], stored: Mapping[str, McpServer] | None = None
) -> list[Fault]:
    """Return the literal credentials of servers, by field; those already `stored` are no fault."""
    known = stored or {}
    faults = []
    for name, server in servers.items():
        before = dict(_values(known[name])) if name in known else {}
        for (field, place), value in _values(server):
            if value == before.get((field, place)) or _mask(field, place, value, server) == value:
                continue
            faults.append(Fault(path=["mcp_servers", name, field], message=_said(field, place)))
    return faults


def find_masks(servers: Mapping[str, McpServer]) -> list[Fault]:
    """Return masks that cannot be replaced by what they hide."""
    return [
        Fault(
            path=["mcp_servers", name, field],
            message=f"{_place_words(field, place)} contains {MASK}, the mask of a credential. It"
            " can only be restored while the rest of the server stays as it is. Name the credential"
            " as ${COLLOQUY_SECRET_…} instead, and set that in the environment.",
        )
        for name, server in servers.items()
        for (field, place), value in _values(server)
        if MASK in value
    ]


def _masked(server: McpServer) -> McpServer:
    masked = {at: _mask(*at, value, server) for at, value in _values(server)}
    return type(server).read(_with(server.model_dump(), masked.__getitem__))


def _with(fields: dict[str, Any], value_at: Callable[[tuple[str, str]], str]) -> dict[str, Any]:
    """Return the server's fields with the value of each place."""
    changed: dict[str, Any] = dict(fields)
    for field in ("headers", "env"):
        if field in fields:
            changed[field] = {key: value_at((field, key)) for key in fields[field]}
    if "args" in fields:
        changed["args"] = [value_at(("args", str(n))) for n, _ in enumerate(fields["args"])]
    if "url" in fields:
        changed["url"] = value_at(("url", ""))
    return changed


def _values(server: McpServer) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield each text that may hold a credential, with its field and its place there."""
    if isinstance(server, StdioServer):
        yield from ((("args", str(n)), text) for n, text in enumerate(server.args))
        yield from ((("env", name), text) for name, text in server.env.items())
    else:
        yield ("url", ""), server.url
        yield from ((("headers", name), text) for name, text in server.headers.items())


def _mask(field: str, place: str, value: str, server: McpServer) -> str:
    """Return the value as people may read it."""
    if field == "args" and isinstance(server, StdioServer):
        flag = server.args[int(place) - 1] if int(place) else ""
        is_flag = flag.startswith("-") and "=" not in flag and not value.startswith("-")
        return MASK if is_flag and _holds(flag, value) else _mask_within(_mask_assigned(value))
    if field != "url" and _holds(place, value):
        return MASK
    return _mask_within(value)


def _mask_assigned(text: str) -> str:
    """Return an argument that includes its value, such as `--token=…`, with the value masked."""
    if (found := _ASSIGNED.fullmatch(text)) and _holds(found[1], found[3]):
        return f"{found[1]}{found[2]}{MASK}"
    return text


def _mask_within(text: str) -> str:
    """Return a text with everything masked that looks like a credential."""
    text = _USERINFO.sub(lambda found: _mask_userinfo(found[0]), text)
    text = _PARAMETER.sub(_mask_parameter, text)
    text = _SCHEMES.sub(lambda found: found[0].split()[0] + " " + MASK, text)
    return _TOKENS.sub(MASK, text)


def _mask_userinfo(userinfo: str) -> str:
    """Return the user without the password; a name alone may be a token, so it is masked, too."""
    name, colon, password = userinfo.partition(":")
    secret = password if colon else name
    if not secret or _is_named(secret):
        return userinfo
    return f"{name}:{MASK}" if colon else MASK


def _mask_parameter(found: re.Match[str]) -> str:
    mark, name, value = found.groups()
    return f"{mark}{name}={MASK}" if _holds(name, value) else found[0]


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


def _where(server: Any) -> Any:
    """Return a server without its time limits; None if it is malformed."""
    if not isinstance(server, dict):
        return None
    empty: Mapping[str, Any] = {"headers": {}, "env": {}, "args": []}
    patience = ("connect_seconds", "call_seconds")
    return {
        key: value
        for key, value in server.items()
        if key not in patience and value != empty.get(key)
    }


def _restored(given: dict[str, Any], stored: dict[str, Any]) -> dict[str, Any]:
    patience = {key: given.get(key) for key in ("connect_seconds", "call_seconds")}
    return {**stored, **patience}


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
