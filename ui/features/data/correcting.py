"""The form that corrects how a file was read, with a preview of the effect."""

from collections.abc import Mapping, Sequence
from typing import Any, get_args

import streamlit as st

from backend.schemas.data.files import (
    EncodingName,
    FileCorrections,
    FileDetails,
    FileKind,
    FileTable,
)
from ui import state
from ui.client import ClientError
from ui.features.data import calls, details, words
from ui.features.data import state as data_state
from ui.shared.formats import reader
from ui.shared.text.markdown import plain

OF_TEXT = ("text", "gzip", "document")
OF_SHEETS = ("workbook", "old_workbook")
NO_CHOICE = "\0"


def show(file: FileDetails) -> None:
    """Draw the form, its effect, and the corrections made so far."""
    if file.format == "pdf":
        return
    with st.expander("Correct how it was read", icon=":material/tune:", key=f"correct-{file.id}"):
        _made(file)
        fields = _fields(file)
        with st.container(horizontal=True):
            arguments = (file, fields)
            st.button("Preview", key=f"preview-{file.id}", on_click=_preview, args=arguments)
            st.button("Save", key=f"save-{file.id}", type="primary", on_click=_save, args=arguments)
        _effect(file)


def _fields(file: FileDetails) -> FileCorrections:
    """Draw the fields for this kind of file; return all corrections."""
    given, key = file.corrections, f"{file.id}"
    values: dict[str, Any] = {}
    table = file.content[0] if file.content else FileTable(name="", rows=None, columns=[])
    if file.format in OF_TEXT:
        kinds = {kind: words.KINDS[kind] for kind in FileKind}
        values["kind"] = _choice("Read it as", kinds, given.kind, f"kind-{key}")
        names = {name: name for name in get_args(EncodingName)}
        values["encoding"] = _choice(
            "Encoding", names, given.encoding, f"encoding-{key}", table.encoding
        )
    if file.format in OF_TEXT and file.kind is FileKind.TABLE:
        marks = words.SEPARATORS | ({given.separator: given.separator} if given.separator else {})
        values["separator"] = _choice(
            "Separator", marks, given.separator, f"separator-{key}", table.separator
        )
        values["quote"] = _choice("Quotes", words.QUOTES, given.quote, f"quote-{key}", table.quote)
        values["escape"] = _choice(
            "Quotes within quotes", words.ESCAPES, given.escape, f"escape-{key}", table.escape
        )
    if file.format in OF_SHEETS and file.content and len(file.content[0].sheets) > 1:
        sheets = {name: name for name in file.content[0].sheets}
        values["sheet"] = _choice("Only this sheet", sheets, given.sheet, f"sheet-{key}")
    if file.kind is FileKind.TABLE or not file.content:
        decimals = words.DECIMALS
        values["decimal"] = _choice(
            "Decimals", decimals, given.decimal, f"decimal-{key}", table.decimal
        )
        if file.format in (*OF_TEXT, *OF_SHEETS):
            values["header_row"] = _header_row(given.header_row, table.header, f"header-{key}")
        values["types"] = _types(file, key)
    return FileCorrections.model_validate(values)


def _choice(label: str, options: Mapping[Any, str], given: Any, key: str, found: Any = None) -> Any:
    """Return the choice; None: detected from the file, as `found` unless it was corrected."""
    values = [NO_CHOICE, *options]
    as_shown = words.AS_SHOWN
    if given is None and found is not None:
        as_shown = f"{as_shown}: {options.get(found, found)}"
    chosen = st.selectbox(
        label,
        values,
        index=values.index(given) if given in values else 0,
        format_func=lambda value: as_shown if value == NO_CHOICE else options[value],
        key=key,
    )
    return None if chosen == NO_CHOICE else chosen


def _header_row(given: int | None, found: Sequence[int], key: str) -> int | None:
    as_shown = words.AS_SHOWN
    if found:
        as_shown = f"{as_shown}: {', '.join(map(reader.number, found))}"
    chosen = st.number_input(
        "Header line",
        min_value=0,
        max_value=1_000_000,
        value=given,
        step=1,
        key=key,
        placeholder=as_shown,
        help="0: no header. Empty: detected from the file.",
    )
    return None if chosen is None else int(chosen)


def _types(file: FileDetails, key: str) -> dict[str, str]:
    """Return the type chosen for a column, if any."""
    names = [column.name for table in file.content[:1] for column in table.columns]
    if not names:
        return {}
    column = st.selectbox("Column", names, index=None, key=f"column-{key}", placeholder="None")
    chosen = st.selectbox(
        "Read this column as",
        list(words.TYPES),
        index=None,
        format_func=words.TYPES.__getitem__,
        key=f"type-{key}",
        placeholder="Choose a type",
        disabled=column is None,
    )
    return {column: chosen} if column and chosen else {}


def _made(file: FileDetails) -> None:
    """Draw the corrected types, each with a button to undo it."""
    for name, type_ in file.corrections.types.items():
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"{plain(name, 80)} is read as: {words.TYPES[str(type_)].lower()}")
            st.button(
                "Take back",
                key=f"take-back-{file.id}-{name}",
                type="tertiary",
                icon=":material/undo:",
                on_click=_save,
                args=(file, FileCorrections(types={name: None})),
            )


def _effect(file: FileDetails) -> None:
    page_state = data_state.data_page_state()
    if page_state.problem is not None:
        st.error(plain(page_state.problem.detail, 600), icon=":material/error:")
    if page_state.preview is None or page_state.preview_of != file.id:
        return
    st.markdown(f"**Result:** {plain(page_state.preview.summary or 'as before', 600)}")
    for table in page_state.preview.content[:1]:
        types = ", ".join(f"{c.name}: {words.type_words(c.type)}" for c in table.columns[:20])
        st.caption(plain(types, 800))
    if page_state.preview.sample:
        details.show_sample(page_state.preview.sample, "preview-sample")


def _preview(file: FileDetails, change: FileCorrections) -> None:
    page_state = data_state.data_page_state()
    page_state.problem, page_state.preview = None, None
    try:
        page_state.preview = calls.preview(state.client(), file.id, change)
        page_state.preview_of = file.id
    except ClientError as problem:
        page_state.problem = problem


def _save(file: FileDetails, change: FileCorrections) -> None:
    page_state = data_state.data_page_state()
    page_state.problem, page_state.preview = None, None
    try:
        corrected = calls.correct(state.client(), file.id, change)
        state.say(plain(f"Saved. {corrected.summary}", 600))
    except ClientError as problem:
        page_state.problem = problem
