"""The wire contract around configurations: checks, versions, drift and the catalogue of names."""

from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from backend.schemas.bounds import Name
from backend.schemas.domains.templates import DomainTemplate
from backend.schemas.wire import Input, Wire
from backend.types import JSON


class Fault(Wire):
    """An error in one field of a template, in a sentence."""

    path: list[str | int] = Field(description="Keys and indexes to the field, outermost first.")
    message: str


class TemplateCheck(Wire):
    """The check of a template. Faults prevent saving; warnings do not."""

    faults: list[Fault]
    warnings: list[Fault]
    image: JSON | None = Field(description="A new session's image; null if there are faults.")


class DomainVersionSummary(Wire):
    """One version of a domain. `changed_by` is empty if unknown."""

    version: int
    name: str
    changed_by: str
    created_at: datetime


class DriftChange(Wire):
    """One difference between a configuration and the current domain."""

    path: list[str] = Field(description="Keys, outermost first; agents and tools by name.")
    kind: Literal["added", "removed", "changed"] = Field(
        description="`added`: only the current domain has it."
    )
    image: Any = Field(None, description="The configuration's value.")
    domain: Any = Field(None, description="The current domain's value.")


class DomainVersion(DomainVersionSummary):
    """One version of a domain: its template, and how the current domain differs."""

    template: DomainTemplate
    changes: list[DriftChange] = []


class DomainVersionPage(Wire):
    """One page of versions, newest first; `next_before` is null on the last page."""

    items: list[DomainVersionSummary]
    next_before: int | None


class VersionEdited(Input):
    """The version that the change was made from; 409 if there is a newer one."""

    version: int | None = Field(None, description="Absent: the current version, whichever it is.")


class Duplicate(Input):
    """A copy of a domain to create."""

    name: Name


class Drift(Wire):
    """How a session's configuration differs from its current domain."""

    domain_exists: bool
    archived: bool = Field(False, description="The domain accepts no new sessions.")
    image_version: int | None = Field(
        None, description="The domain version that the image was copied from, if known."
    )
    domain_version: int | None = None
    changes: list[DriftChange]
    warnings: list[str] = Field(
        default=[], description="What will prevent the session's turns from running, in sentences."
    )


class ContinueRequest(Input):
    """How to continue a session in a new one."""

    domain: str | None = Field(
        None, description="A domain's name or id; absent: the session's own."
    )


class CatalogTool(Wire):
    """A built-in tool. `effect`: what happens if it runs twice."""

    name: str
    effect: str


class CatalogPolicy(Wire):
    """A middleware, with the JSON Schema of its settings."""

    name: str
    description: str
    settings: JSON


class Catalog(Wire):
    """What a domain may name. `models` come from the settings; other names are allowed, too."""

    tools: list[CatalogTool]
    middleware: list[CatalogPolicy]
    models: list[str]
    default_model: str
    secrets: list[str] = Field(
        description="Allowed names, or prefixes ending in `*`; `@` precedes the allowed hosts."
    )
    commands: list[str] = Field(
        [], description="Allowed commands of stdio tool servers, or their prefixes."
    )
