"""The kinds of values that settings have: what each accepts, and the sentence that refuses it."""

import os
import re
import shlex
from base64 import urlsafe_b64decode
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

from dotenv import dotenv_values
from psycopg2 import ProgrammingError
from psycopg2.extensions import make_dsn
from pydantic import AfterValidator, Field, SecretStr
from redis import RedisError
from sqlalchemy import make_url

from backend.addresses import (
    MAX_PORT,
    check_allowed_hosts,
    check_public_url,
    read_networks,
    read_servers,
)
from backend.outgoing.policy import read_entries
from backend.redis.connecting import connect_redis
from backend.redis.url import SCHEMES, is_sentinel_url, read_sentinel_url
from backend.schemas.people.providers import ID_PATTERN, MOST_GROUPS, GroupMeaning, ProviderSettings

KEY_BYTES = 32
SHORTEST_KEY = 24
POSTGRES_SCHEMES = ("postgresql+psycopg2", "postgresql", "postgres")
WAYS = ("local", "oidc", "proxy")
HTTP_SCHEMES = ("http", "https")
ARTIFACT_STORE = re.compile(r"s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](?:/[\w!.*'()-]+)*/?", re.ASCII)
# NAME or NAME*, then where it may be sent: @stdio, @host, @host:port, @http://host:port
SECRET_ENTRY = re.compile(
    r"(?P<name>[A-Za-z_]\w*\*?)"
    r"(?:@(?P<scheme>https?://)?(?P<host>\[[0-9A-Fa-f:.]+\]|[\w-][\w.-]*)(?::(?P<port>\d{1,5}))?)?",
    re.ASCII,
)


def _split(url: str, schemes: tuple[str, ...]) -> tuple[str, str]:
    """Return the scheme and the rest of `url`; never repeats the URL, which may hold a password."""
    scheme, rest = _scheme(url, schemes)
    try:
        _ = urlsplit(url).port
    except ValueError:
        raise ValueError(
            "has a port or a host that cannot be read; percent-encode special characters of a"
            " password (%2F for /)"
        ) from None
    return scheme, rest


def _scheme(url: str, schemes: tuple[str, ...]) -> tuple[str, str]:
    scheme, mark, rest = url.partition("://")
    if not mark or scheme not in schemes:
        raise ValueError("must begin with " + " or ".join(f"{name}://" for name in schemes))
    return scheme, rest


def _database_url(url: str) -> str:
    """Return the URL for psycopg2: SQLAlchemy would pick another driver, or refuse postgres://."""
    if not url:
        return url
    rest = _split(url, POSTGRES_SCHEMES)[1]
    if urlsplit(url).netloc.count("@") > 1:  # SQLAlchemy would take the rest for the host
        raise ValueError("percent-encode @ in the password (%40)")
    try:
        make_dsn(**dict.fromkeys(make_url(url).query, ""))
    except ProgrammingError as error:
        raise ValueError(f"has a parameter that does not exist ({str(error).strip()})") from None
    return f"postgresql+psycopg2://{rest}"


def _redis_url(url: str) -> str:
    if not url:
        return url
    if is_sentinel_url(url):
        _scheme(url, SCHEMES)
        read_sentinel_url(url)
    elif _split(url, SCHEMES)[0] != "unix" and not re.fullmatch(
        r"(?:/\d*)?", urlsplit(url).path, re.ASCII
    ):
        # The client would take any other text for database 0, which may be another program's.
        raise ValueError("must name the database by its number, such as redis://localhost:6379/0")
    try:
        connect_redis(url, threads=1).connection_pool.make_connection()
    except (TypeError, ValueError, RedisError) as error:
        reason = str(error).partition("__init__() got an ")
        raise ValueError(
            f"has a parameter that cannot be used ({reason[2] or reason[0]})"
        ) from None
    return url


def _model_url(url: str) -> str:
    if urlsplit(url).query or urlsplit(url).fragment:
        raise ValueError("must end with its path, usually /v1, without ? or #")
    return check_http_url(url)


def _ways(text: str) -> str:
    ways = list(dict.fromkeys(way.strip() for way in text.split(",") if way.strip()))
    if ways == ["none"]:
        return text.strip()
    if not ways or not set(ways) <= set(WAYS):
        raise ValueError(f"must be none, or a list of {', '.join(WAYS)}, such as local,oidc")
    return ",".join(ways)


def _oidc_providers(providers: dict[str, ProviderSettings]) -> dict[str, ProviderSettings]:
    """Return the providers with their secrets, which may be `${NAME}`. Raise ValueError."""
    environment = {**dotenv_values(".env"), **os.environ}
    for name, provider in providers.items():
        if not re.fullmatch(ID_PATTERN, name) or name == "proxy":
            raise ValueError(
                f"has the id {name!r}: an id has small letters, digits and hyphens, stands in the"
                " address that the provider sends people back to, and is not proxy"
            )
        secret = provider.client_secret.get_secret_value()
        if found := re.fullmatch(r"\$\{(\w+)\}", secret):
            if not (value := environment.get(found[1])):
                raise ValueError(f"refers to ${{{found[1]}}}, which is not set")
            provider.client_secret = SecretStr(value)
    return providers


def _pages_key(key: SecretStr) -> SecretStr:
    if 0 < len(key.get_secret_value()) < SHORTEST_KEY:
        raise ValueError(f"must have at least {SHORTEST_KEY} characters that nobody can guess")
    return key


def _networks(text: str) -> str:
    read_networks(text)
    return text


def _smtp_url(value: SecretStr) -> SecretStr:
    url = value.get_secret_value()
    if url:
        _split(url, ("smtp", "smtps"))
        if not urlsplit(url).hostname:
            raise ValueError("must name a host, such as smtps://user:password@mail.example.com")
    return value


def _outgoing(text: str) -> str:
    try:
        read_entries(text)
    except ValueError:
        raise ValueError(
            "must be hosts, each with a port or without, or networks, comma-separated, such as"
            " jira.internal:8443,10.0.0.5,10.1.0.0/16,[fd00::5]:8080"
        ) from None
    return text


def _host(host: str) -> str:
    """Return the address without the brackets that it has in a URL."""
    return host.strip("[]")


def _data_dir(folder: Path) -> Path:
    try:
        return folder.expanduser()
    except RuntimeError:
        raise ValueError("begins with ~, but there is no such user's home folder") from None


def _secret_names(names: str) -> str:
    for name in filter(None, map(str.strip, names.split(","))):
        found = SECRET_ENTRY.fullmatch(name)
        if not found or not 1 <= int(found["port"] or 1) <= MAX_PORT:
            raise ValueError(
                "must be names, or prefixes followed by *, each with the host that it may be sent"
                " to, such as GITHUB_TOKEN@api.github.com,JIRA_*@jira.example.org:8443,"
                "LEDGER_*@stdio"
            )
    return names


def _stdio_commands(commands: str) -> str:
    try:
        entries = split_commands(commands)
    except ValueError as error:
        raise ValueError(f"has an entry that cannot be read ({error})") from None
    if any(not words[0] for words in entries):
        raise ValueError("has an entry that does not begin with a command")
    return commands


def split_commands(commands: str) -> tuple[tuple[str, ...], ...]:
    """Return the words of each entry, split as in a shell. Raise ValueError."""
    entries = (tuple(shlex.split(entry)) for entry in commands.split(","))
    return tuple(filter(None, entries))


def check_http_url(url: str) -> str:
    """Return the URL of a server without a final slash; it may be empty. Raise ValueError."""
    if url and (not _split(url, HTTP_SCHEMES)[1] or not urlsplit(url).hostname):
        raise ValueError("names no host")
    return url.rstrip("/")


def _servers(text: str) -> str:
    return ",".join(read_servers(text)) if text else text


def _encryption_key(key: SecretStr) -> SecretStr:
    try:
        length = len(urlsafe_b64decode(key.get_secret_value()))
    except ValueError:
        length = -1
    if length not in (0, KEY_BYTES):
        raise ValueError("must be 32 random bytes in URL-safe base64")
    return key


def _model_key(key: SecretStr) -> SecretStr:
    text = key.get_secret_value()
    if not (text.isascii() and text.isprintable()) or " " in text:
        raise ValueError("has spaces or characters that no key has")
    return key


def _artifact_store(url: str) -> str:
    if url and not ARTIFACT_STORE.fullmatch(url):
        raise ValueError("must be s3://bucket or s3://bucket/prefix")
    return url.rstrip("/")


def _source_urls(urls: dict[str, str]) -> dict[str, str]:
    for name, url in urls.items():
        if not name.strip():
            raise ValueError("has an entry without a name")
        if "://" not in url:
            raise ValueError(
                f"names no database for {name!r}: it must be a URL as SQLAlchemy's are"
            )
    return urls


DatabaseUrl = Annotated[str, AfterValidator(_database_url)]
RedisUrl = Annotated[str, AfterValidator(_redis_url)]
DataDir = Annotated[Path, AfterValidator(_data_dir)]
Host = Annotated[str, AfterValidator(_host)]
HttpUrl = Annotated[str, AfterValidator(check_http_url)]
Servers = Annotated[str, AfterValidator(_servers)]
ModelUrl = Annotated[str, AfterValidator(_model_url)]
SecretNames = Annotated[str, AfterValidator(_secret_names)]
SourceUrls = Annotated[dict[str, str], AfterValidator(_source_urls)]
PublicUrl = Annotated[str, AfterValidator(check_public_url)]
AllowedHosts = Annotated[str, AfterValidator(check_allowed_hosts)]
ModelKey = Annotated[SecretStr, AfterValidator(_model_key)]
SmtpUrl = Annotated[SecretStr, AfterValidator(_smtp_url)]
EncryptionKey = Annotated[SecretStr, AfterValidator(_encryption_key)]
ArtifactStore = Annotated[str, AfterValidator(_artifact_store)]
StdioCommands = Annotated[str, AfterValidator(_stdio_commands)]
Port = Annotated[int, Field(ge=1, le=65535)]
Seconds = Annotated[float, Field(gt=0, le=31_536_000)]  # a year at most
Grace = Annotated[float, Field(ge=0, le=3_600)]
Count = Annotated[int, Field(ge=1, le=2**53 - 1)]
CountOrAny = Annotated[int, Field(ge=0, le=2**53 - 1)]  # 0: unlimited
Rate = Annotated[float, Field(ge=0, le=1e9)]
Ways = Annotated[str, AfterValidator(_ways)]
OidcProviders = Annotated[dict[str, ProviderSettings], AfterValidator(_oidc_providers)]
PagesKey = Annotated[SecretStr, AfterValidator(_pages_key)]
HeaderName = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9-]{0,99}$")]
ProxyGroups = Annotated[dict[str, GroupMeaning], Field(max_length=MOST_GROUPS)]
Networks = Annotated[str, AfterValidator(_networks)]
OutgoingAllowed = Annotated[str, AfterValidator(_outgoing)]
