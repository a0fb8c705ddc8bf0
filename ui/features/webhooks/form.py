"""The fields of a new webhook."""

import streamlit as st

from backend.schemas.bounds import LONGEST_NAME
from backend.schemas.people.rights import Permission, PrincipalType
from backend.schemas.webhooks import LONGEST_URL, NewWebhook, WebhookEvent
from ui import state
from ui.client import ClientError
from ui.features.domains.calls import list_domains
from ui.features.sharing import calls as sharing
from ui.features.webhooks import board, calls, words
from ui.shared.once import once

ALL = ""


def show() -> None:
    """Draw the fields; those of a webhook that was set are not those of the next one."""
    number = state.memory().made.get(board.MADE, 0)
    with (
        st.expander("Set a webhook", icon=":material/add:", key=f"new-webhook-{number}"),
        st.form(f"webhook-form-{number}", border=False),
    ):
        _fields(number)
        st.form_submit_button(
            "Set webhook", icon=":material/webhook:", on_click=_create, args=(number,)
        )


def _fields(number: int) -> None:
    holders = _holders()
    st.text_input(
        "Name", key=f"webhook-name-{number}", max_chars=LONGEST_NAME,
        placeholder="What receives the events",
    )  # fmt: skip
    st.text_input(
        "Address", key=f"webhook-url-{number}", max_chars=LONGEST_URL, placeholder="https://…"
    )
    st.multiselect(
        "Events", list(WebhookEvent), list(WebhookEvent), key=f"webhook-events-{number}",
        format_func=words.EVENTS.__getitem__,
    )  # fmt: skip
    st.selectbox(
        "Whose sessions", list(holders), key=f"webhook-of-{number}",
        format_func=holders.__getitem__,
    )  # fmt: skip
    names = {str(one.id): one.name for one in list_domains(state.client())}
    st.selectbox(
        "Of which domain", [ALL, *names], key=f"webhook-domain-{number}",
        format_func=lambda one: names.get(one, "All domains"),
    )  # fmt: skip


def _holders() -> dict[str, str]:
    """Return whose sessions may be chosen, by the team's id or a mark."""
    server, found = state.server(), {words.OWN: "Mine"}
    if server.has_accounts:
        teams = sharing.teams(state.client())
        found |= {team.id: f"Team {team.name}" for team in teams}
    if Permission.OPERATE in server.permissions and (
        Permission.REVIEW_SESSIONS in server.permissions
    ):
        found[words.EVERYONE] = "Everyone's"
    return found


def _create(number: int) -> None:
    with state.flashing():
        once(("webhook", number), _ask, number, _written(number))


def _written(number: int) -> NewWebhook:
    """Return what the fields say. Raise ClientError if that is no webhook."""
    written = st.session_state

    def field(name: str) -> str:
        return str(written.get(f"webhook-{name}-{number}") or "").strip()

    if not field("name") or not field("url"):
        raise ClientError("A webhook needs a name and an address", "Fill in both.")
    events = written[f"webhook-events-{number}"]
    if not events:
        raise ClientError("A webhook needs an event", "Choose at least one.")
    of, domain = field("of"), field("domain")
    kind = {words.OWN: PrincipalType.USER, words.EVERYONE: PrincipalType.EVERYONE}
    return NewWebhook(
        name=field("name"), url=field("url"), events=events,
        principal_type=kind.get(of, PrincipalType.TEAM),
        principal_id="" if of in kind else of,
        domain_id=domain or None,
    )  # fmt: skip


def _ask(number: int, new: NewWebhook) -> None:
    """Have a webhook set; its secret is nowhere but on the page."""
    made = calls.add_webhook(state.client(), new)
    board.keep_secret(made.name, made.secret)
    state.memory().made[board.MADE] = number + 1
