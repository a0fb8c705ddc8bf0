"""The wire contract around configurations: checks, versions, drift, and what there is to name."""

from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from backend.schemas.bounds import Name
from backend.schemas.domains.templates import DomainTemplate
from backend.schemas.wire import Input, Wire
from backend.types import JSON


class Fault(Wire):
    """Something wrong with one field of a template, in a sentence."""

    path: list[str | int] = Field(description="Where: keys and places, from the outside in.")
    message: str


class TemplateCheck(Wire):
    """What a template would become. With faults it cannot be stored; warnings do not hinder."""

    faults: list[Fault]
    warnings: list[Fault]
    image: JSON | None = Field(description="What a new session would keep; null with faults.")


class DomainVersionSummary(Wire):
    """One version of a domain. `changed_by` is empty where nobody knows."""

    version: int
    name: str
    changed_by: str
    created_at: datetime


class DriftChange(Wire):
    """One difference between a configuration and the domain as it is today."""

    path: list[str] = Field(description="Keys from the outside in; agents and tools by name.")
    kind: Literal["added", "removed", "changed"] = Field(
        description="`added`: only the domain of today has it."
    )
    image: Any = Field(None, description="What the configuration has.")
    domain: Any = Field(None, description="What the domain has today.")


class DomainVersion(DomainVersionSummary):
    """One version of a domain: what it held, and what is another today."""

    template: DomainTemplate
    changes: list[DriftChange] = []


class DomainVersionPage(Wire):
    """One page of versions, newest first; `next_before` is null on the last one."""

    items: list[DomainVersionSummary]
    next_before: int | None


class VersionEdited(Input):
    """Which version the change was made from; a newer one meanwhile: 409."""

    version: int | None = Field(None, description="Absent: whatever it is now.")


class Duplicate(Input):
    """A copy of a domain to be made."""

    name: Name


class Drift(Wire):
    """How a session's configuration differs from its domain today."""

    domain_exists: bool
    archived: bool = Field(False, description="The domain takes no new sessions.")
    image_version: int | None = Field(
        None, description="The domain's version that the image was copied from, where known."
    )
    domain_version: int | None = None
    changes: list[DriftChange]
    warnings: list[str] = Field(
        default=[], description="What will keep the session's turns from running, in sentences."
    )


class ContinueRequest(Input):
    """A session to be continued in a new one."""

    domain: str | None = Field(
        None, description="A domain's name or id; default: the session's own."
    )


class CatalogTool(Wire):
    """A built-in tool. `effect`: what running it twice would do."""

    name: str
    effect: str


class CatalogPolicy(Wire):
    """A middleware, with the JSON schema of its settings."""

    name: str
    description: str
    settings: JSON


class Catalog(Wire):
    """What a domain may name. `models` are known by the settings; others may be named, too."""

    tools: list[CatalogTool]
    middleware: list[CatalogPolicy]
    models: list[str]
    default_model: str
    secrets: list[str] = Field(
        description="Names, or beginnings with `*`, that may be named; `@` and where they may go."
    )
    commands: list[str] = Field(
        [], description="What commands of stdio tool servers must be, or begin with."
    )
