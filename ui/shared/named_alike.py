"""Asks what to do with an upload whose name another file has: replace that one, or keep both."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import BinaryIO

from streamlit.delta_generator import DeltaGenerator

from backend.schemas.data.files import IfExists
from ui.shared.text.markdown import plain

TAKEN = 409  # the status of an upload whose name is taken
REPLACED = "Sessions that have used it say so with each result from then on"
BOTH_KEPT = "Sessions that have begun keep the file they have; later ones use this one"


@dataclass(frozen=True)
class Upload:
    """A file as a person has chosen it on the page."""

    id: str
    name: str
    content: BinaryIO


@dataclass(frozen=True)
class NamedAlike:
    """An upload that was refused because of its name, and why."""

    file: Upload
    problem: str


Decide = Callable[[NamedAlike, IfExists | None], None]


def show(place: DeltaGenerator, found: NamedAlike, key: str, decide: Decide) -> None:
    """Draw the question; `decide` is called with the answer, None: leave the file out."""
    place.warning(plain(found.problem, 600), icon=":material/file_copy:")
    row = place.container(horizontal=True)
    answers = (
        ("Replace", f"replace-{key}", ":material/sync_alt:", REPLACED, IfExists.REPLACE),
        ("Keep both", f"keep-both-{key}", ":material/file_copy:", BOTH_KEPT, IfExists.ADD),
        ("Leave out", f"leave-out-{key}", ":material/close:", None, None),
    )
    for label, name, icon, help_, answer in answers:
        row.button(
            label,
            key=name,
            icon=icon,
            help=help_,
            type="tertiary" if answer is None else "secondary",
            on_click=decide,
            args=(found, answer),
        )
