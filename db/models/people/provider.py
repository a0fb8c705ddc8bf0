"""OpenID Connect: the providers that are set on a page, and requests that await their answer."""

from datetime import datetime

from sqlalchemy import Index, text
from sqlalchemy.orm import Mapped, mapped_column

from db.base import JSON, Base


class IdentityProviderRow(Base):
    """A provider. `client_secret` is encrypted; `groups` maps a claim's values to teams and roles.

    `id` stands in the address that the provider sends people back to. `admits_new`: people who
    were not invited become members, too.
    """

    __tablename__ = "identity_providers"

    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    issuer: Mapped[str]
    client_id: Mapped[str]
    client_secret: Mapped[str]
    scopes: Mapped[str]
    groups_claim: Mapped[str | None]
    groups: Mapped[JSON] = mapped_column(server_default=text("'{}'"))
    admits_new: Mapped[bool] = mapped_column(server_default=text("true"))
    created_at: Mapped[datetime] = mapped_column(server_default=text("clock_timestamp()"))


class OidcRequestRow(Base):
    """A person who is at a provider. Its answer deletes the row, so it counts once.

    `browser_hash`: the digest of what only the browser knows that began; `link_hash`: of the
    one-time link by which the person was invited, if any.
    """

    __tablename__ = "oidc_requests"
    __table_args__ = (Index("ix_oidc_requests_expires_at", "expires_at"),)

    state_hash: Mapped[str] = mapped_column(primary_key=True)
    provider_id: Mapped[str]
    issuer: Mapped[str]
    nonce: Mapped[str]
    verifier: Mapped[str]
    browser_hash: Mapped[str]
    link_hash: Mapped[str | None]
    expires_at: Mapped[datetime]
