"""What a domain may name, to look it up beside the form."""

import streamlit as st

from backend.schemas.configuration import Catalog, CatalogPolicy
from backend.types import JSON
from ui.shared.text.markdown import plain


def show_policies(catalog: Catalog) -> None:
    """The middleware that there is, with the settings of each."""
    with st.expander("Middleware by name", type="compact", icon=":material/menu_book:"):
        for policy in catalog.middleware:
            st.markdown(f"**`{policy.name}`**  \n{plain(policy.description, 1000)}")
            for words in settings_of(policy):
                st.caption(words)


def show_allowed(catalog: Catalog) -> None:
    """Which secrets may be named, and which commands may be started, as the operator says."""
    names = ", ".join(f"`{name}`" for name in catalog.secrets) or "none"
    st.caption(f"Secrets that may be named: {names} (DOMAIN_SECRETS of the settings).")
    commands = ", ".join(f"`{plain(words, 200)}`" for words in catalog.commands) or "none"
    st.caption(f"Commands that stdio servers may be: {commands} (STDIO_COMMANDS of the settings).")


def settings_of(policy: CatalogPolicy) -> list[str]:
    """Return each setting of a policy in a line: its name, type, default, and what it is."""
    lines = []
    for name, spec in policy.settings.get("properties", {}).items():
        kind = _kind(spec)
        default = f" = {spec['default']}" if spec.get("default") is not None else ""
        said = f": {spec['description']}" if spec.get("description") else ""
        lines.append(f"`{name}` {plain(kind + default + said, 400)}")
    return lines


def _kind(spec: JSON) -> str:
    """Return the type of a setting, as JSON schema has it, in a word."""
    if "enum" in spec:
        return " or ".join(map(str, spec["enum"]))
    if "anyOf" in spec:
        kinds = [_kind(option) for option in spec["anyOf"]]
        return " or ".join(kind for kind in kinds if kind != "null")
    if "$ref" in spec:
        return str(spec["$ref"]).rsplit("/", 1)[-1]
    return str(spec.get("type", "any"))
