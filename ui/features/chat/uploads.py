"""Files attached to a message: uploaded before it is sent, and named under its text."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from uuid import UUID

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.runtime.uploaded_file_manager import UploadedFile
from streamlit.typing import ChatInputValue

from backend.schemas.data.files import FileDetails, IfExists, attached_line
from ui import navigation, state
from ui.client import ClientError
from ui.features.chat import state as chat_state
from ui.features.domains import state as domain_state
from ui.features.sharing import team_choice
from ui.shared import named_alike
from ui.shared.formats import reader
from ui.shared.named_alike import NamedAlike
from ui.shared.text.markdown import plain

MEMORY = "uploads"


@dataclass
class Attached:
    """The files for the next message of a composer, and those refused, with reasons.

    `named_alike` wait until the person has decided what becomes of the files of their names.
    """

    files: list[FileDetails] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    named_alike: list[NamedAlike] = field(default_factory=list)


def of_composer(key: str) -> Attached:
    """Return the attachments of a composer."""
    held = st.session_state.setdefault(MEMORY, {})
    found: Attached = held.setdefault(key, Attached())
    return found


def submitted(key: str) -> tuple[str, list[UploadedFile]]:
    """Return the text and the files just submitted in a composer."""
    value = st.session_state.get(key)
    if isinstance(value, ChatInputValue):
        return value.text, list(value.files)
    return str(value or ""), []


def take(session_id: UUID | None, key: str, files: Sequence[UploadedFile]) -> UUID | None:
    """Upload files into a session, made now if there is none; return its id.

    Refused files are reported beside the composer; the others wait there for the message.
    """
    attached = of_composer(key)
    attached.refused.clear()
    if not files:
        return session_id
    try:
        session_id = session_id or _begin_session()
    except ClientError as problem:
        attached.refused.append(f"The files were not uploaded. {problem.detail}")
        return None
    for file in files:
        _upload(attached, session_id, file, IfExists.REFUSE)
    return session_id


def _upload(attached: Attached, session_id: UUID, file: UploadedFile, if_exists: IfExists) -> None:
    try:
        uploaded = state.client().upload_file(session_id, file.name, file, if_exists)
    except ClientError as problem:
        if problem.status == named_alike.TAKEN:
            attached.named_alike.append(NamedAlike(file, problem.detail))
        else:
            attached.refused.append(f"{file.name}: {problem.detail}")
        return
    attached.files.append(uploaded)


def with_files(text: str, key: str) -> str:
    """Return a message's text with the names of its attachments below."""
    lines = [attached_line(file.name, file.source) for file in of_composer(key).files]
    return "\n\n".join(part for part in (text, "\n".join(lines)) if part.strip())


def is_refused(key: str) -> bool:
    """Return whether a file of the last message is not attached yet, so that it was not sent."""
    attached = of_composer(key)
    return bool(attached.refused or attached.named_alike)


def sent(key: str) -> None:
    """Clear the attachments of a message that was sent."""
    st.session_state.setdefault(MEMORY, {}).pop(key, None)


def show(place: DeltaGenerator, key: str) -> None:
    """Draw the files for the next message, and those refused, with reasons."""
    attached = of_composer(key)
    if not (attached.refused or attached.named_alike or attached.files):
        return
    rows = place.container(key="attached")
    for said in attached.refused:
        rows.error(plain(said, 600), icon=":material/error:")
    for found in attached.named_alike:
        box = rows.container(gap="xsmall")
        named_alike.show(box, found, f"{key}-{found.file.file_id}", partial(_decide, key))
    for number, file in enumerate(attached.files):
        row = rows.container(horizontal=True, vertical_alignment="center")
        problem = f": {file.problem}" if file.problem else ""
        words = f"{plain(file.name + problem, 300)}, uploaded {reader.moment(file.created_at)}"
        row.caption(f":material/attach_file: {words}")
        row.button(
            "Remove",
            key=f"leave-out-{key}-{number}",
            type="tertiary",
            icon=":material/close:",
            help="Delete this file and send the message without it",
            on_click=_leave_out,
            args=(key, file),
        )


def _decide(key: str, found: NamedAlike, answer: IfExists | None) -> None:
    """Attach a file whose name is taken as the person has decided, or leave it out."""
    attached, session_id = of_composer(key), chat_state.session_of_composer(key)
    with state.memory().acting:
        if found not in attached.named_alike or session_id is None:
            return  # the second click of two
        attached.named_alike.remove(found)
        if answer is not None:
            _upload(attached, session_id, found.file, answer)


def _leave_out(key: str, file: FileDetails) -> None:
    attached = of_composer(key)
    attached.files = [one for one in attached.files if one.id != file.id]
    with state.flashing():
        state.client().delete_file(file.id)


def _begin_session() -> UUID:
    """Make the session that the files belong to, and name it in the URL."""
    session = state.client().new_session(domain_state.chosen(), team_choice.chosen())
    chat_state.name_composer(None, session.id)
    navigation.show_session(session.id)
    return session.id
