"""The form of one provider: test, add, save or remove it.

The result of an action stays under its button until the next action. A client secret is sent and
then forgotten; it is never shown.
"""

from dataclasses import dataclass

import streamlit as st

from backend.schemas.people.providers import (
    SCOPES,
    IdentityProvider,
    IdentityProviders,
    ProviderSource,
    ProviderTest,
)
from backend.types import JSON
from ui import state
from ui.client import ClientError
from ui.features.signing_in import calls, words
from ui.shared.text.markdown import plain

CHOSEN = "provider"  # the field that chooses; its value is a provider's id, None: a new one
ENDED, SECRETS = "provider-ended", "provider-secrets"
TEXTS = ("name", "issuer", "client_id", "scopes", "groups_claim")
HELP = {
    "name": "As the sign-in page calls it: *Continue with …*",
    "issuer": "Compared letter by letter: copy `issuer` from the provider's description, under"
    " `/.well-known/openid-configuration`.",
    "scopes": "Names with spaces between, `openid` among them.",
    "groups_claim": "The claim with a person's groups; dots lead into objects, as in"
    " `realm_access.roles`. Empty: groups mean nothing.",
}


@dataclass
class Ended:
    """The result of the last action, and of which provider."""

    of: str | None
    test: ProviderTest | None = None
    problem: ClientError | None = None
    notice: str = ""


def show(providers: IdentityProviders, provider: IdentityProvider | None) -> None:
    """Draw the fields of a provider and their buttons; None: of a new one."""
    of = provider.id if provider else None
    is_fixed = provider is not None and provider.source is ProviderSource.ENVIRONMENT
    if is_fixed:
        st.caption("Set in the environment by OIDC_PROVIDERS, and changed there.")
    if provider is not None and provider.key_problem:
        st.error(plain(provider.key_problem, 1_000), icon=":material/key_off:")
    with st.container(key="provider-fields"):
        _redirect(providers, provider)
        for name in TEXTS[:3]:
            _text(provider, name, is_fixed)
        _secret(provider, is_fixed)
        for name in TEXTS[3:]:
            _text(provider, name, is_fixed)
        st.checkbox(
            "Admit people who were not invited, as members",
            provider.admits_new if provider else True,
            key=_key("admits_new", of),
            disabled=is_fixed,
            help="If not, only those come in who were invited by a link, or are in one of the"
            " groups that mean something here.",
        )
    _actions(provider, is_fixed)
    _result(of)


def _redirect(providers: IdentityProviders, provider: IdentityProvider | None) -> None:
    """Draw the redirect address to copy; the id of a new provider is part of it."""
    if provider is not None:
        address = provider.redirect_url
    else:
        typed = st.text_input(
            words.LABELS["id"],
            key=_key("id", None),
            max_chars=40,
            placeholder="company",
            help="Small letters, digits and hyphens. Part of the redirect address, so it stays.",
        )
        address = providers.redirect_url.replace("{id}", (typed or "").strip() or "<id>")
    st.markdown("Redirect address, to be registered at the provider:")
    st.code(address, language=None, wrap_lines=True)


def _text(provider: IdentityProvider | None, name: str, is_fixed: bool) -> None:
    empty = SCOPES if name == "scopes" else ""
    st.text_input(
        words.LABELS[name],
        (getattr(provider, name) or "") if provider else empty,
        key=_key(name, provider.id if provider else None),
        disabled=is_fixed,
        help=HELP.get(name),
        placeholder="https://login.example.com" if name == "issuer" else None,
    )


def _secret(provider: IdentityProvider | None, is_fixed: bool) -> None:
    if is_fixed:
        return
    of = provider.id if provider else None
    has_secret = provider is not None and provider.has_secret
    st.text_input(
        words.LABELS["client_secret"],
        key=_secret_key("client_secret", of),
        type="password",
        autocomplete="off",
        disabled=bool(st.session_state.get(_secret_key("no_secret", of))),
        placeholder="Stored; leave empty to keep it" if has_secret else "None",
        help="Stored encrypted, and never shown again. It is for this issuer and client id only.",
    )
    if has_secret:
        label = "Delete the stored secret: the client has none"
        st.checkbox(label, key=_secret_key("no_secret", of))


def _actions(provider: IdentityProvider | None, is_fixed: bool) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        sign = ":material/network_check:"
        st.button("Test", key="test-provider", icon=sign, on_click=_test, args=(provider,))
        if is_fixed:
            return
        st.button(
            "Save" if provider else "Add",
            key="save-provider",
            type="primary",
            icon=":material/save:",
            on_click=_save,
            args=(provider,),
        )
        if provider and st.button("Remove…", key="remove-provider", icon=":material/delete:"):
            _confirm(provider)


@st.dialog("Remove this provider?", icon=":material/delete:")
def _confirm(provider: IdentityProvider) -> None:
    st.markdown(f"Remove **{plain(provider.name, 200)}**?")
    st.caption(words.REMOVING)
    with st.container(horizontal=True, horizontal_alignment="right"):
        if st.button("Keep", key="keep-provider"):
            st.rerun()
        sign = ":material/delete:"
        if st.button(
            "Remove", key="remove", type="primary", icon=sign, on_click=_remove, args=(provider,)
        ):
            st.rerun()


def _result(of: str | None) -> None:
    """Draw the result of the last action."""
    ended: Ended | None = st.session_state.get(ENDED)
    if ended is None or ended.of != of:
        return
    if ended.problem is not None:
        st.error(plain(words.refusal(ended.problem.detail), 1_000), icon=":material/error:")
    if ended.notice:
        st.success(ended.notice, icon=":material/check:")
    if ended.test is not None and ended.test.is_usable:
        st.success(plain(ended.test.detail, 1_000), icon=":material/check:")
    elif ended.test is not None:
        st.error(plain(ended.test.detail, 1_000), icon=":material/error:")


def _body(of: str | None) -> JSON:
    """Return the values of the fields; a secret that was not typed is absent."""
    written = st.session_state
    body: JSON = {name: str(written.get(_key(name, of)) or "").strip() for name in TEXTS}
    body["groups_claim"] = body["groups_claim"] or None
    body["admits_new"] = bool(written.get(_key("admits_new", of)))
    secret = str(written.get(_secret_key("client_secret", of)) or "").strip()
    if written.get(_secret_key("no_secret", of)):
        body["client_secret"] = ""
    elif secret:
        body["client_secret"] = secret
    return body


def _test(provider: IdentityProvider | None) -> None:
    of = provider.id if provider else None
    body = _body(of)
    asked = {n: body[n] for n in ("issuer", "client_id", "client_secret") if n in body}
    ended = _begin(of)
    try:
        ended.test = calls.test_provider(state.client(), asked | ({"id": of} if of else {}))
    except ClientError as problem:
        ended.problem = problem


def _save(provider: IdentityProvider | None) -> None:
    of = provider.id if provider else None
    ended, body = _begin(of), _body(of)
    try:
        if provider is None:
            body["id"] = str(st.session_state.get(_key("id", None)) or "").strip()
            saved = calls.add_provider(state.client(), body)
        else:
            changed = {k: v for k, v in body.items() if v != getattr(provider, k, None)}
            saved = calls.change_provider(state.client(), provider.id, changed)
    except ClientError as problem:
        ended.problem = problem
        return
    _forget_fields(of)
    ended.of = st.session_state[CHOSEN] = saved.id
    ended.notice = f"{plain(saved.name, 200)} was saved, for sign-ins from now on."


def _remove(provider: IdentityProvider) -> None:
    ended = _begin(provider.id)
    try:
        calls.remove_provider(state.client(), provider.id)
    except ClientError as problem:
        ended.problem = problem
        return
    _forget_fields(provider.id)
    ended.of = st.session_state[CHOSEN] = None
    ended.notice = f"{plain(provider.name, 200)} was removed, with its secret."


def _forget_fields(of: str | None) -> None:
    """Reset the fields, so that the secret stays neither in memory nor in the browser's field."""
    for name in (*TEXTS, "id", "admits_new"):
        st.session_state.pop(_key(name, of), None)
    for name in ("client_secret", "no_secret"):
        st.session_state.pop(_secret_key(name, of), None)
    st.session_state[SECRETS] = st.session_state.get(SECRETS, 0) + 1


def _key(name: str, of: str | None) -> str:
    return f"provider-{name}-{of or ''}"


def _secret_key(name: str, of: str | None) -> str:
    """Return the key of a field that is another one after each save."""
    return f"{_key(name, of)}-{st.session_state.get(SECRETS, 0)}"


def _begin(of: str | None) -> Ended:
    """Clear the previous result, and return the place for the next."""
    ended = st.session_state[ENDED] = Ended(of)
    return ended
