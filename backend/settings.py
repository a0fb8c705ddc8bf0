"""All settings, read once from the environment and `.env`; `.env.example` lists them."""

import ipaddress
import os
from functools import cached_property
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path
from typing import Literal, Self

from dotenv import dotenv_values
from pydantic import BaseModel, ConfigDict, Field, SecretStr, model_validator
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from backend.addresses import http_url, read_networks
from backend.outgoing.policy import Outgoing, read_entries
from backend.schemas.people.rights import Review
from backend.setting_files import SUFFIX, with_files
from backend.setting_kinds import (
    AllowedHosts,
    ArtifactStore,
    Count,
    CountOrAny,
    DatabaseUrl,
    DataDir,
    EncryptionKey,
    Grace,
    HeaderName,
    Host,
    HttpUrl,
    ModelKey,
    ModelUrl,
    Networks,
    OidcProviders,
    OutgoingAllowed,
    PagesKey,
    Port,
    ProxyGroups,
    PublicUrl,
    Rate,
    RedisUrl,
    Seconds,
    SecretNames,
    Servers,
    SmtpUrl,
    SourceUrls,
    StdioCommands,
    Ways,
)

DEMO_MODEL = "demo"
UI_PORT = 8501


class Price(BaseModel):
    """What a model costs per million tokens, in any one currency."""

    # A misspelt name would make a model cost nothing.
    model_config = ConfigDict(allow_inf_nan=False, extra="forbid")

    input: Rate = 0.0
    cached: Rate | None = Field(None, description="Absent: the same as input.")
    output: Rate = 0.0


class _Files(EnvSettingsSource):
    """Values in files that the environment or `.env` names."""

    def __init__(self, settings_cls: type[BaseSettings]) -> None:
        super().__init__(settings_cls)
        names = [name.upper() for name in settings_cls.model_fields]
        environment = {**dotenv_values(".env"), **os.environ}
        found = with_files(
            {k: v for k, v in environment.items() if k.upper().removesuffix(SUFFIX) in names}, names
        )
        self.env_vars = {
            name.lower(): found[name] for name in names if environment.get(name + SUFFIX)
        }


class Settings(BaseSettings):
    """The configuration of one process. Values are checked here once, at the start."""

    model_config = SettingsConfigDict(
        env_file=".env",
        env_ignore_empty=True,
        extra="ignore",
        allow_inf_nan=False,
        str_strip_whitespace=True,
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Return where values come from: also from files, which `NAME_FILE` names."""
        return init_settings, env_settings, dotenv_settings, _Files(settings_cls)

    database_url: DatabaseUrl = Field(
        "", description="PostgreSQL; empty: the embedded server of DATA_DIR."
    )
    database_connections: int = Field(
        28, ge=4, le=500, description="The most connections that each API and worker process keeps."
    )
    redis_url: RedisUrl = Field(
        "", description="Redis, or its Sentinels; empty: the embedded server of DATA_DIR."
    )
    data_dir: DataDir = Field(Path(".data"), description="All that this installation stores.")

    host: Host = Field("127.0.0.1", description="The address to listen on.")
    ui_port: Port | None = Field(None, description="8501, or the next free port when unset.")
    api_port: Port | None = Field(None, description="8000, or the next free port when unset.")
    api_url: Servers = Field(
        "",
        description="Where the pages reach the API, comma-separated; empty: HOST and API_PORT.",
    )
    public_url: PublicUrl = Field(
        "", description="The address that people open; empty: HOST and UI_PORT."
    )
    allowed_hosts: AllowedHosts = Field(
        "", description="Further hosts to answer, with or without a port, comma-separated."
    )

    openai_api_key: ModelKey = Field(SecretStr(""), description="Empty: the demo model.")
    openai_base_url: ModelUrl = Field(
        "", description="An OpenAI-compatible endpoint, with its /v1."
    )
    model: str = Field("", description="The default chat model's name.")
    encryption_key: EncryptionKey = Field(
        SecretStr(""),
        description="Encrypts the API key set on the Models page; empty: DATA_DIR/encryption.key.",
    )
    model_first_token_seconds: Seconds = Field(
        180.0, description="How long a model may take to begin its answer."
    )
    model_silence_seconds: Seconds = Field(
        90.0, description="How long a model may be silent within its answer."
    )
    model_tries: int = Field(
        6, ge=1, le=100, description="How often a model is asked while no answer begins."
    )
    demo_model_url: HttpUrl = Field(
        "", description="Where the demo model listens; empty: `make run` starts one."
    )

    auth: Ways = Field(
        "none",
        description="none (one local user, loopback only), or a list of local, oidc and proxy.",
    )
    trusted_proxies: Networks = Field(
        "",
        description="Addresses or networks of proxies that say who a person is (AUTH=proxy), or"
        " where a request came from, comma-separated.",
        examples=["10.0.0.5, 10.1.0.0/16"],
    )
    oidc_providers: OidcProviders = Field(
        default_factory=dict,
        description="OpenID Connect providers by id, as JSON (AUTH=oidc); more can be set on the"
        " page Signing in.",
        examples=[
            {
                "company": {
                    "name": "Example Ltd",
                    "issuer": "https://login.example.com",
                    "client_id": "colloquy",
                    "client_secret": "${COMPANY_SECRET}",
                }
            }
        ],
    )
    proxy_user_header: HeaderName = Field(
        "Remote-User", description="With AUTH=proxy: who a person is; it must never change."
    )
    proxy_email_header: HeaderName = Field("Remote-Email", description="Their address.")
    proxy_name_header: HeaderName = Field("Remote-Name", description="Their name.")
    proxy_groups_header: HeaderName = Field(
        "Remote-Groups", description="Their groups, separated by commas."
    )
    proxy_groups: ProxyGroups = Field(
        default_factory=dict,
        description="What the proxy's groups mean: a team, a role, or both, as JSON.",
        examples=[{"auditors": {"role": "reviewer"}}],
    )
    pages_key: PagesKey = Field(
        SecretStr(""),
        description="By which the API knows the pages' server (AUTH=proxy); empty:"
        " DATA_DIR/pages.key.",
    )
    review: Review = Field(
        Review.REASON,
        description="Whether administrators and reviewers may read others' sessions: off, on, or"
        " with a reason that the owner sees.",
    )
    smtp_url: SmtpUrl = Field(
        SecretStr(""),
        description="Sends mails with one-time links: smtp://user:password@host:port (STARTTLS), or"
        " smtps://; empty: administrators hand them over.",
    )
    mail_from: str = Field("", description="The address that mails are from.")
    workers: int = Field(2, ge=0, le=64, description="Worker processes that `make run` starts.")
    worker_turns: int = Field(100, ge=1, le=1000, description="Concurrent turns of one worker.")
    lease_seconds: Seconds = Field(10.0, ge=1, description="A worker silent this long is lost.")
    sweep_seconds: Seconds = Field(0.5, ge=0.1, description="How often to look for lost turns.")

    probe_port: Port | None = Field(
        None,
        description="Where API and worker answer /healthz, /readyz and /metrics to whoever asks, on"
        " HOST; unset: the API on its own port only, a worker nowhere. Of `make run` the first"
        " worker has it, then its other workers and the API the ports after it.",
    )
    grace_seconds: Grace = Field(
        8.0,
        description="How long running turns and requests may go on when a worker or the API is told"
        " to stop; other workers then take the turns over.",
    )
    stop_delay_seconds: Grace = Field(
        0.3,
        description="How long the API, told to stop, answers on while /readyz says so: longer than"
        " a load balancer takes to notice. At most GRACE_SECONDS.",
    )

    user_turns: Count = Field(1_000, description="The most unfinished turns of one person.")
    user_turns_at_once: Count = Field(
        50, description="Turns of one person that run concurrently; others wait."
    )
    all_turns: Count = Field(20_000, description="The most unfinished turns of all people.")
    user_waits: Count = Field(
        1_000, description="Waiting requests of one person; further ones get 202 immediately."
    )
    user_streams: Count = Field(600, description="The most event streams of one person.")
    user_tokens_per_day: CountOrAny = Field(
        0, description="Tokens of one person per day (UTC); 0: unlimited."
    )
    user_cost_per_day: float = Field(
        0.0, ge=0, le=1e12, description="Cost of one person per day (UTC); 0: unlimited."
    )
    model_prices: dict[str, Price] = Field(
        default_factory=dict,
        description="Per million tokens, as JSON; models not listed cost nothing.",
        examples=[{"gpt-4o": {"input": 2.5, "cached": 1.25, "output": 10}}],
    )

    retention_days: int = Field(
        0,
        ge=0,
        le=36_500,
        description="Sessions unused for this long are deleted; 0: kept. Domains may override it.",
    )
    retention_sessions: CountOrAny = Field(
        0, description="Sessions kept per person; older ones go. 0: unlimited."
    )
    retention_megabytes: int = Field(
        0, ge=0, le=2**40, description="Size of all sessions; the oldest go. 0: unlimited."
    )
    retention_hours: float = Field(
        24.0, ge=0, le=8_760, description="How often workers apply retention; 0: only manually."
    )

    mcp_connect_seconds: float = Field(
        10.0, gt=0, le=600, description="How long an MCP server may take to connect."
    )
    source_urls: SourceUrls = Field(
        default_factory=dict,
        description='Databases to query: {"name": "SQLAlchemy URL"}, as JSON.',
        examples=[{"sales": "postgresql://..."}],
    )
    max_file_mb: int = Field(
        200, ge=1, le=100_000, description="The largest uploaded file, in megabytes."
    )
    max_import_mb: int = Field(
        2_000,
        ge=1,
        le=100_000,
        description="The largest upload that conversations are imported from, in megabytes.",
    )
    max_files_mb: int = Field(
        5_000, ge=1, le=2**40, description="The total of one person's files, in megabytes."
    )
    artifact_inline_bytes: int = Field(
        100_000, ge=0, le=10_000_000, description="Larger artifact contents go to the store."
    )
    artifact_store: ArtifactStore = Field(
        "",
        description="s3://bucket/prefix of uploads and large artifacts, opened by AWS_* variables;"
        " empty: folders of DATA_DIR.",
    )
    domain_secrets: SecretNames = Field(
        "COLLOQUY_SECRET_*",
        description="Variables that domains may name; a final `*` matches any ending, `@host`"
        " limits where it may be sent.",
    )
    outgoing_allowed: OutgoingAllowed = Field(
        "",
        description="Hosts, with or without a port, and networks that tool servers, models and"
        " providers may be at although they are not on the internet, comma-separated.",
        examples=["jira.internal:8443, 10.1.0.0/16"],
    )
    stdio_commands: StdioCommands = Field(
        "",
        description="Commands that may start tool servers, each with the arguments that it must"
        " begin with.",
        examples=["/opt/ledger/server, uvx mcp-server-time"],
    )
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    log_format: Literal["text", "json"] = Field(
        "text", description="How processes write their logs: lines of text, or of JSON."
    )

    @model_validator(mode="after")
    def _refuse_an_open_door(self) -> Self:
        """Refuse non-local hosts: without accounts, anyone who reaches the port is the owner."""
        if not self.has_accounts and not _is_loopback(self.host):
            raise ValueError(
                f"HOST={self.host}: with AUTH=none everyone who reaches the port is the one local "
                "user, so only a loopback address is allowed; set HOST=127.0.0.1, or AUTH=local"
            )
        return self

    @model_validator(mode="after")
    def _refuse_a_proxy_of_nobody(self) -> Self:
        """Refuse AUTH=proxy without proxies, with which nobody could ever sign in."""
        if "proxy" in self.ways and not self.proxies:
            raise ValueError(
                "AUTH=proxy needs the proxy's address in TRUSTED_PROXIES: nobody else is believed"
            )
        return self

    @model_validator(mode="after")
    def _need_a_sender(self) -> Self:
        if self.smtp_url.get_secret_value() and "@" not in self.mail_from:
            raise ValueError("MAIL_FROM must be an address like desk@example.com for SMTP_URL")
        return self

    @property
    def ways(self) -> tuple[str, ...]:
        """Return the ways of signing in; none where there is one local user."""
        return tuple(self.auth.split(",")) if self.has_accounts else ()

    @cached_property
    def proxies(self) -> tuple[IPv4Network | IPv6Network, ...]:
        """Return the networks of TRUSTED_PROXIES."""
        return read_networks(self.trusted_proxies)

    @property
    def identity_headers(self) -> tuple[str, str, str, str]:
        """Return the headers in which a proxy names a person: user, email, name, groups."""
        return (
            self.proxy_user_header,
            self.proxy_email_header,
            self.proxy_name_header,
            self.proxy_groups_header,
        )

    @cached_property
    def outgoing(self) -> Outgoing:
        """Return where connections may go that a configuration names."""
        return Outgoing(read_entries(self.outgoing_allowed), permits_inside=not self.has_accounts)

    @property
    def has_accounts(self) -> bool:
        """Return whether people sign in."""
        return self.auth != "none"

    @property
    def uses_demo_model(self) -> bool:
        """Return whether the bundled demo model answers: neither a key nor an endpoint is set."""
        return not self.openai_api_key.get_secret_value() and not self.openai_base_url

    @property
    def pages_url(self) -> str:
        """Return the address that people open, for links from outside of the pages."""
        return self.public_url or http_url(self.host, self.ui_port or UI_PORT)

    @property
    def default_model(self) -> str:
        """Return the chat model's name for domains that name none."""
        return self.model or (DEMO_MODEL if self.uses_demo_model else "gpt-4o")

    @property
    def secret_names(self) -> tuple[str, ...]:
        """Return the secrets that domains may use, as entries `NAME[*][@host[:port]]`."""
        return tuple(filter(None, map(str.strip, self.domain_secrets.split(","))))


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"
