"""The form of a domain: every field says what is wrong with it, and nothing typed is lost."""

from typing import Any, Literal
from uuid import UUID

import streamlit as st

from backend.schemas.configuration import Catalog, Fault, TemplateCheck
from backend.schemas.domains import Domain, DomainTemplate, Limits
from ui import state
from ui.client import ClientError
from ui.features.domains import calls as domains
from ui.features.domains import catalog as domain_catalog
from ui.features.domains import state as domain_state
from ui.features.domains.fields import (
    ALL_TOOLS,
    LIMIT,
    LIMITS,
    Read,
    changed_body,
    faults_at,
    to_body,
    to_values,
)
from ui.features.domains.state import Form
from ui.shared.once import once
from ui.shared.text.markdown import plain

LIMIT_COLUMNS = 3
KEPT: Literal["session"] = "session"  # a field is not drawn in the other views
WRITTEN_HELP = {
    "agents": "A list of agents with `name` and, where it differs from the domain's,"
    " `system_prompt`, `model`, `tools`, `middleware`. Empty: one agent with all of the domain's.",
    "middleware": "A list of policies by name, or `name:` with its settings, in their order.",
    "mcp_servers": "Servers by name, with `transport: stdio` and `command`, `args`, `env`, or"
    " `transport: streamable_http` and `url`, `headers`. Secrets as `${NAME}`, never as they are."
    " Commands are those that the operator has allowed.",
}


def edit(domain: Domain | None) -> tuple[Form, TemplateCheck]:
    """Return the form of a domain, or of a new one, as it was left; and what would become of it."""
    template = domain or DomainTemplate.model_construct(name="")
    name = f"domain-{domain.id if domain else domain_state.NEW}"
    form = domain_state.open_form(name, domain.version if domain else 0, to_values(template))
    read = to_body(form.values)
    whole = template.model_dump(mode="json", include=set(DomainTemplate.model_fields))
    check = domains.check_template(state.client(), {**whole, **read.body})
    check.faults = [*read.faults, *check.faults]
    return form, check


def show(domain: Domain | None, form: Form, check: TemplateCheck, catalog: Catalog) -> None:
    """Draw the fields and the way to save them."""
    faults = check.faults if form.changed or domain else []
    _newer_version(domain, form)
    _texts(form, faults, catalog)
    _tools(form, faults, catalog)
    _written("agents", "Agents", form, faults)
    _written("middleware", "Middleware", form, faults)
    domain_catalog.show_policies(catalog)
    _written("mcp_servers", "MCP servers", form, [*faults, *check.warnings])
    domain_catalog.show_allowed(catalog)
    _limits(form, faults)
    _actions(domain, form)


def _newer_version(domain: Domain | None, form: Form) -> None:
    if domain is None or form.version == domain.version:
        return
    with st.container(border=True):
        st.warning(
            f"Version {domain.version} was saved while you edited version {form.version}. What you"
            " typed is kept. *Versions* shows what is new.",
            icon=":material/merge:",
        )
        with st.container(horizontal=True):
            st.button(
                f"Go on from version {domain.version}",
                key=f"{form.name}-rebase",
                help="What you changed stays, the other fields become as they were saved",
                on_click=form.rebase,
                args=(domain.version, to_values(domain)),
            )
            st.button(
                "Discard what I typed",
                key=f"{form.name}-drop",
                on_click=domain_state.close_form,
                args=(form.name,),
            )


def _texts(form: Form, faults: list[Fault], catalog: Catalog) -> None:
    st.text_input("Name", key=form.key("name"), max_chars=80, persist_state=KEPT)
    _say(faults, "name")
    st.text_input("Description", key=form.key("description"), persist_state=KEPT)
    _say(faults, "description")
    models = dict.fromkeys(["", *catalog.models, form.values["model"]])
    st.selectbox(
        "Model",
        list(models),
        key=form.key("model"),
        format_func=lambda name: name or f"As the settings say ({catalog.default_model})",
        accept_new_options=True,
        help="A model that the list does not have may be written",
        persist_state=KEPT,
    )
    _say(faults, "model")
    st.text_area("System prompt", key=form.key("system_prompt"), height=240, persist_state=KEPT)
    _say(faults, "system_prompt")
    st.text_area(
        "Suggested questions",
        key=form.key("suggestions"),
        help="One on each line; the page of a new chat offers them",
        persist_state=KEPT,
    )
    _say(faults, "suggestions")


def _tools(form: Form, faults: list[Fault], catalog: Catalog) -> None:
    st.toggle("All built-in tools", key=form.key(ALL_TOOLS), persist_state=KEPT)
    if not form.values[ALL_TOOLS]:
        known = [tool.name for tool in catalog.tools]
        st.multiselect(
            "Built-in tools",
            list(dict.fromkeys([*known, *form.values["tools"]])),
            key=form.key("tools"),
            placeholder="None",
            persist_state=KEPT,
        )
    _say(faults, "tools")


def _written(field: str, label: str, form: Form, faults: list[Fault]) -> None:
    lines = str(form.values[field]).count("\n") + 1
    st.text_area(
        label,
        key=form.key(field),
        height=min(68 + 24 * lines, 480),
        help=WRITTEN_HELP[field],
        placeholder="None (YAML or JSON)",
        persist_state=KEPT,
    )
    _say(faults, field)


def _limits(form: Form, faults: list[Fault]) -> None:
    st.markdown("**Limits**")
    columns = st.columns(LIMIT_COLUMNS)
    for place, name in enumerate(LIMITS):
        spec = Limits.model_fields[name]
        with columns[place % LIMIT_COLUMNS]:
            _number(form, LIMIT + name, spec.description, "float" in str(spec.annotation))
            _say(faults, LIMIT + name)
    spec = DomainTemplate.model_fields["retention_days"]
    _number(form, "retention_days", spec.description, is_float=False)
    _say(faults, "retention_days")


def _number(form: Form, field: str, help_text: str | None, is_float: bool) -> None:
    label = field.removeprefix(LIMIT).replace("_", " ").capitalize()
    step: Any = 0.01 if is_float else 1
    st.number_input(
        label,
        value=None,
        step=step,
        key=form.key(field),
        help=help_text,
        placeholder="None",
        persist_state=KEPT,
    )


def _say(faults: list[Fault], field: str) -> None:
    for said in faults_at(faults, field):
        st.caption(f":red[:material/error: {plain(said, 600)}]")


def _actions(domain: Domain | None, form: Form) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        # Never disabled: a text counts as changed only once its field is left, as by this click.
        st.button(
            "Save" if domain else "Create",
            key=f"{form.name}-save",
            type="primary",
            icon=":material/save:",
            on_click=_save,
            args=(domain.id if domain else None, form),
        )
        if form.changed:
            st.button(
                "Discard",
                key=f"{form.name}-discard",
                on_click=domain_state.close_form,
                args=(form.name,),
            )
            st.caption("Not saved yet")


def _save(domain_id: UUID | None, form: Form) -> None:
    """Save a form once: the second click of a double click finds it saved, and says the same."""
    try:
        saved = once(form, _send, domain_id, form)
    except ClientError as problem:
        state.flash(problem)
        return
    domain_state.close_form(form.name)
    domain_state.show_domain(saved.id)
    state.say(
        f"Saved as version {saved.version}. New sessions begin with it; others keep what they have."
    )


def _send(domain_id: UUID | None, form: Form) -> Domain:
    form.restore()
    read = to_body(form.values)
    _refuse(read)
    if domain_id is None:
        return domains.create_domain(state.client(), read.body)
    body = changed_body(read.body, form.changed)
    return domains.change_domain(state.client(), domain_id, {**body, "version": form.version})


def _refuse(read: Read) -> None:
    for fault in read.faults:
        raise ClientError("Not saved", f"{fault.path[0]}: {fault.message}")
