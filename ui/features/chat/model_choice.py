"""The choice of model at the composer, where the domain offers several."""

from streamlit.delta_generator import DeltaGenerator

from backend.schemas.conversations.sessions import Session
from backend.schemas.domains.templates import Domain
from backend.schemas.operations.server import ServerInfo
from ui import state
from ui.state import ModelChoice

LEAST_WIDTH, CHARACTER, ARROW = 220, 9, 60  # pixels; names may differ only at their end


def show_for_session(place: DeltaGenerator, session: Session, server: ServerInfo) -> None:
    """Draw the choice for the next message of a session."""
    default = session.default_model or server.model
    _show(place, str(session.id), default, session.models or [], session.model)


def show_for_domain(place: DeltaGenerator, domain: Domain | None, server: ServerInfo) -> None:
    """Draw the choice for a new chat of a domain."""
    state.memory().choice = ModelChoice()
    if domain is not None:
        own = domain.agents[0].model if domain.agents else None
        default = own or domain.model or server.model
        _show(place, str(domain.id), default, domain.models, None)


def _show(
    place: DeltaGenerator, of: str, default: str, further: list[str], before: str | None
) -> None:
    """Draw the choice and keep what is to be sent: nothing if the default was never changed."""
    state.memory().choice = ModelChoice()
    offered = list(dict.fromkeys([default, *further]))
    if len(offered) < 2:
        return
    number = offered.index(before) if before in offered else 0
    # If another model was chosen elsewhere since, the field starts again with that one.
    key = f"chosen-model-{of}-{number}"
    shown = place.selectbox(
        "Model",
        offered,
        index=number,
        key=key,
        help="The model that answers the next message and those after it",
        label_visibility="collapsed",
        width=max(LEAST_WIDTH, ARROW + CHARACTER * max(map(len, offered))),
    )
    chosen = shown if shown != default or before is not None else None
    state.memory().choice = ModelChoice(chosen, key, shown)
