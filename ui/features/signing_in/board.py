"""The list of providers, the choice of one, and what its groups mean."""

from collections.abc import Mapping

import streamlit as st

from backend.schemas.people.providers import (
    GroupMeaning,
    IdentityProvider,
    IdentityProviders,
    ProviderSource,
)
from backend.schemas.people.rights import Role
from ui import state
from ui.client import ClientError
from ui.features.people.words import role
from ui.features.signing_in import calls, form, words
from ui.shared import banners
from ui.shared.text.markdown import plain

GROUP, PROBLEM = "provider-group", "provider-group-problem"


def choose(providers: IdentityProviders) -> IdentityProvider | None:
    """Draw the list and the field that chooses from it; return the choice, None: a new one."""
    known = {one.id: one for one in providers.items}
    if known:
        st.dataframe(
            [_row(one) for one in providers.items],
            hide_index=True,
            height="content",
            width="stretch",
            alt="Providers",
        )
    if st.session_state.get(form.CHOSEN) not in known:
        st.session_state[form.CHOSEN] = None  # it was removed elsewhere
    chosen = st.selectbox(
        "Provider",
        [None, *known],
        key=form.CHOSEN,
        format_func=lambda one: words.option(known.get(one or "")),
    )
    return known.get(chosen or "")


def groups(provider: IdentityProvider, teams: Mapping[str, str]) -> None:
    """Draw what a provider's groups mean, and the fields that set it for one group."""
    st.subheader("Groups", anchor=False)
    st.caption(words.GROUPS if provider.groups_claim else words.NO_GROUPS)
    rows = [
        dict(zip(("Group", "Team", "Role"), (name, *words.meaning(of, teams)), strict=True))
        for name, of in provider.groups.items()
    ]
    if rows:
        st.dataframe(rows, hide_index=True, height="content", width="stretch", alt="Groups")
    if provider.groups_claim and provider.source is ProviderSource.PAGE:
        _fields(provider, teams)


def _row(one: IdentityProvider) -> Mapping[str, str | int]:
    return {
        "Name": one.name,
        "Id": one.id,
        "Issuer": one.issuer,
        "Client id": one.client_id,
        "Secret": "stored" if one.has_secret else "none",
        "Groups": len(one.groups),
        "Set": words.source(one),
    }


def _fields(provider: IdentityProvider, teams: Mapping[str, str]) -> None:
    key = f"{GROUP}-{provider.id}"
    group = st.text_input(
        "Group", key=key, placeholder="As the provider writes it", help=words.GROUP_HELP
    ).strip()
    if not group:
        return
    held = provider.groups.get(group)
    with st.container(horizontal=True):
        _choice("Team", _key(provider, group, "team"), teams, held.team if held else None)
        roles = {str(one): role(one) for one in Role}
        _choice("Role", _key(provider, group, "role"), roles, held.role if held else None)
    with st.container(horizontal=True):
        sign = ":material/save:"
        st.button("Save group", key="save-group", icon=sign, on_click=_save, args=(provider, group))
        if held is not None:
            sign = ":material/undo:"
            st.button(
                "Remove group", key="remove-group", icon=sign, on_click=_set, args=(provider, group)
            )
    if problem := st.session_state.pop(PROBLEM, None):
        banners.error(problem)


def _choice(label: str, key: str, named: Mapping[str, str], held: str | None) -> None:
    options = [None, *named] if held in (None, *named) else [None, held, *named]
    st.selectbox(
        label,
        options,
        index=options.index(held),
        key=key,
        format_func=lambda one: plain(named.get(one, "deleted"), 80) if one else "—",
    )


def _save(provider: IdentityProvider, group: str) -> None:
    """Save what is chosen now, which may be newer than the page."""
    team, given = (st.session_state.get(_key(provider, group, one)) for one in ("team", "role"))
    if not team and not given:
        detail = "Choose a team, a role, or both."
        st.session_state[PROBLEM] = ClientError("Not saved", detail)
        return
    _set(provider, group, GroupMeaning(team=team, role=Role(given) if given else None))


def _set(provider: IdentityProvider, group: str, meaning: GroupMeaning | None = None) -> None:
    """Set what a group means; None: nothing."""
    meanings = {**provider.groups, group: meaning}
    body = {name: of.model_dump(mode="json") for name, of in meanings.items() if of}
    try:
        calls.change_provider(state.client(), provider.id, {"groups": body})
    except ClientError as problem:
        st.session_state[PROBLEM] = problem
        return
    st.session_state[f"{GROUP}-{provider.id}"] = ""
    for one in ("team", "role"):
        st.session_state.pop(_key(provider, group, one), None)
    state.say(f"{plain(group, 200)} was {'saved' if meaning else 'removed'}.")


def _key(provider: IdentityProvider, group: str, of: str) -> str:
    return f"{GROUP}-{provider.id}-{of}-{group}"
