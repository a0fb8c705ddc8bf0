"""Who may see one resource: its grants, given and taken away."""

import streamlit as st

from backend.schemas.people.grants import Grant, Grants, NewGrant, Principal
from backend.schemas.people.rights import RIGHTS, Resource, Right
from ui import state
from ui.features.grants import calls
from ui.shared.text.markdown import plain

KINDS = {
    Resource.DOMAIN: "Domain",
    Resource.SOURCE: "Source",
    Resource.SERVER: "Tool server",
    Resource.SECRET: "Secret",
    Resource.MODEL: "Model",
    Resource.FILE: "Uploaded file",
    Resource.SESSION: "Session",
}
PRIVATE = (Resource.SESSION, Resource.FILE)  # their owners share them


def show() -> None:
    """Draw the choice of a resource, who may see it, and how to grant a right on it."""
    client = state.client()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        kind = st.selectbox("Kind", list(KINDS), format_func=KINDS.__getitem__, key="grants-kind")
        names = calls.resources(client, kind)
        chosen = st.selectbox(
            KINDS[kind], list(names), format_func=names.__getitem__, key=f"grants-of-{kind}"
        )
    if chosen is None:
        st.info("There is none, or nobody was granted one.")
        return
    found = calls.of_resource(client, kind, chosen)
    st.markdown(_who(kind, found))
    for grant in found.items:
        _row(grant)
    if kind in PRIVATE:
        st.caption("Who owns it shares it. You can see with whom, and take that away.")
    else:
        _add(kind, chosen)


def _who(kind: Resource, found: Grants) -> str:
    """Return in a sentence who may see the resource."""
    if found.is_everyones:
        return f"**Everyone** may use this {KINDS[kind].lower()}."
    names = ", ".join(plain(one.name, 80) for one in found.people or [])
    besides = " besides its owner" if kind in PRIVATE else ""
    return f"Granted{besides} to: **{names}**." if names else f"Granted{besides} to nobody."


def _row(grant: Grant) -> None:
    with st.container(
        horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"
    ):
        what = f"{grant.principal_type} {plain(grant.principal_name, 80)}: {grant.right}"
        st.markdown(what, width="content")
        st.button(
            "Take away",
            key=f"grant-{grant.principal_type}-{grant.principal_id}-{grant.right}",
            icon=":material/remove_circle:",
            help="It holds from the next tool call on",
            on_click=_remove,
            args=(grant,),
        )


def _add(kind: Resource, resource_id: str) -> None:
    st.subheader("Grant", anchor=False)
    q = st.text_input("Find a person or a team", key="grants-find", placeholder="A part of a name")
    found = {f"{one.type}:{one.id}": one for one in calls.principals(state.client(), q)}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        to = st.selectbox(
            "To", list(found), format_func=lambda key: found[key].name, key="grants-to"
        )
        right = st.selectbox("Right", RIGHTS[kind], key=f"grants-right-{kind}")
        st.button(
            "Grant",
            key="grants-add",
            type="primary",
            on_click=_put,
            args=(kind, resource_id, found[to], right),
        )
    st.caption(
        "From the first grant on, only those who were granted it have it; for all others it does"
        " not exist. Without grants it is everyone's."
    )


def _put(kind: Resource, resource_id: str, to: Principal, right: Right) -> None:
    grant = NewGrant(
        resource_type=kind,
        resource_id=resource_id,
        principal_type=to.type,
        principal_id=to.id,
        right=right,
    )
    with state.flashing():
        calls.put(state.client(), grant)


def _remove(grant: Grant) -> None:
    with state.flashing():
        calls.remove(state.client(), grant)
