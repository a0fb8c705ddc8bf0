"""Grants, for administrators: who may see a thing, and what a person may see."""

import streamlit as st

from backend.schemas.people.rights import Permission
from ui.features.grants import person, resource
from ui.shared import entrance

st.set_page_config(page_title="Grants · Colloquy", layout="wide")
st.title("Grants", anchor=False)
entrance.require(Permission.MANAGE_PEOPLE)
entrance.require_accounts()

by_resource, by_person = st.tabs(["Who may see this?", "What may this person see?"])
with by_resource:
    resource.show()
with by_person:
    person.show()
