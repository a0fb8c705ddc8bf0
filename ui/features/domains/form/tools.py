"""The tools of a domain: built-in ones and those of tool servers, and which of them answer."""

from typing import Any

import streamlit as st

from ui.features.domains.form import body as bodies
from ui.features.domains.form import fields, rows, trial
from ui.features.domains.form.body import Path
from ui.features.domains.form.choices import Choices
from ui.features.domains.form.draft import Draft
from ui.features.domains.form.fields import About
from ui.features.servers.words import EFFECTS
from ui.shared import icons
from ui.shared.text.markdown import plain

SERVERS: Path = ("mcp_servers",)
HTTP, PROCESS = "streamable_http", "stdio"
TRANSPORTS = {HTTP: "Over HTTP", PROCESS: "A process that the worker starts"}
OWN_CHOICE = About("Only some built-in tools", "Off: agents have all that apply.")
BUILT_IN = About("Built-in tools", "They query the sources on the *Data* page, read-only.")
NAME = About("Name", "Shown to people and in logs.", "ledger")
TRANSPORT = About("Connection", "A server reached over HTTP must already be running.")
URL = About("Address", "The URL of its MCP endpoint.", "`http://127.0.0.1:9000/mcp`")
CONNECT = About("Seconds to connect", "Empty: MCP_CONNECT_SECONDS in the settings.", "10")
CALL = About("Seconds for a call", "Empty: *Tool seconds* from the limits.", "120")
ARGUMENTS = About("Arguments", "One per line, without quoting.", "--directory")


def show(draft: Draft, choices: Choices, domain_id: Any) -> None:
    """Draw the built-in tools, each server, and which tools answer."""
    st.markdown("**Built-in tools**")
    _built_in(draft, choices)
    if sources := choices.sources(draft):
        st.caption(f"Available sources: {plain(sources, 400)}.")
    st.markdown("**Tool servers**")
    servers: dict[str, Any] = draft.get(SERVERS, {})
    st.caption(
        "Programs that offer tools over the Model Context Protocol (MCP)."
        + ("" if servers else " There are none.")
    )
    for number, name in enumerate(servers):
        with st.container(border=True):
            _server(draft, number, name, choices)
    fields.say(draft, SERVERS)
    st.button(
        "Add tool server",
        key=draft.key("mcp_servers", "add"),
        icon=":material/add:",
        on_click=_add,
        args=(draft,),
    )
    if servers:
        trial.servers(draft, domain_id)


def _built_in(draft: Draft, choices: Choices) -> None:
    path: Path = ("tools",)
    fields.switch(draft, path, OWN_CHOICE, on=[], is_on=draft.get(path) is not None)
    if draft.get(path) is None:
        fields.say(draft, path)
        return
    effects = {tool.name: EFFECTS.get(tool.effect, "") for tool in choices.catalog.tools}
    words = {name: f"{name} ({effect})" for name, effect in effects.items()}
    fields.many(
        draft, path, BUILT_IN, list(effects), none_is_list=True, new=False,
        words=lambda name: words.get(name, name),
    )  # fmt: skip


def _add(draft: Draft) -> None:
    draft.absorb()
    servers = draft.get(SERVERS, {})
    server = {"transport": HTTP, "url": "http://127.0.0.1:9000/mcp"}
    draft.rearrange(SERVERS, {**servers, rows.free_name("server", servers): server})


def _server(draft: Draft, number: int, name: str, choices: Choices) -> None:
    path: Path = (*SERVERS, name)
    with rows.head():
        st.markdown(f"**{plain(name, 80)}**", width="content")
        with icons.alone(draft.key("server", number)):
            st.button(
                f"Remove the server {plain(name, 80)}",
                key=draft.key("server", number, "remove"),
                type="tertiary",
                icon=":material/delete:",
                help=f"Remove the server {name}",
                on_click=rows.remove_entry,
                args=(draft, path),
            )
    _name(draft, number, name)
    fields.say(draft, path)
    fields.choice(draft, (*path, "transport"), TRANSPORT, list(TRANSPORTS), words=TRANSPORTS)
    if draft.get((*path, "transport")) == PROCESS:
        _process(draft, path, choices)
    else:
        fields.text(draft, (*path, "url"), URL)
        words = ("Header", "Authorization", f"Bearer {_secret(choices)}")
        rows.pairs(draft, (*path, "headers"), f"Headers. {_secrets(choices)}", words)
    fields.number(draft, (*path, "connect_seconds"), CONNECT, whole=False, nothing="The default")
    fields.number(draft, (*path, "call_seconds"), CALL, whole=False, nothing="The default")
    _left_over(draft, path)


def _name(draft: Draft, number: int, name: str) -> None:
    key = draft.key("server", number, "name")

    def write(new: str) -> None:
        rows.rename(draft, SERVERS, key, name, new)

    draft.bind(key, name, write, is_name=True)
    with fields.beside(NAME):
        st.text_input(NAME.label, key=key)
        if refused := draft.refused.get(key):
            st.caption(f":red[:material/error: {plain(refused, 300)}]")


def _process(draft: Draft, path: Path, choices: Choices) -> None:
    allowed = ", ".join(_code(words) for words in choices.catalog.commands)
    about = f"Command and arguments must be, or begin with: {allowed}." if allowed else (
        "The operator has allowed no commands yet (STDIO_COMMANDS in the settings)."
    )  # fmt: skip
    fields.text(draft, (*path, "command"), About("Command", about))
    fields.lines(draft, (*path, "args"), ARGUMENTS)
    words = ("Variable", "API_KEY", _secret(choices))
    rows.pairs(draft, (*path, "env"), f"Environment variables. {_secrets(choices)}", words)


def _secret(choices: Choices) -> str:
    names = [name.partition("@")[0] for name in choices.catalog.secrets]
    return "${" + (names[0].replace("*", "TOKEN") if names else "NAME") + "}"


def _secrets(choices: Choices) -> str:
    names = ", ".join(_code(name) for name in choices.catalog.secrets)
    return (
        f"Secrets are named, as in `${{NAME}}`. Allowed: {names}."
        if names
        else "Secrets are named, never written out; DOMAIN_SECRETS in the settings allows none yet."
    )


def _code(text: str) -> str:
    """Return the text unchanged, between backticks."""
    shown = text[:200].replace("`", "'")
    return f"`{shown}`"


def _left_over(draft: Draft, path: Path) -> None:
    """Report settings of the other kind of server, with which this one would be refused."""
    is_process = draft.get((*path, "transport")) == PROCESS
    others = ("url", "headers") if is_process else ("command", "args", "env")
    left = [name for name in others if draft.get((*path, name)) is not None]
    for name in left:
        for fault in bodies.at(draft.faults, (*path, name)):
            draft.said.append(fault)
    if left:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(
                f":red[:material/error: {', '.join(left)} is left from the other kind of server.]"
            )
            st.button(
                "Remove",
                key=draft.key(*path, "left"),
                type="tertiary",
                on_click=_drop,
                args=(draft, path, left),
            )


def _drop(draft: Draft, path: Path, names: list[str]) -> None:
    draft.absorb()
    server = {n: value for n, value in draft.get(path).items() if n not in names}
    draft.rearrange(path, server)
