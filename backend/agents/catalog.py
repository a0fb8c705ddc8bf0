"""The catalogue of what a domain may name: tools, middleware, models, secrets, commands."""

import shlex

from backend.agents.middleware.registry import MIDDLEWARE
from backend.schemas.domains.configuration import Catalog, CatalogPolicy, CatalogTool
from backend.setting_kinds import split_commands
from backend.settings import Settings
from backend.tools.registry import TOOLS
from backend.types import JSON


def list_catalog(settings: Settings, default_model: str) -> Catalog:
    """Return everything that domains of this installation may name."""
    return Catalog(
        tools=[CatalogTool(name=name, effect=spec.effect) for name, spec in TOOLS.items()],
        middleware=[_policy(name, spec.settings.model_json_schema()) for name, spec in _POLICIES],
        models=sorted({default_model, *settings.model_prices}),
        default_model=default_model,
        secrets=list(settings.secret_names),
        commands=[shlex.join(words) for words in split_commands(settings.stdio_commands)],
    )


def _policy(name: str, schema: JSON) -> CatalogPolicy:
    return CatalogPolicy(name=name, description=schema.pop("description", ""), settings=schema)


_POLICIES = sorted(MIDDLEWARE.items())
