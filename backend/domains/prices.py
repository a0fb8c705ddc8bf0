"""Warning of limits on cost that leave models out, because these have no price."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import chain

from backend.domains.team import everyone_in
from backend.schemas.domains.configuration import Fault
from backend.schemas.domains.templates import DomainTemplate
from backend.text import listed

COST_LIMITS = ("cost", "conversation_cost", "domain_cost_per_month")


@dataclass(frozen=True)
class Prices:
    """The installation's default model, and the models with a price."""

    default_model: str
    priced: Collection[str]


def find_unpriced(image: DomainTemplate, prices: Prices) -> list[Fault]:
    """Return a warning at each limit on cost that does not count some of the domain's models."""
    models = dict.fromkeys(name or prices.default_model for name in _models_in(image))
    unpriced = [name for name in models if name not in prices.priced]
    limits = [name for name in COST_LIMITS if getattr(image.limits, name) is not None]
    message = (
        f"No price is set for {listed(unpriced)}, so that cost never counts towards this"
        " limit. Set the price on the page Models, or limit the tokens instead."
    )
    return [Fault(path=["limits", name], message=message) for name in limits if unpriced]


def _models_in(image: DomainTemplate) -> Iterator[str | None]:
    """Yield the models that agents, people and policies may use; None for the default."""
    agents = everyone_in(image)
    yield from (agent.model or image.model for agent in agents)
    yield from image.models
    if image.manager and image.manager.continuity_model:
        yield image.manager.continuity_model
    policies = chain(image.middleware, *(agent.middleware or () for agent in agents))
    for policy in policies:
        for settings in policy.values() if isinstance(policy, dict) else ():
            yield from (settings.get("models") or filter(None, [settings.get("model")]))
