"""The catalogue of what a domain may name: tools, middleware, models, secrets, commands."""

import shlex
from collections.abc import Collection

from backend.agents.middleware.registry import MIDDLEWARE
from backend.auth.rights import Rights
from backend.schemas.domains.configuration import Catalog, CatalogPolicy, CatalogTool
from backend.schemas.people.rights import Resource
from backend.setting_kinds import split_commands
from backend.settings import Settings
from backend.tools.registry import TOOLS
from backend.types import JSON


def list_catalog(
    settings: Settings, default_model: str, priced: Collection[str], rights: Rights
) -> Catalog:
    """Return what domains of this installation may name, as far as it is the caller's.

    `priced`: the models that have a price.
    """
    models = sorted({default_model, *priced})
    return Catalog(
        tools=[CatalogTool(name=name, effect=spec.effect) for name, spec in TOOLS.items()],
        middleware=[_policy(name, spec.settings.model_json_schema()) for name, spec in _POLICIES],
        models=[name for name in models if rights.may_use(Resource.MODEL, name)],
        default_model=default_model,
        secrets=[name for name in settings.secret_names if rights.may_use(Resource.SECRET, name)],
        commands=[shlex.join(words) for words in split_commands(settings.stdio_commands)],
    )


def _policy(name: str, schema: JSON) -> CatalogPolicy:
    return CatalogPolicy(name=name, description=schema.pop("description", ""), settings=schema)


_POLICIES = sorted(MIDDLEWARE.items())
